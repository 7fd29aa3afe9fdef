//! State machines as TOML.

use super::desc::{MaskDesc, StateMachineDesc};
use super::machine::{StateMachine, StateMachineClip};
use super::text::part_of;
use crate::error::{Error, Result};
use crate::motion::BlendSpace;
use crate::skeleton::Skeleton;
use crate::text::{DescText, Fault, MAX_TOML_BYTES, path_text, to_toml};

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
        let line = self.line(&path_text(&fault.at.path()), &fault.field);
        fault.into_error(&self.desc, part_of, (self.file.clone(), line))
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
    /// with white space in its name.
    /// [`Character::with_animation`](crate::character::Character::with_animation) rejects all such
    /// data.
    #[cfg_attr(docsrs, doc(cfg(feature = "toml")))]
    pub fn to_toml(&self) -> Result<String> {
        to_toml(self, "state machine", part_of)
    }
}
