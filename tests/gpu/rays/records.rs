//! Records of people in random crowds, against the crowds.

use super::tracer::Record;
use super::{EXTENT, Traced, World, rays_into};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::sides::parted;
use crate::support::{SMALL, Setup, each_with_rays, view};
use throng::animator::Play;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::palette::Mat3x4;
use throng::{Capacity, CharacterDesc, CharacterId, InstanceId, RayDesc, Spawn, builtin};

impl World {
    /// Records a frame that is never submitted.
    fn abandon(&mut self, setup: &mut Setup) {
        self.now_s += 0.02;
        let cmd = self.frames.begin(&setup.context, self.next);
        let mut frame = setup.begin(&mut self.crowd, self.next, self.now_s);
        unsafe {
            let views = frame.record_prepare(cmd, &[self.view]).unwrap();
            frame.record_rays(cmd, views[0]).unwrap();
            self.crowd.abandon_frame();
        }
    }

    /// A random change of a person.
    fn operate(&mut self, rng: &mut Rng, kinds: &[CharacterId], people: &mut Vec<InstanceId>) {
        let place = Affine3A::from_scale_rotation_translation(
            Vec3::new(if rng.chance(4) { -1.0 } else { 1.0 }, 1.0, 1.0) * rng.range(0.5, 1.5),
            Quat::from_rotation_y(rng.range(0.0, 6.0)),
            Vec3::new(rng.range(-5.0, 5.0), 0.0, rng.range(-5.0, 5.0)),
        );
        let crowd = &mut self.crowd;
        if people.len() < 10 || rng.chance(4) && people.len() < 60 {
            let kind = kinds[rng.below(kinds.len())];
            let spawn = Spawn {
                world_from_model: place,
                ..Spawn::default()
            };
            people.push(crowd.spawn(kind, &spawn).unwrap());
            return;
        }
        let at = rng.below(people.len());
        if rng.chance(6) {
            crowd.despawn(people.swap_remove(at)).unwrap();
            return;
        }
        let mut it = crowd.live_mut(people[at]);
        match rng.below(5) {
            0 => it.set_transform(&place).unwrap(),
            1 => it.set_visible(rng.chance(2)),
            2 => it.set_view_mask([u32::MAX, 0x0100_0001, 0xFF00_0000][rng.below(3)]),
            3 => {
                let _ = it.set_part_visible("front", rng.chance(2));
            }
            _ => {
                let clip = ["Walk", "Run", "Idle", "sway"][rng.below(4)];
                let _ = it.play(Play::new(clip).fade_s(0.1));
            }
        }
    }

    /// Compares records with the people.
    fn check(&self, people: &[InstanceId], traced: &Traced, seen: &mut [u64; 4]) {
        let crowd = &self.crowd;
        let (filled, empty): (Vec<&Record>, Vec<&Record>) = traced
            .records
            .iter()
            .partition(|record| record.structure != 0 || record.mask != 0);
        let ends = traced
            .records
            .iter()
            .rposition(|it| it.mask != 0 || it.structure != 0);
        assert_eq!(ends.map_or(0, |end| end + 1), filled.len());
        let zero = Record::default();
        assert!(empty.iter().all(|record| **record == zero));
        let mut indices = Vec::new();
        for record in &filled {
            let id = crowd.instance_at(record.index).unwrap();
            assert!(people.contains(&id));
            let it = crowd.live(id);
            assert!(it.is_visible());
            let rows = Mat3x4::from_affine(&it.transform()).rows;
            assert_eq!(record.transform.as_slice(), rows.as_flattened());
            assert_eq!(record.mask, it.view_mask() >> 24);
            let is_first = Some(it.character()) == self.first;
            assert_eq!(record.sbt_offset, if is_first { 7 } else { 0 });
            seen[1] += u64::from(record.structure != 0);
            indices.push(record.index);
        }
        indices.sort_unstable();
        indices.dedup();
        assert_eq!(indices.len(), filled.len());
        for hit in traced.hits.iter().flatten() {
            let record = traced.records[hit.record as usize];
            assert_eq!(record.index, hit.index);
            seen[2] += 1;
        }
        seen[0] += filled.len() as u64;
        seen[3] += u64::from(traced.stats.structures);
    }
}

/// Random crowds, in each of which people come, go, move, hide and play: the records are those of
/// the people whom the view shows, with their transforms, masks and structures that live, and zeros
/// behind. Characters come, are replaced and go, the crowd grows, and frames are given up.
#[test]
fn records_are_those_of_the_people_shown() {
    each_with_rays(|setup| {
        let mut rng = Rng::new(51);
        let mut seen = [0_u64; 4];
        let rays = RayDesc {
            max_people: 40,
            builds_per_frame: 5,
            ..RayDesc::default()
        };
        let mut world = World::new(setup, rays, SMALL);
        let mannequin = builtin::mannequin().unwrap().character;
        let (bare, parted) = (mannequin.clone().without_levels(), parted(3));
        let desc = CharacterDesc {
            sbt_offset: 7,
            ..CharacterDesc::default()
        };
        let mut kinds = vec![setup.add_with(&mut world.crowd, &mannequin, &desc)];
        world.first = Some(kinds[0]);
        let mut people: Vec<InstanceId> = Vec::new();
        for number in 0..160 {
            if number == 60 {
                let grown = Capacity {
                    instances: 200,
                    ..world.crowd.capacity()
                };
                setup.reserve(&mut world.crowd, &grown);
            }
            match rng.below(12) {
                0 if kinds.len() < 20 => {
                    let character = [&mannequin, &bare, &parted][rng.below(3)];
                    kinds.push(setup.add(&mut world.crowd, character));
                }
                1 => {
                    let kind = kinds[rng.below(kinds.len())];
                    let to = [&mannequin, &bare][rng.below(2)];
                    let mut allocator = setup.allocator();
                    let replaced = world.crowd.replace_character(&mut allocator, kind, to);
                    replaced.unwrap();
                }
                2 if kinds.len() > 1 => {
                    let kind = kinds.swap_remove(rng.below(kinds.len()));
                    people.retain(|id| {
                        let own = world.crowd.live(*id).character() == kind;
                        if own {
                            world.crowd.despawn(*id).unwrap();
                        }
                        !own
                    });
                    world.crowd.remove_character(kind).unwrap();
                    world.first = world.first.filter(|first| *first != kind);
                }
                _ => {}
            }
            for _ in 0..6 {
                world.operate(&mut rng, &kinds, &mut people);
            }
            let far = rng.range(20.0, 3000.0);
            let eye = Vec3::new(far, 4.0, 1.0);
            world.view.eye = view(eye, Vec3::Y, EXTENT).eye;
            if rng.chance(8) {
                world.abandon(setup);
                continue;
            }
            let traced = world.frame(setup, &rays_into(&mut rng, 64, 6.0));
            world.check(&people, &traced, &mut seen);
        }
        println!("{seen:?}");
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
        world.destroy(setup);
    });
}
