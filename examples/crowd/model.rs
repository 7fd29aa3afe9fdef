//! Models: loaded, given a state machine, and measured to fit into a crowd.
//!
//! The measurement gives the size of a model and the ground that each of its clips needs. The
//! walking speed is already known to the character.

use std::path::{Path, PathBuf};

use throng::Id;
use throng::builtin;
use throng::character::{Character, Gait};
use throng::clip::Clip;
use throng::error::Escaped;
use throng::glam::Vec2;
use throng::import::ImportOptions;

use super::args::Args;
use super::looks::{Looks, Wardrobe};
use super::measure::Measure;
use super::people::Kind;
use super::roles::{Fades, Roles};
use super::{Result, complain, outputs};

/// The largest extent of a model in the crowd, in metres.
const SIZE_M: f32 = 1.75;
/// Strength of tints on the built-in character, whose shirt is nearly white.
const BUILTIN_TINT: f32 = 0.75;

/// The same on models of files.
const FILE_TINT: f32 = 0.35;

/// A model and its acts.
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) character: Character,
    pub(crate) roles: Roles,
    /// Metres per unit of the model.
    pub(crate) scale: f32,
    /// Maximum strength of the tint. It is lower for models that have their own colours.
    pub(crate) tint: f32,
    /// At least one act.
    pub(crate) acts: Vec<Act>,
    /// The parts that people show, with `--looks`.
    pub(crate) looks: Looks,
}

/// A person's main activity and the space that it needs, in the model's units.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    /// The clip. `None` means the rest pose.
    pub(crate) clip: Option<Id<Clip>>,
    pub(crate) duration_s: f32,
    /// Middle of the ground that it covers: x and z.
    pub(crate) center: Vec2,
    /// Radius around `center` that it almost never leaves, except with a hand or a blade.
    pub(crate) radius: f32,
    /// The same radius, measured only along and across its way.
    pub(crate) along: f32,
    pub(crate) across: f32,
    /// Height of its lowest point.
    pub(crate) floor: f32,
    pub(crate) height: f32,
    /// The largest extent at the start.
    pub(crate) size: f32,
    pub(crate) gait: Option<Gait>,
    /// Relative frequency.
    pub(crate) weight: f32,
}

impl Model {
    /// Makes a character from the built-in one.
    pub(crate) fn of(kind: &Kind, fades: Fades) -> Result<Self> {
        let mut model = Self::new(kind.name.into(), kind.character()?, BUILTIN_TINT, fades)?;
        model.scale *= kind.height;
        Ok(model)
    }

    /// Reads the files, or creates the built-in character (`builtin`). With `--looks`, files of one
    /// skeleton become one model.
    pub(crate) fn load(paths: &[PathBuf], args: &Args, fades: Fades) -> Result<Vec<Self>> {
        let mut models = Vec::new();
        let mut sets: Vec<(String, Wardrobe)> = Vec::new();
        'paths: for path in paths {
            if path.as_os_str() == "builtin" {
                models.push(Self::builtin(args.looks, fades)?);
                continue;
            }
            let (name, files, character) = Self::read(path, args)?;
            outputs::check_unread(&args.outputs(), path, &files)?;
            if !args.looks {
                models.push(Self::new(name, character, FILE_TINT, fades)?);
                continue;
            }
            for (all, wardrobe) in &mut sets {
                if wardrobe.add(&character) {
                    *all = format!("{all} + {name}");
                    continue 'paths;
                }
            }
            sets.push((name, Wardrobe::new(character)));
        }
        for (name, wardrobe) in sets {
            let model = Self::new(name, wardrobe.character.clone(), FILE_TINT, fades)?;
            let looks = wardrobe.looks();
            models.push(Self { looks, ..model });
        }
        Ok(models)
    }

    fn builtin(dressed: bool, fades: Fades) -> Result<Self> {
        let (character, looks) = match dressed {
            true => Looks::builtin()?,
            false => (builtin::mannequin()?.character, Looks::default()),
        };
        let model = Self::new("builtin".into(), character, BUILTIN_TINT, fades)?;
        Ok(Self { looks, ..model })
    }

    fn read(path: &Path, args: &Args) -> Result<(String, Vec<PathBuf>, Character)> {
        let options = ImportOptions {
            up: args.up.map(Into::into),
            scale: args.scale,
            ..ImportOptions::default()
        };
        let imported = throng_import::file(path, &options)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        for line in imported.repair_summary() {
            log::info!("{line}");
        }
        if imported.triangle_count() == 0 {
            complain(&format!(
                "crowd: {}: has no triangles",
                Escaped(path.display())
            ));
        }
        let name = Escaped(name.to_string_lossy()).to_string();
        Ok((name, imported.files, imported.character))
    }

    fn new(name: String, character: Character, tint: f32, fades: Fades) -> Result<Self> {
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
        Ok(Self {
            name,
            character,
            roles,
            scale,
            tint,
            acts,
            looks: Looks::default(),
        })
    }

    /// Height of the lowest point of a clip. It differs between clips.
    pub(crate) fn floor(&self, clip: Id<Clip>) -> f32 {
        let act = self.acts.iter().find(|act| act.clip == Some(clip));
        act.map_or(0.0, |act| act.floor)
    }
}
