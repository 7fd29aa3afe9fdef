//! Tests of the standalone module without a window.
//!
//! Every test that uses the device runs under the validation layer. Any message of it is a failure.

#![cfg(feature = "standalone")]

mod window;

use std::ops::{Deref, DerefMut};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use throng::ash::{self, vk};
use throng::gpu_allocator::MemoryLocation;
use throng::gpu_allocator::vulkan::{AllocationCreateDesc, AllocationScheme};
use throng::standalone::{
    Begin, Buffer, BufferDesc, Context, ContextDesc, DEVICE_VARIABLE, Frames, ImageRead, Missing,
    StandaloneError, Target, TargetDesc, Validation, read_image,
};

fn desc() -> ContextDesc<'static> {
    ContextDesc {
        app_name: "standalone test",
        validation: Validation::On,
        ..ContextDesc::default()
    }
}

/// Makes the tests take turns.
///
/// Validation layers of 2023 look devices up in a table that another thread's new device may be
/// growing.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A context and the guard of its turn.
struct Alone {
    context: Context,
    // Released after the context is dropped.
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Alone {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl DerefMut for Alone {
    fn deref_mut(&mut self) -> &mut Context {
        &mut self.context
    }
}

fn context() -> Alone {
    with(&desc())
}

fn with(desc: &ContextDesc<'_>) -> Alone {
    let turn = alone();
    Alone {
        context: second(desc),
        _turn: turn,
    }
}

/// Another context for a test that already has its turn.
fn second(desc: &ContextDesc<'_>) -> Context {
    let context = Context::new(desc).expect("a context under the validation layer");
    assert!(
        context.across_submits,
        "hazards across submissions are not looked for: see .cargo/config.toml"
    );
    context
}

/// Drops the context, and fails on any message up to then.
fn finish(context: Alone) {
    let Alone { context, _turn } = context;
    finish_second(context);
}

fn finish_second(context: Context) {
    let messages = context.messages();
    drop(context);
    assert!(messages.is_empty(), "{}", messages.report());
}

fn buffer(context: &mut Context, size: u64, location: MemoryLocation) -> Buffer {
    let desc = BufferDesc {
        name: "test buffer",
        size,
        usage: vk::BufferUsageFlags::STORAGE_BUFFER,
        location,
    };
    Buffer::new(context, &desc).expect("a buffer")
}

/// Draws with `record` into a target of 40 × 24 and returns rows of RGBA.
fn draw(
    desc: &TargetDesc<'_>,
    record: impl FnOnce(&ash::Device, vk::CommandBuffer, &Target),
) -> Vec<u8> {
    let mut context = context();
    let extent = vk::Extent2D {
        width: 40,
        height: 24,
    };
    let desc = TargetDesc { extent, ..*desc };
    let mut target = Target::new(&mut context, &desc).expect("a target");
    context
        .submit_and_wait(|device, cmd| record(device, cmd, &mut target))
        .expect("the work ends");
    let bytes = target.read_rgba(&mut context).expect("bytes");
    assert_eq!(bytes.len(), 40 * 24 * 4);
    target.destroy(&mut context);
    finish(context);
    bytes
}

/// Asserts that every texel has this colour, within one step for the driver's rounding to sRGB.
fn assert_all(bytes: &[u8], wanted: [u8; 4]) {
    for (i, texel) in bytes.chunks_exact(4).enumerate() {
        let near = texel.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 1);
        assert!(near, "texel {i} is {texel:?}, not {wanted:?}");
    }
}

const ORANGE: Begin = Begin {
    color: [1.0, 0.5, 0.0, 1.0],
    depth: 0.0,
    flags: vk::RenderingFlags::empty(),
};
/// 0.5 in sRGB is 187.5 of 255.
const ORANGE_BYTES: [u8; 4] = [255, 188, 0, 255];

fn clear(device: &ash::Device, cmd: vk::CommandBuffer, target: &Target) {
    // SAFETY: `cmd` is recording, and `end` follows.
    unsafe {
        target.begin(device, cmd, &ORANGE);
        target.end(device, cmd);
    }
}

#[test]
fn clears_and_reads_back() {
    assert_all(&draw(&TargetDesc::default(), clear), ORANGE_BYTES);
}

#[test]
fn clears_resolves_and_reads_back() {
    let desc = TargetDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..TargetDesc::default()
    };
    assert_all(&draw(&desc, clear), ORANGE_BYTES);
}

#[test]
fn reads_rgba_of_a_bgra_target_without_depth() {
    let desc = TargetDesc {
        color_format: vk::Format::B8G8R8A8_UNORM,
        depth_format: None,
        ..TargetDesc::default()
    };
    assert_all(&draw(&desc, clear), [255, 128, 0, 255]);
}

#[test]
fn a_new_target_is_transparent_black() {
    assert_all(&draw(&TargetDesc::default(), |_, _, _| ()), [0; 4]);
}

#[test]
fn resuming_keeps_what_was_drawn() {
    for samples in [vk::SampleCountFlags::TYPE_1, vk::SampleCountFlags::TYPE_4] {
        let desc = TargetDesc {
            samples,
            ..TargetDesc::default()
        };
        let bytes = draw(&desc, |device, cmd, target| {
            // SAFETY: `cmd` is recording, and the calls are in their required order.
            unsafe {
                target.begin(device, cmd, &ORANGE);
                target.suspend(device, cmd);
                target.resume(device, cmd, vk::RenderingFlags::empty());
                target.end(device, cmd);
            }
        });
        assert_all(&bytes, ORANGE_BYTES);
    }
}

#[test]
fn depth_is_cleared_to_the_farthest_of_reversed_z() {
    for (begin, wanted) in [
        (Begin::default(), 0.0),
        (
            Begin {
                depth: 0.25,
                ..ORANGE
            },
            0.25,
        ),
    ] {
        let mut context = context();
        let desc = TargetDesc {
            depth_usage: vk::ImageUsageFlags::TRANSFER_SRC,
            ..TargetDesc::default()
        };
        let target = Target::new(&mut context, &desc).expect("a target");
        let record = |device: &ash::Device, cmd| {
            // SAFETY: `cmd` is recording, and `end` follows.
            unsafe {
                target.begin(device, cmd, &begin);
                target.end(device, cmd);
            }
        };
        context.submit_and_wait(record).expect("the work ends");
        let read = ImageRead {
            image: target.depth().expect("depth").0,
            aspect: vk::ImageAspectFlags::DEPTH,
            layout: vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
            mip_level: 0,
            layer: 0,
            extent: target.extent(),
            texel_bytes: 4,
        };
        // SAFETY: the image is alive, and matches `read`.
        let bytes = unsafe { read_image(&mut context, &read) }.expect("bytes");
        let texels = bytes.as_chunks::<4>().0;
        assert_eq!(texels.len(), 256 * 256);
        assert!(
            texels
                .iter()
                .all(|&texel| f32::from_le_bytes(texel) == wanted)
        );
        target.destroy(&mut context);
        finish(context);
    }
}

#[test]
fn a_target_is_drawn_to_again_and_again() {
    let mut context = context();
    let mut frames = Frames::new(&context, 2).expect("frames in flight");
    let target = Target::new(&mut context, &TargetDesc::default()).expect("a target");
    for number in 0..5 {
        let frame = frames.begin(&mut context).expect("a frame");
        assert_eq!(frame.frame_index, number % 2);
        clear(&context.device, frame.cmd, &target);
        // SAFETY: `frame` was begun last.
        unsafe { frames.submit(&mut context, frame, None) }.expect("a submission");
    }
    assert_all(
        &target.read_rgba(&mut context).expect("bytes"),
        ORANGE_BYTES,
    );
    target.destroy(&mut context);
    frames.destroy(&mut context);
    finish(context);
}

#[test]
fn refuses_targets_that_cannot_be() {
    let mut context = context();
    let fine = TargetDesc::default();
    let empty = vk::Extent2D {
        width: 0,
        height: 4,
    };
    let huge = vk::Extent2D {
        width: u32::MAX,
        height: 4,
    };
    for extent in [empty, huge] {
        let error = Target::new(&mut context, &TargetDesc { extent, ..fine });
        assert!(
            matches!(error, Err(StandaloneError::Extent { .. })),
            "{error:?}"
        );
    }
    for samples in [
        vk::SampleCountFlags::empty(),
        vk::SampleCountFlags::from_raw(1 << 6),
    ] {
        let error = Target::new(&mut context, &TargetDesc { samples, ..fine });
        assert!(
            matches!(error, Err(StandaloneError::Samples { .. })),
            "{error:?}"
        );
    }
    let color_format = vk::Format::D32_SFLOAT;
    let error = Target::new(
        &mut context,
        &TargetDesc {
            color_format,
            ..fine
        },
    );
    assert!(
        matches!(error, Err(StandaloneError::Format { .. })),
        "{error:?}"
    );
    finish(context);
}

#[test]
fn reads_buffers_back() {
    let mut context = context();
    let bytes: Vec<u8> = (0..=255).collect();
    let mut up = buffer(&mut context, 256, MemoryLocation::CpuToGpu);
    up.write(0, &bytes).expect("mapped");
    let far = buffer(&mut context, 256, MemoryLocation::GpuOnly);
    let (from, to) = (up.handle(), far.handle());
    context
        .submit_and_wait(|device, cmd| {
            let region = vk::BufferCopy::default().size(256);
            // SAFETY: both buffers have 256 bytes, and `cmd` is recording.
            unsafe { device.cmd_copy_buffer(cmd, from, to, &[region]) };
        })
        .expect("the copy ends");
    assert_eq!(far.read(&mut context, 0, 256).expect("bytes"), bytes);
    assert_eq!(
        far.read(&mut context, 100, 7).expect("bytes"),
        bytes[100..107]
    );
    for (offset, size) in [(0, 0), (0, 257), (256, 1), (u64::MAX, 2)] {
        let error = far.read(&mut context, offset, size);
        assert!(
            matches!(error, Err(StandaloneError::Range { .. })),
            "{error:?}"
        );
    }
    assert!(matches!(
        up.write(250, &bytes),
        Err(StandaloneError::Range { .. })
    ));
    assert_eq!(up.bytes().expect("mapped"), bytes);
    up.destroy(&mut context);
    far.destroy(&mut context);
    finish(context);
}

#[test]
fn buffers_that_are_not_mapped_say_so() {
    let mut context = context();
    let far = buffer(&mut context, 16, MemoryLocation::GpuOnly);
    // A software device may map all memory.
    if let Err(error) = far.bytes() {
        assert!(
            matches!(error, StandaloneError::NotMapped { .. }),
            "{error}"
        );
    }
    far.destroy(&mut context);
    let empty = BufferDesc {
        name: "empty",
        size: 0,
        usage: vk::BufferUsageFlags::STORAGE_BUFFER,
        location: MemoryLocation::GpuOnly,
    };
    let error = Buffer::new(&mut context, &empty);
    assert!(
        matches!(error, Err(StandaloneError::Range { .. })),
        "{error:?}"
    );
    finish(context);
}

fn assert_foreign<T: std::fmt::Debug>(result: Result<T, StandaloneError>, wanted: &str) {
    match result {
        Err(StandaloneError::ForeignContext { object }) => assert_eq!(object, wanted),
        other => panic!("{wanted}: {other:?}"),
    }
}

#[test]
fn another_context_is_refused() {
    let mut context = context();
    let mut other = second(&desc());
    let near = buffer(&mut context, 16, MemoryLocation::CpuToGpu);
    let target = Target::new(&mut context, &TargetDesc::default()).expect("a target");
    let mut frames = Frames::new(&context, 2).expect("frames in flight");
    assert_foreign(near.read(&mut other, 0, 16), "buffer `test buffer`");
    assert_foreign(target.read_rgba(&mut other), "target `target`");
    assert_foreign(frames.begin(&mut other), "the frames in flight");
    let frame = frames.begin(&mut context).expect("a frame");
    // SAFETY: `frame` was begun last, and the other context is rejected.
    let refused = unsafe { frames.submit(&mut other, frame, None) };
    assert_foreign(refused, "the frames in flight");
    // SAFETY: as above, with the right context.
    unsafe { frames.submit(&mut context, frame, None) }.expect("a submission");
    frames.destroy(&mut context);
    target.destroy(&mut context);
    near.destroy(&mut context);
    finish_second(other);
    finish(context);
}

/// Objects that are destroyed with another context are left alone.
///
/// When their own device is destroyed, the layer reports each of them as still alive. It reports
/// nothing about the other device.
#[test]
fn what_is_destroyed_with_another_context_is_leaked() {
    let mut context = context();
    let mut other = second(&desc());
    let desc = TargetDesc {
        name: "leaked target",
        ..TargetDesc::default()
    };
    let far = buffer(&mut context, 16, MemoryLocation::GpuOnly);
    let target = Target::new(&mut context, &desc).expect("a target");
    let frames = Frames::new(&context, 1).expect("frames in flight");
    frames.destroy(&mut other);
    target.destroy(&mut other);
    far.destroy(&mut other);
    finish_second(other);
    let messages = context.messages();
    assert!(messages.is_empty(), "{}", messages.report());
    drop(context);
    let said = messages.report();
    for leaked in [
        "test buffer",
        "leaked target colour",
        "VkCommandPool",
        "VkFence",
    ] {
        assert!(said.contains(leaked), "{leaked}: {said}");
    }
}

/// A new device may get the handle of a destroyed one.
#[test]
fn a_context_after_the_first_is_another() {
    let mut first = context();
    let far = buffer(&mut first, 16, MemoryLocation::GpuOnly);
    let Alone { context, _turn } = first;
    drop(context);
    let mut next = second(&desc());
    assert_foreign(far.read(&mut next, 0, 16), "buffer `test buffer`");
    far.destroy(&mut next);
    finish_second(next);
}

/// Fills the buffer. The write is in a transfer stage, and layers differ on which one.
fn fill(device: &ash::Device, cmd: vk::CommandBuffer, buffer: vk::Buffer, word: u32) {
    // SAFETY: `cmd` is recording, and the buffer can be copied to.
    unsafe { device.cmd_fill_buffer(cmd, buffer, 0, vk::WHOLE_SIZE, word) };
}

fn fill_after_fill(device: &ash::Device, cmd: vk::CommandBuffer) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
        .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
        .dst_access_mask(vk::AccessFlags2::TRANSFER_WRITE)];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: `cmd` is recording.
    unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
}

/// The layer's messages about two fills, with or without a barrier between them.
///
/// The fills are in one command buffer, or in two submissions with no wait between.
fn two_fills(submissions: usize, barrier: bool) -> Vec<String> {
    let mut context = context();
    let mut frames = Frames::new(&context, 2).expect("frames in flight");
    let target = buffer(&mut context, 64, MemoryLocation::GpuOnly);
    for submission in 0..submissions {
        let frame = frames.begin(&mut context).expect("a frame");
        for number in 0..2 / submissions {
            if barrier && submission + number > 0 {
                fill_after_fill(&context.device, frame.cmd);
            }
            fill(&context.device, frame.cmd, target.handle(), 7);
        }
        // SAFETY: `frame` was begun last.
        unsafe { frames.submit(&mut context, frame, None) }.expect("a submission");
    }
    frames.destroy(&mut context);
    target.destroy(&mut context);
    let messages = context.messages();
    drop(context);
    messages.take().into_iter().map(|m| m.id).collect()
}

#[test]
fn a_hazard_within_a_command_buffer_is_caught() {
    assert_eq!(two_fills(1, false), ["SYNC-HAZARD-WRITE-AFTER-WRITE"]);
}

#[test]
fn a_hazard_across_two_submissions_is_caught() {
    assert_eq!(two_fills(2, false), ["SYNC-HAZARD-WRITE-AFTER-WRITE"]);
}

#[test]
fn barriers_silence_the_layer() {
    assert_eq!(two_fills(1, true), [""; 0]);
    assert_eq!(two_fills(2, true), [""; 0]);
}

#[test]
fn names_are_given() {
    let context = context();
    assert!(context.debug_utils);
    // SAFETY: the pool belongs to the context.
    unsafe { context.set_name(context.command_pool, "a name\0 and more") }.expect("a name");
    finish(context);
}

#[test]
fn a_leaked_allocation_does_not_panic() {
    let mut context = context();
    let leaked = context
        .allocator
        .allocate(&AllocationCreateDesc {
            name: "leaked on purpose",
            requirements: vk::MemoryRequirements {
                size: 64,
                alignment: 4,
                memory_type_bits: u32::MAX,
            },
            location: MemoryLocation::GpuOnly,
            linear: true,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        })
        .expect("memory");
    finish(context);
    drop(leaked);
}

#[test]
fn a_leaked_buffer_is_reported_after_the_context() {
    let mut context = context();
    let leaked = buffer(&mut context, 64, MemoryLocation::GpuOnly);
    let messages = context.messages();
    assert!(context.validation_messages().is_empty());
    drop(context);
    drop(leaked);
    let said = messages.report();
    assert!(said.contains("test buffer"), "{said}");
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let _turn = alone();
    let error = Context::new(&ContextDesc {
        device: Some("nonsense"),
        ..desc()
    });
    let Err(StandaloneError::NoDevice { asked, devices }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(asked.as_deref(), Some("nonsense"));
    assert!(!devices.is_empty());
    for device in devices {
        assert_eq!(device.missing, [Missing::NotAskedFor], "{device}");
    }
}

#[test]
fn a_device_is_chosen_by_index_and_by_name() {
    let first = context();
    let index = first.info.index.to_string();
    let name = first.info.name.to_uppercase();
    for device in [index.as_str(), name.as_str()] {
        let device = Some(device);
        let context = second(&ContextDesc { device, ..desc() });
        assert_eq!(context.info, first.info);
        finish_second(context);
    }
    finish(first);
}

#[test]
fn what_is_required_and_missing_is_named() {
    let required_extensions = &[c"VK_THRONG_nonsense"];
    let _turn = alone();
    let error = Context::new(&ContextDesc {
        required_extensions,
        ..desc()
    });
    let Err(StandaloneError::NoDevice { devices, .. }) = error else {
        panic!("{error:?}");
    };
    let missing = Missing::Extension("VK_THRONG_nonsense".to_owned());
    assert!(
        devices.iter().any(|d| d.missing == [missing.clone()]),
        "{devices:?}"
    );
}

#[test]
fn optional_features_are_enabled_where_supported() {
    let mut desc = desc();
    desc.optional.v10.multi_draw_indirect = vk::TRUE;
    desc.optional.v11.shader_draw_parameters = vk::TRUE;
    let context = with(&desc);
    // SAFETY: both handles belong to the context, and support Vulkan 1.3.
    let supported = unsafe {
        throng::standalone::FeatureSet::supported(&context.instance, context.physical_device)
    };
    let wanted = throng::standalone::FeatureSet::base().or(&desc.optional);
    assert!(supported.lacks(&context.enabled).is_empty());
    assert!(context.enabled.lacks(&wanted.and(&supported)).is_empty());
    assert!(wanted.lacks(&context.enabled).is_empty());
    finish(context);
}

/// Runs one ignored test of this file in a process with an additional environment variable.
///
/// The environment of a process with threads must not be changed from inside.
fn run_with(test: &str, variable: &str, value: &str) {
    let this = std::env::current_exe().expect("the path of this test");
    let output = Command::new(this)
        .args(["--ignored", "--exact", test])
        .env(variable, value)
        .output()
        .expect("the test starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

#[test]
fn the_environment_chooses_the_device() {
    run_with("child_with_nonsense_device", DEVICE_VARIABLE, "nonsense");
}

#[test]
#[ignore = "run by `the_environment_chooses_the_device`"]
fn child_with_nonsense_device() {
    let _turn = alone();
    let error = Context::new(&ContextDesc {
        device: Some("0"),
        ..desc()
    });
    let Err(StandaloneError::NoDevice { asked, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(asked.as_deref(), Some("nonsense"));
}

#[test]
fn validation_without_its_layer_is_an_error() {
    run_with("child_without_layer", "VK_LAYER_PATH", "/nowhere");
}

#[test]
#[ignore = "run by `validation_without_its_layer_is_an_error`"]
fn child_without_layer() {
    let error = Context::new(&desc());
    assert!(
        matches!(error, Err(StandaloneError::MissingLayer { .. })),
        "{error:?}"
    );
    let context = Context::new(&ContextDesc {
        validation: Validation::Off,
        ..desc()
    });
    assert!(
        !context
            .expect("a context without validation")
            .across_submits
    );
}
