//! The clips that the instances play, and the clock.

use throng::character::{BlendAt, Character};
use throng::glam::Vec2;
use throng::ids::{BlendSpaceId, ClipId, MaskId, ParameterId};
use throng::motion::LoopMode;
use throng::state_machine::Value;
use throng::{Crowd, InstanceId, Play, Result};

/// The most layers above the base.
pub(crate) const MAX_LAYERS: usize = 3;
/// The limits of the speed.
pub(crate) const SLOWEST: f64 = 1.0 / 64.0;
pub(crate) const FASTEST: f64 = 16.0;
/// The rate for stepping through a clip with fewer than [`LEAST_HZ`], in frames per second.
const STEP_HZ: f64 = 30.0;
/// The lowest packed rate that is used for steps, in frames per second.
const LEAST_HZ: f64 = 10.0;
/// The least number of steps through a clip.
const LEAST_STEPS: f64 = 4.0;

/// The motion of the lowest layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Base {
    RestPose,
    Clip(ClipId),
    BlendSpace(BlendSpaceId, Vec2),
    StateMachine,
}

/// A clip on a layer above the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Layer {
    pub(crate) clip: ClipId,
    pub(crate) mask: Option<MaskId>,
    pub(crate) weight: f32,
    pub(crate) fade_s: f32,
    /// The clock's time at which the clip started.
    start_s: f64,
}

/// The clips of all instances, and the clock that they share.
#[derive(Clone, Debug)]
pub(crate) struct Playback {
    /// The time of the clock in seconds.
    pub(crate) time_s: f64,
    pub(crate) playing: bool,
    /// Seconds of the clock per second.
    pub(crate) speed: f64,
    pub(crate) looping: bool,
    /// The duration of the fade to the next clip, in seconds.
    pub(crate) fade_s: f32,
    /// True if instances are at different times of their clips.
    pub(crate) spread: bool,
    base: Base,
    /// The time of the clock at which the base started.
    start_s: f64,
    pub(crate) layers: Vec<Layer>,
    /// Morph weights that override those of the clips.
    pub(crate) morphs: Vec<Option<f32>>,
    /// Parameters of the state machine that the user has set.
    parameters: Vec<(ParameterId, Value)>,
    /// True if a clip that does not loop has come to its end.
    ended: bool,
}

impl Playback {
    /// Plays the first clip, if there is one.
    pub(crate) fn new(character: &Character) -> Self {
        let first = character.clips().first().map(|_| Base::Clip(ClipId(0)));
        Self {
            time_s: 0.0,
            playing: true,
            speed: 1.0,
            looping: true,
            fade_s: 0.25,
            spread: true,
            base: first.unwrap_or(Base::RestPose),
            start_s: 0.0,
            layers: Vec::new(),
            morphs: vec![None; character.morph_weights().len()],
            parameters: Vec::new(),
            ended: false,
        }
    }

    /// Plays this clip.
    pub(crate) fn playing(character: &Character, clip: ClipId) -> Self {
        Self {
            base: Base::Clip(clip),
            ..Self::new(character)
        }
    }

    pub(crate) fn base(&self) -> Base {
        self.base
    }

    /// The clip of the base, if it is a single clip.
    pub(crate) fn clip(&self) -> Option<ClipId> {
        match self.base {
            Base::Clip(clip) => Some(clip),
            _ => None,
        }
    }

    /// Duration of the base in seconds, 0 if it has none.
    pub(crate) fn duration_s(&self, character: &Character) -> f64 {
        let clip = self
            .clip()
            .and_then(|clip| character.clips().get(clip.index()));
        clip.map_or(0.0, throng::clip::Clip::duration_s)
    }

    /// The time in the clip of the first instance.
    pub(crate) fn clip_time_s(&self, character: &Character) -> f64 {
        self.mode()
            .clip_time_s(self.time_s - self.start_s, self.duration_s(character))
    }

    /// The time that is shown: that of the clip, or else the time since the base started.
    pub(crate) fn shown_time_s(&self, character: &Character) -> f64 {
        match self.base {
            Base::Clip(_) => self.clip_time_s(character),
            _ => self.time_s - self.start_s,
        }
    }

    fn mode(&self) -> LoopMode {
        if self.looping {
            LoopMode::Loop
        } else {
            LoopMode::Once
        }
    }

    /// Moves the clock so that the clip is at this time.
    pub(crate) fn seek(&mut self, clip_time_s: f64) {
        self.time_s = self.start_s + clip_time_s;
    }

    /// Moves the clock on by real time. A clip that does not loop stops the clock at its end.
    pub(crate) fn advance(&mut self, passed_s: f64, character: &Character) {
        self.speed = sane(self.speed, SLOWEST, FASTEST);
        self.fade_s = sane(self.fade_s.into(), 0.0, 60.0) as f32;
        if !self.playing {
            return;
        }
        self.time_s += passed_s * self.speed;
        let duration_s = self.duration_s(character);
        if !self.looping && self.clip().is_some() && self.time_s - self.start_s >= duration_s {
            self.seek(duration_s);
            self.playing = false;
            self.ended = true;
        }
    }

    /// Plays or pauses. At the end of a clip that does not loop, it plays from the start.
    pub(crate) fn play_or_pause(&mut self, character: &Character) {
        self.playing = !self.playing;
        self.ended = false;
        let ended = self.time_s - self.start_s >= self.duration_s(character);
        if self.playing && !self.looping && self.clip().is_some() && ended {
            self.seek(0.0);
        }
    }

    /// The frames per second of steps: those of the packed clip, unless they are too few.
    ///
    /// A clip that moves evenly is packed with very few frames.
    pub(crate) fn step_rate_hz(&self, character: &Character) -> f64 {
        let clip = self
            .clip()
            .and_then(|clip| character.clips().get(clip.index()));
        let packed_hz = clip.map_or(0.0, |clip| clip.report().rate_hz);
        let duration_s = self.duration_s(character);
        if packed_hz >= LEAST_HZ && packed_hz * duration_s > LEAST_STEPS - 0.5 {
            return packed_hz;
        }
        if duration_s <= 0.0 {
            return STEP_HZ;
        }
        STEP_HZ.max(LEAST_STEPS / duration_s)
    }

    /// Pauses, and moves by frames of the clip. At either end, a looping clip goes around.
    ///
    /// Without a clip, it does not go back before the start of the base.
    pub(crate) fn step(&mut self, frames: i32, character: &Character) {
        self.playing = false;
        self.ended = false;
        let rate_hz = self.step_rate_hz(character);
        let duration_s = self.duration_s(character);
        if self.clip().is_none() || duration_s <= 0.0 {
            let moved_s = self.time_s + f64::from(frames) / rate_hz;
            self.time_s = moved_s.max(self.start_s);
            return;
        }
        let last = (duration_s * rate_hz).round().max(1.0);
        let mut frame = (self.clip_time_s(character) * rate_hz).round() + f64::from(frames);
        if self.looping {
            // The last frame of a cycle is the first of the next.
            frame = frame.rem_euclid(last);
        }
        self.seek((frame / rate_hz).clamp(0.0, duration_s));
    }

    /// Goes to the start of the base. A state machine starts again.
    pub(crate) fn restart(&mut self, world: (&mut Crowd, &[InstanceId])) -> Result<()> {
        if self.base == Base::StateMachine {
            return self.set_base(self.base, world);
        }
        self.seek(0.0);
        Ok(())
    }

    /// Plays this on layer 0, from its start.
    pub(crate) fn set_base(
        &mut self,
        base: Base,
        world: (&mut Crowd, &[InstanceId]),
    ) -> Result<()> {
        let fade_s = if self.playing { self.fade_s } else { 0.0 };
        let moved = matches!((self.base, base), (Base::BlendSpace(a, _), Base::BlendSpace(b, _))
            if a == b);
        let (crowd, ids) = world;
        if let (true, Base::BlendSpace(_, at)) = (moved, base) {
            self.base = base;
            for id in ids {
                crowd.set_blend_position(*id, 0, at_of(base, crowd, *id, at)?)?;
            }
            return Ok(());
        }
        if self.ended {
            // The end of the last clip stopped the clock, not the user.
            self.playing = true;
            self.ended = false;
        }
        // Layers lie above those of a state machine, so their numbers change.
        for index in 0..self.layers.len() {
            self.stop_layer((&mut *crowd, ids), index, 0.0)?;
        }
        let driven = self.base == Base::StateMachine;
        self.base = base;
        self.start_s = self.time_s;
        if driven {
            for id in ids {
                crowd.undrive(*id, 0.0)?;
            }
        }
        self.play_base((&mut *crowd, ids), fade_s)?;
        (0..self.layers.len()).try_for_each(|index| self.play_layer((&mut *crowd, ids), index, 0.0))
    }

    /// Plays the base again after the loop mode, or whether instances are spread, has changed.
    ///
    /// A state machine has its own loop modes and goes on.
    pub(crate) fn replay(&self, world: (&mut Crowd, &[InstanceId])) -> Result<()> {
        if self.base == Base::StateMachine {
            return Ok(());
        }
        self.play_base(world, 0.0)
    }

    /// Ends all fades after the clock has jumped. Otherwise the time before a fade would show what
    /// played before it.
    pub(crate) fn settle(&self, (crowd, ids): (&mut Crowd, &[InstanceId])) -> Result<()> {
        self.replay((&mut *crowd, ids))?;
        (0..self.layers.len()).try_for_each(|index| self.play_layer((&mut *crowd, ids), index, 0.0))
    }

    /// Sets a parameter of the state machine.
    pub(crate) fn set_parameter(
        &mut self,
        parameter: ParameterId,
        value: Value,
        (crowd, ids): (&mut Crowd, &[InstanceId]),
    ) -> Result<()> {
        self.parameters.retain(|(other, _)| *other != parameter);
        if !matches!(value, Value::Trigger(_)) {
            self.parameters.push((parameter, value));
        }
        ids.iter()
            .try_for_each(|id| set_parameter(crowd, *id, parameter, value))
    }

    /// Overrides the morph weights.
    pub(crate) fn set_morphs(
        &mut self,
        morphs: Vec<Option<f32>>,
        (crowd, ids): (&mut Crowd, &[InstanceId]),
    ) -> Result<()> {
        self.morphs = morphs;
        ids.iter()
            .try_for_each(|id| crowd.set_morph_weights(*id, &self.morphs))
    }

    /// The same for another version of the character. Everything that it lacks is left out.
    pub(crate) fn fitted(mut self, character: &Character) -> Self {
        let has = |clip: ClipId| clip.index() < character.clips().len();
        let set = character.animations();
        let fits = match self.base {
            Base::RestPose => true,
            Base::Clip(clip) => has(clip),
            Base::BlendSpace(space, _) => space.index() < set.blend_spaces().len(),
            Base::StateMachine => set.state_machine().is_some(),
        };
        if !fits {
            self.base = Self::new(character).base;
        }
        let known = |mask: &MaskId| mask.index() < set.masks().len();
        self.layers.retain(|layer| has(layer.clip));
        for layer in &mut self.layers {
            layer.mask = layer.mask.filter(known);
        }
        self.morphs.resize(character.morph_weights().len(), None);
        let count = set
            .state_machine()
            .map_or(0, |machine| machine.parameters().len());
        self.parameters
            .retain(|(parameter, _)| parameter.index() < count);
        self
    }

    /// Plays everything on new instances.
    pub(crate) fn apply(&self, (crowd, ids): (&mut Crowd, &[InstanceId])) -> Result<()> {
        self.play_base((crowd, ids), 0.0)?;
        for index in 0..self.layers.len() {
            self.play_layer((crowd, ids), index, 0.0)?;
        }
        if self.morphs.iter().any(Option::is_some) {
            for id in ids {
                crowd.set_morph_weights(*id, &self.morphs)?;
            }
        }
        Ok(())
    }

    fn play_base(&self, (crowd, ids): (&mut Crowd, &[InstanceId]), fade_s: f32) -> Result<()> {
        for (number, id) in ids.iter().enumerate() {
            let play = match self.base {
                Base::RestPose => {
                    crowd.stop(*id, 0, fade_s)?;
                    continue;
                }
                Base::StateMachine => {
                    crowd.drive(*id)?;
                    for (parameter, value) in &self.parameters {
                        set_parameter(crowd, *id, *parameter, *value)?;
                    }
                    continue;
                }
                Base::Clip(clip) => Play::new(clip),
                Base::BlendSpace(space, at) => {
                    Play::blend_space(space).at(at_of(self.base, crowd, *id, at)?)
                }
            };
            let duration_s = match self.base {
                Base::Clip(clip) => self.duration_of(crowd, *id, clip)?,
                _ => 1.0,
            };
            let play = Play {
                start_s: Some(self.start_s),
                offset_s: self.offset(number) * duration_s,
                loop_mode: self.mode(),
                fade_s,
                ..play
            };
            crowd.play(*id, play)?;
        }
        Ok(())
    }

    fn duration_of(&self, crowd: &Crowd, id: InstanceId, clip: ClipId) -> Result<f64> {
        let character = crowd.character(crowd.character_of(id)?)?;
        let clip = character.clips().get(clip.index());
        Ok(clip.map_or(0.0, throng::clip::Clip::duration_s))
    }

    /// The part of the clip by which an instance is ahead. The first is never ahead.
    fn offset(&self, number: usize) -> f64 {
        if self.spread && self.looping {
            // The golden ratio spreads any number of instances evenly.
            (number as f64 * 0.618_033_988_75).fract()
        } else {
            0.0
        }
    }

    /// Adds a layer, which plays this clip.
    pub(crate) fn add_layer(
        &mut self,
        clip: ClipId,
        world: (&mut Crowd, &[InstanceId]),
    ) -> Result<()> {
        if self.layers.len() < MAX_LAYERS {
            self.layers.push(Layer {
                clip,
                mask: None,
                weight: 1.0,
                fade_s: 0.25,
                start_s: self.time_s,
            });
            let index = self.layers.len() - 1;
            self.play_layer(world, index, 0.25)?;
        }
        Ok(())
    }

    /// Replaces a layer.
    pub(crate) fn set_layer(
        &mut self,
        (index, layer): (usize, Layer),
        world: (&mut Crowd, &[InstanceId]),
    ) -> Result<()> {
        let Some(old) = self.layers.get_mut(index) else {
            return Ok(());
        };
        let other_clip = old.clip != layer.clip;
        *old = layer;
        if other_clip {
            old.start_s = self.time_s;
        }
        let fade_s = if other_clip { layer.fade_s } else { 0.0 };
        self.play_layer(world, index, fade_s)
    }

    /// Removes the last layer.
    pub(crate) fn remove_layer(&mut self, (crowd, ids): (&mut Crowd, &[InstanceId])) -> Result<()> {
        let Some(layer) = self.layers.pop() else {
            return Ok(());
        };
        self.stop_layer((crowd, ids), self.layers.len(), layer.fade_s)
    }

    fn stop_layer(
        &self,
        (crowd, ids): (&mut Crowd, &[InstanceId]),
        index: usize,
        fade_s: f32,
    ) -> Result<()> {
        for id in ids {
            let number = self.number(crowd, *id, index)?;
            crowd.stop(*id, number, fade_s)?;
        }
        Ok(())
    }

    /// The number of a layer on an instance: above layer 0, or above those of the state machine.
    fn number(&self, crowd: &Crowd, id: InstanceId, index: usize) -> Result<u8> {
        let below = match self.base {
            Base::StateMachine => {
                let character = crowd.character(crowd.character_of(id)?)?;
                let machine = character.animations().state_machine();
                machine.map_or(1, throng::state_machine::StateMachine::layer_count)
            }
            _ => 1,
        };
        Ok(u8::try_from(below + index).unwrap_or(u8::MAX))
    }

    fn play_layer(
        &self,
        (crowd, ids): (&mut Crowd, &[InstanceId]),
        index: usize,
        fade_s: f32,
    ) -> Result<()> {
        let layer = self.layers[index];
        for id in ids {
            let play = Play {
                mask: layer.mask.map(Into::into),
                start_s: Some(layer.start_s),
                ..Play::new(layer.clip)
                    .layer(self.number(crowd, *id, index)?)
                    .weight(layer.weight)
                    .fade_s(fade_s)
            };
            crowd.play(*id, play)?;
        }
        Ok(())
    }
}

fn set_parameter(
    crowd: &mut Crowd,
    id: InstanceId,
    parameter: ParameterId,
    value: Value,
) -> Result<()> {
    match value {
        Value::Float(value) => crowd.set_float(id, parameter, value),
        Value::Int(value) => crowd.set_int(id, parameter, value),
        Value::Bool(value) => crowd.set_bool(id, parameter, value),
        Value::Trigger(_) => crowd.set_trigger(id, parameter),
    }
}

/// A number that the user has typed, within its limits.
fn sane(value: f64, least: f64, most: f64) -> f64 {
    if value.is_nan() {
        return least.max(1.0).min(most);
    }
    value.clamp(least, most)
}

/// The position in the form of the blend space, with one number or two.
fn at_of(base: Base, crowd: &Crowd, id: InstanceId, at: Vec2) -> Result<BlendAt> {
    let character = crowd.character(crowd.character_of(id)?)?;
    let dimensions = match base {
        Base::BlendSpace(space, _) => character
            .animations()
            .blend_spaces()
            .get(space.index())
            .map_or(2, throng::motion::BlendSpace::dimensions),
        _ => 2,
    };
    Ok(if dimensions == 1 {
        at.x.into()
    } else {
        at.into()
    })
}
