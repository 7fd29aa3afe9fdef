//! Pictures between two updates change nothing of the game, and show what plays as it goes on.

use super::snapshot::{act, character, empty};
use crate::reference::handles::Handles;
use crate::reference::refused;
use crate::reference::rng::Rng;
use crate::reference::sweep::rounds;
use throng::animator::{ActorId, Animator, Play, SpringMode};
use throng::glam::Affine3A;
use throng::palette::Mat3x4;

const STEP_S: f64 = 1.0 / 30.0;

/// Draws up to five pictures of some actors, at random times until the next update.
fn draw(animator: &mut Animator, rng: &mut Rng) {
    for _ in 0..rng.below(6) {
        let ahead_s =
            f64::from(rng.range(0.0, 1.0)) * [STEP_S, Animator::MAX_AHEAD_S][rng.below(2)];
        animator.show_at(animator.now_s() + ahead_s).unwrap();
        let mut ids: Vec<ActorId> = animator.actors().collect();
        ids.retain(|_| !rng.chance(3));
        let joints = character().skeleton().len();
        if rng.chance(2) {
            let mut pose = vec![Affine3A::IDENTITY; ids.len() * joints];
            animator.model_poses(&ids, &mut pose).unwrap();
        } else {
            let entries = character().palette().len();
            let mut palettes = vec![Mat3x4::IDENTITY; ids.len() * entries];
            animator.palettes(&ids, &mut *palettes).unwrap();
        }
    }
}

#[test]
fn pictures_change_nothing_of_the_game() {
    for seed in 0..rounds(3) as u64 {
        // The first is never drawn.
        let mut animators = [empty(), empty()];
        let mut rng = Rng::new(seed);
        for tick in 0..400 {
            let commands = rng.below(4);
            let seed = 10_000 * (seed + 1) + tick;
            for animator in &mut animators {
                let mut rng = Rng::new(seed);
                (0..commands).for_each(|_| act(animator, &mut rng));
                animator.update(tick as f64 * STEP_S).unwrap();
            }
            draw(&mut animators[1], &mut rng);
            let [undrawn, drawn] = &animators;
            assert_eq!(undrawn.events(), drawn.events(), "tick {tick}");
            let [undrawn, drawn] =
                [undrawn, drawn].map(|it| serde_json::to_string(&it.snapshot()).unwrap());
            assert!(undrawn == drawn, "seed {seed}, tick {tick}");
        }
        let ids: Vec<ActorId> = animators[1].actors().collect();
        let modes = ids.iter().map(|id| animators[1].live(*id).springs());
        assert!(modes.filter(|mode| *mode == SpringMode::Game).count() > 0);
    }
}

fn palette(animator: &mut Animator, id: ActorId) -> Vec<Mat3x4> {
    let mut palette = vec![Mat3x4::IDENTITY; character().palette().len()];
    animator.palettes(&[id], &mut *palette).unwrap();
    palette
}

#[test]
fn a_picture_goes_on_with_what_plays() {
    let mut shown = Animator::new(character()).unwrap();
    let mut updated = shown.clone();
    let ids = [&mut shown, &mut updated].map(|animator| {
        let id = animator.add("Walk").unwrap();
        animator.live_mut(id).set_springs(SpringMode::Off);
        animator.update(1.0).unwrap();
        animator
            .live_mut(id)
            .play(Play::new("Run").fade_s(0.4))
            .unwrap();
        id
    });
    for ahead_s in [0.0, 0.001, 0.2, 0.399, 0.7, 1.0] {
        shown.show_at(1.0 + ahead_s).unwrap();
        updated.update(1.0 + ahead_s).unwrap();
        let poses = [(&mut shown, ids[0]), (&mut updated, ids[1])]
            .map(|(animator, id)| palette(animator, id));
        assert_eq!(poses[0], poses[1], "{ahead_s} s ahead");
    }
    assert_eq!(shown.now_s(), 1.0);
    let before = palette(&mut shown, ids[0]);
    refused! {
        shown.show_at(0.5) => "time_s: 0.5 lies outside 1..=2, the second after the last update: \
            call update first";
        shown.show_at(2.0001) => "…2.0001 lies outside 1..=2…";
        shown.show_at(f64::NAN) => "time_s: NaN is not finite";
    }
    assert_eq!(palette(&mut shown, ids[0]), before);
}
