//! The built-in character as three kinds of people, with other colours and proportions.

use throng::character::Character;
use throng::glam::Vec3;
use throng::import::{ImportOptions, RawCharacter};

use super::Result;

/// The name of these models on the command line.
pub(crate) const PEOPLE: &str = "people";

/// What differs from the built-in character.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Height as a fraction of an adult's.
    pub(crate) height: f32,
    /// Scales of joints, with everything below them.
    joints: &'static [(&'static str, Vec3)],
    /// Linear colours of skin, trousers and hair.
    colors: [[f32; 3]; 3],
}

pub(crate) const KINDS: [Kind; 3] = [
    Kind {
        name: "people: lean",
        height: 1.02,
        joints: &[
            ("Hips", Vec3::new(0.94, 1.0, 0.94)),
            ("Head", Vec3::splat(0.98)),
        ],
        colors: [
            [0.22, 0.11, 0.065],
            [0.30, 0.24, 0.16],
            [0.012, 0.010, 0.010],
        ],
    },
    Kind {
        name: "people: broad",
        height: 0.97,
        joints: &[
            ("Hips", Vec3::new(1.16, 1.0, 1.22)),
            ("Neck", Vec3::new(0.88, 1.0, 0.84)),
        ],
        colors: [[0.66, 0.40, 0.29], [0.045, 0.075, 0.19], [0.30, 0.12, 0.04]],
    },
    Kind {
        name: "people: child",
        height: 0.70,
        joints: &[("Head", Vec3::splat(1.34))],
        colors: [[0.68, 0.43, 0.31], [0.22, 0.05, 0.06], [0.52, 0.33, 0.12]],
    },
];

impl Kind {
    pub(crate) fn character(&self) -> Result<Character> {
        let mut raw = RawCharacter::mannequin();
        for (name, scale) in self.joints {
            let node = raw.nodes.iter_mut().find(|node| &*node.name == *name);
            node.ok_or_else(|| format!("no joint {name}"))?
                .transform
                .scale = *scale;
        }
        for color in raw
            .primitives
            .iter_mut()
            .flat_map(|primitive| &mut primitive.colors)
        {
            let [r, .., b, tint] = *color;
            let [skin, trousers, hair] = self.colors;
            let new = match tint {
                0.0 if r > 0.4 && r > 2.0 * b => skin,
                0.0 if r < 0.06 && r > 2.0 * b => hair,
                0.1..0.5 => trousers,
                _ => continue,
            };
            color[..3].copy_from_slice(&new);
        }
        Ok(raw.build(&ImportOptions::default())?.character)
    }
}
