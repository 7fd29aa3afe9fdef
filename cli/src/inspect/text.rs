//! The contents of a file, as tables.

use super::facts::{
    self, gpu_memory, ground_speeds, level_distance_m, moved_vertices, override_name, shape_name,
};
use crate::report;
use crate::table::{counted, section, table};
use crate::textures::device_bytes;
use crate::words::{grouped, plural, title};
use throng::Id;
use throng::character::{Character, LevelInfo};
use throng::clip::Clip;
use throng::error::Escaped;
use throng::import::{GeometryReport, Imported, SpawnPoint};
use throng::mesh::{AlphaMode, Expression, Image, Material, MorphWeight, Primitive};
use throng::retarget::Role;
use throng::skeleton::Joint;
use throng::spring::{SpringChain, SpringCollider};

pub(super) fn listing(model: &Imported) -> String {
    let size = model.rest_bounds().size();
    let mut text = format!(
        "{}: {}, {}, {} of palette, {:.4} x {:.4} x {:.4} m at rest\n",
        Escaped(model.name()),
        plural(model.vertex_count(), "vertex"),
        plural(model.triangle_count(), "triangle"),
        plural(model.palette().len(), "entry"),
        size.x,
        size.y,
        size.z
    );
    text += &section("Skins", &skins(model));
    text += &section("Joints", &joints(model));
    text += &section("Clips", &clips(model));
    text += &section("Primitives", &primitives(model));
    text += &section("Materials", &materials(model));
    text += &section("Images", &images(model));
    text += &section("Morph weights", &morph_weights(model));
    // Few files have these.
    for (name, rows) in [
        ("Expressions", expressions(model)),
        ("Joints of the humanoid", humanoid(model)),
        ("Spring chains", spring_chains(model)),
        ("Spring colliders", spring_colliders(model)),
        ("Spawn points", spawn_points(model)),
        ("Levels of detail", levels(model)),
    ] {
        if !rows.is_empty() {
            text += &section(name, &rows);
        }
    }
    let animations = animations(model);
    if !animations.is_empty() {
        text += &table("Animation set", &animations);
    }
    text += &table("Drawing", &drawing(&model.geometry));
    text += &table("Memory on the GPU", &memory(model));
    let repairs = model.repair_summary().into_iter().enumerate();
    let repairs = repairs.map(|(index, line)| vec![index.to_string(), line]);
    text += &section("Repairs", &repairs.collect::<Vec<_>>());
    text
}

fn skins(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, (name, joints)): (usize, (&str, &[Id<Joint>]))| {
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

/// The clips with what packing made of them.
fn clips(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, clip): (usize, &Clip)| {
        let report = clip.report();
        let mut row = vec![index.to_string(), title(clip.name())];
        row.extend([format!("{:.4}", clip.duration_s()), "s".into()]);
        row.extend(counted(report.frames, "frame"));
        row.push(match report.frames {
            1 => "no motion of joints".into(),
            _ => format!("at {:.4} Hz", report.rate_hz),
        });
        row.extend(report::size_cells(clip));
        row.push(format!("error {:.4} mm", report.error_m * 1000.0));
        row.push(match report.vertex_error {
            Some(at) => format!(
                "{:.4} mm at vertex {} of primitive {} at {:.3} s",
                at.error_m * 1000.0,
                at.vertex,
                at.primitive,
                at.time_s
            ),
            None => format!(
                "joint {} at {:.3} s",
                report.error_joint.0, report.error_time_s
            ),
        });
        row.push(remarks(model, index, clip));
        row
    };
    model.clips().iter().enumerate().map(row).collect()
}

/// The properties that set a clip apart.
fn remarks(model: &Character, index: usize, clip: &Clip) -> String {
    let id = Id::new(index as u16);
    let mut all = Vec::new();
    if let Some(curve) = model.curves().get(index) {
        all.push(plural(curve.tracks().len(), "track"));
        let weights = curve.weight_tracks().iter();
        let weights: usize = weights.map(|track| track.count as usize).sum();
        if weights > 0 {
            all.push(plural(weights, "morph weight"));
        }
        if curve.start_s() > 0.0 {
            all.push(format!("first key at {:.4} s", curve.start_s()));
        }
    }
    if clip.report().kept_tracks > 0 {
        all.push(format!("{} kept as curves", clip.report().kept_tracks));
    }
    if clip.is_additive() {
        all.push("additive".into());
    }
    if !clip.moves() {
        all.push("does not move".into());
    }
    if model.root_motion(id).is_some() {
        all.push("root motion".into());
    }
    all.extend(
        model
            .gait(id)
            .map(|gait| format!("gait of {:.2} m/s", gait.speed_m_s)),
    );
    let events = model.events(id);
    all.extend(events.map(|(name, time_s)| format!("event {} at {time_s:.3} s", title(name))));
    all.join(", ")
}

fn primitives(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, part): (usize, &Primitive)| {
        let material = &model.materials()[part.material as usize].name;
        let mut row = vec![index.to_string(), title(&part.name)];
        row.extend(counted(part.vertex_count(), "vertex"));
        // Meshes for far away have triangles at one level of detail alone.
        let far = part.levels.iter().enumerate();
        let far = far.filter(|(_, level)| part.indices.is_empty() && !level.indices.is_empty());
        let far: Vec<(usize, usize)> = far.map(|(at, level)| (at, level.indices.len())).collect();
        let indices = far.first().map_or(part.indices.len(), |(_, count)| *count);
        row.extend(counted(indices / 3, "triangle"));
        row.extend(counted(part.influences_per_vertex as usize, "influence"));
        row.extend([
            format!("palette {}..{}", part.palette.start, part.palette.end),
            streams(part),
            format!("material {}", title(material)),
        ]);
        if !part.targets.is_empty() {
            let first = part.first_weight.index();
            let last = first + part.targets.len();
            row.push(format!("morph weights {first}..{last}"));
        }
        row.extend(
            far.iter()
                .map(|(at, _)| format!("level of detail {} alone", at + 1)),
        );
        row
    };
    model.primitives().iter().enumerate().map(row).collect()
}

/// The coarser levels of detail, and the distances from which they are used. The full level has the
/// number 0.
fn levels(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, level): (usize, LevelInfo)| {
        let mut row = vec![(index + 1).to_string()];
        row.extend(counted(level.triangles, "triangle"));
        row.extend(counted(level.vertices, "vertex"));
        row.push(format!("error {:.1} mm", level.error_m * 1000.0));
        row.push(format!("from {:.1} m", level_distance_m(&level)));
        row.push(format!("covers {:.0} %", level.cover * 100.0));
        row
    };
    model.levels().enumerate().map(row).collect()
}

/// The vertex data besides positions and influences.
fn streams(part: &Primitive) -> String {
    let mut names = facts::streams(part);
    if part.normals.is_empty() {
        names.insert(0, "no normals");
    }
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
        "tint mask",
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
        let mut row = vec![index.to_string(), title(&weight.name)];
        row.push(format!("of {}", title(&weight.owner)));
        row.extend(counted(moved_vertices(model, index), "vertex"));
        row.push(format!("{:.4} at rest", weight.rest));
        row
    };
    model.morph_weights().iter().enumerate().map(row).collect()
}

fn images(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, image): (usize, &Image)| {
        let size = format!("{} x {}", image.width, image.height);
        let levels = match image.levels().count() {
            0 => "mip levels made at upload".into(),
            stored => plural(stored, "stored mip level"),
        };
        let format = image.format().name().to_owned();
        let mut row = vec![index.to_string(), title(&image.name), size, format];
        row.extend([grouped(device_bytes(image)), format!("bytes, {levels}")]);
        row
    };
    model.images().iter().enumerate().map(row).collect()
}

fn expressions(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, one): (usize, &Expression)| {
        let mut row = vec![index.to_string(), title(&one.name)];
        row.extend(counted(one.morphs.len(), "morph weight"));
        let mut remarks = Vec::new();
        if one.binary {
            remarks.push("binary".to_owned());
        }
        for (what, how) in [
            ("blinking", one.blink),
            ("looking", one.look),
            ("the mouth", one.mouth),
        ] {
            let how = override_name(how);
            remarks.extend(how.map(|how| format!("{how}s {what}")));
        }
        row.push(remarks.join(", "));
        row
    };
    model.expressions().iter().enumerate().map(row).collect()
}

fn humanoid(model: &Character) -> Vec<Vec<String>> {
    let row = |(role, joint): &(Role, Id<Joint>)| vec![role.to_string(), of_joint(model, *joint)];
    model.skeleton().roles().iter().map(row).collect()
}

fn spring_chains(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, chain): (usize, &SpringChain)| {
        let mut row = vec![index.to_string(), title(&chain.name)];
        row.extend(counted(chain.joints.len(), "joint"));
        row.extend(counted(chain.colliders.len(), "collider"));
        let first = chain.joints.first().map(|one| of_joint(model, one.joint));
        let center = chain.center.map(|joint| of_joint(model, joint));
        let first = first.map(|joint| format!("from {joint}"));
        let center = center.map(|joint| format!("relative to {joint}"));
        let remarks: Vec<String> = first.into_iter().chain(center).collect();
        row.push(remarks.join(", "));
        row
    };
    let chains = model.springs().chains.iter();
    chains.enumerate().map(row).collect()
}

fn spring_colliders(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, collider): (usize, &SpringCollider)| {
        vec![
            index.to_string(),
            shape_name(collider).into(),
            format!("radius {:.4} m", collider.radius_m),
            format!("on {}", of_joint(model, collider.joint)),
        ]
    };
    let colliders = model.springs().colliders.iter();
    colliders.enumerate().map(row).collect()
}

fn spawn_points(model: &Imported) -> Vec<Vec<String>> {
    let row = |(index, point): (usize, &SpawnPoint)| {
        let at = point.world_from_model.translation;
        vec![
            index.to_string(),
            title(&point.node),
            format!("at {:.4} {:.4} {:.4} m", at.x, at.y, at.z),
        ]
    };
    model.spawn_points.iter().enumerate().map(row).collect()
}

fn of_joint(model: &Character, joint: Id<Joint>) -> String {
    let joint = model.skeleton().joints().get(joint.index());
    title(joint.map_or("", |joint| &joint.name))
}

/// The additions of the animation description to the clips.
fn animations(model: &Character) -> Vec<Vec<String>> {
    let joints = model.skeleton().joints();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |kind: &str, name: &str, rest: String| {
        rows.push(vec![kind.into(), title(name), rest]);
    };
    for mask in model.masks() {
        let used = mask.weights.iter().filter(|weight| **weight > 0.0);
        row("mask", &mask.name, plural(used.count(), "joint"));
    }
    for (name, socket) in model.sockets() {
        let joint = joints.get(socket.joint.index());
        let joint = title(joint.map_or("", |joint| &joint.name));
        row("socket", name, format!("at {joint}"));
    }
    for space in model.blend_spaces() {
        let points = plural(space.clips().len(), "point");
        row(
            "blend space",
            space.name(),
            match space.speed_limits() {
                Some([least, most]) => format!(
                    "{points}, {}D, follows the ground speed, played at {least} to {most}",
                    space.dimensions()
                ),
                None => format!("{points}, {}D", space.dimensions()),
            },
        );
    }
    for name in model.event_names() {
        let of = (0..model.clips().len() as u16).map(|clip| model.events(Id::new(clip)));
        let count = of.flatten().filter(|(one, _)| *one == &**name);
        row("event", name, plural(count.count(), "time"));
    }
    if let Some(machine) = model.state_machine() {
        row(
            "state machine",
            "",
            plural(machine.desc().layers.len(), "layer"),
        );
    }
    for (layer, state, parameter) in ground_speeds(model) {
        let rest = format!("of layer {}, follows {}", title(layer), title(parameter));
        row("ground speed", state, rest);
    }
    rows
}

/// The order of triangles and vertices, and the draws that they take.
fn drawing(geometry: &GeometryReport) -> Vec<Vec<String>> {
    let row = |what: &str, value: String, note: String| vec![what.into(), value, note];
    let ratio = |shaded| format!("{:.3}", report::per_vertex(shaded, geometry));
    let before = ratio(geometry.file_shaded_vertices);
    vec![
        row(
            "shaded vertices per vertex",
            ratio(geometry.shaded_vertices),
            format!("{before} in the file's order"),
        ),
        row(
            "draws of a group of instances",
            geometry.draws.to_string(),
            String::new(),
        ),
        row(
            "equal vertices merged",
            grouped(geometry.merged_vertices),
            String::new(),
        ),
        row(
            "unused vertices left out",
            grouped(geometry.unused_vertices),
            String::new(),
        ),
    ]
}

fn memory(model: &Character) -> Vec<Vec<String>> {
    let Some(memory) = gpu_memory(model) else {
        return vec![vec!["more than can be addressed".into()]];
    };
    let row = |what: &str, bytes: u64| vec![what.into(), grouped(bytes), "bytes".into()];
    vec![
        row("mesh", memory.mesh),
        row("images with mip levels", memory.images),
        row("palette of an instance", memory.palette_per_instance),
        row(
            "deformed vertices of an instance, if kept",
            memory.deformed_per_instance,
        ),
    ]
}
