//! Picking sees what is drawn: every texel of a picture is compared with a ray.

use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::raws::moves;
use crate::reference::ribbon::ribbon;
use crate::reference::rng::Rng;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, target};
use crate::support::{SMALL, described, each, placed, view};
use throng::Id;
use throng::animator::{Animator, Play};
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3, vec2, vec3};
use throng::import::ImportOptions;
use throng::palette::{Mat3x4, SkinningMethod};
use throng::skin::{CullMode, Posed, Ray, Skinner};
use throng::{Attachment, CharacterDesc, Crowd, Error, InstanceHit, InstanceId, Spawn, View};

/// Distance between the texels that are compared, in both directions.
const STEP: u32 = 2;

/// The ribbon without lighting, with its sides as parts and a morph target that widens one side.
fn character() -> Character {
    let mut raw = ribbon(4);
    for material in &mut raw.materials {
        (material.unlit, material.base_color) = (true, [1.0; 4]);
        material.base_color_texture = None;
    }
    raw.morphs = vec![raws::morph(0, "", vec![0.0])];
    for (primitive, name) in raw.primitives.iter_mut().zip(["front", "back"]) {
        primitive.part = name.into();
    }
    let side = &mut raw.primitives[0];
    side.morph = Some(0);
    side.targets = vec![moves(vec![Vec3::X; 2], vec![1, 3])];
    raw.build(&ImportOptions::default()).unwrap().character
}

fn camera() -> View {
    view(vec3(1.0, 2.0, 9.0), vec3(0.0, 1.5, 0.0), EXTENT)
}

/// The ray through the middle of a texel.
fn ray(x: u32, y: u32) -> Ray {
    camera().ray(vec2(x as f32 + 0.5, y as f32 + 0.5))
}

/// The colours by which instances are told apart.
const TINTS: [[f32; 4]; 5] = [
    [1.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 1.0],
    [1.0, 1.0, 0.0, 1.0],
    [1.0, 0.0, 1.0, 1.0],
];

/// The instance of a texel.
fn shown(texel: &[u8]) -> Option<usize> {
    let of = [texel[0] > 200, texel[1] > 200, texel[2] > 200];
    TINTS
        .iter()
        .position(|tint| of == [tint[0] > 0.5, tint[1] > 0.5, tint[2] > 0.5])
}

fn spawn(crowd: &mut Crowd, kind: throng::CharacterId) -> Vec<InstanceId> {
    let place = |x: f32, z: f32| Affine3A::from_translation(vec3(x, 0.0, z));
    let mirror = Affine3A::from_scale(vec3(-1.0, 1.0, 1.0));
    let turned = Affine3A::from_quat(Quat::from_rotation_y(0.4));
    let places = [
        place(-0.6, 0.0),
        place(0.3, 0.5) * mirror,
        place(0.0, -1.0) * turned,
        place(9.0, 0.0),
        place(1.4, 0.3),
    ];
    let all = places.iter().zip(TINTS).map(|(place, tint)| {
        let spawn = Spawn {
            world_from_model: *place,
            tint,
            play: "sway".into(),
            ..Spawn::default()
        };
        crowd.spawn(kind, &spawn).unwrap()
    });
    let all: Vec<InstanceId> = all.collect();
    let offset = Affine3A::from_translation(vec3(0.4, 0.2, 0.6));
    let attachment = Attachment::new(all[0], "joint 1").at(offset);
    crowd.live_mut(all[3]).attach_to(attachment).unwrap();
    all
}

#[test]
fn what_is_picked_is_what_is_drawn() {
    let character = character();
    let parts = ["front", "back"].map(|name| character.part(name).unwrap());
    let methods = [
        SkinningMethod::Linear,
        SkinningMethod::DualQuat,
        SkinningMethod::QuatOffset,
    ];
    each(|setup| {
        let target = target(&mut setup.context);
        let mut frames = FramesInFlight::new(&setup.context, 1);
        let rng = &mut Rng::new(18);
        for (round, method) in methods.into_iter().cycle().take(12).enumerate() {
            let mut crowd = setup.crowd(1, SMALL);
            let pass = pass(&mut crowd, &target, false);
            let desc = described(method, true);
            let allocator = &mut setup.context.allocator();
            let kind = crowd.add_character(allocator, &character, &desc);
            let all = spawn(&mut crowd, kind.unwrap());
            let mut alive = vec![true; all.len()];
            for (index, id) in all.iter().enumerate() {
                let mut it = crowd.live_mut(*id);
                for part in parts.into_iter().filter(|_| rng.chance(3)) {
                    it.set_part_visible(part, false).unwrap();
                }
                it.set_visible(!rng.chance(6));
                it.set_view_mask([u32::MAX, 1, 2][rng.below(3)]);
                let weight = rng.range(0.0, 1.0);
                it.set_morph_weight(Id::new(0), Some(weight)).unwrap();
                if rng.chance(9) && index != 0 {
                    crowd.despawn(*id).unwrap();
                    alive[index] = false;
                }
            }
            let mask = [u32::MAX, 1, 2][round % 3];
            let mut frame = setup.begin(&mut crowd, 0, 0.3);
            let listed: Option<Vec<InstanceId>> = rng.chance(3).then(|| {
                let some = all.iter().zip(&alive).filter(|(_, alive)| **alive);
                some.map(|(id, _)| *id).step_by(2).collect()
            });
            let list = listed.as_ref().map(|some| frame.make_list(some).unwrap());
            let camera = View {
                mask,
                list,
                ..camera()
            };
            let cmd = frames.begin(&setup.context, 0);
            let views = unsafe { frame.record_prepare(cmd, &[camera]) }.unwrap();
            unsafe {
                target.begin(&setup.context.device, cmd, &NORMAL_Z);
                frame.record_draw(cmd, views[0], pass).unwrap();
                target.end(&setup.context.device, cmd);
            }
            let texels = || {
                let rows = (0..EXTENT.height).step_by(STEP as usize);
                rows.flat_map(|y| {
                    (0..EXTENT.width)
                        .step_by(STEP as usize)
                        .map(move |x| (x, y))
                })
            };
            let index = |hit: Option<InstanceHit>| {
                let id = hit.map(|hit| hit.instance);
                id.map(|id| all.iter().position(|other| *other == id).unwrap())
            };
            frames.submit(&setup.context, 0);
            frames.wait(&setup.context, 0);
            let picture = target.read_rgba().unwrap();
            let drawn = texels().map(|(x, y)| {
                let at = (y * EXTENT.width + x) as usize * 4;
                shown(&picture[at..at + 3])
            });
            let drawn: Vec<_> = drawn.collect();
            let of_view = texels().map(|(x, y)| {
                let (ray, cull) = (ray(x, y), CullMode::Material);
                index(match &listed {
                    None => crowd.pick(&ray, cull, mask).unwrap(),
                    Some(listed) => {
                        let mut hits = crowd.pick_all(&ray, cull, mask).unwrap().into_iter();
                        hits.find(|hit| listed.contains(&hit.instance))
                    }
                })
            });
            let of_view: Vec<_> = of_view.collect();
            let differ = drawn.iter().zip(&of_view).filter(|(a, b)| a != b).count();
            // Positions differ by rounding, so texels on edges may.
            assert!(
                differ <= 3,
                "round {round}: {differ} of {} texels",
                drawn.len()
            );
            let seen = drawn.iter().flatten().count();
            assert!(seen > 0 || round > 0, "nothing is drawn");
            setup.context.wait_idle().unwrap();
            unsafe { crowd.destroy(&mut setup.context.allocator()) };
        }
        frames.destroy(&setup.context);
    });
}

/// Changes count at once, even if no frame was prepared since.
#[test]
fn changes_between_frames_are_seen() {
    each(|setup| {
        let desc = setup.crowd_desc(1, SMALL);
        let device = setup.device();
        let allocator = &mut setup.context.allocator();
        let mut crowd = Crowd::new(&device, allocator, &desc).unwrap();
        let character = character();
        let part = character.part("front").unwrap();
        let desc = described(SkinningMethod::Linear, true);
        let kind = crowd.add_character(allocator, &character, &desc).unwrap();
        let plain = crowd
            .add_character(allocator, &character, &CharacterDesc::default())
            .unwrap();
        let at = |x: f32, z: f32| placed(Affine3A::from_translation(vec3(x, 0.0, z)), Play::REST);
        let near = crowd.spawn(kind, &at(0.0, 1.0)).unwrap();
        let far = crowd.spawn(kind, &at(0.0, 0.0)).unwrap();
        let child = crowd.spawn(kind, &at(0.0, 0.0)).unwrap();
        // It is in front, but without meshes on the CPU.
        crowd.spawn(plain, &at(0.0, 2.0)).unwrap();
        let ray = Ray {
            origin: vec3(0.1, 1.5, 10.0),
            direction: Vec3::NEG_Z,
        };
        let pick = |crowd: &mut Crowd| {
            let hit = crowd.pick(&ray, CullMode::Material, 1).unwrap();
            hit.map(|hit| hit.instance)
        };
        assert_eq!(pick(&mut crowd), Some(near));
        let offset = Affine3A::from_translation(vec3(0.0, 0.0, 1.5));
        let attachment = Attachment::new(near, "joint 0").at(offset);
        crowd.live_mut(child).attach_to(attachment).unwrap();
        assert_eq!(pick(&mut crowd), Some(child));
        crowd.live_mut(child).set_view_mask(2);
        assert_eq!(pick(&mut crowd), Some(near));
        crowd.live_mut(child).set_view_mask(3);
        crowd.live_mut(near).set_visible(false);
        assert_eq!(
            pick(&mut crowd),
            Some(far),
            "with its parent, the child is hidden"
        );
        let mut it = crowd.live_mut(far);
        it.set_part_visible(part, false).unwrap();
        assert_eq!(pick(&mut crowd), None);
        let both = crowd.pick(&ray, CullMode::None, 1).unwrap();
        assert_eq!(both.map(|hit| hit.instance), Some(far), "its back");
        let mut it = crowd.live_mut(far);
        it.set_part_visible(part, true).unwrap();
        // Its inverse overflows.
        let flat = Affine3A::from_scale(vec3(1.0, 1.0, 1e-40));
        it.set_transform(&flat).unwrap();
        assert_eq!(pick(&mut crowd), None);
        let nowhere = Ray {
            direction: Vec3::ZERO,
            ..ray
        };
        let said = crowd.pick(&nowhere, CullMode::Material, 1);
        assert!(matches!(said, Err(Error::Argument { .. })), "{said:?}");
        setup.destroy(crowd);
    });
}

/// Instances that a ray passes by are left out by their bounding spheres. The hits are those of
/// each character by itself.
#[test]
fn hits_in_a_crowd_are_those_of_its_characters() {
    const INSTANCES: usize = 60;
    let character = throng::builtin::mannequin().unwrap();
    let skinner = Skinner::new(&character).unwrap();
    let rng = &mut Rng::new(24);
    let clips = ["Walk", "Run", "Wave"];
    each(|setup| {
        let desc = setup.crowd_desc(1, SMALL);
        let device = setup.device();
        let mut crowd = Crowd::new(&device, &mut setup.context.allocator(), &desc).unwrap();
        let desc = described(SkinningMethod::Linear, true);
        let kind = setup.add_with(&mut crowd, &character, &desc);
        let mut animator = Animator::new(&character).unwrap();
        let mut all = Vec::new();
        for number in 0..INSTANCES {
            let play = Play::new(clips[number % 3]).offset_s(rng.range(0.0, 1.0).into());
            let place = vec3(rng.range(-5.0, 5.0), 0.0, rng.range(-5.0, 5.0));
            let turn = Quat::from_rotation_y(rng.range(-3.0, 3.0));
            let scale = vec3(rng.range(0.5, 2.0), 1.0, rng.range(-2.0, -0.5));
            let world = Affine3A::from_scale_rotation_translation(scale, turn, place);
            let id = crowd.spawn(kind, &placed(world, play)).unwrap();
            all.push((id, world, animator.add(play).unwrap()));
        }
        let entries = character.palette().len();
        let mut palettes = vec![Mat3x4::IDENTITY; entries * INSTANCES];
        let actors: Vec<_> = all.iter().map(|(_, _, actor)| *actor).collect();
        animator.palettes(&actors, &mut palettes[..]).unwrap();
        let weights = vec![0.0; character.morph_weights().len()];
        let mut hits = 0;
        for number in 0..200 {
            let (_, aim, _) = all[number % INSTANCES];
            let up = vec3(0.0, rng.range(0.0, 1.8), 0.0);
            let origin = vec3(rng.range(-9.0, 9.0), 1.0, rng.range(-9.0, 9.0));
            let ray = Ray {
                origin,
                direction: aim.transform_point3(up) - origin,
            };
            let mut expected = Vec::new();
            for ((id, world, _), palette) in all.iter().zip(palettes.chunks(entries)) {
                let posed = Posed::new(&character, &skinner, palette, &weights).at(*world);
                let of_one = posed.pick_all(&ray, CullMode::None).unwrap();
                expected.extend(of_one.into_iter().map(|hit| (hit.distance, *id)));
            }
            expected.sort_by(|a, b| a.0.total_cmp(&b.0));
            let found = crowd.pick_all(&ray, CullMode::None, 1).unwrap();
            let ids = |hit: &InstanceHit| (hit.hit.distance, hit.instance);
            let found: Vec<_> = found.iter().map(ids).collect();
            assert_eq!(found, expected, "ray {number}");
            let nearest = crowd.pick(&ray, CullMode::None, 1).unwrap();
            let nearest = nearest.map(|hit| hit.hit.distance);
            assert_eq!(nearest, expected.first().map(|(distance, _)| *distance));
            hits += expected.len();
        }
        assert!(hits > 400, "{hits} hits");
        setup.destroy(crowd);
    });
}
