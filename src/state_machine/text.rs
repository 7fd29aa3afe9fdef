//! The form of state machines in text: TOML, serde, and the state machine of a saved character.

use super::condition::Condition;
use super::desc::{
    BlendPointDesc, Interruption, LayerDesc, MaskBranchDesc, MaskDesc, MotionDesc, Origin,
    ParameterDesc, ParameterKind, StateDesc, StateMachineDesc, TransitionDesc,
};
use crate::error::cut;
use crate::motion::{Ease, LoopMode};
use crate::text::{
    Kind, Read, ReadFault, Step, Tree, Value, Write, text_enums, text_serde, text_structs,
};

text_structs! {
    StateMachineDesc {
        parameters as "parameter" = Vec::new(),
        masks as "mask" = Vec::new(),
        layers as "layer" = Vec::new(),
    }
    MaskDesc { name, branches }
    MaskBranchDesc { joint, weight = 1.0, feather = 0 }
    LayerDesc {
        name,
        entry,
        mask,
        weight = 1.0,
        weight_parameter,
        additive = false,
        states as "state" = Vec::new(),
        transitions as "transition" = Vec::new(),
    }
    StateDesc {
        name,
        tag,
        speed = 1.0,
        speed_parameter,
        ground_speed,
        speed_limits,
        loop_mode = LoopMode::Loop,
        start = 0.0,
        motion = MotionDesc::None,
    }
    BlendPointDesc<f32> { at, clip }
    BlendPointDesc<[f32; 2]> { at, clip }
    TransitionDesc {
        from,
        to,
        when = Vec::new(),
        exit,
        fade_s = 0.0,
        inertial_s = 0.0,
        ease = Ease::Smooth,
        synced = false,
        start,
        interruption = Interruption::None,
        ordered = true,
        to_self = false,
    }
}

text_enums! {
    LoopMode { Loop "loop", Once "once", PingPong "ping_pong" }
    Ease { Linear "linear", Smooth "smooth" }
    Interruption {
        None "none",
        Source "source",
        Target "target",
        SourceThenTarget "source_then_target",
        TargetThenSource "target_then_source",
    }
}

text_serde!(Interruption, ParameterDesc, MotionDesc, Origin, Condition);

impl Read for ParameterDesc {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let from = from.only(&["name", "kind", "default", "min", "max"])?;
        let index = from
            .needed("kind")?
            .choice(&["float", "int", "bool", "trigger"])?;
        let without = |fields: &[&str], what: &str| {
            let given = fields.iter().find_map(|field| from.get(field));
            given.map_or(Ok(()), |given| Err(given.fault(what)))
        };
        Ok(Self {
            name: from.required("name")?,
            kind: match index {
                0 => ParameterKind::Float {
                    default: from.or("default", 0.0)?,
                    min: from.required("min")?,
                    max: from.required("max")?,
                },
                1 => ParameterKind::Int {
                    default: from.or("default", 0)?,
                    min: from.required("min")?,
                    max: from.required("max")?,
                },
                2 => {
                    without(&["min", "max"], "a bool parameter must not have a range")?;
                    let default = from.or("default", false)?;
                    ParameterKind::Bool { default }
                }
                _ => {
                    let what = "a trigger parameter must not have a default or a range";
                    without(&["default", "min", "max"], what)?;
                    ParameterKind::Trigger
                }
            },
        })
    }
}

impl Write for ParameterDesc {
    fn write(&self, to: &mut Tree<'static>) {
        to.map_of(|to| {
            to.field("name", &self.name);
            let kind = |kind: &str, to: &mut Tree<'static>| to.field("kind", &kind.to_owned());
            match &self.kind {
                ParameterKind::Float { default, min, max } => {
                    kind("float", to);
                    to.field("default", default);
                    to.field("min", min);
                    to.field("max", max);
                }
                ParameterKind::Int { default, min, max } => {
                    kind("int", to);
                    to.field("default", default);
                    to.field("min", min);
                    to.field("max", max);
                }
                ParameterKind::Bool { default } => {
                    kind("bool", to);
                    to.field("default", default);
                }
                ParameterKind::Trigger => kind("trigger", to),
            }
        });
    }
}

const MOTIONS: [&str; 5] = ["none", "clip", "blend_1d", "blend_2d", "blend_space"];

impl Read for MotionDesc {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let (name, value) = from.variant(&MOTIONS)?;
        Ok(match (name, value) {
            ("none", None) => Self::None,
            ("clip", Some(clip)) => Self::Clip(String::read(clip)?),
            ("blend_1d", Some(blend)) => {
                let blend = blend.only(&["parameter", "points"])?;
                Self::Blend1 {
                    parameter: blend.required("parameter")?,
                    points: blend.required("points")?,
                }
            }
            ("blend_2d", Some(blend)) => {
                let blend = blend.only(&["parameters", "points"])?;
                Self::Blend2 {
                    parameters: blend.required("parameters")?,
                    points: blend.required("points")?,
                }
            }
            ("blend_space", Some(blend)) => {
                let blend = blend.only(&["name", "parameters"])?;
                Self::BlendSpace {
                    name: blend.required("name")?,
                    parameters: blend.required("parameters")?,
                }
            }
            _ => return Err(from.expected("\"none\", or a motion with its fields")),
        })
    }
}

impl Write for MotionDesc {
    fn write(&self, to: &mut Tree<'static>) {
        match self {
            Self::None => to.add(0, Kind::Text, "none"),
            Self::Clip(clip) => to.map_of(|to| to.field("clip", clip)),
            Self::Blend1 { parameter, points } => to.variant("blend_1d", |to| {
                to.field("parameter", parameter);
                to.field("points", points);
            }),
            Self::Blend2 { parameters, points } => to.variant("blend_2d", |to| {
                to.field("parameters", parameters);
                to.field("points", points);
            }),
            Self::BlendSpace { name, parameters } => to.variant("blend_space", |to| {
                to.field("name", name);
                to.field("parameters", parameters);
            }),
        }
    }
}

impl Read for Origin {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        String::read(from).map(Into::into)
    }
}

impl Write for Origin {
    fn write(&self, to: &mut Tree<'static>) {
        to.add(0, Kind::Text, self.name());
    }
}

impl Read for Condition {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let Some(text) = from.text() else {
            return Err(from.expected("a condition such as \"speed > 0.1\""));
        };
        text.parse()
            .map_err(|why: crate::error::Error| from.fault(why.to_string()))
    }
}

impl Write for Condition {
    fn write(&self, to: &mut Tree<'static>) {
        to.add(0, Kind::Text, &self.to_string());
    }
}

/// The part of a state machine at a path, and the number of steps that lead to it.
pub(crate) fn part_of(root: Value<'_>, path: &[Step<'_>]) -> (String, usize) {
    let Some((list, index)) = list_element(path) else {
        return ("state machine".into(), 0);
    };
    let value = root.get(list).and_then(|list| list.items().nth(index));
    let text = |value: Option<Value<'_>>, key| {
        let text = value.and_then(|value| value.get(key)?.text());
        cut(text.unwrap_or_default())
    };
    let name = text(value, "name");
    match (list, list_element(&path[2..])) {
        ("layer", Some((list @ ("state" | "transition"), index))) => {
            let value = value.and_then(|layer| layer.get(list)?.items().nth(index));
            let names = match list {
                "state" => text(value, "name"),
                _ => format!("{}\" → \"{}", text(value, "from"), text(value, "to")).into(),
            };
            (format!("layer \"{name}\", {list} {index} \"{names}\""), 4)
        }
        ("parameter" | "mask" | "layer", _) => (format!("{list} {index} \"{name}\""), 2),
        _ => ("state machine".into(), 0),
    }
}

/// The list and the index with which a path begins.
pub(crate) fn list_element<'p>(path: &'p [Step<'_>]) -> Option<(&'p str, usize)> {
    match path {
        [Step::Key(list), Step::Index(index), ..] => Some((list, *index)),
        _ => None,
    }
}
