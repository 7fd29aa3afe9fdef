//! Extracts the root motion of a walk and draws the actor's path from above.
//!
//! `cargo run -p throng --example root_motion -- path.png`
//!
//! The built-in character walks on the spot. This example first sends its hips along an arc, as an
//! animator's clip would. It then extracts the arc, which moves the actor of an [`Animator`] for
//! ten cycles with frames of uneven length.
//!
//! The picture shows:
//!
//! - the path of the actor (blue), with a line ahead of it every 20 frames,
//! - the paths of both ankles (grey),
//! - the positions where the clip's events report a footfall (red: left, green: right).
//!
//! If a foot stands, its points lie close together. The ankle still moves a little, because the
//! heel lifts.

#[path = "common/picture.rs"]
mod picture;
#[path = "common/say.rs"]
mod say;
#[path = "common/text.rs"]
mod text;

use picture::{png_path, write_rgba};
use say::{Words, say};
use throng::animator::{ActorId, Animator, RootMotionMode};
use throng::character::{AnimationDesc, Character, ClipDesc, EventDesc, RootMotionDesc};
use throng::clip::{CurveClip, Interpolation, Keys, TrackValues};
use throng::glam::{DVec3, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter};

/// The name of the clip that this example creates.
const WALK: &str = "Walk an arc";
/// Turn of the walk per cycle, in radians.
const TURN_RAD: f32 = 0.45;
const PASSES: f64 = 10.0;
const PIXELS: u32 = 900;
const PIXELS_PER_M: f64 = 112.0;
/// X of the middle of the picture, which is the middle of the circle that ten cycles nearly close.
const MIDDLE_M: f64 = 2.9;
/// Metres from the middle to the ends of the axes.
const AXES_M: f64 = 3.4;

const ACTOR: [u8; 3] = [40, 80, 220];
const ANKLES: [u8; 3] = [150, 150, 150];
const LEFT: [u8; 3] = [220, 40, 40];
const RIGHT: [u8; 3] = [20, 150, 60];
const INK: [u8; 3] = [40, 40, 50];
const GRID: [u8; 3] = [228, 230, 235];

fn main() -> Result<(), Words> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let to = match &arguments[..] {
        [] => "root_motion.png",
        [path] if !path.starts_with('-') => {
            png_path(path)?;
            path
        }
        _ => {
            eprintln!("usage: root_motion [path.png]");
            std::process::exit(2);
        }
    };
    let character = character()?;
    let walk = character.clip(WALK)?;
    let motion = character.root_motion(walk);
    let motion = motion.ok_or("no root motion")?;
    let pass = motion.pass();
    say(&format!(
        "a pass goes {:.2} m and turns by {:.2} rad",
        pass.translation.length(),
        pass.yaw_rad
    ));

    let end_s = motion.duration_s();
    let mut picture = diagram();
    let mut animator = Animator::new(&character)?;
    let walker = animator.add(walk)?;
    animator
        .actor_mut(walker)?
        .set_root_motion(RootMotionMode::Apply);
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
    let mut leaper = Animator::new(&character)?;
    let leap = leaper.add(walk)?;
    leaper
        .actor_mut(leap)?
        .set_root_motion(RootMotionMode::Apply);
    leaper.update(now_s)?;
    let (walked, leapt) = (
        animator.actor(walker)?.root_transform(),
        leaper.actor(leap)?.root_transform(),
    );
    say(&format!(
        "{frame} frames and one step differ by {:.1e} m",
        walked.translation.distance(leapt.translation)
    ));
    write_rgba(to, &picture.0, PIXELS, PIXELS)?;
    say(&format!("wrote {to}"));
    Ok(())
}

/// The built-in character with a walk along an arc, with extracted root motion and footfall events.
fn character() -> throng::Result<Character> {
    let character = RawCharacter::mannequin()
        .build(&ImportOptions {
            curves: true,
            ..ImportOptions::default()
        })?
        .character;
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
            // The left foot comes down when the clip starts over, the right one at half time.
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

/// The walk with its hips moved along an arc at the walk's own speed.
fn along_an_arc(character: &Character, walk: &CurveClip) -> throng::Result<CurveClip> {
    let end_s = walk.duration_s();
    let gait = character.gait(character.clip("Walk")?);
    let gait = gait.copied().unwrap_or_default();
    let radius_m = gait.speed_m_s * end_s / TURN_RAD;
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
    /// RGBA.
    picture: &'a mut Picture,
}

impl Scene<'_> {
    /// World position of a joint at a time near that of the frame.
    fn joint(&self, time_s: f64, name: &str) -> throng::Result<Vec3> {
        let joint = self.character.skeleton().joint(name)?;
        let walker = self.animator.actor(self.walker)?;
        let model = walker.joint_model(joint, time_s)?;
        let place = self.animator.actor(self.walker)?.root_transform();
        let world_from_model = place.world_from_model(DVec3::ZERO, Vec3::ONE);
        Ok(world_from_model.transform_point3(model.translation.into()))
    }

    fn frame(&mut self, frame: u32) -> throng::Result<()> {
        for foot in ["LeftFoot", "RightFoot"] {
            let at = self.joint(self.animator.now_s(), foot)?;
            self.dot(at, 1.4, ANKLES);
        }
        let place = self.animator.actor(self.walker)?.root_transform();
        let at = place.translation.as_vec3();
        self.dot(at, 1.6, ACTOR);
        if frame.is_multiple_of(20) {
            let ahead = Quat::from_rotation_y(place.yaw_rad as f32) * Vec3::Z;
            for step in 0..40 {
                self.dot(at + ahead * (0.008 * step as f32), 1.0, ACTOR);
            }
        }
        Ok(())
    }

    fn footfall(&mut self, time_s: f64, name: &str) -> throng::Result<()> {
        let color = if name == "LeftFoot" { LEFT } else { RIGHT };
        let at = self.joint(time_s, name)?;
        self.dot(at, 5.0, color);
        Ok(())
    }

    fn dot(&mut self, at: Vec3, radius: f64, color: [u8; 3]) {
        disc(self.picture, pixel(at.x.into(), at.z.into()), radius, color);
    }
}

/// A square picture: 8-bit RGBA, row by row from the top.
struct Picture(Vec<u8>);

impl Picture {
    fn white() -> Self {
        Self(vec![255; 4 * (PIXELS * PIXELS) as usize])
    }

    /// The red, green and blue bytes of a pixel.
    fn pixel(&mut self, x: u32, y: u32) -> &mut [u8] {
        let start = 4 * (y * PIXELS + x) as usize;
        &mut self.0[start..start + 3]
    }

    fn set(&mut self, x: u32, y: u32, color: [u8; 3]) {
        self.pixel(x, y).copy_from_slice(&color);
    }
}

/// Column and row of a world position.
///
/// Up in the picture is +Z of the world, and left is +X, as seen from above.
fn pixel(x_m: f64, z_m: f64) -> [f64; 2] {
    let half_way = 0.5 * f64::from(PIXELS);
    [
        half_way - (x_m - MIDDLE_M) * PIXELS_PER_M,
        half_way - z_m * PIXELS_PER_M,
    ]
}

/// Draws a disc with a smooth edge.
fn disc(picture: &mut Picture, [column, row]: [f64; 2], radius: f64, color: [u8; 3]) {
    let range = |middle: f64| {
        let (from, to) = ((middle - radius).floor(), (middle + radius).ceil());
        from.max(0.0) as u32..(to.max(0.0) as u32 + 1).min(PIXELS)
    };
    for (x, y) in range(column).flat_map(|x| range(row).map(move |y| (x, y))) {
        let away = (f64::from(x) - column).hypot(f64::from(y) - row);
        let cover = (radius + 0.5 - away).clamp(0.0, 1.0);
        let below = picture.pixel(x, y);
        for (below, color) in below.iter_mut().zip(color) {
            *below = (f64::from(*below) * (1.0 - cover) + f64::from(color) * cover) as u8;
        }
    }
}

/// Draws a line of text with its upper left corner at this pixel.
fn write(picture: &mut Picture, [column, row]: [u32; 2], scale: u32, line: &str) {
    text::draw(line, |x, y| {
        for (dx, dy) in (0..scale).flat_map(|dx| (0..scale).map(move |dy| (dx, dy))) {
            let (x, y) = (column + x * scale + dx, row + y * scale + dy);
            if x < PIXELS && y < PIXELS {
                picture.set(x, y, INK);
            }
        }
    });
}

/// Draws the title, axes and legend.
fn diagram() -> Picture {
    let mut picture = Picture::white();
    let [left, top] = pixel(MIDDLE_M + AXES_M, AXES_M).map(|at| at as u32);
    let [right, bottom] = pixel(MIDDLE_M - AXES_M, -AXES_M).map(|at| at as u32);
    for metre in -3..=6_i32 {
        let [column, row] = pixel(metre.into(), metre.into()).map(|at| at as u32);
        let label = metre.to_string();
        let width = 2 * text::ADVANCE * label.len() as u32;
        if (left..=right).contains(&column) {
            (top..=bottom).for_each(|row| picture.set(column, row, GRID));
            write(&mut picture, [column - width / 2, bottom + 8], 2, &label);
        }
        if (top..=bottom).contains(&row) {
            (left..=right).for_each(|column| picture.set(column, row, GRID));
            write(&mut picture, [left - width - 6, row - 7], 2, &label);
        }
    }
    for row in top..=bottom {
        picture.set(left, row, INK);
    }
    for column in left..=right {
        picture.set(column, bottom, INK);
    }
    write(
        &mut picture,
        [left, 18],
        3,
        "A walk along an arc, seen from above",
    );
    write(&mut picture, [right - 70, bottom + 36], 2, "x in m");
    write(&mut picture, [left + 10, top], 2, "z in m");
    let legend = [
        (1.6, ACTOR, "actor, moved by root motion"),
        (1.4, ANKLES, "ankles"),
        (5.0, LEFT, "left foot comes down (event)"),
        (5.0, RIGHT, "right foot comes down (event)"),
    ];
    let [column, row] = pixel(MIDDLE_M + 1.55, 0.45);
    for (index, (radius, color, meaning)) in (0..).zip(legend) {
        let row = row + 32.0 * f64::from(index);
        let dots = if radius < 5.0 { -3..=3 } else { 0..=0 };
        for dot in dots {
            disc(
                &mut picture,
                [column + 4.0 * f64::from(dot), row],
                radius,
                color,
            );
        }
        write(
            &mut picture,
            [column as u32 + 24, row as u32 - 7],
            2,
            meaning,
        );
    }
    picture
}
