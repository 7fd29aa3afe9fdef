//! Replaced and removed objects are destroyed as soon as no frame in flight can use them.
//!
//! This is the call that begins the last of the frame indices that were ever begun. It holds for
//! one to three frames in flight, begun in any order.

use crate::counting::{Counted, KINDS, objects};
use crate::reference::explore::{Operation, explore};
use crate::reference::ribbon::{built, ribbon};
use crate::reference::sweep::rounds;
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::{SMALL, each, stages, view};
use std::collections::BTreeSet;
use throng::ash::vk;
use throng::glam::Vec3;
use throng::{Capacity, CharacterDesc, CharacterId, Crowd, PassDesc, PassId, Stages, View};

type Counts = [i64; KINDS];

fn sub(a: Counts, b: Counts) -> Counts {
    std::array::from_fn(|kind| a[kind] - b[kind])
}

/// Retired objects, and the frame indices that they wait for.
struct Grave {
    counts: Counts,
    waits_for: BTreeSet<u32>,
}

/// A model of the objects that should be alive.
struct Expected {
    live: Counts,
    begun: BTreeSet<u32>,
    graves: Vec<Grave>,
}

impl Expected {
    fn retire(&mut self, counts: Counts) {
        let waits_for = self.begun.clone();
        self.graves.push(Grave { counts, waits_for });
    }

    fn begin(&mut self, frame_index: u32) {
        self.begun.insert(frame_index);
        for grave in &mut self.graves {
            grave.waits_for.remove(&frame_index);
            if grave.waits_for.is_empty() {
                self.live = sub(self.live, grave.counts);
            }
        }
        self.graves.retain(|grave| !grave.waits_for.is_empty());
    }
}

struct World<'a> {
    crowd: Crowd,
    counted: &'a mut Counted,
    expected: Expected,
    characters: Vec<(CharacterId, Counts)>,
    passes: Vec<(PassId, Counts)>,
}

impl World<'_> {
    /// Runs work that creates objects. Returns its result and the number of objects.
    fn making<T>(&mut self, work: impl FnOnce(&mut Crowd, &mut Counted) -> T) -> (T, Counts) {
        let before = objects();
        let result = work(&mut self.crowd, self.counted);
        let made = sub(objects(), before);
        self.expected.live = objects();
        (result, made)
    }

    fn step(&mut self, operation: Operation, frames_in_flight: u32) {
        let (what, mut rng) = operation.choose(&[
            (1, "grow"),
            (1, "add a character"),
            (1, "remove a character"),
            (1, "create a pass"),
            (1, "remove a pass"),
            (5, "begin a frame"),
        ]);
        match what {
            "grow" => {
                let now = self.crowd.capacity();
                let more = Capacity {
                    palette_entries: now.palette_entries + 10,
                    ..now
                };
                // As many objects are created as are retired.
                let reserve = |crowd: &mut Crowd, counted: &mut Counted| {
                    crowd.reserve(&mut counted.allocator, &more).unwrap();
                };
                let ((), made) = self.making(reserve);
                self.expected.retire(made);
            }
            "add a character" => {
                let character = built(ribbon(3)).character;
                let add = |crowd: &mut Crowd, counted: &mut Counted| {
                    crowd.add_character(
                        &mut counted.allocator,
                        &character,
                        &CharacterDesc::default(),
                    )
                };
                let (id, made) = self.making(add);
                self.characters.push((id.unwrap(), made));
            }
            "remove a character" if !self.characters.is_empty() => {
                // Its upload was never recorded, and is retired with it.
                let at = rng.below(self.characters.len());
                let (id, counts) = self.characters.swap_remove(at);
                self.crowd.remove_character(id).unwrap();
                self.expected.retire(counts);
            }
            "create a pass" => {
                let desc = PassDesc {
                    color_formats: vec![vk::Format::R8G8B8A8_SRGB],
                    ..PassDesc::default()
                };
                let create = |crowd: &mut Crowd, _: &mut Counted| unsafe {
                    crowd.create_pass(&desc).unwrap()
                };
                let (id, made) = self.making(create);
                self.passes.push((id, made));
            }
            "remove a pass" if !self.passes.is_empty() => {
                let (id, counts) = self.passes.swap_remove(rng.below(self.passes.len()));
                self.crowd.remove_pass(id).unwrap();
                self.expected.retire(counts);
            }
            "begin a frame" => {
                let frame_index = rng.below(frames_in_flight as usize) as u32;
                let allocator = &mut self.counted.allocator;
                unsafe { self.crowd.begin_frame(allocator, frame_index, 0.0) }.unwrap();
                self.expected.begin(frame_index);
            }
            _ => {}
        }
        assert_eq!(objects(), self.expected.live);
    }
}

#[test]
fn what_is_retired_goes_when_every_slot_has_begun_again() {
    for frames_in_flight in 1..=3 {
        explore(frames_in_flight.into(), rounds(150), |operations| {
            each(|setup| {
                let mut counted = Counted::new(setup);
                let mut crowd = counted.crowd(setup, frames_in_flight, SMALL);
                // This character stays, so every pass has its pipelines from the start, and other
                // characters add none.
                let character = built(ribbon(3)).character;
                let allocator = &mut counted.allocator;
                crowd
                    .add_character(allocator, &character, &CharacterDesc::default())
                    .unwrap();
                let expected = Expected {
                    live: objects(),
                    begun: BTreeSet::new(),
                    graves: Vec::new(),
                };
                let mut world = World {
                    crowd,
                    counted: &mut counted,
                    expected,
                    characters: Vec::new(),
                    passes: Vec::new(),
                };
                for operation in operations {
                    world.step(*operation, frames_in_flight);
                }
                let World { crowd, .. } = world;
                unsafe { crowd.destroy(&mut counted.allocator) };
                counted.finish();
            })
        });
    }
}

/// Uploads are freed like everything else that a frame used.
#[test]
fn staging_memory_lives_until_its_frame_has_ended() {
    each(|setup| {
        let mut counted = Counted::new(setup);
        let mut crowd = counted.crowd(setup, 2, SMALL);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let character = built(ribbon(3)).character;
        crowd
            .add_character(
                &mut counted.allocator,
                &character,
                &CharacterDesc::default(),
            )
            .unwrap();
        let with_staging = objects();
        let mut counts = Vec::new();
        for frame_index in [0, 1, 1, 0] {
            let cmd = frames_in_flight.begin(&setup.context, frame_index);
            let mut frame =
                unsafe { crowd.begin_frame(&mut counted.allocator, frame_index, 0.0) }.unwrap();
            unsafe { frame.record_prepare(cmd, &[]) }.unwrap();
            frames_in_flight.submit(&setup.context, frame_index);
            counts.push(objects());
        }
        assert_eq!(counts[..3], [with_staging; 3]);
        let staging = sub(with_staging, counts[3]);
        assert_eq!(
            (staging[0], staging.iter().sum::<i64>()),
            (1, 1),
            "one buffer"
        );
        frames_in_flight.destroy(&setup.context);
        unsafe { crowd.destroy(&mut counted.allocator) };
        counted.finish();
    });
}

/// The next prepared frame copies histories after growth. The old buffers are freed when it ends.
#[test]
fn grown_histories_live_until_they_have_moved() {
    each(|setup| {
        let mut counted = Counted::new(setup);
        let capacity = Capacity {
            histories: 2,
            ..SMALL
        };
        let mut crowd = counted.crowd(setup, 2, capacity);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let empty = objects();
        let mut grow = capacity;
        let mut reserve = |crowd: &mut Crowd, counted: &mut Counted| {
            grow.palette_entries += 10;
            crowd.reserve(&mut counted.allocator, &grow).unwrap();
        };
        let view = View {
            history: Some(1),
            ..view(Vec3::new(0.0, 1.0, 5.0), Vec3::ZERO, EXTENT)
        };
        // Begins a frame with `frame_index`. Returns the number of buffers above the initial one.
        let mut begin = |crowd: &mut Crowd, counted: &mut Counted, frame_index: u32, step: Step| {
            let cmd = frames_in_flight.begin(&setup.context, frame_index);
            let allocator = &mut counted.allocator;
            let mut frame = unsafe { crowd.begin_frame(allocator, frame_index, 0.0) }.unwrap();
            if step != Step::Drop {
                unsafe { frame.record_prepare(cmd, &[view]) }.unwrap();
            }
            match step {
                Step::Submit => frames_in_flight.submit(&setup.context, frame_index),
                Step::Abandon => unsafe { crowd.abandon_frame() },
                Step::Drop => {}
            }
            sub(objects(), empty)[0]
        };
        // Without content there is nothing to copy: all old buffers are retired together.
        begin(&mut crowd, &mut counted, 0, Step::Drop);
        reserve(&mut crowd, &mut counted);
        assert_eq!(begin(&mut crowd, &mut counted, 0, Step::Submit), 0);
        // With a stage on the GPU, the instance table and what that stage keeps are copied, too.
        let kept = match stages() {
            Stages::Gpu => 4,
            Stages::GpuCull => 3,
            _ => 1,
        };
        // Now the history has content. After two growths, the buffer between them never gets any.
        reserve(&mut crowd, &mut counted);
        reserve(&mut crowd, &mut counted);
        assert_eq!(begin(&mut crowd, &mut counted, 0, Step::Drop), kept);
        assert_eq!(begin(&mut crowd, &mut counted, 0, Step::Drop), kept);
        // An abandoned frame has not moved it.
        assert_eq!(begin(&mut crowd, &mut counted, 0, Step::Abandon), kept);
        assert_eq!(begin(&mut crowd, &mut counted, 0, Step::Drop), kept);
        assert_eq!(begin(&mut crowd, &mut counted, 0, Step::Submit), kept);
        assert_eq!(begin(&mut crowd, &mut counted, 1, Step::Submit), kept);
        assert_eq!(begin(&mut crowd, &mut counted, 1, Step::Submit), kept);
        // The index of the frame that moved it is begun again.
        assert_eq!(begin(&mut crowd, &mut counted, 0, Step::Submit), 0);
        // A history that was never moved is freed with the crowd.
        reserve(&mut crowd, &mut counted);
        frames_in_flight.destroy(&setup.context);
        unsafe { crowd.destroy(&mut counted.allocator) };
        counted.finish();
    });
}

/// The fate of a frame.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Drop,
    Submit,
    Abandon,
}
