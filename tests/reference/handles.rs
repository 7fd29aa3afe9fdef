//! Handles of actors and instances that must be alive.

use throng::Result;
use throng::animator::{Actor, ActorId, Animator};
#[cfg(feature = "vulkan")]
use throng::{Crowd, Instance, InstanceId};

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
    type Ref<'a> = Actor<&'a Animator>;
    type Mut<'a> = Actor<&'a mut Animator>;

    #[track_caller]
    fn live(&self, id: ActorId) -> Actor<&Animator> {
        self.actor(id).unwrap()
    }

    #[track_caller]
    fn live_mut(&mut self, id: ActorId) -> Actor<&mut Animator> {
        self.actor_mut(id).unwrap()
    }

    fn on<T>(
        &mut self,
        id: ActorId,
        call: impl FnOnce(Actor<&mut Animator>) -> Result<T>,
    ) -> Result<T> {
        self.actor_mut(id).and_then(call)
    }
}

#[cfg(feature = "vulkan")]
impl Handles for Crowd {
    type Id = InstanceId;
    type Ref<'a> = Instance<&'a Crowd>;
    type Mut<'a> = Instance<&'a mut Crowd>;

    #[track_caller]
    fn live(&self, id: InstanceId) -> Instance<&Crowd> {
        self.instance(id).unwrap()
    }

    #[track_caller]
    fn live_mut(&mut self, id: InstanceId) -> Instance<&mut Crowd> {
        self.instance_mut(id).unwrap()
    }

    fn on<T>(
        &mut self,
        id: InstanceId,
        call: impl FnOnce(Instance<&mut Crowd>) -> Result<T>,
    ) -> Result<T> {
        self.instance_mut(id).and_then(call)
    }
}
