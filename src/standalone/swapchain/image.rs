//! An image of a swapchain.

use super::super::attachments::Final;
use super::super::{Result, StandaloneError};
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The name of the swapchain in errors.
pub(super) const OBJECT: &str = "the swapchain";

/// An acquired image. Draw to it, submit it, then present it.
///
/// If it is dropped instead, the next [`Swapchain::acquire`](super::Swapchain::acquire) recreates
/// the images.
#[derive(Debug)]
#[must_use = "an acquired image is to be submitted and presented"]
pub struct SwapchainImage {
    pub(super) index: u32,
    pub(super) target: (vk::Image, vk::ImageView),
    pub(in crate::standalone) rendered: vk::Semaphore,
    pub(super) of: Arc<Generation>,
    /// The number of the frame that acquired it.
    pub(super) frame: u64,
    pub(super) submitted: AtomicBool,
}

/// Shared by the images between two recreations of a swapchain, and by its acquired images.
#[derive(Debug, Default)]
pub(super) struct Generation {
    pub(super) destroyed: AtomicBool,
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

    /// Fails if this image cannot be submitted with a frame.
    pub(in crate::standalone) fn check_submit(&self, frame: u64) -> Result<()> {
        if self.frame != frame {
            return Err(self.wrong("was acquired with another frame"));
        }
        if self.of.destroyed.load(Ordering::Relaxed) {
            return Err(self.wrong("belongs to a swapchain that was destroyed"));
        }
        Ok(())
    }

    pub(in crate::standalone) fn submitted(&self) {
        self.submitted.store(true, Ordering::Relaxed);
    }

    /// Fails if this image cannot be presented by the swapchain with these images.
    pub(super) fn check_present(&self, shown: Option<&Arc<Generation>>) -> Result<()> {
        if !shown.is_some_and(|shown| Arc::ptr_eq(shown, &self.of)) {
            return Err(self.wrong("belongs to another swapchain"));
        }
        if !self.submitted.load(Ordering::Relaxed) {
            return Err(self.wrong("must be submitted before it is presented"));
        }
        Ok(())
    }

    fn wrong(&self, rule: &'static str) -> StandaloneError {
        let index = self.index;
        StandaloneError::WrongImage { index, rule }
    }
}
