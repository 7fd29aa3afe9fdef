//! Measures paused pictures.

use throng_standalone::Context;

use super::Result;
use super::accuracy::{self, Measured};
use super::app::App;
use super::scene::FRAMES_IN_FLIGHT;

impl App {
    /// Measures a paused picture once, when its frames have reached the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub(crate) fn measure_if_paused(&mut self, context: &mut Context) -> Result<()> {
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
            expressions: playback.expressions.clone(),
            springs: playback.springs,
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
    /// Errors of the device.
    fn measure(&mut self, context: &mut Context) -> Result<()> {
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
}
