//! The cost of deforming vertices, for every skinning method and number of influences.
//!
//! On the CPU, it compares simple code, the `Skinner` and `memcpy` of the result, on one core and
//! on all.
//!
//! All variants are timed in turn, so their ratios are reliable. `benches/README.md` explains how
//! to read them.
//!
//! - `skin/load.rs`: the characters and palettes;
//! - `skin/cpu.rs`: the CPU timings, on one core and on all;
//! - `skin/gpu.rs`: the GPU timings, in the vertex shader and in the skin stage;
//! - `skin/scalar.rs`: a scalar loop to compare with;
//! - `skin/bytes.rs`: the memory per vertex;
//! - `skin/report.rs`: the tables.

#[path = "skin/bytes.rs"]
mod bytes;
#[path = "skin/cpu.rs"]
mod cpu;
#[path = "skin/gpu.rs"]
mod gpu;
#[path = "skin/load.rs"]
mod load;
#[path = "common/machine.rs"]
mod machine;
#[path = "skin/report.rs"]
mod report;
#[path = "skin/scalar.rs"]
mod scalar;
#[path = "common/timing.rs"]
mod timing;

use load::{COUNTS, Format, Load};
use std::error::Error;
use std::process::ExitCode;

const NAME: &str = "skin";

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

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
    for influences in COUNTS {
        let mut load = Load::new(influences)?;
        for format in Format::ALL {
            rows.push(cpu::compare(rounds, &mut load, format)?);
        }
    }
    report::print(rounds, &rows, &cpu::scaling(rounds)?)?;
    match gpu::compare(rounds) {
        Ok(table) => report::print_gpu(&table),
        // A machine without a driver can still time the CPU.
        Err(error) => println!("\nNo figures of the GPU: {error}"),
    }
    Ok(())
}

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{NAME}: {error}");
            ExitCode::FAILURE
        }
    }
}
