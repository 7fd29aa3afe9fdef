//! People who stand still in poses of their own, or in shared ones.

use super::{Person, World};
use crate::reference::rng::Rng;
use crate::support::placed;
use throng::animator::{Animator, Play};
use throng::character::Character;
use throng::glam::Affine3A;
use throng::palette::Mat3x4;
use throng::{CharacterId, Detail, RayDesc, Spawn};

/// The poses that rays meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Poses {
    /// Everybody has a slot.
    Own,
    /// Nobody has.
    Shared,
}

impl Poses {
    pub(super) fn rays(self) -> RayDesc {
        RayDesc {
            near_slots: if self == Self::Own { 64 } else { 0 },
            ..RayDesc::default()
        }
    }

    /// The detail of views, with which everybody or nobody gets a slot.
    pub(super) fn detail(self) -> Detail {
        let default = Detail::default();
        match self {
            Self::Own => Detail {
                error_px: 0.0,
                pose_error_px: 0.0,
                ..default
            },
            Self::Shared => Detail {
                pose_error_px: 1e9,
                ..default
            },
        }
    }

    /// Somebody who stands still at a shared pose, or half way to the next.
    pub(super) fn spawn(
        self,
        character: &Character,
        (clip, place): (&str, Affine3A),
        rng: &mut Rng,
    ) -> Spawn<'static> {
        let clip = character.clip(clip).unwrap();
        let duration_s = character.clips()[clip.index()].duration_s();
        let steps = character.pose_steps(clip).unwrap().unwrap().count;
        let between = if self == Self::Own { 0.5 } else { 0.0 };
        let step = rng.below(steps as usize) as f64 + between;
        let offset_s = duration_s * step / f64::from(steps);
        placed(place, Play::new(clip).offset_s(offset_s).speed(0.0))
    }

    /// The level that rays meet.
    pub(super) fn level(self, world: &World, kind: CharacterId) -> usize {
        let [near, far] = world.crowd.ray_levels(kind).unwrap().unwrap();
        (if self == Self::Own { near } else { far }) as usize
    }
}

/// Their palettes.
pub(super) fn palettes(
    character: &Character,
    animator: &mut Animator,
    people: &[Person],
) -> Vec<Vec<Mat3x4>> {
    let each = people.iter().map(|person| {
        let none = Mat3x4::from_affine(&Affine3A::IDENTITY);
        let mut palette = vec![none; character.palette().len()];
        animator
            .palettes(&[person.actor], &mut palette[..])
            .unwrap();
        palette
    });
    each.collect()
}
