//! The colours and the material of far meshes.

use super::maker::Maker;
use super::mesh::FarMesh;
use super::posing::Posing;
use crate::character::asset::Character;
use crate::character::levels::surface::{Surface, SurfacePoint};
use crate::mesh::{AlphaMode, Image, Material, TextureRef, Wrap};
use glam::{Vec2, Vec3, Vec4};
use std::borrow::Cow;

/// The look of a character's surface at points of its triangles.
pub(in crate::character::levels) struct Painter<'a> {
    character: &'a Character,
    posing: &'a Posing<'a>,
    /// The texels of the images, sRGB encoded.
    texels: Vec<Cow<'a, [u8]>>,
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
    /// In square metres, 0 where the surface is cut out.
    area: f32,
}

impl<'a> Painter<'a> {
    pub(in crate::character::levels) fn new(
        character: &'a Character,
        maker: &'a Maker<'_>,
    ) -> Self {
        let texels = character.images().iter().map(Image::rgba);
        let mut painter = Self {
            character,
            posing: &maker.posing,
            texels: texels.collect(),
            spots: Vec::new(),
        };
        let rest = &painter.posing.rest;
        for corners in painter.posing.indices.as_chunks::<3>().0 {
            let [a, b, c] = corners.map(|corner| rest[corner as usize]);
            // The centre counts as much as the corners.
            let area = (b - a).cross(c - a).length() / 12.0;
            let [.., center] = SurfacePoint::within(*corners);
            let corners = corners.map(SurfacePoint::vertex);
            let spots = corners.into_iter().chain([center]);
            let spots = spots.map(|point| painter.spot(point, area));
            let spots: Vec<Spot> = spots.collect();
            painter.spots.extend(spots);
        }
        painter
    }

    /// The look of a point of a triangle.
    fn spot(&self, point: SurfacePoint, area: f32) -> Spot {
        let (primitive, own) = self.posing.whole.source(point.corners[0]);
        let first = point.corners[0] - own;
        let parts = || {
            point
                .parts()
                .map(|(corner, weight)| ((corner - first) as usize, weight))
        };
        let white = Material::default();
        let material = self.character.materials().get(primitive.material as usize);
        let material = material.unwrap_or(&white);
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
        let color = base * painted;
        let shown = match material.alpha {
            AlphaMode::Opaque => 1.0,
            AlphaMode::Mask { cutoff } => f32::from(u8::from(color.w >= cutoff)),
            AlphaMode::Blend => color.w,
        };
        let surface = sample(&material.metallic_roughness_texture);
        let emitted = linear(sample(&material.emissive_texture)).truncate();
        Spot {
            point,
            color: color.with_w(tint),
            emissive: Vec3::from(material.emissive) * emitted,
            metallic: material.metallic * surface.z,
            roughness: material.roughness * surface.y,
            unlit: material.unlit,
            area: area * shown,
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
        let (mean, _) = self.means();
        // Where nothing is near, the mean colour of the character.
        let least = 1e-6 * self.spots.iter().map(|spot| spot.area).sum::<f32>();
        let mut sums = vec![(mean * least, least); positions.len()];
        for spot in self.spots.iter().filter(|spot| spot.area > 0.0) {
            let at = spot.point.of(rest);
            let cost = |point: &SurfacePoint, _| point.of(&positions).distance_squared(at);
            let nearest = surface.nearest(&positions, at, cost);
            for (corner, weight) in nearest.iter().flat_map(|(nearest, _)| nearest.parts()) {
                let (sum, areas) = &mut sums[corner as usize];
                *sum += spot.color * (spot.area * weight);
                *areas += spot.area * weight;
            }
        }
        let color = |(sum, areas): (Vec4, f32)| (sum / areas.max(f32::MIN_POSITIVE)).to_array();
        sums.into_iter().map(color).collect()
    }

    /// The mean colour, and one material for all far meshes.
    fn means(&self) -> (Vec4, Material) {
        let all = || self.spots.iter();
        let areas = all()
            .map(|spot| spot.area)
            .sum::<f32>()
            .max(f32::MIN_POSITIVE);
        let mean =
            |of: &dyn Fn(&Spot) -> f32| all().map(|spot| of(spot) * spot.area).sum::<f32>() / areas;
        let color = all().map(|spot| spot.color * spot.area).sum::<Vec4>() / areas;
        let emissive = all().map(|spot| spot.emissive * spot.area).sum::<Vec3>() / areas;
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
