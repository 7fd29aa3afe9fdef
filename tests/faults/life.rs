//! The whole life of a crowd, in steps.

use crate::ending::{LOST, OF_MEMORY, check, may_be_ignored};
use crate::reference::ribbon::{built, ribbon};
use crate::support::frames::NORMAL_Z;
use crate::support::{SMALL, described, view};
use throng::ash::vk;
use throng::glam::{Affine3A, Vec3};
use throng::gpu_allocator::MemoryLocation;
use throng::palette::SkinningMethod;
use throng::{
    Capacity, CharacterId, Crowd, CrowdDesc, Error, PassDesc, PassId, PassKind, SkinningStage,
    Spawn, Threads, View,
};
use throng_standalone::{Buffer, Context, Frames, StandaloneError, Target, TargetDesc};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 128,
    height: 128,
};

/// An error of the crate, at either level.
#[derive(Debug)]
pub(crate) enum Failure {
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
    pub(crate) fn check(&self, failed: &str, answer: vk::Result) {
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

/// A target, frames in flight, and a crowd with two characters and two passes.
///
/// The steps create them, draw frames between which the crowd grows, and read back.
#[derive(Default)]
pub(crate) struct Life {
    /// The number of the next step.
    pub(crate) next: usize,
    buffer: Option<Buffer>,
    target: Option<Target>,
    frames: Option<Frames>,
    pub(crate) crowd: Option<Crowd>,
    characters: Vec<CharacterId>,
    passes: Vec<PassId>,
    pub(crate) picture: Vec<u8>,
    pub(crate) drawn: u32,
}

pub(crate) const STEPS: usize = 20;
const CAPACITY: Capacity = Capacity {
    skinned_words: 2000,
    cpu_skinned_words: 2000,
    histories: 1,
    ..SMALL
};

impl Life {
    /// Runs the steps that are left.
    pub(crate) fn live(&mut self, context: &mut Context) -> Result<(), Failure> {
        while self.next < STEPS {
            self.step(context)?;
        }
        Ok(())
    }

    /// Runs the next step. A step that fails is the next one again.
    pub(crate) fn step(&mut self, context: &mut Context) -> Result<(), Failure> {
        match self.next {
            0 => self.buffer = Some(buffer(context)?),
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
                buffer.read(4, 8)?;
            }
            _ => {
                let target = self.target.as_ref().unwrap();
                self.picture = target.read_rgba()?;
            }
        }
        self.next += 1;
        Ok(())
    }

    fn add(&mut self, context: &mut Context, method: SkinningMethod) -> Result<(), Failure> {
        let desc = described(method, true);
        let character = built(ribbon(4)).character;
        let crowd = self.crowd.as_mut().unwrap();
        let id = crowd.add_character(&mut context.allocator(), &character, &desc)?;
        self.characters.push(id);
        Ok(())
    }

    fn create_pass(&mut self, kind: PassKind) -> Result<(), Failure> {
        let mut desc = PassDesc {
            kind,
            ..self.target.as_ref().unwrap().pass_desc()
        };
        if kind != PassKind::Color {
            desc.color_formats.clear();
        }
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
                    world_from_model: Affine3A::from_translation(place),
                    play: "sway".into(),
                    skinning_stage: skin,
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
        let in_flight = frames.begin()?;
        let (cmd, index) = (in_flight.cmd, in_flight.frame_index as u32);
        let device = context.device.clone();
        let view = View {
            history: Some(0),
            ..view(Vec3::new(0.4, 2.0, 6.0), Vec3::new(0.0, 1.5, 0.0), EXTENT)
        };
        unsafe {
            crowd.update(0.3)?;
            let mut frame = crowd.begin_frame(&mut context.allocator(), index, 0.3)?;
            let mut record = || -> Result<(), Error> {
                let views = frame.record_prepare(cmd, &[view])?;
                target.begin(&device, cmd, &NORMAL_Z);
                let drawn = frame.record_draw(cmd, views[0], self.passes[0]);
                target.end(&device, cmd);
                drawn
            };
            let result = match record() {
                Ok(()) => in_flight.submit().map_err(Failure::from),
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
    pub(crate) fn destroy(&mut self, context: &mut Context) {
        // The device is idle or lost.
        let _ = context.wait_idle();
        if let Some(crowd) = self.crowd.take() {
            unsafe { crowd.destroy(&mut context.allocator()) };
        }
        (self.frames, self.target, self.buffer) = (None, None, None);
    }

    /// Undoes a step that creates an object.
    pub(crate) fn repeat(&mut self, step: usize) {
        self.next = step;
        self.buffer.take_if(|_| step == 0);
        self.target.take_if(|_| step == 1);
        self.frames.take_if(|_| step == 2);
    }
}

fn buffer(context: &Context) -> Result<Buffer, StandaloneError> {
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
    Buffer::new(context, "life", 64, usage, MemoryLocation::CpuToGpu)
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
    let device = unsafe { context.gpu_device() };
    Ok(Crowd::new(&device, &mut context.allocator(), &desc)?)
}
