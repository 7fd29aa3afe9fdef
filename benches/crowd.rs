//! The CPU cost of a crowd's frame by stage, and what culling and levels of detail save.
//!
//! `benches/README.md` explains how to read the tables.
//!
//! - poses: crowds that are in view as a whole, next to the batch kernel alone, which computes the
//!   same poses. Both are timed in turn, frame by frame, so their ratio is reliable.
//! - culling: crowds of which all, some or no instances are in view, with no stage, the stage cull,
//!   or the stages cull and animate on the GPU.
//! - occlusion: whom walls and people hide from a camera, and casters whose shadows it does not
//!   see.
//! - rays: the structures, records and refits of crowds that rays meet.
//! - looks: one character whose instances look alike, or have 64 looks.
//! - model=FILE: the CPU's time for 1,000 instances of another model, with one view and no shadows.
//!
//! The files:
//!
//! - `crowd/load.rs`: the character, the crowd, and the activities of its instances;
//! - `crowd/frame.rs`: one frame of the crowd, and the batch alone;
//! - `crowd/report.rs`: their tables;
//! - `crowd/culling.rs`: frames with culling;
//! - `crowd/culling_report.rs`: their tables and plot;
//! - `crowd/places.rs`: streets and squares with people and houses, and the limits of the gate;
//! - `crowd/occlusion.rs`: frames in them;
//! - `crowd/occlusion_report.rs`: their table, gate and plot;
//! - `crowd/rays.rs`: frames with rays, and their table;
//! - `crowd/looks.rs`: frames with looks, and their table.

#[path = "crowd/culling.rs"]
mod culling;
#[path = "crowd/culling_report.rs"]
mod culling_report;
#[path = "../examples/common/depth_image.rs"]
mod depth_image;
#[path = "crowd/frame.rs"]
mod frame;
#[path = "crowd/load.rs"]
mod load;
#[path = "crowd/looks.rs"]
mod looks;
#[path = "common/machine.rs"]
mod machine;
#[path = "crowd/occlusion.rs"]
mod occlusion;
#[path = "crowd/occlusion_report.rs"]
mod occlusion_report;
#[path = "crowd/places.rs"]
mod places;
#[path = "crowd/rays.rs"]
mod rays;
#[path = "crowd/report.rs"]
mod report;

use culling::{Case, Detail, FRAMES_IN_FLIGHT, InView, OnGpu, Rounds, Scene};
use frame::Bench;
use load::Kind;
use occlusion::{Hides, Levels};
use places::{MILLION, Place, SCENES};
use report::Spread;
use std::error::Error;
use std::ops::Range;
use std::process::ExitCode;
use std::time::Duration;
use throng::ash::vk;
use throng::character::Character;
use throng::import::ImportOptions;
use throng_standalone::{Context, ContextDesc};

const NAME: &str = "crowd";
/// Sizes next to the batch kernel.
const INSTANCES: [u32; 3] = [100, 1_000, 10_000];
/// Sizes with culling.
const CULLED: [u32; 4] = [100, 1_000, 10_000, 100_000];
/// Sizes that are drawn, too. A software driver needs seconds for a frame of more.
const DRAWN: [u32; 2] = [100, 1_000];
/// Further sizes that are drawn by a graphics card.
const DRAWN_BY_CARDS: [u32; 2] = [10_000, 100_000];
/// The size that is drawn by a graphics card if both stages run there, and nothing else is.
const LARGEST: u32 = 1_000_000;
/// The size of the crowd that no view sees.
const UNSEEN: u32 = 1_000;
/// The largest size in a test.
const TEST: u32 = 50;
/// Timed frames of crowds at rest.
const AT_REST: usize = 60;
/// Number of frames before the first timed frame.
const WARM_UP: usize = 4;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The arguments of the command line.
struct Options {
    test: bool,
    quick: bool,
    /// The only sizes to run.
    only: Option<Vec<u32>>,
    poses: bool,
    culling: bool,
    occlusion: bool,
    rays: bool,
    looks: bool,
    /// The file to write the plot to.
    plot: Option<String>,
    /// The file of a model, which only its own table is for.
    model: Option<String>,
    /// True if the driver is not that of a graphics card.
    is_software: bool,
}

impl Options {
    fn new(is_software: bool) -> Outcome<Self> {
        let arguments = machine::arguments();
        let asked = |flag: &str| arguments.iter().any(|argument| argument == flag);
        let value = |key: &str| arguments.iter().find_map(|one| one.strip_prefix(key));
        let only = value("only=").map(|list| list.split(',').map(str::parse).collect());
        let model = value("model=").map(str::to_owned);
        let parts = ["poses", "culling", "occlusion", "rays", "looks"].map(asked);
        let all = model.is_none() && parts.iter().all(|part| *part == parts[0]);
        let [poses, culling, occlusion, rays, looks] = parts.map(|part| part || all);
        Ok(Self {
            // `cargo bench` passes --bench. Without it, this runs as a test.
            test: asked("--test") || !std::env::args().any(|argument| argument == "--bench"),
            quick: asked("--quick"),
            only: only.transpose()?,
            poses,
            culling,
            occlusion,
            rays,
            looks,
            plot: value("plot=").map(str::to_owned),
            model,
            is_software,
        })
    }

    /// Returns the `sizes` to run. A test has fewer instances.
    fn sizes(&self, sizes: &[u32]) -> Vec<u32> {
        let only = |size: &&u32| {
            let only = self.only.as_ref();
            only.is_none_or(|only| only.contains(size))
        };
        let most = if self.test { TEST } else { u32::MAX };
        let wanted = sizes.iter().filter(only);
        let mut sizes: Vec<u32> = wanted.map(|size| *size.min(&most)).collect();
        sizes.dedup();
        sizes
    }

    /// Number of timed frames without draws.
    fn frames(&self, instances: u32, least: usize) -> usize {
        match (self.test, self.quick) {
            (true, _) => 1,
            (_, true) => (20_000 / instances as usize).clamp(least.min(5), 60),
            _ => (200_000 / instances as usize).clamp(least, 400),
        }
    }

    fn rounds(&self, case: &Case) -> Rounds {
        let frames = match (self.test, self.quick) {
            // As many for each size, whose times are compared.
            (false, false) if case.kind == Kind::Rest => AT_REST,
            // A software driver needs seconds for the poses of the largest.
            _ if case.on_gpu == OnGpu::Both && self.is_software => {
                self.frames(case.instances, 5).min(100)
            }
            // Frames of a constant cost. Times of a few are those of a processor that just woke.
            (false, true) if case.on_gpu == OnGpu::Both => AT_REST,
            _ => self.frames(case.instances, 15),
        };
        Rounds::Frames(frames)
    }

    fn drawn(&self) -> Rounds {
        match (self.test, self.quick) {
            (true, _) => Rounds::One,
            (_, true) => Rounds::Drawn(Duration::from_millis(100)),
            _ => Rounds::Drawn(Duration::from_secs(1)),
        }
    }
}

fn poses(context: &mut Context, options: &Options) -> Outcome<Vec<report::Row>> {
    let mut rows = Vec::new();
    for instances in options.sizes(&INSTANCES) {
        let frames = options.frames(instances, 1);
        for kind in Kind::ALL {
            let mut bench = Bench::new(context, kind, instances)?;
            let times = bench.run(context, WARM_UP, frames);
            bench.destroy(context)?;
            rows.push(report::Row::new(kind, instances, frames, &times?));
        }
    }
    Ok(rows)
}

/// A character, and the clips that instances play.
struct Model {
    character: Character,
    clips: Vec<String>,
}

impl Model {
    fn built_in() -> Outcome<Self> {
        Ok(Self {
            character: throng::builtin::mannequin()?.character,
            clips: load::CLIPS.map(str::to_owned).into(),
        })
    }

    /// A model of a file, as large as a person.
    fn of_file(file: &str) -> Outcome<Self> {
        let imported = |scale| {
            let options = ImportOptions {
                scale,
                ..ImportOptions::default()
            };
            throng_import::file(file, &options)
        };
        let size = imported(1.0)?.character.rest_bounds().size().max_element();
        let character = imported(1.7 / size)?.character;
        let names = character.clips().iter().map(|clip| clip.name().to_owned());
        let clips: Vec<String> = names.collect();
        if clips.is_empty() {
            return Err(format!("{file} has no clips").into());
        }
        Ok(Self { character, clips })
    }
}

/// Measures one case.
fn measure(
    context: &mut Context,
    model: &Model,
    case: Case,
    rounds: Rounds,
) -> Outcome<culling_report::Row> {
    let of = (&model.character, &model.clips[..]);
    let mut scene = Scene::new(context, of, &case, rounds.draws())?;
    let figures = scene.run(context, WARM_UP, rounds);
    scene.destroy(context)?;
    let row = culling_report::Row::new(case, &figures?);
    Ok(row.ok_or("no frames")?)
}

/// All cases of the CPU's time, without draws.
fn culled(options: &Options) -> Vec<Case> {
    let mut cases = Vec::new();
    for instances in options.sizes(&CULLED) {
        for kind in Kind::CULLED {
            for in_view in InView::ALL {
                for detail in [Detail::Levels, Detail::Full] {
                    let all = OnGpu::ALL.into_iter();
                    let all = all.filter(|it| *it != OnGpu::Both || detail == Detail::Levels);
                    cases.extend(all.map(|on_gpu| Case {
                        instances,
                        in_view,
                        detail,
                        kind,
                        on_gpu,
                        views: 2,
                        cold: false,
                    }));
                }
            }
        }
    }
    cases
}

/// Detail and stages on the GPU of the cases that are drawn.
const DRAWN_AS: [(Detail, OnGpu); 6] = [
    (Detail::Uncut, OnGpu::Nothing),
    (Detail::Full, OnGpu::Nothing),
    (Detail::Full, OnGpu::Cull),
    (Detail::Levels, OnGpu::Nothing),
    (Detail::Levels, OnGpu::Cull),
    (Detail::Levels, OnGpu::Both),
];

/// All cases that are drawn: what is in view, then nothing in view for one to four views.
fn drawn(options: &Options) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut sizes = options.sizes(&DRAWN);
    if !options.is_software && !options.test {
        sizes.extend(options.sizes(&DRAWN_BY_CARDS));
    }
    for instances in sizes {
        for in_view in InView::ALL {
            for views in 1..=4 {
                if views != 2 && (in_view != InView::None || instances != UNSEEN) {
                    continue;
                }
                let case = |kind, (detail, on_gpu)| Case {
                    instances,
                    in_view,
                    detail,
                    kind,
                    on_gpu,
                    views,
                    cold: false,
                };
                cases.extend(DRAWN_AS.map(|all| case(Kind::Clip, all)));
                cases.push(case(Kind::Fade, (Detail::Levels, OnGpu::Both)));
            }
        }
    }
    cases.retain(|case| case.detail != Detail::Full || case.views == 2);
    cases
}

/// The cases of the largest crowd.
fn largest(options: &Options) -> Vec<Case> {
    let mut cases = Vec::new();
    for instances in options.sizes(&[LARGEST]) {
        for kind in Kind::CULLED {
            cases.extend(InView::ALL.map(|in_view| Case {
                instances,
                in_view,
                detail: Detail::Levels,
                kind,
                on_gpu: OnGpu::Both,
                views: 2,
                cold: false,
            }));
        }
    }
    cases
}

/// The cases of nothing in view, without draws.
fn unseen(options: &Options) -> Vec<Case> {
    let mut cases = Vec::new();
    for instances in options.sizes(&[UNSEEN]) {
        for views in 1..=4 {
            for kind in Kind::CULLED {
                cases.extend(OnGpu::ALL.map(|on_gpu| Case {
                    instances,
                    in_view: InView::None,
                    detail: Detail::Levels,
                    kind,
                    on_gpu,
                    views,
                    cold: false,
                }));
            }
        }
    }
    cases
}

/// Crowds at rest with cull on the GPU, with cold caches.
fn cold(options: &Options) -> Vec<Case> {
    let mut cases = Vec::new();
    for instances in options.sizes(&CULLED) {
        cases.extend(InView::ALL.map(|in_view| Case {
            instances,
            in_view,
            detail: Detail::Levels,
            kind: Kind::Rest,
            on_gpu: OnGpu::Cull,
            views: 2,
            cold: true,
        }));
    }
    cases
}

/// The CPU's time for instances of a model.
fn print_model(context: &mut Context, options: &Options, file: &str) -> Outcome {
    let model = Model::of_file(file)?;
    let mut rows = Vec::new();
    for instances in options.sizes(&[UNSEEN]) {
        for in_view in [InView::All, InView::None] {
            for on_gpu in OnGpu::ALL {
                let case = Case {
                    instances,
                    in_view,
                    detail: Detail::Levels,
                    kind: Kind::Clip,
                    on_gpu,
                    views: 1,
                    cold: false,
                };
                rows.push(measure(context, &model, case, options.rounds(&case))?);
            }
        }
    }
    let (joints, clips) = (model.character.skeleton().len(), model.clips.len());
    println!("\n{file}: {joints} joints, {clips} clips");
    culling_report::print_model(&rows);
    Ok(())
}

fn print_culling(context: &mut Context, options: &Options) -> Outcome {
    let model = Model::built_in()?;
    let mut all = |cases: Vec<Case>, rounds: &dyn Fn(&Case) -> Rounds| -> Outcome<Vec<_>> {
        let measured = cases
            .into_iter()
            .map(|case| measure(context, &model, case, rounds(&case)));
        measured.collect()
    };
    let rows = all(culled(options), &|case| options.rounds(case))?;
    culling_report::print_cpu(&rows);
    if let Some(file) = &options.plot {
        std::fs::write(file, culling_report::plot(&rows)?)?;
    }
    let cold = all(cold(options), &|case| options.rounds(case))?;
    culling_report::print_cold(&rows, &cold);
    let rows = all(unseen(options), &|case| options.rounds(case))?;
    culling_report::print_unseen(&rows);
    let rows = all(drawn(options), &|_| options.drawn())?;
    culling_report::print_device(&rows);
    culling_report::print_scopes(&rows);
    if !options.is_software && !options.test {
        let rows = all(largest(options), &|_| options.drawn())?;
        culling_report::print_device(&rows);
        culling_report::print_scopes(&rows);
    }
    Ok(())
}

/// The numbers of people whose cost is compared.
const COSTS: [u32; 2] = [1_000, 100_000];
/// Parts of the largest crowd, whose buffers every driver has.
const PARTS: usize = 2;

/// The figures of a case, some frames after the first.
fn counted(
    context: &mut Context,
    options: &Options,
    case: occlusion::Case,
    part: Range<usize>,
) -> Outcome<occlusion_report::Row> {
    let draws = !options.is_software && case.place != Place::Overlook;
    let run = occlusion::Run {
        // The figures of a frame are there when the next one begins.
        frames_in_flight: 1,
        draws,
        cold: false,
    };
    let mut scene = occlusion::Scene::new(context, &case, part, run)?;
    // In the first frame nobody was seen, so the second draws all whom walls do not hide.
    let figures = scene.run(context, 3, if draws { 50 } else { 2 });
    scene.destroy(context)?;
    Ok(occlusion_report::Row::new(case, &figures?).ok_or("no frames")?)
}

/// All cases of places with walls and without.
fn hidden(context: &mut Context, options: &Options) -> Outcome<Vec<occlusion_report::Row>> {
    let mut rows = Vec::new();
    for scene in &SCENES {
        for people in options.sizes(&[scene.people as u32]) {
            for levels in Levels::ALL {
                for hides in Hides::ALL {
                    // A software driver needs minutes to draw that many triangles.
                    let draws_near = hides == Hides::People && levels == Levels::Near;
                    if draws_near && options.is_software || options.test && levels == Levels::Near {
                        continue;
                    }
                    let people = people as usize;
                    let case = occlusion::Case {
                        place: scene.place,
                        people,
                        hides,
                        levels,
                    };
                    rows.push(counted(context, options, case, 0..people)?);
                }
            }
        }
    }
    Ok(rows)
}

/// The largest crowd, of which nothing is hidden.
fn million(context: &mut Context, options: &Options) -> Outcome<Vec<occlusion_report::Row>> {
    let mut rows = Vec::new();
    for people in options.sizes(&[MILLION.people as u32]) {
        let people = people as usize;
        for levels in Levels::ALL {
            let case = occlusion::Case {
                place: MILLION.place,
                people,
                hides: Hides::Nothing,
                levels,
            };
            let mut sum: Option<occlusion_report::Row> = None;
            for part in 0..PARTS {
                let part = people * part / PARTS..people * (part + 1) / PARTS;
                let row = counted(context, options, case, part)?;
                match &mut sum {
                    Some(sum) => sum.add(&row),
                    None => sum = Some(row),
                }
            }
            rows.extend(sum);
        }
    }
    Ok(rows)
}

/// The costs of a crowd on the CPU and in memory, with little of it in view.
fn costs(context: &mut Context, options: &Options) -> Outcome<Vec<occlusion_report::Cost>> {
    let mut costs = Vec::new();
    let sizes = options.sizes(&COSTS);
    let (Some(few), Some(many)) = (sizes.first(), sizes.get(1)) else {
        return Ok(costs);
    };
    let run = occlusion::Run {
        frames_in_flight: FRAMES_IN_FLIGHT,
        draws: false,
        cold: true,
    };
    for hides in Hides::ALL {
        let mut of = |people: u32| -> Outcome<(Spread, u64)> {
            let people = people as usize;
            let case = occlusion::Case {
                place: Place::Street,
                people,
                hides,
                levels: Levels::Far,
            };
            let mut scene = occlusion::Scene::new(context, &case, 0..people, run)?;
            let bytes = occlusion::memory(context);
            let figures = scene.run(context, 2 * FRAMES_IN_FLIGHT as usize, AT_REST / 2);
            scene.destroy(context)?;
            let times = figures?.iter().map(|one| one.records_us).collect();
            Ok((Spread::of(times), bytes))
        };
        let (first, second) = (of(*few)?, of(*many)?);
        costs.push(occlusion_report::Cost {
            hides,
            people: [*few, *many].map(|it| it as usize),
            records: [first.0, second.0],
            bytes: [first.1, second.1],
        });
    }
    Ok(costs)
}

fn print_occlusion(context: &mut Context, options: &Options) -> Outcome {
    for levels in Levels::ALL {
        occlusion_report::print_levels(levels)?;
    }
    let mut rows = hidden(context, options)?;
    if let Some(file) = options.plot.as_ref().filter(|_| !options.culling) {
        std::fs::write(file, occlusion_report::plot(&rows)?)?;
    }
    rows.extend(million(context, options)?);
    occlusion_report::print(&rows);
    occlusion_report::print_stages(&rows);
    occlusion_report::print_costs(&costs(context, options)?);
    occlusion_report::check(&rows)
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
    let is_software = context.properties.device_type == vk::PhysicalDeviceType::CPU;
    let options = Options::new(is_software)?;
    report::print_machine(&context)?;
    if options.poses {
        report::print(&poses(&mut context, &options)?)?;
    }
    if options.culling {
        print_culling(&mut context, &options)?;
    }
    if options.occlusion {
        print_occlusion(&mut context, &options)?;
    }
    if options.rays {
        rays::print(&options)?;
    }
    if options.looks {
        looks::print(&mut context, &options)?;
    }
    if let Some(file) = &options.model {
        print_model(&mut context, &options, file)?;
    }
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
