//! The harness of worlds and models finds a planted fault, and shrinks it.

use crate::reference::explore::{Operation, explore};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Numbers in a set and in a list, which forgets its first number if it has five when one is taken.
fn run(operations: &[Operation], is_faulty: bool) -> usize {
    let (mut model, mut world) = (BTreeSet::new(), Vec::new());
    for operation in operations {
        let (what, mut rng) = operation.choose(&[(3, "put"), (3, "take"), (2, "look")]);
        let number = rng.below(100);
        match what {
            "put" if model.insert(number) => world.push(number),
            "take" if is_faulty && world.len() == 5 => _ = world.remove(0),
            "take" => {
                if let Some(last) = world.pop() {
                    assert!(model.remove(&last), "{last} is in both");
                }
            }
            _ => {}
        }
        assert!(model.iter().all(|number| world.contains(number)), "forgot");
    }
    model.len()
}

#[test]
fn a_planted_fault_is_found_and_shrunk_to_what_it_needs() {
    for seed in 0..20 {
        let lengths = RefCell::new(Vec::new());
        let attempt = |operations: &[Operation]| {
            lengths.borrow_mut().push(operations.len());
            run(operations, true)
        };
        let panic = catch_unwind(AssertUnwindSafe(|| explore(seed, 400, attempt))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"forgot"), "seed {seed}");
        let lengths = lengths.into_inner();
        // Five numbers are put, and one is taken. Another that is put and taken may stay, because
        // neither can go without the other.
        let (first, last) = (lengths[0], lengths[lengths.len() - 1]);
        assert!(
            first == 400 && (6..=10).contains(&last),
            "seed {seed}: {last}"
        );
        assert!(lengths.len() < 150, "seed {seed}: {} runs", lengths.len());
    }
}

#[test]
fn a_world_without_a_fault_passes_with_all_operations() {
    let mut runs = 0;
    explore(1, 400, |operations| {
        runs += 1;
        assert_eq!(operations.len(), 400);
        run(operations, false)
    });
    assert_eq!(runs, 1);
}
