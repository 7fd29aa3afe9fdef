//! Lives of a crowd in which any call can fail, and which end or go on.

use crate::driver::{LOSABLE, failing_with, reset, revive, traced};
use crate::ending::{LOST, MEMORY_ERRORS, alone, context, finish, may_be_ignored, sample};
use crate::interposed::is_intercepted;
use crate::life::{Life, STEPS};
use crate::objects::{KINDS, MEMORY, changes, live, objects};
use crate::reference::picture::{covered, different};
use crate::reference::sweep::is_thorough;
use std::collections::{BTreeMap, BTreeSet};
use throng::ash::vk;
use throng_standalone::{Context, StandaloneError};

fn start() -> Context {
    context().unwrap()
}

/// The calls of a whole life, and its picture.
fn undisturbed(context: &mut Context) -> (Vec<&'static str>, Vec<u8>) {
    let before = objects();
    let mut life = Life::default();
    let (result, calls) = traced(|| life.live(context));
    result.unwrap();
    assert!(!life.crowd.as_ref().unwrap().gpu_times().is_empty());
    life.destroy(context);
    assert_eq!(objects(), before);
    assert!(covered(&life.picture) > 300);
    (calls, life.picture)
}

/// Makes one call of a life fail, and destroys everything.
fn end(context: &mut Context, (number, call, answer): (usize, &str, vk::Result)) {
    let mut life = Life::default();
    let (result, failed) = failing_with(number as i64, answer, || life.live(context));
    assert_eq!(failed, Some(call), "call {number}");
    match result {
        Err(error) => error.check(call, answer),
        Ok(()) => assert!(may_be_ignored(call), "{answer:?} of {call} is ignored"),
    }
    if answer == LOST {
        let idle = context.wait_idle();
        assert!(
            matches!(idle, Err(StandaloneError::DeviceLost { .. })),
            "{idle:?}"
        );
    }
    life.destroy(context);
    let report = context.allocator().generate_report();
    assert!(report.allocations.is_empty(), "{:?}", report.allocations);
    let messages = context.messages.clone();
    let checked = messages.check();
    checked.unwrap_or_else(|error| panic!("{call} ({number}): {error}"));
    revive();
}

/// The device is lost at a call, or it runs out of memory, and everything is destroyed.
#[test]
fn a_life_can_end_at_every_call() {
    let _turn = alone();
    let mut context = start();
    // The first life leaves memory to the allocator, which the second does not take again.
    undisturbed(&mut context);
    let (calls, _) = undisturbed(&mut context);
    let before = objects();
    let mut tried = BTreeMap::<&str, usize>::new();
    let step = if is_thorough() { 1 } else { 4 };
    for (at, number) in sample(&calls).into_iter().step_by(step).enumerate() {
        let call = calls[number];
        // The calls that can tell that the device is lost, and the others with each error in turn.
        let each = [LOST, MEMORY_ERRORS[0], MEMORY_ERRORS[1]];
        let can_tell = LOSABLE.contains(&call);
        let answer = if can_tell { LOST } else { each[at % 3] };
        *tried.entry(call).or_default() += 1;
        end(&mut context, (number, call, answer));
        assert_eq!(objects(), before, "left over after {answer:?} of {call}");
    }
    println!(
        "{} calls, {} failures: {tried:?}",
        calls.len(),
        tried.values().sum::<usize>()
    );
    finish(context);
}

/// Every call of a life runs out of memory, and the life goes on as if nothing had happened.
#[test]
fn a_life_goes_on_after_every_call() {
    let _turn = alone();
    let mut context = start();
    let (_, picture) = undisturbed(&mut context);
    finish(context);
    // The allocator of a new context has no memory yet.
    let mut context = start();
    let before = live();
    let mut life = Life::default();
    let mut failures = 0;
    while life.next < STEPS {
        let step = life.next;
        // Crowds, characters and passes have tests of their own, in which each call fails.
        if (3..=8).contains(&step) || step == 13 {
            life.step(&mut context).unwrap();
            continue;
        }
        let mut number = 0;
        'calls: loop {
            for answer in MEMORY_ERRORS {
                let now = live();
                let (result, failed) = failing_with(number, answer, || life.step(&mut context));
                let Some(call) = failed else {
                    result.unwrap();
                    break 'calls;
                };
                failures += 1;
                match result {
                    Err(error) => {
                        error.check(call, answer);
                        // A frame may free what no frame in flight uses any more.
                        let more = changes(&now).into_iter();
                        let more =
                            { more }.find(|(kind, more)| *more > 0 && *kind != "memory blocks");
                        assert_eq!(more, None, "left over after {answer:?} of {call}");
                    }
                    // The step is over. It is taken again for the calls that are left.
                    Ok(()) => {
                        // What is dropped waits again.
                        let ignored = may_be_ignored(call) || call == "vkDeviceWaitIdle";
                        assert!(ignored, "{answer:?} of {call} is ignored");
                        life.repeat(step);
                    }
                }
            }
            number += 1;
            assert!(number < 200, "there is no end to it");
        }
    }
    assert_eq!(different(&life.picture, &picture, 0), 0, "another picture");
    life.destroy(&mut context);
    let changed = changes(&before);
    assert!(
        changed.iter().all(|(kind, _)| *kind == "memory blocks"),
        "{changed:?}"
    );
    println!(
        "{failures} failures, {} frames, {} blocks",
        life.drawn,
        live()[MEMORY]
    );
    finish(context);
}

/// The context is dropped while its device is lost.
#[test]
fn a_lost_device_is_destroyed_with_its_context() {
    let _turn = alone();
    for wanted in ["vkQueueSubmit2", "vkWaitForFences", "vkGetQueryPoolResults"] {
        let mut context = start();
        let mut life = Life::default();
        let (result, calls) = traced(|| life.live(&mut context));
        result.unwrap();
        life.destroy(&mut context);
        finish(context);
        let mut context = start();
        let number = calls.iter().rposition(|call| *call == wanted).unwrap();
        let mut life = Life::default();
        let (result, _) = failing_with(number as i64, LOST, || life.live(&mut context));
        result.unwrap_err().check(wanted, LOST);
        life.destroy(&mut context);
        finish(context);
        assert_eq!(live(), [0; KINDS]);
        revive();
    }
}

/// A crowd that is dropped without `destroy` is leaked, and waits for nothing.
#[test]
fn drops_do_not_wait_for_a_lost_device() {
    let _turn = alone();
    let mut context = start();
    let mut life = Life::default();
    life.live(&mut context).unwrap();
    let (lost, _) = failing_with(0, LOST, || context.wait_idle());
    assert!(
        matches!(lost, Err(StandaloneError::DeviceLost { .. })),
        "{lost:?}"
    );
    let before = objects();
    let crowd = life.crowd.take();
    let (_, calls) = traced(|| drop(crowd));
    assert_eq!((objects(), calls), (before, Vec::new()));
    // The objects are leaked for good, and so is the device.
    std::mem::forget(context);
    reset();
}

/// The names of the calls whose result the crate looks at.
fn named_calls() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = ["../src", "../standalone/src"]
        .map(|it| root.join(it))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|it| it != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let quoted = text.split('"').skip(1).step_by(2);
            names.extend(
                quoted
                    .filter(|name| name.starts_with("vk") && !name.contains(' '))
                    .map(str::to_owned),
            );
        }
    }
    names
}

/// Calls of other window systems, and a function that is looked up, but not called.
const NOT_HERE: [&str; 6] = [
    "vkCreateAccelerationStructureKHR",
    "vkCreateMetalSurfaceEXT",
    "vkCreateWaylandSurfaceKHR",
    "vkCreateWin32SurfaceKHR",
    "vkCreateXcbSurfaceKHR",
    "vkCreateXlibSurfaceKHR",
];

#[test]
fn every_call_that_returns_a_result_can_be_made_to_fail() {
    let names = named_calls();
    assert!(names.len() > 40, "{names:?}");
    let missing: Vec<_> = { names.iter() }
        .filter(|name| !is_intercepted(name) && !NOT_HERE.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
