//! The skin stage, eight vertices at a time: the same results as [`Character::skin_primitive`]
//! up to rounding.

use super::kernel::{Out, Task};
use super::pack::{Packed, Scratch, entries, morphed};
use crate::character::{Character, Facing};
use crate::error::{Error, Result, expect_all_finite, expect_len};
use crate::mesh::Aabb;
use crate::palette::{Mat3x4, PaletteEntry, PaletteRef, WriteOnly, rest_palette};
use crate::scratch_pool::ScratchPool;
use crate::simd::{SimdLevel, Unit};
use crate::skin::skinned_layout::{SkinnedLayout, TANGENT_WORDS, VECTOR_WORDS};
use crate::skin::vertices::PosedVertices;
use glam::Vec3;

/// Deforms a character's vertices on the CPU.
///
/// Build it once per character. It can then deform any number of instances, from any number of
/// threads at once.
///
/// The results match those of [`Character::skin_primitive`], which documents the formulas, up to
/// rounding: sums use fused operations and a different order. The code path is chosen for the CPU
/// at run time: AVX2 with FMA, or what every CPU of the target has, such as SSE2. On one CPU, the
/// same input gives the same bits, whatever the number of threads. CPUs with and without FMA differ
/// by rounding.
///
/// After the first calls, nothing is allocated. Scratch memory is kept, one set for each thread
/// that was ever in a call at the same time.
///
/// ```
/// use throng::palette::Mat3x4;
/// use throng::skin::Skinner;
///
/// let character = throng::builtin::mannequin()?.character;
/// let skinner = Skinner::new(&character)?;
/// let palette = vec![Mat3x4::IDENTITY; character.palette().len()];
/// let weights = vec![0.0; character.morph_weights().len()];
/// let mut words = vec![0.0; skinner.layout().words as usize];
/// skinner.skin(&palette, &weights, &mut words)?;
/// let x = words[skinner.layout().primitives[0].positions as usize];
/// assert_eq!(x, character.primitives()[0].positions[0].x);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug)]
pub struct Skinner {
    pub(crate) layout: SkinnedLayout,
    pub(super) packed: Vec<Packed>,
    pub(crate) palette_len: usize,
    pub(crate) weights_len: usize,
    /// For each palette entry, true if it is flipped in the rest pose.
    pub(crate) flipped: Vec<bool>,
    /// For each primitive, the way to tell the front of each triangle.
    ///
    /// Empty for a primitive whose fronts all follow from winding.
    pub(crate) facings: Vec<Vec<Facing>>,
    pub(crate) unit: Unit,
    pub(super) spare: ScratchPool<Scratch>,
}

impl Skinner {
    /// Repacks the character's vertices, influences and morph targets.
    ///
    /// They are copied: 56 bytes per vertex, and 64 more for each influence of every eight
    /// vertices.
    ///
    /// # Errors
    /// [`Error::Capacity`] if the deformed vertices do not fit the layout, as
    /// [`SkinnedLayout::new`].
    pub fn new(character: &Character) -> Result<Self> {
        let pack = |primitive| Packed::new(character, primitive);
        let rest = rest_palette(character.model())?;
        Ok(Self {
            layout: SkinnedLayout::new(character)?,
            packed: character
                .primitives()
                .iter()
                .map(pack)
                .collect::<Result<_>>()?,
            palette_len: character.palette().len(),
            weights_len: character.morph_weights().len(),
            flipped: rest.iter().map(is_flipped).collect(),
            facings: facings(character),
            unit: Unit::best(),
            spare: ScratchPool::default(),
        })
    }

    /// Selects a SIMD level other than the best.
    ///
    /// The bits of the vertices depend on the level, but on nothing else of the machine.
    /// [`SimdLevel::Avx512`] runs the code of [`SimdLevel::Avx2`].
    ///
    /// # Errors
    /// [`Error::Argument`] if this CPU cannot run it.
    pub fn with_simd_level(self, level: SimdLevel) -> Result<Self> {
        let unit = Unit::of(level)?;
        Ok(Self { unit, ..self })
    }

    /// The layout of the output of [`Self::skin`].
    #[must_use]
    pub fn layout(&self) -> &SkinnedLayout {
        &self.layout
    }

    /// Deforms all primitives of an instance.
    ///
    /// - `palette` is the character's whole palette, in any format.
    /// - `weights` are those of all the character's morph targets.
    /// - `out` has the layout of [`Self::layout`]. Every stream is written once, in ascending
    ///   order. A primitive's positions, normals and tangents are written alongside each other. The
    ///   words between the streams are not written.
    ///
    /// # Errors
    /// [`Error::Argument`] if the length of `palette`, `weights` or `out` differs from the number
    /// of palette entries, morph weights or layout words, or if a weight is not finite. Nothing is
    /// written then.
    pub fn skin<'o, P: PaletteEntry>(
        &self,
        palette: &[P],
        weights: &[f32],
        out: impl Into<WriteOnly<'o, f32>>,
    ) -> Result<()> {
        self.skin_any(palette.into(), weights, out.into())
    }

    /// As [`Self::skin`], with a format that is known at run time only.
    pub(crate) fn skin_any(
        &self,
        palette: PaletteRef<'_>,
        weights: &[f32],
        mut out: WriteOnly<'_, f32>,
    ) -> Result<()> {
        self.check_lengths(palette, weights)?;
        expect_len("skinned words", out.len(), self.layout.words as usize)?;
        let start = out.as_mut_ptr();
        // SAFETY: the layout's offsets are within its words, and `out` has exactly that many words.
        let at = |word: u32| unsafe { start.add(word as usize) };
        self.with_scratch(|scratch| {
            let (entries, palette) = entries(palette, &mut scratch.palette);
            for (packed, streams) in self.packed.iter().zip(&self.layout.primitives) {
                let task = Task {
                    packed,
                    streams: morphed(packed, weights, true, &mut scratch.morphed),
                    entries,
                    palette,
                };
                let out = Out {
                    positions: at(streams.positions),
                    normals: streams.normals.map(at),
                    tangents: streams.tangents.map(at),
                };
                // SAFETY: `self.unit` was detected on this CPU. `check_lengths` compared the
                // palette's length with the character's. `out` has `layout.words` words, which hold
                // all vertices of the primitive in each of its streams.
                unsafe { super::kernel::write(self.unit, &task, &out) };
            }
        });
        Ok(())
    }

    /// Deforms one primitive. `out` is overwritten. Otherwise as [`Self::skin`].
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the primitive does not exist.
    /// - [`Error::Argument`] as [`Self::skin`].
    pub fn skin_primitive<P: PaletteEntry>(
        &self,
        primitive: usize,
        palette: &[P],
        weights: &[f32],
        out: &mut PosedVertices,
    ) -> Result<()> {
        self.skin_primitive_any(primitive, palette.into(), weights, out)
    }

    /// As [`Self::skin_primitive`], compiled once and with the settings of this crate.
    fn skin_primitive_any(
        &self,
        primitive: usize,
        palette: PaletteRef<'_>,
        weights: &[f32],
        out: &mut PosedVertices,
    ) -> Result<()> {
        self.check_lengths(palette, weights)?;
        let packed = self.packed(primitive)?;
        self.with_scratch(|scratch| {
            let (entries, palette) = entries(palette, &mut scratch.palette);
            let streams = morphed(packed, weights, true, &mut scratch.morphed);
            let task = Task {
                packed,
                streams,
                entries,
                palette,
            };
            let normals = !streams.normals.is_empty();
            let tangents = !streams.tangents.is_empty();
            let to = Out {
                positions: room::<_, VECTOR_WORDS>(&mut out.positions, packed.vertices),
                normals: normals
                    .then(|| room::<_, VECTOR_WORDS>(&mut out.normals, packed.vertices)),
                tangents: tangents
                    .then(|| room::<_, TANGENT_WORDS>(&mut out.tangents, packed.vertices)),
            };
            // SAFETY: `self.unit` was detected on this CPU. `check_lengths` compared the palette's
            // length with the character's. `room` reserved memory for all vertices, and `write`
            // writes all of them before `set_len`.
            unsafe {
                super::kernel::write(self.unit, &task, &to);
                out.positions.set_len(packed.vertices);
                out.normals
                    .set_len(if normals { packed.vertices } else { 0 });
                out.tangents
                    .set_len(if tangents { packed.vertices } else { 0 });
            }
        });
        Ok(())
    }

    /// The bounding box of an instance's deformed positions, in character space.
    ///
    /// The box is exact, because all positions are computed, without being stored. It is empty for
    /// a character without vertices.
    ///
    /// # Errors
    /// As [`Self::skin`]. Also [`Error::Argument`] if a number in the palette is not finite,
    /// because no box exists then.
    pub fn bounds<P: PaletteEntry>(&self, palette: &[P], weights: &[f32]) -> Result<Aabb> {
        self.bounds_any(palette.into(), weights)
    }

    /// As [`Self::bounds`], compiled once and with the settings of this crate.
    fn bounds_any(&self, palette: PaletteRef<'_>, weights: &[f32]) -> Result<Aabb> {
        self.check(palette, weights)?;
        Ok(self.with_scratch(|scratch| {
            let (entries, palette) = entries(palette, &mut scratch.palette);
            self.packed.iter().fold(Aabb::EMPTY, |all, packed| {
                let task = Task {
                    packed,
                    streams: morphed(packed, weights, false, &mut scratch.morphed),
                    entries,
                    palette,
                };
                // SAFETY: `self.unit` was detected on this CPU, and the palette's length was
                // checked above.
                all.union(unsafe { super::kernel::bounds(self.unit, &task) })
            })
        }))
    }

    /// Calls `each` with the index of every primitive that is not hidden, and its deformed
    /// positions.
    ///
    /// A position has three numbers.
    pub(crate) fn each_primitive(
        &self,
        (palette, weights): (PaletteRef<'_>, &[f32]),
        is_hidden: impl Fn(usize) -> bool,
        mut each: impl FnMut(usize, &[f32]),
    ) -> Result<()> {
        self.check_lengths(palette, weights)?;
        self.with_scratch(|scratch| {
            let (entries, palette) = entries(palette, &mut scratch.palette);
            for (number, packed) in self.packed.iter().enumerate() {
                if is_hidden(number) {
                    continue;
                }
                let task = Task {
                    packed,
                    streams: morphed(packed, weights, false, &mut scratch.morphed),
                    entries,
                    palette,
                };
                let words = packed.vertices * VECTOR_WORDS as usize;
                let out = Out {
                    positions: room::<_, 1>(&mut scratch.positions, words),
                    normals: None,
                    tangents: None,
                };
                // SAFETY: `self.unit` was detected on this CPU. The palette's length was checked
                // above. `room` reserved memory for all positions, and `write` writes all of them
                // before `set_len`.
                unsafe {
                    super::kernel::write(self.unit, &task, &out);
                    scratch.positions.set_len(words);
                }
                each(number, &scratch.positions);
            }
        });
        Ok(())
    }

    /// True if a character matches this skinner.
    ///
    /// It must have the same number of vertices in each primitive, of palette entries and of morph
    /// weights.
    pub(crate) fn fits(&self, character: &Character) -> bool {
        let own = self.packed.iter().map(|packed| packed.vertices);
        let theirs = character.primitives().iter().map(|p| p.vertex_count());
        self.palette_len == character.palette().len()
            && self.weights_len == character.morph_weights().len()
            && own.eq(theirs)
    }

    /// For each entry, true if it is flipped compared with the rest pose.
    ///
    /// Empty if no entry is.
    pub(crate) fn flips(&self, palette: PaletteRef<'_>) -> Vec<bool> {
        let entry = |index: usize| match palette {
            PaletteRef::Mat3x4(list) => is_flipped(&list[index]),
            // The other formats cannot represent a flip.
            _ => false,
        };
        let flips = |(index, flipped): (usize, &bool)| entry(index) != *flipped;
        if self.flipped.iter().enumerate().any(flips) {
            self.flipped.iter().enumerate().map(flips).collect()
        } else {
            Vec::new()
        }
    }

    /// The way to tell the front of a triangle of a primitive.
    pub(crate) fn facing(&self, primitive: usize, triangle: usize) -> Facing {
        let facings = self.facings.get(primitive);
        let facing = facings.and_then(|facings| facings.get(triangle));
        facing.copied().unwrap_or_default()
    }

    pub(super) fn packed(&self, primitive: usize) -> Result<&Packed> {
        self.packed.get(primitive).ok_or(Error::NotFound {
            what: "primitive",
            index: primitive as u64,
            count: self.packed.len() as u64,
        })
    }

    pub(crate) fn check_lengths(&self, palette: PaletteRef<'_>, weights: &[f32]) -> Result<()> {
        expect_len("palette", palette.len(), self.palette_len)?;
        expect_len("morph weights", weights.len(), self.weights_len)?;
        expect_all_finite("morph weights", weights.iter().copied())
    }

    /// Checks lengths and values, for operations that need positions: these do not exist if the
    /// palette is not finite.
    pub(crate) fn check(&self, palette: PaletteRef<'_>, weights: &[f32]) -> Result<()> {
        self.check_lengths(palette, weights)?;
        expect_all_finite("palette", palette.numbers().iter().copied())
    }

    pub(super) fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        work(&mut self.spare.lend(Box::default))
    }
}

/// True if the determinant is negative. Computed in `f64`, which does not underflow.
pub(crate) fn is_flipped(matrix: &Mat3x4) -> bool {
    let [x, y, z] = matrix
        .rows
        .map(|[x, y, z, _]| Vec3::new(x, y, z).as_dvec3());
    x.dot(y.cross(z)) < 0.0
}

/// Clears `list` and reserves memory for `len` elements of `WORDS` words.
pub(crate) fn room<T, const WORDS: u32>(list: &mut Vec<T>, len: usize) -> *mut f32 {
    const { assert!(size_of::<T>() == WORDS as usize * size_of::<f32>()) };
    list.clear();
    list.reserve(len);
    list.as_mut_ptr().cast()
}

/// The facings of each primitive's triangles. Empty for a primitive whose fronts all follow from
/// winding.
pub(crate) fn facings(character: &Character) -> Vec<Vec<Facing>> {
    let of = |primitive| {
        let facings = character.facings(primitive, &primitive.indices);
        let steady = facings.iter().all(|facing| *facing == Facing::Steady);
        if steady { Vec::new() } else { facings }
    };
    character.primitives().iter().map(of).collect()
}
