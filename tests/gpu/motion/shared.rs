//! Motion of instances that show shared poses.

use super::events::{at, camera};
use super::stage::{HISTORIES, World, dancer, moves, stands};
use crate::reference::ribbon::ribbon;
use crate::support::each;
use throng::palette::SkinningMethod;
use throng::{Detail, Stages, View};

/// Instances go from poses of their own to shared ones and back, in a moving crowd. Each frame's
/// motion is that between the poses that it and the frame before showed. A clip that drives morph
/// weights has no shared poses.
#[test]
fn shared_poses_move_as_they_are_shown() {
    each(|setup| {
        let methods = [SkinningMethod::Linear, SkinningMethod::QuatOffset];
        let mut characters = methods.map(|method| (ribbon(3), method)).to_vec();
        characters.push((dancer(3), SkinningMethod::Linear));
        let mut world = World::with(setup, Stages::Gpu, HISTORIES, &characters);
        for number in 0..3 {
            world.spawn(number, at(number as f32 * 1.1 - 1.1), Some(0));
        }
        let shared = [false, true, true, false, false, true, true, true];
        for (frame, shares) in shared.into_iter().enumerate() {
            world.shares = shares;
            let view = View {
                detail: Detail {
                    pose_error_px: if shares { 1e6 } else { 0.0 },
                    ..camera().detail
                },
                ..camera()
            };
            // The last frame stays at the time of the one before.
            let time_s = 0.11 + 0.153 * frame.min(6) as f64;
            let seen = world.frame(setup, time_s, &[view]);
            for actor in 0..3 {
                let id = world.actors[actor].id;
                let told = world.crowd.shares_pose(id).unwrap();
                assert_eq!(told, shares && actor < 2, "{actor}");
                match frame {
                    0 | 7 => stands(&seen[0], actor),
                    _ => moves(&seen[0], actor),
                }
            }
        }
        world.destroy(setup);
    });
}
