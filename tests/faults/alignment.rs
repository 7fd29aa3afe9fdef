//! Memory that the CPU writes is aligned to 64 bytes, even if the driver demands less.

use crate::counting::Counted;
use crate::reference::ribbon::{built, ribbon, standing};
use crate::reference::words::Says;
use crate::support::frames::FramesInFlight;
use crate::support::{CONFIGS, SMALL, Setup, placed};
use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use throng::animator::Animator;
use throng::ash::{self, vk};
use throng::glam::Affine3A;
use throng::gpu::{MemoryAllocator, MemoryBlock, MemoryRequest, PaletteRing, PaletteRingDesc};
use throng::gpu_allocator::MemoryLocation;
use throng::palette::Mat3x4;
use throng::{CharacterDesc, Crowd};

static REQUIREMENTS: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static PROPERTIES: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

type Requirements = unsafe extern "system" fn(vk::Device, vk::Buffer, *mut vk::MemoryRequirements);
type Properties =
    unsafe extern "system" fn(vk::PhysicalDevice, *mut vk::PhysicalDeviceProperties2<'_>);

unsafe extern "system" fn requirements(
    device: vk::Device,
    buffer: vk::Buffer,
    out: *mut vk::MemoryRequirements,
) {
    unsafe {
        let real: Requirements = transmute(REQUIREMENTS.load(Relaxed));
        real(device, buffer, out);
        (*out).alignment = 4;
    }
}

unsafe extern "system" fn properties(
    device: vk::PhysicalDevice,
    out: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    unsafe {
        let real: Properties = transmute(PROPERTIES.load(Relaxed));
        real(device, out);
        let limits = &mut (*out).properties.limits;
        limits.min_storage_buffer_offset_alignment = 4;
        limits.min_uniform_buffer_offset_alignment = 4;
    }
}

/// The instance and the device of a setup, whose functions answer an alignment of 4.
fn narrow(setup: &Setup, counted: &Counted) -> (ash::Instance, ash::Device) {
    let context = &setup.context;
    let (handle, device) = (context.instance.handle(), counted.device.handle());
    let wrap = |name: &CStr, real: *const c_void| match name.to_str().unwrap() {
        "vkGetBufferMemoryRequirements" => {
            REQUIREMENTS.store(real.cast_mut(), Relaxed);
            requirements as *const c_void
        }
        "vkGetPhysicalDeviceProperties2" => {
            PROPERTIES.store(real.cast_mut(), Relaxed);
            properties as *const c_void
        }
        _ => real,
    };
    let address = |real: vk::PFN_vkVoidFunction| real.map_or(std::ptr::null(), |f| f as *const _);
    unsafe {
        let instance = ash::Instance::load_with(
            |name| {
                let real = context.entry.get_instance_proc_addr(handle, name.as_ptr());
                wrap(name, address(real))
            },
            handle,
        );
        let device = ash::Device::load_with(
            |name| {
                let real = context.instance.get_device_proc_addr(device, name.as_ptr());
                wrap(name, address(real))
            },
            device,
        );
        (instance, device)
    }
}

/// Takes 20 bytes of each kind of memory that the CPU writes, so that the next allocation with an
/// alignment of 4 starts at byte 20.
fn take_20_bytes(setup: &Setup, allocator: &mut dyn MemoryAllocator) -> Vec<MemoryBlock> {
    let context = &setup.context;
    let memory = unsafe {
        let physical = context.physical_device;
        context
            .instance
            .get_physical_device_memory_properties(physical)
    };
    let types = memory.memory_types_as_slice().iter().enumerate();
    let mapped = types.filter(|(_, kind)| {
        let flags = kind.property_flags;
        flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)
    });
    mapped
        .map(|(index, _)| {
            let desc = MemoryRequest {
                name: "20 bytes",
                requirements: vk::MemoryRequirements {
                    size: 20,
                    alignment: 4,
                    memory_type_bits: 1 << index,
                },
                location: MemoryLocation::CpuToGpu,
                linear: true,
                device_address: true,
            };
            allocator.allocate(&desc).unwrap()
        })
        .collect()
}

#[test]
fn palettes_are_written_to_memory_of_a_driver_with_an_alignment_of_4() {
    let character = built(ribbon(5)).character;
    let entries = character.palette().len() as u32;
    let mut animator = Animator::new(&character).unwrap();
    let actors: Vec<_> = (0..20)
        .map(|_| animator.add(standing(Some((0, 0.3)))).unwrap())
        .collect();
    for config in CONFIGS {
        let setup = Setup::new(config);
        let mut counted = Counted::new(&setup);
        let (instance, raw) = narrow(&setup, &counted);
        let taken = take_20_bytes(&setup, &mut counted.allocator);
        let device = counted.device_of(&setup, &instance, &raw);
        let allocator = &mut counted.allocator;
        let desc = PaletteRingDesc {
            frames_in_flight: 3,
            // Not a multiple of 64 bytes.
            entries: entries * 20 + 1,
            staged: config.staged,
            ..PaletteRingDesc::default()
        };
        let mut ring = PaletteRing::new(&device, allocator, &desc).unwrap();
        for frame_index in 0..3 {
            let out = unsafe { ring.writer::<Mat3x4>(frame_index, 0, entries * 20) }.unwrap();
            animator.palettes(&actors, out).unwrap();
            // The ring refuses memory whose start is not aligned.
            let from_start = ring.address(frame_index) - ring.address(0);
            assert_eq!(from_start % 64, 0, "frame index {frame_index}");
        }
        unsafe { ring.destroy(&device, allocator) };
        for taken in taken {
            unsafe { allocator.free(taken) }.unwrap();
        }
        counted.finish();
    }
}

#[test]
fn a_crowd_prepares_frames_on_a_driver_with_an_alignment_of_4() {
    for config in CONFIGS {
        let setup = Setup::new(config);
        let messages = setup.context.messages.clone();
        let mut counted = Counted::new(&setup);
        let (instance, raw) = narrow(&setup, &counted);
        let taken = take_20_bytes(&setup, &mut counted.allocator);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let desc = setup.crowd_desc(2, SMALL);
        let device = counted.device_of(&setup, &instance, &raw);
        let allocator = &mut counted.allocator;
        let mut crowd = Crowd::new(&device, allocator, &desc).unwrap();
        let character = built(ribbon(5)).character;
        let id = crowd
            .add_character(allocator, &character, &CharacterDesc::default())
            .unwrap();
        let spawn = placed(Affine3A::IDENTITY, "sway");
        for _ in 0..5 {
            crowd.spawn(id, &spawn).unwrap();
        }
        for number in 0..4 {
            let cmd = frames_in_flight.begin(&setup.context, number % 2);
            unsafe {
                crowd.update(0.1).unwrap();
                let mut frame = crowd.begin_frame(allocator, number % 2, 0.1).unwrap();
                frame.record_prepare(cmd, &[]).unwrap();
            }
            frames_in_flight.submit(&setup.context, number % 2);
        }
        setup.context.wait_idle().unwrap();
        unsafe { crowd.destroy(allocator) };
        for taken in taken {
            unsafe { allocator.free(taken) }.unwrap();
        }
        frames_in_flight.destroy(&setup.context);
        counted.finish();
        drop(setup);
        // The layer knows the real alignment of buffers that only the GPU uses.
        const REAL: &str = "VUID-vkBindBufferMemory-memoryOffset-01036";
        for message in messages.all() {
            message.says(format!("…{REAL}…"));
        }
    }
}
