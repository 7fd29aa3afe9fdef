//! The bytes of the mannequin's file, as `src/builtin/file.rs` reads them.

use throng::glam::Vec3;
use throng::import::{RawChannel, RawCharacter, RawKeys, RawLevel, RawNode};

/// The bytes of a mannequin.
pub fn file(raw: &RawCharacter) -> Vec<u8> {
    let mut to = Bytes::default();
    let binds = &raw.skins[0].inverse_bind;
    to.count(raw.nodes.len());
    for (node, bind) in raw.nodes.iter().zip(binds) {
        to.node(node);
        to.numbers(&bind.to_cols_array());
    }
    let primitive = &raw.primitives[0];
    for vectors in [&primitive.positions, &primitive.normals] {
        to.vectors(vectors);
    }
    let mut paints: Vec<[f32; 4]> = Vec::new();
    let painted = primitive.colors.iter().map(|color| {
        let known = paints.iter().position(|paint| paint == color);
        known.unwrap_or_else(|| {
            paints.push(*color);
            paints.len() - 1
        }) as u8
    });
    let painted: Vec<u8> = painted.collect();
    to.count(paints.len());
    paints.iter().for_each(|paint| to.numbers(paint));
    to.count(painted.len());
    to.0.extend(painted);
    to.count(primitive.joints.len());
    to.0.extend(primitive.joints.iter().map(|joint| *joint as u8));
    to.count(primitive.weights.len());
    to.numbers(&primitive.weights);
    to.indices(&primitive.indices);
    let far = &raw.primitives[1..];
    let near = primitive.levels.len() - far.len();
    to.count(near);
    primitive.levels[..near]
        .iter()
        .for_each(|level| to.level(level));
    to.count(far.len());
    for (far, at) in far.iter().zip(near..) {
        for vectors in [&far.positions, &far.normals] {
            to.vectors(vectors);
        }
        to.count(far.colors.len());
        far.colors.iter().for_each(|color| to.numbers(color));
        to.count(far.joints.len());
        to.0.extend(far.joints.iter().map(|joint| *joint as u8));
        to.level(&far.levels[at]);
    }
    to.count(raw.animations.len());
    for animation in &raw.animations {
        to.name(&animation.name);
        to.clip(&animation.channels);
    }
    to.0
}

#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn count(&mut self, count: usize) {
        self.0.extend((count as u64).to_le_bytes());
    }

    fn numbers(&mut self, numbers: &[f32]) {
        self.0.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
    }

    fn vectors(&mut self, vectors: &[Vec3]) {
        self.count(vectors.len());
        vectors.iter().for_each(|v| self.numbers(&v.to_array()));
    }

    fn indices(&mut self, indices: &[u32]) {
        self.count(indices.len());
        let two = |index: &u32| u16::try_from(*index).expect("few vertices").to_le_bytes();
        self.0.extend(indices.iter().flat_map(two));
    }

    fn name(&mut self, name: &str) {
        self.count(name.len());
        self.0.extend(name.bytes());
    }

    fn node(&mut self, node: &RawNode) {
        self.name(&node.name);
        self.0.push(node.parent.is_some().into());
        node.parent.iter().for_each(|parent| self.count(*parent));
        self.numbers(&node.transform.translation.to_array());
        self.numbers(&node.transform.rotation.to_array());
        self.numbers(&node.transform.scale.to_array());
    }

    fn level(&mut self, level: &RawLevel) {
        self.indices(&level.indices);
        self.0.push(level.rigid.into());
        self.numbers(&[level.error_m, level.cover].map(|known| known.expect("a known figure")));
    }

    /// The hips' translations, then the rotations of all joints from the hips on.
    fn clip(&mut self, channels: &[RawChannel]) {
        let (hips, rotations) = channels.split_first().expect("channels");
        let RawKeys::Translation(keys) = &hips.values else {
            panic!("the hips move");
        };
        self.count(hips.times_s.len());
        self.numbers(&hips.times_s);
        self.count(keys.len());
        keys.iter().for_each(|key| self.numbers(&key.to_array()));
        self.count(rotations.len());
        for channel in rotations {
            let RawKeys::Rotation(keys) = &channel.values else {
                panic!("joints turn");
            };
            self.count(keys.len());
            keys.iter().for_each(|key| self.numbers(&key.to_array()));
        }
    }
}
