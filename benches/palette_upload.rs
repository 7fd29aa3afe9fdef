//! What one frame's palettes cost on the CPU: to evaluate, to write into the mapped ring, to copy
//! to device memory. Each stands beside `memcpy` of the same bytes into the same memory.
//!
//! Criterion times every figure by itself. The tables at the end come from times taken in turn,
//! and their ratios are what counts. `benches/README.md` says how to read them.

mod common;

use common::machine;
use common::timing::{Ratio, Time, in_turn};
use criterion::{Criterion, SamplingMode, Throughput};
use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;
use throng::ash::vk;
use throng::character::Character;
use throng::gpu::{Device, PaletteRing, PaletteRingDesc, RingMemory};
use throng::gpu_allocator::MemoryLocation;
use throng::pose::{Mat3x4, Poser, WriteOnly};
use throng::standalone::{Buffer, BufferDesc, Context, ContextDesc, Validation};

const NAME: &str = "palette_upload";
const INSTANCES: [usize; 3] = [100, 1_000, 10_000];
const JOINTS: [usize; 3] = [24, 67, 128];
/// The only slot: nothing here is in flight when the CPU writes.
const SLOT: u32 = 0;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// What is timed: one frame of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    /// Poses to palettes, in ordinary memory.
    Evaluate,
    /// Poses to palettes, straight in the mapped ring.
    EvaluateIntoRing,
    /// Finished palettes into the ring, by one [`PaletteRing::write`] an instance.
    WriteEach,
    /// The same by one [`PaletteRing::write`] in all.
    Write,
    /// The same by one plain copy.
    Memcpy,
    /// The same by one plain copy an instance.
    MemcpyEach,
    /// A staged ring's [`PaletteRing::record_upload`], submitted and waited for.
    StagingCopy,
    /// The driver's own `vkCmdCopyBuffer` of as many bytes to the same buffer, submitted and
    /// waited for.
    DriverCopy,
}

impl Figure {
    const ALL: [Self; 8] = [
        Self::Evaluate,
        Self::EvaluateIntoRing,
        Self::WriteEach,
        Self::Write,
        Self::Memcpy,
        Self::MemcpyEach,
        Self::StagingCopy,
        Self::DriverCopy,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Evaluate => "evaluate",
            Self::EvaluateIntoRing => "evaluate into ring",
            Self::WriteEach => "write each",
            Self::Write => "write",
            Self::Memcpy => "memcpy",
            Self::MemcpyEach => "memcpy each",
            Self::StagingCopy => "staging copy",
            Self::DriverCopy => "driver copy",
        }
    }
}

/// A crowd, and everywhere that its palettes go.
struct Load<'a> {
    character: &'a Character,
    instances: usize,
    poser: Poser,
    finished: Vec<Mat3x4>,
    ring: PaletteRing,
    staged: PaletteRing,
    /// In host memory on every device, as the staged ring's is.
    host: Buffer,
}

impl<'a> Load<'a> {
    fn new(
        context: &mut Context,
        device: &Device,
        character: &'a Character,
        instances: usize,
    ) -> Outcome<Self> {
        let entries = instances * character.palette().len();
        let host = Buffer::new(
            context,
            &BufferDesc {
                name: "palettes (driver's copy)",
                size: size_of::<Mat3x4>() as u64 * entries as u64,
                usage: vk::BufferUsageFlags::TRANSFER_SRC,
                location: MemoryLocation::GpuToCpu,
            },
        )?;
        let mut ring = |memory| {
            let desc = PaletteRingDesc {
                slots: 1,
                entries: entries as u32,
                memory,
                ..PaletteRingDesc::default()
            };
            let (_, allocator) = context.parts();
            // SAFETY: allocator and device are of one context.
            unsafe { PaletteRing::new(device, allocator, &desc) }
        };
        let mut load = Self {
            character,
            instances,
            poser: Poser::new(),
            finished: vec![Mat3x4::IDENTITY; entries],
            ring: ring(RingMemory::Auto)?,
            staged: ring(RingMemory::Staged)?,
            host,
        };
        load.fill(context)?;
        Ok(load)
    }

    /// Touches every page, and puts palettes wherever they are copied from.
    fn fill(&mut self, context: &mut Context) -> Outcome {
        self.evaluate()?;
        // SAFETY: nothing was submitted yet.
        unsafe { self.staged.write(SLOT, 0, &self.finished) }?;
        self.host.write(0, bytemuck::cast_slice(&self.finished))?;
        context.wait_idle()?;
        Ok(())
    }

    fn destroy(mut self, context: &mut Context, device: &Device) {
        self.host.destroy(context);
        let (_, allocator) = context.parts();
        // SAFETY: all that was submitted was waited for.
        unsafe {
            self.ring.destroy(device, allocator);
            self.staged.destroy(device, allocator);
        }
    }

    fn bytes(&self) -> u64 {
        size_of_val(self.finished.as_slice()) as u64
    }

    /// One frame of `figure`.
    fn run(&mut self, context: &mut Context, device: &Device, figure: Figure) -> Outcome {
        match figure {
            Figure::Evaluate => self.evaluate(),
            Figure::EvaluateIntoRing => self.evaluate_into_ring(),
            Figure::WriteEach => self.write_each(),
            Figure::Write => self.write(),
            Figure::Memcpy => self.memcpy(self.finished.len()),
            Figure::MemcpyEach => self.memcpy(self.character.palette().len()),
            Figure::StagingCopy => self.staging_copy(context, device),
            Figure::DriverCopy => self.driver_copy(context),
        }
    }

    fn evaluate(&mut self) -> Outcome {
        let entries = self.character.palette().len();
        let parts = self.finished.chunks_exact_mut(entries).enumerate();
        for (instance, part) in parts {
            let clip = Some((0, time_s(instance)));
            self.poser
                .palette(self.character, clip, WriteOnly::over(part))?;
        }
        black_box(&mut self.finished);
        Ok(())
    }

    fn evaluate_into_ring(&mut self) -> Outcome {
        let entries = self.character.palette().len() as u32;
        for instance in 0..self.instances {
            let first = instance as u32 * entries;
            // SAFETY: no work was submitted with this ring.
            let part = unsafe { self.ring.writer(SLOT, first, entries) }?;
            let clip = Some((0, time_s(instance)));
            self.poser.palette(self.character, clip, part)?;
        }
        Ok(())
    }

    fn write_each(&mut self) -> Outcome {
        let entries = self.character.palette().len();
        let parts = black_box(&self.finished).chunks_exact(entries).enumerate();
        for (instance, part) in parts {
            let first = (instance * entries) as u32;
            // SAFETY: no work was submitted with this ring.
            unsafe { self.ring.write(SLOT, first, part) }?;
        }
        Ok(())
    }

    fn write(&mut self) -> Outcome {
        // SAFETY: no work was submitted with this ring.
        unsafe { self.ring.write(SLOT, 0, black_box(&self.finished)) }?;
        Ok(())
    }

    /// In parts of `entries`.
    fn memcpy(&mut self, entries: usize) -> Outcome {
        let to = self.ring.mapped_start(SLOT).ok_or("the ring has no slot")?;
        let to = to.cast::<Mat3x4>();
        let parts = black_box(&self.finished).chunks_exact(entries).enumerate();
        for (number, part) in parts {
            // SAFETY: the slot holds as many entries, aligned for them, and the GPU does nothing.
            unsafe {
                let to = to.add(number * entries).as_ptr();
                std::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
            }
        }
        Ok(())
    }

    fn staging_copy(&mut self, context: &mut Context, device: &Device) -> Outcome {
        let (ring, entries) = (&self.staged, self.finished.len() as u32);
        // SAFETY: recording, and the slot was written before.
        let recorded = context
            .submit_and_wait(|_, cmd| unsafe { ring.record_upload(device, cmd, SLOT, entries) })?;
        if recorded {
            Ok(())
        } else {
            Err("the staged ring recorded no copy".into())
        }
    }

    fn driver_copy(&mut self, context: &mut Context) -> Outcome {
        let (from, to) = (self.host.handle(), self.staged.descriptor().buffer);
        let region = vk::BufferCopy::default().size(self.bytes());
        // SAFETY: recording, and both buffers hold as many bytes.
        context.submit_and_wait(|device, cmd| unsafe {
            device.cmd_copy_buffer(cmd, from, to, &[region]);
        })?;
        Ok(())
    }
}

/// Each instance is at its own time of the clip, which lasts a second; the times are spread
/// evenly, neighbours far apart.
fn time_s(instance: usize) -> f64 {
    (instance as f64 * 0.618_033_988_749_895).fract()
}

/// What was measured of one load.
struct Row {
    instances: usize,
    joints: usize,
    bytes: u64,
    times: [Time; Figure::ALL.len()],
}

impl Row {
    fn time(&self, figure: Figure) -> Time {
        self.times[figure as usize]
    }

    fn ns_a_joint(&self, figure: Figure) -> f64 {
        self.time(figure).median_ns / (self.instances * self.joints) as f64
    }

    /// Bytes a nanosecond.
    fn gb_s(&self, figure: Figure) -> f64 {
        self.bytes as f64 / self.time(figure).median_ns
    }

    fn ratio(&self, figure: Figure, to: Figure) -> Ratio {
        self.time(figure).over(self.time(to))
    }

    fn head(&self) -> String {
        let (instances, joints) = (self.instances, self.joints);
        format!("| {instances} | {joints} | {} |", self.bytes)
    }
}

/// By itself, for criterion's statistics.
fn bench(
    criterion: &mut Criterion,
    context: &mut Context,
    device: &Device,
    load: &mut Load<'_>,
) -> Outcome {
    let joints = load.character.palette().len();
    let mut group = criterion.benchmark_group(format!("{NAME} {}x{joints}", load.instances));
    group
        .throughput(Throughput::Bytes(load.bytes()))
        .sampling_mode(SamplingMode::Flat);
    for figure in Figure::ALL {
        let mut outcome = Ok(());
        group.bench_function(figure.name(), |bencher| {
            bencher.iter(|| {
                if outcome.is_ok() {
                    outcome = load.run(context, device, figure);
                }
            });
        });
        outcome?;
    }
    group.finish();
    Ok(())
}

/// All figures in turn, for the ratios.
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

fn print(context: &Context, staged: bool, rounds: usize, rows: &[Row]) {
    println!("\nDevice: {}", context.info);
    println!(
        "CPU: {}, one thread, {} code",
        machine::cpu(),
        machine::vectors()
    );
    println!("Command: `{}`", machine::command(NAME));
    if staged {
        println!("No device-local mapped memory: the ring is host memory, to be copied.");
    }
    println!("{rounds} rounds, all figures in turn.");
    print_times(rows);
    print_speeds(rows);
    print_ratios(rows);
}

fn print_times(rows: &[Row]) {
    println!("\nMicroseconds a frame, median (minimum):\n");
    head(&Figure::ALL.map(Figure::name));
    for row in rows {
        let cells = Figure::ALL.map(|figure| {
            let time = row.time(figure);
            format!("{:.1} ({:.1})", time.median_ns / 1e3, time.min_ns / 1e3)
        });
        println!("{} {} |", row.head(), cells.join(" | "));
    }
}

fn print_speeds(rows: &[Row]) {
    println!("\nFrom the medians, ns a joint for what evaluates and GB/s for what copies:\n");
    head(&Figure::ALL.map(Figure::name));
    for row in rows {
        let cells = Figure::ALL.map(|figure| match figure {
            Figure::Evaluate | Figure::EvaluateIntoRing => {
                format!("{:.1} ns", row.ns_a_joint(figure))
            }
            _ => format!("{:.1} GB/s", row.gb_s(figure)),
        });
        println!("{} {} |", row.head(), cells.join(" | "));
    }
}

fn print_ratios(rows: &[Row]) {
    println!("\nRatios, of medians (of minima):\n");
    head(&[
        "time into ring / evaluate (at most 1.10)",
        "speed of write / memcpy (at least 80 %)",
        "speed of write each / memcpy each",
        "speed of write each / memcpy",
        "time of evaluate / memcpy",
        "time of staging copy / memcpy",
        "time of staging copy / driver copy",
    ]);
    for row in rows {
        let times = |figure, to| {
            let ratio = row.ratio(figure, to);
            format!("{:.2} ({:.2})", ratio.of_medians, ratio.of_minima)
        };
        let percent = |figure, to| {
            let ratio = row.ratio(to, figure);
            let (medians, minima) = (ratio.of_medians * 100.0, ratio.of_minima * 100.0);
            format!("{medians:.0} % ({minima:.0} %)")
        };
        let cells = [
            times(Figure::EvaluateIntoRing, Figure::Evaluate),
            percent(Figure::Write, Figure::Memcpy),
            percent(Figure::WriteEach, Figure::MemcpyEach),
            percent(Figure::WriteEach, Figure::Memcpy),
            times(Figure::Evaluate, Figure::Memcpy),
            times(Figure::StagingCopy, Figure::Memcpy),
            times(Figure::StagingCopy, Figure::DriverCopy),
        ];
        println!("{} {} |", row.head(), cells.join(" | "));
    }
}

fn head(columns: &[&str]) {
    println!("| instances | joints | bytes | {} |", columns.join(" | "));
    println!("{}|", "|---:".repeat(columns.len() + 3));
}

fn measure(context: &mut Context) -> Outcome {
    let (gpu, _) = context.parts();
    // SAFETY: the handles are of one context, which outlives the device.
    let device = unsafe { Device::new(&gpu) }?;
    let arguments = machine::arguments();
    let asked = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let rounds = match (asked("--test"), asked("--quick")) {
        (true, _) => 1,
        (_, true) => 9,
        _ => 31,
    };
    let mut criterion = Criterion::default()
        .without_plots()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500))
        .nresamples(5_000)
        .configure_from_args();
    let mut rows = Vec::new();
    let mut staged = false;
    for joints in JOINTS {
        let character = common::character(joints)?;
        for instances in INSTANCES {
            let mut load = Load::new(context, &device, &character, instances)?;
            bench(&mut criterion, context, &device, &mut load)?;
            rows.push(compare(rounds, context, &device, &mut load)?);
            staged |= load.ring.is_staged();
            load.destroy(context, &device);
        }
    }
    criterion.final_summary();
    print(context, staged, rounds, &rows);
    Ok(())
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
    measure(&mut context)?;
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
