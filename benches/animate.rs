//! What it costs to pose a crowd: from clips and times to palettes, by plain staged code, by the
//! functions for one pose and by `BatchPoser`,
//! beside `memcpy` of the result. One thread; every character at a time of its own.
//!
//! The times are taken in turn, and their ratios are what counts. `benches/README.md` says how to
//! read them.
//!
//! - `animate/load.rs`: the characters, clips and instances;
//! - `animate/staged.rs`: plain glam code to compare with;
//! - `animate/report.rs`: the tables.

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

use load::{Figure, Load, Who};
use report::Row;
use std::error::Error;
use std::process::ExitCode;

const NAME: &str = "animate";

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Who, and how many instances.
const LOADS: [(Who, usize); 13] = [
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
];

fn measure() -> Outcome {
    let arguments = machine::arguments();
    let asked = |flag: &str| arguments.iter().any(|argument| argument == flag);
    // `cargo bench` passes --bench; without it this is a test.
    let test = asked("--test") || !std::env::args().any(|argument| argument == "--bench");
    let rounds = match (test, asked("--quick")) {
        (true, _) => 1,
        (_, true) => 9,
        _ => 31,
    };
    let mut rows = Vec::new();
    // `only=Rotations(24)`, or with `,1000` after it: these loads alone, to look at them closely.
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
    report::print(rounds, &rows);
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
