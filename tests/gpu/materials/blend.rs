//! Blended and masked surfaces together with opaque ones.

use super::made::{bumps, character, colors, sharp, square, surfaces};
use super::{HERE, Stage, camera};
use crate::support::frames::EXTENT;
use crate::support::{SMALL, each, view};
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::{Imported, RawPrimitive};
use throng::mesh::{AlphaMode, Material};
use throng::{Capacity, CharacterDesc, Error, Spawn, View};

/// A blended square with a texture whose alpha varies.
fn glass() -> Imported {
    let material = Material {
        base_color: [0.9, 0.7, 0.5, 0.9],
        base_color_texture: Some(sharp(0)),
        alpha: AlphaMode::Blend,
        double_sided: true,
        ..Material::default()
    };
    character(
        vec![square()],
        vec![material],
        vec![colors(), bumps(), surfaces()],
    )
}

/// Three panes, one of them flipped, spawned in the worst order for either side.
fn panes() -> [(Affine3A, [f32; 4]); 3] {
    let pane = |z: f32, x: f32, mirror: f32| {
        let turned = Quat::from_rotation_z(x);
        Affine3A::from_scale_rotation_translation(
            Vec3::new(mirror, 0.9, 1.0),
            turned,
            Vec3::new(x, 0.1, z),
        )
    };
    [
        (pane(0.0, 0.0, -0.9), [1.0, 1.0, 0.4, 1.0]),
        (pane(0.6, -0.3, 0.8), [0.4, 1.0, 1.0, 0.7]),
        (pane(-0.6, 0.3, 0.9), [1.0, 0.4, 1.0, 1.0]),
    ]
}

#[test]
fn far_panes_are_drawn_before_near_ones() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let behind = view(Vec3::new(0.3, 0.5, -4.5), Vec3::ZERO, EXTENT);
        let before = view(Vec3::new(0.3, 0.5, 4.5), Vec3::ZERO, EXTENT);
        let made = glass();
        for view in [before, behind] {
            let view = View {
                lighting: camera().lighting,
                ..view
            };
            stage.check(setup, "panes", &made, &panes(), &view);
        }
        stage.destroy(setup);
    });
}

/// Each view has its own order: two views in one frame show the same as each view alone.
#[test]
fn every_view_sorts_for_itself() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let id = stage.add(setup, &glass());
        for (world_from_model, tint) in panes() {
            let spawn = Spawn {
                world_from_model,
                tint,
                ..Spawn::default()
            };
            stage.crowd.spawn(id, &spawn).unwrap();
        }
        let sides = [4.5, -4.5].map(|z| view(Vec3::new(0.3, 0.5, z), Vec3::ZERO, EXTENT));
        let alone = sides.map(|side| stage.picture(setup, &side));
        // Both views are drawn, and the second is read.
        for (view, alone) in [(sides[1], &alone[1]), (sides[0], &alone[0])] {
            let other = if view == sides[0] { sides[1] } else { sides[0] };
            let cmd = stage.frames_in_flight.begin(&setup.context, 0);
            let context = &mut setup.context;
            unsafe {
                let mut frame = stage
                    .crowd
                    .begin_frame(&mut context.allocator(), 0, 0.0)
                    .unwrap();
                let views = frame.record_prepare(cmd, &[other, view]).unwrap();
                stage.target.begin(&context.device, cmd, &super::BACKGROUND);
                frame.record_draw(cmd, views[1], stage.pass).unwrap();
                stage.target.end(&context.device, cmd);
            }
            stage.frames_in_flight.submit(&setup.context, 0);
            stage.frames_in_flight.wait(&setup.context, 0);
            assert!(stage.target.read_rgba().unwrap() == *alone);
        }
        stage.destroy(setup);
    });
}

/// A wall hides a pane behind it, and shows through a pane in front of it. Panes write no depth.
#[test]
fn panes_and_walls_share_depth() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let at = |z: f32, half: f32, material: usize| RawPrimitive {
            positions: square()
                .positions
                .iter()
                .map(|p| *p * half + Vec3::Z * z)
                .collect(),
            material: Some(material),
            ..square()
        };
        let pane = Material {
            base_color: [0.2, 0.9, 0.3, 0.4],
            alpha: AlphaMode::Blend,
            ..Material::default()
        };
        let wall = Material {
            base_color: [0.9, 0.2, 0.1, 1.0],
            ..Material::default()
        };
        let grid = Material {
            base_color_texture: Some(sharp(0)),
            alpha: AlphaMode::Mask { cutoff: 0.45 },
            ..Material::default()
        };
        // Far panes come first, because a character's primitives are drawn in the order of the
        // file.
        let parts = vec![
            at(-0.5, 1.1, 0),
            at(0.0, 0.7, 1),
            at(0.2, 0.9, 2),
            at(0.5, 0.8, 0),
        ];
        let made = character(parts, vec![pane, wall, grid], vec![colors()]);
        stage.check(setup, "pane, wall, grid, pane", &made, &HERE, &camera());
        stage.destroy(setup);
    });
}

#[test]
fn more_blended_instances_than_there_is_room_for_are_an_error() {
    each(|setup| {
        let capacity = Capacity {
            blended: 5,
            ..SMALL
        };
        let mut crowd = setup.crowd(1, capacity);
        let context = &mut setup.context;
        let id = crowd
            .add_character(
                &mut context.allocator(),
                &glass().character,
                &CharacterDesc::default(),
            )
            .unwrap();
        for _ in 0..3 {
            crowd.spawn(id, &Spawn::default()).unwrap();
        }
        let prepare =
            |setup: &mut crate::support::Setup, crowd: &mut throng::Crowd, views: &[View]| {
                let context = &mut setup.context;
                let mut frames_in_flight = crate::support::frames::FramesInFlight::new(context, 1);
                let cmd = frames_in_flight.begin(context, 0);
                let result = unsafe {
                    let mut frame = crowd.begin_frame(&mut context.allocator(), 0, 0.0).unwrap();
                    frame.record_prepare(cmd, views).map(drop)
                };
                frames_in_flight.submit(context, 0);
                frames_in_flight.destroy(context);
                result
            };
        prepare(setup, &mut crowd, &[camera()]).unwrap();
        match prepare(setup, &mut crowd, &[camera(); 2]) {
            Err(Error::Capacity {
                asked: 6, cap: 5, ..
            }) => {}
            other => panic!("{other:?}"),
        }
        let more = Capacity {
            blended: 6,
            ..capacity
        };
        crowd
            .reserve(&mut setup.context.allocator(), &more)
            .unwrap();
        prepare(setup, &mut crowd, &[camera(); 2]).unwrap();
        setup.destroy(crowd);
    });
}
