//! Frames in flight, begun in any order.

use super::read_image::{ImageRead, read_image};
use crate::reference::sweep::is_thorough;
use throng::ash::vk;
use throng::{Crowd, PassDesc, PassId, View};
use throng_standalone::{Begin, Context, Target, TargetDesc};

struct InFlight {
    pool: vk::CommandPool,
    cmd: vk::CommandBuffer,
    fence: vk::Fence,
    pending: bool,
}

pub struct FramesInFlight {
    list: Vec<InFlight>,
    /// The most time that a frame may take, in seconds.
    pub patience_s: u64,
}

impl FramesInFlight {
    pub fn new(context: &Context, count: u32) -> Self {
        let device = &context.device;
        let in_flight = |_| unsafe {
            let info =
                vk::CommandPoolCreateInfo::default().queue_family_index(context.queue_family);
            let pool = device.create_command_pool(&info, None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            InFlight {
                pool,
                cmd: device.allocate_command_buffers(&info).unwrap()[0],
                fence: device
                    .create_fence(&vk::FenceCreateInfo::default(), None)
                    .unwrap(),
                pending: false,
            }
        };
        Self {
            list: (0..count).map(in_flight).collect(),
            // Long runs share their machine with other work.
            patience_s: if is_thorough() { 3600 } else { 60 },
        }
    }

    /// Waits for the last work of this frame in flight, if there is any.
    pub fn wait(&mut self, context: &Context, frame_index: u32) {
        let patience_ns = self.patience_s * 1_000_000_000;
        let frame = &mut self.list[frame_index as usize];
        if frame.pending {
            let fences = [frame.fence];
            let wait = unsafe { context.device.wait_for_fences(&fences, true, patience_ns) };
            wait.expect("the work ends");
            unsafe { context.device.reset_fences(&[frame.fence]) }.unwrap();
            frame.pending = false;
        }
    }

    /// Waits for the frame in flight, then returns its command buffer, recording.
    pub fn begin(&mut self, context: &Context, frame_index: u32) -> vk::CommandBuffer {
        self.wait(context, frame_index);
        let frame = &self.list[frame_index as usize];
        let flags = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        let info = vk::CommandBufferBeginInfo::default().flags(flags);
        unsafe {
            let device = &context.device;
            device
                .reset_command_pool(frame.pool, vk::CommandPoolResetFlags::empty())
                .unwrap();
            device.begin_command_buffer(frame.cmd, &info).unwrap();
        }
        frame.cmd
    }

    pub fn submit(&mut self, context: &Context, frame_index: u32) {
        self.submit_after(context, frame_index, None);
    }

    /// Submits work that runs when the timeline semaphore has reached 1.
    pub fn submit_after(
        &mut self,
        context: &Context,
        frame_index: u32,
        after: Option<vk::Semaphore>,
    ) {
        let frame = &mut self.list[frame_index as usize];
        let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
        let waits: Vec<_> = after
            .into_iter()
            .map(|semaphore| {
                vk::SemaphoreSubmitInfo::default()
                    .semaphore(semaphore)
                    .value(1)
                    .stage_mask(stage)
            })
            .collect();
        let cmds = [vk::CommandBufferSubmitInfo::default().command_buffer(frame.cmd)];
        let info = [vk::SubmitInfo2::default()
            .command_buffer_infos(&cmds)
            .wait_semaphore_infos(&waits)];
        unsafe {
            context.device.end_command_buffer(frame.cmd).unwrap();
            context
                .device
                .queue_submit2(context.queue, &info, frame.fence)
                .unwrap();
        }
        frame.pending = true;
    }

    pub fn destroy(mut self, context: &Context) {
        for frame_index in 0..self.list.len() as u32 {
            self.wait(context, frame_index);
        }
        for frame in self.list.drain(..) {
            unsafe {
                context.device.destroy_fence(frame.fence, None);
                context.device.destroy_command_pool(frame.pool, None);
            }
        }
    }
}

pub const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 96,
    height: 96,
};

pub fn target(context: &mut Context) -> Target {
    let desc = TargetDesc {
        extent: EXTENT,
        depth_usage: vk::ImageUsageFlags::TRANSFER_SRC,
        ..TargetDesc::default()
    };
    Target::new(context, &desc).unwrap()
}

/// Creates a pass for the formats of `target`.
pub fn pass(crowd: &mut Crowd, target: &Target, reversed_z: bool) -> PassId {
    let desc = PassDesc {
        reversed_z,
        ..target.pass_desc()
    };
    unsafe { crowd.create_pass(&desc) }.unwrap()
}

pub const NORMAL_Z: Begin = Begin {
    color: [0.1, 0.2, 0.3, 1.0],
    depth: 1.0,
    flags: vk::RenderingFlags::empty(),
};
pub const REVERSED_Z: Begin = Begin {
    depth: 0.0,
    ..NORMAL_Z
};

/// Records one frame with `frame_index` into `cmd`: prepares, and draws every view.
pub fn record(
    context: &mut Context,
    crowd: &mut Crowd,
    cmd: vk::CommandBuffer,
    (frame_index, time_s): (u32, f64),
    (target, pass, begin): (&Target, PassId, &Begin),
    views: &[View],
) {
    crowd.update(time_s).unwrap();
    unsafe {
        let mut frame = crowd
            .begin_frame(&mut context.allocator(), frame_index, time_s)
            .unwrap();
        let views = frame.record_prepare(cmd, views).unwrap();
        target.begin(&context.device, cmd, begin);
        for view in views.iter() {
            frame.record_draw(cmd, *view, pass).unwrap();
        }
        target.end(&context.device, cmd);
    }
}

/// Draws one frame alone and returns its picture.
pub fn picture(
    context: &mut Context,
    crowd: &mut Crowd,
    frames_in_flight: &mut FramesInFlight,
    (frame_index, time_s): (u32, f64),
    (target, pass, begin): (&Target, PassId, &Begin),
    views: &[View],
) -> Vec<u8> {
    let cmd = frames_in_flight.begin(context, frame_index);
    let on = (target, pass, begin);
    record(context, crowd, cmd, (frame_index, time_s), on, views);
    frames_in_flight.submit(context, frame_index);
    frames_in_flight.wait(context, frame_index);
    target.read_rgba().unwrap()
}

/// Reads the depth of a target with one sample, without conversion.
pub fn depth(context: &mut Context, target: &Target) -> Vec<f32> {
    let read = ImageRead {
        image: target.depth().unwrap().0,
        aspect: vk::ImageAspectFlags::DEPTH,
        layout: vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        layer: 0,
        extent: target.extent(),
        texel_bytes: 4,
    };
    let bytes = unsafe { read_image(context, &read) }.unwrap();
    let texels = bytes.as_chunks().0.iter();
    texels.map(|b| f32::from_le_bytes(*b)).collect()
}
