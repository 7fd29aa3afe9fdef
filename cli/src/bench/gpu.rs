//! Frames of a crowd: animation into the mapped ring, upload and drawing.

use super::cpu::{FRAME_S, play};
use super::figures::{Figures, median, ms, row};
use crate::failure::Failure;
use crate::words::{bytes, grouped};
use glam::camera::rh;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Instant;
use throng::ash::vk;
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::mesh::Aabb;
use throng::{
    Capacity, CharacterDesc, Crowd, CrowdDesc, PassId, SkinningStage, Spawn, Stages, Stats, View,
};
use throng_standalone::{Begin, Context, ContextDesc, Target, TargetDesc};

/// The times of one frame on the CPU, in milliseconds.
#[derive(Default)]
struct Times {
    update: Vec<f64>,
    animate: Vec<f64>,
    prepare: Vec<f64>,
    record: Vec<f64>,
    submit: Vec<f64>,
    /// By name of the stage, from timestamps.
    gpu: BTreeMap<&'static str, Vec<f64>>,
}

pub(super) fn run(
    size: (u32, u32),
    (instances, frames): (u32, u32),
    model: &Character,
    figures: &mut Figures<'_>,
) -> Result<(), Failure> {
    let mut context = Context::new(&ContextDesc {
        app_name: "throng bench",
        ..ContextDesc::default()
    })?;
    let device = context.info.clone();
    let words = format!("\nDevice: {device}");
    figures.fact("device", device.into(), &words)?;
    let desc = TargetDesc {
        extent: vk::Extent2D {
            width: size.0,
            height: size.1,
        },
        ..TargetDesc::default()
    };
    let target = Target::new(&context, &desc)?;
    let measured = SIDES.map(|(stages, ..)| {
        // A software device takes seconds for the poses of a frame.
        let is_software = context.properties.device_type == vk::PhysicalDeviceType::CPU;
        let is_slow = stages == Stages::Gpu && is_software;
        let frames = if is_slow { frames.min(SLOW) } else { frames };
        with_crowd(&mut context, (&target, stages), model, instances, frames)
    });
    for (number, measured) in measured.into_iter().enumerate() {
        let (times, stats) = measured?;
        print((&times, &stats), SIDES[number], size, figures)?;
    }
    Ok(())
}

/// Stages, with the names of the processor and of their figures.
const SIDES: [(Stages, &str, &str); 2] = [
    (Stages::Cpu, "CPU", "per_frame"),
    (Stages::Gpu, "GPU", "per_frame_on_gpu"),
];
/// The most frames with these stages on a software device.
const SLOW: u32 = 5;

fn print(
    (times, stats): (&Times, &Stats),
    (stages, processor, fact): (Stages, &str, &str),
    (width, height): (u32, u32),
    figures: &mut Figures<'_>,
) -> Result<(), Failure> {
    let posed = match stages {
        Stages::Gpu => format!("{} posed there, ", grouped(stats.posed_on_gpu.into())),
        _ => format!("{} triangles, ", grouped(stats.triangles)),
    };
    let words = format!(
        "\nCull and animate on the {processor}: {}, {} uploaded a frame, {} draw calls, {posed}{width} x {height} pixels",
        grouped(u64::from(stats.instances)) + " instances",
        bytes(stats.upload_bytes),
        grouped(u64::from(stats.draws)),
    );
    let per_frame = json!({
        "instances": stats.instances,
        "posed_on_gpu": stats.posed_on_gpu,
        "upload_bytes": stats.upload_bytes,
        "draws": stats.draws,
        "triangles": stats.triangles,
        "width": width,
        "height": height,
    });
    figures.fact(fact, per_frame, &words)?;
    let instances = Some(stats.instances as usize);
    let row = |what, times: &Vec<f64>| row(what, median(times.clone()), instances);
    let cpu = [
        row("update: events, state machines, root motion", &times.update),
        row("animate: palettes into mapped memory", &times.animate),
        row("record_prepare: animate, uploads, records", &times.prepare),
        row("record_draw", &times.record),
        row("submit, GPU work and wait", &times.submit),
    ];
    let what =
        format!("Frame on the CPU (one thread), cull and animate on the {processor}, ms per frame");
    figures.table(&what, &cpu)?;
    let gpu = times.gpu.iter().map(|(name, times)| row(name, times));
    let gpu: Vec<_> = gpu.collect();
    match gpu.is_empty() {
        true => figures.fact(
            "timestamps",
            false.into(),
            "\nGPU times: the device has no timestamps",
        ),
        false => {
            let what =
                format!("Stages on the GPU, cull and animate on the {processor}, ms per frame");
            figures.table(&what, &gpu)
        }
    }
}

/// Creates a crowd, measures its frames, and destroys it.
fn with_crowd(
    context: &mut Context,
    (target, stages): (&Target, Stages),
    model: &Character,
    instances: u32,
    frames: u32,
) -> Result<(Times, Stats), Failure> {
    let capacity = Capacity::new(1).with_character(
        model,
        &CharacterDesc::default(),
        instances,
        SkinningStage::Vertex,
    )?;
    let desc = CrowdDesc {
        frames_in_flight: 1,
        capacity,
        stages,
        profile: true,
        ..CrowdDesc::default()
    };
    // SAFETY: the context outlives the crowd.
    let device = unsafe { context.gpu_device() };
    let mut crowd = Crowd::new(&device, &mut context.allocator(), &desc)?;
    let measured = spawn(context, &mut crowd, target, model, instances)
        .and_then(|(pass, view)| measure(context, &mut crowd, target, (pass, &view), frames));
    context.wait_idle()?;
    // SAFETY: the device is idle.
    unsafe { crowd.destroy(&mut context.allocator()) };
    measured
}

/// Spawns the instances on a grid, and returns the pass and a view of all of them.
fn spawn(
    context: &mut Context,
    crowd: &mut Crowd,
    target: &Target,
    model: &Character,
    instances: u32,
) -> Result<(PassId, View), Failure> {
    // SAFETY: the target was created with these formats.
    let pass = unsafe { crowd.create_pass(&target.pass_desc())? };
    let character =
        crowd.add_character(&mut context.allocator(), model, &CharacterDesc::default())?;
    let bounds = model.rest_bounds();
    let edge = match bounds.is_empty() {
        true => 1.0,
        false => bounds.size().x.max(bounds.size().z).max(1e-3) * 1.2,
    };
    let stages = f64::from(instances).sqrt().ceil().max(1.0) as u32;
    let mut all = Aabb::EMPTY;
    for instance in 0..instances {
        let place = |step: u32| (step as f32 - 0.5 * (stages - 1) as f32) * edge;
        let at = Vec3::new(place(instance % stages), 0.0, place(instance / stages));
        all = all.with_point(at + bounds.min).with_point(at + bounds.max);
        let spawn = Spawn {
            play: play(model, instance as usize),
            world_from_model: Affine3A::from_rotation_translation(Quat::IDENTITY, at),
            ..Spawn::default()
        };
        crowd.spawn(character, &spawn)?;
    }
    Ok((pass, view(all, target.extent())))
}

/// A camera somewhat above, which sees everything.
fn view(bounds: Aabb, extent: vk::Extent2D) -> View {
    let bounded = !bounds.is_empty() && bounds.min.is_finite() && bounds.max.is_finite();
    let (center, reach) = match bounded {
        true => (bounds.center(), 0.5 * bounds.size().length().max(1e-3)),
        false => (Vec3::ZERO, 1.0),
    };
    let aspect = extent.width as f32 / extent.height as f32;
    let field = 0.6_f32;
    let distance = reach / (field * 0.5).sin() / aspect.min(1.0);
    let eye = center + Vec3::new(0.3, 0.5, 1.0).normalize() * distance;
    let (near, far) = ((distance - reach) * 0.9, (distance + reach) * 1.1);
    let clip = rh::proj::vulkan::perspective(field, aspect, near.max(1e-4), far);
    View::new(
        clip * rh::view::look_at_mat4(eye, center, Vec3::Y),
        eye,
        extent,
    )
}

fn measure(
    context: &mut Context,
    crowd: &mut Crowd,
    target: &Target,
    (pass, view): (PassId, &View),
    frames: u32,
) -> Result<(Times, Stats), Failure> {
    let mut times = Times::default();
    let mut stats = Stats::default();
    // The first frames upload the character, and fill caches.
    let warm_up = 2;
    for number in 0..warm_up + frames {
        let now_s = f64::from(number) * FRAME_S;
        crowd.update(now_s)?;
        // SAFETY: all work that was submitted has ended.
        let mut frame = unsafe { crowd.begin_frame(&mut context.allocator(), 0, now_s)? };
        let gpu = frame.gpu_times().to_vec();
        let mut record = 0.0;
        let started = Instant::now();
        context.submit_and_wait(|device, cmd| {
            // SAFETY: the command buffer is recording, and is submitted and waited for at once.
            unsafe {
                let views = frame.record_prepare(cmd, std::slice::from_ref(view))?;
                target.begin(device, cmd, &Begin::default());
                let started = Instant::now();
                for view in views.iter() {
                    frame.record_draw(cmd, *view, pass)?;
                }
                record = ms(started);
                target.end(device, cmd);
            }
            Ok::<(), Failure>(())
        })??;
        let whole = ms(started);
        stats = frame.stats();
        // With both stages, of the same frame, because one is in flight at a time and all are
        // alike.
        stats.triangles = frame.view_stats().iter().map(|it| it.triangles).sum();
        if number < warm_up {
            continue;
        }
        times.update.push(stats.update_ms);
        times.animate.push(stats.animate_ms);
        times.prepare.push(stats.prepare_ms);
        times.record.push(record);
        times.submit.push(whole - stats.prepare_ms - record);
        for (name, ms) in gpu {
            times.gpu.entry(name).or_default().push(ms);
        }
    }
    Ok((times, stats))
}
