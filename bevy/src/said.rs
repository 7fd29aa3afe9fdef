//! Faults that would be said in each frame, said once.

use std::sync::{Mutex, PoisonError};

/// Texts that were said, of all apps.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Later texts are said each time.
const MOST: usize = 64;

/// Logs an error, unless it was logged before.
pub(crate) fn once(text: String) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.contains(&text) {
        return;
    }
    log::error!("{text}");
    if said.len() < MOST {
        said.push(text);
    }
}
