//! The models that several tests use. Each is imported once, and its clips are packed once.

use crate::reference::scene::Scene;
use crate::reference::{assets, gltf, random, raw};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};
use throng::character::Character;
use throng::clip::{Clip, ClipOptions};
use throng::import::{ImportOptions, RawCharacter};

/// A character with the curves of its clips.
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) character: Character,
    source: Source,
    scene: OnceLock<Scene>,
    packed: OnceLock<Vec<Clip>>,
    plain: OnceLock<Vec<Clip>>,
}

enum Source {
    File(PathBuf),
    Raw(Box<RawCharacter>),
}

impl Model {
    fn file(path: PathBuf) -> Self {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let model = throng_import::file(&path, &ImportOptions::curves_only()).unwrap();
        Self::new(name, model.character, Source::File(path))
    }

    /// A character that is made by code.
    pub(crate) fn raw(name: String, raw: RawCharacter) -> Self {
        let model = raw.clone().build(&ImportOptions::curves_only()).unwrap();
        Self::new(name, model.character, Source::Raw(Box::new(raw)))
    }

    fn new(name: String, character: Character, source: Source) -> Self {
        Self {
            name,
            character,
            source,
            scene: OnceLock::new(),
            packed: OnceLock::new(),
            plain: OnceLock::new(),
        }
    }

    /// The model as the reference reads it.
    pub(crate) fn scene(&self) -> &Scene {
        self.scene.get_or_init(|| match &self.source {
            Source::File(path) => gltf::load(path),
            Source::Raw(raw) => raw::scene(raw),
        })
    }

    /// All clips, quantised, with the default options.
    pub(crate) fn packed(&self) -> &[Clip] {
        self.packed.get_or_init(|| self.clips(true))
    }

    /// All clips with plain `f32` keys.
    pub(crate) fn plain(&self) -> &[Clip] {
        self.plain.get_or_init(|| self.clips(false))
    }

    fn clips(&self, quantise: bool) -> Vec<Clip> {
        let options = ClipOptions {
            quantise,
            ..ClipOptions::default()
        };
        let curves = self.character.curves().par_iter();
        let clips = curves.map(|raw| Clip::new(&self.character, raw, &options).unwrap());
        clips.collect()
    }
}

/// All model files, the built-in character and twelve random characters.
pub(crate) fn models() -> &'static [Model] {
    static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| {
        let mut all: Vec<Model> = assets::files().into_iter().map(Model::file).collect();
        let built_in = Source::Raw(Box::new(RawCharacter::mannequin()));
        all.push(Model::new("built-in".into(), mannequin().clone(), built_in));
        let random = (0..12).map(|seed| {
            let name = format!("random {seed}");
            Model::raw(name, random::character(seed))
        });
        all.extend(random);
        all
    });
    &MODELS
}

/// The built-in character with the curves of its clips, which are not packed.
pub(crate) fn mannequin() -> &'static Character {
    static MANNEQUIN: LazyLock<Character> = LazyLock::new(|| {
        let options = ImportOptions::curves_only();
        RawCharacter::mannequin().build(&options).unwrap().character
    });
    &MANNEQUIN
}

/// The built-in character with packed clips.
pub(crate) fn packed_mannequin() -> Character {
    static MANNEQUIN: LazyLock<Character> =
        LazyLock::new(|| throng::builtin::mannequin().unwrap().character);
    MANNEQUIN.clone()
}
