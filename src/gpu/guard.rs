//! Owners of Vulkan objects: how they are destroyed, and what happens if a constructor fails.

use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

/// An owner of objects that are destroyed explicitly.
pub(crate) trait Destroy {
    /// The device of the objects: `&Device`, or [`Gpu`](super::Gpu) if they have memory.
    type With<'a>: Copy;

    /// Destroys the objects. A second call does nothing.
    ///
    /// # Safety
    /// Not in use by the GPU. The objects were made with `with`.
    unsafe fn destroy(&mut self, with: Self::With<'_>);
}

/// Implements [`Destroy`] for a struct: the objects of these fields are destroyed in this order.
macro_rules! destroy_fields {
    ($owner:ty, $with:ty: $($field:tt),+) => {
        impl $crate::gpu::Destroy for $owner {
            type With<'a> = $with;

            unsafe fn destroy(&mut self, with: Self::With<'_>) {
                // SAFETY: this function has the same contract.
                unsafe { $($crate::gpu::Destroy::destroy(&mut self.$field, with.into());)+ }
            }
        }
    };
}
pub(crate) use destroy_fields;

/// Implements [`Destroy`] for what holds owners: `$each` goes through them.
macro_rules! destroy_each {
    ($(<$($generic:ident),+> $holder:ty: $this:ident => $each:expr;)+) => {$(
        impl<$($generic),+> Destroy for $holder
        where
            T: Destroy,
        {
            type With<'a> = T::With<'a>;

            unsafe fn destroy(&mut self, with: Self::With<'_>) {
                let $this = self;
                for owner in $each {
                    // SAFETY: this function has the same contract.
                    unsafe { owner.destroy(with) };
                }
            }
        }
    )+};
}

destroy_each! {
    <T> Option<T>: option => option.iter_mut();
    <T> Vec<T>: list => list;
    <T> Box<T>: owner => [&mut **owner];
    <T, K> (K, T): pair => [&mut pair.1];
    <T, E> Result<T, E>: result => result.iter_mut();
}

/// A new owner. It is destroyed when it is dropped, unless it is kept.
///
/// So a constructor that fails half-way leaves nothing, and this is the one place that sees to it.
/// No command may be recorded that uses the objects until they are kept.
pub(crate) struct Guard<'g, T: Destroy> {
    owner: ManuallyDrop<T>,
    with: T::With<'g>,
}

impl<'g, T: Destroy> Guard<'g, T> {
    /// Guards an owner that was just made with `with`.
    pub(crate) fn new(with: T::With<'g>, owner: T) -> Self {
        let owner = ManuallyDrop::new(owner);
        Self { owner, with }
    }

    /// Returns the owner. From now on, it must be destroyed explicitly.
    pub(crate) fn keep(self) -> T {
        let mut guard = ManuallyDrop::new(self);
        // SAFETY: the guard is not dropped, so nothing uses the owner again.
        unsafe { ManuallyDrop::take(&mut guard.owner) }
    }

    /// Moves the objects into another owner, which `f` makes.
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Guard<'g, U>
    where
        U: Destroy<With<'g> = T::With<'g>>,
    {
        Guard::new(self.with, f(self.keep()))
    }
}

impl<T: Destroy> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.owner
    }
}

impl<T: Destroy> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.owner
    }
}

impl<T: Destroy> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the objects were made with it, and no command buffer has used them, as `new` and
        // the type demand. The owner is dropped here alone.
        unsafe {
            self.owner.destroy(self.with);
            ManuallyDrop::drop(&mut self.owner);
        }
    }
}
