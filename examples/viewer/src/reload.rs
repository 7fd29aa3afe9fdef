//! Compiles shaders again when their files change.
//!
//! The pipelines of [`Lens`](super::lens::Lens) include all of `throng.glsl`, so a change of the
//! crate's skinning is visible in their views. The shaded view gets the changed `crowd.frag`,
//! without shadows.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use shaderc::{
    CompileOptions, Compiler, EnvVersion, OptimizationLevel, ResolvedInclude, ShaderKind,
    SpirvVersion, TargetEnv,
};

use throng::gpu::Features;
use throng_standalone::Context;

use super::lens::Modules;

/// Interval at which the files are looked at.
const INTERVAL: Duration = Duration::from_millis(500);

/// Shaders that were compiled again.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    pub(crate) lens: Modules,
    /// The fragment shader of the shaded view.
    pub(crate) shading: Vec<u32>,
}

/// Watches the shaders of this checkout.
pub(crate) struct Watch {
    folder: PathBuf,
    /// The time of the latest change.
    seen: Option<SystemTime>,
    looked: Instant,
    bindless: bool,
}

impl Watch {
    /// Watches from now on, for the features of this device.
    pub(crate) fn new(context: &Context) -> Self {
        // SAFETY: the device is not used after the context was dropped.
        let enabled = unsafe { context.gpu_device() }.enabled();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shaders");
        Self {
            seen: latest(&folder),
            folder,
            looked: Instant::now(),
            bindless: enabled.contains(Features::DESCRIPTOR_INDEXING),
        }
    }

    /// The shaders, if a file has changed since the last call, or the compiler's message.
    pub(crate) fn poll(&mut self) -> Option<Result<Changed, String>> {
        if self.looked.elapsed() < INTERVAL {
            return None;
        }
        self.looked = Instant::now();
        let latest = latest(&self.folder);
        if latest == self.seen {
            return None;
        }
        self.seen = latest;
        Some(self.compile())
    }

    /// Compiles all shaders of the viewer.
    ///
    /// # Errors
    /// The compiler's message.
    pub(crate) fn compile(&self) -> Result<Changed, String> {
        let compiler = Compiler::new().map_err(|error| error.to_string())?;
        let mut options = CompileOptions::new().map_err(|error| error.to_string())?;
        options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_3 as u32);
        options.set_target_spirv(SpirvVersion::V1_6);
        options.set_optimization_level(OptimizationLevel::Zero);
        options.set_include_callback(|name, _, from, _| {
            let beside = Path::new(from).parent().map(|folder| folder.join(name));
            let places = beside.into_iter().chain([self.folder.join(name)]);
            let found = places.into_iter().find(|path| path.is_file());
            let path = found.ok_or("not found beside the file or in shaders/")?;
            let content = fs::read_to_string(&path).map_err(|error| error.to_string())?;
            Ok(ResolvedInclude {
                resolved_name: path.to_string_lossy().into_owned(),
                content,
            })
        });
        let compile = |name: &str, kind| {
            let path = self.folder.join(name);
            let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
            let path = path.to_string_lossy();
            let compiled = compiler.compile_into_spirv(&text, kind, &path, "main", Some(&options));
            let compiled = compiled.map_err(|error| error.to_string())?;
            Ok::<_, String>(compiled.as_binary().to_vec())
        };
        let shading = if self.bindless {
            "crowd_bindless.frag"
        } else {
            "crowd.frag"
        };
        Ok(Changed {
            lens: Modules {
                vertex: compile("example/lens.vert", ShaderKind::Vertex)?,
                fragment: compile("example/lens.frag", ShaderKind::Fragment)?,
            },
            shading: compile(shading, ShaderKind::Fragment)?,
        })
    }
}

/// The time of the latest change of a shader in the folder and its subfolders.
fn latest(folder: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let times = entries.filter_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return latest(&path);
        }
        let extension = path.extension()?.to_str()?;
        let is_shader = ["vert", "frag", "comp", "glsl"].contains(&extension);
        is_shader.then(|| entry.metadata().ok()?.modified().ok())?
    });
    times.max()
}
