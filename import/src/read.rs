//! The step from bytes to raw data: one reader for each format.

use super::fault::fault;
use super::format::Format;
use super::source::Source;
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
    source: &Source<'_>,
    clips_for: Option<&Skeleton>,
) -> Result<Read> {
    let repairs = &mut Vec::new();
    let (bytes, files, options) = (source.bytes, &source.files, source.files.options);
    let (raw, up): (RawCharacter, Option<UpAxis>) = match (format, clips_for) {
        #[cfg(feature = "gltf")]
        (Format::Gltf, None) => {
            let raw = super::gltf::read_raw(bytes, files, options, repairs)?;
            (raw, Some(UpAxis::Y))
        }
        #[cfg(feature = "gltf")]
        (Format::Gltf, Some(_)) => {
            let raw = super::gltf::read_clips(bytes, files, options, repairs)?;
            (raw, Some(UpAxis::Y))
        }
        #[cfg(feature = "fbx")]
        (Format::Fbx, None) => super::fbx::read_raw(bytes, files, options, repairs)?,
        #[cfg(feature = "fbx")]
        (Format::Fbx, Some(_)) => super::fbx::read_clips(bytes, files, options, repairs)?,
        #[cfg(feature = "ezm")]
        (Format::Ezm, None) => (
            super::framed::ezm::read_raw(bytes, files, options, repairs)?,
            None,
        ),
        #[cfg(feature = "ezm")]
        (Format::Ezm, Some(to)) => (
            super::framed::ezm::read_clips(bytes, to, options, repairs)?,
            None,
        ),
        #[cfg(feature = "wgl")]
        (Format::WglModel, None) => {
            let raw = super::framed::wgl::read_model(bytes, source.path, files, options, repairs)?;
            (raw, None)
        }
        #[cfg(feature = "wgl")]
        (Format::WglVertices, None) => return Err(super::framed::wgl::vertices_alone()),
        // They have no clips, which is reported later.
        #[cfg(feature = "wgl")]
        (Format::WglModel | Format::WglVertices, Some(_)) => (RawCharacter::default(), None),
        #[cfg(feature = "wgl")]
        (Format::WglClip, to) => (
            super::framed::wgl::read_clips(bytes, to, options, repairs)?,
            None,
        ),
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
