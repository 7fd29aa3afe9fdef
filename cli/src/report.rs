//! The report of a subcommand that writes a file: as text, as JSON, or none.

use crate::failure::Failure;
use crate::table::counted;
use crate::words::json_text;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use throng::character::Character;
use throng::clip::Clip;
use throng::import::{GeometryReport, Repair};

#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Report {
    /// Print errors only: no report and no notes.
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print the report as JSON for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Incremented if a key is removed or changes its meaning.
pub(crate) const FORMAT: u32 = 1;

/// Prints a document over several lines.
pub(crate) fn print(document: &Value, out: &mut dyn Write) -> Result<(), Failure> {
    Ok(writeln!(out, "{}", json_text(&format!("{document:#}")))?)
}

/// The file that was written and what is in it, for all subcommands alike.
pub(crate) fn of_file(path: &Path, bytes: u64, character: &Character) -> Value {
    let clip = |clip: &Clip| {
        json!({
            "name": clip.name(),
            "duration_s": clip.duration_s(),
            "bytes": clip.report().bytes,
            "sizes": sizes(clip),
            "ratio_at_own_rate": ratio_at_own_rate(clip),
            "error_m": clip.report().error_m,
            "error_joint": clip.report().error_joint.0,
        })
    };
    json!({
        "format": FORMAT,
        "file": path.display().to_string(),
        "bytes": bytes,
        "joints": character.skeleton().len(),
        "primitives": character.primitives().len(),
        "vertices": character.vertex_count(),
        "triangles": character.triangle_count(),
        "morph_weights": character.morph_weights().len(),
        "images": character.images().len(),
        "clips": character.clips().iter().map(clip).collect::<Vec<_>>(),
    })
}

/// The parts of a saved clip in bytes.
pub(crate) fn sizes(clip: &Clip) -> Value {
    let sizes = clip.sizes();
    json!({
        "tables": sizes.tables,
        "constants": sizes.constants,
        "keys": sizes.keys,
        "curves": sizes.curves,
        "weights": sizes.weights,
        "others": sizes.others,
    })
}

/// The size of 32-bit transforms at the clip's own rate over its size.
pub(crate) fn ratio_at_own_rate(clip: &Clip) -> f64 {
    let report = clip.report();
    // The reports of a saved character may be altered.
    report.frames as f64 * (clip.joints() * 40) as f64 / report.bytes.max(1) as f64
}

/// The size of a saved clip and of its parts, as cells of a table.
pub(crate) fn size_cells(clip: &Clip) -> Vec<String> {
    let (report, sizes) = (clip.report(), clip.sizes());
    let mut cells: Vec<String> = counted(report.bytes, "byte").into();
    cells.push(format!(
        "(tables {}, constants {}, keys {}, curves {})",
        sizes.tables, sizes.constants, sizes.keys, sizes.curves
    ));
    let [ratio, own] = [report.ratio(), ratio_at_own_rate(clip)];
    cells.push(format!("ratio {ratio:.1}, at own rate {own:.1}"));
    cells
}

/// The vertices that were merged, and how well triangles and vertices are ordered.
pub(crate) fn geometry(geometry: &GeometryReport) -> Value {
    json!({
        "merged_vertices": geometry.merged_vertices,
        "unused_vertices": geometry.unused_vertices,
        "shaded_vertices": geometry.shaded_vertices,
        "shaded_per_vertex": per_vertex(geometry.shaded_vertices, geometry),
        "shaded_per_vertex_in_file_order": per_vertex(geometry.file_shaded_vertices, geometry),
        "draws": geometry.draws,
    })
}

/// Shaded vertices per vertex, 0 if there are no vertices.
pub(crate) fn per_vertex(shaded: u64, geometry: &GeometryReport) -> f64 {
    shaded as f64 / geometry.vertices.max(1) as f64
}

pub(crate) fn repairs(repairs: &[Repair]) -> Value {
    let repair = |repair: &Repair| {
        json!({
            "file": repair.file,
            "object": repair.object.to_string(),
            "repair": repair.kind.to_string(),
            "count": repair.count,
        })
    };
    repairs.iter().map(repair).collect()
}
