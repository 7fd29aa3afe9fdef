//! The palette format that a character's poses need.
//!
//! It is checked when a method is chosen, when a clip is added, and when a pose is given.

use crate::reference::poser::Poser;
use crate::reference::raws;
use throng::Error;
use throng::character::Character;
use throng::clip::{CurveClip, Interpolation, TrackValues};
use throng::error::Unrepresentable;
use throng::glam::{Affine3A, Mat4, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::palette::{DualQuat, PaletteFormat, QuatOffset, SkinningMethod, WriteOnly};

/// A chain of three joints along +Y, one metre apart.
///
/// A cube of vertices, one metre wide, is bound to each joint.
fn rig(scales: [Vec3; 3]) -> Character {
    let node = |index: usize| {
        raws::node(
            ["base", "middle", "tip"][index],
            index.checked_sub(1),
            raws::transform(
                if index > 0 { Vec3::Y } else { Vec3::ZERO },
                Quat::IDENTITY,
                scales[index],
            ),
        )
    };
    let corner = |v: usize| {
        let sign = |bit: usize| if v >> bit & 1 == 1 { 0.5 } else { -0.5 };
        Vec3::new(sign(0), sign(1) + (v / 8) as f32, sign(2))
    };
    let raw = RawCharacter {
        nodes: (0..3).map(node).collect(),
        skins: vec![raws::skin(
            [0, 1, 2],
            (0..3)
                .map(|joint| Mat4::from_translation(Vec3::NEG_Y * joint as f32))
                .collect(),
        )],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: (0..24).map(corner).collect(),
            influences_per_vertex: 1,
            joints: (0..24).map(|v| v / 8).collect(),
            weights: vec![1.0; 24],
            indices: (0..24).collect(),
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    };
    raw.build(&ImportOptions::curves_only()).unwrap().character
}

fn keys<T: Copy>(times_s: &[f32], values: &[T]) -> throng::clip::Keys<T> {
    crate::reference::rig::keys(Interpolation::Linear, times_s, values)
}

fn clip(character: &Character, joint: u16, values: TrackValues) -> CurveClip {
    CurveClip::new(
        "move",
        vec![raws::track(joint, values)],
        character.skeleton(),
    )
    .unwrap()
}

/// The format of a character that also has this clip.
fn of_clip(
    character: &Character,
    method: SkinningMethod,
    clip: &CurveClip,
) -> throng::Result<PaletteFormat> {
    let character = character.clone().with_clips(vec![clip.clone()])?;
    PaletteFormat::of(&character, method)
}

fn turn() -> TrackValues {
    let there = Quat::from_rotation_x(1.0);
    TrackValues::Rotation(keys(&[0.0, 1.0], &[Quat::IDENTITY, there]))
}

fn grow(to: Vec3) -> TrackValues {
    TrackValues::Scale(keys(&[0.0, 1.0], &[Vec3::ONE, to]))
}

/// A format, or the joint's name and the kind of reason of a refusal.
type Outcome = Result<PaletteFormat, (&'static str, &'static str)>;

fn kind(why: Unrepresentable) -> &'static str {
    match why {
        Unrepresentable::Flipped { .. } => "flip",
        Unrepresentable::ZeroScale { .. } => "zero scale",
        Unrepresentable::Shear { .. } => "shear",
        Unrepresentable::NonUniformScale { .. } => "uneven",
        other => panic!("{other:?}"),
    }
}

/// Compares a result with the outcome that is wanted. A refusal names the pose `at`.
fn check(row: &str, result: throng::Result<PaletteFormat>, wanted: Outcome, at: &str) {
    let got = result.map_err(|error| match error {
        Error::Unrepresentable { name, at, why, .. } => (name, at, kind(why)),
        other => panic!("{row}: {other:?}"),
    });
    let wanted = wanted.map_err(|(name, kind)| (name.into(), at.into(), kind));
    assert_eq!(got, wanted, "{row}");
}

/// The pose of the clip `move` at a time.
fn moved(time_s: f64) -> String {
    format!("clip \"move\" at {time_s} s")
}

/// A quarter of the way to the second key: the first time that is looked at after the rest pose.
const EARLY_S: f64 = 0.25;

const LINEAR: SkinningMethod = SkinningMethod::Linear;
const DUAL: SkinningMethod = SkinningMethod::DualQuat;
const OFFSET: SkinningMethod = SkinningMethod::QuatOffset;
const STRETCH: PaletteFormat = PaletteFormat::DualQuatStretch;

#[test]
fn rigid_characters_take_every_method_in_the_smaller_entries() {
    let character = rig([Vec3::ONE; 3]);
    for (method, format, bytes) in [
        (LINEAR, PaletteFormat::Mat3x4, 48),
        (DUAL, PaletteFormat::DualQuat, 32),
        (OFFSET, PaletteFormat::QuatOffset, 32),
    ] {
        assert_eq!(PaletteFormat::of(&character, method), Ok(format));
        let turns = clip(&character, 1, turn());
        assert_eq!(of_clip(&character, method, &turns), Ok(format));
        assert_eq!(format.entry_bytes(), bytes);
    }
}

#[test]
fn the_rest_pose_is_checked() {
    let one = Vec3::ONE;
    let flipped = [one, Vec3::new(-1.0, 1.0, 1.0), one];
    // A joint that is flipped twice is not flipped: only the base is, here.
    let twice_flipped = [-one, -one, one];
    let stretched = [Vec3::new(1.0, 2.0, 1.0), one, one];
    let doubled = [Vec3::splat(2.0); 3];
    // The size is 3 m, so an error of 0.3 mm is allowed. A corner of a cube is at most 0.9 m from
    // its joint.
    let slightly = |by: f32| [one, Vec3::new(1.0 + by, 1.0, 1.0), one];
    let offset = PaletteFormat::QuatOffset;
    for (row, scales, method, wanted) in [
        ("flipped", flipped, LINEAR, Ok(PaletteFormat::Mat3x4)),
        ("flipped", flipped, DUAL, Err(("middle", "flip"))),
        ("flipped", flipped, OFFSET, Err(("middle", "flip"))),
        ("twice", twice_flipped, OFFSET, Err(("base", "flip"))),
        ("stretched", stretched, DUAL, Ok(STRETCH)),
        ("stretched", stretched, OFFSET, Err(("base", "uneven"))),
        ("doubled", doubled, DUAL, Ok(STRETCH)),
        ("doubled", doubled, OFFSET, Ok(offset)),
        ("by 1e-4", slightly(1e-4), DUAL, Ok(PaletteFormat::DualQuat)),
        ("by 1e-4", slightly(1e-4), OFFSET, Ok(offset)),
        ("by 1e-3", slightly(1e-3), DUAL, Ok(STRETCH)),
        ("by 2e-3", slightly(2e-3), OFFSET, Err(("middle", "uneven"))),
    ] {
        let row = format!("{row}, {method:?}");
        let result = PaletteFormat::of(&rig(scales), method);
        check(&row, result, wanted, "the rest pose");
    }
    assert_eq!(STRETCH.entry_bytes(), 48);
}

#[test]
fn clips_are_checked_where_they_change_shapes() {
    let character = rig([Vec3::ONE; 3]);
    // Uniform scale of the first joint scales all joints.
    let grows = clip(&character, 0, grow(Vec3::splat(2.0)));
    let widens = clip(&character, 1, grow(Vec3::new(3.0, 1.0, 1.0)));
    let vanishes = clip(&character, 2, grow(Vec3::ZERO));
    let inverts = clip(&character, 2, grow(Vec3::new(-0.9, 1.0, 1.0)));
    // A spline that is 1 at both keys and 1.5 between them.
    let (slope, one) = (Vec3::X * 2.0, Vec3::ONE);
    let values = TrackValues::Scale(crate::reference::rig::keys(
        Interpolation::CubicSpline,
        [0.0, 1.0],
        [Vec3::ZERO, one, slope, -slope, one, Vec3::ZERO],
    ));
    let bulges = clip(&character, 1, values);
    let uneven = Err(("middle", "uneven"));
    let nothing = Err(("tip", "zero scale"));
    let offset = Ok(PaletteFormat::QuatOffset);
    for (row, clip, method, wanted, time_s) in [
        ("grows", &grows, DUAL, Ok(STRETCH), EARLY_S),
        ("grows", &grows, OFFSET, offset, EARLY_S),
        ("widens", &widens, DUAL, Ok(STRETCH), EARLY_S),
        ("widens", &widens, OFFSET, uneven, EARLY_S),
        ("bulges", &bulges, OFFSET, uneven, EARLY_S),
        ("vanishes", &vanishes, DUAL, nothing, 1.0),
        ("vanishes", &vanishes, OFFSET, nothing, 1.0),
        ("inverts", &inverts, DUAL, Err(("tip", "flip")), 0.75),
    ] {
        let row = format!("{row}, {method:?}");
        let result = of_clip(&character, method, clip);
        check(&row, result, wanted, &moved(time_s));
    }
}

#[test]
fn turning_below_a_stretch_is_shear() {
    let character = rig([Vec3::new(1.0, 2.0, 1.0), Vec3::ONE, Vec3::ONE]);
    for (joint, wanted) in [
        // The stretched joint itself turns after it is stretched.
        (0, Ok(STRETCH)),
        (1, Err(("middle", "shear"))),
        (2, Err(("tip", "shear"))),
    ] {
        let result = of_clip(&character, DUAL, &clip(&character, joint, turn()));
        check(&format!("joint {joint}"), result, wanted, &moved(EARLY_S));
    }
}

#[test]
fn poses_that_callers_give_are_projected() {
    let character = rig([Vec3::ONE; 3]);
    let mut poser = Poser::new();
    let mut model = poser.pose(&character, None).unwrap().to_vec();
    let mut out = [DualQuat::IDENTITY; 3];
    model[1] *= Affine3A::from_scale(Vec3::new(1.0, 1.0, -1.0));
    let to = WriteOnly::from(&mut out);
    character.write_palette(&model, to).unwrap();
    let mut numbers = out.iter().flat_map(|entry| entry.real);
    assert!(numbers.all(f32::is_finite));
}

#[test]
fn palettes_and_poses_of_another_length_are_refused() {
    let character = rig([Vec3::ONE; 3]);
    let model = Poser::new().pose(&character, None).unwrap().to_vec();
    for (joints, entries, wanted) in [(3, 2, "palette"), (3, 4, "palette"), (2, 3, "model pose")] {
        let mut out = vec![QuatOffset::IDENTITY; entries];
        let to = WriteOnly::from(&mut out);
        match character.write_palette(&model[..joints], to) {
            Err(Error::Argument { what, .. }) => assert_eq!(what, wanted),
            other => panic!("{joints} joints, {entries} entries: {other:?}"),
        }
    }
}
