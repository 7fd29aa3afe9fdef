//! The state of the viewer: the character, its instances and the panels.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Instant;

use egui::{FullOutput, RawInput, Rect};
use throng::Id;
use throng::animator::AnimationEventKind;
use throng::ash::vk;
use throng::clip::{Clip, ClipOptions};
use throng::import::UpAxis;
use throng::state_machine::{ParameterDesc, Value};
use throng_standalone::{Context, FrameCommands};

use super::Result;
use super::accuracy::{Accuracy, Measured};
use super::args::Args;
use super::camera::{Angle, Camera};
use super::figures::Times;
use super::framing::ClipBoxes;
use super::keys::Command;
use super::overlay;
use super::paint::{Painted, Painter};
use super::panels;
use super::playback::{Base, Layer, Playback};
use super::scene::Scene;
use super::settings::Settings;
use super::show::UNSETTLED_FRAMES;
use super::subject::{BUILTIN, Loader, Request, Subject, shown};

/// Number of frames in the plots.
const PLOTTED: usize = 120;
/// Number of events in the list.
const EVENTS: usize = 12;

/// The start of messages about shaders.
#[cfg(feature = "shaderc")]
const SHADERS: &str = "shaders: ";

/// Something that the user did in a panel.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Open(PathBuf),
    Repack(ClipOptions),
    Play(Base),
    AddLayer(Id<Clip>),
    SetLayer(usize, Layer),
    RemoveLayer,
    /// Overrides of the morph weights.
    Morphs(Vec<Option<f32>>),
    /// The weights of all expressions.
    Expressions(Vec<f32>),
    /// Spring bones on or off.
    Springs(bool),
    Parameter(Id<ParameterDesc>, Value),
    /// Instances, stage or method changed.
    Rebuild,
    /// Pauses the clip at this time, in seconds.
    Seek(f64),
    /// The loop mode, or whether instances are spread, changed.
    Replay,
    Command(Command),
    ClearMessages,
}

/// Everything but the device and the window.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) scene: Scene,
    painter: Painter,
    pub(crate) egui: egui::Context,
    pub(crate) loader: Loader,
    pub(crate) subject: Option<Subject>,
    pub(crate) playback: Option<Playback>,
    /// The times of the keys of the clip that plays.
    pub(crate) key_times: (Option<Id<Clip>>, Vec<f64>),
    /// The boxes of the clip that plays. The first is `None` until a clip was measured.
    pub(crate) clip_boxes: (Option<Option<Id<Clip>>>, Option<ClipBoxes>),
    /// A text that the names of the listed clips contain.
    pub(crate) search: String,
    /// True if spring bones of a new file swing.
    pub(crate) springs: bool,
    pub(crate) camera: Camera,
    /// The direction of the camera for every file, from the command line.
    pub(crate) angle: Option<Angle>,
    /// The place of the picture on the screen, in points.
    pub(crate) picture: Rect,
    /// The image that the panels show.
    picture_view: vk::ImageView,
    /// The settings with which the character was last shown without a fault.
    pub(crate) shown: Option<Settings>,
    pub(crate) files: Vec<PathBuf>,
    /// The first file, and the files of clips for it.
    first: (PathBuf, Vec<PathBuf>),
    /// The axis that points up in all files, and the factor for their lengths.
    space: (Option<UpAxis>, f32),
    pub(crate) messages: Vec<String>,
    pub(crate) accuracy: Option<Accuracy>,
    /// The state that the accuracy depends on, and the number of frames since that last changed.
    pub(crate) measured: (Option<Measured>, u32),
    /// The clock's time and the text of events, the latest last.
    pub(crate) events: VecDeque<(f64, String)>,
    pub(crate) plots: VecDeque<Times>,
    pub(crate) device: String,
    /// The clip and the time to begin with.
    pub(crate) wanted: (Option<String>, Option<f64>),
    pub(crate) wanted_joint: Option<String>,
    #[cfg(feature = "shaderc")]
    watch: super::reload::Watch,
    pub(crate) drawn_by_cpu: bool,
    /// The number of frames to come whose times say nothing about the picture.
    pub(crate) unsettled: u32,
    /// The number of slow frames in a row.
    pub(crate) slow_frames: u32,
    /// True if the user has asked to close the window.
    pub(crate) closed: bool,
}

impl App {
    /// Creates the viewer for images of this format, and starts to load the first file.
    pub(crate) fn new(
        context: &mut Context,
        args: &Args,
        (extent, format): (vk::Extent2D, vk::Format),
    ) -> Result<Self> {
        let slow =
            context.properties.device_type == vk::PhysicalDeviceType::CPU && !args.is_headless();
        let settings = Settings::new(args, slow);
        let scene = Scene::new(context, extent, settings.multisampled)?;
        let painter = match Painter::new(context, format) {
            Ok(painter) => painter,
            Err(error) => {
                scene.destroy(context)?;
                return Err(error);
            }
        };
        let files = if args.files.is_empty() {
            vec![PathBuf::from(BUILTIN)]
        } else {
            args.files.clone()
        };
        let mut app = Self {
            #[cfg(feature = "shaderc")]
            watch: super::reload::Watch::new(context),
            camera: Camera::new(scene.bounds, args.fov),
            clip_boxes: (None, None),
            search: String::new(),
            springs: !args.no_springs,
            angle: args.camera,
            settings,
            scene,
            painter,
            egui: egui::Context::default(),
            loader: Loader::default(),
            subject: None,
            playback: None,
            key_times: (None, Vec::new()),
            picture: Rect::ZERO,
            picture_view: vk::ImageView::null(),
            shown: None,
            first: (files[0].clone(), args.clips.clone()),
            space: (args.up.map(Into::into), args.scale),
            files,
            messages: Vec::new(),
            accuracy: None,
            measured: (None, 0),
            events: VecDeque::new(),
            plots: VecDeque::new(),
            device: context.info.clone(),
            wanted: (args.clip.clone(), args.time),
            wanted_joint: args.joint.clone(),
            drawn_by_cpu: slow,
            unsettled: 0,
            slow_frames: 0,
            closed: false,
        };
        app.egui.set_theme(egui::Theme::Dark);
        if args.is_headless() {
            // A picture has no time for movements of the panels.
            app.egui.all_styles_mut(|style| {
                style.animation_time = 0.0;
                style.scroll_animation = egui::style::ScrollAnimation::none();
            });
        }
        app.show_picture(context);
        let first = app.first.0.clone();
        app.load(first, ClipOptions::default());
        Ok(app)
    }

    /// Starts to import a file.
    pub(crate) fn load(&mut self, path: PathBuf, packing: ClipOptions) {
        let clips = if self.first.0 == path {
            self.first.1.clone()
        } else {
            Vec::new()
        };
        self.loader.start(Request {
            path,
            clips,
            packing,
            space: self.space,
        });
    }

    /// Opens a file. It joins the list when it is shown.
    pub(crate) fn open(&mut self, path: &Path) {
        self.load(path.to_owned(), ClipOptions::default());
    }

    /// The state in one line, for the title of a window.
    pub(crate) fn title(&self) -> String {
        let (Some(subject), Some(playback)) = (&self.subject, &self.playback) else {
            return "throng viewer".to_owned();
        };
        let character = &subject.character;
        let clips = character.clips();
        let clip = playback.clip().and_then(|clip| clips.get(clip.index()));
        let plays = match playback.base() {
            Base::RestPose => "rest pose",
            Base::Clip(id) => match clip.map_or("", Clip::name) {
                "" => &format!("clip {}", id.index()),
                name => &shown(name),
            },
            Base::BlendSpace(..) => "blend space",
            Base::StateMachine => "state machine",
        };
        let state = if playback.playing {
            "playing"
        } else {
            "paused"
        };
        let mode = if playback.looping { "loop" } else { "once" };
        let view = self.settings.look.name();
        let name = subject.name();
        // The time would change too often for some window managers.
        let at = if playback.playing {
            String::new()
        } else {
            format!(" at {:.3} s", playback.shown_time_s(character))
        };
        format!("{name} | {plays} | {state}{at} | {mode} | {view}")
    }

    /// Shows a message until the user clears it.
    pub(crate) fn tell(&mut self, message: impl Into<String>) {
        /// More would hide the picture.
        const MOST: usize = 20;
        let message = message.into();
        if self.messages.last() != Some(&message) && self.messages.len() < MOST {
            self.messages.push(message);
        }
    }

    /// Lays out the panels and applies what the user did. Time passes by `passed_s`.
    ///
    /// Faults become messages. Returns the panels, and the changes of their textures.
    ///
    /// # Errors
    /// If the device is lost, or has no memory for the picture.
    pub(crate) fn update(
        &mut self,
        context: &mut Context,
        input: RawInput,
        passed_s: f64,
    ) -> Result<FullOutput> {
        if let Some(result) = self.loader.poll()
            && let Err(error) = self.loaded(context, result)
        {
            self.tell(error.to_string());
        }
        #[cfg(feature = "shaderc")]
        self.reload(context);
        if let (Some(playback), Some(subject)) = (&mut self.playback, &self.subject) {
            playback.advance(passed_s, &subject.character);
            let clip = playback.clip();
            if self.key_times.0 != clip {
                let times = clip.map(|clip| overlay::key_times(&subject.character, clip));
                self.key_times = (clip, times.unwrap_or_default());
            }
        }
        self.follow();
        let mut actions = Vec::new();
        let egui = self.egui.clone();
        let picture = self.painter.picture;
        let output = egui.run_ui(input, |ui| {
            actions.clear();
            panels::show(ui, self, picture, &mut actions);
        });
        for action in actions {
            if let Err(error) = self.apply(context, action) {
                self.tell(error.to_string());
            }
        }
        self.follow();
        if let Err(error) = self.measure_if_paused(context) {
            self.tell(error.to_string());
        }
        let extent = self.extent(context, output.pixels_per_point);
        let character = self.subject.as_ref().map(|subject| &subject.character);
        let multisampled = self.settings.multisampled;
        if extent != self.scene.extent() {
            self.unsettled = UNSETTLED_FRAMES;
        }
        if let Err(error) = self.scene.resize(context, extent, multisampled, character) {
            self.settings.multisampled = self.scene.is_multisampled();
            self.settings.scale = (self.settings.scale * 0.5).max(0.25);
            self.tell(error.to_string());
        }
        self.show_picture(context);
        Ok(output)
    }

    /// Uses the shaders that have changed. Faults become messages.
    #[cfg(feature = "shaderc")]
    fn reload(&mut self, context: &mut Context) {
        let Some(result) = self.watch.poll() else {
            return;
        };
        let character = self.subject.as_ref().map(|subject| &subject.character);
        let used = match result {
            Ok(changed) => self.scene.set_shaders(context, changed, character),
            Err(error) => Err(error.into()),
        };
        self.messages
            .retain(|message| !message.starts_with(SHADERS));
        if let Err(error) = used {
            self.tell(format!("{SHADERS}{error}"));
        }
    }

    /// Lets the panels show the present image of the scene. If it is another one, the device is
    /// idle.
    fn show_picture(&mut self, context: &Context) {
        let view = self.scene.picture().1;
        if view != self.picture_view {
            self.painter.set_picture(context, view);
            self.picture_view = view;
        }
    }

    /// The size of the picture in texels.
    fn extent(&self, context: &Context, pixels_per_point: f32) -> vk::Extent2D {
        let limits = &context.properties.limits;
        let most = limits.max_image_dimension2_d;
        let size = self.picture.size() * pixels_per_point * self.settings.scale;
        let side = |side: f32, most: u32| (side.round() as u32).clamp(16, most.max(16));
        vk::Extent2D {
            width: side(size.x, most.min(limits.max_framebuffer_width)),
            height: side(size.y, most.min(limits.max_framebuffer_height)),
        }
    }

    /// Records the picture. The panels are recorded with [`Self::record_panels`].
    ///
    /// # Errors
    /// Errors of the crowd, for example for a time or a view that is not finite. Nothing that was
    /// recorded may be submitted then.
    ///
    /// # Safety
    /// `frame` was begun, and is submitted next, or [`Self::abandon`] is called.
    pub(crate) unsafe fn record(
        &mut self,
        context: &mut Context,
        frame: &FrameCommands<'_>,
    ) -> Result<()> {
        let shot = self.shot(frame.frame_index as u32);
        // SAFETY: as the caller guarantees.
        unsafe {
            self.scene
                .record(context, frame.cmd, &shot, &self.settings)?
        };
        self.list_events(shot.time_s);
        self.plots.push_back(self.scene.times.clone());
        while self.plots.len() > PLOTTED {
            self.plots.pop_front();
        }
        Ok(())
    }

    /// Records an empty picture.
    ///
    /// # Safety
    /// `frame` was begun, and is submitted next.
    pub(crate) unsafe fn record_empty(&self, context: &Context, frame: &FrameCommands<'_>) {
        // SAFETY: as the caller guarantees.
        unsafe {
            self.scene
                .record_empty(&context.device, frame.cmd, &self.settings)
        };
    }

    /// Takes a recorded picture back.
    ///
    /// # Safety
    /// Nothing that was recorded for it is ever submitted.
    pub(crate) unsafe fn abandon(&mut self) {
        // SAFETY: as the caller guarantees.
        unsafe { self.scene.abandon() };
    }

    /// Lists the events of the first instance.
    fn list_events(&mut self, now_s: f64) {
        let Some(subject) = &self.subject else { return };
        let first = self.scene.first();
        for event in &self.scene.events {
            if Some(event.id) != first {
                continue;
            }
            let text = match event.kind {
                AnimationEventKind::Clip { event, .. } => {
                    let names = subject.character.event_names();
                    names.get(event.index()).map_or("", |name| name).to_owned()
                }
                AnimationEventKind::Finished { .. } => "finished".to_owned(),
                AnimationEventKind::Entered { state } => {
                    let machine = subject.character.state_machine();
                    let name = machine.map(|m| m.state_name(event.layer, state).to_owned());
                    format!("entered {}", name.unwrap_or_default())
                }
                _ => continue,
            };
            self.events.push_back((now_s, text));
        }
        while self.events.len() > EVENTS {
            self.events.pop_front();
        }
    }

    /// Makes triangles of the panels, and uploads their textures. Call it outside of rendering.
    ///
    /// # Errors
    /// Errors of the panels' renderer.
    pub(crate) fn paint(&mut self, context: &mut Context, output: FullOutput) -> Result<Painted> {
        let painted = Painted {
            primitives: self.egui.tessellate(output.shapes, output.pixels_per_point),
            pixels_per_point: output.pixels_per_point,
        };
        self.painter.update(context, output.textures_delta)?;
        Ok(painted)
    }

    /// Records the panels with the picture.
    ///
    /// # Safety
    /// `cmd` is recording, inside rendering to an image of this extent and of the format given to
    /// [`Self::new`].
    pub(crate) unsafe fn record_panels(
        &mut self,
        cmd: vk::CommandBuffer,
        extent: vk::Extent2D,
        painted: &Painted,
    ) -> Result<()> {
        // SAFETY: as the caller guarantees.
        unsafe { self.painter.record(cmd, extent, painted) }
    }

    /// Waits for the device, and destroys everything.
    pub(crate) fn destroy(self, context: &mut Context) -> Result<()> {
        let idle = context.wait_idle();
        self.painter.destroy(context);
        self.scene.destroy(context)?;
        Ok(idle?)
    }

    /// Waits until the file is loaded.
    ///
    /// # Errors
    /// Errors of the import.
    pub(crate) fn wait(&mut self, context: &mut Context) -> Result<()> {
        let started = Instant::now();
        loop {
            if let Some(result) = self.loader.poll() {
                return self.loaded(context, result);
            }
            if self.loader.file.is_none() {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
            log::debug!("importing for {:.1} s", started.elapsed().as_secs_f64());
        }
    }
}
