//! Motion in the units of an engine.

use super::events::{at, camera};
use super::stage::{HISTORIES, World, dancer, moves};
use crate::support::each;
use throng::View;
use throng::glam::{Affine3A, DVec2, Quat, Vec2, Vec3};
use throng::palette::SkinningMethod;

const SCALE: Vec2 = Vec2::new(0.5, -2.0);
/// Compilers may round the two coordinates that are subtracted in another way in another pipeline:
/// each is below 1, and rounded less than eight times.
const ROUNDING: f64 = 16.0 * f32::EPSILON as f64;

/// Two equal views. The second scales its motion. One dancer shows its masked back.
#[test]
fn motion_is_scaled() {
    each(|setup| {
        let mut world = World::new(setup, HISTORIES, &[(dancer(3), SkinningMethod::Linear)]);
        world.scale_second(SCALE.to_array());
        let turned = Quat::from_rotation_y(3.0);
        let turned = Affine3A::from_rotation_translation(turned, Vec3::new(0.6, -1.0, 0.0));
        world.spawn(0, at(-0.6), Some(0));
        world.spawn(0, turned, Some(0));
        let views = [0, 1].map(|history| View {
            history: Some(history),
            ..camera()
        });
        world.frame(setup, 0.2, &views);
        let seen = world.frame(setup, 0.3, &views);
        (0..2).for_each(|actor| moves(&seen[0], actor));
        assert_eq!(seen[0].len(), seen[1].len());
        for (plain, scaled) in seen[0].iter().zip(&seen[1]) {
            let error: DVec2 = scaled.got / SCALE.as_dvec2() - plain.got;
            assert!(error.abs().max_element() <= ROUNDING, "{error}");
        }
        world.destroy(setup);
    });
}
