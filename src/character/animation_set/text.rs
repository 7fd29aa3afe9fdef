//! The text form of descriptions, in TOML.

use super::desc::AnimationDesc;
use super::fault::{AnimationList, At};
use crate::error::{DescError, DescFault, DescPart, Result, cut};
use crate::state_machine::{Lines, StateMachineDesc, StateMachineText};
use crate::text::{Format, LFS_POINTER, TextLines, elements, is_lfs_pointer, plain, text_of};
use std::collections::BTreeMap;
use toml::de::DeTable;

/// A description of a character's animation, read from text, with the line numbers for errors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnimationText {
    file: Box<str>,
    desc: AnimationDesc,
    places: TextLines<At>,
    machine: Option<Lines>,
}

/// The lists of a text, with the list of the description that each one is.
const LISTS: [(&str, AnimationList); 5] = [
    ("mask", AnimationList::Mask),
    ("clip", AnimationList::Clip),
    ("additive", AnimationList::Additive),
    ("blend_space", AnimationList::BlendSpace),
    ("socket", AnimationList::Socket),
];

impl AnimationText {
    /// Reads `text`. Errors name `file`.
    ///
    /// # Errors
    /// As [`AnimationDesc::from_toml`].
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self> {
        let whole = |line, why| DescError {
            file: file.into(),
            line,
            part: DescPart::Animation,
            field: Box::default(),
            why,
        };
        if text.len() > StateMachineDesc::MAX_TOML_BYTES {
            let (what, asked, cap) = ("bytes", text.len(), StateMachineDesc::MAX_TOML_BYTES);
            return Err(whole(None, DescFault::Cap { what, asked, cap }).into_error());
        }
        if is_lfs_pointer(text.as_bytes()) {
            return Err(whole(None, DescFault::Invalid(LFS_POINTER)).into_error());
        }
        let found = Found::of(text);
        match toml::from_str(text) {
            Ok(desc) => Ok(Self {
                file: file.into(),
                desc,
                places: found.places,
                machine: found.machine,
            }),
            Err(error) => {
                let why = DescFault::Text(cut(&plain(error.message(), Format::Toml)));
                let Some(start) = error.span().map(|span| span.start) else {
                    return Err(whole(None, why).into_error());
                };
                let line = Some(found.places.line_of(start));
                let (at, field, begins) = found.places.part_at(start).unwrap_or_default();
                let machine = found.machine.as_ref();
                if field == "state_machine"
                    && let Some((part, field, inside)) = machine.and_then(|m| m.part_at(start))
                    && inside >= begins
                {
                    let error = DescError {
                        file: file.into(),
                        line,
                        part,
                        field: field.into(),
                        why,
                    };
                    return Err(error.into_error());
                }
                let part = found.part(at);
                let (field, error) = (field.into(), whole(line, why));
                Err(DescError {
                    part,
                    field,
                    ..error
                }
                .into_error())
            }
        }
    }

    /// [`Self::parse`] for bytes.
    ///
    /// # Errors
    /// As [`Self::parse`], and for bytes that are not UTF-8.
    pub(crate) fn decode(file: &str, bytes: &[u8]) -> Result<Self> {
        match core::str::from_utf8(bytes) {
            Ok(text) => Self::parse(file, text),
            Err(why) => {
                let before = bytes.get(..why.valid_up_to()).unwrap_or_default();
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                let error = DescError {
                    file: file.into(),
                    line: u32::try_from(line).ok(),
                    part: DescPart::Animation,
                    field: Box::default(),
                    why: DescFault::Invalid("is not UTF-8"),
                };
                Err(error.into_error())
            }
        }
    }

    /// The description that was read.
    pub(crate) fn desc(&self) -> &AnimationDesc {
        &self.desc
    }

    /// The name of the text in errors.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn line(&self, at: At, field: &str) -> Option<u32> {
        self.places.line(at, field)
    }

    /// The state machine inside the text.
    pub(crate) fn machine(&self, desc: &StateMachineDesc) -> StateMachineText {
        StateMachineText::inside(&self.file, desc, self.machine.clone().unwrap_or_default())
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
        Ok(AnimationText::parse(file, text)?.desc)
    }
}

/// The positions of all parts of a text, which may be malformed.
struct Found {
    places: TextLines<At>,
    machine: Option<Lines>,
    names: BTreeMap<At, Box<str>>,
}

impl Found {
    fn of(text: &str) -> Self {
        let (root, _) = DeTable::parse_recoverable(text);
        let root = root.get_ref();
        let (mut places, mut names) = (TextLines::new(text), BTreeMap::new());
        for (key, value) in root {
            let field = key.get_ref().to_string();
            if field == "humanoid" {
                places.fields(At::Whole, &field, value, 0);
            }
            places.field(At::Whole, field, key.span().start);
        }
        for (list, kind) in LISTS {
            places.list(root, list, |index| At::In(kind, index), &[]);
            for (index, value) in elements(root, list).enumerate() {
                let name = match text_of(value, "name") {
                    name if name.is_empty() => text_of(value, "clip"),
                    name => name,
                };
                names.insert(At::In(kind, index), name);
            }
        }
        let machine = root.get("state_machine");
        let machine = machine.and_then(|machine| machine.get_ref().as_table());
        Self {
            machine: machine.map(|table| Lines::of_table(text, table)),
            places,
            names,
        }
    }

    fn part(&self, at: At) -> DescPart {
        match at {
            At::Whole => DescPart::Animation,
            At::In(list, index) => {
                list.part(index, self.names.get(&at).cloned().unwrap_or_default())
            }
        }
    }
}
