//! Passes in an engine's render passes draw what those with dynamic rendering do.

use super::canvas::{Canvas, DEPTH, Layer, Subpasses};
use super::troupe::{TIME_S, Troupe, camera};
use crate::engine::Engine;
use crate::reference::words::{Fails, Says};
use crate::support::frames::EXTENT;
use crate::support::{SMALL, Setup, each, view};
use throng::ash::vk;
use throng::glam::Vec3;
use throng::gpu::Features;
use throng::{
    CharacterDesc, Crowd, CrowdDesc, Error, PassDesc, PassId, PassKind, Spawn, View, builtin,
};

const COLOR: vk::Format = vk::Format::R8G8B8A8_SRGB;
const MOTION: vk::Format = vk::Format::R32G32_SFLOAT;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;

/// Two ways to draw the same passes.
struct Scene {
    engine: Engine,
    troupe: Troupe,
    canvas: Canvas,
    render_pass: vk::RenderPass,
    subpasses: Subpasses,
    /// With and without the render pass, one for each subpass.
    passes: [Vec<PassId>; 2],
}

impl Scene {
    /// `kinds` has the kind of each subpass, and its depth test after a prepass.
    fn new(
        setup: &mut Setup,
        (format, samples): (vk::Format, vk::SampleCountFlags),
        subpasses: Subpasses,
        kinds: &[(PassKind, Option<vk::CompareOp>)],
    ) -> Self {
        let mut engine = Engine::of_setup(setup);
        let mut troupe = Troupe::few(setup, format);
        let canvas = Canvas::new(&mut engine, format, samples, (1, 1.0));
        let mut read = Vec::new();
        let render_pass = canvas.render_pass(&engine, subpasses, 0, |info| unsafe {
            let of = |index| PassDesc::of_subpass_2(info, index, vk::RenderPass::null());
            read.extend((0..info.subpass_count).map(of).map(Result::unwrap));
            of(info.subpass_count).fails("… does not exist: there are …");
        });
        let mut passes = [Vec::new(), Vec::new()];
        for (read, (kind, after_prepass)) in read.into_iter().zip(kinds) {
            let colors = match kind {
                PassKind::Color | PassKind::Motion => vec![format],
                _ => Vec::new(),
            };
            assert_eq!(read.color_formats, colors);
            assert_eq!(read.depth_format, DEPTH);
            assert_eq!(read.stencil_format, vk::Format::UNDEFINED);
            assert_eq!(read.samples, samples);
            let desc = PassDesc {
                kind: *kind,
                render_pass: Some(render_pass),
                after_prepass: *after_prepass,
                ..read
            };
            // A rendering has the same attachments for all of its passes.
            let alone = PassDesc {
                render_pass: None,
                color_formats: match subpasses {
                    Subpasses::Depth => Vec::new(),
                    _ => vec![format],
                },
                ..desc.clone()
            };
            for (passes, desc) in passes.iter_mut().zip([desc, alone]) {
                passes.push(unsafe { troupe.crowd.create_pass(&desc) }.unwrap());
            }
        }
        Self {
            engine,
            troupe,
            canvas,
            render_pass,
            subpasses,
            passes,
        }
    }

    fn draw(&mut self, setup: &mut Setup, in_render_pass: bool, view: View) -> Layer {
        let mut framebuffer = vk::Framebuffer::null();
        let (crowd, canvas) = (&mut self.troupe.crowd, &mut self.canvas);
        let [with, without] = &self.passes;
        self.engine.run(|engine, cmd| unsafe {
            let allocator = &mut setup.context.allocator();
            crowd.update(TIME_S).unwrap();
            let mut frame = crowd.begin_frame(allocator, 0, TIME_S).unwrap();
            let views = frame.record_prepare(cmd, &[view]).unwrap();
            canvas.ready(engine, cmd);
            if in_render_pass {
                let pass = (self.render_pass, self.subpasses);
                framebuffer = canvas.in_render_pass(engine, cmd, pass, (0, 0), |subpass| {
                    let pass = with[subpass as usize];
                    frame.record_draw(cmd, views[0], pass).unwrap();
                });
            } else {
                canvas.dynamic(engine, cmd, (0, 0), self.subpasses, || {
                    for pass in without {
                        frame.record_draw(cmd, views[0], *pass).unwrap();
                    }
                });
            }
            canvas.finish(engine, cmd);
        });
        unsafe { self.engine.raw.destroy_framebuffer(framebuffer, None) };
        self.canvas.read(&mut self.engine, 0, self.subpasses)
    }

    /// Compares the pictures.
    fn compare(mut self, setup: &mut Setup) {
        let history = (self.canvas.format == MOTION).then_some(0);
        let view = View {
            history,
            ..camera()
        };
        let moved = View {
            history,
            ..view_from(Vec3::new(1.0, 0.0, 16.0))
        };
        let [with, without] = [true, false].map(|in_render_pass| {
            if history.is_some() {
                self.draw(setup, in_render_pass, moved);
            }
            self.draw(setup, in_render_pass, view)
        });
        let first = with.color[..with.color.len().min(8)].to_vec();
        let colors = with.color.chunks(8);
        let depths = with.depth.chunks(4);
        let drawn = colors.filter(|texel| **texel != first).count()
            + depths
                .filter(|depth| **depth != 1_f32.to_ne_bytes())
                .count();
        assert!(drawn > 500, "only {drawn} texels are drawn");
        assert!(with == without, "{:?}", self.subpasses);
        let raw = self.engine.raw.clone();
        unsafe { raw.destroy_render_pass(self.render_pass, None) };
        self.canvas.destroy(&mut self.engine);
        self.engine.destroy();
        self.troupe.destroy(setup);
    }
}

fn view_from(eye: Vec3) -> View {
    view(eye, Vec3::ZERO, EXTENT)
}

#[test]
fn render_passes_show_what_dynamic_rendering_shows() {
    each(|setup| {
        let four = vk::SampleCountFlags::TYPE_4;
        let color = [(PassKind::Color, None)];
        Scene::new(setup, (COLOR, ONE), Subpasses::Color, &color).compare(setup);
        Scene::new(setup, (COLOR, four), Subpasses::Color, &color).compare(setup);
    });
}

#[test]
fn a_subpass_after_a_prepass_shows_what_one_rendering_shows() {
    each(|setup| {
        let kinds = [
            (PassKind::Depth, None),
            (PassKind::Color, Some(vk::CompareOp::EQUAL)),
        ];
        Scene::new(setup, (COLOR, ONE), Subpasses::Prepass, &kinds).compare(setup);
    });
}

#[test]
fn shadow_and_motion_passes_take_render_passes() {
    each(|setup| {
        let shadow = [(PassKind::Shadow, None)];
        Scene::new(setup, (COLOR, ONE), Subpasses::Depth, &shadow).compare(setup);
        let motion = [(PassKind::Motion, None)];
        Scene::new(setup, (MOTION, ONE), Subpasses::Color, &motion).compare(setup);
    });
}

/// An engine without dynamic rendering, whose render pass is of Vulkan 1.0.
#[test]
fn a_device_needs_buffer_addresses_alone() {
    each(|setup| {
        let mut engine = Engine::new(setup, Features::REQUIRED);
        let mut canvas = Canvas::new(&mut engine, COLOR, ONE, (1, 1.0));
        let desc = CrowdDesc {
            profile: true,
            ..setup.crowd_desc(1, SMALL)
        };
        let mut crowd = Crowd::new(&engine.device, &mut engine.allocator, &desc).unwrap();
        let layouts = [
            vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
            vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        ];
        // Depth stands first, as on the canvas.
        let attachments = [(DEPTH, layouts[1]), (COLOR, layouts[0])].map(|(format, layout)| {
            vk::AttachmentDescription::default()
                .format(format)
                .samples(ONE)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)
                .initial_layout(layout)
                .final_layout(layout)
        });
        let reference = |index, layout| vk::AttachmentReference {
            attachment: index,
            layout,
        };
        let (colors, depth) = ([reference(1, layouts[0])], reference(0, layouts[1]));
        let subpasses = [vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&colors)
            .depth_stencil_attachment(&depth)];
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses);
        let render_pass = unsafe { engine.raw.create_render_pass(&info, None) }.unwrap();
        let of = |info: &vk::RenderPassCreateInfo<'_>| unsafe {
            PassDesc::of_subpass(info, 0, render_pass)
        };
        let desc = of(&info).unwrap();
        let pass = unsafe { crowd.create_pass(&desc) }.unwrap();
        // Characters that are added later add pipelines.
        let mannequin = builtin::mannequin().unwrap().character;
        let mannequin =
            crowd.add_character(&mut engine.allocator, &mannequin, &CharacterDesc::default());
        crowd.spawn(mannequin.unwrap(), &Spawn::default()).unwrap();
        let mut framebuffer = vk::Framebuffer::null();
        engine.run(|engine, cmd| unsafe {
            crowd.update(0.3).unwrap();
            let mut frame = crowd.begin_frame(&mut engine.allocator, 0, 0.3).unwrap();
            let views = [view(Vec3::new(0.0, 1.0, 4.0), Vec3::Y, EXTENT)];
            let views = frame.record_prepare(cmd, &views).unwrap();
            canvas.ready(engine, cmd);
            let on = (render_pass, Subpasses::Color);
            framebuffer = canvas.in_render_pass(engine, cmd, on, (0, 0), |_| {
                frame.record_draw(cmd, views[0], pass).unwrap();
            });
            canvas.finish(engine, cmd);
        });
        let layer = canvas.read(&mut engine, 0, Subpasses::Color);
        let depths = layer.depth.chunks(4);
        let drawn = depths.filter(|depth| **depth != 1_f32.to_ne_bytes());
        assert!(drawn.count() > 500);

        // The error names what does not fit.
        let mut refused = |desc: PassDesc<'_>| {
            let error = unsafe { crowd.create_pass(&desc) }.unwrap_err();
            error.to_string()
        };
        let wrong = refused(PassDesc {
            render_pass: Some(vk::RenderPass::null()),
            ..desc.clone()
        });
        wrong.says("PassDesc::render_pass: must not be null");
        let wrong = refused(PassDesc {
            render_pass: None,
            ..desc.clone()
        });
        wrong.says(
            "a PassDesc without a render pass needs dynamicRendering, which the device has not \
             enabled",
        );
        let shadow = PassDesc {
            kind: PassKind::Shadow,
            ..desc.clone()
        };
        refused(shadow).says("PassDesc::color_formats…");
        // An attachment that does not exist, and samples that differ.
        let beyond = [reference(2, layouts[0])];
        let wrong = [subpasses[0].color_attachments(&beyond)];
        let info = info.subpasses(&wrong);
        of(&info).fails("… does not exist: there are …");
        let mut mixed = attachments;
        mixed[0].samples = vk::SampleCountFlags::TYPE_4;
        let info = info.attachments(&mixed).subpasses(&subpasses);
        let read = of(&info);
        assert!(matches!(read, Err(Error::Argument { .. })), "{read:?}");
        unsafe {
            engine.raw.destroy_framebuffer(framebuffer, None);
            crowd.destroy(&mut engine.allocator);
            engine.raw.destroy_render_pass(render_pass, None);
        }
        canvas.destroy(&mut engine);
        engine.destroy();
    });
}
