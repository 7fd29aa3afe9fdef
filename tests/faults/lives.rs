//! The whole life of a crowd, in which any call can fail.
//!
//! A life creates a target, frames in flight and a crowd with two characters and two passes, draws
//! frames between which the crowd grows, reads back, and destroys everything.

use crate::driver::{
    KINDS, LOSABLE, MEMORY, changes, failing_with, live, objects, reset, revive, traced,
};
use crate::ending::{
    LOST, MEMORY_ERRORS, OF_MEMORY, alone, check, context, finish, may_be_ignored, sample,
};
use crate::interposed::is_intercepted;
use crate::support::frames::{NORMAL_Z, covered, different};
use crate::support::made::{built, ribbon};
use crate::support::{SMALL, view};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use throng::ash::vk;
use throng::glam::Vec3;
use throng::gpu_allocator::MemoryLocation;
use throng::palette::SkinningMethod;
use throng::skeleton::Affine;
use throng::standalone::{
    Buffer, BufferDesc, Context, Frames, StandaloneError, Target, TargetDesc,
};
use throng::{
    Capacity, CharacterDesc, CharacterId, Crowd, CrowdDesc, Error, PassDesc, PassId, PassKind,
    SkinningStage, Spawn, Threads, View,
};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 128,
    height: 128,
};

/// An error of the crate, at either level.
#[derive(Debug)]
enum Failure {
    Crate(Error),
    Standalone(StandaloneError),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Crate(error)
    }
}

impl From<StandaloneError> for Failure {
    fn from(error: StandaloneError) -> Self {
        Self::Standalone(error)
    }
}

impl Failure {
    /// Checks that the error names the call that failed, and its result.
    fn check(&self, failed: &str, answer: vk::Result) {
        match self {
            Self::Standalone(error) => check(error, failed, answer),
            Self::Crate(Error::Vulkan { call, result }) => {
                assert_eq!(*result, answer);
                let lost_later = answer == LOST && may_be_ignored(failed);
                assert!(*call == failed || lost_later, "{self:?} for {failed}");
            }
            Self::Crate(Error::Memory { name, .. }) => {
                assert!(OF_MEMORY.contains(&failed), "{self:?} for {failed}");
                assert!(name.starts_with("throng "), "{self:?}");
            }
            Self::Crate(error) => panic!("{error} for {failed}"),
        }
    }
}

/// Everything that was created so far.
#[derive(Default)]
struct Life {
    /// The number of the next step.
    next: usize,
    buffer: Option<Buffer>,
    target: Option<Target>,
    frames: Option<Frames>,
    crowd: Option<Crowd>,
    characters: Vec<CharacterId>,
    passes: Vec<PassId>,
    picture: Vec<u8>,
    drawn: u32,
}

/// Much longer than anything here takes that does not wait for ever.
const PATIENCE: Duration = Duration::from_secs(20);
const STEPS: usize = 20;
const CAPACITY: Capacity = Capacity {
    skinned_words: 2000,
    cpu_skinned_words: 2000,
    histories: 1,
    ..SMALL
};

impl Life {
    /// Runs the steps that are left.
    fn live(&mut self, context: &mut Context) -> Result<(), Failure> {
        while self.next < STEPS {
            self.step(context)?;
        }
        Ok(())
    }

    /// Runs the next step. A step that fails is the next one again.
    fn step(&mut self, context: &mut Context) -> Result<(), Failure> {
        match self.next {
            0 => self.buffer = Some(Buffer::new(context, &buffer_desc())?),
            1 => self.target = Some(Target::new(context, &target_desc())?),
            2 => self.frames = Some(Frames::new(context, 2)?),
            3 => self.crowd = Some(crowd(context)?),
            4 => self.add(context, SkinningMethod::Linear)?,
            5 => self.add(context, SkinningMethod::DualQuat)?,
            6 => self.create_pass(PassKind::Color)?,
            7 => self.create_pass(PassKind::Depth)?,
            8 => self.spawn(0.0),
            9..=11 | 14..=17 => self.draw(context)?,
            12 => {
                let crowd = self.crowd.as_mut().unwrap();
                let capacity = Capacity {
                    instances: 3 * CAPACITY.instances,
                    palette_entries: 2 * CAPACITY.palette_entries,
                    skinned_words: 2 * CAPACITY.skinned_words,
                    cpu_skinned_words: 2 * CAPACITY.cpu_skinned_words,
                    ..CAPACITY
                };
                crowd.reserve(&mut context.allocator(), &capacity)?;
            }
            13 => self.spawn(0.2),
            18 => {
                let buffer = self.buffer.as_ref().unwrap();
                buffer.read(context, 4, 8)?;
            }
            _ => {
                let target = self.target.as_ref().unwrap();
                self.picture = target.read_rgba(context)?;
            }
        }
        self.next += 1;
        Ok(())
    }

    fn add(&mut self, context: &mut Context, method: SkinningMethod) -> Result<(), Failure> {
        let desc = CharacterDesc {
            method,
            cpu_skinning: true,
        };
        let character = built(ribbon(4)).character;
        let crowd = self.crowd.as_mut().unwrap();
        let id = crowd.add_character_with(&mut context.allocator(), &character, &desc)?;
        self.characters.push(id);
        Ok(())
    }

    fn create_pass(&mut self, kind: PassKind) -> Result<(), Failure> {
        let formats = self.target.as_ref().unwrap().formats();
        let colors = [formats.color];
        let desc = PassDesc {
            kind,
            color_formats: if kind == PassKind::Color {
                &colors
            } else {
                &[]
            },
            depth_format: formats.depth.unwrap(),
            ..PassDesc::default()
        };
        let crowd = self.crowd.as_mut().unwrap();
        self.passes.push(unsafe { crowd.create_pass(&desc) }?);
        Ok(())
    }

    /// Spawns an instance of each character in every skinning stage.
    fn spawn(&mut self, depth: f32) {
        let crowd = self.crowd.as_mut().unwrap();
        for (row, kind) in (0..).zip(&self.characters) {
            let stages = [
                SkinningStage::Vertex,
                SkinningStage::Compute,
                SkinningStage::Cpu,
            ];
            for (at, skin) in (0..).zip(stages) {
                let place = Vec3::new(0.5 * (at - 1) as f32, row as f32, depth);
                let spawn = Spawn {
                    world_from_model: Affine::from_translation(place),
                    play: "sway".into(),
                    skin,
                    ..Spawn::default()
                };
                crowd.spawn(*kind, &spawn).unwrap();
            }
        }
    }

    /// Draws a frame as an engine does that handles errors.
    fn draw(&mut self, context: &mut Context) -> Result<(), Failure> {
        let frames = self.frames.as_mut().unwrap();
        let crowd = self.crowd.as_mut().unwrap();
        let target = self.target.as_ref().unwrap();
        let in_flight = frames.begin(context)?;
        let (cmd, index) = (in_flight.cmd, in_flight.frame_index as u32);
        let device = context.device.clone();
        let view = View {
            history: Some(0),
            ..view(Vec3::new(0.4, 2.0, 6.0), Vec3::new(0.0, 1.5, 0.0), EXTENT)
        };
        unsafe {
            let mut frame = crowd.begin_frame(&mut context.allocator(), index, 0.3)?;
            let mut record = || -> Result<(), Error> {
                let views = frame.record_prepare(cmd, &[view])?;
                target.begin(&device, cmd, &NORMAL_Z);
                let drawn = frame.record_draw(cmd, views[0], self.passes[0]);
                target.end(&device, cmd);
                drawn
            };
            let result = match record() {
                Ok(()) => frames
                    .submit(context, in_flight, None)
                    .map_err(Failure::from),
                Err(error) => Err(error.into()),
            };
            if result.is_err() {
                crowd.abandon_frame();
            } else {
                self.drawn += 1;
            }
            result
        }
    }

    /// Destroys everything that was created, as an engine does at its end.
    fn destroy(&mut self, context: &mut Context) {
        // The device is idle or lost.
        let _ = context.wait_idle();
        if let Some(crowd) = self.crowd.take() {
            unsafe { crowd.destroy(&mut context.allocator()) };
        }
        if let Some(frames) = self.frames.take() {
            frames.destroy(context);
        }
        if let Some(target) = self.target.take() {
            target.destroy(context);
        }
        if let Some(buffer) = self.buffer.take() {
            buffer.destroy(context);
        }
    }
}

fn buffer_desc() -> BufferDesc<'static> {
    BufferDesc {
        name: "life",
        size: 64,
        usage: vk::BufferUsageFlags::STORAGE_BUFFER,
        location: MemoryLocation::CpuToGpu,
    }
}

fn target_desc() -> TargetDesc<'static> {
    TargetDesc {
        extent: EXTENT,
        ..TargetDesc::default()
    }
}

fn crowd(context: &mut Context) -> Result<Crowd, Failure> {
    let desc = CrowdDesc {
        capacity: CAPACITY,
        profile: true,
        threads: Threads::One,
        ..CrowdDesc::default()
    };
    let (gpu, mut allocator) = context.parts();
    Ok(unsafe { Crowd::new(&gpu, &mut allocator, &desc) }?)
}

fn start() -> Context {
    let (context, surface) = context().unwrap();
    drop(surface);
    context
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
    let started = Instant::now();
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
    assert!(started.elapsed() < PATIENCE, "{call} took too long");
    let report = context.allocator().get().generate_report();
    assert!(report.allocations.is_empty(), "{:?}", report.allocations);
    let messages = context.messages();
    assert!(
        messages.is_empty(),
        "{call} ({number}): {}",
        messages.report()
    );
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
    for (at, number) in sample(&calls).into_iter().enumerate() {
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
                        assert!(may_be_ignored(call), "{answer:?} of {call} is ignored");
                        life.repeat(&mut context, step);
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

impl Life {
    /// Undoes a step that creates an object.
    fn repeat(&mut self, context: &mut Context, step: usize) {
        self.next = step;
        let buffer = self.buffer.take_if(|_| step == 0);
        let target = self.target.take_if(|_| step == 1);
        let frames = self.frames.take_if(|_| step == 2);
        if let Some(buffer) = buffer {
            buffer.destroy(context);
        }
        if let Some(target) = target {
            target.destroy(context);
        }
        if let Some(frames) = frames {
            frames.destroy(context);
        }
    }
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
        let started = Instant::now();
        life.destroy(&mut context);
        finish(context);
        assert!(started.elapsed() < PATIENCE);
        assert_eq!(live(), [0; KINDS]);
        revive();
    }
}

/// What is dropped and not destroyed is leaked, and waits for nothing.
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
    let (started, (_, calls)) = (Instant::now(), traced(|| drop(life)));
    assert!(started.elapsed() < PATIENCE);
    assert_eq!((objects(), calls), (before, Vec::new()));
    // The objects are leaked for good, and so is the device.
    std::mem::forget(context);
    reset();
}

/// The names of the calls whose result the crate looks at.
fn named_calls() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut folders = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
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

/// Calls of other window systems, and a name for two functions of the loader.
const NOT_HERE: [&str; 5] = [
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
