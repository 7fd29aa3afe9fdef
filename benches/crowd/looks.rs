//! Frames of one character whose instances look alike, or have 64 looks, and their table.

use crate::report::Spread;
use crate::{Options, Outcome};
use throng::ash::vk;
use throng::character::{Character, LevelOptions};
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::mesh::{Material, PartId, VariantId};
use throng::{
    Capacity, CharacterDesc, Crowd, CrowdDesc, Detail, NameOrId, PassId, Play, Spawn, Stages, View,
};
use throng_standalone::{Begin, Context, Frames, Target, TargetDesc};

const PEOPLE: [u32; 2] = [1_000, 10_000];
/// Bodies, garments of each body, and material variants: 64 looks of either kind.
const BODIES: usize = 8;
const GARMENTS: usize = 8;
const VARIANTS: usize = BODIES * GARMENTS;
const SETTLING: usize = 2;
const FRAMES: usize = 5;
const FRAMES_IN_FLIGHT: u32 = 2;
const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 640,
    height: 360,
};

/// The differences between people.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Looks {
    /// All show the first body and garment.
    One,
    /// A body and a garment of eight each.
    Parts,
    /// One of 64 variants of those of the first look.
    Variants,
}

/// The figures of a crowd.
struct Row {
    people: u32,
    looks: Looks,
    on_gpu: bool,
    draws: u32,
    triangles: u64,
    device_ms: Spread,
}

/// The built-in character eight times over, with eight garments around it, and materials for 64
/// variants. All bodies are alike, and all garments, so that only the looks cost.
fn character() -> Outcome<Character> {
    let mut raw = RawCharacter::mannequin();
    let mut body = raw.primitives.swap_remove(0);
    raw.primitives.clear();
    body.levels.clear();
    let own = raw.materials[0].clone();
    let color = |at: usize| {
        let [r, g, b] = [at % 4, at / 4 % 4, at / 16].map(|step| 0.2 + 0.25 * step as f32);
        Material {
            base_color: [r, g, b, 1.0],
            ..own.clone()
        }
    };
    let first = raw.materials.len();
    raw.materials.extend((0..VARIANTS).map(color));
    raw.variants = (0..VARIANTS).map(|at| at.to_string().into()).collect();
    let variants = (0..VARIANTS).map(|at| (at, first + at));
    let variants: Vec<_> = variants.collect();
    for number in 0..BODIES + GARMENTS {
        let mut part = body.clone();
        let name = match number {
            0..BODIES => format!("body {number}"),
            _ => format!("garment {}", number - BODIES),
        };
        (part.name, part.part) = (name.as_str().into(), name.into());
        part.variants.clone_from(&variants);
        if number >= BODIES {
            let each = part.positions.iter_mut().zip(&part.normals);
            each.for_each(|(at, normal)| *at += *normal * 0.004);
        }
        raw.primitives.push(part);
    }
    let made = raw.build(&ImportOptions::default())?.character;
    Ok(made.with_levels(&LevelOptions::default())?.0)
}

fn camera(side: f32) -> View {
    let eye = Vec3::new(0.0, side * 0.5, side * 1.1);
    let view_from_world = rh::view::look_at_mat4(eye, Vec3::ZERO, Vec3::Y);
    let aspect = EXTENT.width as f32 / EXTENT.height as f32;
    let clip_from_view = rh::proj::vulkan::perspective(0.8, aspect, 0.1, 1000.0);
    let view = View::new(clip_from_view * view_from_world, eye, EXTENT);
    View {
        detail: Detail {
            error_px: 1.0,
            ..Detail::default()
        },
        ..view
    }
}

fn populate(crowd: &mut Crowd, context: &mut Context, person: &Character, row: &Row) -> Outcome {
    let desc = CharacterDesc::default();
    let kind = crowd.add_character(&mut context.allocator(), person, &desc)?;
    let parts: Vec<PartId> = person.parts().map(|(part, _)| part).collect();
    let side = f64::from(row.people).sqrt() as f32;
    for number in 0..row.people {
        let look = match row.looks {
            Looks::Parts => number as usize % (BODIES * GARMENTS),
            _ => 0,
        };
        let shown = [look % BODIES, BODIES + look / BODIES];
        let hidden = parts.iter().enumerate();
        let hidden = hidden.filter(|(at, _)| !shown.contains(at));
        let hidden: Vec<NameOrId<'_, PartId>> = hidden.map(|(_, part)| (*part).into()).collect();
        let (x, z) = (number as f32 % side, (number as f32 / side).floor());
        let at = (Vec3::new(x, 0.0, z) - Vec3::new(side, 0.0, side) * 0.5) * 1.5;
        let variant = VariantId::new((number as usize % VARIANTS) as u16);
        let spawn = Spawn {
            world_from_model: Affine3A::from_translation(at),
            play: Play::new("Walk").offset_s(f64::from(number) * 0.37),
            hidden_parts: &hidden,
            variant: (row.looks == Looks::Variants).then(|| variant.into()),
            ..Spawn::default()
        };
        crowd.spawn(kind, &spawn)?;
    }
    Ok(())
}

fn measure(context: &mut Context, person: &Character, row: &mut Row, test: bool) -> Outcome {
    // SAFETY: the crowd is destroyed below, before the context is dropped.
    let device = unsafe { context.gpu_device() };
    let desc = CrowdDesc {
        frames_in_flight: FRAMES_IN_FLIGHT,
        stages: match row.on_gpu {
            true => Stages::Gpu,
            false => Stages::Cpu,
        },
        profile: true,
        capacity: Capacity {
            instances: row.people,
            palette_entries: row.people * person.palette().len() as u32,
            ..Capacity::new(1)
        },
        ..CrowdDesc::default()
    };
    let mut crowd = Crowd::new(&device, &mut context.allocator(), &desc)?;
    let target = Target::new(
        context,
        &TargetDesc {
            extent: EXTENT,
            ..TargetDesc::default()
        },
    )?;
    // SAFETY: the formats are those of the target, which the device supports.
    let pass: PassId = unsafe { crowd.create_pass(&target.pass_desc()) }?;
    populate(&mut crowd, context, person, row)?;
    let view = camera(f64::from(row.people).sqrt() as f32 * 1.5);
    let mut frames = Frames::new(context, FRAMES_IN_FLIGHT as usize)?;
    let (settling, counted) = if test { (2, 1) } else { (SETTLING, FRAMES) };
    let mut device_ms = Vec::new();
    for number in 0..settling + counted + FRAMES_IN_FLIGHT as usize {
        let in_flight = frames.begin()?;
        let now_s = number as f64 / 60.0;
        crowd.update(now_s)?;
        let index = in_flight.frame_index as u32;
        // SAFETY: the frame in flight was just begun, and the recording is submitted below.
        unsafe {
            let mut frame = crowd.begin_frame(&mut context.allocator(), index, now_s)?;
            if number >= settling + FRAMES_IN_FLIGHT as usize {
                device_ms.push(frame.gpu_times().iter().map(|it| it.1).sum());
            }
            let views = frame.record_prepare(in_flight.cmd, &[view])?;
            target.begin(&context.device, in_flight.cmd, &Begin::default());
            frame.record_draw(in_flight.cmd, views[0], pass)?;
            target.end(&context.device, in_flight.cmd);
            let stats = frame.stats();
            (row.draws, row.triangles) = (stats.draws, stats.triangles);
            in_flight.submit()?;
        }
    }
    context.wait_idle()?;
    drop(frames);
    drop(target);
    // SAFETY: the device is idle.
    unsafe { crowd.destroy(&mut context.allocator()) };
    row.device_ms = Spread::of(device_ms);
    Ok(())
}

fn print_rows(rows: &[Row]) {
    println!("\n| people | looks | culled by | draws | triangles | device, ms | over one look |");
    println!("|---:|---|---|{}", "---:|".repeat(4));
    for row in rows {
        let alike = |it: &&Row| (it.people, it.on_gpu) == (row.people, row.on_gpu);
        let one = rows.iter().filter(alike).find(|it| it.looks == Looks::One);
        let over = one.map_or_else(String::new, |one| row.device_ms.over(one.device_ms));
        println!(
            "| {} | {} | {} | {} | {} | {} | {over} |",
            row.people,
            match row.looks {
                Looks::One => "one",
                Looks::Parts => "64 by parts",
                Looks::Variants => "64 by variants",
            },
            if row.on_gpu { "GPU" } else { "CPU" },
            row.draws,
            if row.on_gpu {
                "–".into()
            } else {
                row.triangles.to_string()
            },
            row.device_ms.cell(),
        );
    }
}

/// Runs all looks, with either processor culling.
pub(crate) fn print(context: &mut Context, options: &Options) -> Outcome {
    let person = character()?;
    let mut rows = Vec::new();
    for people in options.sizes(&PEOPLE) {
        for on_gpu in [false, true] {
            for looks in [Looks::One, Looks::Parts, Looks::Variants] {
                let mut row = Row {
                    people,
                    looks,
                    on_gpu,
                    draws: 0,
                    triangles: 0,
                    device_ms: Spread::of(vec![0.0]),
                };
                measure(context, &person, &mut row, options.test)?;
                rows.push(row);
            }
        }
    }
    print_rows(&rows);
    Ok(())
}
