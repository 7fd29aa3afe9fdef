//! Imports: from a file or its bytes to a character, step by step.

use super::fault::check_cap;
use super::folder::{Files, open};
use super::format::Format;
use super::input::Input;
use super::read::read;
use super::space;
use std::path::Path;
use throng::character::{Character, LoadOptions};
use throng::error::{Object, ObjectKind, Result};
use throng::import::{ImportOptions, Imported};

/// Imports a file of any format that the crate reads.
///
/// The format is recognised by the contents of the file, and by its extension only if the contents
/// fit none or several:
///
/// | format | Cargo feature |
/// |---|---|
/// | [glTF 2.0](crate#gltf) (`.glb`, `.gltf`, `.vrm`, `.vrma`) | `gltf` |
/// | [FBX](crate#fbx) (`.fbx`) | `fbx` |
/// | [EZMesh](crate#ezmesh) (`.ezm`) | `ezm` |
/// | [WebGL model or clip](crate#webgl) (`.wglmodel`, `.wglanim`) | `wgl` |
/// | [saved character](crate#saved-characters) (`.throng`) | none |
///
/// Other files are read from the file's folder, or from [`ImportOptions::resources`]; see
/// [Files that a file refers to](crate#files-that-a-file-refers-to). A TOML file of the
/// same name may hold [animation data](crate#animation-data-beside-a-file).
///
/// ```no_run
/// for path in ["knight.glb", "girl.ezm", "player.wglmodel", "knight.throng"] {
///     let character = throng_import::file(path, &Default::default())?;
///     println!("{path}: {} joints", character.skeleton().len());
/// }
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// - [`Error::Io`](throng::Error::Io) if the file cannot be read.
/// - [`Error::Description`](throng::Error::Description) for a TOML file that does not fit, with
///   file, line and part.
/// - The errors of [`bytes()`].
pub fn file(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Imported> {
    #[cfg(feature = "tracing")]
    let _span = tracing::info_span!(target: "throng", "import").entered();
    import_path(path.as_ref(), options, None)
}

/// Imports the bytes of a file of any format that the crate reads.
///
/// The formats are those of [`file()`]. They are recognised by the bytes, and by the extension of
/// [`ImportOptions::name`] only if the bytes fit none or several. Other files that the bytes refer
/// to come from [`ImportOptions::resources`] alone. No animation data beside the file is read: see
/// [`ImportOptions::animation`].
///
/// ```no_run
/// use throng::import::ImportOptions;
///
/// let bytes = std::fs::read("knight.glb")?;
/// let options = ImportOptions { name: "knight.glb".into(), ..Default::default() };
/// let knight = throng_import::bytes(&bytes, &options)?;
/// for repair in &knight.repairs {
///     println!("{repair}");
/// }
/// println!("{} joints", knight.skeleton().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// - [`Error::Asset`](throng::Error::Asset), naming the object at fault and the reason. This is
///   [`AssetFault::NoReader`](throng::error::AssetFault::NoReader) if the reader of the format is
///   not compiled in.
/// - [`Error::Argument`](throng::Error::Argument) for an [`ImportOptions::scale`] that is not more
///   than 0 and finite, and for a saved character that [`ImportOptions::up`] or
///   [`ImportOptions::scale`] would change.
/// - [`Error::InFile`](throng::Error::InFile) if the file does not have the scene that
///   [`ImportOptions::scene`] names, or a node of [`ImportOptions::leave_out`].
/// - [`Error::Description`](throng::Error::Description) for an [`ImportOptions::animation`] that
///   does not fit.
/// - [`Error::Saved`](throng::Error::Saved) for a saved character that was truncated or altered, or
///   has another version.
pub fn bytes(bytes: &[u8], options: &ImportOptions) -> Result<Imported> {
    import(&Input::of_bytes(bytes, options), None)
}

/// Adds the clips of another file to a character: glTF, FBX, EZMesh or a WebGL clip (`.wglanim`).
///
/// The format is recognised as by [`file()`]; each reader is a Cargo feature. Files that it refers
/// to are read as by [`file()`], too. Joints and morph targets are matched by name, also between
/// formats.
///
/// Only nodes, skins, animations and names of morph targets are read, in all scenes of the file.
/// The file needs no mesh and no skin, and what it draws is not decoded. A file without a
/// hierarchy, such as a WebGL clip, takes that of the character. See
/// [`RawCharacter::add_clips`](throng::import::RawCharacter::add_clips) for the matching, the names
/// of clips and the repairs.
///
/// The character itself is not changed: the result has the clips of both.
///
/// ```no_run
/// let knight = throng_import::file("knight.glb", &Default::default())?;
/// let added = throng_import::add_clips(&knight, "dance.glb", &Default::default())?;
/// for repair in &added.repairs {
///     println!("{repair}");
/// }
/// let dance = added.clip("dance")?;
/// # let _ = dance;
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// - [`Error::Io`](throng::Error::Io) if the file itself cannot be read.
/// - [`Error::Asset`](throng::Error::Asset), naming the object at fault and the reason. Also if the
///   file has no animation, or none with tracks.
/// - [`Error::NoCommonJoints`](throng::Error::NoCommonJoints) if nothing that the file animates is
///   found in the character.
pub fn add_clips(
    character: &Character,
    path: impl AsRef<Path>,
    options: &ImportOptions,
) -> Result<Imported> {
    import_path(path.as_ref(), options, Some(character))
}

/// [`add_clips`] for the bytes of a file.
///
/// The file may refer to other files only if [`ImportOptions::resources`] provides them.
///
/// # Errors
/// As [`add_clips`].
pub fn add_clips_bytes(
    character: &Character,
    bytes: &[u8],
    options: &ImportOptions,
) -> Result<Imported> {
    import(&Input::of_bytes(bytes, options), Some(character))
}

/// Returns true if the file at `path` has joints of its own, with their parents.
///
/// WebGL clips and EZMesh files without a skeleton have only tracks by joint name. Their keys are
/// relative to parents that only the character has. Such clips are for
/// [`add_clips`]: they cannot be [retargeted](throng::retarget).
///
/// Returns true if the file cannot be read. Importing it reports the reason.
pub fn has_hierarchy(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let options = named(&ImportOptions::curves_only(), path);
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

/// The same options with the name of the file at `path`, if they have no name.
fn named(options: &ImportOptions, path: &Path) -> ImportOptions {
    let mut options = options.clone();
    if options.name.is_empty() {
        let name = path.file_name().unwrap_or(path.as_os_str());
        options.name = name.to_string_lossy().into();
    }
    options
}

fn import_path(path: &Path, options: &ImportOptions, to: Option<&Character>) -> Result<Imported> {
    let options = &named(options, path);
    let (bytes, folder) = open(path, options)?;
    let files = Files {
        folder: Some(&folder),
        options,
    };
    let imported = import(
        &Input {
            bytes: &bytes,
            path,
            files,
        },
        to,
    )?;
    Ok(Imported {
        files: folder.into_listed(),
        ..imported
    })
}

/// Imports a file, or adds its clips to `to`. Errors and repairs get the file's name.
fn import(input: &Input<'_>, to: Option<&Character>) -> Result<Imported> {
    let name = &input.files.options.name;
    steps(input, to).map_err(|error| error.in_file(name))
}

/// Bytes → format → raw data → metres and +Y up → character.
fn steps(input: &Input<'_>, to: Option<&Character>) -> Result<Imported> {
    let options = input.files.options;
    let format = Format::of(input.bytes, &input.path.to_string_lossy())?;
    if format == Format::Saved && to.is_none() {
        return saved(input.bytes, options);
    }
    let mut read = read(format, input, to.map(Character::skeleton))?;
    space::convert(&mut read, options)?;
    match to {
        Some(character) => read.raw.add_clips(character, options),
        None => input.build(read.raw),
    }
}

fn saved(bytes: &[u8], options: &ImportOptions) -> Result<Imported> {
    space::check_none(
        options,
        "a saved character cannot be converted: import its file",
    )?;
    let load = LoadOptions {
        images: options.images,
        ..LoadOptions::default()
    };
    let character = Character::from_bytes(bytes, &load)?;
    let mut decoded = 0_u64;
    for (index, image) in character.images().iter().enumerate() {
        let at = || Object::new(ObjectKind::Image, index, "");
        let texels = u64::from(image.width) * u64::from(image.height);
        decoded = texels.saturating_mul(4).saturating_add(decoded);
        check_cap(
            at,
            "texels of one image",
            texels,
            options.limits.image_texels,
        )?;
        check_cap(
            at,
            "bytes of decoded data",
            decoded,
            options.limits.decoded_bytes,
        )?;
    }
    Ok(character.into())
}
