//! Contexts under the validation layer, one at a time.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use throng::ash::vk;
use throng::gpu_allocator::MemoryLocation;
use throng_standalone::{Buffer, Context, ContextDesc};

pub(crate) fn desc() -> ContextDesc<'static> {
    ContextDesc {
        app_name: "standalone test",
        validation: true,
        ..ContextDesc::default()
    }
}

/// Makes the tests take turns.
///
/// Validation layers of 2023 look devices up in a table that another thread's new device may be
/// growing.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A context and the guard of its turn.
pub(crate) struct Alone {
    pub(crate) context: Context,
    // Released after the context is dropped.
    pub(crate) _turn: MutexGuard<'static, ()>,
}

impl Deref for Alone {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl DerefMut for Alone {
    fn deref_mut(&mut self) -> &mut Context {
        &mut self.context
    }
}

pub(crate) fn context() -> Alone {
    with(&desc())
}

pub(crate) fn with(desc: &ContextDesc<'_>) -> Alone {
    let turn = alone();
    Alone {
        context: second(desc),
        _turn: turn,
    }
}

/// Another context for a test that already has its turn.
pub(crate) fn second(desc: &ContextDesc<'_>) -> Context {
    let context = Context::new(desc).expect("a context under the validation layer");
    assert!(
        context.across_submits,
        "hazards across submissions are not checked: see .cargo/config.toml"
    );
    context
}

/// Drops the context, and fails on any message up to then.
pub(crate) fn finish(context: Alone) {
    let Alone { context, _turn } = context;
    finish_second(context);
}

pub(crate) fn finish_second(context: Context) {
    let messages = context.messages.clone();
    drop(context);
    messages.check().unwrap();
}

pub(crate) fn buffer(context: &Context, size: u64, location: MemoryLocation) -> Buffer {
    Buffer::new(
        context,
        "test buffer",
        size,
        vk::BufferUsageFlags::STORAGE_BUFFER,
        location,
    )
    .expect("a buffer")
}
