//! Packed clips against plain `f64` code: the file's curves at many times, the words by their
//! description, loops to the bit, steps as steps, and what a file should not hold.

#[path = "clip_packing/bound.rs"]
mod bound;
#[path = "clip_packing/curves.rs"]
mod curves;
#[path = "clip_packing/loops.rs"]
mod loops;
#[path = "clip_packing/many.rs"]
mod many;
#[path = "clip_packing/odd.rs"]
mod odd;
mod reference;
#[path = "clip_packing/words.rs"]
mod words;
