//! Faults that would be logged in each frame or for each entity, logged seldom.

use core::fmt::Display;
use log::Level;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The faults that were logged, with the times, of all apps.
static LOGGED: Mutex<Vec<(String, Instant)>> = Mutex::new(Vec::new());
/// A fault that goes on is logged again after this time.
const AGAIN: Duration = Duration::from_secs(10);
/// In that time, no more faults than this are logged.
const MOST: usize = 256;
/// Of the faults of a system's run, no more are listed.
const MOST_LISTED: usize = 64;

/// Logs a fault, unless the same one was logged in the last 10 seconds.
pub(crate) fn log_seldom(level: Level, text: &str) {
    log_by_key(level, text, || text.to_owned());
}

/// `key` has what does not change while the fault goes on.
fn log_by_key(level: Level, key: &str, text: impl FnOnce() -> String) {
    let mut logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
    logged.retain(|(_, at)| at.elapsed() < AGAIN);
    if logged.len() < MOST && logged.iter().all(|(other, _)| other != key) {
        logged.push((key.to_owned(), Instant::now()));
        drop(logged);
        log::log!(level, "{}", text());
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
    level: Level,
    /// Text before the entity.
    what: &'static str,
    first: String,
    others: usize,
    why: String,
}

impl Faults {
    pub(crate) fn add(
        &mut self,
        level: Level,
        what: &'static str,
        entity: &dyn Display,
        why: &dyn Display,
    ) {
        let why = why.to_string();
        let is_same = |fault: &&mut Fault| fault.what == what && fault.why == why;
        if let Some(fault) = self.listed.iter_mut().find(is_same) {
            fault.others += 1;
        } else if self.listed.len() == MOST_LISTED {
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
            let key = format!("{what}{first}: {why}");
            log_by_key(fault.level, &key, || match fault.others {
                0 => key.clone(),
                others => format!("{what}{first} and {others} more: {why}"),
            });
        }
        if self.unlisted > 0 {
            log_by_key(Level::Warn, "more", || {
                format!("there are {} more faults of entities", self.unlisted)
            });
        }
    }
}
