//! A walk whose way was taken out of its clip and given back to the instance, seen from above.
//!
//! `cargo run --example root_motion -- path.png`
//!
//! The built-in character walks on the spot. Here its hips are first sent along an arc, as an animator's clip would;
//! then [`RootMotion`] takes the arc out, and each frame's piece of it moves the instance, over ten passes and
//! frames of uneven length. The picture shows the way of the instance (blue), its heading at times, the ways of both
//! feet (grey), and where the clip's events say that a foot comes down (red: left, green: right). Where a foot
//! stands, its points crowd together; the ankle, which they show, goes on a little as the heel lifts.

use image::{Rgb, RgbImage};
use std::error::Error;
use throng::character::{Affine, Character, CurveClip, Interpolation, Keys, TrackValues};
use throng::glam::{DVec3, Quat, Vec3};
use throng::import::ImportOptions;
use throng::pose::{
    ClipEvents, EventCursor, LoopMode, RootMotion, RootMotionOptions, RootPlace, animate,
    model_pose,
};

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
    let options = ImportOptions::with_curves();
    let character = throng::builtin::mannequin_with(&options)?.character;
    let walk = &character.curves()[character.clip("Walk")?.index()];
    let arc = along_an_arc(&character, walk)?;
    let (stays, motion) = RootMotion::extract(&character, &arc, &RootMotionOptions::default())?;
    let (pass, report) = (motion.pass(), motion.report());
    println!(
        "a pass goes {:.2} m and turns by {:.2} rad; {} keys, at most {:.2} mm off",
        pass.translation.length(),
        pass.yaw_rad,
        report.keys,
        1e3 * report.error_m
    );

    let end_s = motion.duration_s();
    // The left foot comes down where the clip starts over, the right one in the middle.
    let events = ClipEvents::new(end_s, [("LeftFoot", 0.0), ("RightFoot", 0.5 * end_s)])?;
    let mut picture = RgbImage::from_pixel(PIXELS, PIXELS, Rgb([255; 3]));
    let mut scene = Scene {
        character: &character,
        stays: &stays,
        picture: &mut picture,
    };
    let mut place = RootPlace::default();
    let mut cursor = EventCursor::new(0.0);
    let (mut now_s, mut frame) = (0.0, 0);
    while now_s < PASSES * end_s {
        // From 4 to 34 milliseconds.
        let next_s = now_s + 0.004 + 0.03 * f64::from(frame * 7 % 10) / 9.0;
        place.advance(&motion.delta(now_s, next_s, LoopMode::Loop), 1.0);
        scene.frame(&place, next_s.rem_euclid(end_s), frame)?;
        for hit in cursor.advance(&events, next_s, LoopMode::Loop, 16) {
            scene.event(&place, hit.time_s, hit.name)?;
        }
        (now_s, frame) = (next_s, frame + 1);
    }
    let at_once = motion.delta(0.0, now_s, LoopMode::Loop).translation;
    println!(
        "{frame} frames and one step differ by {:.1e} m",
        place.position.distance(at_once)
    );
    picture.save(to)?;
    println!("wrote {to}");
    Ok(())
}

/// The walk with its hips going along an arc at the walk's own speed.
fn along_an_arc(character: &Character, walk: &CurveClip) -> throng::Result<CurveClip> {
    let end_s = walk.duration_s();
    let radius_m = throng::builtin::WALK_SPEED_M_S * end_s / TURN_RAD;
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
    CurveClip::new("Walk an arc", tracks, character.skeleton())
}

fn keyed<T: Copy>(keys: &mut Keys<T>, change: impl Fn(f32, T) -> T) {
    debug_assert_eq!(keys.interpolation, Interpolation::Linear);
    for (time_s, value) in keys.times_s.iter().zip(&mut keys.values) {
        *value = change(*time_s, *value);
    }
}

struct Scene<'a> {
    character: &'a Character,
    stays: &'a CurveClip,
    picture: &'a mut RgbImage,
}

impl Scene<'_> {
    /// Where a joint is in the world.
    fn joint(&self, place: &RootPlace, time_s: f64, name: &str) -> throng::Result<Vec3> {
        let skeleton = self.character.skeleton();
        let mut local: Vec<_> = skeleton.joints().iter().map(|joint| joint.rest).collect();
        animate(self.stays, time_s, &mut local)?;
        let mut model = vec![Affine::IDENTITY; local.len()];
        model_pose(skeleton, &local, &mut model)?;
        let joint = skeleton.joint(name).map_or(0, usize::from);
        let world_from_model = place.to_affine(DVec3::ZERO, Vec3::ONE);
        Ok(world_from_model.transform_point3(model[joint].translation.into()))
    }

    fn frame(&mut self, place: &RootPlace, time_s: f64, frame: u32) -> throng::Result<()> {
        for foot in ["LeftFoot", "RightFoot"] {
            let at = self.joint(place, time_s, foot)?;
            self.dot(at, 1, [170, 170, 170]);
        }
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

    fn event(&mut self, place: &RootPlace, time_s: f64, name: &str) -> throng::Result<()> {
        let color = if name == "LeftFoot" {
            [220, 40, 40]
        } else {
            [20, 150, 60]
        };
        let at = self.joint(place, time_s, name)?;
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
