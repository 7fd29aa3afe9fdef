//! Keys half a turn apart: the direction is the same everywhere, and follows the signs of the
//! quaternions.

use crate::reference::rig;
use crate::reference::rng::Rng;
use throng::Id;
use throng::clip::{Clip, ClipOptions};
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawAnimation, RawChannel, RawCharacter, RawKeys};
use throng::skeleton::Transform;

/// The angle between two rotations.
fn apart(a: Quat, b: Quat) -> f32 {
    let chord = (a - b).length().min((a + b).length());
    4.0 * (0.5 * chord).asin()
}

fn sampled(clip: &CurveClip, time_s: f64) -> Quat {
    let mut local = [Transform::IDENTITY; 2];
    clip.sample(time_s, &mut local).unwrap();
    local[0].rotation
}

/// Half turns as exporters write them: the cosine is 0, except for rounding of either sign.
fn half_turns(rng: &mut Rng) -> (Quat, Quat, Vec3) {
    let from = rng.rotation();
    let axis = match rng.below(3) {
        0 => rng.direction(),
        _ => [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_Y][rng.below(4)],
    };
    let off = rng.range(-8e-7, 8e-7);
    let turn = Quat::from_axis_angle(axis, core::f32::consts::PI + off);
    (from, from * turn, axis)
}

#[test]
fn half_a_turn_goes_about_the_axis_of_the_keys() {
    let rng = &mut Rng::new(21);
    let character = rig::chain(2);
    for round in 0..2_000 {
        let (from, to, axis) = half_turns(rng);
        for sign in [1.0, -1.0] {
            let keys = rig::keys(Interpolation::Linear, &[0.0, 1.0], &[from, to * sign]);
            let clip = rig::clip(TrackValues::Rotation(keys));
            for part in [0.1, 0.25, 0.5, 0.9] {
                let angle = core::f32::consts::PI * part;
                let want = from * Quat::from_axis_angle(axis * sign, angle);
                let off = apart(sampled(&clip, part.into()), want);
                // Rounding, and the 4e-7 rad that the keys are off.
                assert!(off < 4e-6, "{round} {sign} {part}: {off}");
            }
        }
        if round % 40 > 0 {
            continue;
        }
        // Packed: the same way.
        let keys = rig::keys(Interpolation::Linear, &[0.0, 1.0], &[from, to]);
        let track = Track {
            joint: Id::new(0),
            values: TrackValues::Rotation(keys),
        };
        let clip = CurveClip::new("turn", vec![track], character.skeleton()).unwrap();
        let packed = Clip::new(&character, &clip, &ClipOptions::default()).unwrap();
        for part in [0.1_f32, 0.5, 0.9] {
            let off = apart(
                packed.sample_joint(Id::new(0), part.into()).rotation,
                from * Quat::from_axis_angle(axis, core::f32::consts::PI * part),
            );
            // The bound of packing is about 0.1 mm at a metre. The other way would be 0.6 rad off.
            assert!(off < 0.01, "{round} {part}: {off}");
        }
    }
}

#[test]
fn import_does_not_flip_half_turns() {
    let rng = &mut Rng::new(22);
    for round in 0..500 {
        let (from, to, axis) = half_turns(rng);
        let mut raw = RawCharacter::from_skeleton(rig::chain(2).skeleton());
        raw.animations = vec![RawAnimation {
            name: "turn".into(),
            channels: vec![RawChannel {
                node: 0,
                times_s: vec![0.0, 1.0],
                interpolation: Interpolation::Linear,
                values: RawKeys::Rotation(vec![from, to]),
            }],
            events: Vec::new(),
        }];
        let character = raw.build(&ImportOptions::curves_only()).unwrap().character;
        let want = from * Quat::from_axis_angle(axis, 0.25 * core::f32::consts::PI);
        let off = apart(sampled(&character.curves()[0], 0.25), want);
        assert!(off < 4e-6, "{round}: {off}");
    }
}
