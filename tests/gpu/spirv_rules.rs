//! Rules that the committed SPIR-V keeps, so that it runs well on any driver.

use crate::support::probe::spirv;
use std::collections::{BTreeMap, BTreeSet};
use throng::MaterialDesc;

/// The shaders of the library, with a limit on their size in bytes: about 5 % above the present
/// one.
///
/// Some drivers are slow to compile large modules, or fail.
const MODULES: [(&str, usize); 48] = [
    ("crowd.vert", 65_600),
    ("depth.vert", 42_300),
    ("motion.vert", 46_900),
    ("motion_mask.vert", 56_000),
    ("crowd_multiview.vert", 66_900),
    ("depth_multiview.vert", 44_200),
    ("motion_multiview.vert", 48_800),
    ("motion_mask_multiview.vert", 56_100),
    ("skin.comp", 52_600),
    ("scatter.comp", 16_300),
    ("shift.comp", 4_300),
    ("budget.comp", 21_300),
    ("cull.comp", 32_000),
    ("pyramid.comp", 9_800),
    ("pyramid_samples.comp", 10_200),
    ("pyramid_top.comp", 6_900),
    ("budget_behind.comp", 58_000),
    ("cull_behind.comp", 66_700),
    ("reveal.comp", 54_400),
    ("compact_holds.comp", 45_500),
    ("scan.comp", 10_800),
    ("allocate_rows.comp", 6_900),
    ("compact.comp", 38_400),
    ("args.comp", 6_400),
    ("animate.comp", 92_100),
    ("attach.comp", 75_500),
    ("crowd.frag", 36_700),
    ("crowd_bindless.frag", 38_200),
    ("crowd_shadowed.frag", 43_000),
    ("crowd_shadowed_bindless.frag", 44_500),
    ("crowd_multiview.frag", 37_400),
    ("crowd_bindless_multiview.frag", 39_000),
    ("crowd_shadowed_multiview.frag", 43_700),
    ("crowd_shadowed_bindless_multiview.frag", 45_300),
    ("crowd_environment.frag", 37_300),
    ("crowd_environment_bindless.frag", 38_900),
    ("crowd_environment_multiview.frag", 38_100),
    ("crowd_environment_bindless_multiview.frag", 39_700),
    ("crowd_shadowed_environment.frag", 43_700),
    ("crowd_shadowed_environment_bindless.frag", 45_200),
    ("crowd_shadowed_environment_multiview.frag", 44_400),
    ("crowd_shadowed_environment_bindless_multiview.frag", 46_000),
    ("mask.frag", 13_100),
    ("mask_bindless.frag", 13_700),
    ("motion.frag", 2_100),
    ("motion_mask.frag", 13_100),
    ("motion_mask_bindless.frag", 13_400),
    ("example/toon.frag", 29_900),
];

// Opcodes, decorations and capabilities of the SPIR-V specification.
const NAME: u32 = 5;
const EXT_INST: u32 = 12;
const CAPABILITY: u32 = 17;
const CONSTANT: u32 = 43;
const FUNCTION: u32 = 54;
const FUNCTION_CALL: u32 = 57;
const ACCESS_CHAINS: [u32; 2] = [65, 66];
const DECORATE: u32 = 71;
const LABEL: u32 = 248;
const BRANCH: u32 = 249;
const BRANCH_CONDITIONAL: u32 = 250;
const SWITCH: u32 = 251;
/// `OpKill`, `OpTerminateInvocation`, `OpDemoteToHelperInvocation`.
const DISCARDS: [u32; 3] = [252, 4416, 5380];
const SPEC_ID: u32 = 1;
const NO_CONTRACTION: u32 = 42;
const BINDING: u32 = 33;
const SET: u32 = 34;
/// `OpFAdd`, `OpFSub`, `OpFMul`, `OpFDiv`, `OpVectorTimesScalar`.
const ARITHMETIC: [u32; 5] = [129, 131, 133, 136, 142];
/// Operations that a driver may compute in more than one way: `OpFRem` to `OpFMod`, and those from
/// `OpMatrixTimesScalar` to `OpDot`.
const LOOSE: [u32; 8] = [140, 141, 143, 144, 145, 146, 147, 148];
/// Functions of `GLSL.std.450` on the way to a position: `Sqrt` and `Fma`.
///
/// A precise `fma` gives the same result in all shaders (GLSL 4.60, section 8.3).
const SQRT: u32 = 31;
const FMA: u32 = 50;

/// A function: its name, and its blocks with their instructions.
#[derive(Default)]
struct Function {
    name: String,
    first: u32,
    blocks: BTreeMap<u32, Vec<(u32, Vec<u32>)>>,
}

#[derive(Default)]
struct Module {
    names: BTreeMap<u32, String>,
    capabilities: BTreeSet<u32>,
    constants: BTreeSet<u32>,
    /// Pairs of decoration and target.
    decorations: BTreeSet<(u32, u32)>,
    /// Numbers of bindings and sets, by variable.
    bindings: BTreeMap<u32, u32>,
    sets: BTreeMap<u32, u32>,
    /// Specialization constants by their number.
    specialized: BTreeMap<u32, u32>,
    functions: BTreeMap<u32, Function>,
}

fn text(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    String::from_utf8(bytes.take_while(|byte| *byte != 0).collect()).unwrap()
}

impl Module {
    fn of(shader: &str) -> Self {
        Self::read(&spirv(shader))
    }

    fn read(words: &[u32]) -> Self {
        let mut module = Self::default();
        let (mut at, mut function, mut block) = (5, 0, 0);
        while at < words.len() {
            let (count, code) = ((words[at] >> 16) as usize, words[at] & 0xFFFF);
            let args = &words[at + 1..at + count];
            match (code, args) {
                (NAME, [id, name @ ..]) => drop(module.names.insert(*id, text(name))),
                (CAPABILITY, [capability]) => drop(module.capabilities.insert(*capability)),
                (CONSTANT, [_, id, ..]) => drop(module.constants.insert(*id)),
                (DECORATE, [id, SPEC_ID, number]) => {
                    module.specialized.insert(*number, *id);
                }
                (DECORATE, [id, BINDING, number]) => drop(module.bindings.insert(*id, *number)),
                (DECORATE, [id, SET, number]) => drop(module.sets.insert(*id, *number)),
                (DECORATE, [id, decoration, ..]) => {
                    module.decorations.insert((*decoration, *id));
                }
                (FUNCTION, [_, id, ..]) => {
                    function = *id;
                    let name = module.names.get(id).cloned().unwrap_or_default();
                    let name = name.split('(').next().unwrap_or_default().to_owned();
                    let made = module.functions.entry(function).or_default();
                    made.name = name;
                }
                (LABEL, [id]) => {
                    block = *id;
                    let function = module.functions.get_mut(&function).unwrap();
                    if function.blocks.is_empty() {
                        function.first = block;
                    }
                    function.blocks.insert(block, Vec::new());
                }
                _ => {
                    let function = module.functions.get_mut(&function);
                    if let Some(block) = function.and_then(|f| f.blocks.get_mut(&block)) {
                        block.push((code, args.to_vec()));
                    }
                }
            }
            at += count;
        }
        module
    }

    fn main(&self) -> u32 {
        let main = self.functions.iter().find(|(_, f)| f.name == "main");
        *main.unwrap().0
    }

    /// The instructions that `main` can reach, by function. `taken` has the values of branch
    /// conditions that are known.
    fn reachable(&self, taken: &BTreeMap<u32, bool>) -> BTreeMap<u32, Vec<&(u32, Vec<u32>)>> {
        let mut reached = BTreeMap::new();
        let mut functions = vec![self.main()];
        while let Some(id) = functions.pop() {
            if reached.contains_key(&id) {
                continue;
            }
            let function = &self.functions[&id];
            let (mut blocks, mut seen) = (vec![function.first], BTreeSet::new());
            let mut instructions = Vec::new();
            while let Some(block) = blocks.pop() {
                if !seen.insert(block) {
                    continue;
                }
                for instruction in &function.blocks[&block] {
                    instructions.push(instruction);
                    match (instruction.0, &instruction.1[..]) {
                        (FUNCTION_CALL, [_, _, callee, ..]) => functions.push(*callee),
                        (BRANCH, [to]) => blocks.push(*to),
                        (BRANCH_CONDITIONAL, [condition, yes, no, ..]) => {
                            match taken.get(condition) {
                                Some(true) => blocks.push(*yes),
                                Some(false) => blocks.push(*no),
                                None => blocks.extend([*yes, *no]),
                            }
                        }
                        (SWITCH, _) => panic!("switches are not read"),
                        _ => {}
                    }
                }
            }
            reached.insert(id, instructions);
        }
        reached
    }

    fn has_discard(&self, masked: bool) -> bool {
        let mut named = self.names.iter();
        let constant = named.find(|(_, name)| *name == "throng_masked");
        let (constant, _) = constant.expect("it has the constant");
        assert!(
            self.specialized
                .contains_key(&MaterialDesc::SURFACE_CONSTANT)
        );
        let reached = self.reachable(&BTreeMap::from([(*constant, masked)]));
        let mut all = reached.values().flatten();
        all.any(|(code, _)| DISCARDS.contains(code))
    }

    /// Lists the instructions that a driver may round in its own way.
    ///
    /// It looks at functions of these names, or at all.
    fn loose(&self, among: Option<&BTreeSet<String>>) -> Vec<String> {
        let mut found = Vec::new();
        for (id, instructions) in self.reachable(&BTreeMap::new()) {
            let name = &self.functions[&id].name;
            if FACES.contains(&name.as_str()) || among.is_some_and(|names| !names.contains(name)) {
                continue;
            }
            for (code, args) in instructions {
                let exact = self
                    .decorations
                    .contains(&(NO_CONTRACTION, args.get(1).copied().unwrap_or(0)));
                let loose = match *code {
                    EXT_INST => match args[3] {
                        SQRT => false,
                        FMA => !exact,
                        _ => true,
                    },
                    code => LOOSE.contains(&code) || ARITHMETIC.contains(&code) && !exact,
                };
                if loose {
                    found.push(format!("{name}: opcode {code} {args:?}"));
                }
            }
        }
        found
    }
}

/// Functions that decide whether a draw is for an instance. They move no vertex.
const FACES: [&str; 2] = ["throng_scale_to_one", "throng_faces"];

#[test]
fn positions_are_precise_in_all_passes() {
    let depth = Module::of("depth.vert");
    assert_eq!(depth.loose(None), [""; 0]);
    // Functions of the depth pass lead to a position. They are as precise in all other shaders.
    let reached = depth.reachable(&BTreeMap::new());
    let names: BTreeSet<String> = reached
        .keys()
        .map(|id| depth.functions[id].name.clone())
        .filter(|name| name != "main")
        .collect();
    for needed in [
        "throng_blend_matrix",
        "throng_blend_dual_quat",
        "throng_transform_clip",
    ] {
        assert!(names.contains(needed), "{names:?}");
    }
    for shader in [
        "crowd.vert",
        "motion.vert",
        "motion_mask.vert",
        "skin.comp",
        "example/own.vert",
    ] {
        let module = Module::of(shader);
        assert_eq!(module.loose(Some(&names)), [""; 0], "{shader}");
        let called = module
            .functions
            .values()
            .filter(|f| names.contains(&f.name));
        assert!(called.count() > 10, "{shader}");
    }
}

/// The check above is not blind.
#[test]
fn a_dot_product_and_a_lost_decoration_are_seen() {
    let module = Module::of("crowd.vert");
    let found = module.loose(None);
    assert!(
        found
            .iter()
            .any(|one| one.starts_with("throng_transform_normal: opcode 148"))
    );
    let mut module = Module::of("depth.vert");
    let (_, lost) = *module
        .decorations
        .iter()
        .find(|(what, _)| *what == NO_CONTRACTION)
        .unwrap();
    module.decorations.remove(&(NO_CONTRACTION, lost));
    assert_eq!(module.loose(None).len(), 1);
}

#[test]
fn only_masked_materials_discard() {
    for (shader, _) in MODULES {
        if !shader.ends_with(".frag") || shader == "motion.frag" {
            continue;
        }
        let module = Module::of(shader);
        assert!(module.has_discard(true), "{shader}: masks have no holes");
        // Other materials never use the shaders for masks.
        if !shader.contains("mask") {
            assert!(
                !module.has_discard(false),
                "{shader}: discards without a mask"
            );
        }
    }
}

#[test]
fn textures_have_constant_indices_without_descriptor_indexing() {
    let mut chains = 0;
    for (shader, _) in MODULES {
        let module = Module::of(shader);
        let textures = module
            .names
            .iter()
            .find(|(_, name)| *name == "throng_textures");
        let Some((textures, _)) = textures.filter(|_| !shader.contains("bindless")) else {
            continue;
        };
        let all = module
            .functions
            .values()
            .flat_map(|f| f.blocks.values().flatten());
        for (code, args) in all {
            if ACCESS_CHAINS.contains(code) && args[2] == *textures {
                assert!(
                    module.constants.contains(&args[3]),
                    "{shader}: an index is no constant"
                );
                chains += 1;
            }
        }
    }
    // Six in each of the eight shadings and the toon shader, two in the mask and one in the mask of
    // motion vectors, for coordinates with a transform and without.
    assert_eq!(chains, 2 * 57);
}

#[test]
fn modules_need_no_feature_but_the_required_ones() {
    /// `Matrix`, `Shader`, and `PhysicalStorageBufferAddresses`, for `bufferDeviceAddress`.
    const REQUIRED: [u32; 3] = [0, 1, 5347];
    /// `ShaderNonUniform`, `RuntimeDescriptorArray` and `SampledImageArrayNonUniformIndexing`, for
    /// descriptor indexing.
    const INDEXING: [u32; 3] = [5301, 5302, 5307];
    const MULTIVIEW: u32 = 4439;
    for (shader, _) in MODULES {
        let mut allowed = BTreeSet::from(REQUIRED);
        if shader.contains("bindless") {
            allowed.extend(INDEXING);
        }
        if shader.contains("multiview") {
            allowed.insert(MULTIVIEW);
        }
        let needed = Module::of(shader).capabilities;
        assert!(needed.is_subset(&allowed), "{shader}: {needed:?}");
    }
}

/// Of set 0, fragment shaders declare what its layout shows them: view, mesh buffer, textures.
#[test]
fn fragment_shaders_declare_no_instances() {
    for (shader, _) in MODULES {
        let module = Module::of(shader);
        let of_set_0 = module
            .bindings
            .iter()
            .filter(|(id, _)| module.sets[id] == 0);
        let bindings: BTreeSet<u32> = of_set_0.map(|(_, binding)| *binding).collect();
        if shader.ends_with(".frag") {
            let shown = BTreeSet::from([0, 1, 5]);
            assert!(bindings.is_subset(&shown), "{shader}: {bindings:?}");
        } else if shader.ends_with(".vert") {
            assert!(bindings.contains(&2) && bindings.contains(&3), "{shader}");
        }
    }
}

#[test]
fn modules_stay_small() {
    for (shader, limit) in MODULES {
        let bytes = spirv(shader).len() * 4;
        assert!(bytes <= limit, "{shader} has {bytes} bytes");
    }
}
