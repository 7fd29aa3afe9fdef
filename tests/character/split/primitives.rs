//! Primitives: every triangle stays, and the pieces follow few joints.

use super::made::{built, dressed, rags, tube};
use crate::reference::sweep::is_thorough;
use std::collections::BTreeSet;
use throng::Error;
use throng::character::Character;
use throng::mesh::{JointIndices, Primitive};

/// All data of a vertex as words, with the joints and inverse bind matrices that it follows.
fn vertex_words(character: &Character, p: &Primitive, vertex: usize) -> Vec<u32> {
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
        let entry = &character.palette()[character.palette_range(p)][joint];
        words.extend([u32::from(entry.joint.0), weight.to_bits()]);
        words.extend(entry.inverse_bind.to_cols_array().map(f32::to_bits));
    }
    words
}

/// All triangles as the data of their vertices, sorted.
fn triangles<'a>(
    character: &Character,
    pieces: impl Iterator<Item = &'a Primitive>,
) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for piece in pieces {
        let words: Vec<_> = (0..piece.vertex_count())
            .map(|vertex| vertex_words(character, piece, vertex))
            .collect();
        let triangle = |corners: &[u32]| {
            corners
                .iter()
                .flat_map(|v| words[*v as usize].clone())
                .collect()
        };
        all.extend(piece.indices.chunks(3).map(triangle));
    }
    all.sort_unstable();
    all
}

fn joints_used(p: &Primitive) -> BTreeSet<usize> {
    let of = |vertex: &u32| p.influences(*vertex as usize).filter(|i| i.1 > 0.0);
    p.indices.iter().flat_map(of).map(|i| i.0).collect()
}

/// The number of pieces that a cut in index order makes, and of entries repeated in them.
fn in_index_order(p: &Primitive, max: usize) -> (usize, usize) {
    let of = |vertex: &u32| p.influences(*vertex as usize).filter(|i| i.1 > 0.0);
    let (mut pieces, mut listed, mut piece) = (1, 0, BTreeSet::new());
    for corners in p.indices.chunks(3) {
        let joints: BTreeSet<usize> = corners.iter().flat_map(of).map(|i| i.0).collect();
        if piece.union(&joints).count() > max {
            (pieces, listed) = (pieces + 1, listed + piece.len());
            piece.clear();
        }
        piece.extend(joints);
    }
    (pieces, listed + piece.len() - joints_used(p).len())
}

/// A character before it is split, with the triangles of each primitive.
pub(super) struct Whole<'a> {
    character: &'a Character,
    triangles: Vec<Vec<Vec<u32>>>,
}

impl<'a> Whole<'a> {
    pub(super) fn new(character: &'a Character) -> Self {
        let primitives = character.primitives().iter();
        Self {
            character,
            triangles: primitives
                .map(|p| triangles(character, [p].into_iter()))
                .collect(),
        }
    }
}

/// Splits, and compares the pieces with the whole.
pub(super) fn check(name: &str, whole: &Whole<'_>, max: usize) -> Character {
    let (split, origins) = whole.character.split(max).unwrap();
    let again = whole.character.split(max).unwrap();
    assert!(
        again == (split.clone(), origins.clone()),
        "{name}: the same split twice"
    );
    for (number, own) in whole.character.primitives().iter().enumerate() {
        let pieces = split.primitives().iter().zip(&origins);
        let pieces = pieces.filter(|(_, origin)| **origin == number);
        let pieces: Vec<&Primitive> = pieces.map(|(piece, _)| piece).collect();
        let after = triangles(&split, pieces.iter().copied());
        assert!(after == whole.triangles[number], "{name}: triangles differ");
        for piece in &pieces {
            assert!(piece.palette.len() <= max, "{name}: {:?}", piece.palette);
            let narrow = matches!(piece.joints, JointIndices::U8(_));
            assert_eq!(narrow, piece.palette.len() <= 256);
            assert_eq!(
                (&piece.name, piece.material, piece.first_weight),
                (&own.name, own.material, own.first_weight)
            );
        }
        let (most, listed) = in_index_order(own, max);
        let used = joints_used(own).len();
        println!(
            "{name:28} max {max:3}: {:4} pieces; in index order {most:4} pieces, {listed:5} \
             repeats; {used} joints, {} triangles",
            pieces.len(),
            own.indices.len() / 3
        );
        assert!(
            pieces.len() <= most,
            "{name}: more pieces than in index order"
        );
        assert!(pieces.len() >= used.div_ceil(max), "{name}");
    }
    assert_eq!(split.primitives().len(), origins.len(), "{name}");
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
            let imported = built(joints, vec![dressed(raw)]);
            let primitive = &imported.primitives()[0];
            let whole = Whole::new(&imported);
            for max in [12, 16, 24, 64, 256, 1000] {
                let name = format!("{name} of {joints}");
                match imported.split(max) {
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
    let imported = built(700, vec![tube(700, 2, 8, None)]);
    let whole = Whole::new(&imported);
    for max in [16, 64, 256] {
        let split = check("tube", &whole, max);
        assert_eq!(split.palette().len(), imported.palette().len(), "{max}");
    }
}

/// A hundred thousand triangles are cut into a hundred pieces.
///
/// The crate limits the number of steps. The test shows that the limit allows this.
#[test]
fn large_meshes_split() {
    let imported = built(2000, vec![tube(2000, 3, 10, Some(6))]);
    assert!(imported.triangle_count() > 100_000);
    check("large", &Whole::new(&imported), 32);
    // Every triangle follows joints of its own, and one joint that all share.
    let count = if is_thorough() { 60_000 } else { 20_000 };
    let mut star = rags(count, count);
    star.joints
        .iter_mut()
        .step_by(2)
        .for_each(|joint| *joint = 0);
    let (split, _) = built(count, vec![star]).split(4).unwrap();
    assert!(
        split
            .primitives()
            .iter()
            .all(|piece| piece.palette.len() <= 4)
    );
    assert_eq!(split.triangle_count(), count);
}

#[test]
fn what_fits_is_one_part() {
    let imported = built(24, vec![tube(24, 1, 5, None)]);
    let (split, origins) = imported.split(24).unwrap();
    assert_eq!(origins, [0]);
    assert_eq!(split, imported.character);
}

#[test]
fn a_triangle_of_too_many_joints_is_named() {
    let mut raw = tube(24, 1, 5, None);
    let last = raw.weights.len() - 4;
    raw.weights.truncate(last);
    raw.weights.extend([0.25; 4]);
    raw.joints.truncate(last);
    raw.joints.extend([0, 5, 10, 15]);
    let imported = built(24, vec![raw]);
    let error = imported.split(3).unwrap_err();
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
    assert!(matches!(imported.split(0), Err(Error::Argument { .. })));
}
