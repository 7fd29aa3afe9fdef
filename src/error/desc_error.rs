//! An error in a description, before it becomes an [`Error`].

use super::desc_part::DescPart;
use super::variants::{DescFault, Error};

/// The fields of [`Error::Description`].
#[derive(Debug)]
pub(crate) struct DescError {
    pub(crate) file: Box<str>,
    pub(crate) line: Option<u32>,
    pub(crate) part: DescPart,
    pub(crate) field: Box<str>,
    pub(crate) why: DescFault,
}

impl DescError {
    pub(crate) fn into_error(self) -> Error {
        Error::Description {
            file: self.file,
            line: self.line,
            part: Box::new(self.part),
            field: self.field,
            why: Box::new(self.why),
        }
    }
}
