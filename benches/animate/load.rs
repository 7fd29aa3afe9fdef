//! A crowd of one character, and the ways to pose it.

use crate::batch::{Batch, Sample};
use crate::poser::Poser;
use crate::staged::Staged;
use crate::{Outcome, skeleton};
use std::f32::consts::TAU;
use std::hint::black_box;
use throng::SimdLevel;
use throng::character::Character;
use throng::clip::{ClipOptions, Interpolation};
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{
    ImportOptions, RawAnimation, RawChannel, RawCharacter, RawKeys, RawNode, RawPrimitive, RawSkin,
};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Transform;

/// Keys per second of the clips, as most exporters bake them.
pub(crate) const KEYS_HZ: usize = 30;
/// Duration of a clip in seconds.
const SECONDS: usize = 2;
/// Amplitude of a joint's rotation to either side, in radians.
const SWING: f32 = 0.6;

/// The kind of character that is posed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// The built-in character with its own clips.
    BuiltIn,
    /// A character with this many joints.
    ///
    /// Every joint's rotation and the root's translation move, as in most character clips.
    Rotations(usize),
    /// A character with this many joints.
    ///
    /// Every property of every joint moves, so that nothing can be folded.
    All(usize),
}

impl Who {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Rotations(_) => "rotations",
            Self::All(_) => "all",
        }
    }

    fn character(self, quantise: bool) -> Outcome<Character> {
        let raw = match self {
            Self::BuiltIn => RawCharacter::mannequin(),
            Self::Rotations(joints) => made(false, joints),
            Self::All(joints) => made(true, joints),
        };
        let packing = ClipOptions {
            quantise,
            ..ClipOptions::default()
        };
        let options = ImportOptions {
            curves: true,
            packing: Some(packing),
            ..ImportOptions::default()
        };
        Ok(raw.build(&options)?.character)
    }
}

/// The variant that is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Simple glam code in stages, on raw keys.
    Staged,
    /// The functions for one pose, on the file's curves. For a single clip only.
    OneByOne,
    /// [`Animator::palettes`] on packed clips, with the best code that the CPU has.
    ///
    /// [`Animator::palettes`]: throng::animator::Animator::palettes
    Batch,
    /// The same on clips that are not quantised.
    Unpacked,
    /// The same as `Batch`, with AVX2.
    Avx2,
    /// The same as `Batch`, with the instructions that every x86-64 CPU has.
    Sse2,
    /// A copy of the output of the others.
    Memcpy,
}

impl Figure {
    pub(crate) const ALL: [Self; 7] = [
        Self::Staged,
        Self::OneByOne,
        Self::Batch,
        Self::Unpacked,
        Self::Avx2,
        Self::Sse2,
        Self::Memcpy,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::OneByOne => "one by one",
            Self::Batch => "Animator",
            Self::Unpacked => "unpacked",
            Self::Avx2 => "AVX2",
            Self::Sse2 => "SSE2",
            Self::Memcpy => "memcpy",
        }
    }

    /// The SIMD level of a batch variant, if the CPU supports it.
    fn code(self) -> Option<SimdLevel> {
        let code = match self {
            Self::Batch | Self::Unpacked => return Some(SimdLevel::default()),
            Self::Avx2 => SimdLevel::Avx2,
            Self::Sse2 => SimdLevel::Sse2,
            Self::Staged | Self::OneByOne | Self::Memcpy => return None,
        };
        SimdLevel::available().find(|level| *level == code)
    }
}

pub(crate) struct Load {
    pub(crate) who: Who,
    pub(crate) joints: usize,
    pub(crate) blended: usize,
    pub(crate) instances: Vec<Vec<Sample>>,
    pub(crate) character: Character,
    /// One for each SIMD level, best first.
    batches: Vec<(SimdLevel, Batch)>,
    unpacked: Batch,
    poser: Poser,
    staged: Staged,
    out: Vec<Mat3x4>,
    copied: Vec<Mat3x4>,
}

impl Load {
    /// Creates a load with `blended` clips per instance, each at its own time.
    ///
    /// Neighbouring instances start with different clips.
    pub(crate) fn new(who: Who, instances: usize, blended: usize) -> Outcome<Self> {
        let character = who.character(true)?;
        let clips = &character.clips()[..3];
        let mut random = Random(9);
        let samples = |instance: usize| {
            let sample = |number: usize| {
                let clip = (instance + number) % clips.len();
                let time_s = f64::from(random.unit()) * clips[clip].duration_s();
                Sample::new(clip, time_s).weighted(0.4 + random.unit())
            };
            (0..blended).map(sample).collect()
        };
        let instances: Vec<Vec<Sample>> = (0..instances).map(samples).collect();
        let batch = |level| (level, Batch::new(&character, level, &instances));
        let out = vec![Mat3x4::IDENTITY; instances.len() * character.palette().len()];
        Ok(Self {
            who,
            joints: character.skeleton().len(),
            blended,
            batches: SimdLevel::available().map(batch).collect(),
            unpacked: Batch::new(&who.character(false)?, SimdLevel::default(), &instances),
            poser: Poser::new(),
            staged: Staged::new(&character)?,
            copied: out.clone(),
            out,
            instances,
            character,
        })
    }

    /// Returns true if the figure can be measured.
    pub(crate) fn has(&self, figure: Figure) -> bool {
        match figure {
            Figure::Staged | Figure::Memcpy => true,
            Figure::OneByOne => self.blended == 1,
            _ => figure.code().is_some(),
        }
    }

    /// The SIMD level that runs by default.
    pub(crate) fn code(&self) -> SimdLevel {
        self.batches[0].0
    }

    pub(crate) fn run(&mut self, figure: Figure) -> Outcome {
        if !self.has(figure) {
            return Ok(());
        }
        match figure {
            Figure::Staged => {
                let palettes = self.out.chunks_exact_mut(self.character.palette().len());
                for (samples, out) in self.instances.iter().zip(palettes) {
                    self.staged.palette(&self.character, samples, out);
                }
            }
            Figure::OneByOne => {
                let palettes = self.out.chunks_exact_mut(self.character.palette().len());
                for (samples, out) in self.instances.iter().zip(palettes) {
                    let clip = Some((samples[0].clip, samples[0].time_s));
                    let out = WriteOnly::from(out);
                    self.poser.palette(&self.character, clip, out)?;
                }
            }
            Figure::Memcpy => self.copied.copy_from_slice(black_box(&self.out)),
            Figure::Batch | Figure::Unpacked | Figure::Avx2 | Figure::Sse2 => {
                let level = figure.code();
                let mut batches = self.batches.iter_mut();
                let batch = match figure {
                    Figure::Unpacked => Some(&mut self.unpacked),
                    _ => batches.find(|it| Some(it.0) == level).map(|it| &mut it.1),
                };
                let Batch {
                    animator, actors, ..
                } = batch.ok_or("no such SIMD level")?;
                animator.palettes(actors, WriteOnly::from(&mut self.out))?;
            }
        }
        black_box((&self.out, &self.copied));
        Ok(())
    }
}

/// A character with three clips.
fn made(all: bool, joints: usize) -> RawCharacter {
    let places = skeleton::joints(joints);
    let node = |place: &skeleton::Place| RawNode {
        name: place.name.clone().into(),
        parent: place.parent,
        transform: Transform {
            translation: place.offset,
            ..Transform::IDENTITY
        },
        matrix: None,
    };
    let inverse_bind = |place: &skeleton::Place| Mat4::from_translation(-place.position);
    // A triangle around each joint, so that the palette has all of them.
    let corners = |place: &skeleton::Place| {
        [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| place.position + axis * 0.02)
    };
    RawCharacter {
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
        animations: (0..3).map(|seed| animation(all, &places, seed)).collect(),
        ..RawCharacter::default()
    }
}

fn animation(all: bool, places: &[skeleton::Place], seed: usize) -> RawAnimation {
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
        ..RawAnimation::default()
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

/// A linear congruential generator of numbers from 0 to 1.
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
