//! The parts of a character as bytes.

use crate::bytes::{Reader, Save, save_enums, save_structs};
use crate::character::asset::Packing;
use crate::clip::{ClipOptions, Interpolation, Keys, Track, TrackValues, WeightTrack};
use crate::error::Result;
use crate::mesh::{
    Aabb, AlphaMode, Filter, JointIndices, Material, MeshLevel, MorphReach, MorphTarget,
    MorphWeight, PaletteJoint, Primitive, Skin, TextureRef, Wrap,
};
use crate::skeleton::{Joint, Transform};

save_structs! {
    Transform { translation, rotation, scale }
    Joint { name, parent, rest }
    Aabb { min, max }
    PaletteJoint { joint, inverse_bind, flipped, may_flip, bounds }
    MorphTarget { vertices, positions, normals, tangents }
    MeshLevel { indices, vertices, rigid, error_m }
    Primitive {
        name, part, material, palette, positions, normals, tangents, uvs, uvs1, colors,
        influences_per_vertex, joints, weights, targets, first_weight, indices, levels,
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
    Interpolation, "interpolation", "is unknown":
        0 => Step, 1 => Linear, 2 => CubicSpline;
    Wrap, "texture wrap", "is unknown": 0 => Repeat, 1 => Mirror, 2 => Clamp;
    Filter, "texture filter", "is unknown": 0 => Nearest, 1 => Linear;
    TrackValues, "track", "drives an unknown property":
        0 => Translation(keys), 1 => Rotation(keys), 2 => Scale(keys);
    JointIndices, "joint indices", "have neither 8 nor 16 bits": 0 => U8(list), 1 => U16(list);
    AlphaMode, "alpha mode", "is unknown": 0 => Opaque, 1 => Mask { cutoff }, 2 => Blend;
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
