//! The tables of the `animate` bench.

use crate::load::{Figure, Load};
use crate::timing::Time;
use crate::{NAME, machine};
use throng::SimdLevel;

/// The timings of one load.
pub(crate) struct Row {
    head: String,
    joints: f64,
    has: [bool; Figure::ALL.len()],
    code: SimdLevel,
    clip: String,
    times: [Time; Figure::ALL.len()],
}

impl Row {
    pub(crate) fn new(load: &Load, times: [Time; Figure::ALL.len()]) -> Self {
        let instances = load.instances.len();
        let report = load.character.clips()[0].report();
        Self {
            head: format!(
                "| {} | {} | {instances} | {} |",
                load.who.name(),
                load.joints,
                load.blended
            ),
            joints: (load.joints * instances) as f64,
            has: Figure::ALL.map(|figure| load.has(figure)),
            code: load.code(),
            clip: format!(
                "{} Hz, {} bytes, {:.4} cm off",
                report.rate_hz,
                report.bytes,
                report.error_m * 100.0
            ),
            times,
        }
    }

    fn ratio(&self, of: Figure, to: Figure) -> String {
        if !(self.has[of as usize] && self.has[to as usize]) {
            return "–".to_owned();
        }
        let ratio = self.times[of as usize].over(self.times[to as usize]);
        format!("{:.2} ({:.2})", ratio.of_medians, ratio.of_minima)
    }
}

pub(crate) fn print(rounds: usize, rows: &[Row]) {
    println!(
        "\nCPU: {}; the compiler's vectors: {}",
        machine::cpu(),
        machine::vectors()
    );
    println!("Animator's SIMD level: {}", rows[0].code);
    println!("Command: {}", machine::command(NAME));
    println!("Rounds, each with all figures in turn: {rounds}.");
    println!("\nNanoseconds a joint, one thread, median (minimum):\n");
    let names = Figure::ALL.map(Figure::name);
    println!(
        "| who | joints | instances | clips | {} |",
        names.join(" | ")
    );
    println!("|---|---:|---:|---:|{}", "---:|".repeat(names.len()));
    for row in rows {
        let cells = Figure::ALL.map(|figure| {
            if !row.has[figure as usize] {
                return "–".to_owned();
            }
            let time = row.times[figure as usize];
            let (median, min) = (time.median_ns / row.joints, time.min_ns / row.joints);
            format!("{median:.2} ({min:.2})")
        });
        println!("{} {} |", row.head, cells.join(" | "));
    }
    println!("\nRatios, of medians (of minima):\n");
    println!(
        "| who | joints | instances | clips | speed of Animator / staged | speed of AVX2 / staged (aim: 2.5, of three clips 3) | / one by one | / SSE2 | time of Animator / memcpy | clip |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---|");
    for row in rows {
        println!(
            "{} {} | {} | {} | {} | {} | {} |",
            row.head,
            row.ratio(Figure::Staged, Figure::Batch),
            row.ratio(Figure::Staged, Figure::Avx2),
            row.ratio(Figure::OneByOne, Figure::Batch),
            row.ratio(Figure::Sse2, Figure::Batch),
            row.ratio(Figure::Batch, Figure::Memcpy),
            row.clip,
        );
    }
}
