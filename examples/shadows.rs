//! Shadows, multisampling and picking: a shadow map from the sun, four samples per pixel, and the
//! character under a pixel.
//!
//! Writes `shadows.png`. `--pick X,Y` prints what is at this pixel, and tints the character red.

#[path = "common/picture.rs"]
mod picture;
#[path = "common/say.rs"]
mod say;
#[path = "common/shadow.rs"]
mod shadow;
#[path = "common/shapes.rs"]
mod shapes;

use std::error::Error;

use say::{Words, say};
use shadow::ShadowImage;
use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Vec3, vec3};
use throng::skin::{CullMode, Ray};
use throng::{CharacterDesc, Crowd, CrowdDesc, Lighting, PassDesc, PassId, Spawn, View, builtin};
use throng_standalone::{Begin, Context, ContextDesc, Frames, Target, TargetDesc};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 640,
    height: 480,
};
/// Width and height of the shadow map in texels.
const SHADOW_TEXELS: u32 = 1024;
const TIME_S: f64 = 0.25;
const RED: [f32; 4] = [0.9, 0.1, 0.05, 1.0];

fn main() -> Result<(), Words> {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let pixel = match &args[..] {
        [] => None,
        [option, pixel] if option == "--pick" && parse(pixel).is_some() => parse(pixel),
        _ => {
            let (width, height) = (EXTENT.width, EXTENT.height);
            eprintln!("usage: shadows [--pick X,Y], a pixel of the {width} x {height} picture");
            std::process::exit(2);
        }
    };
    Ok(picture(pixel)?)
}

/// A pixel of the picture, from the top left.
fn parse(text: &str) -> Option<[u32; 2]> {
    let (x, y) = text.split_once(',')?;
    let pixel: [u32; 2] = [x.trim().parse().ok()?, y.trim().parse().ok()?];
    (pixel[0] < EXTENT.width && pixel[1] < EXTENT.height).then_some(pixel)
}

pub(crate) fn picture(pixel: Option<[u32; 2]>) -> Result<(), Box<dyn Error>> {
    let mut context = Context::new(&ContextDesc {
        app_name: "throng shadows",
        ..ContextDesc::default()
    })?;
    // Every device supports four samples. The target resolves them into one at the end of a pass.
    let desc = TargetDesc {
        extent: EXTENT,
        samples: vk::SampleCountFlags::TYPE_4,
        ..TargetDesc::default()
    };
    let target = Target::new(&context, &desc)?;
    // The map covers people of up to 2 m on this rectangle of ground.
    let rim = [(-2.0, -1.5), (-2.0, 1.5), (2.0, -1.5), (2.0, 1.5)].map(|(x, z)| vec3(x, 0.0, z));
    let shadow = ShadowImage::new(&mut context, SHADOW_TEXELS, (&rim, 2.0), &lighting())?;
    // SAFETY: the context outlives the crowd.
    let device = unsafe { context.gpu_device() };
    let mut crowd = Crowd::new(&device, &mut context.allocator(), &CrowdDesc::default())?;
    // SAFETY: the formats are the target's, and the shadow map outlives the crowd's frames.
    let passes = unsafe {
        crowd.set_shadow_map(&shadow.map())?;
        Passes {
            color: crowd.create_pass(&PassDesc {
                reversed_z: true,
                shadow_map: true,
                ..target.pass_desc()
            })?,
            shadow: crowd.create_pass(&ShadowImage::pass_desc())?,
        }
    };
    populate(&mut context, &mut crowd)?;
    draw(&mut context, &mut crowd, &target, &passes, &shadow)?;
    if let Some(pixel) = pixel {
        // As after a click: the ray meets what the last frame shows, and the next one shows the
        // tint.
        pick(&mut crowd, pixel)?;
        draw(&mut context, &mut crowd, &target, &passes, &shadow)?;
    }

    let rgba = target.read_rgba()?;
    picture::write_rgba("shadows.png", &rgba, EXTENT.width, EXTENT.height)?;
    say("wrote shadows.png");
    // SAFETY: reading back has waited for the device.
    unsafe { crowd.destroy(&mut context.allocator()) };
    shadow.destroy(&mut context);
    let messages = context.messages.clone();
    drop((target, context));
    Ok(messages.check()?)
}

struct Passes {
    color: PassId,
    shadow: PassId,
}

fn lighting() -> Lighting {
    Lighting {
        sun_direction: vec3(0.5, 0.8, 0.35),
        ..Lighting::default()
    }
}

/// The camera.
fn view() -> View {
    let eye = vec3(1.2, 1.5, 4.2);
    let view_from_world = rh::view::look_at_mat4(eye, vec3(0.0, 0.9, 0.0), Vec3::Y);
    let aspect = EXTENT.width as f32 / EXTENT.height as f32;
    let clip_from_view = rh::proj::vulkan::perspective_infinite_reverse(0.7, aspect, 0.1);
    View::new(clip_from_view * view_from_world, eye, EXTENT)
}

/// Adds three people on a ground.
fn populate(context: &mut Context, crowd: &mut Crowd) -> Result<(), Box<dyn Error>> {
    let ground = shapes::prop(vec![shapes::ground(0.0)])?;
    let ground =
        crowd.add_character(&mut context.allocator(), &ground, &CharacterDesc::default())?;
    crowd.spawn(ground, &Spawn::default())?;
    let mannequin = builtin::mannequin()?;
    // Rays meet only characters whose meshes the CPU keeps. So they pass through the ground.
    let desc = CharacterDesc {
        cpu_skinning: true,
        ..CharacterDesc::default()
    };
    let character = crowd.add_character(&mut context.allocator(), &mannequin, &desc)?;
    for (x, clip) in [(-0.9, "Wave"), (0.0, "Walk"), (0.9, "Run")] {
        let spawn = Spawn {
            world_from_model: Affine3A::from_translation(vec3(x, 0.0, 0.0)),
            play: clip.into(),
            ..Spawn::default()
        };
        crowd.spawn(character, &spawn)?;
    }
    Ok(())
}

/// Draws one frame: first the shadow map as the sun sees it, then the picture.
fn draw(
    context: &mut Context,
    crowd: &mut Crowd,
    target: &Target,
    passes: &Passes,
    shadow: &ShadowImage,
) -> Result<(), Box<dyn Error>> {
    let view = View {
        lighting: lighting(),
        shadow: Some(shadow.shadow()),
        ..view()
    };
    let begin = Begin {
        color: [0.55, 0.65, 0.8, 1.0],
        depth: 0.0,
        ..Begin::default()
    };
    let mut frames = Frames::new(context, 1)?;
    let in_flight = frames.begin()?;
    let (device, cmd) = (context.device.clone(), in_flight.cmd);
    // SAFETY: the frame in flight was just begun, and the recording is submitted below.
    unsafe {
        crowd.update(TIME_S)?;
        let mut frame = crowd.begin_frame(&mut context.allocator(), 0, TIME_S)?;
        let views = frame.record_prepare(cmd, &[view, shadow.view()])?;
        shadow.begin(&device, cmd);
        frame.record_draw(cmd, views[1], passes.shadow)?;
        shadow.end(&device, cmd);
        target.begin(&device, cmd, &begin);
        frame.record_draw(cmd, views[0], passes.color)?;
        target.end(&device, cmd);
        in_flight.submit()?;
    }
    context.wait_idle()?;
    Ok(())
}

/// Prints which character is at the centre of a pixel, and tints it.
fn pick(crowd: &mut Crowd, [x, y]: [u32; 2]) -> Result<(), Box<dyn Error>> {
    let view = view();
    let ndc = |pixel: u32, pixels: u32| 2.0 * (pixel as f32 + 0.5) / pixels as f32 - 1.0;
    // With reversed depth, 1 is the near plane.
    let on_near = vec3(ndc(x, EXTENT.width), ndc(y, EXTENT.height), 1.0);
    let near = view.eye.clip_from_world.inverse().project_point3(on_near);
    let ray = Ray {
        origin: view.eye.position,
        direction: near - view.eye.position,
    };
    let Some(picked) = crowd.pick(&ray, CullMode::Material, view.mask)? else {
        say(&format!("pixel {x},{y}: no character"));
        return Ok(());
    };
    let hit = picked.hit;
    say(&format!(
        "pixel {x},{y}: {:?}, {:?}, primitive {}, triangle {}, at {:.2}, {:.3} m away",
        picked.instance, picked.part, hit.primitive, hit.triangle, picked.position, hit.distance
    ));
    Ok(crowd.instance_mut(picked.instance)?.set_tint(RED)?)
}
