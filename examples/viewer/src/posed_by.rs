//! The side that can pose the first instance, and how far the GPU's vertices are from the CPU's.

use throng::Actor;
use throng::ash::vk;
use throng::character::Character;
use throng::glam::{Affine3A, Vec3};
use throng::gpu::{
    AnimateDispatch, AnimateJob, AnimateJobs, AnimatePipeline, AnimationTables, CpuReason, Device,
    GpuPlay, PosedBy, Upload,
};
use throng::gpu_allocator::MemoryLocation;
use throng::palette::{
    DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, PaletteFormat, QuatOffset, SkinningMethod,
};
use throng_standalone::{Buffer, Context};

use super::Result;
use super::accuracy::{furthest_mm, posed, skinned};
use super::scene::Scene;

/// The processor that poses the first instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Side {
    pub(crate) posed_by: PosedBy,
    /// The largest distance of a vertex between a palette of the GPU and one of the CPU, in
    /// millimetres. `None` if the GPU cannot pose it.
    pub(crate) distance_mm: Option<f64>,
}

/// Poses the first instance on the GPU, if it can. The device is idle afterwards.
pub(crate) fn measure(
    context: &mut Context,
    scene: &Scene,
    (character, method): (&Character, SkinningMethod),
    (model, weights): (&[Affine3A], &[f32]),
    now_s: f64,
) -> Result<Option<Side>> {
    let Some(id) = scene.first() else {
        return Ok(None);
    };
    let on_cpu = |reason| Side {
        posed_by: PosedBy::Cpu(reason),
        distance_mm: None,
    };
    // Materials do not matter to the stage animate.
    match CpuReason::of_character(character) {
        None | Some(CpuReason::Blended | CpuReason::Springs) => {}
        Some(reason) => return Ok(Some(on_cpu(reason))),
    }
    let crowd = scene.crowd();
    let instance = crowd.instance(id)?;
    let animator = crowd.animator(instance.character())?;
    let mut plays = Vec::new();
    let posed_by = animator.gpu_plays(Actor::id(&instance), now_s, &mut plays)?;
    if let PosedBy::Cpu(reason) = posed_by {
        return Ok(Some(on_cpu(reason)));
    }
    // Plays are counted from the picture's time.
    let times = (animator.now_s(), now_s);
    let bytes = palette(context, (character, method), &plays, times)?;
    let format = PaletteFormat::of(character, method)?;
    let of_gpu = match format {
        PaletteFormat::Mat3x4 => vertices::<Mat3x4>(character, &bytes, weights),
        PaletteFormat::DualQuat => vertices::<DualQuat>(character, &bytes, weights),
        PaletteFormat::DualQuatStretch => vertices::<DualQuatStretch>(character, &bytes, weights),
        PaletteFormat::QuatOffset => vertices::<QuatOffset>(character, &bytes, weights),
    };
    let of_cpu = posed(character, model, weights, method)?;
    Ok(Some(Side {
        posed_by,
        distance_mm: Some(furthest_mm(&of_gpu?, &of_cpu)),
    }))
}

fn vertices<E: PaletteEntry>(
    character: &Character,
    bytes: &[u8],
    weights: &[f32],
) -> throng::Result<Vec<Vec3>> {
    let entries = bytes.chunks_exact(size_of::<E>());
    let entries: Vec<E> = entries.map(bytemuck::pod_read_unaligned).collect();
    skinned(character, &entries, weights)
}

/// The palette that the stage animate writes for what one actor plays.
fn palette(
    context: &mut Context,
    (character, method): (&Character, SkinningMethod),
    plays: &[GpuPlay],
    (now_s, epoch_s): (f64, f64),
) -> Result<Vec<u8>> {
    // SAFETY: the device outlives this function, and everything is destroyed in it.
    let device = unsafe { context.gpu_device() };
    let mut upload = Upload::default();
    let tables = AnimationTables::new(
        &device,
        &mut context.allocator(),
        &mut upload,
        character,
        method,
    );
    let made = tables.map_err(Into::into).and_then(|mut tables| {
        let read = run(
            context,
            &device,
            (&tables, &mut upload),
            plays,
            (now_s, epoch_s),
        );
        context.wait_idle()?;
        // SAFETY: the device is idle.
        unsafe { tables.destroy(&device, &mut context.allocator()) };
        read
    });
    // SAFETY: the device is idle, or nothing was recorded.
    unsafe { upload.free(&device, &mut context.allocator()) };
    made
}

fn run(
    context: &mut Context,
    device: &Device,
    (tables, upload): (&AnimationTables, &mut Upload),
    plays: &[GpuPlay],
    (now_s, epoch_s): (f64, f64),
) -> Result<Vec<u8>> {
    let mut pipeline = AnimatePipeline::new(device)?;
    // SAFETY: it is the pipeline's device.
    let prepared = unsafe { pipeline.prepare(device, tables) };
    let read = prepared.map_err(Into::into).and_then(|()| {
        // The job, the palette, and the plays.
        let plays_at = 16 + tables.palette_bytes();
        let mut buffer = Buffer::new(
            context,
            "pose on the GPU",
            plays_at + size_of_val(plays).max(16) as u64,
            vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS | vk::BufferUsageFlags::STORAGE_BUFFER,
            MemoryLocation::GpuToCpu,
        )?;
        let read = dispatch(
            context,
            device,
            (&pipeline, tables, upload),
            (&mut buffer, plays_at),
            plays,
            (now_s, epoch_s),
        );
        context.wait_idle()?;
        read
    });
    // SAFETY: the device is idle.
    unsafe { pipeline.destroy(device) };
    read
}

fn dispatch(
    context: &mut Context,
    device: &Device,
    (pipeline, tables, upload): (&AnimatePipeline, &AnimationTables, &mut Upload),
    (buffer, plays_at): (&mut Buffer, u64),
    plays: &[GpuPlay],
    (now_s, epoch_s): (f64, f64),
) -> Result<Vec<u8>> {
    let job = AnimateJob {
        first_play: 0,
        plays: plays.len() as u32,
        palette: 0,
        morphs: AnimateJob::NONE,
    };
    buffer.write(0, bytemuck::bytes_of(&job))?;
    buffer.write(plays_at, bytemuck::cast_slice(plays))?;
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle());
    // SAFETY: the buffer is alive, and has the usage.
    let start = unsafe { context.device.get_buffer_device_address(&info) };
    let dispatch = AnimateDispatch {
        tables,
        jobs: start,
        palettes: start + 16,
        plays: start + plays_at,
        morphs: start,
        own_weights: 0,
        count: AnimateJobs::Count(1),
        now_s,
        epoch_s,
    };
    // SAFETY: the command buffer is recording, and is submitted and waited for at once. The buffer
    // has what the stage reads, and space for a palette.
    context.submit_and_wait(|raw, cmd| unsafe {
        upload.record(device, cmd);
        pipeline.record(device, cmd, &dispatch);
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ)];
        let info = vk::DependencyInfo::default().memory_barriers(&barriers);
        raw.cmd_pipeline_barrier2(cmd, &info);
    })?;
    let mut bytes = vec![0; tables.palette_bytes() as usize];
    buffer.read_mapped(16, &mut bytes)?;
    Ok(bytes)
}
