//! Structs that shaders read have the offsets of the committed SPIR-V.

use crate::push_layout::{
    AnimatePush, AttachPush, CullPush, DrawPush, PyramidPush, RaySkinPush, ScatterPush, ShiftPush,
    SkinPush,
};
use crate::shader_layout::{
    GpuChange, GpuEye, GpuInstance, GpuMaterial, GpuPrimitive, GpuTexture, GpuView,
};
use crate::support::probe::spirv;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::{offset_of, size_of};
use throng::glam::Affine3A;

/// The layouts of a module's structs, from its decorations.
#[derive(Default)]
struct Module {
    names: BTreeMap<u32, String>,
    members: BTreeMap<(u32, u32), String>,
    offsets: BTreeMap<(u32, u32), u32>,
    strides: BTreeMap<u32, u32>,
    /// Element type of each array.
    arrays: BTreeMap<u32, u32>,
}

/// Opcodes and decorations of the SPIR-V specification, sections 3.32 and 3.20.
impl Module {
    fn read(words: &[u32]) -> Self {
        let mut module = Self::default();
        let mut at = 5;
        while at < words.len() {
            let (count, code) = ((words[at] >> 16) as usize, words[at] & 0xFFFF);
            let args = &words[at + 1..at + count];
            match (code, args) {
                (5, [id, name @ ..]) => drop(module.names.insert(*id, text(name))),
                (6, [id, member, name @ ..]) => {
                    module.members.insert((*id, *member), text(name));
                }
                (71, [id, 6, stride]) => drop(module.strides.insert(*id, *stride)),
                (72, [id, member, 35, offset]) => {
                    module.offsets.insert((*id, *member), *offset);
                }
                (28 | 29, [id, element, ..]) => drop(module.arrays.insert(*id, *element)),
                _ => {}
            }
            at += count;
        }
        module
    }

    /// Every struct of this name that has offsets: its members with their offsets.
    fn structs(&self, name: &str) -> Vec<(u32, BTreeMap<&str, u32>)> {
        let ids = self.names.iter().filter(|(_, have)| *have == name);
        let with_offsets = ids.map(|(id, _)| {
            let members = self.offsets.range((*id, 0)..(*id + 1, 0));
            let members = members.map(|(key, offset)| (self.members[key].as_str(), *offset));
            (*id, members.collect::<BTreeMap<_, _>>())
        });
        with_offsets
            .filter(|(_, members)| !members.is_empty())
            .collect()
    }

    /// The strides of the arrays of a type.
    fn strides_of(&self, element: u32) -> BTreeSet<u32> {
        let arrays = self.arrays.iter().filter(|(_, of)| **of == element);
        arrays
            .filter_map(|(id, _)| self.strides.get(id).copied())
            .collect()
    }
}

fn text(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    String::from_utf8(bytes.take_while(|byte| *byte != 0).collect()).unwrap()
}

macro_rules! members {
    ($of:ident: $($member:ident),+) => {
        BTreeMap::from([$((stringify!($member), offset_of!($of, $member) as u32)),+])
    };
}

#[test]
fn structs_lie_as_the_shaders_have_them() {
    let wanted = [
        (
            "ThrongInstance",
            size_of::<GpuInstance>(),
            members!(GpuInstance: world_from_model, normal_x, side, normal_y, user, normal_z,
                stamp, colors, palette, morphs, skinned),
        ),
        (
            "ThrongPrimitive",
            size_of::<GpuPrimitive>(),
            members!(GpuPrimitive: vertex_count, palette_offset, influence_count, variant,
                positions, influences, more_influences, uvs, colors, material, tangents, uvs1, targets,
                target_count, first_weight, skinned_positions, skinned_normals, skinned_tangents,
                variants, second_tint_weight, base_color, tint),
        ),
        (
            "ThrongTexture",
            size_of::<GpuTexture>(),
            members!(GpuTexture: uv_matrix, uv_offset, uv_set, slot),
        ),
        (
            "ThrongMaterial",
            size_of::<GpuMaterial>(),
            members!(GpuMaterial: base_color, emissive, alpha_cutoff, metallic, roughness,
                normal_scale, occlusion_strength, variant, second_tint_weight, reserved, tint,
                textures),
        ),
        (
            "ThrongView",
            size_of::<GpuView>(),
            members!(GpuView: clip_from_world, steady_clip_from_world, previous_clip_from_world,
                history_origin, eye, sun_direction, shadow_texel, sun_color, shadow_bias, sky_color,
                jitter_x, ground_color, jitter_y, history, ring_palettes, history_instances,
                shadow_layers, shadow_from_world, environment_from_world, environment),
        ),
        (
            "ThrongEye",
            size_of::<GpuEye>(),
            members!(GpuEye: clip_from_world, eye, jitter_x, jitter_y, steady_clip_from_world,
                previous_clip_from_world),
        ),
    ];
    let expected = [
        (
            "crowd.vert",
            vec!["ThrongInstance", "ThrongPrimitive", "ThrongView"],
        ),
        // A fragment shader uses no instance, and the compiler may remove its declaration.
        (
            "crowd.frag",
            vec![
                "ThrongPrimitive",
                "ThrongView",
                "ThrongMaterial",
                "ThrongTexture",
            ],
        ),
        ("motion.vert", vec!["ThrongInstance", "ThrongView"]),
        ("crowd_multiview.vert", vec!["ThrongView", "ThrongEye"]),
        ("crowd_multiview.frag", vec!["ThrongView", "ThrongEye"]),
        ("motion_multiview.vert", vec!["ThrongView", "ThrongEye"]),
        ("skin.comp", vec!["ThrongInstance", "ThrongPrimitive"]),
        ("ray_skin.comp", vec!["ThrongPrimitive"]),
        ("test/trace.comp", vec!["ThrongInstance", "ThrongPrimitive"]),
        (
            "test/skin_probe.comp",
            vec!["ThrongInstance", "ThrongPrimitive"],
        ),
        ("test/crowd_probe.comp", vec!["ThrongInstance"]),
    ];
    for (shader, needed) in expected {
        let module = Module::read(&spirv(shader));
        for (name, size, members) in &wanted {
            let found = module.structs(name);
            assert!(
                !found.is_empty() || !needed.contains(name),
                "{shader} has no offsets for {name}"
            );
            for (id, mut have) in found {
                // Eyes follow their view.
                if let Some(eyes) = have.remove("eyes") {
                    assert_eq!(eyes as usize, *size, "{shader}: {name}");
                }
                assert_eq!(have, *members, "{shader}: {name}");
                for stride in module.strides_of(id) {
                    assert_eq!(stride as usize, *size, "{shader}: array of {name}");
                }
                if *name != "ThrongView" && needed.contains(name) {
                    assert!(!module.strides_of(id).is_empty(), "{shader}: {name}");
                }
            }
        }
    }
}

#[test]
fn push_constants_lie_as_the_shaders_have_them() {
    let stages = members!(CullPush:
            view_count, character_count, chunk_count, draw_count, actors_at, levels_at, listed_at,
            listed_words, chunks_at, members_at, characters_at, draws_at, counters_at, triangles_at,
            choices_at, counts_at, starts_at, visible_at, args_at, looks_at, shown_at, frame,
            last_frame, poses_at, jobs_at, chunks_end, rows_first, rows_end, plays_low, plays_high,
            now_low, now_high);
    let draw = members!(DrawPush: primitive, flip, level, list);
    let mut wanted = vec![
        (
            "scatter.comp",
            "Push",
            members!(ScatterPush: change_count, moved_count, actors_at, levels_at, shown_at,
                spheres_at),
        ),
        (
            "shift.comp",
            "Push",
            members!(ShiftPush: offset, rest, count, actors_at, spheres_at),
        ),
        (
            "attach.comp",
            "Push",
            members!(AttachPush: plays, now, actors_at, attachments_at, count, level, spheres_at,
                reserved),
        ),
        (
            "animate.comp",
            "Push",
            members!(AnimatePush:
            tables, plays, jobs, palettes, morphs, own_weights, counted, now, most, still_clip),
        ),
        (
            "skin.comp",
            "Skin",
            members!(SkinPush: first_listed, chunks, ring_palettes),
        ),
        (
            "ray_skin.comp",
            "RaySkin",
            members!(RaySkinPush: chunks, jobs),
        ),
    ];
    for stage in [
        "budget.comp",
        "budget_behind.comp",
        "cull.comp",
        "cull_behind.comp",
        "reveal.comp",
        "compact_holds.comp",
        "scan.comp",
        "allocate_rows.comp",
        "compact.comp",
        "args.comp",
        "ray_starts.comp",
        "ray_slots.comp",
        "ray_candidates.comp",
        "ray_instances.comp",
    ] {
        wanted.push((stage, "Stages", stages.clone()));
    }
    for stage in ["pyramid.comp", "pyramid_samples.comp", "pyramid_top.comp"] {
        let push = members!(PyramidPush:
            first, end, size, start, levels, shift, toward, samples);
        wanted.push((stage, "Push", push));
    }
    for shader in [
        "crowd.vert",
        "depth.vert",
        "motion.vert",
        "motion_mask.vert",
    ] {
        wanted.push((shader, "Draw", draw.clone()));
    }
    for (shader, block, members) in wanted {
        let module = Module::read(&spirv(shader));
        let structs = module.structs(block).into_iter();
        let found: Vec<_> = structs.map(|(_, members)| members).collect();
        assert_eq!(found, [members], "{shader}");
    }
    // Fragment shaders read two of the words of a draw.
    let module = Module::read(&spirv("crowd.frag"));
    let found = module.structs("ThrongDraw").remove(0).1;
    let (primitive, level) = (draw["primitive"], draw["level"]);
    let wanted = BTreeMap::from([("throng_primitive", primitive), ("throng_level", level)]);
    assert_eq!(found, wanted);
}

#[test]
fn scatter_makes_whole_records() {
    // It declares records as rows of 16 bytes, and a table index as one word.
    let module = Module::read(&spirv("scatter.comp"));
    assert_eq!(size_of::<GpuChange>(), 6 * 16);
    assert_eq!(size_of::<GpuInstance>(), 8 * 16);
    let strides: BTreeSet<u32> = module.strides.values().copied().collect();
    assert_eq!(strides, BTreeSet::from([4, 16]));
}

/// The reader is not blind: it detects a struct whose member moved.
#[test]
fn a_moved_member_is_seen() {
    let mut words = spirv("crowd.vert");
    let module = Module::read(&words);
    let (id, members) = module.structs("ThrongInstance").remove(0);
    let offset = members["colors"];
    let at = words
        .windows(5)
        .position(|w| w[0] & 0xFFFF == 72 && w[1] == id && w[3] == 35 && w[4] == offset)
        .unwrap();
    words[at + 4] += 4;
    let moved = Module::read(&words);
    assert_ne!(moved.structs("ThrongInstance").remove(0).1, members);
}

/// All finite numbers of half precision that are not negative come back. Between two neighbours, a
/// number goes to the nearer one, and from the middle to the one whose last bit is 0.
#[test]
fn colours_are_rounded_to_half_precision() {
    let record = |red: f32, third: f32| GpuInstance {
        colors: GpuInstance::pack_colors([red, 0.25, 3.0, 0.75], [0.0, 1.0, third], 0xABCD),
        ..GpuInstance::new(&Affine3A::IDENTITY)
    };
    let packed = |value: f32| {
        let of = record(value, value);
        let [red, .., third] = of.colors;
        assert_eq!((red >> 16, third >> 16), (0x3400, 0xABCD));
        assert_eq!(red & 0xFFFF, third & 0xFFFF);
        (of.tint()[0], red & 0xFFFF)
    };
    for bits in 0..0x7C00_u32 {
        // By definition: 5 bits of the exponent, 10 of the fraction, steps of 2^-24 below 2^-14.
        let (exponent, fraction) = (bits >> 10, f64::from(bits & 0x3FF));
        let value = match exponent {
            0 => fraction * 2_f64.powi(-24),
            _ => (1024.0 + fraction) * 2_f64.powi(exponent as i32 - 25),
        };
        assert_eq!(packed(value as f32), (value as f32, bits));
        let next = match exponent {
            0 => value + 2_f64.powi(-24),
            _ => value + 2_f64.powi(exponent as i32 - 25),
        };
        let middle = ((value + next) / 2.0) as f32;
        let last = bits == 0x7BFF;
        assert_eq!(packed(middle.next_down()).1, bits);
        assert_eq!(packed(middle.next_up()).1, bits + u32::from(!last));
        assert_eq!(packed(middle).1, if last { bits } else { bits + bits % 2 });
    }
    for (value, bits) in [
        (-0.0, 0),
        (-1.0, 0),
        (f32::NAN, 0),
        (f32::NEG_INFINITY, 0),
        (f32::MIN_POSITIVE, 0),
        (70_000.0, 0x7BFF),
        (f32::MAX, 0x7BFF),
        (f32::INFINITY, 0x7BFF),
    ] {
        assert_eq!(packed(value).1, bits, "{value}");
    }
    let of = record(2.0, 0.5);
    assert_eq!(of.tint(), [2.0, 0.25, 3.0, 0.75]);
    assert_eq!((of.second_tint(), of.variant()), ([0.0, 1.0, 0.5], 0xABCD));
}
