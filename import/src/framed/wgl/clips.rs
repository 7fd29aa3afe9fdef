//! Clips: frames of positions and rotations by bone name.

use super::json::{self, Clip};
use super::model::{mirrored_position, mirrored_rotation};
use crate::budget::Budget;
use crate::framed::frames::{FrameClip, FrameTrack, KEY_BYTES};
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};

/// Reads the clip of a `.wglanim` file.
pub(super) fn read(bytes: &[u8], budget: &mut Budget<'_>) -> Result<FrameClip> {
    let clip: Clip = json::document(bytes, budget)?;
    json::check_version("wglanim", "animVersion", clip.anim_version)?;
    let at = |part: &str| Object::new(ObjectKind::Animation, 0, part);
    let (frames, bones) = (clip.keyframes.0.len(), clip.bones.0.len());
    if let Some(need) = clip.frame_count.filter(|need| *need != frames as u64) {
        let (what, got) = ("the list of keyframes", frames as u64);
        return Err(Error::asset(
            at("keyframes"),
            AssetFault::Count { what, got, need },
        ));
    }
    for (index, frame) in clip.keyframes.0.iter().enumerate() {
        let (got, need) = (frame.0.len() as u64, bones as u64);
        if got != need {
            let what = "the list of bones";
            let part = format!("keyframes[{index}]");
            return Err(Error::asset(
                at(&part),
                AssetFault::Count { what, got, need },
            ));
        }
    }
    if !(clip.frame_rate.is_finite() && clip.frame_rate > 0.0) {
        let allowed = "finite and greater than 0";
        let why = AssetFault::value("frame rate", 0, clip.frame_rate, allowed);
        return Err(Error::asset(at("frameRate"), why));
    }
    budget.nodes(bones)?;
    let keys = (frames as u64).saturating_mul(bones as u64);
    budget.keys(keys.saturating_mul(2), KEY_BYTES, &at(""))?;
    let mut tracks = Vec::with_capacity(bones);
    for (index, joint) in clip.bones.0.into_iter().enumerate() {
        let keys = || {
            clip.keyframes
                .0
                .iter()
                .filter_map(|frame| frame.0.get(index))
        };
        tracks.push(FrameTrack {
            joint: joint.into(),
            translations: keys().map(|key| mirrored_position(key.pos)).collect(),
            rotations: keys().map(|key| mirrored_rotation(key.rot)).collect(),
            scales: Vec::new(),
        });
    }
    Ok(FrameClip {
        name: clip.name.into(),
        frames: if tracks.is_empty() { 0 } else { frames },
        frame_s: 1.0 / clip.frame_rate,
        duration_s: clip.duration.map(|duration_ms| duration_ms / 1000.0),
        tracks,
    })
}
