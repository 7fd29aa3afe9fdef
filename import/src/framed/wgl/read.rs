//! Models and clips of the "Building the Game" WebGL format.

use super::{clips, model, vertices};
use crate::budget::Budget;
use crate::fault::{fault, file_part};
use crate::folder::{self, Files};
use crate::framed::frames;
use crate::input::Input;
use crate::textures;
use std::io::ErrorKind;
use std::path::Path;
use throng::error::{AssetFault, Error, ObjectKind, Result};
use throng::import::{RawCharacter, Repair};
use throng::skeleton::Skeleton;

/// Reads a `.wglmodel` with the vertices of the same name.
pub(crate) fn read_model(input: &Input<'_>, repairs: &mut Vec<Repair>) -> Result<RawCharacter> {
    let (files, options) = (&input.files, input.files.options);
    let mut budget = Budget::new(options);
    let model = model::document(input.bytes, &budget)?;
    let vertices = beside_model(input.path, options.limits.resource_bytes, files)?;
    let vertices = vertices::read(&vertices, &mut budget)?;
    let mut raw = model::read(&model, &vertices, &mut budget, repairs)?;
    let names = model::textures(&model);
    textures::load(&mut raw, &names, &mut budget, files, repairs)?;
    raw.name = options.name.clone();
    Ok(raw)
}

/// The error for a `.wglvert` that is imported alone.
pub(crate) fn vertices_alone() -> Error {
    let why = AssetFault::Invalid("has only vertices; the .wglmodel of the same name is imported");
    fault(ObjectKind::File, None, "", why)
}

/// The bytes of the `.wglvert` with the name of the model.
///
/// Its extension has the case of the model's extension, or lower case.
fn beside_model(path: &Path, cap: u64, files: &Files<'_>) -> Result<Vec<u8>> {
    let cased = cased_extension(path);
    let first = with_extension(path, &cased, cap, files);
    if cased == EXTENSION || !is_missing(&first) {
        return first;
    }
    let second = with_extension(path, EXTENSION, cap, files);
    if is_missing(&second) { first } else { second }
}

fn is_missing(file: &Result<Vec<u8>>) -> bool {
    let Err(Error::Asset { why, .. }) = file else {
        return false;
    };
    matches!(why, AssetFault::Unreadable { kind, .. } if *kind == ErrorKind::NotFound)
}

fn with_extension(path: &Path, extension: &str, cap: u64, files: &Files<'_>) -> Result<Vec<u8>> {
    let vertices = file_part("vertices");
    let at = |why| Error::asset(vertices.clone(), AssetFault::Invalid(why));
    let name = path.with_extension(extension);
    let Some(name) = name.file_name() else {
        return Err(at("are found by the name of the model, which has none"));
    };
    let name = name
        .to_str()
        .ok_or_else(|| at("have a name that is not UTF-8"))?;
    folder::load(name, &vertices, cap, files)
}

const EXTENSION: &str = "wglvert";

/// The extension of the vertices of this model, each letter in the case of the model's extension.
fn cased_extension(model: &Path) -> String {
    let cases = model.extension().and_then(|extension| extension.to_str());
    let cases = cases.unwrap_or_default().chars().map(Some);
    let letters = EXTENSION.chars().zip(cases.chain(std::iter::repeat(None)));
    let cased = letters.map(|(letter, case)| match case {
        Some(case) if case.is_ascii_uppercase() => letter.to_ascii_uppercase(),
        _ => letter,
    });
    cased.collect()
}

/// Reads the clip of a `.wglanim` file, with the joints of `skeleton` as its hierarchy.
pub(crate) fn read_clips(
    input: &Input<'_>,
    skeleton: Option<&Skeleton>,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let options = input.files.options;
    let mut budget = Budget::new(options);
    let clips = vec![clips::read(input.bytes, &mut budget)?];
    let nodes = frames::nodes(&clips, skeleton);
    budget.nodes(nodes.len())?;
    Ok(RawCharacter {
        name: options.name.clone(),
        animations: frames::animations(clips, &nodes, repairs),
        nodes,
        ..RawCharacter::default()
    })
}
