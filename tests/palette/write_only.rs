//! The write-only view.

use crate::reference::batch::{Batch, Sample};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use throng::animator::{Animator, Play};
use throng::error::ArgumentFault;
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset, WriteOnly};
use throng::{Error, SimdLevel};

fn length(got: usize, need: usize) -> Error {
    Error::Argument {
        what: "elements to write",
        why: ArgumentFault::Length { got, need },
    }
}

#[test]
fn writes_all_or_nothing() {
    let mut memory = [9_u32; 4];
    let mut view = WriteOnly::from(&mut memory);
    assert_eq!((view.len(), view.is_empty()), (4, false));
    assert_eq!(view.fill_with(0..3), Err(length(3, 4)));
    assert_eq!(view.fill_with(0..5), Err(length(5, 4)));
    assert_eq!(view.copy_from(&[1; 3]), Err(length(3, 4)));
    assert_eq!(view.copy_from(&[1; 5]), Err(length(5, 4)));
    assert_eq!(memory, [9; 4]);
    WriteOnly::from(&mut memory).fill_with(0..4).unwrap();
    assert_eq!(memory, [0, 1, 2, 3]);
    WriteOnly::from(&mut memory)
        .copy_from(&[7, 6, 5, 4])
        .unwrap();
    assert_eq!(memory, [7, 6, 5, 4]);
}

#[test]
fn splits() {
    let mut memory = [0_u32; 5];
    let mut view = WriteOnly::from(&mut memory);
    view.copy_from(&[1; 5]).unwrap();
    let (mut head, tail) = view.split_at(2);
    assert_eq!((head.len(), tail.len()), (2, 3));
    head.copy_from(&[2, 2]).unwrap();
    let (mut middle, mut past) = tail.split_at(1);
    middle.fill_with(3..4).unwrap();
    past.copy_from(&[4, 4]).unwrap();
    assert_eq!(memory, [2, 2, 3, 4, 4]);

    let (all, none) = WriteOnly::from(&mut memory).split_at(99);
    assert_eq!((all.len(), none.len(), none.is_empty()), (5, 0, true));
    let (none, all) = WriteOnly::from(&mut memory).split_at(0);
    assert_eq!((none.len(), all.len()), (0, 5));
}

#[test]
fn nothing_is_a_length_as_well() {
    let mut none: [MaybeUninit<Mat3x4>; 0] = [];
    let mut view = WriteOnly::new(&mut none);
    view.fill_with(std::iter::empty()).unwrap();
    view.copy_from(&[]).unwrap();
    assert_eq!(view.copy_from(&[Mat3x4::IDENTITY]), Err(length(1, 0)));
}

/// If an iterator panics, everything that it has yielded is written, in ascending order.
///
/// Nothing else is written.
#[test]
fn fills_in_ascending_order_item_by_item() {
    for stop in 0..8 {
        let mut memory = [u32::MAX; 8];
        let mut view = WriteOnly::from(&mut memory);
        let items = (0..8).inspect(|item| assert_ne!(*item, stop, "stop here"));
        let outcome = catch_unwind(AssertUnwindSafe(|| view.fill_with(items)));
        assert!(outcome.is_err());
        for (at, value) in (0..).zip(memory) {
            assert_eq!(value, if at < stop { at } else { u32::MAX });
        }
    }
}

/// An iterator that reports one length and yields another.
struct Liar {
    says: usize,
    yields: u32,
}

impl Iterator for Liar {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.yields = self.yields.checked_sub(1)?;
        Some(self.yields)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.says, Some(self.says))
    }
}

impl ExactSizeIterator for Liar {}

#[test]
fn a_false_length_is_found_out() {
    let mut memory = [9_u32; 6];
    let (mut view, _) = WriteOnly::from(&mut memory).split_at(4);
    let short = Liar { says: 4, yields: 2 };
    assert_eq!(view.fill_with(short), Err(length(2, 4)));
    let long = Liar {
        says: 4,
        yields: 90,
    };
    view.fill_with(long).unwrap();
    assert_eq!(memory, [89, 88, 87, 86, 9, 9], "nothing past the end");
}

#[test]
fn goes_to_another_thread() {
    let mut memory = vec![MaybeUninit::uninit(); 64];
    let (left, right) = WriteOnly::new(&mut memory).split_at(32);
    std::thread::scope(|scope| {
        for mut half in [left, right] {
            scope.spawn(move || {
                half.fill_with(std::iter::repeat_n(Mat3x4::IDENTITY, 32))
                    .unwrap()
            });
        }
    });
    for entry in memory {
        // SAFETY: both halves have been filled without an error.
        assert_eq!(unsafe { entry.assume_init() }, Mat3x4::IDENTITY);
    }
}

/// A slice of 16-byte aligned elements at an address that is not a multiple of 16, as a driver or
/// an allocator might map it. Nothing writes through it.
#[test]
fn palettes_are_not_written_to_memory_that_is_not_aligned() {
    let character = throng::builtin::mannequin().unwrap().character;
    let mut animator = Animator::new(&character).unwrap();
    let actor = animator.add(Play::REST).unwrap();
    let entries = character.palette().len();
    let mut memory = vec![Mat3x4::IDENTITY; entries + 1];
    let before = memory.clone();
    for offset in [4, 8, 12] {
        let start = memory.as_mut_ptr().wrapping_byte_add(offset);
        // SAFETY: the memory is valid; no function writes to it, as the test proves.
        let out = unsafe { WriteOnly::<Mat3x4>::from_raw(start, entries) };
        let wrong = Err(Error::Argument {
            what: "palettes",
            why: ArgumentFault::Invalid(
                "is not aligned for its elements (16 bytes for palette entries)",
            ),
        });
        assert_eq!(animator.palettes(&[actor], out), wrong);
    }
    assert_eq!(memory, before);
}

/// Palettes may start at any multiple of 16 bytes, at every SIMD level and in every format.
#[test]
fn nothing_needs_more_than_the_alignment_of_an_entry() {
    fn check<E: PaletteEntry + std::fmt::Debug + PartialEq>() {
        let character = throng::builtin::mannequin().unwrap().character;
        let entries = character.palette().len();
        let walk = character.clip("Walk").unwrap().index();
        let instance = |number| [Sample::new(walk, 0.02 * f64::from(number))];
        let instances: Vec<_> = (0..37).map(instance).collect();
        let rows = entries * instances.len() * size_of::<E>() / 16;
        for level in SimdLevel::available() {
            let mut batch = Batch::new(&character, level, &instances);
            let wanted = batch.palettes(E::zeroed());
            let mut memory = vec![Mat3x4::IDENTITY; rows / 3 + 4];
            for row in 0..4 {
                let start = memory.as_mut_ptr().wrapping_byte_add(16 * row).cast();
                // SAFETY: the memory is long enough, and aligned to 16 bytes.
                let out = unsafe { WriteOnly::<E>::from_raw(start, wanted.len()) };
                batch.animator.palettes(&batch.actors, out).unwrap();
                // SAFETY: all entries were just written.
                let got = unsafe { std::slice::from_raw_parts(start.cast_const(), wanted.len()) };
                assert!(got == wanted, "{level:?}, {:?}, row {row}", E::FORMAT);
            }
        }
    }
    check::<Mat3x4>();
    check::<DualQuat>();
    check::<DualQuatStretch>();
    check::<QuatOffset>();
}
