//! Screens that rotate, and surfaces that come and go, as on Android.

use crate::ending::{alone, context, finish};
use crate::objects::{SURFACES, SWAPCHAINS, live};
use crate::presenting::{Shown, desc};
use crate::screen::{self, FORMAT, Screen, UPRIGHT, Window};
use std::sync::Arc;
use throng::ash::vk::{self, SurfaceTransformFlagsKHR as Transform};
use throng::glam::{Mat4, Vec3};
use throng::standalone::{Acquire, Context, Rotation, StandaloneError, SwapchainDesc};

const WIDE: vk::Extent2D = vk::Extent2D {
    width: UPRIGHT.height,
    height: UPRIGHT.width,
};
const OPEN: vk::Extent2D = vk::Extent2D {
    width: u32::MAX,
    height: u32::MAX,
};

fn start() -> Context {
    let (context, surface) = context().unwrap();
    drop(surface);
    context
}

fn draw(shown: &mut Shown, context: &mut Context, extent: vk::Extent2D) {
    for number in 0..5 {
        let drawn = shown.frame(context, extent, true);
        assert!(drawn.unwrap(), "no image for frame {number}");
    }
}

/// The system rotates the images, and says in every frame that this is suboptimal.
#[test]
fn a_turned_screen_is_left_to_the_system() {
    let _turn = alone();
    let mut context = start();
    let mut shown = Shown::default();
    screen::turn(Transform::ROTATE_90, WIDE);
    shown.open(&mut context, &desc()).unwrap();
    draw(&mut shown, &mut context, WIDE);
    draw(&mut shown, &mut context, WIDE);
    // The window had another extent when the swapchain was created.
    assert_eq!(shown.swapchain().recreations(), 1);
    assert_eq!(screen::created(), [(Transform::IDENTITY, WIDE); 2]);
    assert_eq!(shown.swapchain().rotation(), Rotation::None);
    assert_eq!(shown.swapchain().window_extent(), WIDE);
    // Half a turn changes nothing.
    screen::turn(Transform::ROTATE_270, WIDE);
    draw(&mut shown, &mut context, WIDE);
    assert_eq!(screen::created(), []);
    // Nobody says that the window has changed but the system.
    screen::turn(Transform::IDENTITY, UPRIGHT);
    shown.swapchain().recreate(&mut context, UPRIGHT).unwrap();
    draw(&mut shown, &mut context, UPRIGHT);
    assert_eq!(screen::created(), [(Transform::IDENTITY, UPRIGHT)]);
    shown.close(&mut context);
    finish(context);
}

#[test]
fn a_program_can_rotate_what_it_draws() {
    let _turn = alone();
    let mut context = start();
    let mut shown = Shown::default();
    let desc = SwapchainDesc {
        pre_rotate: true,
        ..desc()
    };
    shown.open(&mut context, &desc).unwrap();
    draw(&mut shown, &mut context, UPRIGHT);
    assert_eq!(screen::created(), [(Transform::IDENTITY, UPRIGHT)]);
    for (transform, window, rotation) in [
        (Transform::ROTATE_90, WIDE, Rotation::Clockwise90),
        // The window's extent stays the same, so only the system tells.
        (Transform::ROTATE_270, WIDE, Rotation::Clockwise270),
        (Transform::ROTATE_180, UPRIGHT, Rotation::Clockwise180),
        (Transform::IDENTITY, UPRIGHT, Rotation::None),
    ] {
        screen::turn(transform, window);
        draw(&mut shown, &mut context, window);
        // The images keep the orientation of the screen.
        assert_eq!(screen::created(), [(transform, UPRIGHT)]);
        let swapchain = shown.swapchain();
        assert_eq!(swapchain.rotation(), rotation);
        assert_eq!(swapchain.extent(), UPRIGHT);
        assert_eq!(swapchain.window_extent(), window);
    }
    shown.close(&mut context);
    // The images decide about the window's extent.
    screen::turn(Transform::ROTATE_90, OPEN);
    shown.open(&mut context, &desc).unwrap();
    draw(&mut shown, &mut context, WIDE);
    assert_eq!(
        screen::created().last(),
        Some(&(Transform::ROTATE_90, UPRIGHT))
    );
    shown.close(&mut context);
    finish(context);
}

#[test]
fn a_surface_without_a_choice_decides_on_the_rotation() {
    let _turn = alone();
    let mut context = start();
    let mut shown = Shown::default();
    let screen = Screen {
        window: WIDE,
        transform: Transform::ROTATE_90,
        transforms: Transform::ROTATE_90,
        format: FORMAT,
    };
    for (transform, rotation, extent) in [
        (Transform::ROTATE_90, Rotation::Clockwise90, UPRIGHT),
        (Transform::INHERIT, Rotation::None, WIDE),
    ] {
        screen::set(Screen {
            transform,
            transforms: transform,
            ..screen
        });
        shown.open(&mut context, &desc()).unwrap();
        assert_eq!(shown.swapchain().rotation(), rotation);
        assert_eq!(screen::created(), [(transform, extent)]);
        shown.close(&mut context);
    }
    let mirrored = Transform::HORIZONTAL_MIRROR_ROTATE_90;
    screen::set(Screen {
        transform: mirrored,
        transforms: mirrored | Transform::ROTATE_180,
        ..screen
    });
    let error = shown.open(&mut context, &desc()).unwrap_err();
    assert!(
        matches!(&error, StandaloneError::SurfaceTransform { current, .. } if *current == mirrored),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "the surface shows images with the transform HORIZONTAL_MIRROR_ROTATE_90 and supports \
         ROTATE_180 | HORIZONTAL_MIRROR_ROTATE_90: it must support IDENTITY, or its transform must \
         be a rotation"
    );
    shown.close(&mut context);
    finish(context);
}

#[test]
fn rotations_are_clockwise_on_the_screen() {
    // The y-axis points down: right, down, left, up.
    let clockwise = [Vec3::X, Vec3::Y, Vec3::NEG_X, Vec3::NEG_Y];
    for (turns, rotation) in [
        Rotation::None,
        Rotation::Clockwise90,
        Rotation::Clockwise180,
        Rotation::Clockwise270,
    ]
    .into_iter()
    .enumerate()
    {
        let matrix = rotation.image_from_window();
        assert_eq!(matrix.determinant(), 1.0);
        for (at, from) in clockwise.into_iter().enumerate() {
            let to = clockwise[(at + turns) % 4];
            assert_eq!(matrix.transform_point3(from), to);
        }
        assert_eq!(rotation.turned(rotation.turned(WIDE)), WIDE);
        assert_eq!(rotation.turned(WIDE) == UPRIGHT, rotation.swaps_axes());
    }
    assert_eq!(Rotation::default().image_from_window(), Mat4::IDENTITY);
}

/// The app is suspended and resumed. Its context and its formats stay.
#[test]
fn a_surface_is_released_and_replaced() {
    let _turn = alone();
    let mut context = start();
    let mut shown = Shown::default();
    shown.open(&mut context, &desc()).unwrap();
    draw(&mut shown, &mut context, UPRIGHT);
    let formats = shown.swapchain().formats();
    for _ in 0..2 {
        shown.swapchain().release_surface(&mut context).unwrap();
        assert_eq!((live()[SURFACES], live()[SWAPCHAINS]), (0, 0));
        assert!(!shown.frame(&mut context, UPRIGHT, true).unwrap());
        assert_eq!(shown.swapchain().extent(), vk::Extent2D::default());
        assert!(!shown.swapchain().recreate(&mut context, UPRIGHT).unwrap());
        // Twice is as good as once.
        shown.swapchain().release_surface(&mut context).unwrap();
        shown.renew_surface(&mut context).unwrap();
        draw(&mut shown, &mut context, UPRIGHT);
    }
    assert_eq!(shown.swapchain().formats(), formats);
    shown.close(&mut context);
    finish(context);
}

#[test]
fn a_lost_surface_is_an_error_until_it_is_replaced() {
    let _turn = alone();
    let mut context = start();
    let mut shown = Shown::default();
    shown.open(&mut context, &desc()).unwrap();
    draw(&mut shown, &mut context, UPRIGHT);
    screen::lose();
    for _ in 0..3 {
        let lost = shown.frame(&mut context, UPRIGHT, true);
        assert!(
            matches!(lost, Err(StandaloneError::SurfaceLost { .. })),
            "{lost:?}"
        );
    }
    // The window has a surface, although it is lost.
    let in_use = context.surface(Arc::new(Window(1)));
    assert!(
        matches!(in_use, Err(StandaloneError::Vulkan { .. })),
        "{in_use:?}"
    );
    // A surface that is lost itself changes nothing.
    let surface = context.surface(Arc::new(Window(2))).unwrap();
    screen::lose();
    let lost = shown
        .swapchain()
        .set_surface(&mut context, surface, UPRIGHT);
    assert!(
        matches!(lost, Err(StandaloneError::SurfaceLost { .. })),
        "{lost:?}"
    );
    shown.renew_surface(&mut context).unwrap();
    draw(&mut shown, &mut context, UPRIGHT);
    shown.close(&mut context);
    finish(context);
}

#[test]
fn a_surface_of_another_format_is_refused() {
    let _turn = alone();
    let mut context = start();
    let mut shown = Shown::default();
    shown.open(&mut context, &desc()).unwrap();
    draw(&mut shown, &mut context, UPRIGHT);
    let screen = Screen {
        window: UPRIGHT,
        transform: Transform::IDENTITY,
        transforms: Transform::IDENTITY,
        format: FORMAT,
    };
    screen::set(Screen {
        format: vk::Format::R5G6B5_UNORM_PACK16,
        ..screen
    });
    let surface = context.surface(Arc::new(Window(2))).unwrap();
    let error = shown
        .swapchain()
        .set_surface(&mut context, surface, UPRIGHT);
    let error = error.unwrap_err();
    assert!(
        matches!(error, StandaloneError::SurfaceFormat { format } if format == FORMAT),
        "{error}"
    );
    screen::set(screen);
    draw(&mut shown, &mut context, UPRIGHT);
    shown.close(&mut context);
    finish(context);
}

/// An image that outlives its surface is refused.
#[test]
fn images_of_a_released_surface_are_refused() {
    let _turn = alone();
    let mut context = start();
    let surface = context.surface(Arc::new(Window(1))).unwrap();
    let mut frames = throng::standalone::Frames::new(&context, 1).unwrap();
    let made = throng::standalone::Swapchain::new(&mut context, surface, UPRIGHT, &desc());
    let mut swapchain = made.unwrap();
    let frame = frames.begin(&mut context).unwrap();
    let acquired = swapchain.acquire(&mut context, &frame, UPRIGHT).unwrap();
    let Acquire::Image(image) = acquired else {
        panic!("{acquired:?}");
    };
    swapchain.release_surface(&mut context).unwrap();
    let refused = unsafe { frames.submit(&mut context, frame, Some(&image)) };
    assert!(
        matches!(refused, Err(StandaloneError::WrongImage { .. })),
        "{refused:?}"
    );
    let refused = unsafe { swapchain.present(&mut context, image) };
    assert!(
        matches!(refused, Err(StandaloneError::WrongImage { .. })),
        "{refused:?}"
    );
    // The frame is begun again.
    let frame = frames.begin(&mut context).unwrap();
    unsafe { frames.submit(&mut context, frame, None) }.unwrap();
    frames.destroy(&mut context);
    swapchain.destroy(&mut context);
    finish(context);
}
