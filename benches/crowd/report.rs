//! The tables of the `crowd` bench.

use crate::frame::Times;
use crate::load::Kind;
use crate::{NAME, Outcome, machine};
use throng::SimdLevel;
use throng_standalone::Context;

/// Median and minimum of times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
}

impl Spread {
    pub(crate) fn of(mut all: Vec<f64>) -> Self {
        all.sort_by(f64::total_cmp);
        Self {
            median: all[all.len() / 2],
            min: all[0],
        }
    }

    /// The ratio of the medians, with the ratio of the minima in brackets.
    pub(crate) fn over(self, other: Self) -> String {
        if other.min <= 0.0 {
            return "–".into();
        }
        let (medians, minima) = (self.median / other.median, self.min / other.min);
        format!("{medians:.2} ({minima:.2})")
    }

    /// Both, with the minimum in brackets.
    pub(crate) fn cell(self) -> String {
        format!("{:.3} ({:.3})", self.median, self.min)
    }
}

/// The cost of one load.
pub(crate) struct Row {
    kind: Kind,
    instances: u32,
    frames: usize,
    begin: Spread,
    update: Spread,
    animate: Spread,
    rest: Spread,
    prepare: Spread,
    whole: Spread,
    batch: Spread,
}

impl Row {
    pub(crate) fn new(kind: Kind, instances: u32, frames: usize, times: &[Times]) -> Self {
        let of = |value: fn(&Times) -> f64| Spread::of(times.iter().map(value).collect());
        Self {
            kind,
            instances,
            frames,
            begin: of(|one| one.begin),
            update: of(|one| one.stats.update_ms),
            animate: of(|one| one.stats.animate_ms),
            rest: of(|one| one.prepare - one.stats.animate_ms),
            prepare: of(|one| one.prepare),
            whole: of(|one| one.begin + one.prepare),
            batch: of(|one| one.batch),
        }
    }

    fn head(&self) -> String {
        format!("| {} | {} |", self.instances, self.kind.name())
    }
}

/// The machine, and the command of this run.
pub(crate) fn print_machine(context: &Context) -> Outcome {
    let level = SimdLevel::default();
    println!("\nDevice: {}", context.info);
    println!(
        "CPU: {}, one thread, kernels: {level}, all other code: {}",
        machine::cpu(),
        machine::vectors()
    );
    println!("Command: `{}`", machine::command(NAME));
    Ok(())
}

/// The tables of crowds that are in view as a whole, next to the batch kernel.
pub(crate) fn print(rows: &[Row]) -> Outcome {
    let joints = throng::builtin::mannequin()?.skeleton().len();
    println!("\nMilliseconds a frame, median (minimum):\n");
    println!(
        "| instances | each plays | frames | begin_frame | of that, update | record_prepare | of that, animate | of that, other | batch alone |"
    );
    println!("|---:|---|{}", "---:|".repeat(7));
    for row in rows {
        let cells = [
            row.begin,
            row.update,
            row.prepare,
            row.animate,
            row.rest,
            row.batch,
        ];
        let cells = cells.map(Spread::cell).join(" | ");
        println!("{} {} | {cells} |", row.head(), row.frames);
    }
    println!("\nRatios, of medians (of minima):\n");
    println!(
        "| instances | each plays | record_prepare / batch (at most 1.15) | begin_frame and record_prepare / batch | batch, ns a joint |"
    );
    println!("|---:|---|{}", "---:|".repeat(3));
    for row in rows {
        let joints = f64::from(row.instances) * joints as f64;
        println!(
            "{} {} | {} | {:.2} ({:.2}) |",
            row.head(),
            row.prepare.over(row.batch),
            row.whole.over(row.batch),
            row.batch.median * 1e6 / joints,
            row.batch.min * 1e6 / joints,
        );
    }
    Ok(())
}
