//! Masked materials in depth, shadow and motion passes, and one set for all materials.

use super::made::{bumps, character, colors, sharp, square, surfaces};
use super::{BACKGROUND, HERE, Stage, camera, stands};
use crate::support::frames::{EXTENT, picture};
use crate::support::read_image::{ImageRead, read_image};
use crate::support::{CONFIGS, SMALL, Setup, each};
use throng::ash::vk;
use throng::glam::Vec3;
use throng::gpu::Features;
use throng::import::{Imported, RawPrimitive};
use throng::mesh::{AlphaMode, Material};
use throng::{Crowd, PassDesc, PassKind, Spawn};
use throng_standalone::{Begin, Target, TargetDesc};

/// A square with holes that is not aligned with the axes.
fn sieve() -> Imported {
    let material = Material {
        base_color_texture: Some(sharp(0)),
        alpha: AlphaMode::Mask { cutoff: 0.5 },
        ..Material::default()
    };
    character(vec![square()], vec![material], vec![colors()])
}

/// The pixels that a pass of this kind writes, by depth or, for motion, by colour.
fn written(setup: &mut Setup, stage: &mut Stage, target: &Target, kind: PassKind) -> Vec<bool> {
    let moves = kind == PassKind::Motion;
    let mut desc = PassDesc {
        kind,
        ..target.pass_desc()
    };
    if kind == PassKind::Shadow {
        desc.color_formats.clear();
    }
    let pass = unsafe { stage.crowd.create_pass(&desc) }.unwrap();
    let begin = Begin {
        color: [1.0; 4],
        ..BACKGROUND
    };
    let on = (target, pass, &begin);
    let drawn = picture(
        &mut setup.context,
        &mut stage.crowd,
        &mut stage.frames_in_flight,
        (0, 0.0),
        on,
        &[camera()],
    );
    if moves {
        // Nothing moves: 0 is written.
        return drawn.chunks_exact(4).map(|texel| texel[0] == 0).collect();
    }
    let read = ImageRead {
        image: target.depth().unwrap().0,
        aspect: vk::ImageAspectFlags::DEPTH,
        layout: vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        layer: 0,
        extent: EXTENT,
        texel_bytes: 4,
    };
    let depths = unsafe { read_image(&setup.context, &read) }.unwrap();
    let depths = depths.as_chunks().0.iter();
    depths.map(|d| f32::from_le_bytes(*d) != 1.0).collect()
}

#[test]
fn holes_are_holes_in_every_pass() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let desc = TargetDesc {
            extent: EXTENT,
            color_format: vk::Format::R8G8B8A8_UNORM,
            depth_usage: vk::ImageUsageFlags::TRANSFER_SRC,
            ..TargetDesc::default()
        };
        let target = Target::new(&setup.context, &desc).unwrap();
        let id = stage.add(setup, &sieve());
        let spawn = Spawn {
            world_from_model: stands(false)[0].0,
            ..Spawn::default()
        };
        stage.crowd.spawn(id, &spawn).unwrap();
        let drawn = stage.picture(setup, &camera());
        let colored = drawn.chunks_exact(4).map(|texel| texel != &drawn[..4]);
        let colored: Vec<bool> = colored.collect();
        let count = colored.iter().filter(|on| **on).count();
        assert!(count > 1000 && count < 3500, "{count}");
        for kind in [PassKind::Depth, PassKind::Motion] {
            let other = written(setup, &mut stage, &target, kind);
            let differ = other.iter().zip(&colored).filter(|(a, b)| a != b).count();
            assert_eq!(differ, 0, "{kind:?}");
        }
        stage.destroy(setup);
    });
}

/// Three squares with their own materials and textures.
fn many() -> Imported {
    let at = |x: f32| RawPrimitive {
        positions: square()
            .positions
            .iter()
            .map(|p| *p * 0.32 + Vec3::X * x)
            .collect(),
        ..square()
    };
    let material = |base: u32, data: u32| Material {
        base_color_texture: Some(sharp(base)),
        metallic_roughness_texture: Some(sharp(data)),
        normal_texture: Some(sharp(1)),
        emissive: [0.2; 3],
        emissive_texture: Some(sharp(base)),
        ..Material::default()
    };
    let grid = Material {
        alpha: AlphaMode::Mask { cutoff: 0.5 },
        ..material(0, 1)
    };
    let glass = Material {
        alpha: AlphaMode::Blend,
        ..material(2, 2)
    };
    let materials = vec![material(0, 2), grid, glass];
    let images = vec![colors(), bumps(), surfaces()];
    character(vec![at(-0.7), at(0.0), at(0.7)], materials, images)
}

/// One set per material and one set for all materials give the pictures of the reference.
///
/// One set for all needs a device that indexes descriptors.
#[test]
#[ignore = "needs descriptor indexing, which Mesa 22 lacks, and --include-ignored"]
fn one_set_for_all_materials_shows_the_same() {
    let mut setup = Setup::new(CONFIGS[0]);
    let driver = &setup.context.info;
    let indexes = |setup: &Setup| {
        let enabled = setup.device().enabled();
        enabled.contains(Features::DESCRIPTOR_INDEXING)
    };
    assert!(indexes(&setup), "{driver} does not index descriptors");
    let messages = setup.context.messages.clone();
    let mut pictures = Vec::new();
    for on in [false, true] {
        let desc = setup.crowd_desc(2, SMALL);
        setup.config.bare = !on;
        assert_eq!(indexes(&setup), on);
        let crowd = Crowd::new(&setup.device(), &mut setup.context.allocator(), &desc).unwrap();
        let mut stage = Stage::over(&mut setup, crowd);
        stage.check(&mut setup, "three materials", &many(), &HERE, &camera());
        pictures.push(stage.alone(&mut setup, &many(), &HERE, &camera()));
        stage.destroy(&mut setup);
    }
    assert!(pictures[0] == pictures[1]);
    drop(setup);
    messages.check().unwrap();
}
