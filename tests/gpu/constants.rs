//! The constants that shaders and Rust share, compared by value.

use crate::shader_layout::{GpuInstance, GpuMaterial, GpuPrimitive, GpuTexture, GpuView};
use std::collections::BTreeMap;
use throng::MaterialDesc;
use throng::gpu::SetLayout;
use throng::mesh::Material;
use throng::palette::PaletteFormat;

/// The constants with a counterpart in Rust.
const SHARED: [(&str, u32); 34] = [
    ("LINEAR", PaletteFormat::Mat3x4 as u32),
    ("DUAL_QUAT", PaletteFormat::DualQuat as u32),
    ("DUAL_QUAT_STRETCH", PaletteFormat::DualQuatStretch as u32),
    ("QUAT_OFFSET", PaletteFormat::QuatOffset as u32),
    ("JOINTS_U16", GpuPrimitive::JOINTS_U16),
    ("HAS_NORMALS", GpuPrimitive::HAS_NORMALS),
    ("HAS_UVS", GpuPrimitive::HAS_UVS),
    ("HAS_COLORS", GpuPrimitive::HAS_COLORS),
    ("HAS_TARGETS", GpuPrimitive::HAS_TARGETS),
    ("TINT_BY_ALPHA", GpuPrimitive::TINT_BY_ALPHA),
    ("HAS_TANGENTS", GpuPrimitive::HAS_TANGENTS),
    ("HAS_UVS1", GpuPrimitive::HAS_UVS1),
    ("METHOD_SHIFT", GpuPrimitive::METHOD_SHIFT),
    ("ONE_INFLUENCE", GpuPrimitive::ONE_INFLUENCE),
    ("MANY_INFLUENCES", GpuPrimitive::MANY_INFLUENCES),
    ("READS_SKINNED", GpuPrimitive::READS_SKINNED),
    ("MAY_FLIP", GpuPrimitive::MAY_FLIP),
    ("MAY_HIDE", GpuPrimitive::MAY_HIDE),
    ("LIST_STARTS", GpuPrimitive::LIST_STARTS),
    ("EXTREME_SCALES", GpuPrimitive::EXTREME_SCALES),
    ("NONE", GpuInstance::NONE),
    ("EYES", GpuView::EYES as u32),
    ("SHADOW_LAYERS", GpuView::SHADOW_LAYERS as u32),
    ("ALPHA_MASK", GpuMaterial::ALPHA_MASK),
    ("ALPHA_BLEND", GpuMaterial::ALPHA_BLEND),
    ("UNLIT", GpuMaterial::UNLIT),
    ("TURNS_UVS", GpuMaterial::TURNS_UVS),
    ("SECOND_UVS", GpuMaterial::SECOND_UVS),
    ("SURFACE_NORMALS", GpuMaterial::SURFACE_NORMALS),
    ("SURFACE_TANGENTS", GpuMaterial::SURFACE_TANGENTS),
    ("TWO_SIDED", GpuMaterial::TWO_SIDED),
    ("TEXTURE_SHIFT", GpuMaterial::TEXTURE_SHIFT),
    ("UV_TRANSFORMED", GpuTexture::UV_TRANSFORMED),
    ("EMISSIVE", Material::TEXTURES as u32 - 1),
];
/// The constants that only shaders use: the second set of texture coordinates, and the textures
/// before the last in the order of `Material::textures`.
const SHADER_ONLY: [(&str, u32); 5] = [
    ("UV_SECOND", 1),
    ("BASE_COLOR", 0),
    ("METALLIC_ROUGHNESS", 1),
    ("NORMAL", 2),
    ("OCCLUSION", 3),
];

/// The `const uint THRONG_…` lines of a text, without the prefix.
fn constants(glsl: &str) -> impl Iterator<Item = (&str, u32)> {
    glsl.lines().filter_map(|line| {
        let (name, value) = line.strip_prefix("const uint THRONG_")?.split_once(" = ")?;
        let value = value.split_once("u;")?.0;
        let hexadecimal = value.strip_prefix("0x");
        let number = hexadecimal.map_or(value.parse(), |digits| u32::from_str_radix(digits, 16));
        Some((name, number.unwrap()))
    })
}

#[test]
fn shaders_and_rust_agree() {
    let found: BTreeMap<&str, u32> = [SetLayout::glsl(), MaterialDesc::surface_glsl()]
        .into_iter()
        .flat_map(constants)
        .collect();
    let known: BTreeMap<&str, u32> = SHARED.into_iter().chain(SHADER_ONLY).collect();
    assert_eq!(found, known);
}

/// The test above is not blind: its reader finds each line that declares a constant.
#[test]
fn every_constant_is_read() {
    for glsl in [SetLayout::glsl(), MaterialDesc::surface_glsl()] {
        let declared = glsl.lines().filter(|line| line.starts_with("const uint "));
        assert_eq!(constants(glsl).count(), declared.count());
        assert!(constants(glsl).count() > 5);
    }
}

/// The text for engines is what `throng.glsl` includes, in its order, without include lines.
#[test]
fn the_text_for_engines_is_that_of_the_files() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shaders/include");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let whole = read("throng.glsl");
    let included = whole
        .lines()
        .filter_map(|line| line.strip_prefix("#include "));
    let parts: Vec<String> = included.map(|name| read(name.trim_matches('"'))).collect();
    assert!(parts.len() > 3);
    let guard = "#ifndef THRONG_GLSL\n#define THRONG_GLSL\n";
    assert_eq!(
        SetLayout::glsl(),
        format!("{guard}{}#endif\n", parts.concat())
    );
    assert!(!SetLayout::glsl().contains("#include"));
}
