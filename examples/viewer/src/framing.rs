//! The bounds for the camera and for the shadow map.

use throng::Id;
use throng::character::Character;
use throng::clip::Clip;
use throng::glam::{Affine3A, Vec3};
use throng::mesh::Aabb;
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Joint;

use super::app::App;
use super::camera::Camera;
use super::grid::{around, moved, places};
use super::overlay::weight_sums;
use super::scene::Shot;
use super::subject::widened;

/// The number of poses of a clip that are framed.
const POSES: usize = 32;
/// A clip may leave the box around the rest pose by this part of its longest edge, and still be in
/// view.
const ROOM: f32 = 0.3;
/// The least size of a clip relative to the rest pose, below which the camera comes closer.
const LEAST: f32 = 0.5;
/// A character may move by this part of its longest edge before the camera follows it. Swings and
/// steps on the spot do not move the camera.
const SWAY: f32 = 0.15;
/// The number of joints whose mean the camera follows.
const FOLLOWED: usize = 8;

/// The joints whose weighted mean is the place of a character: those that move most vertices.
#[derive(Clone, Debug)]
pub(crate) struct Anchor {
    joints: Vec<(Id<Joint>, f32)>,
    rest: Vec3,
    /// The camera follows beyond this distance along an axis, in metres.
    sway_m: f32,
}

impl Anchor {
    /// The anchor of a character whose rest pose has this box.
    pub(crate) fn new(character: &Character, bounds: Aabb) -> Self {
        let sums = weight_sums(character);
        let springs = character.springs().chains.iter();
        let swinging: Vec<usize> = springs
            .flat_map(|chain| &chain.joints)
            .map(|joint| joint.joint.index())
            .collect();
        let mut order: Vec<usize> = (0..sums.len()).collect();
        order.retain(|joint| sums[*joint] > 0.0 && !swinging.contains(joint));
        order.sort_by(|a, b| sums[*b].total_cmp(&sums[*a]));
        order.truncate(FOLLOWED);
        if order.is_empty() {
            order.extend(0..sums.len().min(FOLLOWED));
        }
        let all: f64 = order.iter().map(|joint| sums[*joint]).sum();
        let joints = order.iter().map(|joint| {
            let part = if all > 0.0 {
                sums[*joint] / all
            } else {
                1.0 / order.len() as f64
            };
            (Id::new(*joint as u16), part as f32)
        });
        let mut anchor = Self {
            joints: joints.collect(),
            rest: Vec3::ZERO,
            sway_m: SWAY * bounds.size().max_element(),
        };
        let rest = character.skeleton().rest_pose();
        let mut model = vec![Affine3A::IDENTITY; rest.len()];
        if character.skeleton().model_pose(&rest, &mut model).is_ok() {
            anchor.rest = anchor.at(|joint| model[joint.index()].translation.into());
        }
        anchor
    }

    fn at(&self, place: impl Fn(Id<Joint>) -> Vec3) -> Vec3 {
        let parts = self.joints.iter();
        parts.map(|(joint, part)| place(*joint) * *part).sum()
    }

    /// The displacement of a camera that follows, for the places of the joints.
    fn followed(&self, place: impl Fn(Id<Joint>) -> Vec3) -> Vec3 {
        let away = self.at(place) - self.rest;
        let beyond = away - away.clamp(Vec3::splat(-self.sway_m), Vec3::splat(self.sway_m));
        if beyond.is_finite() {
            beyond
        } else {
            Vec3::ZERO
        }
    }
}

/// The boxes around a character over a clip, in character space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClipBoxes {
    /// Everything that it reaches.
    pub(crate) path: Aabb,
    /// The same, relative to a camera that follows.
    pub(crate) near: Aabb,
}

impl App {
    /// The box that the camera shows at first. It is around the rest pose, which fits best, unless
    /// the clip that plays is elsewhere, or much smaller, or travels.
    pub(crate) fn first_framed(&self) -> Aabb {
        let (rest, path) = (self.scene.bounds, self.boxed(|boxes| boxes.path));
        let edge = rest.size().max_element();
        let left = (rest.min - path.min).max(path.max - rest.max);
        if left.max_element() <= ROOM * edge && path.size().max_element() >= LEAST * edge {
            rest
        } else {
            self.framed()
        }
    }

    /// The box around all instances over the clip that plays, relative to the camera if it follows.
    /// It is around the rest pose if no clip plays, or an additive one.
    pub(crate) fn framed(&self) -> Aabb {
        let follow = self.settings.follow;
        self.boxed(|boxes| if follow { boxes.near } else { boxes.path })
    }

    /// One of the boxes of the clip, around all instances.
    fn boxed(&self, which: impl Fn(ClipBoxes) -> Aabb) -> Aabb {
        let Some((boxes, subject)) = self.clip_boxes.1.zip(self.subject.as_ref()) else {
            return self.scene.bounds;
        };
        let count = self.scene.instances() as u32;
        around(which(boxes), &places(subject.bounds, count))
    }

    /// Measures the clip that plays, if it is another one.
    pub(crate) fn measure_clip(&mut self) {
        let (Some(subject), Some(playback)) = (&self.subject, &self.playback) else {
            return;
        };
        let clip = playback.clip();
        if self.clip_boxes.0 != Some(clip) {
            let anchor = &subject.anchor;
            let boxes = clip.and_then(|clip| clip_boxes(&subject.character, clip, anchor));
            self.clip_boxes = (Some(clip), boxes);
        }
    }

    /// A camera that shows what plays, from the usual direction.
    pub(crate) fn first_camera(&mut self) -> Camera {
        self.measure_clip();
        Camera::new(self.first_framed(), self.settings.fov_degrees)
    }

    /// Shows the scene again after it has changed, from the present direction.
    pub(crate) fn frame_again(&mut self) {
        self.measure_clip();
        self.camera.set_bounds(self.first_framed());
    }

    /// Moves the camera with the first instance.
    pub(crate) fn follow(&mut self) {
        self.measure_clip();
        self.camera.set_fov(self.settings.fov_degrees);
        self.camera.followed = match self.settings.follow {
            true => self.followed(),
            false => Vec3::ZERO,
        };
    }

    /// The displacement of the first instance beyond its sway.
    fn followed(&self) -> Vec3 {
        let (Some(subject), Some(playback)) = (&self.subject, &self.playback) else {
            return Vec3::ZERO;
        };
        let Some(id) = self.scene.first() else {
            return Vec3::ZERO;
        };
        let Ok(instance) = self.scene.crowd().instance(id) else {
            return Vec3::ZERO;
        };
        subject.anchor.followed(|joint| {
            let model = instance.joint_model(joint, playback.time_s);
            model.map_or(Vec3::NAN, |model| model.translation.into())
        })
    }

    /// The picture to draw.
    pub(crate) fn shot(&self, frame_index: u32) -> Shot {
        let lighting = self.settings.light.lighting();
        Shot {
            view: self.camera.view(self.scene.extent(), lighting),
            time_s: self.playback.as_ref().map_or(0.0, |play| play.time_s),
            frame_index,
            cast: self.cast(),
            followed: self.camera.followed,
        }
    }

    /// The box around everything that casts a shadow.
    fn cast(&self) -> Aabb {
        let rest = self.scene.bounds;
        let (Some(subject), Some(playback)) = (&self.subject, &self.playback) else {
            return rest;
        };
        let count = self.scene.instances();
        let all = |bounds: Aabb| around(bounds, &places(subject.bounds, count as u32));
        let own = match self.clip_boxes.1 {
            // Each is somewhere else on the path.
            Some(boxes) if count > 1 && playback.spread => all(boxes.path),
            Some(boxes) => moved(all(boxes.near.union(subject.bounds)), self.followed()),
            None => moved(rest, self.followed()),
        };
        // Layers, fades and what has no clip may reach further than the clip.
        let margin = Vec3::splat(0.3 * subject.bounds.size().max_element());
        Aabb {
            min: own.min - margin,
            max: own.max + margin,
        }
    }
}

/// The boxes of the character over a clip.
fn clip_boxes(character: &Character, clip: Id<Clip>, anchor: &Anchor) -> Option<ClipBoxes> {
    let clip = character.clips().get(clip.index())?;
    if clip.is_additive() {
        return None;
    }
    let mut model = vec![Affine3A::IDENTITY; character.skeleton().len()];
    let mut palette = vec![Mat3x4::IDENTITY; character.palette().len()];
    let mut whole: Option<ClipBoxes> = None;
    for number in 0..=POSES {
        let time_s = clip.duration_s() * number as f64 / POSES as f64;
        let mut local = character.skeleton().rest_pose();
        let mut weights: Vec<f32> = character.morph_weights().iter().map(|w| w.rest).collect();
        clip.sample(time_s, &mut local).ok()?;
        clip.sample_weights(time_s, |id, weight| weights[id.index()] = weight);
        character.skeleton().model_pose(&local, &mut model).ok()?;
        let over = WriteOnly::from(&mut palette);
        character.write_palette(&model, over).ok()?;
        let posed = character.posed_bounds(&palette, Some(&weights)).ok()?;
        if posed.is_empty() || !posed.min.is_finite() || !posed.max.is_finite() {
            return None;
        }
        let followed = anchor.followed(|joint| model[joint.index()].translation.into());
        let near = moved(posed, -followed);
        whole = Some(
            whole.map_or(ClipBoxes { path: posed, near }, |whole| ClipBoxes {
                path: whole.path.union(posed),
                near: whole.near.union(near),
            }),
        );
    }
    whole.map(|whole| ClipBoxes {
        path: widened(whole.path),
        near: widened(whole.near),
    })
}
