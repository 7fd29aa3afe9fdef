//! The settings that panels and keys change.

use throng::palette::SkinningMethod;
use throng::skeleton::Joint;
use throng::{Id, SkinningStage};

use super::args::{Args, Look, OverlayArg};
use super::canvas::BACKGROUND;
use super::light::Light;

/// The lines and names over the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overlays {
    pub(crate) skeleton: bool,
    pub(crate) names: bool,
    pub(crate) axes: bool,
    pub(crate) bounds: bool,
    pub(crate) trail: bool,
    pub(crate) sockets: bool,
}

/// The pairs of colours that instances can have.
pub(crate) const TINTS: [([f32; 4], [f32; 3]); 4] = [
    ([1.0; 4], [1.0; 3]),
    ([1.0, 0.6, 0.1, 1.0], [0.1, 0.2, 0.8]),
    ([0.1, 0.5, 0.2, 1.0], [0.9, 0.8, 0.3]),
    ([0.7, 0.05, 0.05, 1.0], [0.05, 0.05, 0.05]),
];

/// The settings of the picture.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) look: Look,
    pub(crate) overlays: Overlays,
    /// The level of detail. `None` means the coarsest whose error is at most a pixel.
    pub(crate) level: Option<u32>,
    /// The joint of the heat map. It is also marked in the overlay.
    pub(crate) joint: Option<Id<Joint>>,
    pub(crate) instances: u32,
    /// Index of [`TINTS`].
    pub(crate) tints: usize,
    pub(crate) stage: SkinningStage,
    pub(crate) method: SkinningMethod,
    pub(crate) light: Light,
    /// The colour behind everything, as linear RGBA.
    pub(crate) background: [f32; 4],
    /// Vertical field of view in degrees.
    pub(crate) fov_degrees: f32,
    /// True if the camera follows a character that travels.
    pub(crate) follow: bool,
    pub(crate) ground: bool,
    pub(crate) shadow: bool,
    /// Edge of the picture relative to its place on the screen.
    pub(crate) scale: f32,
    pub(crate) multisampled: bool,
    pub(crate) panels: bool,
    pub(crate) help: bool,
}

impl Settings {
    /// The settings of the command line. A slow device starts with a cheaper picture.
    pub(crate) fn new(args: &Args, slow: bool) -> Self {
        let has = |what| args.overlay.contains(&what);
        Self {
            look: args.view,
            overlays: Overlays {
                skeleton: has(OverlayArg::Skeleton),
                names: has(OverlayArg::Names),
                axes: has(OverlayArg::Axes),
                bounds: has(OverlayArg::Bounds),
                trail: has(OverlayArg::Trail),
                sockets: has(OverlayArg::Sockets),
            },
            level: args.level.0,
            joint: None,
            instances: args.instances,
            tints: 0,
            stage: args.skin.into(),
            method: args.method.into(),
            light: args.light.unwrap_or_default(),
            background: args.background.unwrap_or(BACKGROUND),
            fov_degrees: args.fov,
            follow: !args.stay,
            ground: !args.no_ground,
            shadow: true,
            scale: if slow { 0.5 } else { 1.0 },
            multisampled: !slow,
            panels: args.panels || !args.is_headless(),
            help: false,
        }
    }
}

impl Look {
    /// All views, in the order of the key `v`.
    pub(crate) const ALL: [Self; 5] = [
        Self::Shaded,
        Self::Normals,
        Self::Weights,
        Self::Influences,
        Self::Levels,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Shaded => "Shaded",
            Self::Normals => "Normals",
            Self::Weights => "Weights of a joint",
            Self::Influences => "Influences",
            Self::Levels => "Levels of detail",
        }
    }

    /// The view after this one.
    pub(crate) fn next(self) -> Self {
        let at = Self::ALL.iter().position(|look| *look == self);
        Self::ALL[(at.unwrap_or(0) + 1) % Self::ALL.len()]
    }
}
