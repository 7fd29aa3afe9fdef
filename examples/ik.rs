//! Inverse kinematics, sockets and attachments: three characters on uneven ground.
//!
//! - The first plays its animation unchanged.
//! - The second stands with its feet on the ground.
//! - The third also looks at a ball, reaches for it and wears a hat.
//!
//! Writes `ik.png`.

#[path = "common/draw.rs"]
mod draw;
#[path = "common/say.rs"]
mod say;
#[path = "common/shapes.rs"]
mod shapes;

use std::error::Error;
use throng::{
    Attachment, CharacterDesc, CharacterId, Crowd, Id, IkReport, IkSolver, InstanceId, Play, Spawn,
};

use say::{Words, say};
use throng::builtin;
use throng::glam::{Affine3A, Quat, Vec3, vec3};
use throng::gpu::MemoryAllocator;
use throng::ik::{
    Aim, AimTarget, FeetTarget, FootPlacement, GroundHit, Pole, TwoBone, TwoBoneTarget,
};
use throng::skeleton::Skeleton;

/// Position of the ball, relative to the character that reaches for it.
const BALL: Vec3 = vec3(0.48, 1.34, 0.56);
const BALL_RADIUS_M: f32 = 0.11;
/// Approximate position of its shoulder.
const SHOULDER: Vec3 = vec3(0.2, 1.4, 0.0);
/// Distance from the wrist to the fingertips.
const HAND_M: f32 = 0.17;
/// Height of the ground under the left and the right foot, and its slope towards x and z.
const GROUND: [(f32, f32, f32); 2] = [(0.0, 0.0, 0.25), (0.24, 0.3, -0.1)];
const SLAB: [f32; 4] = [0.34, 0.36, 0.42, 1.0];
/// Position of the hat relative to the head.
const HAT: Vec3 = vec3(0.0, 0.158, 0.004);
const FEET: [&str; 2] = ["LeftFoot", "RightFoot"];
/// Height of the ankles above the soles.
const ANKLE_M: f32 = 0.08;
const TINTS: [[f32; 4]; 3] = [
    [0.9, 0.45, 0.3, 1.0],
    [0.35, 0.7, 0.9, 1.0],
    [0.55, 0.8, 0.4, 1.0],
];

fn main() -> Result<(), Words> {
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
        ground_m: -0.12,
        reach_m: 3.0,
        time_s: 0.0,
    };
    Ok(draw::to_file(&shot, populate, report)?)
}

/// The solvers of the characters, in the order in which they run.
struct Solvers {
    feet: Id<IkSolver>,
    look: Id<IkSolver>,
    reach: Id<IkSolver>,
}

impl Solvers {
    fn add(crowd: &mut Crowd, kind: CharacterId, skeleton: &Skeleton) -> throng::Result<Self> {
        let joint = |name: &str| skeleton.joint(name);
        let bones = |first: &str, middle: &str, last: &str| {
            Ok::<_, throng::Error>(TwoBone::new(joint(first)?, joint(middle)?, joint(last)?))
        };
        let leg = |hip, knee, ankle| {
            let bones = TwoBone {
                soften: 0.02,
                ..bones(hip, knee, ankle)?
            };
            Ok::<_, throng::Error>((bones, ANKLE_M))
        };
        let legs = vec![
            leg("LeftUpperLeg", "LeftLowerLeg", FEET[0])?,
            leg("RightUpperLeg", "RightLowerLeg", FEET[1])?,
        ];
        let looking = vec![
            (joint("Chest")?, 0.2),
            (joint("Neck")?, 0.3),
            (joint("Head")?, 0.5),
        ];
        let feet = FootPlacement::new(joint("Hips")?, legs);
        let look = Aim {
            offset_m: vec3(0.0, 0.1, 0.08), // the eyes
            limit_rad: 1.3,
            ..Aim::new(looking, Vec3::Z)
        };
        let reach = bones("LeftUpperArm", "LeftLowerArm", "LeftHand")?;
        Ok(Self {
            feet: crowd.add_solver(kind, feet)?,
            look: crowd.add_solver(kind, look)?,
            reach: crowd.add_solver(kind, reach)?,
        })
    }
}

/// The ground below each ankle of an instance, relative to the instance.
fn ground(crowd: &Crowd, id: InstanceId) -> throng::Result<[GroundHit; 2]> {
    let mut hits = [GroundHit::level(Vec3::ZERO); 2];
    for ((hit, foot), (height, x, z)) in hits.iter_mut().zip(FEET).zip(GROUND) {
        let ankle = crowd.instance(id)?.joint_model(foot, 0.0)?.translation;
        *hit = GroundHit {
            point: vec3(ankle.x, height, ankle.z),
            normal: vec3(x, 1.0, z).normalize(),
        };
    }
    Ok(hits)
}

type Shown = (Solvers, Vec<InstanceId>);

fn populate(
    allocator: &mut dyn MemoryAllocator,
    crowd: &mut Crowd,
) -> Result<Shown, Box<dyn Error>> {
    let mannequin = builtin::mannequin()?;
    let slab = shapes::cuboid(vec3(-0.1, -0.4, -0.17), vec3(0.1, 0.0, 0.17), SLAB);
    let slab = shapes::prop(vec![slab])?;
    let kind = crowd.add_character(allocator, &mannequin, &CharacterDesc::default())?;
    let slab = crowd.add_character(allocator, &slab, &CharacterDesc::default())?;
    let ball = shapes::prop(vec![shapes::striped_ball(BALL_RADIUS_M)])?;
    let ball = crowd.add_character(allocator, &ball, &CharacterDesc::default())?;
    let hat = crowd.add_character(
        allocator,
        &shapes::prop(vec![shapes::hat()])?,
        &CharacterDesc::default(),
    )?;
    let solvers = Solvers::add(crowd, kind, mannequin.skeleton())?;
    let mut people = Vec::new();
    for (number, tint) in TINTS.into_iter().enumerate() {
        let place = vec3(1.3 * (number as f32 - 1.0), 0.0, 0.0);
        let spawn = Spawn {
            world_from_model: Affine3A::from_translation(place),
            tint,
            play: Play::new("Idle").offset_s(0.4),
            ..Spawn::default()
        };
        let id = crowd.spawn(kind, &spawn)?;
        people.push(id);
        let hits = ground(crowd, id)?;
        for hit in &hits {
            let turn = Quat::from_rotation_arc(Vec3::Y, hit.normal);
            put(
                crowd,
                slab,
                Affine3A::from_rotation_translation(turn, place + hit.point),
            )?;
        }
        if number > 0 {
            let stand = FeetTarget::on(&hits.map(Some));
            crowd
                .instance_mut(id)?
                .set_target(solvers.feet, stand, 0.0)?;
        }
        if number > 1 {
            take_ball(crowd, id, &solvers)?;
            let turn = Quat::from_rotation_z(-0.5);
            put(
                crowd,
                ball,
                Affine3A::from_rotation_translation(turn, place + BALL),
            )?;
            let hat = put(crowd, hat, Affine3A::IDENTITY)?;
            // The hat follows the head, no matter what moves the head.
            let tilt = Quat::from_rotation_x(-0.12);
            let head_from_hat = Affine3A::from_rotation_translation(tilt, HAT);
            let head = Attachment::new(id, "head").at(head_from_hat);
            crowd.instance_mut(hat)?.attach_to(head)?;
        }
    }
    Ok((solvers, people))
}

/// Makes an instance look at the ball and reach for it.
fn take_ball(crowd: &mut Crowd, id: InstanceId, solvers: &Solvers) -> throng::Result<()> {
    let look = AimTarget::at(BALL);
    crowd
        .instance_mut(id)?
        .set_target(solvers.look, look, 0.0)?;
    // The solver places the wrist, so that the fingers touch the ball and do not go through it.
    let wrist = BALL - (BALL_RADIUS_M + HAND_M) * (BALL - SHOULDER).normalize();
    let hand = TwoBoneTarget {
        pole: Pole::Direction(vec3(1.0, -0.5, -0.5)),
        ..TwoBoneTarget::at(wrist)
    };
    crowd
        .instance_mut(id)
        .and_then(|mut it| it.set_target(solvers.reach, hand, 0.0))
}

/// Prints how close each character came to its target.
fn report(crowd: &Crowd, (solvers, people): Shown) -> Result<(), Box<dyn Error>> {
    say("            pelvis   left ankle off   right ankle off   eyes off   hand off");
    for (number, id) in people.into_iter().enumerate() {
        let mut line = format!("{number:>2}");
        for solver in [solvers.feet, solvers.look, solvers.reach] {
            line += &match crowd.instance(id)?.target_report(solver) {
                Some(IkReport::Feet {
                    pelvis_m,
                    legs_m: [Some(left), Some(right), ..],
                    ..
                }) => {
                    let [left, right] = [left, right].map(|distance_m| 1e3 * distance_m);
                    format!("{pelvis_m:>13.3} m {left:>11.2} mm {right:>14.2} mm")
                }
                Some(IkReport::Aim { angle_rad, .. }) => format!(" {angle_rad:>8.4} rad"),
                Some(IkReport::TwoBone { distance_m, .. }) => {
                    format!(" {:>6.2} mm", 1e3 * distance_m)
                }
                _ => String::new(),
            };
        }
        say(&line);
    }
    Ok(())
}

fn put(
    crowd: &mut Crowd,
    prop: CharacterId,
    world_from_prop: Affine3A,
) -> throng::Result<InstanceId> {
    let spawn = Spawn {
        world_from_model: world_from_prop,
        ..Spawn::default()
    };
    crowd.spawn(prop, &spawn)
}
