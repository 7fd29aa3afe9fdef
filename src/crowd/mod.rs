//! The crowd: characters and their instances, which are spawned, played, prepared and drawn.
//!
//! Its types are public at the root of the crate. This file has the façade: what a crowd consists
//! of, its construction and its end. The modules:
//!
//! | module | contents |
//! |---|---|
//! | [`ids`], [`capacity`], [`desc`], [`stats`] | plain data of the interface |
//! | [`view`], [`detail`], [`depth`], [`receivers`] | the same, of what a view shows |
//! | [`table`], [`pending`] | lists by index, changes that wait to be uploaded |
//! | [`view_record`] | the records of a view, for shaders and draws |
//! | [`memory`] | buffers, ranges of them, and what is freed later |
//! | [`characters`], [`animators`] | the characters, their data on the GPU, and their actors |
//! | [`instances`] | the instance table, attachments, spawning, handles, picking; stage attach |
//! | [`visibility`] | stage cull: what each view shows |
//! | [`poses`] | stages animate and palette: who poses an instance, and its palette |
//! | [`skin`] | stage skin: vertices that are deformed before they are drawn |
//! | [`rays`] | stage rays: acceleration structures |
//! | [`draw`] | stage draw: passes and their pipelines |
//! | [`scene`] | characters and instances together |
//! | [`origin`] | the origin of world space |
//! | [`shift`] | shifts of the origin: large worlds; stage shift |
//! | [`update`] | moves the game to a time |
//! | [`frame`] | begin, prepare and end of a frame; stages scatter and history |

mod animators;
mod capacity;
mod characters;
mod depth;
mod desc;
mod detail;
mod draw;
mod environment;
mod frame;
mod ids;
mod instances;
mod memory;
mod origin;
mod pending;
mod poses;
mod rays;
mod receivers;
mod scene;
mod shift;
mod skin;
mod stats;
mod table;
mod update;
mod view;
mod view_record;
mod visibility;

pub use capacity::Capacity;
pub use characters::desc::{CharacterDesc, SkinningStage};
pub use depth::Depth;
pub use desc::{CrowdDesc, Stages};
pub use detail::{Culling, Detail};
pub use draw::bindings::{DrawBindings, IndirectDraw};
pub use draw::passes::PipelineInfo;
pub use environment::Environment;
pub use frame::{Frame, Views};
pub use ids::{CharacterId, InstanceId, ListId, PassId, ViewId};
pub use instances::attachments::Attachment;
pub use instances::handle::Instance;
pub use instances::pick::InstanceHit;
pub use instances::snapshot::{CrowdSnapshot, InstanceSnapshot};
pub use instances::spawn::Spawn;
pub use rays::desc::{RayCrowd, RayDesc, RayStats};
pub use receivers::Receivers;
pub use skin::skinned_vertices::SkinnedVertices;
pub use stats::{Stats, ViewStats};
pub use view::{Eye, Lighting, Shadow, View};

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::gpu::{
    Destroy, Device, Gpu, Guard, MemoryAllocator, Profiler, SetLayout, destroy_fields,
};
use crate::pass::animate::AnimatePipeline;
use crate::pass::attach::AttachPass;
use crate::pass::cull::CullPass;
use crate::pass::desc::{EnvironmentLight, PassKind};
use crate::pass::draw::DrawPass;
use crate::pass::image_input::ImageInput;
use crate::pass::pipelines::Variant;
use crate::pass::pyramid::PyramidPass;
use crate::pass::scatter::{MAX_CHANGES, ScatterPass};
use crate::pass::shift::ShiftPass;
use crate::pass::skin::SkinPipeline;
use animators::Animators;
use core::cell::RefCell;
use desc::{MAX_FRAMES_IN_FLIGHT, MAX_VIEWS, check_desc};
use frame::ends::Ends;
use frame::state::FrameState;
use memory::Memory;
use memory::buffers::{BufferUsers, FrameBuffers};
use memory::retire::RetireQueue;
use memory::work::WorkCapacity;
use poses::gpu_poses::GpuPoses;
use rays::buffers::RayCapacity;
use rays::state::Rays;
use scene::Scene;
use std::sync::Arc;
use table::Slots;

/// Scopes that one frame can measure.
pub(crate) const PROFILER_SCOPES: u32 = 64;

/// Characters and their instances, drawn with Vulkan.
///
/// A crowd records into the engine's command buffers. It never submits, never waits for the GPU and
/// takes no locks. It works on the threads of [`CrowdDesc::threads`] alone: if these are several,
/// the calling thread waits for those that share its work, and rayon's queues may lock or allocate.
/// It takes its memory from the engine's [allocator](crate::gpu::MemoryAllocator), in the methods
/// that receive one.
///
/// # Frames in flight
/// [`CrowdDesc::frames_in_flight`] frames may be in flight. At [`Crowd::begin_frame`] the engine
/// names the frame index that it begins. By that it promises that the work that it last submitted
/// with this frame index has ended. All recorded work goes to one queue, in the order of the
/// frames.
///
/// # Spaces
/// Instance transforms and views are relative to a common origin that the engine chooses.
/// [`Crowd::shift_origin`] moves it, for large worlds.
///
/// ```no_run
/// use throng::ash::vk;
/// use throng::gpu::{Device, MemoryAllocator};
/// use throng::{Crowd, CrowdDesc, PassDesc, Play, Result, Spawn, builtin};
///
/// /// # Safety
/// /// The device supports the two formats as attachments.
/// unsafe fn one_walker(device: &Device, allocator: &mut dyn MemoryAllocator) -> Result<Crowd> {
///     let mut crowd = Crowd::new(device, allocator, &CrowdDesc::default())?;
///     let desc = PassDesc {
///         color_formats: vec![vk::Format::R8G8B8A8_SRGB],
///         depth_format: vk::Format::D32_SFLOAT,
///         ..Default::default()
///     };
///     unsafe { crowd.create_pass(&desc)? };
///     let mannequin = builtin::mannequin()?.character;
///     let mannequin = crowd.add_character(allocator, &mannequin, &Default::default())?;
///     let walker = crowd.spawn(mannequin, &Spawn::default())?;
///     crowd.instance_mut(walker)?.play(Play::new("Walk").fade_s(0.2))?;
///     Ok(crowd)
/// }
/// ```
#[derive(Debug)]
pub struct Crowd {
    /// Shared, so that it can be lent while the crowd is changed.
    pub(crate) device: Arc<Device>,
    pub(crate) desc: CrowdDesc,
    pub(crate) pipelines: Pipelines,
    pub(crate) memory: Memory,
    pub(crate) animators: Animators,
    pub(crate) scene: Scene,
    pub(crate) frame: FrameState,
    /// If rays meet it.
    pub(crate) rays: Option<Box<Rays>>,
    /// The time of the game: that of the last update.
    pub(crate) time_s: f64,
    /// The time that poses are for: that of the last update or of a frame begun since.
    pub(crate) shown_s: f64,
    destroyed: bool,
}

/// The pipelines of a crowd, and the layouts that they share.
#[derive(Debug)]
pub(crate) struct Pipelines {
    pub(crate) set_layout: SetLayout,
    pub(crate) shadow: ImageInput,
    pub(crate) environment: ImageInput,
    pub(crate) scatter: ScatterPass,
    pub(crate) shift: ShiftPass,
    /// If the GPU culls.
    pub(crate) cull: Option<CullPass>,
    /// If it may test instances against depth.
    pub(crate) pyramid: Option<PyramidPass>,
    /// If the GPU poses instances.
    pub(crate) animate: Option<AnimatePipeline>,
    /// If the GPU may place attached instances.
    pub(crate) attach: Option<AttachPass>,
    pub(crate) skin: SkinPipeline,
    pub(crate) passes: Slots<DrawPass>,
    /// The variants that every pass has, whatever the characters use.
    pub(crate) warm: Vec<Variant>,
    /// The number of pipelines created since the last frame began.
    pub(crate) created: u32,
}

destroy_fields!(
    Pipelines, &'a Device:
        passes, skin, shift, scatter, cull, pyramid, animate, attach, shadow, environment,
        set_layout
);

impl Pipelines {
    /// Creates the pipelines of a crowd with these stages, which are not [`Stages::Auto`].
    fn new(device: &Device, stages: Stages) -> Result<Guard<'_, Self>> {
        let (culls, animates) = (stages != Stages::Cpu, stages == Stages::Gpu);
        let set_layout = Guard::new(device, SetLayout::new(device)?);
        let shadow = ImageInput::new(device, "throng shadow map")?;
        let environment = ImageInput::new(device, "throng environment map")?;
        let scatter = ScatterPass::new(device, culls)?;
        // SAFETY: the layout is that of the scatter pass, which lives as long.
        let shift = unsafe { ShiftPass::new(device, scatter.set_layout()) }?;
        let shift = Guard::new(device, shift);
        let cull = culls.then(|| CullPass::new(device)).transpose()?;
        let animate = animates.then(|| AnimatePipeline::new(device)).transpose()?;
        let animate = animate.map(|animate| Guard::new(device, animate));
        let skin = SkinPipeline::new(device, &set_layout)?;
        let pipelines = Self {
            set_layout: set_layout.keep(),
            shadow: shadow.keep(),
            environment: environment.keep(),
            scatter: scatter.keep(),
            shift: shift.keep(),
            cull: cull.map(Guard::keep),
            animate: animate.map(Guard::keep),
            attach: None,
            pyramid: None,
            skin,
            passes: Slots::default(),
            warm: Vec::new(),
            created: 0,
        };
        Ok(Guard::new(device, pipelines))
    }

    /// True if a pass draws motion vectors.
    pub(crate) fn shows_motion(&self) -> bool {
        let mut passes = self.passes.iter();
        passes.any(|(_, pass)| pass.target.kind == PassKind::Motion)
    }

    /// True if a pass reads the environment of views.
    pub(crate) fn shows_environment(&self) -> bool {
        let mut passes = self.passes.iter();
        passes.any(|(_, pass)| pass.target.environment != EnvironmentLight::Sky)
    }

    /// The passes that write the buffers.
    pub(crate) fn users(&self, work: WorkCapacity) -> BufferUsers<'_> {
        BufferUsers {
            scatter: &self.scatter,
            cull: self.cull.as_ref().map(|cull| (cull, work)),
            pyramid: self.pyramid.as_ref(),
            animates: self.animate.is_some(),
        }
    }
}

impl Crowd {
    /// The largest number of frames in flight.
    pub const MAX_FRAMES_IN_FLIGHT: u32 = MAX_FRAMES_IN_FLIGHT;
    /// The largest number of views in one frame.
    pub const MAX_VIEWS: u32 = MAX_VIEWS;
    /// The largest number of instances ([`Capacity::instances`]).
    ///
    /// Fewer may fit, because the device limits the sizes of buffers.
    pub const MAX_INSTANCES: u32 = MAX_CHANGES;

    /// Creates an empty crowd on the engine's device.
    ///
    /// # Errors
    /// - [`Error::Argument`] for no frames in flight, no views, an alignment that is not a power of
    ///   two, a usage flag of an extension, or an allocator of another device.
    /// - [`Error::Capacity`] for too many frames in flight or views, or if the device cannot bind
    ///   buffers of the capacity.
    /// - [`Error::Memory`] and [`Error::Vulkan`] from the device.
    ///
    /// If this fails, everything created until then is destroyed.
    pub fn new(
        device: &Device,
        allocator: &mut dyn MemoryAllocator,
        desc: &CrowdDesc,
    ) -> Result<Self> {
        check_desc(desc, device)?;
        let allocator = RefCell::new(allocator);
        let gpu = Gpu::new(device, &allocator)?;
        let stages = desc.stages.on(device);
        let (culls, animates) = (stages != Stages::Cpu, stages == Stages::Gpu);
        let (capacity, work) = (&desc.capacity, WorkCapacity::FIRST);
        let mut pipelines = Pipelines::new(device, stages)?;
        pipelines.prepare_pyramid(device, capacity)?;
        // This checks the capacities against the device, so CPU memory is reserved after it.
        let buffers = FrameBuffers::new(gpu, pipelines.users(work), desc)?;
        pipelines.prepare_attach(device, capacity.attachments)?;
        let ends = Ends::new(device, desc.frames_in_flight)?;
        let mut frame = FrameState::new(desc);
        frame.histories.reserve(capacity);
        frame.grow(capacity, device);
        if desc.profile {
            frame.profiler = Profiler::new(device, desc.frames_in_flight, PROFILER_SCOPES)?;
        }
        frame.ends = ends.keep();
        let mut scene = Scene::new(capacity, desc.frames_in_flight);
        if culls {
            scene.visibility.cull_on_gpu();
        }
        if animates {
            scene.poses.gpu = Some(GpuPoses::default());
            scene.instances.set_rows_on_demand();
        }
        scene.grow(capacity, buffers.work.as_ref().map(|work| &work.layout));
        let rays = desc.rays.as_ref().zip(pipelines.cull.as_ref());
        let rays = rays.map(|(rays, cull)| {
            let layouts = [pipelines.set_layout.handle(), cull.set_layout()];
            let capacity = RayCapacity::of(capacity, work.characters);
            let frames = desc.frames_in_flight;
            Rays::new(gpu, layouts, (rays, frames), (capacity, &buffers))
        });
        let rays = rays.transpose()?;
        Ok(Self {
            device: Arc::new(device.clone()),
            desc: desc.clone(),
            pipelines: pipelines.keep(),
            memory: Memory {
                buffers: buffers.keep(),
                work,
                grown: None,
                uploads: Vec::new(),
                retire_queue: RetireQueue::new(desc.frames_in_flight),
            },
            animators: Animators::default(),
            scene,
            frame,
            rays: rays.map(|rays| rays.keep().into()),
            time_s: 0.0,
            shown_s: 0.0,
            destroyed: false,
        })
    }

    /// The layout of descriptor set 0, for the engine's own pipelines.
    #[must_use]
    pub fn set_layout(&self) -> &SetLayout {
        &self.pipelines.set_layout
    }

    /// The processors that cull and pose, which are never [`Stages::Auto`].
    #[must_use]
    pub fn stages(&self) -> Stages {
        match (&self.pipelines.cull, &self.pipelines.animate) {
            (None, _) => Stages::Cpu,
            (Some(_), None) => Stages::GpuCull,
            (Some(_), Some(_)) => Stages::Gpu,
        }
    }

    /// The present capacities.
    #[must_use]
    pub fn capacity(&self) -> Capacity {
        self.desc.capacity
    }

    /// Statistics of the frame begun last, so far. [`Stats`] says what is of an earlier frame.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let posed = self.scene.poses.gpu.as_ref().map_or(0, GpuPoses::count);
        let instances = self.scene.instances.len() as u32;
        let totals = self.frame.pose_totals;
        let placed = self.scene.attachments.gpu.count();
        let images = self.scene.characters.iter();
        let images = images.flat_map(|(_, character)| character.mesh.images());
        Stats {
            image_bytes: images.map(|image| image.bytes).sum(),
            ..self.frame.counters.read(instances, [posed, placed], totals)
        }
    }

    /// The figures of each view.
    ///
    /// If the CPU culls ([`CrowdDesc::stages`]), these are the views of the frame that was prepared
    /// last.
    ///
    /// If the GPU culls, they are those of the last frame that was recorded with the frame index
    /// begun last. If frame indices take turns, that is [`CrowdDesc::frames_in_flight`] frames ago.
    /// Their figures were read when this index began again, without waiting, and leave out
    /// characters with blended materials. The list is empty if there is no such frame yet, also
    /// since [`Self::abandon_frame`] or [`Self::reserve`].
    #[must_use]
    pub fn view_stats(&self) -> &[ViewStats] {
        if self.scene.visibility.is_on_gpu() {
            return &self.frame.read_back;
        }
        self.scene.shown.counts()
    }

    /// GPU times of an earlier frame: the name of each scope, and its milliseconds.
    ///
    /// The scopes are in the order in which they were opened. The frame is the last one that was
    /// recorded with the frame index begun last. The times were read when this index began again.
    ///
    /// They are read with `vkGetQueryPoolResults` and without its wait flag, when all commands of
    /// that frame have ended. So [`Self::begin_frame`] does not wait for the GPU, unless a driver
    /// blocks in that call nevertheless. If `begin_frame` is slow with [`CrowdDesc::profile`]
    /// alone, that is the reason.
    ///
    /// Empty without [`CrowdDesc::profile`], and on devices without timestamps.
    #[must_use]
    pub fn gpu_times(&self) -> &[(&'static str, f64)] {
        self.frame.profiler.as_ref().map_or(&[], Profiler::times)
    }

    /// Frees everything, in flight or not.
    ///
    /// # Safety
    /// - The GPU has finished the crowd's recorded work, or the device is lost.
    /// - `allocator` is for the crowd's device.
    pub unsafe fn destroy(mut self, allocator: &mut dyn MemoryAllocator) {
        self.destroyed = true;
        let device = &*self.device;
        // SAFETY: the GPU has finished the crowd's work and the allocator is the crowd's, by this
        // function's contract.
        unsafe {
            Gpu::destroy(&mut self.scene.characters.list, device, allocator);
            Gpu::destroy(&mut self.memory, device, allocator);
            Gpu::destroy(&mut self.frame, device, allocator);
            Gpu::destroy(&mut self.rays, device, allocator);
            self.pipelines.destroy(device);
        }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        if !self.destroyed {
            let leak = "throng: a Crowd was dropped without destroy: its resources are leaked";
            log::error!("{leak}");
            // Without a logger, nobody would read that.
            if cfg!(debug_assertions) && !log::log_enabled!(log::Level::Error) {
                eprintln!("{leak}");
            }
        }
    }
}
