//! Nodes, skins, meshes and clips in `f64`, and their state at a time.

use super::maths::{
    IDENTITY, M4, Q, V3, ZERO, from_columns, length, mul, normal, point, slerp, trs, unit4,
};

#[derive(Debug, Clone, Copy)]
pub enum Local {
    Matrix(M4),
    Trs { t: V3, r: Q, s: V3 },
}

impl Local {
    pub const REST: Self = Self::Trs {
        t: [0.0; 3],
        r: [0.0, 0.0, 0.0, 1.0],
        s: [1.0; 3],
    };

    fn matrix(&self) -> M4 {
        match *self {
            Self::Matrix(m) => m,
            Self::Trs { t, r, s } => trs(t, r, s),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Node {
    pub name: String,
    pub parent: Option<usize>,
    pub local: Local,
}

#[derive(Debug, Clone)]
pub struct Skin {
    pub joints: Vec<usize>,
    pub inverse_bind: Vec<M4>,
}

impl Skin {
    pub fn new(joints: Vec<usize>, matrices: &[Vec<f64>]) -> Self {
        let inverse_bind = (0..joints.len())
            .map(|joint| matrices.get(joint).map_or(IDENTITY, |m| from_columns(m)))
            .collect();
        Self {
            joints,
            inverse_bind,
        }
    }
}

/// The morph weights of a node.
#[derive(Debug, Clone)]
pub struct Morph {
    pub node: usize,
    pub rest: Vec<f64>,
    pub names: Vec<String>,
}

/// The offsets that a morph target adds at weight 1: one vector per vertex, or none at all.
#[derive(Debug, Clone, Default)]
pub struct Target {
    pub positions: Vec<V3>,
    pub normals: Vec<V3>,
}

/// One primitive on one node, before its morph targets are applied.
#[derive(Debug, Clone)]
pub struct Part {
    pub node: usize,
    pub skin: Option<usize>,
    pub positions: Vec<V3>,
    pub normals: Vec<V3>,
    /// For every vertex, pairs of (index in the skin's joint list, weight).
    ///
    /// The weights sum to 1. The list is empty without a skin.
    pub influences: Vec<Vec<(usize, f64)>>,
    pub triangles: Vec<[usize; 3]>,
    /// Index into the scene's morphs.
    pub morph: Option<usize>,
    pub targets: Vec<Target>,
}

impl Part {
    /// The part with its targets applied: base + Σ weight × delta, then unit normals.
    ///
    /// A very short normal becomes zero, because its direction is meaningless.
    pub fn morphed(&self, weights: &[f64]) -> Self {
        let mut out = self.clone();
        let sum = |list: &mut Vec<V3>, deltas: &[V3], weight: f64| {
            for (value, delta) in list.iter_mut().zip(deltas) {
                for axis in 0..3 {
                    value[axis] += weight * delta[axis];
                }
            }
        };
        for (target, weight) in self.targets.iter().zip(weights) {
            sum(&mut out.positions, &target.positions, *weight);
            sum(&mut out.normals, &target.normals, *weight);
        }
        if !self.targets.is_empty() {
            for normal in &mut out.normals {
                let length = length(*normal);
                let scale = if length < 0.05 { 0.0 } else { 1.0 / length };
                *normal = normal.map(|v| v * scale);
            }
        }
        out
    }
}

/// A vertex's weights, scaled to sum to 1. A vertex without weights follows its first joint.
pub fn normalised(mut list: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    let sum: f64 = list.iter().map(|(_, weight)| weight).sum();
    if sum > 0.0 {
        list.retain(|(_, weight)| *weight != 0.0);
        for (_, weight) in &mut list {
            *weight /= sum;
        }
        list
    } else {
        vec![(list[0].0, 1.0)]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    Translation,
    Rotation,
    Scale,
    Weights,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    Step,
    Linear,
    Cubic,
}

#[derive(Debug, Clone)]
pub struct Channel {
    pub node: usize,
    pub path: Path,
    pub curve: Curve,
    pub times: Vec<f64>,
    /// One value per key, or three: in-tangent, value, out-tangent.
    ///
    /// For morph weights, each value has one number per target.
    pub values: Vec<Vec<f64>>,
}

impl Channel {
    fn key(&self, key: usize) -> Vec<f64> {
        let at = if self.curve == Curve::Cubic {
            key * 3 + 1
        } else {
            key
        };
        let value = &self.values[at];
        if self.path == Path::Rotation && self.curve != Curve::Cubic {
            return unit4([value[0], value[1], value[2], value[3]]).to_vec();
        }
        value.clone()
    }

    /// The value at a time, computed directly as in glTF 2.0, appendix C.
    pub fn sample(&self, time: f64) -> Vec<f64> {
        let last = self.times.len() - 1;
        if time <= self.times[0] {
            return self.key(0);
        }
        if time >= self.times[last] {
            return self.key(last);
        }
        let mut k = 0;
        while self.times[k + 1] <= time {
            k += 1;
        }
        let length = self.times[k + 1] - self.times[k];
        let u = (time - self.times[k]) / length;
        let (a, b) = (self.key(k), self.key(k + 1));
        match (self.curve, self.path) {
            (Curve::Step, _) => a,
            (Curve::Linear, Path::Rotation) => {
                slerp([a[0], a[1], a[2], a[3]], [b[0], b[1], b[2], b[3]], u).to_vec()
            }
            (Curve::Linear, _) => a
                .iter()
                .zip(&b)
                .map(|(a, b)| (1.0 - u) * a + u * b)
                .collect(),
            (Curve::Cubic, _) => {
                let (out, next_in) = (&self.values[k * 3 + 2], &self.values[(k + 1) * 3]);
                let (u2, u3) = (u * u, u * u * u);
                (0..a.len())
                    .map(|i| {
                        (2.0 * u3 - 3.0 * u2 + 1.0) * a[i]
                            + length * (u3 - 2.0 * u2 + u) * out[i]
                            + (-2.0 * u3 + 3.0 * u2) * b[i]
                            + length * (u3 - u2) * next_in[i]
                    })
                    .collect()
            }
        }
    }
}

#[derive(Debug, Clone)]
pub struct Clip {
    pub name: String,
    pub channels: Vec<Channel>,
}

impl Clip {
    pub fn end(&self) -> f64 {
        let ends = self.channels.iter().map(|c| c.times[c.times.len() - 1]);
        ends.fold(0.0, f64::max)
    }

    /// At least 20 times: the start, the end, outside both, on keys, between keys, and unrelated
    /// times.
    pub fn times(&self) -> Vec<f64> {
        let mut keys: Vec<f64> = self.channels.iter().flat_map(|c| c.times.clone()).collect();
        keys.sort_by(f64::total_cmp);
        keys.dedup();
        let end = self.end();
        let mut times = vec![0.0, end, -1.0, end + 1.0];
        let picked = keys.len().min(6);
        for at in 0..picked {
            let key = at * keys.len() / picked;
            times.push(keys[key]);
            if let Some(next) = keys.get(key + 1) {
                times.push(0.37 * keys[key] + 0.63 * next);
            }
        }
        let mut at = 0.0;
        while times.len() < 20 {
            // The multiples of the golden ratio are spread evenly over 0..1, however many there
            // are.
            at = (at + 0.618_033_988_749_895) % 1.0;
            times.push(at * end);
        }
        times
    }
}

#[derive(Debug, Clone, Default)]
pub struct Scene {
    pub nodes: Vec<Node>,
    pub skins: Vec<Skin>,
    pub parts: Vec<Part>,
    pub clips: Vec<Clip>,
    pub morphs: Vec<Morph>,
}

impl Scene {
    /// The weights of each morph, for a clip at a time or at rest.
    pub fn weights(&self, clip: Option<(usize, f64)>) -> Vec<Vec<f64>> {
        let mut weights: Vec<_> = self.morphs.iter().map(|m| m.rest.clone()).collect();
        if let Some((index, time)) = clip {
            let channels = self.clips[index].channels.iter();
            for channel in channels.filter(|channel| channel.path == Path::Weights) {
                let morph = self.morphs.iter().position(|m| m.node == channel.node);
                weights[morph.expect("a node with targets")] = channel.sample(time);
            }
        }
        weights
    }

    /// A part with the weights of its morph applied.
    pub fn morphed(&self, part: &Part, weights: &[Vec<f64>]) -> Part {
        part.morph
            .map_or_else(|| part.clone(), |morph| part.morphed(&weights[morph]))
    }

    /// World matrices of all nodes, for a clip at a time or at rest.
    pub fn globals(&self, clip: Option<(usize, f64)>) -> Vec<M4> {
        let mut locals: Vec<Local> = self.nodes.iter().map(|node| node.local).collect();
        if let Some((index, time)) = clip {
            let channels = self.clips[index].channels.iter();
            for channel in channels.filter(|channel| channel.path != Path::Weights) {
                let value = channel.sample(time);
                let Local::Trs { t, r, s } = &mut locals[channel.node] else {
                    panic!("node {} has a matrix and is animated", channel.node);
                };
                match channel.path {
                    Path::Translation => t.copy_from_slice(&value),
                    Path::Rotation => r.copy_from_slice(&value),
                    Path::Scale => s.copy_from_slice(&value),
                    Path::Weights => unreachable!("moves no node"),
                }
            }
        }
        (0..self.nodes.len())
            .map(|node| self.global(&locals, node))
            .collect()
    }

    fn global(&self, locals: &[Local], node: usize) -> M4 {
        let local = locals[node].matrix();
        match self.nodes[node].parent {
            Some(parent) => mul(&self.global(locals, parent), &local),
            None => local,
        }
    }

    /// The skinning matrix of a joint in a skin's joint list: global(joint) × inverse bind.
    pub fn skinning(&self, skin: usize, joint: usize, globals: &[M4]) -> M4 {
        let skin = &self.skins[skin];
        mul(&globals[skin.joints[joint]], &skin.inverse_bind[joint])
    }

    /// The blended matrix of every vertex of a part.
    pub fn blended(&self, part: &Part, globals: &[M4]) -> Vec<M4> {
        let Some(skin) = part.skin else {
            return vec![globals[part.node]; part.positions.len()];
        };
        let joints = self.skins[skin].joints.len();
        let palette: Vec<M4> = (0..joints)
            .map(|joint| self.skinning(skin, joint, globals))
            .collect();
        let blend = |list: &Vec<(usize, f64)>| {
            let mut sum = ZERO;
            for (joint, weight) in list {
                for row in 0..4 {
                    for column in 0..4 {
                        sum[row][column] += weight * palette[*joint][row][column];
                    }
                }
            }
            sum
        };
        part.influences.iter().map(blend).collect()
    }

    /// World positions, and normals if they are meaningful.
    pub fn posed(&self, part: &Part, globals: &[M4]) -> (Vec<V3>, Vec<Option<V3>>) {
        let matrices = self.blended(part, globals);
        let positions = matrices.iter().zip(&part.positions);
        let normals = matrices.iter().zip(&part.normals);
        (
            positions.map(|(m, p)| point(m, *p)).collect(),
            normals.map(|(m, n)| normal(m, *n)).collect(),
        )
    }

    /// The model's size: the largest edge of the axis-aligned box around the mesh at rest.
    pub fn size(&self) -> f64 {
        let (globals, weights) = (self.globals(None), self.weights(None));
        let (mut min, mut max) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for part in &self.parts {
            let (positions, _) = self.posed(&self.morphed(part, &weights), &globals);
            for position in part.triangles.iter().flatten().map(|v| positions[*v]) {
                for axis in 0..3 {
                    min[axis] = min[axis].min(position[axis]);
                    max[axis] = max[axis].max(position[axis]);
                }
            }
        }
        (0..3).map(|axis| max[axis] - min[axis]).fold(0.0, f64::max)
    }
}
