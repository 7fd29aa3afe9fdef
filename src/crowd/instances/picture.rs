//! The instances that a picture shows elsewhere than the game has them.

use crate::crowd::InstanceId;

/// The instances whose records are not where the game has them.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    /// The instances that this picture has moved.
    pub(crate) now: Vec<InstanceId>,
    /// The instances that earlier ones moved, until they are put back.
    pub(crate) before: Vec<InstanceId>,
}

impl Picture {
    /// Forgets all instances, which are gone.
    pub(crate) fn clear(&mut self) {
        self.now.clear();
        self.before.clear();
    }
}
