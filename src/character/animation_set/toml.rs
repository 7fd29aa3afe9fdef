//! Descriptions as TOML.

use super::desc::AnimationDesc;
use super::text::part_of;
use crate::error::{DescFault, Error, Result};
use crate::state_machine::StateMachineDesc;
use crate::text::{DescText, to_toml};

/// A description of a character's animation, read from text, with the line numbers for errors.
pub(crate) type AnimationText = DescText<AnimationDesc>;

impl AnimationText {
    /// Reads `text`. Errors name `file`.
    pub(crate) fn of(file: &str, text: &str) -> Result<Self> {
        Self::parse(file, text, part_of)
    }

    pub(crate) fn decode(file: &str, bytes: &[u8]) -> Result<Self> {
        match core::str::from_utf8(bytes) {
            Ok(text) => Self::of(file, text),
            Err(why) => {
                let before = bytes.get(..why.valid_up_to()).unwrap_or_default();
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                let place = (file.into(), u32::try_from(line).ok());
                let why = DescFault::Invalid("is not UTF-8");
                Err(Error::description(place, "animation", "", why))
            }
        }
    }

    pub(crate) fn machine(&self, desc: &StateMachineDesc) -> DescText<StateMachineDesc> {
        self.inner(desc.clone(), "state_machine")
    }
}

impl AnimationDesc {
    /// Reads the text form. Errors use `file` as the file name.
    ///
    /// An import of a file reads the text beside it automatically. Use this function in tools, and
    /// for text from elsewhere.
    ///
    /// ```
    /// use throng::character::AnimationDesc;
    ///
    /// let text = "[[clip]]\nname = 'Walk'\nevents = [{ name = 'step', time = 0.1 }]";
    /// let error = AnimationDesc::from_toml("knight.toml", text).unwrap_err();
    /// let start = "knight.toml:3: clip 0 \"Walk\", events[0].time: unknown field";
    /// assert!(error.to_string().starts_with(start));
    /// ```
    ///
    /// # Errors
    /// [`Error::Description`](crate::Error::Description) for text that is not TOML or does not have
    /// the form of a description, with the line and, if known, the part. Also for text longer than
    /// [`StateMachineDesc::MAX_TOML_BYTES`].
    #[cfg_attr(docsrs, doc(cfg(feature = "toml")))]
    pub fn from_toml(file: &str, text: &str) -> Result<Self> {
        Ok(AnimationText::of(file, text)?.desc)
    }

    /// The text form, which [`Self::from_toml`] reads back as the same data.
    ///
    /// # Errors
    /// [`Error::Description`](crate::Error::Description) for a state machine that has no text form,
    /// as at [`StateMachineDesc::to_toml`].
    #[cfg_attr(docsrs, doc(cfg(feature = "toml")))]
    pub fn to_toml(&self) -> Result<String> {
        to_toml(self, "animation", part_of)
    }
}
