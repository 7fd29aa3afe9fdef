//! Simple hand-written code: glam, raw keys at even times, one stage after another over all joints.

use crate::Outcome;
use crate::batch::Sample;
use crate::load::KEYS_HZ;
use throng::character::Character;
use throng::glam::Affine3A;
use throng::palette::Mat3x4;
use throng::skeleton::Transform;

pub(crate) struct Staged {
    /// `[frame][joint]` of each clip.
    clips: Vec<Vec<Transform>>,
    local: Vec<Transform>,
    model: Vec<Affine3A>,
}

impl Staged {
    pub(crate) fn new(character: &Character) -> Outcome<Self> {
        let joints = character.skeleton().joints();
        let rest: Vec<Transform> = joints.iter().map(|joint| joint.rest).collect();
        let mut clips = Vec::new();
        for clip in character.curves() {
            let mut keys = Vec::new();
            let frames = (clip.duration_s() * KEYS_HZ as f32).round() as usize + 1;
            for frame in 0..frames {
                let mut pose = rest.clone();
                clip.sample(frame as f64 / KEYS_HZ as f64, &mut pose)?;
                keys.extend(pose);
            }
            clips.push(keys);
        }
        Ok(Self {
            clips,
            model: vec![Affine3A::IDENTITY; rest.len()],
            local: rest,
        })
    }

    pub(crate) fn palette(
        &mut self,
        character: &Character,
        samples: &[Sample],
        out: &mut [Mat3x4],
    ) {
        let total: f32 = samples.iter().map(|sample| sample.weight).sum();
        for (number, sample) in samples.iter().enumerate() {
            self.sample(sample, sample.weight / total, number == 0);
        }
        if samples.len() > 1 {
            for joint in &mut self.local {
                joint.rotation = joint.rotation.normalize();
            }
        }
        for (index, joint) in character.skeleton().joints().iter().enumerate() {
            let local = self.local[index].to_affine();
            self.model[index] = match joint.parent {
                None => local,
                Some(parent) => self.model[usize::from(parent)] * local,
            };
        }
        for (out, entry) in out.iter_mut().zip(character.palette()) {
            let model = self.model[usize::from(entry.joint)];
            *out = Mat3x4::from_affine(&(model * entry.inverse_bind));
        }
    }

    /// Overwrites the local pose with that of a clip, or adds to it.
    fn sample(&mut self, sample: &Sample, weight: f32, first: bool) {
        let (joints, keys) = (self.local.len(), &self.clips[sample.clip]);
        let at = sample.time_s as f32 * KEYS_HZ as f32;
        let frame = (at as usize).min(keys.len() / joints - 2);
        let u = at - frame as f32;
        let (from, to) = keys[frame * joints..(frame + 2) * joints].split_at(joints);
        for ((joint, a), b) in self.local.iter_mut().zip(from).zip(to) {
            let translation = a.translation.lerp(b.translation, u);
            let scale = a.scale.lerp(b.scale, u);
            let rotation = a.rotation.lerp(b.rotation, u);
            if first {
                *joint = Transform {
                    translation: translation * weight,
                    rotation: rotation * weight,
                    scale: scale * weight,
                };
            } else {
                let near = joint.rotation.dot(rotation) >= 0.0;
                joint.translation += translation * weight;
                joint.rotation += rotation * if near { weight } else { -weight };
                joint.scale += scale * weight;
            }
        }
    }
}
