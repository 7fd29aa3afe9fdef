//! What a character's poses need of a palette's format: the checks when a method is chosen, when a
//! clip is added, and when a pose is given.

use crate::reference::poser::Poser;
use throng::Error;
use throng::character::Character;
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::error::{PoseAt, Unrepresentable};
use throng::glam::{Affine3A, Mat4, Quat, Vec3};
use throng::ids::JointId;
use throng::import::{ImportOptions, RawCharacter, RawNode, RawPrimitive, RawSkin, RawTransform};
use throng::palette::{
    DualQuat, PaletteFit, PaletteFormat, QuatOffset, SkinningMethod, WriteOnly, check_clip, palette,
};
use throng::skeleton::Transform;

const BOTH: [SkinningMethod; 2] = [SkinningMethod::DualQuat, SkinningMethod::QuatOffset];

/// Three joints, each the child of the one before it and one metre along its Y, each with a cube of
/// vertices half a metre around it.
fn rig(scales: [Vec3; 3]) -> Character {
    let node = |index: usize| RawNode {
        name: ["base", "middle", "tip"][index].into(),
        parent: index.checked_sub(1),
        transform: RawTransform::Trs(Transform {
            translation: if index > 0 { Vec3::Y } else { Vec3::ZERO },
            rotation: Quat::IDENTITY,
            scale: scales[index],
        }),
    };
    let corner = |v: usize| {
        let sign = |bit: usize| if v >> bit & 1 == 1 { 0.5 } else { -0.5 };
        Vec3::new(sign(0), sign(1) + (v / 8) as f32, sign(2))
    };
    let raw = RawCharacter {
        nodes: (0..3).map(node).collect(),
        skins: vec![RawSkin {
            joints: vec![0, 1, 2],
            inverse_bind: (0..3)
                .map(|joint| Mat4::from_translation(Vec3::NEG_Y * joint as f32))
                .collect(),
            ..RawSkin::default()
        }],
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
        vec![Track {
            joint: JointId(joint),
            values,
        }],
        character.skeleton(),
    )
    .unwrap()
}

fn turn() -> TrackValues {
    let there = Quat::from_rotation_x(1.0);
    TrackValues::Rotation(keys(&[0.0, 1.0], &[Quat::IDENTITY, there]))
}

fn grow(to: Vec3) -> TrackValues {
    TrackValues::Scale(keys(&[0.0, 1.0], &[Vec3::ONE, to]))
}

/// The joint's name, the pose and the reason of a refusal.
fn refusal(result: throng::Result<PaletteFormat>) -> (String, PoseAt, Unrepresentable) {
    match result {
        Err(Error::Unrepresentable { name, at, why, .. }) => (name.into(), at, why),
        other => panic!("{other:?}"),
    }
}

const STRETCH: PaletteFormat = PaletteFormat::DualQuatStretch;

#[test]
fn rigid_characters_take_every_method_in_the_smaller_entries() {
    let character = rig([Vec3::ONE; 3]);
    for method in [
        SkinningMethod::Linear,
        SkinningMethod::DualQuat,
        SkinningMethod::QuatOffset,
    ] {
        let plan = PaletteFormat::of(&character, method).unwrap();
        assert!(plan.method() == method && plan != PaletteFormat::DualQuatStretch);
        assert_eq!(
            check_clip(&character, method, &clip(&character, 1, turn())),
            Ok(plan)
        );
        assert_eq!(
            plan.entry_bytes(),
            if method == SkinningMethod::Linear {
                48
            } else {
                32
            }
        );
    }
}

#[test]
fn the_rest_pose_is_checked() {
    let mirrored = rig([Vec3::ONE, Vec3::new(-1.0, 1.0, 1.0), Vec3::ONE]);
    for method in BOTH {
        let (name, at, why) = refusal(PaletteFormat::of(&mirrored, method));
        assert_eq!((&*name, at), ("middle", PoseAt::Rest));
        assert!(matches!(why, Unrepresentable::Mirror { .. }));
    }
    // What is mirrored twice is not mirrored: only the base is, here.
    let twice = rig([Vec3::splat(-1.0), Vec3::splat(-1.0), Vec3::ONE]);
    assert_eq!(
        refusal(PaletteFormat::of(&twice, SkinningMethod::QuatOffset)).0,
        "base"
    );

    let stretched = rig([Vec3::new(1.0, 2.0, 1.0), Vec3::ONE, Vec3::ONE]);
    let plan = PaletteFormat::of(&stretched, SkinningMethod::DualQuat).unwrap();
    assert!(plan == STRETCH && plan.entry_bytes() == 48);
    let (name, _, why) = refusal(PaletteFormat::of(&stretched, SkinningMethod::QuatOffset));
    assert_eq!(name, "base");
    assert!(matches!(why, Unrepresentable::NonUniformScale { .. }));

    let twice = rig([Vec3::splat(2.0); 3]);
    assert!(PaletteFormat::of(&twice, SkinningMethod::QuatOffset).is_ok());
    assert_eq!(
        PaletteFormat::of(&twice, SkinningMethod::DualQuat).unwrap(),
        STRETCH
    );
    assert!(PaletteFormat::of(&mirrored, SkinningMethod::Linear).is_ok());
}

#[test]
fn what_no_one_sees_is_no_reason_to_refuse() {
    // The size is 3 m, so 0.3 mm are allowed; a corner of a cube lies 0.9 m from its joint at most.
    let slightly = |by: f32| rig([Vec3::ONE, Vec3::new(1.0 + by, 1.0, 1.0), Vec3::ONE]);
    assert_ne!(
        PaletteFormat::of(&slightly(1e-4), SkinningMethod::DualQuat).unwrap(),
        STRETCH
    );
    assert!(PaletteFormat::of(&slightly(1e-4), SkinningMethod::QuatOffset).is_ok());
    assert_eq!(
        PaletteFormat::of(&slightly(1e-3), SkinningMethod::DualQuat).unwrap(),
        STRETCH
    );
    assert!(PaletteFormat::of(&slightly(2e-3), SkinningMethod::QuatOffset).is_err());
}

#[test]
fn clips_are_checked_where_they_change_shapes() {
    let character = rig([Vec3::ONE; 3]);
    // Uniform scale on the first joint scales all; the stretch is noticed.
    let grows = clip(&character, 0, grow(Vec3::splat(2.0)));
    assert_eq!(
        check_clip(&character, SkinningMethod::DualQuat, &grows).unwrap(),
        STRETCH
    );
    assert!(check_clip(&character, SkinningMethod::QuatOffset, &grows).is_ok());

    let widens = clip(&character, 1, grow(Vec3::new(3.0, 1.0, 1.0)));
    assert_eq!(
        check_clip(&character, SkinningMethod::DualQuat, &widens).unwrap(),
        STRETCH
    );
    let (name, at, why) = refusal(check_clip(&character, SkinningMethod::QuatOffset, &widens));
    assert_eq!(name, "middle");
    // A quarter of the way to the second key, the first time looked at after the rest pose.
    assert_eq!(
        at,
        PoseAt::Clip {
            name: "move".into(),
            time_s: 0.25
        }
    );
    assert!(matches!(why, Unrepresentable::NonUniformScale { .. }));

    let vanishes = clip(&character, 2, grow(Vec3::ZERO));
    for method in BOTH {
        let (name, at, why) = refusal(check_clip(&character, method, &vanishes));
        assert_eq!(name, "tip");
        assert_eq!(
            at,
            PoseAt::Clip {
                name: "move".into(),
                time_s: 1.0
            }
        );
        assert!(matches!(why, Unrepresentable::ZeroScale { .. }));
    }
    let inverts = clip(&character, 2, grow(Vec3::new(-0.9, 1.0, 1.0)));
    let (_, _, why) = refusal(check_clip(&character, SkinningMethod::DualQuat, &inverts));
    assert!(matches!(why, Unrepresentable::Mirror { .. }));
}

#[test]
fn turning_below_a_stretch_is_shear() {
    let character = rig([Vec3::new(1.0, 2.0, 1.0), Vec3::ONE, Vec3::ONE]);
    for (joint, sheared) in [(0, None), (1, Some("middle")), (2, Some("tip"))] {
        let turns = clip(&character, joint, turn());
        let result = check_clip(&character, SkinningMethod::DualQuat, &turns);
        let Some(expected) = sheared else {
            // The stretched joint itself turns after it is stretched.
            assert_eq!(result.unwrap(), STRETCH);
            continue;
        };
        let (name, at, why) = refusal(result);
        assert_eq!(name, expected);
        assert_eq!(
            at,
            PoseAt::Clip {
                name: "move".into(),
                time_s: 0.25
            }
        );
        assert!(matches!(why, Unrepresentable::Shear { .. }), "{why}");
    }
}

#[test]
fn between_keys_is_looked_at_too() {
    // A spline that is 1 at both keys and 1.5 between them.
    let character = rig([Vec3::ONE; 3]);
    let (slope, one) = (Vec3::X * 2.0, Vec3::ONE);
    let values = TrackValues::Scale(crate::reference::rig::keys(
        Interpolation::CubicSpline,
        &[0.0, 1.0],
        &[Vec3::ZERO, one, slope, -slope, one, Vec3::ZERO],
    ));
    let bulges = clip(&character, 1, values);
    let (name, at, _) = refusal(check_clip(&character, SkinningMethod::QuatOffset, &bulges));
    assert_eq!(name, "middle");
    assert_eq!(
        at,
        PoseAt::Clip {
            name: "move".into(),
            time_s: 0.25
        }
    );
}

#[test]
fn a_clip_of_another_character_is_refused() {
    let character = rig([Vec3::ONE; 3]);
    let long = crate::reference::rig::chain(5);
    let foreign = clip(&long, 4, turn());
    let error = check_clip(&character, SkinningMethod::DualQuat, &foreign).unwrap_err();
    assert!(matches!(
        error,
        Error::NotFound {
            what: "joint",
            index: 4,
            count: 3
        }
    ));
}

#[test]
fn poses_that_callers_give_are_checked_or_projected() {
    let character = rig([Vec3::ONE; 3]);
    let mut poser = Poser::new();
    let mut model = poser.pose(&character, None).unwrap().to_vec();
    let mut checked = [DualQuat::IDENTITY; 3];
    palette(
        &character,
        &model,
        PaletteFit::Checked,
        WriteOnly::over(&mut checked),
    )
    .unwrap();
    assert_eq!(checked, [DualQuat::IDENTITY; 3]);

    model[1] *= Affine3A::from_scale(Vec3::new(1.0, 1.0, -1.0));
    let error = palette(
        &character,
        &model,
        PaletteFit::Checked,
        WriteOnly::over(&mut checked),
    )
    .unwrap_err();
    let Error::Unrepresentable {
        method,
        joint,
        ref name,
        ref at,
        why,
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(
        (method, joint, &**name, at),
        ("DualQuat", 1, "middle", &PoseAt::Given)
    );
    assert!(matches!(why, Unrepresentable::Mirror { .. }));
    assert!(error.to_string().contains("\"middle\""), "{error}");
    palette(
        &character,
        &model,
        PaletteFit::Projected,
        WriteOnly::over(&mut checked),
    )
    .unwrap();
    assert!(
        checked
            .iter()
            .flat_map(|entry| entry.real)
            .all(f32::is_finite)
    );

    for count in [2, 4] {
        let mut short = vec![QuatOffset::IDENTITY; count];
        let error = palette(
            &character,
            &model,
            PaletteFit::Checked,
            WriteOnly::over(&mut short),
        )
        .unwrap_err();
        assert!(matches!(
            error,
            Error::Argument {
                what: "palette",
                ..
            }
        ));
        let error = palette(
            &character,
            &model,
            PaletteFit::Projected,
            WriteOnly::over(&mut short),
        )
        .unwrap_err();
        assert!(matches!(
            error,
            Error::Argument {
                what: "palette",
                ..
            }
        ));
        let error = palette(
            &character,
            &model[..2],
            PaletteFit::Projected,
            WriteOnly::over(&mut checked),
        )
        .unwrap_err();
        assert!(matches!(
            error,
            Error::Argument {
                what: "model pose",
                ..
            }
        ));
    }
}
