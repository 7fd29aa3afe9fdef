//! Expressions: named sets of morph weights.

use super::json::{Expression0, Expression1, Expressions0, Expressions1, Index, Named};
use super::scene::VrmScene;
use crate::fault::{cut, fault};
use std::collections::{HashMap, HashSet};
use throng::error::{AssetFault, ObjectKind, Result};
use throng::mesh::{Expression, ExpressionOverride};

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

/// The most morph weights that the expressions of a file drive, together.
const MAX_WEIGHTS: usize = 1 << 18;

/// The morph weights of all expressions of a file.
#[derive(Default)]
struct Weights {
    count: usize,
    /// The targets of the present expression.
    ///
    /// Each is a node or mesh, and the index of one of its targets.
    driven: HashSet<(usize, usize)>,
}

impl Weights {
    /// True if no earlier bind of the expression drives the target of this node or mesh.
    fn is_new(&mut self, target: (usize, usize), part: String, scene: &mut VrmScene<'_>) -> bool {
        let is_new = self.driven.insert(target);
        if !is_new {
            scene.unusable(
                part,
                AssetFault::Invalid("an earlier bind has the same target"),
            );
        }
        is_new
    }

    fn take(&mut self, count: usize, part: &str) -> Result<()> {
        self.count = self.count.saturating_add(count);
        if self.count <= MAX_WEIGHTS {
            return Ok(());
        }
        let what = "morph weights of expressions";
        let (asked, cap) = (self.count as u64, MAX_WEIGHTS as u64);
        let why = AssetFault::Cap { what, asked, cap };
        Err(fault(ObjectKind::File, None, part, why))
    }
}

/// Reads the expressions of version 1.0.
pub(super) fn read1(expressions: &Expressions1, scene: &mut VrmScene<'_>) -> Result<()> {
    let mut weights = Weights::default();
    let lists: [(&str, &Named<Expression1>); 2] = [
        ("preset", &expressions.preset),
        ("custom", &expressions.custom),
    ];
    for (list, Named(all)) in lists {
        for (name, expression) in all {
            let part = format!("extensions.VRMC_vrm.expressions.{list}.{}", cut(name));
            one1((&part, name), expression, &mut weights, scene)?;
        }
    }
    Ok(())
}

fn one1(
    (part, name): (&str, &str),
    raw: &Expression1,
    weights: &mut Weights,
    scene: &mut VrmScene<'_>,
) -> Result<()> {
    for (field, count) in [
        ("materialColorBinds", raw.material_color_binds.0.len()),
        ("textureTransformBinds", raw.texture_transform_binds.0.len()),
    ] {
        if count > 0 {
            scene.left_out(format!("{part}.{field}"), count);
        }
    }
    let count = scene.raw.nodes.len();
    weights.driven.clear();
    let mut morphs = Vec::new();
    for (number, bind) in raw.morph_target_binds.0.iter().enumerate() {
        let at = || format!("{part}.morphTargetBinds[{number}]");
        match (bind.node, bind.index) {
            (Index(Some(node)), Index(Some(index))) if node < count => {
                if weights.is_new((node, index), at(), scene) {
                    weights.take(1, part)?;
                    morphs.push(((node, index), bind.weight));
                }
            }
            (Index(Some(node)), Index(Some(_))) => {
                scene.unusable(at(), AssetFault::dangling("node", node, count));
            }
            _ => scene.unusable(at(), NO_INDEX),
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
    Ok(())
}

/// Reads the expressions of version 0.x, under the names of 1.0.
pub(super) fn read0(expressions: &Expressions0, scene: &mut VrmScene<'_>) -> Result<()> {
    let mut weights = Weights::default();
    let mut nodes: HashMap<usize, Vec<usize>> = HashMap::new();
    for morph in &scene.raw.morphs {
        if let Some(mesh) = (scene.mesh)(morph.node) {
            nodes.entry(mesh as usize).or_default().push(morph.node);
        }
    }
    for (index, expression) in expressions.blend_shape_groups.0.iter().enumerate() {
        let part = format!("extensions.VRM.blendShapeMaster.blendShapeGroups[{index}]");
        one0(&part, expression, (&nodes, &mut weights), scene)?;
    }
    Ok(())
}

fn one0(
    part: &str,
    raw: &Expression0,
    (nodes, weights): (&HashMap<usize, Vec<usize>>, &mut Weights),
    scene: &mut VrmScene<'_>,
) -> Result<()> {
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
    weights.driven.clear();
    let mut morphs = Vec::new();
    for (number, bind) in raw.binds.0.iter().enumerate() {
        let at = || format!("{part}.binds[{number}]");
        let (Index(Some(mesh)), Index(Some(index))) = (bind.mesh, bind.index) else {
            scene.unusable(at(), NO_INDEX);
            continue;
        };
        let Some(nodes) = nodes.get(&mesh) else {
            let why = AssetFault::Invalid("no node has this mesh with morph targets");
            scene.unusable(at(), why);
            continue;
        };
        // Each node has one mesh, so a target of a mesh that is new is new for all of its nodes.
        if !weights.is_new((mesh, index), at(), scene) {
            continue;
        }
        weights.take(nodes.len(), part)?;
        let weight = bind.weight / 100.0;
        let nodes = nodes.iter().copied();
        morphs.extend(nodes.map(|node| ((node, index), weight)));
    }
    scene.raw.expressions.push(Expression {
        binary: raw.is_binary.unwrap_or_default(),
        ..Expression::new(name, morphs)
    });
    Ok(())
}

const NO_INDEX: AssetFault = AssetFault::Invalid("names no morph target");
