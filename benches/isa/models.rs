//! Counts the pipelines that a folder's models add to a crowd.

use crate::device::{Compiler, Idle};
use crate::{Outcome, passes};
use std::path::{Path, PathBuf};
use throng::character::Character;
use throng::import::ImportOptions;
use throng::{CharacterDesc, Crowd, CrowdDesc, SkinningStage, builtin};

/// A table of the models: pipelines in each pass, and of the skin stage.
pub(crate) fn pipelines() -> Outcome<String> {
    let compiler = Compiler::new()?;
    let mut text = "| model | colour | with shadows | depth | motion | skin stage |\n\
                    |---|---:|---:|---:|---:|---:|\n"
        .to_owned();
    let mannequin = builtin::mannequin()?.character;
    text += &line(&compiler, "built-in", &mannequin)?;
    for file in files(std::env::var_os("THRONG_ASSETS").map(PathBuf::from))? {
        let imported = throng_import::file(&file, &ImportOptions::default())?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        text += &line(&compiler, &name, &imported.character)?;
    }
    compiler.destroy();
    Ok(text)
}

fn line(compiler: &Compiler, name: &str, character: &Character) -> Outcome<String> {
    let memory = &mut Idle(compiler.raw.clone());
    let mut crowd = Crowd::new(&compiler.gpu, memory, &CrowdDesc::default())?;
    let passes = passes(&mut crowd)?;
    let desc = CharacterDesc::default();
    crowd.warm_up(character, &desc, SkinningStage::Vertex)?;
    let counts = passes.iter().map(|(_, pass)| {
        let drawing = crowd.pipelines().filter(|it| it.pass == Some(*pass));
        drawing.count().to_string()
    });
    let counts: Vec<String> = counts.collect();
    let before = crowd.pipelines().filter(|it| it.stage == "skin").count();
    crowd.warm_up(character, &desc, SkinningStage::Compute)?;
    let skin = crowd.pipelines().filter(|it| it.stage == "skin").count() - before;
    // SAFETY: nothing was submitted.
    unsafe { crowd.destroy(memory) };
    Ok(format!("| {name} | {} | {skin} |\n", counts.join(" | ")))
}

/// The glTF files of a folder and of its folders, in order.
fn files(folder: Option<PathBuf>) -> Outcome<Vec<PathBuf>> {
    let Some(folder) = folder else {
        return Ok(Vec::new());
    };
    let is_model = |path: &Path| {
        path.extension()
            .is_some_and(|it| it == "glb" || it == "gltf")
    };
    let list = |folder: &Path| -> Outcome<Vec<PathBuf>> {
        let entries = std::fs::read_dir(folder)?;
        let paths = entries.map(|entry| Ok(entry?.path()));
        paths.collect()
    };
    let mut found = Vec::new();
    for path in list(&folder)? {
        if path.is_dir() {
            found.extend(list(&path)?.into_iter().filter(|path| is_model(path)));
        } else if is_model(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
