//! The colours and the material of far meshes.

use super::maker::Maker;
use super::mesh::FarMesh;
use super::posing::Posing;
use super::seen::seen;
use crate::character::asset::Character;
use crate::character::levels::surface::{Surface, SurfacePoint};
use crate::error::Result;
use crate::mesh::{AlphaMode, Image, Material, TextureRef, Wrap};
use glam::{Vec2, Vec3, Vec4};
use rayon::prelude::*;
use std::borrow::Cow;

/// The number of steps towards the colours that fit best.
const SHARPENED: usize = 8;

/// The look of a character's surface where it is seen from outside.
pub(in crate::character::levels) struct Painter<'a> {
    character: &'a Character,
    posing: &'a Posing<'a>,
    /// The texels of the images, sRGB encoded.
    texels: Vec<Cow<'a, [u8]>>,
    /// The material of primitives that have none.
    plain: Material,
    /// The points that are seen from outside, each as large as the others.
    spots: Vec<Spot>,
}

/// A point of the surface, and its look.
struct Spot {
    point: SurfacePoint,
    /// Linear RGB, and the strength of an instance's tint.
    color: Vec4,
    emissive: Vec3,
    metallic: f32,
    roughness: f32,
    unlit: bool,
    /// False where the surface is cut out, or clearer than half.
    is_shown: bool,
}

impl<'a> Painter<'a> {
    pub(in crate::character::levels) fn new(
        character: &'a Character,
        maker: &'a Maker<'_>,
    ) -> Result<Self> {
        let texels = character.images().iter().map(Image::rgba);
        let mut painter = Self {
            character,
            posing: &maker.posing,
            texels: texels.collect::<Result<_>>()?,
            plain: Material::default(),
            spots: Vec::new(),
        };
        let Posing {
            rest,
            indices,
            size,
            ..
        } = painter.posing;
        let points = seen(rest, indices, *size, |point, front| {
            painter.shows(point, front)
        });
        let spots = points.iter().map(|point| painter.spot(point));
        painter.spots = spots.collect();
        Ok(painter)
    }

    /// True if a point is seen. Of blended materials, what is more opaque than clear is seen.
    fn shows(&self, point: &SurfacePoint, is_front: bool) -> bool {
        let material = self.material_of(point);
        (is_front || material.double_sided)
            && (material.alpha == AlphaMode::Opaque || self.spot(point).is_shown)
    }

    fn material_of(&self, point: &SurfacePoint) -> &Material {
        let (primitive, _) = self.posing.whole.source(point.corners[0]);
        let material = self.character.materials().get(primitive.material as usize);
        material.unwrap_or(&self.plain)
    }

    /// The look of a point of a triangle.
    fn spot(&self, point: &SurfacePoint) -> Spot {
        let (primitive, own) = self.posing.whole.source(point.corners[0]);
        let first = point.corners[0] - own;
        let parts = || {
            point
                .parts()
                .map(|(corner, weight)| ((corner - first) as usize, weight))
        };
        let material = self.material_of(point);
        let uv = |set: u32| {
            mean(
                if set == 0 {
                    &primitive.uvs
                } else {
                    &primitive.uvs1
                },
                parts(),
            )
        };
        let sample = |texture: &Option<TextureRef>| match texture {
            Some(texture) => self.sample(texture, uv(texture.uv_set)),
            None => Vec4::ONE,
        };
        let painted = match primitive.colors.is_empty() {
            true => Vec4::ONE,
            false => parts().fold(Vec4::ZERO, |sum, (vertex, weight)| {
                sum + Vec4::from(primitive.colors[vertex]) * weight
            }),
        };
        let (tint, painted) = match material.tint_by_alpha {
            true => (painted.w, painted.with_w(1.0)),
            false => (1.0, painted),
        };
        let base = Vec4::from(material.base_color) * linear(sample(&material.base_color_texture));
        // The far material has neither a mask nor a reference. The second colour is left out.
        let tint = tint * material.tint_weights[0] * sample(&material.tint_mask).x;
        let untinted = Vec3::from(material.tint_reference).recip() - 1.0;
        let reference = (1.0 + tint * untinted).extend(1.0);
        let color = base * painted * reference;
        let is_shown = match material.alpha {
            AlphaMode::Opaque => true,
            AlphaMode::Mask { cutoff } => color.w >= cutoff,
            AlphaMode::Blend => color.w >= 0.5,
        };
        let surface = sample(&material.metallic_roughness_texture);
        let emitted = linear(sample(&material.emissive_texture)).truncate();
        Spot {
            point: *point,
            color: color.with_w(tint),
            emissive: Vec3::from(material.emissive) * emitted,
            metallic: material.metallic * surface.z,
            roughness: material.roughness * surface.y,
            unlit: material.unlit,
            is_shown,
        }
    }

    /// The texel nearest to texture coordinates, 0 to 1. White without an image.
    fn sample(&self, texture: &TextureRef, uv: Vec2) -> Vec4 {
        let at = texture.image as usize;
        let (Some(image), Some(texels)) = (self.character.images().get(at), self.texels.get(at))
        else {
            return Vec4::ONE;
        };
        let uv = texture.transform.transform_point2(uv);
        let texel = |at: f32, wrap: Wrap, size: u32| {
            let at = match wrap {
                Wrap::Repeat => at.rem_euclid(1.0),
                Wrap::Mirror => 1.0 - (at.rem_euclid(2.0) - 1.0).abs(),
                Wrap::Clamp => at,
            };
            ((at * size as f32) as usize).min(size as usize - 1)
        };
        let x = texel(uv.x, texture.wrap_u, image.width);
        let y = texel(uv.y, texture.wrap_v, image.height);
        let start = (y * image.width as usize + x) * 4;
        let texel = texels.get(start..).and_then(|rest| rest.first_chunk::<4>());
        texel.map_or(Vec4::ONE, |texel| Vec4::from(texel.map(f32::from)) / 255.0)
    }

    /// The colour of each vertex: the mean of the surface around it.
    pub(in crate::character::levels) fn colors(&self, mesh: &FarMesh) -> Vec<[f32; 4]> {
        let positions = mesh.posed(&self.posing.palettes[0]);
        let surface = Surface::new(&positions, &mesh.indices);
        let rest = &self.posing.rest;
        let nearest = |spot: &Spot| {
            let at = spot.point.of(rest);
            let cost = |point: &SurfacePoint, _| point.of(&positions).distance_squared(at);
            surface
                .nearest(&positions, at, cost)
                .map(|(nearest, _)| nearest)
        };
        let nearest: Vec<Option<SurfacePoint>> = self.spots.par_iter().map(nearest).collect();
        let of = |colors: &[Vec4], point: &SurfacePoint| {
            let parts = point.parts();
            parts.fold(Vec4::ZERO, |sum, (corner, weight)| {
                sum + colors[corner as usize] * weight
            })
        };
        let all = || self.spots.iter().map(|spot| spot.color);
        let (least, most) = (
            all().fold(Vec4::INFINITY, Vec4::min),
            all().fold(Vec4::ZERO, Vec4::max),
        );
        // Where nothing is near, the mean colour of the character.
        let mut colors = vec![self.means().0; positions.len()];
        for _ in 0..SHARPENED {
            let mut sums = vec![(Vec4::ZERO, 1e-6); positions.len()];
            for (spot, nearest) in self.spots.iter().zip(&nearest) {
                if let Some(nearest) = nearest {
                    let off = spot.color - of(&colors, nearest);
                    for (corner, weight) in nearest.parts() {
                        let (sum, weights) = &mut sums[corner as usize];
                        *sum += off * weight;
                        *weights += weight;
                    }
                }
            }
            for (color, (sum, weights)) in colors.iter_mut().zip(sums) {
                *color = (*color + sum / weights).max(least).min(most);
            }
        }
        colors.into_iter().map(|color| color.to_array()).collect()
    }

    /// The mean colour, and one material for all far meshes.
    fn means(&self) -> (Vec4, Material) {
        let count = self.spots.len().max(1) as f32;
        let mean = |of: &dyn Fn(&Spot) -> f32| self.spots.iter().map(of).sum::<f32>() / count;
        let color = self.spots.iter().map(|spot| spot.color).sum::<Vec4>() / count;
        let emissive = self.spots.iter().map(|spot| spot.emissive).sum::<Vec3>() / count;
        let material = Material {
            name: "far".into(),
            metallic: mean(&|spot| spot.metallic),
            roughness: mean(&|spot| spot.roughness),
            emissive: emissive.to_array(),
            unlit: mean(&|spot| f32::from(u8::from(spot.unlit))) > 0.5,
            tint_by_alpha: true,
            ..Material::default()
        };
        (color, material)
    }

    /// The material of far meshes.
    pub(in crate::character::levels) fn material(&self, meshes: &[FarMesh]) -> Material {
        Material {
            double_sided: meshes.iter().any(FarMesh::is_open),
            ..self.means().1
        }
    }
}

/// The mean texture coordinates of vertices.
fn mean(uvs: &[Vec2], parts: impl Iterator<Item = (usize, f32)>) -> Vec2 {
    parts.fold(Vec2::ZERO, |sum, (vertex, weight)| {
        sum + uvs.get(vertex).copied().unwrap_or_default() * weight
    })
}

/// Linear RGB of an sRGB encoded colour. Alpha stays.
///
/// Source: IEC 61966-2-1.
fn linear(encoded: Vec4) -> Vec4 {
    let channel = |value: f32| match value <= 0.04045 {
        true => value / 12.92,
        false => ((value + 0.055) / 1.055).powf(2.4),
    };
    let [r, g, b, alpha] = encoded.to_array();
    Vec4::new(channel(r), channel(g), channel(b), alpha)
}
