//! Builds glTF files, valid or not, for tests.

#![allow(dead_code, reason = "each test file uses its own part of this")]

use serde_json::{Value, json};

pub(crate) const I8: u32 = 5120;
pub(crate) const U8: u32 = 5121;
pub(crate) const I16: u32 = 5122;
pub(crate) const U16: u32 = 5123;
pub(crate) const U32: u32 = 5125;
pub(crate) const F32: u32 = 5126;

/// A PNG of the format that `color` and `depth` say, from its bytes.
pub(crate) fn png(
    (width, height): (u32, u32),
    color: png::ColorType,
    depth: png::BitDepth,
    bytes: &[u8],
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(bytes).unwrap();
    writer.finish().unwrap();
    file
}

/// A black PNG of 8-bit grey.
pub(crate) fn grey_png(width: u32, height: u32) -> Vec<u8> {
    let bytes = vec![0; (width * height) as usize];
    png(
        (width, height),
        png::ColorType::Grayscale,
        png::BitDepth::Eight,
        &bytes,
    )
}

/// A document and one buffer.
#[derive(Clone)]
pub(crate) struct Builder {
    pub(crate) json: Value,
    pub(crate) bin: Vec<u8>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            json: json!({ "asset": { "version": "2.0" } }),
            bin: Vec::new(),
        }
    }
}

/// Little-endian bytes of numbers.
pub(crate) trait Bytes: Copy {
    fn put(self, out: &mut Vec<u8>);
}

macro_rules! bytes {
    ($($t:ty),*) => {$(
        impl Bytes for $t {
            fn put(self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
        }
    )*};
}
bytes!(i8, u8, i16, u16, u32, f32);

impl Builder {
    /// Appends an object to a top-level list, which is made if it is not there.
    pub(crate) fn add(&mut self, list: &str, value: Value) -> usize {
        if self.json[list].is_null() {
            self.json[list] = json!([]);
        }
        let list = self.json[list].as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    /// A view of these numbers.
    pub(crate) fn view<T: Bytes>(&mut self, values: &[T]) -> usize {
        while !self.bin.len().is_multiple_of(4) {
            self.bin.push(0);
        }
        let start = self.bin.len();
        for value in values {
            value.put(&mut self.bin);
        }
        let length = self.bin.len() - start;
        self.add(
            "bufferViews",
            json!({ "buffer": 0, "byteOffset": start, "byteLength": length }),
        )
    }

    /// An accessor of these numbers, tightly packed.
    pub(crate) fn accessor<T: Bytes>(&mut self, kind: &str, component: u32, values: &[T]) -> usize {
        let per = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let view = self.view(values);
        self.add(
            "accessors",
            json!({
                "bufferView": view, "componentType": component,
                "type": kind, "count": values.len() / per,
            }),
        )
    }

    /// Adds an accessor of normalised values.
    pub(crate) fn normalized<T: Bytes>(
        &mut self,
        kind: &str,
        component: u32,
        values: &[T],
    ) -> usize {
        let accessor = self.accessor(kind, component, values);
        self.json["accessors"][accessor]["normalized"] = json!(true);
        accessor
    }

    /// The JSON with a buffer of the right size.
    fn finished(&self, uri: Option<String>) -> Value {
        let mut json = self.json.clone();
        if json["buffers"].is_null() && !self.bin.is_empty() {
            json["buffers"] = json!([{ "byteLength": self.bin.len() }]);
            if let Some(uri) = uri {
                json["buffers"][0]["uri"] = json!(uri);
            }
        }
        json
    }

    /// A `.glb` file.
    pub(crate) fn glb(&self) -> Vec<u8> {
        glb(self.finished(None).to_string().as_bytes(), Some(&self.bin))
    }

    /// A `.gltf` file with a data URI.
    pub(crate) fn gltf(&self) -> Vec<u8> {
        let uri = format!("data:application/octet-stream;base64,{}", base64(&self.bin));
        self.finished(Some(uri)).to_string().into_bytes()
    }

    /// A `.gltf` file that refers to its buffer by this URI.
    pub(crate) fn gltf_beside(&self, uri: &str) -> Vec<u8> {
        self.finished(Some(uri.into())).to_string().into_bytes()
    }
}

/// A `.glb` file of these chunks.
pub(crate) fn glb(json: &[u8], bin: Option<&[u8]>) -> Vec<u8> {
    let mut chunks = Vec::new();
    let mut chunk = |kind: &[u8; 4], data: &[u8], pad: u8| {
        let padded = data.len().next_multiple_of(4);
        chunks.extend((padded as u32).to_le_bytes());
        chunks.extend(kind);
        chunks.extend(data);
        chunks.resize(chunks.len() + padded - data.len(), pad);
    };
    chunk(b"JSON", json, b' ');
    if let Some(bin) = bin {
        chunk(b"BIN\0", bin, 0);
    }
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((chunks.len() as u32 + 12).to_le_bytes());
    file.extend(chunks);
    file
}

/// Base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word = (0..3).fold(0, |word, at| {
            word << 8 | u32::from(three.get(at).copied().unwrap_or(0))
        });
        for at in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * at) & 63) as usize] as char;
            text.push(if at <= three.len() { digit } else { '=' });
        }
    }
    text
}

/// An arm of two joints, 1 m each, skinned to a ladder of six vertices (four triangles), bent by
/// one clip: nodes 0 (the mesh), 1 (root, not a joint), 2 and 3 (the joints).
pub(crate) fn arm() -> Builder {
    let mut b = Builder::default();
    let positions: Vec<f32> = (0..3)
        .flat_map(|y| [[-0.5, y as f32, 0.0], [0.5, y as f32, 0.0]])
        .flatten()
        .collect();
    let position = b.accessor("VEC3", F32, &positions);
    let joints: Vec<u8> = [[0, 1, 0, 0]; 6].concat();
    let joints = b.accessor("VEC4", U8, &joints);
    let weights: Vec<f32> = [1.0, 1.0, 0.5, 0.5, 0.0, 0.0_f32]
        .iter()
        .flat_map(|w| [*w, 1.0 - w, 0.0, 0.0])
        .collect();
    let weights = b.accessor("VEC4", F32, &weights);
    let indices = b.accessor("SCALAR", U16, &[0_u16, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4]);
    let binds: Vec<f32> = [0.0, 1.0_f32].iter().flat_map(|y| at_height(-y)).collect();
    let binds = b.accessor("MAT4", F32, &binds);
    let times = b.accessor("SCALAR", F32, &[0.0_f32, 0.5, 1.0]);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let turns = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half, 0.0, 0.0, 0.0, 1.0];
    let turns = b.accessor("VEC4", F32, &turns);
    b.json["meshes"] = json!([{ "name": "Ladder", "primitives": [{
        "attributes": { "POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights },
        "indices": indices, "material": 0,
    }]}]);
    b.json["materials"] = json!([{ "name": "Skin", "pbrMetallicRoughness": {
        "baseColorFactor": [0.5, 0.25, 0.125, 1.0] } }]);
    b.json["nodes"] = json!([
        { "name": "Body", "mesh": 0, "skin": 0, "translation": [100.0, 0.0, 0.0] },
        { "name": "Root", "children": [2] },
        { "name": "Upper", "children": [3] },
        { "name": "Lower", "translation": [0.0, 1.0, 0.0] },
    ]);
    b.json["skins"] = json!([{ "name": "Arm", "joints": [2, 3], "inverseBindMatrices": binds }]);
    b.json["animations"] = json!([{ "name": "Bend",
        "samplers": [{ "input": times, "output": turns, "interpolation": "LINEAR" }],
        "channels": [{ "sampler": 0, "target": { "node": 3, "path": "rotation" } }],
    }]);
    b.json["scenes"] = json!([{ "nodes": [0, 1] }]);
    b.json["scene"] = json!(0);
    b
}

/// A triangle without a skin on node 0: (0,0,0), (1,0,0), (0,1,0).
pub(crate) fn triangle() -> Builder {
    let mut b = Builder::default();
    let corners = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0_f32];
    let position = b.accessor("VEC3", F32, &corners);
    b.json["meshes"] = json!([{ "primitives": [{ "attributes": { "POSITION": position } }] }]);
    b.json["nodes"] = json!([{ "mesh": 0 }]);
    b.json["scenes"] = json!([{ "nodes": [0] }]);
    b
}

/// The matrix that lifts by `y`, column by column.
pub(crate) fn at_height(y: f32) -> [f32; 16] {
    let mut m = [0.0; 16];
    [m[0], m[5], m[10], m[15], m[13]] = [1.0, 1.0, 1.0, 1.0, y];
    m
}
