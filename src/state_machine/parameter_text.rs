//! The serde form of parameters: one table for all kinds.

use super::desc::{ParameterDesc, ParameterKind};
use core::fmt;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterText {
    name: String,
    kind: KindText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    default: Option<ValueText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min: Option<ValueText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max: Option<ValueText>,
}

#[derive(serde::Serialize, serde::Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum KindText {
    Float,
    Int,
    Bool,
    Trigger,
}

#[derive(serde::Serialize, serde::Deserialize, Clone, Copy)]
#[serde(untagged, expecting = "must be a number of 32 bits, true or false")]
enum ValueText {
    Bool(bool),
    Int(i32),
    Float(f32),
}

fn float(value: ValueText) -> Result<f32, &'static str> {
    match value {
        ValueText::Float(value) => Ok(value),
        ValueText::Int(value) => Ok(value as f32),
        ValueText::Bool(_) => Err("a float parameter must have numbers as values"),
    }
}

fn int(value: ValueText) -> Result<i32, &'static str> {
    match value {
        ValueText::Int(value) => Ok(value),
        _ => Err("an int parameter must have whole numbers of 32 bits as values"),
    }
}

impl TryFrom<ParameterText> for ParameterDesc {
    type Error = &'static str;

    fn try_from(text: ParameterText) -> Result<Self, &'static str> {
        let (min, max) = (text.min, text.max);
        let kind = match text.kind {
            KindText::Float => ParameterKind::Float {
                default: text.default.map_or(Ok(0.0), float)?,
                min: min.map(float).transpose()?,
                max: max.map(float).transpose()?,
            },
            KindText::Int => ParameterKind::Int {
                default: text.default.map_or(Ok(0), int)?,
                min: min.map(int).transpose()?,
                max: max.map(int).transpose()?,
            },
            KindText::Bool => match (text.default, min, max) {
                (None, None, None) => ParameterKind::Bool { default: false },
                (Some(ValueText::Bool(default)), None, None) => ParameterKind::Bool { default },
                _ => {
                    return Err(
                        "a bool parameter must have true or false as default, and no range",
                    );
                }
            },
            KindText::Trigger => match (text.default, min, max) {
                (None, None, None) => ParameterKind::Trigger,
                _ => return Err("a trigger parameter must not have a default or a range"),
            },
        };
        Ok(Self {
            name: text.name,
            kind,
        })
    }
}

impl From<ParameterDesc> for ParameterText {
    fn from(desc: ParameterDesc) -> Self {
        let (kind, default, min, max) = match desc.kind {
            ParameterKind::Float { default, min, max } => (
                KindText::Float,
                Some(ValueText::Float(default)),
                min.map(ValueText::Float),
                max.map(ValueText::Float),
            ),
            ParameterKind::Int { default, min, max } => (
                KindText::Int,
                Some(ValueText::Int(default)),
                min.map(ValueText::Int),
                max.map(ValueText::Int),
            ),
            ParameterKind::Bool { default } => {
                (KindText::Bool, Some(ValueText::Bool(default)), None, None)
            }
            ParameterKind::Trigger => (KindText::Trigger, None, None, None),
        };
        Self {
            name: desc.name,
            kind,
            default,
            min,
            max,
        }
    }
}

impl Serialize for ParameterDesc {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ParameterText::from(self.clone()).serialize(serializer)
    }
}

/// Written by hand so that an error points inside the table.
impl<'de> Deserialize<'de> for ParameterDesc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Table;
        impl<'de> Visitor<'de> for Table {
            type Value = ParameterDesc;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a parameter")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ParameterDesc, A::Error> {
                let text = ParameterText::deserialize(MapAccessDeserializer::new(map))?;
                text.try_into().map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_map(Table)
    }
}
