//! Clips that are stored as frames at a fixed rate, with tracks by joint name.

use std::collections::HashMap;
use throng::clip::Interpolation;
use throng::error::{Object, ObjectKind};
use throng::glam::{Quat, Vec3};
use throng::import::{RawAnimation, RawChannel, RawKeys, RawNode, Repair, RepairKind};
use throng::skeleton::{Skeleton, Transform};

/// The bytes of a key: a time and a rotation.
pub(crate) const KEY_BYTES: u64 = 20;

/// A clip of frames. All lists of its tracks have as many elements as there are frames.
#[derive(Debug)]
pub(crate) struct FrameClip {
    pub(crate) name: Box<str>,
    pub(crate) frames: usize,
    /// The time from one frame to the next, in seconds.
    pub(crate) frame_s: f64,
    /// The duration that the file states, in seconds.
    pub(crate) duration_s: Option<f64>,
    pub(crate) tracks: Vec<FrameTrack>,
}

#[derive(Debug)]
pub(crate) struct FrameTrack {
    pub(crate) joint: Box<str>,
    pub(crate) translations: Vec<Vec3>,
    pub(crate) rotations: Vec<Quat>,
    /// Empty if the clip does not scale joints.
    pub(crate) scales: Vec<Vec3>,
}

impl FrameTrack {
    fn first(&self) -> Transform {
        Transform {
            translation: self.translations.first().copied().unwrap_or_default(),
            rotation: self.rotations.first().copied().unwrap_or_default(),
            scale: self.scales.first().copied().unwrap_or(Vec3::ONE),
        }
    }
}

/// Nodes for clips of a file that has no hierarchy of its own.
///
/// These are the joints of `skeleton`, if there is one, and a root for each other joint that a
/// track names. Such a root rests as in its first frame.
pub(crate) fn nodes(clips: &[FrameClip], skeleton: Option<&Skeleton>) -> Vec<RawNode> {
    let joints = skeleton.map_or(&[] as &[_], Skeleton::joints);
    let known = joints.iter().map(|joint| RawNode {
        name: joint.name.clone(),
        parent: joint.parent.map(|parent| parent.index()),
        transform: joint.rest,
        matrix: None,
    });
    let mut nodes: Vec<RawNode> = known.collect();
    let mut of = by_name(&nodes);
    for track in clips.iter().flat_map(|clip| &clip.tracks) {
        of.entry(track.joint.clone()).or_insert_with(|| {
            nodes.push(RawNode {
                name: track.joint.clone(),
                parent: None,
                transform: track.first(),
                matrix: None,
            });
            nodes.len() - 1
        });
    }
    nodes
}

/// The first node with each name.
pub(crate) fn by_name(nodes: &[RawNode]) -> HashMap<Box<str>, usize> {
    let mut of = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        of.entry(node.name.clone()).or_insert(index);
    }
    of
}

/// One animation per clip. Tracks of joints that are not nodes are left out and reported.
pub(crate) fn animations(
    clips: Vec<FrameClip>,
    nodes: &[RawNode],
    repairs: &mut Vec<Repair>,
) -> Vec<RawAnimation> {
    let of = by_name(nodes);
    let clips = clips.into_iter().enumerate();
    let clips = clips.map(|(index, clip)| animation(index, clip, &of, repairs));
    clips.collect()
}

fn animation(
    index: usize,
    clip: FrameClip,
    of: &HashMap<Box<str>, usize>,
    repairs: &mut Vec<Repair>,
) -> RawAnimation {
    let times_s: Vec<f32> = (0..clip.frames)
        .map(|frame| (frame as f64 * clip.frame_s) as f32)
        .collect();
    let mut channels = Vec::with_capacity(clip.tracks.len() * 3);
    for track in clip.tracks {
        let Some(node) = of.get(&track.joint).copied() else {
            let part = format!("track of {}", track.joint);
            let object = Object::new(ObjectKind::Animation, index, part);
            Repair::note(repairs, &object, RepairKind::UnmatchedJoint, 1);
            continue;
        };
        let mut add = |values| {
            channels.push(RawChannel {
                node,
                times_s: times_s.clone(),
                interpolation: Interpolation::Linear,
                values,
            });
        };
        if clip.frames > 0 {
            add(RawKeys::Translation(track.translations));
            add(RawKeys::Rotation(track.rotations));
            if !track.scales.is_empty() {
                add(RawKeys::Scale(track.scales));
            }
        }
    }
    let object = Object::new(ObjectKind::Animation, index, "");
    if channels.is_empty() {
        Repair::note(repairs, &object, RepairKind::NoChannels, 1);
    }
    if let Some(stated_s) = clip.duration_s
        && !fits(stated_s, clip.frames, clip.frame_s)
    {
        Repair::note(repairs, &object, RepairKind::DurationIgnored, 1);
    }
    RawAnimation {
        name: clip.name,
        channels,
        events: Vec::new(),
    }
}

/// Returns true if a clip of that duration has `frames` frames, to half a frame. The last frame may
/// last as long as the others or end the clip.
fn fits(stated_s: f64, frames: usize, frame_s: f64) -> bool {
    let frames = frames as f64;
    let half_s = 0.5 * frame_s;
    ((frames - 1.0) * frame_s - half_s..=frames * frame_s + half_s).contains(&stated_s)
}
