//! The props: a slab under each character, a ball, steps.
//!
//! They are boxes and a ball, as a character that does not move.

use throng::character::Character;
use throng::glam::vec3;
use throng::import::RawPrimitive;

use super::Act;
use super::body::{BALL, STEPS_M};
use super::shapes::{cuboid, prop};

/// Builds the props of one activity.
///
/// # Errors
/// None in practice. Returns the errors of [`RawCharacter::build`].
pub(crate) fn props(act: Act) -> throng::Result<Character> {
    let mut meshes = vec![cuboid(
        vec3(-0.5, -0.06, -0.6),
        vec3(0.5, -0.002, 0.6),
        [0.4, 0.4, 0.4, 1.0],
    )];
    match act {
        Act::Look | Act::LookAndReach => {
            let ball = RawPrimitive::sphere(0.07, 10).translated(BALL);
            meshes.push(ball.colored([0.9, 0.2, 0.15, 1.0]));
        }
        Act::Stand => {
            // The left foot stands at positive x.
            for (height, [from, to]) in STEPS_M.into_iter().zip([[0.0, 0.4], [-0.4, 0.0]]) {
                if height > 0.0 {
                    meshes.push(cuboid(
                        vec3(from, 0.0, -0.3),
                        vec3(to, height, 0.4),
                        [0.5, 0.4, 0.3, 1.0],
                    ));
                }
            }
        }
        _ => {}
    }
    prop(meshes)
}
