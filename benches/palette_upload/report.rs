//! The tables of the `palette_upload` bench.

use crate::NAME;
use crate::common::machine;
use crate::common::timing::{Ratio, Time};
use crate::load::Figure;
use throng_standalone::Context;

/// The timings of one load.
pub(crate) struct Row {
    pub(crate) instances: usize,
    pub(crate) joints: usize,
    pub(crate) bytes: u64,
    pub(crate) times: [Time; Figure::ALL.len()],
}

impl Row {
    fn time(&self, figure: Figure) -> Time {
        self.times[figure as usize]
    }

    fn ns_a_joint(&self, figure: Figure) -> f64 {
        self.time(figure).median_ns / (self.instances * self.joints) as f64
    }

    /// Bytes per nanosecond.
    fn gb_s(&self, figure: Figure) -> f64 {
        self.bytes as f64 / self.time(figure).median_ns
    }

    fn ratio(&self, figure: Figure, to: Figure) -> Ratio {
        self.time(figure).over(self.time(to))
    }

    fn head(&self) -> String {
        let (instances, joints) = (self.instances, self.joints);
        format!("| {instances} | {joints} | {} |", self.bytes)
    }
}

pub(crate) fn print(context: &Context, staged: bool, rounds: usize, rows: &[Row]) {
    println!("\nDevice: {}", context.info);
    println!(
        "CPU: {}, one thread, {} code",
        machine::cpu(),
        machine::vectors()
    );
    println!("Command: `{}`", machine::command(NAME));
    if staged {
        println!("No device-local mapped memory: the ring is host memory, to be copied.");
    }
    println!("Rounds, each with all figures in turn: {rounds}.");
    print_times(rows);
    print_speeds(rows);
    print_ratios(rows);
}

fn print_times(rows: &[Row]) {
    println!("\nMicroseconds a frame, median (minimum):\n");
    head(&Figure::ALL.map(Figure::name));
    for row in rows {
        let cells = Figure::ALL.map(|figure| {
            let time = row.time(figure);
            format!("{:.1} ({:.1})", time.median_ns / 1e3, time.min_ns / 1e3)
        });
        println!("{} {} |", row.head(), cells.join(" | "));
    }
}

fn print_speeds(rows: &[Row]) {
    println!("\nFrom the medians, ns a joint for what evaluates and GB/s for what copies:\n");
    head(&Figure::ALL.map(Figure::name));
    for row in rows {
        let cells = Figure::ALL.map(|figure| match figure {
            Figure::Evaluate | Figure::EvaluateIntoRing => {
                format!("{:.1} ns", row.ns_a_joint(figure))
            }
            _ => format!("{:.1} GB/s", row.gb_s(figure)),
        });
        println!("{} {} |", row.head(), cells.join(" | "));
    }
}

fn print_ratios(rows: &[Row]) {
    println!("\nRatios, of medians (of minima):\n");
    head(&[
        "time into ring / evaluate (at most 1.10)",
        "speed of write / memcpy (at least 80 %)",
        "speed of write each / memcpy each",
        "speed of write each / memcpy",
        "time of evaluate / memcpy",
        "time of staging copy / memcpy",
        "time of staging copy / driver copy",
    ]);
    for row in rows {
        let times = |figure, to| {
            let ratio = row.ratio(figure, to);
            format!("{:.2} ({:.2})", ratio.of_medians, ratio.of_minima)
        };
        let percent = |figure, to| {
            let ratio = row.ratio(to, figure);
            let (medians, minima) = (ratio.of_medians * 100.0, ratio.of_minima * 100.0);
            format!("{medians:.0} % ({minima:.0} %)")
        };
        let cells = [
            times(Figure::EvaluateIntoRing, Figure::Evaluate),
            percent(Figure::Write, Figure::Memcpy),
            percent(Figure::WriteEach, Figure::MemcpyEach),
            percent(Figure::WriteEach, Figure::Memcpy),
            times(Figure::Evaluate, Figure::Memcpy),
            times(Figure::StagingCopy, Figure::Memcpy),
            times(Figure::StagingCopy, Figure::DriverCopy),
        ];
        println!("{} {} |", row.head(), cells.join(" | "));
    }
}

fn head(columns: &[&str]) {
    println!("| instances | joints | bytes | {} |", columns.join(" | "));
    println!("{}|", "|---:".repeat(columns.len() + 3));
}
