//! A crowd that goes back keeps what is alive in both, on all sides of the stages.

use crate::animator::performer;
use crate::reference::handles::Handles;
use crate::reference::picture::covered;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, picture, target};
use crate::support::{SIDES, SMALL, Setup, each, placed, view};
use throng::glam::{Affine3A, Vec3};
use throng::skeleton::Joint;
use throng::{
    Attachment, CharacterId, Crowd, CrowdSnapshot, Id, InstanceId, PassId, Play, RootMotionMode,
    Spawn, Stages, Stats, View,
};
use throng_standalone::Target;

const STEP_S: f64 = 1.0 / 30.0;
const COUNT: usize = 40;

fn at(number: usize) -> Affine3A {
    let (x, z) = (number % 8, number / 8);
    Affine3A::from_translation(Vec3::new(x as f32 - 4.0, 0.0, -(z as f32)))
}

fn camera() -> View {
    view(Vec3::new(0.0, 4.0, 12.0), Vec3::new(0.0, 1.0, -2.0), EXTENT)
}

struct Game {
    crowd: Crowd,
    kind: CharacterId,
    pass: PassId,
    frames: FramesInFlight,
    tick: u32,
}

impl Game {
    fn new(setup: &mut Setup, stages: Stages, target: &Target) -> Self {
        let mut crowd = setup.crowd_with(stages, 2, SMALL);
        let kind = setup.add(&mut crowd, &performer(false));
        Self {
            kind,
            pass: pass(&mut crowd, target, false),
            crowd,
            frames: FramesInFlight::new(&setup.context, 2),
            tick: 0,
        }
    }

    fn update(&mut self) {
        self.tick += 1;
        self.crowd.update(f64::from(self.tick) * STEP_S).unwrap();
    }

    fn draw(&mut self, setup: &mut Setup, target: &Target) -> (Vec<u8>, Stats) {
        let when = (self.tick % 2, self.crowd.time_s());
        let on = (target, self.pass, &NORMAL_Z);
        let context = &mut setup.context;
        let (crowd, frames) = (&mut self.crowd, &mut self.frames);
        let shown = picture(context, crowd, frames, when, on, &[camera()]);
        (shown, self.crowd.stats())
    }

    fn saved(&self) -> String {
        serde_json::to_string(&self.crowd.snapshot()).unwrap()
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames.destroy(&setup.context);
        setup.context.wait_idle().unwrap();
        unsafe { self.crowd.destroy(&mut setup.context.allocator()) };
    }
}

/// Everything that can be undone, to a few.
fn change(game: &mut Game, ids: &[InstanceId]) {
    let crowd = &mut game.crowd;
    let mut it = crowd.live_mut(ids[3]);
    it.set_transform(&at(50)).unwrap();
    it.set_tint([0.5, 0.1, 0.9, 1.0]).unwrap();
    crowd.live_mut(ids[4]).set_visible(false);
    crowd.live_mut(ids[5]).play("turn").unwrap();
    crowd.live_mut(ids[6]).set_view_mask(0);
    crowd.despawn(ids[7]).unwrap();
    crowd.despawn(ids[39]).unwrap();
    // The first takes the place of one that is back after the rollback.
    for number in [52, 53, 54] {
        crowd.spawn(game.kind, &placed(at(number), "turn")).unwrap();
    }
}

#[test]
fn a_rollback_uploads_what_differs() {
    each(|setup| {
        let target = target(&mut setup.context);
        for stages in SIDES {
            let mut game = Game::new(setup, stages, &target);
            let ids: Vec<_> = (0..COUNT)
                .map(|number| {
                    let play = if number % 2 == 0 {
                        "sway".into()
                    } else {
                        Play::REST
                    };
                    let spawned = game.crowd.spawn(game.kind, &placed(at(number), play));
                    spawned.unwrap()
                })
                .collect();
            let hung = Spawn {
                attachment: Some(Attachment::new(ids[2], Id::<Joint>::new(3))),
                ..Spawn::default()
            };
            game.crowd.spawn(game.kind, &hung).unwrap();
            let mut usual = 0;
            for _ in 0..6 {
                game.update();
                usual = game.draw(setup, &target).1.upload_bytes;
            }
            let saved = game.crowd.snapshot();
            for back in 0..3 {
                let text = serde_json::to_string(&saved).unwrap();
                change(&mut game, &ids);
                for _ in 0..8 {
                    game.update();
                    game.draw(setup, &target);
                }
                // The last time, from what another crowd could have saved.
                let parsed: CrowdSnapshot = serde_json::from_str(&text).unwrap();
                let from = if back < 2 { &saved } else { &parsed };
                game.crowd.restore(from).unwrap();
                game.tick -= 8;
                assert_eq!(game.saved(), text);
                (0..8).for_each(|_| game.update());
                let (shown, stats) = game.draw(setup, &target);
                // Those that were changed, and what hangs on one.
                assert!(stats.changes <= 8, "{stages:?}: {} changes", stats.changes);
                let most = usual + 16 * 1024;
                assert!(
                    stats.upload_bytes <= most,
                    "{stages:?}: {} bytes, usually {usual}",
                    stats.upload_bytes
                );
                let mut fresh = Game::new(setup, stages, &target);
                fresh.crowd.restore(&parsed).unwrap();
                fresh.tick = game.tick - 8;
                (0..8).for_each(|_| fresh.update());
                let (wanted, all) = fresh.draw(setup, &target);
                assert!(covered(&wanted) > 500 && all.changes > COUNT as u32);
                assert!(shown == wanted, "{stages:?}, rollback {back}");
                assert_eq!(game.saved(), fresh.saved());
                for _ in 0..4 {
                    let pictures = [&mut game, &mut fresh].map(|game| {
                        game.update();
                        game.draw(setup, &target).0
                    });
                    assert!(pictures[0] == pictures[1], "{stages:?}, after {back}");
                }
                fresh.destroy(setup);
                game.crowd.restore(from).unwrap();
                game.tick -= 12;
            }
            game.destroy(setup);
        }
    });
}

/// Equal crowds have equal snapshots: nothing is left of instances that are gone.
#[test]
fn snapshots_of_equal_crowds_are_equal() {
    each(|setup| {
        let json = |crowd: &Crowd| serde_json::to_string(&crowd.snapshot()).unwrap();
        let [mut played, mut fresh] = [(); 2].map(|()| setup.crowd(1, SMALL));
        for crowd in [&mut played, &mut fresh] {
            setup.add(crowd, &performer(false));
        }
        let kind = played.characters().next().unwrap();
        let tinted = Spawn {
            tint: [0.5, 0.25, 1.0, 1.0],
            user_data: 7,
            view_mask: 2,
            visible: false,
            ..Spawn::default()
        };
        let ids = [(); 3].map(|()| played.spawn(kind, &tinted).unwrap());
        played.despawn(ids[0]).unwrap();
        played.despawn(ids[2]).unwrap();
        let saved = played.snapshot();
        let wanted = json(&played);
        fresh.restore(&saved).unwrap();
        assert_eq!(json(&fresh), wanted);
        for _ in 0..3 {
            played.spawn(kind, &Spawn::default()).unwrap();
        }
        played.restore(&saved).unwrap();
        assert_eq!(json(&played), wanted);
        // Neither has recorded anything.
        unsafe { fresh.destroy(&mut setup.context.allocator()) };
        setup.destroy(played);
    });
}

/// Walkers, and instances that hang on them, come back to where they were, in the animator too.
#[test]
fn walkers_come_back_to_where_they_were() {
    each(|setup| {
        let target = target(&mut setup.context);
        let mut game = Game::new(setup, Stages::Cpu, &target);
        let walking = Spawn {
            root_motion: RootMotionMode::Apply,
            ..placed(at(9), "walk")
        };
        let id = game.crowd.spawn(game.kind, &walking).unwrap();
        let hung = Spawn {
            attachment: Some(Attachment::new(id, Id::<Joint>::new(3))),
            ..Spawn::default()
        };
        game.crowd.spawn(game.kind, &hung).unwrap();
        (0..3).for_each(|_| game.update());
        let (saved, text) = (game.crowd.snapshot(), game.saved());
        (0..8).for_each(|_| game.update());
        let gone = game.crowd.live(id).transform().translation;
        game.crowd.restore(&saved).unwrap();
        assert!(gone.distance(game.crowd.live(id).transform().translation) > 0.2);
        assert_eq!(game.saved(), text);
        game.destroy(setup);
    });
}
