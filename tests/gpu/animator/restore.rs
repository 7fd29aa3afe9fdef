//! Save and restore of a crowd and of single instances.

use super::random::operate;
use super::{FRAMES_IN_FLIGHT, Member, World};
use crate::pictures::{camera, scene};
use crate::reference::handles::Handles;
use crate::reference::ribbon::{built, ribbon};
use crate::reference::rng::Rng;
use crate::reference::words::Says;
use crate::support::frames::{FramesInFlight, NORMAL_Z, pass, picture};
use crate::support::{SMALL, Setup, each};
use throng::animator::{AnimatorSnapshot, Play};
use throng::glam::{Affine3A, Vec3};
use throng::skeleton::Joint;
use throng::{
    Attachment, Capacity, CharacterDesc, Crowd, CrowdSnapshot, Error, Id, InstanceId,
    InstanceSnapshot, PassId, SkinningStage, Spawn,
};
use throng_standalone::Target;

/// A snapshot of a world: its crowd, its animators, and the ids of its members.
struct Saved {
    crowd: CrowdSnapshot,
    animators: Vec<AnimatorSnapshot>,
    members: Vec<Member>,
    now_s: f64,
}

impl World {
    fn save(&self) -> Saved {
        Saved {
            crowd: self.crowd.snapshot(),
            animators: self
                .kinds
                .iter()
                .map(|kind| kind.animator.snapshot())
                .collect(),
            members: self.members.clone(),
            now_s: self.now_s,
        }
    }

    fn restore(&mut self, saved: &Saved) {
        self.crowd.restore(&saved.crowd).unwrap();
        for (kind, saved) in self.kinds.iter_mut().zip(&saved.animators) {
            kind.animator.restore(saved).unwrap();
        }
        (self.members, self.now_s) = (saved.members.clone(), saved.now_s);
    }

    /// Frames with random calls, each of which is compared with the animators. Returns all ids.
    fn play(&mut self, setup: &mut Setup, seed: u64, frames: u32) -> Vec<InstanceId> {
        let mut rng = Rng::new(seed);
        for _ in 0..frames {
            for _ in 0..rng.below(12) {
                operate(setup, self, &mut rng);
            }
            self.now_s += f64::from(rng.range(0.0, 0.25));
            self.look(setup, rng.below(FRAMES_IN_FLIGHT as usize) as u32);
        }
        self.crowd.instances().collect()
    }
}

/// After a restore, palettes are those of animators that were restored, and the same calls give the
/// same ids.
#[test]
fn a_restored_crowd_goes_on_bit_for_bit() {
    let mut seed = 60;
    each(|setup| {
        seed += 1;
        let mut world = World::new(setup, SMALL);
        world.play(setup, seed, 30);
        let saved = world.save();
        let want = world.play(setup, seed + 100, 12);
        world.restore(&saved);
        assert_eq!(world.play(setup, seed + 100, 12), want);
        // A crowd that has shown other things.
        let mut other = World::new(setup, world.crowd.capacity());
        other.play(setup, seed + 200, 10);
        other.restore(&saved);
        assert_eq!(other.play(setup, seed + 100, 12), want);
        let World {
            crowd,
            frames_in_flight,
            probe,
            ..
        } = other;
        frames_in_flight.destroy(&setup.context);
        probe.destroy(&setup.context);
        end(setup, crowd);
        world.destroy(setup);
    });
}

/// Destroys a second crowd, while the first still has memory.
fn end(setup: &mut Setup, crowd: Crowd) {
    unsafe {
        setup.context.device.device_wait_idle().unwrap();
        crowd.destroy(&mut setup.context.allocator());
    }
}

/// Three frames from a time on.
fn pictures(
    setup: &mut Setup,
    crowd: &mut Crowd,
    frames_in_flight: &mut FramesInFlight,
    (target, pass): (&Target, PassId),
    from_s: f64,
) -> Vec<Vec<u8>> {
    let shoot = |number: u32| {
        let (context, on) = (&mut setup.context, (target, pass, &NORMAL_Z));
        let frame = (number % 2, from_s + 0.1 * f64::from(number));
        picture(context, crowd, frames_in_flight, frame, on, &[camera()])
    };
    [0, 1, 2].map(shoot).into()
}

/// Attaches, tints, hides and moves some of four ribbons, and deforms one on the GPU.
fn dress(setup: &mut Setup, crowd: &mut Crowd) -> Vec<InstanceId> {
    let more = Capacity {
        skinned_words: 1000,
        ..crowd.capacity()
    };
    crowd
        .reserve(&mut setup.context.allocator(), &more)
        .unwrap();
    let ids: Vec<_> = crowd.instances().collect();
    let character = crowd.live(ids[0]).character();
    let above = Affine3A::from_translation(Vec3::Y * 0.3);
    let attachment = Attachment::new(ids[0], Id::<Joint>::new(2)).at(above);
    crowd.live_mut(ids[3]).attach_to(attachment).unwrap();
    let mut instance = crowd.live_mut(ids[0]);
    instance.set_tint([0.5, 1.0, 0.7, 1.0]).unwrap();
    instance.set_second_tint([0.25, 0.5, 1.0]).unwrap();
    instance.set_user_data(7);
    crowd
        .live_mut(ids[1])
        .set_skinning_stage(SkinningStage::Compute)
        .unwrap();
    crowd.live_mut(ids[2]).set_view_mask(5);
    let gone = crowd.spawn(character, &Spawn::default()).unwrap();
    let hidden = crowd.spawn(character, &Spawn::default()).unwrap();
    crowd.live_mut(hidden).set_visible(false);
    crowd.despawn(gone).unwrap();
    ids
}

#[test]
fn a_new_crowd_draws_the_same_pictures() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let first = (target, pass(crowd, target, false));
            let ids = dress(setup, crowd);
            pictures(setup, crowd, frames_in_flight, first, 0.2);
            let saved = serde_json::to_value(crowd.snapshot()).unwrap();
            let saved: CrowdSnapshot = serde_json::from_value(saved).unwrap();
            let want = pictures(setup, crowd, frames_in_flight, first, 0.5);
            assert!(want[0] != want[2]);

            let mut new = setup.crowd(2, crowd.capacity());
            let character = built(ribbon(4)).character;
            let kind = setup.add(&mut new, &character);
            let second = (target, pass(&mut new, target, false));
            new.restore(&saved).unwrap();
            assert_eq!(new.time_s(), 0.4);
            assert_eq!(
                pictures(setup, &mut new, frames_in_flight, second, 0.5),
                want
            );
            assert_eq!(new.live(ids[3]).attachment().unwrap().parent, ids[0]);
            assert_eq!(new.live(ids[0]).user_data(), 7);
            assert_eq!(new.live(ids[0]).second_tint(), [0.25, 0.5, 1.0]);
            let spawned = [&mut *crowd, &mut new].map(|it| it.spawn(kind, &Spawn::default()));
            assert_eq!(spawned[0], spawned[1]);

            // The old crowd goes back. What is alive in both stays the same instance.
            let stamp = crowd.live(ids[0]).record().stamp;
            crowd.restore(&saved).unwrap();
            assert_eq!(crowd.live(ids[0]).record().stamp, stamp);
            assert_eq!(pictures(setup, crowd, frames_in_flight, first, 0.5), want);
            end(setup, new);
        });
    });
}

#[test]
fn an_instance_goes_on_in_another_crowd() {
    each(|setup| {
        scene(setup, |setup, crowd, _, _| {
            let id = crowd.instances().next().unwrap();
            let to = Affine3A::from_scale(Vec3::new(-1.0, 2.0, 1.0));
            let mut instance = crowd.live_mut(id);
            instance.set_transform(&to).unwrap();
            instance.set_tint([0.1, 0.2, 0.3, 0.4]).unwrap();
            instance.set_second_tint([0.5, 0.6, 0.7]).unwrap();
            instance.play(Play::new("sway").offset_s(0.25)).unwrap();
            let saved: InstanceSnapshot = instance.snapshot();

            let mut new = setup.crowd(2, SMALL);
            let character = built(ribbon(4)).character;
            let allocator = &mut setup.context.allocator();
            let kind = new
                .add_character(allocator, &character, &CharacterDesc::default())
                .unwrap();
            let other = built(ribbon(5)).character;
            let other = new
                .add_character(allocator, &other, &CharacterDesc::default())
                .unwrap();
            let twin = new.spawn(kind, &Spawn::default()).unwrap();
            new.live_mut(twin).restore(&saved).unwrap();
            let twin = new.live(twin);
            assert_eq!(twin.transform(), to);
            assert_eq!(twin.tint(), [0.1, 0.2, 0.3, 0.4]);
            assert_eq!(twin.second_tint(), [0.5, 0.6, 0.7]);
            assert_eq!(twin.playing().last().unwrap().time_s, 0.25);
            let stranger = new.spawn(other, &Spawn::default()).unwrap();
            let error = new.live_mut(stranger).restore(&saved).unwrap_err();
            assert!(
                error.to_string().contains("5 this one") || error.to_string().contains("joints")
            );
            end(setup, new);
        });
    });
}

/// A snapshot that does not fit changes nothing.
#[test]
fn a_crowd_without_room_or_characters_refuses() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let on = (target, pass(crowd, target, false));
            dress(setup, crowd);
            let saved = crowd.snapshot();
            let want = pictures(setup, crowd, frames_in_flight, on, 0.5);
            let mut small = setup.crowd(
                2,
                Capacity {
                    instances: 3,
                    ..SMALL
                },
            );
            let error = small.restore(&saved).unwrap_err();
            let missing = matches!(&error, Error::At { what: "character", index: 0, why, .. }
                if matches!(**why, Error::NotFound { .. }));
            assert!(missing, "{error}");
            let allocator = &mut setup.context.allocator();
            let character = built(ribbon(4)).character;
            let kind = small
                .add_character(allocator, &character, &CharacterDesc::default())
                .unwrap();
            let id = small.spawn(kind, &Spawn::default()).unwrap();
            let error = small.restore(&saved).unwrap_err();
            let full = matches!(error, Error::Capacity { what, asked: 6, cap: 3 }
                if what.starts_with("instances"));
            assert!(full, "{error}");
            assert!(small.instances().eq([id]));
            end(setup, small);

            let value = serde_json::to_value(&saved).unwrap();
            let mut refuse = |at: &str, to: serde_json::Value| {
                let mut value = value.clone();
                *value.pointer_mut(at).unwrap_or_else(|| panic!("{at}")) = to;
                let saved: CrowdSnapshot = serde_json::from_value(value).unwrap();
                crowd.restore(&saved).unwrap_err().to_string()
            };
            refuse("/instances/0/appearance/hidden/3", 1.into()).says("…hidden parts…");
            refuse("/instances/0/character", 1.into()).says("…do not belong…");
            refuse("/characters/0/list/0/0", 1.into()).says("…do not belong…");
            refuse("/free/0", 0.into()).says("…free indices…");
            refuse("/instances/1/generation", 7.into()).says("…generations…were altered");
            refuse("/attachments/0/child", 0.into()).says("…parents first…");
            refuse("/attachments/0/link/parent/generation", 9.into()).says("…parents…");
            refuse("/attachments/0/link/socket/joint", 99.into()).says("…joint 99…");
            refuse("/instances/0/appearance/skinning_stage", "Cpu".into()).says("…cpu_skinning…");
            crowd.restore(&saved).unwrap();
            assert_eq!(pictures(setup, crowd, frames_in_flight, on, 0.5), want);
        });
    });
}
