//! State machines as TOML.

use super::desc::{MaskDesc, StateMachineDesc};
use super::fault::{At, Fault};
use super::machine::{StateMachine, StateMachineClip};
use crate::error::{DescError, DescFault, DescPart, Error, Result, cut};
use crate::motion::BlendSpace;
use crate::skeleton::Skeleton;
use crate::text::{DescText, MAX_TOML_BYTES, Step, Tree, Value, to_toml};

/// A state machine read from text, with the line numbers for errors.
pub(crate) type StateMachineText = DescText<StateMachineDesc>;

impl StateMachineText {
    /// Reads `text`. Errors use `file` as the file name.
    pub(crate) fn of(file: &str, text: &str) -> Result<Self> {
        Self::parse(file, text, part_of)
    }

    /// Adds masks that are defined elsewhere and are known to fit.
    pub(crate) fn add_masks(&mut self, masks: Vec<MaskDesc>) {
        self.desc.masks.extend(masks);
    }

    /// [`StateMachine::new`] with blend spaces, whose clips are indices into `clips`.
    ///
    /// Errors name the file and the line.
    pub(crate) fn build(
        &self,
        skeleton: &Skeleton,
        clips: &[StateMachineClip<'_>],
        spaces: &[BlendSpace],
    ) -> Result<StateMachine> {
        let built = super::build::build(&self.desc, skeleton, clips, spaces);
        built.map_err(|fault| self.error(fault))
    }

    fn error(&self, fault: Fault) -> Error {
        let part = match fault.at {
            At::Whole => String::new(),
            At::Parameter(index) => format!("parameter[{index}]"),
            At::Mask(index) => format!("mask[{index}]"),
            At::Layer(index) => format!("layer[{index}]"),
            At::State(layer, index) => format!("layer[{layer}].state[{index}]"),
            At::Transition(layer, index) => format!("layer[{layer}].transition[{index}]"),
        };
        let error = DescError {
            line: self.line(&part, &fault.field),
            file: self.file.clone(),
            ..fault.named(&self.desc)
        };
        error.into_error()
    }
}

/// The part of a state machine at a path, and the number of steps that lead to it.
pub(crate) fn part_of(root: Value<'_>, path: &[Step<'_>]) -> (DescPart, usize) {
    let Some((list, index)) = list_element(path) else {
        return (DescPart::StateMachine, 0);
    };
    let value = root.get(list).and_then(|list| list.items().nth(index));
    let text = |value: Option<Value<'_>>, key| {
        let text = value.and_then(|value| value.get(key)?.text());
        cut(text.unwrap_or_default())
    };
    let name = text(value, "name");
    match (list, list_element(&path[2..])) {
        ("parameter", _) => (DescPart::Parameter { index, name }, 2),
        ("mask", _) => (DescPart::Mask { index, name }, 2),
        ("layer", Some((list @ ("state" | "transition"), index))) => {
            let (layer, list_value) = (name, value.and_then(|layer| layer.get(list)));
            let value = list_value.and_then(|list| list.items().nth(index));
            let name = text(value, "name");
            let part = match list {
                "state" => DescPart::State { layer, index, name },
                _ => DescPart::Transition {
                    layer,
                    index,
                    from: text(value, "from"),
                    to: text(value, "to"),
                },
            };
            (part, 4)
        }
        ("layer", _) => (DescPart::Layer { index, name }, 2),
        _ => (DescPart::StateMachine, 0),
    }
}

/// The list and the index with which a path begins.
pub(crate) fn list_element<'p>(path: &'p [Step<'_>]) -> Option<(&'p str, usize)> {
    match path {
        [Step::Key(list), Step::Index(index), ..] => Some((list, *index)),
        _ => None,
    }
}

impl StateMachineDesc {
    /// The largest size of the text form, in bytes.
    pub const MAX_TOML_BYTES: usize = MAX_TOML_BYTES;

    /// Reads the text form. Errors use `file` as the file name.
    ///
    /// [`StateMachine::from_toml`] also validates the state machine, with errors that name lines.
    ///
    /// # Errors
    /// [`Error::Description`] in these cases:
    ///
    /// - The text is not TOML, or does not have the form of a state machine. The error names the
    ///   line, and the part of the state machine if it is known.
    /// - The text is longer than [`Self::MAX_TOML_BYTES`].
    #[cfg_attr(docsrs, doc(cfg(feature = "toml")))]
    pub fn from_toml(file: &str, text: &str) -> Result<Self> {
        Ok(StateMachineText::of(file, text)?.desc)
    }

    /// The text form, which [`Self::from_toml`] reads back as the same data.
    ///
    /// # Errors
    /// [`Error::Description`] for data that has no text form, such as a condition on a parameter
    /// with white space in its name. [`StateMachine::of`] rejects all such data.
    #[cfg_attr(docsrs, doc(cfg(feature = "toml")))]
    pub fn to_toml(&self) -> Result<String> {
        let text = to_toml(Tree::of(self).root());
        if Self::from_toml("", &text)? == *self {
            return Ok(text);
        }
        let error = DescError {
            file: Box::default(),
            line: None,
            part: DescPart::StateMachine,
            field: Box::default(),
            why: DescFault::Invalid("the text would read back as different data"),
        };
        Err(error.into_error())
    }
}
