//! `throng inspect`: the contents of a file, as tables or as JSON.

mod json;
mod text;

use crate::failure::{Failure, after_help};
use crate::model::{Space, load};
use crate::report;
use std::io::Write;
use std::path::PathBuf;
use throng::character::{Character, LevelInfo};
use throng::import::ImportOptions;
use throng::mesh::{ExpressionOverride, Primitive};
use throng::spring::SpringCollider;

/// Show what is in a file.
///
/// Skins, the tree of joints, clips with their size and error when packed, primitives, materials,
/// images, morph weights, expressions, joints of the humanoid, spring bones, spawn points, levels
/// of detail, masks, sockets, blend spaces, events, the state machine, vertex reuse and draws,
/// memory on the GPU, and what the importer repaired.
#[derive(Debug, clap::Args)]
#[command(
    after_help = after_help!("Examples:
  throng inspect knight.glb | less
  throng inspect --json knight.glb | jq '.clips[] | [.name, .ratio, .error_m]'
  throng inspect knight.throng              a file that `throng bake` wrote

The keys of the JSON are in docs/command-line.md. New versions may add keys. `format` changes if a
key is removed or changes its meaning.")
)]
pub(crate) struct Args {
    /// The file.
    file: PathBuf,
    /// Print JSON for programs instead of tables.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    space: Space,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let model = load(&args.file, &args.space.of(ImportOptions::with_curves()))?;
    if args.json {
        return report::print(&json::document(&model), out);
    }
    Ok(out.write_all(text::listing(&model).as_bytes())?)
}

/// The number of vertices that each morph weight moves.
fn moved_vertices(model: &Character, weight: usize) -> usize {
    let moved = |part: &Primitive| {
        let number = weight.checked_sub(part.first_weight.index());
        let target = number.and_then(|number| part.targets.get(number));
        target.map_or(0, |target| target.vertices.len())
    };
    model.primitives().iter().map(moved).sum()
}

/// The distance in metres from which a level's error is at most one pixel, in a view of 60 degrees
/// and 1080 pixels in height.
fn level_distance_m(level: &LevelInfo) -> f32 {
    let half_view = 30_f32.to_radians().tan();
    level.error_m * 1080.0 / (2.0 * half_view)
}

/// The names of the vertex streams of a primitive besides positions and influences.
fn streams(part: &Primitive) -> Vec<&'static str> {
    let all = [
        ("normals", part.normals.is_empty()),
        ("tangents", part.tangents.is_empty()),
        ("uvs", part.uvs.is_empty()),
        ("uvs1", part.uvs1.is_empty()),
        ("colours", part.colors.is_empty()),
    ];
    let there = all.iter().filter(|(_, is_empty)| !is_empty);
    there.map(|(name, _)| *name).collect()
}

/// The effect of an expression on others, if it has one.
fn override_name(how: ExpressionOverride) -> Option<&'static str> {
    match how {
        ExpressionOverride::None => None,
        ExpressionOverride::Block => Some("block"),
        ExpressionOverride::Blend => Some("blend"),
    }
}

fn shape_name(collider: &SpringCollider) -> &'static str {
    match collider.tail_m {
        None => "sphere",
        Some(_) => "capsule",
    }
}

/// Bytes on the GPU.
struct GpuMemory {
    mesh: u64,
    images: u64,
    palette_per_instance: u64,
    deformed_per_instance: u64,
}

fn gpu_memory(model: &Character) -> Option<GpuMemory> {
    use throng::gpu::SkinnedMesh;
    use throng::palette::{PaletteFormat, SkinningMethod};
    use throng::skin::SkinnedLayout;
    let format = PaletteFormat::of(model, SkinningMethod::Linear).ok()?;
    Some(GpuMemory {
        mesh: SkinnedMesh::buffer_bytes(model, SkinningMethod::Linear).ok()?,
        images: SkinnedMesh::image_bytes(model),
        palette_per_instance: model.palette().len() as u64 * format.entry_bytes() as u64,
        deformed_per_instance: u64::from(SkinnedLayout::new(model).ok()?.words) * 4,
    })
}
