//! Compiles shaders with shaderc: for the library, for the committed SPIR-V, or to compare with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::shaders::{
    Built, FLAGS, Hash, Manifest, ShaderError, find, io_error, orphan_files, read_text, resolve,
    source_hash,
};

/// Prefix of every name that the compiler sees.
///
/// With it, the compiler's messages name files relative to the root of the repository.
const FOLDER: &str = "shaders/";

/// Compiles all shaders in `dir`.
///
/// # Errors
///
/// Returns the compiler's messages for every shader that it rejects.
pub(crate) fn compile(dir: &Path) -> Result<Vec<Built>, Vec<ShaderError>> {
    let names = find(dir).map_err(|error| vec![error])?;
    let compiler = shaderc::Compiler::new().map_err(|error| vec![rejected(&error)])?;
    let options = options(dir).map_err(|error| vec![rejected(&error)])?;
    let mut errors = Vec::new();
    let mut built = Vec::new();
    for name in names {
        match compile_one(dir, &name, &compiler, &options) {
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

/// The compiler options that the text of [`FLAGS`] describes.
fn options(dir: &Path) -> shaderc::Result<shaderc::CompileOptions<'_>> {
    let mut options = shaderc::CompileOptions::new()?;
    options.set_source_language(shaderc::SourceLanguage::GLSL);
    debug_assert_eq!(FLAGS, "vulkan1.3 spirv1.5 O0, exact fma");
    options.set_target_env(
        shaderc::TargetEnv::Vulkan,
        shaderc::EnvVersion::Vulkan1_3 as u32,
    );
    options.set_target_spirv(shaderc::SpirvVersion::V1_5);
    options.set_optimization_level(shaderc::OptimizationLevel::Zero);
    options.set_include_callback(|include, _, file, _| {
        let file = file.strip_prefix(FOLDER).unwrap_or(file);
        let found =
            resolve(dir, file, include).ok_or("neither beside this file nor in shaders/")?;
        let content = read_text(dir, &found).map_err(|error| error.to_string())?;
        Ok(shaderc::ResolvedInclude {
            resolved_name: format!("{FOLDER}{found}"),
            content,
        })
    });
    Ok(options)
}

fn compile_one(
    dir: &Path,
    name: &str,
    compiler: &shaderc::Compiler,
    options: &shaderc::CompileOptions<'_>,
) -> Result<Vec<u32>, ShaderError> {
    let kind = match name.rsplit_once('.') {
        Some((_, "vert")) => shaderc::ShaderKind::Vertex,
        Some((_, "frag")) => shaderc::ShaderKind::Fragment,
        Some((_, "rahit")) => shaderc::ShaderKind::AnyHit,
        Some((_, "rchit")) => shaderc::ShaderKind::ClosestHit,
        _ => shaderc::ShaderKind::Compute,
    };
    // Resolves the includes as the check without a compiler does. A shader with an include that
    // this search cannot find must not compile.
    source_hash(dir, name)?;
    let text = read_text(dir, name)?;
    let file = format!("{FOLDER}{name}");
    let output = compiler
        .compile_into_spirv(&text, kind, &file, "main", Some(options))
        .map_err(|error| rejected(&error))?;
    for warning in output.get_warning_messages().lines() {
        println!("cargo::warning={warning}");
    }
    Ok(with_exact_fma(output.as_binary()))
}

/// Decorates every `fma` with `NoContraction`.
///
/// With it, `fma` gives the same result for the same values in all shaders. GLSL says so of a
/// `precise` result, but the compiler does not pass it on.
fn with_exact_fma(words: &[u32]) -> Vec<u32> {
    const EXT_INST: u32 = 12;
    const DECORATIONS: [u32; 2] = [71, 72];
    const FMA: u32 = 50;
    const DECORATE_NO_CONTRACTION: [u32; 2] = [3 << 16 | 71, 42];
    let (mut at, mut end_of_decorations) = (5, 5);
    let mut decorations = Vec::new();
    while let Some(first) = words.get(at) {
        let next = at + (first >> 16).max(1) as usize;
        match (first & 0xFFFF, words.get(at + 1..next)) {
            (code, _) if DECORATIONS.contains(&code) => end_of_decorations = next,
            // GLSL.std.450 is the only set of instructions that shaders import.
            (EXT_INST, Some([_, id, _, FMA, ..])) => {
                let [decorate, no_contraction] = DECORATE_NO_CONTRACTION;
                decorations.extend([decorate, *id, no_contraction]);
            }
            _ => {}
        }
        at = next;
    }
    let (before, after) = words.split_at(end_of_decorations.min(words.len()));
    [before, &decorations, after].concat()
}

fn rejected(error: &shaderc::Error) -> ShaderError {
    let messages = match error {
        shaderc::Error::CompilationError(_, messages) => messages.clone(),
        other => other.to_string(),
    };
    ShaderError::Compile { messages }
}

/// Makes `shaders/spv` hold exactly `built` and its manifest.
///
/// Files that are already correct are not touched, so a second run changes nothing.
pub(crate) fn write(dir: &Path, built: &[Built], compiler: &str) -> Result<(), ShaderError> {
    let mut shaders = BTreeMap::new();
    for Built { name, words } in built {
        let bytes = bytes(words);
        replace(dir, &format!("spv/{name}.spv"), &bytes)?;
        shaders.insert(
            name.clone(),
            (source_hash(dir, name)?, Hash::EMPTY.and(&bytes)),
        );
    }
    let names: Vec<String> = shaders.keys().cloned().collect();
    for orphan in orphan_files(dir, &names)? {
        fs::remove_file(dir.join(&orphan)).map_err(io_error(&orphan))?;
        println!("cargo::warning=removed shaders/{orphan}");
    }
    let manifest = Manifest {
        compiler: compiler.to_owned(),
        shaders,
    };
    replace(dir, "spv/MANIFEST", manifest.to_string().as_bytes())
}

/// Writes a file of the shader folder if its content differs.
fn replace(dir: &Path, file: &str, bytes: &[u8]) -> Result<(), ShaderError> {
    let path = dir.join(file);
    if fs::read(&path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(io_error(file))?;
    }
    fs::write(&path, bytes).map_err(io_error(file))?;
    println!("cargo::warning=wrote shaders/{file}");
    Ok(())
}

/// Compares `built` with the committed SPIR-V, which has passed [`crate::shaders::check`].
///
/// Another compiler produces different words from the same text, so the output is compared only if
/// the compiler is the same.
pub(crate) fn compare(dir: &Path, built: &[Built], compiler: &str) -> Result<(), Vec<ShaderError>> {
    let manifest = Manifest::read(dir).map_err(|error| vec![error])?;
    if manifest.compiler != compiler {
        println!(
            "cargo::warning=the committed SPIR-V is of {}, this is {compiler}: compared the sources only",
            manifest.compiler
        );
        return Ok(());
    }
    let differs = |shader: &&Built| {
        let made = Hash::EMPTY.and(&bytes(&shader.words));
        manifest
            .shaders
            .get(&shader.name)
            .is_none_or(|&(_, recorded)| recorded != made)
    };
    let error = |shader: &Built| ShaderError::Differs {
        shader: shader.name.clone(),
        compiler: compiler.to_owned(),
    };
    let errors: Vec<_> = built.iter().filter(differs).map(error).collect();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
