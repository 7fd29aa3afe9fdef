//! Records one frame of the crowd into a window or an image.

use std::collections::HashMap;
use std::io::Cursor;
use std::path::PathBuf;
use std::time::Instant;

use throng::ash::{self, vk};
use throng::glam::Vec3;
use throng::gpu::{CpuReason, PosedBy};
use throng::skin::CullMode;
use throng::{Crowd, CrowdDesc, Detail, InstanceId, MaterialDesc, PassDesc, PassId, Stages, View};
use throng_standalone::{Begin, Context, ContextDesc, FrameCommands, SwapchainImage, Target};

use super::args::{Args, OnOff, Pixel, StagesArg};
use super::layout::Layout;
use super::model::Model;
use super::people::KINDS;
use super::roles::Fades;
use super::scene::{Scene, Skinning};
use super::shadow::ShadowImage;
use super::stats::{CpuTimes, FrameLog, Readings};
use super::walls::{Walls, around_views};
use super::{Result, complain, say, scenery};

/// Number of frames in flight.
pub(crate) const FRAMES_IN_FLIGHT: u32 = 2;
/// The shader of `--lod-view`.
static LEVELS: &[u8] = include_bytes!("../../shaders/spv/example/levels.frag.spv");
/// Half of the edge of the ground of a plaza whose shadows are drawn: relative to the height of the
/// camera, and at least this, in metres.
const SHADOWS: f32 = 6.0;
const SHADOWS_M: f32 = 25.0;
pub(crate) const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

/// The images to draw into.
pub(crate) enum Canvas<'a> {
    Picture(&'a Target),
    Window(&'a SwapchainImage<'a>),
}

/// The crowd and its surroundings on a device.
pub(crate) struct Show {
    pub(crate) scene: Scene,
    pub(crate) crowd: Crowd,
    scenery: Crowd,
    shadow: Option<ShadowImage>,
    /// With `--walls`.
    pub(crate) walls: Option<Walls>,
    passes: Option<Passes>,
    detail: Detail,
    /// With `--posed-by-view`: who is known to pose each instance.
    posed_by: Option<HashMap<InstanceId, (PosedBy, bool)>>,
}

/// The passes, in the order of drawing.
#[derive(Clone, Copy)]
struct Passes {
    shadow: Option<PassId>,
    crowd: PassId,
    scenery: PassId,
}

/// Loads the models of the command line, or the built-in one.
pub(crate) fn load(args: &Args, fades: Fades) -> Result<Vec<Model>> {
    let builtin = [PathBuf::from("builtin")];
    let paths = match args.models.is_empty() {
        true => &builtin[..],
        false => &args.models,
    };
    // Without files, the others are made from the built-in one.
    let others = KINDS.iter().take(args.characters as usize - 1);
    let others = others.map(|kind| Model::of(kind, fades));
    let mut models = Model::load(paths, args, fades)?;
    models.extend(others.collect::<Result<Vec<_>>>()?);
    for model in &models {
        let chosen = model.roles.describe(&model.character);
        say(&format!("{}: {chosen}", model.name))?;
    }
    Ok(models)
}

/// Creates the scene, with everyone in position.
pub(crate) fn scene(args: &Args) -> Result<Scene> {
    scene_with(args, Fades::default())
}

/// Creates the scene with other fades.
pub(crate) fn scene_with(args: &Args, fades: Fades) -> Result<Scene> {
    let models = load(args, fades)?;
    let layout = Layout::new(&models, args.instances(), args.seed, args.walls);
    let skinning = Skinning {
        mode: args.skin.into(),
        method: args.method.into(),
        picks: args.pick.is_some(),
    };
    Ok(Scene::new(models, layout, skinning, fades, args.still))
}

pub(crate) fn context_desc(args: &Args) -> ContextDesc<'static> {
    ContextDesc {
        app_name: "throng crowd",
        validation: args.validate,
        sampler_anisotropy: !args.no_anisotropy,
        ..ContextDesc::default()
    }
}

/// The requested number of samples, if the device supports it.
pub(crate) fn samples(context: &Context, args: &Args) -> Result<vk::SampleCountFlags> {
    let limits = &context.properties.limits;
    let both = limits.framebuffer_color_sample_counts & limits.framebuffer_depth_sample_counts;
    if both.contains(args.samples) {
        return Ok(args.samples);
    }
    let counts = (0..7).map(|bit| 1 << bit);
    let counts = counts.filter(|count| both.as_raw() & count != 0);
    let counts: Vec<String> = counts.map(|count| count.to_string()).collect();
    let asked = args.samples.as_raw();
    Err(format!("--samples {asked}: the device has {}", counts.join(", ")).into())
}

impl Show {
    /// Uploads the scene to the device, for attachments of the formats of `pass`.
    pub(crate) fn new(
        context: &mut Context,
        scene: Scene,
        pass: PassDesc<'_>,
        args: &Args,
    ) -> Result<Self> {
        let is_software = context.properties.device_type == vk::PhysicalDeviceType::CPU;
        let animates = match args.stages {
            StagesArg::Auto => !is_software,
            asked => asked == StagesArg::Gpu,
        };
        let shares_poses = animates && args.pose_error_px > 0.0;
        let desc = CrowdDesc {
            frames_in_flight: FRAMES_IN_FLIGHT,
            capacity: scene.capacity(shares_poses, args.walls.then_some(args.size.0))?,
            stages: args.stages.into(),
            profile: context.timestamp_bits > 0,
            ..CrowdDesc::default()
        };
        let scenery_desc = CrowdDesc {
            capacity: scene.scenery_capacity(),
            profile: false,
            ..desc.clone()
        };
        // SAFETY: the context outlives both crowds.
        let device = unsafe { context.gpu_device() };
        let allocator = &mut context.allocator();
        let crowd = Crowd::new(&device, allocator, &desc)?;
        let scenery = match Crowd::new(&device, allocator, &scenery_desc) {
            Ok(scenery) => scenery,
            Err(error) => {
                // SAFETY: nothing was recorded with this crowd.
                unsafe { crowd.destroy(allocator) };
                return Err(error.into());
            }
        };
        let mut show = Self {
            scene,
            crowd,
            scenery,
            shadow: None,
            walls: None,
            passes: None,
            detail: Detail {
                error_px: args.error_px,
                pose_error_px: args.pose_error_px,
                level: (args.levels == OnOff::Off).then_some(0),
                ..Detail::default()
            },
            posed_by: args.posed_by_view.then(HashMap::new),
        };
        match show.build(context, pass, args) {
            Ok(()) => Ok(show),
            Err(error) => {
                show.destroy(context)?;
                Err(error)
            }
        }
    }

    fn build(&mut self, context: &mut Context, pass: PassDesc<'_>, args: &Args) -> Result<()> {
        if let Some(edge) = args.shadows.0 {
            let (rim, height_m) = (self.scene.layout().rim(), self.scene.height_m());
            let lighting = scenery::lighting();
            let shadow = ShadowImage::new(context, edge, (&rim, height_m), &lighting)?;
            let map = self.shadow.insert(shadow).map();
            for crowd in [&mut self.crowd, &mut self.scenery] {
                // SAFETY: the image outlives both crowds' frames, and is drawn before it is
                // sampled.
                unsafe { crowd.set_shadow_map(&map)? };
            }
        }
        let pass = PassDesc {
            reversed_z: true,
            shadow_map: self.shadow.is_some(),
            ..pass
        };
        let spirv = ash::util::read_spv(&mut Cursor::new(LEVELS))?;
        let by_level = MaterialDesc {
            fragment_spirv: &spirv,
            set_layouts: &[],
            push_bytes: 0,
        };
        let people = PassDesc {
            shadow_map: pass.shadow_map && !args.lod_view,
            material: args.lod_view.then_some(by_level),
            ..pass.clone()
        };
        // SAFETY: images of these formats have been created on the same device, and the shader of
        // the levels fits set 0.
        self.passes = Some(unsafe {
            Passes {
                shadow: match self.shadow {
                    Some(_) => Some(self.crowd.create_pass(&ShadowImage::pass_desc())?),
                    None => None,
                },
                crowd: self.crowd.create_pass(&people)?,
                scenery: self.scenery.create_pass(&pass)?,
            }
        });
        let (crowd, scenery) = (&mut self.crowd, &mut self.scenery);
        if args.walls {
            if crowd.stages() == Stages::Cpu {
                complain("the walls hide nobody, because the CPU culls: add --stages gpu");
            }
            let walls = Walls::new((&mut *crowd, &mut *scenery), &pass, args.hidden_view)?;
            self.walls = Some(walls);
        }
        self.scene.load(crowd, scenery, &mut context.allocator())?;
        for time_s in self.scene.lead_up() {
            self.advance(time_s)?;
        }
        Ok(())
    }

    /// Shows only this number of people. The others are not animated either.
    pub(crate) fn show_only(&mut self, count: usize) -> Result<()> {
        self.scene.show_only(&mut self.crowd, count)
    }

    /// The people.
    #[cfg(test)]
    pub(crate) fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    /// Advances everyone to a time.
    pub(crate) fn advance(&mut self, time_s: f64) -> Result<()> {
        self.scene.direct(&mut self.crowd, time_s)?;
        self.crowd.update(time_s)?;
        self.scene.hear(self.crowd.events());
        Ok(())
    }

    /// Records one whole frame and returns its timings.
    ///
    /// The GPU times are those of the previous frame with the same frame index.
    ///
    /// # Safety
    /// - `frame` was begun and is submitted next, on the context's queue.
    /// - The canvas was created with the context.
    /// - If the canvas is a window, its image was acquired with the frame.
    pub(crate) unsafe fn record(
        &mut self,
        context: &mut Context,
        frame: &FrameCommands<'_>,
        canvas: &Canvas<'_>,
        view: View,
        time_s: f64,
    ) -> Result<FrameLog> {
        let started = Instant::now();
        self.advance(time_s)?;
        self.scenery.update(time_s)?;
        self.tint_by_posed_by()?;
        let directed = Instant::now();
        let Some(passes) = self.passes else {
            return Err("no pass".into());
        };
        self.aim_shadow(&view);
        if let Some(walls) = &mut self.walls {
            walls.resize(context, view.viewport.extent)?;
        }
        let view = View {
            shadow: self.shadow.as_ref().map(ShadowImage::shadow),
            detail: self.detail,
            ..view
        };
        let sun = self.sun();
        let walls = self.walls.as_ref();
        let sun = sun.map(|sun| walls.map_or(sun, |walls| walls.sun(sun)));
        let sees_through = self.walls.as_ref().is_some_and(|walls| walls.shows_hidden);
        // With all whom walls hide.
        let everyone = sees_through.then_some(view);
        let lit: Vec<View> = [view].into_iter().chain(sun).chain(everyone).collect();
        let (device, cmd) = (&context.device.clone(), frame.cmd);
        let allocator = &mut context.allocator();
        let frame_index = frame.frame_index as u32;
        // SAFETY: this frame in flight finished before it was begun. The caller guarantees the
        // rest.
        unsafe {
            let mut crowd = self.crowd.begin_frame(allocator, frame_index, time_s)?;
            let mut around = self.scenery.begin_frame(allocator, frame_index, time_s)?;
            let walls = self.walls.as_ref();
            let around_views = around.record_prepare(cmd, &around_views(walls, &view, sun))?;
            if let Some(walls) = walls {
                walls.record_depth(device, cmd, (&around, around_views[1]))?;
            }
            let depth = walls.and_then(Walls::depth);
            let views = crowd.record_prepare_behind(cmd, &lit, depth.as_slice())?;
            let prepared = Instant::now();
            if let (Some(shadow), Some(pass)) = (&self.shadow, passes.shadow) {
                shadow.begin(device, cmd);
                crowd.record_draw(cmd, views[1], pass)?;
                if let Some(pass) = walls.and_then(|walls| walls.shadow_pass) {
                    around.record_draw(cmd, around_views[2], pass)?;
                }
                shadow.end(device, cmd);
            }
            canvas.begin(device, cmd);
            if let (Some(walls), Some(_), Some(everyone)) = (walls, everyone, views.last()) {
                crowd.record_draw(cmd, *everyone, walls.hidden_pass)?;
            }
            crowd.record_draw(cmd, views[0], passes.crowd)?;
            let scope = crowd.begin_scope(cmd, "scenery");
            around.record_draw(cmd, around_views[0], passes.scenery)?;
            crowd.end_scope(cmd, scope);
            canvas.end(device, cmd);
            let stats = crowd.stats();
            Ok(FrameLog {
                cpu: CpuTimes {
                    direct: ms(started, directed),
                    animate: stats.animate_ms,
                    update: stats.update_ms,
                    prepare: stats.prepare_ms,
                    record: ms(prepared, Instant::now()),
                    ..CpuTimes::default()
                },
                gpu: crowd.gpu_times().to_vec(),
                stats,
                views: crowd.view_stats().to_vec(),
                frame_ms: 0.0,
            })
        }
    }

    /// The view of the sun, if there are shadows.
    fn sun(&self) -> Option<View> {
        let sun = self.shadow.as_ref()?.view();
        // Errors are seen less in shadows: as `View::shadow_of` allows twice the camera's, so does
        // this for chosen ones.
        let detail = Detail {
            error_px: 2.0 * self.detail.error_px,
            pose_error_px: 2.0 * self.detail.pose_error_px,
            ..self.detail
        };
        Some(View { detail, ..sun })
    }

    /// Covers the near part of a plaza with the shadow map, whose texels would be coarse otherwise.
    fn aim_shadow(&mut self, view: &View) {
        let (Some(shadow), Some(edge_m)) = (&mut self.shadow, self.scene.plaza_m()) else {
            return;
        };
        // Clip space's w grows along the view.
        let ahead = view.eye.clip_from_world.row(3).truncate().with_y(0.0);
        let half_m = (SHADOWS * view.eye.position.y).clamp(SHADOWS_M, edge_m.max(SHADOWS_M));
        let middle = view.eye.position.with_y(0.0) + ahead.normalize_or_zero() * (0.9 * half_m);
        let middle = middle.clamp_length_max((edge_m - half_m).max(0.0));
        let corners: [Vec3; 8] = std::array::from_fn(|corner| {
            let side = |bit: usize| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let top = if corner & 4 == 4 {
                self.scene.height_m()
            } else {
                0.0
            };
            middle + Vec3::new(side(0) * half_m, top, side(1) * half_m)
        });
        shadow.aim(&corners, 0.0, view.lighting.sun_direction);
    }

    /// Colours those who were posed by another processor before, or share a pose since.
    fn tint_by_posed_by(&mut self) -> Result<()> {
        let Some(known) = &mut self.posed_by else {
            return Ok(());
        };
        let ids: Vec<InstanceId> = self.crowd.instances().collect();
        for id in ids {
            let posed_by = (self.crowd.posed_by(id)?, self.crowd.shares_pose(id)?);
            if known.insert(id, posed_by) != Some(posed_by) {
                let tint = match posed_by.0 {
                    PosedBy::Gpu if posed_by.1 => [0.1, 0.35, 1.0, 1.0],
                    PosedBy::Gpu => [0.1, 0.75, 0.25, 1.0],
                    PosedBy::Cpu(CpuReason::Rest) => [0.6, 0.6, 0.6, 1.0],
                    PosedBy::Cpu(_) => [1.0, 0.4, 0.05, 1.0],
                };
                self.crowd.instance_mut(id)?.set_tint(tint)?;
            }
        }
        Ok(())
    }

    /// Finds the character at a pixel, shows it in red from the next frame on, and describes it.
    pub(crate) fn pick(&mut self, view: &View, Pixel(pixel): Pixel) -> Result<String> {
        let hit = self
            .crowd
            .pick(&view.ray(pixel), CullMode::Material, view.mask)?;
        let Some(hit) = hit else {
            return Ok(format!("picked       nobody at {pixel}"));
        };
        let mut it = self.crowd.instance_mut(hit.instance)?;
        it.set_tint([1.0, 0.15, 0.1, 1.0])?;
        let (number, kind) = (it.table_index(), it.character());
        let rig = self.crowd.character(kind)?;
        let part = rig.parts().find(|(part, _)| Some(*part) == hit.part);
        let (part, name) = (part.map_or("", |(_, name)| name), rig.name());
        let (metres, triangle) = (hit.hit.distance, hit.hit.triangle);
        Ok(format!(
            "picked       instance {number} of {name}: part {part}, triangle {triangle}, \
             {metres:.2} m away"
        ))
    }

    /// Reads the figures of the frames that were still in flight. The device must be idle.
    pub(crate) fn last_readings(
        &mut self,
        context: &mut Context,
        frames_in_flight: &[u32],
    ) -> Result<Vec<Readings>> {
        context.wait_idle()?;
        let mut readings = Vec::new();
        for frame_index in frames_in_flight {
            let time_s = self.crowd.time_s();
            // SAFETY: all work has finished, and nothing is recorded.
            let frame = unsafe {
                self.crowd
                    .begin_frame(&mut context.allocator(), *frame_index, time_s)?
            };
            let crowd = &frame;
            readings.push((crowd.gpu_times().to_vec(), crowd.view_stats().to_vec()));
        }
        Ok(readings)
    }

    /// Waits for the device, and destroys everything except the scene.
    pub(crate) fn destroy(self, context: &mut Context) -> Result<Scene> {
        context.wait_idle()?;
        // SAFETY: the device is idle.
        unsafe {
            self.crowd.destroy(&mut context.allocator());
            self.scenery.destroy(&mut context.allocator());
        }
        if let Some(shadow) = self.shadow {
            shadow.destroy(context);
        }
        if let Some(walls) = self.walls {
            walls.destroy(context);
        }
        Ok(self.scene)
    }
}

impl Canvas<'_> {
    /// Begins rendering to the canvas.
    ///
    /// # Safety
    /// `cmd` is recording, outside of rendering.
    unsafe fn begin(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        let begin = Begin {
            color: scenery::background(),
            depth: 0.0,
            ..Begin::default()
        };
        // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
        unsafe {
            match self {
                Self::Picture(target) => target.begin(device, cmd, &begin),
                Self::Window(image) => image.begin(device, cmd, &begin),
            }
        }
    }

    /// Ends rendering to the canvas.
    ///
    /// # Safety
    /// As [`Self::begin`], which must have been called before.
    unsafe fn end(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        // SAFETY: the caller guarantees that `cmd` is inside the rendering that `begin` began.
        unsafe {
            match self {
                Self::Picture(target) => target.end(device, cmd),
                Self::Window(image) => image.end(device, cmd),
            }
        }
    }
}

/// The time between two instants, in milliseconds.
pub(crate) fn ms(from: Instant, to: Instant) -> f64 {
    (to - from).as_secs_f64() * 1e3
}
