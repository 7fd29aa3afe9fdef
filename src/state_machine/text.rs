//! The text form of state machines, in TOML.

use super::desc::StateMachineDesc;
use super::fault::Fault;
use super::lines::Lines;
use super::machine::{StateMachine, StateMachineClip};
use crate::error::{DescError, DescFault, DescPart, Error, Result, cut};
use crate::motion::BlendSpace;
use crate::skeleton::Skeleton;

/// A state machine read from text, with the line numbers for errors.
///
/// ```
/// use throng::state_machine::StateMachineText;
///
/// let text = r#"
/// parameter = [{ name = "speed", kind = "float", min = 0.0 }]
///
/// [[layer]]
/// name = "body"
/// entry = "stand"
/// state = [
///     { name = "stand", motion = { clip = "Idle" } },
///     { name = "go", motion = { clip = "Walk" } },
/// ]
/// transition = [
///     { from = "stand", to = "go", when = ["speed > 0.1"], fade_s = 0.25 },
///     { from = "go", to = "stnad", when = ["speed <= 0.1"], fade_s = 0.25 },
/// ]
/// "#;
/// let character = throng::builtin::mannequin()?.character;
/// let error = StateMachineText::parse("hero.toml", text)?.build(&character).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "hero.toml:13: layer \"body\", transition 1 \"go\" → \"stnad\", to: \
///      state \"stnad\" does not exist: there are stand, go"
/// );
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StateMachineText {
    file: Box<str>,
    desc: StateMachineDesc,
    lines: Lines,
}

impl StateMachineText {
    /// The largest size of the text, in bytes.
    pub const MAX_BYTES: usize = 1 << 20;

    /// Parses `text`. Errors use `file` as the file name.
    ///
    /// # Errors
    /// [`Error::Description`] in these cases:
    ///
    /// - The text is not TOML, or does not have the form of a state machine. The error names the
    ///   line, and the part of the state machine if it is known.
    /// - The text is longer than [`Self::MAX_BYTES`].
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        if text.len() > Self::MAX_BYTES {
            return Err(DescError {
                file: file.into(),
                line: None,
                part: DescPart::StateMachine,
                field: Box::default(),
                why: DescFault::Cap {
                    what: "bytes",
                    asked: text.len(),
                    cap: Self::MAX_BYTES,
                },
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
                    why: DescFault::Text(cut(error.message())),
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
    #[must_use]
    pub fn desc(&self) -> &StateMachineDesc {
        &self.desc
    }

    /// [`StateMachine::new`], with errors that name the file and the line.
    ///
    /// # Errors
    /// As [`StateMachine::new`].
    #[doc(hidden)]
    pub fn build_with(
        &self,
        skeleton: &Skeleton,
        clips: &[StateMachineClip<'_>],
    ) -> Result<StateMachine> {
        self.build_for(skeleton, clips, &[])
    }

    /// [`Self::build_with`] with blend spaces, whose clips are indices into `clips`.
    ///
    /// # Errors
    /// As [`StateMachine::new`].
    pub(crate) fn build_for(
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
    /// The text form, which [`StateMachineText::parse`] reads back as the same data.
    ///
    /// # Errors
    /// [`Error::Description`] for data that has no text form, such as a condition on a parameter
    /// with white space in its name. [`StateMachine::of`] rejects all such data.
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
        let back = StateMachineText::parse("", &text)?;
        if back.desc == *self {
            Ok(text)
        } else {
            Err(fault(&"the text would read back as different data"))
        }
    }
}
