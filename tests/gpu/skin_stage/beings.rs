//! The characters of the random operations.

use super::made::{self, Kind};
use crate::reference::rng::Rng;
use crate::support::{Setup, described};
use throng::character::Character;
use throng::skin::Skinner;
use throng::{CharacterId, Crowd, SkinningStage};

/// A character of the crowd, and its CPU implementation.
pub(super) struct Being {
    pub(super) kind: Kind,
    pub(super) character: Character,
    pub(super) skinner: Skinner,
    pub(super) id: CharacterId,
    pub(super) cpu_skin: bool,
}

impl Being {
    pub(super) fn words(&self, skin: SkinningStage) -> u32 {
        match skin {
            SkinningStage::Vertex => 0,
            SkinningStage::Compute | SkinningStage::Cpu => self.skinner.layout().words,
        }
    }
}

/// One character of every method, and one that cannot be skinned on the CPU.
pub(super) fn beings(setup: &mut Setup, crowd: &mut Crowd, rng: &mut Rng) -> Vec<Being> {
    let kinds = Kind::ALL.into_iter().chain([Kind::Linear]);
    let mut all = Vec::new();
    for (number, kind) in kinds.enumerate() {
        let character = made::sized(kind, 1 + 2 * number, 60 + 30 * number, rng);
        // The last one cannot be skinned on the CPU.
        let cpu_skin = number < Kind::ALL.len();
        let desc = described(kind.method(), cpu_skin);
        let allocator = &mut setup.context.allocator();
        let id = crowd.add_character(allocator, &character, &desc);
        all.push(Being {
            kind,
            skinner: Skinner::new(&character).unwrap(),
            character,
            id: id.unwrap(),
            cpu_skin,
        });
    }
    all
}
