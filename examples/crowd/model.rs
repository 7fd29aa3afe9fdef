//! Models: loaded, given a state machine, and measured, so that any of them fits into a crowd: how
//! large it is, and how much ground each of its clips takes. How fast they walk is known to their
//! characters.

use std::path::Path;

use throng::builtin;
use throng::character::{Character, Gait};
use throng::glam::Vec2;
use throng::ids::ClipId;
use throng::import::{self, ImportOptions};

use super::measure::Measure;
use super::roles::{Fades, Roles};
use super::{Result, complain};

/// The largest extent of a model in the crowd, metres.
const SIZE_M: f32 = 1.75;

/// A model and what it can do.
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) character: Character,
    pub(crate) roles: Roles,
    /// Metres per unit of the model.
    pub(crate) scale: f32,
    /// How strongly it is tinted at most: one that has colours of its own less.
    pub(crate) tint: f32,
    /// At least one.
    pub(crate) acts: Vec<Act>,
}

/// What a person mostly does, and the room that it takes; in the model's units.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    /// `None`: the rest pose.
    pub(crate) clip: Option<ClipId>,
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
    pub(crate) size: f32,
    pub(crate) gait: Option<Gait>,
    /// How often it is chosen.
    pub(crate) weight: f32,
}

impl Model {
    /// Reads the file, or makes the built-in character for the name `builtin`.
    pub(crate) fn load(path: &Path, fades: Fades) -> Result<Self> {
        if path.as_os_str() == "builtin" {
            let character = builtin::mannequin()?.character;
            return Self::new("builtin".into(), character, fades);
        }
        let imported = import::gltf_file(path, &ImportOptions::default())?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        for repair in &imported.repairs {
            log::info!("{}: {repair}", path.display());
        }
        if imported.triangle_count() == 0 {
            complain(&format!("crowd: {}: has no triangles", path.display()));
        }
        Self::new(name.to_string_lossy().into(), imported.character, fades)
    }

    fn new(name: String, character: Character, fades: Fades) -> Result<Self> {
        let roles = Roles::new(&character);
        let character = roles.apply(character, fades)?;
        let Roles {
            stand, walk, run, ..
        } = roles;
        let chosen = [(stand, 4.0), (walk, 4.0), (run, 1.0)];
        let chosen = chosen.into_iter().filter(|(clip, _)| clip.is_some());
        let mut chosen: Vec<_> = chosen.collect();
        if chosen.is_empty() {
            chosen.push((roles.first, 1.0));
        }
        let mut measure = Measure::new(&character, chosen.len())?;
        let mut acts = Vec::new();
        for (clip, weight) in chosen {
            acts.push(measure.act(clip, weight)?);
        }
        let scale = SIZE_M / acts[0].size;
        let scale = if scale.is_finite() && scale > 0.0 {
            scale
        } else {
            1.0
        };
        let tint = if name == "builtin" { 0.75 } else { 0.35 };
        Ok(Self {
            name,
            character,
            roles,
            scale,
            tint,
            acts,
        })
    }

    /// Where the lowest point of a clip is; it changes from clip to clip.
    pub(crate) fn floor(&self, clip: ClipId) -> f32 {
        let act = self.acts.iter().find(|act| act.clip == Some(clip));
        act.map_or(0.0, |act| act.floor)
    }
}
