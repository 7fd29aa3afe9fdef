//! What the pose level can do, side by side in `animation.png`: a blend space, a masked layer, an additive clip, inverse
//! kinematics of eyes, hand and feet. Poses are made on the CPU and handed to a crowd.

#[path = "../common/draw.rs"]
mod draw;
mod reach;
mod stage;

use std::error::Error;

use throng::character::{Affine, Character, Transform};
use throng::glam::{Affine3A, Vec3, vec3};
use throng::import::ImportOptions;
use throng::pose::{
    AdditiveReference, BatchPoser, BlendSpace1, Clip, ClipOptions, ClipSample, Mask, SampleList,
    cycle_duration_s, model_pose,
};
use throng::{Spawn, builtin};

/// Metres between two of them.
const APART_M: f32 = 1.15;
/// The moment of the picture.
const NOW_S: f64 = 12.25;

/// Indices into the clips that the batch is given.
const IDLE: usize = 0;
const WALK: usize = 1;
const RUN: usize = 2;
const WAVE: usize = 3;
const WAVE_ADDED: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args_os().len() > 1 {
        eprintln!("usage: animation, without arguments");
        std::process::exit(2);
    }
    picture()
}

pub(crate) fn picture() -> Result<(), Box<dyn Error>> {
    let character = builtin::mannequin_with(&ImportOptions::with_curves())?.character;
    let clips = clips(&character)?;
    let acts = acts(&clips)?;

    // Everyone's local pose in one call, then what works on model poses.
    let upper_body =
        Mask::none(character.skeleton()).with_subtree(character.skeleton(), "Spine", 1.0)?;
    let poser = BatchPoser::new(&character)?.with_masks(&[upper_body])?;
    let mut list = SampleList::new();
    for act in &acts {
        list.push(act.samples.iter().copied());
    }
    let joints = character.skeleton().len();
    let mut local = vec![Transform::IDENTITY; joints * acts.len()];
    let mut model = vec![Affine::IDENTITY; joints * acts.len()];
    poser.local_poses(&clips, &list, &mut local)?;
    let reach = reach::Reach::new(&character)?;
    let poses = local.chunks_mut(joints).zip(model.chunks_mut(joints));
    for (act, (local, model)) in acts.iter().zip(poses) {
        model_pose(character.skeleton(), local, model)?;
        let said = act.after.solve(&reach, local, model)?;
        println!("{:<52} {said}", act.name);
    }

    let shot = draw::Shot {
        path: "animation.png",
        size: [1120, 330],
        eye: vec3(0.0, 1.9, 13.0),
        centre: vec3(0.0, 0.86, 0.0),
        fov_y_rad: 0.187,
    };
    draw::to_file(&shot, |context, crowd| {
        let kind = crowd.add_character(&mut context.allocator, &character)?;
        let hues = [
            [0.9, 0.45, 0.3],
            [0.35, 0.7, 0.9],
            [0.55, 0.8, 0.4],
            [0.85, 0.75, 0.35],
        ];
        for (index, (act, model)) in acts.iter().zip(model.chunks(joints)).enumerate() {
            let [r, g, b] = hues[index % hues.len()];
            let spawn = Spawn {
                world_from_model: Affine3A::from_translation(place(index, acts.len())),
                tint: [r, g, b, 1.0],
                ..Spawn::default()
            };
            let id = crowd.spawn(kind, &spawn)?;
            crowd.set_model_pose(id, model)?;
            let props = stage::props(act.after)?;
            let props = crowd.add_character(&mut context.allocator, &props)?;
            crowd.spawn(
                props,
                &Spawn {
                    tint: [1.0; 4],
                    ..spawn
                },
            )?;
        }
        Ok(())
    })
}

fn place(index: usize, count: usize) -> Vec3 {
    vec3(
        (index as f32 - 0.5 * (count as f32 - 1.0)) * APART_M,
        0.0,
        0.0,
    )
}

/// The character's own, packed, and one that is made of two: how the wave differs from standing.
fn clips(character: &Character) -> throng::Result<Vec<Clip>> {
    let options = ClipOptions::default();
    let find = |name| Ok(character.clip(name)?.index());
    let mut clips = Vec::new();
    for name in ["Idle", "Walk", "Run", "Wave"] {
        clips.push(character.clips()[find(name)?].clone());
    }
    let mut standing = vec![Transform::IDENTITY; character.skeleton().len()];
    clips[IDLE].sample(0.0, &mut standing)?;
    let standing = AdditiveReference::Pose(standing);
    clips.push(Clip::additive(
        character,
        &character.curves()[find("Wave")?],
        &standing,
        &options,
    )?);
    Ok(clips)
}

/// One of those in the picture.
struct Act {
    name: &'static str,
    samples: Vec<ClipSample>,
    after: reach::After,
}

fn acts(clips: &[Clip]) -> throng::Result<Vec<Act>> {
    let act = |name, samples: &[ClipSample], after| Act {
        name,
        samples: samples.to_vec(),
        after,
    };
    use reach::After;
    let idle = ClipSample::new(IDLE, NOW_S % clips[IDLE].duration_s());
    let walk = ClipSample::new(WALK, NOW_S % clips[WALK].duration_s());
    Ok(vec![
        act("walks", &[walk], After::Nothing),
        act(
            "jogs: halfway between walk and run, in step",
            &jog(clips)?,
            After::Nothing,
        ),
        act(
            "walks, and waves above the hips",
            &[walk, ClipSample::new(WAVE, 1.0).masked(0).on_level(1)],
            After::Nothing,
        ),
        act(
            "walks, with half of the wave added",
            &[walk, ClipSample::new(WAVE_ADDED, 1.0).weighted(0.5)],
            After::Nothing,
        ),
        act("stands, looks at the ball", &[idle], After::Look),
        act(
            "stands, looks at the ball and takes it",
            &[idle],
            After::LookAndReach,
        ),
        act("stands on steps", &[idle], After::Stand),
    ])
}

/// A blend space of speeds: at 2.2 m/s, between a walk of 1.4 and a run of 3.5. One phase drives both clips.
fn jog(clips: &[Clip]) -> throng::Result<Vec<ClipSample>> {
    let speeds = BlendSpace1::new(&[1.4, 3.5])?;
    let parts = speeds
        .at(2.45)
        .map(|(point, weight)| ([WALK, RUN][point], weight));
    let cycle_s = cycle_duration_s(parts.map(|(clip, weight)| (weight, clips[clip].duration_s())));
    let phase = (NOW_S / cycle_s).fract();
    let sample = |(clip, weight): (usize, f32)| {
        ClipSample::new(clip, phase * clips[clip].duration_s()).weighted(weight)
    };
    Ok(parts.map(sample).to_vec())
}
