//! A glTF file that uses the unusual features of the format.
//!
//! It has sparse and interleaved accessors, quantised and normalised integers, two sets of joints,
//! strips and fans, matrices, mirrors, nodes outside the scene, and a separate buffer file whose
//! name is percent-encoded.

use super::rng::Rng;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const I8: u32 = 5120;
const U8: u32 = 5121;
const I16: u32 = 5122;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;

#[derive(Default)]
struct Builder {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Builder {
    /// Stores elements as their own view, `stride` bytes apart, after `offset` bytes of other data.
    fn view(&mut self, elements: &[Vec<u8>], stride: usize, offset: usize) -> usize {
        self.bytes
            .resize(self.bytes.len().next_multiple_of(4), 0xAA);
        let start = self.bytes.len();
        self.bytes.resize(start + offset, 0xBB);
        for element in elements {
            let next = self.bytes.len() + stride.max(element.len());
            self.bytes.extend(element);
            self.bytes.resize(next, 0xCC);
        }
        let mut view =
            json!({ "buffer": 0, "byteOffset": start, "byteLength": self.bytes.len() - start });
        if stride > 0 {
            view["byteStride"] = stride.into();
        }
        self.views.push(view);
        self.views.len() - 1
    }

    /// Stores values as components of `kind`. A `stride` of 0 means tightly packed.
    fn accessor(
        &mut self,
        shape: &str,
        kind: u32,
        normalized: bool,
        values: &[Vec<f64>],
        stride: usize,
    ) -> usize {
        let offset = if stride > 0 { 4 } else { 0 };
        let elements = encode(kind, normalized, values);
        let view = self.view(&elements, stride, offset);
        let mut accessor = json!({
            "bufferView": view, "byteOffset": offset, "type": shape, "componentType": kind,
            "count": values.len(), "normalized": normalized,
        });
        if !normalized {
            let decoded = |v: &f64| {
                if kind == F32 {
                    f64::from(*v as f32)
                } else {
                    v.round()
                }
            };
            let edge = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
                let columns = 0..values[0].len();
                columns
                    .map(|k| values.iter().map(|v| decoded(&v[k])).reduce(pick).unwrap())
                    .collect()
            };
            accessor["min"] = edge(f64::min).into();
            accessor["max"] = edge(f64::max).into();
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Replaces some elements of an accessor, or of one that is all zeros.
    fn sparse(&mut self, on: usize, places: &[usize], values: &[Vec<f64>], zeros: bool) {
        let kind = self.accessors[on]["componentType"].as_u64().unwrap() as u32;
        let places: Vec<_> = places.iter().map(|p| vec![*p as f64]).collect();
        let indices = self.view(&encode(U16, false, &places), 0, 0);
        let with = self.view(&encode(kind, false, values), 0, 0);
        let accessor = &mut self.accessors[on];
        accessor["sparse"] = json!({
            "count": places.len(),
            "indices": { "bufferView": indices, "componentType": U16 },
            "values": { "bufferView": with },
        });
        let parts = accessor.as_object_mut().unwrap();
        parts.remove("min");
        parts.remove("max");
        if zeros {
            parts.remove("bufferView");
            parts.remove("byteOffset");
        }
        accessor["min"] = json!([-9, -9, -9]);
        accessor["max"] = json!([9, 9, 9]);
    }
}

fn encode(kind: u32, normalized: bool, values: &[Vec<f64>]) -> Vec<Vec<u8>> {
    let scale = |full: f64| if normalized { full } else { 1.0 };
    let component = |v: &f64| -> Vec<u8> {
        match kind {
            I8 => ((v * scale(127.0)).round() as i8).to_le_bytes().into(),
            U8 => ((v * scale(255.0)).round() as u8).to_le_bytes().into(),
            I16 => ((v * scale(32767.0)).round() as i16).to_le_bytes().into(),
            U16 => ((v * scale(65535.0)).round() as u16).to_le_bytes().into(),
            U32 => (*v as u32).to_le_bytes().into(),
            _ => (*v as f32).to_le_bytes().into(),
        }
    };
    values
        .iter()
        .map(|element| element.iter().flat_map(component).collect())
        .collect()
}

fn vectors(rng: &mut Rng, count: usize, reach: f32) -> Vec<Vec<f64>> {
    let vector = |rng: &mut Rng| rng.vector(-reach, reach).to_array().map(f64::from).to_vec();
    (0..count).map(|_| vector(rng)).collect()
}

fn rotations(rng: &mut Rng, count: usize) -> Vec<Vec<f64>> {
    (0..count)
        .map(|_| rng.rotation().to_array().map(f64::from).to_vec())
        .collect()
}

fn weights(rng: &mut Rng, count: usize) -> Vec<Vec<f64>> {
    let four = |rng: &mut Rng| {
        (0..4)
            .map(|_| f64::from(rng.range(-0.2, 0.5).max(0.0)))
            .collect()
    };
    (0..count).map(|_| four(rng)).collect()
}

fn joint_indices(rng: &mut Rng, count: usize) -> Vec<Vec<f64>> {
    (0..count)
        .map(|_| (0..4).map(|_| rng.below(4) as f64).collect())
        .collect()
}

fn listed(count: usize) -> Vec<Vec<f64>> {
    (0..count).map(|v| vec![v as f64]).collect()
}

fn matrices(rng: &mut Rng, count: usize) -> Vec<Vec<f64>> {
    use throng::glam::Mat4;
    let matrix = |rng: &mut Rng| {
        let (scale, turn, place) = (rng.vector(0.5, 1.5), rng.rotation(), rng.vector(-0.5, 0.5));
        let matrix = Mat4::from_scale_rotation_translation(scale, turn, place);
        matrix.to_cols_array().map(f64::from).to_vec()
    };
    (0..count).map(|_| matrix(rng)).collect()
}

/// Writes the file and its buffer into `folder`.
pub fn write(folder: &Path) -> PathBuf {
    let mut rng = Rng::new(2026);
    let rng = &mut rng;
    let mut b = Builder::default();
    let meshes = json!([
        { "name": "strip", "primitives": [skinned(&mut b, rng)] },
        { "name": "small", "primitives": [fan(&mut b, rng), zeros(&mut b, rng)],
          "weights": [0.25, -0.5], "extras": { "targetNames": ["first", 2] } },
    ]);
    let inverse_bind = matrices(rng, 4);
    let skin = b.accessor("MAT4", F32, false, &inverse_bind, 0);
    let animations = json!([animation(&mut b, rng)]);
    let matrix = &matrices(rng, 1)[0];
    let name = "made of öddities.bin";
    let gltf = json!({
        "asset": { "version": "2.0" },
        "extensionsUsed": ["KHR_mesh_quantization"],
        "extensionsRequired": ["KHR_mesh_quantization"],
        "scene": 1,
        "scenes": [{ "nodes": [8] }, { "nodes": [6, 0] }],
        "nodes": [
            { "name": "root", "children": [3, 1], "scale": [1.5, 1.25, 0.75], "rotation": [0.6, 0, 0, 0.8] },
            { "name": "a", "children": [2], "translation": [0, 1, 0] },
            { "name": "b", "children": [4, 7], "translation": [0.25, 0.5, 0], "scale": [-1, 1, 1] },
            { "name": "held", "matrix": matrix, "children": [5] },
            { "name": "c", "rotation": [0, 0.6, 0, 0.8] },
            { "name": "small on a matrix", "mesh": 1 },
            { "name": "body", "mesh": 0, "skin": 0, "translation": [100, 0, 0] },
            { "name": "small on a mirror", "mesh": 1, "translation": [0.1, 0.2, 0.3], "weights": [1, 0.5] },
            { "name": "elsewhere", "mesh": 1 },
        ],
        "meshes": meshes,
        "skins": [{ "joints": [4, 1, 2, 1], "inverseBindMatrices": skin }],
        "animations": animations,
        "accessors": b.accessors,
        "bufferViews": b.views,
        "buffers": [{ "byteLength": b.bytes.len(), "uri": "made%20of%20%C3%B6ddities.bin" }],
    });
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(name), &b.bytes).unwrap();
    let path = folder.join("made.gltf");
    std::fs::write(&path, serde_json::to_vec_pretty(&gltf).unwrap()).unwrap();
    path
}

/// A strip with sparse positions and eight influences in two encodings, one interleaved.
fn skinned(b: &mut Builder, rng: &mut Rng) -> Value {
    const COUNT: usize = 40;
    let positions = b.accessor("VEC3", F32, false, &vectors(rng, COUNT, 1.0), 20);
    b.sparse(positions, &[3, 7, 39], &vectors(rng, 3, 2.0), false);
    let normals: Vec<_> = (0..COUNT)
        .map(|_| rng.direction().to_array().map(f64::from).to_vec())
        .collect();
    let bends = b.accessor("VEC3", I8, true, &vectors(rng, COUNT, 0.5), 8);
    json!({
        "mode": 5,
        "targets": [
            { "POSITION": b.accessor("VEC3", F32, false, &vectors(rng, COUNT, 0.5), 0), "NORMAL": bends },
            { "NORMAL": bends },
            { "POSITION": b.accessor("VEC3", F32, false, &vectors(rng, COUNT, 0.5), 12) },
        ],
        "attributes": {
            "POSITION": positions,
            "NORMAL": b.accessor("VEC3", I16, true, &normals, 8),
            "JOINTS_0": b.accessor("VEC4", U8, false, &joint_indices(rng, COUNT), 12),
            "WEIGHTS_0": b.accessor("VEC4", U8, true, &weights(rng, COUNT), 0),
            "JOINTS_1": b.accessor("VEC4", U16, false, &joint_indices(rng, COUNT), 0),
            "WEIGHTS_1": b.accessor("VEC4", U16, true, &weights(rng, COUNT), 0),
        },
    })
}

/// A fan of normalised 16-bit positions.
fn fan(b: &mut Builder, rng: &mut Rng) -> Value {
    let order = listed(9).into_iter().rev().collect::<Vec<_>>();
    json!({
        "mode": 6,
        "attributes": { "POSITION": b.accessor("VEC3", I16, true, &vectors(rng, 9, 0.9), 8) },
        "indices": b.accessor("SCALAR", U8, false, &order, 0),
        "targets": [
            { "POSITION": b.accessor("VEC3", I8, true, &vectors(rng, 9, 0.4), 4) },
            { "POSITION": b.accessor("VEC3", I16, false, &vectors(rng, 9, 1.4), 0) },
        ],
    })
}

/// Triangles over a sparse accessor without a base, with 32-bit indices.
fn zeros(b: &mut Builder, rng: &mut Rng) -> Value {
    let positions = b.accessor("VEC3", F32, false, &vectors(rng, 6, 1.0), 0);
    b.sparse(positions, &[0, 1, 2, 4], &vectors(rng, 4, 1.0), true);
    let sparse = b.accessor("VEC3", F32, false, &vectors(rng, 6, 0.0), 0);
    b.sparse(sparse, &[1, 2, 5], &vectors(rng, 3, 0.5), true);
    let over = b.accessor("VEC3", F32, false, &vectors(rng, 6, 0.5), 16);
    b.sparse(over, &[0, 3], &vectors(rng, 2, 0.5), false);
    json!({
        "attributes": { "POSITION": positions },
        "indices": b.accessor("SCALAR", U32, false, &listed(6), 0),
        "targets": [{ "POSITION": sparse }, { "POSITION": over }],
    })
}

/// Random morph weights from 0 to 1.
fn amounts(rng: &mut Rng, count: usize) -> Vec<Vec<f64>> {
    (0..count)
        .map(|_| vec![rng.range(0.0, 1.0).into()])
        .collect()
}

fn animation(b: &mut Builder, rng: &mut Rng) -> Value {
    let long = b.accessor(
        "SCALAR",
        F32,
        false,
        &[0.25, 0.5, 1.75, 2.0, 3.1].map(|t| vec![t]),
        0,
    );
    let short = b.accessor("SCALAR", F32, false, &[0.0, 1.3].map(|t| vec![t]), 0);
    let turns = rotations(rng, 5);
    let samplers = json!([
        { "input": long, "output": b.accessor("VEC4", I8, true, &turns, 0) },
        { "input": long, "output": b.accessor("VEC4", I16, true, &turns, 0), "interpolation": "STEP" },
        { "input": short, "output": b.accessor("VEC3", F32, false, &vectors(rng, 6, 1.0), 0), "interpolation": "CUBICSPLINE" },
        { "input": long, "output": b.accessor("VEC3", F32, false, &vectors(rng, 5, 1.0), 0), "interpolation": "LINEAR" },
        { "input": long, "output": b.accessor("VEC4", F32, false, &turns, 0) },
        { "input": short, "output": b.accessor("SCALAR", I16, true, &amounts(rng, 2 * 3 * 3), 0), "interpolation": "CUBICSPLINE" },
        { "input": long, "output": b.accessor("SCALAR", U8, true, &amounts(rng, 5 * 2), 0) },
        { "input": long, "output": b.accessor("SCALAR", F32, false, &amounts(rng, 5 * 2), 4), "interpolation": "STEP" },
    ]);
    let channel = |sampler: usize, node: usize, path: &str| json!({ "sampler": sampler, "target": { "node": node, "path": path } });
    json!({
        "name": "all",
        "samplers": samplers,
        "channels": [
            channel(0, 1, "rotation"), channel(1, 4, "rotation"), channel(2, 2, "translation"),
            channel(3, 2, "scale"), channel(2, 0, "scale"), channel(4, 7, "rotation"),
            channel(3, 8, "translation"), channel(3, 5, "translation"),
            channel(5, 6, "weights"), channel(6, 5, "weights"), channel(7, 7, "weights"),
            channel(6, 8, "weights"),
        ],
    })
}
