//! Keys of a curve: cut to a take, and rounded to 32-bit times without losing steps.

/// A key: a time in seconds of the file, and a value.
pub(super) type Key<V> = (f64, V);

/// A curve with times relative to the take's start.
#[derive(Debug, PartialEq)]
pub(super) struct Curve<V> {
    pub(super) times_s: Vec<f32>,
    pub(super) values: Vec<V>,
}

/// The part of a take of the file's time line, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) begin_s: f64,
    pub(super) end_s: f64,
}

impl<V: Copy> Curve<V> {
    /// The curve from the range's begin to its end. `None` without keys.
    ///
    /// The first key is at 0 and the last one at the range's end. Two keys at one time are a step:
    /// the first of them moves to the next smaller number.
    pub(super) fn new(keys: &[Key<V>], range: Range, mix: impl Fn(V, V, f64) -> V) -> Option<Self> {
        let mut curve = Self {
            times_s: Vec::with_capacity(keys.len() + 2),
            values: Vec::with_capacity(keys.len() + 2),
        };
        let at = |time: f64| sample(keys, time, &mix);
        curve.push(0.0, at(range.begin_s)?);
        let length = range.end_s - range.begin_s;
        for (time, value) in keys {
            let time = time - range.begin_s;
            // A key at the begin or the end may be one of a step.
            if time >= 0.0 && time <= length {
                curve.push(time as f32, *value);
            }
        }
        if curve
            .times_s
            .last()
            .is_some_and(|last| *last < length as f32)
        {
            curve.push(length as f32, at(range.end_s)?);
        }
        Some(curve)
    }

    fn push(&mut self, time: f32, value: V) {
        let count = self.times_s.len();
        if let Some(last) = self.times_s.last().copied().filter(|last| time <= *last) {
            let moved = last.next_down();
            let previous = count.checked_sub(2).map(|at| self.times_s[at]);
            if previous.is_none_or(|previous| previous >= moved) {
                // There is no time left for the key before the step.
                self.values[count - 1] = value;
                return;
            }
            self.times_s[count - 1] = moved;
            self.times_s.push(last);
        } else {
            self.times_s.push(time);
        }
        self.values.push(value);
    }
}

/// The value at `time`: the last of several keys at that time.
fn sample<V: Copy>(keys: &[Key<V>], time: f64, mix: impl Fn(V, V, f64) -> V) -> Option<V> {
    let after = keys.partition_point(|key| key.0 <= time);
    let Some(before) = after.checked_sub(1).map(|at| keys[at]) else {
        return keys.first().map(|key| key.1);
    };
    Some(match keys.get(after) {
        Some(next) => mix(before.1, next.1, (time - before.0) / (next.0 - before.0)),
        None => before.1,
    })
}
