//! The CPU time inside throng's systems, by the spans that Bevy's feature `trace` opens.

use crate::clock;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Measures on the thread of the app alone. All others are the driver's or idle.
pub(crate) struct Spans;

/// The names of spans that are measured: an id is an index and 1.
static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// The id of all others.
const OTHER: u64 = u64::MAX;

thread_local! {
    static OPEN: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
    static TIMES: RefCell<BTreeMap<u64, Duration>> = const { RefCell::new(BTreeMap::new()) };
}

/// The CPU milliseconds by span since the last call.
pub(crate) fn take() -> BTreeMap<String, f64> {
    let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut taken = BTreeMap::new();
    for (id, time) in TIMES.take() {
        let name = names[id as usize - 1].clone();
        *taken.entry(name).or_default() += time.as_secs_f64() * 1e3;
    }
    taken
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && (metadata.name() == "system" || metadata.target() == "throng")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let name = match span.metadata().target() {
            "throng" => span.metadata().name().to_owned(),
            _ => {
                let mut name = Name(String::new());
                span.record(&mut name);
                match name.0.strip_prefix("bevy_throng::") {
                    Some(own) => own.to_owned(),
                    None => return Id::from_u64(OTHER),
                }
            }
        };
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let index = names
            .iter()
            .position(|it| *it == name)
            .unwrap_or(names.len());
        if index == names.len() {
            names.push(name);
        }
        Id::from_u64(index as u64 + 1)
    }

    fn enter(&self, span: &Id) {
        if span.into_u64() != OTHER {
            OPEN.with_borrow_mut(|open| open.push(clock::this_thread()));
        }
    }

    fn exit(&self, span: &Id) {
        let id = span.into_u64();
        if id == OTHER {
            return;
        }
        if let Some(start) = OPEN.with_borrow_mut(Vec::pop) {
            let time = clock::this_thread() - start;
            TIMES.with_borrow_mut(|times| *times.entry(id).or_default() += time);
        }
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}
}

/// The field `name` of a span.
struct Name(String);

impl Visit for Name {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "name" {
            self.0 = value.to_owned();
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
