//! One fuzz target for each reader, over a stored corpus and mutations of it.
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

use super::invariants::digest;
use super::mutants::{Random, factor, options};
use super::seeds::seeds;
use crate::builder::arm;
use crate::signed::{HEADER, sign};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use throng::builtin;
use throng::character::Character;
use throng::import::{ImportOptions, gltf};
use throng::skeleton::Transform;

/// Inputs of each target in a run of fixed length.
const INPUTS: u64 = 400;

/// A reader: its name, which is that of its folder in the corpus, and what it does with an input.
struct Target {
    name: &'static str,
    /// Returns true if the input was accepted.
    read: fn(&[u8]) -> bool,
    /// Inputs besides those of the corpus.
    seeds: fn() -> Vec<Vec<u8>>,
}

static TARGETS: &[Target] = &[
    Target {
        name: "gltf",
        read: |bytes| digest(bytes) && packed(bytes),
        seeds,
    },
    Target {
        name: "saved",
        read: saved,
        seeds: saved_seeds,
    },
    #[cfg(feature = "toml")]
    Target {
        name: "state_machine",
        read: state_machine,
        seeds: Vec::new,
    },
    #[cfg(feature = "toml")]
    Target {
        name: "animation",
        read: animation,
        seeds: Vec::new,
    },
    #[cfg(feature = "toml")]
    Target {
        name: "serde",
        read: serde,
        seeds: serde_seeds,
    },
];

/// The built-in character, for which descriptions are built.
fn character() -> &'static Character {
    static CHARACTER: LazyLock<Character> = LazyLock::new(|| {
        builtin::mannequin_with(&ImportOptions::with_curves())
            .unwrap()
            .character
    });
    &CHARACTER
}

/// Imports a file again, with packed clips.
fn packed(bytes: &[u8]) -> bool {
    let options = ImportOptions {
        clips: ImportOptions::default().clips,
        ..options()
    };
    let imported = gltf(bytes, &options);
    for clip in imported.iter().flat_map(|imported| imported.clips()) {
        let mut pose = vec![Transform::IDENTITY; imported.as_ref().unwrap().skeleton().len()];
        clip.sample(0.4, &mut pose).unwrap();
    }
    imported.is_ok()
}

/// Reads a saved character, with the checksum that fits its bytes.
fn saved(bytes: &[u8]) -> bool {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= HEADER {
        sign(&mut bytes);
    }
    let read = Character::from_bytes(&bytes);
    if let Ok(character) = &read {
        let again = Character::from_bytes(&character.to_bytes()).unwrap();
        assert_eq!(again.skeleton().len(), character.skeleton().len());
        let mut pose = vec![Transform::IDENTITY; character.skeleton().len()];
        for clip in character.clips() {
            clip.sample(0.4, &mut pose).unwrap();
        }
    }
    read.is_ok()
}

fn saved_seeds() -> Vec<Vec<u8>> {
    let files = [arm().glb()];
    let options = ImportOptions::with_curves();
    let characters = files.iter().map(|file| gltf(file, &options).unwrap());
    characters.map(|one| one.character.to_bytes()).collect()
}

#[cfg(feature = "toml")]
fn state_machine(bytes: &[u8]) -> bool {
    use throng::state_machine::StateMachine;
    let text = String::from_utf8_lossy(bytes);
    StateMachine::from_toml("fuzz.toml", &text, character()).is_ok()
}

#[cfg(feature = "toml")]
fn animation(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let character = character().clone();
    character.with_animation_toml("fuzz.toml", &text).is_ok()
}

/// Reads a state machine by serde, from JSON, and writes and reads it as TOML.
#[cfg(feature = "toml")]
fn serde(bytes: &[u8]) -> bool {
    use throng::character::AnimationDesc;
    use throng::state_machine::StateMachineDesc;
    let Ok(desc) = serde_json::from_slice::<StateMachineDesc>(bytes) else {
        return false;
    };
    if let Ok(text) = desc.to_toml() {
        let _ = StateMachineDesc::from_toml("fuzz.toml", &text);
    }
    let animation = AnimationDesc {
        state_machine: Some(desc),
        ..AnimationDesc::default()
    };
    character().clone().with_animation(&animation).is_ok()
}

#[cfg(feature = "toml")]
fn serde_seeds() -> Vec<Vec<u8>> {
    use throng::state_machine::StateMachineDesc;
    let folder = corpus("state_machine");
    let texts = folder.iter().map(|bytes| String::from_utf8_lossy(bytes));
    let descs = texts.map(|text| StateMachineDesc::from_toml("seed.toml", &text).unwrap());
    descs
        .map(|desc| serde_json::to_vec(&desc).unwrap())
        .collect()
}

/// The stored inputs of a target, ordered by their names.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/fuzz/corpus");
    let Ok(entries) = std::fs::read_dir(folder.join(name)) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

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
