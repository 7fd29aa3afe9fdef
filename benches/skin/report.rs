//! The tables of the `skin` bench.

use crate::cpu::{Figure, INFLUENCES, INSTANCES, Row, Scaling};
use crate::gpu;
use crate::load::Format;
use crate::{NAME, Outcome, bytes, machine};
use throng::SimdLevel;

pub(crate) fn print(rounds: usize, rows: &[Row], scaling: &Scaling) -> Outcome {
    let level = match SimdLevel::default() {
        SimdLevel::Avx512 => SimdLevel::Avx2,
        level => level,
    };
    println!(
        "\nCPU: {}, kernels: {level}, all other code: {}",
        machine::cpu(),
        machine::vectors()
    );
    println!("Command: `{}`", machine::command(NAME));
    println!("Rounds, each with all figures in turn: {rounds}.");
    print_vertices(rows);
    print_ratios(rows);
    print_scaling(scaling);
    print_bytes()
}

fn print_vertices(rows: &[Row]) {
    println!("\nNanoseconds a vertex (position and normal), one thread, median (minimum):\n");
    let names = Figure::ALL.map(Figure::name);
    println!("| format | influences | {} |", names.join(" | "));
    println!("|---|{}", "---:|".repeat(names.len() + 1));
    for row in rows {
        let cells = Figure::ALL.map(|figure| {
            if figure == Figure::Loop && row.format != Format::Mat3x4 {
                return "–".to_owned();
            }
            let (time, vertices) = (row.time(figure), row.vertices as f64);
            let (median, min) = (time.median_ns / vertices, time.min_ns / vertices);
            format!("{median:.2} ({min:.2})")
        });
        println!("{} {} |", head(row), cells.join(" | "));
    }
}

fn print_ratios(rows: &[Row]) {
    println!("\nRatios, of medians (of minima):\n");
    println!(
        "| format | influences | speed of Skinner / plain (aim: 4) | speed of Skinner / loop | speed of baseline / plain | speed of Skinner / baseline | time of Skinner / memcpy |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for row in rows {
        let ratio = |of, to| {
            if of == Figure::Loop && row.format != Format::Mat3x4 {
                return "–".to_owned();
            }
            let ratio = row.time(of).over(row.time(to));
            format!("{:.2} ({:.2})", ratio.of_medians, ratio.of_minima)
        };
        println!(
            "{} {} | {} | {} | {} | {} |",
            head(row),
            ratio(Figure::Plain, Figure::Skinner),
            ratio(Figure::Loop, Figure::Skinner),
            ratio(Figure::Plain, Figure::Baseline),
            ratio(Figure::Baseline, Figure::Skinner),
            ratio(Figure::Skinner, Figure::Memcpy),
        );
    }
}

fn head(row: &Row) -> String {
    format!("| {} | {} |", row.format.name(), row.influences)
}

fn print_scaling(scaling: &Scaling) {
    println!("\n`Skinner::skin`, {INSTANCES} instances, Mat3x4, {INFLUENCES} influences:\n");
    println!("| threads | ns a vertex, median (minimum) | speed by that of one thread |");
    println!("|---:|---:|---:|");
    for (number, (threads, time)) in scaling.threads.iter().zip(scaling.times).enumerate() {
        if scaling.threads[..number].contains(threads) {
            continue;
        }
        let vertices = scaling.vertices as f64;
        let speed = scaling.times[0].over(time);
        println!(
            "| {threads} | {:.2} ({:.2}) | {:.2} ({:.2}) |",
            time.median_ns / vertices,
            time.min_ns / vertices,
            speed.of_medians,
            speed.of_minima,
        );
    }
}

fn print_bytes() -> Outcome {
    println!("\nBytes a vertex:\n");
    println!("| stream | bytes |");
    println!("|---|---:|");
    for stream in bytes::fixed() {
        println!("| {} | {} |", stream.name, stream.bytes);
    }
    for (count, joints, weights) in bytes::influences()? {
        println!("| joints, {count} influences, up to 256 entries | {joints} |");
        println!("| weights, {count} influences | {weights} |");
    }
    Ok(())
}

pub(crate) fn print_gpu(table: &gpu::Table) {
    println!("\nGPU: {}", table.device);
    println!(
        "Nanoseconds a vertex, medians: positions in the vertex shader, positions and normals by the skin stage. Triangles have no area.\n"
    );
    println!(
        "| method | influences | in the vertex shader of a depth pass | skin stage, then that pass | of that, by timestamps: skin | depth |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    for row in &table.rows {
        let [skin, depth] = row.stages_ns;
        println!(
            "| {:?} | {} | {:.2} | {:.2} | {skin:.2} | {depth:.2} |",
            row.method, row.influences, row.vertex_ns, row.compute_ns
        );
    }
}
