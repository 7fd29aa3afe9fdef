//! The capacities of a crowd, and what instances need of them.

use crate::character::Character;
use crate::crowd::{CharacterDesc, SkinningStage};
use crate::error::Result;
use crate::gpu::palettes;
use crate::mesh::AlphaMode;
use crate::palette::PaletteFormat;
use crate::skin::SkinnedLayout;

/// The capacities of a crowd.
///
/// Use the [default](Self::default) to begin with, or [`Self::new`] and [`Self::with_character`] if
/// the characters are known. [`Crowd::reserve`](super::Crowd::reserve) grows them between frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Instances alive at the same time, at most
    /// [`Crowd::MAX_INSTANCES`](super::Crowd::MAX_INSTANCES).
    pub instances: u32,
    /// Palette entries of all instances together.
    ///
    /// This is the sum of the [`Character::palette`](crate::character::Character::palette) lengths
    /// of all instances. Each entry takes 48 bytes in every frame in flight.
    ///
    /// If the GPU poses instances ([`Stages::Gpu`](super::Stages::Gpu)), fewer are enough:
    /// those of the instances that the CPU poses, and of those that a frame shows without a shared
    /// pose ([`Detail::pose_error_px`](super::Detail::pose_error_px)). If the CPU's do not fit, the
    /// frame is not prepared ([`Error::Capacity`](crate::Error::Capacity)). If the GPU's do not
    /// fit, the last ones, in the order in which characters and instances came, take the nearest
    /// shared pose of the clip with the most weight, or else the rest pose:
    /// [`Stats::poses_without_memory`](super::Stats::poses_without_memory) says how many.
    pub palette_entries: u32,
    /// Views of one frame, at most [`Crowd::MAX_VIEWS`](super::Crowd::MAX_VIEWS).
    pub views: u32,
    /// Morph weights of all instances together.
    ///
    /// This is the sum of the
    /// [`Character::morph_weights`](crate::character::Character::morph_weights) lengths of all
    /// instances. Each weight takes 12 bytes in every frame in flight.
    pub morph_weights: u32,
    /// Instances with blended materials, counted once for each view of a frame.
    ///
    /// Each takes 4 bytes in every frame in flight.
    pub blended: u32,
    /// Words (4 bytes each) of deformed vertices.
    ///
    /// This is the sum of [`SkinnedLayout::words`](crate::skin::SkinnedLayout::words) of all
    /// instances that are skinned by compute or on the CPU.
    pub skinned_words: u32,
    /// The part of `skinned_words` that belongs to instances skinned on the CPU.
    ///
    /// These words exist in every frame in flight, too.
    pub cpu_skinned_words: u32,
    /// Attached instances ([`Instance::attach_to`](super::Instance::attach_to)) that the GPU places
    /// if it poses their parents ([`Stages::Gpu`](super::Stages::Gpu)).
    ///
    /// The CPU places any further ones, in each frame. Each takes 96 bytes, and as many in every
    /// frame in flight.
    pub attachments: u32,
    /// Views that keep a history for motion vectors ([`View::history`](super::View::history)).
    ///
    /// Each history holds the records, palettes, morph weights and deformed vertices of all
    /// instances twice.
    pub histories: u32,
    /// Pixels of all depth pictures ([`Depth`](super::Depth)) of
    /// [`record_prepare_behind`](super::Frame::record_prepare_behind), or of
    /// [`record_reveal`](super::Frame::record_reveal) if these are more.
    ///
    /// Each takes 16/3 bytes. Of a picture that is longer than 2,048 pixels, every second row and
    /// column counts, or every fourth if that is longer still, and so on. With 0, depth is
    /// refused, and receivers are not tested.
    ///
    /// Set this or [`Self::late_views`] before characters are added. The instances of those that
    /// were added while both were 0 are tested by their spheres, and so hidden less often than by
    /// the boxes of shared poses. [`Crowd::replace_character`](super::Crowd::replace_character)
    /// gives a character its boxes.
    pub depth_pixels: u32,
    /// Views whose unseen instances wait for [`Frame::record_reveal`](super::Frame::record_reveal):
    /// the first ones of a frame, at most 10.
    ///
    /// Each takes 9 bytes for each instance.
    pub late_views: u32,
}

impl Capacity {
    /// Each capacity as `of` makes it of this one and another.
    pub(crate) fn with(&self, other: &Self, of: fn(u32, u32) -> u32) -> Self {
        Self {
            instances: of(self.instances, other.instances),
            palette_entries: of(self.palette_entries, other.palette_entries),
            views: of(self.views, other.views),
            morph_weights: of(self.morph_weights, other.morph_weights),
            blended: of(self.blended, other.blended),
            skinned_words: of(self.skinned_words, other.skinned_words),
            cpu_skinned_words: of(self.cpu_skinned_words, other.cpu_skinned_words),
            attachments: of(self.attachments, other.attachments),
            histories: of(self.histories, other.histories),
            depth_pixels: of(self.depth_pixels, other.depth_pixels),
            late_views: of(self.late_views, other.late_views),
        }
    }

    /// True if instances may be tested against depth.
    pub(crate) fn tests_depth(&self) -> bool {
        self.depth_pixels > 0 || self.late_views > 0
    }

    /// Words of a frame's morph weights: one count for each instance, two words for each weight.
    pub(crate) fn morph_words(&self) -> u32 {
        self.morph_weights.saturating_mul(3).max(4)
    }
}

impl Default for Capacity {
    /// Capacity for a thousand instances of 64 joints, in 4 views.
    ///
    /// None of them is skinned to memory, and there is no history.
    fn default() -> Self {
        Self {
            instances: 1024,
            palette_entries: 65_536,
            morph_weights: 4096,
            blended: 1024,
            attachments: 256,
            ..Self::new(4)
        }
    }
}

impl Capacity {
    /// The capacity for `views` views in a frame, without instances, attachments and histories.
    ///
    /// Add the instances of each character with [`Self::with_character`]. If the GPU shall place
    /// attached instances, set [`Self::attachments`].
    ///
    /// ```
    /// use throng::{Capacity, CharacterDesc, SkinningStage};
    ///
    /// let mannequin = throng::builtin::mannequin()?;
    /// let desc = CharacterDesc::default();
    /// let capacity = Capacity { histories: 1, ..Capacity::new(2) }
    ///     .with_character(&mannequin, &desc, 500, SkinningStage::Vertex)?;
    /// assert_eq!(capacity.palette_entries as usize, 500 * mannequin.palette().len());
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub const fn new(views: u32) -> Self {
        Self {
            views,
            instances: 0,
            palette_entries: 0,
            morph_weights: 0,
            blended: 0,
            skinned_words: 0,
            cpu_skinned_words: 0,
            attachments: 0,
            histories: 0,
            depth_pixels: 0,
            late_views: 0,
        }
    }

    /// Adds capacity for instances of a character.
    ///
    /// All of them may be visible in each of [`Self::views`], so set that first.
    ///
    /// - `desc` has the options with which the character will be added.
    /// - `instances` is the largest number of its instances alive at the same time.
    /// - `skin` is the stage that deforms their vertices.
    ///
    /// Each call rounds the palettes up to whole entries of 48 bytes. Sums stop at `u32::MAX`,
    /// which [`Crowd::new`](crate::Crowd::new) rejects if the device cannot hold it.
    ///
    /// # Errors
    /// - [`Error::Unrepresentable`](crate::Error::Unrepresentable) if the method's palette format
    ///   cannot represent the character's poses.
    /// - [`Error::Capacity`](crate::Error::Capacity) if the character has 2³² words or more of
    ///   deformed vertices.
    pub fn with_character(
        self,
        character: &Character,
        desc: &CharacterDesc,
        instances: u32,
        skin: SkinningStage,
    ) -> Result<Self> {
        let format = PaletteFormat::of(character, desc.method)?;
        let words = match skin {
            SkinningStage::Vertex => 0,
            SkinningStage::Compute | SkinningStage::Cpu => {
                SkinnedLayout::new(character)?.words.into()
            }
        };
        let blends = character.primitives().iter().any(|primitive| {
            let material = character.materials().get(primitive.material as usize);
            material.is_some_and(|material| material.alpha == AlphaMode::Blend)
        });
        let one = Need {
            instances: 1,
            rows: character.palette().len() as u64 * u64::from(palettes::entry_rows(format)),
            morph_weights: character.morph_weights().len() as u64,
            blended: blends.into(),
            skinned_words: words,
            cpu_skinned_words: if skin == SkinningStage::Cpu { words } else { 0 },
        };
        let more = Need::default().plus(&one, instances).capacity(self.views);
        let more = Self { views: 0, ..more };
        Ok(self.with(&more, u32::saturating_add))
    }
}

/// The total needs of some instances.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Need {
    pub(crate) instances: u64,
    /// Rows of the palette ring.
    pub(crate) rows: u64,
    pub(crate) morph_weights: u64,
    /// Instances with blended materials.
    pub(crate) blended: u64,
    pub(crate) skinned_words: u64,
    pub(crate) cpu_skinned_words: u64,
}

impl Need {
    /// With the needs of `count` more instances that each need `one`.
    pub(crate) fn plus(&self, one: &Self, count: u32) -> Self {
        self.with(one, |all, one| {
            all.saturating_add(one.saturating_mul(count.into()))
        })
    }

    /// Without these needs, which are a part.
    pub(crate) fn minus(&self, part: &Self) -> Self {
        self.with(part, |all, part| all - part)
    }

    fn with(&self, other: &Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            instances: of(self.instances, other.instances),
            rows: of(self.rows, other.rows),
            morph_weights: of(self.morph_weights, other.morph_weights),
            blended: of(self.blended, other.blended),
            skinned_words: of(self.skinned_words, other.skinned_words),
            cpu_skinned_words: of(self.cpu_skinned_words, other.cpu_skinned_words),
        }
    }

    /// The capacity for it, in whole palette entries.
    ///
    /// Values that exceed 32 bits are clamped. The call that uses them rejects what the device
    /// cannot hold.
    pub(crate) fn capacity(&self, views: u32) -> Capacity {
        let cut = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        Capacity {
            instances: cut(self.instances),
            palette_entries: cut(self.rows.div_ceil(3)),
            morph_weights: cut(self.morph_weights),
            blended: cut(self.blended.saturating_mul(views.into())),
            skinned_words: cut(self.skinned_words),
            cpu_skinned_words: cut(self.cpu_skinned_words),
            ..Capacity::new(views)
        }
    }
}
