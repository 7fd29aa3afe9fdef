//! Shadow passes: one view per layer of a depth image, with a bias away from the light.

use super::troupe::{TIME_S, Troupe, WAYS, camera, floats};
use crate::support::frames::{EXTENT, NORMAL_Z, REVERSED_Z};
use crate::support::read_image::{ImageRead, read_image};
use crate::support::{Setup, each, reversed, view};
use throng::ash::{self, vk};
use throng::glam::Vec3;
use throng::gpu::{MemoryAllocator, MemoryBlock, MemoryRequest};
use throng::gpu_allocator::MemoryLocation;
use throng::{PassId, PassKind, View};

const LAYERS: u32 = 2;
const ATTACHMENT: vk::ImageLayout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;

/// A depth image with an image view for each layer.
struct Map {
    image: vk::Image,
    layers: Vec<vk::ImageView>,
    memory: Option<MemoryBlock>,
}

impl Map {
    fn new(setup: &mut Setup) -> Self {
        let device = setup.context.device.clone();
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::D32_SFLOAT)
            .extent(EXTENT.into())
            .mip_levels(1)
            .array_layers(LAYERS)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC);
        unsafe {
            let image = device.create_image(&info, None).unwrap();
            let desc = MemoryRequest {
                name: "shadow map",
                requirements: device.get_image_memory_requirements(image),
                location: MemoryLocation::GpuOnly,
                linear: false,
                device_address: false,
            };
            let memory = setup.context.allocator().allocate(&desc).unwrap();
            let bound = device.bind_image_memory(image, memory.memory, memory.offset);
            bound.unwrap();
            let layer = |layer| {
                let info = vk::ImageViewCreateInfo::default()
                    .image(image)
                    .view_type(vk::ImageViewType::TYPE_2D)
                    .format(vk::Format::D32_SFLOAT)
                    .subresource_range(range(layer, 1));
                device.create_image_view(&info, None).unwrap()
            };
            Self {
                image,
                layers: (0..LAYERS).map(layer).collect(),
                memory: Some(memory),
            }
        }
    }

    /// Records that all layers may be drawn into.
    unsafe fn ready(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        let stages = vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS
            | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS;
        let access = vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE;
        let barriers = [vk::ImageMemoryBarrier2::default()
            .image(self.image)
            .subresource_range(range(0, LAYERS))
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(stages)
            .dst_access_mask(access | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ)
            .old_layout(vk::ImageLayout::UNDEFINED)
            .new_layout(ATTACHMENT)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
    }

    /// Begins rendering into one layer.
    unsafe fn begin(&self, device: &ash::Device, cmd: vk::CommandBuffer, layer: usize, clear: f32) {
        let depth = vk::ClearDepthStencilValue {
            depth: clear,
            stencil: 0,
        };
        let attachment = vk::RenderingAttachmentInfo::default()
            .image_view(self.layers[layer])
            .image_layout(ATTACHMENT)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(vk::ClearValue {
                depth_stencil: depth,
            });
        let info = vk::RenderingInfo::default()
            .render_area(EXTENT.into())
            .layer_count(1)
            .depth_attachment(&attachment);
        unsafe { device.cmd_begin_rendering(cmd, &info) };
    }

    fn read(&self, setup: &mut Setup, layer: u32) -> Vec<f32> {
        let read = ImageRead {
            image: self.image,
            aspect: vk::ImageAspectFlags::DEPTH,
            layout: ATTACHMENT,
            layer,
            extent: EXTENT,
            texel_bytes: 4,
        };
        floats(&unsafe { read_image(&setup.context, &read) }.unwrap())
    }

    fn destroy(mut self, setup: &mut Setup) {
        let device = &setup.context.device;
        unsafe {
            for layer in &self.layers {
                device.destroy_image_view(*layer, None);
            }
            device.destroy_image(self.image, None);
        }
        let memory = self.memory.take().unwrap();
        unsafe { setup.context.allocator().free(memory) }.unwrap();
    }
}

fn range(layer: u32, count: u32) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::DEPTH,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: layer,
        layer_count: count,
    }
}

/// Draws a view into each layer, in one frame.
fn fill(setup: &mut Setup, troupe: &mut Troupe, map: &Map, views: &[View; 2], pass: (PassId, f32)) {
    let (pass, clear) = pass;
    let cmd = troupe.frames_in_flight.begin(&setup.context, 0);
    unsafe {
        let context = &mut setup.context;
        let allocator = &mut context.allocator();
        troupe.crowd.update(TIME_S).unwrap();
        let mut frame = troupe.crowd.begin_frame(allocator, 0, TIME_S).unwrap();
        let ids = frame.record_prepare(cmd, views).unwrap();
        map.ready(&context.device, cmd);
        for (layer, view) in ids.iter().enumerate() {
            map.begin(&context.device, cmd, layer, clear);
            frame.record_draw(cmd, *view, pass).unwrap();
            context.device.cmd_end_rendering(cmd);
        }
    }
    troupe.frames_in_flight.submit(&setup.context, 0);
    troupe.frames_in_flight.wait(&setup.context, 0);
}

#[test]
fn each_layer_gets_its_view_and_bias_leads_away_from_the_light() {
    // Each method is drawn with both directions of depth, in one setup or the next.
    let mut reversed_z = true;
    each(|setup| {
        reversed_z = !reversed_z;
        let map = Map::new(setup);
        let mut troupe = Troupe::new(setup, vk::Format::R8G8B8A8_SRGB, false);
        let clear = if reversed_z { REVERSED_Z } else { NORMAL_Z };
        let side = view(Vec3::new(9.0, 3.0, 13.0), Vec3::ZERO, EXTENT);
        let views = [camera(), side].map(|view| if reversed_z { reversed(&view) } else { view });
        let mut shadow = |bias| {
            troupe.pass(PassKind::Shadow, |desc| {
                desc.color_formats = Vec::new();
                desc.reversed_z = reversed_z;
                (desc.depth_bias_constant, desc.depth_bias_slope) = (bias, bias);
            })
        };
        let unbiased = shadow(Some(0.0));
        let biased = shadow(None);
        let depth = troupe.pass(PassKind::Depth, |desc| desc.reversed_z = reversed_z);
        for (number, (method, _)) in WAYS.into_iter().take(3).enumerate() {
            troupe.show(number);
            let alone = views.map(|view| troupe.draw(setup, view, &clear, &[depth]).depth);
            assert!(alone[0] != alone[1]);

            fill(setup, &mut troupe, &map, &views, (unbiased, clear.depth));
            for (layer, alone) in (0..).zip(&alone) {
                assert!(
                    map.read(setup, layer) == *alone,
                    "layer {layer}, {method:?}"
                );
            }
            fill(setup, &mut troupe, &map, &views, (biased, clear.depth));
            for (layer, alone) in (0..).zip(&alone) {
                away(&map.read(setup, layer), alone, reversed_z, clear.depth);
            }
        }
        map.destroy(setup);
        troupe.destroy(setup);
    });
}

/// Asserts that everything drawn has moved away from the viewer, and that nothing is lost.
fn away(biased: &[f32], plain: &[f32], reversed_z: bool, clear: f32) {
    let mut count = 0;
    for (biased, plain) in biased.iter().zip(plain) {
        if *plain == clear {
            assert_eq!(*biased, clear);
            continue;
        }
        count += 1;
        let farther = if reversed_z {
            biased < plain
        } else {
            biased > plain
        };
        assert!(farther, "{plain} became {biased}");
    }
    assert!(count > 500, "only {count} texels are drawn");
}
