//! The engine's own shading, with push constants of its own.

use super::made::square;
use super::{Stage, camera, one};
use crate::support::each;
use crate::support::probe::spirv;
use throng::ash::vk;
use throng::mesh::Material;
use throng::{MaterialDesc, PassDesc, Spawn};

/// The shader sees what the engine pushes, what throng pushes for it, and the instance's word.
#[test]
fn own_shading_has_own_push_constants() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let material = MaterialDesc {
            fragment_spirv: &spirv("test/pushed.frag"),
            set_layouts: &[],
            push_bytes: 16,
        };
        let desc = PassDesc {
            material: Some(material),
            ..stage.target.pass_desc()
        };
        let pass = unsafe { stage.crowd.create_pass(&desc) }.unwrap();
        // The primitive of the second character has another material.
        for (blue, user) in [(0.2, 51), (0.8, 204)] {
            let material = Material {
                base_color: [1.0, 1.0, blue, 1.0],
                ..Material::default()
            };
            let id = stage.add(setup, &one(square(), material));
            let spawn = Spawn {
                user_data: user,
                ..Spawn::default()
            };
            let instance = stage.crowd.spawn(id, &spawn).unwrap();
            let cmd = stage.frames_in_flight.begin(&setup.context, 0);
            let context = &mut setup.context;
            let layout = stage.crowd.pass_layout(pass).unwrap();
            let pushed: Vec<u8> = [0.0_f32, 0.4, 0.0, 0.0]
                .iter()
                .flat_map(|value| value.to_ne_bytes())
                .collect();
            unsafe {
                let allocator = &mut context.allocator();
                let mut frame = stage.crowd.begin_frame(allocator, 0, 0.0).unwrap();
                let views = frame.record_prepare(cmd, &[camera()]).unwrap();
                stage.target.begin(&context.device, cmd, &super::BACKGROUND);
                let (stages, start) = (vk::ShaderStageFlags::FRAGMENT, MaterialDesc::PUSH_OFFSET);
                let device = &context.device;
                device.cmd_push_constants(cmd, layout, stages, start, &pushed);
                frame.record_draw(cmd, views[0], pass).unwrap();
                stage.target.end(&context.device, cmd);
            }
            stage.frames_in_flight.submit(context, 0);
            stage.frames_in_flight.wait(context, 0);
            let drawn = stage.target.read_rgba().unwrap();
            let wanted = [user as u8, 102, (blue * 255.0) as u8, 255];
            let texels = drawn.chunks_exact(4);
            let alike =
                texels.filter(|texel| texel.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) < 2));
            assert!(alike.count() > 1000, "{wanted:?}");
            stage.crowd.despawn(instance).unwrap();
        }
        stage.destroy(setup);
    });
}
