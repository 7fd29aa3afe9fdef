//! Expressions: named sets of morph weights.

use super::json::{Expression0, Expression1, Expressions0, Expressions1, Index, Named};
use super::scene::VrmScene;
use crate::error::AssetFault;
use crate::import::fault::{cut, dangling};
use crate::mesh::{Expression, ExpressionOverride};
use std::collections::HashMap;

/// The names that version 1.0 has for the presets of 0.x.
const PRESETS: [(&str, &str); 17] = [
    ("neutral", "neutral"),
    ("a", "aa"),
    ("i", "ih"),
    ("u", "ou"),
    ("e", "ee"),
    ("o", "oh"),
    ("blink", "blink"),
    ("blink_l", "blinkLeft"),
    ("blink_r", "blinkRight"),
    ("joy", "happy"),
    ("angry", "angry"),
    ("sorrow", "sad"),
    ("fun", "relaxed"),
    ("lookup", "lookUp"),
    ("lookdown", "lookDown"),
    ("lookleft", "lookLeft"),
    ("lookright", "lookRight"),
];

/// Reads the expressions of version 1.0.
pub(super) fn read1(expressions: &Expressions1, scene: &mut VrmScene<'_>) {
    let lists: [(&str, &Named<Expression1>); 2] = [
        ("preset", &expressions.preset),
        ("custom", &expressions.custom),
    ];
    for (list, Named(all)) in lists {
        for (name, expression) in all {
            let part = format!("extensions.VRMC_vrm.expressions.{list}.{}", cut(name));
            one1(&part, name, expression, scene);
        }
    }
}

fn one1(part: &str, name: &str, raw: &Expression1, scene: &mut VrmScene<'_>) {
    for (field, count) in [
        ("materialColorBinds", raw.material_color_binds.0.len()),
        ("textureTransformBinds", raw.texture_transform_binds.0.len()),
    ] {
        if count > 0 {
            scene.left_out(format!("{part}.{field}"), count);
        }
    }
    let count = scene.raw.nodes.len();
    let mut morphs = Vec::new();
    for (number, bind) in raw.morph_target_binds.0.iter().enumerate() {
        let part = || format!("{part}.morphTargetBinds[{number}]");
        match (bind.node, bind.index) {
            (Index(Some(node)), Index(Some(index))) if node < count => {
                morphs.push(((node, index), bind.weight));
            }
            (Index(Some(node)), Index(Some(_))) => {
                scene.unusable(part(), dangling("node", node, count));
            }
            _ => scene.unusable(part(), NO_INDEX),
        }
    }
    let effect = |text: &Option<Box<str>>| match text.as_deref() {
        Some("block") => ExpressionOverride::Block,
        Some("blend") => ExpressionOverride::Blend,
        _ => ExpressionOverride::None,
    };
    scene.raw.expressions.push(Expression {
        binary: raw.is_binary,
        blink: effect(&raw.override_blink),
        look: effect(&raw.override_look_at),
        mouth: effect(&raw.override_mouth),
        ..Expression::new(name, morphs)
    });
}

/// Reads the expressions of version 0.x, under the names of 1.0.
pub(super) fn read0(expressions: &Expressions0, scene: &mut VrmScene<'_>) {
    let mut nodes: HashMap<usize, Vec<usize>> = HashMap::new();
    for morph in &scene.raw.morphs {
        if let Some(mesh) = (scene.mesh)(morph.node) {
            nodes.entry(mesh as usize).or_default().push(morph.node);
        }
    }
    for (index, expression) in expressions.blend_shape_groups.0.iter().enumerate() {
        let part = format!("extensions.VRM.blendShapeMaster.blendShapeGroups[{index}]");
        one0(&part, expression, &nodes, scene);
    }
}

fn one0(
    part: &str,
    raw: &Expression0,
    nodes: &HashMap<usize, Vec<usize>>,
    scene: &mut VrmScene<'_>,
) {
    let count = raw.material_values.0.len();
    if count > 0 {
        scene.left_out(format!("{part}.materialValues"), count);
    }
    let preset = raw.preset_name.as_deref().unwrap_or("unknown");
    let preset = PRESETS
        .iter()
        .find(|(old, _)| old.eq_ignore_ascii_case(preset));
    let own = raw.name.as_deref().unwrap_or_default();
    let name = preset.map_or(own, |(_, new)| new);
    let mut morphs = Vec::new();
    for (number, bind) in raw.binds.0.iter().enumerate() {
        let part = || format!("{part}.binds[{number}]");
        let (Index(Some(mesh)), Index(Some(index))) = (bind.mesh, bind.index) else {
            scene.unusable(part(), NO_INDEX);
            continue;
        };
        let Some(nodes) = nodes.get(&mesh) else {
            let why = AssetFault::Invalid("no node has this mesh with morph targets");
            scene.unusable(part(), why);
            continue;
        };
        let weight = bind.weight / 100.0;
        morphs.extend(nodes.iter().map(|node| ((*node, index), weight)));
    }
    scene.raw.expressions.push(Expression {
        binary: raw.is_binary.unwrap_or_default(),
        ..Expression::new(name, morphs)
    });
}

const NO_INDEX: AssetFault = AssetFault::Invalid("names no morph target");
