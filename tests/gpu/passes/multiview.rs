//! Passes with a view mask: several eyes in one draw, which show what views of their own show.

use super::canvas::{Canvas, DEPTH, Layer, Subpasses};
use super::troupe::{TIME_S, Troupe};
use crate::engine::Engine;
use crate::reference::words::Says;
use crate::support::exceptions::{self, Needs};
use crate::support::frames::EXTENT;
use crate::support::probe::spirv;
use crate::support::{SMALL, Setup, each_with_features, reversed, view};
use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Mat4, Vec2, Vec3};
use throng::gpu::{Device, Features};
use throng::{
    CharacterDesc, Crowd, Detail, Error, Eye, MaterialDesc, PassDesc, PassId, PassKind, Shadow,
    ShadowMap, Spawn, View, ViewId, builtin,
};

const COLOR: vk::Format = vk::Format::R8G8B8A8_SRGB;
const MOTION: vk::Format = vk::Format::R32G32_SFLOAT;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;

/// The ways to draw a picture of all eyes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// A view for each eye, drawn into one layer after the other.
    Views,
    /// One view, in a dynamic rendering with a view mask.
    Dynamic,
    /// One view, in a render pass with a view mask.
    RenderPass,
}

struct Scene {
    engine: Engine,
    troupe: Troupe,
    canvas: Canvas,
    eyes: u32,
    render_pass: vk::RenderPass,
    subpasses: Subpasses,
    /// By [`How`].
    passes: [PassId; 3],
}

impl Scene {
    fn new(
        setup: &mut Setup,
        what: (PassKind, Subpasses, u32),
        how: (vk::SampleCountFlags, bool),
    ) -> Self {
        Self::shaded(setup, what, how, None)
    }

    /// With shaders of the engine's own: for one eye, and for several.
    fn shaded(
        setup: &mut Setup,
        (kind, subpasses, eyes): (PassKind, Subpasses, u32),
        (samples, reversed_z): (vk::SampleCountFlags, bool),
        shaders: Option<[&str; 2]>,
    ) -> Self {
        let mut engine = Engine::of_setup(setup);
        let format = if kind == PassKind::Motion {
            MOTION
        } else {
            COLOR
        };
        let mut troupe = Troupe::few(setup, format);
        let clear_depth = if reversed_z { 0.0 } else { 1.0 };
        let canvas = Canvas::new(&mut engine, format, samples, (eyes, clear_depth));
        let view_mask = (1 << eyes) - 1;
        let mut read = PassDesc::default();
        let render_pass = canvas.render_pass(&engine, subpasses, view_mask, |info| {
            read = unsafe { PassDesc::of_subpass_2(info, 0, vk::RenderPass::null()) }.unwrap();
        });
        assert_eq!(read.view_mask, view_mask);
        let in_subpass = PassDesc {
            kind,
            render_pass: Some(render_pass),
            reversed_z,
            depth_bias_constant: Some(0.0),
            depth_bias_slope: Some(0.0),
            ..read
        };
        let dynamic = PassDesc {
            render_pass: None,
            ..in_subpass.clone()
        };
        let alone = PassDesc {
            view_mask: 0,
            ..dynamic.clone()
        };
        let own = shaders.map(|names| names.map(spirv));
        let mut create = |desc: PassDesc<'_>| {
            let material = own.as_ref().map(|[one, several]| MaterialDesc {
                fragment_spirv: if desc.view_mask == 0 { one } else { several },
                set_layouts: &[],
                push_bytes: 0,
            });
            let desc = PassDesc { material, ..desc };
            unsafe { troupe.crowd.create_pass(&desc) }.unwrap()
        };
        let passes = [alone, dynamic, in_subpass].map(&mut create);
        Self {
            engine,
            troupe,
            canvas,
            eyes,
            render_pass,
            subpasses,
            passes,
        }
    }

    /// Draws all eyes of a view. With a history, each view of an eye has its own.
    fn draw(&mut self, setup: &mut Setup, how: How, view: &View) -> Vec<Layer> {
        let alone: Vec<_> = (0..self.eyes)
            .map(|eye| View {
                history: view.history.map(|_| eye),
                ..view.of_eye(eye as usize).unwrap()
            })
            .collect();
        let views = match how {
            How::Views => &alone[..],
            _ => std::slice::from_ref(view),
        };
        let pass = self.passes[how as usize];
        let view_mask = (1 << self.eyes) - 1;
        let subpasses = self.subpasses;
        let mut framebuffer = vk::Framebuffer::null();
        let (crowd, canvas) = (&mut self.troupe.crowd, &mut self.canvas);
        self.engine.run(|engine, cmd| unsafe {
            let allocator = &mut setup.context.allocator();
            crowd.update(TIME_S).unwrap();
            let mut frame = crowd.begin_frame(allocator, 0, TIME_S).unwrap();
            let views = frame.record_prepare(cmd, views).unwrap();
            canvas.ready(engine, cmd);
            match how {
                How::Views => {
                    for (layer, view) in (0..).zip(views.iter()) {
                        canvas.dynamic(engine, cmd, (layer, 0), subpasses, || {
                            frame.record_draw(cmd, *view, pass).unwrap();
                        });
                    }
                }
                How::Dynamic => canvas.dynamic(engine, cmd, (0, view_mask), subpasses, || {
                    frame.record_draw(cmd, views[0], pass).unwrap();
                }),
                How::RenderPass => {
                    let on = (self.render_pass, subpasses);
                    framebuffer = canvas.in_render_pass(engine, cmd, on, (0, view_mask), |_| {
                        frame.record_draw(cmd, views[0], pass).unwrap();
                    });
                }
            }
            canvas.finish(engine, cmd);
        });
        unsafe { self.engine.raw.destroy_framebuffer(framebuffer, None) };
        let layers = 0..self.eyes;
        layers
            .map(|layer| self.canvas.read(&mut self.engine, layer, subpasses))
            .collect()
    }

    /// Compares the pictures of an eye with those of its own view.
    fn compare(mut self, setup: &mut Setup, views: &[View]) {
        let pictures = [How::Views, How::Dynamic, How::RenderPass].map(|how| {
            let pictures = views.iter().map(|view| self.draw(setup, how, view));
            pictures.last().unwrap()
        });
        let [alone, dynamic, in_render_pass] = &pictures;
        let clear = self.canvas.clear_depth.to_ne_bytes();
        for (eye, one) in alone.iter().enumerate() {
            let drawn = |texels: &[u8], clear: &[u8]| {
                let texels = texels.chunks(clear.len());
                texels.filter(|texel| *texel != clear).count()
            };
            let first: Vec<_> = one.color.iter().take(8).copied().collect();
            let count = drawn(&one.depth, &clear) + drawn(&one.color, first.as_slice().max(&[0]));
            assert!(count > 300, "eye {eye}: {count}");
            assert!(*one == dynamic[eye], "eye {eye}, dynamic rendering");
            assert!(*one == in_render_pass[eye], "eye {eye}, render pass");
        }
        assert!(alone[0] != alone[1], "the eyes see the same");
        let raw = self.engine.raw.clone();
        unsafe { raw.destroy_render_pass(self.render_pass, None) };
        self.canvas.destroy(&mut self.engine);
        self.engine.destroy();
        self.troupe.destroy(setup);
    }
}

/// A view with this many eyes, side by side, each turned a little. They see everything: Mesa 22's
/// lavapipe draws triangles that cross an edge into layers of other eyes.
fn eyes(count: usize, moved: f32, reversed_z: bool) -> View {
    let eye = |number: usize| {
        let x = number as f32 * 1.5 - 0.7 + moved;
        let seen = view(
            Vec3::new(x, 0.5, 30.0),
            Vec3::new(0.3 * x, moved, 0.0),
            EXTENT,
        );
        if reversed_z { reversed(&seen) } else { seen }
    };
    let mut view = View {
        eye: Eye {
            jitter: Vec2::new(0.013, -0.007),
            ..eye(0).eye
        },
        ..eye(0)
    };
    for (number, more) in view.more_eyes.iter_mut().enumerate().take(count - 1) {
        let seen = eye(number + 1);
        *more = Some(Eye {
            jitter: Vec2::new(-0.01, 0.002 * number as f32),
            ..Eye::new(seen.eye.clip_from_world, seen.eye.position)
        });
    }
    view
}

#[test]
fn both_eyes_of_a_headset_are_one_draw() {
    each_with_features(|setup| {
        let without_depth = (PassKind::Color, Subpasses::ColorAlone, 2);
        let scene = Scene::new(setup, without_depth, (ONE, false));
        scene.compare(setup, &[eyes(2, 0.0, false)]);
        let with_depth = (PassKind::Color, Subpasses::Color, 2);
        let scene = Scene::new(setup, with_depth, (ONE, true));
        scene.compare(setup, &[eyes(2, 0.0, true)]);
        let test = "passes::multiview::both_eyes_of_a_headset_are_one_draw";
        if exceptions::has(&setup.context, test, Needs::LayersWithSamples) {
            let four = vk::SampleCountFlags::TYPE_4;
            let scene = Scene::new(setup, with_depth, (four, false));
            scene.compare(setup, &[eyes(2, 0.0, false)]);
        }
    });
}

#[test]
fn shading_of_the_engines_own_knows_the_eye() {
    each_with_features(|setup| {
        let with_depth = (PassKind::Color, Subpasses::Color, 2);
        let shaders = ["test/eyes.frag", "test/eyes_multiview.frag"];
        let scene = Scene::shaded(setup, with_depth, (ONE, false), Some(shaders));
        scene.compare(setup, &[eyes(2, 0.0, false)]);
    });
}

#[test]
fn layers_of_a_shadow_map_are_one_draw() {
    each_with_features(|setup| {
        let shadow = (PassKind::Shadow, Subpasses::Depth, 4);
        let scene = Scene::new(setup, shadow, (ONE, false));
        scene.compare(setup, &[eyes(4, 0.0, false)]);
        let depth = (PassKind::Depth, Subpasses::Depth, 3);
        let scene = Scene::new(setup, depth, (ONE, true));
        scene.compare(setup, &[eyes(3, 0.2, true)]);
    });
}

#[test]
fn every_eye_has_motion_vectors_of_its_own() {
    each_with_features(|setup| {
        let views = [0.0, 0.4].map(|moved| View {
            history: Some(0),
            ..eyes(2, moved, false)
        });
        let scene = (PassKind::Motion, Subpasses::Color, 2);
        Scene::new(setup, scene, (ONE, false)).compare(setup, &views);
    });
}

/// Draws both eyes of a view under a sun whose shadow map has two layers: all of it in two draws,
/// or in one for each layer.
fn under_the_sun(
    setup: &mut Setup,
    (engine, crowd): (&mut Engine, &mut Crowd),
    (map, canvas): (&mut Canvas, &mut Canvas),
    (lights, seen): (&View, &View),
    at_once: bool,
) -> [Layer; 2] {
    let view_mask = if at_once { 0b11 } else { 0 };
    let shadow = PassDesc {
        kind: PassKind::Shadow,
        depth_format: DEPTH,
        view_mask,
        ..PassDesc::default()
    };
    let shaded = PassDesc {
        color_formats: vec![COLOR],
        depth_format: DEPTH,
        shadow_map: true,
        view_mask,
        ..PassDesc::default()
    };
    let [shadow, shaded] =
        [shadow, shaded].map(|desc| unsafe { crowd.create_pass(&desc) }.unwrap());
    let views = match at_once {
        true => vec![*lights, *seen],
        false => [lights, seen]
            .iter()
            .flat_map(|view| [0, 1].map(|eye| view.of_eye(eye).unwrap()))
            .collect(),
    };
    engine.run(|engine, cmd| unsafe {
        let allocator = &mut setup.context.allocator();
        crowd.update(TIME_S).unwrap();
        let mut frame = crowd.begin_frame(allocator, 0, TIME_S).unwrap();
        let views = frame.record_prepare(cmd, &views).unwrap();
        let draw = |canvas: &mut Canvas, kind, pass, views: &[ViewId]| {
            for (layer, view) in (0..).zip(views) {
                canvas.dynamic(engine, cmd, (layer, view_mask), kind, || {
                    frame.record_draw(cmd, *view, pass).unwrap();
                });
            }
        };
        map.ready(engine, cmd);
        canvas.ready(engine, cmd);
        let (lights, eyes) = views.split_at(views.len() / 2);
        draw(map, Subpasses::Depth, shadow, lights);
        let attached = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        let sampled = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        engine.transition(cmd, &map.depth, attached, sampled);
        draw(canvas, Subpasses::Color, shaded, eyes);
        canvas.finish(engine, cmd);
    });
    [0, 1].map(|layer| canvas.read(engine, layer, Subpasses::Color))
}

#[test]
fn both_eyes_see_the_shadows_of_the_sun() {
    each_with_features(|setup| {
        let mut engine = Engine::of_setup(setup);
        let mut crowd = setup.crowd(1, SMALL);
        let mannequin = builtin::mannequin().unwrap().character;
        let mannequin = crowd.add_character(
            &mut setup.context.allocator(),
            &mannequin,
            &CharacterDesc::default(),
        );
        for x in [-1.0, 0.0, 0.7, 1.6] {
            let spawn = Spawn {
                world_from_model: Affine3A::from_translation(Vec3::new(x, 0.0, 0.3 * x)),
                ..Spawn::default()
            };
            crowd.spawn(mannequin.clone().unwrap(), &spawn).unwrap();
        }
        let sun = Vec3::new(1.0, 0.5, 0.3);
        let look = rh::view::look_at_mat4(sun * 10.0, Vec3::Y, Vec3::Y);
        let clips = [1.2_f32, 3.0]
            .map(|half| rh::proj::vulkan::orthographic(-half, half, -half, half, 0.1, 30.0) * look);
        let mut lights = View::new(clips[0], sun * 10.0, EXTENT);
        lights.more_eyes[0] = Some(Eye::new(clips[1], sun * 10.0));
        let shadow = Shadow::of(&[lights]);
        let eye = |x| view(Vec3::new(x, 1.4, 6.0), Vec3::new(0.3, 0.8, 0.0), EXTENT);
        let mut seen = View {
            shadow: Some(shadow),
            detail: Detail {
                error_px: 0.0,
                ..eye(-0.1).detail
            },
            ..eye(-0.1)
        };
        seen.lighting.sun_direction = sun;
        let right = eye(0.1);
        seen.more_eyes[0] = Some(Eye::new(right.eye.clip_from_world, right.eye.position));
        lights.detail.error_px = 0.0;

        let mut map = Canvas::new(&mut engine, COLOR, ONE, (2, 1.0));
        let mut canvas = Canvas::new(&mut engine, COLOR, ONE, (2, 1.0));
        let looked_up = ShadowMap {
            view: engine.view(&mut map.depth, 0, 2),
            layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            edge: EXTENT.width,
            reversed_z: false,
        };
        unsafe { crowd.set_shadow_map(&looked_up) }.unwrap();
        let mut pictures = Vec::new();
        for (shadow, at_once) in [(Some(shadow), false), (Some(shadow), true), (None, true)] {
            let seen = View { shadow, ..seen };
            let on = (&mut map, &mut canvas);
            let with = (&mut engine, &mut crowd);
            pictures.push(under_the_sun(setup, with, on, (&lights, &seen), at_once));
        }
        let [one_by_one, at_once, bright] = [&pictures[0], &pictures[1], &pictures[2]];
        for eye in 0..2 {
            assert!(at_once[eye] == one_by_one[eye], "eye {eye}");
            let both = at_once[eye].color.iter().zip(&bright[eye].color);
            let dark = both.filter(|(dark, bright)| dark < bright).count();
            assert!(dark > 100, "eye {eye}: {dark} bytes lie in shadow");
        }
        assert!(at_once[0] != at_once[1]);
        setup.context.wait_idle().unwrap();
        unsafe { crowd.destroy(&mut setup.context.allocator()) };
        map.destroy(&mut engine);
        canvas.destroy(&mut engine);
        engine.destroy();
    });
}

/// The text of an error.
fn text<T>(result: Result<T, Error>) -> String {
    result.map(drop).unwrap_err().to_string()
}

#[test]
fn eyes_that_do_not_fit_are_named() {
    each_with_features(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let desc = PassDesc {
            color_formats: vec![COLOR],
            view_mask: 0b11,
            ..PassDesc::default()
        };
        let pass = unsafe { crowd.create_pass(&desc) }.unwrap();
        let wide = PassDesc {
            view_mask: 0b10001,
            ..desc.clone()
        };
        let wrong = text(unsafe { crowd.create_pass(&wide) });
        wrong.says("…eyes of a view mask…");

        let fine = eyes(2, 0.0, false);
        let second = fine.more_eyes[0].unwrap();
        let with = |more_eyes| View { more_eyes, ..fine };
        let mirror = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
        let mirrored = Eye::new(mirror * second.clip_from_world, second.position);
        let flat = Eye::new(Mat4::from_scale(Vec3::new(0.1, 0.1, -0.1)), second.position);
        let jumps = Eye {
            jitter: Vec2::NAN,
            ..second
        };
        let refused = [
            (with([None, Some(second), None]), "no gaps"),
            (with([Some(mirrored), None, None]), "mirrored or not"),
            (
                with([Some(flat), None, None]),
                "perspective or orthographic",
            ),
            (with([Some(jumps), None, None]), "finite"),
        ];
        let (instance, physical) = (&setup.context.instance, setup.context.physical_device);
        let without = setup.device().enabled() - Features::MULTIVIEW;
        let raw = &setup.context.device;
        let device = unsafe { Device::new(instance, physical, raw, without) }.unwrap();
        let mut engine = Engine::of_setup(setup);
        let desc_of_crowd = setup.crowd_desc(1, SMALL);
        let mut flat_crowd = Crowd::new(&device, &mut engine.allocator, &desc_of_crowd).unwrap();
        let wrong = text(unsafe { flat_crowd.create_pass(&desc) });
        wrong.says("PassDesc::view_mask needs multiview, which the device has not enabled");
        engine.run(|engine, cmd| unsafe {
            let allocator = &mut setup.context.allocator();
            let mut frame = crowd.begin_frame(allocator, 0, 0.0).unwrap();
            for (view, why) in &refused {
                let wrong = text(frame.record_prepare(cmd, &[*view]));
                assert!(
                    wrong.contains("View::more_eyes") && wrong.contains(why),
                    "{wrong}"
                );
            }
            let views = frame.record_prepare(cmd, &[fine, with([None; 3])]).unwrap();
            text(frame.record_draw(cmd, views[1], pass)).says("…fewer eyes than the view mask…");

            let allocator = &mut engine.allocator;
            let mut frame = flat_crowd.begin_frame(allocator, 0, 0.0).unwrap();
            text(frame.record_prepare(cmd, &[fine])).says("…View::more_eyes needs multiview…");
            frame.record_prepare(cmd, &[with([None; 3])]).unwrap();
        });
        unsafe { flat_crowd.destroy(&mut engine.allocator) };
        engine.destroy();
        setup.destroy(crowd);
    });
}
