//! Contexts on the counting driver, and what their errors must say.

use crate::driver::reset;
use crate::interposed::entry;
use crate::objects::{KINDS, changes};
use crate::screen::{self, Window};
use crate::support::{Change, keep_loaded};
use std::collections::{BTreeMap, BTreeSet};
use throng::ash::vk;
use throng_standalone::{Context, ContextDesc, StandaloneError};

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

/// Creates a context for a window on the counting driver.
pub(crate) fn context() -> Result<Context, StandaloneError> {
    let entry = entry();
    let desc = ContextDesc {
        app_name: "throng's tests",
        entry: Some(&entry),
        validation: true,
        ..ContextDesc::default()
    };
    Context::for_window(&desc, &Window(1))
}

/// Drops the context. Nothing is left, and the validation layer has no message.
pub(crate) fn finish(context: Context) {
    let messages = context.messages.clone();
    drop(context);
    messages.check().unwrap();
    assert_eq!(changes(&[0; KINDS]), []);
}

/// Returns true if work can go on without this call.
///
/// The name of an object may be lost, and there may be other memory to try.
pub(crate) fn may_be_ignored(call: &str) -> bool {
    OF_MEMORY.contains(&call) || call == "vkSetDebugUtilsObjectNameEXT"
}

/// Checks that an error names the call that failed, and its result.
pub(crate) fn check(error: &StandaloneError, failed: &str, answer: vk::Result) {
    let named = match error {
        StandaloneError::Vulkan { call, result } => *call == failed && *result == answer,
        StandaloneError::DeviceLost { call } => {
            // A device may be destroyed when it is lost, so waiting for it need not be an error.
            let ignored = failed == "vkDeviceWaitIdle" || may_be_ignored(failed);
            answer == LOST && (*call == failed || ignored)
        }
        StandaloneError::SurfaceLost { call } => {
            *call == failed && answer == vk::Result::ERROR_SURFACE_LOST_KHR
        }
        StandaloneError::Allocator { .. } => OF_MEMORY.contains(&failed),
        StandaloneError::NoDevice { devices, .. } => {
            devices.iter().any(|(_, why)| why.contains(failed))
        }
        _ => false,
    };
    assert!(named, "{error:?} for {failed} with {answer:?}");
}

/// Some of the calls: those that differ in name or in neighbours, and the last of each name.
///
/// Calls that name an object are neighbours of nothing.
pub(crate) fn sample(calls: &[&'static str]) -> Vec<usize> {
    let naming = "vkSetDebugUtilsObjectNameEXT";
    let others: Vec<_> = (0..)
        .zip(calls)
        .filter(|(_, call)| **call != naming)
        .collect();
    let mut seen = BTreeSet::new();
    let mut some: BTreeSet<usize> = BTreeSet::new();
    for around in others.windows(3) {
        let names: Vec<_> = around.iter().map(|(_, call)| call).collect();
        if seen.insert(names) {
            some.insert(around[1].0);
        }
    }
    let last: BTreeMap<_, usize> = calls.iter().zip(0..).collect();
    some.extend(last.into_values());
    some.into_iter().collect()
}
