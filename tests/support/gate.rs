//! Keeps the creation and the destruction of devices away from their use.
//!
//! Validation layers of 2023 look devices up in a table without a lock, and a new device may grow
//! that table. Tests on different devices may run at the same time, but while a device is created
//! or destroyed, no test runs.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Number of tests that may use a device at the same time, each its own.
const TESTS_AT_ONCE: usize = 4;

static STATE: Mutex<State> = Mutex::new(State {
    running: 0,
    waiting: 0,
    changing: false,
});
static CHANGED: Condvar = Condvar::new();

struct State {
    /// Number of tests that use a device.
    running: usize,
    /// Number of threads that wait to create or destroy a device. No test starts before them, so
    /// that those that wait for the same moment run side by side afterwards.
    waiting: usize,
    /// A device is being created or destroyed.
    changing: bool,
}

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_while(condition: impl FnMut(&mut State) -> bool) -> MutexGuard<'static, State> {
    let state = CHANGED.wait_while(lock(), condition);
    state.unwrap_or_else(PoisonError::into_inner)
}

/// The right to create and destroy devices. Nobody uses one meanwhile.
pub struct Change;

impl Change {
    pub fn begin() -> Self {
        lock().waiting += 1;
        let mut state = wait_while(|state| state.changing || state.running > 0);
        state.waiting -= 1;
        state.changing = true;
        Self
    }

    /// Creates or destroys another device in a test that uses one: its [`Use`] ends meanwhile.
    ///
    /// `change` must not panic, because the test has no right to its device then.
    pub fn amid_use<T>(change: impl FnOnce() -> T) -> T {
        lock().running -= 1;
        let turn = Self::begin();
        let made = change();
        drop(turn);
        std::mem::forget(Use::begin());
        made
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        lock().changing = false;
        CHANGED.notify_all();
    }
}

/// The right to use a device, beside at most `TESTS_AT_ONCE - 1` others.
///
/// When it ends, the right to destroy the device begins, and lasts until [`End`] is dropped.
pub struct Use(());

impl Use {
    pub fn begin() -> (Self, End) {
        let mut state = wait_while(|state| {
            state.changing || state.waiting > 0 || state.running >= TESTS_AT_ONCE
        });
        state.running += 1;
        (Self(()), End(()))
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        lock().running -= 1;
        CHANGED.notify_all();
        std::mem::forget(Change::begin());
    }
}

/// Ends the right to destroy a device that began with the end of its [`Use`].
pub struct End(());

impl Drop for End {
    fn drop(&mut self) {
        drop(Change);
    }
}
