//! The parts of a description that errors name, and the form of descriptions in text.

use super::desc::{
    AdditiveDesc, AnimationDesc, BlendAt, BlendSpaceDesc, ClipDesc, EventDesc, Gait, PoseReference,
    RootMotionDesc, SocketDesc,
};
use crate::error::cut;
use crate::state_machine::{BlendPointDesc, list_element, part_of as part_of_machine};
use crate::text::{Kind, Read, ReadFault, Step, Tree, Value, Write, text_serde, text_structs};
use std::collections::BTreeMap;

/// The part of a description at a path, and the number of steps that lead to it.
pub(super) fn part_of(root: Value<'_>, path: &[Step<'_>]) -> (String, usize) {
    if let [Step::Key(key), inner @ ..] = path
        && *key == "state_machine"
        && let Some(machine) = root.get(key)
        && let (part, steps @ 1..) = part_of_machine(machine, inner)
    {
        return (part, steps + 1);
    }
    let element = list_element(path);
    let part = element.and_then(|(list, index)| {
        let value = root.get(list)?.items().nth(index)?;
        let name = |key| value.get(key).and_then(Value::text);
        let name = cut(name("name").or_else(|| name("clip")).unwrap_or_default());
        let kind = match list {
            "mask" | "clip" | "socket" => list,
            "additive" => "additive clip",
            "blend_space" => "blend space",
            _ => return None,
        };
        Some((format!("{kind} {index} \"{name}\""), 2))
    });
    part.unwrap_or(("animation".into(), 0))
}

text_structs! {
    AnimationDesc {
        state_machine_file,
        humanoid = BTreeMap::new(),
        gait_motion = false,
        masks as "mask" = Vec::new(),
        clips as "clip" = Vec::new(),
        additive = Vec::new(),
        blend_spaces as "blend_space" = Vec::new(),
        sockets as "socket" = Vec::new(),
        state_machine,
    }
    ClipDesc { name, events = Vec::new(), root_motion, gait }
    EventDesc { name, time_s }
    RootMotionDesc {
        joint,
        axes = "xz".to_owned(),
        yaw = true,
        reference = PoseReference::Start,
        error_m,
    }
    AdditiveDesc { name, clip, reference = PoseReference::Start }
    BlendSpaceDesc { name, points, ground_speed = false, speed_limits }
    BlendPointDesc<BlendAt> { at, clip }
    SocketDesc {
        name,
        joint,
        translation = [0.0; 3],
        rotation = [0.0, 0.0, 0.0, 1.0],
        scale = 1.0,
    }
    Gait { speed_m_s, heading_rad = 0.0 }
}

text_serde!(PoseReference, BlendAt);

impl Read for PoseReference {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        match from.variant(&["rest", "start", "frame"])? {
            ("rest", None) => Ok(Self::Rest),
            ("start", None) => Ok(Self::Start),
            ("frame", Some(frame)) => {
                let frame = frame.only(&["clip", "time_s"])?;
                Ok(Self::Frame {
                    clip: frame.required("clip")?,
                    time_s: frame.required("time_s")?,
                })
            }
            _ => Err(from.expected("\"rest\", \"start\", or a frame with a clip and a time")),
        }
    }
}

impl Write for PoseReference {
    fn write(&self, to: &mut Tree<'static>) {
        match self {
            Self::Rest => to.add(0, Kind::Text, "rest"),
            Self::Start => to.add(0, Kind::Text, "start"),
            Self::Frame { clip, time_s } => to.variant("frame", |to| {
                to.field("clip", clip);
                to.field("time_s", time_s);
            }),
        }
    }
}

impl Read for BlendAt {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        match from.kind() {
            Kind::Number => f32::read(from).map(Self::Line),
            Kind::List => Read::read(from).map(Self::Plane),
            _ => Err(from.expected("a number, or an array of two numbers")),
        }
    }
}

impl Write for BlendAt {
    fn write(&self, to: &mut Tree<'static>) {
        match self {
            Self::Line(x) => x.write(to),
            Self::Plane(at) => at.write(to),
        }
    }
}
