//! The constants that shaders and Rust share, compared by value.

use std::collections::BTreeMap;
use throng::gpu::{THRONG_GLSL, THRONG_SURFACE_GLSL, layout};
use throng::palette::PaletteFormat;

/// The constants with a counterpart in Rust.
const SHARED: [(&str, u32); 23] = [
    ("SOURCE_RING", layout::SOURCE_RING),
    ("SOURCE_RESIDENT", layout::SOURCE_RESIDENT),
    ("LINEAR", layout::method_code(PaletteFormat::Mat3x4)),
    ("DUAL_QUAT", layout::method_code(PaletteFormat::DualQuat)),
    (
        "DUAL_QUAT_STRETCH",
        layout::method_code(PaletteFormat::DualQuatStretch),
    ),
    (
        "QUAT_OFFSET",
        layout::method_code(PaletteFormat::QuatOffset),
    ),
    ("JOINTS_U16", layout::JOINTS_U16),
    ("HAS_NORMALS", layout::HAS_NORMALS),
    ("HAS_UVS", layout::HAS_UVS),
    ("HAS_COLORS", layout::HAS_COLORS),
    ("WEIGHTS_U8", layout::WEIGHTS_U8),
    ("TINT_BY_ALPHA", layout::TINT_BY_ALPHA),
    ("HAS_TANGENTS", layout::HAS_TANGENTS),
    ("HAS_UVS1", layout::HAS_UVS1),
    ("METHOD_SHIFT", layout::METHOD_SHIFT),
    ("NONE", layout::NONE),
    ("SHADOW_LAYERS", layout::SHADOW_LAYERS as u32),
    ("ALPHA_MASK", layout::ALPHA_MASK),
    ("ALPHA_BLEND", layout::ALPHA_BLEND),
    ("UNLIT", layout::UNLIT),
    ("TEXTURE_SHIFT", layout::TEXTURE_SHIFT),
    ("UV_TRANSFORMED", layout::UV_TRANSFORMED),
    ("EMISSIVE", layout::TEXTURES as u32 - 1),
];
/// The constants that only shaders use: the source of a view's last frame, the second set of
/// texture coordinates, and the textures before the last in the order of `Material::textures`.
const SHADER_ONLY: [(&str, u32); 6] = [
    ("SOURCE_HISTORY", 2),
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
    let found: BTreeMap<&str, u32> = [THRONG_GLSL, THRONG_SURFACE_GLSL]
        .into_iter()
        .flat_map(constants)
        .collect();
    let known: BTreeMap<&str, u32> = SHARED.into_iter().chain(SHADER_ONLY).collect();
    assert_eq!(found, known);
}

/// The test above is not blind: its reader finds each line that declares a constant.
#[test]
fn every_constant_is_read() {
    for glsl in [THRONG_GLSL, THRONG_SURFACE_GLSL] {
        let declared = glsl.lines().filter(|line| line.starts_with("const uint "));
        assert_eq!(constants(glsl).count(), declared.count());
        assert!(constants(glsl).count() > 5);
    }
}
