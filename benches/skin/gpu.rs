//! Times the GPU: deformation in the vertex shader of a depth pass, and in the skin stage before
//! it.

use crate::Outcome;
use crate::load::Load;
use std::time::Instant;
use throng::glam::{Mat4, Vec3};
use throng::palette::SkinningMethod;
use throng::skin::SkinnedLayout;
use throng::{
    Capacity, CharacterDesc, Crowd, CrowdDesc, Id, PassDesc, PassId, PassKind, Play, SkinningStage,
    Spawn, View,
};
use throng_standalone::{Begin, Context, ContextDesc, Target, TargetDesc};

/// Influences per vertex.
const COUNTS: [usize; 3] = [1, 4, 8];
const METHODS: [SkinningMethod; 3] = [
    SkinningMethod::Linear,
    SkinningMethod::QuatOffset,
    SkinningMethod::DualQuat,
];
const INSTANCES: u32 = 24;

/// The times of one method and number of influences.
pub(crate) struct Row {
    pub(crate) method: SkinningMethod,
    pub(crate) influences: usize,
    /// Median nanoseconds per vertex of a whole submission.
    ///
    /// With the vertices skinned during drawing, and with the skin stage followed by drawing.
    pub(crate) vertex_ns: f64,
    pub(crate) compute_ns: f64,
    /// The driver's timestamps for the skin stage and the draw after it, in the same unit.
    pub(crate) stages_ns: [f64; 2],
}

/// All rows, and the device that they were measured on.
pub(crate) struct Table {
    pub(crate) device: String,
    pub(crate) rows: Vec<Row>,
}

/// A crowd that uses one skinning stage.
struct Scene {
    crowd: Crowd,
    pass: PassId,
}

pub(crate) fn compare(rounds: usize) -> Outcome<Table> {
    let mut context = Context::new(&ContextDesc {
        app_name: "throng bench",
        ..ContextDesc::default()
    })?;
    let target = Target::new(&context, &TargetDesc::default())?;
    let mut rows = Vec::new();
    for influences in COUNTS {
        let load = Load::new(influences)?;
        for method in METHODS {
            rows.push(row(&mut context, &target, &load, method, rounds)?);
        }
    }
    let device = context.info.clone();
    Ok(Table { device, rows })
}

fn row(
    context: &mut Context,
    target: &Target,
    load: &Load,
    method: SkinningMethod,
    rounds: usize,
) -> Outcome<Row> {
    let vertices = load.vertices() as f64 * f64::from(INSTANCES);
    let mut times = [Vec::new(), Vec::new()];
    let mut stages = [Vec::new(), Vec::new()];
    let mut scenes = Vec::new();
    for skin in [SkinningStage::Vertex, SkinningStage::Compute] {
        scenes.push(scene(context, target, load, method, skin)?);
    }
    for round in 0..rounds.min(9) + 2 {
        for (scene, times) in scenes.iter_mut().zip(&mut times) {
            let time = frame(context, target, scene)?;
            // The first rounds are warm-up.
            if round >= 2 {
                times.push(time / vertices);
            }
        }
        if let Some(scene) = scenes.last_mut().filter(|_| round >= 2) {
            scene.crowd.update(0.5)?;
            // SAFETY: the work of this frame in flight was waited for.
            let next = unsafe { scene.crowd.begin_frame(&mut context.allocator(), 0, 0.5)? };
            for (name, stage) in ["skin", "depth"].into_iter().zip(&mut stages) {
                let of_name = next.gpu_times().iter().filter(|scope| scope.0 == name);
                stage.push(of_name.map(|(_, ms)| ms * 1e6).sum::<f64>() / vertices);
            }
        }
    }
    context.wait_idle()?;
    for scene in scenes {
        // SAFETY: the device is idle.
        unsafe { scene.crowd.destroy(&mut context.allocator()) };
    }
    let [vertex_ns, compute_ns] = times.map(median);
    Ok(Row {
        method,
        influences: load.influences,
        vertex_ns,
        compute_ns,
        stages_ns: stages.map(median),
    })
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn scene(
    context: &mut Context,
    target: &Target,
    load: &Load,
    method: SkinningMethod,
    skin: SkinningStage,
) -> Outcome<Scene> {
    let character = &load.character;
    let desc = CrowdDesc {
        frames_in_flight: 1,
        capacity: Capacity {
            instances: INSTANCES,
            palette_entries: INSTANCES * character.palette().len() as u32,
            skinned_words: INSTANCES * SkinnedLayout::new(character)?.words,
            ..Capacity::default()
        },
        profile: true,
        ..CrowdDesc::default()
    };
    // SAFETY: the context outlives the crowd.
    let device = unsafe { context.gpu_device() };
    let allocator = &mut context.allocator();
    let mut crowd = Crowd::new(&device, allocator, &desc)?;
    let pass = PassDesc {
        kind: PassKind::Depth,
        ..target.pass_desc()
    };
    // SAFETY: the target was created with these formats.
    let pass = unsafe { crowd.create_pass(&pass)? };
    let method = CharacterDesc {
        method,
        ..CharacterDesc::default()
    };
    let id = crowd.add_character(allocator, character, &method)?;
    for number in 0..INSTANCES {
        let play = Play {
            offset_s: f64::from(number) / f64::from(INSTANCES),
            ..Play::new(Id::new(0))
        };
        crowd.spawn(
            id,
            &Spawn {
                play,
                skinning_stage: skin,
                ..Spawn::default()
            },
        )?;
    }
    Ok(Scene { crowd, pass })
}

/// Nanoseconds from the submission of a frame until it has finished.
fn frame(context: &mut Context, target: &Target, scene: &mut Scene) -> Outcome<f64> {
    let view = View::new(Mat4::IDENTITY, Vec3::Z, target.extent());
    scene.crowd.update(0.5)?;
    // SAFETY: the work of this frame in flight was waited for.
    let mut frame = unsafe { scene.crowd.begin_frame(&mut context.allocator(), 0, 0.5)? };
    let mut recorded = Instant::now();
    let pass = scene.pass;
    context.submit_and_wait(|device, cmd| {
        // SAFETY: the command buffer is recording, and is submitted and waited for at once.
        let result = unsafe {
            frame.record_prepare(cmd, &[view]).and_then(|views| {
                target.begin(device, cmd, &Begin::default());
                let drawn = frame.record_draw(cmd, views[0], pass);
                target.end(device, cmd);
                drawn
            })
        };
        recorded = Instant::now();
        result
    })??;
    Ok(recorded.elapsed().as_nanos() as f64)
}
