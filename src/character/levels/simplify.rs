//! One primitive through the simplifier.

use super::poses::{Deltas, Posed, Poses, Shot, move_back};
use super::whole::Whole;
use crate::error::Result;
use crate::mesh::Primitive;
use glam::{Affine3A, Vec3, Vec3A};
use meshoptimizer_rs::{
    CharacterInputs, CharacterOptions, CharacterSkin, Error, Limits, Positions, SimplifyOptions,
    SimplifySettings, Workspace, simplify_character,
};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Budgets of memory and counted work for one call of the simplifier. A call stays below a few
/// seconds.
const LIMITS: Limits = Limits {
    max_bytes: 1 << 30,
    max_work: 1 << 32,
};
/// The counted work for one call, by index and channel.
///
/// A usual mesh takes about 20, and one of a few triangles 70. But the work grows with the square
/// of the triangles at one vertex, and with the cube if they are equal.
const WORK_PER_INDEX: u64 = 256;
/// Indices that a primitive counts for in addition, because small ones take relatively more work.
const INDICES_OF_SMALL: usize = 1024;
/// The most positions in poses other than the rest pose. Each takes about 60 bytes of the
/// simplifier.
const MOST_POSED: usize = 1 << 20;
/// The most vertices of one group that corners are replaced with.
const MOST_ALIKE: usize = 64;

/// The settings of the simplifier for one level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    /// The weight of joints against positions.
    pub(super) skin_weight: f32,
    /// The weight of the positions in some poses against those at rest.
    pub(super) pose_weight: f32,
    /// True if edges at which normals, colours or coordinates change abruptly stay. Otherwise
    /// vertices of one side can take the place of those of the other, which is seen from nearby.
    pub(super) seams: bool,
    /// The weight of vertex colours: a difference of 1 counts as an offset by this part of the
    /// character's size.
    pub(super) color_weight: f32,
    /// True if small separate pieces may vanish.
    pub(super) prune: bool,
}

/// The simplifier's input from one primitive.
pub(super) struct Prepared<'a> {
    pub(super) primitive: &'a Primitive,
    /// At rest, in character space.
    positions: Vec<[f32; 3]>,
    /// Numbers of joints that vertices of this primitive use, without gaps.
    joints: Vec<u32>,
    weights: Vec<f32>,
    influences: usize,
    importance: Vec<f32>,
    /// For each morph target, the offsets of all vertices, in character space.
    shapes: Vec<Vec<[f32; 3]>>,
    /// For each of some poses, the vertices without morph targets, in character space.
    posed: Vec<Vec<Vec3A>>,
    /// The colours of vertices, times the size of the character.
    colors: Vec<[f32; 3]>,
    /// Vertices that differ in normals, tangents and colours alone, at most [`MOST_ALIKE`] of each.
    alike: Vec<Vec<u32>>,
    /// For each vertex, the index of its group.
    group_of: Vec<u32>,
    pub(super) failure: OnceLock<Error>,
}

impl<'a> Prepared<'a> {
    /// All primitives, in the rest pose. A single one is in other `shots`, too.
    pub(super) fn all(whole: &Whole<'a>, poses: &Poses<'_>, shots: &[Shot]) -> Result<Vec<Self>> {
        let palette = poses.palette(Shot::Rest)?;
        let positions = whole.morphed(&palette);
        let all = whole.primitives().iter().enumerate();
        let all = all.map(|(number, primitive)| {
            let own = whole.vertices(number);
            let own = &positions[own.start as usize..own.end as usize];
            let own = own.iter().map(|position| position.to_array());
            let deltas = Deltas::new(primitive);
            Self::new(primitive, &deltas, own.collect(), &palette, whole.size())
        });
        let mut all: Vec<Self> = all.collect();
        if let [one] = &mut all[..] {
            let count = MOST_POSED / one.positions.len().max(1);
            let shots = shots.iter().filter(|shot| !matches!(shot, Shot::Rest));
            let posed = shots.take(count).map(|shot| {
                let palette = poses.palette(*shot)?;
                let mut posed = whole.posed(&palette, false).positions;
                move_back(&mut posed, &positions, whole.size());
                Ok(posed)
            });
            one.posed = posed.collect::<Result<_>>()?;
        }
        Ok(all)
    }

    fn new(
        primitive: &'a Primitive,
        deltas: &Deltas,
        positions: Vec<[f32; 3]>,
        palette: &[Affine3A],
        size: f32,
    ) -> Self {
        let count = primitive.vertex_count();
        // The simplifier takes four or eight. Others hardly matter, because the strongest come
        // first.
        let influences = if primitive.influences_per_vertex <= 4 {
            4
        } else {
            8
        };
        let mut numbers = vec![u32::MAX; primitive.palette.len()];
        let mut used = 0;
        let (mut joints, mut weights) = (Vec::new(), Vec::new());
        for vertex in 0..count {
            let own = || primitive.influences(vertex).take(influences);
            let sum: f32 = own().map(|(_, weight)| weight).sum();
            for (joint, weight) in own() {
                if numbers[joint] == u32::MAX {
                    numbers[joint] = used;
                    used += 1;
                }
                joints.push(numbers[joint]);
                weights.push(weight / sum);
            }
            joints.resize((vertex + 1) * influences, 0);
            weights.resize((vertex + 1) * influences, 0.0);
        }
        let posed = Posed::new(primitive, deltas, palette, false);
        let mut shapes = vec![vec![[0.0; 3]; count]; primitive.targets.len()];
        for vertex in 0..count as u32 {
            for (target, offset) in posed.offsets(vertex) {
                shapes[target][vertex as usize] = offset.to_array();
            }
        }
        let channels = |color: &[f32; 4]| [color[0], color[1], color[2]];
        let colors = primitive.colors.iter().map(channels);
        let colors = colors.map(|color| color.map(|channel| channel * size));
        let (alike, group_of) = alike(primitive);
        Self {
            primitive,
            positions,
            alike,
            group_of,
            joints,
            weights,
            influences,
            importance: vec![1.0; used as usize],
            shapes,
            posed: Vec::new(),
            colors: colors.collect(),
            failure: OnceLock::new(),
        }
    }

    pub(super) fn has_poses(&self) -> bool {
        !self.posed.is_empty()
    }

    pub(super) fn has_colors(&self) -> bool {
        !self.colors.is_empty()
    }

    /// The triangles with at least about `count` indices and this error in metres.
    ///
    /// All triangles if the simplifier fails.
    pub(super) fn simplified(&self, count: usize, error_m: f32, setting: Setting) -> Vec<u32> {
        let all = &self.primitive.indices;
        match self.simplify(count, error_m, setting) {
            Ok(mut indices) if !indices.is_empty() => {
                self.match_corners(&mut indices);
                indices
            }
            Ok(_) => all.clone(),
            Err(error) => {
                self.failure.get_or_init(|| error);
                all.clone()
            }
        }
    }

    /// Replaces corners by vertices at the same position that fit the triangle better: of one
    /// colour, if all corners have such vertices, and with the normal nearest to the triangle's.
    ///
    /// At a crease or an edge between colours, the simplifier may take the vertex of either side.
    fn match_corners(&self, indices: &mut [u32]) {
        let place = |vertex: u32| Vec3::from(self.positions[vertex as usize]);
        let normal = |vertex: u32| self.primitive.normals.get(vertex as usize);
        let color = |vertex: u32| self.primitive.colors.get(vertex as usize);
        // The vertex itself may be left out of a large group.
        let others = |vertex: u32| {
            let group = &self.alike[self.group_of[vertex as usize] as usize];
            group.iter().copied().chain([vertex])
        };
        for triangle in indices.as_chunks_mut::<3>().0 {
            let [a, b, c] = triangle.map(place);
            let facing = (b - a).cross(c - a);
            let has = |wanted| move |corner: &u32| others(*corner).any(|it| color(it) == wanted);
            let common = |vertex: &&u32| triangle.iter().all(has(color(**vertex)));
            let count = |vertex: &&u32| {
                let alike = triangle.iter();
                alike.filter(|it| color(**it) == color(**vertex)).count()
            };
            let common = triangle.iter().filter(common).max_by_key(count);
            let common = common.map(|vertex| color(*vertex));
            for corner in triangle {
                let wanted = common.unwrap_or(color(*corner));
                let fits = |vertex: &u32| {
                    let turned = normal(*vertex).map_or(0.0, |it| it.dot(facing));
                    // Of equal ones, the corner itself.
                    (color(*vertex) == wanted, turned, vertex == corner)
                };
                let best = others(*corner).max_by(|a, b| {
                    let (a, b) = (fits(a), fits(b));
                    let order = a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
                    order.then(a.2.cmp(&b.2))
                });
                *corner = best.unwrap_or(*corner);
            }
        }
    }

    fn simplify(
        &self,
        count: usize,
        error_m: f32,
        setting: Setting,
    ) -> core::result::Result<Vec<u32>, Error> {
        let all = &self.primitive.indices;
        let colors = self.colors.iter();
        let colors = colors.map(|color| color.map(|channel| channel * setting.color_weight));
        let colors: Vec<[f32; 3]> = colors.collect();
        // Shapes are offsets from the rest pose, and the simplifier adds that to them.
        let posed = self.posed.iter().filter(|_| setting.pose_weight > 0.0);
        let posed = posed.map(|posed| {
            let pairs = posed.iter().zip(&self.positions);
            let offsets = pairs.map(|(posed, rest)| {
                let offset = *posed * setting.pose_weight - Vec3A::from(*rest);
                offset.to_array()
            });
            offsets.collect()
        });
        let posed: Vec<Vec<[f32; 3]>> = posed.collect();
        let shapes = self.shapes.iter().chain(&posed).map(Vec::as_slice);
        let shapes = shapes.chain((!colors.is_empty()).then_some(&colors[..]));
        let shapes: Vec<&[[f32; 3]]> = shapes.collect();
        let mut data = CharacterInputs::new();
        data.blend_shapes = &shapes;
        if self.importance.len() > 1 {
            data.skin = Some(CharacterSkin::new(
                &self.joints,
                &self.weights,
                self.influences,
                &self.importance,
            ));
        }
        let mut options = CharacterOptions::default();
        options.skin_weight = setting.skin_weight;
        let mut flags = SimplifyOptions::ERROR_ABSOLUTE;
        if !setting.seams {
            flags |= SimplifyOptions::PERMISSIVE;
        }
        if setting.prune {
            flags |= SimplifyOptions::PRUNE;
        }
        let settings = SimplifySettings {
            target_index_count: count.min(all.len()),
            target_error: error_m,
            options: flags,
        };
        let positions = Positions::from_packed(&self.positions);
        let mut workspace = Workspace::default();
        workspace.set_limits(self.limits());
        simplify_character(all, positions, &data, &options, settings, &mut workspace)
            .map(|simplified| simplified.indices)
    }

    /// Limits that grow with the number of indices and channels.
    fn limits(&self) -> Limits {
        let joints = match self.importance.len() {
            0 | 1 => 0,
            count => count,
        };
        let channels = 1 + joints + 3 * (self.shapes.len() + self.posed.len() + 1);
        let indices = self.primitive.indices.len() + INDICES_OF_SMALL;
        let work = (indices as u64).saturating_mul(channels as u64);
        Limits {
            max_work: work.saturating_mul(WORK_PER_INDEX).min(LIMITS.max_work),
            ..LIMITS
        }
    }
}

/// Groups vertices that differ in normals, tangents and colours alone.
///
/// A group has the first [`MOST_ALIKE`] of them. Also returns the group of each vertex.
fn alike(primitive: &Primitive) -> (Vec<Vec<u32>>, Vec<u32>) {
    let key = |vertex: usize| {
        let place = primitive.positions[vertex].to_array();
        let uvs = [&primitive.uvs, &primitive.uvs1].map(|uvs| uvs.get(vertex));
        let uvs = uvs.into_iter().flatten().flat_map(|uv| uv.to_array());
        let numbers = place.into_iter().chain(uvs);
        let moved = primitive.influences(vertex).flat_map(|(joint, weight)| {
            // Joints without weight do not matter.
            let joint = if weight > 0.0 { joint as u32 } else { 0 };
            [joint, weight.to_bits()]
        });
        let targets = primitive.targets.iter().flat_map(move |target| {
            let found = target.vertices.binary_search(&(vertex as u32));
            let offset = found.ok().and_then(|at| target.positions.get(at));
            offset.copied().unwrap_or_default().to_array()
        });
        let bits = numbers.chain(targets).map(f32::to_bits);
        bits.chain(moved).collect::<Vec<u32>>()
    };
    let mut numbers: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    let (mut groups, mut group_of) = (Vec::<Vec<u32>>::new(), Vec::new());
    for vertex in 0..primitive.vertex_count() {
        let number = *numbers.entry(key(vertex)).or_insert(groups.len() as u32);
        if number as usize == groups.len() {
            groups.push(Vec::new());
        }
        let group = &mut groups[number as usize];
        if group.len() < MOST_ALIKE {
            group.push(vertex as u32);
        }
        group_of.push(number);
    }
    (groups, group_of)
}
