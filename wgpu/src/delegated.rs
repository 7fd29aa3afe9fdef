//! Methods of [`throng::Crowd`] and [`throng::Frame`] under the same names, without an allocator.
//!
//! Both types dereference to a [`throng::Crowd`], to read:
//!
//! ```
//! fn read(crowd: &throng_wgpu::Crowd, frame: &throng_wgpu::Frame<'_>) {
//!     (crowd.instances().len(), crowd.time_s(), frame.stats());
//! }
//! ```
//!
//! Nothing that changes a crowd is reached in this way, because it would pass by the order of
//! frames that wgpu needs. So these do not compile:
//!
//! ```compile_fail,E0596
//! fn change(crowd: &mut throng_wgpu::Crowd) {
//!     let inner: &mut throng_wgpu::throng::Crowd = &mut **crowd;
//! }
//! ```
//! ```compile_fail,E0308
//! fn record<'a>(
//!     frame: &'a throng_wgpu::Frame<'a>,
//! ) -> &'a throng_wgpu::throng::Frame<'a> {
//!     frame
//! }
//! ```

use crate::crowd::Crowd;
use crate::error::Result;
use crate::frame::Frame;
use core::ops::Deref;
use throng::character::Character;
use throng::glam::{Affine3A, DVec3};
use throng::skin::{CullMode, Ray};
use throng::{
    Capacity, CharacterDesc, CharacterId, CrowdSnapshot, Id, IkSolver, Instance, InstanceHit,
    InstanceId, ListId, ReplaceIssue, SkinningStage, Spawn, ViewId,
};

/// Methods with the same name, arguments and result as those of the type `$of`, whose value is
/// `$inner`.
///
/// `try_get` reads and can fail, as `try_mut`, which changes.
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
    /// The crowd, for changes after which its last frame cannot be
    /// [resumed](Self::resume_frame).
    fn closed(&mut self) -> &mut throng::Crowd {
        self.open = None;
        &mut self.inner
    }

    /// Adds a character. See [`throng::Crowd::add_character`].
    ///
    /// # Errors
    /// As there.
    pub fn add_character(
        &mut self,
        character: &Character,
        desc: &CharacterDesc,
    ) -> Result<CharacterId> {
        self.open = None;
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.add_character(allocator, character, desc)?)
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
        self.open = None;
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.replace_character(allocator, id, character)?)
    }

    /// Grows the crowd to at least `capacity`. See [`throng::Crowd::reserve`].
    ///
    /// # Errors
    /// As there.
    pub fn reserve(&mut self, capacity: &Capacity) -> Result<()> {
        self.open = None;
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.reserve(allocator, capacity)?)
    }
}

delegated! {
    impl Crowd, self => self.closed(), "throng::Crowd" {
        /// Removes a character that has no instances.
        try_mut remove_character(id: CharacterId) -> ();
        /// Adds an inverse kinematics solver to a character.
        try_mut add_solver(character: CharacterId, solver: impl Into<IkSolver>) -> Id<IkSolver>;
        /// Creates the pipelines of characters that are added later.
        try_mut warm_up(character: &Character, desc: &CharacterDesc, skin: SkinningStage) -> ();
    }
}

delegated! {
    impl Crowd, self => self.inner, "throng::Crowd" {
        /// Adds an instance.
        try_mut spawn(character: CharacterId, spawn: &Spawn<'_>) -> InstanceId;
        /// Removes an instance.
        try_mut despawn(id: InstanceId) -> ();
        /// An instance, to read and control.
        try_mut instance_mut(id: InstanceId) -> Instance<&mut throng::Crowd>;
        /// Moves many instances.
        try_mut set_transforms(transforms: &[(InstanceId, Affine3A)]) -> ();
        /// Moves the origin of world space.
        try_mut shift_origin(offset: DVec3) -> ();
        /// Finds the nearest hit of a ray.
        try_mut pick(ray: &Ray, cull: CullMode, view_mask: u32) -> Option<InstanceHit>;
        /// Finds all hits of a ray.
        try_mut pick_all(ray: &Ray, cull: CullMode, view_mask: u32) -> Vec<InstanceHit>;
        /// Goes back to a snapshot.
        try_mut restore(from: &CrowdSnapshot) -> ();
        /// Moves the game to a time.
        try_mut update(time_s: f64) -> ();
    }
}

delegated! {
    impl Frame<'_>, self => self.inner, "throng::Frame" {
        /// Makes a list of instances for views of this frame.
        try_mut make_list(instances: &[InstanceId]) -> ListId;
        /// The level of detail at which a view shows an instance.
        try_get level(view: ViewId, instance: InstanceId) -> Option<u32>;
        /// World space from the character space of an instance in this picture.
        try_get transform(id: InstanceId) -> Affine3A;
        /// Moves an instance in this picture alone.
        try_mut set_transform(id: InstanceId, world_from_model: &Affine3A) -> ();
    }
}

/// The crowd, to read.
///
/// Parts of Vulkan that it gives, such as [`throng::Crowd::mesh`], are handles, which only unsafe
/// code can use. It keeps the [`Gpu`](crate::Gpu) alive while this exists.
impl Deref for Crowd {
    // Safe methods with `&self` neither call the device nor lend a `throng::gpu::Device`, of which
    // a copy would outlive it.
    type Target = throng::Crowd;

    fn deref(&self) -> &throng::Crowd {
        &self.inner
    }
}

/// The crowd that the frame belongs to, to read. See [`Crowd`].
impl Deref for Frame<'_> {
    type Target = throng::Crowd;

    fn deref(&self) -> &throng::Crowd {
        &self.inner
    }
}
