//! Inverse kinematics, after the batch.

use throng::Result;
use throng::character::{Affine, Character, Transform};
use throng::glam::{Vec3, vec3};
use throng::pose::ik::{
    Aim, AimJoint, AimTarget, FeetTarget, FootPlacement, GroundHit, IkJob, IkPose, IkRig, Leg,
    TwoBone, TwoBoneTarget,
};

/// Where the ball is, seen from who looks at it.
pub(crate) const BALL: Vec3 = vec3(-0.45, 1.42, 0.5);
/// Heights of the steps under the left and the right foot.
pub(crate) const STEPS_M: [f32; 2] = [0.0, 0.22];

/// What is done to a pose after the clips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    Nothing,
    Look,
    LookAndReach,
    Stand,
}

/// The jobs of a character, made once.
pub(crate) struct Reach {
    rig: IkRig,
    look: Aim,
    arm: TwoBone,
    feet: FootPlacement,
}

impl Reach {
    pub(crate) fn new(character: &Character) -> Result<Self> {
        let skeleton = character.skeleton();
        let joint = |name| skeleton.joint(name).unwrap_or_default().0;
        let share = |name, share| AimJoint {
            joint: joint(name),
            share,
        };
        let leg = |hip, knee, ankle| Leg {
            bones: TwoBone {
                soften: 0.03,
                ..TwoBone::new(joint(hip), joint(knee), joint(ankle))
            },
            ankle_m: 0.08,
        };
        let neck = vec![share("Chest", 0.2), share("Neck", 0.3), share("Head", 0.5)];
        let legs = vec![
            leg("LeftUpperLeg", "LeftLowerLeg", "LeftFoot"),
            leg("RightUpperLeg", "RightLowerLeg", "RightFoot"),
        ];
        Ok(Self {
            rig: IkRig::new(skeleton),
            look: Aim {
                offset_m: vec3(0.0, 0.1, 0.08), // the eyes
                limit_rad: 1.3,
                ..Aim::new(neck, Vec3::Z)
            },
            arm: TwoBone {
                soften: 0.03,
                ..TwoBone::new(
                    joint("RightUpperArm"),
                    joint("RightLowerArm"),
                    joint("RightHand"),
                )
            },
            feet: FootPlacement::new(joint("Hips"), legs),
        })
    }
}

impl After {
    /// Changes the pose, and says what came of it.
    pub(crate) fn solve(
        self,
        reach: &Reach,
        local: &mut [Transform],
        model: &mut [Affine],
    ) -> Result<String> {
        let mut said = String::new();
        if matches!(self, Self::Look | Self::LookAndReach) {
            let pose = IkPose {
                local: &mut *local,
                model: &mut *model,
            };
            let report = reach.look.solve(&reach.rig, &AimTarget::at(BALL), pose)?;
            said += if report.reached {
                "looks at it"
            } else {
                "can't look so far back"
            };
        }
        if self == Self::LookAndReach {
            let pose = IkPose {
                local: &mut *local,
                model: &mut *model,
            };
            // The wrist stays short of the ball by as much as the hand is long.
            let wrist = BALL - 0.12 * (BALL - vec3(-0.2, 1.4, 0.0)).normalize();
            let report = reach
                .arm
                .solve(&reach.rig, &TwoBoneTarget::at(wrist), pose)?;
            said += &format!(", the wrist is {:.1} mm off", 1e3 * report.distance_m);
        }
        if self == Self::Stand {
            let ground = STEPS_M.map(|y| Some(GroundHit::level(Vec3::Y * y)));
            let pose = IkPose { local, model };
            let report = reach
                .feet
                .solve(&reach.rig, &FeetTarget::on(&ground), pose)?;
            let [left, right] = [0, 1].map(|leg: usize| 1e3 * report.legs[leg].distance_m);
            said += &format!(
                "hips {:+.2} m, ankles {left:.1} and {right:.1} mm off",
                report.pelvis_m
            );
        }
        Ok(said)
    }
}
