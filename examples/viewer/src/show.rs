//! Shows characters. What was shown before stays if something fails.

use throng::character::Character;
use throng::clip::Clip;
use throng::{Id, SkinningStage, palette::SkinningMethod};
use throng_standalone::Context;

use super::Result;
use super::app::App;
use super::overlay;
use super::playback::Playback;
use super::subject::Subject;

/// A driver is slow if a picture takes longer than this.
const SLOW_MS: f64 = 120.0;
/// The number of slow frames in a row after which the picture becomes cheaper.
const SLOW_FRAMES: u32 = 4;
/// The number of frames after a change of the scene or the window whose times are not counted.
pub(crate) const UNSETTLED_FRAMES: u32 = 3;
/// A window that takes longer than this for a frame cannot be used.
const HALTING_MS: f64 = 500.0;

impl App {
    /// Shows the result of an import.
    ///
    /// # Errors
    /// That of the import, or of the device. What was shown before stays.
    pub(crate) fn loaded(
        &mut self,
        context: &mut Context,
        result: Result<Subject, String>,
    ) -> Result<()> {
        // These are for the first file only.
        let (clip, time_s) = std::mem::take(&mut self.wanted);
        let joint = self.wanted_joint.take();
        let subject = match result {
            Ok(subject) => subject,
            Err(error) => {
                self.unlist();
                return Err(error.into());
            }
        };
        let character = &subject.character;
        let old = self.subject.as_ref().zip(self.playback.as_ref());
        let same_file = old.filter(|(old, _)| old.request.path == subject.request.path);
        let mut playback = match same_file {
            // Packed or opened again: everything goes on.
            Some((_, playback)) => playback.clone().fitted(character),
            None => Playback::new(character),
        };
        let mut faults = subject.faults.clone();
        match clip.map(|name| find_clip(character, &name)) {
            Some(Ok(clip)) => playback = Playback::playing(character, clip),
            Some(Err(error)) => faults.push(error.to_string()),
            None => {}
        }
        if same_file.is_none() {
            playback.springs = self.springs;
        }
        if let Some(time_s) = time_s {
            playback.seek(time_s);
            playback.playing = false;
        }
        let kept = self
            .settings
            .joint
            .filter(|joint| same_file.is_some() && joint.index() < character.skeleton().len());
        let chosen = match joint.map(|name| character.skeleton().joint(&name)) {
            Some(Ok(joint)) => Some(joint),
            Some(Err(error)) => {
                faults.push(error.to_string());
                None
            }
            None => kept,
        };
        let chosen = chosen.or_else(|| overlay::heaviest(character));
        let is_other = same_file.is_none();
        let shown = self
            .scene
            .show(context, &subject, &self.settings, &playback);
        if let Err(error) = shown {
            let error = format!("{}: {error}", subject.name());
            self.go_back(context);
            self.unlist();
            return Err(error.into());
        }
        self.settings.joint = chosen;
        self.shown = Some(self.settings.clone());
        if !self.files.contains(&subject.request.path) {
            self.files.push(subject.request.path.clone());
        }
        self.playback = Some(playback);
        self.subject = Some(subject);
        self.forget_figures();
        if is_other {
            self.camera = self.first_camera();
            if let Some(angle) = self.angle {
                self.camera.look_from(angle);
            }
            self.events.clear();
            self.search.clear();
        }
        faults.into_iter().for_each(|fault| self.tell(fault));
        Ok(())
    }

    /// Takes the file that failed off the list, unless it is shown.
    fn unlist(&mut self) {
        let failed = &self.loader.path;
        let shown = self.subject.as_ref().map(|subject| &subject.request.path);
        if shown != Some(failed) {
            self.files.retain(|file| file != failed);
        }
    }

    /// Spawns the instances again with the present settings.
    ///
    /// # Errors
    /// Errors of the device. The settings are then those from before.
    pub(crate) fn rebuild(&mut self, context: &mut Context) -> Result<()> {
        let (Some(subject), Some(playback)) = (&self.subject, &self.playback) else {
            return Ok(());
        };
        let before = self.scene.bounds;
        let shown = self.scene.show(context, subject, &self.settings, playback);
        match shown {
            Ok(()) => self.shown = Some(self.settings.clone()),
            Err(_) => self.go_back(context),
        }
        self.forget_figures();
        if before != self.scene.bounds {
            self.frame_again();
        }
        shown
    }

    /// Shows the present character with the settings that worked last, or else the simplest.
    fn go_back(&mut self, context: &mut Context) {
        let Some((subject, playback)) = self.subject.as_ref().zip(self.playback.as_ref()) else {
            return;
        };
        if let Some(shown) = &self.shown {
            self.settings.instances = shown.instances;
            self.settings.stage = shown.stage;
            self.settings.method = shown.method;
        }
        if self
            .scene
            .show(context, subject, &self.settings, playback)
            .is_ok()
        {
            return;
        }
        self.settings.instances = 1;
        self.settings.stage = SkinningStage::Vertex;
        self.settings.method = SkinningMethod::Linear;
        let shown = self.scene.show(context, subject, &self.settings, playback);
        if let Err(error) = shown {
            self.tell(error.to_string());
        }
    }

    /// Drops what was measured and listed of the scene that was shown.
    fn forget_figures(&mut self) {
        self.unsettled = UNSETTLED_FRAMES;
        self.accuracy = None;
        self.measured = (None, 0);
        self.key_times = (None, Vec::new());
        self.clip_boxes = (None, None);
    }

    /// Makes the picture cheaper if the CPU draws it and is too slow: first without a shadow, then
    /// with fewer instances. Both are told in a message.
    ///
    /// Frames do not count while a file is imported, and after the scene or the window changed.
    pub(crate) fn adapt(&mut self, context: &mut Context, frame_ms: f64) {
        let slow = self.drawn_by_cpu && frame_ms > SLOW_MS;
        let count = self.scene.instances();
        let unsettled = self.unsettled > 0 || self.loader.file.is_some();
        self.unsettled = self.unsettled.saturating_sub(1);
        if !slow || unsettled || count == 0 {
            self.slow_frames = 0;
            return;
        }
        // A very slow frame counts for many.
        self.slow_frames += 1 + (frame_ms / HALTING_MS).min(f64::from(SLOW_FRAMES) - 2.0) as u32;
        if self.slow_frames < SLOW_FRAMES {
            return;
        }
        self.slow_frames = 0;
        if std::mem::replace(&mut self.settings.shadow, false) {
            self.tell(format!(
                "a frame takes this driver {frame_ms:.0} ms: the shadow is off"
            ));
        }
        if frame_ms > HALTING_MS && count > 1 {
            let fewer = (count as f64 * HALTING_MS / frame_ms) as u32;
            self.settings.instances = fewer.clamp(1, count as u32 - 1);
            let fewer = self.settings.instances;
            self.tell(format!(
                "a frame of {count} instances takes this driver {frame_ms:.0} ms: showing {fewer}"
            ));
            if let Err(error) = self.rebuild(context) {
                self.tell(error.to_string());
            }
        }
    }
}

/// Finds a clip by name, else by number, because clips may have no names.
fn find_clip(character: &Character, name: &str) -> throng::Result<Id<Clip>> {
    character.clip(name).or_else(|error| {
        let number = name.parse().ok().map(Id::new);
        let known = number.filter(|clip| clip.index() < character.clips().len());
        known.ok_or(error)
    })
}
