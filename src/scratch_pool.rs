//! Working memory that is kept from call to call and lent to one thread at a time.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use core::{fmt, ptr};

/// The most objects that are kept. More are made and freed at each call.
const SLOTS: usize = 256;

/// Objects that threads borrow and return, without locks.
///
/// A slot holds an object that nobody uses, or null. A thread takes an object by swapping the
/// pointer for null, so no thread ever waits for another.
pub(crate) struct ScratchPool<T: Send> {
    slots: Box<[AtomicPtr<T>]>,
    /// The number of objects, including those in use.
    made: AtomicUsize,
    own: PhantomData<T>,
}

impl<T: Send> Default for ScratchPool<T> {
    fn default() -> Self {
        Self {
            slots: (0..SLOTS).map(|_| AtomicPtr::default()).collect(),
            made: AtomicUsize::new(0),
            own: PhantomData,
        }
    }
}

/// Without objects: the clone makes its own.
impl<T: Send> Clone for ScratchPool<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T: Send> fmt::Debug for ScratchPool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = self.made.load(Ordering::Relaxed);
        f.debug_struct("ScratchPool").field("made", &made).finish()
    }
}

/// An object that returns to its pool when it is dropped.
pub(crate) struct Lent<'a, T: Send> {
    object: ManuallyDrop<Box<T>>,
    pool: &'a ScratchPool<T>,
}

impl<T: Send> ScratchPool<T> {
    /// Borrows an object, or makes one if all are in use.
    pub(crate) fn lend(&self, make: impl FnOnce() -> Box<T>) -> Lent<'_, T> {
        let object = self.slots.iter().find_map(take).unwrap_or_else(|| {
            self.made.fetch_add(1, Ordering::Relaxed);
            make()
        });
        Lent {
            object: ManuallyDrop::new(object),
            pool: self,
        }
    }

    /// Makes objects until there are `count`, and changes those that are not in use.
    ///
    /// `count` threads can then borrow at the same time without an allocation.
    pub(crate) fn make_room(
        &self,
        count: usize,
        make: impl Fn() -> Box<T>,
        mut change: impl FnMut(&mut T),
    ) {
        let more = |made: usize| (made < count.min(SLOTS)).then_some(made + 1);
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        while self.made.fetch_update(set, get, more).is_ok() {
            self.give_back(make());
        }
        for slot in &self.slots {
            if let Some(mut object) = take(slot) {
                change(&mut object);
                self.give_back(object);
            }
        }
    }

    fn give_back(&self, object: Box<T>) {
        let object = Box::into_raw(object);
        let (empty, set, failed) = (ptr::null_mut(), Ordering::AcqRel, Ordering::Relaxed);
        let put = |slot: &AtomicPtr<T>| {
            let is_empty = slot.load(Ordering::Relaxed).is_null();
            is_empty && slot.compare_exchange(empty, object, set, failed).is_ok()
        };
        if !self.slots.iter().any(put) {
            self.made.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: the pointer comes from the box above, and no slot has it.
            drop(unsafe { Box::from_raw(object) });
        }
    }
}

fn take<T>(slot: &AtomicPtr<T>) -> Option<Box<T>> {
    if slot.load(Ordering::Relaxed).is_null() {
        return None;
    }
    let object = slot.swap(ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: pointers in slots come from boxes, and the swap gave this one to this thread alone.
    (!object.is_null()).then(|| unsafe { Box::from_raw(object) })
}

impl<T: Send> Drop for ScratchPool<T> {
    fn drop(&mut self) {
        self.slots.iter().for_each(|slot| drop(take(slot)));
    }
}

impl<T: Send> Deref for Lent<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T: Send> DerefMut for Lent<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.object
    }
}

impl<T: Send> Drop for Lent<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes the object, and nothing uses it afterwards.
        let object = unsafe { ManuallyDrop::take(&mut self.object) };
        self.pool.give_back(object);
    }
}
