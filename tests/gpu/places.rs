//! Attached instances that the GPU places: their transforms, bounding spheres and levels.

use crate::reference::handles::Handles;
use crate::reference::ribbon::{built, ribbon};
use crate::reference::rng::Rng;
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::lists::lists;
use crate::support::probe::{Output, Probe};
use crate::support::{SMALL, Setup, described, each, placed, view};
use std::collections::BTreeMap;
use throng::animator::{JointRef, Pose, ShowPose};
use throng::glam::{Affine3A, Vec3};
use throng::palette::Mat3x4;
use throng::palette::SkinningMethod;
use throng::skeleton::Joint;
use throng::skin::{CullMode, Ray};
use throng::{
    Attachment, Capacity, CharacterId, Crowd, Culling, Error, Id, InstanceId, Play, SkinningStage,
    Stages, Stats, View, builtin,
};

const CAPACITY: Capacity = Capacity {
    palette_entries: 1 << 14,
    ..SMALL
};

struct Stage {
    crowd: Crowd,
    /// People, and ribbons of 70 joints, one after the other.
    kinds: [CharacterId; 2],
    frames: FramesInFlight,
    probe: Probe,
    output: Output,
    next: u32,
}

impl Stage {
    fn new(setup: &mut Setup, capacity: Capacity) -> Self {
        let mut crowd = setup.crowd_with(Stages::Gpu, 2, capacity);
        let desc = described(SkinningMethod::Linear, true);
        let people = builtin::mannequin().unwrap().character;
        let kinds = [people, built(ribbon(70)).character]
            .map(|character| setup.add_with(&mut crowd, &character, &desc));
        let set_0 = crowd.set_layout().handle();
        let probe = Probe::new(&setup.context, "test/crowd_probe.comp", set_0);
        Self {
            crowd,
            kinds,
            frames: FramesInFlight::new(&setup.context, 2),
            output: probe.output(&mut setup.context, 1 << 16),
            probe,
            next: 0,
        }
    }

    fn spawn(&mut self, kind: usize, at: Affine3A, play: Play<'_>) -> InstanceId {
        self.crowd
            .spawn(self.kinds[kind], &placed(at, play))
            .unwrap()
    }

    fn attach<'j>(
        &mut self,
        child: InstanceId,
        (parent, joint): (InstanceId, impl Into<JointRef<'j>>),
        offset: &Affine3A,
    ) {
        let attachment = Attachment::new(parent, joint).at(*offset);
        self.crowd.live_mut(child).attach_to(attachment).unwrap();
    }

    /// Draws a frame. Returns the transforms of what it shows, as the GPU has them.
    fn frame(
        &mut self,
        setup: &mut Setup,
        time_s: f64,
        view: View,
    ) -> (BTreeMap<u32, Affine3A>, Stats) {
        let (context, index) = (&mut setup.context, self.next);
        let cmd = self.frames.begin(context, index);
        self.crowd.update(time_s).unwrap();
        let begun = unsafe {
            let allocator = &mut context.allocator();
            self.crowd.begin_frame(allocator, index, time_s)
        };
        let mut frame = begun.unwrap();
        let shown = unsafe { frame.record_prepare(cmd, &[view]) }.unwrap();
        let (mut parts, mut word) = (Vec::new(), 0);
        for kind in self.kinds {
            let all = frame.instances_of(kind).unwrap().len();
            for list in lists(&frame, shown[0], kind, all) {
                let on = (&self.probe, &self.output);
                list.record((&context.device, cmd), on, 0, word);
                let start = word;
                word += list.words(0);
                parts.push((start, list));
            }
        }
        let stats = frame.stats();
        Probe::finish(&context.device, cmd);
        self.frames.submit(context, index);
        self.frames.wait(context, index);
        self.next = 1 - index;
        let words = self.output.words();
        let seen = parts
            .iter()
            .flat_map(|(at, list)| list.read(&words, 0, *at));
        let seen = seen.map(|words| {
            let rows = bytemuck::cast_slice(&words[1..13]);
            (
                words[0],
                bytemuck::pod_read_unaligned::<Mat3x4>(rows).to_affine(),
            )
        });
        (seen.collect(), stats)
    }

    fn index(&self, id: InstanceId) -> u32 {
        self.crowd.live(id).table_index()
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames.destroy(&setup.context);
        self.probe.destroy(&setup.context);
        setup.destroy(self.crowd);
    }
}

/// A view that shows everything.
fn all() -> View {
    View {
        culling: Culling::Off,
        ..view(Vec3::new(0.0, 2.0, 9.0), Vec3::ZERO, EXTENT)
    }
}

/// The largest difference of two transforms' elements.
fn apart(a: &Affine3A, b: &Affine3A) -> f32 {
    let pairs = a.to_cols_array().into_iter().zip(b.to_cols_array());
    pairs.fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

fn at(x: f32, y: f32, z: f32) -> Affine3A {
    Affine3A::from_translation(Vec3::new(x, y, z))
}

/// Two walkers with something in each hand, and a chain of ribbons that is longer than the GPU's
/// levels and than a workgroup, at any age.
///
/// Poses differ by 5e-6 of the model's size between the sides: 1e-5 m for 2 m. A ribbon is 70 m
/// long, and its joints turn what follows by 1e-6 each, as in `model.rs`: 5e-3 m for each of two
/// links. The rest is rounding of numbers up to 100: 1e-5 for each product.
#[test]
fn what_is_attached_is_where_the_cpu_has_it() {
    each(|setup| {
        let mut stage = Stage::new(setup, CAPACITY);
        let mut rng = Rng::new(3);
        let mut held = Vec::new();
        for x in [-2.0, 3.0] {
            let walker = stage.spawn(0, at(x, 0.0, 1.0), Play::new("Walk"));
            for hand in ["LeftHand", "RightHand"] {
                let offset = Affine3A::from_rotation_translation(rng.rotation(), Vec3::X * 0.1);
                let child = stage.spawn(0, Affine3A::IDENTITY, Play::new("Idle"));
                stage.attach(child, (walker, hand), &offset);
                held.push((child, 2e-5));
                // One at rest on that, and one on it in turn.
                let [first, second] =
                    [(); 2].map(|()| stage.spawn(0, at(0.0, 9.0, 0.0), Play::REST));
                stage.attach(first, (child, "Head"), &at(0.0, 0.2, 0.0));
                stage.attach(second, (first, "Head"), &at(0.0, 0.2, 0.0));
                held.extend([(first, 6e-5), (second, 8e-5)]);
            }
        }
        let mut above = stage.spawn(1, at(0.0, -3.0, 0.0), Play::new("sway"));
        for level in 1..=6_u16 {
            let child = stage.spawn(1, Affine3A::IDENTITY, Play::new("turn"));
            let joint = Id::<Joint>::new(if level < 3 { 69 } else { 2 });
            stage.attach(child, (above, joint), &at(0.0, 0.1, 0.0));
            held.push((child, 1e-2));
            above = child;
        }
        let mut worst = 0.0_f32;
        for time_s in [0.0, 0.3, 1.7, 86_400.4, 2_592_000.9] {
            let (seen, stats) = stage.frame(setup, time_s, all());
            // The CPU places the fifth link. What that poses is at the first level again.
            assert_eq!(
                (stats.placed_on_gpu, stats.changes == 1),
                (12 + 5, time_s > 0.0)
            );
            for (id, bound) in &held {
                let wanted = stage.crowd.live(*id).transform();
                let off = apart(&seen[&stage.index(*id)], &wanted);
                assert!(off < *bound, "{off:e} at {time_s}: {bound:e}");
                worst = worst.max(off / bound);
            }
        }
        println!("{}: {worst} of the bounds", setup.config.name);
        stage.destroy(setup);
    });
}

/// Views and rays find instances at the transforms that the GPU computes.
#[test]
fn views_and_rays_find_what_the_gpu_places() {
    each(|setup| {
        let mut stage = Stage::new(setup, CAPACITY);
        let walker = stage.spawn(0, at(0.0, 0.0, 0.0), Play::new("Walk"));
        let child = stage.spawn(0, at(0.0, 0.0, 0.0), Play::new("Idle"));
        // It turns by some degrees.
        stage.attach(child, (walker, "Hips"), &at(40.0, 0.0, 0.0));
        let look = |x: f32| view(Vec3::new(x, 1.0, 30.0), Vec3::new(x, 1.0, 0.0), EXTENT);
        for frame in 0..3 {
            let time_s = 0.2 * f64::from(frame);
            let shown: Vec<u32> = stage
                .frame(setup, time_s, look(40.0))
                .0
                .into_keys()
                .collect();
            assert_eq!(shown, [stage.index(child)]);
            let shown: Vec<u32> = stage
                .frame(setup, time_s, look(0.0))
                .0
                .into_keys()
                .collect();
            assert_eq!(shown, [stage.index(walker)]);
        }
        let aim = |stage: &Stage, time_s: f64| {
            let bounds = stage.crowd.live(child).bounds(time_s).unwrap();
            let origin = Vec3::new(40.0, 1.0, 30.0);
            Ray {
                origin,
                direction: bounds.center() - origin,
            }
        };
        let pick = |stage: &mut Stage, ray: Ray| {
            let hit = stage.crowd.pick(&ray, CullMode::None, u32::MAX).unwrap();
            hit.map(|hit| hit.instance)
        };
        let ray = aim(&stage, 0.4);
        for _ in 0..2 {
            assert_eq!(pick(&mut stage, ray), Some(child));
        }
        // Nothing of that counts as a change.
        assert_eq!(stage.frame(setup, 0.6, look(0.0)).1.changes, 0);
        // The parent moves away, and a detached child stays.
        let ray = aim(&stage, 0.6);
        for (x, hit) in [(-20.0, None), (0.0, Some(child)), (-40.0, None)] {
            let mut handle = stage.crowd.live_mut(walker);
            handle.set_transform(&at(x, 0.0, 0.0)).unwrap();
            assert_eq!(pick(&mut stage, ray), hit);
        }
        let shown: Vec<u32> = stage.frame(setup, 0.7, look(0.0)).0.into_keys().collect();
        assert_eq!(shown, [stage.index(child)]);
        let before = stage.crowd.live(child).transform();
        assert!(stage.crowd.live_mut(child).detach());
        stage.crowd.despawn(walker).unwrap();
        let (seen, stats) = stage.frame(setup, 0.9, look(0.0));
        assert_eq!(seen.get(&stage.index(child)), Some(&before));
        assert_eq!(stats.placed_on_gpu, 0);
        stage.destroy(setup);
    });
}

/// An instance is uploaded even if it returns to the CPU at its last transform.
#[test]
fn what_returns_to_the_cpu_is_where_that_has_it() {
    each(|setup| {
        let mut stage = Stage::new(setup, CAPACITY);
        let walker = stage.spawn(0, at(2.0, 0.0, 0.0), Play::new("Walk"));
        let rack = stage.spawn(1, Affine3A::IDENTITY, Play::REST);
        let sword = stage.spawn(0, Affine3A::IDENTITY, Play::REST);
        let index = stage.index(sword);
        let root = Id::<Joint>::new(0);
        for time_s in [0.1, 0.3] {
            stage.attach(sword, (walker, "LeftHand"), &Affine3A::IDENTITY);
            let (seen, stats) = stage.frame(setup, time_s, all());
            assert_eq!(stats.placed_on_gpu, 1);
            assert_ne!(seen[&index], Affine3A::IDENTITY);
            stage.attach(sword, (rack, root), &Affine3A::IDENTITY);
            let (seen, stats) = stage.frame(setup, time_s + 0.1, all());
            assert_eq!(stats.placed_on_gpu, 0);
            assert_eq!(seen[&index], Affine3A::IDENTITY);
        }
        stage.destroy(setup);
    });
}

/// Changes on instances far from their last transform on the CPU are seen.
#[test]
fn changes_of_what_the_gpu_places_are_seen() {
    each(|setup| {
        let capacity = Capacity {
            skinned_words: 1 << 17,
            ..CAPACITY
        };
        let mut stage = Stage::new(setup, capacity);
        let look = View {
            culling: Culling::Frustum,
            ..view(
                Vec3::new(40.0, 1.0, 30.0),
                Vec3::new(40.0, 1.0, 0.0),
                EXTENT,
            )
        };
        let walker = stage.spawn(0, at(40.0, 0.0, 0.0), Play::new("Walk"));
        let [child, hat] = [(); 2].map(|()| stage.spawn(0, at(0.0, 0.0, 500.0), Play::REST));
        stage.attach(child, (walker, "LeftHand"), &at(0.0, 0.1, 0.0));
        stage.attach(hat, (child, "Head"), &at(0.0, 0.2, 0.0));
        assert_eq!(stage.frame(setup, 0.1, look).1.placed_on_gpu, 2);
        // Nothing of that is a change, even if the parent moves.
        let mut handle = stage.crowd.live_mut(walker);
        handle.set_transform(&at(39.0, 0.0, 0.0)).unwrap();
        let (seen, stats) = stage.frame(setup, 0.2, look);
        assert_eq!((stats.changes, stats.placed_on_gpu), (1, 2));
        for id in [child, hat] {
            let wanted = stage.crowd.live(id).transform();
            assert!(apart(&seen[&stage.index(id)], &wanted) < 1e-4);
        }
        // A teleport reaches all that is attached, so all get new stamps.
        let mut handle = stage.crowd.live_mut(walker);
        handle.teleport(&at(41.0, 0.0, 0.0)).unwrap();
        assert_eq!(stage.frame(setup, 0.3, look).1.changes, 3);
        assert_eq!(stage.frame(setup, 0.4, look).1.changes, 0);
        // The clock goes back, which makes everything active once.
        stage.frame(setup, 0.2, look);
        assert_eq!(stage.frame(setup, 0.3, look).1.changes, 0);
        // A stage that the CPU runs needs to know what views show.
        let mut handle = stage.crowd.live_mut(child);
        handle.set_skinning_stage(SkinningStage::Compute).unwrap();
        let (seen, stats) = stage.frame(setup, 0.5, look);
        assert_eq!((stats.placed_on_gpu, stats.skinned), (0, 1));
        assert_eq!(seen.len(), 3);
        // A snapshot has the place where the GPU had it.
        let mut handle = stage.crowd.live_mut(child);
        handle.set_skinning_stage(SkinningStage::Vertex).unwrap();
        assert_eq!(stage.frame(setup, 0.6, look).1.placed_on_gpu, 2);
        let saved = stage.crowd.live(hat).snapshot();
        let wanted = stage.crowd.live(hat).transform();
        let other = stage.spawn(0, at(9.0, 9.0, 9.0), Play::new("Walk"));
        stage.crowd.live_mut(other).restore(&saved).unwrap();
        assert_eq!(stage.crowd.live(other).transform(), wanted);
        stage.destroy(setup);
    });
}

#[test]
fn attachments_past_all_limits_are_refused() {
    each(|setup| {
        let mut crowd = setup.crowd_with(Stages::Gpu, 2, CAPACITY);
        for attachments in [u32::MAX, 1 << 25] {
            let more = Capacity {
                attachments,
                ..CAPACITY
            };
            let refused = crowd.reserve(&mut setup.context.allocator(), &more);
            let Err(Error::Capacity { what, asked, cap }) = refused else {
                panic!("{refused:?}");
            };
            assert!(what.starts_with("bytes of") && asked > cap, "{what}");
            assert_eq!(crowd.capacity(), CAPACITY);
        }
        setup.destroy(crowd);
    });
}

/// Slots that are freed are used again, and what finds none is placed by the CPU.
#[test]
fn the_cpu_places_what_does_not_fit() {
    each(|setup| {
        let mut stage = Stage::new(
            setup,
            Capacity {
                attachments: 2,
                ..CAPACITY
            },
        );
        let walker = stage.spawn(0, at(0.0, 0.0, 0.0), Play::new("Walk"));
        let children: Vec<InstanceId> = (0..5)
            .map(|_| {
                let child = stage.spawn(0, Affine3A::IDENTITY, Play::new("Idle"));
                stage.attach(child, (walker, "LeftHand"), &at(0.0, 0.1, 0.0));
                child
            })
            .collect();
        let check = |stage: &mut Stage, setup: &mut Setup, time_s, on_gpu| {
            let (seen, stats) = stage.frame(setup, time_s, all());
            assert_eq!(stats.placed_on_gpu, on_gpu);
            for id in stage.crowd.instances() {
                let wanted = stage.crowd.live(id).transform();
                let off = apart(&seen[&stage.index(id)], &wanted);
                assert!(off < 2e-5, "{off:e}");
            }
        };
        check(&mut stage, setup, 0.1, 2);
        check(&mut stage, setup, 0.2, 2);
        stage.crowd.despawn(children[4]).unwrap();
        stage.crowd.despawn(children[0]).unwrap();
        check(&mut stage, setup, 0.3, 2);
        let more = Capacity {
            attachments: 7,
            ..CAPACITY
        };
        stage
            .crowd
            .reserve(&mut setup.context.allocator(), &more)
            .unwrap();
        check(&mut stage, setup, 0.4, 3);
        // The CPU must know where what it poses is, and where that takes what is attached to it.
        let people = stage.crowd.character(stage.kinds[0]).unwrap();
        let pose = vec![Affine3A::IDENTITY; people.skeleton().len()];
        for (id, time_s, on_gpu) in [(children[1], 0.5, 2), (walker, 0.6, 0)] {
            let mut handle = stage.crowd.live_mut(id);
            handle
                .set_pose(Pose::Model(&pose), &ShowPose::default())
                .unwrap();
            check(&mut stage, setup, time_s, on_gpu);
        }
        stage.crowd.live_mut(walker).play("Walk").unwrap();
        check(&mut stage, setup, 0.7, 2);
        stage.destroy(setup);
    });
}
