//! Number and names of clips, in whichever form the character has them.

use super::asset::Character;
use crate::clip::{Clip, CurveClip};

impl Character {
    /// The number of clips.
    pub(crate) fn clip_count(&self) -> usize {
        self.clips.len().max(self.curves.len())
    }

    /// The names of the clips, in order.
    pub(crate) fn clip_names(&self) -> impl Iterator<Item = &str> + Clone {
        let packed = self.clips.iter().map(Clip::name);
        // If clips and curves are both kept, they have the same names.
        let curves = self.curves.iter().skip(self.clips.len());
        packed.chain(curves.map(CurveClip::name))
    }
}
