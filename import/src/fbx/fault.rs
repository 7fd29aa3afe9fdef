//! Errors of the FBX reader.

use crate::fault::{fault, message};
use throng::error::{AssetFault, Error, ObjectKind};
use ufbx::ErrorType;

pub(super) fn failed(error: &ufbx::Error, memory_cap: u64) -> Error {
    let why = match error.type_ {
        ErrorType::MemoryLimit | ErrorType::AllocationLimit | ErrorType::OutOfMemory => {
            // ufbx does not say how much it asked for. It is more than the cap.
            AssetFault::Cap {
                what: "bytes of memory for reading",
                asked: memory_cap.saturating_add(1),
                cap: memory_cap,
            }
        }
        _ => AssetFault::Fbx(message(&error.description)),
    };
    of_file(why)
}

/// An error about the file as a whole.
pub(super) fn of_file(why: AssetFault) -> Error {
    fault(ObjectKind::File, None, "", why)
}
