//! Primitives: every triangle stays, and the parts follow few joints.

use super::made::{built, dressed, rags, tube};
use crate::reference::sweep::is_thorough;
use std::collections::BTreeSet;
use throng::Error;
use throng::character::Split;
use throng::mesh::{JointIndices, Primitive};

/// All data of a vertex as words.
///
/// `entry` returns the palette entry of the character for a joint index.
fn vertex_words(p: &Primitive, vertex: usize, entry: &impl Fn(usize) -> u32) -> Vec<u32> {
    let mut words = Vec::new();
    let mut floats = |values: &[f32]| words.extend(values.iter().map(|v| v.to_bits()));
    floats(&p.positions[vertex].to_array());
    p.normals.get(vertex).inspect(|v| floats(&v.to_array()));
    p.tangents.get(vertex).inspect(|v| floats(&v.to_array()));
    p.uvs.get(vertex).inspect(|v| floats(&v.to_array()));
    p.uvs1.get(vertex).inspect(|v| floats(&v.to_array()));
    p.colors.get(vertex).inspect(|v| floats(&v[..]));
    for target in &p.targets {
        if let Ok(at) = target.vertices.binary_search(&(vertex as u32)) {
            floats(&target.positions[at].to_array());
            target.normals.get(at).inspect(|v| floats(&v.to_array()));
            target.tangents.get(at).inspect(|v| floats(&v.to_array()));
        } else {
            floats(&[f32::NAN]);
        }
    }
    for (joint, weight) in p.influences(vertex) {
        words.extend([entry(joint), weight.to_bits()]);
    }
    words
}

/// All triangles as the data of their vertices, sorted.
fn triangles<'a>(parts: impl Iterator<Item = (&'a Primitive, Vec<u32>)>) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for (part, entries) in parts {
        let words: Vec<_> = (0..part.vertex_count())
            .map(|vertex| vertex_words(part, vertex, &|joint| entries[joint]))
            .collect();
        let triangle = |corners: &[u32]| {
            corners
                .iter()
                .flat_map(|v| words[*v as usize].clone())
                .collect()
        };
        all.extend(part.indices.chunks(3).map(triangle));
    }
    all.sort_unstable();
    all
}

fn joints_used(p: &Primitive) -> BTreeSet<usize> {
    let of = |vertex: &u32| p.influences(*vertex as usize).filter(|i| i.1 > 0.0);
    p.indices.iter().flat_map(of).map(|i| i.0).collect()
}

/// The number of parts that a cut in index order makes, and of entries repeated in them.
fn in_index_order(p: &Primitive, max: usize) -> (usize, usize) {
    let of = |vertex: &u32| p.influences(*vertex as usize).filter(|i| i.1 > 0.0);
    let (mut parts, mut listed, mut part) = (1, 0, BTreeSet::new());
    for corners in p.indices.chunks(3) {
        let joints: BTreeSet<usize> = corners.iter().flat_map(of).map(|i| i.0).collect();
        if part.union(&joints).count() > max {
            (parts, listed) = (parts + 1, listed + part.len());
            part.clear();
        }
        part.extend(joints);
    }
    (parts, listed + part.len() - joints_used(p).len())
}

/// A primitive before it is split, with its triangles.
pub(super) struct Whole<'a> {
    primitive: &'a Primitive,
    triangles: Vec<Vec<u32>>,
}

impl<'a> Whole<'a> {
    pub(super) fn new(primitive: &'a Primitive) -> Self {
        let all = (primitive.palette.start..primitive.palette.end).collect();
        Self {
            primitive,
            triangles: triangles([(primitive, all)].into_iter()),
        }
    }
}

/// Splits, and compares the parts with the whole.
pub(super) fn check(name: &str, whole: &Whole<'_>, max: usize) -> Split {
    let all = &whole.triangles;
    let whole = whole.primitive;
    let split = whole.split(max).unwrap();
    assert_eq!(
        split,
        whole.split(max).unwrap(),
        "{name}: the same split twice"
    );
    assert_eq!(split.parts.len(), split.vertices.len());
    let parts = split.parts.iter().map(|part| {
        let range = part.palette.start as usize..part.palette.end as usize;
        (part, split.palette[range].to_vec())
    });
    assert!(triangles(parts) == *all, "{name}: triangles differ");
    let mut in_ranges = BTreeSet::new();
    for (part, vertices) in split.parts.iter().zip(&split.vertices) {
        assert!(part.palette.len() <= max, "{name}: {:?}", part.palette);
        assert_eq!(
            joints_used(part).len(),
            joints_used(part).range(..part.palette.len()).count()
        );
        let narrow = matches!(part.joints, JointIndices::U8(_));
        assert_eq!(narrow, part.palette.len() <= 256);
        assert_eq!(
            (&part.name, part.material, part.first_weight),
            (&whole.name, whole.material, whole.first_weight)
        );
        assert!(
            vertices.is_sorted_by(|a, b| a < b),
            "{name}: a vertex twice, or out of order"
        );
        let positions = vertices.iter().map(|v| whole.positions[*v as usize]);
        assert!(positions.eq(part.positions.iter().copied()));
        in_ranges.extend(part.palette.clone());
    }
    assert_eq!(
        in_ranges.len(),
        split.palette.len(),
        "{name}: an unused entry"
    );
    let distinct: BTreeSet<u32> = split.palette.iter().copied().collect();
    assert_eq!(split.repeats, split.palette.len() - distinct.len());
    assert_eq!(distinct.len(), joints_used(whole).len());
    let (parts, listed) = in_index_order(whole, max);
    println!(
        "{name:28} max {max:3}: {:4} parts, {:5} repeats; in index order {parts:4} parts, \
         {listed:5} repeats; {} joints, {} triangles",
        split.parts.len(),
        split.repeats,
        distinct.len(),
        whole.indices.len() / 3
    );
    assert!(
        split.parts.len() <= parts,
        "{name}: more parts than in index order"
    );
    assert!(split.parts.len() >= distinct.len().div_ceil(max), "{name}");
    split
}

#[test]
fn generated_meshes_split() {
    let joints = [24, 300, 700];
    for joints in joints.into_iter().take(if is_thorough() { 3 } else { 2 }) {
        for (name, raw) in [
            ("tube", tube(joints, 2, 8, None)),
            ("ragged tube", tube(joints, 3, 6, Some(9))),
            ("rags", rags(joints, 500)),
            ("few rags", rags(joints, 7)),
        ] {
            let imported = built(joints, vec![raw], None);
            let primitive = dressed(imported.primitives()[0].clone());
            let whole = Whole::new(&primitive);
            for max in [12, 16, 24, 64, 256, 1000] {
                let name = format!("{name} of {joints}");
                match primitive.split(max) {
                    Err(Error::TriangleJoints {
                        joints,
                        cap,
                        triangle,
                        ..
                    }) => {
                        let corners = &primitive.indices[triangle * 3..triangle * 3 + 3];
                        let of = |v: &u32| primitive.influences(*v as usize).filter(|i| i.1 > 0.0);
                        let used: BTreeSet<_> = corners.iter().flat_map(of).map(|i| i.0).collect();
                        assert_eq!((joints, cap), (used.len(), max));
                        assert!(joints > max, "{name}");
                    }
                    Err(error) => panic!("{error}"),
                    Ok(_) => drop(check(&name, &whole, max)),
                }
            }
        }
    }
}

/// The ranges of a tube share their ends, so no cut repeats anything.
#[test]
fn neighbours_share_the_ends_of_their_ranges() {
    let imported = built(700, vec![tube(700, 2, 8, None)], None);
    let whole = Whole::new(&imported.primitives()[0]);
    for max in [16, 64, 256] {
        let split = check("tube", &whole, max);
        assert_eq!(split.repeats, 0, "{max}");
    }
}

/// A hundred thousand triangles are cut into a hundred parts.
///
/// The crate limits the number of steps. The test shows that the limit allows this.
#[test]
fn large_meshes_split() {
    let imported = built(2000, vec![tube(2000, 3, 10, Some(6))], None);
    let whole = &imported.primitives()[0];
    assert!(whole.indices.len() / 3 > 100_000);
    check("large", &Whole::new(whole), 32);
    // Every triangle follows joints of its own, and one joint that all share.
    let mut star = rags(60_000, 60_000);
    star.joints
        .iter_mut()
        .step_by(2)
        .for_each(|joint| *joint = 0);
    let imported = built(60_000, vec![star], None);
    let split = imported.primitives()[0].split(4).unwrap();
    assert!(split.parts.iter().all(|part| part.palette.len() <= 4));
    let indices: usize = split.parts.iter().map(|part| part.indices.len()).sum();
    assert_eq!(indices, 180_000);
}

#[test]
fn what_fits_is_one_part() {
    let imported = built(24, vec![tube(24, 1, 5, None)], 1);
    let whole = &imported.primitives()[0];
    let split = whole.split(24).unwrap();
    assert_eq!((split.parts.len(), split.repeats), (1, 0));
    assert_eq!(split.parts[0], *whole);
    assert_eq!(split.palette, (0..24).collect::<Vec<_>>());
}

#[test]
fn a_triangle_of_too_many_joints_is_named() {
    let mut raw = tube(24, 1, 5, None);
    let last = raw.weights.len() - 4;
    raw.weights.truncate(last);
    raw.weights.extend([0.25; 4]);
    raw.joints.truncate(last);
    raw.joints.extend([0, 5, 10, 15]);
    let imported = built(24, vec![raw], 1);
    let error = imported.primitives()[0].split(3).unwrap_err();
    let Error::TriangleJoints {
        primitive,
        joints,
        cap,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((&**primitive, *cap), ("tube", 3));
    assert!(*joints > 3);
    assert!(
        error
            .to_string()
            .ends_with(&format!("follows {joints} joints, at most 3 are allowed")),
        "{error}"
    );
    assert!(matches!(
        imported.split(3),
        Err(Error::TriangleJoints { .. })
    ));
    assert!(matches!(
        imported.primitives()[0].split(0),
        Err(Error::Argument { .. })
    ));
    assert!(matches!(imported.split(0), Err(Error::Argument { .. })));
}

/// Primitives have public fields, so contradictions are refused.
#[test]
fn broken_primitives_are_refused() {
    let imported = built(24, vec![tube(24, 1, 5, None)], 1);
    let whole = dressed(imported.primitives()[0].clone());
    let breaks: [fn(&mut Primitive); 10] = [
        |p| p.indices[4] = 1000,
        |p| assert!(p.indices.pop().is_some()),
        |p| assert!(p.normals.pop().is_some()),
        |p| assert!(p.weights.pop().is_some()),
        |p| p.influences_per_vertex = 0,
        |p| p.influences_per_vertex = u32::MAX,
        |p| p.joints = JointIndices::U16(vec![24; p.joints.len()]),
        |p| p.palette = 0..u32::MAX,
        |p| p.targets[0].vertices[0] = 1000,
        |p| assert!(p.targets[1].normals.pop().is_some()),
    ];
    for (number, damage) in breaks.into_iter().enumerate() {
        let mut broken = whole.clone();
        damage(&mut broken);
        assert!(broken.split(8).is_err(), "{number}");
    }
    let mut flipped = whole;
    flipped.palette = std::ops::Range { start: 9, end: 3 };
    assert!(flipped.split(8).is_err());
}
