//! Light from all around: metal under a sky of two colours, and with an environment map.
//!
//! Writes `environment.png`. The upper row has the sky that every crowd has. In the lower row, the
//! same materials reflect an image of a place: a bright window, a sky and a floor. An engine has
//! such images, with tools that filter them. Here, `throng_standalone::EnvironmentImage` does it.

#[path = "common/cube_image.rs"]
mod cube_image;
#[path = "common/picture.rs"]
mod picture;
#[path = "common/say.rs"]
mod say;

use std::error::Error;

use cube_image::CubeImage;
use say::{Words, say};
use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Quat, Vec3, vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::mesh::Material;
use throng::{
    CharacterDesc, Crowd, CrowdDesc, Environment, EnvironmentLight, Lighting, PassDesc, Spawn,
    View, builtin,
};
use throng_standalone::{
    Begin, Context, ContextDesc, EnvironmentImage, Frames, Target, TargetDesc,
};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 800,
    height: 600,
};
/// Width and height of the image of the place, and edge and levels of the map.
const IMAGE: [u32; 2] = [256, 128];
const EDGE: u32 = 64;
const LEVELS: u32 = 6;
/// Directions that a texel of the map averages.
const SAMPLES: u32 = 128;
/// The clip of the person, and the time of the picture in seconds.
const CLIP: &str = "Wave";
const TIME_S: f64 = 0.25;
/// Base colour, metalness and roughness of the balls.
const BALLS: [([f32; 3], f32, f32); 6] = [
    ([0.95, 0.93, 0.88], 1.0, 0.05),
    ([1.0, 0.77, 0.34], 1.0, 0.25),
    ([0.56, 0.57, 0.58], 1.0, 0.5),
    ([0.95, 0.64, 0.54], 1.0, 0.8),
    ([0.6, 0.05, 0.04], 0.0, 0.15),
    ([0.8, 0.8, 0.8], 0.0, 0.9),
];

fn main() -> Result<(), Words> {
    if std::env::args_os().len() > 1 {
        eprintln!("usage: environment");
        std::process::exit(2);
    }
    Ok(picture()?)
}

/// The light from a direction: a floor, a sky that is brighter at the horizon, and a window.
fn radiance(d: Vec3) -> Vec3 {
    let window = vec3(0.55, 0.45, 0.7).normalize();
    let (right, up) = (window.cross(Vec3::Y).normalize(), Vec3::Y);
    let [x, y] = [right, up].map(|axis| (d - window).dot(axis).abs());
    if d.dot(window) > 0.0 && x < 0.42 && y < 0.3 && x > 0.02 {
        return Vec3::splat(6.0);
    }
    match d.y > 0.0 {
        true => vec3(0.75, 0.8, 0.85).lerp(vec3(0.12, 0.22, 0.45), d.y.sqrt()),
        false => vec3(0.30, 0.24, 0.18).lerp(vec3(0.10, 0.08, 0.06), -d.y),
    }
}

/// The image, row by row from above.
fn image() -> Vec<Vec3> {
    let [width, height] = IMAGE;
    let texel = |at: u32| {
        let u = (at % width) as f32 / width as f32 + 0.5 / width as f32;
        let v = (at / width) as f32 / height as f32 + 0.5 / height as f32;
        let (around, down) = (
            (2.0 * u - 1.0) * std::f32::consts::PI,
            v * std::f32::consts::PI,
        );
        radiance(vec3(
            around.cos() * down.sin(),
            down.cos(),
            around.sin() * down.sin(),
        ))
    };
    (0..width * height).map(texel).collect()
}

pub(crate) fn picture() -> Result<(), Box<dyn Error>> {
    let mut context = Context::new(&ContextDesc {
        app_name: "throng environment",
        ..ContextDesc::default()
    })?;
    let desc = TargetDesc {
        extent: EXTENT,
        samples: vk::SampleCountFlags::TYPE_4,
        ..TargetDesc::default()
    };
    let target = Target::new(&context, &desc)?;
    let texels = image();
    let image = EnvironmentImage::new(IMAGE[0], IMAGE[1], &texels)?;
    let prefiltered = image.prefiltered(EDGE, LEVELS, SAMPLES)?;
    let cube = CubeImage::new(&mut context, (EDGE, LEVELS), &prefiltered)?;
    // SAFETY: the context outlives the crowd.
    let device = unsafe { context.gpu_device() };
    let mut crowd = Crowd::new(&device, &mut context.allocator(), &CrowdDesc::default())?;
    // SAFETY: the formats are the target's, and the map outlives the crowd's frames.
    let passes = unsafe {
        crowd.set_environment_map(&cube.map())?;
        let of = |environment| PassDesc {
            reversed_z: true,
            environment,
            ..target.pass_desc()
        };
        [
            crowd.create_pass(&of(EnvironmentLight::Sky))?,
            crowd.create_pass(&of(EnvironmentLight::Map))?,
        ]
    };
    populate(&mut context, &mut crowd)?;
    let environment = Environment {
        // A little to the side, so that the window is seen.
        world_from_environment: Quat::from_rotation_y(0.4),
        ..image.environment()
    };
    let begin = Begin {
        color: [0.55, 0.65, 0.8, 1.0],
        depth: 0.0,
        ..Begin::default()
    };
    let mut frames = Frames::new(&context, 1)?;
    let in_flight = frames.begin()?;
    let (device, cmd) = (context.device.clone(), in_flight.cmd);
    // SAFETY: the frame in flight was just begun, and the recording is submitted below.
    unsafe {
        crowd.update(TIME_S)?;
        let mut frame = crowd.begin_frame(&mut context.allocator(), 0, TIME_S)?;
        let views = frame.record_prepare(cmd, &[0, 1].map(|row| view(row, environment)))?;
        target.begin(&device, cmd, &begin);
        for (view, pass) in views.iter().zip(passes) {
            frame.record_draw(cmd, *view, pass)?;
        }
        target.end(&device, cmd);
        in_flight.submit()?;
    }
    context.wait_idle()?;
    let rgba = target.read_rgba()?;
    picture::write_rgba("environment.png", &rgba, EXTENT.width, EXTENT.height)?;
    say("wrote environment.png");
    // SAFETY: reading back has waited for the device.
    unsafe { crowd.destroy(&mut context.allocator()) };
    cube.destroy(&mut context);
    let messages = context.messages.clone();
    drop((frames, target, context));
    Ok(messages.check()?)
}

/// The view of a row of the picture.
fn view(row: i32, environment: Environment) -> View {
    let eye = vec3(0.0, 1.1, 4.6);
    let view_from_world = rh::view::look_at_mat4(eye, vec3(0.0, 0.85, 0.0), Vec3::Y);
    let extent = vk::Extent2D {
        height: EXTENT.height / 2,
        ..EXTENT
    };
    let aspect = extent.width as f32 / extent.height as f32;
    let clip_from_view = rh::proj::vulkan::perspective_infinite_reverse(0.5, aspect, 0.1);
    let y = row * extent.height as i32;
    let viewport = vk::Rect2D {
        offset: vk::Offset2D { x: 0, y },
        extent,
    };
    View {
        environment: Some(environment),
        lighting: Lighting {
            sun_color: Vec3::splat(0.5),
            ..Lighting::default()
        },
        ..View::new(clip_from_view * view_from_world, eye, viewport)
    }
}

/// Adds balls of metal and plastic, and a person.
fn populate(context: &mut Context, crowd: &mut Crowd) -> Result<(), Box<dyn Error>> {
    for (number, (color, metallic, roughness)) in (0..).zip(BALLS) {
        let [r, g, b] = color;
        let material = Material {
            base_color: [r, g, b, 1.0],
            metallic,
            roughness,
            ..Material::default()
        };
        let ball = RawPrimitive {
            material: Some(0),
            ..RawPrimitive::sphere(0.35, 48)
        };
        let raw = RawCharacter::rigid("ball", vec![ball], vec![material]);
        let ball = raw.build(&ImportOptions::default())?;
        let desc = CharacterDesc::default();
        let ball = crowd.add_character(&mut context.allocator(), &ball, &desc)?;
        let x = (number % 3) as f32 * 0.8 + if number < 3 { -2.0 } else { 0.4 };
        let at = vec3(x, 0.6 + 0.3 * (number % 2) as f32, 0.0);
        let spawn = Spawn {
            world_from_model: Affine3A::from_translation(at),
            ..Spawn::default()
        };
        crowd.spawn(ball, &spawn)?;
    }
    let person = builtin::mannequin()?;
    let desc = CharacterDesc::default();
    let person = crowd.add_character(&mut context.allocator(), &person, &desc)?;
    let spawn = Spawn {
        world_from_model: Affine3A::from_translation(vec3(0.0, 0.0, -0.9)),
        play: CLIP.into(),
        ..Spawn::default()
    };
    crowd.spawn(person, &spawn)?;
    Ok(())
}
