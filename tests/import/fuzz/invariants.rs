//! Imports mutants, and checks the invariants of the characters.

use throng::Result;
use throng::import::{ImportLimits, ImportOptions, Imported};
use throng::mesh::{AlphaMode, JointIndices, Material};

/// Small caps, so that mutants that ask for much are refused quickly.
pub(super) fn options(name: &str) -> ImportOptions {
    ImportOptions {
        name: name.into(),
        limits: ImportLimits {
            decoded_bytes: 32 << 20,
            resource_bytes: 16 << 20,
            vertices: 1 << 18,
            indices: 1 << 20,
            keys: 1 << 20,
            morph_targets: 1 << 12,
            morph_elements: 1 << 20,
            image_texels: 1 << 20,
            ..ImportLimits::default()
        },
        ..ImportOptions::curves_only()
    }
}

/// Imports a file, and plays all clips of a character. Returns whether there was one.
///
/// Nothing may panic, and all results are finite.
pub(crate) fn digest(bytes: &[u8]) -> bool {
    digest_by(bytes, "fuzz.gltf", throng_import::bytes)
}

/// [`digest`] for a file of any format. The name decides where a mutant fits none or several.
pub(super) fn digest_by(
    bytes: &[u8],
    name: &str,
    import: impl Fn(&[u8], &ImportOptions) -> Result<Imported>,
) -> bool {
    use throng::mesh::PaletteJoint;
    use throng::palette::{Mat3x4, WriteOnly};
    use throng::skin::PosedVertices;
    let options = ImportOptions {
        smooth_normals: bytes.len().is_multiple_of(2),
        max_influences: [None, Some(1), Some(3)][bytes.len() % 3],
        ..options(name)
    };
    let imported = match import(bytes, &options) {
        Ok(imported) => imported,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    for repair in &imported.repairs {
        assert!(repair.count > 0 && !repair.to_string().is_empty());
    }
    common_invariants(&imported);
    let palette = imported.palette();
    let repeats = |at: &usize| {
        let same = |other: &PaletteJoint| {
            other.joint == palette[*at].joint && other.inverse_bind == palette[*at].inverse_bind
        };
        palette[..*at].iter().any(same)
    };
    assert_eq!((0..palette.len()).filter(repeats).count(), 0);
    splits(&imported);
    if let Some(loss) = imported.influence_loss {
        assert!(loss.vertex < imported.primitives()[loss.primitive].vertex_count());
        assert!(loss.displacement_m >= 0.0);
    }
    let mut poser = crate::reference::poser::Poser::new();
    let mut palette = vec![Mat3x4::IDENTITY; imported.palette().len()];
    let weights: Vec<f32> = imported.morph_weights().iter().map(|w| w.rest).collect();
    let mut posed = PosedVertices::default();
    for clip in 0..imported.curves().len().min(3) {
        let time_s = imported.curves()[clip].duration_s() * 0.6;
        let out = WriteOnly::from(&mut palette);
        poser
            .palette(&imported, Some((clip, f64::from(time_s))), out)
            .unwrap();
        assert_eq!(poser.weights().len(), imported.morph_weights().len());
        // A spline may leave the range of 32-bit numbers between two keys.
        if poser.weights().iter().all(|weight| weight.is_finite()) {
            imported
                .posed_bounds(&palette, Some(poser.weights()))
                .unwrap();
            let mut morphed = PosedVertices::default();
            for primitive in imported.primitives().iter().take(2) {
                imported
                    .skin_primitive(primitive, &palette, poser.weights(), &mut morphed)
                    .unwrap();
                assert_eq!(morphed.positions.len(), primitive.vertex_count());
            }
        }
        for primitive in imported.primitives().iter().take(2) {
            imported
                .skin_primitive(primitive, &palette, &weights, &mut posed)
                .unwrap();
        }
    }
    true
}

/// Splitting works or names a triangle, and keeps the invariants of `Character`.
fn splits(character: &throng::character::Character) {
    for primitive in character.primitives() {
        let triangles = primitive.indices.len() / 3;
        assert_eq!(character.flipping_triangles(primitive).len(), triangles);
    }
    for max in [1, 2, 5] {
        match character.split(max) {
            Ok((split, _)) => {
                assert_eq!(split.triangle_count(), character.triangle_count());
                common_invariants(&split);
            }
            Err(error) => assert!(
                matches!(error, throng::Error::TriangleJoints { cap, .. } if cap == max),
                "{error}"
            ),
        }
    }
}

/// Checks the invariants of `Character`.
fn common_invariants(character: &throng::character::Character) {
    let skeleton = character.skeleton();
    for (index, joint) in skeleton.joints().iter().enumerate() {
        assert!(joint.parent.is_none_or(|parent| parent.index() < index));
        assert!((joint.rest.rotation.length() - 1.0).abs() < 1e-5);
    }
    let mut next = 0;
    for level in skeleton.levels() {
        assert_eq!(level.start, next);
        assert!(level.start < level.end);
        next = level.end;
    }
    assert_eq!(usize::from(next), skeleton.len());
    let mut used = vec![false; character.palette().len()];
    for primitive in character.primitives() {
        let vertices = primitive.vertex_count();
        let range = character.palette_range(primitive);
        assert!(range.end <= used.len() && !range.is_empty());
        assert!(vertices > 0 && !primitive.indices.is_empty());
        assert!(primitive.indices.iter().all(|i| (*i as usize) < vertices));
        assert_eq!(primitive.levels.len(), character.levels().len());
        for level in &primitive.levels {
            assert!(level.vertices as usize <= vertices && level.indices.len().is_multiple_of(3));
            assert!(level.indices.iter().all(|index| *index < level.vertices));
            assert!(level.error_m >= 0.0);
        }
        assert!((primitive.material as usize) < character.materials().len());
        let k = primitive.influences_per_vertex as usize;
        assert!(k == 1 || k == 2 || k.is_multiple_of(4));
        let joints = match &primitive.joints {
            JointIndices::U8(list) => list.len(),
            JointIndices::U16(list) => list.len(),
        };
        assert_eq!(joints, vertices * k);
        assert_eq!(
            primitive.weights.len(),
            if k == 1 { 0 } else { vertices * k }
        );
        for row in primitive.weights.chunks_exact(k) {
            assert_eq!(row.iter().map(|w| u32::from(*w)).sum::<u32>(), 65_535);
            assert!(row.is_sorted_by(|a, b| a >= b));
        }
        for vertex in 0..vertices {
            assert!(primitive.positions[vertex].is_finite());
            for (joint, weight) in primitive.influences(vertex) {
                assert!(range.start + joint < range.end);
                used[range.start + joint] |= weight > 0.0;
            }
        }
        let weights = primitive.first_weight.index() + primitive.targets.len();
        assert!(primitive.targets.is_empty() || weights <= character.morph_weights().len());
        for target in &primitive.targets {
            let count = target.vertices.len();
            assert!(target.vertices.is_sorted_by(|a, b| a < b));
            assert!(
                target
                    .vertices
                    .last()
                    .is_none_or(|v| (*v as usize) < vertices)
            );
            assert_eq!(target.positions.len(), count);
            for list in [&target.positions, &target.normals, &target.tangents] {
                assert!(list.iter().all(|delta| delta.is_finite()));
                assert!(list.is_empty() || list.len() == count);
            }
        }
        for (stream, len) in [
            ("normals", primitive.normals.len()),
            ("tangents", primitive.tangents.len()),
            ("uvs", primitive.uvs.len()),
            ("uvs1", primitive.uvs1.len()),
            ("colors", primitive.colors.len()),
        ] {
            assert!(len == 0 || len == vertices, "{stream}");
        }
        assert!(primitive.tangents.is_empty() || !primitive.normals.is_empty());
        for tangent in &primitive.tangents {
            assert!((tangent.truncate().length() - 1.0).abs() < 1e-5 && tangent.w.abs() == 1.0);
        }
        let mut uvs = primitive.uvs.iter().chain(&primitive.uvs1);
        assert!(uvs.all(|uv| uv.is_finite()));
    }
    assert!(used.iter().all(|used| *used));
    for entry in character.palette() {
        assert!(usize::from(entry.joint) < skeleton.len());
        assert!(entry.inverse_bind.is_finite() && !entry.bounds.is_empty());
    }
    assert!(!character.materials().is_empty());
    for material in character.materials() {
        materials_invariants(material, character.images().len());
    }
    assert!(character.rest_bounds().size().is_finite() || character.primitives().is_empty());
}

/// Checks the invariants of `Material`.
fn materials_invariants(material: &Material, images: usize) {
    for texture in material.textures().into_iter().flatten() {
        assert!((texture.image as usize) < images && texture.uv_set <= 1);
        assert!(texture.transform.is_finite());
    }
    let unit = [
        &material.base_color[..],
        &[material.metallic, material.roughness],
        &[material.occlusion_strength],
    ];
    assert!(unit.concat().iter().all(|v| (0.0..=1.0).contains(v)));
    let mut light = material.emissive.iter();
    assert!(light.all(|v| (0.0..=f32::MAX).contains(v)));
    assert!(material.normal_scale.is_finite());
    if let AlphaMode::Mask { cutoff } = material.alpha {
        assert!((0.0..=f32::MAX).contains(&cutoff));
    }
}
