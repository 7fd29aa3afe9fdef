//! Parts of other characters on one skeleton.

mod binds;
mod knight;
mod misfits;
mod rest;

use crate::reference::raws::{node, skin};
use crate::reference::ribbon::{rest_palette, ribbon};
use throng::character::Character;
use throng::glam::{Affine3A, Mat4, Vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::mesh::{Material, Primitive};
use throng::outfit::{OutfitOptions, OutfitReport};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Transform;
use throng::skin::PosedVertices;

const JOINTS: usize = 5;
/// Poses in which garments are compared: the rest pose, and times of both clips.
const MOMENTS: [Option<(usize, f64)>; 4] = [None, Some((0, 0.25)), Some((0, 0.5)), Some((1, 0.4))];

/// A ribbon of two parts, front and back.
fn body() -> RawCharacter {
    let mut raw = ribbon(JOINTS);
    for (primitive, part) in raw.primitives.iter_mut().zip(["front", "back"]) {
        primitive.part = part.into();
        primitive.name = part.into();
    }
    raw
}

/// Another file with the skeleton of the ribbon: a cloak around its back.
fn cloak() -> RawCharacter {
    let mut raw = body();
    raw.name = "cloak".into();
    raw.animations.clear();
    raw.primitives.remove(0);
    let cloak = &mut raw.primitives[0];
    (cloak.name, cloak.part) = ("cloak".into(), "cloak".into());
    for position in &mut cloak.positions {
        *position = Vec3::new(1.3 * position.x, position.y + 0.1, position.z - 0.2);
    }
    raw.materials[1] = Material::flat([0.2, 0.7, 0.1, 1.0]);
    raw
}

/// Curves alone, so that clips are the same whatever is drawn.
fn built(raw: &RawCharacter) -> Character {
    let built = raw.clone().build(&ImportOptions::curves_only());
    built.unwrap().character
}

/// The body and the cloak as one file.
fn together() -> Character {
    let (mut raw, mut cloak) = (body(), cloak());
    cloak.primitives[0].material = Some(raw.materials.len());
    raw.materials.extend(cloak.materials.pop());
    raw.primitives.extend(cloak.primitives);
    built(&raw)
}

/// The palette of the file's curves at a moment. Packed clips depend on what is drawn.
fn palette(character: &Character, moment: Option<(usize, f64)>) -> Vec<Mat3x4> {
    let Some((clip, time_s)) = moment else {
        return rest_palette(character);
    };
    let skeleton = character.skeleton();
    let mut local = skeleton.rest_pose();
    character.curves()[clip].sample(time_s, &mut local).unwrap();
    let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
    skeleton.model_pose(&local, &mut model).unwrap();
    let mut out = vec![Mat3x4::IDENTITY; character.palette().len()];
    let written = character.write_palette(&model, WriteOnly::from(&mut out));
    written.unwrap();
    out
}

fn dressed(other: &RawCharacter, options: &OutfitOptions) -> (Character, OutfitReport) {
    let dressed = built(&body()).with_parts_of(&built(other), options);
    dressed.unwrap()
}

fn named<'a>(character: &'a Character, part: &str) -> Vec<&'a Primitive> {
    let all = character.primitives().iter();
    all.filter(|one| &*one.part == part).collect()
}

/// The posed vertices of a part.
fn posed(character: &Character, part: &str, moment: Option<(usize, f64)>) -> Vec<PosedVertices> {
    let palette = palette(character, moment);
    let weights: Vec<f32> = character
        .morph_weights()
        .iter()
        .map(|one| one.rest)
        .collect();
    let posed = named(character, part).into_iter().map(|primitive| {
        let mut out = PosedVertices::default();
        let done = character.skin_primitive(primitive, &palette, &weights, &mut out);
        done.unwrap();
        out
    });
    posed.collect()
}

/// The largest distance between vertices of a part of two characters, over all moments.
fn apart(a: &Character, b: &Character, part: &str) -> f32 {
    let mut most = 0.0_f32;
    for moment in MOMENTS {
        let (a, b) = (posed(a, part, moment), posed(b, part, moment));
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            assert_eq!(a.positions.len(), b.positions.len());
            let pairs = a.positions.iter().zip(&b.positions);
            most = pairs.fold(most, |most, (a, b)| most.max(a.distance(*b)));
            for (a, b) in a.normals.iter().zip(&b.normals) {
                assert!(a.distance(*b) <= 1e-5, "{moment:?}: {a} {b}");
            }
        }
    }
    most
}

/// Every entry is used, occurs once, and lies in the ranges of what uses it.
fn check_palette(character: &Character) {
    let palette = character.palette();
    let mut used = vec![false; palette.len()];
    for primitive in character.primitives() {
        for vertex in 0..primitive.vertex_count() {
            for (joint, _) in primitive.influences(vertex) {
                let range = character.palette_range(primitive);
                assert!(joint < range.len());
                used[range.start + joint] = true;
            }
        }
    }
    assert!(used.iter().all(|used| *used), "{used:?}");
    for (at, entry) in palette.iter().enumerate() {
        let same = |other: &&throng::mesh::PaletteJoint| {
            (other.joint, other.inverse_bind) == (entry.joint, entry.inverse_bind)
        };
        assert_eq!(palette[..at].iter().find(same), None);
    }
}

#[test]
fn a_garment_of_another_file_is_posed_as_one_of_the_same_file() {
    let (whole, own) = (together(), built(&body()));
    let (worn, report) = dressed(&cloak(), &OutfitOptions::default());
    assert_eq!(apart(&worn, &whole, "cloak"), 0.0);
    // Neither the body nor the skeleton changes.
    assert_eq!(worn.skeleton(), own.skeleton());
    assert_eq!(worn.primitives()[..2], *own.primitives());
    assert_eq!(report.scale, 1.0);
    assert_eq!(report.left_out, []);
    assert_eq!((report.held.len(), report.levels_left_out), (0, 0));
    let [added] = &report.added[..] else {
        panic!("{report:?}");
    };
    assert_eq!((&*added.name, &*added.original), ("cloak", "cloak"));
    assert_eq!(added.distance_m, 0.0);
    assert_eq!(worn.part("cloak").unwrap(), added.part);
    // All entries are shared, and the same as in one file.
    check_palette(&worn);
    assert_eq!(worn.palette(), whole.palette());
    assert_eq!(worn.rest_bounds(), whole.rest_bounds());
}

/// Puts a constant transform into every joint of a rig: joint `j` is then `M_j · K_j`.
///
/// `of` is `K`, and `root` moves the rig and its mesh.
fn rebuilt(raw: &RawCharacter, root: Affine3A, of: impl Fn(usize) -> Affine3A) -> RawCharacter {
    let mut raw = raw.clone();
    let count = raw.nodes.len();
    let mut model = vec![Affine3A::IDENTITY; count];
    for at in 0..count {
        let local = raw.nodes[at].transform.to_affine();
        model[at] = raw.nodes[at].parent.map_or(root, |parent| model[parent]) * local;
    }
    let changed: Vec<Affine3A> = (0..count).map(|at| model[at] * of(at)).collect();
    for at in 0..count {
        let above = raw.nodes[at].parent.map(|parent| changed[parent].inverse());
        let local = above.unwrap_or(Affine3A::IDENTITY) * changed[at];
        raw.nodes[at].transform = Transform::from_affine(&local, 1e-4).unwrap();
    }
    let binds = changed.iter().map(|model| Mat4::from(model.inverse()));
    raw.skins = vec![skin(0..count, binds.collect())];
    for primitive in &mut raw.primitives {
        for position in &mut primitive.positions {
            *position = root.transform_point3(*position);
        }
    }
    raw
}

/// A node below another, for a prop.
fn holder(raw: &mut RawCharacter, name: &str, parent: usize, at: Vec3) -> usize {
    let transform = Transform {
        translation: at,
        ..Transform::IDENTITY
    };
    raw.nodes.push(node(name, Some(parent), transform));
    raw.nodes.len() - 1
}
