//! Pictures of the three skinning stages, and of deformed vertices drawn as a static mesh.

use super::made::{self, Kind};
use super::plain::Plain;
use crate::reference::assets;
use crate::reference::handles::Handles;
use crate::reference::picture::{covered, different};
use crate::reference::ribbon::{built, ribbon};
use crate::reference::rng::Rng;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, depth, pass, picture, target};
use crate::support::{Setup, described, each, placed, stages, view};
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::ImportOptions;
use throng::mesh::{AlphaMode, Image, Material};
use throng::{
    Capacity, Crowd, Id, InstanceId, PassDesc, PassId, PassKind, Play, SkinningStage, Stages, View,
};
use throng_standalone::Target;

const MODES: [SkinningStage; 3] = [
    SkinningStage::Vertex,
    SkinningStage::Compute,
    SkinningStage::Cpu,
];

const CAPACITY: Capacity = Capacity {
    instances: 64,
    palette_entries: 8192,
    views: 1,
    morph_weights: 512,
    blended: 64,
    skinned_words: 4_000_000,
    cpu_skinned_words: 4_000_000,
    attachments: 0,
    histories: 0,
    depth_pixels: 0,
    late_views: 0,
};

/// Largest difference of an 8-bit channel, between the GPU's 16-bit normals and the CPU's 32-bit
/// ones.
const SHADE: u8 = 2;
/// Number of texels, of 9216, that may differ by more: at edges, because vertices differ by an ulp.
///
/// Measured: 1 on the CPU, and none between vertex and compute.
const EDGES: usize = 8;

/// Characters with everything that passes distinguish: every method, morph targets, masks,
/// blending.
///
/// All models are included.
fn characters() -> Vec<(Character, Kind)> {
    let mut rng = Rng::new(3);
    let mut all: Vec<_> = Kind::ALL
        .map(|kind| (made::character(kind, 4, &mut rng), kind))
        .into();
    let mut raw = ribbon(5);
    let image = &raw.images[0];
    let mut texels = image.rgba().unwrap().into_owned();
    texels[3] = 0;
    raw.images[0] = Image::new(&image.name, image.width, image.height, texels);
    raw.materials[1].alpha = AlphaMode::Mask { cutoff: 0.5 };
    raw.materials[0].alpha = AlphaMode::Blend;
    raw.materials[0].base_color[3] = 0.5;
    all.push((built(raw).character, Kind::Linear));
    for path in assets::files() {
        let imported = throng_import::file(
            &path,
            &ImportOptions {
                curves: true,
                ..ImportOptions::default()
            },
        )
        .unwrap();
        // Models that take lavapipe seconds are left to other tests.
        if imported.character.vertex_count() < 20_000 {
            all.push((imported.character, Kind::Linear));
        }
    }
    all
}

/// Four instances of a character, each about a metre high. One is flipped and one is at rest.
fn populate(
    setup: &mut Setup,
    crowd: &mut Crowd,
    (character, kind): &(Character, Kind),
) -> Vec<InstanceId> {
    let desc = described(kind.method(), true);
    let id = setup.add_with(crowd, character, &desc);
    let bounds = character.rest_bounds();
    let size = (bounds.max - bounds.min).max_element().max(1e-6);
    let spawn = |at: usize| {
        let sign = if at == 2 { -1.0 } else { 1.0 };
        let place = Vec3::new(at as f32 - 1.5, 0.0, 0.2 * at as f32);
        let turn = Quat::from_rotation_y(at as f32);
        let scale = Vec3::new(sign, 1.0, 1.0) / size;
        let to = Affine3A::from_scale_rotation_translation(scale, turn, place);
        let play: Play<'_> = if at == 1 || character.clips().is_empty() {
            Play::REST
        } else {
            Id::new(0).into()
        };
        crowd.spawn(
            id,
            &placed(to * Affine3A::from_translation(-bounds.center()), play),
        )
    };
    (0..4).map(spawn).map(Result::unwrap).collect()
}

fn depth_pass(crowd: &mut Crowd, target: &Target) -> PassId {
    let desc = PassDesc {
        kind: PassKind::Depth,
        ..target.pass_desc()
    };
    unsafe { crowd.create_pass(&desc) }.unwrap()
}

fn camera() -> View {
    view(Vec3::new(0.3, 1.0, 4.5), Vec3::ZERO, EXTENT)
}

#[test]
fn the_three_modes_show_the_same_picture_in_every_pass() {
    let characters = characters();
    each(|setup| {
        let mut worst = [0; 3];
        for of in &characters {
            let mut crowd = setup.crowd(2, CAPACITY);
            let instances = populate(setup, &mut crowd, of);
            let target = target(&mut setup.context);
            let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
            let color = pass(&mut crowd, &target, false);
            // A shadow pass has the same vertex shaders, and no colour like this target's.
            let only_depth = depth_pass(&mut crowd, &target);
            let mut first: Option<(Vec<u8>, Vec<f32>)> = None;
            for (number, mode) in MODES.into_iter().enumerate() {
                for instance in &instances {
                    crowd.live_mut(*instance).set_skinning_stage(mode).unwrap();
                    assert_eq!(
                        crowd.instance(*instance).map(|it| it.skinning_stage()),
                        Ok(mode)
                    );
                }
                let mut shoot = |frame_index, pass| {
                    let context = &mut setup.context;
                    let on = (&target, pass, &NORMAL_Z);
                    let rgba = picture(
                        context,
                        &mut crowd,
                        &mut frames_in_flight,
                        (frame_index, 0.4),
                        on,
                        &[camera()],
                    );
                    (rgba, depth(context, &target))
                };
                let (rgba, _) = shoot(0, color);
                let (_, depths) = shoot(1, only_depth);
                let Some((same, depths_then)) = &first else {
                    assert!(covered(&rgba) > 200, "{}", of.0.name());
                    first = Some((rgba, depths));
                    continue;
                };
                let apart = different(&rgba, same, SHADE);
                worst[number] = worst[number].max(apart);
                // The GPU poses only what the vertex shader deforms.
                let same_poses = stages() != Stages::Gpu;
                let limit = if mode == SkinningStage::Compute && same_poses {
                    0
                } else {
                    EDGES
                };
                assert!(apart <= limit, "{}, {mode:?}: {apart}", of.0.name());
                let texels = depths.iter().zip(depths_then);
                let apart = texels.filter(|(a, b)| (*a - *b).abs() > 1e-5).count();
                worst[number] = worst[number].max(apart);
                assert!(apart <= limit, "{}, {mode:?}: {apart}", of.0.name());
            }
            frames_in_flight.destroy(&setup.context);
            setup.destroy(crowd);
        }
        println!(
            "{}: texels that differ from vertex skinning: {worst:?}",
            setup.config.name
        );
    });
}

#[test]
fn deformed_vertices_drawn_as_a_static_mesh_give_the_same_depths() {
    each(|setup| {
        let mut crowd = setup.crowd(1, CAPACITY);
        let mut rng = Rng::new(5);
        let mut instances = Vec::new();
        for kind in Kind::ALL {
            let mut raw = made::raw(kind, 4, 150, &mut rng);
            // Both sides of a triangle.
            raw.materials = vec![Material {
                double_sided: true,
                ..Material::default()
            }];
            raw.primitives.iter_mut().for_each(|p| p.material = Some(0));
            let of = (built(raw).character, kind);
            instances.extend(populate(setup, &mut crowd, &of));
        }
        for (at, instance) in instances.iter().enumerate() {
            let mode = MODES[1 + at % 2];
            crowd.live_mut(*instance).set_skinning_stage(mode).unwrap();
        }
        let target = target(&mut setup.context);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
        let only_depth = depth_pass(&mut crowd, &target);
        let context = &mut setup.context;
        let on = (&target, only_depth, &NORMAL_Z);
        picture(
            context,
            &mut crowd,
            &mut frames_in_flight,
            (0, 0.4),
            on,
            &[camera()],
        );
        let by_crowd = depth(context, &target);

        let plain = Plain::new(context, &target.pass_desc());
        let cmd = frames_in_flight.begin(context, 0);
        crowd.update(0.4).unwrap();
        let frame = unsafe { crowd.begin_frame(&mut context.allocator(), 0, 0.4) };
        let mut frame = frame.unwrap();
        unsafe {
            frame.record_prepare(cmd, &[camera()]).unwrap();
            target.begin(&context.device, cmd, &NORMAL_Z);
        }
        for instance in &instances {
            let skinned = frame.skinned(*instance).unwrap();
            let rows = frame.live(*instance).record().world_from_model.rows;
            let mesh = frame.mesh(frame.live(*instance).character()).unwrap();
            plain.draw(
                &context.device,
                cmd,
                (camera().eye.clip_from_world, rows),
                (&skinned, mesh.index_buffer()),
            );
        }
        unsafe { target.end(&context.device, cmd) };
        frames_in_flight.submit(context, 0);
        frames_in_flight.wait(context, 0);
        let by_engine = depth(context, &target);
        let drawn = by_crowd.iter().filter(|d| **d != NORMAL_Z.depth).count();
        assert!(drawn > 1000, "{drawn}");
        assert!(
            by_crowd == by_engine,
            "the same vertices give the same depths"
        );
        plain.destroy(context);
        frames_in_flight.destroy(context);
        setup.destroy(crowd);
    });
}
