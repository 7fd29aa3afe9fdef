//! The ways to animate a character, side by side in `animation.png`.
//!
//! - a blend space in a state machine,
//! - a layer with a mask,
//! - an additive clip,
//! - inverse kinematics of eyes, hand and feet.

mod body;
#[path = "../common/draw.rs"]
mod draw;
#[path = "../common/say.rs"]
mod say;
#[path = "../common/shapes.rs"]
mod shapes;
mod stage;

use std::error::Error;

use body::{Solvers, direct};
use say::{Words, say};
use throng::glam::{Affine3A, Vec3, vec3};
use throng::gpu::MemoryAllocator;
use throng::{CharacterDesc, Crowd, IkReport, InstanceId, Spawn};

/// Distance between two characters in metres.
const APART_M: f32 = 1.15;
const HUES: [[f32; 3]; 4] = [
    [0.9, 0.45, 0.3],
    [0.35, 0.7, 0.9],
    [0.55, 0.8, 0.4],
    [0.85, 0.75, 0.35],
];

/// The activity of one of the characters in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Walk,
    Jog,
    Wave,
    HalfWave,
    Look,
    LookAndReach,
    Stand,
}

const ACTS: [(Act, &str); 7] = [
    (Act::Walk, "walks"),
    (Act::Jog, "jogs: halfway between walk and run, in step"),
    (Act::Wave, "walks, and waves above the hips"),
    (Act::HalfWave, "walks, with half of the wave added"),
    (Act::Look, "stands, looks at the ball"),
    (Act::LookAndReach, "stands, looks at the ball and takes it"),
    (Act::Stand, "stands on steps"),
];

fn main() -> Result<(), Words> {
    if std::env::args_os().len() > 1 {
        eprintln!("usage: animation, without arguments");
        std::process::exit(2);
    }
    Ok(picture()?)
}

pub(crate) fn picture() -> Result<(), Box<dyn Error>> {
    let character = throng::import::RawCharacter::mannequin()
        .build(&body::options()?)?
        .character;
    let shot = draw::Shot {
        path: "animation.png",
        size: [1120, 330],
        eye: vec3(0.0, 1.9, 13.0),
        centre: vec3(0.0, 0.86, 0.0),
        fov_y_rad: 0.187,
        ground_m: -0.07,
        reach_m: 5.0,
        time_s: 12.25,
    };
    let populate = |allocator: &mut dyn MemoryAllocator, crowd: &mut Crowd| {
        let kind = crowd.add_character(allocator, &character, &CharacterDesc::default())?;
        let solvers = Solvers::add(crowd, kind, &character)?;
        let mut people = Vec::new();
        for (index, (act, _)) in ACTS.into_iter().enumerate() {
            let [r, g, b] = HUES[index % HUES.len()];
            let x = (index as f32 - 0.5 * (ACTS.len() as f32 - 1.0)) * APART_M;
            let spawn = Spawn {
                world_from_model: Affine3A::from_translation(x * Vec3::X),
                tint: [r, g, b, 1.0],
                ..Spawn::default()
            };
            let id = crowd.spawn(kind, &spawn)?;
            direct(crowd, id, act, &solvers)?;
            people.push(id);
            let props =
                crowd.add_character(allocator, &stage::props(act)?, &CharacterDesc::default())?;
            let tint = [1.0; 4];
            crowd.spawn(props, &Spawn { tint, ..spawn })?;
        }
        Ok((solvers, people))
    };
    draw::to_file(&shot, populate, |crowd, (solvers, people)| {
        for ((_, name), id) in ACTS.into_iter().zip(people) {
            say(&format!("{name:<52} {}", said(crowd, id, &solvers)?));
        }
        Ok(())
    })
}

/// The results of inverse kinematics for an instance's targets.
fn said(crowd: &Crowd, id: InstanceId, solvers: &Solvers) -> throng::Result<String> {
    let mut said = Vec::new();
    for solver in [solvers.look, solvers.arm, solvers.feet] {
        said.extend(match crowd.instance(id)?.target_report(solver) {
            Some(IkReport::Aim { reached: true, .. }) => Some("looks at it".into()),
            Some(IkReport::Aim { .. }) => Some("can't look so far back".into()),
            Some(IkReport::TwoBone { distance_m, .. }) => {
                let mm = 1e3 * distance_m;
                Some(format!("the wrist is {mm:.1} mm off"))
            }
            Some(IkReport::Feet {
                pelvis_m,
                legs_m: [Some(left), Some(right), ..],
                ..
            }) => {
                let [left, right] = [left, right].map(|distance_m| 1e3 * distance_m);
                Some(format!(
                    "hips {pelvis_m:+.2} m, ankles {left:.1} and {right:.1} mm off"
                ))
            }
            _ => None,
        });
    }
    Ok(said.join(", "))
}
