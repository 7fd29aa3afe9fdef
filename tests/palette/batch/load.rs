//! Characters, crowds and bounds of the batch tests.

use crate::reference::batch::{Batch, Sample};
use crate::reference::maths::M4;
use crate::reference::scene::Scene;
use crate::reference::{assets, gltf, random, raw};
use std::sync::LazyLock;
use throng::SimdLevel;
use throng::character::Character;
use throng::clip::{CurveClip, Track};
use throng::glam::{Affine3A, DMat4, DVec3, Mat4};
use throng::import::{ImportOptions, RawCharacter};
use throng::palette::Mat3x4;

/// The reference compares triangles in the file's order.
fn options() -> ImportOptions {
    ImportOptions {
        keep_order: true,
        curves: true,
        ..ImportOptions::default()
    }
}

/// The bound of a clip's error in metres, for a character of 1.8 m, and the distance of the
/// measured points from their joint.
pub(crate) const ERROR_M: f64 = 1e-4;
pub(crate) const POINT_M: f64 = 0.03;
pub(crate) const HUMAN_M: f64 = 1.8;
/// The error of single precision from local poses to the palette.
///
/// It is relative to the largest sum of magnitudes of a point's terms. Each product of a chain
/// rounds by 6e-8 a few times. Measured: at most 0.22 of this.
pub(crate) const ROUNDING: f64 = 2e-6;

pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) character: Character,
    pub(crate) scene: Scene,
}

/// All models of the folder, the built-in character and some random ones.
pub(crate) fn models() -> &'static [Model] {
    static MODELS: LazyLock<Vec<Model>> = LazyLock::new(read);
    &MODELS
}

fn read() -> Vec<Model> {
    let file = |path: std::path::PathBuf| Model {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        character: throng_import::file(&path, &options()).unwrap().character,
        scene: gltf::load(&path),
    };
    let mut all: Vec<Model> = assets::files().into_iter().map(file).collect();
    all.push(Model {
        name: "built-in".into(),
        character: RawCharacter::mannequin()
            .build(&options())
            .unwrap()
            .character,
        scene: raw::scene(&RawCharacter::mannequin()),
    });
    all.extend((0..20).map(|seed| {
        let made = random::character(seed);
        Model {
            name: format!("random {seed}"),
            scene: raw::scene(&made),
            character: made.build(&options()).unwrap().character,
        }
    }));
    all
}

/// A value that shows if an entry is not written.
pub(crate) const UNWRITTEN: Mat3x4 = Mat3x4 {
    rows: [[f32::NAN; 4]; 3],
};

pub(crate) fn palettes<S: AsRef<[Sample]>>(
    character: &Character,
    level: SimdLevel,
    instances: &[S],
) -> Vec<Mat3x4> {
    Batch::new(character, level, instances).palettes(UNWRITTEN)
}

/// The character with one more clip of these tracks, and its curves.
pub(crate) fn with_clip(character: Character, tracks: Vec<Track>) -> (CurveClip, Character) {
    let raw = CurveClip::new("made", tracks, character.skeleton()).unwrap();
    let character = character.with_clips(vec![raw.clone()]).unwrap();
    (raw, character)
}

/// A character's largest edge, by the crate's definition.
pub(crate) fn size(character: &Character) -> f64 {
    f64::from(character.rest_bounds().size().max_element())
}

pub(crate) fn matrix(m: &M4) -> DMat4 {
    DMat4::from_cols_array_2d(m).transpose()
}

pub(crate) fn affine(m: &Affine3A) -> DMat4 {
    DMat4::from_cols_array_2d(&Mat4::from(*m).to_cols_array_2d().map(|c| c.map(f64::from)))
}

/// The image of a point under an entry, and the largest sum of magnitudes in it.
pub(crate) fn image(entry: &Mat3x4, p: DVec3) -> (DVec3, f64) {
    let rows = entry.rows.map(|row| {
        let [x, y, z, t] = row.map(f64::from);
        let terms = [x * p.x, y * p.y, z * p.z, t];
        (
            terms.iter().sum::<f64>(),
            terms.map(f64::abs).iter().sum::<f64>(),
        )
    });
    let [x, y, z] = rows.map(|row| row.0);
    let most = rows.iter().map(|row| row.1).fold(0.0, f64::max);
    (DVec3::new(x, y, z), most)
}
