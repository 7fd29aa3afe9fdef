//! Tries each fuzz target on the stored corpus and mutations of it.
//!
//! `cargo test` tries a fixed number of inputs, the same in each run. A long run goes on for a
//! number of seconds, with other mutations each time:
//!
//! ```sh
//! THRONG_FUZZ_SECONDS=300 cargo test --test import fuzz::readers -- --nocapture
//! ```
//!
//! An input that makes a reader panic is written to `target/fuzz`. Move it to
//! `tests/import/fuzz/corpus/TARGET`, where every run tries it.

use super::mutants::{Random, factor};
use super::targets::{TARGETS, Target, corpus};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Inputs of each target in a run of fixed length.
const INPUTS: u64 = 400;

/// Numbers and words that readers must refuse or survive.
const WORDS: [&[u8]; 24] = [
    b"0",
    b"-1",
    b"1e308",
    b"-1e38",
    b"1e-45",
    b"nan",
    b"inf",
    b"65535",
    b"65536",
    b"4294967295",
    b"99999999999999999999",
    b"true",
    b"null",
    b"[]",
    b"{}",
    b"\"\"",
    b"(any)",
    b"\xc3\xa9",
    b"\n",
    b"\0\0\x80\x7f",
    b"\xff\xff\x7f\x7f",
    b"\0\0\xc0\x7f",
    b"\xff\xff\xff\xff",
    b"\0\0\0\x80",
];

/// Changes an input in one or two places.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(2) {
        let len = bytes.len();
        let at = random.below(len + 1);
        let end = (at + random.below(24)).min(len);
        match random.below(8) {
            0 if at < len => bytes[at] ^= 1 << random.below(8),
            1 if at < len => bytes[at] = random.next() as u8,
            // A number or a word in place of some bytes.
            2 | 3 => {
                let word = WORDS[random.below(WORDS.len())];
                let end = (at + word.len() * random.below(2)).min(len);
                bytes.splice(at..end, word.iter().copied());
            }
            4 => drop(bytes.drain(at..end)),
            5 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            // Bytes of another input.
            6 if !other.is_empty() => {
                let from = random.below(other.len());
                let to = (from + random.below(48)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            // A digit in place of another: texts stay texts, and indices change.
            _ => {
                let digits: Vec<usize> =
                    (0..len).filter(|at| bytes[*at].is_ascii_digit()).collect();
                if let Some(at) = digits.get(random.below(digits.len())) {
                    bytes[*at] = b'0' + random.below(10) as u8;
                }
            }
        }
        bytes.truncate(1 << 18);
    }
}

/// The outcome of a target's run.
#[derive(Default)]
struct Tally {
    tried: u64,
    accepted: u64,
    slowest: Duration,
}

/// Reads one input, and keeps it if the reader panics.
fn one(target: &Target, bytes: &[u8], tally: &mut Tally) {
    let begun = Instant::now();
    let read = catch_unwind(AssertUnwindSafe(|| (target.read)(bytes)));
    tally.slowest = tally.slowest.max(begun.elapsed());
    tally.tried += 1;
    match read {
        Ok(accepted) => tally.accepted += u64::from(accepted),
        Err(panic) => {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz");
            std::fs::create_dir_all(&folder).unwrap();
            let path = folder.join(format!("{}-{}", target.name, tally.tried));
            std::fs::write(&path, bytes).unwrap();
            eprintln!("the input is in {}", path.display());
            std::panic::resume_unwind(panic);
        }
    }
}

#[test]
fn readers_refuse_or_read_what_they_get() {
    let seconds = std::env::var("THRONG_FUZZ_SECONDS").ok();
    let seconds: Option<u64> = seconds.map(|text| text.parse().expect("a number of seconds"));
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    // A fixed run is the same each time; a long one is not.
    let salt = seconds.map_or(0, |_| u64::from(since.subsec_nanos()));
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let inputs: Vec<Vec<Vec<u8>>> = TARGETS
        .iter()
        .map(|target| [corpus(target.name), (target.seeds)()].concat())
        .collect();
    let mut tallies: Vec<Tally> = TARGETS.iter().map(|_| Tally::default()).collect();
    for ((target, inputs), tally) in TARGETS.iter().zip(&inputs).zip(&mut tallies) {
        inputs.iter().for_each(|input| one(target, input, tally));
        assert!(tally.accepted > 0, "{}: no seed is accepted", target.name);
    }
    let mut random = Random::new(7 + salt);
    let mut round = 0;
    while end.map_or(round < INPUTS * factor() as u64, |end| Instant::now() < end) {
        for ((target, inputs), tally) in TARGETS.iter().zip(&inputs).zip(&mut tallies) {
            let mut bytes = inputs[random.below(inputs.len())].clone();
            let other = &inputs[random.below(inputs.len())];
            mutate(&mut bytes, other, &mut random);
            one(target, &bytes, tally);
        }
        round += 1;
    }
    let mut out = std::io::stderr().lock();
    let all: u64 = tallies.iter().map(|tally| tally.tried).sum();
    let _ = writeln!(out, "fuzz: {all} inputs tried");
    for (target, tally) in TARGETS.iter().zip(&tallies) {
        let Tally {
            tried,
            accepted,
            slowest,
        } = tally;
        let name = target.name;
        let _ = writeln!(
            out,
            "fuzz: {name}: {tried} tried, {accepted} read, slowest {slowest:.1?}"
        );
    }
}
