//! Import of a file of any format.

use super::fault::fault;
use super::folder::open;
use super::format::Format;
use super::imported::Imported;
use super::options::ImportOptions;
use crate::character::Character;
use crate::error::{AssetFault, ObjectKind, Result};
use std::path::Path;

/// Imports a file of any format that the crate reads.
///
/// The format is recognised by the contents of the file, and by its name only if the contents fit
/// none or several:
///
/// | format | Cargo feature | see |
/// |---|---|---|
/// | glTF 2.0 (`.glb`, `.gltf`, `.vrm`) | `gltf` | [`gltf_file`](super::gltf_file) |
/// | FBX (`.fbx`) | `fbx` | [`fbx_file`](super::fbx_file) |
/// | EZMesh (`.ezm`) | `ezm` | [`ezm_file`](super::ezm_file) |
/// | WebGL model or clip (`.wglmodel`, `.wglanim`) | `wgl` | [`wgl_file`](super::wgl_file) |
/// | saved character (`.throng`) | none | [`Character::from_bytes`] |
///
/// The options do not apply to a saved character, except for
/// [`ImportOptions::max_resource_bytes`], [`ImportOptions::max_image_texels`] and
/// [`ImportOptions::max_decoded_bytes`], which limits the decompressed images.
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
/// - [`Error::Asset`](crate::Error::Asset), naming the object at fault and the reason. This is
///   [`AssetFault::NoReader`](crate::error::AssetFault::NoReader) if the reader of the format is
///   not compiled in.
/// - [`Error::Saved`](crate::Error::Saved) for a saved character that was truncated or altered, or
///   has another version.
/// - The other errors of the functions in the table.
pub fn file(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Imported> {
    let path = path.as_ref();
    let options = options.clone().named(path);
    let (bytes, folder) = open(path, &options)?;
    let format = Format::of(&bytes, &path.to_string_lossy());
    let imported = match format.map_err(|error| error.in_file(&options.name))? {
        Format::Saved => saved(&bytes, &options),
        #[cfg(feature = "gltf")]
        Format::Gltf => super::gltf::read_file(&bytes, path, &folder, &options),
        #[cfg(feature = "fbx")]
        Format::Fbx => super::fbx::read_file(&bytes, path, &folder, &options),
        #[cfg(feature = "ezm")]
        Format::Ezm => super::ezm::read_file(&bytes, path, &folder, &options),
        #[cfg(feature = "wgl")]
        Format::WglModel | Format::WglVertices | Format::WglClip => {
            super::wgl::read_file(&bytes, path, &folder, &options)
        }
        #[cfg(not(all(feature = "fbx", feature = "ezm", feature = "wgl")))]
        other => {
            // Only the readers need it.
            let _ = &folder;
            Err(other.without_reader())
        }
    };
    imported.map_err(|error| error.in_file(&options.name))
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
    })
}
