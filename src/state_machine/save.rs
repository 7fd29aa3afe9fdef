//! Binary serialisation of a state machine's plain data.

use super::condition::{Condition, Test};
use super::desc::{
    BlendPointDesc, LayerDesc, MaskDesc, MaskPartDesc, MotionDesc, ParameterDesc, ParameterKind,
    StateDesc, StateMachineDesc,
};
use super::desc_transition::{Interruption, Origin, TransitionDesc};
use crate::bytes::{Reader, Save, invalid, save_enums, save_structs};
use crate::error::Result;
use crate::motion::{Ease, LoopMode};

save_structs! {
    StateMachineDesc { parameters, masks, layers }
    ParameterDesc { name, kind }
    MaskDesc { name, parts }
    MaskPartDesc { joint, weight, feather }
    LayerDesc { name, entry, mask, weight, weight_parameter, additive, states, transitions }
    StateDesc { name, tag, speed, speed_parameter, loop_mode, start, motion }
    BlendPointDesc<f32> { at, clip }
    BlendPointDesc<[f32; 2]> { at, clip }
    TransitionDesc {
        from, to, when, exit, fade_s, inertial_s, ease, synced, start, interruption, ordered,
        to_self,
    }
    Condition { parameter, test }
}

save_enums! {
    LoopMode, "loop mode": 0 => Loop, 1 => Once, 2 => PingPong;
    Ease, "ease": 0 => Linear, 1 => Smooth;
    Interruption, "interruption":
        0 => None, 1 => Source, 2 => Target, 3 => SourceThenTarget, 4 => TargetThenSource;
}

impl Save for ParameterKind {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Self::Float { default, min, max } => {
                (0_u8, *default).save(to);
                (*min, *max).save(to);
            }
            Self::Int { default, min, max } => {
                (1_u8, *default).save(to);
                (*min, *max).save(to);
            }
            Self::Bool { default } => (2_u8, *default).save(to),
            Self::Trigger => 3_u8.save(to),
        }
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match u8::load(from)? {
            0 => Self::Float {
                default: Save::load(from)?,
                min: Save::load(from)?,
                max: Save::load(from)?,
            },
            1 => Self::Int {
                default: Save::load(from)?,
                min: Save::load(from)?,
                max: Save::load(from)?,
            },
            2 => Self::Bool {
                default: Save::load(from)?,
            },
            3 => Self::Trigger,
            _ => return Err(invalid("parameter", "has an unknown kind")),
        })
    }
}

impl Save for MotionDesc {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Self::None => 0_u8.save(to),
            Self::Clip(clip) => {
                1_u8.save(to);
                clip.save(to);
            }
            Self::Blend1 { parameter, points } => {
                2_u8.save(to);
                parameter.save(to);
                points.save(to);
            }
            Self::Blend2 { parameters, points } => {
                3_u8.save(to);
                parameters.save(to);
                points.save(to);
            }
            Self::BlendSpace { name, parameters } => {
                4_u8.save(to);
                name.save(to);
                parameters.save(to);
            }
        }
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match u8::load(from)? {
            0 => Self::None,
            1 => Self::Clip(Save::load(from)?),
            2 => Self::Blend1 {
                parameter: Save::load(from)?,
                points: Save::load(from)?,
            },
            3 => Self::Blend2 {
                parameters: Save::load(from)?,
                points: Save::load(from)?,
            },
            4 => Self::BlendSpace {
                name: Save::load(from)?,
                parameters: Save::load(from)?,
            },
            _ => return Err(invalid("motion", "has an unknown kind")),
        })
    }
}

impl Save for Origin {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Self::State(name) => {
                0_u8.save(to);
                name.save(to);
            }
            Self::Any => 1_u8.save(to),
            Self::Entry => 2_u8.save(to),
        }
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match u8::load(from)? {
            0 => Self::State(Save::load(from)?),
            1 => Self::Any,
            2 => Self::Entry,
            _ => return Err(invalid("transition", "has an unknown origin")),
        })
    }
}

impl Save for Test {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Self::Greater(than) => (0_u8, *than).save(to),
            Self::GreaterEqual(than) => (1_u8, *than).save(to),
            Self::Less(than) => (2_u8, *than).save(to),
            Self::LessEqual(than) => (3_u8, *than).save(to),
            Self::Equal(to_this) => (4_u8, *to_this).save(to),
            Self::NotEqual(to_this) => (5_u8, *to_this).save(to),
            Self::True => 6_u8.save(to),
            Self::False => 7_u8.save(to),
        }
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match u8::load(from)? {
            0 => Self::Greater(Save::load(from)?),
            1 => Self::GreaterEqual(Save::load(from)?),
            2 => Self::Less(Save::load(from)?),
            3 => Self::LessEqual(Save::load(from)?),
            4 => Self::Equal(Save::load(from)?),
            5 => Self::NotEqual(Save::load(from)?),
            6 => Self::True,
            7 => Self::False,
            _ => return Err(invalid("condition", "has an unknown kind")),
        })
    }
}
