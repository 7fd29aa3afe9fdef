//! Shifts of the origin, on all sides of the stages.

use crate::animator::springs::with_springs;
use crate::motion::stage::{HISTORIES, World, dancer, moves, stands};
use crate::reference::handles::Handles;
use crate::reference::picture::covered;
use crate::reference::refused;
use crate::reference::ribbon::{built, ribbon};
use crate::reference::rng::Rng;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, picture, target};
use crate::support::{SIDES, SMALL, Setup, described, each, placed, view};
use throng::glam::{Affine3A, DVec3, Mat4, Vec3};
use throng::palette::SkinningMethod;
use throng::skeleton::Joint;
use throng::skin::{CullMode, Ray};
use throng::{
    Attachment, Capacity, CharacterId, Crowd, Detail, Eye, Id, InstanceId, PassId, Play,
    RootMotionMode, Spawn, SpringMode, Stages, View,
};
use throng_standalone::Target;

/// A position whose bits survive shifts by [`offset`]: a multiple of 1/64 m.
fn position(rng: &mut Rng, around: Vec3) -> Vec3 {
    around + (rng.vector(-3.0, 3.0) * 64.0).round() / 64.0
}

fn at(position: Vec3) -> Affine3A {
    Affine3A::from_translation(position)
}

/// Whole multiples of 64 m.
fn offset(rng: &mut Rng) -> Vec3 {
    rng.vector(-16.0, 16.0).round() * 64.0
}

fn is_attached(crowd: &Crowd, id: InstanceId) -> bool {
    crowd.live(id).attachment().is_some()
}

/// A crowd whose origin moves, and one whose instances are all teleported instead.
struct Twins {
    crowds: [Crowd; 2],
    kinds: [CharacterId; 2],
    frames: [FramesInFlight; 2],
    target: Target,
    passes: [PassId; 2],
    /// The place around which everything is.
    around: Vec3,
    now_s: f64,
    index: u32,
}

impl Twins {
    fn new(setup: &mut Setup, stages: Stages) -> Self {
        let target = target(&mut setup.context);
        let mut crowds = [(); 2].map(|()| setup.crowd_with(stages, 2, SMALL));
        let plain = built(ribbon(4)).character;
        let characters = [&plain, &with_springs(&plain)];
        let desc = described(SkinningMethod::Linear, true);
        let mut kinds = Vec::new();
        for crowd in &mut crowds {
            kinds.push(characters.map(|it| setup.add_with(crowd, it, &desc)));
        }
        Self {
            kinds: kinds[0],
            frames: [(); 2].map(|()| FramesInFlight::new(&setup.context, 2)),
            passes: crowds.each_mut().map(|crowd| pass(crowd, &target, false)),
            target,
            crowds,
            around: Vec3::ZERO,
            now_s: 0.0,
            index: 0,
        }
    }

    fn spawn(&mut self, rng: &mut Rng) {
        let spring = [SpringMode::Picture, SpringMode::Game][rng.below(2)];
        let spawn = Spawn {
            springs: spring,
            ..placed(
                at(position(rng, self.around)),
                ["sway", "turn"][rng.below(2)],
            )
        };
        let kind = self.kinds[rng.below(2)];
        let ids = self
            .crowds
            .each_mut()
            .map(|it| it.spawn(kind, &spawn).unwrap());
        assert_eq!(ids[0], ids[1]);
    }

    fn act(&mut self, rng: &mut Rng) {
        let ids: Vec<_> = self.crowds[0].instances().collect();
        if ids.len() < 4 || ids.len() < 20 && rng.chance(3) {
            return self.spawn(rng);
        }
        let [id, other] = [(); 2].map(|()| ids[rng.below(ids.len())]);
        let (what, shows, place) = (rng.below(6), rng.chance(2), at(position(rng, self.around)));
        let joint = Id::<Joint>::new(rng.below(4) as u16);
        let plain = self.kinds[0];
        for crowd in &mut self.crowds {
            let is_plain = crowd.live(other).character() == plain;
            let mut it = crowd.live_mut(id);
            match what {
                0 => _ = it.set_transform(&place),
                1 => _ = it.teleport(&place),
                2 => _ = it.play(Play::new("turn").fade_s(0.2)),
                // A teleport of a parent rounds the springs of what turns with it.
                3 if is_plain => {
                    let offset = at(Vec3::new(0.25, 0.5, 0.0));
                    let attachment = Attachment::new(id, joint).at(offset);
                    _ = crowd.live_mut(other).attach_to(attachment);
                }
                4 => it.set_visible(shows),
                _ if !is_attached(crowd, id) => _ = crowd.despawn(id),
                _ => {}
            }
        }
    }

    /// Moves the origin of one crowd, and the instances of the other.
    fn shift(&mut self, offset: Vec3) {
        let [shifted, moved] = &mut self.crowds;
        shifted.shift_origin(offset.as_dvec3()).unwrap();
        self.around -= offset;
        let ids: Vec<_> = moved.instances().collect();
        for id in ids.into_iter().filter(|id| !is_attached(shifted, *id)) {
            let place = at(-offset) * moved.live(id).transform();
            moved.live_mut(id).teleport(&place).unwrap();
            assert_eq!(shifted.live(id).transform(), place);
        }
    }

    /// Draws both, and compares all that can be seen. Returns the number of texels.
    fn compare(&mut self, setup: &mut Setup) -> usize {
        self.now_s += 1.0 / 32.0;
        let eye = self.around + Vec3::new(0.0, 2.0, 10.0);
        let views = [View {
            detail: Detail {
                error_px: 4.0,
                ..Detail::default()
            },
            ..view(eye, self.around, EXTENT)
        }];
        let when = (self.index % 2, self.now_s);
        self.index += 1;
        let [shown, wanted] = [0, 1].map(|number| {
            let on = (&self.target, self.passes[number], &NORMAL_Z);
            let (crowd, frames) = (&mut self.crowds[number], &mut self.frames[number]);
            picture(&mut setup.context, crowd, frames, when, on, &views)
        });
        assert!(shown == wanted, "frame {}", self.index);
        let [own, others] = self.crowds.each_ref().map(Crowd::view_stats);
        assert_eq!(own, others);
        let ray = Ray {
            origin: eye,
            direction: self.around - eye,
        };
        let picked = self
            .crowds
            .each_mut()
            .map(|crowd| crowd.pick_all(&ray, CullMode::None, u32::MAX).unwrap());
        assert_eq!(picked[0], picked[1]);
        covered(&shown)
    }

    fn destroy(self, setup: &mut Setup) {
        for frames in self.frames {
            frames.destroy(&setup.context);
        }
        setup.context.wait_idle().unwrap();
        for crowd in self.crowds {
            unsafe { crowd.destroy(&mut setup.context.allocator()) };
        }
    }
}

#[test]
fn a_shift_is_what_a_teleport_of_everything_would_be() {
    each(|setup| {
        for (seed, stages) in (7..).zip(SIDES) {
            let (mut twins, mut rng) = (Twins::new(setup, stages), Rng::new(seed));
            let mut seen = 0;
            for frame in 0..120 {
                for _ in 0..rng.below(3) {
                    twins.act(&mut rng);
                }
                if frame % 3 == 2 {
                    let shifts = 1 + rng.below(2);
                    (0..shifts).for_each(|_| twins.shift(offset(&mut rng)));
                }
                seen += twins.compare(setup);
            }
            assert!(seen > 50_000, "{seen}");
            twins.destroy(setup);
        }
    });
}

/// Some dancers that stand, one that plays, and one that hangs on it.
fn world(setup: &mut Setup, stages: Stages) -> World {
    let capacity = Capacity {
        palette_entries: 4096,
        ..HISTORIES
    };
    let kinds = [(dancer(4), SkinningMethod::Linear)];
    let mut world = World::with(setup, stages, capacity, &kinds);
    world.spawn(0, at(Vec3::new(-1.5, -1.5, 0.0)), None);
    world.spawn(0, at(Vec3::new(0.0, -1.5, 0.0)), Some(0));
    world.spawn(0, at(Vec3::ZERO), None);
    world.attach(2, 1, 2, at(Vec3::new(1.0, 0.0, 0.0)));
    world
}

#[test]
fn motion_vectors_are_as_without_a_shift() {
    each(|setup| {
        for stages in SIDES {
            // An exact matrix, so that what stands has no motion at all.
            let exact = Mat4::from_cols_array(&[
                0.25, 0.0, 0.0, 0.0, 0.0, -0.25, 0.0, 0.0, 0.0, 0.0, -0.0625, 0.0, 0.0, 0.0, 0.5,
                1.0,
            ]);
            let camera = View {
                eye: Eye::new(exact, Vec3::Z * 8.0),
                history: Some(0),
                ..view(Vec3::Z * 8.0, Vec3::ZERO, EXTENT)
            };
            let [shifted, still] = [true, false].map(|shifts| {
                let mut world = world(setup, stages);
                let frames = (0..6).map(|frame| {
                    let time_s = 0.07 * f64::from(frame);
                    if shifts && frame >= 2 {
                        world.shift(Vec3::new(64.0, -32.0, 16.0) * frame as f32);
                    }
                    if shifts && frame == 4 {
                        // One of those frames is never submitted.
                        world.abandon(setup, time_s, &[camera]);
                        world.shift(Vec3::X * 4.0);
                    }
                    world.place(1, at(Vec3::new(0.05 * frame as f32, -1.5, 0.0)));
                    world.frame(setup, time_s, &[camera]).remove(0)
                });
                let frames: Vec<_> = frames.collect();
                world.destroy(setup);
                frames
            });
            for (frame, (shifted, still)) in shifted.iter().zip(&still).enumerate() {
                // Half a unit in the last place of a coordinate below 1,024 m, for each of eight
                // operations, in a picture of eight metres.
                let bound = 8.0 * 0.5 * 1024.0 * f64::from(f32::EPSILON) / 4.0;
                assert_eq!(shifted.len(), still.len());
                for (a, b) in shifted.iter().zip(still) {
                    assert!((a.got - b.got).abs().max_element() <= bound, "{a:?} {b:?}");
                }
                stands(still, 0);
                if frame > 0 {
                    moves(still, 1);
                }
            }
        }
    });
}

/// A crowd of `count` that stand and of one that plays, with its frames.
fn standing(setup: &mut Setup, stages: Stages, count: usize) -> (Crowd, CharacterId) {
    let mut crowd = setup.crowd_with(stages, 2, SMALL);
    let kind = setup.add(&mut crowd, &built(ribbon(4)).character);
    for number in 0..count {
        let place = at(Vec3::new(number as f32, 0.0, 0.0));
        crowd.spawn(kind, &placed(place, Play::REST)).unwrap();
    }
    crowd.spawn(kind, &placed(at(Vec3::Z), "sway")).unwrap();
    (crowd, kind)
}

#[test]
fn a_shift_uploads_nothing_for_instances() {
    each(|setup| {
        for stages in SIDES {
            let bytes = [3, 60].map(|count| {
                let (mut crowd, _) = standing(setup, stages, count);
                let mut frames = FramesInFlight::new(&setup.context, 2);
                let views = [view(Vec3::new(0.0, 2.0, 10.0), Vec3::ZERO, EXTENT)];
                let mut last = [0; 2];
                for number in 0..8 {
                    if number == 7 {
                        crowd.shift_origin(DVec3::new(1024.0, 0.0, 0.0)).unwrap();
                    }
                    let cmd = frames.begin(&setup.context, number % 2);
                    let mut frame = setup.begin(&mut crowd, number % 2, 0.1 * f64::from(number));
                    unsafe { frame.record_prepare(cmd, &views) }.unwrap();
                    let stats = frame.stats();
                    frames.submit(&setup.context, number % 2);
                    last = [last[1], stats.upload_bytes];
                    assert_eq!(stats.changes > 0, number == 0);
                }
                setup.context.wait_idle().unwrap();
                frames.destroy(&setup.context);
                setup.destroy(crowd);
                last
            });
            // Lists of visible instances become shorter, because they are elsewhere.
            for [before, after] in bytes {
                assert!(after <= before, "{stages:?}: {bytes:?}");
            }
        }
    });
}

#[test]
fn snapshots_come_back_at_the_present_origin() {
    each(|setup| {
        for stages in SIDES {
            let mut crowd = setup.crowd_with(stages, 2, SMALL);
            let kind = setup.add(&mut crowd, &crate::animator::performer(false));
            let walks = Spawn {
                root_motion: RootMotionMode::Apply,
                ..placed(at(Vec3::new(8.0, 0.0, 0.0)), "walk")
            };
            let walker = crowd.spawn(kind, &walks).unwrap();
            let hung = Spawn {
                attachment: Some(Attachment::new(walker, Id::<Joint>::new(1))),
                ..Spawn::default()
            };
            crowd.spawn(kind, &hung).unwrap();
            let stander = crowd.spawn(kind, &placed(at(Vec3::Y), Play::REST)).unwrap();
            crowd.update(0.5).unwrap();
            crowd.shift_origin(DVec3::new(256.0, 0.0, 0.0)).unwrap();
            let saved = crowd.snapshot();
            let one = crowd.live(stander).snapshot();
            let all = |crowd: &Crowd| -> Vec<Affine3A> {
                let ids = crowd.instances();
                ids.map(|id| crowd.live(id).transform()).collect()
            };
            let then = all(&crowd);
            assert_eq!(saved.origin(), DVec3::X * 256.0);
            crowd.update(0.75).unwrap();
            crowd.live_mut(stander).set_transform(&at(Vec3::Z)).unwrap();
            crowd.shift_origin(DVec3::new(0.0, 512.0, 0.0)).unwrap();
            crowd.shift_origin(DVec3::new(-256.0, 0.0, 0.0)).unwrap();
            let by = Vec3::new(256.0, -512.0, 0.0);
            let near = |crowd: &Crowd| {
                for (now, then) in all(crowd).iter().zip(&then) {
                    // Root motion and joints are on no grid: half a unit in the last place.
                    assert!(now.abs_diff_eq(at(by) * *then, 512.0 * f32::EPSILON));
                }
            };
            crowd.live_mut(stander).restore(&one).unwrap();
            assert_eq!(crowd.live(stander).transform(), at(by) * then[2]);
            crowd.restore(&saved).unwrap();
            near(&crowd);
            assert_eq!(crowd.origin(), DVec3::new(0.0, 512.0, 0.0));
            // Another crowd, whose origin is brought to that of the snapshot.
            let mut other = setup.crowd_with(stages, 2, SMALL);
            setup.add(&mut other, &crate::animator::performer(false));
            other.shift_origin(saved.origin()).unwrap();
            other.restore(&saved).unwrap();
            assert_eq!(all(&other), then);
            for time_s in [0.6, 0.7, 0.8] {
                crowd.update(time_s).unwrap();
                other.update(time_s).unwrap();
                for (a, b) in all(&crowd).iter().zip(all(&other)) {
                    assert!(a.abs_diff_eq(at(by) * b, 512.0 * f32::EPSILON));
                }
            }
            for crowd in [crowd, other] {
                unsafe { crowd.destroy(&mut setup.context.allocator()) };
            }
        }
    });
}

#[test]
fn offsets_that_lead_nowhere_are_refused() {
    each(|setup| {
        let (mut crowd, kind) = standing(setup, SIDES[0], 2);
        let far = at(Vec3::new(0.0, 9e17, 0.0));
        crowd.spawn(kind, &placed(far, Play::REST)).unwrap();
        let mut shift = |y| crowd.shift_origin(DVec3::new(1.0, y, 0.0));
        refused! {
            shift(f64::NAN) => "offset: NaN is not finite";
            shift(f64::INFINITY) => "offset: inf is not finite";
            shift(2e18) => "offset: 2e18 lies outside -1e18..=1e18";
            shift(-2e17) => "instance 3: position: …lies outside…";
        }
        // Nothing has changed.
        assert_eq!(crowd.origin(), DVec3::ZERO);
        let id = crowd.instance_at(3).unwrap();
        assert_eq!(crowd.live(id).transform(), far);
        setup.destroy(crowd);
    });
}
