//! Capacities at the device's limits. `maxStorageBufferRange` is 128 MiB on lavapipe.
//!
//! Palettes and histories go beyond it. For the rest, the last element that fits is used, and one
//! more is refused with both numbers. There is one frame in flight and one configuration, because
//! this takes memory.

use crate::reference::handles::Handles;
use crate::reference::picture::{covered, different};
use crate::reference::raws;
use crate::reference::ribbon::{built, palette, ribbon};
use crate::reference::words::Says;
use crate::skin_stage::{copy, floats, readback, to_host};
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, picture, target};
use crate::support::{CONFIGS, SMALL, Setup, view};
use throng::ash::vk;
use throng::character::Character;
use throng::glam::Vec3;
use throng::gpu::{GpuInstance, PaletteRing, PaletteRingDesc, SetLayout};
use throng::import::{RawCharacter, RawPrimitive};
use throng::mesh::MorphTarget;
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Transform;
use throng::skin::Skinner;
use throng::{
    Capacity, CharacterDesc, CharacterId, Crowd, CrowdDesc, Error, InstanceId, Result,
    SkinningStage, Spawn, Stages,
};

/// Runs a test in the first configuration, with the `maxStorageBufferRange` in bytes.
///
/// Any message of the layer fails it.
fn alone(test: impl FnOnce(&mut Setup, u64)) {
    let mut setup = Setup::new(CONFIGS[0]);
    let messages = setup.context.messages.clone();
    let context = &setup.context;
    let properties = unsafe {
        let physical_device = context.physical_device;
        context
            .instance
            .get_physical_device_properties(physical_device)
    };
    test(
        &mut setup,
        properties.limits.max_storage_buffer_range.into(),
    );
    drop(setup);
    messages.check().unwrap();
}

/// The most bytes of a buffer that a test fills. The range is 128 MiB for software, and up to 4 GiB
/// for hardware.
const LARGEST_FILLED: u64 = 1 << 28;

fn crowd(setup: &mut Setup, capacity: Capacity) -> Result<Crowd> {
    let desc = CrowdDesc {
        frames_in_flight: 1,
        capacity,
        // If the GPU poses instances, they have no ranges of the ring of their own.
        stages: Stages::Cpu,
        ..CrowdDesc::default()
    };
    Crowd::new(&setup.device(), &mut setup.context.allocator(), &desc)
}

/// The resource that was refused, the amount that was asked for, and the limit.
fn refused<T>(result: Result<T>) -> (&'static str, u64, u64) {
    match result.map(drop) {
        Err(Error::Capacity { what, asked, cap }) => (what, asked, cap),
        other => panic!("{other:?}"),
    }
}

/// A character with this many joints and vertices. It takes memory and is never drawn.
fn filler(joints: u32, vertices: u32) -> Character {
    let node = |joint: u32| raws::node(format!("joint {joint}"), None, Transform::IDENTITY);
    let character = built(RawCharacter {
        nodes: (0..joints).map(node).collect(),
        skins: vec![raws::skin(0..joints as usize, Vec::new())],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: (0..vertices).map(|v| Vec3::splat(v as f32)).collect(),
            influences_per_vertex: 1,
            joints: (0..vertices).map(|v| v % joints).collect(),
            weights: vec![1.0; vertices as usize],
            indices: (0..vertices).flat_map(|v| [v; 3]).collect(),
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    })
    .character;
    assert_eq!(character.palette().len(), joints as usize);
    assert_eq!(character.vertex_count(), vertices as usize);
    character
}

/// Spawns instances that take all but the last `left` of `total` palette entries.
///
/// For skinning before the drawing, these are words of deformed vertices.
fn fill(
    setup: &mut Setup,
    crowd: &mut Crowd,
    (total, left): (u32, u32),
    skin: SkinningStage,
) -> Vec<InstanceId> {
    let need = total - left;
    // A filler has three words per vertex, rounded up to a multiple of four.
    let (each, sizes) = if skin == SkinningStage::Vertex {
        (30_000, [(30_000, 30_000), (need % 30_000, need % 30_000)])
    } else {
        (900_000, [(1, 300_000), (1, need % 900_000 / 3)])
    };
    let [big, small] = sizes.map(|(joints, vertices)| {
        let allocator = &mut setup.context.allocator();
        let character = filler(joints, vertices);
        crowd
            .add_character(allocator, &character, &CharacterDesc::default())
            .unwrap()
    });
    let spawn = Spawn {
        skinning_stage: skin,
        ..Spawn::default()
    };
    let kinds = std::iter::repeat_n(big, (need / each) as usize).chain([small]);
    kinds
        .map(|kind| crowd.spawn(kind, &spawn).unwrap())
        .collect()
}

/// The picture of one playing ribbon.
///
/// `before` takes the memory in front of it, and `at` checks its place.
fn shoot(
    setup: &mut Setup,
    capacity: Capacity,
    skin: SkinningStage,
    before: impl FnOnce(&mut Setup, &mut Crowd) -> Vec<InstanceId>,
    at: impl FnOnce(&mut Crowd, InstanceId, &Spawn<'_>, CharacterId),
) -> Vec<u8> {
    let mut crowd = crowd(setup, capacity).unwrap();
    let fillers = before(setup, &mut crowd);
    let id = setup.add(&mut crowd, &built(ribbon(16)).character);
    let spawn = Spawn {
        play: "sway".into(),
        skinning_stage: skin,
        ..Spawn::default()
    };
    let instance = crowd.spawn(id, &spawn).unwrap();
    at(&mut crowd, instance, &spawn, id);
    // The other ranges stay where they are.
    for filler in fillers {
        crowd.despawn(filler).unwrap();
    }
    let target = target(&mut setup.context);
    let pass = pass(&mut crowd, &target, false);
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
    let camera = view(Vec3::new(3.0, 8.0, 26.0), Vec3::Y * 7.0, EXTENT);
    let context = &mut setup.context;
    let on = (&target, pass, &NORMAL_Z);
    let shot = picture(
        context,
        &mut crowd,
        &mut frames_in_flight,
        (0, 0.4),
        on,
        &[camera],
    );
    if skin == SkinningStage::Compute {
        check_skinned(setup, &mut crowd, &mut frames_in_flight, instance);
    }
    frames_in_flight.destroy(&setup.context);
    setup.destroy(crowd);
    shot
}

/// Compares the instance's deformed vertices with those of the CPU implementation.
fn check_skinned(
    setup: &mut Setup,
    crowd: &mut Crowd,
    frames_in_flight: &mut FramesInFlight,
    instance: InstanceId,
) {
    let character = built(ribbon(16)).character;
    let skinner = Skinner::new(&character).unwrap();
    let words = skinner.layout().words as usize;
    let to = readback(setup, words);
    let cmd = frames_in_flight.begin(&setup.context, 0);
    let context = &mut setup.context;
    crowd.update(0.4).unwrap();
    let frame = unsafe { crowd.begin_frame(&mut context.allocator(), 0, 0.4) };
    let mut frame = frame.unwrap();
    unsafe { frame.record_prepare(cmd, &[]) }.unwrap();
    let skinned = frame.skinned(instance).unwrap();
    copy(&context.device, cmd, &skinned, &to, 0);
    to_host(&context.device, cmd);
    frames_in_flight.submit(context, 0);
    frames_in_flight.wait(context, 0);
    let got = floats(&to);
    let matrices = palette(&character, Some((0, 0.4)));
    let mut want = vec![0.0; words];
    let out = WriteOnly::from(&mut want);
    skinner.skin(&matrices, &[], out).unwrap();
    for part in &skinner.layout().primitives {
        let range = part.positions as usize..(part.positions + part.vertex_count * 3) as usize;
        for (got, want) in got[range.clone()].iter().zip(&want[range]) {
            // The ribbon is 16 metres high. This is a hundred ulps, for joints in a chain.
            assert!((got - want).abs() < 1e-4, "{got} {want}");
        }
    }
}

const PLENTY: Capacity = Capacity {
    instances: 512,
    ..SMALL
};

/// The palettes of 100,000 characters of 64 entries, and their histories.
const HUNDRED_THOUSAND: Capacity = Capacity {
    instances: 100_000,
    palette_entries: 6_400_000,
    histories: 1,
    ..SMALL
};

const PALETTES: &str = "palette entries (Capacity::palette_entries, raised by Crowd::reserve)";
const MORPHS: &str = "morph weights (Capacity::morph_weights, raised by Crowd::reserve)";
const SKINNED: &str =
    "words of deformed vertices (Capacity::skinned_words, raised by Crowd::reserve)";

#[test]
fn the_last_palette_of_a_hundred_thousand_characters_draws_right() {
    alone(|setup, range| {
        let most = HUNDRED_THOUSAND.palette_entries;
        if range < 1 << 28 {
            assert!(
                u64::from(most) * 48 > 2 * range,
                "this is beyond a descriptor"
            );
        }
        let entries = built(ribbon(16)).character.palette().len() as u32;
        let vertex = SkinningStage::Vertex;
        let usual = shoot(setup, SMALL, vertex, |_, _| Vec::new(), |_, _, _, _| {});
        let last = shoot(
            setup,
            HUNDRED_THOUSAND,
            vertex,
            |setup, crowd| fill(setup, crowd, (most, entries), vertex),
            |crowd, instance, spawn, id| {
                let record = crowd.live(instance).record();
                assert_eq!(record.palette, GpuInstance::in_ring((most - entries) * 48));
                let one_more = refused(crowd.spawn(id, spawn));
                let asked = u64::from(most + entries);
                assert_eq!(one_more, (PALETTES, asked, most.into()));
            },
        );
        assert!(covered(&usual) > 200);
        assert_eq!(different(&usual, &last, 0), 0);
    });
}

#[test]
fn deformed_vertices_at_the_end_of_the_largest_buffer_draw_right() {
    alone(|setup, range| {
        let most = (range.min(LARGEST_FILLED) / 4) as u32;
        let words = Skinner::new(&built(ribbon(16)).character);
        let words = words.unwrap().layout().words;
        let full = Capacity {
            skinned_words: most,
            ..PLENTY
        };
        let (vertex, compute) = (SkinningStage::Vertex, SkinningStage::Compute);
        let usual = shoot(setup, SMALL, vertex, |_, _| Vec::new(), |_, _, _, _| {});
        let last = shoot(
            setup,
            full,
            compute,
            |setup, crowd| fill(setup, crowd, (most, words), compute),
            |crowd, instance, spawn, id| {
                let record = crowd.live(instance).record();
                assert_eq!(record.skinned, most - words);
                let one_more = refused(crowd.spawn(id, spawn));
                let asked = u64::from(most + words);
                assert_eq!(one_more, (SKINNED, asked, most.into()));
            },
        );
        assert!(covered(&usual) > 200);
        assert_eq!(different(&usual, &last, 0), 0);
    });
}

#[test]
fn one_more_than_fits_is_refused_with_numbers() {
    alone(|setup, range| {
        let cpu = (range / 4) as u32;
        let full = Capacity {
            cpu_skinned_words: cpu,
            ..SMALL
        };
        let (what, asked, cap) = refused(crowd(setup, full));
        what.says("bytes …");
        assert!(asked > range && cap <= range, "{asked} {cap}");
        let words = (range / 4).saturating_add(1).min(u32::MAX.into()) as u32;
        if u64::from(words) * 4 > range {
            let full = Capacity {
                skinned_words: words,
                ..SMALL
            };
            let what = "bytes of Capacity::skinned_words (maxStorageBufferRange)";
            let got = refused(crowd(setup, full));
            assert_eq!(got, (what, u64::from(words) * 4, range));
        }
        // The table's range cannot be reached, because one dispatch can scatter less.
        let instances = Crowd::MAX_INSTANCES;
        assert!(
            u64::from(instances) * 128 <= 1 << 27,
            "no more than any range"
        );
        let full = Capacity {
            instances: instances + 1,
            ..SMALL
        };
        let (asked, cap) = (u64::from(instances) + 1, instances.into());
        assert_eq!(
            refused(crowd(setup, full)),
            ("Capacity::instances", asked, cap)
        );
        let full = Capacity { instances, ..SMALL };
        let made = crowd(setup, full).unwrap();
        assert_eq!(made.capacity(), full);
        setup.destroy(made);
    });
}

#[test]
fn a_ring_of_its_own_goes_beyond_the_range_of_a_descriptor() {
    alone(|setup, range| {
        let device = setup.device();
        let allocator = &mut setup.context.allocator();
        let desc = |entries| PaletteRingDesc {
            frames_in_flight: 1,
            entries,
            ..PaletteRingDesc::default()
        };
        let over = PaletteRing::new(&device, allocator, &desc(u32::MAX));
        let (what, asked, cap) = refused(over);
        assert_eq!(what, "bytes of a buffer");
        assert!(asked >= u64::from(u32::MAX) * 48 && cap < asked);
        let most = (range.min(LARGEST_FILLED) / 48) as u32 + 1000;
        let ring = PaletteRing::new(&device, allocator, &desc(most));
        let mut ring = ring.unwrap();
        assert!(ring.address(0).is_multiple_of(16) && ring.address(0) != 0);
        unsafe {
            let mut last = ring.writer(0, most - 1, 1).unwrap();
            last.copy_from(&[Mat3x4::IDENTITY]).unwrap();
            let past = ring.writer::<Mat3x4>(0, most, 1).map(drop);
            let numbers = ("palette entries", u64::from(most) + 1, u64::from(most));
            assert_eq!(refused(past), numbers);
            ring.destroy(&device, allocator);
        }
    });
}

/// Set 0 works on every device: it takes no more than the minimum limits of Vulkan, and leaves
/// samplers to other sets.
#[test]
fn set_0_keeps_to_the_minimum_limits() {
    alone(|setup, _| {
        let device = setup.device();
        let mut layout = SetLayout::new(&device).unwrap();
        let sizes = layout.pool_sizes(&[5]);
        let count = |kind| {
            let of_kind = sizes.iter().filter(|size| size.ty == kind);
            of_kind.map(|size| size.descriptor_count).sum::<u32>()
        };
        use vk::DescriptorType as Type;
        let dynamic = count(Type::STORAGE_BUFFER_DYNAMIC);
        assert_eq!(count(Type::STORAGE_BUFFER) + dynamic, 4);
        assert!(dynamic <= 4 && count(Type::UNIFORM_BUFFER_DYNAMIC) <= 8);
        assert!(count(Type::COMBINED_IMAGE_SAMPLER) <= 16);
        unsafe { layout.destroy(&device) };
    });
}

/// Sets of an engine with as many resources as it is told fit beside set 0, and one more does not.
#[test]
fn as_many_own_resources_as_are_said_fit_beside_set_0() {
    use vk::DescriptorType as Type;
    alone(|setup, _| {
        let (device, raw) = (setup.device(), &setup.context.device);
        let limits = setup.context.properties.limits;
        let mut layout = SetLayout::new(&device).unwrap();
        let most = device.max_own_resources();
        let kinds = [Type::SAMPLED_IMAGE, Type::SAMPLER];
        let bindings: Vec<_> = (0..)
            .zip(kinds)
            .map(|(binding, kind)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(kind)
                    .descriptor_count(most)
                    .stage_flags(vk::ShaderStageFlags::FRAGMENT)
            })
            .collect();
        // The layer compares the sum of both sets with all limits.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let own = raw.create_descriptor_set_layout(&info, None).unwrap();
            let both = [layout.handle(), own];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&both);
            let pipeline = raw.create_pipeline_layout(&info, None).unwrap();
            raw.destroy_pipeline_layout(pipeline, None);
            raw.destroy_descriptor_set_layout(own, None);
            layout.destroy(&device);
        }
        // Set 0 takes at least the six textures of a material, and at most half, up to 64, or the
        // 4,096 textures of a character.
        let least = [
            limits.max_per_stage_descriptor_samplers,
            limits.max_per_stage_descriptor_sampled_images,
            limits.max_descriptor_set_samplers,
            limits.max_descriptor_set_sampled_images,
            limits.max_per_stage_resources,
        ];
        let least = least.into_iter().min().unwrap();
        assert!(most + 5 <= least && most >= (least / 2).min(64).min(least - 15));
    });
}

/// The device's limits are checked before anything is allocated, on the CPU too.
#[test]
fn capacities_past_all_limits_are_refused_by_every_field() {
    type Set = fn(&mut Capacity);
    let fields: [(Set, &str); 8] = [
        (|c| c.instances = u32::MAX, "Capacity::instances"),
        (|c| c.palette_entries = u32::MAX, "bytes of"),
        (|c| c.views = u32::MAX, "Capacity::views"),
        (|c| c.morph_weights = u32::MAX, "bytes of"),
        (|c| c.blended = u32::MAX, "bytes of"),
        (|c| c.skinned_words = u32::MAX, "bytes of"),
        (|c| c.cpu_skinned_words = u32::MAX, "bytes of"),
        (|c| c.histories = u32::MAX, "bytes of"),
    ];
    alone(|setup, _| {
        let mut fine = crowd(setup, SMALL).unwrap();
        for (set, words) in fields {
            let mut capacity = SMALL;
            set(&mut capacity);
            let made = refused(crowd(setup, capacity));
            let grown = refused(fine.reserve(&mut setup.context.allocator(), &capacity));
            assert_eq!(made, grown);
            let (what, asked, cap) = made;
            what.says(format!("{words}…"));
            assert!(asked > cap, "{what}: {asked} of {cap}");
            assert_eq!(fine.capacity(), SMALL);
        }
        setup.destroy(fine);
    });
}

#[test]
fn morph_weights_are_counted_as_the_capacity_has_them() {
    alone(|setup, _| {
        let capacity = Capacity {
            morph_weights: 7,
            ..SMALL
        };
        let mut crowd = crowd(setup, capacity).unwrap();
        let character = built(RawCharacter {
            nodes: vec![raws::node("root", None, Transform::IDENTITY)],
            primitives: vec![RawPrimitive {
                positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
                indices: vec![0, 1, 2],
                targets: vec![MorphTarget::default(); 3],
                morph: Some(0),
                ..RawPrimitive::default()
            }],
            morphs: vec![raws::morph(0, "", vec![0.0; 3])],
            ..RawCharacter::default()
        })
        .character;
        let id = crowd.add_character(
            &mut setup.context.allocator(),
            &character,
            &CharacterDesc::default(),
        );
        let id = id.unwrap();
        let spawn = Spawn::default();
        crowd.spawn(id, &spawn).unwrap();
        let second = crowd.spawn(id, &spawn).unwrap();
        assert_eq!(refused(crowd.spawn(id, &spawn)), (MORPHS, 9, 7));
        crowd.despawn(second).unwrap();
        crowd.spawn(id, &spawn).unwrap();
        assert_eq!(refused(crowd.spawn(id, &spawn)), (MORPHS, 9, 7));
        setup.destroy(crowd);
    });
}
