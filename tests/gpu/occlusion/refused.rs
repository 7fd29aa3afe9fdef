//! Depth that does not fit is refused before anything is recorded, and capacities grow.

use super::walls::{Canvas, Walls};
use crate::reference::words::Fails;
use crate::support::frames::FramesInFlight;
use crate::support::{SMALL, each, view};
use throng::ash::vk;
use throng::glam::Vec3;
use throng::{Capacity, Depth, Spawn, Stages, View, builtin};

/// The text of a row, a change to valid depth, and the words of the error.
type Row = (&'static str, fn(&mut Depth), &'static str);

const ROWS: [Row; 14] = [
    ("view", |it| it.view = 2, "depth 1: Depth::view…"),
    ("eye", |it| it.eye = 1, "depth 1: Depth::eye…"),
    ("same", |it| it.view = 0, "depth 1: Depth::eye…earlier…"),
    (
        "image",
        |it| it.image = vk::ImageView::null(),
        "depth 1: Depth::image…null…",
    ),
    (
        "layout",
        |it| it.layout = vk::ImageLayout::UNDEFINED,
        "depth 1: Depth::layout…",
    ),
    (
        "attachment",
        |it| it.layout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        "depth 1: Depth::layout…",
    ),
    (
        "extent",
        |it| it.extent.width = 63,
        "depth 1: Depth::extent…",
    ),
    (
        "samples",
        |it| it.samples = vk::SampleCountFlags::from_raw(3),
        "depth 1: Depth::samples…",
    ),
    (
        "none",
        |it| it.samples = vk::SampleCountFlags::empty(),
        "depth 1: Depth::samples…",
    ),
    (
        "format",
        |it| it.format = vk::Format::R8_UNORM,
        "depth 1: Depth::format…",
    ),
    (
        "texel",
        |it| it.texel_px = 3,
        "depth 1: Depth::texel_px…power of two…",
    ),
    (
        "start",
        |it| it.texel_px = 2,
        "depth 1: Depth::texel_px…starts…",
    ),
    (
        "direction",
        |it| it.reversed_z = true,
        "depth 1: Depth::reversed_z…grows with distance…",
    ),
    (
        "margin",
        |it| it.margin_m = -1.0,
        "depth 1: Depth::margin_m…",
    ),
];

#[test]
fn depth_that_does_not_fit_is_refused() {
    each(|setup| {
        let mut crowd = setup.crowd_with(Stages::Gpu, 1, SMALL);
        let mannequin = builtin::mannequin().unwrap().character;
        let kind = setup.add(&mut crowd, &mannequin);
        crowd.spawn(kind, &Spawn::default()).unwrap();
        let mut walls = Walls::new(&setup.context);
        walls.set(&[]);
        let canvas = Canvas::new(&setup.context, &walls, [64, 48], 1);
        let extent = canvas.target.extent();
        let first = view(Vec3::new(0.0, 1.0, 4.0), Vec3::Y, extent);
        let viewport = vk::Rect2D {
            offset: vk::Offset2D { x: 1, y: -7 },
            extent: vk::Extent2D {
                width: 63,
                height: 55,
            },
        };
        let views = [first, View { viewport, ..first }];
        let good = [0, 1].map(|view| Depth {
            view,
            ..canvas.depth(false)
        });
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
        let begin_frame = |setup: &mut crate::support::Setup| {
            let cmd = frames_in_flight.begin(&setup.context, 0);
            let device = &setup.context.device;
            unsafe {
                canvas
                    .target
                    .begin(device, cmd, &throng_standalone::Begin::default());
                canvas.target.end(device, cmd);
            }
            canvas.read_only(device, cmd);
            cmd
        };
        let mut begin_frame = begin_frame;
        let pixels = 64 * 48 + 63 * 48;
        for depth_pixels in [0, pixels - 1, pixels] {
            let capacity = Capacity {
                depth_pixels,
                ..crowd.capacity()
            };
            setup.reserve(&mut crowd, &capacity);
            let cmd = begin_frame(setup);
            let mut frame = setup.begin(&mut crowd, 0, 0.0);
            for (row, change, words) in ROWS {
                let mut depths = good;
                change(&mut depths[1]);
                let refused = unsafe { frame.record_prepare_behind(cmd, &views, &depths) };
                println!("{row}");
                refused.fails(words);
            }
            let all = unsafe { frame.record_prepare_behind(cmd, &views, &good) };
            if depth_pixels == pixels {
                assert_eq!(all.unwrap().len(), 2);
            } else {
                all.fails("…pixels of depth…Capacity::depth_pixels…");
                unsafe { frame.record_prepare_behind(cmd, &views, &[]) }.unwrap();
            }
            unsafe { setup.context.device.end_command_buffer(cmd) }.unwrap();
            unsafe { crowd.abandon_frame() };
        }
        frames_in_flight.destroy(&setup.context);
        canvas.destroy(&setup.context);
        walls.destroy(&setup.context);
        setup.destroy(crowd);
    });
}
