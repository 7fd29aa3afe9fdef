//! The position of every vertex in `f64`, and the motion that a picture must show.
//!
//! The computation starts from the CPU's palettes.

use super::precision::{self, Grid};
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
    /// The largest difference that a device may show.
    pub error: DVec2,
    pub got: DVec2,
}

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
    /// Depth, and the largest difference that a device may show.
    At {
        depth: f64,
        error: f64,
    },
}

impl Flat {
    fn hit(&self, grid: Grid, at: DVec2) -> Hit {
        let [a, b, c] = self.corners;
        let sides = [(b, c), (c, a), (a, b)];
        let flat = self.flat(at);
        let area = (b - a).perp_dot(c - a).abs();
        let away = [0, 1, 2].map(|i| flat[i] * area / sides[i].0.distance(sides[i].1));
        let least = away.into_iter().fold(f64::INFINITY, f64::min);
        if least < -grid.edge_px() {
            return Hit::Miss;
        }
        if least < grid.edge_px() {
            return Hit::Unsure;
        }
        let [spread] = grid.spread(at, |at| [self.depth(at)]);
        Hit::At {
            depth: self.depth(at),
            error: spread + precision::DEPTH,
        }
    }

    /// Barycentric coordinates in the framebuffer, which all have one sign within the triangle.
    ///
    /// The triangle may be clockwise or counter-clockwise.
    fn flat(&self, at: DVec2) -> [f64; 3] {
        let [a, b, c] = self.corners;
        let area = (b - a).perp_dot(c - a);
        [(b, c), (c, a), (a, b)].map(|(from, to)| (to - from).perp_dot(at - from) / area)
    }

    /// Returns true if a part is out of the picture, which a device may cut off.
    fn is_clipped(&self, extent: vk::Extent2D) -> bool {
        let size = DVec2::new(extent.width.into(), extent.height.into());
        let outside = |corner: &DVec2| corner.cmplt(DVec2::ZERO).any() || corner.cmpgt(size).any();
        self.corners.iter().any(outside)
    }

    fn depth(&self, at: DVec2) -> f64 {
        let flat = self.flat(at);
        let corner = |i: usize| flat[i] * self.now[i].z / self.now[i].w;
        (0..3).map(corner).sum()
    }

    fn motion(&self, at: DVec2) -> DVec2 {
        let [now, then] = self.positions(at);
        now - then
    }

    /// The position of a pixel's point now and before, in normalised device coordinates. If it was
    /// behind the camera, it counts as not moved.
    fn positions(&self, at: DVec2) -> [DVec2; 2] {
        let flat = self.flat(at);
        // Perspective-correct: divided by the distance.
        let parts = [0, 1, 2].map(|i| flat[i] / self.now[i].w);
        let sum: f64 = parts.iter().sum();
        let mix = |of: &[DVec4; 3]| -> DVec4 { (0..3).map(|i| of[i] * parts[i] / sum).sum() };
        let (now, then) = (mix(&self.now), mix(&self.then));
        let flat = |clip: DVec4| clip.truncate().truncate() / clip.w;
        [flat(now), flat(if then.w > 0.0 { then } else { now })]
    }
}

fn flatten(extent: vk::Extent2D, (view, then): (&View, &Mat4), drawn: &[Drawn<'_>]) -> Vec<Flat> {
    let size = DVec2::new(extent.width.into(), extent.height.into());
    let clips: [DMat4; 2] = [view.eye.clip_from_world.as_dmat4(), then.as_dmat4()];
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
                    let ndc = clip.truncate().truncate() / clip.w + view.eye.jitter.as_dvec2();
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
    /// The largest difference from `depth` that a device may show.
    pub depth_error: f64,
    /// Normalised device coordinates now minus then.
    pub motion: DVec2,
    /// The largest difference from `motion` that a device may show.
    pub motion_error: DVec2,
}

/// The pixels that certainly show one triangle, and those that certainly show nothing (`None`).
pub fn sights(
    (extent, grid): (vk::Extent2D, Grid),
    views: (&View, &Mat4),
    drawn: &[Drawn<'_>],
) -> Vec<(usize, Option<Sight>)> {
    let flats = flatten(extent, views, drawn);
    let sight = |index: usize| {
        let (x, y) = (index as u32 % extent.width, index as u32 / extent.width);
        let at = DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5);
        let mut hits = Vec::new();
        for flat in &flats {
            match flat.hit(grid, at) {
                Hit::Miss => {}
                Hit::Unsure => return None,
                Hit::At { depth, error } => hits.push((depth, error, flat)),
            }
        }
        hits.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        match hits[..] {
            [] => Some((index, None)),
            [(depth, error, _), ref behind @ ..]
                if behind.iter().any(|hit| hit.0 - hit.1 < depth + error) =>
            {
                None
            }
            [(depth, depth_error, flat), ..] => {
                let grid = if flat.is_clipped(extent) {
                    grid.clipped()
                } else {
                    grid
                };
                let spread = grid.spread(at, |at| flat.motion(at).to_array());
                Some((
                    index,
                    Some(Sight {
                        actor: flat.actor,
                        primitive: flat.primitive,
                        depth,
                        depth_error,
                        motion: flat.motion(at),
                        motion_error: DVec2::from(spread) + precision::motion(flat.positions(at)),
                    }),
                ))
            }
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
    (on, background): ((vk::Extent2D, Grid), f32),
    views: (&View, &Mat4),
    drawn: &[Drawn<'_>],
) -> Vec<Pixel> {
    let mut pixels = Vec::new();
    for (index, sight) in sights(on, views, drawn) {
        let got = picture[index];
        match sight {
            None => assert_eq!(got, [background; 2], "pixel {index} should show nothing"),
            Some(sight) => pixels.push(Pixel {
                actor: sight.actor,
                expected: sight.motion,
                error: sight.motion_error,
                got: DVec2::new(got[0].into(), got[1].into()),
            }),
        }
    }
    pixels
}
