//! A crowd of one character, and the ways to pose it.

use crate::staged::Staged;
use crate::{Outcome, skeleton};
use std::f32::consts::TAU;
use std::hint::black_box;
use throng::character::{Character, Interpolation, Transform};
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{
    ImportOptions, RawAnimation, RawChannel, RawCharacter, RawKeys, RawNode, RawPrimitive, RawSkin,
    RawTransform,
};
use throng::pose::{
    BatchInstance, BatchPoser, Clip, ClipOptions, ClipSample, Mat3x4, Poser, WriteOnly,
};

/// Keys a second of the clips, as most exporters bake them.
pub(crate) const KEYS_HZ: usize = 30;
/// What a clip lasts.
const SECONDS: usize = 2;
/// How far a joint turns to either side, in radians.
const SWING: f32 = 0.6;

/// What the clips move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Every joint's rotation, and the root's translation: as most clips of characters.
    Rotations,
    /// Every property of every joint, so that nothing can be folded.
    All,
}

impl Keys {
    pub(crate) const ALL: [Self; 2] = [Self::Rotations, Self::All];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rotations => "rotations",
            Self::All => "all",
        }
    }
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Plain glam code in stages, on raw keys.
    Staged,
    /// [`Poser`], on the file's curves; of a single clip only.
    Poser,
    /// [`BatchPoser`], with the best code that the CPU has.
    Batch,
    /// The same in plain code.
    Portable,
    /// A copy of what the others write.
    Memcpy,
}

impl Figure {
    pub(crate) const ALL: [Self; 5] = [
        Self::Staged,
        Self::Poser,
        Self::Batch,
        Self::Portable,
        Self::Memcpy,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Poser => "Poser",
            Self::Batch => "BatchPoser",
            Self::Portable => "portable",
            Self::Memcpy => "memcpy",
        }
    }
}

pub(crate) struct Load {
    pub(crate) keys: Keys,
    pub(crate) joints: usize,
    pub(crate) blended: usize,
    pub(crate) instances: Vec<BatchInstance>,
    pub(crate) clips: Vec<Clip>,
    pub(crate) batch: BatchPoser,
    character: Character,
    portable: BatchPoser,
    poser: Poser,
    staged: Staged,
    out: Vec<Mat3x4>,
    copied: Vec<Mat3x4>,
}

impl Load {
    /// `blended` clips an instance, each at a time of its own.
    pub(crate) fn new(
        keys: Keys,
        joints: usize,
        instances: usize,
        blended: usize,
    ) -> Outcome<Self> {
        let character = character(keys, joints)?;
        let clips = character.clips().iter();
        let clips = clips.map(|clip| Clip::new(&character, clip, &ClipOptions::default()));
        let mut random = Random(9);
        let mut instance = || {
            let sample = |clip| ClipSample {
                clip,
                time_s: f64::from(random.unit()) * SECONDS as f64,
                weight: 0.2 + random.unit(),
                mask: None,
                level: 0,
            };
            BatchInstance::blend(&(0..blended).map(sample).collect::<Vec<_>>())
        };
        let out = vec![Mat3x4::IDENTITY; instances * character.palette().len()];
        Ok(Self {
            keys,
            joints,
            blended,
            instances: (0..instances)
                .map(|_| instance())
                .collect::<Result<_, _>>()?,
            clips: clips.collect::<Result<_, _>>()?,
            batch: BatchPoser::new(&character)?,
            portable: BatchPoser::new(&character)?.portable(),
            poser: Poser::new(),
            staged: Staged::new(&character)?,
            copied: out.clone(),
            out,
            character,
        })
    }

    pub(crate) fn run(&mut self, figure: Figure) -> Outcome {
        match figure {
            Figure::Staged => {
                let palettes = self.out.chunks_exact_mut(self.character.palette().len());
                for (instance, out) in self.instances.iter().zip(palettes) {
                    let samples = &instance.samples[..self.blended];
                    self.staged.palette(&self.character, samples, out);
                }
            }
            Figure::Poser if self.blended > 1 => {}
            Figure::Poser => {
                let palettes = self.out.chunks_exact_mut(self.character.palette().len());
                for (instance, out) in self.instances.iter().zip(palettes) {
                    let sample = &instance.samples[0];
                    let clip = Some((sample.clip, sample.time_s));
                    let out = WriteOnly::over(out);
                    self.poser.palette(&self.character, clip, out)?;
                }
            }
            Figure::Batch => {
                let out = WriteOnly::over(&mut self.out);
                self.batch.palettes(&self.clips, &self.instances, out)?;
            }
            Figure::Portable => {
                let out = WriteOnly::over(&mut self.out);
                self.portable.palettes(&self.clips, &self.instances, out)?;
            }
            Figure::Memcpy => self.copied.copy_from_slice(black_box(&self.out)),
        }
        black_box((&self.out, &self.copied));
        Ok(())
    }
}

/// A character with three clips.
fn character(keys: Keys, joints: usize) -> Outcome<Character> {
    let places = skeleton::joints(joints);
    let node = |place: &skeleton::Place| RawNode {
        name: place.name.clone().into(),
        parent: place.parent,
        transform: RawTransform::Trs(Transform {
            translation: place.offset,
            ..Transform::IDENTITY
        }),
    };
    let inverse_bind = |place: &skeleton::Place| Mat4::from_translation(-place.position);
    // A triangle around each joint, so that the palette has all of them.
    let corners = |place: &skeleton::Place| {
        [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| place.position + axis * 0.02)
    };
    let raw = RawCharacter {
        nodes: places.iter().map(node).collect(),
        skins: vec![RawSkin {
            joints: (0..joints).collect(),
            inverse_bind: places.iter().map(inverse_bind).collect(),
            ..RawSkin::default()
        }],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: places.iter().flat_map(corners).collect(),
            influences_per_vertex: 1,
            joints: (0..joints as u32).flat_map(|joint| [joint; 3]).collect(),
            weights: vec![1.0; joints * 3],
            indices: (0..joints as u32 * 3).collect(),
            ..RawPrimitive::default()
        }],
        animations: (0..3).map(|seed| animation(keys, &places, seed)).collect(),
        ..RawCharacter::default()
    };
    Ok(raw.build(&ImportOptions::default())?.character)
}

fn animation(keys: Keys, places: &[skeleton::Place], seed: usize) -> RawAnimation {
    let all = keys == Keys::All;
    let channels = places.iter().enumerate().flat_map(|(joint, place)| {
        let turn = (joint + 41 * seed) as f32;
        let axis = Vec3::new(turn.sin(), (1.7 * turn).cos(), (0.6 * turn).cos() + 0.1);
        let axis = axis.normalize();
        let angle = |phase: f32| SWING * (phase + turn).sin();
        let rotation = phases().map(|phase| Quat::from_axis_angle(axis, angle(phase)));
        let sway = |phase: f32| place.offset * (1.0 + 0.05 * (phase + turn).sin());
        let swell = |phase: f32| Vec3::ONE + 0.02 * (phase + turn).cos() * axis;
        let translation =
            (all || joint == 0).then(|| RawKeys::Translation(phases().map(sway).collect()));
        let scale = all.then(|| RawKeys::Scale(phases().map(swell).collect()));
        let rotation = RawKeys::Rotation(rotation.collect());
        let values = [Some(rotation), translation, scale].into_iter().flatten();
        values
            .map(move |values| channel(joint, values))
            .collect::<Vec<_>>()
    });
    RawAnimation {
        name: format!("clip {seed}").into(),
        channels: channels.collect(),
    }
}

/// The angle of a cycle at each key: one cycle a second.
fn phases() -> impl Iterator<Item = f32> {
    (0..=KEYS_HZ * SECONDS).map(|key| TAU * key as f32 / KEYS_HZ as f32)
}

fn channel(node: usize, values: RawKeys) -> RawChannel {
    RawChannel {
        node,
        times_s: (0..=KEYS_HZ * SECONDS)
            .map(|key| key as f32 / KEYS_HZ as f32)
            .collect(),
        interpolation: Interpolation::Linear,
        values,
    }
}

/// A linear congruential generator; numbers in 0..1.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 40) as f32 / (1_u32 << 24) as f32
    }
}
