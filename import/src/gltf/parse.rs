//! Parses text into a document: JSON and versions.

use super::fault::{cut, malformed, not_allowed};
use super::json::{Asset, Document};
use crate::fault::{check_cap, fault, file_part};
use crate::json::{self, Kind, Step, Value, path_text};
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::import::ImportOptions;

/// Reads the JSON, which starts `start` bytes into the file. Rejects versions that are not
/// supported.
pub(super) fn document(json: &[u8], start: usize, options: &ImportOptions) -> Result<Document> {
    let text = text(json, start, options)?;
    let mut doc: Document = json::document(text, object, old_version)?;
    // Older formats and some writers use 0 for "no stride".
    for view in &mut doc.buffer_views.0 {
        view.byte_stride = view.byte_stride.filter(|stride| *stride != 0);
    }
    check_version(&doc.asset)?;
    Ok(doc)
}

/// The JSON as text, if it is not too long.
pub(super) fn text<'a>(json: &'a [u8], start: usize, options: &ImportOptions) -> Result<&'a str> {
    let cap = options.limits.text_bytes.min(u32::MAX.into());
    check_cap(|| file_part(""), "bytes of JSON", json.len() as u64, cap)?;
    core::str::from_utf8(json)
        .map_err(|error| malformed("the JSON is not UTF-8", start + error.valid_up_to()))
}

/// The object at a path in the document.
fn object(path: &[Step<'_>]) -> Object {
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
    let known = match path {
        [Step::Key(key), Step::Index(index), rest @ ..] => {
            let list = LISTS.iter().find(|(name, _)| name == key);
            list.map(|(_, kind)| (*kind, Some(*index), rest))
        }
        _ => None,
    };
    let (kind, index, rest) = known.unwrap_or((ObjectKind::File, None, path));
    let part = cut(&path_text(rest));
    Object { kind, index, part }
}

/// The error of a file of glTF 1.0 or older.
///
/// In these versions, objects have names instead of indices, so they do not have the form of a
/// document.
fn old_version(root: Value<'_>) -> Option<Error> {
    let version = root.get("asset").and_then(|asset| asset.get("version"));
    let version = match version.map(|version| (version.text(), version.number())) {
        Some((Some(version), _)) => version.into(),
        Some((_, Some(number))) => format!("{number:?}"),
        // It was not required before 2.0.
        _ => {
            let lists = ["scenes", "nodes", "meshes", "accessors"];
            let mut lists = lists.into_iter().filter_map(|list| root.get(list));
            if !lists.any(|list| list.kind() == Kind::Map) {
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
