//! Timings of a run: a table to read, and a JSON file for programs.

use std::path::Path;

use serde_json::{Value, json};
use throng::{Stages, Stats, ViewStats};

use super::scene::Scene;
use super::{Result, say};

/// Names of the views, in their order.
const VIEWS: [&str; 2] = ["camera", "sun"];

/// CPU times of the parts of a frame, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuTimes {
    /// Waiting for the previous frame with the same frame index.
    pub(crate) wait: f64,
    /// Directing people, and moving those who walk.
    pub(crate) direct: f64,
    /// Sampling clips. This is part of `prepare`.
    pub(crate) animate: f64,
    /// Advancing animators to the frame's time: events, state machines.
    pub(crate) update: f64,
    /// All of `record_prepare`.
    pub(crate) prepare: f64,
    /// Recording the draws, and all commands of the scenery.
    pub(crate) record: f64,
    /// Submitting.
    pub(crate) submit: f64,
    /// Presenting, which may wait for the display.
    pub(crate) present: f64,
}

impl CpuTimes {
    /// All times except waiting for the device or the display.
    pub(crate) fn busy(&self) -> f64 {
        self.direct + self.prepare + self.record + self.submit
    }

    fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("wait", self.wait),
            ("direct", self.direct),
            ("prepare", self.prepare),
            ("animate", self.animate),
            ("update", self.update),
            ("record", self.record),
            ("submit", self.submit),
            ("present", self.present),
        ]
    }
}

/// GPU times of a frame, and what its views showed.
/// The name of a scope of the GPU, and its milliseconds.
type Scope = (&'static str, f64);

pub(crate) type Readings = (Vec<Scope>, Vec<ViewStats>);

/// The timings of one frame.
#[derive(Clone, Debug)]
pub(crate) struct FrameLog {
    pub(crate) cpu: CpuTimes,
    /// GPU times of an earlier frame.
    pub(crate) gpu: Vec<Scope>,
    pub(crate) stats: Stats,
    /// The figures of each view. With the GPU culling, they are those of an earlier frame.
    pub(crate) views: Vec<ViewStats>,
    /// Time from the start of the previous frame to the start of this one.
    pub(crate) frame_ms: f64,
}

/// The timings of a run, at most [`KEPT`] frames whatever its length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// Number of frames at the start that are left out of the figures, if there are more.
    warm_up: usize,
    /// Number of all frames, including those that are not kept.
    frames: u64,
    frame_ms: Vec<f64>,
    cpu: Vec<CpuTimes>,
    gpu: Vec<Vec<Scope>>,
    upload_bytes: Vec<u64>,
    stages: Stages,
    last: Stats,
    last_views: Vec<ViewStats>,
}

/// Maximum number of frames that a long run keeps.
const KEPT: usize = 100_000;

impl Log {
    /// Creates a log whose figures leave out this many frames at the start.
    pub(crate) fn new(warm_up: usize, stages: Stages) -> Self {
        Self {
            warm_up,
            stages,
            ..Self::default()
        }
    }

    /// All frames except the first ones. The last frame is always included.
    fn steady<'a, T>(&self, frames: &'a [T]) -> &'a [T] {
        let from = self.warm_up.min(frames.len().saturating_sub(1));
        &frames[from..]
    }

    pub(crate) fn add(&mut self, frame: FrameLog) {
        self.frames += 1;
        if self.frame_ms.len() >= KEPT {
            return;
        }
        self.frame_ms.push(frame.frame_ms);
        self.cpu.push(frame.cpu);
        self.upload_bytes.push(frame.stats.upload_bytes);
        self.last = frame.stats;
        self.add_readings((frame.gpu, frame.views));
    }

    /// Adds what is known about a frame when it has ended.
    pub(crate) fn add_readings(&mut self, (times, views): Readings) {
        if !times.is_empty() {
            self.gpu.push(times);
        }
        if !views.is_empty() {
            self.last_views = views;
        }
    }

    /// Replaces the frame times by ones that were measured separately.
    pub(crate) fn set_frame_ms(&mut self, frame_ms: Vec<f64>) {
        self.frame_ms = frame_ms;
    }

    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// CPU stages with their times, in order of execution.
    fn cpu_stages(&self) -> Vec<(&'static str, Vec<f64>)> {
        let names = CpuTimes::default().named();
        let of = |stage: usize| {
            self.steady(&self.cpu)
                .iter()
                .map(|frame| frame.named()[stage].1)
                .collect()
        };
        names
            .iter()
            .enumerate()
            .map(|(stage, (name, _))| (*name, of(stage)))
            .collect()
    }

    /// GPU scopes with their times.
    fn gpu_passes(&self) -> Vec<(&'static str, Vec<f64>)> {
        let mut passes: Vec<(&'static str, Vec<f64>)> = Vec::new();
        for (scope, ms) in self.steady(&self.gpu).iter().flatten() {
            match passes.iter_mut().find(|(name, _)| name == scope) {
                Some((_, times)) => times.push(*ms),
                None => passes.push((scope, vec![*ms])),
            }
        }
        passes
    }

    /// The figures of each view, with its name.
    fn views(&self) -> impl Iterator<Item = (&'static str, &ViewStats)> {
        VIEWS.into_iter().zip(&self.last_views)
    }

    /// Triangles of the last frame, in all views.
    ///
    /// With the GPU culling, those in its statistics are of an earlier frame.
    fn triangles(&self) -> u64 {
        self.last_views.iter().map(|view| view.triangles).sum()
    }

    /// Vertices of the last frame. Nobody counts them with the GPU culling.
    fn vertices(&self) -> Option<u64> {
        (self.stages == Stages::Cpu).then_some(self.last.vertices)
    }

    /// Prints the table.
    pub(crate) fn print(&self, device: &str, scene: &Scene) -> Result<()> {
        let stats = &self.last;
        say(&format!("device       {device}"))?;
        for (model, count) in scene.models().iter().zip(&scene.counts) {
            let character = &model.character;
            say(&format!(
                "model        {}: {count} instances, {} joints, {} triangles, {} clips",
                model.name,
                character.skeleton().len(),
                character.triangle_count(),
                character.clips().len(),
            ))?;
        }
        say(&format!("frames       {}", self.frames()))?;
        if let (Some(ms), Some(bytes)) = (self.frame_ms.first(), self.upload_bytes.first()) {
            say(&format!(
                "first frame  {ms:.3} ms, {bytes} bytes uploaded, models included; not counted below"
            ))?;
        }
        let vertices = match self.vertices() {
            Some(vertices) => format!("{vertices} vertices, "),
            None => String::new(),
        };
        say(&format!(
            "each frame   {} instances, {vertices}{} triangles, {} draws, {} bytes uploaded",
            stats.instances,
            self.triangles(),
            stats.draws,
            middle(self.steady(&self.upload_bytes)),
        ))?;
        say(&format!(
            "stages       {}",
            describe_stages(self.stages, stats)
        ))?;
        for (name, view) in self.views() {
            say(&format!("{name:<12} {}", describe(view, scene.levels())))?;
        }
        say(&format!(
            "{:<12} {:>10} {:>10} {:>10}",
            "ms", "p50", "p95", "p99"
        ))?;
        let row = |name: String, times: &[f64]| {
            let [p50, p95, p99] = percentiles(times);
            say(&format!("{name:<12} {p50:>10.3} {p95:>10.3} {p99:>10.3}"))
        };
        row("frame".into(), self.steady(&self.frame_ms))?;
        for (name, times) in self.cpu_stages() {
            row(format!("cpu {name}"), &times)?;
        }
        for (name, times) in self.gpu_passes() {
            row(format!("gpu {name}"), &times)?;
        }
        Ok(())
    }

    /// All figures as JSON.
    pub(crate) fn to_json(&self, device: &str, scene: &Scene, extent: (u32, u32)) -> Value {
        let stats = &self.last;
        let views = self.views().map(|(name, view)| {
            json!({
                "name": name,
                "shown": view.shown,
                "outside": view.outside,
                "too_small": view.too_small,
                "hidden": view.hidden,
                "levels": levels(view, scene.levels()),
                "triangles": view.triangles,
            })
        });
        let models = scene
            .models()
            .iter()
            .zip(&scene.counts)
            .map(|(model, count)| {
                json!({
                    "name": model.name,
                    "instances": count,
                    "joints": model.character.skeleton().len(),
                    "palette_entries": model.character.palette().len(),
                    "vertices": model.character.vertex_count(),
                    "triangles": model.character.triangle_count(),
                    "clips": model.character.clips().len(),
                })
            });
        let table = |rows: Vec<(&'static str, Vec<f64>)>| -> Value {
            rows.into_iter()
                .map(|(name, times)| (name.to_owned(), spread(&times)))
                .collect()
        };
        json!({
            "device": device,
            "size": [extent.0, extent.1],
            "frames": self.frames(),
            "instances": stats.instances,
            "joints_per_instance": joints_per_instance(scene),
            "vertices": self.vertices(),
            "triangles": self.triangles(),
            "draws_per_frame": stats.draws,
            "culled_by": sides(self.stages)[0],
            "animated_by": sides(self.stages)[1],
            "animated": stats.animated,
            "posed_on_gpu": stats.posed_on_gpu,
            "placed_on_gpu": stats.placed_on_gpu,
            "shared_poses": stats.shared_poses,
            "poses_without_memory": stats.poses_without_memory,
            "views": views.collect::<Value>(),
            "upload_bytes_per_frame": middle(self.steady(&self.upload_bytes)),
            "upload_bytes_first_frame": self.upload_bytes.first(),
            "first_frame_ms": self.frame_ms.first().filter(|_| self.warm_up == 1),
            "models": models.collect::<Value>(),
            "frame_ms": spread(self.steady(&self.frame_ms)),
            "cpu_ms": table(self.cpu_stages()),
            "gpu_ms": table(self.gpu_passes()),
        })
    }
}

/// The figures of all views on one line.
pub(crate) fn describe_views(views: &[ViewStats], scene: &Scene) -> String {
    let named = VIEWS.iter().zip(views);
    let texts = named.map(|(name, view)| format!("{name} {}", describe(view, scene.levels())));
    texts.collect::<Vec<_>>().join("; ")
}

/// The figures of a view of characters with this number of levels of detail.
fn describe(view: &ViewStats, count: usize) -> String {
    let levels = levels(view, count).iter().map(u32::to_string);
    format!(
        "{} shown, {} outside, {} too small, {} hidden, by level {}, {} triangles",
        view.shown,
        view.outside,
        view.too_small,
        view.hidden,
        levels.collect::<Vec<_>>().join(" "),
        view.triangles,
    )
}

/// The instances at each of the levels of detail that there are.
fn levels(view: &ViewStats, count: usize) -> &[u32] {
    &view.levels[..count.min(view.levels.len())]
}

/// The names of the processors that cull and pose.
fn sides(stages: Stages) -> [&'static str; 2] {
    match stages {
        Stages::Gpu => ["GPU", "GPU"],
        Stages::GpuCull => ["GPU", "CPU"],
        _ => ["CPU", "CPU"],
    }
}

/// Says on one line which processor runs which stage.
pub(crate) fn describe_stages(stages: Stages, stats: &Stats) -> String {
    let [cull, animate] = sides(stages);
    let posed = match stages {
        Stages::Gpu => {
            let (on_gpu, on_cpu) = (stats.posed_on_gpu, stats.animated);
            let shared = stats.shared_poses;
            format!(" ({on_gpu} there, of these {shared} with shared poses, {on_cpu} on the CPU)")
        }
        _ => format!(" ({} in the last frame)", stats.animated),
    };
    format!("culled by the {cull}, animated by the {animate}{posed}")
}

/// Writes the figures to a file.
pub(crate) fn write(path: &Path, figures: &Value) -> Result<()> {
    let text = serde_json::to_string_pretty(figures)? + "\n";
    Ok(throng::files::write(path, text.as_bytes())?)
}

/// An integer if all characters have the same number of joints, otherwise the mean.
fn joints_per_instance(scene: &Scene) -> Value {
    let joints = scene.models().iter().zip(&scene.counts);
    let joints: Vec<(u64, u64)> = joints
        .filter(|(_, count)| **count > 0)
        .map(|(model, count)| (model.character.skeleton().len() as u64, u64::from(*count)))
        .collect();
    match joints.first() {
        None => json!(0),
        Some((first, _)) if joints.iter().all(|(joints, _)| joints == first) => json!(first),
        Some(_) => {
            let all: u64 = joints.iter().map(|(joints, count)| joints * count).sum();
            json!(all as f64 / joints.iter().map(|(_, count)| count).sum::<u64>() as f64)
        }
    }
}

fn spread(times: &[f64]) -> Value {
    let [p50, p95, p99] = percentiles(times).map(|ms| (ms * 1e4).round() / 1e4);
    json!({ "p50": p50, "p95": p95, "p99": p99 })
}

/// The 50th, 95th and 99th percentiles.
fn percentiles(times: &[f64]) -> [f64; 3] {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    [0.50, 0.95, 0.99].map(|part| {
        let rank = (part * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    })
}

fn middle(bytes: &[u64]) -> u64 {
    let mut sorted = bytes.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}
