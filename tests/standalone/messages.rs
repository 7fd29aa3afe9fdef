//! Messages of the validation layer: about hazards and about leaks.

use crate::setup::{buffer, context, finish};
use crate::shader::Fill;
use throng::ash::{self, vk};
use throng::gpu::{MemoryAllocator, MemoryRequest};
use throng::gpu_allocator::MemoryLocation;
use throng_reference::words::Says;
use throng_standalone::{Frames, Messages};

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

/// The names of the rules.
fn ids(messages: &Messages) -> Vec<String> {
    let id = |message: String| message.split(':').next().unwrap_or_default().to_owned();
    messages.all().into_iter().map(id).collect()
}

/// The layer's messages about two fills, with or without a barrier between them.
///
/// The fills are in one command buffer, or in two submissions with no wait between.
fn two_fills(submissions: usize, barrier: bool) -> Vec<String> {
    let context = context();
    let mut frames = Frames::new(&context, 2).expect("frames in flight");
    let target = buffer(&context, 64, MemoryLocation::GpuOnly);
    for submission in 0..submissions {
        let frame = frames.begin().expect("a frame");
        for number in 0..2 / submissions {
            if barrier && submission + number > 0 {
                fill_after_fill(&context.device, frame.cmd);
            }
            fill(&context.device, frame.cmd, target.handle(), 7);
        }
        // SAFETY: `frame` was begun last.
        unsafe { frame.submit() }.expect("a submission");
    }
    drop(frames);
    drop(target);
    let messages = context.messages.clone();
    drop(context);
    ids(&messages)
}

#[test]
fn a_hazard_within_a_command_buffer_is_caught() {
    assert_eq!(two_fills(1, false), ["SYNC-HAZARD-WRITE-AFTER-WRITE"]);
}

#[test]
fn a_hazard_across_two_submissions_is_caught() {
    assert_eq!(two_fills(2, false), ["SYNC-HAZARD-WRITE-AFTER-WRITE"]);
}

/// The layer's messages about a dispatch that writes a storage buffer, after or before a transfer,
/// with or without a barrier between them.
fn a_dispatch(after_fill: bool, barrier: bool) -> Vec<String> {
    let context = context();
    let mut frames = Frames::new(&context, 1).expect("a frame in flight");
    let [target, other] = [(); 2].map(|()| buffer(&context, 64, MemoryLocation::GpuOnly));
    let dispatch = Fill::new(&context.device, target.handle());
    let frame = frames.begin().expect("a frame");
    let (device, cmd) = (&context.device, frame.cmd);
    let between = || {
        let everything = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
        let stages = vk::PipelineStageFlags::ALL_COMMANDS;
        let (flags, barriers) = (vk::DependencyFlags::empty(), [everything]);
        if barrier {
            // SAFETY: `cmd` is recording.
            unsafe { device.cmd_pipeline_barrier(cmd, stages, stages, flags, &barriers, &[], &[]) };
        }
    };
    if after_fill {
        fill(device, cmd, target.handle(), 1);
        between();
        dispatch.record(device, cmd);
    } else {
        dispatch.record(device, cmd);
        between();
        let all = [vk::BufferCopy::default().size(64)];
        // SAFETY: `cmd` is recording, and both buffers have 64 bytes and can be copied.
        unsafe { device.cmd_copy_buffer(cmd, target.handle(), other.handle(), &all) };
    }
    // SAFETY: `frame` was begun last.
    unsafe { frame.submit() }.expect("a submission");
    drop(frames);
    dispatch.destroy(&context.device);
    drop(target);
    drop(other);
    let messages = context.messages.clone();
    drop(context);
    ids(&messages)
}

/// Layers from 1.3.290 on miss these, unless the environment asks for them: see
/// `.cargo/config.toml`.
#[test]
fn hazards_of_shaders_are_caught() {
    assert_eq!(a_dispatch(true, false), ["SYNC-HAZARD-WRITE-AFTER-WRITE"]);
    assert_eq!(a_dispatch(false, false), ["SYNC-HAZARD-READ-AFTER-WRITE"]);
    assert_eq!(a_dispatch(true, true), [""; 0]);
    assert_eq!(a_dispatch(false, true), [""; 0]);
}

#[test]
fn barriers_silence_the_layer() {
    assert_eq!(two_fills(1, true), [""; 0]);
    assert_eq!(two_fills(2, true), [""; 0]);
}

#[test]
fn a_leaked_allocation_does_not_panic() {
    let mut context = context();
    let leaked = context.allocator().allocate(&MemoryRequest {
        name: "leaked on purpose",
        requirements: vk::MemoryRequirements {
            size: 64,
            alignment: 4,
            memory_type_bits: u32::MAX,
        },
        location: MemoryLocation::GpuOnly,
        linear: true,
        device_address: false,
    });
    let leaked = leaked.expect("memory");
    finish(context);
    drop(leaked);
}

#[test]
fn a_leaked_handle_is_reported_after_the_context() {
    let context = context();
    let info = vk::FenceCreateInfo::default();
    // SAFETY: the device is alive. The fence is leaked on purpose.
    unsafe { context.device.create_fence(&info, None) }.expect("a fence");
    let messages = context.messages.clone();
    messages.check().unwrap();
    drop(context);
    let error = messages.check().unwrap_err();
    error.says("the validation layer objects:\n…VkFence…");
}
