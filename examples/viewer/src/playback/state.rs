//! The plays of the instances, and how they reach the crowd.

use throng::character::{BlendAt, Character};
use throng::clip::Clip;
use throng::glam::Vec2;
use throng::motion::BlendSpace;
use throng::skeleton::Mask;
use throng::state_machine::{ParameterDesc, Value};
use throng::{Crowd, Id, InstanceId, Play, Result, SpringMode};

/// The motion of the lowest layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Base {
    RestPose,
    Clip(Id<Clip>),
    BlendSpace(Id<BlendSpace>, Vec2),
    StateMachine,
}

/// A clip on a layer above the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Layer {
    pub(crate) clip: Id<Clip>,
    pub(crate) mask: Option<Id<Mask>>,
    pub(crate) weight: f32,
    pub(crate) fade_s: f32,
    /// The clock's time at which the clip started.
    pub(super) start_s: f64,
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
    pub(super) base: Base,
    /// The time of the clock at which the base started.
    pub(super) start_s: f64,
    pub(crate) layers: Vec<Layer>,
    /// Morph weights that override those of the clips.
    pub(crate) morphs: Vec<Option<f32>>,
    /// The weights at which expressions are shown.
    pub(crate) expressions: Vec<f32>,
    /// True if spring bones swing.
    pub(crate) springs: bool,
    /// Parameters of the state machine that the user has set.
    parameters: Vec<(Id<ParameterDesc>, Value)>,
    /// True if a clip that does not loop has ended.
    pub(super) ended: bool,
}

impl Playback {
    /// Plays the first clip that moves, if there is one.
    pub(crate) fn new(character: &Character) -> Self {
        let first = character.default_clip().map(Base::Clip);
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
            expressions: vec![0.0; character.expressions().len()],
            springs: true,
            parameters: Vec::new(),
            ended: false,
        }
    }

    /// Plays this clip.
    pub(crate) fn playing(character: &Character, clip: Id<Clip>) -> Self {
        Self {
            base: Base::Clip(clip),
            ..Self::new(character)
        }
    }

    pub(crate) fn base(&self) -> Base {
        self.base
    }

    /// The clip of the base, if it is a single clip.
    pub(crate) fn clip(&self) -> Option<Id<Clip>> {
        match self.base {
            Base::Clip(clip) => Some(clip),
            _ => None,
        }
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
                let at = at_of(base, crowd, *id, at)?;
                crowd.instance_mut(*id)?.set_blend_position(0, at, 0.0)?;
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
                crowd.instance_mut(*id)?.stop_state_machine(0.0)?;
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
        parameter: Id<ParameterDesc>,
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
        ids.iter().try_for_each(|id| {
            crowd
                .instance_mut(*id)
                .and_then(|mut it| it.set_morph_weights(&self.morphs))
        })
    }

    /// Shows expressions at these weights.
    pub(crate) fn set_expressions(
        &mut self,
        weights: Vec<f32>,
        world: (&mut Crowd, &[InstanceId]),
    ) -> Result<()> {
        self.expressions = weights;
        self.show_expressions(world)
    }

    fn show_expressions(&self, (crowd, ids): (&mut Crowd, &[InstanceId])) -> Result<()> {
        for id in ids {
            let mut instance = crowd.instance_mut(*id)?;
            for (index, weight) in self.expressions.iter().enumerate() {
                instance.set_expression(Id::new(index as u16), *weight)?;
            }
        }
        Ok(())
    }

    /// Switches spring bones on or off.
    pub(crate) fn set_springs(
        &mut self,
        on: bool,
        (crowd, ids): (&mut Crowd, &[InstanceId]),
    ) -> Result<()> {
        self.springs = on;
        for id in ids {
            crowd.instance_mut(*id)?.set_springs(self.spring_mode());
        }
        Ok(())
    }

    /// Spring bones swing with updates, so that the lines of joints show them.
    fn spring_mode(&self) -> SpringMode {
        match self.springs {
            true => SpringMode::Game,
            false => SpringMode::Off,
        }
    }

    /// The same for another version of the character. Everything that it lacks is left out.
    pub(crate) fn fitted(mut self, character: &Character) -> Self {
        let has = |clip: Id<Clip>| clip.index() < character.clips().len();
        let fits = match self.base {
            Base::RestPose => true,
            Base::Clip(clip) => has(clip),
            Base::BlendSpace(space, _) => space.index() < character.blend_spaces().len(),
            Base::StateMachine => character.state_machine().is_some(),
        };
        if !fits {
            self.base = Self::new(character).base;
        }
        let known = |mask: &Id<Mask>| mask.index() < character.masks().len();
        self.layers.retain(|layer| has(layer.clip));
        for layer in &mut self.layers {
            layer.mask = layer.mask.filter(known);
        }
        self.morphs.resize(character.morph_weights().len(), None);
        self.expressions.resize(character.expressions().len(), 0.0);
        let count = character
            .state_machine()
            .map_or(0, |machine| machine.desc().parameters.len());
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
                crowd.instance_mut(*id)?.set_morph_weights(&self.morphs)?;
            }
        }
        if self.expressions.iter().any(|weight| *weight != 0.0) {
            self.show_expressions((&mut *crowd, ids))?;
        }
        for id in ids {
            crowd.instance_mut(*id)?.set_springs(self.spring_mode());
        }
        Ok(())
    }

    fn play_base(&self, (crowd, ids): (&mut Crowd, &[InstanceId]), fade_s: f32) -> Result<()> {
        for (number, id) in ids.iter().enumerate() {
            let play = match self.base {
                Base::RestPose => {
                    crowd.instance_mut(*id)?.stop(0, fade_s)?;
                    continue;
                }
                Base::StateMachine => {
                    crowd.instance_mut(*id)?.start_state_machine()?;
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
            crowd.instance_mut(*id)?.play(play)?;
        }
        Ok(())
    }

    fn duration_of(&self, crowd: &Crowd, id: InstanceId, clip: Id<Clip>) -> Result<f64> {
        let character = crowd.character(crowd.instance(id)?.character())?;
        let clip = character.clips().get(clip.index());
        Ok(clip.map_or(0.0, Clip::duration_s))
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
}

fn set_parameter(
    crowd: &mut Crowd,
    id: InstanceId,
    parameter: Id<ParameterDesc>,
    value: Value,
) -> Result<()> {
    match value {
        Value::Float(value) => crowd
            .instance_mut(id)
            .and_then(|mut it| it.set_parameter(parameter, value)),
        Value::Int(value) => crowd
            .instance_mut(id)
            .and_then(|mut it| it.set_parameter(parameter, value)),
        Value::Bool(value) => crowd
            .instance_mut(id)
            .and_then(|mut it| it.set_parameter(parameter, value)),
        Value::Trigger(_) => crowd
            .instance_mut(id)
            .and_then(|mut it| it.set_parameter(parameter, true)),
    }
}

/// The position in the form of the blend space, with one number or two.
fn at_of(base: Base, crowd: &Crowd, id: InstanceId, at: Vec2) -> Result<BlendAt> {
    let character = crowd.character(crowd.instance(id)?.character())?;
    let dimensions = match base {
        Base::BlendSpace(space, _) => character
            .blend_spaces()
            .get(space.index())
            .map_or(2, BlendSpace::dimensions),
        _ => 2,
    };
    Ok(if dimensions == 1 {
        at.x.into()
    } else {
        at.into()
    })
}
