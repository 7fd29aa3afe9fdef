//! The text form of state machines, in TOML.

use super::desc::StateMachineDesc;
use super::fault::Fault;
use super::lines::Lines;
use super::machine::{StateMachine, StateMachineClip};
use crate::error::{DescError, DescFault, DescPart, Error, Result, cut};
use crate::motion::BlendSpace;
use crate::skeleton::Skeleton;
use crate::text::{Format, LFS_POINTER, is_lfs_pointer, plain};

/// A state machine read from text, with the line numbers for errors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StateMachineText {
    file: Box<str>,
    desc: StateMachineDesc,
    lines: Lines,
}

impl StateMachineText {
    /// Parses `text`. Errors use `file` as the file name.
    ///
    /// # Errors
    /// As [`StateMachineDesc::from_toml`].
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self> {
        if text.len() > StateMachineDesc::MAX_TOML_BYTES {
            return Err(DescError {
                file: file.into(),
                line: None,
                part: DescPart::StateMachine,
                field: Box::default(),
                why: DescFault::Cap {
                    what: "bytes",
                    asked: text.len(),
                    cap: StateMachineDesc::MAX_TOML_BYTES,
                },
            }
            .into_error());
        }
        if is_lfs_pointer(text.as_bytes()) {
            return Err(DescError {
                file: file.into(),
                line: None,
                part: DescPart::StateMachine,
                field: Box::default(),
                why: DescFault::Invalid(LFS_POINTER),
            }
            .into_error());
        }
        let lines = Lines::of(text);
        match toml::from_str(text) {
            Ok(desc) => Ok(Self {
                file: file.into(),
                desc,
                lines,
            }),
            Err(error) => {
                let start = error.span().map(|span| span.start);
                let found = start.and_then(|at| lines.places.part_at(at));
                let (at, field) = found.map_or_else(Default::default, |(at, field, _)| (at, field));
                Err(DescError {
                    file: file.into(),
                    line: start.map(|at| lines.places.line_of(at)),
                    part: lines.part(at),
                    field: field.into(),
                    why: DescFault::Text(cut(&plain(error.message(), Format::Toml))),
                }
                .into_error())
            }
        }
    }

    /// Wraps a state machine that is part of a larger text and whose lines are known.
    pub(crate) fn inside(file: &str, desc: &StateMachineDesc, lines: Lines) -> Self {
        Self {
            file: file.into(),
            desc: desc.clone(),
            lines,
        }
    }

    /// Adds masks that are defined elsewhere and are known to fit.
    pub(crate) fn add_masks(&mut self, masks: Vec<super::desc::MaskDesc>) {
        self.desc.masks.extend(masks);
    }

    /// The parsed description.
    pub(crate) fn desc(&self) -> &StateMachineDesc {
        &self.desc
    }

    /// [`StateMachine::new`] with blend spaces, whose clips are indices into `clips`.
    ///
    /// Errors name the file and the line.
    ///
    /// # Errors
    /// As [`StateMachine::new`].
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
        let error = DescError {
            line: self.lines.places.line(fault.at, &fault.field),
            file: self.file.clone(),
            ..fault.named(&self.desc)
        };
        error.into_error()
    }
}

impl StateMachineDesc {
    /// The largest size of the text form, in bytes.
    pub const MAX_TOML_BYTES: usize = 1 << 20;

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
        Ok(StateMachineText::parse(file, text)?.desc)
    }

    /// The text form, which [`Self::from_toml`] reads back as the same data.
    ///
    /// # Errors
    /// [`Error::Description`] for data that has no text form, such as a condition on a parameter
    /// with white space in its name. [`StateMachine::of`] rejects all such data.
    #[cfg_attr(docsrs, doc(cfg(feature = "toml")))]
    pub fn to_toml(&self) -> Result<String> {
        let fault = |why: &dyn core::fmt::Display| -> Error {
            DescError {
                file: Box::default(),
                line: None,
                part: DescPart::StateMachine,
                field: Box::default(),
                why: DescFault::Text(cut(&why.to_string())),
            }
            .into_error()
        };
        let text = toml::to_string(self).map_err(|why| fault(&why))?;
        if Self::from_toml("", &text)? == *self {
            Ok(text)
        } else {
            Err(fault(&"the text would read back as different data"))
        }
    }
}
