//! Lets wgpu validate, and returns what it says as an error.

use crate::error::{Error, Result};
use crate::gpu::Gpu;
use core::panic::AssertUnwindSafe;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::error::Error as _;
use std::panic::{catch_unwind, resume_unwind};
use wgpu::hal::vulkan::Api as Vulkan;

/// Runs `make` and returns its result, or the first error that wgpu reported about it.
///
/// Errors do not reach the device's handler of uncaptured errors, which panics by default.
pub(crate) fn scoped<T>(
    device: &wgpu::Device,
    what: &'static str,
    make: impl FnOnce() -> T,
) -> Result<T> {
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let made = make();
    let errors = [
        now(validation.pop()),
        now(memory.pop()),
        now(internal.pop()),
    ];
    match errors.into_iter().flatten().next() {
        None => Ok(made),
        Some(error) => Err(rejected(what, error)),
    }
}

/// The output of a future that is ready. Those of error scopes are, except in browsers.
fn now<T>(future: impl Future<Output = Option<T>>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => None,
    }
}

fn rejected(what: &'static str, error: wgpu::Error) -> Error {
    let mut cause = error.source();
    while let Some(one) = cause {
        let text = one.to_string();
        // The type of this error is not public.
        if text.contains("doesn't match") && text.contains("Device with") {
            return Error::OtherDevice { what, text };
        }
        cause = one.source();
    }
    Error::Rejected {
        what,
        source: error,
    }
}

/// Fails if a texture was destroyed. wgpu itself finds that when commands are submitted.
pub(crate) fn expect_alive(what: &'static str, texture: &wgpu::Texture) -> Result<()> {
    // SAFETY: the texture is not destroyed through the guard.
    let alive = unsafe { texture.as_hal::<Vulkan>() };
    alive.map(drop).ok_or(Error::Destroyed(what))
}

/// Runs `check`, in which wgpu validates the use of textures, and fails if one of them is of
/// another instance of wgpu.
///
/// wgpu finds objects by ids, which repeat in other instances ([`wgpu::Instance`]). So in `check`,
/// it takes such a texture for one of this instance, or panics if there is none with its id.
pub(crate) fn with_own<'t, T>(
    gpu: &Gpu,
    (what, textures): (&'static str, impl IntoIterator<Item = &'t wgpu::Texture>),
    check: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let checked = catch_unwind(AssertUnwindSafe(check));
    if !matches!(checked, Ok(Err(_))) {
        for texture in textures {
            expect_own(gpu, what, texture)?;
        }
    }
    checked.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Fails if a texture is of another device.
///
/// Errors about a texture always reach the device that made it. So this asks for a view that no
/// texture has, and looks if the error arrives at this device.
fn expect_own(gpu: &Gpu, what: &'static str, texture: &wgpu::Texture) -> Result<()> {
    let impossible = wgpu::TextureViewDescriptor {
        label: Some("throng asks whether this texture is of the crowd's device"),
        base_mip_level: u32::MAX,
        ..Default::default()
    };
    // By default, another device panics at such an error.
    let arrived = catch_unwind(AssertUnwindSafe(|| {
        let device = gpu.device();
        scoped(device, what, || drop(texture.create_view(&impossible)))
    }));
    match arrived {
        Ok(Err(_)) => Ok(()),
        // Lost devices report no errors.
        _ if gpu.is_lost() => Err(Error::DeviceLost),
        _ => Err(Error::OtherDevice {
            what,
            text: "it is of another wgpu::Instance".into(),
        }),
    }
}
