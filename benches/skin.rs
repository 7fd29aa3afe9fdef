//! What it costs to deform vertices: every method and number of influences, on the CPU by the plain
//! code and by the `Skinner`, beside `memcpy` of the result; on one core and on all.
//!
//! The times are taken in turn, and their ratios are what counts. `benches/README.md` says how to read them.
//!
//! - `skin/load.rs`: the characters and palettes;
//! - `skin/cpu.rs`: the CPU's figures, on one core and on all;
//! - `skin/gpu.rs`: the GPU's, in the vertex shader and by the skin stage;
//! - `skin/scalar.rs`: a scalar loop to compare with;
//! - `skin/bytes.rs`: what a vertex takes in memory;
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
    // `cargo bench` passes --bench; without it this is a test.
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
        // A machine without a driver still has a CPU.
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
