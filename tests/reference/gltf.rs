//! Reads a scene from the JSON and the little-endian bytes of a `.glb` or `.gltf` file.
//!
//! Only for valid files. Any other file panics.

use super::maths::{Q, V3, from_columns};
use super::scene::{
    Channel, Clip, Curve, Local, Morph, Node, Part, Path as Property, Scene, Skin, Target,
    normalised,
};
use serde_json::Value;
use std::path::Path;

struct File {
    json: Value,
    buffers: Vec<Vec<u8>>,
}

pub fn load(path: &Path) -> Scene {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (json, chunk) = split(&bytes);
    let json: Value = serde_json::from_slice(json).expect("JSON");
    let buffers = list(&json["buffers"])
        .iter()
        .map(|buffer| match buffer["uri"].as_str() {
            None => chunk.expect("a binary chunk").to_vec(),
            Some(uri) => match uri.strip_prefix("data:") {
                Some(data) => base64(data.split_once(";base64,").expect("base64").1),
                None => std::fs::read(path.with_file_name(unescape(uri))).expect(uri),
            },
        })
        .collect();
    File { json, buffers }.scene()
}

/// The JSON, and the binary chunk if there is one.
fn split(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    if !bytes.starts_with(b"glTF") {
        return (bytes, None);
    }
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let end = 20 + word(12);
    let binary = (bytes.len() >= end + 8).then(|| &bytes[end + 8..end + 8 + word(end)]);
    (&bytes[20..end], binary)
}

fn base64(text: &str) -> Vec<u8> {
    let (mut out, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes().filter(|b| *b != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => panic!("not base64: {letter}"),
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

fn unescape(uri: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), uri.as_bytes());
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let hex = std::str::from_utf8(&tail[..2]).unwrap();
            out.push(u8::from_str_radix(hex, 16).unwrap());
            rest = &tail[2..];
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(out).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().map(|v| v as usize)
}

fn indices(value: &Value) -> Vec<usize> {
    list(value).iter().map(|v| index(v).unwrap()).collect()
}

fn numbers<const N: usize>(value: &Value, default: [f64; N]) -> [f64; N] {
    match value.as_array() {
        Some(list) => std::array::from_fn(|k| narrow(list[k].as_f64().unwrap())),
        None => default,
    }
}

/// Rounds to single precision.
///
/// glTF's numbers are meant as single precision, so further digits in the JSON are noise.
fn narrow(value: f64) -> f64 {
    f64::from(value as f32)
}

impl File {
    fn scene(&self) -> Scene {
        let mut nodes: Vec<Node> = list(&self.json["nodes"]).iter().map(node).collect();
        for (parent, json) in list(&self.json["nodes"]).iter().enumerate() {
            for child in indices(&json["children"]) {
                nodes[child].parent = Some(parent);
            }
        }
        let skins = list(&self.json["skins"]).iter().map(|json| {
            let matrices = index(&json["inverseBindMatrices"]).map(|a| self.accessor(a));
            Skin::new(indices(&json["joints"]), &matrices.unwrap_or_default())
        });
        let clips = list(&self.json["animations"]).iter().map(|json| Clip {
            name: json["name"].as_str().unwrap_or_default().into(),
            channels: self.channels(json),
        });
        let morphs = self.morphs();
        Scene {
            skins: skins.collect(),
            clips: clips.collect(),
            parts: self.parts(&nodes, &morphs),
            morphs,
            nodes,
        }
    }

    /// Nodes of the default scene, otherwise of the first scene, otherwise all nodes.
    fn visible(&self, nodes: &[Node]) -> Vec<bool> {
        let scenes = list(&self.json["scenes"]);
        let Some(scene) = scenes.get(index(&self.json["scene"]).unwrap_or(0)) else {
            return vec![true; nodes.len()];
        };
        let roots = indices(&scene["nodes"]);
        let root = |mut node: usize| {
            while let Some(parent) = nodes[node].parent {
                node = parent;
            }
            roots.contains(&node)
        };
        (0..nodes.len()).map(root).collect()
    }

    /// Nodes whose mesh has targets.
    ///
    /// The weights are the node's own, otherwise the mesh's, otherwise zeros.
    fn morphs(&self) -> Vec<Morph> {
        let nodes = list(&self.json["nodes"]).iter().enumerate();
        let morphs = nodes.filter_map(|(node, json)| {
            let mesh = &self.json["meshes"][index(&json["mesh"])?];
            let count = list(&mesh["primitives"][0]["targets"]).len();
            let given = [&json["weights"], &mesh["weights"]];
            let given = given.into_iter().find(|w| !list(w).is_empty());
            let rest = match given {
                Some(weights) => list(weights)
                    .iter()
                    .map(|w| narrow(w.as_f64().unwrap()))
                    .collect(),
                None => vec![0.0; count],
            };
            let names = list(&mesh["extras"]["targetNames"]).iter();
            let names = names.map(|name| name.as_str().unwrap_or_default().into());
            let names = names.collect();
            (count > 0).then_some(Morph { node, rest, names })
        });
        morphs.collect()
    }

    fn parts(&self, nodes: &[Node], morphs: &[Morph]) -> Vec<Part> {
        let visible = self.visible(nodes);
        let mut parts = Vec::new();
        for (node, json) in list(&self.json["nodes"]).iter().enumerate() {
            let Some(mesh) = index(&json["mesh"]).filter(|_| visible[node]) else {
                continue;
            };
            for primitive in list(&self.json["meshes"][mesh]["primitives"]) {
                let mode = index(&primitive["mode"]).unwrap_or(4);
                if mode >= 4 {
                    let mut part = self.part(node, index(&json["skin"]), primitive, mode);
                    part.morph = morphs.iter().position(|m| m.node == node);
                    parts.push(part);
                }
            }
        }
        parts
    }

    fn part(&self, node: usize, skin: Option<usize>, json: &Value, mode: usize) -> Part {
        let attribute = |name: &str| index(&json["attributes"][name]).map(|a| self.accessor(a));
        let vectors = |name: &str| -> Vec<V3> {
            let values = attribute(name).unwrap_or_default();
            values.iter().map(|v| [v[0], v[1], v[2]]).collect()
        };
        let positions = vectors("POSITION");
        let mut influences = vec![Vec::new(); positions.len()];
        for set in 0.. {
            let Some(joints) = attribute(&format!("JOINTS_{set}")).filter(|_| skin.is_some())
            else {
                break;
            };
            let weights = attribute(&format!("WEIGHTS_{set}")).expect("weights");
            for (vertex, (joints, weights)) in joints.iter().zip(&weights).enumerate() {
                let pairs = joints.iter().zip(weights);
                influences[vertex].extend(pairs.map(|(j, w)| (*j as usize, *w)));
            }
        }
        let corners: Vec<usize> = match index(&json["indices"]) {
            Some(accessor) => self
                .accessor(accessor)
                .iter()
                .map(|v| v[0] as usize)
                .collect(),
            None => (0..positions.len()).collect(),
        };
        let targets = list(&json["targets"]).iter().map(|target| {
            let deltas = |name: &str| -> Vec<V3> {
                let values = index(&target[name]).map(|a| self.accessor(a));
                let values = values.unwrap_or_default();
                values.iter().map(|v| [v[0], v[1], v[2]]).collect()
            };
            Target {
                positions: deltas("POSITION"),
                normals: deltas("NORMAL"),
            }
        });
        Part {
            morph: None,
            targets: targets.collect(),
            node,
            skin,
            influences: match skin {
                Some(_) => influences.into_iter().map(normalised).collect(),
                None => Vec::new(),
            },
            normals: vectors("NORMAL"),
            positions,
            triangles: triangles(&corners, mode),
        }
    }

    fn channels(&self, animation: &Value) -> Vec<Channel> {
        let mut channels = Vec::new();
        for json in list(&animation["channels"]) {
            let path = match json["target"]["path"].as_str() {
                Some("translation") => Property::Translation,
                Some("rotation") => Property::Rotation,
                Some("scale") => Property::Scale,
                Some("weights") => Property::Weights,
                _ => continue,
            };
            let Some(node) = index(&json["target"]["node"]) else {
                continue;
            };
            let sampler = &animation["samplers"][index(&json["sampler"]).unwrap()];
            channels.push(Channel {
                node,
                path,
                curve: match sampler["interpolation"].as_str() {
                    Some("STEP") => Curve::Step,
                    Some("CUBICSPLINE") => Curve::Cubic,
                    _ => Curve::Linear,
                },
                times: self.accessor(index(&sampler["input"]).unwrap()).concat(),
                values: match path {
                    Property::Weights => {
                        let mesh = index(&self.json["nodes"][node]["mesh"]).unwrap();
                        let primitive = &self.json["meshes"][mesh]["primitives"][0];
                        let count = list(&primitive["targets"]).len();
                        let all = self.accessor(index(&sampler["output"]).unwrap()).concat();
                        all.chunks_exact(count).map(<[f64]>::to_vec).collect()
                    }
                    _ => self.accessor(index(&sampler["output"]).unwrap()),
                },
            });
        }
        channels
    }

    /// The elements of an accessor, each as a list of numbers.
    fn accessor(&self, at: usize) -> Vec<Vec<f64>> {
        let json = &self.json["accessors"][at];
        let width = match json["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            other => panic!("{other}"),
        };
        let kind = index(&json["componentType"]).unwrap();
        let scale = if json["normalized"] == true {
            largest(kind)
        } else {
            1.0
        };
        let count = index(&json["count"]).unwrap();
        let mut elements = match index(&json["bufferView"]) {
            Some(view) => self.elements(view, &json["byteOffset"], kind, width, count),
            None => vec![vec![0.0; width]; count],
        };
        let sparse = &json["sparse"];
        if let Some(count) = index(&sparse["count"]) {
            let (at, with) = (&sparse["indices"], &sparse["values"]);
            let view = |json: &Value| index(&json["bufferView"]).unwrap();
            let index_kind = index(&at["componentType"]).unwrap();
            let places = self.elements(view(at), &at["byteOffset"], index_kind, 1, count);
            let values = self.elements(view(with), &with["byteOffset"], kind, width, count);
            for (place, value) in places.iter().zip(values) {
                elements[place[0] as usize] = value;
            }
        }
        for value in elements.iter_mut().flatten() {
            *value /= scale;
            // Signed integers have one more value below zero than above.
            if scale > 1.0 {
                *value = value.max(-1.0);
            }
        }
        elements
    }

    fn elements(
        &self,
        view: usize,
        offset: &Value,
        kind: usize,
        width: usize,
        count: usize,
    ) -> Vec<Vec<f64>> {
        let view = &self.json["bufferViews"][view];
        let bytes = &self.buffers[index(&view["buffer"]).unwrap()];
        let start = index(&view["byteOffset"]).unwrap_or(0) + index(offset).unwrap_or(0);
        let stride = index(&view["byteStride"]).unwrap_or(width * size(kind));
        let element = |at: usize| {
            let at = start + at * stride;
            (0..width)
                .map(|k| component(kind, &bytes[at + k * size(kind)..]))
                .collect()
        };
        (0..count).map(element).collect()
    }
}

fn node(json: &Value) -> Node {
    let local = match json["matrix"].as_array() {
        Some(_) => Local::Matrix(from_columns(&numbers(&json["matrix"], [0.0; 16]))),
        None => Local::Trs {
            t: numbers(&json["translation"], [0.0; 3]),
            r: numbers::<4>(&json["rotation"], [0.0, 0.0, 0.0, 1.0]) as Q,
            s: numbers(&json["scale"], [1.0; 3]),
        },
    };
    Node {
        name: json["name"].as_str().unwrap_or_default().into(),
        parent: None,
        local,
    }
}

fn size(kind: usize) -> usize {
    match kind {
        5120 | 5121 => 1,
        5122 | 5123 => 2,
        _ => 4,
    }
}

fn largest(kind: usize) -> f64 {
    match kind {
        5120 => 127.0,
        5121 => 255.0,
        5122 => 32767.0,
        5123 => 65535.0,
        _ => panic!("{kind} is not normalised"),
    }
}

fn component(kind: usize, bytes: &[u8]) -> f64 {
    let four = || bytes[..4].try_into().unwrap();
    match kind {
        5120 => f64::from(bytes[0] as i8),
        5121 => f64::from(bytes[0]),
        5122 => f64::from(i16::from_le_bytes([bytes[0], bytes[1]])),
        5123 => f64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
        5125 => f64::from(u32::from_le_bytes(four())),
        5126 => f64::from(f32::from_le_bytes(four())),
        _ => panic!("component type {kind}"),
    }
}

/// Triangles of a list (4), a strip (5) or a fan (6), wound as the specification says.
fn triangles(corners: &[usize], mode: usize) -> Vec<[usize; 3]> {
    let count = corners.len();
    match mode {
        4 => corners
            .chunks_exact(3)
            .map(|c| [c[0], c[1], c[2]])
            .collect(),
        5 => (0..count.saturating_sub(2))
            .map(|i| [corners[i], corners[i + 1 + i % 2], corners[i + 2 - i % 2]])
            .collect(),
        _ => (1..count.saturating_sub(1))
            .map(|i| [corners[i], corners[i + 1], corners[0]])
            .collect(),
    }
}
