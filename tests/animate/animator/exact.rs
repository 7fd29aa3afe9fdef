//! A reference actor in `f64`, with independent code: a plain list of voices.

use super::world::World;
use throng::motion::{Ease, LoopMode};
use throng::skeleton::Transform;

/// A play request like [`Play`](throng::animator::Play), with indices instead of names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub(super) clip: usize,
    pub(super) layer: u8,
    pub(super) mask: Option<usize>,
    pub(super) weight: f32,
    pub(super) fade_s: f32,
    pub(super) ease: Ease,
    pub(super) start_s: Option<f64>,
    pub(super) offset_s: f64,
    pub(super) speed: f64,
    pub(super) loop_mode: LoopMode,
    pub(super) synced: bool,
}

/// A weight that fades.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fade {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) start_s: f64,
    pub(super) length_s: f64,
    pub(super) ease: Ease,
}

impl Fade {
    pub(super) fn at(&self, time_s: f64) -> f64 {
        let since = time_s - self.start_s;
        if since >= self.length_s {
            return self.to;
        }
        let u = (since / self.length_s).max(0.0);
        let eased = match self.ease {
            Ease::Linear => u,
            Ease::Smooth => u * u * (3.0 - 2.0 * u),
        };
        self.from + (self.to - self.from) * eased
    }

    /// The time at which it has faded out. Infinite if it does not end at 0.
    pub(super) fn over_s(&self) -> f64 {
        match (self.from, self.to) {
            (0.0, 0.0) => f64::NEG_INFINITY,
            (_, 0.0) => self.start_s + self.length_s,
            _ => f64::INFINITY,
        }
    }
}

/// Something that plays: a clip or a pose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Voice {
    /// `None` means the caller's pose.
    pub(super) clip: Option<usize>,
    pub(super) layer: u8,
    pub(super) mask: Option<usize>,
    pub(super) loop_mode: LoopMode,
    pub(super) fade: Fade,
    /// Unwrapped clip time at `since_s`, and the speeds from then on.
    pub(super) clip_s: f64,
    pub(super) since_s: f64,
    pub(super) from_speed: f64,
    pub(super) to_speed: f64,
    pub(super) ramp_s: f64,
    pub(super) ramp_ease: Ease,
    pub(super) synced: bool,
    pub(super) started: bool,
    pub(super) finished: bool,
}

impl Voice {
    pub(super) fn duration_s(&self, world: &World) -> f64 {
        self.clip.map_or(0.0, |clip| world.clips[clip].duration_s())
    }

    /// Unwrapped clip time: the integral of the speed.
    pub(super) fn clip_time_at(&self, time_s: f64) -> f64 {
        let since = time_s - self.since_s;
        let change = self.to_speed - self.from_speed;
        if since < 0.0 || self.ramp_s <= 0.0 {
            return self.clip_s + since * self.from_speed;
        }
        let ramped = since.min(self.ramp_s);
        let u = ramped / self.ramp_s;
        let eased = match self.ramp_ease {
            Ease::Linear => u * u / 2.0,
            Ease::Smooth => u.powi(3) - u.powi(4) / 2.0,
        };
        let rest = (since - self.ramp_s).max(0.0);
        self.clip_s + ramped * self.from_speed + self.ramp_s * change * eased + rest * self.to_speed
    }

    pub(super) fn speed_at(&self, time_s: f64) -> f64 {
        let since = time_s - self.since_s;
        if self.ramp_s <= 0.0 || since >= self.ramp_s {
            return self.to_speed;
        }
        let u = (since / self.ramp_s).max(0.0);
        let eased = match self.ramp_ease {
            Ease::Linear => u,
            Ease::Smooth => u * u * (3.0 - 2.0 * u),
        };
        self.from_speed + (self.to_speed - self.from_speed) * eased
    }

    pub(super) fn ramp_end_s(&self) -> f64 {
        self.since_s + self.ramp_s
    }

    fn go_on(
        &mut self,
        now_s: f64,
        clip_s: f64,
        [from, to]: [f64; 2],
        (ramp_s, ease): (f64, Ease),
    ) {
        (self.clip_s, self.since_s) = (clip_s, now_s);
        self.from_speed = if ramp_s > 0.0 { from } else { to };
        (self.to_speed, self.ramp_s, self.ramp_ease) = (to, ramp_s, ease);
    }

    /// Fades from the present weight. A change of speed continues only if it has the same ease.
    fn fade_to(&mut self, to: f64, now_s: f64, (fade_s, ease): (f32, Ease)) {
        if now_s < self.ramp_end_s() && self.from_speed != self.to_speed && ease != self.ramp_ease {
            let speed = self.speed_at(now_s);
            self.go_on(now_s, self.clip_time_at(now_s), [speed; 2], (0.0, ease));
        }
        self.fade = Fade {
            from: self.fade.at(now_s),
            to,
            start_s: now_s,
            length_s: fade_s.into(),
            ease,
        };
    }
}

/// The reference actor.
pub(super) struct Exact<'a> {
    pub(super) world: &'a World,
    /// The animator's time.
    pub(super) now_s: f64,
    /// The actor's time.
    pub(super) local_s: f64,
    scale: f64,
    paused: bool,
    /// In the order in which they started.
    pub(super) voices: Vec<Voice>,
    pub(super) own_pose: Vec<Transform>,
    /// Events: the animator's time, layer, kind and weight.
    pub(super) happened: Vec<super::exact_events::Happened>,
}

impl<'a> Exact<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        Self {
            world,
            now_s: 0.0,
            local_s: 0.0,
            scale: 1.0,
            paused: false,
            voices: Vec::new(),
            own_pose: Vec::new(),
            happened: Vec::new(),
        }
    }

    pub(super) fn rate(&self) -> f64 {
        if self.paused { 0.0 } else { self.scale }
    }

    /// Advances to a later time of the animator.
    pub(super) fn advance(&mut self, now_s: f64) {
        let to_s = self.local_s + (now_s - self.now_s) * self.rate();
        self.happen(to_s);
        (self.now_s, self.local_s) = (now_s, to_s);
        self.forget();
    }

    fn forget(&mut self) {
        let local_s = self.local_s;
        self.voices.retain(|voice| voice.fade.over_s() > local_s);
    }

    pub(super) fn pause(&mut self, paused: bool) {
        self.paused = paused;
    }

    pub(super) fn set_scale(&mut self, scale: f32) {
        self.scale = scale.into();
    }

    fn fade_layer(&mut self, layer: u8, fade: (f32, Ease)) {
        let now_s = self.local_s;
        for voice in self.voices.iter_mut().filter(|voice| voice.layer == layer) {
            voice.fade_to(0.0, now_s, fade);
        }
    }

    pub(super) fn stop(&mut self, layer: u8, fade_s: f32) {
        self.fade_layer(layer, (fade_s, Ease::Smooth));
        self.forget();
    }

    fn voice(&self, clip: Option<usize>, layer: u8, mask: Option<usize>, fade: Fade) -> Voice {
        Voice {
            clip,
            layer,
            mask,
            loop_mode: LoopMode::Loop,
            fade,
            clip_s: 0.0,
            since_s: self.local_s,
            from_speed: 1.0,
            to_speed: 1.0,
            ramp_s: 0.0,
            ramp_ease: fade.ease,
            synced: false,
            started: false,
            finished: false,
        }
    }

    fn fade_in(&self, from: f64, to: f32, fade_s: f32, ease: Ease) -> Fade {
        Fade {
            from: if fade_s > 0.0 { from } else { to.into() },
            to: to.into(),
            start_s: self.local_s,
            length_s: fade_s.into(),
            ease,
        }
    }

    pub(super) fn play(&mut self, start: &Start) {
        self.fade_layer(start.layer, (start.fade_s, start.ease));
        let fade = self.fade_in(0.0, start.weight, start.fade_s, start.ease);
        let mut voice = self.voice(Some(start.clip), start.layer, start.mask, fade);
        voice.loop_mode = start.loop_mode;
        voice.since_s = start.start_s.unwrap_or(self.local_s);
        voice.clip_s = start.offset_s;
        (voice.from_speed, voice.to_speed) = (start.speed, start.speed);
        if !(start.synced && self.join(start, &mut voice)) {
            self.voices.push(voice);
        }
        self.forget();
    }

    /// Synchronises a voice with its layer. Returns true if a voice that is already in step
    /// replaces it.
    fn join(&mut self, start: &Start, new: &mut Voice) -> bool {
        let (world, now_s) = (self.world, self.local_s);
        let duration_s = new.duration_s(world);
        if new.loop_mode != LoopMode::Loop || duration_s <= 0.0 {
            return false;
        }
        let layer = new.layer;
        let mut leader: Option<usize> = None;
        for (index, voice) in self.voices.iter().enumerate() {
            let more = leader.is_none_or(|at| voice.fade.from >= self.voices[at].fade.from);
            if voice.layer == layer && voice.clip.is_some() && more {
                leader = Some(index);
            }
        }
        let Some(leader) = leader else {
            new.synced = true;
            return false;
        };
        let led = self.voices[leader];
        let led_s = led.duration_s(world);
        if led.loop_mode != LoopMode::Loop || led_s <= 0.0 {
            return false;
        }
        if !led.synced {
            for voice in self.voices.iter_mut().filter(|voice| voice.layer == layer) {
                voice.synced = false;
            }
            self.voices[leader].synced = true;
        }
        let rates = [led.speed_at(now_s) / led_s, start.speed / duration_s];
        let ramp = (f64::from(start.fade_s), start.ease);
        let mut again = None;
        for (index, voice) in self.voices.iter_mut().enumerate() {
            if voice.layer != layer || !voice.synced {
                continue;
            }
            if voice.clip == new.clip && voice.mask == new.mask {
                again = Some(index);
                voice.fade_to(start.weight.into(), now_s, (start.fade_s, start.ease));
            }
            let own_s = voice.duration_s(world);
            voice.go_on(
                now_s,
                voice.clip_time_at(now_s),
                rates.map(|hz| hz * own_s),
                ramp,
            );
        }
        if let Some(again) = again {
            let voice = self.voices.remove(again);
            self.voices.push(voice);
            return true;
        }
        new.synced = true;
        let clip_s = led.clip_time_at(now_s) / led_s * duration_s + start.offset_s;
        new.go_on(now_s, clip_s, rates.map(|hz| hz * duration_s), ramp);
        false
    }

    /// Duration of the last clip that keeps step.
    fn step_s(&self, layer: u8) -> Option<f64> {
        let mut voices = self.voices.iter().rev();
        let last = voices.find(|voice| voice.layer == layer && voice.synced);
        last.map(|voice| voice.duration_s(self.world))
    }

    pub(super) fn set_speed(&mut self, layer: u8, speed: f64) {
        let (step_s, now_s, world) = (self.step_s(layer), self.local_s, self.world);
        let of_layer = |voice: &&mut Voice| voice.layer == layer && voice.clip.is_some();
        for voice in self.voices.iter_mut().filter(of_layer) {
            let duration_s = voice.duration_s(world);
            let speed = match step_s {
                Some(step_s) if voice.synced => speed * duration_s / step_s,
                _ => speed,
            };
            let mut clip_s = voice.clip_time_at(now_s);
            if voice.loop_mode == LoopMode::Once {
                // It is at the end, past which its time has run.
                if voice.to_speed > 0.0 {
                    clip_s = clip_s.min(duration_s);
                }
                if voice.to_speed < 0.0 {
                    clip_s = clip_s.max(0.0);
                }
            }
            voice.go_on(now_s, clip_s, [speed; 2], (0.0, voice.ramp_ease));
            let away = speed > 0.0 && clip_s < duration_s || speed < 0.0 && clip_s > 0.0;
            voice.finished &= !away;
        }
    }

    pub(super) fn seek(&mut self, layer: u8, time_s: f64) {
        let (step_s, now_s, world) = (self.step_s(layer), self.local_s, self.world);
        let of_layer = |voice: &&mut Voice| voice.layer == layer && voice.clip.is_some();
        for voice in self.voices.iter_mut().filter(of_layer) {
            let clip_s = match step_s {
                Some(step_s) if voice.synced => time_s / step_s * voice.duration_s(world),
                _ => time_s,
            };
            // The remaining time of a change of speed, in the precision of the record.
            let left_s = f64::from((voice.ramp_end_s() - now_s).max(0.0) as f32);
            let speeds = [voice.speed_at(now_s), voice.to_speed];
            voice.go_on(now_s, clip_s, speeds, (left_s, voice.ramp_ease));
            (voice.started, voice.finished) = (false, false);
        }
    }

    /// Shows a pose given by the caller, at once if the layer shows one with this mask and weight.
    pub(super) fn show(
        &mut self,
        pose: &[Transform],
        (layer, mask): (u8, Option<usize>),
        (weight, fade_s, ease): (f32, f32, Ease),
    ) {
        let shown = self.voices.iter().find(|voice| voice.clip.is_none());
        let shown = shown.filter(|voice| voice.layer == layer);
        if shown.is_some_and(|it| (it.mask, it.fade.to) == (mask, f64::from(weight))) {
            self.own_pose = pose.to_vec();
            return;
        }
        let from = shown.map_or(0.0, |voice| voice.fade.at(self.local_s));
        self.voices.retain(|voice| voice.clip.is_some());
        self.fade_layer(layer, (fade_s, ease));
        let fade = self.fade_in(from, weight, fade_s, ease);
        let voice = self.voice(None, layer, mask, fade);
        self.voices.push(voice);
        self.own_pose = pose.to_vec();
        self.forget();
    }
}
