//! Lets wgpu validate, and returns what it says as an error.

use crate::error::{Error, Result};
use crate::gpu::Gpu;
use core::panic::AssertUnwindSafe;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::error::Error as _;
use std::panic::{catch_unwind, resume_unwind};

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

/// Runs `call`, in which wgpu panics if the device is lost, and returns an error then.
///
/// Other panics, such as those of the program's callbacks, go on.
pub(crate) fn unless_lost<T>(gpu: &Gpu, call: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>();
        let is_fatal = text.is_some_and(|text| text.starts_with("Error in "));
        match is_fatal && gpu.is_lost() {
            true => Err(Error::DeviceLost),
            false => resume_unwind(panic),
        }
    })
}
