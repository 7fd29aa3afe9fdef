//! Parses text into a document: JSON and versions.

use super::fault::{cut, malformed, not_allowed};
use super::json::{Asset, Document};
use super::json_lenient::{Form, Lenient};
use crate::error::{AssetFault, Error, ObjectKind, Result};
use crate::import::fault::fault;
use crate::import::json_text::{json_end, json_fault};
use crate::import::options::ImportOptions;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess};
use serde_path_to_error::Segment;

/// Reads the JSON, which starts `start` bytes into the file. Rejects versions that are not
/// supported.
pub(super) fn document(json: &[u8], start: usize, options: &ImportOptions) -> Result<Document> {
    let text = text(json, start, options)?;
    // The parser limits the depth to 128 levels, except for values that are skipped, which take no
    // stack.
    let mut parser = serde_json::Deserializer::from_str(text);
    let doc: Result<Document> = serde_path_to_error::deserialize(&mut parser).map_err(|error| {
        let (kind, index, part) = place(error.path());
        fault(kind, index, part, json_fault(error.inner()))
    });
    let doc = doc.map_err(|error| old_version(text).unwrap_or(error))?;
    json_end(&mut parser)?;
    check_version(&doc.asset)?;
    Ok(doc)
}

/// The JSON as text, if it is not too long.
pub(super) fn text<'a>(json: &'a [u8], start: usize, options: &ImportOptions) -> Result<&'a str> {
    if json.len() as u64 > options.max_json_bytes {
        let why = AssetFault::Cap {
            what: "bytes of JSON",
            asked: json.len() as u64,
            cap: options.max_json_bytes,
        };
        return Err(fault(ObjectKind::File, None, "", why));
    }
    core::str::from_utf8(json)
        .map_err(|error| malformed("the JSON is not UTF-8", start + error.valid_up_to()))
}

/// The object at a path in the document: its kind, its index and the rest of the path.
fn place(path: &serde_path_to_error::Path) -> (ObjectKind, Option<usize>, Box<str>) {
    const LISTS: [(&str, ObjectKind); 12] = [
        ("scenes", ObjectKind::Scene),
        ("nodes", ObjectKind::Node),
        ("skins", ObjectKind::Skin),
        ("meshes", ObjectKind::Mesh),
        ("animations", ObjectKind::Animation),
        ("materials", ObjectKind::Material),
        ("textures", ObjectKind::Texture),
        ("images", ObjectKind::Image),
        ("samplers", ObjectKind::Sampler),
        ("accessors", ObjectKind::Accessor),
        ("bufferViews", ObjectKind::BufferView),
        ("buffers", ObjectKind::Buffer),
    ];
    let segments: Vec<&Segment> = path.iter().collect();
    let (kind, index, rest) = match segments.as_slice() {
        [Segment::Map { key }, Segment::Seq { index }, rest @ ..] => {
            match LISTS.iter().find(|(name, _)| name == key) {
                Some((_, kind)) => (*kind, Some(*index), rest),
                None => (ObjectKind::File, None, segments.as_slice()),
            }
        }
        all => (ObjectKind::File, None, all),
    };
    let mut part = String::new();
    for segment in rest {
        match segment {
            Segment::Seq { index } => part.push_str(&format!("[{index}]")),
            other => {
                if !part.is_empty() {
                    part.push('.');
                }
                part.push_str(&other.to_string());
            }
        }
    }
    (kind, index, cut(&part))
}

/// The error of a file of glTF 1.0 or older.
///
/// In these versions, objects have names instead of indices, so they do not have the form of a
/// document.
fn old_version(text: &str) -> Option<Error> {
    let probe: Probe = serde_json::from_str(text).ok()?;
    let asset = probe.asset.and_then(|asset| asset.0);
    let version = match asset.and_then(|asset| asset.version?.0) {
        Some(Shape::Text(version)) => version,
        Some(Shape::Number(version)) => format!("{version:?}"),
        // It was not required before 2.0.
        _ => {
            let lists = [probe.scenes, probe.nodes, probe.meshes, probe.accessors];
            let is_map = |list: &Lenient<Shape>| matches!(list.0, Some(Shape::Map));
            if !lists.iter().flatten().any(is_map) {
                return None;
            }
            "1.0".into()
        }
    };
    let is_old = ["0", "0.", "1", "1."]
        .iter()
        .any(|start| version == *start || start.ends_with('.') && version.starts_with(start));
    let why = || AssetFault::Requires(cut(&format!("glTF {version}")));
    is_old.then(|| fault(ObjectKind::File, None, "asset.version", why()))
}

/// The parts of a document that tell its version.
#[derive(Deserialize)]
struct Probe {
    asset: Option<Lenient<ProbeAsset>>,
    scenes: Option<Lenient<Shape>>,
    nodes: Option<Lenient<Shape>>,
    meshes: Option<Lenient<Shape>>,
    accessors: Option<Lenient<Shape>>,
}

#[derive(Deserialize)]
struct ProbeAsset {
    version: Option<Lenient<Shape>>,
}

impl<'de> Form<'de> for ProbeAsset {
    fn map<A: MapAccess<'de>>(map: A) -> Result<Option<Self>, A::Error> {
        Self::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }
}

/// A value that is not a list.
enum Shape {
    Map,
    Text(String),
    Number(f64),
}

impl<'de> Form<'de> for Shape {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Some(Self::Map))
    }
    fn text(text: &str) -> Option<Self> {
        Some(Self::Text(text.into()))
    }
    fn number(number: f64) -> Option<Self> {
        Some(Self::Number(number))
    }
}

fn check_version(asset: &Asset) -> Result<()> {
    let at = |part: &str, why| fault(ObjectKind::File, None, part, why);
    let parse = |text: &str| -> Option<(u32, u32)> {
        let (major, minor) = text.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    match parse(&asset.version) {
        Some((2, _)) => {}
        Some(_) => {
            let wanted = format!("glTF {}", asset.version);
            return Err(at("asset.version", AssetFault::Requires(cut(&wanted))));
        }
        None => {
            let why = not_allowed("the version", &asset.version, "2.x");
            return Err(at("asset.version", why));
        }
    }
    match asset.min_version.as_deref().map(|text| (text, parse(text))) {
        None | Some((_, Some((2, 0)))) => Ok(()),
        Some((text, Some(_))) => {
            let wanted = format!("glTF {text}");
            Err(at("asset.minVersion", AssetFault::Requires(cut(&wanted))))
        }
        Some((text, None)) => {
            let why = not_allowed("the version", text, "2.x");
            Err(at("asset.minVersion", why))
        }
    }
}
