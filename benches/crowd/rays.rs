//! Frames of crowds that rays meet, and their table.

use crate::report::Spread;
use crate::{Options, Outcome};
use std::time::Instant;
use throng::ash::vk;
use throng::character::{Character, LevelOptions};
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::ImportOptions;
use throng::{
    Capacity, CharacterDesc, Crowd, CrowdDesc, Culling, Detail, Play, RayDesc, RayStats, Spawn,
    Stages, View,
};
use throng_standalone::{Context, ContextDesc, Frames};

/// People of each size. Those with a pose for each take a palette each, so their largest crowd is
/// smaller.
const SHARED: [u32; 3] = [1_000, 10_000, 100_000];
const OWN: [u32; 2] = [1_000, 10_000];
/// Models beside the built-in one, of the folder `THRONG_ASSETS`.
const MODELS: [&str; 3] = ["CesiumMan.glb", "Fox.glb", "Knight.glb"];
/// The clips of each that people play.
const CLIPS: usize = 4;
/// Frames until all structures are built and compacted, and those whose figures count.
const SETTLING: usize = 65;
const STEADY: usize = 15;
const FRAMES_IN_FLIGHT: u32 = 2;
const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 1280,
    height: 720,
};

/// The figures of a crowd.
struct Row {
    people: u32,
    own: bool,
    stats: RayStats,
    /// The most structures built in a frame, and those built in all steady frames.
    most_built: u32,
    built: u32,
    refits: u32,
    record_us: Spread,
    device_us: Option<Spread>,
}

/// The built-in character and the models that are there, each as large as a person.
fn characters() -> Outcome<Vec<Character>> {
    let mut all = vec![throng::builtin::mannequin()?.character];
    let Some(folder) = std::env::var_os("THRONG_ASSETS") else {
        return Ok(all);
    };
    for name in MODELS {
        let file = std::path::Path::new(&folder).join(name);
        let import = |scale| {
            let options = ImportOptions {
                scale,
                ..ImportOptions::default()
            };
            throng_import::file(&file, &options)
        };
        let size = import(1.0)?.character.rest_bounds().size().max_element();
        let character = import(1.7 / size)?.character;
        all.push(character.with_levels(&LevelOptions::default())?.0);
    }
    Ok(all)
}

/// A camera among people, and the view of rays.
fn views(side: f32, own: bool) -> [View; 2] {
    let eye = Vec3::new(0.0, 1.7, side * 0.3);
    let view_from_world = rh::view::look_at_mat4(eye, Vec3::new(0.0, 1.2, 0.0), Vec3::Y);
    let aspect = EXTENT.width as f32 / EXTENT.height as f32;
    let clip_from_view = rh::proj::vulkan::perspective(0.8, aspect, 0.1, 500.0);
    let camera = View::new(clip_from_view * view_from_world, eye, EXTENT);
    let detail = Detail {
        error_px: 4.0,
        pose_error_px: if own { 0.0 } else { 4.0 },
        ..Detail::default()
    };
    let rays = View {
        culling: Culling::Rays,
        detail,
        ..camera
    };
    [camera, rays]
}

fn populate(crowd: &mut Crowd, context: &mut Context, all: &[Character], people: u32) -> Outcome {
    let mut kinds = Vec::new();
    for character in all {
        let desc = CharacterDesc::default();
        kinds.push(crowd.add_character(&mut context.allocator(), character, &desc)?);
    }
    let side = f64::from(people).sqrt() as f32;
    for number in 0..people {
        let which = number as usize % all.len();
        let clips = all[which].clips();
        let clip = clips[number as usize / all.len() % clips.len().min(CLIPS)].name();
        let (x, z) = (number as f32 % side, (number as f32 / side).floor());
        let at = (Vec3::new(x, 0.0, z) - Vec3::new(side, 0.0, side) * 0.5) * 1.5;
        let spawn = Spawn {
            world_from_model: Affine3A::from_rotation_translation(
                Quat::from_rotation_y(number as f32),
                at,
            ),
            play: Play::new(clip).offset_s(f64::from(number) * 0.37),
            ..Spawn::default()
        };
        crowd.spawn(kinds[which], &spawn)?;
    }
    Ok(())
}

fn measure(
    context: &mut Context,
    all: &[Character],
    (people, own, test): (u32, bool, bool),
) -> Outcome<Row> {
    // SAFETY: the crowd is destroyed below, before the context is dropped.
    let device = unsafe { context.gpu_device() };
    let joints = all.iter().map(|it| it.palette().len()).max().unwrap_or(0) as u32;
    let desc = CrowdDesc {
        frames_in_flight: FRAMES_IN_FLIGHT,
        stages: Stages::Gpu,
        profile: true,
        rays: Some(RayDesc {
            max_people: people,
            ..RayDesc::default()
        }),
        capacity: Capacity {
            instances: people,
            palette_entries: joints * if own { people } else { people.min(4096) },
            ..Capacity::new(2)
        },
        ..CrowdDesc::default()
    };
    let mut crowd = Crowd::new(&device, &mut context.allocator(), &desc)?;
    populate(&mut crowd, context, all, people)?;
    let views = views(f64::from(people).sqrt() as f32, own);
    let mut frames = Frames::new(context, FRAMES_IN_FLIGHT as usize)?;
    let (settling, steady) = if test { (2, 1) } else { (SETTLING, STEADY) };
    let (mut most_built, mut built, mut refits) = (0, 0, 0);
    let (mut record_us, mut device_us) = (Vec::new(), Vec::new());
    for number in 0..settling + steady {
        let in_flight = frames.begin()?;
        let now_s = number as f64 / 60.0;
        crowd.update(now_s)?;
        let index = in_flight.frame_index as u32;
        // SAFETY: the frame in flight was just begun, and the recording is submitted below.
        unsafe {
            let mut frame = crowd.begin_frame(&mut context.allocator(), index, now_s)?;
            let of_views = frame.record_prepare(in_flight.cmd, &views)?;
            let start = Instant::now();
            frame.record_rays(in_flight.cmd, of_views[1])?;
            let recorded_us = start.elapsed().as_secs_f64() * 1e6;
            let stats = frame.ray_stats().ok_or("no rays")?;
            most_built = most_built.max(stats.built);
            if number >= settling {
                built += stats.built;
                refits = refits.max(stats.refitted);
                record_us.push(recorded_us);
                let scopes = frame.gpu_times().iter();
                device_us.extend(scopes.filter(|it| it.0 == "rays").map(|it| it.1 * 1e3));
            }
            in_flight.submit()?;
        }
    }
    context.wait_idle()?;
    let stats = crowd.ray_stats().ok_or("no rays")?;
    drop(frames);
    // SAFETY: the device is idle.
    unsafe { crowd.destroy(&mut context.allocator()) };
    Ok(Row {
        people,
        own,
        stats,
        most_built,
        built,
        refits,
        record_us: Spread::of(record_us),
        device_us: (!device_us.is_empty()).then(|| Spread::of(device_us)),
    })
}

fn print_rows(rows: &[Row], characters: usize) {
    println!("\n{characters} characters, of which rays meet:\n");
    println!(
        "| people | poses | structures | MB | MB a character | built in a frame, at most | built in {STEADY} steady frames | refits a frame | record_rays, µs | device, µs |"
    );
    println!("|---:|---|{}", "---:|".repeat(8));
    for row in rows {
        let mega = row.stats.bytes as f64 / 1e6;
        let device = row.device_us.map_or_else(|| "–".into(), Spread::cell);
        println!(
            "| {} | {} | {} | {mega:.1} | {:.1} | {} | {} | {} | {} | {device} |",
            row.people,
            if row.own { "own" } else { "shared" },
            row.stats.structures,
            mega / characters as f64,
            row.most_built,
            row.built,
            row.refits,
            row.record_us.cell(),
        );
    }
}

/// Runs all sizes, if the device has ray queries.
pub(crate) fn print(options: &Options) -> Outcome {
    let desc = ContextDesc {
        app_name: crate::NAME,
        rays: true,
        ..ContextDesc::default()
    };
    let mut context = match Context::new(&desc) {
        Ok(context) => context,
        Err(error) => {
            println!("\nRays are left out: {error}");
            return Ok(());
        }
    };
    println!("\nRays on {}", context.info);
    let all = characters()?;
    let mut rows = Vec::new();
    for (own, sizes) in [(false, &SHARED[..]), (true, &OWN)] {
        for people in options.sizes(sizes) {
            rows.push(measure(&mut context, &all, (people, own, options.test))?);
        }
    }
    print_rows(&rows, all.len());
    let messages = context.messages.clone();
    drop(context);
    Ok(messages.check()?)
}
