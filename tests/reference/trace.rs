//! The colour of each pixel in `f64`.
//!
//! Rays are intersected with the triangles of the instances, attributes are interpolated, and
//! textures are looked up.

use super::precision::{COLOR_LAYER, COLOR_ROUNDING, Grid};
use super::shade::{Surface, shade};
use throng::View;
use throng::ash::vk;
use throng::character::Character;
use throng::glam::{DAffine3, DMat3, DMat4, DVec2, DVec3, DVec4};
use throng::mesh::{AlphaMode, Filter, Image, Material, Primitive, TextureRef, Wrap};

/// An instance of a rigid character in its rest pose.
pub struct Traced<'a> {
    pub character: &'a Character,
    pub world_from_model: DAffine3,
    pub tint: DVec4,
}

/// A surface behind a pixel: its colour, alpha and distance.
struct Hit {
    distance: f64,
    blended: bool,
    color: DVec4,
}

/// All triangles of all instances on the screen.
pub fn triangles<'a>(view: &View, all: &'a [Traced<'a>]) -> Vec<Triangle<'a>> {
    let clip = view.eye.clip_from_world.as_dmat4();
    let mut found = Vec::new();
    for traced in all {
        for primitive in traced.character.primitives() {
            let material = &traced.character.materials()[primitive.material as usize];
            for corners in primitive.indices.chunks_exact(3) {
                let world = [0, 1, 2].map(|at| {
                    let position = primitive.positions[corners[at] as usize].as_dvec3();
                    traced.world_from_model.transform_point3(position)
                });
                let screen = world.map(|point| on_screen(view, &clip, point));
                found.push(Triangle {
                    traced,
                    primitive,
                    material,
                    corners,
                    world,
                    screen,
                    depths: world.map(|point| (clip * point.extend(1.0)).w),
                });
            }
        }
    }
    found
}

/// A pixel that can be told.
#[derive(Debug, Clone, Copy)]
pub struct Told {
    pub color: DVec3,
    /// The largest difference that a device may show.
    pub error: DVec3,
}

impl Told {
    /// The largest difference of a channel from a texel, divided by the one that a device may show.
    pub fn off(&self, texel: &[u8]) -> f64 {
        let seen = DVec3::from_array([0, 1, 2].map(|channel| f64::from(texel[channel]))) / 255.0;
        let off = (seen - self.color.clamp(DVec3::ZERO, DVec3::ONE)).abs() / self.error;
        if off.is_nan() {
            f64::INFINITY
        } else {
            off.max_element()
        }
    }
}

/// A pixel's colour. `None` if an edge is too close to decide.
///
/// It may be an edge of a triangle, of a texel or of a cutoff.
pub fn pixel(
    view: &View,
    grid: Grid,
    all: &[Triangle<'_>],
    at: (u32, u32),
    background: DVec3,
) -> Option<Told> {
    let center = DVec2::new(f64::from(at.0) + 0.5, f64::from(at.1) + 0.5);
    let near = all.iter().filter(|triangle| triangle.is_near(center));
    let near: Vec<_> = near.collect();
    let (color, layers) = color(view, &near, center, grid.edge_px(), background)?;
    let mut error = DVec3::ZERO;
    for corner in grid.around(center) {
        // The square around the centre lies within the same triangles.
        let (there, _) = self::color(view, &near, corner, 0.0, background)?;
        error = error.max((there - color).abs());
    }
    error += layers as f64 * COLOR_LAYER + COLOR_ROUNDING;
    Some(Told { color, error })
}

/// The colour of a point, and the number of layers that it consists of.
fn color(
    view: &View,
    near: &[&Triangle<'_>],
    at: DVec2,
    edge_px: f64,
    background: DVec3,
) -> Option<(DVec3, usize)> {
    let mut hits = Vec::new();
    for triangle in near {
        match triangle.hit(view, at, edge_px) {
            Intersection::Nothing => {}
            Intersection::Edge => return None,
            Intersection::Hit(hit) => hits.push(hit),
        }
    }
    hits.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    let nearest = hits
        .iter()
        .filter(|hit| !hit.blended)
        .map(|hit| hit.distance);
    let nearest = nearest.fold(f64::INFINITY, f64::min);
    hits.retain(|hit| hit.distance <= nearest);
    let color = hits.iter().fold(background, |below, hit| {
        let alpha = if hit.blended { hit.color.w } else { 1.0 };
        below
            .lerp(hit.color.truncate(), alpha)
            .clamp(DVec3::ZERO, DVec3::ONE)
    });
    let background_is_seen = nearest.is_infinite();
    Some((color, hits.len() + usize::from(background_is_seen)))
}

enum Intersection {
    Nothing,
    Edge,
    Hit(Hit),
}

/// A triangle of an instance.
pub struct Triangle<'a> {
    traced: &'a Traced<'a>,
    primitive: &'a Primitive,
    material: &'a Material,
    corners: &'a [u32],
    world: [DVec3; 3],
    /// In pixels.
    screen: [DVec2; 3],
    depths: [f64; 3],
}

/// Distance to the edge of a texel that is too close, in texels.
const TEXEL_EDGE: f64 = 0.05;

impl Triangle<'_> {
    fn corner<T: Copy>(&self, of: &[T]) -> [T; 3] {
        [0, 1, 2].map(|at| of[self.corners[at] as usize])
    }

    fn is_near(&self, center: DVec2) -> bool {
        let [a, b, c] = self.screen;
        let (low, high) = (a.min(b).min(c) - 1.0, a.max(b).max(c) + 1.0);
        center.cmpge(low).all() && center.cmple(high).all()
    }

    /// Meets the triangle at a point that is at least `edge_px` inside.
    fn hit(&self, view: &View, center: DVec2, edge_px: f64) -> Intersection {
        let (world, [a, b, c]) = (self.world, self.screen);
        let area = (b - a).perp_dot(c - a);
        if area.abs() < 1e-6 {
            return Intersection::Nothing;
        }
        let part = |p: DVec2, q: DVec2| (q - p).perp_dot(center - p) / area;
        let flat = [part(b, c), part(c, a), part(a, b)];
        let edges = [b.distance(c), c.distance(a), a.distance(b)];
        let inside = flat
            .iter()
            .zip(edges)
            .map(|(part, edge)| part * area.abs() / edge);
        let inside = inside.fold(f64::INFINITY, f64::min);
        if inside < -edge_px {
            return Intersection::Nothing;
        }
        let eye = view.eye.position.as_dvec3();
        let across = (world[1] - world[0]).cross(world[2] - world[0]);
        let turned = self.traced.world_from_model.matrix3.determinant().signum();
        let from_front = (eye - world[0]).dot(across) * turned > 0.0;
        if !from_front && !self.material.double_sided {
            return Intersection::Nothing;
        }
        if inside < edge_px {
            return Intersection::Edge;
        }
        // Perspective-correct: screen weights divided by depth.
        let weights = [0, 1, 2].map(|at| flat[at] / self.depths[at]);
        let sum: f64 = weights.iter().sum();
        let weights = weights.map(|weight| weight / sum);
        self.color(view, world, weights, from_front)
    }

    /// The shaded colour of a point. The weights of the corners give the point.
    fn color(
        &self,
        view: &View,
        world: [DVec3; 3],
        weights: [f64; 3],
        from_front: bool,
    ) -> Intersection {
        let (primitive, material) = (self.primitive, self.material);
        let position = mix(world, weights);
        let eye = view.eye.position.as_dvec3();
        let uvs = [&primitive.uvs, &primitive.uvs1].map(|uvs| match uvs.is_empty() {
            true => [DVec2::ZERO; 3],
            false => self.corner(uvs).map(|uv| uv.as_dvec2()),
        });
        let look = |texture: Option<TextureRef>, is_color: bool| match texture {
            None => Some(DVec4::ONE),
            Some(texture) => {
                let image = &self.traced.character.images()[texture.image as usize];
                texel(
                    image,
                    &texture,
                    mix2(uvs[texture.uv_set as usize], weights),
                    is_color,
                )
            }
        };
        let textures = material.textures();
        let colors = [true, false, false, false, true];
        let looked: Option<Vec<DVec4>> = textures
            .iter()
            .zip(colors)
            .map(|(texture, color)| look(*texture, color))
            .collect();
        let Some(looked) = looked else {
            return Intersection::Edge;
        };
        let base_color = self.base(weights) * looked[0];
        let mut blended = false;
        match material.alpha {
            AlphaMode::Opaque => {}
            AlphaMode::Mask { cutoff } if (base_color.w - f64::from(cutoff)).abs() < 0.01 => {
                return Intersection::Edge;
            }
            AlphaMode::Mask { cutoff } if base_color.w < f64::from(cutoff) => {
                return Intersection::Nothing;
            }
            AlphaMode::Mask { .. } => {}
            AlphaMode::Blend => blended = true,
        }
        let detail = textures[2].map(|texture| {
            let of_set = uvs[texture.uv_set as usize];
            let matrix = texture.transform;
            let uvs = of_set.map(|uv| matrix.transform_point2(uv.as_vec2()).as_dvec2());
            let scale = f64::from(material.normal_scale);
            let sampled = looked[2].truncate() * 2.0 - DVec3::ONE;
            (sampled * DVec3::new(scale, scale, 1.0), uvs)
        });
        let surface = Surface {
            normal: self.normal(world, weights, eye - position, from_front, detail),
            to_eye: (eye - position).normalize(),
            base_color,
            emissive: DVec3::from(material.emissive.map(f64::from)) * looked[4].truncate(),
            metallic: f64::from(material.metallic) * looked[1].z,
            roughness: f64::from(material.roughness) * looked[1].y,
            occlusion: 1.0 + f64::from(material.occlusion_strength) * (looked[3].x - 1.0),
            unlit: material.unlit,
        };
        Intersection::Hit(Hit {
            distance: eye.distance(position),
            blended,
            color: shade(&surface, &view.lighting, 1.0).extend(base_color.w),
        })
    }

    /// Material, vertex colour and tint.
    fn base(&self, weights: [f64; 3]) -> DVec4 {
        let rgba = |color: [f32; 4]| DVec4::from(color.map(f64::from));
        let mut color = rgba(self.material.base_color) * self.traced.tint;
        if !self.primitive.colors.is_empty() {
            let [a, b, c] = self.corner(&self.primitive.colors).map(rgba);
            color *= a * weights[0] + b * weights[1] + c * weights[2];
        }
        color
    }

    fn normal(
        &self,
        world: [DVec3; 3],
        weights: [f64; 3],
        to_eye: DVec3,
        from_front: bool,
        detail: Option<(DVec3, [DVec2; 3])>,
    ) -> DVec3 {
        let edges = [world[1] - world[0], world[2] - world[0]];
        let facet = edges[0].cross(edges[1]).normalize();
        let facet = facet * facet.dot(to_eye).signum();
        let model = self.traced.world_from_model.matrix3;
        let mut normal = facet;
        if !self.primitive.normals.is_empty() {
            let corners = self.corner(&self.primitive.normals);
            let turned = corners.map(|n| (model.inverse().transpose() * n.as_dvec3()).normalize());
            normal = mix(turned, weights).normalize();
        }
        let smooth = normal;
        if let Some((detail, uvs)) = detail {
            let frame = match self.primitive.tangents.is_empty() {
                true => derived(normal, edges, [uvs[1] - uvs[0], uvs[2] - uvs[0]]),
                false => {
                    let corners = self.corner(&self.primitive.tangents);
                    let turned = corners.map(|t| (model * t.truncate().as_dvec3()).normalize());
                    let tangent = mix(turned, weights);
                    let sign = f64::from(corners[0].w) * model.determinant().signum();
                    DMat3::from_cols(tangent, normal.cross(tangent) * sign, normal)
                }
            };
            normal = (frame * detail).normalize();
        }
        let behind = !self.primitive.normals.is_empty() && !from_front && smooth.dot(facet) < 0.0;
        if behind { -normal } else { normal }
    }
}

/// The tangent frame: u grows along the first axis, and v against the second.
///
/// The axes are the gradients on the triangle, perpendicular to the normal. The longer one has
/// length 1.
fn derived(normal: DVec3, edges: [DVec3; 2], uvs: [DVec2; 2]) -> DMat3 {
    let volume = normal.dot(edges[0].cross(edges[1]));
    let gradient = |axis: usize| {
        (edges[1].cross(normal) * uvs[0][axis] + normal.cross(edges[0]) * uvs[1][axis]) / volume
    };
    let [u, v] = [gradient(0), gradient(1)];
    let longest = u.length().max(v.length());
    DMat3::from_cols(u / longest, -v / longest, normal)
}

fn mix(corners: [DVec3; 3], weights: [f64; 3]) -> DVec3 {
    corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2]
}

fn mix2(corners: [DVec2; 3], weights: [f64; 3]) -> DVec2 {
    corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2]
}

/// Pixels from the upper left.
fn on_screen(view: &View, clip: &DMat4, point: DVec3) -> DVec2 {
    let clip = *clip * point.extend(1.0);
    let vk::Rect2D { offset, extent } = view.viewport;
    let min = DVec2::new(offset.x.into(), offset.y.into());
    let size = DVec2::new(extent.width.into(), extent.height.into());
    let mut at = DVec2::new(clip.x, clip.y) / clip.w;
    if view.flip_y {
        at.y = -at.y;
    }
    min + (at * 0.5 + 0.5) * size
}

/// A texel of the finest level, linear. `None` at its edge.
///
/// Only for samplers with the nearest filter, and for images of one colour.
fn texel(image: &Image, texture: &TextureRef, uv: DVec2, is_color: bool) -> Option<DVec4> {
    let matrix = texture.transform.matrix2;
    let uv = DVec2::new(
        f64::from(matrix.x_axis.x) * uv.x + f64::from(matrix.y_axis.x) * uv.y,
        f64::from(matrix.x_axis.y) * uv.x + f64::from(matrix.y_axis.y) * uv.y,
    ) + texture.transform.translation.as_dvec2();
    let even = image
        .rgba()
        .unwrap()
        .chunks_exact(4)
        .all(|texel| texel == &image.rgba().unwrap()[..4]);
    assert!(even || texture.magnify == Filter::Nearest && texture.mip.is_none());
    let place = |at: f64, size: u32, wrap: Wrap| {
        let texels = at * f64::from(size);
        let near_edge = (texels - texels.round()).abs() < TEXEL_EDGE && !even;
        let whole = texels.floor() as i64;
        let size = i64::from(size);
        let inside = match wrap {
            Wrap::Repeat => whole.rem_euclid(size),
            Wrap::Clamp => whole.clamp(0, size - 1),
            Wrap::Mirror => {
                let at = whole.rem_euclid(2 * size);
                if at < size { at } else { 2 * size - 1 - at }
            }
        };
        (!near_edge).then_some(inside as usize)
    };
    let x = place(uv.x, image.width, texture.wrap_u)?;
    let y = place(uv.y, image.height, texture.wrap_v)?;
    let at = (y * image.width as usize + x) * 4;
    let rgba = [0, 1, 2, 3].map(|channel| f64::from(image.rgba().unwrap()[at + channel]) / 255.0);
    let linear = |value: f64| match is_color {
        true if value <= 0.040_45 => value / 12.92,
        true => ((value + 0.055) / 1.055).powf(2.4),
        false => value,
    };
    Some(DVec4::new(
        linear(rgba[0]),
        linear(rgba[1]),
        linear(rgba[2]),
        rgba[3],
    ))
}
