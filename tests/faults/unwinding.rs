//! Every call that creates an object fails once.
//!
//! The error names the call, incomplete objects are destroyed, and the crowd draws the same picture
//! as before.

use crate::counting::{Counted, KINDS, PIPELINES, objects};
use crate::drawing::{Drawing, ROOM, populate};
use crate::driver::failing_with;
use crate::ending::{MEMORY_ERRORS, OF_MEMORY};
use crate::reference::handles::Handles;
use crate::reference::picture::different;
use crate::reference::ribbon::{built, ribbon};
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, record, target};
use crate::support::{CONFIGS, SMALL, Setup, described, each, stages, view};
use std::collections::BTreeSet;
use throng::ash::vk;
use throng::glam::Vec3;
use throng::gpu::{PaletteRing, PaletteRingDesc, SetLayout, SkinPipeline, SkinnedMesh, Upload};
use throng::mesh::{Image, TextureRef};
use throng::palette::SkinningMethod;
use throng::{Capacity, Crowd, Error, PassDesc, Result, Stages};

/// The error of a call. Each call has both in some configuration.
fn answer(setup: &Setup, number: i64) -> vk::Result {
    let mut configs = CONFIGS.iter();
    let config = configs.position(|config| config.name == setup.config.name);
    MEMORY_ERRORS[(number as usize + config.unwrap()) % 2]
}

fn check_error(error: &Error, failed: &str, answer: vk::Result) {
    match error {
        Error::Vulkan { call, result } => assert_eq!((*call, *result), (failed, answer)),
        Error::Memory { name, bytes, .. } => {
            assert!(OF_MEMORY.contains(&failed), "{error} for {failed}");
            assert!(name.starts_with("throng ") && *bytes > 0, "{error}");
            let source = std::error::Error::source(error).unwrap();
            assert!(
                source.is::<throng::gpu_allocator::AllocationError>(),
                "{source:?}"
            );
        }
        other => panic!("{other} for {failed}"),
    }
}

/// Makes each call of `work` fail in turn.
///
/// `settle` checks the state after every failure, and after the success at the end. Returns the
/// calls that failed.
fn sweep<T>(
    setup: &Setup,
    counted: &mut Counted,
    mut work: impl FnMut(&mut Counted) -> Result<T>,
    mut settle: impl FnMut(&mut Counted, Option<T>),
) -> BTreeSet<&'static str> {
    let mut seen = BTreeSet::new();
    for number in 0.. {
        assert!(number < 500, "there is no end to it");
        if counted.allocations() == 0 {
            // The allocator has no blocks from earlier attempts.
            counted.renew(setup);
        }
        let before = (objects(), counted.allocations());
        let answer = answer(setup, number);
        let (result, failed) = failing_with(number, answer, || work(counted));
        let Some(failed) = failed else {
            settle(counted, Some(result.unwrap()));
            return seen;
        };
        seen.insert(failed);
        match result {
            Err(error) => {
                check_error(&error, failed, answer);
                assert_eq!(
                    (objects(), counted.allocations()),
                    before,
                    "left over after {failed}"
                );
                settle(counted, None);
            }
            // A ring without memory of both kinds uses host memory, and the allocator has a second
            // choice for memory that the CPU writes.
            Ok(value) => {
                assert!(OF_MEMORY.contains(&failed), "{failed} is ignored");
                settle(counted, Some(value));
            }
        }
    }
    unreachable!()
}

#[test]
fn a_crowd_that_is_not_made_leaves_nothing() {
    each(|setup| {
        let mut counted = Counted::new(setup);
        let desc = setup.crowd_desc(2, SMALL);
        let seen = sweep(
            setup,
            &mut counted,
            |counted| Crowd::new(&counted.device(setup), &mut counted.allocator, &desc),
            |counted, crowd| {
                if let Some(crowd) = crowd {
                    unsafe { crowd.destroy(&mut counted.allocator) };
                }
                assert_eq!(objects(), [0; KINDS]);
            },
        );
        let mut wanted = BTreeSet::from([
            "vkAllocateDescriptorSets",
            "vkAllocateMemory",
            "vkBindBufferMemory",
            "vkCreateBuffer",
            "vkCreateComputePipelines",
            "vkCreateDescriptorPool",
            "vkCreateDescriptorSetLayout",
            "vkCreateEvent",
            "vkCreatePipelineLayout",
            "vkCreateShaderModule",
            "vkMapMemory",
        ]);
        if setup.config.profile {
            wanted.insert("vkCreateQueryPool");
        }
        assert_eq!(seen, wanted);
        counted.finish();
    });
}

#[test]
fn parts_that_are_not_made_leave_nothing() {
    each(|setup| {
        let mut counted = Counted::new(setup);
        let device = counted.device(setup);
        sweep(
            setup,
            &mut counted,
            |_| SetLayout::new(&device),
            |_, layout| {
                if let Some(mut layout) = layout {
                    unsafe { layout.destroy(&device) };
                }
            },
        );
        let layout = SetLayout::new(&device);
        let mut layout = layout.unwrap();
        let seen = sweep(
            setup,
            &mut counted,
            |_| SkinPipeline::new(&device, &layout),
            |_, stage| {
                if let Some(mut stage) = stage {
                    unsafe { stage.destroy(&device) };
                }
            },
        );
        let calls = [
            "vkCreateComputePipelines",
            "vkCreatePipelineLayout",
            "vkCreateShaderModule",
        ];
        assert_eq!(seen, BTreeSet::from(calls));
        unsafe { layout.destroy(&device) };
        let ring = PaletteRingDesc {
            frames_in_flight: 3,
            entries: 200,
            staged: setup.config.staged,
            min_offset_alignment: setup.config.min_offset_alignment,
        };
        sweep(
            setup,
            &mut counted,
            |counted| PaletteRing::new(&device, &mut counted.allocator, &ring),
            |counted, ring| {
                if let Some(mut ring) = ring {
                    unsafe { ring.destroy(&device, &mut counted.allocator) };
                }
            },
        );
        let character = built(ribbon(4)).character;
        let seen = sweep(
            setup,
            &mut counted,
            |counted| {
                let mut upload = Upload::default();
                let allocator = &mut counted.allocator;
                let method = SkinningMethod::Linear;
                let mesh = SkinnedMesh::new(&device, allocator, &mut upload, &character, method);
                if mesh.is_err() {
                    assert!(upload.bytes() == 0, "copies into nothing");
                }
                unsafe { upload.free(&device, allocator) };
                mesh
            },
            |counted, mesh| {
                if let Some(mut mesh) = mesh {
                    unsafe { mesh.destroy(&device, &mut counted.allocator) };
                }
            },
        );
        for call in [
            "vkCreateImage",
            "vkBindImageMemory",
            "vkCreateImageView",
            "vkCreateSampler",
        ] {
            assert!(seen.contains(call), "{call}");
        }
        counted.finish();
    });
}

/// Makes every call of `work` fail on a crowd that draws. It must continue to draw.
fn sweep_drawing(
    setup: &mut Setup,
    mut work: impl FnMut(&mut Crowd, &mut Counted) -> Result<()>,
) -> BTreeSet<&'static str> {
    let mut counted = Counted::new(setup);
    let mut drawing = Drawing::new(setup, &mut counted);
    let mut seen = BTreeSet::new();
    for number in 0.. {
        assert!(number < 500, "there is no end to it");
        let before = (objects(), counted.allocations(), drawing.crowd.capacity());
        let answer = answer(setup, number);
        let drawn = &mut drawing.crowd;
        let (result, failed) = failing_with(number, answer, || work(drawn, &mut counted));
        let after = (objects(), counted.allocations(), drawing.crowd.capacity());
        let done = failed.is_none();
        match (result, failed) {
            (Ok(()), None) => {}
            (Ok(()), Some(failed)) => {
                assert!(OF_MEMORY.contains(&failed), "{failed} is ignored");
            }
            (Err(error), failed) => {
                check_error(&error, failed.unwrap(), answer);
                assert_eq!(after, before, "left over after {failed:?}");
            }
        }
        drawing.check(setup, &mut counted);
        if done {
            break;
        }
        seen.extend(failed);
    }
    drawing.check(setup, &mut counted);
    drawing.finish(setup, counted);
    seen
}

#[test]
fn growth_that_fails_changes_nothing() {
    each(|setup| {
        let mut asked = 0;
        let seen = sweep_drawing(setup, |crowd, counted| {
            asked += 1;
            let now = crowd.capacity();
            let capacity = Capacity {
                instances: now.instances + asked,
                palette_entries: now.palette_entries + asked * 100,
                skinned_words: now.skinned_words + asked * 10,
                cpu_skinned_words: now.cpu_skinned_words + asked,
                ..now
            };
            crowd.reserve(&mut counted.allocator, &capacity)
        });
        assert!(seen.contains("vkCreateBuffer") && seen.contains("vkAllocateDescriptorSets"));
    });
}

#[test]
fn a_character_that_fails_is_not_there() {
    each(|setup| {
        let character = built(ribbon(5)).character;
        let seen = sweep_drawing(setup, |crowd, counted| {
            let desc = described(SkinningMethod::Linear, true);
            let allocator = &mut counted.allocator;
            let added = crowd.add_character(allocator, &character, &desc);
            added.map(drop)
        });
        for call in [
            "vkCreateBuffer",
            "vkCreateImage",
            "vkCreateSampler",
            "vkCreateDescriptorPool",
        ] {
            assert!(seen.contains(call), "{call}");
        }
    });
}

#[test]
fn a_pass_that_fails_is_not_there() {
    each(|setup| {
        let desc = PassDesc {
            color_formats: vec![vk::Format::R8G8B8A8_SRGB],
            ..PassDesc::default()
        };
        let mut pipelines = 0;
        let seen = sweep_drawing(setup, |crowd, _| {
            let made = unsafe { crowd.create_pass(&desc) };
            pipelines = objects()[PIPELINES];
            made.map(drop)
        });
        assert_eq!(
            seen,
            BTreeSet::from([
                "vkCreateGraphicsPipelines",
                "vkCreatePipelineLayout",
                "vkCreateShaderModule"
            ])
        );
        // The pipelines of scatter, shift and skin, of the GPU's stages, and of skin for the
        // drawing's mesh. Two materials in the drawing, before and after instances had deformed
        // vertices. Two materials in this pass.
        let stages = match stages() {
            Stages::Gpu => 8,
            Stages::GpuCull => 6,
            _ => 0,
        };
        assert_eq!(pipelines, 4 + stages + 4 + 2);
    });
}

/// The old character goes on: the picture stays, no instance is lost, and the next attempt works.
#[test]
fn a_replacement_that_fails_keeps_the_old_character() {
    each(|setup| {
        // A texture that is larger than a block of the allocator, and that nothing shows.
        let mut raw = ribbon(4);
        raw.materials[0].emissive_texture = Some(TextureRef::new(1));
        let texels = vec![255; 4 * 1024 * 1100];
        raw.images.push(Image::new("large", 1024, 1100, texels));
        let character = built(raw).character;
        let mut attempts = 0;
        let mut seen_issues = None;
        let seen = sweep_drawing(setup, |crowd, counted| {
            attempts += 1;
            let before: Vec<_> = crowd.instances().collect();
            assert_eq!(before.len(), 3);
            let kind = crowd.live(before[0]).character();
            let replaced = crowd.replace_character(&mut counted.allocator, kind, &character);
            let after: Vec<_> = crowd.instances().collect();
            assert_eq!(after, before, "attempt {attempts}");
            let clips = |id| crowd.live(id).playing().count();
            assert!(after.into_iter().all(|id| clips(id) == 1));
            replaced.map(|issues| seen_issues = Some(issues))
        });
        assert_eq!(seen_issues, Some(Vec::new()));
        for call in [
            "vkAllocateDescriptorSets",
            "vkAllocateMemory",
            "vkBindBufferMemory",
            "vkCreateBuffer",
            "vkCreateDescriptorPool",
            "vkCreateImage",
            "vkCreateSampler",
        ] {
            assert!(seen.contains(call), "{call}");
        }
    });
}

/// The drawing helper of other tests gives the same picture as the one of these tests.
#[test]
fn drawing_through_the_counting_device_is_drawing() {
    each(|setup| {
        let mut counted = Counted::new(setup);
        let drawing = Drawing::new(setup, &mut counted);
        let mut plain = setup.crowd(2, ROOM);
        populate(&mut plain, &mut setup.context.allocator());
        let target = target(&mut setup.context);
        let pass = pass(&mut plain, &target, false);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
        let cmd = frames_in_flight.begin(&setup.context, 0);
        let views = [view(
            Vec3::new(0.4, 2.0, 6.0),
            Vec3::new(0.0, 1.5, 0.0),
            EXTENT,
        )];
        let on = (&target, pass, &NORMAL_Z);
        record(&mut setup.context, &mut plain, cmd, (0, 0.3), on, &views);
        frames_in_flight.submit(&setup.context, 0);
        frames_in_flight.wait(&setup.context, 0);
        let picture = target.read_rgba().unwrap();
        assert_eq!(different(&picture, &drawing.picture, 0), 0);
        frames_in_flight.destroy(&setup.context);
        drawing.finish(setup, counted);
        setup.context.wait_idle().unwrap();
        unsafe { plain.destroy(&mut setup.context.allocator()) };
    });
}
