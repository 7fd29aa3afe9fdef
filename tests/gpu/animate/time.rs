//! Clip time of converted plays, against exact arithmetic. No device is needed.

use crate::reference::rng::Rng;
use throng::animator::{Animator, Play};
use throng::gpu::PosedBy;
use throng::motion::LoopMode;

/// Binary places of exact times. Speeds have 10, ticks 32, and durations are in `f32`.
const PLACES: i32 = 60;

/// The most by which clip time may be off, in seconds, beyond what positions resolve.
const BOUND_S: f64 = 1e-9;

const DAYS_30_S: f64 = 30.0 * 86_400.0;

fn exact(value: f64) -> i128 {
    let scaled = value * 2_f64.powi(PLACES);
    assert_eq!(scaled, scaled.trunc(), "{value} has more binary places");
    scaled as i128
}

/// Clip time after `unwrapped` of a clip.
fn folded(mode: LoopMode, unwrapped: i128, duration: i128) -> i128 {
    match mode {
        LoopMode::Loop => unwrapped.rem_euclid(duration),
        LoopMode::Once => unwrapped.clamp(0, duration),
        LoopMode::PingPong => {
            let cycle = unwrapped.rem_euclid(2 * duration);
            cycle.min(2 * duration - cycle)
        }
    }
}

#[test]
fn clip_times_are_exact_at_any_age() {
    let character = throng::builtin::mannequin().unwrap().character;
    let rng = &mut Rng::new(3);
    let mut worst = 0.0_f64;
    for round in 0..4000 {
        let mut animator = Animator::new(&character).unwrap();
        let number = rng.below(character.clips().len());
        let clip = &character.clips()[number];
        // Dyadic numbers, so that nothing is rounded before the conversion.
        let dyadic = |low: f32, high: f32, rng: &mut Rng| {
            f64::from((rng.range(low, high) * 1024.0).round()) / 1024.0
        };
        let (start_s, speed) = (dyadic(0.0, 1000.0, rng), dyadic(-3.0, 3.0, rng));
        let offset_s = dyadic(-2.0, 4.0, rng);
        let epoch_s = [0.0, dyadic(-1000.0, 2000.0, rng), -DAYS_30_S][rng.below(3)];
        let mode = [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong][rng.below(3)];
        animator.update(start_s).unwrap();
        let mut play = Play::new(throng::Id::new(number as u16));
        (play.speed, play.offset_s, play.loop_mode) = (speed, offset_s, mode);
        let actor = animator.add(play).unwrap();
        let taken_s = start_s + dyadic(0.0, 3.0, rng);
        animator.update(taken_s).unwrap();
        let mut plays = Vec::new();
        let posed_by = animator.gpu_plays(actor, epoch_s, &mut plays).unwrap();
        assert_eq!((posed_by, plays.len()), (PosedBy::Gpu, 1));
        for age_s in [0.0, dyadic(0.0, 4.0, rng), dyadic(0.0, 9e4, rng), DAYS_30_S] {
            // As shaders have it: in ticks of 2⁻³² s.
            let ticks = ((taken_s + age_s - epoch_s) * 2_f64.powi(32)).round();
            let now_s = epoch_s + ticks / 2_f64.powi(32);
            let elapsed = exact(now_s) - exact(start_s);
            let unwrapped = exact(offset_s) + elapsed / 1024 * (speed * 1024.0) as i128;
            let duration = exact(clip.duration_s());
            let wanted = folded(mode, unwrapped, duration) as f64 / 2_f64.powi(PLACES);
            let got_s = plays[0].position(clip, now_s, epoch_s) / clip.report().rate_hz;
            let mut off_s = (got_s - wanted).abs();
            if mode == LoopMode::Loop {
                // Both sides of the seam are right within rounding.
                off_s = off_s.min(clip.duration_s() - off_s);
            }
            // A phase has 32 bits when it becomes a position.
            let resolved_s = 2.0 * clip.duration_s() / 2_f64.powi(32);
            worst = worst.max(off_s - resolved_s);
            assert!(
                off_s <= BOUND_S + resolved_s,
                "round {round}, {mode:?} at {speed}: {age_s} s later {got_s} is not {wanted}"
            );
        }
    }
    println!("worst {worst:.1e} s beyond the resolution of positions");
}
