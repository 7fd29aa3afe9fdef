//! A device that notes commands, buffers and pipelines, and can leave out a barrier.

use std::cell::RefCell;
use throng::ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};
use throng::ash::{self, DeviceFnV1_0, vk};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noted {
    /// Of memory.
    Barrier {
        before: (Stage, Access),
        after: (Stage, Access),
    },
    /// Of images or buffers alone.
    OtherBarrier,
    Dispatch,
    Draw,
    Copy,
    Update,
    Fill,
    Buffer(vk::DeviceSize, vk::BufferUsageFlags),
    Pipelines(u32),
}

/// The notes of this thread, and the number of the barrier that is left out.
#[derive(Default)]
struct Notes {
    all: Vec<Noted>,
    barriers: usize,
    left_out: Option<usize>,
    /// The functions of the driver.
    real: Option<DeviceFnV1_0>,
}

thread_local! {
    static NOTES: RefCell<Notes> = RefCell::default();
}

/// The notes of this thread since the last call. From now on, a barrier of memory is left out, if
/// it has a number.
pub fn notes(left_out: Option<usize>) -> Vec<Noted> {
    NOTES.with_borrow_mut(|notes| {
        (notes.barriers, notes.left_out) = (0, left_out);
        std::mem::take(&mut notes.all)
    })
}

/// The device with functions that note on this thread, and then do what the real ones do.
pub fn noting(device: &ash::Device) -> ash::Device {
    let mut own = device.fp_v1_0().clone();
    NOTES.with_borrow_mut(|notes| notes.real = Some(own.clone()));
    own.cmd_pipeline_barrier = barrier;
    replace(&mut own);
    ash::Device::from_parts_1_3(
        device.handle(),
        own,
        device.fp_v1_1().clone(),
        device.fp_v1_2().clone(),
        device.fp_v1_3().clone(),
    )
}

/// A function of the driver.
fn real<T>(of: impl FnOnce(&DeviceFnV1_0) -> T) -> T {
    NOTES.with_borrow(|notes| of(notes.real.as_ref().unwrap()))
}

/// Notes something, and returns whether it is left out.
fn note(noted: Noted) -> bool {
    NOTES.with_borrow_mut(|notes| {
        notes.all.push(noted);
        let number = notes.barriers;
        let is_barrier = matches!(noted, Noted::Barrier { .. });
        notes.barriers += usize::from(is_barrier);
        is_barrier && notes.left_out == Some(number)
    })
}

/// Functions that note something of their arguments, and do what the real ones do.
macro_rules! hooks {
    ($($function:ident($($arg:ident: $kind:ty),*) $(-> $result:ty)? { $noted:expr })*) => {
        $(unsafe extern "system" fn $function($($arg: $kind),*) $(-> $result)? {
            note($noted);
            unsafe { real(|it| it.$function)($($arg),*) }
        })*

        fn replace(all: &mut DeviceFnV1_0) {
            $(all.$function = $function;)*
        }
    };
}

hooks! {
    cmd_dispatch(cmd: vk::CommandBuffer, x: u32, y: u32, z: u32) { Noted::Dispatch }
    cmd_draw_indexed(
        cmd: vk::CommandBuffer,
        indices: u32,
        instances: u32,
        first: u32,
        offset: i32,
        instance: u32
    ) { Noted::Draw }
    cmd_draw_indexed_indirect(
        cmd: vk::CommandBuffer,
        buffer: vk::Buffer,
        offset: u64,
        count: u32,
        stride: u32
    ) { Noted::Draw }
    cmd_copy_buffer(
        cmd: vk::CommandBuffer,
        from: vk::Buffer,
        to: vk::Buffer,
        count: u32,
        regions: *const vk::BufferCopy
    ) { Noted::Copy }
    cmd_update_buffer(
        cmd: vk::CommandBuffer,
        buffer: vk::Buffer,
        offset: u64,
        bytes: u64,
        data: *const std::ffi::c_void
    ) { Noted::Update }
    cmd_fill_buffer(
        cmd: vk::CommandBuffer,
        buffer: vk::Buffer,
        offset: u64,
        bytes: u64,
        word: u32
    ) { Noted::Fill }
    create_buffer(
        device: vk::Device,
        info: *const vk::BufferCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        buffer: *mut vk::Buffer
    ) -> vk::Result { Noted::Buffer(unsafe { (*info).size }, unsafe { (*info).usage }) }
    create_compute_pipelines(
        device: vk::Device,
        cache: vk::PipelineCache,
        count: u32,
        infos: *const vk::ComputePipelineCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        pipelines: *mut vk::Pipeline
    ) -> vk::Result { Noted::Pipelines(count) }
}

unsafe extern "system" fn barrier(
    cmd: vk::CommandBuffer,
    before: Stage,
    after: Stage,
    flags: vk::DependencyFlags,
    count: u32,
    memory: *const vk::MemoryBarrier<'_>,
    buffer_count: u32,
    buffers: *const vk::BufferMemoryBarrier<'_>,
    image_count: u32,
    images: *const vk::ImageMemoryBarrier<'_>,
) {
    let all = match count {
        0 => &[],
        _ => unsafe { std::slice::from_raw_parts(memory, count as usize) },
    };
    let access = |of: fn(&vk::MemoryBarrier<'_>) -> Access| {
        let each = all.iter().map(of);
        each.fold(Access::empty(), |all, one| all | one)
    };
    let noted = match count {
        0 => Noted::OtherBarrier,
        _ => Noted::Barrier {
            before: (before, access(|it| it.src_access_mask)),
            after: (after, access(|it| it.dst_access_mask)),
        },
    };
    if note(noted) {
        return;
    }
    unsafe {
        real(|it| it.cmd_pipeline_barrier)(
            cmd,
            before,
            after,
            flags,
            count,
            memory,
            buffer_count,
            buffers,
            image_count,
            images,
        );
    }
}
