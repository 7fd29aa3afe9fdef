//! Interleaved timing, so that disturbances of the machine affect all figures equally.

use std::time::{Duration, Instant};

/// Approximate duration of a figure in one round, in as many runs as that takes.
const ROUND: Duration = Duration::from_micros(500);

/// The duration of one run of a figure, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time {
    pub(crate) min_ns: f64,
    pub(crate) median_ns: f64,
}

/// The ratio of two times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio {
    pub(crate) of_medians: f64,
    pub(crate) of_minima: f64,
}

impl Time {
    fn of(mut rounds_ns: Vec<f64>) -> Self {
        rounds_ns.sort_by(f64::total_cmp);
        Self {
            min_ns: rounds_ns[0],
            median_ns: rounds_ns[rounds_ns.len() / 2],
        }
    }

    pub(crate) fn over(self, other: Self) -> Ratio {
        Ratio {
            of_medians: self.median_ns / other.median_ns,
            of_minima: self.min_ns / other.min_ns,
        }
    }
}

/// Times `N` figures in `rounds` rounds.
///
/// Each round times all figures in a different order. Each figure runs once before it is timed, so
/// that it finds the caches as it leaves them itself.
///
/// # Errors
/// Returns the first error of `run`.
pub(crate) fn in_turn<const N: usize, E>(
    rounds: usize,
    mut run: impl FnMut(usize) -> Result<(), E>,
) -> Result<[Time; N], E> {
    let mut goes = [1_u32; N];
    for (figure, goes) in goes.iter_mut().enumerate() {
        run(figure)?;
        let one = time(1, || run(figure))?;
        *goes = (ROUND.as_nanos() as f64 / one).clamp(1.0, 1000.0) as u32;
    }
    let mut all = [const { Vec::new() }; N];
    let mut order: [usize; N] = std::array::from_fn(|figure| figure);
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..rounds.max(1) {
        shuffle(&mut order, &mut random);
        for figure in order {
            run(figure)?;
            all[figure].push(time(goes[figure], || run(figure))?);
        }
    }
    Ok(all.map(Time::of))
}

/// Nanoseconds per run.
fn time<E>(goes: u32, mut run: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let start = Instant::now();
    for _ in 0..goes {
        run()?;
    }
    Ok(start.elapsed().as_nanos() as f64 / f64::from(goes))
}

fn shuffle(order: &mut [usize], random: &mut u64) {
    for end in (1..order.len()).rev() {
        // Xorshift.
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        order.swap(end, (*random % (end as u64 + 1)) as usize);
    }
}
