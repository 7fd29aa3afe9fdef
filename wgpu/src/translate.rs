//! Translates WGSL of the program, with throng's functions, for the pipelines of a crowd.

use crate::error::{Error, Result};
use crate::material::MaterialDesc;
use throng::mesh::Material;
use wgpu::naga::{self, back::spv};

/// The program's text, with throng's behind it, so that numbers of lines are the program's.
pub(crate) fn text(material: &MaterialDesc<'_>, is_multiview: bool, functions: &str) -> String {
    let own = [MaterialDesc::INTERFACE, functions].concat();
    let own = match is_multiview {
        true => own.replace("//multiview ", ""),
        false => own,
    };
    format!("{}\n{own}", material.wgsl)
}

/// The functions of throng, with a function for each texture.
fn functions(bindless: bool) -> String {
    let text = include_str!("shading/surface.wgsl");
    let (before, rest) = text.split_once("//each\n").unwrap_or((text, ""));
    let (each, after) = rest.split_once("//end\n").unwrap_or_default();
    let slot = match bindless {
        true => "throng_slot(WHICHu)",
        false => "WHICH",
    };
    let each = each.replace("SLOT", slot);
    let samples = (0..Material::TEXTURES).map(|which| each.replace("WHICH", &which.to_string()));
    let all = [before.to_owned(), samples.collect(), after.to_owned()].concat();
    match bindless {
        true => all.replace(", 6>;", ">;"),
        false => all,
    }
}

/// Bindings of group 0 in `surface.wgsl`, and those of throng's set 0. Textures with their samplers
/// are one binding there, and so are all records of a mesh.
const BINDINGS: [(u32, u32); 5] = [(0, 0), (1, 1), (2, 1), (5, 5), (6, 5)];

/// A shader of which only the entry point of a material is left, and its text.
pub(crate) struct Parsed {
    module: naga::Module,
    text: String,
}

/// Parses a shader.
pub(crate) fn parsed(
    material: &MaterialDesc<'_>,
    is_multiview: bool,
    bindless: bool,
) -> Result<Parsed> {
    let text = text(material, is_multiview, &functions(bindless));
    // On the program's first line, because directives come before everything else.
    let text = if cfg!(feature = "wgpu-30") {
        format!("enable wgpu_binding_array; {text}")
    } else {
        text
    };
    let module = naga::front::wgsl::parse_str(&text);
    let mut module = module.map_err(|why| Error::Shader(why.emit_to_string(&text)))?;
    let wanted = |it: &naga::EntryPoint| {
        let named = material.entry_point.is_none_or(|name| name == it.name);
        it.stage == naga::ShaderStage::Fragment && named
    };
    module.entry_points.retain(wanted);
    module.entry_points.truncate(1);
    Ok(Parsed { module, text })
}

/// Fails if the entry point writes no first colour, which wgpu allows.
pub(crate) fn expect_color(parsed: &Parsed) -> Result<()> {
    let module = &parsed.module;
    let writes = |it: &naga::EntryPoint| {
        let result = it.function.result.as_ref();
        result.is_some_and(|result| writes_color(module, result))
    };
    match module.entry_points.iter().all(writes) {
        true => Ok(()),
        false => {
            let why = "the entry point has no result at @location(0): pixels would be undefined";
            Err(Error::Shader(why.to_owned()))
        }
    }
}

/// Translates a shader that wgpu accepted.
pub(crate) fn translated(
    parsed: Parsed,
    material: &MaterialDesc<'_>,
    bindless: bool,
) -> Result<Vec<u32>> {
    let Parsed { mut module, text } = parsed;
    for entry_point in &mut module.entry_points {
        "main".clone_into(&mut entry_point.name);
    }
    let valid = |module: &naga::Module| {
        let flags = naga::valid::ValidationFlags::all();
        // wgpu compared the shader with the features of the device.
        let capabilities = naga::valid::Capabilities::all();
        let info = naga::valid::Validator::new(flags, capabilities).validate(module);
        info.map_err(|why| Error::Shader(why.emit_to_string(&text)))
    };
    let info = valid(&module)?;
    let constants = material.constants.iter();
    let constants = constants.map(|(name, value)| ((*name).to_owned(), *value));
    let stage = (naga::ShaderStage::Fragment, "main");
    let constants = &constants.collect();
    let known =
        naga::back::pipeline_constants::process_overrides(&module, &info, Some(stage), constants);
    let (module, _) = known.map_err(|why| Error::Shader(why.to_string()))?;
    let mut module = module.into_owned();
    naga::compact::compact(&mut module, naga::compact::KeepUnused::No);
    let info = valid(&module)?;
    let pipeline = spv::PipelineOptions {
        shader_stage: stage.0,
        entry_point: stage.1.into(),
    };
    let written = spv::write_vec(&module, &info, &options(&module), Some(&pipeline));
    let mut words = written.map_err(|why| Error::Shader(why.to_string()))?;
    specialize(&mut words);
    if bindless {
        declare_texture_arrays(&mut words);
    }
    Ok(words)
}

/// True if an entry point with this result writes the first colour.
fn writes_color(module: &naga::Module, result: &naga::FunctionResult) -> bool {
    let is_first = |binding: &Option<naga::Binding>| {
        matches!(binding, Some(naga::Binding::Location { location: 0, .. }))
    };
    let members = match &module.types[result.ty].inner {
        naga::TypeInner::Struct { members, .. } => &members[..],
        _ => &[],
    };
    is_first(&result.binding) || members.iter().any(|member| is_first(&member.binding))
}

/// The options of the translation: with all checks of bounds, as code of the program has no
/// `unsafe`.
fn options(module: &naga::Module) -> spv::Options<'static> {
    let bindings = module.global_variables.iter();
    let bindings = bindings.filter_map(|(_, variable)| variable.binding);
    let bindings = bindings.map(|from| {
        let throngs = BINDINGS.iter().find(|(of, _)| *of == from.binding);
        let binding = match (from.group, throngs) {
            (0, Some((_, binding))) => *binding,
            _ => from.binding,
        };
        let to = spv::BindingInfo {
            descriptor_set: from.group,
            binding,
            binding_array_size: None,
        };
        (from, to)
    });
    let restrict = naga::proc::BoundsCheckPolicy::Restrict;
    spv::Options {
        lang_version: (1, 5),
        flags: spv::WriterFlags::CLAMP_FRAG_DEPTH,
        fake_missing_bindings: false,
        binding_map: bindings.collect(),
        bounds_check_policies: naga::proc::BoundsCheckPolicies {
            index: restrict,
            buffer: restrict,
            image_load: restrict,
            // Only throng's textures are arrays.
            binding_array: naga::proc::BoundsCheckPolicy::Unchecked,
        },
        use_storage_input_output_16: false,
        ..spv::Options::default()
    }
}

/// Turns the constant of what a surface has into a specialization constant.
///
/// naga has no such constants. It writes one `OpConstant` for each value, so this finds it by its
/// value.
fn specialize(words: &mut Vec<u32>) {
    const MARKER: u32 = 0x7468_726F;
    const CONSTANT: u32 = 43;
    const SPECIALIZED: u32 = 50;
    const DECORATE: u32 = 71;
    const SPECIALIZATION_NUMBER: u32 = 1;
    let (mut at, mut decorations, mut found) = (5, None, None);
    while let Some(first) = words.get(at).copied() {
        let (code, length) = (first & 0xFFFF, first >> 16);
        let operands = words.get(at + 1..at + length as usize);
        if code == DECORATE && decorations.is_none() {
            decorations = Some(at);
        }
        if code == CONSTANT && operands.is_some_and(|it| it.len() == 3 && it[2] == MARKER) {
            found = Some(at);
        }
        at += length.max(1) as usize;
    }
    let (Some(found), Some(decorations)) = (found, decorations) else {
        return;
    };
    let result = words[found + 2];
    words[found] = 4 << 16 | SPECIALIZED;
    words[found + 3] = u32::MAX;
    let number = throng::MaterialDesc::SURFACE_CONSTANT;
    let decoration = [4 << 16 | DECORATE, result, SPECIALIZATION_NUMBER, number];
    words.splice(decorations..decorations, decoration);
}

/// Adds the capabilities for an array of textures without a size, which naga leaves out.
fn declare_texture_arrays(words: &mut Vec<u32>) {
    const HEADER: usize = 5;
    const CAPABILITY: u32 = 2 << 16 | 17;
    const RUNTIME_DESCRIPTOR_ARRAY: u32 = 5302;
    const SAMPLED_IMAGE_ARRAY_NON_UNIFORM_INDEXING: u32 = 5307;
    let added = [
        RUNTIME_DESCRIPTOR_ARRAY,
        SAMPLED_IMAGE_ARRAY_NON_UNIFORM_INDEXING,
    ];
    let added = added.into_iter().flat_map(|it| [CAPABILITY, it]);
    words.splice(HEADER..HEADER, added);
}
