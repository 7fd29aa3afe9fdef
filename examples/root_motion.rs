//! A walk whose way was taken out of its clip and given back to the actor, seen from above.
//!
//! `cargo run --example root_motion -- path.png`
//!
//! The built-in character walks on the spot. Here its hips are first sent along an arc, as an
//! animator's clip would; then the arc is taken out, and moves the actor of an [`Animator`], over
//! ten passes and frames of uneven length. The picture shows the way of the actor (blue), its
//! heading at times, the ways of both feet (grey), and where the clip's events say that a foot
//! comes down (red: left, green: right). Where a foot stands, its points crowd together; the ankle,
//! which they show, goes on a little as the heel lifts.

use image::{Rgb, RgbImage};
use std::error::Error;
use throng::animator::{ActorId, Animator, AnimatorDesc, RootMotionMode};
use throng::builtin;
use throng::character::{AnimationDesc, Character, ClipDesc, EventDesc, RootMotionDesc};
use throng::clip::{CurveClip, Interpolation, Keys, TrackValues};
use throng::glam::{DVec3, Quat, Vec3};
use throng::import::ImportOptions;

/// The clip that is made here.
const WALK: &str = "Walk an arc";
/// How far the walk turns in a pass, in radians.
const TURN_RAD: f32 = 0.45;
const PASSES: f64 = 10.0;
const PIXELS: u32 = 900;
const PIXELS_PER_M: f64 = 130.0;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let to = match &arguments[..] {
        [] => "root_motion.png",
        [path] if !path.starts_with('-') => path,
        _ => {
            eprintln!("usage: root_motion [path.png]");
            std::process::exit(2);
        }
    };
    let character = character()?;
    let walk = character.clip(WALK)?;
    let motion = character.animations().root_motion(walk);
    let motion = motion.ok_or("no root motion")?;
    let (pass, report) = (motion.pass(), motion.report());
    println!(
        "a pass goes {:.2} m and turns by {:.2} rad; {} keys, at most {:.2} mm off",
        pass.translation.length(),
        pass.yaw_rad,
        report.keys,
        1e3 * report.error_m
    );

    let end_s = motion.duration_s();
    let mut picture = RgbImage::from_pixel(PIXELS, PIXELS, Rgb([255; 3]));
    let mut animator = Animator::new(&character, &AnimatorDesc::default())?;
    let walker = animator.add(walk)?;
    animator.set_root_motion(walker, RootMotionMode::Apply)?;
    let (mut now_s, mut frame) = (0.0, 0);
    while now_s < PASSES * end_s {
        // From 4 to 34 milliseconds.
        now_s += 0.004 + 0.03 * f64::from(frame * 7 % 10) / 9.0;
        animator.update(now_s)?;
        let mut scene = Scene {
            character: &character,
            animator: &animator,
            walker,
            picture: &mut picture,
        };
        scene.frame(frame)?;
        for event in animator.events() {
            scene.footfall(event.time_s, animator.event_name(event))?;
        }
        frame += 1;
    }
    let mut leaper = Animator::new(&character, &AnimatorDesc::default())?;
    let leap = leaper.add(walk)?;
    leaper.set_root_motion(leap, RootMotionMode::Apply)?;
    leaper.update(now_s)?;
    let (walked, leapt) = (animator.place(walker)?, leaper.place(leap)?);
    println!(
        "{frame} frames and one step differ by {:.1e} m",
        walked.position.distance(leapt.position)
    );
    picture.save(to)?;
    println!("wrote {to}");
    Ok(())
}

/// The built-in character with a walk along an arc, whose root motion is taken out, and with its
/// footfalls.
fn character() -> throng::Result<Character> {
    let character = builtin::mannequin_with(&ImportOptions::with_curves())?.character;
    let walk = &character.curves()[character.clip("Walk")?.index()];
    let arc = along_an_arc(&character, walk)?;
    let event = |name: &str, time_s: f32| EventDesc {
        name: name.into(),
        time_s: time_s.into(),
    };
    let desc = AnimationDesc {
        clips: vec![ClipDesc {
            name: WALK.into(),
            root_motion: Some(RootMotionDesc::default()),
            // The left foot comes down where the clip starts over, the right one in the middle.
            events: vec![
                event("LeftFoot", 0.0),
                event("RightFoot", 0.5 * arc.duration_s()),
            ],
            ..ClipDesc::default()
        }],
        ..AnimationDesc::default()
    };
    character.with_clips(vec![arc])?.with_animation(&desc)
}

/// The walk with its hips going along an arc at the walk's own speed.
fn along_an_arc(character: &Character, walk: &CurveClip) -> throng::Result<CurveClip> {
    let end_s = walk.duration_s();
    let radius_m = builtin::WALK_SPEED_M_S * end_s / TURN_RAD;
    let turn = |time_s: f32| Quat::from_rotation_y(TURN_RAD * time_s / end_s);
    let place = |time_s: f32, at: Vec3| {
        let centre = Vec3::X * radius_m;
        centre + turn(time_s) * (at - centre)
    };
    let hips = walk.tracks()[0].joint;
    let mut tracks = walk.tracks().to_vec();
    for track in tracks.iter_mut().filter(|track| track.joint == hips) {
        match &mut track.values {
            TrackValues::Translation(keys) => keyed(keys, place),
            TrackValues::Rotation(keys) => keyed(keys, |time_s, q| turn(time_s) * q),
            TrackValues::Scale(_) => {}
        }
    }
    CurveClip::new(WALK, tracks, character.skeleton())
}

fn keyed<T: Copy>(keys: &mut Keys<T>, change: impl Fn(f32, T) -> T) {
    debug_assert_eq!(keys.interpolation, Interpolation::Linear);
    for (time_s, value) in keys.times_s.iter().zip(&mut keys.values) {
        *value = change(*time_s, *value);
    }
}

struct Scene<'a> {
    character: &'a Character,
    animator: &'a Animator,
    walker: ActorId,
    picture: &'a mut RgbImage,
}

impl Scene<'_> {
    /// Where a joint is in the world at a time near that of the frame.
    fn joint(&self, time_s: f64, name: &str) -> throng::Result<Vec3> {
        let joint = self.character.skeleton().joint(name)?;
        let model = self.animator.joint_model(self.walker, joint, time_s)?;
        let place = self.animator.place(self.walker)?;
        let world_from_model = place.to_affine(DVec3::ZERO, Vec3::ONE);
        Ok(world_from_model.transform_point3(model.translation.into()))
    }

    fn frame(&mut self, frame: u32) -> throng::Result<()> {
        for foot in ["LeftFoot", "RightFoot"] {
            let at = self.joint(self.animator.now_s(), foot)?;
            self.dot(at, 1, [170, 170, 170]);
        }
        let place = self.animator.place(self.walker)?;
        let at = place.position.as_vec3();
        self.dot(at, 1, [40, 80, 220]);
        if frame.is_multiple_of(20) {
            let ahead = Quat::from_rotation_y(place.yaw_rad as f32) * Vec3::Z;
            for step in 0..40 {
                self.dot(at + ahead * (0.008 * step as f32), 0, [40, 80, 220]);
            }
        }
        Ok(())
    }

    fn footfall(&mut self, time_s: f64, name: &str) -> throng::Result<()> {
        let color = if name == "LeftFoot" {
            [220, 40, 40]
        } else {
            [20, 150, 60]
        };
        let at = self.joint(time_s, name)?;
        self.dot(at, 4, color);
        Ok(())
    }

    /// A square dot: +Z of the world up in the picture, +X to the left, as seen from above.
    fn dot(&mut self, at: Vec3, half: i64, color: [u8; 3]) {
        // The middle of the circle that ten passes nearly close.
        let middle_m = 2.9;
        let half_way = 0.5 * f64::from(PIXELS);
        let column = half_way - (f64::from(at.x) - middle_m) * PIXELS_PER_M;
        let row = half_way - f64::from(at.z) * PIXELS_PER_M;
        for (dx, dy) in (-half..=half).flat_map(|dx| (-half..=half).map(move |dy| (dx, dy))) {
            let (x, y) = (column as i64 + dx, row as i64 + dy);
            if let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y))
                && x < PIXELS
                && y < PIXELS
            {
                self.picture.put_pixel(x, y, Rgb(color));
            }
        }
    }
}
