//! The command line arguments.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::people::KINDS;
use super::picture::png_path;
use clap::{Parser, ValueEnum};
use throng::ash::vk;
use throng::glam::Vec2;
use throng::import::UpAxis;
use throng::palette::SkinningMethod;
use throng::{Crowd, SkinningStage, Stages};

/// The keys of the window, printed when it opens and at the end of `--help`.
pub(crate) const KEYS: &str = "In the window: drag to orbit, scroll to zoom, Space to \
    pause, H to see through walls, Esc to close.";
/// Default number of characters.
const INSTANCES: u32 = 500;

/// Draws a crowd of animated characters, in a window if there is a display, else into a picture.
#[derive(Clone, Debug, Parser)]
#[command(name = "crowd", after_help = KEYS)]
pub(crate) struct Args {
    /// A glTF file (.glb or .gltf), or `builtin`. Repeat the option to mix models: each is one
    /// character, unless `--looks` merges them. [default: builtin]
    #[arg(long = "model", value_name = "FILE")]
    pub(crate) models: Vec<PathBuf>,

    /// Number of different characters without `--model`: the built-in one, and others made from it.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "models")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=KINDS.len() as i64 + 1))]
    pub(crate) characters: u32,

    /// Dresses everyone differently. Files of one skeleton become one character: a person has the
    /// body of one of them, one or none of the parts that one joint carries, such as weapons, and
    /// one of their material variants. The built-in character gets seven other bodies, and hats,
    /// hair, skirts and backpacks, as parts of another character, and full detail.
    #[arg(long)]
    pub(crate) looks: bool,

    /// The axis that points up in all files. [default: as a file states, or y if it does not]
    #[arg(long, value_enum, value_name = "AXIS")]
    pub(crate) up: Option<Up>,

    /// The factor for all lengths of files. Models of another size are fitted into the crowd.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    pub(crate) scale: f32,

    /// Number of characters. [default: 500; a window on a slow driver shows fewer]
    #[arg(long, visible_alias = "count", value_name = "N")]
    #[arg(value_parser = instances)]
    pub(crate) instances: Option<u32>,

    /// Size of the window or picture, in pixels.
    #[arg(long, value_name = "WxH", default_value = "1280x720")]
    pub(crate) size: Size,

    /// Renders without a window, even if there is a display.
    #[arg(long)]
    pub(crate) headless: bool,

    /// Stops after this many frames, at least 1. [default: without a window 30, or fewer if they
    /// take more than 20 seconds; in a window no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frames: Option<u32>,

    /// Fixed time step between frames, in seconds. [default: 1/60 without a window, else real time]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) fixed_dt: Option<f64>,

    /// Samples per pixel for antialiasing: 1, 2, 4 or 8.
    #[arg(long, value_name = "N", default_value = "4", value_parser = samples)]
    pub(crate) samples: vk::SampleCountFlags,

    /// Distance of the camera, as a fraction of the one from which everyone is visible. [default:
    /// 1, but among the people of a plaza, if there are more than 1000]
    #[arg(long, value_name = "FRACTION", value_parser = positive)]
    pub(crate) distance: Option<f32>,

    /// Random seed of the crowd. The same seed and fixed dt give the same picture.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Picks the character at this pixel of the last frame, describes it and shows it in red.
    /// Without a window.
    #[arg(long, value_name = "X,Y")]
    pub(crate) pick: Option<Pixel>,

    /// Writes the last frame to this file. [default: crowd.png without a window, else none]
    #[arg(long, value_name = "FILE.png", value_parser = png_path)]
    pub(crate) out: Option<PathBuf>,

    /// Writes all frames as an animated picture (APNG), without a window. `--fixed-dt` sets its
    /// frame rate.
    #[arg(long, value_name = "FILE.png", value_parser = png_path)]
    pub(crate) apng: Option<PathBuf>,

    /// Writes the timings to this file.
    #[arg(long, value_name = "FILE.json")]
    pub(crate) stats: Option<PathBuf>,

    /// Width and height of the sun's shadow map in texels, at least 1, or `off`.
    #[arg(long, value_name = "TEXELS", default_value = "2048")]
    pub(crate) shadows: Shadows,

    /// Error of levels of detail that is allowed, in pixels, or 0 for full detail. The shadow map
    /// is allowed twice as many texels.
    #[arg(long, value_name = "PX", default_value_t = 1.0, value_parser = pixels)]
    pub(crate) error_px: f32,

    /// Use of levels of detail. With `off`, everyone is drawn at full detail.
    #[arg(long, value_enum, default_value = "on")]
    pub(crate) levels: OnOff,

    /// Puts houses among the people. They are drawn first, and people whom they hide are neither
    /// posed nor drawn, if the GPU decides who is drawn.
    #[arg(long)]
    pub(crate) walls: bool,

    /// Shows everyone through the houses of `--walls`. Those who are not drawn otherwise, because a
    /// house hides them, are red.
    #[arg(long, requires = "walls", conflicts_with = "lod_view")]
    pub(crate) hidden_view: bool,

    /// Colours everyone by level of detail. The full level is white.
    #[arg(long)]
    pub(crate) lod_view: bool,

    /// Colours everyone by who computes the pose: the GPU green, the CPU orange, nobody (at rest)
    /// grey. Who shares a pose with others is blue.
    #[arg(long, conflicts_with = "lod_view")]
    pub(crate) posed_by_view: bool,

    /// The stages that the GPU runs: none with `cpu`, who is drawn and at which level of detail
    /// with `gpu-cull`, poses as well with `gpu`. `auto` is `cpu` on software devices, else `gpu`.
    /// The picture is the same, except for the rounding of poses.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) stages: StagesArg,

    /// Error of shared poses that is allowed, in pixels, or 0 if everyone has a pose of their own.
    /// It counts if the GPU computes poses. The shadow map is allowed twice as many texels.
    #[arg(long, value_name = "PX", default_value_t = 0.5, value_parser = pixels)]
    pub(crate) pose_error_px: f32,

    /// Nobody changes what they do, nor where they are.
    #[arg(long)]
    pub(crate) still: bool,

    /// The stage that skins vertices: the vertex shader, the skin stage on the GPU, or the CPU.
    /// The picture is the same.
    #[arg(long, value_enum, default_value = "vertex")]
    pub(crate) skin: Skin,

    /// The skinning method, which blends the joints that move a vertex.
    #[arg(long, value_enum, default_value = "linear")]
    pub(crate) method: MethodArg,

    /// Enables the validation layer, synchronization included. Any message of it makes the exit
    /// status 1.
    #[arg(long)]
    pub(crate) validate: bool,

    /// Samples textures as software drivers do, for pictures that are compared.
    #[arg(long)]
    pub(crate) no_anisotropy: bool,
}

impl Args {
    /// Number of characters.
    pub(crate) fn instances(&self) -> u32 {
        self.instances.unwrap_or(INSTANCES)
    }

    /// The files to write.
    pub(crate) fn outputs(&self) -> Vec<&Path> {
        let all = [&self.out, &self.apng, &self.stats];
        all.into_iter().flatten().map(PathBuf::as_path).collect()
    }

    /// Returns true if no window is wanted, even if there is a display.
    pub(crate) fn is_headless(&self) -> bool {
        self.headless || self.apng.is_some() || self.pick.is_some()
    }
}

/// An axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Up {
    Y,
    Z,
}

impl From<Up> for UpAxis {
    fn from(up: Up) -> Self {
        match up {
            Up::Y => Self::Y,
            Up::Z => Self::Z,
        }
    }
}

fn positive(text: &str) -> Result<f32, &'static str> {
    let value = text.parse().ok();
    let value = value.filter(|value: &f32| value.is_normal() && *value > 0.0);
    value.ok_or("expected a number of more than 0")
}

fn pixels(text: &str) -> Result<f32, &'static str> {
    let value = text.parse().ok();
    let value = value.filter(|value: &f32| value.is_finite() && *value >= 0.0);
    value.ok_or("expected a number of pixels, or 0")
}

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnOff {
    On,
    Off,
}

/// The stage that skins vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Skin {
    /// In the vertex shader of every pass.
    Vertex,
    /// Once per frame in the skin stage on the GPU.
    Compute,
    /// Once per frame on the CPU.
    Cpu,
}

impl From<Skin> for SkinningStage {
    fn from(skin: Skin) -> Self {
        match skin {
            Skin::Vertex => Self::Vertex,
            Skin::Compute => Self::Compute,
            Skin::Cpu => Self::Cpu,
        }
    }
}

/// The processors that cull and pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StagesArg {
    Auto,
    Cpu,
    GpuCull,
    Gpu,
}

impl From<StagesArg> for Stages {
    fn from(stages: StagesArg) -> Self {
        match stages {
            StagesArg::Auto => Self::Auto,
            StagesArg::Cpu => Self::Cpu,
            StagesArg::GpuCull => Self::GpuCull,
            StagesArg::Gpu => Self::Gpu,
        }
    }
}

/// A skinning method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    /// Blends matrices.
    Linear,
    /// Blends dual quaternions.
    #[value(name = "dualquat")]
    DualQuat,
    /// Blends matrices that are stored as quaternions and offsets.
    #[value(name = "quatoffset")]
    QuatOffset,
}

impl From<MethodArg> for SkinningMethod {
    fn from(method: MethodArg) -> Self {
        match method {
            MethodArg::Linear => Self::Linear,
            MethodArg::DualQuat => Self::DualQuat,
            MethodArg::QuatOffset => Self::QuatOffset,
        }
    }
}

/// Width and height in pixels, as `1280x720`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size(pub(crate) vk::Extent2D);

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected WIDTHxHEIGHT, both at least 1, such as 1280x720";
        let (width, height) = text.split_once(['x', 'X']).ok_or(expected)?;
        let side = |text: &str| text.parse().ok().filter(|side| *side > 0).ok_or(expected);
        Ok(Self(vk::Extent2D {
            width: side(width)?,
            height: side(height)?,
        }))
    }
}

/// A pixel of the picture, as `640,360`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pixel(pub(crate) Vec2);

impl FromStr for Pixel {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected X,Y in pixels from the upper left corner, such as 640,360";
        let (x, y) = text.split_once(',').ok_or(expected)?;
        let middle = |text: &str| text.parse::<u32>().map(|at| at as f32 + 0.5);
        match (middle(x), middle(y)) {
            (Ok(x), Ok(y)) => Ok(Self(Vec2::new(x, y))),
            _ => Err(expected),
        }
    }
}

/// Width and height of the shadow map. `None` means no shadows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shadows(pub(crate) Option<u32>);

impl FromStr for Shadows {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let edge = text.parse().ok().filter(|edge| *edge > 0);
        match (text, edge) {
            ("off", _) => Ok(Self(None)),
            (_, Some(edge)) => Ok(Self(Some(edge))),
            _ => Err("expected a number of texels, at least 1, or off"),
        }
    }
}

fn instances(text: &str) -> Result<u32, String> {
    let most = Crowd::MAX_INSTANCES;
    let expected = || format!("expected a number from 0 to {most}, which a crowd holds at most");
    let number = text.parse().ok().filter(|number| *number <= most);
    number.ok_or_else(expected)
}

fn samples(text: &str) -> Result<vk::SampleCountFlags, &'static str> {
    match text {
        "1" => Ok(vk::SampleCountFlags::TYPE_1),
        "2" => Ok(vk::SampleCountFlags::TYPE_2),
        "4" => Ok(vk::SampleCountFlags::TYPE_4),
        "8" => Ok(vk::SampleCountFlags::TYPE_8),
        _ => Err("expected 1, 2, 4 or 8"),
    }
}

fn seconds(text: &str) -> Result<f64, &'static str> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds")?;
    if (0.0..=1e6).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("expected seconds from 0 to 1000000")
    }
}
