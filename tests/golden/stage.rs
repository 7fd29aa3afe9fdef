//! Draws a crowd of generated characters once, under the validation layer.

use super::reference::picture::Picture;
use throng::ash::vk;
use throng::glam::Vec3;
use throng::glam::camera::rh;
use throng::gpu::MemoryAllocator;
use throng::{Crowd, CrowdDesc, Detail, Lighting, PassDesc, View};
use throng_standalone::{Begin, Context, ContextDesc, Frames, Target, TargetDesc};

/// The picture of the crowd that `populate` fills, and the `subPixelPrecisionBits` of the device.
///
/// It is seen from `eye`, which looks towards -Z and a little down to `at`. A level of detail may
/// be chosen.
pub(super) fn picture(
    (width, height): (u32, u32),
    (eye, at): (Vec3, Vec3),
    level: Option<u32>,
    populate: impl FnOnce(&mut Crowd, &mut dyn MemoryAllocator),
) -> (Picture, u32) {
    let mut context = Context::new(&ContextDesc {
        app_name: "throng's golden pictures",
        validation: true,
        ..ContextDesc::default()
    })
    .expect("a device");
    let extent = vk::Extent2D { width, height };
    let desc = TargetDesc {
        extent,
        samples: vk::SampleCountFlags::TYPE_4,
        ..TargetDesc::default()
    };
    let target = Target::new(&context, &desc).expect("a target");
    // SAFETY: the context outlives the crowd.
    let device = unsafe { context.gpu_device() };
    let allocator = &mut context.allocator();
    let crowd = Crowd::new(&device, allocator, &CrowdDesc::default());
    let mut crowd = crowd.expect("a crowd");
    let pass = PassDesc {
        reversed_z: true,
        ..target.pass_desc()
    };
    // SAFETY: the formats are those of the target.
    let pass = unsafe { crowd.create_pass(&pass) }.expect("a pass");
    populate(&mut crowd, allocator);
    let aspect = width as f32 / height as f32;
    let clip_from_view = rh::proj::vulkan::perspective_infinite_reverse(0.5, aspect, 0.1);
    let view_from_world = rh::view::look_at_mat4(eye, at, Vec3::Y);
    let view = View {
        detail: Detail {
            level,
            ..Detail::default()
        },
        lighting: Lighting {
            sun_direction: Vec3::new(0.6, 0.8, 0.7),
            sun_color: Vec3::new(1.0, 0.95, 0.85),
            sky_color: Vec3::new(0.35, 0.45, 0.6),
            ground_color: Vec3::new(0.25, 0.2, 0.15),
        },
        ..View::new(clip_from_view * view_from_world, eye, extent)
    };
    let begin = Begin {
        color: [0.12, 0.13, 0.15, 1.0],
        depth: 0.0,
        ..Begin::default()
    };
    let mut frames = Frames::new(&context, 1).expect("a frame");
    let in_flight = frames.begin().expect("a frame");
    let device = context.device.clone();
    // SAFETY: the frame in flight was just begun, and its complete recording is submitted.
    unsafe {
        crowd.update(0.25).unwrap();
        let frame = crowd.begin_frame(&mut context.allocator(), 0, 0.25);
        let mut frame = frame.expect("a frame");
        let views = frame
            .record_prepare(in_flight.cmd, &[view])
            .expect("a view");
        target.begin(&device, in_flight.cmd, &begin);
        frame
            .record_draw(in_flight.cmd, views[0], pass)
            .expect("draws");
        target.end(&device, in_flight.cmd);
        in_flight.submit().expect("a submission");
    }
    context.wait_idle().expect("an end");
    let rgba = target.read_rgba().expect("pixels");
    drop(frames);
    // SAFETY: the device is idle.
    unsafe { crowd.destroy(&mut context.allocator()) };
    drop(target);
    let (instance, device) = (&context.instance, context.physical_device);
    // SAFETY: the device belongs to the instance, which lives.
    let limits = unsafe { instance.get_physical_device_properties(device) }.limits;
    let messages = context.messages.clone();
    drop(context);
    messages.check().unwrap();
    let picture = Picture::new(width, height, &rgba);
    (picture, limits.sub_pixel_precision_bits)
}
