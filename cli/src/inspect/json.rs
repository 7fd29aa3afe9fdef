//! The contents of a file, as JSON. The keys are listed in `docs/command-line.md`.

use super::facts::{
    gpu_memory, ground_speeds, level_distance_m, moved_vertices, override_name, shape_name, streams,
};
use crate::report::{self, FORMAT};
use crate::textures::device_bytes;
use serde_json::{Value, json};
use throng::Id;
use throng::character::Character;
use throng::clip::Clip;
use throng::import::Imported;
use throng::mesh::{AlphaMode, Expression, Image, Material, MorphWeight, Primitive};
use throng::skeleton::Joint;
use throng::spring::{SpringChain, SpringCollider};

pub(super) fn document(model: &Imported) -> Value {
    let bounds = model.rest_bounds();
    json!({
        "format": FORMAT,
        "name": model.name(),
        "vertices": model.vertex_count(),
        "triangles": model.triangle_count(),
        "palette_entries": model.palette().len(),
        "rest_bounds_m": { "min": bounds.min.to_array(), "max": bounds.max.to_array() },
        "joints": list(model.skeleton().joints(), |_, joint| self::joint(joint)),
        "skins": model.skins().map(|(name, joints)| json!({
            "name": name,
            "joints": joints.iter().map(|joint| joint.0).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "clips": list(model.clips(), |index, one| clip(model, index, one)),
        "primitives": list(model.primitives(), |_, one| primitive(one)),
        "levels": model.levels().map(|level| json!({
            "triangles": level.triangles,
            "vertices": level.vertices,
            "error_m": level.error_m,
            "cover": level.cover,
            "distance_m": level_distance_m(&level),
        })).collect::<Vec<_>>(),
        "materials": list(model.materials(), |_, one| material(one)),
        "images": list(model.images(), |_, one| image(one)),
        "morph_weights": list(model.morph_weights(), |index, one| morph(model, index, one)),
        "expressions": list(model.expressions(), |_, one| expression(one)),
        "humanoid": list(model.skeleton().roles(), |_, (role, joint)| json!({
            "role": role.to_string(),
            "joint": joint.0,
        })),
        "spring_chains": list(&model.springs().chains, |_, one| spring_chain(one)),
        "spring_colliders": list(&model.springs().colliders, |_, one| spring_collider(one)),
        "spawn_points": list(&model.spawn_points, |_, one| json!({
            "node": one.node,
            "world_from_model": one.world_from_model.to_cols_array(),
        })),
        "masks": masks(model),
        "sockets": sockets(model),
        "blend_spaces": model.blend_spaces().iter().map(|space| json!({
            "name": space.name(),
            "dimensions": space.dimensions(),
            "clips": space.clips().iter().map(|clip| clip.0).collect::<Vec<_>>(),
            "speed_limits": space.speed_limits(),
        })).collect::<Vec<_>>(),
        "events": model.event_names(),
        "state_machine_layers": model.state_machine().map(|one| one.desc().layers.len()),
        "ground_speeds": ground_speeds(model).map(|(layer, state, parameter)| json!({
            "layer": layer,
            "state": state,
            "parameter": parameter,
        })).collect::<Vec<_>>(),
        "gpu_bytes": gpu_memory(model).map(|memory| json!({
            "mesh": memory.mesh,
            "images": memory.images,
            "palette_per_instance": memory.palette_per_instance,
            "deformed_vertices_per_instance": memory.deformed_per_instance,
        })),
        "geometry": report::geometry(&model.geometry),
        "repairs": report::repairs(&model.repairs),
    })
}

fn list<T>(all: &[T], one: impl Fn(usize, &T) -> Value) -> Vec<Value> {
    let all = all.iter().enumerate();
    all.map(|(index, value)| one(index, value)).collect()
}

fn joint(joint: &Joint) -> Value {
    json!({
        "name": joint.name,
        "parent": joint.parent.map(|parent| parent.0),
        "translation": joint.rest.translation.to_array(),
        "rotation": joint.rest.rotation.to_array(),
        "scale": joint.rest.scale.to_array(),
    })
}

fn clip(model: &Character, index: usize, clip: &Clip) -> Value {
    let (id, report) = (Id::new(index as u16), clip.report());
    let events = model.events(id);
    let events = events.map(|(name, time_s)| json!({ "name": name, "time_s": time_s }));
    json!({
        "name": clip.name(),
        "duration_s": clip.duration_s(),
        "rate_hz": report.rate_hz,
        "frames": report.frames,
        "packing": match report.quantised {
            true => "quantised",
            false => "none",
        },
        "bytes": report.bytes,
        "sizes": report::sizes(clip),
        "memory_bytes": report.memory_bytes,
        "ratio": report.ratio(),
        "ratio_at_own_rate": report::ratio_at_own_rate(clip),
        "error_m": report.error_m,
        "error_joint": report.error_joint.0,
        "error_time_s": report.error_time_s,
        "vertex_error": report.vertex_error.map(|at| json!({
            "error_m": at.error_m,
            "primitive": at.primitive,
            "vertex": at.vertex,
            "time_s": at.time_s,
        })),
        "morph_weight_error": report.weight_error,
        "kept_tracks": report.kept_tracks,
        "tracks": model.curves().get(index).map(|curve| curve.tracks().len()),
        "additive": clip.is_additive(),
        "root_motion": model.root_motion(id).is_some(),
        "gait": model.gait(id).map(|gait| json!({
            "speed_m_s": gait.speed_m_s,
            "heading_rad": gait.heading_rad,
        })),
        "events": events.collect::<Vec<_>>(),
    })
}

fn primitive(part: &Primitive) -> Value {
    let first = part.first_weight.index();
    json!({
        "name": part.name,
        "part": part.part,
        "vertices": part.vertex_count(),
        "triangles": part.indices.len() / 3,
        "influences": part.influences_per_vertex,
        "palette": [part.palette.start, part.palette.end],
        "streams": streams(part),
        "material": part.material,
        "morph_weights": [first, first + part.targets.len()],
    })
}

fn material(material: &Material) -> Value {
    let (alpha, cutoff) = match material.alpha {
        AlphaMode::Opaque => ("opaque", None),
        AlphaMode::Mask { cutoff } => ("mask", Some(cutoff)),
        AlphaMode::Blend => ("blend", None),
    };
    let names = [
        "base_color",
        "metallic_roughness",
        "normal",
        "occlusion",
        "emissive",
        "tint_mask",
    ];
    let textures = names.into_iter().zip(material.textures());
    let textures = textures.filter_map(|(of, texture)| Some((of.into(), texture?.image.into())));
    json!({
        "name": material.name,
        "base_color": material.base_color,
        "metallic": material.metallic,
        "roughness": material.roughness,
        "emissive": material.emissive,
        "alpha": alpha,
        "alpha_cutoff": cutoff,
        "double_sided": material.double_sided,
        "unlit": material.unlit,
        "tint_weights": material.tint_weights,
        "tint_reference": material.tint_reference,
        "textures": Value::Object(textures.collect()),
    })
}

fn image(image: &Image) -> Value {
    json!({
        "name": image.name,
        "width": image.width,
        "height": image.height,
        "format": image.format().name(),
        "stored_levels": image.levels().count(),
        "bytes": device_bytes(image),
    })
}

fn morph(model: &Character, index: usize, weight: &MorphWeight) -> Value {
    json!({
        "name": weight.name,
        "owner": weight.owner,
        "rest": weight.rest,
        "vertices": moved_vertices(model, index),
    })
}

fn expression(one: &Expression) -> Value {
    json!({
        "name": one.name,
        "morphs": list(&one.morphs, |_, (morph, weight)| json!({
            "morph_weight": morph.0,
            "weight": weight,
        })),
        "binary": one.binary,
        "blink": override_name(one.blink),
        "look": override_name(one.look),
        "mouth": override_name(one.mouth),
    })
}

fn spring_chain(chain: &SpringChain) -> Value {
    json!({
        "name": chain.name,
        "joints": list(&chain.joints, |_, one| json!({
            "joint": one.joint.0,
            "stiffness": one.stiffness,
            "gravity": one.gravity.to_array(),
            "drag": one.drag,
            "radius_m": one.radius_m,
        })),
        "tail_m": chain.tail_m.map(|tail| tail.to_array()),
        "colliders": chain.colliders,
        "center": chain.center.map(|joint| joint.0),
    })
}

fn spring_collider(collider: &SpringCollider) -> Value {
    json!({
        "shape": shape_name(collider),
        "joint": collider.joint.0,
        "offset_m": collider.offset_m.to_array(),
        "tail_m": collider.tail_m.map(|tail| tail.to_array()),
        "radius_m": collider.radius_m,
    })
}

fn masks(model: &Character) -> Vec<Value> {
    let mask = |mask: &throng::skeleton::Mask| {
        let used = mask.weights.iter().filter(|weight| **weight > 0.0);
        json!({ "name": mask.name, "joints": used.count() })
    };
    model.masks().iter().map(mask).collect()
}

fn sockets(model: &Character) -> Vec<Value> {
    let sockets = model.sockets().iter();
    let socket = sockets.map(|(name, socket)| json!({ "name": name, "joint": socket.joint.0 }));
    socket.collect()
}
