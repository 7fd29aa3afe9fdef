//! GPU times on queues with few timestamp bits, or none.

use crate::counting::Counted;
use crate::support::frames::FramesInFlight;
use crate::support::{SMALL, Setup, each};
use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use throng::ash::{self, vk};
use throng::{Crowd, CrowdDesc};

static FAMILIES: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
thread_local! {
    /// The `timestampValidBits` of every queue family.
    static BITS: Cell<u32> = const { Cell::new(0) };
}

type Families =
    unsafe extern "system" fn(vk::PhysicalDevice, *mut u32, *mut vk::QueueFamilyProperties);

unsafe extern "system" fn families(
    device: vk::PhysicalDevice,
    count: *mut u32,
    out: *mut vk::QueueFamilyProperties,
) {
    unsafe {
        let real: Families = transmute(FAMILIES.load(Relaxed));
        real(device, count, out);
        for family in 0..if out.is_null() { 0 } else { *count as usize } {
            (*out.add(family)).timestamp_valid_bits = BITS.get();
        }
    }
}

/// The setup's instance, whose queue families have [`BITS`] timestamp bits.
fn instance(setup: &Setup) -> ash::Instance {
    let context = &setup.context;
    let handle = context.instance.handle();
    let load = |name: &CStr| {
        let real = unsafe { context.entry.get_instance_proc_addr(handle, name.as_ptr()) };
        let real = real.map_or(std::ptr::null(), |real| real as *const c_void);
        if name == c"vkGetPhysicalDeviceQueueFamilyProperties" {
            FAMILIES.store(real.cast_mut(), Relaxed);
            return families as *const c_void;
        }
        real
    };
    unsafe { ash::Instance::load_with(load, handle) }
}

/// The GPU times of a few frames, in milliseconds.
fn times(setup: &mut Setup, bits: u32) -> Vec<f64> {
    BITS.set(bits);
    let instance = instance(setup);
    let mut counted = Counted::new(setup);
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
    let desc = CrowdDesc {
        profile: true,
        ..setup.crowd_desc(2, SMALL)
    };
    let device = counted.device_of(setup, &instance, &counted.device);
    let allocator = &mut counted.allocator;
    let mut crowd = Crowd::new(&device, allocator, &desc).unwrap();
    let mut times = Vec::new();
    for number in 0..6 {
        let frame_index = number % 2;
        let cmd = frames_in_flight.begin(&setup.context, frame_index);
        unsafe {
            crowd.update(0.1).unwrap();
            let mut frame = crowd.begin_frame(allocator, frame_index, 0.1).unwrap();
            let seen = frame.gpu_times().iter();
            times.extend(seen.map(|(_, ms)| *ms));
            frame.record_prepare(cmd, &[]).unwrap();
            let scope = frame.begin_scope(cmd, "own");
            assert_eq!(scope.is_some(), bits > 0);
            frame.end_scope(cmd, scope);
        }
        frames_in_flight.submit(&setup.context, frame_index);
    }
    setup.context.wait_idle().unwrap();
    unsafe { crowd.destroy(allocator) };
    frames_in_flight.destroy(&setup.context);
    counted.finish();
    times
}

#[test]
fn a_queue_without_timestamps_has_no_times() {
    each(|setup| assert!(times(setup, 0).is_empty()));
}

#[test]
fn only_the_valid_bits_of_timestamps_count() {
    each(|setup| {
        assert!(!times(setup, 64).is_empty());
        let period_ms = f64::from(setup.context.properties.limits.timestamp_period) * 1e-6;
        let few = times(setup, 4);
        assert!(!few.is_empty());
        for ms in few {
            assert!(ms <= 15.0 * period_ms, "{ms}");
        }
    });
}
