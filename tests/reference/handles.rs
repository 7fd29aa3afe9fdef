//! Handles of actors and instances that must be alive.

use throng::Result;
use throng::animator::{ActorId, ActorMut, ActorRef, Animator};
#[cfg(feature = "vulkan")]
use throng::{Crowd, InstanceId, InstanceMut, InstanceRef};

/// Access to the living: actors of an animator, instances of a crowd.
pub trait Handles {
    type Id;
    type Ref<'a>
    where
        Self: 'a;
    type Mut<'a>
    where
        Self: 'a;

    /// Fails unless it is alive.
    fn live(&self, id: Self::Id) -> Self::Ref<'_>;

    /// Fails unless it is alive.
    fn live_mut(&mut self, id: Self::Id) -> Self::Mut<'_>;

    /// The result of a call, or the error if it is not alive.
    fn on<T>(&mut self, id: Self::Id, call: impl FnOnce(Self::Mut<'_>) -> Result<T>) -> Result<T>;
}

impl Handles for Animator {
    type Id = ActorId;
    type Ref<'a> = ActorRef<'a>;
    type Mut<'a> = ActorMut<'a>;

    #[track_caller]
    fn live(&self, id: ActorId) -> ActorRef<'_> {
        self.actor(id).unwrap()
    }

    #[track_caller]
    fn live_mut(&mut self, id: ActorId) -> ActorMut<'_> {
        self.actor_mut(id).unwrap()
    }

    fn on<T>(&mut self, id: ActorId, call: impl FnOnce(ActorMut<'_>) -> Result<T>) -> Result<T> {
        self.actor_mut(id).and_then(call)
    }
}

#[cfg(feature = "vulkan")]
impl Handles for Crowd {
    type Id = InstanceId;
    type Ref<'a> = InstanceRef<'a>;
    type Mut<'a> = InstanceMut<'a>;

    #[track_caller]
    fn live(&self, id: InstanceId) -> InstanceRef<'_> {
        self.instance(id).unwrap()
    }

    #[track_caller]
    fn live_mut(&mut self, id: InstanceId) -> InstanceMut<'_> {
        self.instance_mut(id).unwrap()
    }

    fn on<T>(
        &mut self,
        id: InstanceId,
        call: impl FnOnce(InstanceMut<'_>) -> Result<T>,
    ) -> Result<T> {
        self.instance_mut(id).and_then(call)
    }
}
