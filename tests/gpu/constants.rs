//! The constants that shaders and Rust share, compared by value.
//!
//! Names that start with `THRONG_` are public: engines have them, too. The others are for the
//! shaders of this crate alone.

use crate::shader_layout::{
    GpuActor, GpuAttachment, GpuChange, GpuCullView, GpuDraw, GpuInstance, GpuMaterial,
    GpuOcclusion, GpuPrimitive, GpuTexture, GpuView,
};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use throng::MaterialDesc;
use throng::gpu::{AnimateJob, SetLayout};
use throng::mesh::Material;
use throng::palette::PaletteFormat;

/// The constants with a counterpart in Rust.
const SHARED: [(&str, u32); 38] = [
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
    ("VARIES", GpuPrimitive::VARIES),
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
    ("MANY", GpuMaterial::MANY),
    ("MATERIAL_ROWS", size_of::<GpuMaterial>() as u32 / 16),
    ("TEXTURE_SHIFT", GpuMaterial::TEXTURE_SHIFT),
    ("UV_TRANSFORMED", GpuTexture::UV_TRANSFORMED),
    ("TINT_MASK", Material::TEXTURES as u32 - 1),
    ("TINT_WEIGHTS", GpuPrimitive::TINT_WEIGHTS),
    ("TINT_BY_MASK", GpuPrimitive::TINT_BY_MASK),
];
/// The constants that only shaders use: the second set of texture coordinates, and the textures
/// before the last in the order of `Material::textures`.
const SHADER_ONLY: [(&str, u32); 6] = [
    ("UV_SECOND", 1),
    ("BASE_COLOR", 0),
    ("METALLIC_ROUGHNESS", 1),
    ("NORMAL", 2),
    ("OCCLUSION", 3),
    ("EMISSIVE", 4),
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
    }
    assert!(constants(SetLayout::glsl()).count() > 30);
}

/// The text for engines is what `throng.glsl` includes, in its order, without include lines.
#[test]
fn the_text_for_engines_is_that_of_the_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shaders/include");
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

/// The constants of the crate's own shaders that follow from a struct or a public type.
fn derived() -> [(&'static str, u32); 46] {
    let rows = |bytes: usize| bytes as u32 / 16;
    let word = |bytes: usize| bytes as u32 / 4;
    [
        ("LINEAR", PaletteFormat::Mat3x4 as u32),
        ("DUAL_QUAT", PaletteFormat::DualQuat as u32),
        ("DUAL_QUAT_STRETCH", PaletteFormat::DualQuatStretch as u32),
        ("QUAT_OFFSET", PaletteFormat::QuatOffset as u32),
        ("INSTANCE_ROWS", rows(size_of::<GpuInstance>())),
        ("INSTANCE_WORDS", word(size_of::<GpuInstance>())),
        ("INSTANCE_STAMP", word(offset_of!(GpuInstance, stamp))),
        ("INSTANCE_PALETTE", word(offset_of!(GpuInstance, palette))),
        ("INSTANCE_MORPHS", word(offset_of!(GpuInstance, morphs))),
        ("INSTANCE_SKINNED", word(offset_of!(GpuInstance, skinned))),
        ("ACTOR_ROWS", rows(size_of::<GpuActor>())),
        ("ACTOR_FLIPPED", GpuActor::FLIPPED),
        ("ACTOR_VARIES", GpuActor::VARIES),
        ("ACTOR_NEW", GpuActor::NEW),
        ("ACTOR_POSED", GpuActor::POSED),
        ("ACTOR_SKINS", GpuActor::SKINS),
        ("ACTOR_HIDDEN", word(offset_of!(GpuActor, hidden))),
        (
            "INSTANCE_VARIANT",
            word(offset_of!(GpuInstance, colors)) + 3,
        ),
        ("DRAW_NO_PART", GpuDraw::NO_PART),
        ("DRAW_ORDINAL_SHIFT", GpuDraw::ORDINAL_SHIFT),
        ("ACTOR_POSE_ERROR", u32::MAX << GpuActor::FLAG_BITS),
        ("PLAY_COUNT_BITS", GpuActor::PLAY_COUNT_BITS),
        ("CHANGE_ROWS", rows(size_of::<GpuChange>())),
        ("ATTACHMENT_ROWS", rows(size_of::<GpuAttachment>())),
        ("VIEW_ROWS", rows(size_of::<GpuCullView>())),
        ("VIEW_PERSPECTIVE", GpuCullView::PERSPECTIVE),
        ("VIEW_COARSE", GpuCullView::COARSE),
        ("VIEW_BUDGET", GpuCullView::BUDGET),
        ("VIEW_BEHIND", GpuCullView::BEHIND),
        ("VIEW_RECEIVERS", GpuCullView::RECEIVERS),
        ("RECEIVERS_LIGHT", rows(offset_of!(GpuOcclusion, light))),
        ("RECEIVERS_PLANE", rows(offset_of!(GpuOcclusion, plane))),
        ("RECEIVERS_MISSED", rows(offset_of!(GpuOcclusion, missed))),
        ("VOLUME_SHIFT", GpuActor::VOLUME_SHIFT),
        ("VOLUMES", GpuActor::LAST_BOX),
        ("REST_BOX", GpuActor::REST_BOX),
        ("VIEW_LATE", GpuCullView::LATE),
        ("VIEW_HISTORY", GpuCullView::HISTORY),
        ("OCCLUSION_ROWS", rows(size_of::<GpuOcclusion>())),
        (
            "OCCLUSION_ROUNDING",
            rows(offset_of!(GpuOcclusion, per_metre)),
        ),
        ("OCCLUSION_EDGES", rows(offset_of!(GpuOcclusion, edges))),
        (
            "OCCLUSION_LIMITS",
            rows(offset_of!(GpuOcclusion, last_pixel)),
        ),
        (
            "OCCLUSION_LEVELS",
            rows(offset_of!(GpuOcclusion, depth_step)),
        ),
        ("OCCLUSION_PLACES", rows(offset_of!(GpuOcclusion, levels))),
        ("OCCLUSION_HISTORY", rows(offset_of!(GpuOcclusion, history))),
        ("NO_WEIGHTS", AnimateJob::NONE),
    ]
}

/// The constants that only shaders use.
const OWN: [&str; 31] = [
    "ALONE",
    "BINS",
    "BLOCKS",
    "CHOSEN",
    "COVERED",
    "DEPTH_ROUNDING",
    "EDGE",
    "ENOUGH",
    "FINER",
    "FLAT",
    "GREATEST",
    "HELD",
    "HIDDEN",
    "KEPT",
    "LANES",
    "LOOKS_WORKGROUP",
    "NEAREST",
    "NOT_SHOWN",
    "NO_ADDRESS",
    "NO_CLASS",
    "OUTSIDE",
    "OWN_IF_SEEN",
    "OWN_POSE",
    "PI",
    "PYRAMID_LANES",
    "ROUNDING",
    "SEEN",
    "SEGMENTS",
    "SNAPPED",
    "TOO_SMALL",
    "UNSEEN",
];
/// The places of what Rust writes or reads in order.
const PLACES: [&str; 39] = [
    "CHARACTER_ERRORS",
    "CHARACTER_PALETTE_ROWS",
    "CHARACTER_REST",
    "CHARACTER_SHARED",
    "CHARACTER_SKINS",
    "CHARACTER_TRIANGLES",
    "ENTRY_ROWS",
    "HEADER_COUNTS",
    "HEADER_DEPTH",
    "HEADER_STARTS",
    "JOINT_ROWS",
    "RAY_APPROXIMATED",
    "RAY_CHARACTERS",
    "RAY_CHOSEN",
    "RAY_COUNT",
    "RAY_JOBS",
    "RAY_LEFT_OUT",
    "RAY_OWN",
    "RAY_RING",
    "RAY_SLOTS",
    "RAY_START",
    "RAY_TABLE",
    "RAY_TOTAL",
    "RAY_VERTICES",
    "RAY_VIEW",
    "RAY_VIEW_ADDRESS",
    "RAY_WITHOUT",
    "TABLE_BINDING",
    "TABLE_CLIPS",
    "TABLE_ERRORS",
    "TABLE_FLAGS",
    "TABLE_GEOMETRIES",
    "TABLE_LEVEL",
    "TABLE_POSES",
    "TABLE_SLOT_VERTICES",
    "TOTAL_SHARED",
    "TOTAL_SKINNED",
    "TOTAL_WITHOUT_MEMORY",
    "WEIGHTS_SPAN",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The crate's own shaders and the files that they include: names and texts.
fn shaders() -> Vec<(String, String)> {
    let folders = ["shaders", "shaders/include"].map(|folder| repository().join(folder));
    let entries = folders
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file());
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).unwrap())
    };
    files.map(read).collect()
}

/// A number of Rust or GLSL.
fn number(text: &str) -> Option<f64> {
    let text = text.replace('_', "");
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits.trim_end_matches('u'), 16)
            .ok()
            .map(f64::from),
        // Both languages have these as `f32`.
        None if text.contains(['.', 'e']) => text.parse::<f32>().ok().map(f64::from),
        None => text.trim_end_matches('u').parse().ok(),
    }
}

/// The constants of the shaders, without the public ones: file, name and value.
fn own_constants(shaders: &[(String, String)]) -> Vec<(&str, &str, &str)> {
    let mut found = Vec::new();
    for (file, text) in shaders {
        for line in text.lines() {
            let mut starts = ["const uint ", "const float "].iter();
            let rest = starts.find_map(|start| line.strip_prefix(*start));
            let Some((rest, _)) = rest.and_then(|rest| rest.split_once(';')) else {
                continue;
            };
            for constant in rest.split(", ") {
                let (name, value) = constant.split_once(" = ").unwrap();
                if !name.starts_with("THRONG_") {
                    found.push((file.as_str(), name, value));
                }
            }
        }
    }
    found
}

/// The constants of `src/gpu/constants.rs`.
fn listed() -> BTreeMap<String, f64> {
    let text = std::fs::read_to_string(repository().join("src/gpu/constants.rs")).unwrap();
    let constants = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub(crate) const "));
    let constant = |line: &str| {
        let (name, rest) = line.split_once(": ").unwrap();
        let value = rest.split_once(" = ").unwrap().1.trim_end_matches(';');
        (name.to_owned(), number(value).expect(line))
    };
    constants.map(constant).collect()
}

#[test]
fn own_shaders_and_rust_agree() {
    let mut shared = listed();
    assert!(shared.len() > 30);
    for (name, value) in derived() {
        assert!(shared.insert(name.into(), value.into()).is_none(), "{name}");
    }
    let alone: BTreeSet<&str> = OWN.into_iter().chain(PLACES).collect();
    let shaders = shaders();
    let mut found = BTreeSet::new();
    for (file, name, value) in own_constants(&shaders) {
        found.insert(name);
        match shared.get(name) {
            Some(own) => assert_eq!(number(value), Some(*own), "{file}: {name}"),
            None => assert!(alone.contains(name), "{file}: {name} is in no list"),
        }
        assert!(
            !(shared.contains_key(name) && alone.contains(name)),
            "{name}"
        );
    }
    let known = shared.keys().map(String::as_str).chain(alone);
    assert_eq!(found, known.collect());
}

/// The words of a character follow each other as Rust writes them.
#[test]
fn the_words_of_a_character_follow_each_other() {
    let shaders = shaders();
    let constants = own_constants(&shaders);
    let value = |wanted: &str| {
        let mut all = constants.iter().filter(|(_, name, _)| *name == wanted);
        number(all.next().unwrap().2).unwrap()
    };
    let levels = value("MAX_LEVELS");
    let mut at = value("CHARACTER_PALETTE_ROWS") + 1.0;
    for (name, words) in [
        ("CHARACTER_ERRORS", levels),
        ("CHARACTER_TRIANGLES", levels),
        ("CHARACTER_SHARED", 2.0),
        ("CHARACTER_REST", 2.0),
        ("CHARACTER_SKINS", value("SKINS")),
        ("CHARACTER_LOOKS", 8.0),
        ("CHARACTER_WORDS", 0.0),
    ] {
        assert_eq!(value(name), at, "{name}");
        at += words;
    }
}

/// Workgroup sizes are specialization constants, or constants that the test above knows.
#[test]
fn no_workgroup_size_is_a_number() {
    let mut count = 0;
    for (file, text) in shaders() {
        for line in text.lines().filter(|line| line.contains("local_size")) {
            count += 1;
            let has_name = line
                .strip_prefix("layout(local_size_x = ")
                .is_some_and(|size| size.starts_with(|c: char| c.is_ascii_uppercase()));
            assert!(
                has_name || line.starts_with("layout(local_size_x_id = "),
                "{file}: {line}"
            );
        }
    }
    assert_eq!(count, 19);
}
