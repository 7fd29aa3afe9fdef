//! Adding clips of files of any format to characters from other files.

use super::fault::fault;
use super::folder::{Files, open};
use super::format::Format;
use super::imported::Imported;
use super::options::{ImportOptions, UpAxis};
use super::raw::RawCharacter;
use super::repair::Repair;
use super::source::Source;
use super::space;
use crate::character::Character;
use crate::error::{AssetFault, ObjectKind, Result};
use std::path::Path;

impl Character {
    /// Adds the clips of another file: glTF, FBX, EZMesh or a WebGL clip (`.wglanim`).
    ///
    /// The format is recognised as by [`import::file`](super::file()); each reader is a Cargo
    /// feature. The file may refer to other files only if [`ImportOptions::resources`] provides
    /// them. Joints and morph targets are matched by name, also between formats.
    ///
    /// Only nodes, skins, animations and names of morph targets are read, in all scenes of the
    /// file. The file needs no mesh and no skin, and what it draws is not decoded. A file without a
    /// hierarchy, such as a WebGL clip, takes that of the character. See
    /// [`RawCharacter::add_clips`] for the matching, the names of clips and the repairs.
    ///
    /// The character itself is not changed: the result has the clips of both.
    ///
    /// ```no_run
    /// use throng::import::{self, ImportOptions};
    ///
    /// let knight = import::file("knight.glb", &ImportOptions::default())?;
    /// let options = ImportOptions { name: "dance".into(), ..Default::default() };
    /// let added = knight.add_clips(&std::fs::read("dance.glb")?, &options)?;
    /// for repair in &added.repairs {
    ///     println!("{repair}");
    /// }
    /// let dance = added.clip("dance")?;
    /// # let _ = dance;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Asset`](crate::Error::Asset), naming the object at fault and the reason. Also if
    ///   the file has no animation, or none with tracks.
    /// - [`Error::NoCommonJoints`](crate::Error::NoCommonJoints) if nothing that the file animates
    ///   is found in the character.
    pub fn add_clips(&self, bytes: &[u8], options: &ImportOptions) -> Result<Imported> {
        add(self, Source::of_bytes(bytes, options))
    }

    /// [`Self::add_clips`] for the path of a file.
    ///
    /// Files that it refers to are read as by [`import::file`](super::file()).
    ///
    /// # Errors
    /// As [`Self::add_clips`], and [`Error::Io`](crate::Error::Io) if the file itself cannot be
    /// read.
    pub fn add_clips_file(
        &self,
        path: impl AsRef<Path>,
        options: &ImportOptions,
    ) -> Result<Imported> {
        let path = path.as_ref();
        let options = options.clone().named(path);
        let (bytes, folder) = open(path, &options)?;
        let source = Source {
            bytes: &bytes,
            path,
            folder: Some(&folder),
            options: &options,
        };
        let mut added = add(self, source)?;
        added.files = folder.into_listed();
        Ok(added)
    }
}

/// Returns true if the file at `path` has joints of its own, with their parents.
///
/// WebGL clips and EZMesh files without a skeleton have only tracks by joint name. Their keys are
/// relative to parents that only the character has. Such clips are for
/// [`Character::add_clips_file`]: they cannot be [retargeted](crate::retarget).
///
/// Returns true if the file cannot be read. Importing it reports the reason.
pub fn has_hierarchy(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let options = ImportOptions::curves_only().named(path);
    let Ok((bytes, _)) = open(path, &options) else {
        return true;
    };
    match Format::of(&bytes, &path.to_string_lossy()) {
        Ok(Format::WglClip) => false,
        #[cfg(feature = "ezm")]
        Ok(Format::Ezm) => super::framed::ezm::has_skeleton(&bytes, &options).unwrap_or(true),
        _ => true,
    }
}

fn add(character: &Character, source: Source<'_>) -> Result<Imported> {
    source.import(|format, files, repairs| {
        let (mut raw, stated) = read_raw(character, (format, source), files, repairs)?;
        // Tracks without a skeleton have the nodes of the character.
        let own_nodes = match format {
            Format::WglClip => false,
            Format::Ezm => !raw.skins.is_empty(),
            _ => true,
        };
        space::convert(&mut raw, stated, own_nodes, source.options, repairs)?;
        raw.add_clips(character, source.options)
    })
}

#[cfg_attr(
    not(all(feature = "fbx", feature = "ezm", feature = "wgl")),
    allow(
        unused_variables,
        clippy::ptr_arg,
        reason = "readers that are not compiled in use them"
    )
)]
fn read_raw(
    character: &Character,
    (format, source): (Format, Source<'_>),
    files: &Files<'_>,
    repairs: &mut Vec<Repair>,
) -> Result<(RawCharacter, Option<UpAxis>)> {
    let (bytes, options) = (source.bytes, source.options);
    let raw = match format {
        #[cfg(feature = "gltf")]
        Format::Gltf => {
            let raw = super::gltf::read_clips(bytes, files, options, repairs)?;
            // So says the format.
            return Ok((raw, Some(UpAxis::Y)));
        }
        #[cfg(feature = "fbx")]
        Format::Fbx => return super::fbx::read_clips(bytes, files, options, repairs),
        #[cfg(feature = "ezm")]
        Format::Ezm => {
            super::framed::ezm::read_clips(bytes, Some(character.skeleton()), options, repairs)
        }
        // They have no clips, which is reported later.
        #[cfg(feature = "wgl")]
        Format::WglModel | Format::WglVertices => Ok(RawCharacter::default()),
        #[cfg(feature = "wgl")]
        Format::WglClip => {
            super::framed::wgl::read_clips(bytes, Some(character.skeleton()), options, repairs)
        }
        Format::Saved => {
            let why = AssetFault::Invalid("is a saved character, whose clips cannot be added");
            Err(fault(ObjectKind::File, None, "", why))
        }
        #[cfg(not(all(feature = "fbx", feature = "ezm", feature = "wgl")))]
        other => Err(other.without_reader()),
    };
    Ok((raw?, None))
}
