//! A character with its packed clips as bytes and as files, and back.

use super::container::{Container, Section, Writer, is_container};
use super::parts::{
    load_humanoid, load_tints, load_variants, save_humanoid, save_tints, save_variants,
};
use crate::bytes::{Reader, Save};
use crate::character::asset::{Character, Packing};
use crate::clip::{Clip, CurveClip, fingerprint};
use crate::error::{AssetFault, Error, Object, ObjectKind, Result, SavedFault};
use crate::mesh::{Expression, Material, Model, Parts, hub_reaches};
use crate::skeleton::Skeleton;
use crate::spring::SpringBones;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;
use std::sync::Arc;

// The contents are described at the module `character`.
const SKELETON: Section = Section::new("skeleton", 1);
const MESH: Section = Section::new("mesh", 4);
const MATERIALS: Section = Section::new("materials", 1);
const IMAGES: Section = Section::new("images", 3);
const CURVES: Section = Section::new("curves", 2);
const CLIPS: Section = Section::new("clips", 4);
const ANIMATIONS: Section = Section::new("animations", 3);
const EXPRESSIONS: Section = Section::new("expressions", 1);
const SPRINGS: Section = Section::new("springs", 1);
const HUMANOID: Section = Section::new("humanoid", 2);
const VARIANTS: Section = Section::new("variants", 1);
const TINTS: Section = Section::new("tints", 1);

/// All sections, in the order in which they are written. The last two exist only if a character has
/// variants, and materials with weights, reference colours or masks of tints.
const SECTIONS: [Section; 12] = [
    SKELETON,
    MESH,
    MATERIALS,
    IMAGES,
    CURVES,
    CLIPS,
    ANIMATIONS,
    EXPRESSIONS,
    SPRINGS,
    HUMANOID,
    VARIANTS,
    TINTS,
];

/// Options for loading a saved character.
///
/// ```
/// use throng::character::{Character, LoadOptions};
///
/// let bytes = throng::builtin::mannequin()?.character.to_bytes();
/// // On a server, which draws nothing, from a file of a player.
/// let options = LoadOptions { images: false, max_bytes: 64 << 20 };
/// let guard = Character::from_bytes(&bytes, &options)?;
/// assert!(guard.images().is_empty());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LoadOptions {
    /// If false, images are not read, and materials have no textures.
    ///
    /// For servers and tools, which draw nothing. The default is true.
    pub images: bool,
    /// The most bytes of the file. By default, there is no limit.
    ///
    /// The memory of a character is proportional to the bytes, so this limits it, too.
    pub max_bytes: u64,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            images: true,
            max_bytes: u64::MAX,
        }
    }
}

impl LoadOptions {
    fn check_size(&self, bytes: u64) -> Result<()> {
        let cap = self.max_bytes;
        match bytes <= cap {
            true => Ok(()),
            false => Err(Error::saved(SavedFault::TooLarge { bytes, cap })),
        }
    }
}

impl Character {
    /// Saves the whole character as bytes.
    ///
    /// This includes packed clips, lossless images, animation data and, if present, the file's own
    /// curves. [`Self::from_bytes`] reads the bytes in a fraction of the time that an import takes.
    /// [`Self::save_file`] writes them to a file.
    ///
    /// The [format](crate::character#saved-characters) may change with any version of the crate, so
    /// keep the file that the character was imported from.
    ///
    /// ```
    /// use throng::character::Character;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let bytes = character.to_bytes();
    /// assert_eq!(Character::from_bytes(&bytes, &Default::default())?, character);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let model = &self.model;
        let has_variants = !model.variants.is_empty();
        let has_tints = model.materials.iter().any(Material::has_own_tints);
        let absent = usize::from(!has_variants) + usize::from(!has_tints);
        let mut writer = Writer::new(SECTIONS.len() - absent);
        writer.add(SKELETON, |to| {
            model.skeleton.joints.len().save(to);
            Save::save_list(&model.skeleton.joints, to);
            model.skins.save(to);
            self.scales.save(to);
        });
        writer.add(MESH, |to| {
            model.name.save(to);
            self.packing.save(to);
            model.palette.save(to);
            model.primitives.save(to);
            model.morph_weights.save(to);
            model.rest_bounds.save(to);
            model.morph_reaches.save(to);
        });
        writer.add(MATERIALS, |to| model.materials.save(to));
        writer.add(IMAGES, |to| model.images.save(to));
        writer.add(CURVES, |to| {
            self.curves.len().save(to);
            self.curves.iter().for_each(|curve| save_curves(curve, to));
        });
        writer.add(CLIPS, |to| {
            self.clips.len().save(to);
            for clip in self.clips.iter() {
                clip.save(to);
            }
        });
        writer.add(ANIMATIONS, |to| self.save_animations(to));
        writer.add(EXPRESSIONS, |to| {
            self.expressions().len().save(to);
            Save::save_list(self.expressions(), to);
        });
        writer.add(SPRINGS, |to| self.springs().save(to));
        writer.add(HUMANOID, |to| save_humanoid(&model.skeleton, to));
        if has_variants {
            writer.add(VARIANTS, |to| save_variants(model, to));
        }
        if has_tints {
            writer.add(TINTS, |to| save_tints(&model.materials, to));
        }
        writer.finish()
    }

    /// Returns true for bytes that start like those of [`Self::to_bytes`].
    #[must_use]
    pub fn is_saved(bytes: &[u8]) -> bool {
        is_container(bytes)
    }

    /// Loads a character that [`Self::to_bytes`] wrote.
    ///
    /// Everything is checked. Bytes that were altered, by chance or on purpose, cause nothing worse
    /// than an error, and the memory used is proportional to their number. Images stay compressed
    /// until [`Image::rgba`](crate::mesh::Image::rgba) or an upload needs their texels.
    ///
    /// The bytes may be a memory-mapped file. They are read once, from front to back: each piece is
    /// compared with the checksum and copied to the character. Nothing refers to the bytes
    /// afterwards. With the crate `memmap2`:
    ///
    /// ```ignore
    /// let file = std::fs::File::open("knight.throng")?;
    /// // SAFETY: no other program changes the file while it is mapped.
    /// let bytes = unsafe { memmap2::Mmap::map(&file)? };
    /// let knight = Character::from_bytes(&bytes, &LoadOptions::default())?;
    /// ```
    ///
    /// # Errors
    /// [`Error::Saved`](crate::Error::Saved) for bytes of another format or version, for truncated
    /// or altered bytes, and for more of them than [`LoadOptions::max_bytes`].
    pub fn from_bytes(bytes: &[u8], options: &LoadOptions) -> Result<Self> {
        options.check_size(bytes.len() as u64)?;
        Self::load(bytes, options).map_err(|error| match error {
            Error::Saved { .. } => error,
            // Data that its own type rejected.
            other => Error::saved(SavedFault::Refused(Box::new(other))),
        })
    }

    fn load(bytes: &[u8], options: &LoadOptions) -> Result<Self> {
        let container = Container::open(bytes)?;
        container.expect_known(&SECTIONS)?;
        container.check_others(&SECTIONS)?;
        let (skeleton, skins, scales) = container.read(SKELETON, |from| {
            let skeleton = Skeleton::of_joints(Save::load(from)?)?;
            Ok((skeleton, Save::load(from)?, Save::load(from)?))
        })?;
        let (mut model, packing) = container.read(MESH, |from| load_mesh(skeleton, from))?;
        model.skins = skins;
        model.materials = container.read(MATERIALS, Save::load)?;
        if container.has(VARIANTS) {
            container.read(VARIANTS, |from| load_variants(&mut model, from))?;
        }
        if container.has(TINTS) {
            container.read(TINTS, |from| load_tints(&mut model.materials, from))?;
        }
        match options.images {
            true => model.images = container.read(IMAGES, Save::load)?,
            false => model
                .materials
                .iter_mut()
                .for_each(Material::remove_textures),
        }
        let mut character = Self {
            model,
            clips: Arc::default(),
            reaches: Arc::default(),
            curves: Arc::default(),
            packing,
            scales,
            animations: Arc::default(),
            springs: Arc::default(),
        };
        character.check_saved()?;
        let model = &mut character.model;
        model.parts = Parts::new(&model.primitives);
        model.hub_reaches = hub_reaches(&model.skeleton, &model.palette, &model.primitives);
        character.curves = Arc::new(container.read(CURVES, |from| {
            load_all(from, |from| load_curves(&character, from))
        })?);
        let fingerprint = fingerprint(&character.model.skeleton);
        character.clips = Arc::new(container.read(CLIPS, |from| {
            load_all(from, |from| {
                Clip::load(character.model(), fingerprint, from)
            })
        })?);
        character.check_clips()?;
        character.measure_reaches(0);
        container.read(ANIMATIONS, |from| character.load_animations(from))?;
        let expressions: Vec<Expression> = container.read(EXPRESSIONS, Save::load)?;
        let springs: SpringBones = container.read(SPRINGS, Save::load)?;
        let (roles, vrm) = container.read(HUMANOID, load_humanoid)?;
        character.model.skeleton.vrm = vrm;
        if !expressions.is_empty() {
            character = character.with_expressions(expressions)?;
        }
        if springs != SpringBones::default() {
            character = character.with_springs(springs)?;
        }
        if !roles.is_empty() {
            character = character.with_roles(&roles)?;
        }
        character.check_extent()?;
        Ok(character)
    }
}

fn load_mesh(skeleton: Skeleton, from: &mut Reader<'_>) -> Result<(Model, Packing)> {
    let name = Save::load(from)?;
    let packing = Save::load(from)?;
    let model = Model {
        name,
        skeleton,
        palette: Save::load(from)?,
        primitives: Save::load(from)?,
        materials: Vec::new(),
        variants: Vec::new(),
        images: Vec::new(),
        morph_weights: Save::load(from)?,
        expressions: Vec::new(),
        skins: Vec::new(),
        rest_bounds: Save::load(from)?,
        morph_reaches: Save::load(from)?,
        hub_reaches: Vec::new(),
        parts: Parts::default(),
    };
    Ok((model, packing))
}

/// Reads a count, and this number of elements.
fn load_all<T>(
    from: &mut Reader<'_>,
    mut load: impl FnMut(&mut Reader<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for _ in 0..usize::load(from)? {
        all.push(load(from)?);
    }
    Ok(all)
}

fn save_curves(curve: &CurveClip, to: &mut Vec<u8>) {
    Box::<str>::from(curve.name()).save(to);
    [curve.start_s(), curve.duration_s()].save(to);
    curve.tracks().len().save(to);
    Save::save_list(curve.tracks(), to);
    curve.weight_tracks().len().save(to);
    Save::save_list(curve.weight_tracks(), to);
}

fn load_curves(character: &Character, from: &mut Reader<'_>) -> Result<CurveClip> {
    let name: Box<str> = Save::load(from)?;
    let [start_s, end_s] = Save::load(from)?;
    let tracks = Save::load(from)?;
    let curve = CurveClip::of_aligned(&name, tracks, &character.model.skeleton)?;
    let curve = curve.with_weight_tracks(Save::load(from)?, character.model.morph_weights.len())?;
    if (curve.start_s(), curve.duration_s()) == (start_s, end_s) {
        return Ok(curve);
    }
    curve.with_range(start_s, end_s)
}

impl Character {
    /// Saves the character to a file, conventionally with the extension `.throng`.
    ///
    /// The file is complete or does not change, as [`files::write`](crate::files::write()) says.
    /// `throng_import::file` recognises such files like any other format.
    ///
    /// ```no_run
    /// use throng::character::Character;
    ///
    /// let knight = throng_import::file("knight.glb", &Default::default())?;
    /// knight.save_file("knight.throng")?;
    /// let same = Character::load_file("knight.throng", &Default::default())?;
    /// assert_eq!(same, knight.character);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Write`] with the path, also if it is a folder.
    pub fn save_file(&self, path: impl AsRef<Path>) -> Result<()> {
        crate::files::write(path, &self.to_bytes())
    }

    /// Loads a file that [`Self::save_file`] wrote.
    ///
    /// # Errors
    /// - [`Error::Io`] if the file cannot be read, also if it is a folder.
    /// - [`Error::Asset`] for what is neither a file nor a folder, such as a device or a pipe.
    /// - [`Error::Saved`] with the file's name, as [`Self::from_bytes`]. Of a file with more bytes
    ///   than [`LoadOptions::max_bytes`], nothing is read.
    pub fn load_file(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Self> {
        let path = path.as_ref();
        let name = path.file_name().unwrap_or(path.as_os_str());
        let in_file = |error: Error| error.in_file(&name.to_string_lossy());
        if let Some(file) = fs::metadata(path).ok().filter(fs::Metadata::is_file) {
            options.check_size(file.len()).map_err(in_file)?;
        }
        let bytes = read(path).map_err(|error| match error {
            Some(error) => Error::Io {
                path: path.to_string_lossy().into(),
                kind: error.kind(),
            },
            // As the import of any other file.
            None => Error::Asset {
                file: name.to_string_lossy().into(),
                object: Object {
                    kind: ObjectKind::File,
                    index: None,
                    part: Box::default(),
                },
                why: AssetFault::Invalid("is not a plain file"),
            },
        })?;
        Self::from_bytes(&bytes, options).map_err(in_file)
    }
}

/// The bytes that tell a saved character from other files.
const SIGNATURE: u64 = 8;

/// The bytes of a plain file, or only its first ones if it is not a saved character. The error is
/// `None` for a device, a pipe and the like.
fn read(path: &Path) -> Result<Vec<u8>, Option<io::Error>> {
    // Checked before opening, because opening a pipe waits for its other end.
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(Some(ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(None);
    }
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    // A file of another kind may be large, and is refused by its start.
    file.by_ref().take(SIGNATURE).read_to_end(&mut bytes)?;
    if !Character::is_saved(&bytes) {
        return Ok(bytes);
    }
    // The size is known, so nothing has to ask for it again, nor for the end.
    let size = metadata.len().saturating_sub(SIGNATURE);
    let reserved = bytes.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX));
    reserved.map_err(io::Error::from)?;
    file.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}
