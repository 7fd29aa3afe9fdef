//! The position of every vertex in `f64`, and the motion that a picture must show.
//!
//! The computation starts from the CPU's palettes.

use super::ribbon::palette_as;
use throng::View;
use throng::ash::vk;
use throng::character::Character;
use throng::glam::{Affine3A, DMat4, DVec2, DVec3, DVec4, Mat4};
use throng::palette::{DualQuat, Mat3x4, PaletteEntry, QuatOffset, SkinningMethod};
use throng::skin::PosedVertices;

/// World positions of the vertices of each primitive.
pub type Shape = Vec<Vec<DVec3>>;

/// The vertices of an instance, from an animator's palettes and CPU skinning.
///
/// Other tests compare both with `f64`.
pub fn shape(
    (character, method): (&Character, SkinningMethod),
    clip: Option<(usize, f64)>,
    weights: &[f32],
    place: &Affine3A,
) -> Shape {
    match method {
        SkinningMethod::Linear => shape_as::<Mat3x4>(character, clip, weights, place),
        SkinningMethod::DualQuat => shape_as::<DualQuat>(character, clip, weights, place),
        SkinningMethod::QuatOffset => shape_as::<QuatOffset>(character, clip, weights, place),
    }
}

fn shape_as<P: PaletteEntry>(
    character: &Character,
    clip: Option<(usize, f64)>,
    weights: &[f32],
    place: &Affine3A,
) -> Shape {
    let place = place.as_daffine3();
    let palette: Vec<P> = palette_as(character, clip);
    let each = character.primitives().iter().map(|primitive| {
        let mut posed = PosedVertices::default();
        character
            .skin_primitive(primitive, &palette, weights, &mut posed)
            .unwrap();
        let positions = posed.positions.iter();
        positions
            .map(|p| place.transform_point3(p.as_dvec3()))
            .collect()
    });
    each.collect()
}

/// An instance now, and in the view's last frame.
pub struct Drawn<'a> {
    pub character: &'a Character,
    pub flipped: bool,
    pub now: &'a Shape,
    pub then: &'a Shape,
}

/// A pixel that certainly shows a known instance.
#[derive(Debug, Clone, Copy)]
pub struct Pixel {
    /// Index of the instance.
    pub actor: usize,
    pub expected: DVec2,
    pub got: DVec2,
}

/// Distance in pixels: pixels closer to an edge are ignored.
///
/// It is twice the step of 1/256 to which vertices may be snapped, plus the rounding of an edge.
const EDGE: f64 = 0.02;

/// A triangle in the framebuffer.
struct Flat {
    actor: usize,
    primitive: usize,
    /// In pixels.
    corners: [DVec2; 3],
    now: [DVec4; 3],
    then: [DVec4; 3],
}

enum Hit {
    Miss,
    Unsure,
    /// Depth, and perspective-correct barycentric coordinates.
    At(f64, [f64; 3]),
}

impl Flat {
    fn hit(&self, at: DVec2) -> Hit {
        let [a, b, c] = self.corners;
        let area = (b - a).perp_dot(c - a).abs();
        let sides = [(b, c), (c, a), (a, b)];
        // Triangles are clockwise or counter-clockwise. All sides are on the same side of the
        // point.
        let turn = (b - a).perp_dot(c - a).signum();
        let edge = sides.map(|(from, to)| (to - from).perp_dot(at - from) * turn);
        let away = [0, 1, 2].map(|i| edge[i] / sides[i].0.distance(sides[i].1));
        let least = away.into_iter().fold(f64::INFINITY, f64::min);
        if least < -EDGE {
            return Hit::Miss;
        }
        if least < EDGE {
            return Hit::Unsure;
        }
        let depth = (0..3)
            .map(|i| edge[i] / area * self.now[i].z / self.now[i].w)
            .sum();
        let parts = [0, 1, 2].map(|i| edge[i] / area / self.now[i].w);
        let sum: f64 = parts.iter().sum();
        Hit::At(depth, parts.map(|part| part / sum))
    }

    fn motion(&self, parts: [f64; 3]) -> DVec2 {
        let mix = |of: &[DVec4; 3]| -> DVec4 { (0..3).map(|i| of[i] * parts[i]).sum() };
        let (now, then) = (mix(&self.now), mix(&self.then));
        let flat = |clip: DVec4| clip.truncate().truncate() / clip.w;
        if then.w > 0.0 {
            flat(now) - flat(then)
        } else {
            DVec2::ZERO
        }
    }
}

fn flatten(extent: vk::Extent2D, (view, then): (&View, &Mat4), drawn: &[Drawn<'_>]) -> Vec<Flat> {
    let size = DVec2::new(extent.width.into(), extent.height.into());
    let clips: [DMat4; 2] = [view.clip_from_world.as_dmat4(), then.as_dmat4()];
    let mut flats = Vec::new();
    for (actor, drawn) in drawn.iter().enumerate() {
        for (number, primitive) in drawn.character.primitives().iter().enumerate() {
            for triangle in primitive.indices.chunks_exact(3) {
                let of = |shape: &Shape, clip: DMat4| {
                    let corner = |i: usize| clip * shape[number][triangle[i] as usize].extend(1.0);
                    [0, 1, 2].map(corner)
                };
                let (now, then) = (of(drawn.now, clips[0]), of(drawn.then, clips[1]));
                assert!(now.iter().all(|corner| corner.w > 0.0), "behind the camera");
                let corners = now.map(|clip| {
                    let ndc = clip.truncate().truncate() / clip.w + view.jitter.as_dvec2();
                    (ndc * 0.5 + 0.5) * size
                });
                let [a, b, c] = corners;
                // A counter-clockwise triangle has a negative area, because y points down.
                let front = ((b - a).perp_dot(c - a) < 0.0) != drawn.flipped;
                if front {
                    flats.push(Flat {
                        actor,
                        primitive: number,
                        corners,
                        now,
                        then,
                    });
                }
            }
        }
    }
    flats
}

/// The content of a pixel that is certain.
#[derive(Debug, Clone, Copy)]
pub struct Sight {
    /// Index of the instance.
    pub actor: usize,
    /// Index of its primitive.
    pub primitive: usize,
    /// 0 is near.
    pub depth: f64,
    /// Normalised device coordinates now minus then.
    pub motion: DVec2,
}

/// The pixels that certainly show one triangle, and those that certainly show nothing (`None`).
pub fn sights(
    extent: vk::Extent2D,
    views: (&View, &Mat4),
    drawn: &[Drawn<'_>],
) -> Vec<(usize, Option<Sight>)> {
    let flats = flatten(extent, views, drawn);
    let sight = |index: usize| {
        let (x, y) = (index as u32 % extent.width, index as u32 / extent.width);
        let at = DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5);
        let mut hits = Vec::new();
        for flat in &flats {
            match flat.hit(at) {
                Hit::Miss => {}
                Hit::Unsure => return None,
                Hit::At(depth, parts) => hits.push((depth, flat, parts)),
            }
        }
        hits.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        match hits[..] {
            [] => Some((index, None)),
            // Depths are f32.
            [(a, ..), (b, ..), ..] if b - a < 1e-5 => None,
            [(depth, flat, parts), ..] => Some((
                index,
                Some(Sight {
                    actor: flat.actor,
                    primitive: flat.primitive,
                    depth,
                    motion: flat.motion(parts),
                }),
            )),
        }
    };
    let pixels = (extent.width * extent.height) as usize;
    (0..pixels).filter_map(sight).collect()
}

/// The motion in a picture, for the pixels that certainly show an instance.
///
/// Asserts that the pixels that certainly show no instance have the background.
pub fn look(
    picture: &[[f32; 2]],
    (extent, background): (vk::Extent2D, f32),
    views: (&View, &Mat4),
    drawn: &[Drawn<'_>],
) -> Vec<Pixel> {
    let mut pixels = Vec::new();
    for (index, sight) in sights(extent, views, drawn) {
        let got = picture[index];
        match sight {
            None => assert_eq!(got, [background; 2], "pixel {index} should show nothing"),
            Some(sight) => pixels.push(Pixel {
                actor: sight.actor,
                expected: sight.motion,
                got: DVec2::new(got[0].into(), got[1].into()),
            }),
        }
    }
    pixels
}
