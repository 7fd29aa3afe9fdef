//! The command line arguments.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, ValueEnum};
use throng::SkinningStage;
use throng::ash::vk;
use throng::import::UpAxis;
use throng::palette::SkinningMethod;

use super::camera::{Angle, FOV_DEGREES, FURTHEST_M, NEAREST_M};
use super::keys::KEYS;
use super::light::{LARGEST, Light};
use super::picture::png_path;

/// The most instances.
pub(crate) const MAX_INSTANCES: u32 = 10_000;

/// Shows a character and its clips: in a window, or without one into a picture or an animation.
///
/// Every format that the crate reads can be opened. Drop a file on the window to open it.
#[derive(Clone, Debug, Parser)]
#[command(name = "viewer", after_help = KEYS)]
pub(crate) struct Args {
    /// Models to open. The window shows the first and lists the others. [default: builtin]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Adds the clips of another file, joined by joint names. Repeat the option for more files.
    #[arg(long, value_name = "FILE")]
    pub(crate) clips: Vec<PathBuf>,

    /// The axis that points up in all files. [default: as a file states, or y if it does not]
    #[arg(long, value_enum, value_name = "AXIS")]
    pub(crate) up: Option<Up>,

    /// The factor for all lengths, such as 0.01 for files in centimetres that do not say so.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    pub(crate) scale: f32,

    /// The clip to play, by its name or number from 0. [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) clip: Option<String>,

    /// The time in the clip, in seconds. The clip is then paused.
    #[arg(long, value_name = "S", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) time: Option<f64>,

    /// The shading.
    #[arg(long, value_enum, default_value = "shaded")]
    pub(crate) view: Look,

    /// The level of detail: a number from 0, which is full detail, or `auto` for what an error of
    /// one pixel allows.
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "0",
        allow_negative_numbers = true
    )]
    pub(crate) level: LevelArg,

    /// The joint of the view `weights`. [default: the one that moves most vertices]
    #[arg(long, value_name = "NAME")]
    pub(crate) joint: Option<String>,

    /// Lines and names over the picture, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) overlay: Vec<OverlayArg>,

    /// The number of instances, 1 to 10,000.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        allow_negative_numbers = true
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_INSTANCES)))]
    pub(crate) instances: u32,

    /// The stage that skins vertices.
    #[arg(long, value_enum, default_value = "vertex")]
    pub(crate) skin: Skin,

    /// The skinning method.
    #[arg(long, value_enum, default_value = "linear")]
    pub(crate) method: Method,

    /// Size of the window or picture, in pixels.
    #[arg(long, value_name = "WxH", default_value = "1280x720")]
    pub(crate) size: Size,

    /// Writes a picture without opening a window.
    #[arg(long, value_name = "OUT.png", value_parser = png_path)]
    pub(crate) screenshot: Option<PathBuf>,

    /// Writes one cycle of the clip as an animation (.gif or .apng), without a window.
    #[arg(long, value_name = "OUT", value_parser = moving_path)]
    pub(crate) record: Option<PathBuf>,

    /// Frames per second of `--record`.
    #[arg(long, value_name = "HZ", default_value_t = 25.0, value_parser = frame_rate)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) fps: f64,

    /// The direction to look from, in degrees, and the distance in metres. Yaw 0 is the front, 90
    /// the character's left side. Pitch is the height above the horizon. Without a distance,
    /// everything is visible.
    #[arg(long, value_name = "YAW,PITCH[,M]", value_parser = angle)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) camera: Option<Angle>,

    /// The vertical field of view in degrees, 1 to 150.
    #[arg(long, value_name = "DEG", default_value_t = FOV_DEGREES, value_parser = field_of_view)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) fov: f32,

    /// Lets the camera stay where it is. Otherwise it follows a character that travels.
    #[arg(long)]
    pub(crate) stay: bool,

    /// The strength of all light, 0 to 100, or the direction of the sun in degrees as for
    /// `--camera`, or both.
    #[arg(long, value_name = "STRENGTH|YAW,PITCH[,STRENGTH]", value_parser = light)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) light: Option<Light>,

    /// The colour behind everything: black, white, grey, or sRGB as rrggbb in hexadecimal.
    #[arg(long, value_name = "COLOR", value_parser = color)]
    pub(crate) background: Option<[f32; 4]>,

    /// Leaves the ground out.
    #[arg(long)]
    pub(crate) no_ground: bool,

    /// Switches spring bones off, such as those of hair.
    #[arg(long)]
    pub(crate) no_springs: bool,

    /// Shows the panels in pictures, too.
    #[arg(long)]
    pub(crate) panels: bool,

    /// Enables the validation layer, synchronization included. Any message of it makes the exit
    /// status 1.
    #[arg(long)]
    pub(crate) validate: bool,
}

impl Args {
    /// Checks what one argument alone cannot show.
    ///
    /// # Errors
    /// If there are several files, but no window to list them.
    pub(crate) fn checked(self) -> Result<Self, clap::Error> {
        if self.is_headless() && self.files.len() > 1 {
            let count = self.files.len();
            let text = format!("--screenshot and --record take one FILE, but {count} were given");
            return Err(Self::command().error(ErrorKind::TooManyValues, text));
        }
        Ok(self)
    }

    /// Returns true if no window is wanted, even if there is a display.
    pub(crate) fn is_headless(&self) -> bool {
        self.screenshot.is_some() || self.record.is_some()
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

fn positive(text: &str) -> Result<f32, String> {
    let value = text.parse().ok();
    let value = value.filter(|value: &f32| value.is_normal() && *value > 0.0);
    value.ok_or_else(|| "expected a number of more than 0".into())
}

/// The shading of the character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Look {
    /// The character's own materials.
    Shaded,
    /// Normals in world space as colours.
    Normals,
    /// The weights of one joint as a heat map.
    Weights,
    /// The number of influences of each vertex.
    Influences,
    /// The level of detail of each instance. The full level is white.
    Levels,
}

/// A level of detail, or `None` for `auto`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelArg(pub(crate) Option<u32>);

impl FromStr for LevelArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.parse()) {
            ("auto", _) => Ok(Self(None)),
            (_, Ok(level)) => Ok(Self(Some(level))),
            _ => Err("expected a level of detail, from 0, or auto"),
        }
    }
}

/// Something that is drawn over the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OverlayArg {
    /// The joints, with lines to their parents.
    Skeleton,
    /// The names of the joints.
    Names,
    /// The axes of the joints: X red, Y green, Z blue.
    Axes,
    /// A box that surely contains the posed character. It may be larger than needed.
    Bounds,
    /// The path of the root over one cycle of the clip.
    Trail,
    /// The sockets with their names.
    Sockets,
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

/// The skinning method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// Linear blend skinning with matrices.
    Linear,
    /// Dual quaternion skinning.
    #[value(name = "dualquat")]
    DualQuat,
    /// Linear blend skinning with quaternion and offset.
    #[value(name = "quatoffset")]
    QuatOffset,
}

impl From<Method> for SkinningMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Linear => Self::Linear,
            Method::DualQuat => Self::DualQuat,
            Method::QuatOffset => Self::QuatOffset,
        }
    }
}

/// Width and height in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size(pub(crate) vk::Extent2D);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| {
            text.parse()
                .ok()
                .filter(|side| (64..=16_384).contains(side))
        };
        let sides = text.split_once('x');
        match sides.map(|(width, height)| (side(width), side(height))) {
            Some((Some(width), Some(height))) => Ok(Self(vk::Extent2D { width, height })),
            _ => Err("expected WIDTHxHEIGHT, each 64 to 16384, such as 1280x720".into()),
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let value = text.parse().ok();
    let value = value.filter(|value: &f64| (0.0..=1e9).contains(value));
    value.ok_or_else(|| "expected seconds, from 0 to 1e9".into())
}

fn frame_rate(text: &str) -> Result<f64, String> {
    let value = text.parse().ok();
    let value = value.filter(|value: &f64| (1.0..=100.0).contains(value));
    value.ok_or_else(|| "expected frames per second, from 1 to 100".into())
}

/// Numbers that are separated by commas. `None` if one is not finite.
fn numbers(text: &str) -> Option<Vec<f32>> {
    let numbers = text.split(',').map(|part| part.trim().parse::<f32>().ok());
    numbers
        .map(|number| number.filter(|n| n.is_finite()))
        .collect()
}

fn angle(text: &str) -> Result<Angle, String> {
    let (yaw, pitch, distance_m) = match numbers(text).as_deref() {
        Some([yaw, pitch]) => (*yaw, *pitch, None),
        Some([yaw, pitch, metres]) => (*yaw, *pitch, Some(*metres)),
        _ => return Err("expected YAW,PITCH or YAW,PITCH,DISTANCE, such as 30,10,4".into()),
    };
    check_direction(yaw, pitch)?;
    if distance_m.is_some_and(|metres| !(NEAREST_M..=FURTHEST_M).contains(&metres)) {
        return Err("expected a distance in metres, from 0.001 to 1e9".into());
    }
    Ok(Angle {
        yaw,
        pitch,
        distance_m,
    })
}

fn light(text: &str) -> Result<Light, String> {
    let (direction, strength) = match numbers(text).as_deref() {
        Some([strength]) => (None, *strength),
        Some([yaw, pitch]) => (Some([*yaw, *pitch]), 1.0),
        Some([yaw, pitch, strength]) => (Some([*yaw, *pitch]), *strength),
        _ => return Err("expected STRENGTH, YAW,PITCH or YAW,PITCH,STRENGTH, such as 1.5".into()),
    };
    if let Some([yaw, pitch]) = direction {
        check_direction(yaw, pitch)?;
    }
    if !(0.0..=LARGEST).contains(&strength) {
        return Err(format!("expected a strength from 0 to {LARGEST}"));
    }
    Ok(Light {
        strength,
        direction: direction.unwrap_or(Light::default().direction),
    })
}

fn check_direction(yaw: f32, pitch: f32) -> Result<(), String> {
    if !(-360.0..=360.0).contains(&yaw) || !(-90.0..=90.0).contains(&pitch) {
        return Err("expected degrees: a yaw from -360 to 360, a pitch from -90 to 90".into());
    }
    Ok(())
}

fn field_of_view(text: &str) -> Result<f32, String> {
    let value = text.parse().ok();
    let value = value.filter(|value: &f32| (1.0..=150.0).contains(value));
    value.ok_or_else(|| "expected degrees, from 1 to 150".into())
}

/// Linear RGBA of a colour.
fn color(text: &str) -> Result<[f32; 4], String> {
    let code = match text {
        "black" => 0x00_00_00,
        "white" => 0xff_ff_ff,
        "grey" | "gray" => 0x80_80_80,
        _ => {
            let digits = text.strip_prefix('#').unwrap_or(text);
            let is_code = digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit());
            let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_code);
            code.ok_or("expected black, white, grey, or six hexadecimal digits, such as ff8000")?
        }
    };
    let channel = |shift: u32| {
        let encoded = (code >> shift & 0xff) as f32 / 255.0;
        match encoded {
            0.0..=0.040_45 => encoded / 12.92,
            _ => ((encoded + 0.055) / 1.055).powf(2.4),
        }
    };
    Ok([channel(16), channel(8), channel(0), 1.0])
}

fn moving_path(text: &str) -> Result<PathBuf, String> {
    let extension = Path::new(text).extension().and_then(|text| text.to_str());
    match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("gif" | "apng" | "png") => Ok(text.into()),
        _ => Err("expected a name that ends in .gif, .apng or .png".into()),
    }
}
