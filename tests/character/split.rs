//! Splitting: every triangle stays, joints become few, and what is skinned stays the same bit for
//! bit.

use crate::reference::assets;
use crate::reference::poser::Poser;
use crate::reference::rng::Rng;
use std::collections::BTreeSet;
use throng::Error;
use throng::character::{Character, Split};
use throng::glam::{Mat4, Quat, Vec2, Vec3, Vec4};
use throng::import::{
    self, ImportOptions, Imported, RawCharacter, RawNode, RawPrimitive, RawSkin, RawTransform,
};
use throng::mesh::{JointIndices, MorphTarget, Primitive};
use throng::palette::{Mat3x4, PaletteRef, WriteOnly};
use throng::skeleton::Transform;
use throng::skin::{PosedVertices, skin};

/// A chain of joints 1 cm apart, and no mesh yet.
fn chain(joints: usize) -> RawCharacter {
    let node = |joint: usize| RawNode {
        name: format!("joint {joint}").into(),
        parent: joint.checked_sub(1),
        transform: RawTransform::Trs(Transform {
            translation: Vec3::Y * if joint == 0 { 0.0 } else { 0.01 },
            ..Transform::IDENTITY
        }),
    };
    RawCharacter {
        nodes: (0..joints).map(node).collect(),
        skins: vec![RawSkin {
            joints: (0..joints).collect(),
            inverse_bind: (0..joints)
                .map(|joint| Mat4::from_translation(Vec3::NEG_Y * 0.01 * joint as f32))
                .collect(),
            ..RawSkin::default()
        }],
        ..RawCharacter::default()
    }
}

/// A tube along the chain, `per_joint` rings of `around` vertices for each joint; each vertex
/// follows four neighbouring joints, or, `ragged`, some that are drawn within `ragged` joints of
/// it.
fn tube(joints: usize, per_joint: usize, around: usize, ragged: Option<usize>) -> RawPrimitive {
    let mut rng = Rng::new((joints * 31 + per_joint) as u64);
    let rings = joints * per_joint;
    let mut raw = RawPrimitive {
        name: "tube".into(),
        skin: Some(0),
        influences_per_vertex: 4,
        ..RawPrimitive::default()
    };
    for ring in 0..rings {
        for at in 0..around {
            let angle = at as f32 / around as f32 * std::f32::consts::TAU;
            let normal = Vec3::new(angle.cos(), 0.0, angle.sin());
            let height = 0.01 * ring as f32 / per_joint as f32;
            raw.positions.push(normal * 0.02 + Vec3::Y * height);
            raw.normals.push(normal);
            raw.uvs.push(Vec2::new(angle, height));
            let base = ring / per_joint;
            for slot in 0..4 {
                let joint = match ragged {
                    None => base + slot,
                    Some(reach) => base + rng.below(reach),
                };
                raw.joints.push(joint.min(joints - 1) as u32);
                raw.weights.push(rng.range(-0.3, 1.0).max(0.0));
            }
        }
    }
    for ring in 0..rings - 1 {
        for at in 0..around {
            let next = (at + 1) % around;
            let corner = |ring: usize, at: usize| (ring * around + at) as u32;
            let [a, b] = [corner(ring, at), corner(ring, next)];
            let [c, d] = [corner(ring + 1, at), corner(ring + 1, next)];
            raw.indices.extend([a, b, c, b, d, c]);
        }
    }
    raw
}

/// Triangles between any vertices, each of which follows any joints.
fn rags(joints: usize, triangles: usize) -> RawPrimitive {
    let mut rng = Rng::new(joints as u64);
    let vertices = triangles.max(3);
    RawPrimitive {
        name: "rags".into(),
        skin: Some(0),
        influences_per_vertex: 2,
        positions: (0..vertices).map(|_| rng.vector(-1.0, 1.0)).collect(),
        joints: (0..vertices * 2)
            .map(|_| rng.below(joints) as u32)
            .collect(),
        weights: (0..vertices * 2).map(|_| rng.range(0.1, 1.0)).collect(),
        indices: (0..triangles * 3)
            .map(|_| rng.below(vertices) as u32)
            .collect(),
        ..RawPrimitive::default()
    }
}

fn built(
    joints: usize,
    primitives: Vec<RawPrimitive>,
    instances: impl Into<Option<u32>>,
) -> Imported {
    let options = ImportOptions {
        narrow_for_instances: instances.into(),
        ..ImportOptions::curves_only()
    };
    let raw = RawCharacter {
        primitives,
        ..chain(joints)
    };
    raw.build(&options).unwrap()
}

/// Adds the streams that the importer may leave out.
fn dressed(mut primitive: Primitive) -> Primitive {
    let count = primitive.vertex_count();
    let mut rng = Rng::new(count as u64);
    primitive.tangents = (0..count).map(|v| Vec4::splat(v as f32)).collect();
    primitive.uvs1 = (0..count).map(|v| Vec2::splat(-(v as f32))).collect();
    primitive.colors = (0..count).map(|v| [v as f32; 4]).collect();
    for target in 0..3 {
        let vertices: Vec<u32> = (0..count as u32)
            .filter(|_| rng.chance(3 + target))
            .collect();
        let positions: Vec<Vec3> = vertices.iter().map(|_| rng.vector(-1.0, 1.0)).collect();
        primitive.targets.push(MorphTarget {
            normals: if target == 1 {
                positions.clone()
            } else {
                Vec::new()
            },
            tangents: if target == 2 {
                positions.clone()
            } else {
                Vec::new()
            },
            positions,
            vertices,
        });
    }
    primitive.first_weight = 7;
    primitive
}

/// All that a vertex is, in words; `entry` says which of the character's palette entries a joint
/// index means.
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
    for (joint, weight) in p.influences.of(vertex) {
        words.extend([entry(joint), weight.to_bits()]);
    }
    words
}

/// All triangles with what their vertices are, sorted.
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
    let of = |vertex: &u32| p.influences.of(*vertex as usize).filter(|i| i.1 > 0.0);
    p.indices.iter().flat_map(of).map(|i| i.0).collect()
}

/// How many parts a cut in index order makes, and how many entries stand in several of them.
fn in_index_order(p: &Primitive, max: usize) -> (usize, usize) {
    let of = |vertex: &u32| p.influences.of(*vertex as usize).filter(|i| i.1 > 0.0);
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

/// Splits, and holds the parts against the whole.
fn check(name: &str, whole: &Primitive, max: usize) -> Split {
    let split = whole.split(max).unwrap();
    assert_eq!(split, whole.split(max).unwrap(), "it is deterministic");
    assert_eq!(split.parts.len(), split.vertices.len());
    let all = (whole.palette.start..whole.palette.end).collect();
    let parts = split.parts.iter().map(|part| {
        let range = part.palette.start as usize..part.palette.end as usize;
        (part, split.palette[range].to_vec())
    });
    let ours = triangles(parts);
    assert!(
        ours == triangles([(whole, all)].into_iter()),
        "{name}: triangles differ"
    );
    let mut in_ranges = BTreeSet::new();
    for (part, vertices) in split.parts.iter().zip(&split.vertices) {
        assert!(part.palette.len() <= max, "{name}: {:?}", part.palette);
        assert_eq!(
            joints_used(part).len(),
            joints_used(part).range(..part.palette.len()).count()
        );
        let narrow = matches!(part.influences.joints, JointIndices::U8(_));
        assert_eq!(narrow, part.palette.len() <= 256);
        assert_eq!(
            (&part.name, part.material, part.first_weight),
            (&whole.name, whole.material, whole.first_weight)
        );
        assert!(
            vertices.is_sorted_by(|a, b| a < b),
            "each once, in their order"
        );
        let positions = vertices.iter().map(|v| whole.positions[*v as usize]);
        assert!(positions.eq(part.positions.iter().copied()));
        in_ranges.extend(part.palette.clone());
    }
    assert_eq!(in_ranges.len(), split.palette.len(), "no entry is idle");
    let distinct: BTreeSet<u32> = split.palette.iter().copied().collect();
    assert_eq!(split.repeats, split.palette.len() - distinct.len());
    assert_eq!(distinct.len(), joints_used(whole).len());
    let (parts, listed) = in_index_order(whole, max);
    println!(
        "{name:28} max {max:3}: {:4} parts, {:5} repeats; in index order {parts:4} parts, {listed:5} repeats; {} joints, {} triangles",
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
    for joints in [24, 300, 700] {
        for (name, raw) in [
            ("tube", tube(joints, 2, 8, None)),
            ("ragged tube", tube(joints, 3, 6, Some(9))),
            ("rags", rags(joints, 500)),
            ("few rags", rags(joints, 7)),
        ] {
            let imported = built(joints, vec![raw], None);
            let whole = dressed(imported.primitives()[0].clone());
            for max in [12, 16, 24, 64, 256, 1000] {
                let name = format!("{name} of {joints}");
                match whole.split(max) {
                    Err(Error::TriangleJoints {
                        joints,
                        cap,
                        triangle,
                        ..
                    }) => {
                        let corners = &whole.indices[triangle * 3..triangle * 3 + 3];
                        let of = |v: &u32| whole.influences.of(*v as usize).filter(|i| i.1 > 0.0);
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

/// A tube's ranges share their ends, so nothing is repeated however it is cut.
#[test]
fn neighbours_share_the_ends_of_their_ranges() {
    let imported = built(700, vec![tube(700, 2, 8, None)], None);
    for max in [16, 64, 256] {
        let split = check("tube", &imported.primitives()[0], max);
        assert_eq!(split.repeats, 0, "{max}");
    }
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
            .ends_with(&format!("follows {joints} joints, 3 are allowed")),
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

/// Primitives have public fields: what contradicts itself is refused.
#[test]
fn broken_primitives_are_refused() {
    let imported = built(24, vec![tube(24, 1, 5, None)], 1);
    let whole = dressed(imported.primitives()[0].clone());
    let breaks: [fn(&mut Primitive); 10] = [
        |p| p.indices[4] = 1000,
        |p| assert!(p.indices.pop().is_some()),
        |p| assert!(p.normals.pop().is_some()),
        |p| assert!(p.influences.weights.pop().is_some()),
        |p| p.influences.per_vertex = 0,
        |p| p.influences.per_vertex = u32::MAX,
        |p| p.influences.joints = JointIndices::U16(vec![24; p.influences.joints.len()]),
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

/// Skinned triangles, all primitives together, as sorted bits.
fn skinned(character: &Character, clip: Option<(usize, f64)>) -> Vec<Vec<u32>> {
    let mut palette = vec![Mat3x4::IDENTITY; character.palette().len()];
    let mut poser = Poser::new();
    poser
        .palette(character, clip, WriteOnly::over(&mut palette))
        .unwrap();
    let mut all = Vec::new();
    let weights = poser.weights().to_vec();
    let mut posed = PosedVertices::default();
    for primitive in character.primitives() {
        let palette = PaletteRef::Mat3x4(&palette);
        skin(character, primitive, palette, &weights, &mut posed).unwrap();
        for corners in primitive.indices.chunks(3) {
            let mut words = Vec::new();
            for vertex in corners {
                let vertex = *vertex as usize;
                words.extend(posed.positions[vertex].to_array().map(f32::to_bits));
                let normal = posed.normals.get(vertex).map(Vec3::to_array);
                words.extend(normal.into_iter().flatten().map(f32::to_bits));
            }
            all.push(words);
        }
    }
    all.sort_unstable();
    all
}

/// The invariants that a split could break.
fn is_sound(character: &Character, max: usize) {
    let mut used = vec![false; character.palette().len()];
    for p in character.primitives() {
        assert!(p.palette.len() <= max && p.palette.end as usize <= used.len());
        for vertex in 0..p.vertex_count() {
            for (joint, weight) in p.influences.of(vertex).filter(|i| i.1 > 0.0) {
                assert!(joint < p.palette.len() && weight > 0.0);
                let entry = p.palette.start as usize + joint;
                used[entry] = true;
                let bounds = character.palette()[entry].bounds;
                assert_eq!(bounds.with_point(p.positions[vertex]), bounds);
            }
        }
    }
    assert!(used.iter().all(|used| *used), "every entry moves a vertex");
}

fn check_character(name: &str, character: &Character, max: usize) {
    let (split, report) = character.split(max).unwrap();
    is_sound(&split, max);
    assert_eq!(report.origins.len(), split.primitives().len());
    for (part, origin) in split.primitives().iter().zip(&report.origins) {
        assert_eq!(part.name, character.primitives()[*origin].name);
    }
    let count = |c: &Character| c.vertex_count();
    assert_eq!(report.repeated_vertices, count(&split) - count(character));
    assert_eq!(
        split.palette().len(),
        character.palette().len() + report.repeated_entries
    );
    let key = |c: &Character| -> BTreeSet<Vec<u32>> {
        let key = |e: &throng::mesh::PaletteJoint| {
            let bind = e.inverse_bind.to_cols_array().map(f32::to_bits);
            let flags = [u32::from(e.joint.0), e.mirrored.into(), e.may_flip.into()];
            bind.into_iter().chain(flags).collect()
        };
        c.palette().iter().map(key).collect()
    };
    assert_eq!(key(&split), key(character));
    let clips = 0..character.curves().len();
    let times = clips.map(|clip| {
        Some((
            clip,
            f64::from(character.curves()[clip].duration_s()) * 0.37,
        ))
    });
    for pose in times.chain([None]) {
        assert!(
            skinned(&split, pose) == skinned(character, pose),
            "{name} at {pose:?}"
        );
    }
    println!("{name}: at most {max}: {report:?}");
    let (again, nothing) = split.split(max).unwrap();
    assert_eq!(
        (again, nothing.primitives),
        (split, 0),
        "what is split stays so"
    );
}

#[test]
fn characters_split() {
    for joints in [24, 300, 700] {
        let parts = vec![
            tube(joints, 2, 8, None),
            tube(8, 1, 3, None),
            tube(joints, 1, 6, Some(5)),
        ];
        let imported = built(joints, parts, None);
        for max in [16, 64, 256] {
            check_character(&format!("{joints} joints"), &imported, max);
        }
    }
}

#[test]
fn every_asset_splits() {
    for path in assets::files() {
        let name = path.file_name().unwrap().to_string_lossy();
        let imported = import::gltf_file(&path, &ImportOptions::curves_only()).unwrap();
        for max in [12, 16, 24] {
            for primitive in imported.primitives() {
                check(&name, primitive, max);
            }
            check_character(&name, &imported, max);
        }
    }
}

/// A hundred thousand triangles, cut into a hundred parts: the steps are counted in the crate, so
/// that this ends at all is the point.
#[test]
fn large_meshes_split() {
    let imported = built(2000, vec![tube(2000, 3, 10, Some(6))], None);
    let whole = &imported.primitives()[0];
    assert!(whole.indices.len() / 3 > 100_000);
    check("large", whole, 32);
    // Every triangle follows joints of its own and one that all share.
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
fn import_keeps_8_bits_where_it_pays() {
    let tube = || vec![tube(700, 3, 16, None)];
    let narrow = built(700, tube(), 100);
    let told = narrow.narrowing.clone().unwrap();
    assert_eq!((told.primitives, told.repeated_entries), (1, 0));
    assert_eq!(told.parts, narrow.primitives().len());
    // 33,600 vertices, four bytes each; a seam of a ring has 16 vertices of 12 + 4 + 8 + 8 + 4
    // bytes.
    let seams = told.repeated_vertices as u64 * 36;
    assert_eq!(told.bytes_saved, 33_600 * 4 - seams);
    assert!(told.parts <= 4, "{told:?}");
    is_sound(&narrow, 256);
    for p in narrow.primitives() {
        assert!(matches!(p.influences.joints, JointIndices::U8(_)));
    }
    // The same as a whole, by cutting that by hand.
    let small = built(700, vec![self::tube(700, 1, 3, None)], 100);
    assert_eq!(
        small.narrowing, None,
        "8 kB saved, two parts of 4 kB and seams"
    );
    assert!(matches!(
        small.primitives()[0].influences.joints,
        JointIndices::U16(_)
    ));
    let (by_hand, _) = small.split(256).unwrap();
    assert_eq!(skinned(&by_hand, None), skinned(&small, None));
    is_sound(&by_hand, 256);
}

/// Joints of two ends of a long chain: no cut, just a range of their own.
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
        "nothing is between them"
    );
    // With a primitive between them that needs the range: its own entries come after that.
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
    // One that shares entries with both makes repeats cost: few instances are worth it, many are
    // not.
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
    let joints = &many.primitives()[2].influences.joints;
    assert!(matches!(joints, JointIndices::U16(_)));
    assert_eq!(skinned(&few, None), skinned(&many, None));
}

/// One of two is packed: the other finds its entries where they are now.
#[test]
fn what_stays_wide_is_moved_along() {
    let small = tube(700, 1, 3, Some(40));
    let imported = built(700, vec![small, tube(700, 3, 16, None)], 2);
    assert!(imported.narrowing.is_some());
    let wide = |p: &&Primitive| matches!(p.influences.joints, JointIndices::U16(_));
    assert_eq!(imported.primitives().iter().filter(wide).count(), 1);
    is_sound(&imported, 65_536);
    let (split, _) = imported.split(256).unwrap();
    is_sound(&split, 256);
    assert_eq!(skinned(&split, None), skinned(&imported, None));
}

/// The vertex that a limit moves furthest is named where it ends up.
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
