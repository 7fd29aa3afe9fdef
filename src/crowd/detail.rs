//! Levels of detail and culling of a view.

/// The detail that a [`View`](super::View) shows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(alias = "lod")]
pub struct Detail {
    /// The error of levels of detail that is allowed, in pixels: 1 unless set.
    ///
    /// An instance is drawn at the coarsest level whose worst error, at the near side of the
    /// instance's bounding sphere, is at most this. An instance smaller than 0.7 times this is not
    /// drawn. With 0, every instance is drawn at full detail. In a shadow map, errors of two texels
    /// are rarely seen: see [`View::shadow_of`](super::View::shadow_of).
    ///
    /// Most imported models have no levels, and then this only leaves out the smallest instances:
    /// [`Character::levels`](crate::character::Character::levels) is empty. To get some:
    ///
    /// - `Character::with_levels` makes them (feature `lod`), or `throng bake --levels` for a saved
    ///   character.
    /// - Files may have them: `MSFT_lod`, FBX LOD groups, or nodes named `Body_LOD0`, `Body_LOD1`.
    pub error_px: f32,
    /// The error of shared poses that is allowed, in pixels: 0.5 unless set.
    ///
    /// Instances that the GPU poses ([`Stages::Gpu`](super::Stages::Gpu)) and that play one
    /// clip share its poses at evenly spaced times, if that displaces no vertex by more than this
    /// at the near side of the instance's bounding sphere, in no view that shows it. Such an
    /// instance takes no time to pose, and no palette of its own: see
    /// [`Capacity::palette_entries`](crate::Capacity::palette_entries). With 0, each instance has a
    /// pose of its own. The error is [`PoseSteps::error_m`](crate::skin::PoseSteps::error_m).
    pub pose_error_px: f32,
    /// The most triangles that the view may show.
    ///
    /// If the levels that [`Self::error_px`] allows have more, the error is raised for all
    /// instances alike, up to a thousandfold, until they have no more than this. No instance
    /// disappears for this reason. [`ViewStats::error_factor`](super::ViewStats::error_factor) says
    /// by how much. Triangles of hidden parts count, those of instances that depth hides do not. A
    /// [late](super::View::late) view may exceed this for one frame by those that it reveals. It
    /// has no effect if [`Self::error_px`] is 0 or [`Self::level`] is chosen.
    pub max_triangles: Option<u32>,
    /// The only level of detail that the view shows: 0 is the full one.
    ///
    /// An instance whose character has no such level is drawn at its coarsest. With `None`, the
    /// level depends on [`Self::error_px`].
    pub level: Option<u32>,
}

impl Default for Detail {
    fn default() -> Self {
        Self {
            error_px: 1.0,
            pose_error_px: 0.5,
            max_triangles: None,
            level: None,
        }
    }
}

/// The part of space whose instances a view shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Culling {
    /// Instances in the view: those whose
    /// [bounding sphere](super::Instance::bounding_sphere) reaches into it.
    #[default]
    Frustum,
    /// As [`Self::Frustum`], but however near or far.
    ///
    /// For passes with [`depth_clamp`](crate::PassDesc::depth_clamp).
    Sides,
    /// All of space.
    ///
    /// For views that represent others, for pipelines of the engine's own that move vertices far
    /// out of the bounding sphere, and for deformed vertices of instances that no view sees.
    Off,
    /// All of space but what is too small to be seen, for rays: see
    /// [`Frame::record_rays`](super::Frame::record_rays).
    ///
    /// People behind the eye cast shadows and are mirrored. Sizes and levels of detail are those
    /// for the eye. No depth hides anybody.
    Rays,
}

impl Culling {
    /// True if a view shows a part of space alone.
    pub(crate) fn is_bounded(self) -> bool {
        matches!(self, Self::Frustum | Self::Sides)
    }
}
