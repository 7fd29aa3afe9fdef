//! Figures of every pipeline variant, from a driver's compiler without a GPU.
//!
//! Mesa's RADV is a null device if `RADV_FORCE_FAMILY` names a GPU: it compiles pipelines with the
//! compiler of that GPU, and tells instructions, registers and estimated cycles. `scripts/isa` gets
//! the driver and runs this program. The pipelines are those of a crowd, with the crate's own
//! layouts. Beside them stand those of `shaders/bench`, which do the least for the same result.
//!
//! - Without arguments: a table of all variants.
//! - `--json`: the same as JSON.
//! - `--compare FILE`: compares with the JSON of an earlier run, and fails if a variant has grown
//!   by more than 3 %.
//! - `--markdown` and `--plot`: the tables and the SVG of `docs/benchmarks`.
//! - `--pipelines`: how many pipelines each model of the folder `THRONG_ASSETS` adds to a crowd.

#[path = "isa/characters.rs"]
mod characters;
#[path = "isa/compare.rs"]
mod compare;
#[path = "isa/device.rs"]
mod device;
#[path = "isa/models.rs"]
mod models;
#[path = "isa/plain.rs"]
mod plain;
#[path = "isa/report.rs"]
mod report;

use std::error::Error;
use std::io::ErrorKind;
use std::process::{Command, ExitCode};
use throng::ash::vk;
use throng::palette::PaletteFormat;
use throng::{
    Capacity, CharacterDesc, Crowd, CrowdDesc, PassDesc, PassId, PassKind, SkinningStage, Stages,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// GPUs whose compilers are asked: GCN 5, RDNA 2, RDNA 3 and RDNA 4.
const FAMILIES: [&str; 4] = ["VEGA10", "NAVI21", "NAVI31", "GFX1201"];
/// The variable that RADV reads.
const FAMILY: &str = "RADV_FORCE_FAMILY";

const COLORS: [vk::Format; 1] = [vk::Format::R8G8B8A8_SRGB];
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

/// The compiler's figures for one stage of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Figures {
    instructions: u64,
    /// Instructions of the vector unit, of vector memory and of scalar memory.
    valu: u64,
    vmem: u64,
    smem: u64,
    vgprs: u64,
    /// Registers that are kept in memory.
    spills: u64,
    /// Waves that a SIMD unit holds at once.
    waves: u64,
    /// Estimated cycles of one wave alone, and of each of many.
    latency: u64,
    inverse_throughput: u64,
    code_bytes: u64,
}

/// A stage of a pipeline of one GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    family: String,
    pass: String,
    variant: String,
    stage: String,
    figures: Figures,
}

impl Row {
    fn new(pass: &str, variant: &str, stage: &str, figures: Figures) -> Self {
        Self {
            family: std::env::var(FAMILY).unwrap_or_default(),
            pass: pass.into(),
            variant: variant.into(),
            stage: stage.into(),
            figures,
        }
    }

    /// Everything but the figures.
    fn name(&self) -> String {
        let Self {
            family,
            pass,
            variant,
            stage,
            ..
        } = self;
        format!("{family}: {pass}, {variant}: {stage}")
    }
}

/// All rows, and the driver whose compiler they are from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Table {
    driver: String,
    rows: Vec<Row>,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("isa: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<ExitCode> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| it != "--bench")
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if std::env::var_os(FAMILY).is_some() {
        match arguments[..] {
            ["--pipelines"] => print!("{}", models::pipelines()?),
            _ => print!("{}", report::json(&of_this_process()?)?),
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments[..] == ["--pipelines"] {
        // All families have as many.
        let mut child = Command::new(std::env::current_exe()?);
        let status = child.args(arguments).env(FAMILY, FAMILIES[0]).status()?;
        return Ok(ExitCode::from(u8::from(!status.success())));
    }
    let table = table()?;
    match arguments[..] {
        [] | ["--test"] => print!("{}", report::text(&table)),
        ["--json"] => print!("{}", report::json(&table)?),
        ["--markdown"] => print!("{}", report::markdown(&table)),
        ["--plot"] => print!("{}", report::plot(&table)),
        ["--compare", file] => return compare::with_file(&table, file),
        _ => {
            return Err(
                "usage: isa [--json | --markdown | --plot | --pipelines | --compare FILE]".into(),
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The rows of all families. The driver reads the variable once, so each has a process of its own.
fn table() -> Outcome<Table> {
    let program = std::env::current_exe()?;
    let outputs = std::thread::scope(|scope| {
        let children = FAMILIES.map(|family| {
            let mut child = Command::new(&program);
            child.env(FAMILY, family);
            scope.spawn(move || child.output())
        });
        children.map(|child| {
            child
                .join()
                .unwrap_or_else(|_| Err(ErrorKind::Other.into()))
        })
    });
    let mut table: Option<Table> = None;
    for (family, output) in FAMILIES.into_iter().zip(outputs) {
        let output = output?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{family}: {said}").into());
        }
        let found = report::read(&String::from_utf8(output.stdout)?)?;
        match &mut table {
            None => table = Some(found),
            Some(table) => table.rows.extend(found.rows),
        }
    }
    table.ok_or_else(|| "there is no family".into())
}

fn of_this_process() -> Outcome<Table> {
    let compiler = device::Compiler::new()?;
    let mut rows = plain::rows(&compiler)?;
    let memory = &mut device::Idle(compiler.raw.clone());
    let capacity = Capacity {
        depth_pixels: 1,
        late_views: 1,
        ..Capacity::default()
    };
    let desc = CrowdDesc {
        capacity,
        ..CrowdDesc::default()
    };
    let mut crowd = Crowd::new(&compiler.gpu, memory, &desc)?;
    let passes = passes(&mut crowd)?;
    let mut known = Vec::new();
    for kind in characters::kinds()? {
        let desc = CharacterDesc {
            method: kind.method,
            ..CharacterDesc::default()
        };
        let skin = match kind.deforms {
            true => SkinningStage::Compute,
            false => SkinningStage::Vertex,
        };
        crowd.warm_up(&kind.character, &desc, skin)?;
        // A pipeline that kinds share is named after the first.
        // The stage animate comes with its formats and sizes, below.
        for pipeline in crowd.pipelines().filter(|it| it.stage != "animate") {
            if known.contains(&pipeline.handle) {
                continue;
            }
            known.push(pipeline.handle);
            let pass = passes.iter().find(|(_, id)| Some(*id) == pipeline.pass);
            let pass = pass.map_or(pipeline.stage, |(name, _)| name);
            let all = pipeline.pass.is_none() && pipeline.variant == u32::MAX;
            let variant = if all { "all" } else { kind.name };
            for (stage, figures) in compiler.figures(pipeline.handle)? {
                rows.push(Row::new(pass, variant, &stage, figures));
            }
        }
    }
    // SAFETY: nothing was submitted.
    unsafe { crowd.destroy(memory) };
    rows.extend(animate(&compiler)?);
    let driver = compiler.driver.clone();
    compiler.destroy();
    Ok(Table { driver, rows })
}

/// The stage animate for each format, and for the largest skeletons.
fn animate(compiler: &device::Compiler) -> Outcome<Vec<Row>> {
    let memory = &mut device::Idle(compiler.raw.clone());
    let desc = CrowdDesc {
        stages: Stages::Gpu,
        ..CrowdDesc::default()
    };
    let mut crowd = Crowd::new(&compiler.gpu, memory, &desc)?;
    let (mut known, mut rows) = (Vec::new(), Vec::new());
    for kind in characters::animated()? {
        let desc = CharacterDesc {
            method: kind.method,
            ..CharacterDesc::default()
        };
        crowd.warm_up(&kind.character, &desc, SkinningStage::Vertex)?;
        let format = PaletteFormat::of(&kind.character, kind.method)?;
        for pipeline in crowd.pipelines().filter(|it| it.stage == "animate") {
            if known.contains(&pipeline.handle) {
                continue;
            }
            known.push(pipeline.handle);
            let variant = format!("{format:?}, {}", kind.name);
            for (stage, figures) in compiler.figures(pipeline.handle)? {
                rows.push(Row::new("animate", &variant, &stage, figures));
            }
        }
    }
    // SAFETY: nothing was submitted.
    unsafe { crowd.destroy(memory) };
    Ok(rows)
}

/// The passes of a frame with shadows and motion vectors.
fn passes(crowd: &mut Crowd) -> Outcome<Vec<(&'static str, PassId)>> {
    let color = PassDesc {
        color_formats: COLORS.to_vec(),
        depth_format: DEPTH,
        ..PassDesc::default()
    };
    let shadowed = PassDesc {
        shadow_map: true,
        ..color.clone()
    };
    let depth = PassDesc {
        kind: PassKind::Depth,
        color_formats: Vec::new(),
        ..color
    };
    let motion = PassDesc {
        kind: PassKind::Motion,
        color_formats: vec![vk::Format::R16G16_SFLOAT],
        ..color
    };
    let passes = [
        ("colour", color),
        ("colour with shadows", shadowed),
        ("depth", depth),
        ("motion", motion),
    ];
    let mut made = Vec::new();
    for (name, desc) in passes {
        // SAFETY: nothing is drawn with the passes.
        made.push((name, unsafe { crowd.create_pass(&desc) }?));
    }
    Ok(made)
}
