//! Frames between the updates of a game change nothing of it, on all sides of the stages.

use crate::animator::{performer, springs};
use crate::reference::handles::Handles;
use crate::reference::refused;
use crate::reference::rng::Rng;
use crate::reference::sweep::is_thorough;
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::{SIDES, SMALL, Setup, each, placed, view};
use throng::animator::{Animator, IkSolver};
use throng::glam::{Affine3A, Quat, Vec3};
use throng::ik::{TwoBone, TwoBoneTarget};
use throng::skeleton::Joint;
use throng::{
    Attachment, CharacterId, Crowd, Id, InstanceId, Play, RootMotionMode, Spawn, SpringMode,
    Stages, View,
};

const STEP_S: f64 = 1.0 / 30.0;
const FRAMES_IN_FLIGHT: u32 = 2;
const MOST: usize = 24;

/// A game whose pictures nobody sees, or that is drawn.
struct Game {
    crowd: Crowd,
    kinds: [CharacterId; 2],
    solver: Id<IkSolver>,
    frames: FramesInFlight,
    next: u32,
}

fn transform(rng: &mut Rng) -> Affine3A {
    let turn = Quat::from_rotation_y(rng.range(-3.0, 3.0));
    Affine3A::from_rotation_translation(turn, rng.vector(-4.0, 4.0))
}

impl Game {
    fn new(setup: &mut Setup, stages: Stages) -> Self {
        let mut crowd = setup.crowd_with(stages, FRAMES_IN_FLIGHT, SMALL);
        let plain = performer(false);
        let characters = [&plain, &springs::with_springs(&plain)];
        let kinds = characters.map(|it| setup.add(&mut crowd, it));
        let limb = TwoBone {
            start: Id::new(2),
            mid: Id::new(4),
            end: Id::new(6),
            hinge: Some(Vec3::Z),
            soften: 0.05,
        };
        let [solver, _] = kinds.map(|kind| crowd.add_solver(kind, limb).unwrap());
        Self {
            crowd,
            kinds,
            solver,
            frames: FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT),
            next: 0,
        }
    }

    fn spawn(&mut self, rng: &mut Rng) {
        let clip = ["sway", "turn", "walk"][rng.below(3)];
        let modes = [SpringMode::Off, SpringMode::Picture, SpringMode::Game];
        let spawn = Spawn {
            state_machine: rng.chance(3),
            springs: modes[rng.below(3)],
            root_motion: [RootMotionMode::Ignore, RootMotionMode::Apply][rng.below(2)],
            ..placed(
                transform(rng),
                Play::new(clip).speed(rng.range(-1.0, 2.0).into()),
            )
        };
        let spawn = match spawn.state_machine {
            true => Spawn {
                play: Play::REST,
                ..spawn
            },
            false => spawn,
        };
        self.crowd.spawn(self.kinds[rng.below(2)], &spawn).unwrap();
    }

    /// A command of the game, the same for the same random numbers.
    fn act(&mut self, rng: &mut Rng) {
        let ids: Vec<InstanceId> = self.crowd.instances().collect();
        if ids.is_empty() || ids.len() < MOST && rng.chance(6) {
            return self.spawn(rng);
        }
        let id = ids[rng.below(ids.len())];
        let other = ids[rng.below(ids.len())];
        let mut it = self.crowd.live_mut(id);
        match rng.below(14) {
            0 if rng.chance(3) => self.crowd.despawn(id).unwrap(),
            0 => _ = it.set_parameter("go", true),
            1 => {
                let play = Play::new(["sway", "turn", "walk"][rng.below(3)]);
                _ = it.play(play.fade_s(rng.range(0.0, 0.4)).layer(rng.below(2) as u8));
            }
            2 => _ = it.play(Play::new("sway").inertial_s(0.3)),
            3 => _ = it.set_transform(&transform(rng)),
            4 => _ = it.teleport(&transform(rng)),
            5 => {
                let offset = transform(rng);
                _ = it.attach_to(Attachment::new(other, Id::<Joint>::new(5)).at(offset));
            }
            6 => _ = it.detach(),
            7 => {
                let target = TwoBoneTarget::at(rng.vector(-2.0, 2.0));
                it.set_target(self.solver, target, 0.2).unwrap();
            }
            8 => it.clear_target(self.solver, 0.1).unwrap(),
            9 => it.set_visible(rng.chance(2)),
            10 => {
                let stays = it.attachment().map(|of| Attachment {
                    outlives_parent: true,
                    ..of
                });
                stays.map_or(Ok(()), |of| it.attach_to(of)).unwrap();
            }
            13 => {
                let offset = transform(rng).translation.round();
                self.crowd
                    .shift_origin(Vec3::from(offset).as_dvec3())
                    .unwrap();
            }
            11 => it
                .set_time_scale([0.0, 0.5, 1.0, 2.0][rng.below(4)])
                .unwrap(),
            _ => _ = it.set_parameter("go", true),
        }
    }

    fn update(&mut self, seed: u64, tick: u64) {
        let mut rng = Rng::new(seed << 32 | tick);
        for _ in 0..rng.below(4) {
            self.act(&mut rng);
        }
        self.crowd.update(tick as f64 * STEP_S).unwrap();
    }

    /// Draws a frame at a random time until the next update, or begins one that comes to nothing.
    fn draw(&mut self, setup: &mut Setup, rng: &mut Rng) {
        let index = self.next % FRAMES_IN_FLIGHT;
        let most_s = [STEP_S, Animator::MAX_AHEAD_S][usize::from(rng.chance(9))];
        let shown_s = self.crowd.time_s() + f64::from(rng.range(0.0, 1.0)) * most_s;
        let cmd = self.frames.begin(&setup.context, index);
        let ids: Vec<InstanceId> = self.crowd.instances().collect();
        let allocator = &mut setup.context.allocator();
        let mut frame = unsafe { self.crowd.begin_frame(allocator, index, shown_s) }.unwrap();
        for &id in &ids {
            if rng.chance(3) && frame.live(id).attachment().is_none() {
                let world = transform(rng);
                frame.set_transform(id, &world).unwrap();
                assert_eq!(frame.transform(id), Ok(world));
            }
        }
        let views: &[View] = match rng.below(3) {
            0 => &[],
            _ => &[view(Vec3::new(0.0, 3.0, 12.0), Vec3::ZERO, EXTENT)],
        };
        let prepares = !rng.chance(8);
        if prepares {
            let places: Vec<_> = ids.iter().map(|id| frame.transform(*id).unwrap()).collect();
            unsafe { frame.record_prepare(cmd, views) }.unwrap();
            // What follows others is where it was said to be, unless spring bones move it, which
            // swing when the frame is prepared.
            for (id, place) in ids.into_iter().zip(places) {
                let crowd = &frame;
                let above = |id: &InstanceId| crowd.live(*id).attachment().map(|to| to.parent);
                let mut above = std::iter::successors(above(&id), above);
                if above.any(|id| crowd.live(id).springs() != SpringMode::Off) {
                    continue;
                }
                assert!(frame.transform(id).unwrap().abs_diff_eq(place, 1e-3));
                let record = frame.live(id).record();
                let record = record.world_from_model.to_affine();
                assert!(
                    record.abs_diff_eq(place, 1e-3),
                    "{record:?} is not {place:?}"
                );
            }
        }
        if prepares && rng.chance(8) {
            unsafe { self.crowd.abandon_frame() };
        } else {
            self.frames.submit(&setup.context, index);
        }
        self.next += 1;
    }

    /// Everything of the game that can be seen or saved.
    fn look(&self) -> String {
        let crowd = &self.crowd;
        let events: Vec<_> = crowd.events().collect();
        let places = crowd.instances().map(|id| crowd.live(id).transform());
        let places: Vec<_> = places.collect();
        let saved = serde_json::to_string(&crowd.snapshot()).unwrap();
        format!("{events:?} {places:?} {saved}")
    }
}

#[test]
fn frames_change_nothing_of_the_game() {
    let ticks = if is_thorough() { 10_000 } else { 1_000 };
    each(|setup| {
        for (seed, stages) in (0..).zip(SIDES) {
            // The first is never drawn.
            let mut games = [(); 2].map(|()| Game::new(setup, stages));
            let mut rng = Rng::new(seed);
            let (mut frames, mut events) = (0, 0);
            for tick in 0..ticks {
                games.iter_mut().for_each(|game| game.update(seed, tick));
                for _ in 0..rng.below(6) {
                    games[1].draw(setup, &mut rng);
                    frames += 1;
                }
                events += games[1].crowd.events().count();
                if tick % 7 == 0 {
                    let [undrawn, drawn] = games.each_ref().map(Game::look);
                    assert!(
                        undrawn == drawn,
                        "{stages:?}, tick {tick}\n{undrawn}\n{drawn}"
                    );
                }
            }
            assert!(
                frames > 2 * ticks && events > ticks as usize / 4,
                "{events} events"
            );
            for game in games {
                setup.context.wait_idle().unwrap();
                game.frames.destroy(&setup.context);
                unsafe { game.crowd.destroy(&mut setup.context.allocator()) };
            }
        }
    });
}

#[test]
fn root_motion_goes_on_in_pictures() {
    each(|setup| {
        for stages in SIDES {
            let mut crowd = setup.crowd_with(stages, FRAMES_IN_FLIGHT, SMALL);
            let kind = setup.add(&mut crowd, &performer(false));
            let walks = Spawn {
                root_motion: RootMotionMode::Apply,
                ..placed(Affine3A::from_rotation_y(0.5), "walk")
            };
            let [walker, stander] =
                [walks, Spawn::default()].map(|spawn| crowd.spawn(kind, &spawn).unwrap());
            crowd.update(0.5).unwrap();
            let game = crowd.live(walker).transform();
            assert!((game.translation.length() - 0.5).abs() < 1e-5);
            let aside = Affine3A::from_translation(Vec3::X);
            let mut moments = FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT);
            for (number, ahead_s) in (0..).zip([0.0, 0.25, 0.1, 1.0]) {
                let cmd = moments.begin(&setup.context, number % FRAMES_IN_FLIGHT);
                let allocator = &mut setup.context.allocator();
                let begun = unsafe {
                    crowd.begin_frame(allocator, number % FRAMES_IN_FLIGHT, 0.5 + ahead_s)
                };
                let mut frame = begun.unwrap();
                // One metre per second, in the direction in which it looks.
                let shown = frame.transform(walker).unwrap();
                let wanted_m = 0.5 + ahead_s as f32;
                let wanted = game.transform_vector3(Vec3::Z) * wanted_m;
                assert!((Vec3::from(shown.translation) - wanted).length() < 1e-5);
                assert_eq!(frame.live(walker).transform_at(0.5 + ahead_s), shown);
                assert_eq!(frame.live(walker).transform_at(0.5 - ahead_s), game);
                assert_eq!(frame.transform(stander), Ok(Affine3A::IDENTITY));
                if number == 1 {
                    frame.set_transform(stander, &aside).unwrap();
                    frame.set_transform(walker, &aside).unwrap();
                    let shown = [walker, stander].map(|id| frame.transform(id).unwrap());
                    assert_eq!(shown, [aside; 2]);
                }
                unsafe { frame.record_prepare(cmd, &[]) }.unwrap();
                refused! {
                    frame.set_transform(stander, &aside) => "frame: was already prepared";
                }
                assert_eq!(frame.live(walker).transform(), game);
                moments.submit(&setup.context, number % FRAMES_IN_FLIGHT);
            }
            let hand = Attachment::new(walker, Id::<Joint>::new(3)).at(aside);
            crowd.live_mut(stander).attach_to(hand).unwrap();
            setup.context.wait_idle().unwrap();
            let allocator = &mut setup.context.allocator();
            let mut begin = |crowd: &mut Crowd, time_s| {
                unsafe { crowd.begin_frame(allocator, 0, time_s) }.map(drop)
            };
            refused! {
                begin(&mut crowd, 0.49) => "time_s: 0.49 lies outside 0.5..=1.5, the second after \
                    the last update: call update first";
                begin(&mut crowd, 1.51) => "time_s: 1.51 lies outside 0.5..=1.5…";
                begin(&mut crowd, f64::NAN) => "time_s: NaN is not finite";
            }
            let begun = unsafe { crowd.begin_frame(&mut setup.context.allocator(), 0, 1.5) };
            let mut frame = begun.unwrap();
            let shown = frame.transform(stander).unwrap();
            assert_eq!(frame.live(stander).transform_at(1.5), shown);
            refused! {
                frame.set_transform(stander, &aside) => "…of an attached instance follows…";
                frame.set_transform(walker, &Affine3A::from_translation(Vec3::NAN)) =>
                    "instance 0: world_from_model: NaN is not finite";
            }
            setup.context.wait_idle().unwrap();
            moments.destroy(&setup.context);
            unsafe { crowd.destroy(&mut setup.context.allocator()) };
        }
    });
}
