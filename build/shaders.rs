//! Finds the shaders and proves that the committed SPIR-V was built from exactly their sources.
//!
//! This is a separate module that uses only std, so that `tests/gpu/compiled_shaders.rs` can test
//! it with planted faults. Names are paths relative to the shader folder, with `/` between parts
//! (`test/skin_probe.comp`). The SPIR-V of each shader is in `spv/NAME.spv`.

use std::fs;
use std::io;
use std::path::Path;

mod error;
mod manifest;

pub(crate) use error::{ShaderError, io_error};
pub(crate) use manifest::{Hash, Manifest};

/// The compiler flags, as text.
///
/// They are part of every source hash, so a change of flags makes all of the SPIR-V stale.
///
/// `O0` has two reasons:
///
/// - Drivers optimise for themselves. The optimiser would save a third of the bytes.
/// - shaderc's optimiser drops every name, and any optimiser drops the bindings and members that a
///   shader declares and does not use. The layout tests read them, and so does everyone who opens a
///   capture in a frame debugger.
pub(crate) const FLAGS: &str = "vulkan1.3 spirv1.5 O0, exact fma";

/// The first word of every SPIR-V module.
const SPIRV_MAGIC: u32 = 0x0723_0203;

/// The folders that hold shaders, relative to the shader folder.
///
/// Shaders in `bench`, `example` and `test` are compiled and checked like the others, but are not
/// part of the library.
const FOLDERS: [&str; 4] = ["", "bench/", "example/", "test/"];

/// The file extensions of shaders. Other files in these folders are ignored.
const STAGES: [&str; 5] = ["vert", "frag", "comp", "rahit", "rchit"];

/// Maximum include depth. It stops a file that includes itself without a guard.
const MAX_INCLUDE_DEPTH: usize = 16;

/// A shader with its SPIR-V.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Built {
    /// The path relative to the shader folder: `crowd.vert`.
    pub(crate) name: String,
    pub(crate) words: Vec<u32>,
}

/// The names of all shaders in `dir`, sorted.
pub(crate) fn find(dir: &Path) -> Result<Vec<String>, ShaderError> {
    let mut names = Vec::new();
    for folder in FOLDERS {
        for file in list(dir, folder)? {
            let Some((stem, stage)) = file.split_once('.') else {
                continue;
            };
            if !STAGES.contains(&stage) {
                continue;
            }
            let shader = format!("{folder}{file}");
            let starts_well = stem.starts_with(|c: char| c.is_ascii_lowercase());
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if !starts_well || !stem.chars().all(plain) {
                return Err(ShaderError::BadName { shader });
            }
            names.push(shader);
        }
    }
    names.sort();
    Ok(names)
}

/// The hash of the flags, the source and all of its includes.
pub(crate) fn source_hash(dir: &Path, shader: &str) -> Result<Hash, ShaderError> {
    let mut files = Vec::new();
    gather(dir, shader, 0, &mut files)?;
    let start = Hash::EMPTY.and(FLAGS.as_bytes()).and(&[0]);
    Ok(files.iter().fold(start, |hash, (name, text)| {
        hash.and(name.as_bytes())
            .and(&[0])
            .and(text.as_bytes())
            .and(&[0])
    }))
}

/// Adds `file` and then its includes to `files`, each file once.
fn gather(
    dir: &Path,
    file: &str,
    depth: usize,
    files: &mut Vec<(String, String)>,
) -> Result<(), ShaderError> {
    if depth > MAX_INCLUDE_DEPTH {
        return Err(ShaderError::DeepInclude {
            file: file.to_owned(),
            depth,
        });
    }
    if files.iter().any(|(name, _)| name == file) {
        return Ok(());
    }
    let text = read_text(dir, file)?;
    files.push((file.to_owned(), text.clone()));
    for (index, text) in text.lines().enumerate() {
        let Some(include) = included(text) else {
            continue;
        };
        let found = resolve(dir, file, include).ok_or_else(|| ShaderError::MissingInclude {
            file: file.to_owned(),
            line: index + 1,
            include: include.to_owned(),
        })?;
        gather(dir, &found, depth + 1, files)?;
    }
    Ok(())
}

/// The name in an `#include` line, if the line is one.
fn included(line: &str) -> Option<&str> {
    let rest = line
        .trim_start()
        .strip_prefix('#')?
        .trim_start()
        .strip_prefix("include")?
        .trim();
    let close = match rest.chars().next()? {
        '"' => '"',
        '<' => '>',
        _ => return None,
    };
    rest[1..].split_once(close).map(|(path, _)| path)
}

/// Resolves `#include "include"` in `file` to the name of a file.
///
/// It is the file beside `file`, otherwise the one in the shader folder, as with `glslc -I
/// shaders`.
pub(crate) fn resolve(dir: &Path, file: &str, include: &str) -> Option<String> {
    let beside = file
        .rsplit_once('/')
        .map(|(folder, _)| format!("{folder}/{include}"));
    let names = beside.into_iter().chain([include.to_owned()]);
    names
        .filter_map(|name| plain_name(&name))
        .find(|name| dir.join(name).is_file())
}

/// `name` without `.` and `..`, or `None` if it leaves the shader folder.
fn plain_name(name: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the committed SPIR-V in `dir`, if it was built from the sources in `dir`.
///
/// # Errors
///
/// Returns everything that is wrong, not only the first problem.
pub(crate) fn check(dir: &Path) -> Result<Vec<Built>, Vec<ShaderError>> {
    let manifest = Manifest::read(dir).map_err(|error| vec![error])?;
    let names = find(dir).map_err(|error| vec![error])?;
    let mut errors = orphans(dir, &names, &manifest).unwrap_or_else(|error| vec![error]);
    let mut built = Vec::new();
    for name in names {
        match check_one(dir, &name, &manifest) {
            Ok(words) => built.push(Built { name, words }),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        Ok(built)
    } else {
        Err(errors)
    }
}

fn check_one(dir: &Path, name: &str, manifest: &Manifest) -> Result<Vec<u32>, ShaderError> {
    let shader = || name.to_owned();
    let source = source_hash(dir, name)?;
    let &(recorded_source, recorded) = manifest
        .shaders
        .get(name)
        .ok_or_else(|| ShaderError::Unlisted { shader: shader() })?;
    if source != recorded_source {
        return Err(ShaderError::Stale { shader: shader() });
    }
    let file = format!("spv/{name}.spv");
    let bytes = match fs::read(dir.join(&file)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ShaderError::Missing { shader: shader() });
        }
        Err(source) => return Err(io_error(&file)(source)),
    };
    let found = Hash::EMPTY.and(&bytes);
    if found != recorded {
        return Err(ShaderError::Altered {
            shader: shader(),
            found,
            recorded,
        });
    }
    words(&bytes).ok_or_else(|| ShaderError::NotSpirv {
        shader: shader(),
        bytes: bytes.len(),
    })
}

/// SPIR-V files and manifest lines that belong to none of `names`.
fn orphans(
    dir: &Path,
    names: &[String],
    manifest: &Manifest,
) -> Result<Vec<ShaderError>, ShaderError> {
    let files = orphan_files(dir, names)?
        .into_iter()
        .map(|file| format!("shaders/{file}"));
    let lines = manifest.shaders.keys().filter(|name| !names.contains(name));
    let lines = lines.map(|name| format!("the line \"{name}\" of shaders/spv/MANIFEST"));
    Ok(files
        .chain(lines)
        .map(|what| ShaderError::Orphan { what })
        .collect())
}

/// SPIR-V files that belong to none of `names`, relative to the shader folder.
pub(crate) fn orphan_files(dir: &Path, names: &[String]) -> Result<Vec<String>, ShaderError> {
    let mut orphans = Vec::new();
    for folder in FOLDERS {
        for file in list(dir, &format!("spv/{folder}"))? {
            let Some(stem) = file.strip_suffix(".spv") else {
                continue;
            };
            if !names.contains(&format!("{folder}{stem}")) {
                orphans.push(format!("spv/{folder}{file}"));
            }
        }
    }
    Ok(orphans)
}

/// The words of a SPIR-V module that is stored little endian.
fn words(bytes: &[u8]) -> Option<Vec<u32>> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    let words: Vec<u32> = chunks
        .iter()
        .map(|&word| u32::from_le_bytes(word))
        .collect();
    (rest.is_empty() && words.first() == Some(&SPIRV_MAGIC)).then_some(words)
}

/// Rust source with one constant per shader of the library: `crowd.vert` is `CROWD_VERT`.
///
/// The constants are literals, so that the words are aligned and in the byte order of the host.
pub(crate) fn rust_source(shaders: &[Built]) -> String {
    let mut text = String::new();
    for Built { name, words } in shaders.iter().filter(|shader| !shader.name.contains('/')) {
        let constant = name.replace('.', "_").to_uppercase();
        text += &format!("/// `shaders/{name}`\npub(crate) static {constant}: &[u32] = &[");
        for word in words {
            text += &format!("{word},");
        }
        text += "];\n";
    }
    text
}

/// The names of the files in a folder of `dir`, sorted. Empty if the folder does not exist.
fn list(dir: &Path, folder: &str) -> Result<Vec<String>, ShaderError> {
    let entries = match fs::read_dir(dir.join(folder)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(io_error(folder)(source)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io_error(folder))?;
        if entry.path().is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Reads a text file of the shader folder, with Unix line endings whatever the checkout uses.
pub(crate) fn read_text(dir: &Path, file: &str) -> Result<String, ShaderError> {
    let text = fs::read_to_string(dir.join(file)).map_err(io_error(file))?;
    Ok(text.replace("\r\n", "\n"))
}
