//! Frames that are drawn after the game went on.

use crate::support::{
    DEPTH, SIDES, SIZE, Target, camera, desc, environment_desc, frame, gpu, messages, pass_desc,
    read, spawns, square, texture,
};
use throng::glam::{Affine3A, DVec3, Mat3, Vec3};
use throng::ik::Aim;
use throng::skin::{CullMode, Ray};
use throng::{
    CharacterDesc, CharacterId, CrowdSnapshot, IkSolver, InstanceId, PassId, SkinningStage, Spawn,
    Stages, Views,
};
use throng_reference::picture::{covered, different};
use throng_reference::ribbon::{built, ribbon};
use throng_wgpu::{Crowd, Encoder, Error, Gpu, throng};

/// Three people whose front is a part.
struct World {
    gpu: Gpu,
    crowd: Crowd,
    people: CharacterId,
    pass: PassId,
    target: Target,
    /// The living, oldest first.
    ids: Vec<InstanceId>,
    saved: Option<CrowdSnapshot>,
}

/// Rays can hit them.
fn person_desc() -> CharacterDesc {
    CharacterDesc {
        cpu_skinning: true,
        ..CharacterDesc::default()
    }
}

fn person() -> throng::character::Character {
    let mut person = ribbon(4);
    person.primitives[0].part = "front".into();
    built(person).character
}

impl World {
    fn new(stages: Stages) -> Self {
        let gpu = gpu();
        let mut desc = desc(3, stages);
        desc.capacity.skinned_words = 4096;
        let mut crowd = Crowd::new(&gpu, &desc).unwrap();
        let people = crowd.add_character(&person(), &person_desc());
        let people = people.unwrap();
        let ids = spawns().map(|spawn| crowd.spawn(people, &spawn).unwrap());
        let pass = crowd.create_pass(&pass_desc(1)).unwrap();
        let target = Target::new(&gpu, SIZE, 1);
        Self {
            gpu,
            crowd,
            people,
            pass,
            target,
            ids: ids.to_vec(),
            saved: None,
        }
    }

    /// The picture of a frame that is drawn at once.
    fn at_once(&mut self, time_s: f64) -> Vec<u8> {
        frame(&mut self.crowd, &self.target, self.pass, time_s).unwrap();
        read(&self.gpu, &self.target.color)
    }

    fn prepare(&mut self, time_s: f64) -> Views {
        self.crowd.update(time_s).unwrap();
        let mut frame = self.crowd.begin_frame(time_s).unwrap();
        frame.prepare(&[camera(SIZE)]).unwrap()
    }

    /// Draws twice, the second time over the first.
    fn resume(&mut self, views: Views) -> Vec<u8> {
        let mut encoder = Encoder::new(&self.gpu);
        for clear in [true, false] {
            let frame = self.crowd.resume_frame().unwrap();
            let to = (&frame, &mut encoder);
            self.target.draw(to, (views[0], self.pass), clear).unwrap();
        }
        encoder.submit().unwrap();
        read(&self.gpu, &self.target.color)
    }

    fn end(self) {
        drop(self);
        messages::expect_none();
    }
}

fn at(x: f32) -> Affine3A {
    Affine3A::from_translation(Vec3::new(x, 0.2, 0.0))
}

/// At a place, flipped or not.
fn put(world: &mut World, number: usize, x: f32, flipped: bool) {
    let side = if flipped { -1.0 } else { 1.0 };
    let to = at(x) * Affine3A::from_mat3(Mat3::from_diagonal(Vec3::new(side, 1.0, 1.0)));
    let mut it = world.crowd.instance_mut(world.ids[number]).unwrap();
    it.set_transform(&to).unwrap();
}

fn hide(world: &mut World, number: usize, hidden: bool) {
    let mut it = world.crowd.instance_mut(world.ids[number]).unwrap();
    it.set_part_visible("front", !hidden).unwrap();
}

fn spawn(world: &mut World, x: f32) {
    let spawn = Spawn {
        world_from_model: at(x),
        play: "sway".into(),
        ..Spawn::default()
    };
    let id = world.crowd.spawn(world.people, &spawn).unwrap();
    world.ids.push(id);
}

fn despawn(world: &mut World, count: usize) {
    for id in world.ids.drain(..count) {
        world.crowd.despawn(id).unwrap();
    }
}

type Change = (&'static str, fn(&mut World));

/// Steps of a game, each of which changes the next picture.
const CHANGES: [Change; 15] = [
    ("spawn", |world| spawn(world, 0.6)),
    ("set_transform", |world| put(world, 0, -0.9, false)),
    ("flip the first", |world| put(world, 0, -0.8, true)),
    ("turn the last flipped one back", |world| {
        put(world, 0, -1.0, false);
    }),
    ("hide the first part", |world| hide(world, 1, true)),
    ("show the last hidden part", |world| hide(world, 1, false)),
    ("hide a part, flipped", |world| {
        put(world, 2, 1.0, true);
        hide(world, 2, true);
    }),
    ("set_visible", |world| {
        let mut it = world.crowd.instance_mut(world.ids[0]).unwrap();
        it.set_visible(false);
    }),
    ("set_transforms, pick", |world| {
        let to = at(0.3);
        world.crowd.set_transforms(&[(world.ids[1], to)]).unwrap();
        let ray = Ray {
            origin: Vec3::new(0.3, 1.0, 9.0),
            direction: Vec3::NEG_Z,
        };
        let hit = world.crowd.pick(&ray, CullMode::None, u32::MAX);
        assert!(hit.unwrap().is_some());
    }),
    ("set_tint, set_skinning_stage", |world| {
        let mut it = world.crowd.instance_mut(world.ids[2]).unwrap();
        it.set_tint([0.1, 2.0, 0.3, 1.0]).unwrap();
        it.set_skinning_stage(SkinningStage::Compute).unwrap();
    }),
    ("shift_origin", |world| {
        world.saved = Some(world.crowd.snapshot());
        world.crowd.shift_origin(DVec3::new(0.4, 0.0, 0.0)).unwrap();
    }),
    ("despawn", |world| despawn(world, 1)),
    ("despawn everybody", |world| {
        let all = world.ids.len();
        despawn(world, all);
    }),
    ("spawn into nobody", |world| spawn(world, 0.0)),
    ("despawn and spawn", |world| {
        despawn(world, 1);
        spawn(world, 0.9);
    }),
];

/// Each step comes between a frame and its draws, and so does an update of the game.
#[test]
fn draws_show_what_was_prepared() {
    for stages in SIDES {
        let mut world = World::new(stages);
        let mut before = Vec::new();
        for (number, (what, change)) in CHANGES.into_iter().enumerate() {
            let time_s = 0.3 + 0.1 * number as f64;
            let at_once = world.at_once(time_s);
            assert!(
                before.is_empty() || different(&at_once, &before, 8) > 0,
                "{what}"
            );
            let views = world.prepare(time_s);
            change(&mut world);
            world.crowd.update(time_s + 0.05).unwrap();
            let resumed = world.resume(views);
            let differ = different(&at_once, &resumed, 0);
            assert_eq!(differ, 0, "{stages:?}: {what}");
            before = at_once;
        }
        // The game is where the steps have led it.
        assert!(covered(&world.at_once(2.0)) > 100);
        // A snapshot that brings everybody back.
        let at_once = world.at_once(2.0);
        let views = world.prepare(2.0);
        let saved = world.saved.take().unwrap();
        world.crowd.restore(&saved).unwrap();
        assert_eq!(different(&world.resume(views), &at_once, 0), 0);
        assert!(world.crowd.instances().len() > 1);
        world.end();
    }
}

type Call = (&'static str, fn(&mut World));

/// Calls after which a frame cannot be resumed, whether they fail or not.
const ENDS: [Call; 12] = [
    ("add_character", |world| {
        let added = world.crowd.add_character(&person(), &person_desc());
        world.people = added.unwrap();
    }),
    ("replace_character", |world| {
        let replaced = world.crowd.replace_character(world.people, &person());
        assert!(replaced.unwrap().is_empty());
    }),
    ("remove_character", |world| {
        world.crowd.remove_character(world.people).unwrap();
    }),
    ("remove_character that is gone", |world| {
        world.crowd.remove_character(world.people).unwrap_err();
    }),
    ("reserve", |world| {
        let mut capacity = world.crowd.capacity();
        capacity.instances += 1000;
        world.crowd.reserve(&capacity).unwrap();
    }),
    ("create_pass", |world| {
        world.crowd.create_pass(&pass_desc(4)).unwrap();
    }),
    ("remove_pass", |world| {
        world.crowd.remove_pass(world.pass).unwrap();
        world.pass = world.crowd.create_pass(&pass_desc(1)).unwrap();
    }),
    ("set_shadow_map", |world| {
        let map = texture(&world.gpu, DEPTH, square(64), 1);
        world.crowd.set_shadow_map(&map, false).unwrap();
    }),
    ("set_environment_map", |world| {
        let map = world.gpu.device().create_texture(&environment_desc(1));
        world.crowd.set_environment_map(&map).unwrap();
    }),
    ("warm_up", |world| {
        let warm = world
            .crowd
            .warm_up(&person(), &person_desc(), SkinningStage::Compute);
        warm.unwrap();
    }),
    ("abandon_reveal", |world| world.crowd.abandon_reveal()),
    ("begin_frame", |world| {
        world.crowd.begin_frame(9.0).unwrap();
    }),
];

#[track_caller]
fn expect_not_prepared(world: &mut World, what: &str) {
    let resumed = world.crowd.resume_frame();
    assert!(
        matches!(resumed, Err(Error::NotPrepared)),
        "{what}: {resumed:?}"
    );
}

#[test]
fn other_changes_end_it() {
    for stages in SIDES {
        let mut world = World::new(stages);
        expect_not_prepared(&mut world, "nothing was prepared");
        let people = world.people;
        let at_once = world.at_once(9.0);
        for (what, change) in ENDS {
            let views = world.prepare(9.0);
            assert_eq!(different(&world.resume(views), &at_once, 0), 0, "{what}");
            change(&mut world);
            expect_not_prepared(&mut world, what);
            // The next one can be.
            let views = world.prepare(9.0);
            assert_eq!(different(&world.resume(views), &at_once, 0), 0, "{what}");
        }
        world.prepare(9.0);
        world.crowd.add_solver(people, solver()).unwrap();
        expect_not_prepared(&mut world, "add_solver");
        world.crowd.update(9.0).unwrap();
        let mut frame = world.crowd.begin_frame(9.0).unwrap();
        frame.prepare(&[]).unwrap();
        expect_not_prepared(&mut world, "there are no views");
        world.end();
    }
}

fn solver() -> IkSolver {
    let aim = Aim {
        joints: vec![(throng::Id::new(1), 1.0)],
        forward: Vec3::Z,
        up: Vec3::Y,
        offset_m: Vec3::ZERO,
        limit_rad: 1.0,
    };
    aim.into()
}

/// A resumed frame is for draws of its own views, before the next frame is prepared.
#[test]
fn only_its_draws_are_accepted() {
    let mut world = World::new(Stages::default());
    let earlier = world.prepare(0.3);
    let views = world.prepare(0.4);
    let mut frame = world.crowd.resume_frame().unwrap();
    let again = frame.prepare(&[camera(SIZE)]);
    assert!(matches!(again, Err(Error::Throng(_))), "{again:?}");
    let moved = frame.set_transform(world.ids[0], &at(0.0));
    assert!(matches!(moved, Err(Error::Throng(_))), "{moved:?}");
    let listed = frame.make_list(&world.ids);
    assert!(matches!(listed, Err(Error::Throng(_))), "{listed:?}");
    let mut encoder = Encoder::new(&world.gpu);
    let revealed = frame.reveal(&mut encoder, &[]);
    assert!(matches!(revealed, Err(Error::Throng(_))), "{revealed:?}");
    let to = (&frame, &mut encoder);
    let foreign = world.target.draw(to, (earlier[0], world.pass), true);
    assert!(matches!(foreign, Err(Error::Throng(_))), "{foreign:?}");
    let to = (&frame, &mut encoder);
    let drawn = world.target.draw(to, (views[0], world.pass), true);
    drawn.unwrap();
    world.prepare(0.5);
    let late = encoder.submit();
    assert!(
        matches!(late, Err(Error::Late { frame: 2, later: 3 })),
        "{late:?}"
    );
    world.end();
}

/// Levels are those of the prepared frame, also with more instances than it had.
#[test]
fn levels_are_those_of_the_frame() {
    let mut world = World::new(Stages::Cpu);
    world.crowd.update(0.3).unwrap();
    let mut frame = world.crowd.begin_frame(0.3).unwrap();
    let away = throng::View {
        mask: 0,
        ..camera(SIZE)
    };
    let views = frame.prepare(&[away, camera(SIZE)]).unwrap();
    for number in 0..200 {
        spawn(&mut world, number as f32 * 0.01);
    }
    let ids = world.ids.clone();
    let frame = world.crowd.resume_frame().unwrap();
    for (number, id) in ids.into_iter().enumerate() {
        let levels = [0, 1].map(|view| frame.level(views[view], id).unwrap());
        assert_eq!(levels, [None, (number < 3).then_some(0)], "{number}");
    }
    world.end();
}
