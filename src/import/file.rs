//! Import of files of any format.

use super::fault::fault;
use super::folder::{Files, open};
use super::format::Format;
use super::imported::Imported;
use super::options::{ImportOptions, UpAxis};
use super::raw::RawCharacter;
use super::repair::Repair;
use super::sidecar;
use super::source::Source;
use super::space;
use crate::character::{AnimationSource, Character};
use crate::error::{AssetFault, ObjectKind, Result};
use std::path::Path;

/// Imports a file of any format that the crate reads.
///
/// The format is recognised by the contents of the file, and by its extension only if the contents
/// fit none or several:
///
/// | format | Cargo feature |
/// |---|---|
/// | [glTF 2.0](crate::import#gltf) (`.glb`, `.gltf`, `.vrm`, `.vrma`) | `gltf` |
/// | [FBX](crate::import#fbx) (`.fbx`) | `fbx` |
/// | [EZMesh](crate::import#ezmesh) (`.ezm`) | `ezm` |
/// | [WebGL model or clip](crate::import#webgl-models) (`.wglmodel`, `.wglanim`) | `wgl` |
/// | [saved character](crate::import#saved-characters) (`.throng`) | none |
///
/// Other files are read from the file's folder, or from [`ImportOptions::resources`]; see
/// [Files that a file refers to](crate::import#files-that-a-file-refers-to). A TOML file of the
/// same name may hold [animation data](crate::import#animation-data-beside-a-file).
///
/// ```no_run
/// use throng::import;
///
/// for path in ["knight.glb", "girl.ezm", "player.wglmodel", "knight.throng"] {
///     let character = import::file(path, &Default::default())?;
///     println!("{path}: {} joints", character.skeleton().len());
/// }
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// - [`Error::Io`](crate::Error::Io) if the file cannot be read.
/// - [`Error::Description`](crate::Error::Description) for a TOML file that does not fit, with
///   file, line and part.
/// - The errors of [`bytes()`].
pub fn file(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Imported> {
    let path = path.as_ref();
    let options = options.clone().named(path);
    let (bytes, folder) = open(path, &options)?;
    let mut imported = import(Source {
        bytes: &bytes,
        path,
        folder: Some(&folder),
        options: &options,
    })?;
    imported.files = folder.into_listed();
    Ok(imported)
}

/// Imports the bytes of a file of any format that the crate reads.
///
/// The formats are those of [`file()`]. They are recognised by the bytes, and by the extension of
/// [`ImportOptions::name`] only if the bytes fit none or several. Other files that the bytes refer
/// to come from [`ImportOptions::resources`] alone. No animation data beside the file is read: see
/// [`ImportOptions::animation`].
///
/// ```no_run
/// use throng::import::{self, ImportOptions};
///
/// let bytes = std::fs::read("knight.glb")?;
/// let options = ImportOptions { name: "knight.glb".into(), ..Default::default() };
/// let knight = import::bytes(&bytes, &options)?;
/// for repair in &knight.repairs {
///     println!("{repair}");
/// }
/// println!("{} joints", knight.skeleton().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// - [`Error::Asset`](crate::Error::Asset), naming the object at fault and the reason. This is
///   [`AssetFault::NoReader`](crate::error::AssetFault::NoReader) if the reader of the format is
///   not compiled in.
/// - [`Error::Argument`](crate::Error::Argument) for an [`ImportOptions::scale`] that is not more
///   than 0 and finite, and for a saved character that [`ImportOptions::up`] or
///   [`ImportOptions::scale`] would change.
/// - [`Error::InFile`](crate::Error::InFile) if the file does not have the scene that
///   [`ImportOptions::scene`] names, or a node of [`ImportOptions::leave_out`].
/// - [`Error::Description`](crate::Error::Description) for an [`ImportOptions::animation`] that
///   does not fit.
/// - [`Error::Saved`](crate::Error::Saved) for a saved character that was truncated or altered, or
///   has another version.
pub fn bytes(bytes: &[u8], options: &ImportOptions) -> Result<Imported> {
    import(Source::of_bytes(bytes, options))
}

fn import(source: Source<'_>) -> Result<Imported> {
    let options = source.options;
    source.import(|format, files, repairs| {
        if format == Format::Saved {
            space::check_none(
                options,
                "a saved character cannot be converted: import its file",
            )?;
            return saved(source.bytes, options);
        }
        let (mut raw, stated) = read_raw(format, source, files, repairs)?;
        space::convert(&mut raw, stated, true, options, repairs)?;
        let animation = match (&options.animation, source.folder) {
            (Some(desc), _) => AnimationSource::of_desc(desc, Some(&mut |path| files.read(path)))?,
            (None, Some(folder)) => {
                sidecar::read(source.path, folder, options)?.unwrap_or_default()
            }
            (None, None) => AnimationSource::default(),
        };
        raw.build_with(options, &animation)
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
    format: Format,
    source: Source<'_>,
    files: &Files<'_>,
    repairs: &mut Vec<Repair>,
) -> Result<(RawCharacter, Option<UpAxis>)> {
    let (bytes, options) = (source.bytes, source.options);
    let raw = match format {
        #[cfg(feature = "gltf")]
        Format::Gltf => {
            let raw = super::gltf::read_raw(bytes, files, options, repairs)?;
            // So says the format.
            return Ok((raw, Some(UpAxis::Y)));
        }
        #[cfg(feature = "fbx")]
        Format::Fbx => return super::fbx::read_raw(bytes, files, options, repairs),
        #[cfg(feature = "ezm")]
        Format::Ezm => super::framed::ezm::read_raw(bytes, files, options, repairs),
        #[cfg(feature = "wgl")]
        Format::WglModel => {
            super::framed::wgl::read_model(bytes, source.path, files, options, repairs)
        }
        #[cfg(feature = "wgl")]
        Format::WglVertices => Err(super::framed::wgl::vertices_alone()),
        #[cfg(feature = "wgl")]
        Format::WglClip => super::framed::wgl::read_clips(bytes, None, options, repairs),
        other => Err(other.without_reader()),
    };
    Ok((raw?, None))
}

fn saved(bytes: &[u8], options: &ImportOptions) -> Result<Imported> {
    let character = Character::from_bytes(bytes)?;
    let mut decoded = 0_u64;
    for (index, image) in character.images().iter().enumerate() {
        let texels = u64::from(image.width) * u64::from(image.height);
        decoded = texels.saturating_mul(4).saturating_add(decoded);
        for (what, asked, cap) in [
            ("texels of one image", texels, options.max_image_texels),
            ("bytes of decoded data", decoded, options.max_decoded_bytes),
        ] {
            if asked > cap {
                let why = AssetFault::Cap { what, asked, cap };
                return Err(fault(ObjectKind::Image, index, "", why));
            }
        }
    }
    Ok(Imported {
        character,
        repairs: Vec::new(),
        influence_loss: None,
        narrowing: None,
        spawn_points: Vec::new(),
        files: Vec::new(),
    })
}
