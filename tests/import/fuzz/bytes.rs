//! Mutants by their bytes: flipped, cut, random, odd numbers, and images.

use super::invariants::{digest, options};
use super::mutants::{Random, factor};
use super::seeds::{everything, seeds};
use crate::builder::{self, arm, triangle};
use crate::reference::sweep::rounds;
use serde_json::json;

#[test]
fn seeds_import() {
    for seed in seeds() {
        assert!(
            digest(&seed),
            "{:?}",
            throng_import::bytes(&seed, &options("")).err()
        );
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let mut random = Random::new(1);
    let (mut good, mut bad) = (0, 0);
    for seed in seeds() {
        // Most bytes of large files are numbers of vertices and keys.
        let rounds = if seed.len() > 50_000 { 80 } else { 1500 };
        for _ in 0..rounds * factor() {
            let mut bytes = seed.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] = match random.below(4) {
                    0 => bytes[at] ^ 1 << random.below(8),
                    1 => 0xFF,
                    2 => 0,
                    _ => random.next() as u8,
                };
            }
            *(if digest(&bytes) { &mut good } else { &mut bad }) += 1;
        }
    }
    assert!(good > 100 && bad > 100, "{good} imported, {bad} refused");
}

#[test]
fn truncations_never_panic() {
    for seed in seeds() {
        let step = (seed.len() / 400).max(1);
        for end in (0..seed.len()).step_by(step) {
            digest(&seed[..end]);
        }
    }
}

#[test]
fn random_bytes_after_a_header_never_panic() {
    let mut random = Random::new(2);
    for _ in 0..2000 * factor() {
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend((0..random.below(80)).map(|_| random.next() as u8));
        if random.below(2) == 0 && bytes.len() > 20 {
            let length = bytes.len() as u32;
            bytes[8..12].copy_from_slice(&length.to_le_bytes());
            bytes[12..16].copy_from_slice(&(length - 20).to_le_bytes());
            bytes[16..20].copy_from_slice(b"JSON");
        }
        digest(&bytes);
    }
}

#[test]
fn images_of_any_bytes_never_panic() {
    let mut random = Random::new(4);
    let gradient = (0..17_usize).flat_map(|y| (0..23).map(move |x| (x, y)));
    let gradient = gradient.flat_map(|(x, y)| [x * 11, y * 15, x * y].map(|value| value as u8));
    let gradient: Vec<u8> = gradient.collect();
    let (color, depth) = (png::ColorType::Rgb, png::BitDepth::Eight);
    let seeds = [
        builder::png((23, 17), color, depth, &gradient),
        include_bytes!("../pictures/baseline.jpg").to_vec(),
        include_bytes!("../pictures/progressive.jpg").to_vec(),
        include_bytes!("../pictures/lossless_alpha.webp").to_vec(),
        include_bytes!("../pictures/lossy_alpha.webp").to_vec(),
        include_bytes!("../pictures/astc.ktx2").to_vec(),
        include_bytes!("../pictures/etc1s.ktx2").to_vec(),
        include_bytes!("../pictures/etc1s_alpha.ktx2").to_vec(),
        include_bytes!("../pictures/uastc.ktx2").to_vec(),
    ];
    for seed in seeds {
        for _ in 0..rounds(2000) * factor() {
            let mut bytes = seed.clone();
            for _ in 0..=random.below(6) {
                let at = random.below(bytes.len());
                bytes[at] = random.next() as u8;
            }
            bytes.truncate(bytes.len() - random.below(3) * random.below(bytes.len()) / 4);
            let mut b = triangle();
            let view = b.view(&bytes);
            b.add("images", json!({ "bufferView": view }));
            b.add("textures", json!({ "source": 0 }));
            b.add(
                "materials",
                json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }),
            );
            b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
            digest(&b.glb());
        }
    }
}

#[test]
fn floats_of_every_kind_never_panic() {
    let odd = [
        f32::NAN,
        f32::INFINITY,
        -f32::INFINITY,
        f32::MAX,
        f32::MIN_POSITIVE,
        1e-45,
        -0.0,
        -1.0,
    ];
    for seed in [everything(), arm()] {
        for at in (0..seed.bin.len() - 4).step_by(4) {
            for value in odd {
                let mut b = seed.clone();
                b.bin[at..at + 4].copy_from_slice(&value.to_le_bytes());
                digest(&b.glb());
            }
        }
    }
}
