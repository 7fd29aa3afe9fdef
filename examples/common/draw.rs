//! Draws one frame of a crowd, on a ground and with shadows, into a file.
//!
//! For examples that are about the content of a frame and not about drawing it.

#[path = "shadow.rs"]
mod shadow;

mod picture;

use picture::write_rgba;
use std::error::Error;

use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Vec3, vec3};
use throng::gpu::MemoryAllocator;
use throng::{CharacterDesc, Crowd, CrowdDesc, Lighting, PassDesc, PassId, Spawn, View};
use throng_standalone::{Begin, Context, ContextDesc, Frames, Target, TargetDesc};

use self::shadow::ShadowImage;
use super::{say, shapes};

/// Width and height of the shadow map in texels.
const SHADOW_TEXELS: u32 = 2048;
/// Maximum height of everything in these pictures.
const HEIGHT_M: f32 = 2.0;
const BACKGROUND: [f32; 4] = [0.72, 0.80, 0.88, 1.0];

/// Settings for one picture.
pub(crate) struct Shot {
    /// Path of the file to write.
    pub(crate) path: &'static str,
    /// Width and height in pixels.
    pub(crate) size: [u32; 2],
    /// Positions of the camera and of the point that it looks at, in metres.
    pub(crate) eye: Vec3,
    pub(crate) centre: Vec3,
    /// Vertical field of view in radians.
    pub(crate) fov_y_rad: f32,
    /// Height of the ground in metres.
    pub(crate) ground_m: f32,
    /// Radius around the origin in which shadows are drawn, in metres.
    pub(crate) reach_m: f32,
    /// Time of the frame in seconds. The crowd is populated at 0.
    pub(crate) time_s: f64,
}

/// Draws the crowd that `populate` fills, and writes it to a file.
///
/// `tell` gets the value that `populate` returned, once the frame is prepared. Any message of the
/// validation layer is an error.
pub(crate) fn to_file<T>(
    shot: &Shot,
    populate: impl FnOnce(&mut dyn MemoryAllocator, &mut Crowd) -> Result<T, Box<dyn Error>>,
    tell: impl FnOnce(&Crowd, T) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut context = Context::new(&ContextDesc {
        app_name: shot.path,
        ..ContextDesc::default()
    })?;
    let [width, height] = shot.size;
    let desc = TargetDesc {
        extent: vk::Extent2D { width, height },
        samples: vk::SampleCountFlags::TYPE_4,
        ..TargetDesc::default()
    };
    let target = Target::new(&context, &desc)?;
    // SAFETY: the context outlives the crowd.
    let device = unsafe { context.gpu_device() };
    let allocator = &mut context.allocator();
    let mut crowd = Crowd::new(&device, allocator, &CrowdDesc::default())?;
    let pass = PassDesc {
        reversed_z: true,
        shadow_map: true,
        ..target.pass_desc()
    };
    let shadow = shadow_image(&mut context, shot)?;
    // SAFETY: the formats are the target's, and the shadow map outlives the crowd's frame.
    let (pass, shadow_pass) = unsafe {
        crowd.set_shadow_map(&shadow.map())?;
        let shadow_pass = crowd.create_pass(&ShadowImage::pass_desc())?;
        (crowd.create_pass(&pass)?, shadow_pass)
    };
    let ground = shapes::prop(vec![shapes::ground(shot.ground_m)])?;
    let ground =
        crowd.add_character(&mut context.allocator(), &ground, &CharacterDesc::default())?;
    crowd.spawn(ground, &Spawn::default())?;
    let populated = populate(&mut context.allocator(), &mut crowd)?;
    let drawn = Drawn {
        shot,
        shadow: &shadow,
        shadow_pass,
        pass,
    };
    frame(&mut context, &mut crowd, &target, &drawn)?;

    let rgba = target.read_rgba()?;
    write_rgba(shot.path, &rgba, width, height)?;
    tell(&crowd, populated)?;
    say(&format!("wrote {}", shot.path));
    // SAFETY: reading back has waited for the device.
    unsafe { crowd.destroy(&mut context.allocator()) };
    shadow.destroy(&mut context);
    let messages = context.messages.clone();
    drop((target, context));
    Ok(messages.check()?)
}

fn lighting() -> Lighting {
    Lighting {
        sun_direction: vec3(0.5, 0.8, 0.6),
        ..Lighting::default()
    }
}

fn shadow_image(context: &mut Context, shot: &Shot) -> Result<ShadowImage, Box<dyn Error>> {
    let reach_m = shot.reach_m;
    let rim = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
    let rim = rim.map(|(x, z)| vec3(x * reach_m, shot.ground_m, z * 0.5 * reach_m));
    ShadowImage::new(context, SHADOW_TEXELS, (&rim, HEIGHT_M), &lighting())
}

/// The inputs of a frame.
struct Drawn<'a> {
    shot: &'a Shot,
    shadow: &'a ShadowImage,
    shadow_pass: PassId,
    pass: PassId,
}

fn frame(
    context: &mut Context,
    crowd: &mut Crowd,
    target: &Target,
    drawn: &Drawn<'_>,
) -> Result<(), Box<dyn Error>> {
    let (shot, shadow) = (drawn.shot, drawn.shadow);
    let view_from_world = rh::view::look_at_mat4(shot.eye, shot.centre, Vec3::Y);
    let [width, height] = shot.size;
    let aspect = width as f32 / height as f32;
    let clip_from_view =
        rh::proj::vulkan::perspective_infinite_reverse(shot.fov_y_rad, aspect, 0.1);
    let extent = vk::Extent2D { width, height };
    let view = View {
        lighting: lighting(),
        shadow: Some(shadow.shadow()),
        ..View::new(clip_from_view * view_from_world, shot.eye, extent)
    };
    let begin = Begin {
        color: BACKGROUND,
        depth: 0.0,
        ..Begin::default()
    };
    let mut frames = Frames::new(context, 1)?;
    let in_flight = frames.begin()?;
    let (device, cmd) = (context.device.clone(), in_flight.cmd);
    // SAFETY: the frame in flight was just begun, and the recording is submitted below.
    unsafe {
        crowd.update(shot.time_s)?;
        let mut frame = crowd.begin_frame(&mut context.allocator(), 0, shot.time_s)?;
        let views = frame.record_prepare(cmd, &[view, shadow.view()])?;
        shadow.begin(&device, cmd);
        frame.record_draw(cmd, views[1], drawn.shadow_pass)?;
        shadow.end(&device, cmd);
        target.begin(&device, cmd, &begin);
        frame.record_draw(cmd, views[0], drawn.pass)?;
        target.end(&device, cmd);
        in_flight.submit()?;
    }
    context.wait_idle()?;
    Ok(())
}
