//! Models: loaded, and measured, so that any of them fits into a crowd: how large it is, how much
//! ground each of its clips takes, and how fast it walks.

use std::f32::consts::FRAC_PI_2;
use std::path::Path;

use throng::builtin;
use throng::character::{Aabb, Character, ClipId, Gait};
use throng::glam::{Vec2, Vec3};
use throng::import::{self, ImportOptions, Imported};
use throng::pose::{self, Mat3x4, Poser, WriteOnly};

use super::{Result, complain};

/// The largest extent of a model in the crowd, metres.
const SIZE_M: f32 = 1.75;
/// Times of a clip that are looked at.
const SAMPLES: usize = 25;
/// Vertices that are looked at, all clips together.
const VERTICES: usize = 60_000;

/// A model and what it can do.
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) character: Imported,
    /// Metres per unit of the model.
    pub(crate) scale: f32,
    /// How strongly it is tinted at most: one that has colours of its own less.
    pub(crate) tint: f32,
    /// At least one.
    pub(crate) acts: Vec<Act>,
}

/// A clip, or the rest pose, and the room that it takes; in the model's units.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    /// Index of the clip; `None`: the rest pose.
    pub(crate) clip: Option<usize>,
    pub(crate) duration_s: f32,
    /// Middle of what it covers of the ground: x and z.
    pub(crate) center: Vec2,
    /// Radius around `center` that it hardly ever leaves, but for a hand or a blade.
    pub(crate) radius: f32,
    /// The same, only along and across the way that it goes.
    pub(crate) along: f32,
    pub(crate) across: f32,
    /// Height of its lowest point.
    pub(crate) floor: f32,
    pub(crate) height: f32,
    /// The largest extent when it begins.
    size: f32,
    pub(crate) gait: Option<Gait>,
    /// How often it is chosen.
    pub(crate) weight: f32,
}

impl Model {
    /// Reads the file, or makes the built-in character for the name `builtin`.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        if path.as_os_str() == "builtin" {
            return Ok(Self::measured("builtin".into(), builtin::mannequin()?));
        }
        let character = import::gltf_file(path, &ImportOptions::default())?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        for repair in &character.repairs {
            log::info!("{}: {repair}", path.display());
        }
        if character.triangle_count() == 0 {
            complain(&format!("crowd: {}: has no triangles", path.display()));
        }
        Ok(Self::measured(name.to_string_lossy().into(), character))
    }

    fn measured(name: String, character: Imported) -> Self {
        let mut acts = Measure::new(&character).acts();
        let scale = SIZE_M / typical_size(&acts);
        let scale = if scale.is_finite() && scale > 0.0 {
            scale
        } else {
            1.0
        };
        for act in &mut acts {
            act.weight = weight(&character, act, scale);
        }
        if acts.iter().all(|act| act.weight == 0.0) {
            acts.iter_mut().for_each(|act| act.weight = 1.0);
        }
        let tint = if name == "builtin" { 0.75 } else { 0.35 };
        Self {
            name,
            character,
            scale,
            tint,
            acts,
        }
    }
}

/// The median: one clip that lies down or jumps does not matter.
fn typical_size(acts: &[Act]) -> f32 {
    let mut sizes: Vec<f32> = acts.iter().map(|act| act.size).collect();
    sizes.sort_by(f32::total_cmp);
    sizes.get(sizes.len() / 2).copied().unwrap_or(0.0)
}

/// What all but a few of them do not exceed.
fn usual(mut reaches: Vec<f32>) -> f32 {
    let last = reaches.len() * 24 / 25;
    if last >= reaches.len() {
        return 0.0;
    }
    1.03 * *reaches.select_nth_unstable_by(last, f32::total_cmp).1
}

/// More of those who just stand, fewer of those who run, none in a mere pose.
fn weight(character: &Character, act: &Act, scale: f32) -> f32 {
    let Some(clip) = act.clip.and_then(|clip| character.clips().get(clip)) else {
        return 1.0;
    };
    let name = clip.name().to_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match act.gait {
        _ if act.duration_s <= 0.0 || is(&["pose", "bind"]) => 0.0,
        Some(gait) if gait.speed_m_s * scale > 2.0 => 0.5,
        Some(_) => 2.0,
        None if is(&["idle", "stand"]) => 2.0,
        None => 1.0,
    }
}

/// Poses a character at several times and looks at some of its vertices.
struct Measure<'a> {
    character: &'a Character,
    poser: Poser,
    palette: Vec<Mat3x4>,
    /// Primitive and vertex.
    vertices: Vec<(usize, usize)>,
}

impl<'a> Measure<'a> {
    fn new(character: &'a Character) -> Self {
        let wanted = (VERTICES / character.clips().len().max(1)).clamp(200, 4000);
        let stride = character.vertex_count().div_ceil(wanted).max(1);
        let all = character.primitives().iter().enumerate();
        let all = all.flat_map(|(p, primitive)| (0..primitive.vertex_count()).map(move |v| (p, v)));
        Self {
            character,
            poser: Poser::new(),
            palette: vec![Mat3x4::IDENTITY; character.palette().len()],
            vertices: all.step_by(stride).collect(),
        }
    }

    fn acts(&mut self) -> Vec<Act> {
        let clips = self.character.clips().len();
        let clips: Vec<Option<usize>> = match clips {
            0 => vec![None],
            count => (0..count).map(Some).collect(),
        };
        clips.into_iter().map(|clip| self.act(clip)).collect()
    }

    fn act(&mut self, clip: Option<usize>) -> Act {
        let clips = self.character.clips();
        let duration_s = clip
            .and_then(|c| clips.get(c))
            .map_or(0.0, |clip| clip.duration_s() as f32);
        let count = if duration_s > 0.0 { SAMPLES } else { 1 };
        let step_s = duration_s / (SAMPLES - 1) as f32;
        let poses: Vec<Vec<Vec3>> = (0..count)
            .map(|sample| self.positions(clip.map(|c| (c, f64::from(sample as f32 * step_s)))))
            .collect();
        let bounds = |points: &[Vec3]| points.iter().fold(Aabb::EMPTY, |all, p| all.with_point(*p));
        let whole = poses
            .iter()
            .fold(Aabb::EMPTY, |all, pose| all.union(bounds(pose)));
        let center = Vec2::new(whole.center().x, whole.center().z);
        let clip_id = clip.and_then(|clip| u16::try_from(clip).ok()).map(ClipId);
        let gait = clip_id.and_then(|clip| self.character.animations().gait(clip).copied());
        let ahead = Vec2::from_angle(FRAC_PI_2 - gait.map_or(0.0, |gait| gait.heading_rad));
        let most = |reach: fn(Vec2, Vec2) -> f32| {
            let all = poses.iter().flatten();
            usual(
                all.map(|p| reach(Vec2::new(p.x, p.z) - center, ahead))
                    .collect(),
            )
        };
        Act {
            clip,
            duration_s,
            center,
            radius: most(|at, _| at.length()),
            along: most(|at, ahead| at.dot(ahead).abs()),
            across: most(|at, ahead| at.perp_dot(ahead).abs()),
            floor: if whole.is_empty() { 0.0 } else { whole.min.y },
            height: whole.size().y,
            size: poses
                .first()
                .map_or(0.0, |pose| bounds(pose).size().max_element()),
            gait,
            weight: 1.0,
        }
    }

    /// Where the vertices are; those that are nowhere are left out.
    fn positions(&mut self, clip: Option<(usize, f64)>) -> Vec<Vec3> {
        let posed = self.poser.pose(self.character, clip).and_then(|model| {
            pose::palette(
                self.character,
                model,
                pose::PaletteFit::Projected,
                WriteOnly::over(&mut self.palette),
            )
        });
        if let Err(error) = posed {
            log::warn!("measuring: {error}");
            return Vec::new();
        }
        let at = |(p, v): &(usize, usize)| {
            let primitive = self.character.primitives().get(*p)?;
            let position = *primitive.positions.get(*v)?;
            let palette = self.palette.get(self.character.palette_range(primitive))?;
            let mut sum = Vec3::ZERO;
            for (joint, weight) in primitive.influences.of(*v) {
                sum += palette.get(joint)?.transform_point(position) * weight;
            }
            Some(if sum.is_finite() { sum } else { Vec3::ZERO })
        };
        self.vertices.iter().filter_map(at).collect()
    }
}
