//! Materials, tangents and second texture coordinates of raw characters.

use crate::raw::{raw, refused};
use crate::reference::words::{Fails, Says};
use throng::glam::{Affine2, Vec2, Vec3};
use throng::import::{ImportOptions, RawCharacter, RepairKind};
use throng::mesh::{Image, Material, TextureRef};

#[test]
fn materials_are_checked() {
    let image = Image::new("image", 1, 1, vec![0; 4]);
    let built = |material: Material| {
        let mut raw = raw();
        raw.images = vec![image.clone()];
        raw.materials = vec![material];
        raw.build(&ImportOptions::curves_only())
    };
    let texture = TextureRef::new(0);
    for (wrong, why) in [
        (TextureRef::new(1), ": refers to image 1, but there are 1"),
        (
            TextureRef {
                uv_set: 2,
                ..texture
            },
            ": the set of texture coordinates is 2, which is not allowed here (0 or 1)",
        ),
        (
            TextureRef {
                transform: Affine2::from_scale(Vec2::new(1.0, f32::NAN)),
                ..texture
            },
            ".transform: has a component that is not finite",
        ),
    ] {
        for (at, name) in [
            "baseColorTexture",
            "metallicRoughnessTexture",
            "normalTexture",
            "occlusionTexture",
            "emissiveTexture",
        ]
        .into_iter()
        .enumerate()
        {
            let at = |kind| Some(if kind == at { wrong } else { texture });
            let material = Material {
                base_color_texture: at(0),
                metallic_roughness_texture: at(1),
                normal_texture: at(2),
                occlusion_texture: at(3),
                emissive_texture: at(4),
                ..Material::default()
            };
            built(material).fails(format!("raw: material 0, {name}{why}"));
        }
    }
    let sound = Material {
        emissive: [1000.0; 3],
        normal_scale: -4.0,
        normal_texture: Some(TextureRef {
            uv_set: 1,
            ..texture
        }),
        ..Material::default()
    };
    let built = built(sound.clone()).unwrap();
    assert_eq!(
        (built.materials()[0].clone(), built.repairs.len()),
        (sound, 0)
    );
}

#[test]
fn images_without_texels_are_refused() {
    for size in [[0, 0], [0, 5], [5, 0]] {
        let mut raw = raw();
        raw.images = vec![Image::new("image", size[0], size[1], Vec::new())];
        raw.build(&ImportOptions::curves_only())
            .fails("raw: image 0: has no texels");
    }
}

#[test]
fn tangents_and_second_coordinates_are_checked() {
    let streams = |r: &mut RawCharacter| {
        r.primitives[0].normals = vec![Vec3::Z; 3];
        r.primitives[0].tangents = vec![Vec3::X.extend(1.0); 3];
        r.primitives[0].uvs1 = vec![Vec2::ONE; 3];
    };
    let mut sound = raw();
    streams(&mut sound);
    let built = sound.clone().build(&ImportOptions::curves_only()).unwrap();
    assert_eq!(built.repairs, []);
    assert_eq!(built.primitives()[0].tangents, sound.primitives[0].tangents);
    assert_eq!(built.primitives()[0].uvs1, sound.primitives[0].uvs1);
    sound.primitives[0].normals.clear();
    let smooth = ImportOptions {
        smooth_normals: true,
        ..ImportOptions::curves_only()
    };
    let built = sound.build(&smooth).unwrap();
    assert_eq!(built.repairs[0].kind, RepairKind::TangentsIgnored);
    let part = &built.primitives()[0];
    assert_eq!((part.normals.len(), part.tangents.len()), (3, 0));
    for (words, change) in [
        (
            ": TANGENT has 2, needs 3",
            (|r| r.primitives[0].tangents.truncate(2)) as fn(&mut RawCharacter),
        ),
        (": second TEXCOORD has 2, needs 3", |r| {
            r.primitives[0].uvs1.truncate(2);
        }),
        (".TANGENT: vertex 2 is NaN, must be finite", |r| {
            r.primitives[0].tangents[2].w = f32::NAN;
        }),
        (".second TEXCOORD: vertex 0 is inf, must be finite", |r| {
            r.primitives[0].uvs1[0].x = f32::INFINITY;
        }),
    ] {
        let told = refused(|r| {
            streams(r);
            change(r);
        });
        told.says(format!("raw: mesh 0, primitives[0], attributes{words}"));
    }
}
