//! The time to load a saved character, next to that of importing and packing the same file.
//!
//! It also shows what the order of triangles and vertices costs and gains.
//!
//! The files are those of the folder `THRONG_ASSETS`. All figures of a file are timed in turn, so
//! their ratios are reliable. `benches/README.md` explains how to read them.

#[path = "../tests/reference/assets.rs"]
#[allow(unreachable_pub, reason = "shared with tests")]
mod assets;
#[path = "common/machine.rs"]
mod machine;
#[path = "common/timing.rs"]
mod timing;

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use throng::character::Character;
use throng::import::{GeometryReport, ImportOptions, RawCharacter};
use timing::Time;

const NAME: &str = "load";

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The timed operations, in the order of the columns.
const FIGURES: [&str; 6] = [
    "import and pack",
    "load_file",
    "from_bytes",
    "memcpy",
    "mesh only",
    "mesh only, keep_order",
];

/// The figures of one file.
struct Row {
    name: String,
    file_bytes: usize,
    saved_bytes: usize,
    clips: usize,
    geometry: GeometryReport,
    times: [Time; FIGURES.len()],
}

fn measure_file(path: &Path, folder: &Path, rounds: usize) -> Outcome<Row> {
    let options = ImportOptions::default();
    // Neither clips nor images are read, so that the order is a part of the time that can be seen.
    let mesh = |keep_order| ImportOptions {
        packing: None,
        images: false,
        sidecar: false,
        keep_order,
        ..ImportOptions::default()
    };
    let (ordered, kept) = (mesh(false), mesh(true));
    let imported = throng_import::file(path, &options)?;
    let (geometry, character) = (imported.geometry, imported.character);
    let bytes = character.to_bytes();
    let saved = folder.join("character.throng");
    character.save_file(&saved)?;
    let mut copy = bytes.clone();
    let times = timing::in_turn(rounds, |figure| -> throng::Result<()> {
        match figure {
            0 => drop(black_box(throng_import::file(path, &options)?)),
            1 => drop(black_box(Character::load_file(
                &saved,
                &Default::default(),
            )?)),
            2 => drop(black_box(Character::from_bytes(
                &bytes,
                &Default::default(),
            )?)),
            4 => drop(black_box(throng_import::file(path, &ordered)?)),
            5 => drop(black_box(throng_import::file(path, &kept)?)),
            _ => black_box(&mut copy).copy_from_slice(black_box(&bytes)),
        }
        Ok(())
    })?;
    Ok(Row {
        name: path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into(),
        file_bytes: std::fs::metadata(path)?.len() as usize,
        saved_bytes: bytes.len(),
        clips: character.clips().len(),
        geometry,
        times,
    })
}

fn print(rounds: usize, rows: &[Row]) -> Outcome {
    println!(
        "\nCPU: {}; the compiler's vectors: {}",
        machine::cpu(),
        machine::vectors()
    );
    println!("Command: `{}`", machine::command(NAME));
    println!("Rounds, each with all figures in turn: {rounds}.");
    println!("\nMicroseconds, median (minimum):\n");
    println!(
        "| file | bytes | saved bytes | clips | {} |",
        FIGURES.join(" | ")
    );
    println!("|---|---:|---:|---:|{}", "---:|".repeat(FIGURES.len()));
    for row in rows {
        let cells = row.times.map(|time| {
            let [median, min] = [time.median_ns, time.min_ns].map(|ns| ns / 1000.0);
            format!("{median:.1} ({min:.1})")
        });
        let Row {
            name,
            file_bytes,
            saved_bytes,
            clips,
            ..
        } = row;
        println!(
            "| {name} | {file_bytes} | {saved_bytes} | {clips} | {} |",
            cells.join(" | ")
        );
    }
    println!("\nRatios, of medians (of minima):\n");
    println!(
        "| file | import / load_file (target: 20) | import / from_bytes | from_bytes / memcpy |"
    );
    println!("|---|---:|---:|---:|");
    for row in rows {
        let ratio = |of: usize, to: usize| {
            let ratio = row.times[of].over(row.times[to]);
            format!("{:.1} ({:.1})", ratio.of_medians, ratio.of_minima)
        };
        let cells = [ratio(0, 1), ratio(0, 2), ratio(2, 3)];
        println!("| {} | {} |", row.name, cells.join(" | "));
    }
    print_order(rows)
}

/// Prints what the order of triangles and vertices gains and costs.
fn print_order(rows: &[Row]) -> Outcome {
    println!("\nThe order of triangles and vertices:\n");
    println!(
        "| file | merged vertices | shaded per vertex, keep_order | shaded per vertex | draws | mesh \
         only / keep_order |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    let print = |name: &str, geometry: &GeometryReport, cost: &str| {
        let per_vertex = |shaded: u64| shaded as f64 / geometry.vertices.max(1) as f64;
        println!(
            "| {name} | {} | {:.3} | {:.3} | {} | {cost} |",
            geometry.merged_vertices,
            per_vertex(geometry.file_shaded_vertices),
            per_vertex(geometry.shaded_vertices),
            geometry.draws,
        );
    };
    for row in rows {
        let cost = row.times[4].over(row.times[5]);
        let cost = format!("{:.2} ({:.2})", cost.of_medians, cost.of_minima);
        print(&row.name, &row.geometry, &cost);
    }
    let mannequin = RawCharacter::mannequin().build(&ImportOptions::default())?;
    print("built-in character", &mannequin.geometry, "");
    Ok(())
}

fn measure() -> Outcome {
    let arguments = machine::arguments();
    let asked = |flag: &str| arguments.iter().any(|argument| argument == flag);
    // `cargo bench` passes --bench. Without it, this runs as a test.
    let test = asked("--test") || !std::env::args().any(|argument| argument == "--bench");
    let rounds = match (test, asked("--quick")) {
        (true, _) => 1,
        (_, true) => 5,
        _ => 21,
    };
    let files: Vec<PathBuf> = assets::files();
    let folder = std::env::temp_dir().join(format!("throng-load-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let rows = files.iter().map(|path| measure_file(path, &folder, rounds));
    let rows: Outcome<Vec<Row>> = rows.collect();
    std::fs::remove_dir_all(&folder)?;
    print(rounds, &rows?)
}

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
