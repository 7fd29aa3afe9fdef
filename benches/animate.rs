//! The CPU cost of posing a crowd, from clips and times to palettes.
//!
//! Compares simple staged code, the functions for one pose, `Animator::palettes`, and `memcpy` of
//! the result. It uses one thread, and every character has its own time in the clip.
//!
//! All variants are timed in turn, so their ratios are reliable. `benches/README.md` explains how
//! to read them.
//!
//! - `animate/load.rs`: the characters, clips and instances;
//! - `animate/staged.rs`: simple glam code to compare with;
//! - `animate/report.rs`: the tables;
//! - `animate/updates.rs`: updates of actors with events and root motion, and their table.

#[path = "../tests/reference/batch.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with tests")]
mod batch;
#[path = "animate/load.rs"]
mod load;
#[path = "common/machine.rs"]
mod machine;
#[path = "../tests/reference/poser.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with tests")]
mod poser;
#[path = "animate/report.rs"]
mod report;
#[path = "common/skeleton.rs"]
mod skeleton;
#[path = "animate/staged.rs"]
mod staged;
#[path = "common/timing.rs"]
mod timing;
#[path = "animate/updates.rs"]
mod updates;

use load::{Figure, Load, Who};
use report::Row;
use std::error::Error;
use std::process::ExitCode;

const NAME: &str = "animate";

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The kind of character and the number of instances of each load.
const LOADS: [(Who, usize); 16] = [
    (Who::BuiltIn, 32),
    (Who::BuiltIn, 1000),
    (Who::BuiltIn, 10_000),
    (Who::Rotations(67), 32),
    (Who::Rotations(67), 1000),
    (Who::Rotations(67), 10_000),
    (Who::Rotations(368), 32),
    (Who::Rotations(368), 1000),
    (Who::Rotations(368), 10_000),
    (Who::Rotations(24), 1000),
    (Who::All(67), 1000),
    (Who::Rotations(67), 16),
    (Who::Rotations(67), 17),
    (Who::Rotations(67), 1),
    (Who::Rotations(67), 8),
    (Who::Rotations(67), 64),
];

fn measure() -> Outcome {
    let arguments = machine::arguments();
    let asked = |flag: &str| arguments.iter().any(|argument| argument == flag);
    // `cargo bench` passes --bench. Without it, this runs as a test.
    let test = asked("--test") || !std::env::args().any(|argument| argument == "--bench");
    let rounds = match (test, asked("--quick")) {
        (true, _) => 1,
        (_, true) => 9,
        _ => 31,
    };
    let mut rows = Vec::new();
    // `only=Rotations(24)`, optionally followed by `,1000`, runs only these loads, and
    // `only=updates` none of them.
    let only = arguments.iter().find_map(|one| one.strip_prefix("only="));
    for (who, instances) in LOADS {
        if only.is_some_and(|only| !format!("{who:?},{instances}").contains(only)) {
            continue;
        }
        for clips in [1, 3] {
            let instances = if test { instances.min(32) } else { instances };
            let mut load = Load::new(who, instances, clips)?;
            let times = timing::in_turn(rounds, |figure| load.run(Figure::ALL[figure]))?;
            rows.push(Row::new(&load, times));
        }
    }
    if !rows.is_empty() {
        report::print(rounds, &rows);
    }
    if only.is_none_or(|only| only == "updates") {
        updates::print(test, rounds)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
