//! The JSON of models and clips. Only its form is checked here.

use crate::budget::Budget;
use crate::fault::{cut, fault, malformed};
use crate::json::{self, Read, Step, file_structs, none, path_text};
use throng::error::{AssetFault, Object, ObjectKind, Result};

/// The most elements of a list.
const MAX_ELEMENTS: usize = 65_536;

/// A list of at most [`MAX_ELEMENTS`] elements.
pub(super) type List<T> = json::List<T, MAX_ELEMENTS>;

file_structs! {
    pub(super) struct Model {
        "modelVersion" => model_version: Option<f64>,
        "name" => name: String = none(),
        "meshes" | "models" => meshes: List<Mesh>,
        "bones" => bones: List<Bone> = none(),
    }

    pub(super) struct Mesh {
        "material" => material: Option<String>,
        "defaultTexture" => default_texture: Option<String>,
        "submeshes" | "meshes" => submeshes: List<Submesh>,
    }

    pub(super) struct Submesh {
        "indexOffset" => index_offset: u64,
        "indexCount" => index_count: u64,
        "boneOffset" => bone_offset: u64 = 0,
        "boneCount" => bone_count: u64 = 0,
    }

    pub(super) struct Bone {
        "name" => name: String,
        "parent" => parent: i64,
        "pos" => pos: [f32; 3],
        "rot" => rot: [f32; 4],
        "skinned" => skinned: bool = false,
        "bindPoseMat" => bind_pose_mat: List<f32> = none(),
    }

    pub(super) struct Clip {
        "animVersion" => anim_version: Option<f64>,
        "name" => name: String = none(),
        "frameRate" => frame_rate: f64,
        /// In milliseconds.
        "duration" => duration: Option<f64>,
        "frameCount" => frame_count: Option<u64>,
        "bones" => bones: List<String>,
        "keyframes" => keyframes: List<List<Key>>,
    }

    pub(super) struct Key {
        "pos" => pos: [f32; 3],
        "rot" => rot: [f32; 4],
    }
}

/// Reads the JSON, if it is not too long.
pub(super) fn document<T: Read>(bytes: &[u8], budget: &Budget<'_>) -> Result<T> {
    budget.text(bytes)?;
    let text = core::str::from_utf8(bytes)
        .map_err(|error| malformed("the JSON is not UTF-8", error.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let object = |path: &[Step<'_>]| Object {
        kind: ObjectKind::File,
        index: None,
        part: cut(&path_text(path)),
    };
    json::document(text, object, |_| None)
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
