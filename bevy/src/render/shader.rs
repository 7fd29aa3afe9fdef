//! Bevy's own shading for crowds: its WGSL, composed with what throng knows of a surface.

use super::light::Lights;
use bevy::asset::{AssetEvent, AssetId, Assets};
use bevy::ecs::prelude::*;
use bevy::platform::collections::HashMap;
use bevy::render::Extract;
use bevy::shader::{Shader, ShaderDefVal, ShaderImport, Source};
use naga_oil::compose::{
    ComposableModuleDescriptor, Composer, NagaModuleDescriptor, ShaderDefValue,
};
use std::borrow::Cow;
use throng_wgpu::Error;
use throng_wgpu::wgpu::{self, naga};

/// The program's own shading of all characters, in WGSL. It is a resource.
///
/// It has what [`throng_wgpu::MaterialDesc`] gives, and `bevy_lit`, which is how Bevy lights a
/// surface: with its lights, shadows, fog, exposure and tone mapping. Groups 1 and 2 are Bevy's.
/// The entry point is called `throng_shade`. Without this resource, it is:
///
#[doc = concat!("```wgsl\n", include_str!("shade.wgsl"), "```")]
///
/// ```
/// use bevy::prelude::*;
/// use bevy_throng::Shading;
///
/// /// Characters whose `UserData` is 1 have a bright edge.
/// const WGSL: &str = "
///     @fragment
///     fn throng_shade(in: ThrongIn) -> @location(0) vec4f {
///         var surface = throng_surface(in);
///         if throng_masked() { if surface.hole { discard; } }
///         let edge = pow(1.0 - max(dot(surface.normal, surface.to_eye), 0.0), 3.0);
///         surface.emissive += edge * f32(in.user) * vec3f(4.0, 3.0, 0.5);
///         return bevy_lit(in, surface);
///     }
/// ";
///
/// fn setup(mut commands: Commands) {
///     commands.insert_resource(Shading::new(WGSL));
/// }
/// # let _ = setup;
/// ```
#[derive(Resource, Debug, Clone, PartialEq, Eq)]
pub struct Shading(Cow<'static, str>);

impl Shading {
    /// Shading by this text.
    #[must_use]
    pub fn new(wgsl: impl Into<Cow<'static, str>>) -> Self {
        Self(wgsl.into())
    }
}

/// The texts of Bevy's shader libraries, by the name under which others import them.
#[derive(Resource, Default)]
pub(super) struct Sources {
    modules: HashMap<String, Module>,
    by_asset: HashMap<AssetId<Shader>, String>,
    /// The device of the passes.
    pub(super) device: Option<wgpu::Device>,
}

struct Module {
    source: String,
    path: String,
    imports: Vec<ShaderImport>,
}

/// Takes Bevy's shaders and the program's shading over from the main world.
pub(super) fn extract(
    mut events: Extract<MessageReader<AssetEvent<Shader>>>,
    shaders: Extract<Res<Assets<Shader>>>,
    shading: Extract<Option<Res<Shading>>>,
    own: Option<Res<Shading>>,
    mut sources: ResMut<Sources>,
    mut commands: Commands,
) {
    for event in events.read() {
        let (AssetEvent::Added { id } | AssetEvent::Modified { id }) = event else {
            continue;
        };
        let Some(shader) = shaders.get(*id) else {
            continue;
        };
        let (ShaderImport::Custom(name), Source::Wgsl(source)) =
            (&shader.import_path, &shader.source)
        else {
            continue;
        };
        // Group 0 is throng's.
        let source = match name.as_str() {
            "bevy_pbr::mesh_view_bindings" | "bevy_core_pipeline::tonemapping_lut_bindings" => {
                source
                    .replace("@group(1)", "@group(2)")
                    .replace("@group(0)", "@group(1)")
            }
            _ => source.to_string(),
        };
        sources.by_asset.insert(*id, name.clone());
        let module = Module {
            source,
            path: shader.path.clone(),
            imports: shader.imports.clone(),
        };
        sources.modules.insert(name.clone(), module);
    }
    match (&*shading, own) {
        (Some(shading), Some(own)) if **shading == *own => {}
        (Some(shading), _) => commands.insert_resource((**shading).clone()),
        (None, Some(own)) if own.0 != SHADE => commands.insert_resource(Shading::new(SHADE)),
        (None, _) => {}
    }
}

/// The entry point if the program has none.
const SHADE: &str = include_str!("shade.wgsl");
/// Between throng's surface and Bevy's.
const LIT: &str = include_str!("lit.wgsl");
/// `bevy_lit` in throng's terms.
const BRIDGE: &str = include_str!("bridge.wgsl");

/// The text of a pass, or `None` if Bevy's shaders are not loaded yet.
pub(super) fn wgsl(
    sources: &Sources,
    lights: &Lights,
    shading: Option<&Shading>,
) -> Result<Option<String>, Error> {
    let defs: std::collections::HashMap<_, _> = lights.defs().iter().map(def).collect();
    let mut composer = Composer::non_validating();
    let imports = [
        "bevy_pbr::pbr_types",
        "bevy_pbr::pbr_functions",
        "bevy_pbr::mesh_types",
    ];
    for name in imports {
        if !add(&mut composer, sources, name)? {
            return Ok(None);
        }
    }
    let module = composer.make_naga_module(NagaModuleDescriptor {
        source: LIT,
        file_path: "lit.wgsl",
        shader_defs: defs,
        ..NagaModuleDescriptor::default()
    });
    let module = module.map_err(|why| fault(&why.emit_to_string(&composer)))?;
    let flags = naga::valid::ValidationFlags::all();
    let mut validator = naga::valid::Validator::new(flags, naga::valid::Capabilities::all());
    let info = validator
        .validate(&module)
        .map_err(|why| fault(&format!("{why:?}")))?;
    let flags = naga::back::wgsl::WriterFlags::empty();
    let lit = naga::back::wgsl::write_string(&module, &info, flags);
    let lit = lit.map_err(|why| fault(&why.to_string()))?;
    let shade = shading.map_or(SHADE, |shading| &shading.0);
    Ok(Some([shade, BRIDGE, &lit].join("\n")))
}

fn def(def: &ShaderDefVal) -> (String, ShaderDefValue) {
    match def {
        ShaderDefVal::Bool(name, value) => (name.clone(), ShaderDefValue::Bool(*value)),
        ShaderDefVal::Int(name, value) => (name.clone(), ShaderDefValue::Int(*value)),
        ShaderDefVal::UInt(name, value) => (name.clone(), ShaderDefValue::UInt(*value)),
    }
}

/// Adds a module of Bevy with what it imports. Returns false if one is not loaded.
fn add(composer: &mut Composer, sources: &Sources, name: &str) -> Result<bool, Error> {
    if composer.contains_module(name) {
        return Ok(true);
    }
    let Some(module) = sources.modules.get(name) else {
        return Ok(false);
    };
    for import in &module.imports {
        if !add(composer, sources, &import.module_name())? {
            return Ok(false);
        }
    }
    let added = composer.add_composable_module(ComposableModuleDescriptor {
        source: &module.source,
        file_path: &module.path,
        ..ComposableModuleDescriptor::default()
    });
    let added = added.map(drop);
    added.map_err(|why| fault(&why.emit_to_string(composer)))?;
    Ok(true)
}

fn fault(why: &str) -> Error {
    Error::Shader(why.to_owned())
}
