//! Faults that would be said in each frame or of each entity, said once.

use core::fmt::Display;
use std::sync::{Mutex, PoisonError};

/// Texts that were said, of all apps.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Later texts are said each time, and of the faults of a system's run, no more are listed.
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

/// Faults of entities in one run of a system. Each is logged once when the run ends, with the first
/// entity that has it.
#[derive(Default)]
pub(crate) struct Faults {
    listed: Vec<Fault>,
    unlisted: usize,
}

struct Fault {
    level: log::Level,
    /// Text before the entity.
    what: &'static str,
    first: String,
    others: usize,
    why: String,
}

impl Faults {
    pub(crate) fn add(
        &mut self,
        level: log::Level,
        what: &'static str,
        entity: &dyn Display,
        why: &dyn Display,
    ) {
        let why = why.to_string();
        let is_same = |fault: &&mut Fault| fault.what == what && fault.why == why;
        if let Some(fault) = self.listed.iter_mut().find(is_same) {
            fault.others += 1;
        } else if self.listed.len() == MOST {
            self.unlisted += 1;
        } else {
            self.listed.push(Fault {
                level,
                what,
                first: entity.to_string(),
                others: 0,
                why,
            });
        }
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        for fault in &self.listed {
            let Fault {
                what, first, why, ..
            } = fault;
            match fault.others {
                0 => log::log!(fault.level, "{what}{first}: {why}"),
                others => log::log!(fault.level, "{what}{first} and {others} more: {why}"),
            }
        }
        if self.unlisted > 0 {
            log::warn!("there are {} more faults of entities", self.unlisted);
        }
    }
}
