//! Validation: looks up every name and checks every number.

use super::condition::{Condition, Test, is_parameter_name};
use super::desc::{
    LayerDesc, MaskDesc, Origin, ParameterKind, StateDesc, StateMachineDesc, TransitionDesc,
};
use super::machine::{StateMachine, StateMachineClip};
use super::model::{Asked, Compare, Layer, Order, Parameter, Scaled, State, Transition};
use super::text::part_of;
use crate::error::{self, DescFault, cut};
use crate::id::Id;
use crate::motion::BlendSpace;
use crate::skeleton::{Mask, Skeleton};
use crate::text::{At, Checked, Fault, bad_name, check_cap, check_names, check_value, find};
use std::sync::Arc;

/// The largest absolute phase at which a state can start.
const MAX_START: f32 = 1e6;

/// The items that names in a layer can refer to.
pub(crate) struct Known<'d> {
    desc: &'d StateMachineDesc,
    pub(crate) clips: &'d [StateMachineClip<'d>],
    /// The character's blend spaces, whose clips are indices into `clips`.
    pub(crate) spaces: &'d [BlendSpace],
}

impl StateMachine {
    /// Validates `desc` against a skeleton, a list of clips, and blend spaces of these clips.
    ///
    /// Masks apply to the skeleton's joints. Clips are found by name; if several have the same
    /// name, the first is used.
    pub(crate) fn new(
        desc: &StateMachineDesc,
        skeleton: &Skeleton,
        clips: &[StateMachineClip<'_>],
        spaces: &[BlendSpace],
    ) -> error::Result<Self> {
        let built = build(desc, skeleton, clips, spaces);
        built.map_err(|fault| fault.into_error(desc, part_of, Default::default()))
    }
}

pub(super) fn build(
    desc: &StateMachineDesc,
    skeleton: &Skeleton,
    clips: &[StateMachineClip<'_>],
    spaces: &[BlendSpace],
) -> Checked<StateMachine> {
    let known = Known {
        desc,
        clips,
        spaces,
    };
    for (what, asked, cap) in [
        (
            "parameters",
            desc.parameters.len(),
            StateMachine::MAX_PARAMETERS,
        ),
        ("masks", desc.masks.len(), StateMachine::MAX_MASKS),
        ("layers", desc.layers.len(), StateMachine::MAX_LAYERS),
    ] {
        check_cap(At::WHOLE, what, asked, cap)?;
    }
    if desc.layers.is_empty() {
        return Err(whole("layer", DescFault::Missing("layer")));
    }
    check_all_names(desc)?;
    for (index, clip) in clips.iter().enumerate() {
        if !(0.0..=StateMachine::MAX_TIME_S).contains(&clip.duration_s) {
            let (value, allowed) = (clip.duration_s, "a duration of 0 to 1e12 seconds");
            let why = DescFault::Value { value, allowed };
            return Err(whole(&format!("clip {index} \"{}\"", cut(clip.name)), why));
        }
    }
    let parameters = desc.parameters.iter().enumerate();
    let parameters = parameters.map(|(index, parameter)| {
        check_range(index, parameter.kind)?;
        Ok(Parameter {
            name: parameter.name.as_str().into(),
            kind: parameter.kind,
        })
    });
    let masks = desc.masks.iter().enumerate();
    let layers = desc.layers.iter().enumerate();
    let machine = StateMachine {
        desc: Arc::new(desc.clone()),
        fingerprint: 0,
        parameters: parameters.collect::<Checked<_>>()?,
        masks: masks
            .map(|(index, mask)| build_mask(index, mask, skeleton))
            .collect::<Checked<_>>()?,
        layers: layers
            .map(|(index, layer)| known.layer(index, layer))
            .collect::<Checked<_>>()?,
    };
    Ok(machine.with_fingerprint())
}

/// Checks all names of parameters, masks, layers and states.
fn check_all_names(desc: &StateMachineDesc) -> Checked<()> {
    let parameters = desc.parameters.iter().map(|found| found.name.as_str());
    check_names(parameters.clone(), parameter_at)?;
    if let Some(index) = parameters.clone().position(|name| !is_parameter_name(name)) {
        let why = "a parameter's name must not have white space or any of <>=!()\" in it";
        return Err(bad_name(
            parameter_at(index),
            &desc.parameters[index].name,
            why,
        ));
    }
    check_names(desc.masks.iter().map(|mask| mask.name.as_str()), mask_at)?;
    check_names(
        desc.layers.iter().map(|layer| layer.name.as_str()),
        layer_at,
    )?;
    for (layer, found) in desc.layers.iter().enumerate() {
        let at = |index| layer_at(layer).inside("state", index);
        let names = found.states.iter().map(|state| state.name.as_str());
        check_names(names.clone(), at)?;
        if let Some(index) = names.clone().position(|name| name.starts_with('(')) {
            let why = "a state's name must not start with `(`";
            return Err(bad_name(at(index), &found.states[index].name, why));
        }
    }
    Ok(())
}

const fn parameter_at(index: usize) -> At {
    At::of("parameter", index)
}

const fn mask_at(index: usize) -> At {
    At::of("mask", index)
}

const fn layer_at(index: usize) -> At {
    At::of("layer", index)
}

fn whole(field: &str, why: DescFault) -> Fault {
    Fault::new(At::WHOLE, field, why)
}

fn finite(at: At, field: &str, number: f32) -> Checked<()> {
    check_value(at, field, number, number.is_finite(), "a finite number")
}

fn check_not_negative(at: At, field: &str, number: f32) -> Checked<()> {
    let ok = number >= 0.0 && number.is_finite();
    check_value(
        at,
        field,
        number,
        ok,
        "a finite number that is not negative",
    )
}

fn check_start(at: At, start: f32) -> Checked<()> {
    let ok = start.abs() <= MAX_START;
    check_value(at, "start", start, ok, "-1e6..=1e6")
}

fn check_range(index: usize, kind: ParameterKind) -> Checked<()> {
    let at = parameter_at(index);
    let [min, max, default] = match kind {
        ParameterKind::Float { default, min, max } => {
            finite(at, "default", default)?;
            finite(at, "min", min.unwrap_or(0.0))?;
            finite(at, "max", max.unwrap_or(0.0))?;
            [min, max, Some(default)].map(|x| x.map(f64::from))
        }
        ParameterKind::Int { default, min, max } => {
            [min, max, Some(default)].map(|x| x.map(f64::from))
        }
        ParameterKind::Bool { .. } | ParameterKind::Trigger => return Ok(()),
    };
    let (min, max) = (min.unwrap_or(f64::MIN), max.unwrap_or(f64::MAX));
    if min > max {
        let (value, allowed) = (max, "a number not below `min`");
        return Err(Fault::new(at, "max", DescFault::Value { value, allowed }));
    }
    match default {
        Some(value) if !(min..=max).contains(&value) => {
            let allowed = "a number in `min`..=`max`";
            Err(Fault::new(
                at,
                "default",
                DescFault::Value { value, allowed },
            ))
        }
        _ => Ok(()),
    }
}

pub(crate) fn build_mask(index: usize, desc: &MaskDesc, skeleton: &Skeleton) -> Checked<Mask> {
    let at = mask_at(index);
    // Capped because each branch of a mask costs a walk over the joints.
    let (count, cap) = (desc.branches.len(), StateMachine::MAX_STATES);
    check_cap(at, "branches of a mask", count, cap)?;
    let mut mask = Mask::none(&desc.name, skeleton);
    for (number, branch) in desc.branches.iter().enumerate() {
        let (field, weight) = (format!("branches[{number}].weight"), branch.weight);
        check_value(at, &field, weight, (0.0..=1.0).contains(&weight), "0..=1")?;
        let field = format!("branches[{number}].joint");
        let names = || skeleton.joints().iter().map(|joint| &*joint.name);
        let top = find(at, &field, "joint", &branch.joint, names)?;
        mask.set_subtree(skeleton, Id::new(top), weight, branch.feather);
    }
    Ok(mask)
}

impl Known<'_> {
    fn layer(&self, index: usize, desc: &LayerDesc) -> Checked<Layer> {
        let at = layer_at(index);
        check_cap(at, "states", desc.states.len(), StateMachine::MAX_STATES)?;
        let (count, cap) = (desc.transitions.len(), StateMachine::MAX_TRANSITIONS);
        check_cap(at, "transitions", count, cap)?;
        let names = || desc.states.iter().map(|state| state.name.as_str());
        let masks = || self.desc.masks.iter().map(|mask| mask.name.as_str());
        let mask = desc.mask.as_ref();
        let mask = mask.map(|name| find(at, "mask", "mask", name, masks));
        let weight = desc.weight;
        if desc.additive {
            check_not_negative(at, "weight", weight)?;
        } else {
            check_value(at, "weight", weight, (0.0..=1.0).contains(&weight), "0..=1")?;
        }
        let states = desc.states.iter().enumerate();
        let mut layer = Layer {
            name: desc.name.as_str().into(),
            entry: find(at, "entry", "state", &desc.entry, names)?,
            mask: mask.transpose()?,
            weight: self.scaled(at, "weight_parameter", weight, &desc.weight_parameter)?,
            additive: desc.additive,
            states: states
                .map(|(number, state)| self.state(at.inside("state", number), state, desc.additive))
                .collect::<Checked<_>>()?,
            transitions: Vec::new(),
            at_entry: Vec::new(),
        };
        for (number, transition) in desc.transitions.iter().enumerate() {
            let at = at.inside("transition", number);
            let built = self.transition(at, transition, desc)?;
            let number = number as u16;
            match (&transition.from, built.from) {
                (Origin::Entry, _) => layer.at_entry.push(number),
                (_, Some(from)) => layer.states[usize::from(from)].out.push(number),
                (_, None) => layer.states.iter_mut().for_each(|s| s.out.push(number)),
            }
            layer.transitions.push(built);
        }
        Ok(layer)
    }

    fn state(&self, at: At, desc: &StateDesc, additive: bool) -> Checked<State> {
        finite(at, "speed", desc.speed)?;
        check_start(at, desc.start)?;
        let motion = self.motion(at, &desc.motion, additive)?;
        Ok(State {
            name: desc.name.as_str().into(),
            speed: self.scaled(at, "speed_parameter", desc.speed, &desc.speed_parameter)?,
            ground: self.ground(at, desc, &motion)?,
            wrap: desc.loop_mode,
            start: desc.start.into(),
            motion,
            out: Vec::new(),
        })
    }

    fn scaled(
        &self,
        at: At,
        field: &str,
        constant: f32,
        parameter: &Option<String>,
    ) -> Checked<Scaled> {
        let parameter = parameter.as_ref();
        let parameter = parameter.map(|name| self.float(at, field, name));
        Ok(Scaled {
            constant,
            parameter: parameter.transpose()?,
        })
    }

    fn parameter(&self, at: At, field: &str, name: &str) -> Checked<u16> {
        let names = || self.desc.parameters.iter().map(|p| p.name.as_str());
        find(at, field, "parameter", name, names)
    }

    pub(crate) fn float(&self, at: At, field: &str, name: &str) -> Checked<u16> {
        let index = self.parameter(at, field, name)?;
        match self.desc.parameters[usize::from(index)].kind {
            ParameterKind::Float { .. } => Ok(index),
            other => Err(kind(at, field, name, other, "float")),
        }
    }

    fn transition(&self, at: At, desc: &TransitionDesc, layer: &LayerDesc) -> Checked<Transition> {
        let names = || layer.states.iter().map(|state| state.name.as_str());
        let from = match &desc.from {
            Origin::State(name) => Some(find(at, "from", "state", name, names)?),
            Origin::Any | Origin::Entry => None,
        };
        let played = desc.exit.is_some() || desc.synced || desc.fade_s != 0.0;
        let played = played || desc.inertial_s != 0.0;
        if desc.from == Origin::Entry && played {
            let why = "a transition from the entry cannot have an exit time, a fade or `synced`";
            return Err(Fault::new(at, "from", DescFault::Invalid(why)));
        }
        if desc.start.is_some() && desc.synced {
            let why = "cannot be combined with `synced`";
            return Err(Fault::new(at, "start", DescFault::Invalid(why)));
        }
        check_not_negative(at, "exit", desc.exit.unwrap_or(0.0))?;
        let (fade_s, inertial_s) = (desc.fade_s, desc.inertial_s);
        for (field, duration_s) in [("fade_s", fade_s), ("inertial_s", inertial_s)] {
            let ok = (0.0..=StateMachine::MAX_FADE_S).contains(&duration_s);
            check_value(at, field, duration_s, ok, "0 to 3600 seconds")?;
        }
        if inertial_s > 0.0 && fade_s > 0.0 {
            let why = "cannot be combined with `fade_s`";
            return Err(Fault::new(at, "inertial_s", DescFault::Invalid(why)));
        }
        check_start(at, desc.start.unwrap_or(0.0))?;
        let (count, cap) = (desc.when.len(), StateMachine::MAX_CONDITIONS);
        check_cap(at, "conditions", count, cap)?;
        let when = desc.when.iter().enumerate();
        let when =
            when.map(|(number, condition)| self.asked(at, &format!("when[{number}]"), condition));
        Ok(Transition {
            from,
            to: find(at, "to", "state", &desc.to, names)?,
            when: when.collect::<Checked<_>>()?,
            exit: desc.exit.map(f64::from),
            fade_s: fade_s.into(),
            inertial_s: inertial_s.into(),
            ease: desc.ease,
            synced: desc.synced,
            start: desc.start.map(f64::from),
            interruption: desc.interruption,
            ordered: desc.ordered,
            to_self: desc.to_self,
        })
    }

    fn asked(&self, at: At, field: &str, condition: &Condition) -> Checked<Asked> {
        let name = &condition.parameter;
        let index = self.parameter(at, field, name)?;
        let declared = self.desc.parameters[usize::from(index)].kind;
        let test = match (declared, condition.test) {
            (ParameterKind::Bool { .. }, Test::True) => Compare::Bool(true),
            (ParameterKind::Bool { .. }, Test::False) => Compare::Bool(false),
            (ParameterKind::Trigger, Test::True) => Compare::Trigger,
            (ParameterKind::Trigger, Test::False) => {
                return Err(kind(at, field, name, declared, "bool"));
            }
            (_, Test::True | Test::False) => {
                return Err(kind(at, field, name, declared, "bool or trigger"));
            }
            (ParameterKind::Float { .. }, test) => {
                let (order, number) = ordered(test);
                let as_float = number as f32;
                finite(at, field, as_float)?;
                Compare::Float(order, as_float)
            }
            (ParameterKind::Int { .. }, test) => {
                let (order, value) = ordered(test);
                let whole = value as i32;
                if f64::from(whole) != value {
                    let allowed = "a whole number of 32 bits";
                    let why = DescFault::Value { value, allowed };
                    return Err(Fault::new(at, field, why));
                }
                Compare::Int(order, whole)
            }
            _ => return Err(kind(at, field, name, declared, "float or int")),
        };
        Ok(Asked {
            parameter: index,
            test,
        })
    }
}

/// Splits a test into its comparison and its number.
fn ordered(test: Test) -> (Order, f64) {
    match test {
        Test::Greater(x) => (Order::Greater, x),
        Test::GreaterEqual(x) => (Order::GreaterEqual, x),
        Test::Less(x) => (Order::Less, x),
        Test::LessEqual(x) => (Order::LessEqual, x),
        Test::Equal(x) => (Order::Equal, x),
        Test::NotEqual(x) => (Order::NotEqual, x),
        Test::True | Test::False => (Order::Equal, f64::NAN),
    }
}

fn kind(at: At, field: &str, parameter: &str, is: ParameterKind, need: &'static str) -> Fault {
    let why = DescFault::Kind {
        parameter: cut(parameter),
        is: is.name(),
        need,
    };
    Fault::new(at, field, why)
}
