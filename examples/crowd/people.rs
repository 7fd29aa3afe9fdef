//! Other characters made from the built-in one: their build, their colours and what they wear.

use throng::character::Character;
use throng::glam::Vec3;
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::mesh::Material;

use super::Result;
use super::garment::{BACKPACK, Garment, HAT, LONG_HAIR, SKIRT};

/// A character made from the built-in one.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Height as a fraction of an adult's.
    pub(crate) height: f32,
    /// Scales of joints, with everything below them.
    joints: &'static [(&'static str, Vec3)],
    colors: Colors,
    has_sleeves: bool,
    has_bare_legs: bool,
    /// Garments with their linear colours.
    wears: &'static [(&'static Garment, [f32; 3])],
}

/// Linear colours. The shirt has that of the instance's tint.
struct Colors {
    skin: [f32; 3],
    hair: [f32; 3],
    trousers: [f32; 3],
    shoes: [f32; 3],
}

const FAIR: [f32; 3] = [0.66, 0.41, 0.30];
const TAN: [f32; 3] = [0.46, 0.25, 0.155];
const BROWN: [f32; 3] = [0.21, 0.105, 0.062];
const BLACK: [f32; 3] = [0.012, 0.010, 0.010];
const BLOND: [f32; 3] = [0.50, 0.31, 0.11];
const AUBURN: [f32; 3] = [0.22, 0.065, 0.025];
const GREY: [f32; 3] = [0.42, 0.41, 0.40];
const RED: [f32; 3] = [0.48, 0.035, 0.03];
const NAVY: [f32; 3] = [0.025, 0.045, 0.13];
const SAND: [f32; 3] = [0.34, 0.26, 0.16];
const WINE: [f32; 3] = [0.17, 0.018, 0.045];
const TEAL: [f32; 3] = [0.02, 0.15, 0.16];
const STRAW: [f32; 3] = [0.58, 0.44, 0.21];
const WHITE: [f32; 3] = [0.62, 0.61, 0.58];

/// All of them, the most different first.
pub(crate) const KINDS: [Kind; 7] = [
    Kind {
        name: "woman in a skirt",
        height: 0.95,
        joints: &[
            ("Spine", Vec3::new(0.88, 1.0, 0.90)),
            ("Head", Vec3::splat(1.08)),
        ],
        colors: Colors {
            skin: FAIR,
            hair: AUBURN,
            trousers: TEAL,
            shoes: BLACK,
        },
        has_sleeves: false,
        has_bare_legs: true,
        wears: &[(&SKIRT, TEAL), (&LONG_HAIR, AUBURN)],
    },
    Kind {
        name: "child with a cap",
        height: 0.70,
        joints: &[("Head", Vec3::splat(1.34))],
        colors: Colors {
            skin: FAIR,
            hair: RED,
            trousers: SAND,
            shoes: RED,
        },
        has_sleeves: false,
        has_bare_legs: true,
        wears: &[],
    },
    Kind {
        name: "broad man with a hat",
        height: 0.98,
        joints: &[
            ("Hips", Vec3::new(1.18, 1.0, 1.24)),
            ("Neck", Vec3::new(0.86, 1.0, 0.82)),
        ],
        colors: Colors {
            skin: TAN,
            hair: BLACK,
            trousers: SAND,
            shoes: [0.09, 0.04, 0.02],
        },
        has_sleeves: true,
        has_bare_legs: false,
        wears: &[(&HAT, STRAW)],
    },
    Kind {
        name: "lean man with a backpack",
        height: 1.03,
        joints: &[
            ("Hips", Vec3::new(0.94, 1.0, 0.94)),
            ("Head", Vec3::splat(0.98)),
        ],
        colors: Colors {
            skin: BROWN,
            hair: BLACK,
            trousers: NAVY,
            shoes: WHITE,
        },
        has_sleeves: false,
        has_bare_legs: false,
        wears: &[(&BACKPACK, RED)],
    },
    Kind {
        name: "old woman",
        height: 0.90,
        joints: &[
            ("Hips", Vec3::new(1.06, 1.0, 1.10)),
            ("Head", Vec3::new(0.96, 1.04, 0.94)),
        ],
        colors: Colors {
            skin: FAIR,
            hair: GREY,
            trousers: WINE,
            shoes: BLACK,
        },
        has_sleeves: true,
        has_bare_legs: false,
        wears: &[(&LONG_HAIR, GREY)],
    },
    Kind {
        name: "woman in a dress",
        height: 0.98,
        joints: &[
            ("Spine", Vec3::new(0.90, 1.0, 0.92)),
            ("Head", Vec3::splat(1.06)),
        ],
        colors: Colors {
            skin: BROWN,
            hair: BLACK,
            trousers: WHITE,
            shoes: RED,
        },
        has_sleeves: false,
        has_bare_legs: true,
        wears: &[(&SKIRT, WHITE), (&LONG_HAIR, BLACK), (&HAT, WHITE)],
    },
    Kind {
        name: "pupil",
        height: 0.84,
        joints: &[
            ("Hips", Vec3::new(0.92, 1.0, 0.94)),
            ("Head", Vec3::splat(1.16)),
        ],
        colors: Colors {
            skin: TAN,
            hair: BLOND,
            trousers: NAVY,
            shoes: WHITE,
        },
        has_sleeves: true,
        has_bare_legs: false,
        wears: &[(&BACKPACK, TEAL)],
    },
];

/// Clothes of a wardrobe: their names, and the probability of none of them.
type Clothes = Vec<(Vec<String>, f32)>;

/// Makes another file of the built-in character: a body for each of [`KINDS`], and clothes for all
/// of them.
pub(crate) fn wardrobe(raw: &mut RawCharacter) -> Result<Clothes> {
    let colors = [
        STRAW, WHITE, RED, NAVY, TEAL, WINE, BLACK, AUBURN, BLOND, GREY,
    ];
    let all = [
        ("hat", &HAT, &[0, 2, 3, 6][..], 0.65),
        ("hair", &LONG_HAIR, &[6, 7, 8, 9], 0.5),
        ("backpack", &BACKPACK, &[2, 4, 3], 0.75),
        ("skirt", &SKIRT, &[1, 4, 5], 0.7),
    ];
    // Hats and backpacks have the second colour of their person.
    let team = Material {
        name: "team".into(),
        tint_weights: [1.0, 1.0],
        ..raw.materials[0].clone()
    };
    raw.materials.push(team);
    let team = raw.materials.len() - 1;
    let black = Material {
        name: "black".into(),
        base_color: [0.03, 0.03, 0.035, 1.0],
        tint_weights: [0.0; 2],
        ..raw.materials[0].clone()
    };
    raw.materials.push(black);
    // Some wear the colours of no team, and some wear black.
    raw.variants = vec!["plain".into(), "black".into()];
    let plain = raw.clone();
    raw.primitives.clear();
    for kind in &KINDS {
        let mut body = plain.clone();
        body.primitives.truncate(1);
        kind.paint(&mut body);
        for primitive in &mut body.primitives {
            primitive.levels.clear();
            (primitive.name, primitive.part) = (kind.name.into(), kind.name.into());
        }
        raw.primitives.extend(body.primitives);
    }
    let mut clothes = Clothes::new();
    for (what, garment, of, none) in all {
        let mut names = Vec::new();
        for color in of {
            let name = format!("{what} {}", names.len());
            let mut alone = plain.clone();
            alone.primitives.truncate(1);
            let is_of_team = matches!(what, "hat" | "backpack");
            alone.primitives.iter_mut().for_each(|body| {
                let plain = body.material.unwrap_or_default();
                *body = RawPrimitive {
                    name: (*name).into(),
                    part: (*name).into(),
                    node: body.node,
                    skin: body.skin,
                    material: Some(if is_of_team { team } else { plain }),
                    variants: match is_of_team {
                        true => vec![(0, plain), (1, team + 1)],
                        false => Vec::new(),
                    },
                    influences_per_vertex: body.influences_per_vertex,
                    ..RawPrimitive::default()
                }
            });
            garment.add(&mut alone, colors[*color])?;
            raw.primitives.extend(alone.primitives);
            names.push(name);
        }
        clothes.push((names, none));
    }
    Ok(clothes)
}

/// The materials of the built-in character, which vertices tell by their colours.
#[derive(Clone, Copy, PartialEq)]
enum Paint {
    Skin,
    Hair,
    Trousers,
    Shoe,
    Other,
}

impl Paint {
    fn of([r, g, b, tint]: [f32; 4]) -> Self {
        // The tint covers the shirt, and colours trousers a little.
        match tint {
            0.1..0.5 => Self::Trousers,
            0.5.. => Self::Other,
            // Skin is much redder than soles.
            _ if r > 0.4 && r > 2.0 * b => Self::Skin,
            // Shoes and hair are dark. Lips are redder, and eyes are black.
            _ if (0.08..0.2).contains(&r) && r < 1.5 * g => Self::Shoe,
            _ if (0.03..0.08).contains(&r) => Self::Hair,
            _ => Self::Other,
        }
    }
}

impl Kind {
    pub(crate) fn character(&self) -> Result<Character> {
        let mut raw = RawCharacter::mannequin();
        for (name, scale) in self.joints {
            let node = raw.nodes.iter_mut().find(|node| &*node.name == *name);
            node.ok_or_else(|| format!("no joint {name}"))?
                .transform
                .scale = *scale;
        }
        self.paint(&mut raw);
        for (garment, color) in self.wears {
            garment.add(&mut raw, *color)?;
        }
        // The figures that the mannequin states are those of its own shape.
        let levels = raw.primitives.iter_mut().flat_map(|part| &mut part.levels);
        levels.for_each(|level| (level.error_m, level.cover) = (None, None));
        Ok(raw.build(&ImportOptions::default())?.character)
    }

    /// Gives skin, hair and clothes their colours.
    fn paint(&self, raw: &mut RawCharacter) {
        for primitive in &mut raw.primitives {
            let count = primitive.influences_per_vertex.max(1);
            let joints = primitive.joints.chunks(count);
            let influences = joints.zip(primitive.weights.chunks(count));
            for (color, (joints, weights)) in primitive.colors.iter_mut().zip(influences) {
                let pairs = joints.iter().zip(weights);
                let strongest = pairs.max_by(|a, b| a.1.total_cmp(b.1));
                let node = strongest.and_then(|(joint, _)| raw.nodes.get(*joint as usize));
                let joint = node.map_or("", |node| &node.name);
                let is_arm = joint.contains("UpperArm") || joint.contains("LowerArm");
                let has_skin = self.has_bare_legs && joint.contains("LowerLeg");
                let Colors {
                    skin,
                    hair,
                    trousers,
                    shoes,
                } = self.colors;
                let new = match Paint::of(*color) {
                    Paint::Skin if is_arm && self.has_sleeves => {
                        *color = [0.80, 0.80, 0.78, 1.0];
                        continue;
                    }
                    Paint::Trousers if has_skin => {
                        color[3] = 0.0;
                        skin
                    }
                    Paint::Skin => skin,
                    Paint::Hair => hair,
                    Paint::Trousers => trousers,
                    Paint::Shoe => shoes,
                    Paint::Other => continue,
                };
                color[..3].copy_from_slice(&new);
            }
        }
    }
}
