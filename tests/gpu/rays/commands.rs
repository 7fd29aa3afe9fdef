//! A device that notes commands, buffers and pipelines, and can leave out a barrier.

use super::EXTENT;
use crate::support::frames::FramesInFlight;
use crate::support::{SMALL, Setup, each_with_rays, view};
use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use throng::ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};
use throng::ash::{self, vk};
use throng::glam::Vec3;
use throng::gpu::{Device, Features};
use throng::{Crowd, CrowdDesc, RayDesc, Spawn, Stages, builtin};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Noted {
    Barrier {
        before: (Stage, Access),
        after: (Stage, Access),
    },
    Dispatch,
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
}

thread_local! {
    static NOTES: RefCell<Notes> = RefCell::default();
}

/// The notes of this thread since the last call. From now on, a barrier is left out, if it has
/// a number.
pub(super) fn notes(left_out: Option<usize>) -> Vec<Noted> {
    let notes = Notes {
        left_out,
        ..Notes::default()
    };
    NOTES.replace(notes).all
}

/// Notes something, and returns whether it is left out.
fn note(noted: Noted) -> bool {
    NOTES.with_borrow_mut(|notes| {
        notes.all.push(noted);
        if !matches!(noted, Noted::Barrier { .. }) {
            return false;
        }
        notes.barriers += 1;
        notes.left_out == Some(notes.barriers - 1)
    })
}

static REAL: [AtomicPtr<c_void>; HOOKS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; HOOKS];

/// Functions that note something of their arguments, and do what the real ones do.
macro_rules! hooks {
    ($($at:literal $function:ident($($arg:ident: $kind:ty),*) $(-> $result:ty)? { $noted:expr })*) => {
        $(unsafe extern "system" fn $function($($arg: $kind),*) $(-> $result)? {
            note($noted);
            type Real = unsafe extern "system" fn($($kind),*) $(-> $result)?;
            unsafe { transmute::<*mut c_void, Real>(REAL[$at].load(Relaxed))($($arg),*) }
        })*
    };
}

hooks! {
    1 dispatch(cmd: vk::CommandBuffer, x: u32, y: u32, z: u32) { Noted::Dispatch }
    2 copy(
        cmd: vk::CommandBuffer,
        from: vk::Buffer,
        to: vk::Buffer,
        count: u32,
        regions: *const c_void
    ) { Noted::Copy }
    3 update(
        cmd: vk::CommandBuffer,
        buffer: vk::Buffer,
        offset: u64,
        bytes: u64,
        data: *const c_void
    ) { Noted::Update }
    4 fill(cmd: vk::CommandBuffer, buffer: vk::Buffer, offset: u64, bytes: u64, word: u32) {
        Noted::Fill
    }
    5 create_buffer(
        device: vk::Device,
        info: *const vk::BufferCreateInfo<'_>,
        callbacks: *const c_void,
        buffer: *mut vk::Buffer
    ) -> vk::Result { Noted::Buffer(unsafe { (*info).size }, unsafe { (*info).usage }) }
    6 create_pipelines(
        device: vk::Device,
        cache: vk::PipelineCache,
        count: u32,
        infos: *const c_void,
        callbacks: *const c_void,
        pipelines: *mut vk::Pipeline
    ) -> vk::Result { Noted::Pipelines(count) }
}

type Barrier = unsafe extern "system" fn(
    vk::CommandBuffer,
    Stage,
    Stage,
    vk::DependencyFlags,
    u32,
    *const vk::MemoryBarrier<'_>,
    u32,
    *const c_void,
    u32,
    *const c_void,
);

unsafe extern "system" fn barrier(
    cmd: vk::CommandBuffer,
    before: Stage,
    after: Stage,
    flags: vk::DependencyFlags,
    count: u32,
    memory: *const vk::MemoryBarrier<'_>,
    buffer_count: u32,
    buffers: *const c_void,
    image_count: u32,
    images: *const c_void,
) {
    let all = match count {
        0 => &[],
        _ => unsafe { std::slice::from_raw_parts(memory, count as usize) },
    };
    let access = |of: fn(&vk::MemoryBarrier<'_>) -> Access| {
        let each = all.iter().map(of);
        each.fold(Access::empty(), |all, one| all | one)
    };
    let noted = Noted::Barrier {
        before: (before, access(|it| it.src_access_mask)),
        after: (after, access(|it| it.dst_access_mask)),
    };
    if note(noted) {
        return;
    }
    unsafe {
        let real = transmute::<*mut c_void, Barrier>(REAL[0].load(Relaxed));
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

const HOOKS: usize = 7;

/// The setup's device with functions that note, as throng takes it, without some features.
pub(super) fn noting(setup: &Setup, without: Features) -> Device {
    let context = &setup.context;
    let handle = context.device.handle();
    let own: [(&CStr, *const c_void); HOOKS] = [
        (c"vkCmdPipelineBarrier", barrier as *const c_void),
        (c"vkCmdDispatch", dispatch as *const c_void),
        (c"vkCmdCopyBuffer", copy as *const c_void),
        (c"vkCmdUpdateBuffer", update as *const c_void),
        (c"vkCmdFillBuffer", fill as *const c_void),
        (c"vkCreateBuffer", create_buffer as *const c_void),
        (
            c"vkCreateComputePipelines",
            create_pipelines as *const c_void,
        ),
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
    let device = unsafe { ash::Device::load_with(load, handle) };
    let enabled = unsafe { context.gpu_device() }.enabled() - without;
    let physical_device = context.physical_device;
    unsafe { Device::new(&context.instance, physical_device, &device, enabled) }.unwrap()
}

/// The objects of a crowd, the commands of a few frames that record no rays, and the names and
/// bytes of its memory.
#[derive(Debug, PartialEq)]
struct Costs {
    made: Vec<Noted>,
    frames: Vec<Vec<Noted>>,
    memory: Vec<(String, u64)>,
}

impl Costs {
    fn new(setup: &mut Setup, without: Features, rays: Option<RayDesc>) -> Self {
        let device = noting(setup, without);
        notes(None);
        let desc = CrowdDesc {
            stages: Stages::Gpu,
            rays,
            ..setup.crowd_desc(2, SMALL)
        };
        let mut crowd = Crowd::new(&device, &mut setup.allocator(), &desc).unwrap();
        let kind = setup.add(&mut crowd, &builtin::mannequin().unwrap().character);
        for _ in 0..4 {
            let spawn = Spawn {
                play: "Walk".into(),
                ..Spawn::default()
            };
            crowd.spawn(kind, &spawn).unwrap();
        }
        let made = notes(None);
        let mut in_flight = FramesInFlight::new(&setup.context, 2);
        let frames = (0..4).map(|number| {
            let cmd = in_flight.begin(&setup.context, number % 2);
            let mut frame = setup.begin(&mut crowd, number % 2, 0.1 * f64::from(number));
            let seen = view(Vec3::new(0.0, 2.0, 9.0), Vec3::Y, EXTENT);
            unsafe { frame.record_prepare(cmd, &[seen]) }.unwrap();
            in_flight.submit(&setup.context, number % 2);
            notes(None)
        });
        let frames = frames.collect();
        let report = setup.context.allocator().generate_report();
        let memory = report.allocations.into_iter();
        let mut memory: Vec<_> = memory.map(|it| (it.name, it.size)).collect();
        memory.sort_unstable();
        in_flight.destroy(&setup.context);
        setup.destroy(crowd);
        Self {
            made,
            frames,
            memory,
        }
    }
}

/// A crowd without rays costs the same whether its device has acceleration structures or not:
/// buffers with their usages, pipelines, memory, and commands. A crowd with rays that records none
/// waits for traces in each frame, and records nothing else once all is uploaded.
#[test]
fn crowds_without_rays_cost_nothing_more() {
    each_with_rays(|setup| {
        let costs = Costs::new(setup, Features::ACCELERATION_STRUCTURE, None);
        let same = Costs::new(setup, Features::NONE, None);
        assert_eq!(costs.made, same.made);
        assert_eq!(costs.frames, same.frames);
        assert_eq!(costs.memory, same.memory);
        let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR
            | vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR;
        let of_rays = |it: &Noted| matches!(it, Noted::Buffer(_, own) if own.intersects(usage));
        assert!(!costs.made.iter().any(of_rays));
        let with = Costs::new(setup, Features::NONE, Some(RayDesc::default()));
        assert!(with.made.iter().any(of_rays));
        let traces = RayDesc::default().readers;
        // The first two upload, and one has structures made for builds that are never recorded.
        for (without, with) in costs.frames.iter().zip(&with.frames).skip(2) {
            let waits = |it: &&Noted| {
                let none = Access::empty();
                let then = Stage::COMPUTE_SHADER | Stage::TRANSFER;
                **it == Noted::Barrier {
                    before: (traces, none),
                    after: (then, none),
                }
            };
            assert_eq!(with.iter().filter(waits).count(), 1, "{with:?}");
            let with: Vec<_> = with.iter().filter(|it| !waits(it)).collect();
            assert_eq!(with, without.iter().collect::<Vec<_>>());
        }
    });
}
