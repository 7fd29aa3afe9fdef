//! Textures of EZMesh and WebGL models, and the case of file names.

use crate::builder::{arm, grey_png};
use crate::reference::words::{Fails, Says};
use crate::samples::{WGL_MODEL, ezm_text, wgl_triangle};
use std::path::{Path, PathBuf};
use throng::import::{ImportLimits, ImportOptions, Imported, RepairKind};

fn folder(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(std::fs::remove_dir_all(&folder));
    for (file, bytes) in files {
        let path = folder.join("inner").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder.join("inner")
}

fn ezm(material: &str) -> String {
    ezm_text().replace("\"skin\"", &format!("\"{material}\""))
}

#[track_caller]
fn load(path: &Path) -> Imported {
    let options = ImportOptions::curves_only();
    throng_import::file(path, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// The size of the base colour of the only primitive.
fn texture(imported: &Imported) -> Option<(u32, u32)> {
    let material = &imported.materials()[imported.primitives()[0].material as usize];
    let image = &imported.images()[material.base_color_texture?.image as usize];
    Some((image.width, image.height))
}

fn base_color(imported: &Imported) -> [f32; 4] {
    imported.materials()[imported.primitives()[0].material as usize].base_color
}

#[test]
fn ezmesh_textures_are_found_by_name() {
    let png = grey_png(3, 2);
    for (number, (material, file)) in [
        ("skin.png", "skin.png"),
        ("Skin.PNG", "skin.png"),
        ("art/skin.png", "art/skin.png"),
        ("art/skin.png", "Art/SKIN.png"),
        ("art\\skin.png", "art/skin.png"),
        ("C:\\work\\art\\skin.png", "skin.png"),
        ("/work/art/skin.png", "art/skin.png"),
        ("../../art/skin.png", "skin.png"),
        // The format of the file is not read, but the same image is there.
        ("skin.tga", "skin.png"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = ezm(material);
        let files = [("a.ezm", text.as_bytes()), (file, &*png)];
        let imported = load(&folder(&format!("ezm_texture_{number}"), &files).join("a.ezm"));
        assert_eq!(texture(&imported), Some((3, 2)), "{material} {file}");
        assert_eq!(base_color(&imported), [1.0; 4]);
        assert!(imported.repairs.is_empty(), "{:?}", imported.repairs);
    }
    let text = ezm_text().replace("meta_data=\"\"", "meta_data=\"diffuse=skin.png; shiny\"");
    let files = [("a.ezm", text.as_bytes()), ("skin.png", &*png)];
    let imported = load(&folder("ezm_meta_data", &files).join("a.ezm"));
    assert_eq!(texture(&imported), Some((3, 2)));
}

#[test]
fn webgl_textures_are_found_by_name() {
    let png = grey_png(3, 2);
    for (number, file) in [
        "root/texture/Player.png",
        "texture/player.PNG",
        "Player.png",
    ]
    .into_iter()
    .enumerate()
    {
        let vertices = wgl_triangle();
        let files = [
            ("a.wglmodel", WGL_MODEL.as_bytes()),
            ("a.wglvert", &*vertices),
            (file, &*png),
        ];
        let imported = load(&folder(&format!("wgl_texture_{number}"), &files).join("a.wglmodel"));
        assert_eq!(texture(&imported), Some((3, 2)), "{file}");
    }
}

#[test]
fn without_a_texture_the_material_is_neutral_and_the_reason_is_told() {
    let secret = grey_png(3, 2);
    for (number, (material, words)) in [
        ("skin.png", "which cannot be read: it does not exist"),
        ("broken.png", "cannot be decoded: "),
        ("pointer.png", "which is only a Git LFS pointer"),
        ("../secret.png", "which cannot be read: it does not exist"),
        ("..\\secret.png", "which cannot be read: it does not exist"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = ezm(material);
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
        let files = [
            ("a.ezm", text.as_bytes()),
            ("broken.png", b"not an image"),
            ("pointer.png", pointer),
            ("../secret.png", &*secret),
        ];
        let imported = load(&folder(&format!("ezm_lost_{number}"), &files).join("a.ezm"));
        assert_eq!(texture(&imported), None);
        assert_eq!(base_color(&imported), [0.5, 0.5, 0.5, 1.0]);
        let [repair] = &*imported.repairs else {
            panic!("{:?}", imported.repairs);
        };
        assert!(matches!(repair.kind, RepairKind::ImageLeftOut(_)));
        repair.says(format!("…{words}…"));
        repair.says("…a.ezm: material 0, texture …");
    }
    // No texture at all.
    let text = ezm_text();
    let imported = throng_import::bytes(text.as_bytes(), &ImportOptions::curves_only()).unwrap();
    assert_eq!(base_color(&imported), [0.5, 0.5, 0.5, 1.0]);
    assert!(imported.repairs.is_empty());
    let text = text.replace("material=\"skin\"", "");
    let imported = throng_import::bytes(text.as_bytes(), &ImportOptions::curves_only()).unwrap();
    assert_eq!(base_color(&imported), [0.5, 0.5, 0.5, 1.0]);
}

#[cfg(unix)]
#[test]
fn textures_are_never_read_through_links_out_of_the_folder() {
    let text = ezm("Skin.png");
    let inner = folder(
        "ezm_link",
        &[
            ("a.ezm", text.as_bytes()),
            ("../secret.png", &grey_png(3, 2)),
        ],
    );
    std::os::unix::fs::symlink(inner.join("../secret.png"), inner.join("skin.png")).unwrap();
    let imported = load(&inner.join("a.ezm"));
    assert_eq!(texture(&imported), None);
    imported.repairs[0]
        .to_string()
        .says("…is a link out of the folder…");
}

#[test]
fn caps_hold_for_textures() {
    let text = ezm("skin.png");
    let files = [("a.ezm", text.as_bytes()), ("skin.png", &*grey_png(64, 64))];
    let path = folder("ezm_caps", &files).join("a.ezm");
    let options = ImportOptions {
        limits: ImportLimits {
            image_texels: 100,
            ..ImportLimits::default()
        },
        ..ImportOptions::curves_only()
    };
    throng_import::file(&path, &options).fails(
        "a.ezm: material 0, texture skin.png: texels of one image: 4096 exceeds the limit \
             of 100",
    );
    let options = ImportOptions {
        images: false,
        ..ImportOptions::curves_only()
    };
    let imported = throng_import::file(&path, &options).unwrap();
    assert!(imported.images().is_empty() && imported.repairs.is_empty());
}

/// True if two files may have names that differ in case only.
fn distinguishes_case() -> bool {
    let folder = folder("case_of_names", &[("lower", b"")]);
    !folder.join("LOWER").exists()
}

#[test]
fn files_beside_a_model_are_found_in_any_case() {
    let (gltf, bin) = (arm().gltf_beside("Data/Arm.BIN"), arm().bin);
    let files = [("a.gltf", &*gltf), ("data/ARM.bin", &*bin)];
    load(&folder("any_case", &files).join("a.gltf"));
    if !distinguishes_case() {
        // Two such names are one file, as on Windows.
        return;
    }
    // The exact name wins, then the first in byte order.
    let broken = [0_u8; 4];
    let files = [
        ("a.gltf", &*gltf),
        ("Data/Arm.BIN", &*bin),
        ("Data/ARM.bin", &broken),
    ];
    load(&folder("exact_case", &files).join("a.gltf"));
    let files = [
        ("a.gltf", &*gltf),
        ("Data/ARM.bin", &*bin),
        ("Data/arm.bin", &broken),
    ];
    load(&folder("first_case", &files).join("a.gltf"));
}
