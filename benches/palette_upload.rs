//! The CPU cost of one frame's palettes: evaluating, writing to the mapped ring, copying to the
//! device.
//!
//! Each is compared with `memcpy` of the same bytes into the same memory.
//!
//! All variants are timed in turn, so their ratios are reliable. `benches/README.md` explains how
//! to read them.

mod common;
#[path = "palette_upload/load.rs"]
mod load;
#[path = "../tests/reference/poser.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with tests")]
mod poser;
#[path = "palette_upload/report.rs"]
mod report;

use common::machine;
use common::timing::in_turn;
use load::{Figure, Load};
use report::Row;
use std::error::Error;
use std::process::ExitCode;
use throng::gpu::Device;
use throng_standalone::{Context, ContextDesc};

const NAME: &str = "palette_upload";
const INSTANCES: [usize; 3] = [100, 1_000, 10_000];
const JOINTS: [usize; 3] = [24, 67, 128];

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Times all figures in turn, for their ratios.
fn compare(
    rounds: usize,
    context: &mut Context,
    device: &Device,
    load: &mut Load<'_>,
) -> Outcome<Row> {
    Ok(Row {
        instances: load.instances,
        joints: load.character.palette().len(),
        bytes: load.bytes(),
        times: in_turn(rounds, |figure| {
            load.run(context, device, Figure::ALL[figure])
        })?,
    })
}

fn measure(context: &mut Context) -> Outcome {
    // SAFETY: the context outlives the device.
    let device = unsafe { context.gpu_device() };
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
    let mut staged = false;
    for joints in JOINTS {
        let character = common::character(joints)?;
        for instances in INSTANCES {
            let mut load = Load::new(context, &device, &character, instances)?;
            rows.push(compare(rounds, context, &device, &mut load)?);
            staged |= load.is_staged();
            load.destroy(context, &device);
        }
    }
    report::print(context, staged, rounds, &rows);
    Ok(())
}

fn run() -> Outcome {
    let desc = ContextDesc {
        app_name: NAME,
        ..ContextDesc::default()
    };
    let mut context = Context::new(&desc).map_err(|error| {
        format!(
            "needs a Vulkan 1.3 driver and has none: {error}\n\
             scripts/with-vulkan installs a software driver and runs a command with it"
        )
    })?;
    measure(&mut context)?;
    let messages = context.messages.clone();
    drop(context);
    if desc.validation {
        println!("\nTHE VALIDATION LAYER WAS ON: the times say nothing.");
    }
    Ok(messages.check()?)
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{NAME}: {error}");
            ExitCode::FAILURE
        }
    }
}
