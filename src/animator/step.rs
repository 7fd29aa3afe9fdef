//! Clips in step: one phase for all that keep step on a layer.

use super::library::Library;
use super::record::{FLAG_IN_STEP, FLAG_POSE, FLAG_STATE_MACHINE, PlayRecord};
use crate::pose::LoopMode;

/// Lets `new`, which is fading in on its layer, keep step with what fades out there: it takes over
/// the phase of the record that leads, and all that keep step change from that one's rate to its
/// own during the fade. So no foot slides.
///
/// Returns whether a record of the same clip and mask keeps step already; that one then fades in
/// again, and `new` is not needed. Only loops keep step: otherwise `new` stays as it is.
pub(super) fn join(
    library: &Library,
    records: &mut [PlayRecord],
    new: &mut PlayRecord,
    now_s: f64,
) -> bool {
    let duration_s = library.duration_s(new.clip);
    if new.loop_mode() != LoopMode::Loop || duration_s <= 0.0 {
        return false;
    }
    let Some(leader) = leader(records, new.layer, now_s) else {
        // Nothing to keep step with: others will keep step with it.
        new.flags |= FLAG_IN_STEP;
        return false;
    };
    let led = records[leader];
    let led_s = library.duration_s(led.clip);
    if led.loop_mode() != LoopMode::Loop || led_s <= 0.0 {
        return false;
    }
    if !led.has(FLAG_IN_STEP) {
        // Those that kept step with each other before go on by themselves.
        for record in records
            .iter_mut()
            .filter(|record| record.layer == new.layer)
        {
            record.flags &= !FLAG_IN_STEP;
        }
        records[leader].flags |= FLAG_IN_STEP;
    }
    let phase = led.unwrapped_s(now_s) / led_s;
    let rates_hz = [led.speed_at(now_s) / led_s, new.to_speed / duration_s];
    let mut again = false;
    let layer = new.layer;
    let in_step = |record: &PlayRecord| record.layer == layer && record.has(FLAG_IN_STEP);
    for record in records.iter_mut().filter(|record| in_step(record)) {
        let own_s = library.duration_s(record.clip);
        let unwrapped_s = record.unwrapped_s(now_s);
        if (record.clip, record.mask) == (new.clip, new.mask) {
            again = true;
            record.fade_to(new.to_weight, now_s, new.fade_s, new.ease());
        }
        record.re_anchor(
            now_s,
            unwrapped_s,
            rates_hz.map(|hz| hz * own_s),
            new.fade_s,
        );
    }
    if again {
        // It takes the place of what fades out, and so comes after it.
        let is_new = |record: &PlayRecord| {
            in_step(record) && (record.clip, record.mask) == (new.clip, new.mask)
        };
        let end = records.partition_point(|record| record.layer <= new.layer);
        if let Some(at) = records.iter().position(is_new) {
            records[at..end].rotate_left(1);
        }
        return true;
    }
    new.flags |= FLAG_IN_STEP;
    let unwrapped_s = phase * duration_s + new.offset_s;
    new.re_anchor(
        now_s,
        unwrapped_s,
        rates_hz.map(|hz| hz * duration_s),
        new.fade_s,
    );
    false
}

/// The record with the most weight on a layer; of several, the last. What was faded out just now
/// has the weight that it had.
fn leader(records: &[PlayRecord], layer: u8, now_s: f64) -> Option<usize> {
    let plays =
        |record: &PlayRecord| record.layer == layer && !record.has(FLAG_STATE_MACHINE | FLAG_POSE);
    let own = records
        .iter()
        .enumerate()
        .filter(|(_, record)| plays(record));
    let weights =
        own.map(|(index, record)| (index, record.from_weight.max(record.weight_at(now_s))));
    weights
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(index, _)| index)
}
