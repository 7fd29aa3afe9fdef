//! The contents of a model, as tables.

use super::{plural, title};
use std::fmt::Write as _;
use throng::character::Character;
use throng::clip::CurveClip;
use throng::ids::JointId;
use throng::import::Imported;
use throng::mesh::{AlphaMode, Material, MorphWeight, Primitive};

/// The widest column, in characters. Wider cells stand out of their column.
///
/// Without a limit, one long name would pad every row of its table.
const WIDEST: usize = 120;

/// Formats rows of cells, each column as wide as its widest cell up to [`WIDEST`].
///
/// Columns of numbers are right-aligned, with their unit close by in the next column.
fn table(heading: &str, rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let layout = |column: usize| {
        let cells = || rows.iter().filter_map(|row| row.get(column));
        let width = cells().map(|cell| cell.chars().count()).max().unwrap_or(0);
        (
            width.min(WIDEST),
            cells().all(|cell| cell.parse::<f64>().is_ok()),
        )
    };
    let layouts: Vec<_> = (0..columns).map(layout).collect();
    let mut text = format!("\n{heading}\n");
    for row in rows {
        let mut line = String::from(" ");
        for (column, (cell, (width, number))) in row.iter().zip(&layouts).enumerate() {
            let unit = column > 1 && layouts[column - 1].1;
            let gap = if unit { "" } else { " " };
            // Not `{cell:<width$}`: Rust formats no wider than 65,535, and panics beyond.
            let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
            let (before, after) = match number {
                true => (&*padding, ""),
                false => ("", &*padding),
            };
            // Writing to a string cannot fail.
            let _ = write!(line, "{gap}{before}{cell}{after} ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A count and its unit, as two cells.
fn counted(count: usize, one: &str) -> [String; 2] {
    let unit = plural(count, one).split(' ').skip(1).collect();
    [count.to_string(), unit]
}

/// The tables of skins, joints, clips, primitives, morph weights, materials and repairs.
pub(super) fn listing(model: &Imported) -> String {
    let size = model.rest_bounds().size();
    let mut text = format!(
        "{}: {}, {}, {} of palette, {:.4} x {:.4} x {:.4} m at rest\n",
        model.name(),
        plural(model.vertex_count(), "vertex"),
        plural(model.triangle_count(), "triangle"),
        match model.palette().len() {
            1 => "1 entry".into(),
            entries => format!("{entries} entries"),
        },
        size.x,
        size.y,
        size.z
    );
    let section = |name: &str, rows: Vec<Vec<String>>| match rows.len() {
        0 => format!("\n{name}: none\n"),
        count => table(&format!("{name} ({count})"), &rows),
    };
    text += &section("Skins", skins(model));
    text += &section("Joints", joints(model));
    text += &section("Clips", clips(model));
    text += &section("Primitives", primitives(model));
    text += &section("Morph weights", morph_weights(model));
    text += &section("Materials", materials(model));
    let repairs = model.repair_summary().into_iter().enumerate();
    let repairs = repairs.map(|(index, line)| vec![index.to_string(), line]);
    text += &section("Repairs", repairs.collect());
    text
}

fn skins(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, (name, joints)): (usize, (&str, &[JointId]))| {
        let mut row = vec![index.to_string(), title(name)];
        row.extend(counted(joints.len(), "joint"));
        row
    };
    model.skins().enumerate().map(row).collect()
}

/// The hierarchy, by number and by indentation, in the skeleton's breadth-first order.
fn joints(model: &Character) -> Vec<Vec<String>> {
    let all = model.skeleton().joints();
    let mut depths = vec![0; all.len()];
    let mut rows = Vec::with_capacity(all.len());
    for (index, joint) in all.iter().enumerate() {
        let parent = match joint.parent {
            None => "root".into(),
            Some(parent) => {
                depths[index] = depths[parent.index()] + 1;
                format!("in {}", parent.0)
            }
        };
        // For hierarchies of hundreds of levels, more indentation would not help.
        let indent = "  ".repeat(depths[index].min(20));
        rows.push(vec![
            index.to_string(),
            parent,
            format!("{indent}{}", title(&joint.name)),
        ]);
    }
    rows
}

fn clips(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, clip): (usize, &CurveClip)| {
        let mut row = vec![index.to_string(), title(clip.name())];
        row.extend([format!("{:.4}", clip.duration_s()), "s".into()]);
        row.extend(counted(clip.tracks().len(), "track"));
        let weights = clip.weight_tracks().iter();
        let weights: usize = weights.map(|track| track.count as usize).sum();
        if weights > 0 {
            row.push(plural(weights, "morph weight"));
        }
        if clip.start_s() > 0.0 {
            row.push(format!("first key at {:.4} s", clip.start_s()));
        }
        row
    };
    model.curves().iter().enumerate().map(row).collect()
}

fn primitives(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, part): (usize, &Primitive)| {
        let material = &model.materials()[part.material as usize].name;
        let mut row = vec![index.to_string(), title(&part.name)];
        row.extend(counted(part.vertex_count(), "vertex"));
        row.extend(counted(part.indices.len() / 3, "triangle"));
        row.extend(counted(part.influences.per_vertex as usize, "influence"));
        row.extend([
            format!("palette {}..{}", part.palette.start, part.palette.end),
            streams(part),
            format!("material {}", title(material)),
        ]);
        if !part.targets.is_empty() {
            let first = part.first_weight as usize;
            let last = first + part.targets.len();
            row.push(format!("morph weights {first}..{last}"));
        }
        row
    };
    model.primitives().iter().enumerate().map(row).collect()
}

/// The vertex data besides positions and influences.
fn streams(part: &Primitive) -> String {
    let normals = if part.normals.is_empty() {
        "no normals"
    } else {
        "normals"
    };
    let others = [
        ("tangents", part.tangents.is_empty()),
        ("uvs", part.uvs.is_empty()),
        ("uvs1", part.uvs1.is_empty()),
        ("colours", part.colors.is_empty()),
    ];
    let there = others.iter().filter(|(_, is_empty)| !is_empty);
    let names: Vec<_> = [normals]
        .into_iter()
        .chain(there.map(|(name, _)| *name))
        .collect();
    names.join(", ")
}

/// The materials, without factors that say little at a glance.
fn materials(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, material): (usize, &Material)| {
        let alpha = match material.alpha {
            AlphaMode::Opaque => "opaque".into(),
            AlphaMode::Mask { cutoff } => format!("mask at {cutoff}"),
            AlphaMode::Blend => "blend".into(),
        };
        let sides = if material.double_sided {
            "double-sided"
        } else {
            "single-sided"
        };
        let shading = if material.unlit { "unlit" } else { "lit" };
        vec![
            index.to_string(),
            title(&material.name),
            alpha,
            sides.into(),
            shading.into(),
            textures(material),
        ]
    };
    model.materials().iter().enumerate().map(row).collect()
}

/// The purposes of the textures, with the numbers of their images.
fn textures(material: &Material) -> String {
    let uses = [
        "base colour",
        "metallic-roughness",
        "normal",
        "occlusion",
        "emissive",
    ];
    let there = material.textures().into_iter().zip(uses);
    let there = there.filter_map(|(texture, of)| Some(format!("{of}: image {}", texture?.image)));
    let all: Vec<_> = there.collect();
    if all.is_empty() {
        "no textures".into()
    } else {
        all.join(", ")
    }
}

/// The targets that each weight drives: one in every primitive of its owner's mesh.
fn morph_weights(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, weight): (usize, &MorphWeight)| {
        let moved = |part: &Primitive| {
            let number = index.checked_sub(part.first_weight as usize);
            let target = number.and_then(|number| part.targets.get(number));
            target.map_or(0, |target| target.vertices.len())
        };
        let moved = model.primitives().iter().map(moved).sum();
        let mut row = vec![index.to_string(), title(&weight.name)];
        row.push(format!("of {}", title(&weight.owner)));
        row.extend(counted(moved, "vertex"));
        row.push(format!("{:.4} at rest", weight.rest));
        row
    };
    model.morph_weights().iter().enumerate().map(row).collect()
}
