//! Pipelines of engines over what both list.

use super::{START, parted};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, depth, pass, target};
use crate::support::own::depth_pipeline;
use crate::support::{each, placed, view};
use std::collections::HashMap;
use throng::ash::vk;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::{CharacterDesc, Play, Stages, builtin};
use throng_standalone::Context;

/// An engine's own pipeline over the indirect draws sees what the crate's depth pass draws, bit for
/// bit: levels, flipped instances, hidden parts.
#[test]
fn an_own_pipeline_draws_what_the_gpu_lists() {
    each(|setup| {
        let mut crowd = setup.crowd_with(Stages::GpuCull, 1, START);
        let target = target(&mut setup.context);
        let own = crate::support::frames::target(&mut setup.context);
        let pass = pass(&mut crowd, &target, false);
        let allocator = &mut setup.context.allocator();
        let kinds = [builtin::mannequin().unwrap().character, parted(4)].map(|character| {
            crowd
                .add_character(allocator, &character, &CharacterDesc::default())
                .unwrap()
        });
        let mut rng = Rng::new(33);
        for number in 0..40 {
            let kind = number % 2;
            let flip = if number % 3 == 0 { -1.0 } else { 1.0 };
            let place = Vec3::new(rng.range(-3.0, 3.0), 0.0, rng.range(-30.0, 2.0));
            let id = crowd
                .spawn(
                    kinds[kind],
                    &placed(
                        Affine3A::from_scale_rotation_translation(
                            Vec3::new(flip, 1.0, 1.0),
                            Quat::from_rotation_y(rng.range(0.0, 6.0)),
                            place,
                        ),
                        if kind == 0 {
                            Play::new("Walk")
                        } else {
                            Play::REST
                        },
                    ),
                )
                .unwrap();
            if number % 4 == 1 {
                let part = ["front", "back"][number / 4 % 2];
                crowd.live_mut(id).set_part_visible(part, false).unwrap();
            }
        }
        let device = setup.context.device.clone();
        let push = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::VERTEX,
            offset: 0,
            size: 12,
        }];
        let sets = [crowd.set_layout().handle()];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&sets)
            .push_constant_ranges(&push);
        let layout = unsafe { device.create_pipeline_layout(&info, None) }.unwrap();
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let dynamic = [vk::DynamicState::CULL_MODE, vk::DynamicState::FRONT_FACE];
        let own_pass = target.pass_desc();
        let make = |context: &Context, variant: u32| {
            let shader = ("test/indirect.vert", variant, layout);
            depth_pipeline(context, &own_pass, shader, &input, &dynamic)
        };
        // One for each way in which primitives are deformed. Coarse levels follow one joint.
        let mut pipelines: HashMap<u32, vk::Pipeline> = HashMap::new();
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
        let cmd = frames_in_flight.begin(&setup.context, 0);
        let camera = view(Vec3::new(1.0, 2.0, 8.0), Vec3::Y, EXTENT);
        let mut levels = [0; 2];
        unsafe {
            let context = &mut setup.context;
            crowd.update(0.3).unwrap();
            let mut frame = crowd.begin_frame(&mut context.allocator(), 0, 0.3).unwrap();
            let seen = frame.record_prepare(cmd, &[camera]).unwrap()[0];
            target.begin(&device, cmd, &NORMAL_Z);
            frame.record_draw(cmd, seen, pass).unwrap();
            target.end(&device, cmd);
            own.begin(&device, cmd, &NORMAL_Z);
            let point = vk::PipelineBindPoint::GRAPHICS;
            for kind in kinds {
                let indices = frame.mesh(kind).unwrap().index_buffer();
                for indirect in frame.indirect_draws(seen, kind).unwrap() {
                    levels[usize::from(indirect.level > 0)] += 1;
                    let draw = indirect.draw;
                    let variant = draw.variant;
                    let made = pipelines.entry(variant);
                    let pipeline = *made.or_insert_with(|| make(context, variant));
                    device.cmd_bind_pipeline(cmd, point, pipeline);
                    let (sets, offsets) = ([indirect.set], indirect.dynamic_offsets);
                    device.cmd_bind_descriptor_sets(cmd, point, layout, 0, &sets, &offsets);
                    device.cmd_bind_index_buffer(cmd, indices, 0, draw.index_type);
                    let cull = match draw.double_sided {
                        true => vk::CullModeFlags::NONE,
                        false => vk::CullModeFlags::BACK,
                    };
                    device.cmd_set_cull_mode(cmd, cull);
                    let front = match draw.flipped != indirect.flipped {
                        true => vk::FrontFace::CLOCKWISE,
                        false => vk::FrontFace::COUNTER_CLOCKWISE,
                    };
                    device.cmd_set_front_face(cmd, front);
                    let flip = draw.flip_code.unwrap_or(u32::MAX);
                    let push = [draw.primitive, flip, indirect.list];
                    let bytes: Vec<u8> = push.iter().flat_map(|word| word.to_ne_bytes()).collect();
                    let stage = vk::ShaderStageFlags::VERTEX;
                    device.cmd_push_constants(cmd, layout, stage, 0, &bytes);
                    let (buffer, offset) = (indirect.buffer, indirect.offset);
                    device.cmd_draw_indexed_indirect(cmd, buffer, offset, 1, 0);
                }
            }
            own.end(&device, cmd);
        }
        frames_in_flight.submit(&setup.context, 0);
        frames_in_flight.wait(&setup.context, 0);
        let [wanted, drawn] = [&target, &own].map(|target| depth(&mut setup.context, target));
        let covered = wanted.iter().filter(|depth| **depth < 1.0).count();
        assert!(
            covered > 500 && levels.iter().all(|draws| *draws >= 10),
            "{covered} {levels:?}"
        );
        let same = wanted.iter().zip(&drawn).filter(|(a, b)| a == b).count();
        assert_eq!(same, wanted.len());
        unsafe {
            for pipeline in pipelines.into_values() {
                device.destroy_pipeline(pipeline, None);
            }
            device.destroy_pipeline_layout(layout, None);
        }
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}
