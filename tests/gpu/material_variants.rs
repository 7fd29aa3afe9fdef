//! Material variants of instances, compared with characters that have those materials alone.

use crate::reference::handles::Handles;
use crate::reference::picture::{covered, different};
use crate::reference::ribbon::{built, ribbon};
use crate::reference::words::Fails;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, depth, pass, picture, target};
use crate::support::{SMALL, Setup, described, each, view};
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec2, Vec3};
use throng::import::RawCharacter;
use throng::mesh::{AlphaMode, Image, Material, TextureRef};
use throng::palette::SkinningMethod;
use throng::{Capacity, Crowd, Lighting, SkinningStage, Spawn, Stages, View};

const ROOM: Capacity = Capacity {
    palette_entries: 4096,
    skinned_words: 400_000,
    cpu_skinned_words: 400_000,
    ..SMALL
};

/// The variants, and the materials of the front and the back in each.
const VARIANTS: [(&str, Option<usize>, Option<usize>); 6] = [
    ("red", Some(2), None),
    ("checks", Some(1), Some(3)),
    ("holes", Some(4), Some(4)),
    ("sides", None, Some(5)),
    ("team", Some(6), Some(7)),
    ("plain", None, None),
];

/// A material with everything that a pipeline or the state of a draw depends on.
fn materials(blended: bool) -> Vec<Material> {
    let mut materials = vec![
        Material {
            base_color: [0.9, 0.9, 0.2, 1.0],
            roughness: 0.4,
            ..Material::default()
        },
        Material {
            base_color: [0.1, 0.9, 0.9, 1.0],
            base_color_texture: Some(TextureRef::new(0)),
            normal_texture: Some(TextureRef::new(1)),
            ..Material::default()
        },
        Material {
            alpha: AlphaMode::Mask { cutoff: 0.5 },
            base_color_texture: Some(TextureRef {
                transform: throng::glam::Affine2::from_scale(Vec2::splat(2.5)),
                ..TextureRef::new(2)
            }),
            ..Material::default()
        },
        Material {
            base_color: [0.5, 0.2, 0.8, 1.0],
            double_sided: true,
            emissive: [0.0, 0.2, 0.0],
            unlit: true,
            ..Material::default()
        },
        Material {
            base_color: [0.4, 0.4, 0.4, 1.0],
            tint_weights: [0.7, 1.0],
            tint_reference: [0.4, 0.5, 0.6],
            ..Material::default()
        },
        Material {
            tint_weights: [1.0, 0.8],
            tint_mask: Some(TextureRef::new(2)),
            ..Material::default()
        },
    ];
    if blended {
        materials[0].alpha = AlphaMode::Blend;
        materials[0].base_color[3] = 0.6;
    }
    materials
}

/// A ribbon with all these materials, without variants.
fn bare(blended: bool) -> RawCharacter {
    let mut raw = ribbon(4);
    for (primitive, name) in raw.primitives.iter_mut().zip(["front", "back"]) {
        primitive.part = name.into();
    }
    raw.materials.extend(materials(blended));
    let bumps = [[128_u8, 128, 255, 255], [180, 90, 230, 255]];
    let bumps = [bumps[0], bumps[1], bumps[1], bumps[0]].concat();
    let holes = [[200_u8, 200, 90, 255], [0, 0, 0, 0]];
    let holes = [holes[0], holes[1], holes[1], holes[0]].concat();
    raw.images.push(Image::new("bumps", 2, 2, bumps));
    raw.images.push(Image::new("holes", 2, 2, holes));
    raw
}

fn varied(blended: bool) -> Character {
    let mut raw = bare(blended);
    raw.variants = VARIANTS.map(|(name, ..)| name.into()).to_vec();
    for (number, (_, front, back)) in VARIANTS.into_iter().enumerate() {
        for (primitive, material) in raw.primitives.iter_mut().zip([front, back]) {
            primitive.variants.extend(material.map(|it| (number, it)));
        }
    }
    built(raw).character
}

/// The same with the materials of a variant alone.
fn only(blended: bool, variant: Option<usize>) -> Character {
    let mut raw = bare(blended);
    if let Some(at) = variant {
        let (_, front, back) = VARIANTS[at];
        for (primitive, material) in raw.primitives.iter_mut().zip([front, back]) {
            primitive.material = material.or(primitive.material);
        }
    }
    built(raw).character
}

fn camera() -> View {
    let view = view(Vec3::new(0.8, 1.6, 4.2), Vec3::new(0.0, 1.1, 0.0), EXTENT);
    View {
        lighting: Lighting {
            sun_color: Vec3::splat(2.0),
            ..view.lighting
        },
        ..view
    }
}

/// Eight ribbons of all variants, some flipped, some with a hidden side, in all stages.
///
/// `kinds` has the character of each variant, the first without one. If `chooses`, it is the same
/// character, and the instances choose.
fn rows(crowd: &mut Crowd, kinds: &[throng::CharacterId], chooses: bool) {
    for at in 0..8_usize {
        let turn = Quat::from_rotation_y(0.5 * at as f32);
        let scale = Vec3::new(if at % 3 == 2 { -0.7 } else { 0.7 }, 0.7, 0.7);
        let place = Vec3::new(at as f32 * 0.5 - 1.8, -0.2, 0.3 * (at % 2) as f32);
        let variant = (at % 7).checked_sub(1);
        let spawn = Spawn {
            world_from_model: Affine3A::from_scale_rotation_translation(scale, turn, place),
            play: "sway".into(),
            tint: [1.0, 0.8, 0.9, 1.0],
            second_tint: [0.3, 0.9, 0.2],
            variant: variant.filter(|_| chooses).map(|it| VARIANTS[it].0.into()),
            hidden_parts: match at {
                6 => &["front".into()],
                7 => &["back".into()],
                _ => &[],
            },
            skinning_stage: [
                SkinningStage::Vertex,
                SkinningStage::Compute,
                SkinningStage::Cpu,
            ][at / 3],
            ..Spawn::default()
        };
        crowd.spawn(kinds[at % 7], &spawn).unwrap();
    }
}

/// Instances that choose a variant look as characters with its materials do, in the colour and the
/// depth of a picture, with either processor culling, with one set of textures and with many.
#[test]
fn instances_look_as_their_variants_do() {
    each(|setup| {
        for (stages, blended) in [
            (Stages::Cpu, false),
            (Stages::Gpu, false),
            (Stages::Cpu, true),
            (Stages::Gpu, true),
        ] {
            let desc = described(SkinningMethod::Linear, true);
            let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
            let mut seen = Vec::new();
            for chooses in [true, false] {
                let mut crowd = setup.crowd_with(stages, 2, ROOM);
                let target = target(&mut setup.context);
                let kinds: Vec<_> = match chooses {
                    true => vec![setup.add_with(&mut crowd, &varied(blended), &desc); 7],
                    false => (0..7_usize)
                        .map(|it| only(blended, it.checked_sub(1)))
                        .map(|it| setup.add_with(&mut crowd, &it, &desc))
                        .collect(),
                };
                rows(&mut crowd, &kinds, chooses);
                let color = pass(&mut crowd, &target, false);
                let on = (&target, color, &NORMAL_Z);
                let context = &mut setup.context;
                let frame = (0, 0.3);
                let picture = picture(
                    context,
                    &mut crowd,
                    &mut frames_in_flight,
                    frame,
                    on,
                    &[camera()],
                );
                assert!(covered(&picture) > 1000);
                seen.push((picture, depth(&mut setup.context, &target)));
                setup.destroy(crowd);
            }
            let unlike = different(&seen[0].0, &seen[1].0, 0);
            assert_eq!(unlike, 0, "{stages:?}, blended: {blended}");
            assert!(seen[0].1 == seen[1].1, "depths");
            frames_in_flight.destroy(&setup.context);
        }
    });
}

/// An instance keeps its variant in snapshots, and by name when its character is replaced.
#[test]
fn variants_are_saved_and_found_by_name() {
    let mut setup = Setup::new(crate::support::CONFIGS[0]);
    let mut crowd = setup.crowd(2, ROOM);
    let kind = setup.add(&mut crowd, &varied(false));
    let id = crowd.spawn(kind, &Spawn::default()).unwrap();
    let variant = |crowd: &Crowd| crowd.instance(id).unwrap().variant();
    assert_eq!(variant(&crowd), None);
    let before = crowd.snapshot();
    crowd
        .live_mut(id)
        .set_variant(Some("holes".into()))
        .unwrap();
    let holes = varied(false).variant("holes").unwrap();
    assert_eq!(variant(&crowd), Some(holes));
    assert_eq!(crowd.instance(id).unwrap().record().variant(), holes.0 + 1);
    crowd.live_mut(id).set_tint([0.5; 4]).unwrap();
    assert_eq!(crowd.instance(id).unwrap().record().variant(), holes.0 + 1);
    let after = crowd.snapshot();
    let one = crowd.instance(id).unwrap().snapshot();
    crowd.restore(&before).unwrap();
    assert_eq!(variant(&crowd), None);
    crowd.restore(&after).unwrap();
    assert_eq!(variant(&crowd), Some(holes));
    crowd.live_mut(id).set_variant(None).unwrap();
    crowd.live_mut(id).restore(&one).unwrap();
    assert_eq!(variant(&crowd), Some(holes));
    crowd
        .live_mut(id)
        .set_variant(Some("hole".into()))
        .fails("material variant \"hole\" does not exist: there are holes, red, …");
    crowd
        .live_mut(id)
        .set_variant(Some(throng::Id::new(9).into()))
        .fails("material variant 9 does not exist: there are 6");
    assert_eq!(variant(&crowd), Some(holes));
    // Another order of variants, and one that is gone.
    let mut raw = bare(false);
    raw.variants = vec!["none".into(), "holes".into()];
    raw.primitives[0].variants = vec![(1, 4)];
    let mut allocator = setup.context.allocator();
    let issues = crowd.replace_character(&mut allocator, kind, &built(raw).character);
    assert_eq!(issues.unwrap().len(), 0);
    assert_eq!(variant(&crowd), Some(throng::Id::new(1)));
    let mut allocator = setup.context.allocator();
    let issues = crowd.replace_character(&mut allocator, kind, &built(bare(false)).character);
    assert_eq!(issues.unwrap().len(), 1);
    assert_eq!(variant(&crowd), None);
    setup.destroy(crowd);
    setup.context.messages.check().unwrap();
}
