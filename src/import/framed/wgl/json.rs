//! The JSON of models and clips. Only its form is checked here.

use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::budget::Budget;
use crate::import::fault::{cut, fault, malformed};
use crate::import::json_text::{json_end, json_fault};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The most elements of a list.
const MAX_ELEMENTS: usize = 65_536;

/// A list of at most [`MAX_ELEMENTS`] elements.
pub(super) type List<T> = crate::import::json_list::List<T, MAX_ELEMENTS>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Model {
    #[serde(default)]
    pub(super) model_version: Option<f64>,
    #[serde(default)]
    pub(super) name: String,
    #[serde(alias = "models")]
    pub(super) meshes: List<Mesh>,
    #[serde(default)]
    pub(super) bones: List<Bone>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mesh {
    #[serde(default)]
    pub(super) material: Option<String>,
    #[serde(default)]
    pub(super) default_texture: Option<String>,
    #[serde(alias = "meshes")]
    pub(super) submeshes: List<Submesh>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Submesh {
    pub(super) index_offset: u64,
    pub(super) index_count: u64,
    #[serde(default)]
    pub(super) bone_offset: u64,
    #[serde(default)]
    pub(super) bone_count: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Bone {
    pub(super) name: String,
    pub(super) parent: i64,
    pub(super) pos: [f32; 3],
    pub(super) rot: [f32; 4],
    #[serde(default)]
    pub(super) skinned: bool,
    #[serde(default)]
    pub(super) bind_pose_mat: List<f32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Clip {
    #[serde(default)]
    pub(super) anim_version: Option<f64>,
    #[serde(default)]
    pub(super) name: String,
    pub(super) frame_rate: f64,
    /// In milliseconds.
    #[serde(default)]
    pub(super) duration: Option<f64>,
    #[serde(default)]
    pub(super) frame_count: Option<u64>,
    pub(super) bones: List<String>,
    pub(super) keyframes: List<List<Key>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Key {
    pub(super) pos: [f32; 3],
    pub(super) rot: [f32; 4],
}

/// Reads the JSON, if it is not too long.
pub(super) fn document<T: DeserializeOwned>(bytes: &[u8], budget: &Budget<'_>) -> Result<T> {
    budget.text(bytes)?;
    let text = core::str::from_utf8(bytes)
        .map_err(|error| malformed("the JSON is not UTF-8", error.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = serde_json::Deserializer::from_str(text);
    let document = serde_path_to_error::deserialize(&mut parser).map_err(|error| {
        let path = error.path().to_string();
        let part = if path == "." { "" } else { &path };
        fault(ObjectKind::File, None, cut(part), json_fault(error.inner()))
    })?;
    json_end(&mut parser)?;
    Ok(document)
}

/// Checks a version, which must be 1 if the file states it.
pub(super) fn check_version(format: &str, part: &str, version: Option<f64>) -> Result<()> {
    match version {
        Some(version) if version != 1.0 => {
            let why = AssetFault::Requires(format!("{format} version {version}").into());
            Err(fault(ObjectKind::File, None, part, why))
        }
        _ => Ok(()),
    }
}
