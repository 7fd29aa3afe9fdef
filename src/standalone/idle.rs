//! Waiting for a device whose objects are about to be destroyed.

use super::Result;
use super::error::Check;
use ash::vk;
use std::time::Duration;

/// Number of times that [`settle`] calls `vkDeviceWaitIdle`, which may run out of memory.
const ATTEMPTS: u32 = 10;
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// Waits until the device uses none of its objects.
///
/// A lost device counts as idle, because its objects may be destroyed.
///
/// # Safety
///
/// The device is alive, and no other thread uses its queues.
pub(super) unsafe fn settle(device: &ash::Device) -> Result<()> {
    let mut attempt = 1;
    loop {
        // SAFETY: the caller guarantees that no other thread uses the queues.
        match unsafe { device.device_wait_idle() } {
            Ok(()) | Err(vk::Result::ERROR_DEVICE_LOST) => return Ok(()),
            Err(result) if attempt == ATTEMPTS => return Err(result).check("vkDeviceWaitIdle"),
            Err(_) => std::thread::sleep(PAUSE),
        }
        attempt += 1;
    }
}
