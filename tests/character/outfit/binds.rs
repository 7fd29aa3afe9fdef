//! Skeletons with other axes, units and sizes.

use super::{MOMENTS, apart, body, built, check_palette, cloak, dressed, posed, rebuilt, together};
use crate::reference::words::Fails;
use throng::glam::{Affine3A, DVec3, Quat, Vec3};
use throng::outfit::{OutfitIssue, OutfitOptions};
use throng::retarget::JointMap;

/// The rounding of a chain of five joints, of matrices to `f32` and of their changes: some thirty
/// roundings of numbers up to 8 m.
const ROUNDING_M: f32 = 30.0 * 8.0 * f32::EPSILON;

#[test]
fn axes_and_units_of_joints_do_not_matter() {
    let whole = together();
    let turned = |at: usize| Affine3A::from_quat(Quat::from_rotation_x(0.7 + at as f32));
    let in_centimetres = |_: usize| Affine3A::from_scale(Vec3::splat(100.0));
    let both = |at: usize| in_centimetres(at) * turned(at);
    let all: [(&str, &dyn Fn(usize) -> Affine3A); 3] = [
        ("axes", &turned),
        ("units", &in_centimetres),
        ("both", &both),
    ];
    for (what, change) in all {
        let other = rebuilt(&cloak(), Affine3A::IDENTITY, change);
        let (worn, report) = dressed(&other, &OutfitOptions::default());
        assert_eq!(report.left_out, [], "{what}");
        assert_eq!(report.scale, 1.0, "{what}");
        let distance_m = report.added[0].distance_m;
        assert!(distance_m <= ROUNDING_M, "{what}: {distance_m}");
        let apart_m = apart(&worn, &whole, "cloak");
        assert!(apart_m <= ROUNDING_M, "{what}: {apart_m}");
        // Entries are shared with the body if rounding leaves them the same.
        check_palette(&worn);
        assert!((5..=10).contains(&worn.palette().len()), "{what}");
    }
}

#[test]
fn a_larger_and_moved_skeleton_is_fitted() {
    let whole = together();
    let offset = Vec3::new(3.0, -1.0, 0.5);
    let root = Affine3A::from_scale_rotation_translation(Vec3::splat(1.6), Quat::IDENTITY, offset);
    let (worn, report) = dressed(
        &rebuilt(&cloak(), root, |_| Affine3A::IDENTITY),
        &OutfitOptions::default(),
    );
    assert_eq!(report.left_out, []);
    assert!((report.scale - 1.0 / 1.6).abs() < 1e-6, "{}", report.scale);
    let apart_m = apart(&worn, &whole, "cloak");
    assert!(apart_m <= ROUNDING_M, "{apart_m}");
    // A skeleton that is turned does not rest in the same pose.
    let root = Affine3A::from_rotation_y(0.5) * Affine3A::from_rotation_z(0.3);
    let other = rebuilt(&cloak(), root, |_| Affine3A::IDENTITY);
    let (_, report) = dressed(&other, &OutfitOptions::default());
    assert!(matches!(report.left_out[0].why, OutfitIssue::TooFar { .. }));
}

/// The distances of the rule in `f64`: after the best scale and translation.
fn distances(own: &[Vec3], other: &[Vec3]) -> Vec<f64> {
    let middle =
        |list: &[Vec3]| list.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / list.len() as f64;
    let (here, there) = (middle(own), middle(other));
    let (mut mixed, mut square) = (0.0, 0.0);
    for (a, b) in own.iter().zip(other) {
        let (a, b) = (a.as_dvec3() - here, b.as_dvec3() - there);
        mixed += a.dot(b);
        square += b.dot(b);
    }
    let scale = mixed / square;
    let pairs = own.iter().zip(other);
    pairs
        .map(|(a, b)| (a.as_dvec3() - here).distance(scale * (b.as_dvec3() - there)))
        .collect()
}

#[test]
fn a_joint_may_be_as_far_as_the_options_allow() {
    let mut other = cloak();
    // The joints are at 0, 1, 2, 3 and 4 m. The third is beside the line.
    let moved = |at: usize| Vec3::new(if at == 2 { 0.25 } else { 0.0 }, at as f32, 0.0);
    let there: Vec<Vec3> = (0..5).map(moved).collect();
    for at in 0..5_usize {
        let above = at.checked_sub(1).map_or(Vec3::ZERO, |above| there[above]);
        other.nodes[at].transform.translation = there[at] - above;
    }
    let other = rebuilt(&other, Affine3A::IDENTITY, |_| Affine3A::IDENTITY);
    let here: Vec<Vec3> = (0..5).map(|at| Vec3::Y * at as f32).collect();
    let all = distances(&here, &there);
    let farthest_m = all.iter().copied().fold(0.0, f64::max);
    assert!((0.1..0.25).contains(&farthest_m), "{all:?}");
    let size = built(&body()).rest_bounds().size().max_element();
    let with = |factor: f64| OutfitOptions {
        max_distance: (factor * farthest_m) as f32 / size,
        ..OutfitOptions::default()
    };
    let (worn, report) = dressed(&other, &with(1.001));
    assert_eq!(report.left_out, []);
    let distance_m = f64::from(report.added[0].distance_m);
    assert!((distance_m - farthest_m).abs() <= 1e-6, "{distance_m}");
    assert_eq!(report.added.len(), worn.parts().count() - 2);
    let (bare, report) = dressed(&other, &with(0.999));
    assert_eq!(bare, built(&body()));
    let OutfitIssue::TooFar {
        joint,
        distance_m,
        allowed_m,
    } = &report.left_out[0].why
    else {
        panic!("{report:?}");
    };
    assert_eq!(joint, &other.nodes[2].name);
    assert!((f64::from(*distance_m) - farthest_m).abs() <= 1e-6);
    assert!((f64::from(*allowed_m) - 0.999 * farthest_m).abs() <= 1e-6);
    let text = report.left_out[0].to_string();
    assert!(
        text.starts_with("part \"cloak\" left out: joint \""),
        "{text}"
    );
    // What follows one joint sits at that joint as it sat at its own, at rest and in every pose.
    let mut one = other.clone();
    one.primitives[0].joints.fill(2);
    let (worn, _) = dressed(
        &one,
        &OutfitOptions {
            max_distance: 1.0,
            ..OutfitOptions::default()
        },
    );
    let scale = f64::from(report.scale) as f32;
    let rest = posed(&worn, "cloak", MOMENTS[0]);
    let original = built(&one);
    let vertices = &original.primitives()[0].positions;
    for (posed, vertex) in rest[0].positions.iter().zip(vertices) {
        let wanted = Vec3::Y * 2.0 + scale * (*vertex - there[2]);
        assert!(posed.distance(wanted) <= ROUNDING_M, "{posed} {wanted}");
    }
}

#[test]
fn one_skeleton_that_rests_in_another_pose_keeps_its_binds() {
    let mut other = rebuilt(&cloak(), Affine3A::IDENTITY, |_| Affine3A::IDENTITY);
    for node in &mut other.nodes {
        node.transform.rotation = Quat::from_rotation_z(0.6);
    }
    let (_, report) = dressed(&other, &OutfitOptions::default());
    assert!(
        matches!(report.left_out[0].why, OutfitIssue::TooFar { .. }),
        "{report:?}"
    );
    let keep = OutfitOptions {
        keep_binds: true,
        ..OutfitOptions::default()
    };
    let (worn, report) = dressed(&other, &keep);
    assert_eq!(report.left_out, []);
    assert_eq!(apart(&worn, &together(), "cloak"), 0.0);
    // Kept binds of mirrored joints would turn the surface inside out.
    let mirror = |_: usize| Affine3A::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    let other = rebuilt(&cloak(), Affine3A::IDENTITY, mirror);
    let (worn, _) = dressed(&other, &OutfitOptions::default());
    let apart_m = apart(&worn, &together(), "cloak");
    assert!(apart_m <= ROUNDING_M, "{apart_m}");
    let (_, report) = dressed(&other, &keep);
    assert!(
        matches!(report.left_out[0].why, OutfitIssue::Mirrored { .. }),
        "{report:?}"
    );
}

#[test]
fn joints_are_matched_by_names_or_by_a_map() {
    let whole = together();
    let mut other = cloak();
    let names: Vec<Box<str>> = other.nodes.iter().map(|node| node.name.clone()).collect();
    for node in &mut other.nodes {
        node.name = format!("mixamorig:{}", node.name).into();
    }
    let (worn, _) = dressed(&other, &OutfitOptions::default());
    assert_eq!(apart(&worn, &whole, "cloak"), 0.0);
    for (at, node) in other.nodes.iter_mut().enumerate() {
        node.name = format!("bone {}", [7, 3, 9, 1, 4][at]).into();
    }
    let own = built(&body());
    let fails = own.with_parts_of(&built(&other), &OutfitOptions::default());
    fails
        .map(drop)
        .fails("the skeletons have no joint name in common: the source has …; the target has …");
    let pairs: Vec<(&str, &str)> = other
        .nodes
        .iter()
        .zip(&names)
        .map(|(node, name)| (&*node.name, &**name))
        .collect();
    let map = JointMap::from_pairs(built(&other).skeleton(), own.skeleton(), &pairs).unwrap();
    let options = OutfitOptions {
        joints: Some(map),
        ..OutfitOptions::default()
    };
    let (worn, report) = dressed(&other, &options);
    assert_eq!(report.left_out, []);
    assert_eq!(apart(&worn, &whole, "cloak"), 0.0);
    // A map of other skeletons.
    let mut longer = other.clone();
    super::holder(&mut longer, "tip", 4, Vec3::Y);
    let fails = own.with_parts_of(&built(&longer), &options);
    fails
        .map(drop)
        .fails("joints of the map's source: has 6 elements, needs 5");
}

#[test]
fn the_hierarchy_of_the_other_skeleton_may_differ() {
    let mut other = rebuilt(&cloak(), Affine3A::IDENTITY, |_| Affine3A::IDENTITY);
    // All joints hang on the root, where they rest as before.
    for (at, node) in other.nodes.iter_mut().enumerate().skip(1) {
        node.parent = Some(0);
        node.transform.translation = Vec3::Y * at as f32;
    }
    let (worn, report) = dressed(&other, &OutfitOptions::default());
    assert_eq!(report.left_out, []);
    assert_eq!(apart(&worn, &together(), "cloak"), 0.0);
}
