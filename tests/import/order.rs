//! The order of triangles and vertices, and vertices that are merged.

use crate::reference::raws;
use crate::reference::{assets, random, ribbon};
use bytemuck::Zeroable;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;
use throng::character::Character;
use throng::glam::{Vec2, Vec3, Vec4};
use throng::import::{GeometryReport, ImportOptions, Imported, RawCharacter, RawPrimitive};
use throng::mesh::{AlphaMode, Material, MorphTarget, Primitive};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Transform;
use throng::skin::PosedVertices;

/// An import in both orders.
struct Both {
    name: String,
    kept: Imported,
    ordered: Imported,
}

fn options(keep_order: bool) -> ImportOptions {
    ImportOptions {
        keep_order,
        images: false,
        ..ImportOptions::curves_only()
    }
}

fn both(raw: &RawCharacter) -> Both {
    let [kept, ordered] = [true, false].map(|keep| raw.clone().build(&options(keep)).unwrap());
    Both {
        name: raw.name.clone().into(),
        kept,
        ordered,
    }
}

/// The models of `THRONG_ASSETS`, if it is set.
fn models() -> Vec<Both> {
    let model = |path: PathBuf| {
        let import = |keep| throng_import::file(&path, &options(keep)).unwrap();
        Both {
            kept: import(true),
            ordered: import(false),
            name: path.file_name().unwrap().to_string_lossy().into(),
        }
    };
    assets::files().into_iter().map(model).collect()
}

/// Everything that is tried without files.
fn made() -> Vec<Both> {
    let random = (0..40).map(|seed| both(&random::morphing(seed)));
    let mut all: Vec<Both> = random.collect();
    all.push(both(&RawCharacter::mannequin()));
    all.push(both(&ribbon::ribbon(60)));
    all
}

/// All that is stored for a vertex, as words.
fn contents(primitive: &Primitive, vertex: usize) -> Vec<u32> {
    let mut words = Vec::new();
    let mut push = |values: &[f32]| words.extend(values.iter().map(|value| value.to_bits()));
    push(&primitive.positions[vertex].to_array());
    push(
        &primitive
            .normals
            .get(vertex)
            .map_or([0.0; 3], Vec3::to_array),
    );
    push(
        &primitive
            .tangents
            .get(vertex)
            .map_or([0.0; 4], Vec4::to_array),
    );
    for uvs in [&primitive.uvs, &primitive.uvs1] {
        push(&uvs.get(vertex).map_or([0.0; 2], Vec2::to_array));
    }
    push(primitive.colors.get(vertex).unwrap_or(&[0.0; 4]));
    for target in &primitive.targets {
        let at = target.vertices.binary_search(&(vertex as u32)).ok();
        push(&[f32::from(at.is_some())]);
        for list in [&target.positions, &target.normals, &target.tangents] {
            let delta = at.and_then(|at| list.get(at));
            push(&delta.map_or([0.0; 3], Vec3::to_array));
        }
    }
    for (joint, weight) in primitive.influences(vertex) {
        words.extend([joint as u32, weight.to_bits()]);
    }
    words
}

/// For each vertex of `to`, the vertex of `from` with the same contents. All differ.
fn numbers(from: &Primitive, to: &Primitive) -> Vec<u32> {
    assert_eq!(from.vertex_count(), to.vertex_count());
    let known = (0..).map(|vertex| (contents(from, vertex as usize), vertex));
    let known: HashMap<_, u32> = known.take(from.vertex_count()).collect();
    assert_eq!(known.len(), from.vertex_count(), "equal vertices");
    let number = |vertex| known[&contents(to, vertex)];
    let numbers: Vec<u32> = (0..to.vertex_count()).map(number).collect();
    let distinct: HashSet<u32> = numbers.iter().copied().collect();
    assert_eq!(distinct.len(), numbers.len(), "no vertex is there twice");
    numbers
}

/// The triangles of a primitive, with its vertices renumbered.
fn triangles(primitive: &Primitive, numbers: &[u32]) -> Vec<[u32; 3]> {
    let corners = |triangle: &[u32; 3]| triangle.map(|index| numbers[index as usize]);
    let (triangles, rest) = primitive.indices.as_chunks::<3>();
    assert!(rest.is_empty());
    triangles.iter().map(corners).collect()
}

fn alpha(character: &Character, primitive: &Primitive) -> AlphaMode {
    character.materials()[primitive.material as usize].alpha
}

/// The same vertices and triangles, each with the same first corner, and everything else equal.
fn check_same(both: &Both) {
    let Both {
        name,
        kept,
        ordered,
    } = both;
    assert_eq!(kept.palette(), ordered.palette(), "{name}");
    assert_eq!(kept.rest_bounds(), ordered.rest_bounds(), "{name}");
    assert_eq!(kept.repairs, ordered.repairs, "{name}");
    assert_eq!(kept.geometry.draws, ordered.geometry.draws, "{name}");
    assert_eq!(kept.primitives().len(), ordered.primitives().len());
    for (from, to) in kept.primitives().iter().zip(ordered.primitives()) {
        let numbers = numbers(from, to);
        let own: Vec<u32> = (0..from.vertex_count() as u32).collect();
        let mut before = triangles(from, &own);
        let mut after = triangles(to, &numbers);
        if alpha(kept, from) == AlphaMode::Blend {
            assert_eq!(before, after, "{name}: the order of blended triangles");
        }
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after, "{name}: {}", from.name);
        for target in &to.targets {
            assert!(target.vertices.is_sorted_by(|a, b| a < b), "{name}");
        }
    }
}

/// Vertices are numbered as the triangles use them, of the coarsest level first.
fn check_order(both: &Both) {
    // Triangles that the rest pose flips are turned over afterwards.
    let turned = both.ordered.palette().iter().any(|entry| entry.flipped);
    for primitive in both.ordered.primitives() {
        let mut next = 0;
        let levels = primitive.levels.iter().rev().map(|level| &level.indices);
        let lists = levels.chain([&primitive.indices]);
        for triangle in lists.flat_map(|list| list.as_chunks::<3>().0) {
            let mut corners = *triangle;
            if turned {
                corners.sort_unstable();
            }
            for corner in corners {
                assert!(corner <= next, "{}: {corner} after {next}", both.name);
                next += u32::from(corner == next);
            }
        }
        assert_eq!(next as usize, primitive.vertex_count(), "{}", both.name);
    }
}

#[test]
fn made_characters_stay_the_same_but_for_the_order() {
    let mut changed = 0;
    for both in made() {
        check_same(&both);
        check_order(&both);
        changed += u32::from(both.kept.primitives() != both.ordered.primitives());
    }
    assert!(changed > 5, "{changed} have another order");
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn models_stay_the_same_but_for_the_order() {
    let models = models();
    assert!(!models.is_empty());
    for both in models {
        check_same(&both);
        check_order(&both);
        let (kept, ordered) = (&both.kept.geometry, &both.ordered.geometry);
        let [before, after] = [ordered.file_shaded_vertices, ordered.shaded_vertices];
        assert_eq!(kept.shaded_vertices, before, "{}", both.name);
        assert_eq!(kept.file_shaded_vertices, before, "{}", both.name);
        assert!(after <= before, "{}", both.name);
        assert!(per_vertex(ordered) <= 1.15, "{}: {ordered:?}", both.name);
    }
}

/// Shaded vertices per vertex.
fn per_vertex(geometry: &GeometryReport) -> f64 {
    geometry.shaded_vertices as f64 / geometry.vertices as f64
}

/// Every bit of the order follows from the input, on every machine.
#[test]
fn the_order_of_the_built_in_character_is_known() {
    let both = both(&RawCharacter::mannequin());
    let expected = GeometryReport {
        vertices: 4117,
        file_shaded_vertices: 5266,
        shaded_vertices: 4729,
        draws: 2,
        ..both.ordered.geometry
    };
    assert_eq!(both.ordered.geometry, expected);
    assert!(per_vertex(&expected) <= 1.15);
}

/// Merged vertices, shaded vertices in the file's order and now, vertices, draws.
type Row = (&'static str, [u64; 5]);

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn known_models_give_known_reuse() {
    let rows: [Row; 12] = [
        ("AnimatedMorphCube.gltf", [0, 24, 24, 24, 1]),
        ("BrainStem.glb", [69, 96_248, 38_076, 34_090, 59]),
        ("CesiumMan.glb", [0, 9668, 3689, 3273, 2]),
        ("Fox.glb", [1294, 1077, 446, 434, 1]),
        ("Fox_quantized.glb", [0, 440, 440, 434, 1]),
        ("InterpolationTest.gltf", [0, 220, 220, 220, 10]),
        ("Knight.glb", [0, 9898, 7134, 7024, 15]),
        ("MorphStressTest.glb", [0, 2616, 1624, 1528, 2]),
        ("RiggedFigure.glb", [5, 630, 365, 365, 1]),
        ("RiggedSimple.glb", [0, 1710, 960, 960, 2]),
        ("SimpleSkin.gltf", [0, 10, 10, 10, 1]),
        ("quad_skin.glb", [0, 4, 4, 4, 1]),
    ];
    let found: Vec<(String, [u64; 5])> = models()
        .into_iter()
        .map(|both| {
            let report = both.ordered.geometry;
            let numbers = [
                report.merged_vertices,
                report.file_shaded_vertices,
                report.shaded_vertices,
                report.vertices,
                report.draws as u64,
            ];
            (both.name, numbers)
        })
        .collect();
    let rows = rows.map(|(name, numbers)| (name.to_owned(), numbers));
    assert_eq!(found, rows);
}

/// A pose puts each vertex where it would be in the file's order, bit for bit.
fn check_poses(both: &Both) {
    let Both {
        name,
        kept,
        ordered,
    } = both;
    let weights: Vec<f32> = (0..kept.morph_weights().len())
        .map(|at| 0.3 + 0.2 * (at % 4) as f32)
        .collect();
    let joints = kept.skeleton().joints();
    let mut local: Vec<Transform> = joints.iter().map(|joint| joint.rest).collect();
    let mut model = vec![throng::glam::Affine3A::IDENTITY; local.len()];
    if let Some(clip) = kept.curves().first() {
        clip.sample(f64::from(clip.duration_s()) * 0.4, &mut local)
            .unwrap();
    }
    kept.skeleton().model_pose(&local, &mut model).unwrap();
    let palette = |character: &Character| {
        let mut out = vec![Mat3x4::zeroed(); character.palette().len()];
        let to = WriteOnly::from(&mut out);
        character.write_palette(&model, to).unwrap();
        out
    };
    for (from, to) in kept.primitives().iter().zip(ordered.primitives()) {
        let (mut before, mut after) = (PosedVertices::default(), PosedVertices::default());
        kept.skin_primitive(from, &palette(kept), &weights, &mut before)
            .unwrap();
        ordered
            .skin_primitive(to, &palette(ordered), &weights, &mut after)
            .unwrap();
        for (vertex, number) in numbers(from, to).into_iter().enumerate() {
            let number = number as usize;
            let bits =
                |list: &[Vec3], at: usize| list.get(at).map(|v| v.to_array().map(f32::to_bits));
            let tangent = |list: &[Vec4]| list.len();
            assert_eq!(
                bits(&after.positions, vertex),
                bits(&before.positions, number),
                "{name}: {vertex}"
            );
            assert_eq!(
                bits(&after.normals, vertex),
                bits(&before.normals, number),
                "{name}"
            );
            assert_eq!(tangent(&after.tangents), tangent(&before.tangents));
            assert_eq!(
                after.tangents.get(vertex),
                before.tangents.get(number),
                "{name}"
            );
        }
    }
}

#[test]
fn poses_of_made_characters_stay_the_same() {
    made().iter().for_each(check_poses);
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn poses_of_models_stay_the_same() {
    models().iter().for_each(check_poses);
}

/// A grid of quads, whose triangles are shuffled.
fn grid(size: u32, seed: u64) -> RawPrimitive {
    let side = size + 1;
    let at = |vertex: u32| Vec3::new((vertex % side) as f32, (vertex / side) as f32, 0.0);
    let quad = |quad: u32| {
        let first = quad / size * side + quad % size;
        let [a, b, c, d] = [0, 1, side, side + 1].map(|offset| first + offset);
        [[a, b, d], [a, d, c]]
    };
    let mut triangles: Vec<[u32; 3]> = (0..size * size).flat_map(quad).collect();
    let mut rng = crate::reference::rng::Rng::new(seed);
    for last in (1..triangles.len()).rev() {
        triangles.swap(last, rng.below(last + 1));
    }
    RawPrimitive {
        name: "grid".into(),
        positions: (0..side * side).map(at).collect(),
        indices: triangles.into_flattened(),
        ..RawPrimitive::default()
    }
}

fn rigid(primitive: RawPrimitive, alpha: AlphaMode) -> RawCharacter {
    let material = Material {
        alpha,
        ..Material::default()
    };
    RawCharacter::rigid("rigid", vec![primitive], vec![material])
}

#[test]
fn the_files_order_is_kept_on_request() {
    for seed in 0..4 {
        let raw = grid(20, seed);
        let both = both(&rigid(raw.clone(), AlphaMode::Opaque));
        let kept = &both.kept.primitives()[0];
        assert_eq!(kept.indices, raw.indices);
        assert_eq!(kept.positions, raw.positions);
        let ordered = &both.ordered.primitives()[0];
        assert_ne!(ordered.indices, raw.indices);
        let shaded = per_vertex(&both.ordered.geometry);
        assert!(shaded < 1.15, "{shaded}");
        check_same(&both);
        check_order(&both);
    }
}

/// A file that is ordered well already, or is too small to gain, keeps its triangles.
#[test]
fn a_good_order_stays() {
    let once = both(&rigid(grid(20, 7), AlphaMode::Opaque)).ordered;
    let first = &once.primitives()[0];
    let again = RawPrimitive {
        positions: first.positions.clone(),
        indices: first.indices.clone(),
        ..RawPrimitive::default()
    };
    let again = both(&rigid(again, AlphaMode::Opaque)).ordered;
    assert!(again.geometry.shaded_vertices <= once.geometry.shaded_vertices);
    let strip: Vec<u32> = (0..60).flat_map(|at| [at, at + 1, at + 2]).collect();
    let strip = RawPrimitive {
        positions: (0..62)
            .map(|at| Vec3::new(at as f32, (at % 2) as f32, 0.0))
            .collect(),
        indices: strip.clone(),
        ..RawPrimitive::default()
    };
    let both = both(&rigid(strip.clone(), AlphaMode::Opaque));
    assert_eq!(both.ordered.primitives()[0].indices, strip.indices);
}

#[test]
fn blended_triangles_keep_their_order() {
    let raw = grid(20, 3);
    for alpha in [AlphaMode::Blend, AlphaMode::Mask { cutoff: 0.5 }] {
        let both = both(&rigid(raw.clone(), alpha));
        check_same(&both);
        check_order(&both);
        let [kept, ordered] = [&both.kept, &both.ordered].map(|it| it.geometry.shaded_vertices);
        assert_eq!(ordered == kept, alpha == AlphaMode::Blend);
    }
}

/// Fans, degenerate triangles and lists without order take linear time, and lose no triangle.
#[test]
fn odd_meshes_are_ordered_in_linear_time() {
    let count = 400_000_u32;
    let positions = (0..count + 2).map(|at| Vec3::new(at as f32, (at % 7) as f32, 1.0));
    let positions: Vec<Vec3> = positions.collect();
    let around = |at| [0, at % count + 1, (at * 7919) % count + 1];
    let fan: Vec<u32> = (0..count).flat_map(around).collect();
    let same: Vec<u32> = (0..count).flat_map(|at| [at / 2; 3]).collect();
    let twice: Vec<u32> = (0..count)
        .flat_map(|at| [5, 5, (at * 31) % count])
        .collect();
    for indices in [fan, same, twice] {
        let raw = RawPrimitive {
            positions: positions.clone(),
            indices,
            ..RawPrimitive::default()
        };
        let started = Instant::now();
        let ordered = rigid(raw.clone(), AlphaMode::Opaque)
            .build(&options(false))
            .unwrap();
        // A quadratic order would take minutes.
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
        let primitive = &ordered.primitives()[0];
        let places = |indices: &[u32], positions: &[Vec3]| {
            let place = |index: &u32| positions[*index as usize].x as u32;
            let mut all: Vec<[u32; 3]> = indices
                .as_chunks::<3>()
                .0
                .iter()
                .map(|triangle| [0, 1, 2].map(|corner| place(&triangle[corner])))
                .collect();
            all.sort_unstable();
            all
        };
        let before = places(&raw.indices, &raw.positions);
        assert!(before == places(&primitive.indices, &primitive.positions));
    }
}

/// Two triangles whose six corners have all streams. Corners 3 and 5 are like corners 0 and 2.
fn quad() -> RawCharacter {
    let corner = [0_usize, 1, 2, 0, 3, 2];
    let target = |offset: f32| MorphTarget {
        vertices: vec![0, 1, 3],
        positions: vec![Vec3::X * offset, Vec3::Y, Vec3::X * offset],
        normals: vec![Vec3::Y * 0.1, Vec3::ZERO, Vec3::Y * 0.1],
        tangents: vec![Vec3::Z * 0.1, Vec3::ZERO, Vec3::Z * 0.1],
    };
    let node = |name: &str| raws::node(name, None, Transform::IDENTITY);
    RawCharacter {
        nodes: vec![node("a"), node("b")],
        skins: vec![raws::skin([0, 1], Vec::new())],
        morphs: vec![raws::morph(0, "", vec![0.0, 0.5])],
        primitives: vec![RawPrimitive {
            name: "quad".into(),
            skin: Some(0),
            positions: corner
                .map(|at| Vec3::new(at as f32, (at % 2) as f32, 0.0))
                .to_vec(),
            normals: vec![Vec3::Z; 6],
            tangents: vec![Vec4::new(1.0, 0.0, 0.0, 1.0); 6],
            uvs: vec![Vec2::ZERO; 6],
            uvs1: vec![Vec2::ZERO; 6],
            colors: vec![[0.5; 4]; 6],
            influences_per_vertex: 2,
            joints: [0, 1].repeat(6),
            weights: [0.75, 0.25].repeat(6),
            indices: (0..6).collect(),
            morph: Some(0),
            targets: vec![target(1.0), target(2.0)],
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    }
}

/// The number of merged vertices after a change of the mesh.
fn merged(change: impl Fn(&mut RawPrimitive)) -> u64 {
    let mut raw = quad();
    change(&mut raw.primitives[0]);
    let [kept, ordered] = [true, false].map(|keep| raw.clone().build(&options(keep)).unwrap());
    assert_eq!(
        kept.geometry.merged_vertices,
        ordered.geometry.merged_vertices
    );
    let left = 6 - ordered.geometry.merged_vertices as usize;
    assert_eq!((kept.vertex_count(), ordered.vertex_count()), (left, left));
    ordered.geometry.merged_vertices
}

#[test]
fn only_vertices_that_are_equal_in_all_streams_merge() {
    assert_eq!(merged(|_| {}), 2);
    // Vertex 5 still merges with vertex 2.
    let split = |what: &str, change: &dyn Fn(&mut RawPrimitive)| {
        assert_eq!(merged(change), 1, "{what}");
    };
    split("position", &|p| p.positions[3].z += 1e-6);
    split("normal", &|p| p.normals[3] = Vec3::Y);
    split("tangent", &|p| {
        p.tangents[3] = Vec4::new(0.0, 1.0, 0.0, 1.0)
    });
    split("sign of the bitangent", &|p| p.tangents[3].w = -1.0);
    split("uv", &|p| p.uvs[3].y += 1e-6);
    split("second uv", &|p| p.uvs1[3].x += 1e-6);
    split("alpha", &|p| p.colors[3][3] += 1e-3);
    split("joint", &|p| p.joints[6..8].copy_from_slice(&[1, 0]));
    split("weight", &|p| {
        p.weights[6..8].copy_from_slice(&[0.76, 0.24])
    });
    for target in 0..2 {
        split("morphed position", &|p| {
            p.targets[target].positions[2].z = 1e-6
        });
        split("morphed normal", &|p| p.targets[target].normals[2].z = 1e-6);
        split("morphed tangent", &|p| {
            p.targets[target].tangents[2].x = 1e-6
        });
        split("morphed or not", &|p| {
            let MorphTarget {
                vertices,
                positions,
                normals,
                tangents,
            } = &mut p.targets[target];
            vertices.pop();
            for list in [positions, normals, tangents] {
                list.pop();
            }
        });
        // An offset of zero is no offset.
        let zero = merged(|p| {
            let MorphTarget {
                vertices,
                positions,
                normals,
                tangents,
            } = &mut p.targets[target];
            vertices.push(5);
            for list in [positions, normals, tangents] {
                list.push(Vec3::ZERO);
            }
        });
        assert_eq!(zero, 2);
    }
}

#[test]
fn unused_vertices_are_counted() {
    let mut raw = quad();
    raw.primitives[0].indices.truncate(3);
    let imported = raw.build(&options(false)).unwrap();
    let GeometryReport {
        merged_vertices,
        unused_vertices,
        ..
    } = imported.geometry;
    assert_eq!((merged_vertices, unused_vertices), (0, 3));
}

/// Saved characters keep the order that they were saved in.
#[test]
fn a_saved_character_keeps_its_order() {
    let both = both(&RawCharacter::mannequin());
    for imported in [&both.kept, &both.ordered] {
        let bytes = imported.character.to_bytes();
        let loaded = throng_import::bytes(&bytes, &ImportOptions::default()).unwrap();
        assert_eq!(loaded.primitives(), imported.primitives());
        let expected = GeometryReport {
            merged_vertices: 0,
            unused_vertices: 0,
            file_shaded_vertices: imported.geometry.shaded_vertices,
            ..imported.geometry
        };
        assert_eq!(loaded.geometry, expected);
    }
    assert_ne!(both.kept.primitives(), both.ordered.primitives());
}

/// The vertex that lost most is named by its index in the new order.
#[test]
fn the_influence_loss_names_the_same_vertex() {
    let mannequin = RawCharacter::mannequin();
    let [kept, ordered] = [true, false].map(|keep| {
        let options = ImportOptions {
            max_influences: Some(1),
            ..options(keep)
        };
        mannequin.clone().build(&options).unwrap()
    });
    let [before, after] = [&kept, &ordered].map(|imported| {
        let loss = imported.influence_loss.unwrap();
        let primitive = &imported.primitives()[loss.primitive];
        (
            contents(primitive, loss.vertex),
            loss.displacement_m,
            loss.vertices,
        )
    });
    assert_eq!(before, after);
}
