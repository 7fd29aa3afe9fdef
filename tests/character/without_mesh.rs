//! Skeletons and characters that code makes: without a file, a skin or a mesh.

use crate::reference::raws;
use crate::reference::rng::Rng;
use crate::reference::words::{Fails, Says};
use throng::Id;
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::mesh::Material;
use throng::skeleton::{Joint, Skeleton};

const NO_PARENT: u16 = u16::MAX;

fn joint(name: &str, parent: u16) -> Joint {
    Joint {
        name: name.into(),
        parent: (parent != NO_PARENT).then_some(Id::new(parent)),
        rest: raws::at(Vec3::Y),
    }
}

fn refused(joints: Vec<Joint>) -> String {
    Skeleton::new(joints).unwrap_err().to_string()
}

#[test]
fn joints_in_order_make_a_skeleton() {
    let joints = vec![
        joint("a", NO_PARENT),
        joint("b", NO_PARENT),
        joint("a1", 0),
        joint("a2", 0),
        joint("b1", 1),
        joint("b11", 4),
    ];
    let skeleton = Skeleton::new(joints.clone()).unwrap();
    assert_eq!(skeleton.joints(), joints);
    assert_eq!(skeleton.levels(), [0..2, 2..5, 5..6]);
    let none = Skeleton::new(Vec::new()).unwrap();
    assert!(none.is_empty() && none.levels().is_empty());
}

#[test]
fn wrong_joints_are_named() {
    refused(vec![joint("a", NO_PARENT), joint("b", 1)]).says("joint 1: Joint::parent: must be…");
    refused(vec![joint("a", 1), joint("b", NO_PARENT)]).says("joint 0: Joint::parent…");
    // Depth first.
    refused(vec![
        joint("a", NO_PARENT),
        joint("a1", 0),
        joint("a11", 1),
        joint("a2", 0),
    ])
    .says("joint 3: joint order: must be breadth first…");
    let mut broken = joint("b", 0);
    broken.rest.scale.x = f32::NAN;
    refused(vec![joint("a", NO_PARENT), broken]).says("joint 1: Joint::rest: is not finite");
    let mut long = joint("a", NO_PARENT);
    long.rest.rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 2.0);
    refused(vec![long]).says("…must have a rotation of length 1…");
    let many = vec![joint("a", NO_PARENT); Skeleton::MAX_JOINTS + 1];
    refused(many).says("…65535…");
}

#[test]
fn joints_in_any_order_are_sorted() {
    let mut rng = Rng::new(20);
    for _ in 0..200 {
        let count = 1 + rng.below(40);
        // A random tree in a random order.
        let mut place: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            place.swap(at, rng.below(at + 1));
        }
        let mut joints = vec![joint("", NO_PARENT); count];
        for at in 0..count {
            let name = format!("joint {at}");
            let parent = match at {
                0 => NO_PARENT,
                _ if rng.chance(6) => NO_PARENT,
                _ => place[rng.below(at)] as u16,
            };
            joints[place[at]] = joint(&name, parent);
        }
        let (skeleton, index_of) = Skeleton::sorted(joints.clone()).unwrap();
        assert_eq!(Skeleton::new(skeleton.joints().to_vec()).unwrap(), skeleton);
        for (given, index) in joints.iter().zip(&index_of) {
            let sorted = &skeleton.joints()[index.index()];
            assert_eq!((&given.name, given.rest), (&sorted.name, sorted.rest));
            let parent = given.parent.map(|parent| index_of[parent.index()]);
            assert_eq!(sorted.parent, parent);
        }
    }
    let circle = vec![joint("a", NO_PARENT), joint("b", 2), joint("c", 1)];
    Skeleton::sorted(circle).fails("joint 1: Joint::parent: makes the joint its own ancestor");
    let mut last = joint("a", 0);
    last.parent = Some(Id::new(u16::MAX));
    assert!(Skeleton::new(vec![joint("", NO_PARENT), last.clone()]).is_err());
    assert!(Skeleton::sorted(vec![last]).is_err());
    Skeleton::sorted(vec![joint("a", 7)]).fails("joint 0: parent 7 does not exist: there are 1");
}

#[test]
fn a_skeleton_alone_is_a_character() {
    let joints = vec![joint("a", NO_PARENT), joint("b", 0), joint("tip", 1)];
    let skeleton = Skeleton::new(joints).unwrap();
    let raw = RawCharacter::from_skeleton(&skeleton);
    let character = raw.build(&ImportOptions::default()).unwrap().character;
    assert_eq!(character.skeleton(), &skeleton);
    assert!(character.primitives().is_empty() && character.palette().is_empty());
    // Around the joints.
    assert_eq!(character.rest_bounds().max, Vec3::Y * 3.0);
    let nothing = RawCharacter::default().build(&ImportOptions::default());
    assert!(nothing.is_err());
}

/// Every triangle faces away from the middle, has its corners' normals in front, and the mesh is
/// closed: each edge is there once in each direction, by position.
fn assert_closed(mesh: &RawPrimitive) {
    let mut edges = std::collections::HashMap::new();
    let key = |v: u32| {
        let at = mesh.positions[v as usize] * 1e4;
        at.to_array().map(|c| c.round() as i64)
    };
    for corners in mesh.indices.chunks_exact(3) {
        let at = |corner: usize| mesh.positions[corners[corner] as usize];
        let normal = (at(1) - at(0)).cross(at(2) - at(0));
        assert!(normal.length() > 0.0, "{corners:?}");
        assert!(normal.dot(at(0) + at(1) + at(2)) > 0.0, "{corners:?}");
        for corner in 0..3 {
            assert!(mesh.normals[corners[corner] as usize].dot(normal) > 0.0);
            let (from, to) = (key(corners[corner]), key(corners[(corner + 1) % 3]));
            *edges.entry((from, to)).or_insert(0) += 1;
            *edges.entry((to, from)).or_insert(0) -= 1;
        }
    }
    assert!(edges.values().all(|count| *count == 0));
}

/// Tangents follow +u, and the bitangent leads up the texture, against v.
fn assert_tangents(mesh: &RawPrimitive) {
    for corners in mesh.indices.chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|corner| corners[corner] as usize);
        let (e1, e2) = (
            mesh.positions[b] - mesh.positions[a],
            mesh.positions[c] - mesh.positions[a],
        );
        let (d1, d2) = (mesh.uvs[b] - mesh.uvs[a], mesh.uvs[c] - mesh.uvs[a]);
        let area = d1.perp_dot(d2);
        assert!(area.abs() > 0.0, "{corners:?}");
        let (u, v) = (
            (e1 * d2.y - e2 * d1.y) / area,
            (e2 * d1.x - e1 * d2.x) / area,
        );
        let tangents = [a, b, c].map(|corner| mesh.tangents[corner]);
        let tangent = tangents.iter().map(|t| t.truncate()).sum::<Vec3>();
        let normal = [a, b, c].map(|corner| mesh.normals[corner]);
        let normal: Vec3 = normal.iter().sum();
        assert!(tangent.dot(u) > 0.0, "{corners:?}");
        assert!(normal.cross(tangent).dot(-v) * tangents[0].w > 0.0);
    }
}

#[test]
fn shapes_are_closed_and_face_outwards() {
    let size = Vec3::new(1.0, 2.0, 0.5);
    let red = Material::flat([0.8, 0.1, 0.1, 1.0]);
    for mesh in [
        RawPrimitive::cuboid(size),
        RawPrimitive::sphere(0.5, 2),
        RawPrimitive::sphere(0.5, 3),
        RawPrimitive::sphere(2.0, 16),
    ] {
        assert_closed(&mesh);
        assert_tangents(&mesh);
        let triangles = mesh.indices.len() / 3;
        let imported = mesh.build_rigid(red.clone()).unwrap();
        assert_eq!(imported.repairs, []);
        let character = imported.character;
        assert_eq!(character.skeleton().len(), 1);
        assert_eq!(character.materials(), std::slice::from_ref(&red));
        assert_eq!(character.primitives().len(), 1);
        assert_eq!(character.primitives()[0].indices.len(), triangles * 3);
    }
    let cuboid = RawPrimitive::cuboid(size).build_rigid(red.clone()).unwrap();
    assert_eq!(cuboid.rest_bounds().size(), size);
    let moved = RawPrimitive::cuboid(size)
        .translated(Vec3::X)
        .colored([0.5; 4]);
    let moved = moved.build_rigid(red).unwrap();
    assert_eq!(moved.rest_bounds().max, Vec3::X + size * 0.5);
    // Whatever is asked for, there is a sphere.
    assert_closed(&RawPrimitive::sphere(1.0, 0));
    assert_eq!(
        RawPrimitive::sphere(1.0, 100_000),
        RawPrimitive::sphere(1.0, 256)
    );
}

#[test]
fn range_errors_say_what_is_allowed() {
    use throng::error::ArgumentFault::OutOfRange;
    let said = |value, min, max| OutOfRange { value, min, max }.to_string();
    let most = f64::from(f32::MAX);
    said(-1.0, 0.0, most).says("-1 must be at least 0");
    said(-1.0, 0.0, f64::MAX).says("-1 must be at least 0");
    said(-1.0, 0.5, f64::INFINITY).says("-1 must be at least 0.5");
    assert_eq!(said(2.0, -most, 1.0), "2 must be at most 1");
    assert_eq!(said(2.0, 0.0, 1.0), "2 lies outside 0..=1");
    let least = f64::from(f32::MIN_POSITIVE);
    said(0.0, least, most).says("0 must be more than 0");
    said(0.0, least, 1e6).says("0 must be more than 0 and at most 1000000");
    said(3e38, 0.0, 1.0).says("3e38 lies outside 0..=1");
}
