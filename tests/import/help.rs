//! Functions that several tests of the importer use.

use crate::builder::Builder;
pub(crate) use crate::reference::words::{Fails, Says};
use serde_json::Value;
use throng::Error;
use throng::import::{ImportOptions, Imported, RepairKind};

pub(crate) fn import(b: &Builder) -> Imported {
    without_note(throng_import::bytes(
        &b.glb(),
        &ImportOptions::curves_only(),
    ))
}

/// The import without the note that no mesh has a skin, which `messages` tests.
fn without_note(imported: throng::Result<Imported>) -> Imported {
    let mut imported = imported.unwrap_or_else(|error| panic!("{error}"));
    imported.repairs.retain(|it| it.kind != RepairKind::NoSkin);
    imported
}

pub(crate) fn has(imported: &Imported, kind: RepairKind, count: u64) -> bool {
    imported
        .repairs
        .iter()
        .any(|r| r.kind == kind && r.count == count)
}

pub(crate) fn options() -> ImportOptions {
    ImportOptions {
        name: "f".into(),
        ..ImportOptions::curves_only()
    }
}

/// The error text for a file.
#[track_caller]
pub(crate) fn refused(bytes: &[u8]) -> String {
    match throng_import::bytes(bytes, &options()) {
        Ok(_) => panic!("it was imported"),
        Err(error) => {
            assert!(matches!(error, Error::Asset { .. }), "{error:?}");
            error.to_string()
        }
    }
}

/// The error text after a value was replaced (or removed, by null).
#[track_caller]
pub(crate) fn with(b: &Builder, path: &str, value: Value) -> String {
    refused(&changed(b, path, value).glb())
}

pub(crate) fn changed(b: &Builder, path: &str, value: Value) -> Builder {
    let mut b = b.clone();
    let (parent, key) = path.rsplit_once('/').unwrap();
    let parent = b.json.pointer_mut(parent).unwrap();
    match (parent, value) {
        (Value::Object(map), Value::Null) => drop(map.remove(key)),
        (Value::Object(map), value) => drop(map.insert(key.into(), value)),
        (Value::Array(list), value) => list[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{path}"),
    }
    b
}

pub(crate) fn repaired(b: &Builder) -> Imported {
    without_note(throng_import::bytes(&b.glb(), &options()))
}

#[track_caller]
pub(crate) fn told(imported: &Imported, expected: &[&str]) {
    let all = imported.repairs.iter();
    let others = all.filter(|repair| repair.kind != RepairKind::NoSkin);
    let told = others.map(|repair| {
        let words = repair.to_string();
        let file = format!("{}: ", repair.file);
        words.strip_prefix(&file).unwrap_or(&words).to_owned()
    });
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

pub(crate) const ATTRIBUTES: &str = "/meshes/0/primitives/0/attributes";
