//! Times one frame of the crowd, and an animator alone for the same poses.

use crate::Outcome;
use crate::load::{Kind, Load};
use std::hint::black_box;
use std::time::Instant;
use throng::ash::vk;
use throng::glam::{Mat4, Vec3};
use throng::palette::{Mat3x4, WriteOnly};
use throng::{Stats, View};
use throng_standalone::Context;

const FRAME_S: f64 = 1.0 / 60.0;

/// The times of one frame, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// `Crowd::begin_frame`.
    pub(crate) begin: f64,
    /// `Frame::record_prepare`.
    pub(crate) prepare: f64,
    /// The statistics of the frame, with the time of `record_prepare` by stage.
    pub(crate) stats: Stats,
    /// An animator's palettes alone.
    pub(crate) batch: f64,
}

/// A crowd, and an animator for the same poses.
pub(crate) struct Bench {
    load: Load,
    out: Vec<Mat3x4>,
    frame: usize,
}

impl Bench {
    pub(crate) fn new(context: &mut Context, kind: Kind, instances: u32) -> Outcome<Self> {
        // SAFETY: the caller destroys the crowd before the context is dropped.
        let device = unsafe { context.gpu_device() };
        let load = Load::new(&device, &mut context.allocator(), kind, instances)?;
        Ok(Self {
            out: vec![Mat3x4::IDENTITY; instances as usize * load.character.palette().len()],
            load,
            frame: 0,
        })
    }

    pub(crate) fn destroy(mut self, context: &mut Context) -> Outcome {
        context.wait_idle()?;
        self.out.clear();
        // SAFETY: the device is idle.
        unsafe { self.load.crowd.destroy(&mut context.allocator()) };
        Ok(())
    }

    /// Times `frames` frames after the warm-up. The batch runs first in every other frame.
    pub(crate) fn run(
        &mut self,
        context: &mut Context,
        warm_up: usize,
        frames: usize,
    ) -> Outcome<Vec<Times>> {
        let mut all = Vec::new();
        for number in 0..warm_up + frames {
            let times = self.step(context)?;
            if number >= warm_up {
                all.push(times);
            }
        }
        Ok(all)
    }

    fn step(&mut self, context: &mut Context) -> Outcome<Times> {
        self.frame += 1;
        self.load.change(self.frame)?;
        let now_s = self.frame as f64 * FRAME_S;
        let batch_first = self.frame.is_multiple_of(2);
        let mut batch = 0.0;
        if batch_first {
            batch = self.batch(now_s)?;
        }
        let view = View::new(
            Mat4::IDENTITY,
            Vec3::Z,
            vk::Extent2D {
                width: 1280,
                height: 720,
            },
        );
        let start = Instant::now();
        self.load.crowd.update(now_s)?;
        // SAFETY: all work submitted before was waited for.
        let mut frame = unsafe {
            let allocator = &mut context.allocator();
            self.load.crowd.begin_frame(allocator, 0, now_s)?
        };
        let begin = ms(start);
        let mut prepare = 0.0;
        context.submit_and_wait(|_, cmd| {
            let start = Instant::now();
            // SAFETY: the command buffer is recording, and is submitted and waited for at once.
            let views = unsafe { frame.record_prepare(cmd, &[view]) };
            prepare = ms(start);
            views
        })??;
        let stats = frame.stats();
        if !batch_first {
            batch = self.batch(now_s)?;
        }
        Ok(Times {
            begin,
            prepare,
            stats,
            batch,
        })
    }

    /// Milliseconds that an animator takes for the palettes of all instances.
    fn batch(&mut self, now_s: f64) -> Outcome<f64> {
        let Load {
            animator, actors, ..
        } = &mut self.load;
        animator.update(now_s)?;
        // The caches afterwards hold the same data as after a frame.
        let out = WriteOnly::from(&mut self.out);
        let start = Instant::now();
        animator.palettes(actors, out)?;
        let batch = ms(start);
        black_box(&self.out);
        Ok(batch)
    }
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
