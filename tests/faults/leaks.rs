//! Dropping without `destroy` leaks, logs the name of each object, and does not panic.

use crate::counting::{Counted, objects};
use crate::reference::ribbon::{built, ribbon};
use crate::support::frames::FramesInFlight;
use crate::support::{CONFIGS, SMALL, Setup};
use std::cell::RefCell;
use std::sync::Once;
use throng::ash::vk;
use throng::gpu::{PaletteRing, PaletteRingDesc};
use throng::{Capacity, CharacterDesc, Crowd, PassDesc, Spawn};

struct Listener;

thread_local! {
    /// The lines that this thread logged.
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

impl log::Log for Listener {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        if record.level() == log::Level::Error && record.target().starts_with("throng") {
            LINES.with_borrow_mut(|lines| lines.push(record.args().to_string()));
        }
    }

    fn flush(&self) {}
}

/// The errors that were logged while `work` ran.
fn logged(work: impl FnOnce()) -> Vec<String> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Listener).unwrap();
        log::set_max_level(log::LevelFilter::Error);
    });
    LINES.take();
    work();
    LINES.take()
}

/// A crowd with objects of every kind: characters, a pass, a pending upload and a retired object.
fn full(setup: &Setup, counted: &mut Counted) -> Crowd {
    let mut crowd = counted.crowd(setup, 2, SMALL);
    let desc = PassDesc {
        color_formats: vec![vk::Format::R8G8B8A8_SRGB],
        ..PassDesc::default()
    };
    let allocator = &mut counted.allocator;
    unsafe {
        crowd.create_pass(&desc).unwrap();
        let removed = crowd.create_pass(&desc).unwrap();
        crowd.remove_pass(removed).unwrap();
    }
    let character = built(ribbon(4)).character;
    let id = crowd
        .add_character(allocator, &character, &CharacterDesc::default())
        .unwrap();
    crowd.spawn(id, &Spawn::default()).unwrap();
    let capacity = Capacity {
        instances: 100,
        ..SMALL
    };
    crowd.reserve(allocator, &capacity).unwrap();
    crowd
}

#[test]
fn what_is_forgotten_is_named() {
    for config in CONFIGS {
        let setup = Setup::new(config);
        let mut counted = Counted::new(&setup);
        let crowd = full(&setup, &mut counted);
        let alive = objects();
        let said = logged(|| drop(crowd));
        assert_eq!(objects(), alive, "a drop destroys nothing");
        let leaked = said.iter().filter(|line| line.contains("leaked ")).count();
        assert_eq!(
            leaked as i64,
            alive.iter().sum::<i64>(),
            "one line for each: {said:#?}"
        );
        let mut names = vec![
            "a Crowd was dropped without destroy",
            "BUFFER \"throng palettes (ring)\"",
            "BUFFER \"throng records (ring)\"",
            "BUFFER \"throng instances\"",
            "BUFFER \"throng deformed vertices\"",
            "BUFFER \"throng staging\"",
            "BUFFER \"throng histories\"",
            "BUFFER \"throng ribbon of 4: mesh\"",
            "BUFFER \"throng ribbon of 4: rest palette\"",
            "IMAGE \"throng ribbon of 4: image checks\"",
            "IMAGE_VIEW \"throng ribbon of 4: image checks\"",
            "SAMPLER \"throng sampler\"",
            "DESCRIPTOR_POOL \"throng character\"",
            "DESCRIPTOR_POOL \"throng scatter\"",
            "DESCRIPTOR_SET_LAYOUT \"throng set 0\"",
            "DESCRIPTOR_SET_LAYOUT \"throng scatter\"",
            "PIPELINE_LAYOUT \"throng pass\"",
            "PIPELINE \"throng pass\"",
            "PIPELINE \"throng scatter\"",
            "PIPELINE \"throng shift\"",
            "EVENT \"throng frame\"",
            "PIPELINE \"throng skin\"",
        ];
        if config.profile {
            names.push("QUERY_POOL \"throng timestamps\"");
        }
        for name in names {
            assert!(
                said.iter().any(|line| line.contains(name)),
                "{name}: {said:#?}"
            );
        }
        // The objects are leaked for good, and so is the device.
        std::mem::forget(counted.allocator);
        setup.forget();
    }
}

#[test]
fn what_is_destroyed_is_not_named() {
    for config in CONFIGS {
        let setup = Setup::new(config);
        let messages = setup.context.messages.clone();
        let mut counted = Counted::new(&setup);
        let crowd = full(&setup, &mut counted);
        let said = logged(|| {
            unsafe { crowd.destroy(&mut counted.allocator) };
            counted.finish();
        });
        assert_eq!(said, [""; 0]);
        drop(setup);
        messages.check().unwrap();
    }
}

#[test]
fn a_ring_of_its_own_is_named_too() {
    for config in CONFIGS {
        let setup = Setup::new(config);
        let mut counted = Counted::new(&setup);
        let desc = PaletteRingDesc {
            staged: config.staged,
            ..PaletteRingDesc::default()
        };
        let device = counted.device(&setup);
        let ring = PaletteRing::new(&device, &mut counted.allocator, &desc).unwrap();
        let buffers = objects().iter().sum::<i64>();
        let said = logged(|| drop(ring));
        assert_eq!(said.len() as i64, buffers, "{said:?}");
        std::mem::forget(counted.allocator);
        setup.forget();
    }
}

/// A frame that is begun and dropped needs no destruction and loses nothing, prepared or not.
#[test]
fn frames_own_nothing() {
    let setup = Setup::new(CONFIGS[0]);
    let messages = setup.context.messages.clone();
    let mut counted = Counted::new(&setup);
    let mut crowd = full(&setup, &mut counted);
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
    let said = logged(|| {
        for prepare in [false, true, false] {
            let cmd = frames_in_flight.begin(&setup.context, 0);
            let allocator = &mut counted.allocator;
            let mut frame = unsafe { crowd.begin_frame(allocator, 0, 0.0) }.unwrap();
            if prepare {
                unsafe { frame.record_prepare(cmd, &[]) }.unwrap();
            }
            frames_in_flight.submit(&setup.context, 0);
        }
    });
    assert_eq!(said, [""; 0]);
    frames_in_flight.destroy(&setup.context);
    unsafe { crowd.destroy(&mut counted.allocator) };
    counted.finish();
    drop(setup);
    messages.check().unwrap();
}
