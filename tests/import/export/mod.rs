//! Tests of `throng_export`: the file is imported again.

mod additive;
mod contents;
mod limits;
mod round_trip;

use throng::character::Character;
use throng::glam::{Affine3A, Vec3};
use throng::import::{self, ImportOptions, Imported};
use throng::palette::{Mat3x4, PaletteEntry as _};
use throng::skeleton::Transform;
use throng::skin::PosedVertices;
use throng_export::{ExportOptions, Exported};

/// The export, which must be the same each time.
fn exported(character: &Character) -> Exported {
    let options = ExportOptions::default();
    let exported = throng_export::glb(character, &options).unwrap();
    let again = throng_export::glb(character, &options).unwrap();
    assert!(again == exported, "{}", character.name());
    exported
}

/// The import of an export with its description, which needs no repair. That nothing has a skin may
/// be noted.
fn again(exported: &Exported, options: ImportOptions) -> Imported {
    let options = ImportOptions {
        name: "again.glb".into(),
        animation: Some(exported.description.clone()),
        // The indices of both characters are compared.
        keep_order: true,
        ..options
    };
    let again = throng_import::bytes(&exported.bytes, &options).unwrap();
    let mut repairs = again.repairs.iter();
    assert!(
        repairs.all(|it| it.kind == import::RepairKind::NoSkin),
        "{:?}",
        again.repair_summary()
    );
    again
}

/// The JSON of an export.
fn json(exported: &Exported) -> serde_json::Value {
    let end = 20 + u32::from_le_bytes(exported.bytes[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&exported.bytes[20..end]).unwrap()
}

/// The model pose of a local one.
fn model_pose(character: &Character, local: &[Transform]) -> Vec<Affine3A> {
    let mut model = vec![Affine3A::IDENTITY; local.len()];
    character.skeleton().model_pose(local, &mut model).unwrap();
    model
}

/// The positions of all vertices of each primitive in a pose.
fn posed(character: &Character, local: &[Transform], weights: &[f32]) -> Vec<Vec<Vec3>> {
    let model = model_pose(character, local);
    let entries = character.palette().iter();
    let palette = entries.map(|entry| {
        let matrix = model[entry.joint.index()] * entry.inverse_bind;
        Mat3x4::project(&matrix)
    });
    let palette: Vec<Mat3x4> = palette.collect();
    let primitives = character.primitives().iter();
    let posed = primitives.map(|primitive| {
        let mut out = PosedVertices::default();
        let done = character.skin_primitive(primitive, &palette, weights, &mut out);
        done.unwrap();
        out.positions
    });
    posed.collect()
}
