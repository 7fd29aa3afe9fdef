//! Methods of [`throng::Crowd`] and [`throng::Frame`] under the same names, without an allocator.
//!
//! Parts of Vulkan are left out. Safe code could use them after the device is gone, because they do
//! not keep it alive. So none of these compiles:
//!
//! ```compile_fail,E0599
//! fn device(crowd: &throng_wgpu::Crowd) {
//!     crowd.device();
//! }
//! ```
//! ```compile_fail,E0599
//! fn layout(crowd: &throng_wgpu::Crowd) {
//!     crowd.set_layout();
//! }
//! ```
//! ```compile_fail,E0599
//! fn crowd(frame: &throng_wgpu::Frame<'_>) {
//!     frame.crowd();
//! }
//! ```
//! ```compile_fail,E0308
//! fn dereference(crowd: &throng_wgpu::Crowd) -> &throng_wgpu::throng::Crowd {
//!     crowd
//! }
//! ```
//! ```compile_fail,E0308
//! fn dereference<'a>(
//!     frame: &'a throng_wgpu::Frame<'a>,
//! ) -> &'a throng_wgpu::throng::Frame<'a> {
//!     frame
//! }
//! ```
//!
//! This does:
//!
//! ```
//! fn read(crowd: &throng_wgpu::Crowd, frame: &throng_wgpu::Frame<'_>) {
//!     (crowd.gpu(), frame.stats());
//! }
//! ```

use crate::crowd::Crowd;
use crate::error::Result;
use crate::frame::Frame;
use throng::animator::{AnimationEvent, Animator, EventName};
use throng::character::Character;
use throng::glam::Affine3A;
use throng::gpu::{PosedBy, ScopeTime};
use throng::skin::{CullMode, Ray};
use throng::{
    Capacity, CharacterDesc, CharacterId, CrowdSnapshot, Id, IkSolver, Instance, InstanceHit,
    InstanceId, ListId, ReplaceIssue, SkinningStage, Spawn, Stages, Stats, ViewId, ViewStats,
};

/// Methods with the same name, arguments and result as those of the type `$of`, whose value is
/// `$inner`.
///
/// `get` and `call` read, `call` without `#[must_use]`. `try_get` reads and can fail, as `try_mut`,
/// which changes.
macro_rules! delegated {
    (impl $type:ty, $this:ident => $inner:expr, $of:literal {
        $($(#[$doc:meta])* $kind:ident $name:ident $arguments:tt -> $output:ty;)*
    }) => {
        #[doc = concat!("Methods of a [`", $of, "`], under the same names.")]
        impl $type {
            $(delegated! {
                @$kind [$(#[$doc])* #[doc = concat!("See [`", $of, "::", stringify!($name), "`].")]]
                $this => $inner, $name $arguments -> $output
            })*
        }
    };
    (@get [$($doc:tt)*] $($method:tt)*) => {
        delegated! { @call [$($doc)* #[must_use]] $($method)* }
    };
    (@call [$($doc:tt)*] $this:ident => $inner:expr,
        $name:ident($($argument:ident: $of:ty),* $(,)?) -> $output:ty
    ) => {
        $($doc)*
        pub fn $name(&$this $(, $argument: $of)*) -> $output {
            $inner.$name($($argument),*)
        }
    };
    (@try_get [$($doc:tt)*] $this:ident => $inner:expr,
        $name:ident($($argument:ident: $of:ty),* $(,)?) -> $output:ty
    ) => {
        $($doc)*
        ///
        /// # Errors
        /// As there.
        pub fn $name(&$this $(, $argument: $of)*) -> Result<$output> {
            Ok($inner.$name($($argument),*)?)
        }
    };
    (@try_mut [$($doc:tt)*] $this:ident => $inner:expr,
        $name:ident($($argument:ident: $of:ty),* $(,)?) -> $output:ty
    ) => {
        $($doc)*
        ///
        /// # Errors
        /// As there.
        pub fn $name(&mut $this $(, $argument: $of)*) -> Result<$output> {
            Ok($inner.$name($($argument),*)?)
        }
    };
}

/// Methods of a [`throng::Crowd`] that allocate, under the same names.
impl Crowd {
    /// Adds a character, skinned by linear blending. See [`throng::Crowd::add_character`].
    ///
    /// # Errors
    /// As there.
    pub fn add_character(&mut self, character: &Character) -> Result<CharacterId> {
        self.add_character_with(character, &CharacterDesc::default())
    }

    /// Adds a character with options. See [`throng::Crowd::add_character_with`].
    ///
    /// # Errors
    /// As there.
    pub fn add_character_with(
        &mut self,
        character: &Character,
        desc: &CharacterDesc,
    ) -> Result<CharacterId> {
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.add_character_with(allocator, character, desc)?)
    }

    /// Replaces a character by another one. See [`throng::Crowd::replace_character`].
    ///
    /// # Errors
    /// As there.
    pub fn replace_character(
        &mut self,
        id: CharacterId,
        character: &Character,
    ) -> Result<Vec<ReplaceIssue>> {
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.replace_character(allocator, id, character)?)
    }

    /// Grows the crowd to at least `capacity`. See [`throng::Crowd::reserve`].
    ///
    /// # Errors
    /// As there.
    pub fn reserve(&mut self, capacity: &Capacity) -> Result<()> {
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.reserve(allocator, capacity)?)
    }
}

delegated! {
    impl Crowd, self => self.inner, "throng::Crowd" {
        /// Removes a character that has no instances.
        try_mut remove_character(id: CharacterId) -> ();
        /// Adds an inverse kinematics solver to a character.
        try_mut add_solver(character: CharacterId, solver: impl Into<IkSolver>) -> Id<IkSolver>;
        /// Creates the pipelines of characters that are added later.
        try_mut warm_up(character: &Character, desc: &CharacterDesc, skin: SkinningStage) -> ();
        /// Adds an instance.
        try_mut spawn(character: CharacterId, spawn: &Spawn<'_>) -> InstanceId;
        /// Removes an instance.
        try_mut despawn(id: InstanceId) -> ();
        /// An instance, to read and control.
        try_mut instance_mut(id: InstanceId) -> Instance<&mut throng::Crowd>;
        /// Moves many instances.
        try_mut set_transforms(transforms: &[(InstanceId, Affine3A)]) -> ();
        /// Finds the nearest hit of a ray.
        try_mut pick(ray: &Ray, cull: CullMode, view_mask: u32) -> Option<InstanceHit>;
        /// Finds all hits of a ray.
        try_mut pick_all(ray: &Ray, cull: CullMode, view_mask: u32) -> Vec<InstanceHit>;
        /// Goes back to a snapshot.
        try_mut restore(from: &CrowdSnapshot) -> ();
        /// The processors that run the stages.
        get stages() -> Stages;
        /// The present capacities.
        get capacity() -> Capacity;
        /// Statistics of the frame begun last.
        get stats() -> Stats;
        /// The figures of each view.
        get view_stats() -> &[ViewStats];
        /// GPU times of an earlier frame, by scope.
        get gpu_times() -> &[ScopeTime];
        /// All characters.
        call characters() -> impl Iterator<Item = CharacterId> + '_;
        /// The CPU data of a character.
        try_get character(id: CharacterId) -> &Character;
        /// The name of a character.
        /// The first character with this name.
        try_get find_character(name: &str) -> CharacterId;
        /// The animator of a character.
        try_get animator(character: CharacterId) -> &Animator;
        /// The number of living instances.
        get len() -> usize;
        /// Returns true if no instance is alive.
        get is_empty() -> bool;
        /// Returns true if an instance is alive.
        get is_alive(id: InstanceId) -> bool;
        /// All instances that are alive.
        call instances() -> impl Iterator<Item = InstanceId> + '_;
        /// The instances of a character.
        try_get instances_of(
            character: CharacterId,
        ) -> impl ExactSizeIterator<Item = InstanceId> + '_;
        /// The living instance at an index of the table.
        get instance_at(table_index: u32) -> Option<InstanceId>;
        /// An instance, to read.
        try_get instance(id: InstanceId) -> Instance<&throng::Crowd>;
        /// The processor that poses an instance.
        try_get posed_by(id: InstanceId) -> PosedBy;
        /// True if an instance shows a pose that others share.
        try_get shares_pose(id: InstanceId) -> bool;
        /// Moves the game to a time.
        try_mut update(time_s: f64) -> ();
        /// The time of the last update, in seconds.
        get time_s() -> f64;
        /// The events of the last update.
        call events() -> impl Iterator<Item = AnimationEvent<InstanceId>> + '_;
        /// The name of what happened in an event.
        try_get event_name(event: &AnimationEvent<InstanceId>) -> EventName<'_>;
        /// Saves all instances.
        get snapshot() -> CrowdSnapshot;
        /// Saves all instances into an earlier snapshot.
        call snapshot_into(to: &mut CrowdSnapshot) -> ();
    }
}

delegated! {
    impl Frame<'_>, self => self.inner, "throng::Frame" {
        /// Makes a list of instances for views of this frame.
        try_mut make_list(instances: &[InstanceId]) -> ListId;
        /// Finds the nearest hit of a ray on what a view shows.
        try_mut pick(view: ViewId, ray: &Ray, cull: CullMode) -> Option<InstanceHit>;
        /// Finds all hits of a ray on what a view shows.
        try_mut pick_all(view: ViewId, ray: &Ray, cull: CullMode) -> Vec<InstanceHit>;
        /// The level of detail at which a view shows an instance.
        try_get level(view: ViewId, instance: InstanceId) -> Option<u32>;
        /// World space from the character space of an instance in this picture.
        try_get transform(id: InstanceId) -> Affine3A;
        /// Moves an instance in this picture alone.
        try_mut set_transform(id: InstanceId, world_from_model: &Affine3A) -> ();
        /// Statistics of this frame so far.
        get stats() -> Stats;
    }
}

delegated! {
    impl Frame<'_>, self => self.inner.crowd(), "throng::Crowd" {
        /// The name of what happened in an event.
        try_get event_name(event: &AnimationEvent<InstanceId>) -> EventName<'_>;
        /// The figures of each view.
        get view_stats() -> &[ViewStats];
        /// An instance, to read.
        try_get instance(id: InstanceId) -> Instance<&throng::Crowd>;
    }
}
