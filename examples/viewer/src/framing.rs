//! The boxes that the camera shows at first, and after the key `f`.

use throng::Id;
use throng::character::Character;
use throng::clip::Clip;
use throng::glam::Affine3A;
use throng::mesh::Aabb;
use throng::palette::{Mat3x4, WriteOnly};

use super::app::App;
use super::grid::{around, places};
use super::subject::widened;

/// The number of poses of a clip that are framed.
const POSES: usize = 16;
/// A clip may leave the box around the rest pose by this part of its longest edge, and still be in
/// view.
const ROOM: f32 = 0.25;
/// The least size of a clip relative to the rest pose, below which the camera comes closer.
const LEAST: f32 = 0.5;

impl App {
    /// The box that the camera shows at first. It is around the rest pose, which fits best, unless
    /// the clip that plays is elsewhere, or much smaller.
    pub(crate) fn first_framed(&self) -> Aabb {
        let (rest, clip) = (self.scene.bounds, self.framed());
        let edge = rest.size().max_element();
        let left = (rest.min - clip.min).max(clip.max - rest.max);
        if left.max_element() <= ROOM * edge && clip.size().max_element() >= LEAST * edge {
            rest
        } else {
            clip
        }
    }

    /// The box around all instances over the clip that plays. It is around the rest pose if no clip
    /// plays, or an additive one.
    pub(crate) fn framed(&self) -> Aabb {
        let (Some(subject), Some(playback)) = (&self.subject, &self.playback) else {
            return self.scene.bounds;
        };
        let clip = playback.clip();
        let posed = clip.and_then(|clip| clip_bounds(&subject.character, clip));
        match posed {
            Some(posed) => {
                let count = self.scene.instances() as u32;
                around(posed, &places(subject.bounds, count))
            }
            None => self.scene.bounds,
        }
    }
}

/// A box that contains the character over a clip, in character space.
fn clip_bounds(character: &Character, clip: Id<Clip>) -> Option<Aabb> {
    let clip = character.clips().get(clip.index())?;
    if clip.is_additive() {
        return None;
    }
    let mut model = vec![Affine3A::IDENTITY; character.skeleton().len()];
    let mut palette = vec![Mat3x4::IDENTITY; character.palette().len()];
    let mut whole: Option<Aabb> = None;
    for number in 0..=POSES {
        let time_s = clip.duration_s() * number as f64 / POSES as f64;
        let mut local = character.skeleton().rest_pose();
        let mut weights: Vec<f32> = character.morph_weights().iter().map(|w| w.rest).collect();
        clip.sample(time_s, &mut local).ok()?;
        clip.sample_weights(time_s, |index, weight| weights[index] = weight);
        character.skeleton().model_pose(&local, &mut model).ok()?;
        let over = WriteOnly::over(&mut palette);
        character.write_palette(&model, over).ok()?;
        let posed = character.posed_bounds(&palette, Some(&weights)).ok()?;
        if posed.is_empty() || !posed.min.is_finite() || !posed.max.is_finite() {
            return None;
        }
        whole = Some(whole.map_or(posed, |whole| whole.union(posed)));
    }
    whole.map(widened)
}
