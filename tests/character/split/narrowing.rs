//! Narrowing at import: joint indices of 8 bits where they save memory.

use super::characters::{is_sound, skinned};
use super::made::{built, chain, tube};
use throng::glam::{Quat, Vec3};
use throng::import::{self, ImportOptions, RawCharacter};
use throng::mesh::{JointIndices, Primitive};

#[test]
fn import_keeps_8_bits_where_it_pays() {
    let tube = || vec![tube(700, 3, 16, None)];
    let narrow = built(700, tube(), 100);
    let told = narrow.narrowing.clone().unwrap();
    assert_eq!((told.primitives, told.repeated_entries), (1, 0));
    assert_eq!(told.parts, narrow.primitives().len());
    // 33,600 vertices of four bytes. A seam of a ring has 16 vertices of 12 + 4 + 8 + 8 + 4 bytes.
    let seams = told.repeated_vertices as u64 * 36;
    assert_eq!(told.bytes_saved, 33_600 * 4 - seams);
    assert!(told.parts <= 4, "{told:?}");
    is_sound(&narrow, 256);
    for p in narrow.primitives() {
        assert!(matches!(p.joints, JointIndices::U8(_)));
    }
    // A cut by hand gives the same.
    let small = built(700, vec![self::tube(700, 1, 3, None)], 100);
    assert_eq!(
        small.narrowing, None,
        "8 kB saved, two parts of 4 kB and seams"
    );
    assert!(matches!(small.primitives()[0].joints, JointIndices::U16(_)));
    let (by_hand, _) = small.split(256).unwrap();
    assert_eq!(skinned(&by_hand, None), skinned(&small, None));
    is_sound(&by_hand, 256);
}

/// Joints at both ends of a long chain need no cut, only a range of their own.
#[test]
fn few_joints_far_apart_get_a_range_of_their_own() {
    let ends = || {
        let mut raw = tube(300, 8, 8, None);
        let far = |joint: &mut u32| {
            *joint = if *joint < 100 {
                *joint
            } else {
                299 - *joint % 50
            }
        };
        raw.joints.iter_mut().for_each(far);
        raw
    };
    let alone = built(300, vec![ends()], 100);
    assert_eq!(alone.primitives().len(), 1);
    assert_eq!(
        (alone.palette().len(), alone.narrowing),
        (150, None),
        "the joints between them are not in the range"
    );
    // A primitive between them needs the range, so their own entries follow it.
    let middle = || {
        let mut raw = tube(300, 1, 3, None);
        raw.joints
            .iter_mut()
            .for_each(|joint| *joint = 100 + *joint % 150);
        raw
    };
    let both = built(300, vec![ends(), middle()], 100);
    let told = both.narrowing.clone().unwrap();
    assert_eq!(
        (told.primitives, told.parts, told.repeated_entries),
        (1, 1, 0)
    );
    assert_eq!(
        (told.repeated_vertices, told.bytes_saved),
        (0, 300 * 8 * 8 * 4)
    );
    assert_eq!(both.palette().len(), 300);
    is_sound(&both, 256);
    // Primitives that share entries with both would have to repeat them. That pays for few
    // instances, but not for many.
    let all = |instances| {
        let few = tube(300, 1, 3, None);
        let [mut low, mut high] = [few.clone(), few];
        low.joints.iter_mut().for_each(|joint| *joint %= 200);
        high.joints
            .iter_mut()
            .for_each(|joint| *joint = 299 - *joint % 200);
        built(300, vec![low, high, ends()], instances)
    };
    let few = all(1);
    let told = few.narrowing.clone().unwrap();
    assert!(told.repeated_entries > 0, "{told:?}");
    is_sound(&few, 256);
    let many = all(10_000);
    assert_eq!(many.narrowing, None);
    let joints = &many.primitives()[2].joints;
    assert!(matches!(joints, JointIndices::U16(_)));
    assert_eq!(skinned(&few, None), skinned(&many, None));
}

/// If one of two primitives is narrowed, the other one's entries move along.
#[test]
fn what_stays_wide_is_moved_along() {
    let small = tube(700, 1, 3, Some(40));
    let imported = built(700, vec![small, tube(700, 3, 16, None)], 2);
    assert!(imported.narrowing.is_some());
    let wide = |p: &&Primitive| matches!(p.joints, JointIndices::U16(_));
    assert_eq!(imported.primitives().iter().filter(wide).count(), 1);
    is_sound(&imported, 65_536);
    let (split, _) = imported.split(256).unwrap();
    is_sound(&split, 256);
    assert_eq!(skinned(&split, None), skinned(&imported, None));
}

/// The vertex that a limit moves furthest is named by its part after the split.
#[test]
fn the_loss_names_the_vertex_of_the_part() {
    let mut raw = tube(700, 3, 16, None);
    let far = 31_000;
    raw.positions[far] *= Vec3::new(90.0, 1.0, 90.0);
    raw.weights[far * 4..far * 4 + 4].copy_from_slice(&[0.25; 4]);
    let place = raw.positions[far];
    let mut raw = RawCharacter {
        primitives: vec![raw],
        ..chain(700)
    };
    let turned = Quat::from_rotation_y(2.0);
    let node = 31_000 / 48 + 3;
    raw.animations = vec![import::RawAnimation {
        name: "turn".into(),
        channels: vec![import::RawChannel {
            node,
            times_s: vec![0.0],
            interpolation: throng::clip::Interpolation::Step,
            values: import::RawKeys::Rotation(vec![turned]),
        }],
        ..import::RawAnimation::default()
    }];
    let options = ImportOptions {
        max_influences: Some(2),
        ..ImportOptions::curves_only()
    };
    let imported = raw.build(&options).unwrap();
    assert!(imported.narrowing.is_some());
    let loss = imported.influence_loss.unwrap();
    let primitive = &imported.primitives()[loss.primitive];
    assert!(loss.primitive > 0, "{loss:?}");
    assert_eq!(primitive.positions[loss.vertex], place);
}
