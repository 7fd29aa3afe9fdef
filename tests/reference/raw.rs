//! A scene from a `RawCharacter`: its public fields, widened to `f64`.

use super::maths::from_columns;
use super::scene::{
    Channel, Clip, Curve, Local, Morph, Node, Part, Path, Scene, Skin, Target, normalised,
};
use throng::clip::Interpolation;
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{RawChannel, RawCharacter, RawKeys, RawPrimitive};

pub fn scene(raw: &RawCharacter) -> Scene {
    let nodes = raw.nodes.iter().map(|node| Node {
        name: node.name.to_string(),
        parent: node.parent,
        local: match &node.matrix {
            Some(m) => Local::Matrix(from_columns(&matrix(m))),
            None => Local::Trs {
                t: vector(&node.transform.translation).try_into().unwrap(),
                r: quaternion(&node.transform.rotation).try_into().unwrap(),
                s: vector(&node.transform.scale).try_into().unwrap(),
            },
        },
    });
    let skins = raw.skins.iter().map(|skin| {
        let matrices: Vec<_> = skin.inverse_bind.iter().map(matrix).collect();
        Skin::new(skin.joints.clone(), &matrices)
    });
    let clips = raw.animations.iter().map(|animation| Clip {
        name: animation.name.to_string(),
        channels: animation
            .channels
            .iter()
            .map(|channel| self::channel(raw, channel))
            .collect(),
    });
    let morphs = raw.morphs.iter().map(|morph| Morph {
        node: morph.node,
        rest: morph.weights.iter().map(|w| f64::from(*w)).collect(),
        names: morph.names.iter().map(ToString::to_string).collect(),
    });
    Scene {
        nodes: nodes.collect(),
        skins: skins.collect(),
        parts: raw.primitives.iter().map(part).collect(),
        clips: clips.collect(),
        morphs: morphs.collect(),
    }
}

fn part(raw: &RawPrimitive) -> Part {
    let array = |v: &Vec3| v.to_array().map(f64::from);
    let per_vertex = raw.influences_per_vertex;
    let influences = |vertex: usize| {
        let range = vertex * per_vertex..(vertex + 1) * per_vertex;
        let pairs = range.map(|at| (raw.joints[at] as usize, f64::from(raw.weights[at])));
        normalised(pairs.collect())
    };
    let dense = |vertices: &[u32], deltas: &[Vec3]| {
        let mut dense = vec![[0.0; 3]; raw.positions.len()];
        for (vertex, delta) in vertices.iter().zip(deltas) {
            dense[*vertex as usize] = array(delta);
        }
        dense
    };
    let targets = raw.targets.iter().map(|target| Target {
        positions: dense(&target.vertices, &target.positions),
        normals: dense(&target.vertices, &target.normals),
    });
    Part {
        morph: raw.morph,
        targets: targets.collect(),
        node: raw.node,
        skin: raw.skin,
        positions: raw.positions.iter().map(array).collect(),
        normals: raw.normals.iter().map(array).collect(),
        influences: match raw.skin {
            Some(_) => (0..raw.positions.len()).map(influences).collect(),
            None => Vec::new(),
        },
        triangles: raw
            .indices
            .chunks_exact(3)
            .map(|c| [c[0] as usize, c[1] as usize, c[2] as usize])
            .collect(),
    }
}

fn channel(character: &RawCharacter, raw: &RawChannel) -> Channel {
    let (path, values) = match &raw.values {
        RawKeys::Translation(list) => (Path::Translation, list.iter().map(vector).collect()),
        RawKeys::Rotation(list) => (Path::Rotation, list.iter().map(quaternion).collect()),
        RawKeys::Scale(list) => (Path::Scale, list.iter().map(vector).collect()),
        RawKeys::Weights(list) => {
            let morph = character.morphs.iter().find(|m| m.node == raw.node);
            let count = morph.expect("a node with targets").weights.len();
            let rows = list.chunks_exact(count);
            let row = |row: &[f32]| row.iter().map(|w| f64::from(*w)).collect();
            (Path::Weights, rows.map(row).collect())
        }
    };
    Channel {
        node: raw.node,
        path,
        curve: match raw.interpolation {
            Interpolation::Step => Curve::Step,
            Interpolation::Linear => Curve::Linear,
            Interpolation::CubicSpline => Curve::Cubic,
        },
        times: raw.times_s.iter().map(|t| f64::from(*t)).collect(),
        values,
    }
}

fn vector(v: &Vec3) -> Vec<f64> {
    v.to_array().map(f64::from).to_vec()
}

fn quaternion(q: &Quat) -> Vec<f64> {
    q.to_array().map(f64::from).to_vec()
}

fn matrix(m: &Mat4) -> Vec<f64> {
    m.to_cols_array().map(f64::from).to_vec()
}
