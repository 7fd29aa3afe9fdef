//! Compares a scene with the crate's `Character`.
//!
//! It compares skinning matrices, positions, normals and bounds at every vertex, at many times of
//! every clip.
//!
//! - Joints are paired by the documented order of the skeleton: the required nodes (joints of used
//!   skins, nodes that carry a rigid part, all ancestors), breadth first.
//! - Vertices are paired by the triangle lists, which run in the file's order if the character was
//!   imported with [`in_file_order`]. The crate may have merged vertices, and must have flipped the
//!   triangles that the rest pose flips.

use super::maths::{IDENTITY, M4, V3, angle, distance, mul, point};
use super::poser::Poser;
use super::scene::{Part, Path, Scene};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::MaybeUninit;
use throng::character::Character;
use throng::glam::Affine3A;
use throng::import::ImportOptions;
use throng::mesh::Primitive;
use throng::palette::{Mat3x4, WriteOnly};
use throng::skin::PosedVertices;

/// The largest differences that were found.
///
/// Lengths are fractions of the model's size, which is the largest edge of the box around the mesh
/// at rest.
#[derive(Debug, Clone, Default)]
pub struct Worst {
    /// Between the images of a vertex under a skinning matrix and under the reference's.
    pub matrix: f64,
    /// Between skinned positions. The reference blends with the file's own weights.
    pub position: f64,
    /// Between skinned normals, in radians, if the blended matrix is far from flat.
    pub normal: f64,
    /// Between morph weights.
    pub weight: f64,
    /// The clip and time of the worst matrix.
    pub at: Option<(usize, f64)>,
    pub poses: usize,
    pub vertices: usize,
    /// Number of triangles that the rest pose flips.
    pub turned: usize,
}

/// A drawable part, paired with its primitive.
pub struct Pairing<'a> {
    pub part: &'a Part,
    pub primitive: &'a Primitive,
    /// Pairs of (the scene's vertex, the primitive's vertex).
    pub vertices: Vec<(usize, usize)>,
    /// The node and the inverse bind matrix of each palette entry that the primitive uses.
    pub entries: BTreeMap<usize, (usize, M4)>,
    /// Number of triangles whose winding is flipped relative to the file.
    pub turned: usize,
}

/// Options for a character whose triangles are compared with those of a file, one by one.
pub fn in_file_order() -> ImportOptions {
    ImportOptions {
        keep_order: true,
        share_binds: false,
        ..ImportOptions::curves_only()
    }
}

/// Compares everything. Panics if the two differ in structure.
pub fn compare(scene: &Scene, character: &Character) -> Worst {
    let nodes = joint_nodes(scene);
    check_skeleton(scene, character, &nodes);
    let size = scene.size();
    assert_eq!(
        character.primitives().len(),
        scene.parts.len(),
        "primitives"
    );
    let parts = scene.parts.iter().zip(character.primitives());
    let pairings: Vec<Pairing> = parts
        .map(|(part, primitive)| {
            let flipped = flipped(scene, part);
            pair(scene, character, &nodes, part, primitive, size, &flipped)
        })
        .collect();
    let mut worst = Worst {
        vertices: pairings.iter().map(|p| p.vertices.len()).sum(),
        turned: pairings.iter().map(|p| p.turned).sum(),
        ..Worst::default()
    };
    check_rest_bounds(scene, character, size);
    assert_eq!(character.curves().len(), scene.clips.len(), "clips");
    pose(scene, character, &pairings, None, size, &mut worst);
    for (index, clip) in scene.clips.iter().enumerate() {
        assert_eq!(character.curves()[index].name(), clip.name);
        for time in clip.times() {
            pose(
                scene,
                character,
                &pairings,
                Some((index, time)),
                size,
                &mut worst,
            );
        }
    }
    worst
}

/// For each part, the pairs of (the scene's vertex, the primitive's vertex).
///
/// The triangles may be flipped.
pub fn vertex_pairs(scene: &Scene, character: &Character) -> Vec<Vec<(usize, usize)>> {
    let pairings = pairings(scene, character).into_iter();
    pairings.map(|pairing| pairing.vertices).collect()
}

/// All parts with their primitives.
pub fn pairings<'a>(scene: &'a Scene, character: &'a Character) -> Vec<Pairing<'a>> {
    let (nodes, size) = (joint_nodes(scene), scene.size());
    let parts = scene.parts.iter().zip(character.primitives());
    parts
        .map(|(part, primitive)| {
            let unknown = vec![None; part.positions.len()];
            pair(scene, character, &nodes, part, primitive, size, &unknown)
        })
        .collect()
}

/// The node of each joint: those that draw, named or animated ones below them, and all above.
pub fn joint_nodes(scene: &Scene) -> Vec<usize> {
    let parent = |node: &usize| scene.nodes[*node].parent;
    let above = |node: usize| std::iter::successors(parent(&node), parent);
    let mut draws = BTreeSet::new();
    for part in &scene.parts {
        match part.skin {
            Some(skin) => draws.extend(&scene.skins[skin].joints),
            None => draws.extend([part.node]),
        }
    }
    let mut needed: BTreeSet<usize> = draws.clone();
    needed.extend(draws.iter().flat_map(|node| above(*node)));
    let channels = scene.clips.iter().flat_map(|clip| &clip.channels);
    let moving = channels.filter(|channel| channel.path != Path::Weights);
    let animated: BTreeSet<usize> = moving.map(|channel| channel.node).collect();
    let carries = |node: usize| scene.parts.iter().any(|part| part.node == node);
    let carries_joints =
        |node: &usize| draws.contains(node) || (needed.contains(node) && animated.contains(node));
    let has_use = |node: &usize| {
        let is_named = !scene.nodes[*node].name.is_empty();
        (is_named || animated.contains(node)) && !carries(*node)
    };
    let unseen = (0..scene.nodes.len()).filter(has_use);
    let unseen = unseen.filter(|node| above(*node).any(|above| carries_joints(&above)));
    let unseen: Vec<usize> = unseen.collect();
    needed.extend(unseen.iter().flat_map(|node| above(*node).chain([*node])));
    let children = |of: Option<usize>| {
        let needed = needed.iter().copied();
        needed.filter(move |node| scene.nodes[*node].parent == of)
    };
    let mut order: Vec<usize> = children(None).collect();
    let mut at = 0;
    while at < order.len() {
        order.extend(children(Some(order[at])));
        at += 1;
    }
    order
}

fn check_skeleton(scene: &Scene, character: &Character, nodes: &[usize]) {
    let joints = character.skeleton().joints();
    assert_eq!(joints.len(), nodes.len(), "joints");
    for (joint, node) in joints.iter().zip(nodes) {
        let node = &scene.nodes[*node];
        assert_eq!(*joint.name, *node.name);
        let parent = joint.parent.map(|parent| nodes[parent.index()]);
        assert_eq!(parent, node.parent, "parent of {}", node.name);
    }
}

fn pair<'a>(
    scene: &Scene,
    character: &Character,
    nodes: &[usize],
    part: &'a Part,
    primitive: &'a Primitive,
    size: f64,
    flipped: &[Option<bool>],
) -> Pairing<'a> {
    let name = &primitive.name;
    let (triangles, rest) = primitive.indices.as_chunks::<3>();
    assert!(rest.is_empty(), "{name}");
    assert_eq!(triangles.len(), part.triangles.len(), "{name}: triangles");
    let limit = 1e-6 * (size + bound(&part.positions));
    let same = |corners: &[usize; 3], triangle: &[u32; 3]| {
        let pairs = corners.iter().zip(triangle);
        pairs.fold(true, |same, (ours, theirs)| {
            let theirs = primitive.positions[*theirs as usize]
                .to_array()
                .map(f64::from);
            same && distance(part.positions[*ours], theirs) <= limit
        })
    };
    let mut turned = 0;
    let mut vertices = BTreeSet::new();
    for (number, (corners, triangle)) in part.triangles.iter().zip(triangles).enumerate() {
        let straight = *triangle;
        let over = [triangle[0], triangle[2], triangle[1]];
        let votes = |side| {
            corners
                .iter()
                .filter(|v| flipped[**v] == Some(side))
                .count()
        };
        // If flat matrices leave the sign to rounding, either winding is accepted.
        let is_over = match (votes(true), votes(false)) {
            (2.., _) => true,
            (_, 2..) => false,
            _ => !same(corners, &straight),
        };
        let triangle = if is_over { over } else { straight };
        assert!(
            same(corners, &triangle),
            "{name}: triangle {number} is another"
        );
        turned += usize::from(is_over);
        vertices.extend((0..3).map(|k| (corners[k], triangle[k] as usize)));
    }
    let start = character.palette_range(primitive).start;
    let used = vertices
        .iter()
        .flat_map(|(_, vertex)| primitive.influences(*vertex));
    let used: BTreeSet<usize> = used.map(|(joint, _)| start + joint).collect();
    let entries = used.into_iter().map(|entry| {
        let joint = &character.palette()[entry];
        let node = nodes[usize::from(joint.joint)];
        (
            entry,
            (
                node,
                inverse_bind(scene, part, node, &wide(&joint.inverse_bind)),
            ),
        )
    });
    Pairing {
        part,
        primitive,
        entries: entries.collect(),
        vertices: vertices.into_iter().collect(),
        turned,
    }
}

/// Returns true for each vertex that the rest pose flips.
///
/// It is `None` if the matrix is too flat to decide.
fn flipped(scene: &Scene, part: &Part) -> Vec<Option<bool>> {
    let matrices = scene.blended(part, &scene.globals(None));
    matrices.iter().map(side).collect()
}

/// Returns true if a matrix flips, or `None` if it is too flat to decide.
fn side(m: &M4) -> Option<bool> {
    let axis = |c: usize| [m[0][c], m[1][c], m[2][c]];
    let length = |v: V3| distance(v, [0.0; 3]);
    let [x, y, z] = [axis(0), axis(1), axis(2)];
    let cross = [
        x[1] * y[2] - x[2] * y[1],
        x[2] * y[0] - x[0] * y[2],
        x[0] * y[1] - x[1] * y[0],
    ];
    let determinant: f64 = (0..3).map(|k| cross[k] * z[k]).sum();
    let is_clear = determinant.abs() > 1e-4 * length(x) * length(y) * length(z);
    is_clear.then_some(determinant < 0.0)
}

/// The part's own inverse bind matrix for `node` that is nearest to the crate's.
fn inverse_bind(scene: &Scene, part: &Part, node: usize, ours: &M4) -> M4 {
    let Some(skin) = part.skin.map(|skin| &scene.skins[skin]) else {
        assert_eq!(node, part.node, "a rigid part follows its own node");
        assert_eq!(*ours, IDENTITY);
        return IDENTITY;
    };
    let joints = (0..skin.joints.len()).filter(|index| skin.joints[*index] == node);
    let difference = |m: &M4| {
        let pairs = m.iter().flatten().zip(ours.iter().flatten());
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let nearest = joints.map(|index| skin.inverse_bind[index]);
    let nearest = nearest.min_by(|a, b| difference(a).total_cmp(&difference(b)));
    nearest.expect("a palette entry's joint is one of the skin's")
}

fn bound(positions: &[V3]) -> f64 {
    positions
        .iter()
        .flatten()
        .fold(0.0, |max, v| v.abs().max(max))
}

fn wide(affine: &Affine3A) -> M4 {
    let [x, y, z, t] = affine.to_cols_array_2d();
    let mut out = IDENTITY;
    for row in 0..3 {
        out[row] = [x[row], y[row], z[row], t[row]].map(f64::from);
    }
    out
}

fn wide_entry(entry: &Mat3x4) -> M4 {
    let mut out = IDENTITY;
    for (wide, row) in out.iter_mut().zip(&entry.rows) {
        *wide = row.map(f64::from);
    }
    out
}

fn check_rest_bounds(scene: &Scene, character: &Character, size: f64) {
    let edges = character.rest_bounds().size().to_array().map(f64::from);
    let largest = edges.into_iter().fold(0.0, f64::max);
    assert!(
        (largest - size).abs() <= 1e-4 * size || scene.parts.is_empty(),
        "the rest bounds' largest edge is {largest}, the reference's {size}"
    );
}

/// Compares one pose.
fn pose(
    scene: &Scene,
    character: &Character,
    pairings: &[Pairing],
    clip: Option<(usize, f64)>,
    size: f64,
    worst: &mut Worst,
) {
    let globals = scene.globals(clip);
    let (palette, weights) = palette(character, clip);
    let theirs = scene.weights(clip);
    worst.weight = maximum(
        worst.weight,
        weight_error(scene, character, &weights, &theirs),
    );
    let bounds = character.posed_bounds(&palette, Some(&weights)).unwrap();
    let mut posed = PosedVertices::default();
    for pairing in pairings {
        let part = &scene.morphed(pairing.part, &theirs);
        character
            .skin_primitive(pairing.primitive, &palette, &weights, &mut posed)
            .unwrap();
        for position in &posed.positions {
            let inside = position.cmpge(bounds.min).all() && position.cmple(bounds.max).all();
            assert!(inside, "{position} lies outside {bounds:?} at {clip:?}");
        }
        let error = matrix_error(pairing, character, &palette, &globals) / size;
        if error > worst.matrix {
            (worst.matrix, worst.at) = (error, clip);
        }
        let (positions, normals) = scene.posed(part, &globals);
        assert_eq!(posed.normals.is_empty(), part.normals.is_empty());
        for (theirs, ours) in &pairing.vertices {
            let position = posed.positions[*ours].to_array().map(f64::from);
            worst.position = maximum(
                worst.position,
                distance(position, positions[*theirs]) / size,
            );
            if let (Some(normal), Some(Some(expected))) =
                (posed.normals.get(*ours), normals.get(*theirs))
            {
                let normal = normal.to_array().map(f64::from);
                worst.normal = maximum(worst.normal, angle(normal, *expected));
            }
        }
    }
    worst.poses += 1;
}

/// The larger value. A value that is not a number counts as infinitely large.
fn maximum(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

/// The largest difference between two weights.
///
/// The character has only the weights that drive drawn parts, in order.
fn weight_error(scene: &Scene, character: &Character, ours: &[f32], theirs: &[Vec<f64>]) -> f64 {
    let drawn = |morph: &usize| scene.parts.iter().any(|p| p.morph == Some(*morph));
    let drawn: Vec<usize> = (0..scene.morphs.len()).filter(drawn).collect();
    let listed = drawn.iter().flat_map(|m| {
        let morph = &scene.morphs[*m];
        (0..morph.rest.len()).map(move |at| (&morph.rest, morph.names.get(at), at))
    });
    let listed: Vec<_> = listed.collect();
    assert_eq!(character.morph_weights().len(), listed.len(), "weights");
    for (weight, (rest, name, at)) in character.morph_weights().iter().zip(listed) {
        assert_eq!(f64::from(weight.rest), rest[at]);
        assert_eq!(&*weight.name, name.map_or("", String::as_str));
    }
    let theirs = drawn.iter().flat_map(|morph| &theirs[*morph]);
    let pairs = ours.iter().zip(theirs);
    pairs.fold(0.0, |worst, (a, b)| {
        maximum(worst, (f64::from(*a) - b).abs())
    })
}

/// The palette and the morph weights.
fn palette(character: &Character, clip: Option<(usize, f64)>) -> (Vec<Mat3x4>, Vec<f32>) {
    let mut memory = vec![MaybeUninit::uninit(); character.palette().len()];
    let mut poser = Poser::new();
    poser
        .palette(character, clip, WriteOnly::new(&mut memory))
        .unwrap();
    // SAFETY: the palette stage returned without an error, so it has written every element.
    let palette = memory
        .into_iter()
        .map(|entry| unsafe { entry.assume_init() });
    (palette.collect(), poser.weights().to_vec())
}

fn matrix_error(
    pairing: &Pairing,
    character: &Character,
    palette: &[Mat3x4],
    globals: &[M4],
) -> f64 {
    let start = character.palette_range(pairing.primitive).start;
    let matrices: BTreeMap<usize, (M4, M4)> = pairing
        .entries
        .iter()
        .map(|(entry, (node, inverse_bind))| {
            (
                *entry,
                (
                    wide_entry(&palette[*entry]),
                    mul(&globals[*node], inverse_bind),
                ),
            )
        })
        .collect();
    for (entry, (_, expected)) in &matrices {
        let joint = &character.palette()[*entry];
        let flipped = side(expected).is_some_and(|side| side != joint.flipped);
        assert!(!flipped || joint.may_flip, "palette entry {entry} flips");
    }
    let mut worst = 0.0;
    for (theirs, ours) in &pairing.vertices {
        for (joint, weight) in pairing.primitive.influences(*ours) {
            if weight > 0.0 {
                let (got, expected) = &matrices[&(start + joint)];
                let vertex = pairing.part.positions[*theirs];
                worst = maximum(worst, distance(point(got, vertex), point(expected, vertex)));
            }
        }
    }
    worst
}
