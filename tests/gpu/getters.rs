//! Getters return what setters set, instances can be listed, and capacity can be reserved exactly.

use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::raws::moves;
use crate::reference::ribbon::{built, ribbon};
use crate::reference::words::Fails;
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::{SMALL, Setup, described, each, placed, view};
use std::collections::BTreeSet;
use std::ops::DerefMut;
use throng::Id;
use throng::animator::Animator;
use throng::character::Character;
use throng::glam::{Affine3A, DVec3, Quat, Vec3};
use throng::mesh::AlphaMode;
use throng::palette::SkinningMethod;
use throng::skeleton::Transform;
use throng::{
    Actor, Capacity, CharacterDesc, CharacterId, Crowd, Error, Play, Pose, RootMotionMode,
    ShowPose, SkinningStage, Spawn, SpringMode, Stages,
};

const METHODS: [SkinningMethod; 3] = [
    SkinningMethod::Linear,
    SkinningMethod::DualQuat,
    SkinningMethod::QuatOffset,
];
const MODES: [SkinningStage; 3] = [
    SkinningStage::Vertex,
    SkinningStage::Compute,
    SkinningStage::Cpu,
];

/// A ribbon with two morph weights. Its back is blended if asked for.
fn character(joints: usize, blended: bool) -> Character {
    let mut raw = ribbon(joints);
    raw.morphs = vec![raws::morph(0, "ribbon", vec![0.0, 0.25])];
    if blended {
        raw.materials[1].alpha = AlphaMode::Blend;
    }
    let target = moves(vec![Vec3::X], vec![0]);
    for primitive in &mut raw.primitives {
        primitive.morph = Some(0);
        primitive.targets = vec![target.clone(), target.clone()];
    }
    built(raw).character
}

#[test]
fn what_was_set_can_be_asked_for() {
    each(|setup| {
        let mut crowd = setup.crowd(2, SMALL);
        let [one, two] = [3, 4].map(|joints| {
            let character = character(joints, false);
            setup.add(&mut crowd, &character)
        });
        assert_eq!(crowd.character(one).unwrap().name(), "ribbon of 3");
        let place = Affine3A::from_rotation_translation(Quat::from_rotation_x(0.3), Vec3::X);
        let spawn = Spawn {
            world_from_model: place,
            tint: [0.5, 0.25, 1.0, 0.75],
            second_tint: [0.25, 1.0, 0.5],
            user_data: 7,
            ..Spawn::default()
        };
        let ids: Vec<_> = [one, two, one]
            .map(|kind| crowd.spawn(kind, &spawn).unwrap())
            .to_vec();
        let id = ids[1];
        assert_eq!(crowd.instance(id).map(|it| it.transform()), Ok(place));
        assert_eq!(crowd.instance(id).map(|it| it.tint()), Ok(spawn.tint));
        let second = crowd.instance(id).map(|it| it.second_tint());
        assert_eq!(second, Ok(spawn.second_tint));
        assert_eq!(crowd.live(id).record().second_tint(), spawn.second_tint);
        crowd.live_mut(id).set_second_tint([2.0, 0.0, 0.5]).unwrap();
        let it = crowd.live(id);
        assert_eq!((it.tint(), it.second_tint()), (spawn.tint, [2.0, 0.0, 0.5]));
        crowd.live_mut(id).set_tint([1.0; 4]).unwrap();
        assert_eq!(crowd.live(id).second_tint(), [2.0, 0.0, 0.5]);
        crowd.live_mut(id).set_tint(spawn.tint).unwrap();
        assert_eq!(crowd.instance(id).map(|it| it.user_data()), Ok(7));
        assert_eq!(crowd.instance(id).map(|it| it.is_visible()), Ok(true));
        assert_eq!(crowd.instance(id).map(|it| it.view_mask()), Ok(u32::MAX));
        assert_eq!(crowd.instance(id).map(|it| it.character()), Ok(two));
        let weights = |crowd: &Crowd| {
            let mut weights = [f32::NAN; 2];
            crowd.live(id).morph_weights(&mut weights).unwrap();
            weights
        };
        let rest = weights(&crowd);
        crowd
            .live_mut(id)
            .set_morph_weight(Id::new(1), Some(0.5))
            .unwrap();
        assert_eq!(weights(&crowd), [rest[0], 0.5]);
        crowd
            .live_mut(id)
            .set_morph_weights(&[Some(0.25), None])
            .unwrap();
        assert_eq!(weights(&crowd), [0.25, rest[1]]);
        let all: BTreeSet<u32> = crowd
            .instances()
            .map(|id| crowd.live(id).table_index())
            .collect();
        assert_eq!(all.len(), 3);
        for index in all {
            let id = crowd.instance_at(index).unwrap();
            assert!(ids.contains(&id));
        }
        assert_eq!(crowd.instance_at(3), None);
        assert_eq!(crowd.instances_of(one).unwrap().len(), 2);
        let of_two: Vec<_> = crowd.instances_of(two).unwrap().collect();
        assert_eq!(of_two, [id]);
        crowd.despawn(id).unwrap();
        assert_eq!(crowd.instances().collect::<Vec<_>>(), [ids[0], ids[2]]);
        assert_eq!(crowd.instance_at(1), None);
        crowd.remove_character(two).unwrap();
        assert_eq!(crowd.characters().collect::<Vec<_>>(), [one]);
        crowd
            .instances_of(two)
            .fails("character … does not exist: there are …");
        setup.destroy(crowd);
    });
}

fn add(setup: &mut Setup, crowd: &mut Crowd, of: &(Character, CharacterDesc)) -> CharacterId {
    setup.add_with(crowd, &of.0, &of.1)
}

/// Spawns `count` instances and prepares a frame with all views. One more instance is refused.
fn fill(setup: &mut Setup, crowd: &mut Crowd, kinds: &[(CharacterId, u32)], skin: SkinningStage) {
    let spawn = Spawn {
        play: "sway".into(),
        skinning_stage: skin,
        ..Spawn::default()
    };
    for (kind, count) in kinds {
        for _ in 0..*count {
            crowd.spawn(*kind, &spawn).unwrap();
        }
    }
    for (kind, _) in kinds {
        crowd
            .spawn(*kind, &spawn)
            .fails("instances (Capacity::instances, …): … requested, at most … allowed");
    }
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
    let cmd = frames_in_flight.begin(&setup.context, 0);
    let views = vec![view(Vec3::Z * 5.0, Vec3::ZERO, EXTENT); crowd.capacity().views as usize];
    let mut frame = setup.begin(crowd, 0, 0.1);
    unsafe { frame.record_prepare(cmd, &views) }.unwrap();
    frames_in_flight.submit(&setup.context, 0);
    frames_in_flight.destroy(&setup.context);
}

#[test]
fn room_for_known_characters_is_just_enough() {
    each(|setup| {
        for skin in MODES {
            let loads: Vec<_> = (0..)
                .zip(METHODS)
                .map(|(at, method)| {
                    let desc = described(method, true);
                    (character(3 + at, at == 1), desc)
                })
                .collect();
            let counts = [3, 2, 4];
            let mut capacity = Capacity::new(3);
            for ((character, desc), instances) in loads.iter().zip(counts) {
                capacity = capacity
                    .with_character(character, desc, instances, skin)
                    .unwrap();
            }
            // An entry has 3, 2 and 2 rows of 16 bytes, by method. Every call rounds up.
            let rows =
                |at: usize, rows: u32| rows * counts[at] * loads[at].0.palette().len() as u32;
            let entries = [rows(0, 3), rows(1, 2), rows(2, 2)].map(|rows| rows.div_ceil(3));
            assert_eq!(capacity.palette_entries, entries.iter().sum::<u32>());
            assert_eq!((capacity.instances, capacity.morph_weights), (9, 18));
            assert_eq!((capacity.views, capacity.blended), (3, 6));
            let words = (capacity.skinned_words, capacity.cpu_skinned_words);
            match skin {
                SkinningStage::Vertex => assert_eq!(words, (0, 0)),
                SkinningStage::Compute => assert!(words.0 > 0 && words.1 == 0),
                SkinningStage::Cpu => assert!(words.0 > 0 && words.1 == words.0),
            }
            let mut crowd = setup.crowd(1, capacity);
            let kinds: Vec<_> = loads
                .iter()
                .zip(counts)
                .map(|(of, count)| (add(setup, &mut crowd, of), count))
                .collect();
            fill(setup, &mut crowd, &kinds, skin);
            // And capacity for some more.
            let more: Vec<_> = kinds.iter().map(|(kind, _)| (*kind, 2)).collect();
            let allocator = &mut setup.context.allocator();
            let wanted = more
                .iter()
                .map(|(kind, instances)| (*kind, *instances, skin));
            let wanted: Vec<_> = wanted.collect();
            let needed = crowd.needed_capacity(&wanted).unwrap();
            crowd.reserve(allocator, &needed).unwrap();
            assert_eq!(crowd.capacity().instances, 15);
            fill(setup, &mut crowd, &more, skin);
            setup.destroy(crowd);
        }
    });
}

/// A crowd may start without any capacity for instances.
#[test]
fn a_crowd_without_instances_can_draw_and_grow() {
    each(|setup| {
        let mut crowd = setup.crowd(1, Capacity::new(1));
        let of = (character(3, false), CharacterDesc::default());
        let kind = add(setup, &mut crowd, &of);
        fill(setup, &mut crowd, &[(kind, 0)], SkinningStage::Vertex);
        let allocator = &mut setup.context.allocator();
        let more = [(kind, 2, SkinningStage::Vertex)];
        let needed = crowd.needed_capacity(&more).unwrap();
        crowd.reserve(allocator, &needed).unwrap();
        fill(setup, &mut crowd, &[(kind, 2)], SkinningStage::Vertex);
        setup.destroy(crowd);
    });
}

/// Palettes are counted by the rows of their format.
#[test]
fn uploads_are_counted_as_they_are_written() {
    each(|setup| {
        let uploaded = METHODS.map(|method| {
            let mut crowd = setup.crowd_with(Stages::Cpu, 2, SMALL);
            let desc = described(method, false);
            let character = built(ribbon(5)).character;
            let entries = character.palette().len() as u64;
            let kind = add(setup, &mut crowd, &(character, desc));
            for _ in 0..3 {
                crowd
                    .spawn(kind, &placed(Affine3A::IDENTITY, Play::from("sway")))
                    .unwrap();
            }
            let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
            let bytes = [0, 1].map(|frame_index| {
                let cmd = frames_in_flight.begin(&setup.context, frame_index);
                let mut frame = setup.begin(&mut crowd, frame_index, 0.1);
                let camera = view(Vec3::Z * 5.0, Vec3::ZERO, EXTENT);
                unsafe { frame.record_prepare(cmd, &[camera]) }.unwrap();
                frames_in_flight.submit(&setup.context, frame_index);
                crowd.stats().upload_bytes
            });
            frames_in_flight.destroy(&setup.context);
            setup.destroy(crowd);
            // The first frame also uploads the character and the records.
            assert!(bytes[0] > bytes[1]);
            (bytes[1], entries * 3)
        });
        let [(linear, entries), (dual, _), (offset, _)] = uploaded;
        // A view's record, the start of a list, three table indices, three palettes.
        assert_eq!(linear, 192 + 4 + 3 * 4 + entries * 48);
        assert_eq!(dual, 192 + 4 + 3 * 4 + entries * 32);
        assert_eq!(offset, dual);
    });
}

/// An instance is its actor and more, so what the actor's own methods do is right for the crowd.
#[test]
fn the_actor_of_an_instance_can_be_controlled_on_its_own() {
    fn control<A: DerefMut<Target = Animator>>(actor: &mut Actor<A>) {
        actor.set_root_motion(RootMotionMode::Apply);
        actor.set_springs(SpringMode::Off);
    }
    each(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let character = character(3, false);
        let allocator = &mut setup.context.allocator();
        let desc = described(SkinningMethod::QuatOffset, false);
        let kind = crowd.add_character(allocator, &character, &desc).unwrap();
        let id = crowd
            .spawn(
                kind,
                &placed(
                    Affine3A::from_translation(Vec3::new(1.0, 2.0, 3.0)),
                    Play::REST,
                ),
            )
            .unwrap();
        let mut instance = crowd.live_mut(id);
        control(&mut instance);
        // Root motion starts where the instance is, and continues where it is put.
        let at = instance.root_transform().translation;
        assert_eq!(at, DVec3::new(1.0, 2.0, 3.0));
        let moved = Affine3A::from_translation(Vec3::new(-4.0, 0.0, 0.5));
        instance.set_transform(&moved).unwrap();
        assert_eq!(
            instance.root_transform().translation,
            DVec3::new(-4.0, 0.0, 0.5)
        );
        assert_eq!((instance.transform(), instance.id()), (moved, id));
        // The palette format cannot represent the pose.
        let mut model = vec![Affine3A::IDENTITY; character.skeleton().len()];
        model[1] = Affine3A::from_scale(Vec3::new(1.0, 3.0, 1.0));
        let actor: &mut Actor<_> = &mut instance;
        let refused = actor.set_pose(Pose::Model(&model), &ShowPose::default());
        let is_named = matches!(refused, Err(Error::Unrepresentable { joint: 1, .. }));
        assert!(is_named, "{refused:?}");
        let scaled = Transform {
            scale: Vec3::new(1.0, 3.0, 1.0),
            ..Transform::IDENTITY
        };
        let local = vec![scaled; character.skeleton().len()];
        let refused = actor.set_pose(Pose::Local(&local), &ShowPose::default());
        assert!(matches!(refused, Err(Error::Unrepresentable { .. })));
        assert!(actor.pose().is_none());
        setup.destroy(crowd);
    });
}
