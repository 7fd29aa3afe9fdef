//! Materials and textures.

use crate::arm::import;
use crate::ascii::{File, arm};
use throng::import::{ImportOptions, RepairKind, ResourceReader};
use throng::mesh::AlphaMode;

/// A PNG of one red texel.
fn png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[255, 0, 0]).unwrap();
    drop(writer);
    bytes
}

/// The arm with a material, and a texture with this path.
fn with_texture(path: &str) -> File {
    let (mut file, numbers) = arm();
    let body = "Version: 102\nShadingModel: \"phong\"\nProperties70: {\n\
                P: \"DiffuseColor\", \"Color\", \"\", \"A\",0.5,0.25,1\n\
                P: \"DiffuseFactor\", \"Number\", \"\", \"A\",1\n\
                P: \"EmissiveColor\", \"Color\", \"\", \"A\",0,0.5,0\n}";
    let material = file.object("Material", "Material::Skin", "", body);
    file.connect(material, numbers.mesh);
    if !path.is_empty() {
        let body = format!(
            "Type: \"TextureVideoClip\"\nFileName: \"C:\\work\\{path}\"\n\
             RelativeFilename: \"{path}\""
        );
        let texture = file.object("Texture", "Texture::skin", "", &body);
        file.connect_to(texture, material, "DiffuseColor");
    }
    file
}

#[test]
fn colours_without_textures() {
    let c = import(&with_texture(""));
    let material = &c.materials()[0];
    assert_eq!(&*material.name, "Skin");
    assert_eq!(material.base_color, [0.5, 0.25, 1.0, 1.0]);
    assert_eq!(material.emissive, [0.0, 0.5, 0.0]);
    assert_eq!(material.alpha, AlphaMode::Opaque);
    assert_eq!(material.metallic, 0.0);
}

#[test]
fn textures_come_from_the_folder() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("fbx_textures");
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(folder.join("inner/maps")).unwrap();
    let path = folder.join("inner/arm.fbx");
    std::fs::write(folder.join("inner/maps/skin.png"), png()).unwrap();
    std::fs::write(folder.join("outside.png"), png()).unwrap();
    for (texture, found) in [
        ("maps\\skin.png", true),
        ("..\\..\\elsewhere\\near.png", true),
        ("..\\outside.png", false),
        ("/etc/passwd", false),
    ] {
        std::fs::write(folder.join("inner/near.png"), png()).unwrap();
        std::fs::write(&path, with_texture(texture).text()).unwrap();
        let c = throng_import::file(&path, &ImportOptions::curves_only()).unwrap();
        let image = c.materials()[0].base_color_texture.unwrap().image;
        let size = c.images()[image as usize].width;
        let replaced = |kind: &RepairKind| matches!(kind, RepairKind::ImageReplaced(_));
        let is_replaced = c.repairs.iter().any(|repair| replaced(&repair.kind));
        assert_eq!((size == 1, is_replaced), (found, !found), "{texture}");
        // A texture replaces the colour.
        assert_eq!(c.materials()[0].base_color, [1.0; 4]);
        // Its file is listed, also if it is not read.
        let unread = ImportOptions {
            images: false,
            ..ImportOptions::curves_only()
        };
        let name = texture.rsplit(['\\', '/']).next().unwrap();
        for listed in [c.files, throng_import::file(&path, &unread).unwrap().files] {
            let is_listed = listed.iter().any(|file| file.ends_with(name));
            assert!(is_listed, "{texture}: {listed:?}");
        }
    }
}

#[test]
fn a_reader_is_never_asked_for_a_path_outside() {
    let read = |path: &str| {
        assert_eq!(path, "x%20 y.png", "not decoded");
        Ok(png())
    };
    let options = ImportOptions {
        resources: Some(ResourceReader::new(read)),
        ..ImportOptions::curves_only()
    };
    let text = with_texture("..\\x%20 y.png").text();
    let c = throng_import::bytes(text.as_bytes(), &options).unwrap();
    assert_eq!(c.repairs, []);
    assert_eq!(*c.images()[0].rgba().unwrap(), [255, 0, 0, 255]);
    let none = ImportOptions {
        images: false,
        ..options
    };
    let c = throng_import::bytes(text.as_bytes(), &none).unwrap();
    assert_eq!(c.images().len(), 0);
}
