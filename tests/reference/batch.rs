//! Poses of many instances, each with its own clips, times and weights, by one [`Animator`].

use throng::animator::{ActorId, Animator, Play};
use throng::character::Character;
use throng::glam::Affine3A;
use throng::motion::Ease;
use throng::palette::{PaletteEntry, WriteOnly};
use throng::skeleton::{Mask, Transform};
use throng::{Id, SimdLevel};

/// The weight of layer 0 from which the rest pose is invisible.
pub const FULL_WEIGHT: f32 = 0.999;

/// A clip of the character at a time, which is clamped to the clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub clip: usize,
    pub time_s: f64,
    pub weight: f32,
    pub mask: Option<Id<Mask>>,
    /// The samples of an instance ascend in layer.
    pub layer: u8,
}

impl Sample {
    pub const fn new(clip: usize, time_s: f64) -> Self {
        let (weight, mask, layer) = (1.0, None, 0);
        Self {
            clip,
            time_s,
            weight,
            mask,
            layer,
        }
    }

    pub const fn weighted(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    pub const fn masked(self, mask: u16) -> Self {
        let mask = Some(Id::new(mask));
        Self { mask, ..self }
    }

    pub const fn on_layer(self, layer: u8) -> Self {
        Self { layer, ..self }
    }
}

/// An actor for each list of samples.
#[derive(Debug)]
pub struct Batch {
    pub animator: Animator,
    pub actors: Vec<ActorId>,
    entries: usize,
    joints: usize,
}

impl Batch {
    /// Plays the samples, so that each has its time and weight at the animator's present time.
    ///
    /// A clip that is played on a layer fades out those before it. Each is played a second after
    /// the one before, and fades over two seconds, so every fade is half done when the next starts.
    /// The weights that this takes are the samples' times powers of two, so nothing is rounded.
    pub fn new<S: AsRef<[Sample]>>(
        character: &Character,
        level: SimdLevel,
        instances: &[S],
    ) -> Self {
        let mut animator = Animator::new(character).unwrap();
        animator.set_simd_level(level).unwrap();
        let visible = |samples: &S| {
            let samples = samples.as_ref().iter();
            let visible = samples.filter(|sample| sample.weight > 0.0);
            visible.copied().collect::<Vec<_>>()
        };
        let instances: Vec<Vec<Sample>> = instances.iter().map(visible).collect();
        let add = |_| animator.add(Play::REST).unwrap();
        let actors: Vec<ActorId> = (0..instances.len()).map(add).collect();
        let layers = instances.iter().flat_map(|samples| on_layers(samples));
        let rounds = layers.map(<[Sample]>::len).max().unwrap_or(0);
        for round in 0..rounds {
            animator.update(round as f64).unwrap();
            for (actor, samples) in actors.iter().zip(&instances) {
                for layer in on_layers(samples) {
                    if let Some(number) = (round + layer.len()).checked_sub(rounds) {
                        let play = play(layer, number);
                        animator.actor_mut(*actor).unwrap().play(play).unwrap();
                    }
                }
            }
        }
        animator.update(rounds as f64).unwrap();
        let (entries, joints) = (character.palette().len(), character.skeleton().len());
        Self {
            animator,
            actors,
            entries,
            joints,
        }
    }

    /// The palettes, one after the other, over entries of `unwritten`.
    pub fn palettes<E: PaletteEntry>(&mut self, unwritten: E) -> Vec<E> {
        let mut out = vec![unwritten; self.actors.len() * self.entries];
        let to = WriteOnly::from(&mut out);
        self.animator.palettes(&self.actors, to).unwrap();
        out
    }

    pub fn local_poses(&mut self) -> Vec<Transform> {
        let mut out = vec![Transform::IDENTITY; self.actors.len() * self.joints];
        self.animator.local_poses(&self.actors, &mut out).unwrap();
        out
    }

    pub fn model_poses(&mut self) -> Vec<Affine3A> {
        let mut out = vec![Affine3A::IDENTITY; self.actors.len() * self.joints];
        self.animator.model_poses(&self.actors, &mut out).unwrap();
        out
    }
}

fn on_layers(samples: &[Sample]) -> impl Iterator<Item = &[Sample]> {
    samples.chunk_by(|a, b| a.layer == b.layer)
}

/// The request for one of a layer's samples.
fn play(layer: &[Sample], number: usize) -> Play<'static> {
    let sample = &layer[number];
    let halved = layer.len() - 1 - number + usize::from(number > 0);
    // An infinite time is one past the end.
    let time_s = if sample.time_s.is_nan() {
        0.0
    } else {
        sample.time_s
    };
    let play = Play::new(Id::new(sample.clip as u16))
        .offset_s(time_s.clamp(-1e9, 1e9))
        .speed(0.0)
        .once()
        .weight(sample.weight * 2.0_f32.powi(halved as i32))
        .layer(sample.layer)
        .ease(Ease::Linear)
        .fade_s(if number > 0 { 2.0 } else { 0.0 });
    let mask = sample.mask.map(Into::into);
    Play { mask, ..play }
}
