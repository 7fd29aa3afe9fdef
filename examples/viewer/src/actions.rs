//! Applies what the user does in panels and with keys.

use throng::character::Character;
use throng::{Crowd, Id, InstanceId};
use throng_standalone::Context;

use super::Result;
use super::app::{Action, App};
use super::camera::Camera;
use super::keys::Command;
use super::playback::{Base, Playback};
use super::settings::TINTS;

impl App {
    /// Applies an action.
    ///
    /// # Errors
    /// Errors of the crate.
    pub(crate) fn apply(&mut self, context: &mut Context, action: Action) -> Result<()> {
        match action {
            Action::Open(path) => self.open(&path),
            Action::Command(command) => self.command(command)?,
            Action::ClearMessages => self.messages.clear(),
            Action::Repack(packing) => {
                let path = self.subject.as_ref().map(|subject| &subject.request.path);
                if let Some(path) = path.cloned() {
                    self.load(path, packing);
                }
            }
            Action::Rebuild => self.rebuild(context)?,
            other => self.control(other)?,
        }
        Ok(())
    }

    /// Applies an action that changes what plays. After a fault, everything plays as before.
    fn control(&mut self, action: Action) -> throng::Result<()> {
        self.change(|playback, world, _| match action {
            Action::Play(base) => playback.set_base(base, world),
            Action::AddLayer(clip) => playback.add_layer(clip, world),
            Action::SetLayer(index, layer) => playback.set_layer((index, layer), world),
            Action::RemoveLayer => playback.remove_layer(world),
            Action::Replay => playback.replay(world),
            Action::Seek(time_s) => {
                playback.seek(time_s);
                playback.playing = false;
                Ok(())
            }
            Action::Morphs(morphs) => playback.set_morphs(morphs, world),
            Action::Expressions(weights) => playback.set_expressions(weights, world),
            Action::Springs(on) => playback.set_springs(on, world),
            Action::Parameter(parameter, value) => playback.set_parameter(parameter, value, world),
            _ => Ok(()),
        })
    }

    /// Changes a copy of the playback, and keeps it if that worked. A jump of the clock ends fades.
    fn change(
        &mut self,
        change: impl FnOnce(
            &mut Playback,
            (&mut Crowd, &[InstanceId]),
            &Character,
        ) -> throng::Result<()>,
    ) -> throng::Result<()> {
        let (Some(playback), Some(subject)) = (&mut self.playback, &self.subject) else {
            return Ok(());
        };
        let mut changed = playback.clone();
        let mut done = change(&mut changed, self.scene.world(), &subject.character);
        if done.is_ok() && changed.time_s != playback.time_s {
            done = changed.settle(self.scene.world());
        }
        match done {
            Ok(()) => *playback = changed,
            // Changes so far are undone; a fault here would be the same one.
            Err(_) => _ = playback.apply(self.scene.world()),
        }
        done
    }

    /// Does what a key or a button says.
    ///
    /// # Errors
    /// Errors of playing a clip.
    pub(crate) fn command(&mut self, command: Command) -> Result<()> {
        match command {
            Command::NextView => self.settings.look = self.settings.look.next(),
            Command::ToggleSkeleton => {
                self.settings.overlays.skeleton = !self.settings.overlays.skeleton;
            }
            Command::NextTints => {
                self.settings.tints = (self.settings.tints + 1) % TINTS.len();
                let (tint, second_tint) = TINTS[self.settings.tints];
                let (crowd, ids) = self.scene.world();
                for id in ids {
                    let mut it = crowd.instance_mut(*id)?;
                    it.set_tint(tint)?;
                    it.set_second_tint(second_tint)?;
                }
            }
            Command::Frame => {
                self.measure_clip();
                self.camera = Camera::new(self.framed(), self.settings.fov_degrees);
            }
            Command::ToggleFollow => {
                self.settings.follow = !self.settings.follow;
                self.frame_again();
            }
            Command::TogglePanels => self.settings.panels = !self.settings.panels,
            Command::ToggleHelp => self.settings.help = !self.settings.help,
            Command::Close if self.settings.help => self.settings.help = false,
            Command::Close => self.closed = true,
            other => self.play_command(other)?,
        }
        Ok(())
    }

    fn play_command(&mut self, command: Command) -> throng::Result<()> {
        self.change(|playback, world, character| {
            match command {
                Command::PlayOrPause => playback.play_or_pause(character),
                Command::Step(frames) => playback.step(frames, character),
                Command::Restart => playback.restart(world)?,
                Command::Slower => playback.speed *= 0.5,
                Command::Faster => playback.speed *= 2.0,
                Command::ToggleLoop => {
                    let time_s = playback.clip_time_s(character);
                    playback.looping = !playback.looping;
                    if playback.clip().is_some() {
                        playback.seek(time_s);
                    }
                    playback.replay(world)?;
                }
                Command::Clip(index) if index < character.clips().len() => {
                    playback.set_base(Base::Clip(Id::new(index as u16)), world)?;
                }
                _ => {}
            }
            Ok(())
        })
    }
}
