//! The abilities of the character, and the instructions to each instance in the picture.

use throng::character::{AnimationDesc, Character};
use throng::glam::{Vec3, vec3};
use throng::ik::{Aim, AimTarget, FeetTarget, FootPlacement, GroundHit, TwoBone, TwoBoneTarget};
use throng::import::ImportOptions;
use throng::{CharacterId, Crowd, Id, IkSolver, InstanceId, Play, Result};

use super::Act;

/// Position of the ball, relative to the character that looks at it.
pub(crate) const BALL: Vec3 = vec3(-0.45, 1.42, 0.5);
/// Heights of the steps under the left and the right foot.
pub(crate) const STEPS_M: [f32; 2] = [0.0, 0.22];

/// Import options that add a mask, an additive clip and a state machine.
pub(crate) fn options() -> Result<ImportOptions> {
    let text = include_str!("animation.toml");
    Ok(ImportOptions {
        animation: Some(AnimationDesc::from_toml("animation.toml", text)?),
        ..ImportOptions::default()
    })
}

/// The inverse kinematics solvers of the character.
pub(crate) struct Solvers {
    pub(crate) look: Id<IkSolver>,
    pub(crate) arm: Id<IkSolver>,
    pub(crate) feet: Id<IkSolver>,
}

impl Solvers {
    pub(crate) fn add(crowd: &mut Crowd, id: CharacterId, character: &Character) -> Result<Self> {
        let joint = |name| character.skeleton().joint(name);
        let bones = |[first, middle, last]: [&'static str; 3]| {
            Ok(TwoBone {
                soften: 0.03,
                ..TwoBone::new(joint(first)?, joint(middle)?, joint(last)?)
            })
        };
        let leg = |names| Result::Ok((bones(names)?, 0.08));
        let neck = vec![
            (joint("Chest")?, 0.2),
            (joint("Neck")?, 0.3),
            (joint("Head")?, 0.5),
        ];
        let legs = vec![
            leg(["LeftUpperLeg", "LeftLowerLeg", "LeftFoot"])?,
            leg(["RightUpperLeg", "RightLowerLeg", "RightFoot"])?,
        ];
        let look = Aim {
            offset_m: vec3(0.0, 0.1, 0.08), // the eyes
            limit_rad: 1.3,
            ..Aim::new(neck, Vec3::Z)
        };
        let arm = bones(["RightUpperArm", "RightLowerArm", "RightHand"])?;
        let feet = FootPlacement::new(joint("Hips")?, legs);
        Ok(Self {
            look: crowd.add_solver(id, look)?,
            arm: crowd.add_solver(id, arm)?,
            feet: crowd.add_solver(id, feet)?,
        })
    }
}

/// Tells an instance what to do.
pub(crate) fn direct(crowd: &mut Crowd, id: InstanceId, act: Act, solvers: &Solvers) -> Result<()> {
    let walks = matches!(act, Act::Walk | Act::Wave | Act::HalfWave);
    crowd
        .instance_mut(id)?
        .play(if walks { "Walk" } else { "Idle" })?;
    // The clips are paused, with the hand raised.
    let raised = |clip| Play::new(clip).layer(1).offset_s(1.0).speed(0.0);
    match act {
        Act::Walk => Ok(()),
        Act::Jog => {
            crowd.instance_mut(id)?.start_state_machine()?;
            crowd
                .instance_mut(id)?
                .set_parameter("speed", 0.5 * (1.2 + 3.1))
        }
        Act::Wave => crowd
            .instance_mut(id)
            .and_then(|mut it| it.play(raised("Wave").mask("upper body"))),
        Act::HalfWave => crowd
            .instance_mut(id)
            .and_then(|mut it| it.play(raised("Wave added").weight(0.5))),
        Act::Look => look(crowd, id, solvers),
        Act::LookAndReach => {
            look(crowd, id, solvers)?;
            // The wrist stays short of the ball, by the ball's radius and the length of the hand.
            let wrist = BALL - 0.22 * (BALL - vec3(-0.2, 1.4, 0.0)).normalize();
            let target = TwoBoneTarget::at(wrist);
            crowd
                .instance_mut(id)
                .and_then(|mut it| it.set_target(solvers.arm, target, 0.0))
        }
        Act::Stand => {
            let ground = STEPS_M.map(|y| Some(GroundHit::level(Vec3::Y * y)));
            let target = FeetTarget::on(&ground);
            crowd
                .instance_mut(id)
                .and_then(|mut it| it.set_target(solvers.feet, target, 0.0))
        }
    }
}

fn look(crowd: &mut Crowd, id: InstanceId, solvers: &Solvers) -> Result<()> {
    let target = AimTarget::at(BALL);
    crowd
        .instance_mut(id)
        .and_then(|mut it| it.set_target(solvers.look, target, 0.0))
}
