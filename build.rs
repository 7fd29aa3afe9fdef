//! Compiles GLSL to SPIR-V, or proves that the committed SPIR-V is current.
//!
//! - Without the feature `shaderc`, the committed SPIR-V in `shaders/spv` is checked against the
//!   hashes of its sources. This needs only std, so crates that depend on throng need no C++
//!   compiler.
//! - With the feature, the shaders are compiled again.
//!
//! Either way, the library gets them as `$OUT_DIR/spirv.rs`.
//!
//! Nothing is written outside `OUT_DIR`, unless `THRONG_SPIRV=write` is set, as
//! `scripts/compile-shaders` does. `THRONG_SPIRV=check` compares instead. Both need
//! `THRONG_SHADERC`, the name and version of the compiler, because shaderc itself does not report
//! them.

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
