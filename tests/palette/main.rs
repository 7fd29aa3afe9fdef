//! Tests of palettes of many instances in every format, and of the poses that a format can
//! represent.

#[cfg(unix)]
#[path = "../support/guarded.rs"]
mod guarded;

mod batch;
mod format;
#[cfg(unix)]
mod guard_pages;
mod method;
mod method_check;
mod method_reference;
mod poses;
mod stage;
mod write_only;

use throng_reference as reference;
