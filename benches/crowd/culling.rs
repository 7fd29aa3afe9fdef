//! Frames with culling and levels of detail: by what is in view, and by the stages on the GPU.

use crate::Outcome;
use crate::load::{Kind, is_held, plays};
use std::hint::black_box;
use std::time::{Duration, Instant};
use throng::ash::{self, vk};
use throng::character::Character;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Mat4, Vec3, vec3};
use throng::skeleton::Joint;
use throng::{
    Attachment, Capacity, CharacterDesc, Crowd, CrowdDesc, Culling, Id, InstanceId, PassDesc,
    PassId, PassKind, SkinningStage, Spawn, Stages, Stats, View,
};
use throng_standalone::{Begin, Context, Frames, Target, TargetDesc};

const FRAME_S: f64 = 1.0 / 60.0;
pub(crate) const FRAMES_IN_FLIGHT: u32 = 2;
/// The image that is drawn into. Views are much larger, and end in its lower right corner, so
/// that levels are chosen as in a large picture and next to no pixels are shaded.
const TARGET: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 36,
};
pub(crate) const PICTURE: vk::Extent2D = vk::Extent2D {
    width: 1280,
    height: 720,
};
pub(crate) const SHADOW_MAP: vk::Extent2D = vk::Extent2D {
    width: 2048,
    height: 2048,
};
/// Distance between neighbours, in metres.
const SPACING: f32 = 1.5;
/// Distance of the nearest instances from the camera, in metres.
const NEAREST: f32 = 4.0;
/// Half the width of the crowd over its distance: within the camera's frustum.
const HALF_WIDTH: f32 = 0.5;

/// The most instances with palettes of their own in a crowd whose far instances share poses.
const FULL_PALETTES: u32 = 16_384;

/// More than the caches hold.
pub(crate) const CACHES_BYTES: usize = 96 << 20;

/// The part of the crowd that the views see. The rest stands behind the camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InView {
    All,
    /// One instance in ten.
    Tenth,
    None,
}

impl InView {
    pub(crate) const ALL: [Self; 3] = [Self::All, Self::Tenth, Self::None];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Tenth => "10 %",
            Self::None => "none",
        }
    }

    fn sees(self, number: usize) -> bool {
        match self {
            Self::All => true,
            Self::Tenth => number.is_multiple_of(10),
            Self::None => false,
        }
    }
}

/// The instances and the detail that views leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Instances outside, and detail that is smaller than a pixel, or half a pixel of poses.
    Levels,
    /// Instances outside. Each has a pose of its own.
    Full,
    /// Nothing, as before the crate culled.
    Uncut,
}

impl Detail {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Levels => "levels",
            Self::Full => "full detail",
            Self::Uncut => "no culling",
        }
    }
}

/// The stages that run on the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnGpu {
    Nothing,
    /// The stage cull.
    Cull,
    /// The stages cull and animate.
    Both,
}

impl OnGpu {
    pub(crate) const ALL: [Self; 3] = [Self::Nothing, Self::Cull, Self::Both];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Cull => "cull",
            Self::Both => "cull, animate",
        }
    }

    fn stages(self) -> Stages {
        match self {
            Self::Nothing => Stages::Cpu,
            Self::Cull => Stages::GpuCull,
            Self::Both => Stages::Gpu,
        }
    }
}

/// A crowd to measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Case {
    pub(crate) instances: u32,
    pub(crate) in_view: InView,
    pub(crate) detail: Detail,
    pub(crate) kind: Kind,
    pub(crate) on_gpu: OnGpu,
    /// Views in each frame: cameras and views of a light in turn.
    pub(crate) views: u32,
    /// True to empty the CPU's caches before each frame.
    pub(crate) cold: bool,
}

impl Case {
    /// True if far instances share poses.
    fn shares(&self) -> bool {
        self.detail == Detail::Levels && self.on_gpu == OnGpu::Both
    }
}

/// The figures of one frame.
#[derive(Debug, Clone)]
pub(crate) struct Figures {
    /// Microseconds of `Crowd::begin_frame`.
    pub(crate) begin_us: f64,
    /// Microseconds of `Frame::record_prepare`.
    pub(crate) prepare_us: f64,
    /// Microseconds of `Frame::record_draw`, of all views.
    pub(crate) draw_us: f64,
    /// Milliseconds from the submission until its end, by the host's clock.
    pub(crate) submission_ms: f64,
    /// The device's times by scope, of the last frame with the same frame index. Empty if the
    /// device has no timestamps.
    pub(crate) scopes: Vec<(&'static str, f64)>,
    pub(crate) stats: Stats,
}

impl Figures {
    pub(crate) fn whole_us(&self) -> f64 {
        self.begin_us + self.prepare_us + self.draw_us
    }
}

/// The number of frames to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rounds {
    Frames(usize),
    /// Frames that are drawn, until this much time has passed: at most 50, and at least 2 if they
    /// do not take five times as long.
    Drawn(Duration),
    /// One frame that is drawn.
    One,
}

impl Rounds {
    pub(crate) fn draws(self) -> bool {
        !matches!(self, Self::Frames(_))
    }
}

/// A crowd with its views and passes.
pub(crate) struct Scene {
    crowd: Crowd,
    views: Vec<(View, PassId)>,
    /// The instances that are moved in each frame, with their places.
    moved: Vec<(InstanceId, Affine3A)>,
    target: Target,
    /// Draws that are recorded and never submitted.
    unsent: Frames,
    frame: u32,
    /// Written before each frame, to empty the caches. Empty if they keep what they have.
    other: Vec<u8>,
}

impl Scene {
    /// The device's times are measured if `profile`.
    pub(crate) fn new(
        context: &mut Context,
        (character, clips): (&Character, &[String]),
        case: &Case,
        profile: bool,
    ) -> Outcome<Self> {
        let mut capacity = Capacity::new(case.views).with_character(
            character,
            &CharacterDesc::default(),
            case.instances,
            SkinningStage::Vertex,
        )?;
        if case.shares() {
            // Memory for those that are near.
            let near = FULL_PALETTES * character.palette().len() as u32;
            capacity.palette_entries = capacity.palette_entries.min(near);
        }
        if matches!(case.kind, Kind::Held | Kind::Carried) {
            capacity.attachments = case.instances / 2;
        }
        let desc = CrowdDesc {
            frames_in_flight: FRAMES_IN_FLIGHT,
            capacity,
            stages: case.on_gpu.stages(),
            profile,
            ..CrowdDesc::default()
        };
        let target = Target::new(
            context,
            &TargetDesc {
                extent: TARGET,
                ..TargetDesc::default()
            },
        )?;
        let unsent = Frames::new(context, 1)?;
        // SAFETY: the caller destroys the scene before the context is dropped.
        let device = unsafe { context.gpu_device() };
        let mut crowd = Crowd::new(&device, &mut context.allocator(), &desc)?;
        let id = crowd.add_character(
            &mut context.allocator(),
            character,
            &CharacterDesc::default(),
        )?;
        let places = places(case.instances as usize);
        let hand = Id::<Joint>::new(character.skeleton().len() as u16 - 1);
        let (mut before, mut moved) = (None, Vec::new());
        for (number, place) in places.iter().enumerate() {
            let side = if case.in_view.sees(number) { -1.0 } else { 1.0 };
            let place = vec3(place.x, 0.0, side * place.z);
            let (play, fade) = plays(case.kind, clips, number);
            let spawn = Spawn {
                world_from_model: Affine3A::from_translation(place),
                play,
                attachment: before
                    .filter(|_| is_held(case.kind, number))
                    .map(|parent| Attachment::new(parent, hand)),
                ..Spawn::default()
            };
            let instance = crowd.spawn(id, &spawn)?;
            if let Some(fade) = fade {
                crowd.instance_mut(instance)?.play(fade)?;
            }
            before = Some(instance);
            if case.kind == Kind::Carried && !is_held(case.kind, number) {
                moved.push((instance, Affine3A::from_translation(place)));
            }
        }
        let mut scene = Self {
            crowd,
            views: Vec::new(),
            moved,
            target,
            unsent,
            frame: 0,
            other: vec![0; if case.cold { CACHES_BYTES } else { 0 }],
        };
        scene.add_views(case, &places)?;
        Ok(scene)
    }

    fn add_views(&mut self, case: &Case, places: &[Vec3]) -> Outcome {
        let color = self.target.pass_desc();
        let shadow = PassDesc {
            kind: PassKind::Shadow,
            color_formats: Vec::new(),
            ..color.clone()
        };
        // SAFETY: the formats are the target's, and there are no materials of the engine's own.
        let [color, shadow] = unsafe { [&color, &shadow].map(|pass| self.crowd.create_pass(pass)) };
        let both = [(camera(places), color?), (light(depth(places)), shadow?)];
        self.views = (0..case.views as usize)
            .map(|number| {
                let (view, pass) = both[number % 2];
                let culling = match case.detail {
                    Detail::Levels | Detail::Full => Culling::Frustum,
                    Detail::Uncut => Culling::Off,
                };
                let full = throng::Detail {
                    error_px: 0.0,
                    pose_error_px: 0.0,
                    ..view.detail
                };
                let detail = match case.detail {
                    Detail::Levels => view.detail,
                    Detail::Full | Detail::Uncut => full,
                };
                let view = View {
                    culling,
                    detail,
                    ..view
                };
                (view, pass)
            })
            .collect();
        Ok(())
    }

    pub(crate) fn destroy(self, context: &mut Context) -> Outcome {
        context.wait_idle()?;
        // SAFETY: the device is idle.
        unsafe { self.crowd.destroy(&mut context.allocator()) };
        Ok(())
    }

    /// Measures frames after `warm_up` others, which are not drawn.
    pub(crate) fn run(
        &mut self,
        context: &mut Context,
        warm_up: usize,
        rounds: Rounds,
    ) -> Outcome<Vec<Figures>> {
        for _ in 0..warm_up {
            self.step(context, false)?;
        }
        let start = Instant::now();
        let mut all = Vec::new();
        loop {
            all.push(self.step(context, rounds.draws())?);
            let ends = match rounds {
                Rounds::Frames(count) => all.len() >= count,
                Rounds::Drawn(time) => {
                    let passed = start.elapsed();
                    let enough = all.len() >= 2 && passed >= time;
                    enough || all.len() >= 50 || passed >= 5 * time
                }
                Rounds::One => true,
            };
            if ends {
                return Ok(all);
            }
        }
    }

    /// One frame. Its uploads and stages are submitted and waited for, and its draws if `draws`.
    fn step(&mut self, context: &mut Context, draws: bool) -> Outcome<Figures> {
        self.frame += 1;
        let frame_index = self.frame % FRAMES_IN_FLIGHT;
        let unsent = self.unsent.begin()?.cmd;
        let views: Vec<View> = self.views.iter().map(|(view, _)| *view).collect();
        self.other.fill(self.frame as u8);
        black_box(&self.other);
        for (_, place) in &mut self.moved {
            place.translation.y = 0.01 * (self.frame % 2) as f32;
        }
        let start = Instant::now();
        self.crowd.set_transforms(&self.moved)?;
        let now_s = f64::from(self.frame) * FRAME_S;
        self.crowd.update(now_s)?;
        // SAFETY: all work submitted before was waited for, and the draws of `unsent` are never
        // submitted.
        let mut frame = unsafe {
            let allocator = &mut context.allocator();
            self.crowd.begin_frame(allocator, frame_index, now_s)?
        };
        let begin_us = us(start);
        let scopes = frame.gpu_times().to_vec();
        let (mut prepare_us, mut draw_us, mut submitted) = (0.0, 0.0, start);
        let (passes, target) = (&self.views, &self.target);
        context.submit_and_wait(|device, cmd| -> throng::Result<()> {
            let start = Instant::now();
            // SAFETY: the command buffer is recording, and is submitted and waited for at once.
            let ids = unsafe { frame.record_prepare(cmd, &views)? };
            prepare_us = us(start);
            let cmd = if draws { cmd } else { unsent };
            for (number, (id, (_, pass))) in ids.iter().zip(passes).enumerate() {
                let is_light = number % 2 == 1;
                // SAFETY: `cmd` is recording outside of rendering, and a camera comes before each
                // light. The passes are of the formats of what is begun. The draws are submitted
                // after `record_prepare`, or never.
                unsafe {
                    match is_light {
                        false => target.begin(device, cmd, &Begin::default()),
                        true => begin_light(device, cmd, target),
                    }
                    let start = Instant::now();
                    frame.record_draw(cmd, *id, *pass)?;
                    draw_us += us(start);
                    match is_light {
                        false => target.end(device, cmd),
                        true => device.cmd_end_rendering(cmd),
                    }
                }
            }
            submitted = Instant::now();
            Ok(())
        })??;
        let submission_ms = us(submitted) / 1e3;
        let mut stats = frame.stats();
        // If the GPU culls, those of an earlier frame, which was alike.
        stats.triangles = frame.view_stats().iter().map(|it| it.triangles).sum();
        Ok(Figures {
            begin_us,
            prepare_us,
            draw_us,
            submission_ms,
            scopes,
            stats,
        })
    }
}

/// Begins rendering to the depth image of the target alone, cleared.
///
/// # Safety
/// `cmd` is recording outside of rendering, and `target` was drawn to before in it.
unsafe fn begin_light(device: &ash::Device, cmd: vk::CommandBuffer, target: &Target) {
    let stages = vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS
        | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS;
    let write = vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE;
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(stages)
        .src_access_mask(write)
        .dst_stage_mask(stages)
        .dst_access_mask(write | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ)];
    let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
    let clear = vk::ClearDepthStencilValue {
        depth: 1.0,
        stencil: 0,
    };
    let depth = vk::RenderingAttachmentInfo::default()
        .image_view(target.depth().map_or(vk::ImageView::null(), |it| it.1))
        .image_layout(vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::DONT_CARE)
        .clear_value(vk::ClearValue {
            depth_stencil: clear,
        });
    let info = vk::RenderingInfo::default()
        .render_area(vk::Rect2D::from(TARGET))
        .layer_count(1)
        .depth_attachment(&depth);
    // SAFETY: `cmd` is recording outside of rendering, and the image is in this layout since it was
    // drawn to, by this function's contract.
    unsafe {
        device.cmd_pipeline_barrier2(cmd, &dependency);
        device.cmd_begin_rendering(cmd, &info);
    }
}

/// Places in front of the camera, nearest first: rows that are as wide as what it sees.
pub(crate) fn places(count: usize) -> Vec<Vec3> {
    let rows = (0..).map(|row| NEAREST + SPACING * row as f32);
    let row = |distance: f32| {
        let width = (2.0 * HALF_WIDTH * distance / SPACING) as usize;
        let middle = 0.5 * (width as f32 - 1.0);
        (0..width).map(move |at| vec3((at as f32 - middle) * SPACING, 0.0, distance))
    };
    rows.flat_map(row).take(count).collect()
}

/// Distance of the farthest instances.
fn depth(places: &[Vec3]) -> f32 {
    places.last().map_or(NEAREST, |last| last.z)
}

/// A viewport of this size whose lower right corner is that of the target.
fn viewport(extent: vk::Extent2D) -> vk::Rect2D {
    let offset = vk::Offset2D {
        x: TARGET.width as i32 - extent.width as i32,
        y: TARGET.height as i32 - extent.height as i32,
    };
    vk::Rect2D { offset, extent }
}

/// A camera at eye level, in front of all places.
fn camera(places: &[Vec3]) -> View {
    let eye = vec3(0.0, 1.7, 0.0);
    let far = depth(places) + 10.0;
    let aspect = PICTURE.width as f32 / PICTURE.height as f32;
    let clip_from_view = rh::proj::vulkan::perspective(0.7, aspect, 0.1, far);
    let view_from_world = rh::view::look_at_mat4(eye, eye - Vec3::Z, Vec3::Y);
    View::new(clip_from_view * view_from_world, eye, viewport(PICTURE))
}

/// The view of a light from above that covers all places up to this distance, and nothing behind
/// the camera.
pub(crate) fn light(depth: f32) -> View {
    let (first, last) = (2.0, depth + 2.0);
    let [right, up] = [HALF_WIDTH * last + 2.0, 0.5 * (last - first)];
    let middle = vec3(0.0, 0.0, -0.5 * (first + last));
    let away = right + 20.0;
    let eye = middle + vec3(0.3, 1.0, 0.0).normalize() * away;
    let clip_from_view: Mat4 =
        rh::proj::vulkan::orthographic(-right, right, -up, up, 0.1, 2.0 * away);
    let view_from_world = rh::view::look_at_mat4(eye, middle, Vec3::NEG_Z);
    let clip_from_world = clip_from_view * view_from_world;
    View::shadow_of(clip_from_world, eye, viewport(SHADOW_MAP))
}

fn us(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}
