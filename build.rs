//! GLSL to SPIR-V, or the proof that it is not needed.
//!
//! Without the feature `shaderc`, the committed SPIR-V in `shaders/spv` is held against the hashes
//! of its sources, on std alone: whoever depends on throng needs no C++ compiler. With it, the
//! shaders are compiled afresh. Either way they reach the library as `$OUT_DIR/spirv.rs`.
//!
//! Nothing is written outside `OUT_DIR`, except when `THRONG_SPIRV=write` says so, which is what
//! `scripts/compile-shaders` sets. `THRONG_SPIRV=check` compares instead. Both need
//! `THRONG_SHADERC`, the name and version of the compiler, as shaderc itself cannot tell them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[cfg(feature = "shaderc")]
#[path = "build/compile.rs"]
mod compile;
#[path = "build/shaders.rs"]
#[cfg_attr(
    not(feature = "shaderc"),
    allow(dead_code, reason = "what is written is used with the compiler only")
)]
mod shaders;

use shaders::{Built, ShaderError};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(errors) => {
            for error in errors {
                for line in error.to_string().lines() {
                    println!("cargo::error={line}");
                }
            }
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Vec<ShaderError>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-env-changed=THRONG_SPIRV");
    println!("cargo::rerun-if-env-changed=THRONG_SHADERC");
    let for_library = env::var_os("CARGO_FEATURE_VULKAN").is_some();
    let task = env::var("THRONG_SPIRV").ok();
    if !for_library && task.is_none() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed=shaders");
    let dir = folder("CARGO_MANIFEST_DIR").map_err(|error| vec![error])?;
    let built = built(&dir.join("shaders"), task.as_deref())?;
    if for_library {
        emit(&built).map_err(|error| vec![error])?;
    }
    Ok(())
}

#[cfg(feature = "shaderc")]
fn built(dir: &Path, task: Option<&str>) -> Result<Vec<Built>, Vec<ShaderError>> {
    let setting = |why| vec![ShaderError::Setting { why }];
    let built = compile::compile(dir)?;
    let compiler =
        env::var("THRONG_SHADERC").map_err(|_| setting("THRONG_SPIRV needs THRONG_SHADERC"));
    match task {
        None => {}
        Some("write") => {
            compile::write(dir, &built, &compiler?).map_err(|error| vec![error])?;
        }
        Some("check") => {
            shaders::check(dir)?;
            compile::compare(dir, &built, &compiler?)?;
        }
        Some(_) => return Err(setting("THRONG_SPIRV is `write` or `check`")),
    }
    Ok(built)
}

#[cfg(not(feature = "shaderc"))]
fn built(dir: &Path, task: Option<&str>) -> Result<Vec<Built>, Vec<ShaderError>> {
    match task {
        None => shaders::check(dir),
        Some(_) => Err(vec![ShaderError::Setting {
            why: "THRONG_SPIRV needs the feature shaderc",
        }]),
    }
}

/// Writes `spirv.rs` for the library.
fn emit(built: &[Built]) -> Result<(), ShaderError> {
    let path = folder("OUT_DIR")?.join("spirv.rs");
    fs::write(&path, shaders::rust_source(built)).map_err(|source| ShaderError::Io {
        path: path.display().to_string(),
        source,
    })
}

fn folder(variable: &'static str) -> Result<PathBuf, ShaderError> {
    let why = "cargo did not name the folders of this crate";
    env::var_os(variable)
        .map(PathBuf::from)
        .ok_or(ShaderError::Setting { why })
}
