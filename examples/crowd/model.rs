//! Models: loaded, and measured, so that any of them fits into a crowd: how large it is, how much
//! ground each of its clips takes, and how fast it walks.

use std::f32::consts::FRAC_PI_2;
use std::path::Path;

use throng::builtin;
use throng::character::{Aabb, Character};
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

/// How a clip moves over the ground when its feet are not to slide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gait {
    /// Units a second.
    pub(crate) speed: f32,
    /// Angle about +Y from +Z to where it goes.
    pub(crate) heading: f32,
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
        if name == "builtin" {
            for act in &mut acts {
                act.gait = builtin_gait(&character, act.clip);
            }
        }
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

/// The built-in character's own word on its gaits.
fn builtin_gait(character: &Character, clip: Option<usize>) -> Option<Gait> {
    let speed = match character.clips().get(clip?)?.name() {
        "Walk" => builtin::WALK_SPEED_M_S,
        "Run" => builtin::RUN_SPEED_M_S,
        _ => return None,
    };
    Some(Gait {
        speed,
        heading: 0.0,
    })
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
        Some(gait) if gait.speed * scale > 2.0 => 0.5,
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
        let gait = gait(&poses, whole, step_s);
        let ahead = Vec2::from_angle(FRAC_PI_2 - gait.map_or(0.0, |gait| gait.heading));
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
            pose::palette(self.character, model, WriteOnly::over(&mut self.palette))
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

/// How the ground has to move under a clip: as what touches it does, if that moves as one.
fn gait(poses: &[Vec<Vec3>], whole: Aabb, step_s: f32) -> Option<Gait> {
    let height = whole.size().y;
    let (mut sum, mut lengths, mut count) = (Vec2::ZERO, 0.0, 0);
    for pair in poses.windows(2) {
        let [from, to] = pair else { continue };
        let moves = from.iter().zip(to).map(|(from, to)| {
            let velocity = Vec2::new(to.x - from.x, to.z - from.z) / step_s;
            (from.y.max(to.y), velocity)
        });
        let lowest = moves.clone().map(|(y, _)| y).fold(f32::INFINITY, f32::min);
        // Nothing touches the ground in a leap; and a foot that swings comes close to it.
        if lowest > whole.min.y + 0.02 * height {
            continue;
        }
        for (_, velocity) in moves.filter(|(y, _)| *y <= lowest + 0.004 * height) {
            sum += velocity;
            lengths += velocity.length();
            count += 1;
        }
    }
    let velocity = -sum / count as f32;
    let speed = velocity.length();
    // Feet that dance go this way and that; an idle's hardly move.
    let walks = sum.length() > 0.85 * lengths && speed > 0.15 * whole.size().max_element();
    (speed.is_finite() && walks).then(|| Gait {
        speed,
        heading: velocity.x.atan2(velocity.y),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The built-in character says how fast it walks and runs; what is measured of it must agree.
    #[test]
    fn gaits_are_measured() {
        let character = builtin::mannequin().expect("the mannequin");
        for act in Measure::new(&character).acts() {
            let name = act.clip.map_or("", |clip| character.clips()[clip].name());
            match (builtin_gait(&character, act.clip), act.gait) {
                (Some(said), Some(measured)) => {
                    let ratio = measured.speed / said.speed;
                    assert!((0.9..1.1).contains(&ratio), "{name}: {ratio}");
                    assert!(
                        measured.heading.abs() < 0.05,
                        "{name}: {}",
                        measured.heading
                    );
                }
                (None, None) => {}
                (said, measured) => panic!("{name}: {said:?}, measured {measured:?}"),
            }
        }
    }
}
