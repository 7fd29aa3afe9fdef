//! CPU time of Bevy's own skinned meshes and of `bevy_throng`, with the load of Bevy's example
//! `many_foxes`: foxes run in rings, seen by a camera, or behind it.
//!
//! All cases run after each other in one process, without a window and with all systems on one
//! thread. `--test` runs each once with few foxes, `only=WORD` the cases whose name contains the
//! word, and `spans` prints the time of each of throng's systems. The model is `Fox.glb` in the
//! folder `THRONG_ASSETS`.
//!
//! - `foxes/load.rs`: the app, its camera and its foxes
//! - `foxes/spans.rs`: the CPU time of throng's systems
//! - `foxes/clock.rs`: the CPU time of threads

#[path = "foxes/clock.rs"]
mod clock;
#[path = "foxes/load.rs"]
mod load;
#[path = "../../benches/common/machine.rs"]
#[expect(
    dead_code,
    reason = "this bench names the device and the command itself"
)]
mod machine;
#[path = "foxes/spans.rs"]
mod spans;

use bevy::app::{App, AppLabel};
use bevy::render::RenderApp;
use bevy::render::renderer::RenderAdapterInfo;
use clock::Clock;
use load::{By, Case};
use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A case is measured for this long.
const SECONDS: u64 = 8;
const MIN_FRAMES: usize = 9;
const MAX_FRAMES: usize = 200;

/// CPU milliseconds of one frame, and the time of all of it.
#[derive(Default)]
struct Times {
    main: f64,
    extract: f64,
    render: f64,
    whole: f64,
    /// The times of throng's systems, by the name of the span.
    throng: BTreeMap<String, f64>,
}

/// The systems of throng in which Bevy extracts.
const EXTRACT: [&str; 4] = [
    "render::shader::extract",
    "render::change",
    "render::passes::create",
    "render::views::prepare",
];

fn main() -> Outcome {
    tracing::subscriber::set_global_default(spans::Spans)?;
    let arguments = machine::arguments();
    let test = arguments.iter().any(|it| it == "--test");
    let with_spans = arguments.iter().any(|it| it == "spans");
    let only = arguments.iter().find_map(|it| it.strip_prefix("only="));
    let mut out = std::io::stdout();
    let mut is_first = true;
    for case in Case::all(test) {
        if !only.is_none_or(|word| case.to_string().contains(word)) {
            continue;
        }
        let mut app = load::app(&case)?;
        if core::mem::take(&mut is_first) {
            head(&app, &mut out)?;
        }
        load::ready(&mut app, &case)?;
        let frames = measure(&mut app, test);
        report(&case, &frames, &mut out)?;
        if with_spans {
            spans_of(&frames, &mut out)?;
        }
    }
    Ok(())
}

fn head(app: &App, out: &mut impl std::io::Write) -> Outcome {
    let device = app.world().resource::<RenderAdapterInfo>();
    let (name, driver) = (&device.name, &device.driver_info);
    writeln!(out, "{}; {name}, {driver}", machine::cpu())?;
    writeln!(
        out,
        "CPU ms, medians (minima): `throng` are its own systems, which the columns before include\n"
    )?;
    writeln!(
        out,
        "| case | frames | main | extract | render | throng: main | extract | of that, wgpu | \
         render | all but wgpu | a frame, ms |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    )?;
    Ok(())
}

fn measure(app: &mut App, test: bool) -> Vec<Times> {
    let clock = Clock::new();
    let mut frames = Vec::new();
    let end = Instant::now() + Duration::from_secs(SECONDS);
    loop {
        frames.push(frame(app, &clock));
        let enough = frames.len() >= MIN_FRAMES && Instant::now() > end;
        if test || enough || frames.len() >= MAX_FRAMES {
            return frames;
        }
    }
}

/// An update of the app, part by part, as `SubApps::update` does it.
fn frame(app: &mut App, clock: &Clock) -> Times {
    let _ = spans::take();
    let apps = app.sub_apps_mut();
    let (start, begin) = (Instant::now(), clock.now());
    apps.main.run_default_schedule();
    let main = clock.now();
    let mut extracted = main;
    if let Some(render) = apps.sub_apps.get_mut(&RenderApp.intern()) {
        render.extract(apps.main.world_mut());
        extracted = clock.now();
        render.update();
    }
    let rendered = clock.now();
    apps.main.world_mut().clear_trackers();
    Times {
        main: ms(main - begin),
        extract: ms(extracted - main),
        render: ms(rendered - extracted),
        whole: ms(start.elapsed()),
        throng: spans::take(),
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Times {
    fn of(&self, names: &[&str]) -> f64 {
        names.iter().filter_map(|name| self.throng.get(*name)).sum()
    }

    fn throng_main(&self) -> f64 {
        self.below(&["step::", "sync::"])
    }

    fn throng_extract(&self) -> f64 {
        self.of(&EXTRACT)
    }

    /// Encoders and submissions of wgpu in `prepare`. A software driver draws in those.
    fn wgpu(&self) -> f64 {
        self.of(&["render::views::prepare"]) - self.of(&["begin_frame", "record_prepare"])
    }

    fn throng_render(&self) -> f64 {
        self.below(&["render::draw::"])
    }

    /// The times of all systems in these modules.
    fn below(&self, modules: &[&str]) -> f64 {
        let systems = self.throng.iter();
        let systems = systems.filter(|(name, _)| modules.iter().any(|it| name.starts_with(it)));
        systems.map(|(_, time)| time).sum()
    }
}

fn report(case: &Case, frames: &[Times], out: &mut impl std::io::Write) -> Outcome {
    let cell = |of: &dyn Fn(&Times) -> f64| cell(frames, of);
    let mut cells = vec![
        cell(&|it| it.main),
        cell(&|it| it.extract),
        cell(&|it| it.render),
    ];
    let own: [&dyn Fn(&Times) -> f64; 5] = [
        &Times::throng_main,
        &Times::throng_extract,
        &Times::wgpu,
        &Times::throng_render,
        &|it| it.throng_main() + it.throng_extract() + it.throng_render() - it.wgpu(),
    ];
    match case.by {
        By::Throng => cells.extend(own.map(cell)),
        By::Bevy | By::Nobody => cells.extend(own.map(|_| "–".to_owned())),
    }
    cells.push(cell(&|it| it.whole));
    let count = frames.len();
    writeln!(out, "| {case} | {count} | {} |", cells.join(" | "))?;
    Ok(())
}

/// The median and the minimum.
fn cell(frames: &[Times], of: &dyn Fn(&Times) -> f64) -> String {
    let mut all: Vec<_> = frames.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    format!("{:.3} ({:.3})", all[all.len() / 2], all[0])
}

fn spans_of(frames: &[Times], out: &mut impl std::io::Write) -> Outcome {
    let names = frames
        .last()
        .into_iter()
        .flat_map(|last| last.throng.keys());
    for name in names {
        let each = |it: &Times| it.throng.get(name).copied().unwrap_or_default();
        writeln!(out, "    {name}: {}", cell(frames, &each))?;
    }
    Ok(())
}
