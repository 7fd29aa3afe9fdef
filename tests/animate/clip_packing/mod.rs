//! Packed clips against plain `f64` code: the file's curves at many times, the words by their
//! description, loops to the bit, steps as steps, and what a file should not hold.

mod bound;
mod curves;
mod loops;
mod many;
mod odd;
mod words;
