//! Animations: tracks of 7 or 10 numbers per frame.

use super::xml::{check_count, children, count, elements, name, number, parse, words, wrong_count};
use crate::budget::Budget;
use crate::fault::file_part;
use crate::framed::frames::{FrameClip, FrameTrack, KEY_BYTES};
use roxmltree::Node;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::glam::{Quat, Vec3};

pub(super) fn read(root: Node<'_, '_>, budget: &mut Budget<'_>) -> Result<Vec<FrameClip>> {
    for list in elements(root, "Animations") {
        let got = children(list, "Animation").count();
        check_count(list, "count", got as u64, &file_part("Animations"))?;
    }
    let animations = elements(root, "Animation").enumerate();
    let clips = animations.map(|(index, animation)| clip(index, animation, budget));
    clips.collect()
}

fn clip(index: usize, animation: Node<'_, '_>, budget: &mut Budget<'_>) -> Result<FrameClip> {
    let at = |part: &str| Object::new(ObjectKind::Animation, index, part);
    let tracks: Vec<Node<'_, '_>> = children(animation, "AnimTrack").collect();
    check_count(animation, "trackcount", tracks.len() as u64, &at(""))?;
    let stated = count(animation, "framecount", &at(""))?;
    let of_first = match tracks.first() {
        Some(track) => count(*track, "count", &at("AnimTrack[0]"))?,
        None => None,
    };
    let frames = match (stated.or(of_first), tracks.is_empty()) {
        (Some(frames), _) => frames,
        (None, true) => 0,
        (None, false) => return Err(Error::asset(at(""), AssetFault::Missing("framecount"))),
    };
    let duration_s = number(animation, "duration", &at("duration"))?;
    let dtime_s = number(animation, "dtime", &at("dtime"))?;
    let frame_s = frame_s(dtime_s, duration_s, frames, &at("dtime"))?;
    let mut read = Vec::with_capacity(tracks.len());
    for (number, track) in tracks.into_iter().enumerate() {
        let at = at(&format!("AnimTrack[{number}]"));
        match count(track, "count", &at)? {
            Some(got) if got != frames => return Err(wrong_count("count", got, frames, &at)),
            _ => {}
        }
        read.push(self::track(track, frames, budget, &at)?);
    }
    Ok(FrameClip {
        name: name(animation, "name").into(),
        // Tracks were checked to have this number of frames.
        frames: if read.is_empty() { 0 } else { frames as usize },
        frame_s,
        duration_s: duration_s.filter(|_| !read.is_empty()),
        tracks: read,
    })
}

/// The time of a frame: `dtime`, or the duration divided by the number of frames.
fn frame_s(dtime_s: Option<f64>, duration_s: Option<f64>, frames: u64, at: &Object) -> Result<f64> {
    if frames <= 1 {
        return Ok(0.0);
    }
    let frame_s = dtime_s.or_else(|| Some(duration_s? / frames as f64));
    let frame_s = frame_s.ok_or_else(|| Error::asset(at.clone(), AssetFault::Missing("dtime")))?;
    if frame_s.is_finite() && frame_s > 0.0 {
        return Ok(frame_s);
    }
    let why = AssetFault::value("frame time", 0, frame_s, "finite and greater than 0");
    Err(Error::asset(at.clone(), why))
}

fn track(
    track: Node<'_, '_>,
    frames: u64,
    budget: &mut Budget<'_>,
    at: &Object,
) -> Result<FrameTrack> {
    let got = words(track).count() as u64;
    let width = match frames.checked_mul(10) {
        Some(need) if need == got => 10,
        _ => 7,
    };
    let need = frames.saturating_mul(width);
    if got != need {
        return Err(wrong_count("the list of numbers", got, need, at));
    }
    let keys = frames.saturating_mul(if width == 10 { 3 } else { 2 });
    budget.keys(keys, KEY_BYTES, at)?;
    // There are more words than frames, so this allocates less than the text takes.
    let capacity = frames as usize;
    let mut read = FrameTrack {
        joint: name(track, "name").into(),
        translations: Vec::with_capacity(capacity),
        rotations: Vec::with_capacity(capacity),
        scales: Vec::with_capacity(if width == 10 { capacity } else { 0 }),
    };
    let mut row = [0.0_f32; 10];
    let row = &mut row[..width as usize];
    let mut words = words(track);
    for frame in 0..frames {
        for (column, value) in row.iter_mut().enumerate() {
            let word = words.next().unwrap_or_default();
            *value = parse(word, at, frame * width + column as u64)?;
        }
        read.translations.push(Vec3::from_slice(row));
        read.rotations.push(Quat::from_slice(&row[3..]));
        if let Some(scale) = row.get(7..10) {
            read.scales.push(Vec3::from_slice(scale));
        }
    }
    Ok(read)
}
