//! An image of a swapchain.

use super::super::attachments::Final;
use ash::vk;

/// The name of the swapchain in errors.
pub(super) const OBJECT: &str = "the swapchain";

/// An acquired image. Draw to it, submit it, then present it.
#[derive(Debug)]
#[must_use = "an acquired image is to be submitted and presented"]
pub struct SwapchainImage {
    pub(super) index: u32,
    pub(super) target: (vk::Image, vk::ImageView),
    pub(in crate::standalone) rendered: vk::Semaphore,
}

impl SwapchainImage {
    /// The image's index in the swapchain.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    pub(super) fn target(&self) -> Final {
        let (image, view) = self.target;
        Final { image, view }
    }
}
