//! The packed words, read by a decoder that was written from their documentation alone.
//!
//! It computes in `f32`, as a shader does.

use crate::models::{Model, models};
use throng::character::Character;
use throng::glam::{Quat, Vec3};
use throng::skeleton::Transform;

struct Words<'a> {
    words: &'a [u32],
    character: &'a Character,
}

impl Words<'_> {
    /// Byte `at` of all.
    fn byte(&self, at: u32) -> u32 {
        self.words[(at / 4) as usize] >> (8 * (at % 4)) & 255
    }

    /// `count` bits from bit `at` on, of the words from `first` on.
    fn bits(&self, first: u32, at: u32, count: u32) -> u32 {
        let mut value = 0;
        for bit in 0..count {
            let at = at + bit;
            value |= (self.words[(first + at / 32) as usize] >> (at % 32) & 1) << bit;
        }
        value
    }

    /// One key of a lane: row number `row`, frame `frame`.
    fn key(&self, row: u32, frame: u32, lane: u32) -> f32 {
        let row = self.words[5] + 19 * row;
        let min = f32::from_bits(self.words[(row + lane) as usize]);
        let half = row * 4 + 32 + 2 * lane;
        let scale = self.byte(half) << 16 | self.byte(half + 1) << 24;
        let [byte, up, down] = [48, 56, 64].map(|table| self.byte(row * 4 + table + lane));
        let window = self.words[(row + 18) as usize];
        let at = (frame * self.words[2] + window + byte) * 8 + down - up;
        min + f32::from_bits(scale) * self.bits(self.words[6], at, 32 - down) as f32
    }

    /// A property's components at `u` of the way from frame `from` to `to`.
    fn property<const N: usize>(
        &self,
        joint: u32,
        property: u32,
        rest: [f32; N],
        (from, to, u): (u32, u32, f32),
    ) -> [f32; N] {
        let (block, lane) = (joint / 8, joint % 8);
        let entry = self.words[(self.words[3] + 3 * block + property) as usize];
        if entry == u32::MAX {
            return rest;
        }
        if entry < 1 << 31 {
            return std::array::from_fn(|k| {
                let at = self.words[4] + 8 * (entry + k as u32) + lane;
                f32::from_bits(self.words[at as usize])
            });
        }
        let row = entry & !(1 << 31);
        let a: [f32; N] = std::array::from_fn(|k| self.key(row + k as u32, from, lane));
        let b: [f32; N] = std::array::from_fn(|k| self.key(row + k as u32, to, lane));
        let mut u = u;
        if property == 0 {
            let w = 1.0 - (0..N).map(|i| a[i] * b[i]).sum::<f32>();
            let k = u * (1.0 - u) * (1.0 - 2.0 * u);
            u += w * (k / 3.0 + w * k * (0.141_488_76 - 0.288_535_9 * u * (1.0 - u)));
        }
        std::array::from_fn(|k| a[k] + (b[k] - a[k]) * u)
    }

    fn joint(&self, joint: u32, place: (u32, u32, f32)) -> Transform {
        let rest = self.character.skeleton().joints()[joint as usize].rest;
        let turn = self.property(joint, 0, rest.rotation.to_array(), place);
        Transform {
            rotation: Quat::from_array(turn).normalize(),
            translation: Vec3::from_array(self.property(
                joint,
                1,
                rest.translation.to_array(),
                place,
            )),
            scale: Vec3::from_array(self.property(joint, 2, rest.scale.to_array(), place)),
        }
    }

    /// The time of a frame.
    fn time(&self, frame: u32) -> f64 {
        let [start, end, rate] = [7, 8, 9].map(|at| f64::from(f32::from_bits(self.words[at])));
        if frame + 1 == self.words[1] {
            return end;
        }
        let offset = match self.words[10] {
            0 => 0,
            table => {
                let half = self.words[(table + frame / 2) as usize] >> (16 * (frame % 2));
                i32::from(half as u16 as i16)
            }
        };
        start + (f64::from(frame) + f64::from(offset) / 65536.0) / rate
    }
}

#[test]
fn words_mean_what_their_description_says() {
    let mut decoded = 0;
    for model in models() {
        let Model {
            name, character, ..
        } = model;
        for (raw, clip) in character.curves().iter().zip(model.packed()) {
            let Some(words) = clip.packed_words() else {
                continue;
            };
            let words = Words {
                words: &words,
                character,
            };
            let joints = character.skeleton().len() as u32;
            assert_eq!(
                (words.words[0], words.words[1]),
                (joints, clip.report().frames as u32)
            );
            let kept: Vec<u16> = if clip.report().kept_tracks > 0 {
                raw.tracks().iter().map(|track| track.joint.0).collect()
            } else {
                Vec::new()
            };
            let last = words.words[1] - 1;
            let mut got = vec![Transform::IDENTITY; joints as usize];
            for (from, u) in (0..last)
                .step_by((last as usize / 8).max(1))
                .zip([0.0, 0.3, 0.85].into_iter().cycle())
            {
                let (start, end) = (words.time(from), words.time(from + 1));
                assert!(start < end, "{name}");
                let time = start + (end - start) * f64::from(u);
                clip.sample(time, &mut got).unwrap();
                for joint in (0..joints).filter(|joint| !kept.contains(&(*joint as u16))) {
                    let want = words.joint(joint, (from, from + 1, u));
                    let got = got[joint as usize];
                    // The times above were rounded to `f32`. Keys an eighth of a turn apart make at
                    // most 3e-5 of that.
                    let near = |a: &[f32], b: &[f32]| {
                        a.iter()
                            .zip(b)
                            .all(|(a, b)| (a - b).abs() <= 1e-4 * (1.0 + a.abs()))
                    };
                    assert!(
                        near(&want.rotation.to_array(), &got.rotation.to_array())
                            && near(&want.translation.to_array(), &got.translation.to_array())
                            && near(&want.scale.to_array(), &got.scale.to_array()),
                        "{name} {} joint {joint} at {time}: {want:?} {got:?}",
                        raw.name()
                    );
                    decoded += 1;
                }
            }
        }
    }
    assert!(decoded > 100, "{decoded}");
}
