//! The parts of a character as bytes.

use crate::bytes::{Reader, Save, invalid, save_enums, save_structs};
use crate::character::asset::Packing;
use crate::clip::{ClipOptions, Interpolation, Keys, Track, TrackValues, WeightTrack};
use crate::error::Result;
use crate::mesh::{
    Aabb, AlphaMode, Filter, JointIndices, Material, MorphReach, MorphTarget, MorphWeight,
    PaletteJoint, Primitive, Skin, TextureRef, Wrap,
};
use crate::skeleton::{Joint, Transform};

save_structs! {
    Transform { translation, rotation, scale }
    Joint { name, parent, rest }
    Aabb { min, max }
    PaletteJoint { joint, inverse_bind, flipped, may_flip, bounds }
    MorphTarget { vertices, positions, normals, tangents }
    Primitive {
        name, part, material, palette, positions, normals, tangents, uvs, uvs1, colors,
        influences_per_vertex, joints, weights, targets, first_weight, indices,
    }
    TextureRef { image, wrap_u, wrap_v, magnify, minify, mip, uv_set, transform }
    Material {
        name, base_color, base_color_texture, metallic, roughness, metallic_roughness_texture,
        normal_texture, normal_scale, occlusion_texture, occlusion_strength, emissive,
        emissive_texture, alpha, unlit, double_sided, tint_by_alpha,
    }
    MorphReach { entry, weight, reach }
    MorphWeight { name, owner, rest }
    Skin { name, joints }
    Track { joint, values }
    WeightTrack { first_weight, count, keys }
    Packing { curves, options }
    ClipOptions { quantise, error_m }
}

save_enums! {
    Interpolation, "interpolation": 0 => Step, 1 => Linear, 2 => CubicSpline;
    Wrap, "texture wrap": 0 => Repeat, 1 => Mirror, 2 => Clamp;
    Filter, "texture filter": 0 => Nearest, 1 => Linear;
}

impl<T: Save> Save for Keys<T> {
    fn save(&self, to: &mut Vec<u8>) {
        self.times_s.save(to);
        self.values.save(to);
        self.interpolation.save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            times_s: Save::load(from)?,
            values: Save::load(from)?,
            interpolation: Save::load(from)?,
        })
    }
}

impl Save for TrackValues {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Self::Translation(keys) => (0_u8.save(to), keys.save(to)),
            Self::Rotation(keys) => (1_u8.save(to), keys.save(to)),
            Self::Scale(keys) => (2_u8.save(to), keys.save(to)),
        };
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match u8::load(from)? {
            0 => Self::Translation(Save::load(from)?),
            1 => Self::Rotation(Save::load(from)?),
            2 => Self::Scale(Save::load(from)?),
            _ => return Err(invalid("track", "drives an unknown property")),
        })
    }
}

impl Save for JointIndices {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Self::U8(list) => (0_u8.save(to), list.save(to)),
            Self::U16(list) => (1_u8.save(to), list.save(to)),
        };
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match u8::load(from)? {
            0 => Self::U8(Save::load(from)?),
            1 => Self::U16(Save::load(from)?),
            _ => return Err(invalid("joint indices", "have neither 8 nor 16 bits")),
        })
    }
}

impl Save for AlphaMode {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Self::Opaque => 0_u8.save(to),
            Self::Mask { cutoff } => {
                1_u8.save(to);
                cutoff.save(to);
            }
            Self::Blend => 2_u8.save(to),
        }
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match u8::load(from)? {
            0 => Self::Opaque,
            1 => Self::Mask {
                cutoff: Save::load(from)?,
            },
            2 => Self::Blend,
            _ => return Err(invalid("alpha mode", "is unknown")),
        })
    }
}
