//! The step from bytes to raw data: one reader for each format.

use super::fault::{fault, no_scene};
use super::format::Format;
use super::input::Input;
use throng::error::{AssetFault, ObjectKind, Result};
use throng::import::{RawCharacter, UpAxis};
use throng::skeleton::Skeleton;

/// The contents of a file.
pub(super) struct Read {
    pub(super) raw: RawCharacter,
    /// The axis that points up by the file or its format. The reader has converted it to Y.
    pub(super) up: Option<UpAxis>,
    /// False if the nodes are those of the character that gets the clips.
    pub(super) has_own_nodes: bool,
}

/// Reads a file. With a skeleton, reads only the clips, which that skeleton will get.
#[cfg_attr(
    not(all(feature = "fbx", feature = "ezm", feature = "wgl")),
    allow(
        unused_variables,
        clippy::ptr_arg,
        reason = "readers that are not compiled in use them"
    )
)]
#[cfg_attr(
    not(any(feature = "gltf", feature = "ezm", feature = "wgl")),
    allow(
        unreachable_code,
        unused_mut,
        reason = "without a reader, every format is an error"
    )
)]
pub(super) fn read(
    format: Format,
    input: &Input<'_>,
    clips_for: Option<&Skeleton>,
) -> Result<Read> {
    let scene = input.files.options.scene.filter(|scene| *scene > 0);
    if let Some(scene) = scene.filter(|_| !matches!(format, Format::Gltf | Format::Saved)) {
        return Err(no_scene(scene, 1));
    }
    let repairs = &mut Vec::new();
    let (raw, up): (RawCharacter, Option<UpAxis>) = match (format, clips_for) {
        #[cfg(feature = "gltf")]
        (Format::Gltf, None) => (super::gltf::read_raw(input, repairs)?, Some(UpAxis::Y)),
        #[cfg(feature = "gltf")]
        (Format::Gltf, Some(_)) => (super::gltf::read_clips(input, repairs)?, Some(UpAxis::Y)),
        #[cfg(feature = "fbx")]
        (Format::Fbx, to) => super::fbx::read(input, to.is_none(), repairs)?,
        #[cfg(feature = "ezm")]
        (Format::Ezm, to) => (super::framed::ezm::read(input, to, repairs)?, None),
        #[cfg(feature = "wgl")]
        (Format::WglModel, None) => (super::framed::wgl::read_model(input, repairs)?, None),
        #[cfg(feature = "wgl")]
        (Format::WglVertices, None) => return Err(super::framed::wgl::vertices_alone()),
        // They have no clips, which is reported later.
        #[cfg(feature = "wgl")]
        (Format::WglModel | Format::WglVertices, Some(_)) => (RawCharacter::default(), None),
        #[cfg(feature = "wgl")]
        (Format::WglClip, to) => (super::framed::wgl::read_clips(input, to, repairs)?, None),
        (Format::Saved, _) => {
            let why = AssetFault::Invalid("is a saved character, whose clips cannot be added");
            return Err(fault(ObjectKind::File, None, "", why));
        }
        #[cfg(not(all(feature = "gltf", feature = "fbx", feature = "ezm", feature = "wgl")))]
        (other, _) => return Err(other.without_reader()),
    };
    let mut raw = raw;
    raw.repairs.append(repairs);
    if clips_for.is_none() {
        raw.group_levels_by_name()?;
    }
    // Tracks without a skeleton have the nodes of the character.
    let has_own_nodes = match (format, clips_for) {
        (_, None) => true,
        (Format::WglClip, _) => false,
        (Format::Ezm, _) => !raw.skins.is_empty(),
        _ => true,
    };
    Ok(Read {
        raw,
        up,
        has_own_nodes,
    })
}
