//! Replacing a character in place, warming up its pipelines, spawning with everything, and moving
//! many instances.

use crate::reference::handles::Handles;
use crate::reference::picture::{covered, different};
use crate::reference::ribbon::{built, ribbon};
use crate::reference::words::Says;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, picture, target};
use crate::support::{SMALL, Setup, described, each, placed, posed_by_cpu, stages, view};
use throng::animator::ReplaceIssue;
use throng::character::Character;
use throng::glam::{Affine3A, Vec3, vec3};
use throng::import::RawCharacter;
use throng::mesh::AlphaMode;
use throng::palette::{Mat3x4, SkinningMethod};
use throng::skin::{CullMode, Ray};
use throng::{
    Attachment, Capacity, CharacterId, Crowd, Error, InstanceId, PassId, Play, SkinningStage,
    Spawn, SpringMode, Stages, View,
};
use throng_standalone::Target;

const TIME_S: f64 = 0.3;
/// Capacity for three instances, two of which are deformed to memory.
const ROOM: Capacity = Capacity {
    skinned_words: 1024,
    cpu_skinned_words: 512,
    ..SMALL
};

fn camera() -> View {
    view(Vec3::new(0.4, 2.0, 7.0), Vec3::new(0.0, 1.5, 0.0), EXTENT)
}

/// A ribbon whose sides are parts.
fn raw(joints: usize) -> RawCharacter {
    let mut raw = ribbon(joints);
    for (primitive, name) in raw.primitives.iter_mut().zip(["front", "back"]) {
        primitive.part = name.into();
    }
    raw
}

struct Stage {
    crowd: Crowd,
    target: Target,
    pass: PassId,
    frames_in_flight: FramesInFlight,
    frame: u32,
}

impl Stage {
    fn new(setup: &mut Setup, capacity: Capacity) -> Self {
        Self::with(setup, stages(), capacity)
    }

    fn with(setup: &mut Setup, stages: Stages, capacity: Capacity) -> Self {
        let mut crowd = setup.crowd_with(stages, 2, capacity);
        let target = target(&mut setup.context);
        Self {
            pass: pass(&mut crowd, &target, false),
            crowd,
            target,
            frames_in_flight: FramesInFlight::new(&setup.context, 2),
            frame: 0,
        }
    }

    fn add(&mut self, setup: &mut Setup, character: &Character) -> CharacterId {
        let desc = described(SkinningMethod::Linear, true);
        setup.add_with(&mut self.crowd, character, &desc)
    }

    /// Three instances, each of another stage. The second hides its front, and the third follows a
    /// joint of the first.
    fn populate(&mut self, kind: CharacterId) -> Vec<InstanceId> {
        let mut ids: Vec<InstanceId> = Vec::new();
        let stages = [
            SkinningStage::Vertex,
            SkinningStage::Compute,
            SkinningStage::Cpu,
        ];
        for (at, skinning_stage) in (0..).zip(stages) {
            let parts = [["front".into()]];
            let spawn = Spawn {
                world_from_model: Affine3A::from_translation(vec3(at as f32 - 1.0, 0.0, 0.0)),
                play: "sway".into(),
                skinning_stage,
                hidden_parts: if at == 1 { &parts[0] } else { &[] },
                attachment: (at == 2).then(|| Attachment {
                    socket_from_child: Affine3A::from_translation(vec3(1.5, -1.0, 0.0)),
                    ..Attachment::new(ids[0], "joint 1")
                }),
                ..Spawn::default()
            };
            ids.push(self.crowd.spawn(kind, &spawn).unwrap());
        }
        ids
    }

    fn picture(&mut self, setup: &mut Setup) -> Vec<u8> {
        self.frame = 1 - self.frame;
        picture(
            &mut setup.context,
            &mut self.crowd,
            &mut self.frames_in_flight,
            (self.frame, TIME_S),
            (&self.target, self.pass, &NORMAL_Z),
            &[camera()],
        )
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        setup.destroy(self.crowd);
    }
}

/// The picture of a crowd that had the character from the start.
fn drawn(setup: &mut Setup, character: &Character) -> Vec<u8> {
    let mut stage = Stage::new(setup, ROOM);
    let kind = stage.add(setup, character);
    stage.populate(kind);
    let picture = stage.picture(setup);
    stage.destroy(setup);
    picture
}

/// After a replacement, the picture is that of a crowd which had the new character from the start.
#[test]
fn a_replaced_character_is_drawn_like_a_new_one() {
    each(|setup| {
        let (small, large) = (built(raw(3)).character, built(raw(7)).character);
        let wanted = drawn(setup, &large);
        let mut stage = Stage::new(setup, ROOM);
        let kind = stage.add(setup, &small);
        let ids = stage.populate(kind);
        let before = stage.picture(setup);
        assert!(different(&before, &wanted, 0) > 300);
        // Twice in a row, without a frame between, and with frames in flight.
        for character in [&small, &large] {
            let allocator = &mut setup.context.allocator();
            let issues = stage.crowd.replace_character(allocator, kind, character);
            assert_eq!(issues.unwrap(), []);
        }
        for _ in 0..3 {
            assert_eq!(different(&stage.picture(setup), &wanted, 0), 0);
        }
        assert!(
            stage
                .crowd
                .instances_of(kind)
                .unwrap()
                .eq(ids.iter().copied())
        );
        // And back.
        let allocator = &mut setup.context.allocator();
        stage
            .crowd
            .replace_character(allocator, kind, &small)
            .unwrap();
        assert_eq!(different(&stage.picture(setup), &before, 0), 0);
        stage.destroy(setup);
    });
}

/// A frame that is never submitted uploads the new character again, not the old one.
#[test]
fn an_abandoned_frame_does_not_bring_the_old_character_back() {
    each(|setup| {
        let (small, large) = (built(raw(3)).character, built(raw(7)).character);
        let wanted = drawn(setup, &large);
        let mut stage = Stage::new(setup, ROOM);
        let kind = stage.add(setup, &small);
        stage.populate(kind);
        let cmd = stage.frames_in_flight.begin(&setup.context, 0);
        let allocator = &mut setup.context.allocator();
        unsafe {
            stage.crowd.update(0.1).unwrap();
            let mut frame = stage.crowd.begin_frame(allocator, 0, 0.1).unwrap();
            frame.record_prepare(cmd, &[camera()]).unwrap();
            stage
                .crowd
                .replace_character(allocator, kind, &large)
                .unwrap();
            stage.crowd.abandon_frame();
        }
        let again = FramesInFlight::new(&setup.context, 2);
        let unused = std::mem::replace(&mut stage.frames_in_flight, again);
        assert_eq!(different(&stage.picture(setup), &wanted, 0), 0);
        unused.destroy(&setup.context);
        stage.destroy(setup);
    });
}

#[test]
fn what_no_longer_fits_is_listed_or_refused() {
    each(|setup| {
        let character = built(raw(3)).character;
        let entries = character.palette().len() as u32 * 3;
        let capacity = Capacity {
            palette_entries: entries,
            ..ROOM
        };
        // The CPU poses: else, the frame is refused that has no memory for its palettes.
        let stages = posed_by_cpu();
        let mut stage = Stage::with(setup, stages, capacity);
        let kind = stage.add(setup, &character);
        let ids = stage.populate(kind);
        let before = stage.picture(setup);
        let large = built(raw(7)).character;
        let allocator = &mut setup.context.allocator();
        let full = stage.crowd.replace_character(allocator, kind, &large);
        let full = full.unwrap_err();
        let asked = 3 * large.palette().len() as u64;
        assert!(
            matches!(full, Error::Capacity { asked: all, cap, .. }
                if all == asked && cap == u64::from(entries)),
            "{full}"
        );
        full.says("…Capacity::palette_entries…");
        assert_eq!(different(&stage.picture(setup), &before, 0), 0);

        let mut less = raw(3);
        less.animations.remove(0);
        less.primitives[0].part = "face".into();
        less.nodes[1].name = "bone".into();
        let less = built(less).character;
        let allocator = &mut setup.context.allocator();
        let issues = stage
            .crowd
            .replace_character(allocator, kind, &less)
            .unwrap();
        let issue = |what, name: &str, affected| ReplaceIssue {
            what,
            name: name.into(),
            affected,
        };
        let wanted = [
            issue("clip", "sway", 3),
            issue("joint", "joint 1", 1),
            issue("part", "front", 1),
        ];
        assert_eq!(issues, wanted);
        assert!(stage.crowd.live(ids[2]).attachment().is_none());
        assert_eq!(stage.crowd.live(ids[1]).is_part_visible("back"), Ok(true));
        assert!(different(&stage.picture(setup), &before, 0) > 100);
        stage.crowd.live_mut(ids[0]).play("turn").unwrap();
        stage.destroy(setup);
    });
}

#[test]
fn what_was_warmed_up_compiles_nothing() {
    each(|setup| {
        let mut stage = Stage::new(setup, ROOM);
        let methods = [
            SkinningMethod::Linear,
            SkinningMethod::DualQuat,
            SkinningMethod::QuatOffset,
        ];
        let mut masked = raw(4);
        masked.materials[0].alpha = AlphaMode::Mask { cutoff: 0.5 };
        masked.materials[1].alpha = AlphaMode::Blend;
        let kinds = [raw(4), masked, raw(2)].map(|raw| built(raw).character);
        let cold = stage.crowd.pipelines().count();
        for method in methods {
            for character in &kinds {
                for skin in [SkinningStage::Vertex, SkinningStage::Compute] {
                    let desc = described(method, false);
                    stage.crowd.warm_up(character, &desc, skin).unwrap();
                }
            }
        }
        let warm: Vec<_> = stage.crowd.pipelines().map(|it| it.handle).collect();
        assert!(
            warm.len() > cold + 2 * methods.len(),
            "{} {cold}",
            warm.len()
        );
        let now = |crowd: &Crowd| -> Vec<_> { crowd.pipelines().map(|it| it.handle).collect() };
        for method in methods {
            for character in &kinds {
                let desc = described(method, false);
                let allocator = &mut setup.context.allocator();
                let crowd = &mut stage.crowd;
                let added = crowd.add_character(allocator, character, &desc).unwrap();
                assert_eq!(now(crowd), warm);
                let spawn = Spawn {
                    skinning_stage: SkinningStage::Compute,
                    ..Spawn::default()
                };
                crowd.spawn(added, &spawn).unwrap();
            }
        }
        stage.picture(setup);
        assert_eq!(now(&stage.crowd), warm);
        // A pass that is created later has them, too.
        let of_passes = |crowd: &Crowd| crowd.pipelines().filter(|it| it.pass.is_some()).count();
        let before = of_passes(&stage.crowd);
        let later = pass(&mut stage.crowd, &stage.target, false);
        assert_eq!(of_passes(&stage.crowd), 2 * before);
        stage.crowd.remove_pass(later).unwrap();
        stage.destroy(setup);
    });
}

/// Everything that `Spawn` says is what the calls after it would have set.
#[test]
fn spawning_is_the_same_as_calling() {
    each(|setup| {
        let mut stage = Stage::new(setup, ROOM);
        let kind = stage.add(setup, &built(raw(4)).character);
        let parent = stage.crowd.spawn(kind, &Spawn::default()).unwrap();
        let spawn = Spawn {
            tint: [0.5, 1.0, 0.5, 1.0],
            second_tint: [0.25, 0.5, 1.0],
            play: "sway".into(),
            layers: &[Play::new("turn").layer(1).weight(0.5)],
            visible: false,
            view_mask: 6,
            hidden_parts: &["back".into()],
            attachment: Some(Attachment {
                outlives_parent: true,
                ..Attachment::new(parent, "joint 2")
            }),
            paused: true,
            time_scale: 0.5,
            springs: SpringMode::Off,
            ..Spawn::default()
        };
        let all = stage.crowd.spawn(kind, &spawn).unwrap();
        let it = stage.crowd.live(all);
        assert_eq!(
            (it.tint(), it.second_tint(), it.is_visible(), it.view_mask()),
            (spawn.tint, spawn.second_tint, false, 6)
        );
        assert!(!it.is_part_visible("back").unwrap() && it.is_part_visible("front").unwrap());
        let layers: Vec<_> = it.playing().map(|clip| (clip.layer, clip.weight)).collect();
        assert_eq!(layers, [(0, 1.0), (1, 0.5)]);
        let to = it.attachment().unwrap();
        assert!(to.parent == parent && to.outlives_parent);
        assert!(it.is_paused() && it.time_scale() == 0.5);

        let count = stage.crowd.instances().len();
        let wrong = [
            Spawn {
                hidden_parts: &["belly".into()],
                ..spawn
            },
            Spawn {
                layers: &[Play::new("jump")],
                ..spawn
            },
            Spawn {
                expressions: &[("smile", 1.0)],
                ..spawn
            },
            Spawn {
                parameters: &[("speed", throng::state_machine::Value::Float(1.0))],
                ..spawn
            },
            Spawn {
                morph_weights: &[None],
                ..spawn
            },
            Spawn {
                time_scale: -1.0,
                ..spawn
            },
        ];
        for wrong in wrong {
            assert!(stage.crowd.spawn(kind, &wrong).is_err());
            assert_eq!(stage.crowd.instances().len(), count);
        }
        stage.destroy(setup);
    });
}

#[test]
fn many_are_moved_at_once_or_not_at_all() {
    each(|setup| {
        let mut stage = Stage::new(setup, ROOM);
        let kind = stage.add(setup, &built(raw(4)).character);
        let ids: Vec<_> = (0..3)
            .map(|_| stage.crowd.spawn(kind, &Spawn::default()).unwrap())
            .collect();
        let at = |x: f32| Affine3A::from_translation(vec3(x, 0.0, 0.0));
        let transforms = [(ids[2], at(1.0)), (ids[0], at(2.0)), (ids[2], at(3.0))];
        stage.crowd.set_transforms(&transforms).unwrap();
        let xs = |crowd: &Crowd| {
            let x = |id: &InstanceId| crowd.live(*id).transform().translation.x;
            ids.iter().map(x).collect::<Vec<_>>()
        };
        assert_eq!(xs(&stage.crowd), [2.0, 0.0, 3.0]);
        let wrong = [(ids[0], at(5.0)), (ids[1], at(f32::NAN))];
        let refused = stage.crowd.set_transforms(&wrong).unwrap_err();
        let index = stage.crowd.live(ids[1]).table_index();
        let text = format!("instance {index}: world_from_model: NaN is not finite");
        assert_eq!(refused.to_string(), text);
        assert_eq!(xs(&stage.crowd), [2.0, 0.0, 3.0]);
        stage.crowd.despawn(ids[1]).unwrap();
        let refused = stage.crowd.set_transforms(&wrong);
        assert!(matches!(refused, Err(Error::Stale { index: at, .. }) if at == index));
        stage.destroy(setup);
    });
}

/// A hundred thousand instances are moved in one call, in any order, and their records follow.
#[test]
fn a_hundred_thousand_are_moved_at_once() {
    const COUNT: u32 = 100_000;
    each(|setup| {
        let character = built(raw(2)).character;
        let capacity = Capacity {
            instances: COUNT,
            palette_entries: COUNT * character.palette().len() as u32,
            ..SMALL
        };
        let mut stage = Stage::new(setup, capacity);
        let kind = stage.add(setup, &character);
        let spawn = placed(Affine3A::IDENTITY, Play::REST);
        let ids: Vec<_> = (0..COUNT)
            .map(|_| stage.crowd.spawn(kind, &spawn).unwrap())
            .collect();
        let at = |index: u32| Affine3A::from_translation(vec3(index as f32, 0.5, -9.0));
        // A step that has no factor in common with the count visits each once.
        let order = (0..COUNT).map(|index| (u64::from(index) * 7_919 % u64::from(COUNT)) as u32);
        let mut all: Vec<_> = order
            .map(|index| (ids[index as usize], at(index)))
            .collect();
        let last = all.len() - 1;
        let fine = std::mem::replace(&mut all[last].1, Affine3A::from_translation(Vec3::NAN));
        stage.crowd.set_transforms(&all).unwrap_err();
        let still = |id: &InstanceId| stage.crowd.live(*id).transform();
        assert!(ids.iter().all(|id| still(id) == Affine3A::IDENTITY));
        all[last].1 = fine;
        stage.crowd.set_transforms(&all).unwrap();
        for (index, id) in (0..).zip(&ids) {
            let it = stage.crowd.live(*id);
            assert_eq!(it.transform(), at(index));
            let record = it.record().world_from_model;
            assert_eq!(record, Mat3x4::from_affine(&at(index)));
        }
        // All are drawn where they are: only the first ones are near the camera.
        let far: Vec<_> = ids.iter().map(|id| (*id, at(COUNT))).collect();
        stage.crowd.set_transforms(&far).unwrap();
        let nobody = stage.picture(setup);
        assert_eq!(covered(&nobody), 0);
        stage
            .crowd
            .set_transforms(&[(ids[77_777], Affine3A::IDENTITY)])
            .unwrap();
        assert!(covered(&stage.picture(setup)) > 50);
        stage.destroy(setup);
    });
}

/// All hits are in order, the first is that of `pick`, and bounds contain all of them.
#[test]
fn all_hits_are_found_and_lie_in_the_bounds() {
    each(|setup| {
        let mut stage = Stage::new(setup, ROOM);
        let kind = stage.add(setup, &built(raw(4)).character);
        let ids = stage.populate(kind);
        assert!(covered(&stage.picture(setup)) > 300);
        let parts = ["front", "back"].map(|name| {
            let character = stage.crowd.character(kind).unwrap();
            Some(character.part(name).unwrap())
        });
        let ray = |x: f32, y: f32| Ray {
            origin: vec3(x, y, 9.0),
            direction: Vec3::NEG_Z,
        };
        let mut seen = [0; 3];
        for step in 0..200 {
            let (x, y) = (step as f32 % 20.0 * 0.2 - 2.0, step as f32 / 60.0 + 0.01);
            let all = stage
                .crowd
                .pick_all(&ray(x, y), CullMode::None, u32::MAX)
                .unwrap();
            let first = stage
                .crowd
                .pick(&ray(x, y), CullMode::None, u32::MAX)
                .unwrap();
            let distance = first.map(|hit| hit.hit.distance);
            assert_eq!(all.first().map(|hit| hit.hit.distance), distance);
            assert!(all.is_sorted_by_key(|hit| hit.hit.distance));
            for hit in all {
                let it = stage.crowd.live(hit.instance);
                assert_eq!(hit.part, parts[hit.hit.primitive]);
                assert!(hit.instance != ids[1] || hit.part == parts[1]);
                let on_ray = vec3(x, y, 9.0 - hit.hit.distance as f32);
                assert!(hit.position.distance(on_ray) < 1e-4, "{hit:?}");
                let bounds = it.bounds(TIME_S).unwrap();
                let (min, max) = (bounds.min - 1e-5, bounds.max + 1e-5);
                assert!(hit.position.cmpge(min).all() && hit.position.cmple(max).all());
                seen[ids.iter().position(|id| *id == hit.instance).unwrap()] += 1;
            }
        }
        assert!(seen.iter().all(|count| *count > 4), "{seen:?}");
        stage.destroy(setup);
    });
}
