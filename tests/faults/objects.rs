//! The numbers of live objects.
//!
//! They are those of the thread.

use std::cell::Cell;

pub(crate) const KINDS: usize = 20;
pub(crate) const PIPELINES: usize = 9;
pub(crate) const MEMORY: usize = 10;
pub(crate) const SURFACES: usize = 14;
pub(crate) const SWAPCHAINS: usize = 15;
pub(crate) const INSTANCES: usize = 17;
pub(crate) const DEVICES: usize = 16;
pub(crate) const MESSENGERS: usize = 18;
pub(crate) const EVENTS: usize = 19;
const NAMES: [&str; KINDS] = [
    "buffers",
    "images",
    "image views",
    "samplers",
    "descriptor pools",
    "descriptor set layouts",
    "pipeline layouts",
    "shader modules",
    "query pools",
    "pipelines",
    "memory blocks",
    "command pools",
    "fences",
    "semaphores",
    "surfaces",
    "swapchains",
    "devices",
    "instances",
    "messengers",
    "events",
];
thread_local! {
    static LIVE: Cell<[i64; KINDS]> = const { Cell::new([0; KINDS]) };
}

/// The number of live objects of each kind.
pub(crate) fn live() -> [i64; KINDS] {
    LIVE.get()
}

/// The same without memory blocks, which the allocator may keep.
pub(crate) fn objects() -> [i64; KINDS] {
    let mut live = live();
    live[MEMORY] = 0;
    live
}

/// The kinds of which there are more or fewer objects than before.
pub(crate) fn changes(before: &[i64; KINDS]) -> Vec<(&'static str, i64)> {
    let now = live();
    let changed = (0..KINDS).filter(|&kind| now[kind] != before[kind]);
    changed
        .map(|kind| (NAMES[kind], now[kind] - before[kind]))
        .collect()
}

/// Adds to the number of live objects of a kind.
pub(crate) fn count(kind: usize, made: i64) {
    let mut live = LIVE.get();
    live[kind] += made;
    LIVE.set(live);
}

/// Forgets all objects.
pub(crate) fn forget() {
    LIVE.set([0; KINDS]);
}
