//! Uploads of instances that only moved.

use crate::reference::handles::Handles;
use crate::reference::ribbon::{built, ribbon};
use crate::support::{SMALL, Setup, each, placed};
use throng::glam::{Affine3A, Quat, Vec3};
use throng::{Crowd, InstanceId, Play, Stages};

/// Bytes of an index and of a transform.
const MOVED: u64 = 4 + 48;
/// Bytes of an index and of a record.
const CHANGED: u64 = 4 + 96;
/// Bytes of what the GPU's stages have of an instance, too.
const ACTOR: u64 = 48;

/// Prepares a frame without views. Returns the number of changes and the bytes of the upload.
fn frame(setup: &mut Setup, crowd: &mut Crowd, time_s: f64) -> (u32, u64) {
    let context = &mut setup.context;
    crowd.update(time_s).unwrap();
    let begun = unsafe { crowd.begin_frame(&mut context.allocator(), 0, time_s) };
    let mut frame = begun.unwrap();
    let prepared =
        context.submit_and_wait(|_, cmd| unsafe { frame.record_prepare(cmd, &[]) }.map(drop));
    prepared.unwrap().unwrap();
    let stats = frame.stats();
    (stats.changes, stats.upload_bytes)
}

fn turned(number: usize, angle: f32) -> Affine3A {
    let at = Vec3::X * number as f32;
    Affine3A::from_rotation_translation(Quat::from_rotation_y(angle), at)
}

#[test]
fn an_instance_that_moves_uploads_its_transform_alone() {
    each(|setup| {
        for stages in [Stages::Cpu, Stages::GpuCull, Stages::Gpu] {
            let mut crowd = setup.crowd_with(stages, 1, SMALL);
            let kind = setup.add(&mut crowd, &built(ribbon(3)).character);
            let spawn = |number: usize| {
                let spawn = placed(turned(number, 0.0), Play::REST);
                crowd.spawn(kind, &spawn).unwrap()
            };
            let ids: Vec<InstanceId> = (0..5).map(spawn).collect();
            for number in 0..3 {
                frame(setup, &mut crowd, f64::from(number));
            }
            let (none, idle) = frame(setup, &mut crowd, 3.0);
            assert_eq!(none, 0);
            let turn = |angle: f32| {
                let each = ids.iter().enumerate();
                let places = each.map(|(number, id)| (*id, turned(number, angle)));
                places.collect::<Vec<_>>()
            };
            crowd.set_transforms(&turn(0.1)).unwrap();
            assert_eq!(frame(setup, &mut crowd, 4.0), (5, idle + 5 * MOVED));
            assert_eq!(frame(setup, &mut crowd, 5.0), (0, idle));
            // One of them changes as a whole, so its transform is not there twice.
            crowd.set_transforms(&turn(0.2)).unwrap();
            crowd.live_mut(ids[3]).set_user_data(7);
            let actor = if stages == Stages::Cpu { 0 } else { ACTOR };
            let all = idle + 4 * MOVED + CHANGED + actor;
            assert_eq!(frame(setup, &mut crowd, 6.0), (5, all));
            // A teleport and a mirrored transform are more than a move.
            crowd.live_mut(ids[0]).teleport(&turned(0, 0.3)).unwrap();
            let mirrored = turned(1, 0.3) * Affine3A::from_scale(Vec3::new(-1.0, 1.0, 1.0));
            crowd.live_mut(ids[1]).set_transform(&mirrored).unwrap();
            let all = idle + 2 * (CHANGED + actor);
            assert_eq!(frame(setup, &mut crowd, 7.0), (2, all));
            // What a frame that is given up moved is uploaded again, as a whole.
            crowd.set_transforms(&turn(0.4)[2..]).unwrap();
            frame(setup, &mut crowd, 8.0);
            unsafe { crowd.abandon_frame() };
            let all = idle + 3 * (CHANGED + actor);
            assert_eq!(frame(setup, &mut crowd, 9.0), (3, all));
            setup.destroy(crowd);
        }
    });
}
