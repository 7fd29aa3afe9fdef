//! Parses text into a document: JSON and versions.

use super::fault::{cut, malformed, message, not_allowed};
use super::json::{Asset, Document};
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::fault::fault;
use crate::import::options::ImportOptions;
use serde_path_to_error::Segment;

/// Reads the JSON, which starts `start` bytes into the file. Rejects versions that are not
/// supported.
pub(super) fn document(json: &[u8], start: usize, options: &ImportOptions) -> Result<Document> {
    let text = text(json, start, options)?;
    // The parser limits the depth to 128 levels, except for values that are skipped, which take no
    // stack.
    let mut parser = serde_json::Deserializer::from_str(text);
    let doc: Document = serde_path_to_error::deserialize(&mut parser).map_err(|error| {
        let (kind, index, part) = place(error.path());
        fault(kind, index, part, json_fault(error.inner()))
    })?;
    parser
        .end()
        .map_err(|error| fault(ObjectKind::File, None, "", json_fault(&error)))?;
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

pub(super) fn json_fault(error: &serde_json::Error) -> AssetFault {
    // The parser's message ends with the position, which has its own fields here.
    let words = error.to_string();
    let end = words.rfind(" at line ").unwrap_or(words.len());
    AssetFault::Json {
        what: message(&words[..end]),
        line: error.line(),
        column: error.column(),
    }
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
