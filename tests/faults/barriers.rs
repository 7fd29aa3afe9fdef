//! Every copy and dispatch of a frame is ordered with what reads and wrote its data.
//!
//! Shaders read palettes and histories through addresses, which synchronization validation does not
//! follow. So this test records the commands themselves, and checks the barriers between them.

use crate::drawing::{ROOM, populate};
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, target};
use crate::support::{Setup, each, view};
use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use throng::ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};
use throng::ash::{self, vk};
use throng::glam::Vec3;
use throng::{Crowd, View};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Command {
    Copy,
    Dispatch,
    Draw,
    Barrier {
        before: (Stage, Access),
        after: (Stage, Access),
    },
}

static COMMANDS: Mutex<Vec<Command>> = Mutex::new(Vec::new());
static REAL: [AtomicPtr<c_void>; 5] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 5];

fn note(command: Command) {
    COMMANDS.lock().unwrap().push(command);
}

unsafe extern "system" fn copy(
    cmd: vk::CommandBuffer,
    from: vk::Buffer,
    to: vk::Buffer,
    count: u32,
    regions: *const vk::BufferCopy,
) {
    note(Command::Copy);
    type Real = unsafe extern "system" fn(
        vk::CommandBuffer,
        vk::Buffer,
        vk::Buffer,
        u32,
        *const vk::BufferCopy,
    );
    unsafe { transmute::<*mut c_void, Real>(REAL[0].load(Relaxed))(cmd, from, to, count, regions) };
}

unsafe extern "system" fn dispatch(cmd: vk::CommandBuffer, x: u32, y: u32, z: u32) {
    note(Command::Dispatch);
    type Real = unsafe extern "system" fn(vk::CommandBuffer, u32, u32, u32);
    unsafe { transmute::<*mut c_void, Real>(REAL[1].load(Relaxed))(cmd, x, y, z) };
}

unsafe extern "system" fn draw(
    cmd: vk::CommandBuffer,
    indices: u32,
    instances: u32,
    first: u32,
    offset: i32,
    instance: u32,
) {
    note(Command::Draw);
    type Real = unsafe extern "system" fn(vk::CommandBuffer, u32, u32, u32, i32, u32);
    let real = unsafe { transmute::<*mut c_void, Real>(REAL[2].load(Relaxed)) };
    unsafe { real(cmd, indices, instances, first, offset, instance) };
}

unsafe extern "system" fn draw_indirect(
    cmd: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) {
    note(Command::Draw);
    type Real = unsafe extern "system" fn(vk::CommandBuffer, vk::Buffer, vk::DeviceSize, u32, u32);
    let real = unsafe { transmute::<*mut c_void, Real>(REAL[4].load(Relaxed)) };
    unsafe { real(cmd, buffer, offset, count, stride) };
}

type Barrier = unsafe extern "system" fn(
    vk::CommandBuffer,
    Stage,
    Stage,
    vk::DependencyFlags,
    u32,
    *const vk::MemoryBarrier<'_>,
    u32,
    *const vk::BufferMemoryBarrier<'_>,
    u32,
    *const vk::ImageMemoryBarrier<'_>,
);

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
    unsafe {
        for at in 0..count as usize {
            let one = &*memory.add(at);
            note(Command::Barrier {
                before: (before, one.src_access_mask),
                after: (after, one.dst_access_mask),
            });
        }
        let real = transmute::<*mut c_void, Barrier>(REAL[3].load(Relaxed));
        real(
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

/// The setup's device, which notes these commands.
fn noting(setup: &Setup) -> ash::Device {
    let context = &setup.context;
    let handle = context.device.handle();
    let own: [(&CStr, *const c_void); 5] = [
        (c"vkCmdCopyBuffer", copy as *const c_void),
        (c"vkCmdDispatch", dispatch as *const c_void),
        (c"vkCmdDrawIndexed", draw as *const c_void),
        (c"vkCmdPipelineBarrier", barrier as *const c_void),
        (c"vkCmdDrawIndexedIndirect", draw_indirect as *const c_void),
    ];
    let load = |name: &CStr| {
        let real = unsafe { context.instance.get_device_proc_addr(handle, name.as_ptr()) };
        let real = real.map_or(std::ptr::null(), |real| real as *const c_void);
        for ((own, function), place) in own.iter().zip(&REAL) {
            if *own == name {
                place.store(real.cast_mut(), Relaxed);
                return *function;
            }
        }
        real
    };
    unsafe { ash::Device::load_with(load, handle) }
}

/// The commands of a third frame: everything is uploaded, and both halves of the history exist.
fn commands(setup: &mut Setup) -> Vec<Command> {
    let device = noting(setup);
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
    let desc = setup.crowd_desc(2, ROOM);
    let device = setup.device_of(&setup.context.instance, &device);
    let allocator = &mut setup.context.allocator();
    let mut crowd = Crowd::new(&device, allocator, &desc).unwrap();
    populate(&mut crowd, allocator);
    let target = target(&mut setup.context);
    let pass = pass(&mut crowd, &target, false);
    for number in 0..3 {
        let frame_index = number % 2;
        let cmd = frames_in_flight.begin(&setup.context, frame_index);
        let context = &mut setup.context;
        let view = View {
            history: Some(0),
            ..view(Vec3::new(0.4, 2.0, 6.0), Vec3::new(0.0, 1.5, 0.0), EXTENT)
        };
        COMMANDS.lock().unwrap().clear();
        unsafe {
            let allocator = &mut context.allocator();
            let time_s = 0.1 * f64::from(number);
            crowd.update(time_s).unwrap();
            let mut frame = crowd.begin_frame(allocator, frame_index, time_s).unwrap();
            let views = frame.record_prepare(cmd, &[view]).unwrap();
            target.begin(&context.device, cmd, &NORMAL_Z);
            frame.record_draw(cmd, views[0], pass).unwrap();
            target.end(&context.device, cmd);
        }
        frames_in_flight.submit(context, frame_index);
    }
    setup.context.wait_idle().unwrap();
    frames_in_flight.destroy(&setup.context);
    setup.destroy(crowd);
    COMMANDS.lock().unwrap().clone()
}

const READERS: Stage =
    Stage::from_raw(Stage::VERTEX_SHADER.as_raw() | Stage::COMPUTE_SHADER.as_raw());

/// Barriers must hold: the data that copies and dispatches write is visible to the dispatches and
/// draws after them, and they wait for the earlier frame's readers.
///
/// Returns the first command that breaks the rule.
fn unordered(commands: &[Command]) -> Option<usize> {
    // Writes that no barrier has made visible to shaders yet.
    let (mut copied, mut dispatched) = (false, false);
    // The same before the last command, if that is a copy.
    let mut before_copy = None;
    // True if a barrier has ordered the next copy, or dispatch, after the last frame's readers.
    let (mut copies_wait, mut dispatches_wait) = (false, false);
    for (at, command) in commands.iter().enumerate() {
        match *command {
            Command::Barrier { before, after } => {
                let reads = Access::SHADER_READ;
                let shaders = after.0.contains(READERS) && after.1.contains(reads);
                let skin = after.0.contains(Stage::COMPUTE_SHADER) && after.1.contains(reads);
                let from_copy =
                    before.0.contains(Stage::TRANSFER) && before.1.contains(Access::TRANSFER_WRITE);
                let from_compute = before.0.contains(Stage::COMPUTE_SHADER)
                    && before.1.contains(Access::SHADER_WRITE);
                // Shaders do not read data for the host.
                if let Some(before) = before_copy.take()
                    && after.0 == Stage::HOST
                {
                    copied = before;
                }
                copied &= !(from_copy && (shaders || skin));
                dispatched &= !(from_compute && shaders);
                copies_wait |= before.0.contains(READERS) && after.0.contains(Stage::TRANSFER);
                dispatches_wait |=
                    before.0.contains(READERS) && after.0.contains(Stage::COMPUTE_SHADER);
            }
            Command::Copy => {
                if !copies_wait {
                    return Some(at);
                }
                before_copy = Some(copied);
                copied = true;
            }
            Command::Dispatch => {
                if copied || !dispatches_wait {
                    return Some(at);
                }
                dispatched = true;
            }
            Command::Draw => {
                if copied || dispatched {
                    return Some(at);
                }
            }
        }
    }
    None
}

#[test]
fn what_shaders_read_through_addresses_is_ordered() {
    each(|setup| {
        let commands = commands(setup);
        let count = |wanted: Command| commands.iter().filter(|one| **one == wanted).count();
        // The history alone has four copies; the skin stage has a dispatch.
        assert!(
            count(Command::Copy) >= 4 && count(Command::Dispatch) >= 1,
            "{commands:#?}"
        );
        assert!(count(Command::Draw) > 0);
        assert_eq!(unordered(&commands), None, "{commands:#?}");
        // The check is not blind: some barriers are needed, and without each the order breaks.
        let needed = (0..commands.len()).filter(|at| {
            let mut fewer = commands.clone();
            let left_out = fewer.remove(*at);
            matches!(left_out, Command::Barrier { .. }) && unordered(&fewer).is_some()
        });
        assert!(needed.count() >= 2, "{commands:#?}");
        // The fragment stage of the frame before is waited for only by copies that replace views.
        let waits = commands.iter().filter(|one| {
            matches!(one, Command::Barrier { before, after }
                if before.0.contains(Stage::FRAGMENT_SHADER) && !after.0.contains(Stage::TRANSFER))
        });
        assert_eq!(waits.count(), 0, "{commands:#?}");
    });
}
