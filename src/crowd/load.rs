//! How much room a crowd of known characters needs.

use super::state::Crowd;
use super::{Capacity, CharacterDesc, CharacterId, SkinningStage};
use crate::character::Character;
use crate::error::Result;
use crate::gpu::palettes;
use crate::mesh::AlphaMode;
use crate::palette::check_method;
use crate::skin::SkinnedLayout;
use gpu_allocator::vulkan::Allocator;

/// Instances of a character that a crowd is to have room for. See [`Capacity::for_characters`].
#[derive(Debug, Clone, Copy)]
pub struct CharacterLoad<'a> {
    /// The character.
    pub character: &'a Character,
    /// As it will be added.
    pub desc: CharacterDesc,
    /// How many instances of it will be alive at the same time, at most.
    pub instances: u32,
    /// Where their vertices are deformed.
    pub skin: SkinningStage,
}

/// What instances need together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Need {
    pub(super) instances: u64,
    /// Rows of the palette ring.
    pub(super) rows: u64,
    pub(super) morph_weights: u64,
    /// Instances with blended materials.
    pub(super) blended: u64,
    pub(super) skinned_words: u64,
    pub(super) cpu_skinned_words: u64,
}

impl Need {
    /// With `count` instances that each need `one`.
    fn add(&mut self, one: &Self, count: u32) {
        for (all, one) in [
            (&mut self.instances, one.instances),
            (&mut self.rows, one.rows),
            (&mut self.morph_weights, one.morph_weights),
            (&mut self.blended, one.blended),
            (&mut self.skinned_words, one.skinned_words),
            (&mut self.cpu_skinned_words, one.cpu_skinned_words),
        ] {
            *all = all.saturating_add(one.saturating_mul(count.into()));
        }
    }

    /// The capacity for it and no more; what exceeds 32 bits is cut there, and refused where it is
    /// asked for.
    fn capacity(&self, views: u32) -> Capacity {
        let cut = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        Capacity {
            instances: cut(self.instances).max(1),
            palette_entries: cut(self.rows.div_ceil(3)).max(1),
            views,
            morph_weights: cut(self.morph_weights),
            blended: cut(self.blended.saturating_mul(views.into())),
            skinned_words: cut(self.skinned_words),
            cpu_skinned_words: cut(self.cpu_skinned_words),
            histories: 0,
        }
    }
}

impl Capacity {
    /// Room for these characters and instances, in frames of up to `views` views; without
    /// histories, which the caller may set.
    ///
    /// ```
    /// use throng::{Capacity, CharacterDesc, SkinningStage};
    /// use throng::CharacterLoad;
    ///
    /// let mannequin = throng::builtin::mannequin()?;
    /// let load = CharacterLoad {
    ///     character: &mannequin,
    ///     desc: CharacterDesc::default(),
    ///     instances: 500,
    ///     skin: SkinningStage::Vertex,
    /// };
    /// let capacity = Capacity { histories: 1, ..Capacity::for_characters(&[load], 2)? };
    /// assert_eq!(capacity.palette_entries as usize, 500 * mannequin.palette().len());
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unrepresentable`](crate::Error::Unrepresentable) if the method's palettes can't hold a character's
    /// poses; [`Error::Capacity`](crate::Error::Capacity) for a character of 2³² words or more of
    /// deformed vertices.
    pub fn for_characters(loads: &[CharacterLoad<'_>], views: u32) -> Result<Self> {
        let mut need = Need::default();
        for load in loads {
            let character = load.character;
            let format = check_method(character, load.desc.method)?;
            let words = match load.skin {
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
                cpu_skinned_words: if load.skin == SkinningStage::Cpu {
                    words
                } else {
                    0
                },
            };
            need.add(&one, load.instances);
        }
        Ok(need.capacity(views))
    }
}

impl Crowd {
    /// Makes room for so many more instances of each of these characters, which are deformed in
    /// `skin`, beside those that are alive. As [`Self::reserve`].
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) for a character that does not exist; as
    /// [`Self::reserve`]. The crowd is then as it was.
    pub fn reserve_for(
        &mut self,
        allocator: &mut Allocator,
        more: &[(CharacterId, u32)],
        skin: SkinningStage,
    ) -> Result<()> {
        let mut need = self.instances.need();
        for entry in self.characters.iter().flatten() {
            let blended = u64::from(entry.solid < entry.draws.len());
            need.blended += blended * entry.members.len() as u64;
        }
        for (character, count) in more {
            let entry = self.entry(*character)?;
            let words = match skin {
                SkinningStage::Vertex => 0,
                SkinningStage::Compute | SkinningStage::Cpu => {
                    entry.mesh.skinned_layout().words.into()
                }
            };
            let rows = entry.rig.palette().len() as u64 * u64::from(entry.mesh.entry_rows());
            let one = Need {
                instances: 1,
                rows,
                morph_weights: entry.rig.morph_weights().len() as u64,
                blended: u64::from(entry.solid < entry.draws.len()),
                skinned_words: words,
                cpu_skinned_words: if skin == SkinningStage::Cpu { words } else { 0 },
            };
            need.add(&one, *count);
        }
        let capacity = need.capacity(self.desc.capacity.views);
        self.reserve(allocator, &capacity)
    }
}
