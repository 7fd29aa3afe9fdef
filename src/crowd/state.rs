//! Characters and the crowd of their instances: spawn, play, prepare, draw.

use super::animate::Animated;
use super::buffers::FrameBuffers;
use super::characters::Entry;
use super::deform::Deforms;
use super::desc::check_desc;
use super::history::Histories;
use super::instances::Instances;
use super::links::Attachments;
use super::retire::RetireQueue;
use super::shadow::ShadowInput;
use super::sorted::Sorted;
use super::stats::Counters;
use super::visibility::Visibility;
use super::{Capacity, CharacterId, CrowdDesc, Frame, Stats};
use crate::error::{ArgumentFault, Error, Result};
use crate::gpu::{Device, Gpu, Profiler, ScopeTime, SetLayout, Upload, palettes};
use crate::pass::draw::DrawPass;
use crate::pass::scatter::ScatterPass;
use crate::pass::skin::SkinStage;
use gpu_allocator::vulkan::Allocator;

/// Scopes that one frame can measure.
pub(crate) const PROFILER_SCOPES: u32 = 64;

/// Characters, and the crowd of their instances.
///
/// It records into the engine's command buffers and never submits, waits or locks. What it needs of
/// memory it takes from the engine's allocator, in the methods that are handed one.
///
/// # Slots
/// `frames_in_flight` frames are in flight. The engine says at [`Crowd::begin_frame`] which one it begins, and
/// by that promises that the work it last submitted with that frame in flight has ended. All recorded work
/// goes to one queue, in the order of the frames.
///
/// # Spaces
/// Instance transforms and views are relative to the same origin, which is the engine's to choose.
#[derive(Debug)]
pub struct Crowd {
    pub(crate) device: Device,
    pub(crate) desc: CrowdDesc,
    pub(crate) set_layout: SetLayout,
    pub(super) shadow: ShadowInput,
    pub(crate) scatter: ScatterPass,
    pub(crate) skin: SkinStage,
    pub(super) buffers: FrameBuffers,
    pub(crate) passes: Vec<Option<DrawPass>>,
    pub(super) characters: Vec<Option<Entry>>,
    pub(super) instances: Instances,
    /// What the next prepared frame brings to the GPU, with the index of the character that it is
    /// for.
    pub(crate) uploads: Vec<(u32, Upload)>,
    pub(super) retire_queue: RetireQueue,
    pub(crate) profiler: Option<Profiler>,
    pub(super) counters: Counters,
    pub(super) views: Vec<super::view::Prepared>,
    pub(super) visibility: Visibility,
    pub(super) attachments: Attachments,
    pub(super) sorted: Sorted,
    pub(super) listed: Vec<super::skin::Listed>,
    pub(super) deforms: Deforms,
    pub(super) histories: Histories,
    pub(super) animated: Animated,
    pub(crate) weights: Vec<f32>,
    /// A palette in the format of a character's method, on its way to being checked.
    pub(crate) scratch: Vec<palettes::Row>,
    pub(crate) time_s: f64,
    pub(crate) destroyed: bool,
}

impl Crowd {
    /// Makes an empty crowd on the engine's device.
    ///
    /// # Errors
    /// [`Error::Unsupported`] names what the device lacks; [`Error::Argument`] for no frames in flight, no
    /// views or an alignment that is no power of two; [`Error::Capacity`] for too many frames in flight or
    /// views, or if the room asked for exceeds what the device can bind; [`Error::Memory`],
    /// [`Error::Vulkan`]. What was made until then is undone.
    ///
    /// # Safety
    /// The handles of `gpu` belong together and outlive the crowd; the features of
    /// [`crate::gpu::required`] are enabled, and those that `gpu.enabled` names. `allocator` was
    /// made for the same device; it is the one handed to every other method.
    pub unsafe fn new(gpu: &Gpu<'_>, allocator: &mut Allocator, desc: &CrowdDesc) -> Result<Self> {
        check_desc(desc)?;
        // SAFETY: the caller's word.
        let device = unsafe { Device::new(gpu)? };
        let mut crowd = Self {
            device,
            desc: desc.clone(),
            set_layout: SetLayout::null(),
            shadow: ShadowInput::null(),
            scatter: ScatterPass::null(),
            skin: SkinStage::null(),
            buffers: FrameBuffers::null(),
            passes: Vec::new(),
            characters: Vec::new(),
            instances: Instances::new(&desc.capacity),
            uploads: Vec::new(),
            retire_queue: RetireQueue::new(desc.frames_in_flight),
            profiler: None,
            counters: Counters::default(),
            views: Vec::with_capacity(desc.capacity.views as usize),
            visibility: Visibility::default(),
            attachments: Attachments::default(),
            sorted: Sorted::default(),
            listed: Vec::new(),
            deforms: Deforms::default(),
            histories: Histories::new(),
            animated: Animated::new(desc.frames_in_flight),
            weights: Vec::new(),
            scratch: Vec::new(),
            time_s: 0.0,
            destroyed: false,
        };
        match crowd.build(allocator) {
            Ok(()) => Ok(crowd),
            Err(error) => {
                // SAFETY: nothing was recorded with it.
                unsafe { crowd.destroy(allocator) };
                Err(error)
            }
        }
    }

    pub(crate) fn build(&mut self, allocator: &mut Allocator) -> Result<()> {
        self.set_layout = SetLayout::new(&self.device)?;
        self.shadow.build(&self.device)?;
        self.scatter.build(&self.device)?;
        self.skin.build(&self.device, self.set_layout.handle())?;
        // Checks the capacities against the device, so memory of the CPU for them comes after.
        self.buffers = FrameBuffers::new(&self.device, allocator, &self.scatter, &self.desc)?;
        self.histories.make_room(&self.desc.capacity);
        self.sorted.make_room(self.desc.capacity.blended as usize);
        self.visibility.make_room(&self.desc.capacity, 0);
        self.animated
            .make_room(self.desc.capacity.instances as usize);
        if self.desc.profile {
            self.profiler = Some(Profiler::new(
                &self.device,
                self.desc.frames_in_flight,
                PROFILER_SCOPES,
            )?);
        }
        Ok(())
    }

    /// The device as the crowd knows it.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The layout of descriptor set 0, for the engine's own pipelines.
    #[must_use]
    pub fn set_layout(&self) -> &SetLayout {
        &self.set_layout
    }

    /// What there is room for.
    #[must_use]
    pub fn capacity(&self) -> Capacity {
        self.desc.capacity
    }

    /// How many instances are alive.
    #[must_use]
    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// Whether no instance is alive.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the frame that was begun last did so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.counters.read(self.instances.len() as u32)
    }

    /// GPU times of the frame that was recorded before in the frame in flight begun last; empty without
    /// [`CrowdDesc::profile`].
    #[must_use]
    pub fn gpu_times(&self) -> &[ScopeTime] {
        self.profiler.as_ref().map_or(&[], Profiler::times)
    }

    /// The profiler, to measure the engine's own scopes beside the crowd's.
    #[must_use]
    pub fn profiler(&self) -> Option<&Profiler> {
        self.profiler.as_ref()
    }

    /// Rows of this frame's frame in flight of the palette ring that may be in use: none if nothing plays.
    pub(crate) fn rows_in_use(&self) -> u32 {
        if self.animated.any_in_ring() {
            self.instances.rows_end()
        } else {
            0
        }
    }

    pub(super) fn entry(&self, id: CharacterId) -> Result<&Entry> {
        let count = self.characters.len() as u64;
        let entry = self.characters.get(id.0 as usize).and_then(Option::as_ref);
        entry.ok_or(Error::NotFound {
            what: "character",
            index: id.0.into(),
            count,
        })
    }

    /// Begins the frame of `frame_index` at the engine's time `time_s`, in seconds from an origin of its
    /// choice. Frees what no frame in flight uses any more.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a frame in flight past [`CrowdDesc::frames_in_flight`], [`Error::Argument`] for a time
    /// that is not finite.
    ///
    /// # Safety
    /// All work that was submitted with this frame in flight has ended (its fence is signalled). What
    /// [`Frame::record_prepare`] recorded with it was submitted, or its frame given up by
    /// [`Self::abandon_frame`]; draws that were not submitted will never be.
    pub unsafe fn begin_frame(
        &mut self,
        allocator: &mut Allocator,
        frame_index: u32,
        time_s: f64,
    ) -> Result<Frame<'_>> {
        if frame_index >= self.desc.frames_in_flight {
            return Err(Error::NotFound {
                what: "frame_index",
                index: frame_index.into(),
                count: self.desc.frames_in_flight.into(),
            });
        }
        if !time_s.is_finite() {
            return Err(Error::Argument {
                what: "time_s",
                why: ArgumentFault::NotFinite(time_s),
            });
        }
        self.time_s = time_s;
        // SAFETY: the caller's word about the frame in flight.
        unsafe {
            self.retire_queue
                .begin(&self.device, allocator, frame_index)
        };
        // And the buffer of histories that growth left behind.
        self.retire_queue.make_room(self.uploads.len() + 1);
        if let Some(profiler) = &mut self.profiler {
            // SAFETY: the profiler is this device's; the caller's word about the frame in flight.
            unsafe { profiler.begin_frame(&self.device, frame_index) };
        }
        self.counters = Counters::default();
        self.views.clear();
        self.histories.begin_frame();
        self.update_animators(time_s)?;
        self.visibility.begin_frame();
        Ok(Frame::new(self, frame_index))
    }

    /// Takes back the frame begun last, prepared or not, whose commands will never be submitted
    /// (the swapchain was out of date, say): what it would have brought to the GPU is brought by
    /// the next one.
    ///
    /// # Safety
    /// None of what was recorded in that frame is ever submitted.
    pub unsafe fn abandon_frame(&mut self) {
        self.instances.unsettle();
        self.visibility.abandon_frame();
        self.histories.abandon_frame(&mut self.retire_queue);
        let characters = &self.characters;
        let alive = |index: u32| characters.get(index as usize).is_some_and(Option::is_some);
        let uploads = self.retire_queue.exhume_uploads(alive);
        for (index, mut upload) in uploads {
            upload.unrecord();
            self.uploads.push((index, upload));
        }
        if let Some(profiler) = &mut self.profiler {
            profiler.abandon_frame();
        }
        self.views.clear();
    }

    /// Overwrites everything that the CPU wrote into `frame_index` of the ring with `byte`. For tests that
    /// prove that frames in flight are kept apart.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a frame in flight that does not exist.
    ///
    /// # Safety
    /// What the GPU reads of the frame in flight in the meantime may be any bytes.
    #[doc(hidden)]
    pub unsafe fn poison_slot(&mut self, frame_index: u32, byte: u8) -> Result<()> {
        self.animated.forget();
        self.buffers.poison(frame_index, byte)
    }

    /// Frees everything, in flight or not.
    ///
    /// # Safety
    /// The device is idle as far as the crowd's recorded work goes. `allocator` is the one handed
    /// to [`Crowd::new`].
    pub unsafe fn destroy(mut self, allocator: &mut Allocator) {
        self.destroyed = true;
        // SAFETY: the caller's word.
        unsafe {
            for (_, mut upload) in self.uploads.drain(..) {
                upload.free(&self.device, allocator);
            }
            for mut entry in self.characters.drain(..).flatten() {
                entry.pool.destroy(&self.device);
                entry.mesh.destroy(&self.device, allocator);
            }
            self.retire_queue.destroy(&self.device, allocator);
            for mut pass in self.passes.drain(..).flatten() {
                pass.destroy(&self.device);
            }
            if let Some(profiler) = &mut self.profiler {
                profiler.destroy(&self.device);
            }
            self.histories.destroy(&self.device, allocator);
            self.buffers.destroy(&self.device, allocator);
            self.skin.destroy(&self.device);
            self.scatter.destroy(&self.device);
            self.shadow.destroy(&self.device);
            self.set_layout.destroy(&self.device);
        }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        if !self.destroyed {
            log::error!("throng: a Crowd was dropped without destroy: what it owns is leaked");
        }
    }
}
