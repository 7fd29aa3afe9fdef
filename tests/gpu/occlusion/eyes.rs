//! Views with two eyes: instances are hidden if both eyes agree, and only then.

use crate::engine::{Engine, Image};
use crate::support::{SMALL, Setup, each_with_features, placed, view};
use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Vec3, Vec4, vec3};
use throng::{
    Capacity, Crowd, Depth, Eye, Frame, PassDesc, PassId, PassKind, Play, Receivers, Stages, View,
    ViewId, ViewStats, builtin,
};

const COLOR: vk::Format = vk::Format::R8G8B8A8_SRGB;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
const BOTH: u32 = 0b11;
const DRAWN: vk::ImageLayout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
const TESTED: vk::ImageLayout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
const READ: vk::ImageLayout = vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL;
/// Width and height of the pictures.
const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 192,
    height: 192,
};
/// Metres between people, who stand side by side.
const APART_M: f32 = 5.5;
/// Half of the width of a wall. The volume of a person is half as wide, and the test looks at
/// texels of up to half of its width.
const WALL_M: f32 = 3.1;
/// By person, whether a wall stands before it, as the left eye and the right eye see it.
const WALLS: [[bool; 2]; 5] = [
    [false, false],
    [true, false],
    [false, true],
    [true, true],
    [false, false],
];

/// The frames of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phases {
    /// Everybody is drawn.
    None,
    /// Walls are drawn before the crowd.
    One,
    /// People are drawn before the reveal.
    Two,
    /// As two, behind walls that were drawn before the crowd.
    Both,
}

/// Colour and depth with a layer for each eye.
struct Layers {
    color: Image,
    depth: Image,
    each: [vk::ImageView; 2],
    /// Colour, depth.
    all: [vk::ImageView; 2],
}

impl Layers {
    fn new(engine: &mut Engine) -> Self {
        let two = (2, vk::SampleCountFlags::TYPE_1);
        let mut color = engine.image(COLOR, EXTENT, two);
        let mut depth = engine.image(DEPTH, EXTENT, two);
        Self {
            each: [0, 1].map(|layer| engine.view(&mut depth, layer, 1)),
            all: [&mut color, &mut depth].map(|image| engine.view(image, 0, 2)),
            color,
            depth,
        }
    }

    /// Clears the depth of an eye to that of its walls, which cover their people from top to
    /// bottom.
    fn draw_walls(&self, engine: &Engine, cmd: vk::CommandBuffer, seen: &View, eye: usize) {
        let depth = vk::RenderingAttachmentInfo::default()
            .image_view(self.each[eye])
            .image_layout(TESTED)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(depth_of(1.0));
        let info = vk::RenderingInfo::default()
            .render_area(EXTENT.into())
            .layer_count(1)
            .depth_attachment(&depth);
        let rects = WALLS.iter().enumerate().filter(|(_, walls)| walls[eye]);
        let rects = rects.map(|(person, _)| {
            let clip_from_world = seen.of_eye(eye).unwrap().eye.clip_from_world;
            let pixel = |side: f32| {
                let at = place(person) + Vec3::X * side * WALL_M;
                let x = clip_from_world.project_point3(at).x;
                (0.5 * (x + 1.0) * EXTENT.width as f32) as u32
            };
            let [left, right] = [pixel(-1.0), pixel(1.0)];
            vk::ClearRect {
                rect: vk::Rect2D {
                    offset: vk::Offset2D {
                        x: left.cast_signed(),
                        y: 0,
                    },
                    extent: vk::Extent2D {
                        width: right - left,
                        height: EXTENT.height,
                    },
                },
                base_array_layer: 0,
                layer_count: 1,
            }
        });
        let near = [vk::ClearAttachment {
            aspect_mask: vk::ImageAspectFlags::DEPTH,
            color_attachment: 0,
            clear_value: depth_of(0.0),
        }];
        let rects: Vec<_> = rects.collect();
        unsafe {
            engine.raw.cmd_begin_rendering(cmd, &info);
            engine.raw.cmd_clear_attachments(cmd, &near, &rects);
            engine.raw.cmd_end_rendering(cmd);
        }
    }

    /// Draws a view into both layers, on top of their depth.
    fn draw(
        &self,
        (engine, cmd): (&Engine, vk::CommandBuffer),
        frame: &Frame<'_>,
        (view, pass): (ViewId, PassId),
        load: vk::AttachmentLoadOp,
    ) {
        let attachment = |view, layout| {
            vk::RenderingAttachmentInfo::default()
                .image_view(view)
                .image_layout(layout)
                .load_op(vk::AttachmentLoadOp::LOAD)
                .store_op(vk::AttachmentStoreOp::STORE)
        };
        let colors = [attachment(self.all[0], DRAWN).load_op(load)];
        let depth = attachment(self.all[1], TESTED);
        let info = vk::RenderingInfo::default()
            .render_area(EXTENT.into())
            .layer_count(1)
            .view_mask(BOTH)
            .color_attachments(&colors)
            .depth_attachment(&depth);
        unsafe {
            engine.raw.cmd_begin_rendering(cmd, &info);
            frame.record_draw(cmd, view, pass).unwrap();
            engine.raw.cmd_end_rendering(cmd);
        }
    }

    /// The depth of both eyes of the first view.
    fn depths(&self) -> [Depth; 2] {
        [0, 1].map(|eye| Depth {
            eye,
            layout: READ,
            ..Depth::new(self.each[eye as usize], EXTENT)
        })
    }

    /// Colour and depth of both eyes.
    fn read(&self, engine: &mut Engine) -> Vec<Vec<u8>> {
        let images = [&self.color, &self.depth];
        let layers = images
            .into_iter()
            .flat_map(|image| [(image, 0), (image, 1)]);
        layers
            .map(|(image, layer)| engine.read(image, layer))
            .collect()
    }
}

fn depth_of(depth: f32) -> vk::ClearValue {
    vk::ClearValue {
        depth_stencil: vk::ClearDepthStencilValue { depth, stencil: 0 },
    }
}

fn place(person: usize) -> Vec3 {
    Vec3::X * APART_M * (person as f32 - 2.0)
}

fn crowd(setup: &mut Setup) -> Crowd {
    let capacity = Capacity {
        palette_entries: 8192,
        depth_pixels: 2 * EXTENT.width * EXTENT.height,
        late_views: 2,
        ..SMALL
    };
    let mut crowd = setup.crowd_with(Stages::Gpu, 1, capacity);
    let person = builtin::mannequin().unwrap().character;
    let kind = setup.add(&mut crowd, &person);
    for person in 0..WALLS.len() {
        let place = Affine3A::from_translation(place(person));
        crowd
            .spawn(kind, &placed(place, Play::new("Walk")))
            .unwrap();
    }
    crowd
}

/// Two eyes that see everybody.
fn camera() -> View {
    let [left, right] = [-0.6, 0.6].map(|x| {
        let at = vec3(0.2 * x, 1.0, 0.0);
        view(vec3(x, 1.2, 44.0), at, EXTENT)
    });
    let mut seen = left;
    seen.more_eyes[0] = Some(Eye::new(right.eye.clip_from_world, right.eye.position));
    seen
}

/// A sun above everybody.
fn light() -> View {
    let clip_from_view = rh::proj::vulkan::orthographic(-16.0, 16.0, -16.0, 16.0, 1.0, 30.0);
    let view_from_world = rh::view::look_at_mat4(Vec3::Y * 20.0, Vec3::ZERO, Vec3::X);
    let receivers = Receivers {
        floor: Some(Vec4::Y),
        filter_texels: 1.0,
        ..Receivers::of(0)
    };
    View {
        receivers: Some(receivers),
        ..View::shadow_of(clip_from_view * view_from_world, Vec3::Y * 20.0, EXTENT)
    }
}

/// Draws frames of the same picture, and returns the last one, and the figures of the views.
fn pictures(
    setup: &mut Setup,
    engine: &mut Engine,
    phases: Phases,
    light: Option<View>,
) -> (Vec<Vec<u8>>, Vec<ViewStats>) {
    let mut crowd = crowd(setup);
    let layers = Layers::new(engine);
    let desc = PassDesc {
        kind: PassKind::Color,
        color_formats: vec![COLOR],
        depth_format: DEPTH,
        view_mask: BOTH,
        ..PassDesc::default()
    };
    let pass = unsafe { crowd.create_pass(&desc) }.unwrap();
    let late = matches!(phases, Phases::Two | Phases::Both);
    let before = matches!(phases, Phases::One | Phases::Both);
    let camera = View { late, ..camera() };
    let views: Vec<_> = [camera].into_iter().chain(light).collect();
    let mut figures = Vec::new();
    for _ in 0..4 {
        engine.run(|engine, cmd| {
            let mut frame = setup.begin(&mut crowd, 0, 0.3);
            figures = frame.view_stats().to_vec();
            let undefined = vk::ImageLayout::UNDEFINED;
            engine.transition(cmd, &layers.color, undefined, DRAWN);
            engine.transition(cmd, &layers.depth, undefined, TESTED);
            for eye in 0..2 {
                layers.draw_walls(engine, cmd, &camera, eye);
            }
            let depths = layers.depths();
            let depths_before = if before { &depths[..] } else { &[] };
            engine.transition(cmd, &layers.depth, TESTED, READ);
            let ids = unsafe { frame.record_prepare_behind(cmd, &views, depths_before) };
            let view = ids.unwrap()[0];
            engine.transition(cmd, &layers.depth, READ, TESTED);
            let clear = vk::AttachmentLoadOp::CLEAR;
            layers.draw((engine, cmd), &frame, (view, pass), clear);
            if late {
                engine.transition(cmd, &layers.depth, TESTED, READ);
                unsafe { frame.record_reveal(cmd, &depths) }.unwrap();
                engine.transition(cmd, &layers.depth, READ, TESTED);
                let load = vk::AttachmentLoadOp::LOAD;
                layers.draw((engine, cmd), &frame, (view.late(), pass), load);
            }
            let read = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            engine.transition(cmd, &layers.color, DRAWN, read);
            engine.transition(cmd, &layers.depth, TESTED, read);
        });
    }
    let drawn = layers.read(engine);
    engine.destroy_image(layers.color);
    engine.destroy_image(layers.depth);
    setup.context.wait_idle().unwrap();
    unsafe { crowd.destroy(&mut setup.context.allocator()) };
    (drawn, figures)
}

/// Of five people, one is behind walls for the left eye, one for the right eye, and one for both.
#[test]
fn both_eyes_must_agree() {
    each_with_features(|setup| {
        let mut engine = Engine::of_setup(setup);
        let hidden = WALLS.iter().filter(|walls| **walls == [true; 2]).count() as u32;
        let people = WALLS.len() as u32;
        let (all, figures) = pictures(setup, &mut engine, Phases::None, None);
        assert_eq!((figures[0].shown, figures[0].hidden), (people, 0));
        for phases in [Phases::One, Phases::Two, Phases::Both] {
            let (some, figures) = pictures(setup, &mut engine, phases, None);
            for (number, (all, some)) in all.iter().zip(&some).enumerate() {
                assert!(all == some, "{phases:?}, picture {number}");
            }
            let (shown, late) = (figures[0].shown, figures[0].late);
            assert_eq!(
                (shown, figures[0].hidden),
                (people - hidden, hidden),
                "{phases:?}"
            );
            assert_eq!(late, 0, "{phases:?}");
        }
        engine.destroy();
    });
}

/// A shadow counts as seen if one eye of the camera sees it, in one phase and in two.
#[test]
fn both_eyes_must_miss_a_shadow() {
    each_with_features(|setup| {
        let mut engine = Engine::of_setup(setup);
        let hidden = WALLS.iter().filter(|walls| **walls == [true; 2]).count() as u32;
        let casters = WALLS.len() as u32;
        let late = View {
            late: true,
            ..light()
        };
        for (phases, light) in [
            (Phases::One, light()),
            (Phases::Two, late),
            (Phases::Both, late),
        ] {
            let (_, figures) = pictures(setup, &mut engine, phases, Some(light));
            let (shown, unseen) = (figures[1].shown, figures[1].hidden);
            assert_eq!((shown, unseen), (casters - hidden, hidden), "{phases:?}");
        }
        engine.destroy();
    });
}
