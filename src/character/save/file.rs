//! A character with its packed clips as bytes, and back.

use crate::bytes::{Reader, Save, invalid};
use crate::character::asset::Character;
use crate::clip::{Clip, CurveClip};
use crate::error::{Error, Result, SavedFault};
use crate::hash;
use crate::mesh::{Model, Parts};
use crate::skeleton::Skeleton;
use std::sync::Arc;

/// The signature at the start of a saved character.
pub(super) const MAGIC: [u8; 8] = *b"throng\r\n";

/// Incremented with every change of the format.
pub(super) const VERSION: u32 = 1;

/// Signature, version, four bytes of 0, the length of the data that follows, and its checksum.
pub(super) const HEADER: usize = 32;

impl Character {
    /// Saves the whole character as bytes.
    ///
    /// This includes packed clips, decoded images, animation set and, if present, the file's own
    /// curves. [`Self::from_bytes`] reads the bytes in a fraction of the time that an import takes.
    ///
    /// The format is private and may change with any version of the crate, so keep the file that
    /// the character was imported from. Numbers are little-endian. Images are not compressed.
    ///
    /// ```
    /// use throng::character::Character;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let bytes = character.to_bytes();
    /// assert_eq!(Character::from_bytes(&bytes)?, character);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        self.save(&mut bytes);
        let (header, body) = bytes.split_at_mut(HEADER);
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[16..24].copy_from_slice(&(body.len() as u64).to_le_bytes());
        header[24..].copy_from_slice(&checksum(body).to_le_bytes());
        bytes
    }

    /// Returns true for bytes that start like those of [`Self::to_bytes`].
    pub(crate) fn is_saved(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// Loads a character that [`Self::to_bytes`] wrote.
    ///
    /// Everything is checked. Bytes that were altered, by chance or on purpose, cause nothing worse
    /// than an error, and the memory used is proportional to their number.
    ///
    /// # Errors
    /// [`Error::Saved`] for bytes of another format or version, and for truncated or altered bytes.
    /// The errors of [`CurveClip::new`] for altered curves.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let fault = |why| Error::Saved { why };
        let Some((header, body)) = bytes.split_at_checked(HEADER) else {
            return Err(fault(if bytes.starts_with(&MAGIC) {
                SavedFault::Length {
                    got: bytes.len() as u64,
                    need: HEADER as u64,
                }
            } else {
                SavedFault::Magic
            }));
        };
        let mut header = Reader::new(header);
        if <[u8; 8]>::load(&mut header)? != MAGIC {
            return Err(fault(SavedFault::Magic));
        }
        let [found, _] = <[u32; 2]>::load(&mut header)?;
        if found != VERSION {
            let known = VERSION;
            return Err(fault(SavedFault::Version { found, known }));
        }
        let [need, expected] = <[u64; 2]>::load(&mut header)?;
        let got = body.len() as u64;
        if got != need {
            return Err(fault(SavedFault::Length { got, need }));
        }
        if checksum(body) != expected {
            return Err(fault(SavedFault::Checksum));
        }
        let mut from = Reader::new(body);
        let character = Self::load(&mut from)?;
        if !from.is_empty() {
            return Err(invalid("saved character", "has bytes after its end"));
        }
        Ok(character)
    }

    pub(super) fn save(&self, to: &mut Vec<u8>) {
        self.model.name.save(to);
        self.model.skeleton.joints.len().save(to);
        self.model
            .skeleton
            .joints
            .iter()
            .for_each(|joint| joint.save(to));
        self.model.palette.save(to);
        self.model.primitives.save(to);
        self.model.materials.save(to);
        self.model.images.save(to);
        self.model.morph_weights.save(to);
        self.model.skins.save(to);
        self.model.rest_bounds.save(to);
        self.model.morph_reaches.save(to);
        self.packing.save(to);
        self.scales.save(to);
        self.curves.len().save(to);
        for curve in self.curves.iter() {
            save_curves(curve, to);
        }
        self.clips.len().save(to);
        self.clips.iter().for_each(|clip| clip.save(to));
        self.save_animations(to);
        self.save_extras(to);
    }

    pub(super) fn load(from: &mut Reader<'_>) -> Result<Self> {
        let name = Save::load(from)?;
        let skeleton = Skeleton::of_joints(Save::load(from)?)?;
        let model = Model {
            name,
            skeleton,
            palette: Save::load(from)?,
            primitives: Save::load(from)?,
            materials: Save::load(from)?,
            images: Save::load(from)?,
            morph_weights: Save::load(from)?,
            expressions: Vec::new(),
            skins: Save::load(from)?,
            rest_bounds: Save::load(from)?,
            morph_reaches: Save::load(from)?,
            parts: Parts::default(),
        };
        let mut character = Self {
            model,
            clips: Arc::default(),
            curves: Arc::default(),
            packing: Save::load(from)?,
            scales: Save::load(from)?,
            animations: Arc::default(),
            springs: Arc::default(),
        };
        character.check_saved()?;
        character.model.parts = Parts::new(&character.model.primitives);
        for _ in 0..usize::load(from)? {
            let curve = load_curves(&character, from)?;
            Arc::make_mut(&mut character.curves).push(curve);
        }
        let fingerprint = Clip::fingerprint(&character.model.skeleton);
        for _ in 0..usize::load(from)? {
            let clip = Clip::load(character.model(), fingerprint, from)?;
            Arc::make_mut(&mut character.clips).push(clip);
        }
        character.check_clips()?;
        character.load_animations(from)?;
        character.load_extras(from)
    }
}

pub(super) fn save_curves(curve: &CurveClip, to: &mut Vec<u8>) {
    Box::<str>::from(curve.name()).save(to);
    [curve.start_s(), curve.duration_s()].save(to);
    curve.tracks().len().save(to);
    Save::save_list(curve.tracks(), to);
    curve.weight_tracks().len().save(to);
    Save::save_list(curve.weight_tracks(), to);
}

pub(super) fn load_curves(character: &Character, from: &mut Reader<'_>) -> Result<CurveClip> {
    let name: Box<str> = Save::load(from)?;
    let [start_s, end_s] = Save::load(from)?;
    let tracks = Save::load(from)?;
    let curve = CurveClip::new(&name, tracks, &character.model.skeleton)?;
    let curve = curve.with_weight_tracks(Save::load(from)?, character.model.morph_weights.len())?;
    if (curve.start_s(), curve.duration_s()) == (start_s, end_s) {
        return Ok(curve);
    }
    curve.with_range(start_s, end_s)
}

/// A checksum that misses a change of any bytes with a probability of 1 in 2⁶⁴.
///
/// It is FNV-1a over words of eight bytes, the last one padded with zeros. Each step rotates the
/// value so that high bits affect low bits.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash, word| hash::add(hash, word).rotate_left(23);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(hash::EMPTY, |hash, word| {
        step(hash, u64::from_le_bytes(*word))
    });
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    step(hash, u64::from_le_bytes(last))
}
