//! Inverse kinematics and sockets: three of them on uneven ground. The first as animated, the second with its feet on the
//! ground, the third looks at a ball and reaches for it, too, and carries a hat. In `ik.png`.

#[path = "common/draw.rs"]
mod draw;

use std::error::Error;

use throng::builtin;
use throng::character::{Affine, Material, Skeleton};
use throng::glam::{Affine3A, Quat, Vec3, vec3};
use throng::import;
use throng::pose::Poser;
use throng::pose::ik::{
    Aim, AimJoint, AimTarget, FeetTarget, FootPlacement, GroundHit, IkJob, IkPose, IkRig, Leg,
    Pole, TwoBone, TwoBoneTarget,
};
use throng::standalone::Context;
use throng::{CharacterId, Crowd, Spawn};

/// Where the ball is, from the character that reaches for it.
const BALL: Vec3 = vec3(0.42, 1.35, 0.42);
/// How high the ground is under the left and the right foot, and how it slopes towards x and z.
const GROUND: [(f32, f32, f32); 2] = [(0.0, 0.0, 0.25), (0.24, 0.3, -0.1)];
const GREY: [f32; 4] = [0.42, 0.44, 0.5, 1.0];

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args_os().len() > 1 {
        eprintln!("usage: ik, without arguments");
        std::process::exit(2);
    }
    let shot = draw::Shot {
        path: "ik.png",
        size: [800, 500],
        eye: vec3(1.6, 1.7, 4.6),
        centre: vec3(0.1, 0.82, 0.0),
        fov_y_rad: 0.55,
    };
    draw::to_file(&shot, populate)
}

/// The jobs, made once for a character.
struct Jobs {
    rig: IkRig,
    feet: FootPlacement,
    look: Aim,
    reach: TwoBone,
}

impl Jobs {
    fn new(skeleton: &Skeleton, rest: &[Affine]) -> Result<Self, Box<dyn Error>> {
        let joint = |name: &str| skeleton.joint(name).map(u16::from);
        let leg = |side: &str| -> Result<Leg, Box<dyn Error>> {
            let ankle = joint(&format!("{side}Foot"))?;
            let (hip, knee) = (format!("{side}UpperLeg"), format!("{side}LowerLeg"));
            Ok(Leg {
                bones: TwoBone {
                    soften: 0.02,
                    ..TwoBone::new(joint(&hip)?, joint(&knee)?, ankle)
                },
                ankle_m: rest[usize::from(ankle)].translation.y,
            })
        };
        let share = |name, share| -> Result<AimJoint, Box<dyn Error>> {
            let joint = joint(name)?;
            Ok(AimJoint { joint, share })
        };
        let looking = vec![
            share("Chest", 0.2)?,
            share("Neck", 0.3)?,
            share("Head", 0.5)?,
        ];
        let arm = ["LeftUpperArm", "LeftLowerArm", "LeftHand"].map(joint);
        let [upper, lower, hand] = arm;
        Ok(Self {
            rig: IkRig::new(skeleton),
            feet: FootPlacement::new(joint("Hips")?, vec![leg("Left")?, leg("Right")?]),
            look: Aim {
                offset_m: vec3(0.0, 0.1, 0.08),
                limit_rad: 1.3,
                ..Aim::new(looking, Vec3::Z)
            },
            reach: TwoBone::new(upper?, lower?, hand?),
        })
    }
}

/// What is under each ankle of a pose.
fn ground(model: &[Affine], feet: &FootPlacement) -> [GroundHit; 2] {
    [0, 1].map(|foot| {
        let (height, x, z) = GROUND[foot];
        let ankle = Vec3::from(model[usize::from(feet.legs[foot].bones.end)].translation);
        GroundHit {
            point: vec3(ankle.x, height, ankle.z),
            normal: vec3(x, 1.0, z).normalize(),
        }
    })
}

fn populate(context: &mut Context, crowd: &mut Crowd) -> Result<(), Box<dyn Error>> {
    let mannequin = builtin::mannequin()?;
    let cube = import::rigid(builtin::cuboid(Vec3::ONE), Material::default())?;
    let kind = crowd.add_character(&mut context.allocator, &mannequin)?;
    let block = crowd.add_character(&mut context.allocator, &cube)?;
    let ball = crowd.add_character(&mut context.allocator, &cube)?;
    let character = &mannequin.character;
    let mut poser = Poser::new();
    let jobs = Jobs::new(character.skeleton(), poser.pose(character, None)?)?;
    println!("            pelvis   left ankle off   right ankle off   eyes off   hand off");
    for (number, tint) in [
        [0.9, 0.45, 0.3, 1.0],
        [0.35, 0.7, 0.9, 1.0],
        [0.55, 0.8, 0.4, 1.0],
    ]
    .into_iter()
    .enumerate()
    {
        let place = vec3(1.3 * (number as f32 - 1.0), 0.0, 0.0);
        let world_from_model = Affine3A::from_translation(place);
        let clip = character.clip("Idle")?.index();
        poser.pose(character, Some((clip, 0.4)))?;
        let (mut local, mut model) = (poser.local().to_vec(), poser.model().to_vec());
        let hits = ground(&model, &jobs.feet);
        for hit in &hits {
            put(
                crowd,
                block,
                place,
                hit.point - hit.normal * 0.2,
                hit.normal,
                vec3(0.2, 0.4, 0.34),
                GREY,
            )?;
        }
        let mut line = format!("{number:>2}");
        if number > 0 {
            let pose = IkPose {
                local: &mut local,
                model: &mut model,
            };
            let stand = FeetTarget::on(&hits.map(Some));
            let report = jobs.feet.solve(&jobs.rig, &stand, pose)?;
            let [left, right, ..] = report.legs;
            let (left, right) = (left.distance_m * 1e3, right.distance_m * 1e3);
            line += &format!(
                "{:>13.3} m {left:>11.2} mm {right:>14.2} mm",
                report.pelvis_m
            );
        }
        if number > 1 {
            let pose = IkPose {
                local: &mut local,
                model: &mut model,
            };
            let report = jobs.look.solve(&jobs.rig, &AimTarget::at(BALL), pose)?;
            line += &format!(" {:>8.4} rad", report.angle_rad);
            let hand = TwoBoneTarget {
                pole: Pole::Direction(vec3(1.0, -0.5, -0.5)),
                ..TwoBoneTarget::at(BALL - vec3(0.0, 0.02, 0.16))
            };
            let pose = IkPose {
                local: &mut local,
                model: &mut model,
            };
            let report = jobs.reach.solve(&jobs.rig, &hand, pose)?;
            line += &format!(" {:>6.2} mm", report.distance_m * 1e3);
            put(
                crowd,
                ball,
                place,
                BALL,
                Vec3::ONE,
                Vec3::splat(0.1),
                [0.95, 0.3, 0.2, 1.0],
            )?;
        }
        println!("{line}");
        let id = crowd.spawn(
            kind,
            &Spawn {
                world_from_model,
                tint,
                ..Spawn::default()
            },
        )?;
        crowd.set_model_pose(id, &model)?;
        if number > 1 {
            // On a socket of the head: where the joint is in the world, times the hat's place on it.
            let head = crowd.joint_transform(id, "Head", 0.0)?;
            let hat = Affine3A::from_scale_rotation_translation(
                vec3(0.17, 0.09, 0.2),
                Quat::IDENTITY,
                vec3(0.0, 0.22, 0.0),
            );
            let world_from_model = head * hat;
            let tint = [0.2, 0.2, 0.25, 1.0];
            crowd.spawn(
                block,
                &Spawn {
                    world_from_model,
                    tint,
                    ..Spawn::default()
                },
            )?;
        }
    }
    Ok(())
}

/// A cuboid around `center`, whose +Y is along `up`.
fn put(
    crowd: &mut Crowd,
    block: CharacterId,
    place: Vec3,
    center: Vec3,
    up: Vec3,
    size: Vec3,
    tint: [f32; 4],
) -> throng::Result<()> {
    let turn = Quat::from_rotation_arc(Vec3::Y, up.normalize());
    let world_from_model = Affine3A::from_scale_rotation_translation(size, turn, place + center);
    let spawn = Spawn {
        world_from_model,
        tint,
        ..Spawn::default()
    };
    crowd.spawn(block, &spawn).map(drop)
}
