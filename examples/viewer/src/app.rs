//! The viewer: what is shown, and what the user asked for.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Instant;

use egui::{FullOutput, RawInput, Rect};
use throng::SkinningStage;
use throng::animator::AnimationEventKind;
use throng::ash::vk;
use throng::clip::ClipOptions;
use throng::ids::{ClipId, ParameterId};
use throng::palette::SkinningMethod;
use throng::standalone::{Context, FrameCommands};
use throng::state_machine::Value;

use super::Result;
use super::accuracy::{self, Accuracy};
use super::args::Args;
use super::camera::Camera;
use super::keys::Command;
use super::overlay;
use super::paint::{Painted, Painter};
use super::panels;
use super::playback::{Base, Layer, Playback};
use super::scene::{FRAMES_IN_FLIGHT, Scene, Shot, Times, lighting};
use super::settings::Settings;
use super::subject::{BUILTIN, Loader, Request, Subject};

/// Number of frames in the plots.
const PLOTTED: usize = 120;
/// Number of events in the list.
const EVENTS: usize = 12;
/// A driver is slow if a picture takes longer than this.
const SLOW_MS: f64 = 120.0;
/// The number of slow frames in a row after which the picture becomes cheaper.
const SLOW_FRAMES: u32 = 4;
/// A window that takes longer than this for a frame cannot be used.
const HALTING_MS: f64 = 500.0;

/// What the accuracy of a paused picture depends on.
#[derive(Clone, Debug, PartialEq)]
struct Measured {
    method: SkinningMethod,
    stage: SkinningStage,
    base: Base,
    layers: Vec<Layer>,
    morphs: Vec<Option<f32>>,
    time_s: f64,
}

/// Something that the user did in a panel.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Open(PathBuf),
    Repack(ClipOptions),
    Play(Base),
    AddLayer(ClipId),
    SetLayer(usize, Layer),
    RemoveLayer,
    /// The morph weights changed.
    Morphs,
    Parameter(ParameterId, Value),
    /// Instances, stage or method changed.
    Rebuild,
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
    pub(crate) key_times: (Option<ClipId>, Vec<f64>),
    pub(crate) camera: Camera,
    /// The place of the picture on the screen, in points.
    pub(crate) picture: Rect,
    pub(crate) files: Vec<PathBuf>,
    clips: Vec<PathBuf>,
    pub(crate) messages: Vec<String>,
    pub(crate) accuracy: Option<Accuracy>,
    /// What the accuracy depends on, and the number of frames since that last changed.
    measured: (Option<Measured>, u32),
    /// The clock's time and the text of events, the latest last.
    pub(crate) events: VecDeque<(f64, String)>,
    pub(crate) plots: VecDeque<Times>,
    pub(crate) device: String,
    /// The clip and the time to begin with.
    wanted: (Option<String>, Option<f64>),
    wanted_joint: Option<String>,
    #[cfg(feature = "shaderc")]
    watch: super::reload::Watch,
    drawn_by_cpu: bool,
    /// The number of slow frames in a row.
    slow_frames: u32,
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
        let slow = context.info.kind == vk::PhysicalDeviceType::CPU && !args.is_headless();
        let settings = Settings::new(args, slow);
        let scene = Scene::new(context, extent, settings.multisampled)?;
        let painter = match Painter::new(context, format) {
            Ok(painter) => painter,
            Err(error) => {
                scene.destroy(context)?;
                return Err(error);
            }
        };
        painter.set_picture(context, scene.picture().1);
        let files = if args.files.is_empty() {
            vec![PathBuf::from(BUILTIN)]
        } else {
            args.files.clone()
        };
        let info = &context.info;
        let mut app = Self {
            camera: Camera::new(scene.bounds),
            settings,
            scene,
            painter,
            egui: egui::Context::default(),
            loader: Loader::default(),
            subject: None,
            playback: None,
            key_times: (None, Vec::new()),
            picture: Rect::ZERO,
            files,
            clips: args.clips.clone(),
            messages: Vec::new(),
            accuracy: None,
            measured: (None, 0),
            events: VecDeque::new(),
            plots: VecDeque::new(),
            device: format!("{} ({} {})", info.name, info.driver, info.driver_info),
            wanted: (args.clip.clone(), args.time),
            wanted_joint: args.joint.clone(),
            #[cfg(feature = "shaderc")]
            watch: super::reload::Watch::new(context.parts().0.enabled.descriptor_indexing),
            drawn_by_cpu: slow,
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
        let first = app.files[0].clone();
        let request = app.request(first, ClipOptions::default());
        app.loader.start(request);
        Ok(app)
    }

    fn request(&self, path: PathBuf, packing: ClipOptions) -> Request {
        Request {
            path,
            clips: self.clips.clone(),
            packing,
        }
    }

    /// Opens a file, and adds it to the list.
    pub(crate) fn open(&mut self, path: &Path) {
        if !self.files.iter().any(|file| file == path) {
            self.files.push(path.to_owned());
        }
        let request = self.request(path.to_owned(), ClipOptions::default());
        self.loader.start(request);
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
            Base::Clip(_) => clip.map_or("", throng::clip::Clip::name),
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
            format!(" at {:.3} s", playback.clip_time_s(character))
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

    /// Shows an imported character. The one before stays if this fails.
    ///
    /// # Errors
    /// If the device cannot hold it.
    pub(crate) fn show(&mut self, context: &mut Context, subject: Subject) -> Result<()> {
        let same_file = self
            .subject
            .as_ref()
            .is_some_and(|old| old.request.path == subject.request.path);
        let mut playback = match self.playback.take() {
            // Packed again: everything goes on.
            Some(playback) if same_file => playback,
            _ => Playback::new(&subject.character),
        };
        if let Some(name) = self.wanted.0.take() {
            let clip = subject.character.clip(&name)?;
            playback = Playback::playing(&subject.character, clip);
        }
        if let Some(time_s) = self.wanted.1.take() {
            playback.seek(time_s);
            playback.playing = false;
        }
        self.settings.joint = match self.wanted_joint.take() {
            Some(name) => Some(subject.character.skeleton().joint(&name)?),
            None => self
                .settings
                .joint
                .filter(|joint| same_file && joint.index() < subject.character.skeleton().len())
                .or_else(|| overlay::heaviest(&subject.character)),
        };
        let shown = self
            .scene
            .show(context, &subject, &self.settings, &playback);
        if let Err(error) = shown {
            // The scene is empty now: try what was there before.
            let error = format!("{}: {error}", subject.name());
            self.restore(context);
            return Err(error.into());
        }
        if !same_file {
            self.camera = Camera::new(self.scene.bounds);
            self.events.clear();
        }
        self.playback = Some(playback);
        self.subject = Some(subject);
        self.accuracy = None;
        self.key_times = (None, Vec::new());
        Ok(())
    }

    /// Shows the present character again, with the simplest settings, after something failed.
    fn restore(&mut self, context: &mut Context) {
        let Some(subject) = &self.subject else { return };
        self.settings.instances = 1;
        self.settings.stage = SkinningStage::Vertex;
        self.settings.method = SkinningMethod::Linear;
        let playback = self
            .playback
            .get_or_insert_with(|| Playback::new(&subject.character));
        let shown = self.scene.show(context, subject, &self.settings, playback);
        if let Err(error) = shown {
            self.tell(error.to_string());
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
        if let Some(result) = self.loader.poll() {
            let shown = match result {
                Ok(subject) => self
                    .show(context, subject)
                    .map_err(|error| error.to_string()),
                Err(error) => Err(error),
            };
            if let Err(error) = shown {
                self.tell(error);
            }
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
        if let Err(error) = self.measure_if_paused(context) {
            self.tell(error.to_string());
        }
        let extent = self.extent(output.pixels_per_point);
        let character = self.subject.as_ref().map(|subject| &subject.character);
        let multisampled = self.settings.multisampled;
        if self
            .scene
            .resize(context, extent, multisampled, character)?
        {
            self.painter.set_picture(context, self.scene.picture().1);
        }
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
        match used {
            Ok(()) => self.messages.clear(),
            Err(error) => self.tell(error.to_string()),
        }
    }

    /// The size of the picture in texels.
    fn extent(&self, pixels_per_point: f32) -> vk::Extent2D {
        let size = self.picture.size() * pixels_per_point * self.settings.scale;
        let side = |side: f32| (side.round() as u32).clamp(16, 8192);
        vk::Extent2D {
            width: side(size.x),
            height: side(size.y),
        }
    }

    /// Applies an action.
    ///
    /// # Errors
    /// Those of the crate.
    pub(crate) fn apply(&mut self, context: &mut Context, action: Action) -> Result<()> {
        match action {
            Action::Open(path) => self.open(&path),
            Action::Command(command) => self.command(command)?,
            Action::ClearMessages => self.messages.clear(),
            Action::Repack(packing) => {
                if let Some(subject) = &self.subject {
                    let request = self.request(subject.request.path.clone(), packing);
                    self.loader.start(request);
                }
            }
            Action::Rebuild => self.rebuild(context)?,
            other => self.control(other)?,
        }
        Ok(())
    }

    /// Applies an action that changes what plays.
    fn control(&mut self, action: Action) -> throng::Result<()> {
        let (Some(playback), world) = (&mut self.playback, self.scene.world()) else {
            return Ok(());
        };
        match action {
            Action::Play(base) => playback.set_base(base, world),
            Action::AddLayer(clip) => playback.add_layer(clip, world),
            Action::SetLayer(index, layer) => playback.set_layer((index, layer), world),
            Action::RemoveLayer => playback.remove_layer(world),
            Action::Replay => playback.apply(world),
            Action::Morphs => {
                let (crowd, ids) = world;
                ids.iter()
                    .try_for_each(|id| crowd.set_morph_weights(*id, &playback.morphs))
            }
            Action::Parameter(parameter, value) => {
                let (crowd, ids) = world;
                ids.iter().try_for_each(|id| match value {
                    Value::Float(value) => crowd.set_float(*id, parameter, value),
                    Value::Int(value) => crowd.set_int(*id, parameter, value),
                    Value::Bool(value) => crowd.set_bool(*id, parameter, value),
                    Value::Trigger(_) => crowd.set_trigger(*id, parameter),
                })
            }
            _ => Ok(()),
        }
    }

    /// Spawns the instances again. If that fails, the settings return to one simple instance.
    fn rebuild(&mut self, context: &mut Context) -> Result<()> {
        let (Some(subject), Some(playback)) = (&self.subject, &self.playback) else {
            return Ok(());
        };
        self.accuracy = None;
        let before = self.scene.instances();
        let shown = self.scene.show(context, subject, &self.settings, playback);
        match shown {
            Ok(()) => {
                if before != self.scene.instances() {
                    self.camera.set_bounds(self.scene.bounds);
                }
                Ok(())
            }
            Err(error) => {
                self.restore(context);
                self.camera.set_bounds(self.scene.bounds);
                Err(error)
            }
        }
    }

    /// Measures a paused picture once, when its frames have reached the device.
    fn measure_if_paused(&mut self, context: &mut Context) -> Result<()> {
        let Some(playback) = self.playback.as_ref().filter(|playback| !playback.playing) else {
            self.accuracy = None;
            self.measured = (None, 0);
            return Ok(());
        };
        let now = Measured {
            method: self.settings.method,
            stage: self.settings.stage,
            base: playback.base(),
            layers: playback.layers.clone(),
            morphs: playback.morphs.clone(),
            time_s: playback.time_s,
        };
        if self.measured.0.as_ref() != Some(&now) {
            self.measured = (Some(now), 0);
            return Ok(());
        }
        self.measured.1 = self.measured.1.saturating_add(1);
        if self.measured.1 == FRAMES_IN_FLIGHT + 1 {
            self.measure(context)?;
        }
        Ok(())
    }

    /// Measures the present pose.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn measure(&mut self, context: &mut Context) -> Result<()> {
        let (Some(subject), Some(playback)) = (&self.subject, &self.playback) else {
            return Ok(());
        };
        let alone = playback.layers.is_empty();
        let clip = playback.clip().filter(|_| alone);
        let time_s = playback.clip_time_s(&subject.character);
        let measured = accuracy::measure(
            context,
            &self.scene,
            (&subject.character, &self.settings),
            (clip, time_s, playback.time_s),
        );
        self.accuracy = Some(measured?);
        Ok(())
    }

    /// Does what a key or a button says.
    ///
    /// # Errors
    /// Those of playing a clip.
    pub(crate) fn command(&mut self, command: Command) -> Result<()> {
        match command {
            Command::NextView => self.settings.look = self.settings.look.next(),
            Command::ToggleSkeleton => {
                self.settings.overlays.skeleton = !self.settings.overlays.skeleton;
            }
            Command::Frame => self.camera = Camera::new(self.scene.bounds),
            Command::TogglePanels => self.settings.panels = !self.settings.panels,
            Command::ToggleHelp => self.settings.help = !self.settings.help,
            Command::Close => self.closed = true,
            other => self.play_command(other)?,
        }
        Ok(())
    }

    fn play_command(&mut self, command: Command) -> throng::Result<()> {
        let (Some(playback), Some(subject)) = (&mut self.playback, &self.subject) else {
            return Ok(());
        };
        let character = &subject.character;
        match command {
            Command::PlayOrPause => playback.play_or_pause(character),
            Command::Step(frames) => playback.step(frames, character),
            Command::Restart => playback.seek(0.0),
            Command::Slower => playback.speed = (playback.speed * 0.5).max(1.0 / 64.0),
            Command::Faster => playback.speed = (playback.speed * 2.0).min(16.0),
            Command::ToggleLoop => {
                let time_s = playback.clip_time_s(character);
                playback.looping = !playback.looping;
                playback.seek(time_s);
                playback.apply(self.scene.world())?;
            }
            Command::Clip(index) if index < character.clips().len() => {
                let base = Base::Clip(ClipId(index as u16));
                playback.set_base(base, self.scene.world())?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Records the picture. The panels are recorded with [`Self::record_panels`].
    ///
    /// # Safety
    /// `frame` was begun, and is submitted next.
    pub(crate) unsafe fn record(
        &mut self,
        context: &mut Context,
        frame: &FrameCommands,
    ) -> Result<()> {
        let shot = Shot {
            view: self.camera.view(self.scene.extent(), lighting()),
            time_s: self
                .playback
                .as_ref()
                .map_or(0.0, |playback| playback.time_s),
            frame_index: frame.frame_index as u32,
        };
        // SAFETY: as the caller guarantees.
        unsafe {
            self.scene
                .record(context, frame.cmd, &shot, &self.settings)?
        };
        self.hear(shot.time_s);
        self.plots.push_back(self.scene.times.clone());
        while self.plots.len() > PLOTTED {
            self.plots.pop_front();
        }
        Ok(())
    }

    /// Lists the events of the first instance.
    fn hear(&mut self, now_s: f64) {
        let Some(subject) = &self.subject else { return };
        let first = self.scene.first();
        let set = subject.character.animations();
        for event in &self.scene.events {
            if Some(event.id) != first {
                continue;
            }
            let text = match event.kind {
                AnimationEventKind::Clip { event, .. } => set.event_name(event).to_owned(),
                AnimationEventKind::Finished { .. } => "finished".to_owned(),
                AnimationEventKind::Entered { state } => {
                    let machine = set.state_machine();
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
    /// Those of the panels' renderer.
    pub(crate) fn paint(
        &mut self,
        context: &mut Context,
        output: FullOutput,
        frame_index: u32,
    ) -> Result<Painted> {
        let painted = Painted {
            primitives: self.egui.tessellate(output.shapes, output.pixels_per_point),
            pixels_per_point: output.pixels_per_point,
        };
        self.painter
            .update(context, output.textures_delta, frame_index)?;
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

    /// Makes the picture cheaper if the CPU draws it and is too slow: first without a shadow, then
    /// with fewer instances.
    ///
    /// # Errors
    /// If the device is lost, or has no memory for the instances.
    pub(crate) fn adapt(&mut self, context: &mut Context, frame_ms: f64) -> Result<()> {
        let slow = self.drawn_by_cpu && frame_ms > SLOW_MS;
        let count = self.scene.instances();
        self.slow_frames = if slow && count > 0 {
            self.slow_frames + 1
        } else {
            0
        };
        // The frames in which a file is loaded are slow, too.
        if self.slow_frames < SLOW_FRAMES {
            return Ok(());
        }
        self.slow_frames = 0;
        if self.settings.shadow {
            self.settings.shadow = false;
        } else if frame_ms > HALTING_MS && count > 1 {
            let fewer = (count as f64 * HALTING_MS / frame_ms) as u32;
            self.settings.instances = fewer.clamp(1, count as u32 - 1);
            let fewer = self.settings.instances;
            self.tell(format!(
                "a frame of {count} instances takes this driver {frame_ms:.0} ms: showing {fewer}"
            ));
            self.rebuild(context)?;
        }
        Ok(())
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
    /// Those of the import.
    pub(crate) fn wait(&mut self, context: &mut Context) -> Result<()> {
        let started = Instant::now();
        loop {
            if let Some(result) = self.loader.poll() {
                return self.show(context, result?);
            }
            if self.loader.file.is_none() {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
            log::debug!("importing for {:.1} s", started.elapsed().as_secs_f64());
        }
    }
}
