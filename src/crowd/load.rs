//! Capacities for known numbers of instances.

use super::need::Need;
use super::state::Crowd;
use super::{Capacity, CharacterDesc, CharacterId, SkinningStage};
use crate::character::Character;
use crate::error::Result;
use crate::gpu::MemoryAllocator;
use crate::gpu::palettes;
use crate::mesh::AlphaMode;
use crate::palette::PaletteFormat;
use crate::skin::SkinnedLayout;

/// The expected instances of one character. See [`Capacity::for_characters`].
#[derive(Debug, Clone, Copy)]
pub struct CharacterLoad<'a> {
    /// The character.
    pub character: &'a Character,
    /// The options with which it will be added.
    pub desc: CharacterDesc,
    /// The largest number of its instances alive at the same time.
    pub instances: u32,
    /// The stage that deforms their vertices.
    pub skin: SkinningStage,
}

impl Capacity {
    /// The capacity for these characters and instances.
    ///
    /// A frame may have up to `views` views.
    ///
    /// It has no histories; the caller may set them.
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
    /// - [`Error::Unrepresentable`](crate::Error::Unrepresentable) if the method's palette format
    ///   cannot represent a character's poses.
    /// - [`Error::Capacity`](crate::Error::Capacity) if a character has 2³² words or more of
    ///   deformed vertices.
    pub fn for_characters(loads: &[CharacterLoad<'_>], views: u32) -> Result<Self> {
        let mut need = Need::default();
        for load in loads {
            let character = load.character;
            let format = PaletteFormat::of(character, load.desc.method)?;
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
    /// Grows the capacity for more instances of each of these characters.
    ///
    /// They are deformed in stage `skin` and come in addition to the instances that are alive. See
    /// [`Self::reserve`].
    ///
    /// # Errors
    /// - [`Error::NotFound`](crate::Error::NotFound) if a character does not exist.
    /// - As [`Self::reserve`].
    ///
    /// If this fails, the crowd is unchanged.
    pub fn reserve_for(
        &mut self,
        allocator: &mut dyn MemoryAllocator,
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
