//! A crowd works on the threads that it was given, and on no others.

use crate::support::frames::FramesInFlight;
use crate::support::{SMALL, described, each};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;
use throng::palette::SkinningMethod;
use throng::{Capacity, Crowd, CrowdDesc, SkinningStage, Spawn, Threads};

/// Keeps all threads of rayon's global pool busy, until it is dropped or `LONGEST` has passed.
struct Busy {
    release: Option<Sender<()>>,
    holder: Option<thread::JoinHandle<bool>>,
}

/// Ends a test that would otherwise wait for ever. No test that passes waits as long.
const LONGEST: Duration = Duration::from_secs(20);

impl Busy {
    fn new() -> Self {
        let threads = rayon::current_num_threads();
        let (began, ends) = (
            Arc::new(Barrier::new(threads + 1)),
            Arc::new(Barrier::new(threads + 1)),
        );
        for _ in 0..threads {
            let (began, ends) = (began.clone(), ends.clone());
            rayon::spawn(move || {
                began.wait();
                ends.wait();
            });
        }
        began.wait();
        let (release, released): (Sender<()>, Receiver<()>) = channel();
        let holder = thread::spawn(move || {
            let in_time = released.recv_timeout(LONGEST).is_ok();
            ends.wait();
            in_time
        });
        Self {
            release: Some(release),
            holder: Some(holder),
        }
    }

    /// Frees the threads. True if they were not freed before.
    fn free(mut self) -> bool {
        let release = self.release.take();
        let sent = release.is_some_and(|release| release.send(()).is_ok());
        let holder = self.holder.take();
        sent && holder.is_some_and(|holder| holder.join().unwrap())
    }
}

/// Every stage on the CPU: animation, inertialised and plain, morph weights, CPU skinning.
#[test]
fn frames_are_prepared_without_the_global_pool() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let pool = Threads::Pool(Arc::new(pool.unwrap()));
    for threads in [Threads::One, pool] {
        each(|setup| {
            let capacity = Capacity {
                skinned_words: 2_000_000,
                cpu_skinned_words: 2_000_000,
                ..SMALL
            };
            let desc = CrowdDesc {
                threads: threads.clone(),
                ..setup.crowd_desc(1, capacity)
            };
            let device = setup.device();
            let allocator = &mut setup.context.allocator();
            let mut crowd = Crowd::new(&device, allocator, &desc).unwrap();
            let character = throng::builtin::mannequin().unwrap().character;
            let desc = described(SkinningMethod::Linear, true);
            let kind = crowd.add_character(allocator, &character, &desc);
            let kind = kind.unwrap();
            for _ in 0..20 {
                let spawn = Spawn {
                    play: "Walk".into(),
                    skinning_stage: SkinningStage::Cpu,
                    ..Spawn::default()
                };
                crowd.spawn(kind, &spawn).unwrap();
            }
            let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
            let cmd = frames_in_flight.begin(&setup.context, 0);
            let busy = Busy::new();
            let mut frame = setup.begin(&mut crowd, 0, 0.5);
            let prepared = unsafe { frame.record_prepare(cmd, &[]) }.map(|_| ());
            let in_time = busy.free();
            prepared.unwrap();
            assert!(in_time, "{:?} waited for rayon's global pool", threads);
            assert_eq!(crowd.stats().skinned, 20);
            frames_in_flight.submit(&setup.context, 0);
            frames_in_flight.destroy(&setup.context);
            setup.destroy(crowd);
        });
    }
}
