//! Rays in some frames of a crowd that has them.

use super::{Flight, Model};
use crate::rays::modelled::{Person, Shown};
use crate::reference::handles::Handles;
use throng::ash::{self, vk};
use throng::{Culling, Detail, Frame, View, ViewId};

impl Model {
    /// A view of rays beside another view, in some frames.
    pub(super) fn view_of_rays(&mut self, other: &View) -> Option<View> {
        let has_rays = self.rays.is_some() && !self.rng.chance(4);
        let mut draw = |choices: &[u32]| choices[self.rng.below(choices.len())];
        has_rays.then(|| View {
            mask: draw(&[1, 2, u32::MAX, u32::MAX]),
            culling: Culling::Rays,
            detail: Detail {
                // Nobody is too small.
                error_px: 0.0,
                pose_error_px: [0.0, 1e9][draw(&[0, 1]) as usize],
                ..other.detail
            },
            list: None,
            ..*other
        })
    }

    /// Records rays at everybody, and returns who should be met.
    pub(super) fn trace(
        &mut self,
        (device, cmd): (&ash::Device, vk::CommandBuffer),
        frame: &mut Frame<'_>,
        (view, mask, frame_index): (ViewId, u32, u32),
    ) -> Shown {
        let traced = unsafe { frame.record_rays(cmd, view) }.unwrap();
        let shown = self.members.iter().filter(|member| {
            let levels = frame.ray_levels(self.ids[member.character]).unwrap();
            levels.is_some() && self.is_visible(member) && member.mask & mask != 0
        });
        let people = shown.map(|member| {
            let (world, bound) = self.world(member.id);
            let person = Person {
                world,
                bound,
                mask: member.mask >> 24,
            };
            (frame.live(member.id).table_index(), person)
        });
        let shown = Shown {
            people: people.collect(),
            count: traced.count,
        };
        if let Some(rays) = &mut self.rays {
            rays.record((device, cmd), &traced, (&shown, frame_index), &mut self.rng);
        }
        shown
    }

    /// Compares what rays met in a frame that has ended.
    pub(super) fn check_rays(&mut self, flight: &Flight, frame_index: u32) {
        if let (Some(rays), Some(shown)) = (&mut self.rays, &flight.shown) {
            rays.check(shown, frame_index);
        }
    }
}
