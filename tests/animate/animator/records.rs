//! Play records: what they are at a time, which of them an actor keeps, and the actor's own time.

use super::world::{WALK, world};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use std::sync::OnceLock;
use throng::animator::{ActorId, AnimationEventKind, Animator, Play, PlayRecord};
use throng::motion::Ease;

/// The record of a walk that starts at 0, with weight 1.
fn record() -> PlayRecord {
    static RECORD: OnceLock<PlayRecord> = OnceLock::new();
    *RECORD.get_or_init(|| {
        let mut animator = world().animator();
        let id = animator.add("Walk").unwrap();
        animator.live(id).records()[0]
    })
}

fn code(ease: Ease) -> u8 {
    u8::from(ease == Ease::Smooth)
}

#[test]
fn a_record_stands_where_its_clip_does() {
    let record = |loop_mode: u8| PlayRecord {
        anchor_s: 10.0,
        from_speed: 2.0,
        to_speed: 2.0,
        loop_mode,
        ..record()
    };
    assert_eq!(record(0).clip_time_s(10.75, 1.0), 0.5);
    assert_eq!(record(2).clip_time_s(10.75, 1.0), 0.5);
    assert_eq!(record(2).clip_time_s(10.625, 1.0), 0.75);
    assert_eq!(record(1).clip_time_s(99.0, 1.0), 1.0);
    // It is still from the end of the clip on.
    let mut animator = world().animator();
    animator.update(10.0).unwrap();
    let id = animator.add(Play::new("Walk").once().speed(2.0)).unwrap();
    let end_s = 10.0 + 0.5 * world().duration_s(WALK as u16);
    for (now_s, still) in [(10.1, false), (end_s - 1e-9, false), (end_s, true)] {
        animator.update(now_s).unwrap();
        assert_eq!(animator.live(id).pose_version().is_some(), still, "{now_s}");
    }
}

/// The clip's time does not jump when its speed changes, and matches the integral of the ramp: half
/// a second of ramp from 1 to 3 covers one second.
#[test]
fn a_speed_changes_without_a_jump() {
    for ease in [Ease::Linear, Ease::Smooth] {
        let record = PlayRecord {
            anchor_s: 1.0,
            offset_s: 1.0,
            from_speed: 1.0,
            to_speed: 3.0,
            speed_ramp_s: 0.5,
            ease: code(ease),
            ..record()
        };
        assert_eq!(record.unwrapped_s(1.0), 1.0);
        assert!((record.unwrapped_s(1.5) - 2.0).abs() < 1e-12);
        assert!((record.unwrapped_s(2.5) - 5.0).abs() < 1e-12);
        assert_eq!([0.5, 2.0].map(|now_s| record.speed_at(now_s)), [1.0, 3.0]);
    }
    let mut animator = world().animator();
    let id = animator.add("Walk").unwrap();
    animator.update(1.0).unwrap();
    animator.live_mut(id).set_speed(0, 3.0).unwrap();
    let record = animator.live(id).records()[0];
    assert_eq!(
        [1.0, 1.5].map(|now_s| record.unwrapped_s(now_s)),
        [1.0, 2.5]
    );
}

/// A fade that interrupts another starts from the weight reached.
#[test]
fn a_fade_starts_from_the_weight_reached() {
    let mut animator = world().animator();
    let id = animator.add("Walk").unwrap();
    let fade = |clip| Play::new(clip).fade_s(1.0).ease(Ease::Linear).synced();
    animator.live_mut(id).play(fade("Run")).unwrap();
    animator.update(0.25).unwrap();
    animator.live_mut(id).play(fade("Walk")).unwrap();
    let actor = animator.live(id);
    let records = actor.records().iter();
    let walk: Vec<_> = records
        .filter(|record| usize::from(record.clip) == WALK)
        .collect();
    assert_eq!(walk.len(), 1);
    assert_eq!(walk[0].weight_at(0.25), 0.75);
    assert_eq!(walk[0].weight_at(1.25), 1.0);
    animator.update(5.0).unwrap();
    let playing: Vec<_> = animator.live(id).playing().collect();
    assert_eq!(playing.len(), 1);
    assert_eq!(playing[0].clip.map(usize::from), Some(WALK));
}

/// The times at which clips finish.
fn finished(animator: &Animator) -> Vec<f64> {
    let events = animator.events().iter();
    let ends = events.filter(|event| matches!(event.kind, AnimationEventKind::Finished { .. }));
    ends.map(|event| event.time_s).collect()
}

/// The time found for a clip time gives that clip time back, for both directions.
#[test]
fn the_time_of_a_clip_time_is_found() {
    let end_s = world().duration_s(WALK as u16);
    for speed in [0.25, 3.0, -1.5] {
        let mut animator = world().animator();
        animator.update(5.0).unwrap();
        // Four seconds before the end in its direction.
        let from_s = if speed > 0.0 { end_s } else { 0.0 } - 4.0 * speed;
        let play = Play::new("Walk").once().speed(speed).offset_s(from_s);
        animator.add(play).unwrap();
        animator.update(6.0).unwrap();
        assert!(finished(&animator).is_empty());
        animator.update(10.0).unwrap();
        let times_s = finished(&animator);
        assert_eq!(times_s.len(), 1, "{speed}");
        assert!((times_s[0] - 9.0).abs() < 1e-12, "{speed}: {times_s:?}");
        // It does not get there again.
        animator.update(1000.0).unwrap();
        assert!(finished(&animator).is_empty());
    }
}

#[test]
fn time_stands_still_while_it_is_paused() {
    let mut animator = world().animator();
    let end_s = world().duration_s(WALK as u16);
    // It ends when the actor's time is 6.
    let play = Play::new("Walk").once().offset_s(end_s - 6.0);
    let id = animator.add(play).unwrap();
    let time_s = |animator: &mut Animator, now_s: f64| {
        animator.update(now_s).unwrap();
        animator.live(id).time_s()
    };
    assert_eq!(time_s(&mut animator, 3.0), 3.0);
    animator.live_mut(id).set_paused(true);
    assert_eq!(
        [3.0, 10.0].map(|now_s| time_s(&mut animator, now_s)),
        [3.0; 2]
    );
    assert!(finished(&animator).is_empty());
    animator.live_mut(id).set_time_scale(2.0).unwrap();
    assert_eq!(time_s(&mut animator, 11.0), 3.0);
    animator.live_mut(id).set_paused(false);
    assert_eq!(time_s(&mut animator, 12.5), 6.0);
    let mut ends = finished(&animator);
    time_s(&mut animator, 13.0);
    ends.extend(finished(&animator));
    assert_eq!(ends.len(), 1);
    assert!((ends[0] - 12.5).abs() < 1e-12, "{ends:?}");
}

/// The layer and the offset of each record. Tests give each record its own offset.
fn places(animator: &Animator, id: ActorId) -> Vec<(u8, f64)> {
    let actor = animator.live(id);
    let records = actor.records().iter();
    records
        .map(|record| (record.layer, record.offset_s))
        .collect()
}

/// Records ascend in layer, keep their order within one, and survive growth and removals.
#[test]
fn records_stay_sorted_by_layer() {
    let mut animator = world().animator();
    let id = animator.add(Play::REST).unwrap();
    let mut want: Vec<(u8, f64)> = Vec::new();
    for number in 0..40_u8 {
        let layer = (number * 2) % 5;
        let fade_s = if number % 2 == 0 { 50.0 } else { 100.0 };
        let play = Play::new("Walk").layer(layer).offset_s(number.into());
        animator.live_mut(id).play(play.fade_s(fade_s)).unwrap();
        want.push((layer, number.into()));
        animator.update(0.1 * f64::from(number + 1)).unwrap();
    }
    want.sort_by_key(|(layer, _)| *layer);
    assert_eq!(places(&animator, id), want);
    let records = animator.live(id).records().to_vec();
    let over = |record: &&PlayRecord| record.to_weight == 0.0 && record.weight_at(70.0) == 0.0;
    let over: Vec<_> = records
        .iter()
        .filter(over)
        .map(|record| record.offset_s)
        .collect();
    assert!(over.len() >= 10, "{}", over.len());
    animator.update(70.0).unwrap();
    want.retain(|(_, offset_s)| !over.contains(offset_s));
    assert_eq!(places(&animator, id), want);
}

/// The records of one actor never overwrite another's.
#[test]
fn records_of_actors_do_not_overlap() {
    let mut animator = world().animator();
    let ids = [(); 9].map(|()| animator.add(Play::REST).unwrap());
    for round in 0..20_u8 {
        for (number, id) in (0_u8..).zip(&ids) {
            let play = Play::new("Walk").offset_s(number.into()).fade_s(100.0);
            animator.live_mut(*id).play(play).unwrap();
        }
        animator.update(f64::from(round + 1)).unwrap();
    }
    for (number, id) in (0_u8..).zip(&ids) {
        assert_eq!(places(&animator, *id), [(0, f64::from(number)); 20]);
    }
}

/// An actor has a bounded number of records. Records that fade out are dropped first.
#[test]
fn the_least_record_makes_room() {
    let mut animator = world().animator();
    let id = animator.add(Play::REST).unwrap();
    for layer in 0..255 {
        animator
            .live_mut(id)
            .play(Play::new("Walk").layer(layer))
            .unwrap();
    }
    for layer in [17, 18, 19] {
        let play = Play::new("Run").layer(layer).fade_s(1.0);
        animator.live_mut(id).play(play).unwrap();
        let actor = animator.live(id);
        let records = actor.records();
        assert_eq!(records.len(), 256);
        let stay = records.iter().filter(|record| record.to_weight == 1.0);
        assert!(stay.map(|record| record.layer).eq(0..255));
    }
}

/// The fraction of a change that is done, by its definition.
fn eased(ease: Ease, u: f64) -> f64 {
    match ease {
        Ease::Linear => u,
        Ease::Smooth => 3.0 * u.powi(2) - 2.0 * u.powi(3),
    }
}

fn ease(rng: &mut Rng) -> Ease {
    [Ease::Linear, Ease::Smooth][rng.below(2)]
}

/// A weight that changes from one value to another.
fn fade([from, to]: [f32; 2], start_s: f64, fade_s: f32, ease: Ease) -> PlayRecord {
    PlayRecord {
        from_weight: from,
        to_weight: to,
        fade_start_s: start_s,
        fade_s,
        ease: code(ease),
        ..record()
    }
}

#[test]
fn weights_go_evenly_or_smoothly() {
    let mut rng = Rng::new(13);
    for _ in 0..5000 {
        let ends = [rng.range(0.0, 2.0), rng.range(0.0, 2.0)];
        let start_s = f64::from(rng.range(-9.0, 9.0));
        let fade_s = rng.range(0.01, 4.0);
        let length_s = f64::from(fade_s);
        let ease = ease(&mut rng);
        let record = fade(ends, start_s, fade_s, ease);
        let now_s = start_s + f64::from(rng.range(-0.5, 1.5)) * length_s;
        let u = ((now_s - start_s) / length_s).clamp(0.0, 1.0);
        let part = eased(ease, u);
        let [from, to] = ends.map(f64::from);
        let want = from * (1.0 - part) + to * part;
        let off = (f64::from(record.weight_at(now_s)) - want).abs();
        assert!(off < 2e-7, "{record:?} at {now_s}");
        assert_eq!(record.weight_at(start_s), ends[0]);
        assert_eq!(record.weight_at(start_s + 2.0 * length_s), ends[1]);
    }
    let step = fade([0.25, 0.75], 3.0, 0.0, Ease::Smooth);
    let at = [2.9, 3.0, 4.0].map(|now_s| step.weight_at(now_s));
    assert_eq!(at, [0.25, 0.75, 0.75]);
}

/// Invalid times give one of the two end values.
#[test]
fn odd_fades_stay_at_an_end() {
    let odd = [
        1e300,
        f64::MAX,
        f64::MIN,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
    ];
    for odd in odd {
        let length_s = odd as f32;
        for record in [
            fade([0.25, 0.75], odd, 1.0, Ease::Smooth),
            fade([0.25, 0.75], 1.0, length_s, Ease::Smooth),
            fade([0.25, 0.75], odd, length_s, Ease::Linear),
        ] {
            for now_s in [odd, 0.0, f64::MAX] {
                let weight = record.weight_at(now_s);
                assert!([0.25, 0.75].contains(&weight), "{record:?} at {now_s}");
            }
        }
    }
}

/// Compares with Gauss quadrature with two points, which is exact for cubics.
///
/// The intervals do not straddle the ends of the change.
#[test]
fn clip_time_is_the_integral_of_the_speed() {
    let mut rng = Rng::new(1);
    for _ in 0..300 {
        let ease = ease(&mut rng);
        let ramp_s = if rng.chance(4) {
            0.0
        } else {
            rng.range(0.05, 3.0)
        };
        let ramp = PlayRecord {
            from_speed: rng.range(-3.0, 3.0).into(),
            to_speed: rng.range(-3.0, 3.0).into(),
            anchor_s: rng.range(-50.0, 50.0).into(),
            speed_ramp_s: ramp_s,
            ease: code(ease),
            ..record()
        };
        let ramp_s = f64::from(ramp_s);
        let end_s = f64::from(rng.range(-4.0, 6.0));
        let mut cuts = vec![0.0, end_s];
        cuts.extend([ramp_s].into_iter().filter(|cut| *cut < end_s));
        cuts.sort_by(f64::total_cmp);
        let speed = |since_s: f64| {
            let u = if ramp_s > 0.0 {
                (since_s / ramp_s).clamp(0.0, 1.0)
            } else {
                f64::from(since_s >= 0.0)
            };
            ramp.from_speed + (ramp.to_speed - ramp.from_speed) * eased(ease, u)
        };
        let mut way = 0.0;
        for pair in cuts.windows(2) {
            let (middle, half) = ((pair[0] + pair[1]) / 2.0, (pair[1] - pair[0]) / 2.0);
            let node = half / 3.0_f64.sqrt();
            way += half * (speed(middle - node) + speed(middle + node));
        }
        let way = if end_s < 0.0 { -way } else { way };
        // Times of up to 56 s have rounding errors of 7e-15, at speeds of up to 3.
        let now_s = ramp.anchor_s + end_s;
        let off = (ramp.unwrapped_s(now_s) - way).abs();
        assert!(off < 1e-12, "{ramp:?} after {end_s}: {off}");
        let off = (ramp.speed_at(now_s) - speed(end_s)).abs();
        assert!(off < 1e-12, "{ramp:?} after {end_s}: {off}");
    }
}

#[test]
fn a_change_that_takes_for_ever_changes_nothing() {
    let ramp = PlayRecord {
        anchor_s: 1.0,
        from_speed: 0.5,
        to_speed: 9.0,
        speed_ramp_s: f32::INFINITY,
        ease: code(Ease::Smooth),
        ..record()
    };
    for now_s in [0.0, 1.0, 7.25, 1e6] {
        assert_eq!(ramp.unwrapped_s(now_s), 0.5 * (now_s - 1.0));
        assert_eq!(ramp.speed_at(now_s), 0.5);
    }
}
