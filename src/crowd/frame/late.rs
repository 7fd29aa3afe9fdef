//! The state of a frame that holds back instances until its reveal.

use crate::crowd::Capacity;
use crate::crowd::view::View;
use crate::pass::cull::CullDispatch;

/// A frame with late views.
#[derive(Debug, Default)]
pub(crate) struct LateFrame {
    /// All views of the frame, if some are late.
    pub(crate) views: Vec<View>,
    /// The stages of the reveal, until it is recorded.
    pub(crate) waits: Option<CullDispatch>,
}

impl LateFrame {
    /// Reserves memory, so that frames allocate nothing.
    pub(crate) fn grow(&mut self, capacity: &Capacity) {
        let views = capacity.views as usize * usize::from(capacity.late_views > 0);
        self.views.reserve(views.saturating_sub(self.views.len()));
    }

    /// Begins a frame.
    pub(crate) fn begin(&mut self) {
        if self.waits.is_some() {
            log::warn!(
                "throng: a frame with late views had no record_reveal: it shows only what was seen \
                 in the frame before"
            );
        }
        self.abandon();
    }

    /// Forgets a frame that is never submitted.
    pub(crate) fn abandon(&mut self) {
        self.waits = None;
        self.views.clear();
    }

    /// Notes what a prepared frame holds back.
    pub(crate) fn hold(&mut self, views: &[View], dispatch: CullDispatch) {
        self.views.extend_from_slice(views);
        self.waits = Some(dispatch);
    }

    /// True if the reveal of the frame was recorded.
    pub(crate) fn is_revealed(&self) -> bool {
        !self.views.is_empty() && self.waits.is_none()
    }

    /// True if a view of the frame is late, and its reveal was recorded.
    pub(crate) fn reveals(&self, view: u32) -> bool {
        let view = self.views.get(view as usize);
        view.is_some_and(|view| view.late) && self.is_revealed()
    }
}
