//! One frame of a crowd, into a file: for examples that are about what is drawn and not about
//! drawing.

use std::error::Error;

use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Vec3, vec3};
use throng::gpu_allocator::vulkan::Allocator;
use throng::standalone::{Begin, Context, ContextDesc, Frames, Target, TargetDesc, Validation};
use throng::{Crowd, CrowdDesc, Lighting, PassDesc, PassId, View};

/// A picture to be taken.
pub(crate) struct Shot {
    /// Where it goes.
    pub(crate) path: &'static str,
    /// In pixels.
    pub(crate) size: [u32; 2],
    /// Where the camera is and what it looks at, in metres.
    pub(crate) eye: Vec3,
    pub(crate) centre: Vec3,
    /// From top to bottom, in radians.
    pub(crate) fov_y_rad: f32,
    /// The crowd was populated at 0.
    pub(crate) time_s: f64,
}

/// Draws what `populate` puts into the crowd; `tell` is given what it returned once the frame is
/// prepared. An error, too, if the validation layer has said anything.
pub(crate) fn to_file<T>(
    shot: &Shot,
    populate: impl FnOnce(&mut Allocator, &mut Crowd) -> Result<T, Box<dyn Error>>,
    tell: impl FnOnce(&Crowd, T) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut context = Context::new(&ContextDesc {
        app_name: shot.path,
        validation: Validation::from_env(),
        ..ContextDesc::default()
    })?;
    let [width, height] = shot.size;
    let desc = TargetDesc {
        extent: vk::Extent2D { width, height },
        samples: vk::SampleCountFlags::TYPE_4,
        ..TargetDesc::default()
    };
    let target = Target::new(&mut context, &desc)?;
    let (gpu, allocator) = context.parts();
    // SAFETY: the context outlives the crowd, and has enabled what throng requires.
    let mut crowd = unsafe { Crowd::new(&gpu, allocator, &CrowdDesc::default())? };
    let pass = PassDesc {
        color_formats: &[target.formats().color],
        depth_format: target.formats().depth.unwrap_or_default(),
        samples: target.formats().samples,
        reversed_z: true,
        ..PassDesc::default()
    };
    // SAFETY: the formats are the target's.
    let pass = unsafe { crowd.create_pass(&pass)? };
    let populated = populate(&mut context.allocator, &mut crowd)?;
    frame(&mut context, &mut crowd, &target, (pass, shot))?;
    tell(&crowd, populated)?;

    let rgba = target.read_rgba(&mut context)?;
    let color = image::ColorType::Rgba8;
    image::save_buffer(shot.path, &rgba, width, height, color)?;
    println!("wrote {}", shot.path);
    // SAFETY: reading back has waited for the device.
    unsafe { crowd.destroy(&mut context.allocator) };
    target.destroy(&mut context);
    let messages = context.messages();
    drop(context);
    if messages.is_empty() {
        return Ok(());
    }
    Err(messages.report().into())
}

fn frame(
    context: &mut Context,
    crowd: &mut Crowd,
    target: &Target,
    (pass, shot): (PassId, &Shot),
) -> Result<(), Box<dyn Error>> {
    let view_from_world = rh::view::look_at_mat4(shot.eye, shot.centre, Vec3::Y);
    let [width, height] = shot.size;
    let aspect = width as f32 / height as f32;
    let clip_from_view =
        rh::proj::vulkan::perspective_infinite_reverse(shot.fov_y_rad, aspect, 0.1);
    let extent = vk::Extent2D { width, height };
    let view = View {
        lighting: Lighting {
            sun_direction: vec3(0.5, 0.8, 0.6),
            ..Lighting::default()
        },
        ..View::new(clip_from_view * view_from_world, shot.eye, extent)
    };
    let begin = Begin {
        color: [0.72, 0.80, 0.88, 1.0],
        ..Begin::default()
    };
    let mut frames = Frames::new(context, 1)?;
    let slot = frames.begin(context)?;
    let (device, cmd) = (context.device.clone(), slot.cmd);
    // SAFETY: the slot was just begun, the recording is submitted below.
    unsafe {
        let mut frame = crowd.begin_frame(&mut context.allocator, 0, shot.time_s)?;
        let views = frame.record_prepare(cmd, &[view])?;
        target.begin(&device, cmd, &begin);
        frame.record_draw(cmd, views[0], pass)?;
        target.end(&device, cmd);
        frames.submit(context, slot, None)?;
    }
    context.wait_idle()?;
    frames.destroy(context);
    Ok(())
}
