//! Contexts on the counting driver, and what their errors must say.

use crate::driver::{KINDS, changes, reset};
use crate::interposed::entry;
use crate::screen::{self, Window};
use crate::support::{Change, keep_loaded};
use std::sync::Arc;
use throng::ash::vk;
use throng::standalone::{Context, ContextDesc, Result, StandaloneError, Surface, Validation};

/// Errors about memory that could not be allocated or mapped.
pub(crate) const OF_MEMORY: [&str; 2] = ["vkAllocateMemory", "vkMapMemory"];
pub(crate) const MEMORY_ERRORS: [vk::Result; 2] = [
    vk::Result::ERROR_OUT_OF_HOST_MEMORY,
    vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
];
pub(crate) const LOST: vk::Result = vk::Result::ERROR_DEVICE_LOST;

/// The right to use the counting driver, which nothing else uses meanwhile.
pub(crate) fn alone() -> Change {
    let turn = Change::begin();
    keep_loaded();
    reset();
    screen::reset();
    turn
}

/// Creates a context on the counting driver, and the surface of a window.
pub(crate) fn context() -> Result<(Context, Surface)> {
    let entry = entry();
    let desc = ContextDesc {
        app_name: "throng's tests",
        entry: Some(&entry),
        validation: Validation::On,
        ..ContextDesc::default()
    };
    Context::for_window(&desc, Arc::new(Window))
}

/// Drops the context. Nothing is left, and the validation layer has no message.
pub(crate) fn finish(context: Context) {
    let messages = context.messages();
    drop(context);
    assert!(messages.is_empty(), "{}", messages.report());
    assert_eq!(changes(&[0; KINDS]), []);
}

/// Checks that an error names the call that failed, and its result.
pub(crate) fn check(error: &StandaloneError, failed: &str, answer: vk::Result) {
    let named = match error {
        StandaloneError::Vulkan { call, result } => *call == failed && *result == answer,
        StandaloneError::DeviceLost { call } => {
            // A device may be destroyed when it is lost, so waiting for it is no error.
            answer == LOST && (*call == failed || failed == "vkDeviceWaitIdle")
        }
        StandaloneError::SurfaceLost { call } => {
            *call == failed && answer == vk::Result::ERROR_SURFACE_LOST_KHR
        }
        StandaloneError::Allocator { .. } => OF_MEMORY.contains(&failed),
        StandaloneError::NoDevice { devices, .. } => {
            let mut reasons = devices.iter().flat_map(|device| &device.missing);
            reasons.any(|missing| format!("{missing:?}").contains(failed))
        }
        _ => false,
    };
    assert!(named, "{error:?} for {failed} with {answer:?}");
}
