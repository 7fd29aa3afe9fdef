//! The words that say what a primitive and its surface have, and become constants of pipelines.

use crate::reference::cases;
use crate::reference::raws::{linear, moves};
use crate::reference::ribbon::{built, ribbon};
use crate::shader_layout::{GpuMaterial as Surface, GpuPrimitive as Vertex};
use crate::support::{Setup, each};
use throng::character::Character;
use throng::glam::{Affine2, Vec3, Vec4};
use throng::gpu::{PrimitiveDraw, SkinnedMesh, Upload};
use throng::import::{RawAnimation, RawCharacter, RawKeys, RawMorph};
use throng::mesh::{AlphaMode, Material, TextureRef};
use throng::palette::SkinningMethod;

/// A character's draws.
fn draws(setup: &mut Setup, character: &Character, method: SkinningMethod) -> Vec<PrimitiveDraw> {
    let (device, mut upload) = (setup.device(), Upload::default());
    let allocator = &mut setup.context.allocator();
    let mesh = SkinnedMesh::new(&device, allocator, &mut upload, character, method);
    let mut mesh = mesh.unwrap();
    let draws = mesh.draws()[0].clone();
    unsafe {
        mesh.destroy(&device, allocator);
        upload.free(&device, allocator);
    }
    draws
}

/// One side of a ribbon, without a texture.
fn plain() -> RawCharacter {
    let mut raw = ribbon(6);
    raw.primitives.truncate(1);
    raw.primitives[0].uvs.clear();
    raw
}

const PLAIN: (u32, u32) = (
    Vertex::HAS_NORMALS | Vertex::READS_SKINNED,
    Surface::SURFACE_NORMALS,
);

fn scales(raw: &mut RawCharacter, to: Vec3) {
    raw.animations[0]
        .channels
        .push(linear(1, [0.0, 1.0], RawKeys::Scale(vec![Vec3::ONE, to])));
}

#[test]
fn each_thing_sets_its_bit() {
    let texture = Some(TextureRef::new(0));
    let turned = Some(TextureRef {
        transform: Affine2::from_angle(1.0),
        ..TextureRef::new(0)
    });
    let second = Some(TextureRef {
        uv_set: 1,
        ..TextureRef::new(0)
    });
    type Change<'c> = &'c dyn Fn(&mut RawCharacter);
    let count = plain().primitives[0].positions.len();
    let base = Surface::BASE_COLOR;
    let mask = base << (Material::TEXTURES - 1);
    let changes: [(&str, Change<'_>, u32, u32); 20] = cases![
        &|_| {} => 0, 0;
        &|raw| raw.primitives[0].uvs = ribbon(6).primitives[0].uvs.clone() => Vertex::HAS_UVS, 0;
        &|raw| raw.primitives[0].uvs1 = ribbon(6).primitives[0].uvs.clone() => Vertex::HAS_UVS1, 0;
        &|raw| raw.primitives[0].colors = vec![[0.5; 4]; count] => Vertex::HAS_COLORS, 0;
        &|raw| {
            raw.primitives[0].colors = vec![[0.5; 4]; count];
            raw.materials[0].tint_by_alpha = true;
        }
            => Vertex::HAS_COLORS | Vertex::TINT_BY_ALPHA, 0;
        &|raw| raw.materials[0].tint_by_alpha = true => 0, 0;
        &|raw| raw.materials[0].tint_weights[1] = 0.5 => Vertex::TINT_WEIGHTS, 0;
        &|raw| raw.materials[0].tint_reference[2] = 0.5 => Vertex::TINT_WEIGHTS, 0;
        &|raw| raw.materials[0].tint_mask = texture => Vertex::TINT_BY_MASK, mask;
        &|raw| raw.primitives[0].tangents = vec![Vec4::new(1.0, 0.0, 0.0, 1.0); count]
            => Vertex::HAS_TANGENTS, Surface::SURFACE_TANGENTS;
        &|raw| {
            raw.morphs = vec![RawMorph {
                node: 0,
                owner: "face".into(),
                weights: vec![0.0],
                names: vec!["smile".into()],
            }];
            raw.primitives[0].morph = Some(0);
            raw.primitives[0].targets = vec![moves(vec![Vec3::X], vec![0])];
        }
            => Vertex::HAS_TARGETS, 0;
        &|raw| scales(raw, Vec3::splat(1e-3)) => 0, 0;
        &|raw| scales(raw, Vec3::ZERO) => Vertex::EXTREME_SCALES, 0;
        &|raw| scales(raw, Vec3::splat(1e7)) => Vertex::EXTREME_SCALES, 0;
        &|raw| raw.materials[0].unlit = true => 0, Surface::UNLIT;
        &|raw| raw.materials[0].alpha = AlphaMode::Mask { cutoff: 0.5 } => 0, Surface::ALPHA_MASK;
        &|raw| raw.materials[0].double_sided = true => 0, Surface::TWO_SIDED;
        &|raw| raw.materials[0].base_color_texture = turned => 0, base | Surface::TURNS_UVS;
        &|raw| raw.materials[0].base_color_texture = second => 0, base | Surface::SECOND_UVS;
        &|raw| {
            raw.materials[0].base_color_texture = texture;
            raw.materials[0].normal_texture = texture;
        }
            => 0, base | Surface::NORMAL_MAP;
    ];
    each(|setup| {
        for (case, change, vertex, surface) in &changes {
            let mut raw = plain();
            change(&mut raw);
            let character = built(raw).character;
            for draw in draws(setup, &character, SkinningMethod::Linear) {
                let one = Vertex::ONE_INFLUENCE;
                assert_eq!(draw.variant & !one, PLAIN.0 | vertex, "{case}");
                assert_eq!(draw.surface, PLAIN.1 | surface, "{case}");
            }
        }
    });
}

#[test]
fn influences_joints_and_methods_set_their_bits() {
    each(|setup| {
        let influences = |draws: &[PrimitiveDraw]| {
            let bits = Vertex::ONE_INFLUENCE | Vertex::MANY_INFLUENCES;
            let mut all: Vec<u32> = draws.iter().map(|draw| draw.variant & bits).collect();
            all.dedup();
            all
        };
        for (per_vertex, wanted) in [
            (1, Vertex::ONE_INFLUENCE),
            (2, 0),
            (4, 0),
            (5, Vertex::MANY_INFLUENCES),
        ] {
            let mut raw = plain();
            let primitive = &mut raw.primitives[0];
            let count = primitive.positions.len();
            primitive.influences_per_vertex = per_vertex;
            primitive.joints = (0..per_vertex as u32).collect::<Vec<_>>().repeat(count);
            primitive.weights = vec![1.0 / per_vertex as f32; per_vertex * count];
            let character = built(raw).character;
            let draws = draws(setup, &character, SkinningMethod::Linear);
            assert_eq!(influences(&draws), [wanted], "{per_vertex}");
        }
        let wide = built(ribbon(300)).character;
        let draws_of_wide = draws(setup, &wide, SkinningMethod::Linear);
        assert!(
            draws_of_wide
                .iter()
                .all(|it| it.variant & Vertex::JOINTS_U16 != 0)
        );
        let methods = [
            SkinningMethod::Linear,
            SkinningMethod::DualQuat,
            SkinningMethod::QuatOffset,
        ];
        let character = built(plain()).character;
        for (method, format) in methods.into_iter().zip([0, 1, 3]) {
            for draw in draws(setup, &character, method) {
                assert_eq!(draw.variant >> Vertex::METHOD_SHIFT & 3, format);
            }
        }
    });
}

/// Only the draws of triangles that a clip turns over ask which instances they are for.
#[test]
fn only_draws_that_flip_are_for_some_instances() {
    let mut raw = plain();
    let rigid = raw.primitives[0].joints.len();
    raw.primitives[0].joints = vec![1; rigid];
    raw.animations = vec![RawAnimation {
        name: "over".into(),
        ..raw.animations[0].clone()
    }];
    scales(&mut raw, Vec3::new(-1.0, 1.0, 1.0));
    let character = built(raw).character;
    each(|setup| {
        let draws = draws(setup, &character, SkinningMethod::Linear);
        assert!(draws.iter().any(|draw| draw.flip_code.is_some()));
        for draw in draws {
            let asks = draw.variant & Vertex::MAY_FLIP != 0;
            assert_eq!(asks, draw.flip_code.is_some());
        }
    });
}

/// The guards against overflow would cost every vertex, so usual models must not need them.
#[cfg(assets)]
#[test]
fn usual_models_have_no_extreme_scales() {
    use throng::import::ImportOptions;
    let folder = std::path::PathBuf::from(std::env::var_os("THRONG_ASSETS").unwrap());
    each(|setup| {
        for name in [
            "Fox.glb",
            "Fox_quantized.glb",
            "Knight.glb",
            "BrainStem.glb",
            "CesiumMan.glb",
        ] {
            let imported =
                throng_import::file(folder.join(name), &ImportOptions::default()).unwrap();
            for draw in draws(setup, &imported.character, SkinningMethod::Linear) {
                assert_eq!(draw.variant & Vertex::EXTREME_SCALES, 0, "{name}");
            }
        }
    });
}
