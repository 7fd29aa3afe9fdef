//! The arm against numbers computed by hand.

use crate::ascii::{File, arm, list};
use crate::oracle::posed;
use throng::glam::Vec3;
use throng::import::{ImportOptions, Imported, RepairKind, UpAxis};

pub(crate) fn import(file: &File) -> Imported {
    let options = ImportOptions::curves_only();
    throng_import::bytes(file.text().as_bytes(), &options).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
pub(crate) fn near(got: &[Vec3], expected: &[[f32; 3]]) {
    assert_eq!(got.len(), expected.len(), "{got:?}");
    for point in expected {
        let point = Vec3::from_array(*point);
        let distance = got
            .iter()
            .map(|p| p.distance(point))
            .fold(f32::MAX, f32::min);
        assert!(distance < 2e-5, "{point} is not in {got:?}");
    }
}

/// The rest positions: file coordinates (x, y, z) in centimetres become (x, z, -y) / 100.
const REST: [[f32; 3]; 7] = [
    [0.0, 0.0, -0.5],
    [0.1, 0.0, -0.5],
    [0.1, 1.0, -0.5],
    [0.0, 1.0, -0.5],
    [0.0, 2.0, -0.5],
    [0.1, 2.0, -0.5],
    [0.1, 2.1, -0.5],
];

#[test]
fn rest_pose_in_metres_and_y_up() {
    let c = import(&arm().0);
    assert_eq!(c.repairs, [], "{:?}", c.repair_summary());
    assert_eq!((c.vertex_count(), c.triangle_count()), (7, 3));
    near(&posed(&c, None), &REST);
    // Vertices that no joint moves follow the mesh's node.
    let names: Vec<&str> = c.skeleton().joints().iter().map(|j| &*j.name).collect();
    assert_eq!(names, ["Base", "Arm", "Tip"]);
    for joint in c.skeleton().joints() {
        assert!((joint.rest.scale - Vec3::ONE).length() < 1e-6, "{joint:?}");
    }
}

/// The axis of the options counts, instead of that of the file, which is +Z.
#[test]
fn the_up_axis_and_the_scale_can_be_stated() {
    let with = |up, scale| {
        let options = ImportOptions {
            up,
            scale,
            ..ImportOptions::curves_only()
        };
        throng_import::bytes(arm().0.text().as_bytes(), &options).unwrap()
    };
    let same = with(Some(UpAxis::Z), 1.0);
    assert_eq!(same.repairs, []);
    near(&posed(&same, None), &REST);
    let unturned = with(Some(UpAxis::Y), 1.0);
    near(&posed(&unturned, None), &REST.map(|[x, y, z]| [x, -z, y]));
    let kinds: Vec<_> = unturned.repairs.iter().map(|repair| &repair.kind).collect();
    let (stated, up) = (UpAxis::Z, UpAxis::Y);
    assert_eq!(kinds, [&RepairKind::UpReplaced { stated, up }]);
    let scaled = with(None, 0.5);
    assert_eq!(scaled.repairs, []);
    near(&posed(&scaled, None), &REST.map(|at| at.map(|x| 0.5 * x)));
    for joint in scaled.skeleton().joints() {
        assert!((joint.rest.scale - Vec3::ONE).length() < 1e-6, "{joint:?}");
    }
}

#[test]
fn weights_and_inverse_binds() {
    let c = import(&arm().0);
    let primitive = &c.primitives()[0];
    let corner = primitive.positions.iter().enumerate();
    let mut sums = [0.0_f32; 2];
    for (vertex, position) in corner {
        for (index, weight) in primitive.influences(vertex) {
            let entry = &c.palette()[c.palette_range(primitive)][index];
            if c.skeleton().joints()[entry.joint.index()].name.as_ref() == "Tip" {
                // The mesh keeps the file's axes. The tip is 1 m above the base.
                let to_joint = entry.inverse_bind.transform_point3(*position);
                let expected = *position - Vec3::new(0.0, 0.0, 1.0);
                assert!(to_joint.distance(expected) < 1e-6, "{to_joint}");
                sums[0] += weight;
            } else {
                sums[1] += weight;
            }
        }
    }
    assert!(
        (sums[0] - 1.75).abs() < 1e-4 && (sums[1] - 5.25).abs() < 1e-4,
        "{sums:?}"
    );
}

#[test]
fn texture_coordinates_start_at_the_top() {
    let c = import(&arm().0);
    let primitive = &c.primitives()[0];
    let all = primitive.positions.iter().zip(&primitive.uvs);
    // The mesh keeps the file's axes.
    let low: Vec<_> = all.filter(|(position, _)| position.z < 0.5).collect();
    assert_eq!(low.len(), 2);
    for (position, uv) in low {
        assert_eq!((uv.x, uv.y), (position.x * 10.0, 0.75));
    }
}

#[test]
fn takes_bend_and_lift() {
    let c = import(&arm().0);
    let names: Vec<&str> = c.curves().iter().map(|clip| clip.name()).collect();
    assert_eq!(names, ["Bend", "Lift"]);
    assert!((c.curves()[0].duration_s() - 1.0).abs() < 1e-6);
    assert!(
        (c.curves()[1].duration_s() - 2.0).abs() < 1e-6,
        "only the take's range"
    );
    // 90° about the file's X: (x, y, z) relative to the tip becomes (x, -z, y).
    let mut bent = REST;
    bent[3] = [0.0, 1.5, 0.0];
    bent[2] = [0.1, 0.25 + 0.75 * 1.5, -0.5 * 0.25];
    near(&posed(&c, Some((0, 1.0))), &bent);
    // Half of it: 45°.
    let (s, h) = (0.5 * 0.5_f32.sqrt(), 0.5_f32.sqrt() * 0.5);
    let mut half = REST;
    half[3] = [0.0, 1.0 + s, -h];
    half[2] = [0.1, 0.25 + 0.75 * (1.0 + s), -0.125 - 0.75 * h];
    near(&posed(&c, Some((0, 0.5))), &half);
    // At the file's second 2: 80 cm up, and vertex 1 of the shape 20 cm to the right.
    let mut lifted = REST;
    for point in &mut lifted[..4] {
        point[1] += 0.8;
    }
    lifted[1][0] += 0.2;
    near(&posed(&c, Some((1, 1.0))), &lifted);
}

#[test]
fn a_blend_shape_is_a_morph_weight() {
    let c = import(&arm().0);
    let weights: Vec<&str> = c.morph_weights().iter().map(|w| &*w.name).collect();
    assert_eq!(weights, ["wide"]);
    let target = &c.primitives()[0].targets[0];
    assert_eq!(target.vertices.len(), 1);
    let delta = target.positions[0];
    assert!((delta.length() - 0.2).abs() < 1e-6, "{delta}");
}

#[test]
fn shapes_in_between_fade_into_each_other() {
    let (mut file, arm) = arm();
    file.objects = file.objects.replace(
        "FullWeights: *1 { a: 100 }",
        "FullWeights: *2 { a: 50,100 }",
    );
    let body = format!("Indexes: {}\nVertices: {}", list(&[1]), list(&[0, 0, 40]));
    let shape = file.object("Geometry", "Geometry::full", "Shape", &body);
    file.connect(shape, arm.channel);
    let c = import(&file);
    let names: Vec<&str> = c.morph_weights().iter().map(|w| &*w.name).collect();
    assert_eq!(names, ["wide 50%", "wide 100%"]);
    let vertex = |time_s: f64| posed(&c, Some((1, time_s)));
    let at = |x: f32, y: f32| {
        let mut points = REST;
        points[1] = [x, y, -0.5];
        points
    };
    // The curve goes from 0 to 100 % in 1 s. It passes 50 % at 0.5 s.
    let lift = |time_s| posed(&c, Some((1, time_s)))[0].y;
    for (time_s, x, y) in [
        (0.25, 0.2, 0.0),
        (0.5, 0.3, 0.0),
        (0.75, 0.2, 0.2),
        (1.0, 0.1, 0.4),
    ] {
        let mut expected = at(x, y);
        let up = lift(time_s);
        expected[..4].iter_mut().for_each(|point| point[1] += up);
        near(&vertex(time_s), &expected);
    }
}

#[test]
fn other_units_and_axes() {
    // +Y up, in metres: the same file describes an arm of 100 m along Z.
    let mut file = arm().0;
    file.settings = File::with_axes(1, 2, 1, 100.0).settings;
    let c = import(&file);
    let same = [
        [0., 50., 0.],
        [10., 50., 0.],
        [10., 50., 100.],
        [0., 50., 100.],
    ];
    let far = [[0., 50., 200.], [10., 50., 200.], [10., 50., 210.]];
    near(&posed(&c, None), &[&same[..], &far].concat());
}

#[test]
fn clips_are_added_by_name() {
    let with = arm().0;
    let mut without = with.clone();
    without
        .objects
        .truncate(without.objects.find("AnimationStack").unwrap());
    let c = import(&without);
    assert_eq!(c.curves().len(), 0);
    let options = ImportOptions::curves_only();
    let added = throng_import::add_clips_bytes(&c, with.text().as_bytes(), &options).unwrap();
    assert_eq!(added.curves().len(), 2);
    near(
        &posed(&added, Some((0, 1.0))),
        &posed(&import(&with), Some((0, 1.0)))
            .iter()
            .map(|p| p.to_array())
            .collect::<Vec<_>>(),
    );
}

#[test]
fn indices_that_were_clamped_are_reported() {
    let mut file = arm().0;
    file.objects = file.objects.replace(
        "UVIndex: *7 { a: 0,1,2,3,0,1,2 }",
        "UVIndex: *7 { a: 0,1,2,3,0,1,9 }",
    );
    let c = import(&file);
    let clamped = |kind: &RepairKind| matches!(kind, RepairKind::Fbx(_));
    assert!(
        c.repairs.iter().any(|r| clamped(&r.kind)),
        "{:?}",
        c.repairs
    );
}
