//! Masked materials, and textures for the engine's shaders.

use super::{EXTENT, World, rays_into};
use crate::reference::ribbon::{built, ribbon};
use crate::reference::rng::Rng;
use crate::support::{SMALL, each_with_rays, placed, view};
use throng::animator::Play;
use throng::glam::{Affine2, Affine3A, Quat, Vec2, Vec3};
use throng::mesh::{AlphaMode, TextureRef};
use throng::{RayDesc, builtin};

/// Rays pass through the holes of a mask: the shader of the test gives every other stripe of the
/// texture an alpha of 0.2. Coordinates are transformed as the material says.
#[test]
fn rays_pass_through_holes() {
    each_with_rays(|setup| {
        let mut raw = ribbon(3);
        let turn =
            Affine2::from_scale_angle_translation(Vec2::new(3.0, 1.0), 0.3, Vec2::splat(0.2));
        raw.materials[1].alpha = AlphaMode::Mask { cutoff: 0.4 };
        raw.materials[1].double_sided = true;
        raw.materials[1].base_color_texture = Some(TextureRef {
            transform: turn,
            ..TextureRef::new(0)
        });
        let character = built(raw).character;
        let mut world = World::new(setup, RayDesc::default(), SMALL);
        world.view.eye = view(Vec3::new(3.0, 2.0, 9.0), Vec3::Y, EXTENT).eye;
        let kind = setup.add(&mut world.crowd, &character);
        let mut rng = Rng::new(67);
        for _ in 0..24 {
            let place = Affine3A::from_rotation_translation(
                Quat::from_rotation_y(rng.range(0.0, 6.0)),
                Vec3::new(rng.range(-4.0, 4.0), 0.0, rng.range(-4.0, 4.0)),
            );
            let spawn = placed(place, Play::new("sway"));
            world.crowd.spawn(kind, &spawn).unwrap();
        }
        world.settle(setup);
        let (mut masked, mut solid, mut candidates) = (0, 0, 0);
        for _ in 0..4 {
            let rays = rays_into(&mut rng, 2000, 5.0);
            for hit in world.frame(setup, &rays).hits.iter().flatten() {
                if hit.material == 0 {
                    solid += 1;
                    continue;
                }
                let expected = turn.transform_point2(Vec2::from(hit.uv));
                let apart = expected.distance(Vec2::from(hit.texture_uv));
                assert!(apart < 1e-5, "{hit:?} {expected}");
                // Within the rounding of the shader's own sum.
                let stripe = expected.x.rem_euclid(1.0);
                assert!(!(1e-4..0.4999).contains(&stripe), "{hit:?} {expected}");
                masked += 1;
                candidates += hit.candidates;
            }
        }
        println!("{masked} masked, {solid} solid, {candidates} candidates");
        assert!(masked > 200 && solid > 200 && candidates > masked);
        world.destroy(setup);
    });
}

/// Engines get the textures of each material, white ones included.
#[test]
fn engines_get_textures() {
    each_with_rays(|setup| {
        let mut world = World::new(setup, RayDesc::default(), SMALL);
        let kind = setup.add(&mut world.crowd, &built(ribbon(3)).character);
        let textures = world.crowd.ray_textures(kind).unwrap();
        assert_eq!(textures.len(), 2);
        let [plain, checked] = [textures[0], textures[1]];
        assert!(plain.iter().all(|it| it.image_view == plain[0].image_view));
        assert_ne!(checked[0].image_view, plain[0].image_view);
        assert!(
            checked[1..]
                .iter()
                .all(|it| it.image_view == plain[0].image_view)
        );
        let gone = setup.add(&mut world.crowd, &builtin::mannequin().unwrap().character);
        world.crowd.remove_character(gone).unwrap();
        assert!(world.crowd.ray_textures(gone).is_err());
        world.destroy(setup);
    });
}
