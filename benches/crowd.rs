//! The CPU cost of a crowd's frame by stage, compared with the batch kernel alone.
//!
//! The batch kernel computes the same poses.
//!
//! Both are timed in turn, frame by frame, so their ratio is reliable. `benches/README.md` explains
//! how to read the tables.
//!
//! - `crowd/load.rs`: the character, the crowd, and the activities of its instances;
//! - `crowd/frame.rs`: one frame of the crowd, and the batch alone;
//! - `crowd/report.rs`: the tables.

#[path = "crowd/frame.rs"]
mod frame;
#[path = "crowd/load.rs"]
mod load;
#[path = "common/machine.rs"]
mod machine;
#[path = "crowd/report.rs"]
mod report;

use frame::Bench;
use load::Kind;
use report::Row;
use std::error::Error;
use std::process::ExitCode;
use throng::standalone::{Context, ContextDesc, Validation};

const NAME: &str = "crowd";
const INSTANCES: [u32; 3] = [100, 1_000, 10_000];
/// Number of frames before the first timed frame.
const WARM_UP: usize = 4;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn measure(context: &mut Context) -> Outcome<Vec<Row>> {
    let arguments = machine::arguments();
    let asked = |flag: &str| arguments.iter().any(|argument| argument == flag);
    // `cargo bench` passes --bench. Without it, this runs as a test.
    let test = asked("--test") || !std::env::args().any(|argument| argument == "--bench");
    // `only=1000` runs only these loads.
    let only = arguments.iter().find_map(|one| one.strip_prefix("only="));
    let mut rows = Vec::new();
    for instances in INSTANCES {
        if only.is_some_and(|only| only != instances.to_string()) {
            continue;
        }
        let frames = match (test, asked("--quick")) {
            (true, _) => 1,
            (_, true) => (20_000 / instances as usize).min(60),
            _ => (200_000 / instances as usize).min(400),
        };
        for kind in Kind::ALL {
            let instances = if test { instances.min(50) } else { instances };
            let mut bench = Bench::new(context, kind, instances)?;
            let times = bench.run(context, WARM_UP, frames);
            bench.destroy(context)?;
            rows.push(Row::new(kind, instances, frames, times?));
        }
    }
    Ok(rows)
}

fn run() -> Outcome {
    let validation = Validation::from_env();
    let mut context = Context::new(&ContextDesc {
        app_name: NAME,
        validation,
        ..ContextDesc::default()
    })
    .map_err(|error| {
        format!(
            "needs a Vulkan 1.3 driver and has none: {error}\n\
             scripts/with-vulkan installs a software driver and runs a command with it"
        )
    })?;
    let rows = measure(&mut context)?;
    report::print(&context, &rows)?;
    let messages = context.messages();
    drop(context);
    if validation == Validation::On {
        println!("\nTHE VALIDATION LAYER WAS ON: the times say nothing.");
    }
    if messages.is_empty() {
        Ok(())
    } else {
        Err(format!("the validation layer objects:\n{}", messages.report()).into())
    }
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
