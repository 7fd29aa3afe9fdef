//! Skeleton, palette, masks and clips of a character as words for `shaders/include/clip.glsl`.
//!
//! The tables are in rows of four words. A row of a joint says where a clip has its rotation,
//! translation and scale, so that a lane needs one load to find them. The fields of a key follow
//! each other: at most four words have them, wherever they start. The same holds for morph weights.

use super::curves::{Curve, push_curve};
use super::weights::push_weights;
use super::words::{CLIP_HEADER, ends, pad, push_offsets, row_of};
use crate::clip::{BlockKeys, Clip, Property, TrackValues, components};
use crate::error::Result;
use crate::gpu::constants::{ADDITIVE, DRIVES, TRACK_CONSTANT, TRACK_CURVE, TRACK_MOVES};
use crate::gpu::{constants, limit};
use crate::mesh::PaletteJoint;
use crate::palette::Mat3x4;
use crate::simd::WIDTH;
use crate::skeleton::{Joint, Mask, NO_PARENT};

/// Bits of a field that is an `f32`.
const PLAIN_BITS: u32 = 32;
/// Words behind the last frame: a key is read as four.
const PADDING: usize = 4;
/// The first bit of a key in a frame is in 32 bits.
const MAX_WORDS: u64 = 1 << 31;

/// The data that the tables are made of.
pub(super) struct Source<'a> {
    pub(super) joints: &'a [Joint],
    pub(super) palette: &'a [PaletteJoint],
    pub(super) masks: &'a [Mask],
    pub(super) clips: &'a [Clip],
    /// Morph weights at rest.
    pub(super) weights: &'a [f32],
}

/// Builds the tables.
///
/// # Errors
/// [`Error::Capacity`](crate::Error::Capacity) if they have more than 2³¹ words.
pub(super) fn build(source: &Source<'_>) -> Result<Vec<u32>> {
    let Source {
        joints,
        palette,
        masks,
        clips,
        weights,
    } = source;
    let mut out = vec![0; 12];
    let mut starts = [0; 4];
    starts[0] = row_of(&out);
    for joint in *joints {
        let [x, y, z, w, tx, ty, tz, sx, sy, sz] = components(&joint.rest).map(f32::to_bits);
        let parent = match joint.parent_index() {
            NO_PARENT => constants::NO_PARENT,
            parent => parent.into(),
        };
        out.extend([x, y, z, w, tx, ty, tz, parent, sx, sy, sz, 0]);
    }
    starts[1] = row_of(&out);
    for entry in *palette {
        let matrix = Mat3x4::from_affine(&entry.inverse_bind);
        out.extend(
            matrix
                .rows
                .as_flattened()
                .iter()
                .map(|value| value.to_bits()),
        );
        out.extend([u32::from(u16::from(entry.joint)), 0, 0, 0]);
    }
    starts[2] = row_of(&out);
    for mask in *masks {
        out.extend(mask.weights.iter().map(|weight| weight.to_bits()));
    }
    pad(&mut out);
    let rest_weights = out.len() as u32;
    out.extend(weights.iter().map(|weight| weight.to_bits()));
    pad(&mut out);
    starts[3] = row_of(&out);
    let headers = out.len();
    out.resize(headers + clips.len() * CLIP_HEADER, 0);
    for (number, clip) in clips.iter().enumerate() {
        let header = push_clip(&mut out, clip, weights.len());
        let at = headers + number * CLIP_HEADER;
        out[at..at + CLIP_HEADER].copy_from_slice(&header);
        limit("words of clips for shaders", out.len() as u64, MAX_WORDS)?;
    }
    out.extend([0; PADDING]);
    let counts = [joints.len(), palette.len(), masks.len(), clips.len()];
    out[8..11].copy_from_slice(&[depth(joints), weights.len() as u32, rest_weights]);
    out[..4].copy_from_slice(&counts.map(|count| count as u32));
    out[4..8].copy_from_slice(&starts);
    Ok(out)
}

/// The number of joints from the deepest one to the root. Parents come first.
fn depth(joints: &[Joint]) -> u32 {
    let mut depths: Vec<u32> = Vec::with_capacity(joints.len());
    for joint in joints {
        let above = depths.get(usize::from(joint.parent_index()));
        depths.push(above.map_or(1, |above| above + 1));
    }
    depths.into_iter().max().unwrap_or(0)
}

/// A moving property of a joint.
struct Moving {
    joint: usize,
    /// Its first row of keys in the clip.
    row: usize,
    components: usize,
    first_bit: u32,
    widths: [u32; 4],
}

/// The curve of a kept track, with its property.
fn curve_of(values: &TrackValues) -> (Property, Curve<'_>) {
    match values {
        TrackValues::Rotation(keys) => (Property::Rotation, Curve::of_rotations(keys)),
        TrackValues::Translation(keys) => (Property::Translation, Curve::of_vectors(keys)),
        TrackValues::Scale(keys) => (Property::Scale, Curve::of_vectors(keys)),
    }
}

/// Adds the tracks and the frames of a clip, for a character with so many morph weights. Returns
/// its header.
fn push_clip(out: &mut Vec<u32>, clip: &Clip, weights: usize) -> [u32; CLIP_HEADER] {
    let timing = &clip.timing;
    let tracks_at = row_of(out);
    let tracks = out.len();
    out.resize(tracks + clip.joints() * 4, 0);
    let (mut moving, mut bits) = (Vec::new(), 0);
    for joint in 0..clip.joints() {
        let info = &clip.blocks[joint / WIDTH];
        let kept = clip.kept_of(joint..joint + 1);
        for (number, property) in Property::ALL.into_iter().enumerate() {
            let is_kept = kept
                .iter()
                .any(|track| curve_of(&track.values).0 == property);
            if info.rests(property) || is_kept {
                continue;
            }
            let row = info.rows[property as usize] as usize;
            let (at, lane) = (row_of(out), joint % WIDTH);
            let values = |row: &mut dyn FnMut(usize) -> f32| {
                let mut four = [0; 4];
                for (component, value) in four.iter_mut().enumerate().take(property.len()) {
                    *value = row(component).to_bits();
                }
                four
            };
            // The keys of a single frame do not move.
            let still = !info.moves(property) || timing.frames == 1;
            out[tracks + joint * 4 + number] =
                at << 2 | if still { TRACK_CONSTANT } else { TRACK_MOVES };
            if !info.moves(property) {
                out.extend(values(&mut |part| clip.constants[row + part].0[lane]));
                continue;
            }
            if still {
                out.extend(values(&mut |part| clip.key(0, row + part, lane)));
                continue;
            }
            let mut one = Moving {
                joint,
                row,
                components: property.len(),
                first_bit: 0,
                widths: [0; 4],
            };
            let (mut least, mut scales) = ([0; 4], [0; 4]);
            for part in 0..one.components {
                let (width, field) = match &clip.keys {
                    BlockKeys::Plain(..) => (PLAIN_BITS, [0.0; 2]),
                    BlockKeys::Packed(packed) => {
                        let row = &packed.rows[row + part];
                        let width = row.widths()[lane].into();
                        (width, [row.min[lane], row.scale(lane)])
                    }
                };
                one.widths[part] = width;
                [least[part], scales[part]] = field.map(f32::to_bits);
            }
            one.first_bit = bits;
            bits += one.widths.iter().sum::<u32>();
            let [a, b, c, d] = one.widths;
            let fields = [one.first_bit, a | b << 8 | c << 16 | d << 24, 0, 0];
            out.extend([least, scales, fields].as_flattened());
            moving.push(one);
        }
    }
    let frame_words = bits.div_ceil(32) as usize;
    let frames = out.len();
    out.resize(frames + frame_words * timing.frames, 0);
    for (frame, words) in out[frames..]
        .chunks_exact_mut(frame_words.max(1))
        .enumerate()
    {
        for one in &moving {
            let mut bit = one.first_bit;
            for part in 0..one.components {
                let (row, lane, width) = (one.row + part, one.joint % WIDTH, one.widths[part]);
                let field = match &clip.keys {
                    BlockKeys::Plain(..) => clip.key(frame, row, lane).to_bits(),
                    BlockKeys::Packed(packed) => packed.field(frame, row, lane),
                };
                let (first, shifted) = (bit as usize / 32, u64::from(field) << (bit % 32));
                // A field of no bits may be behind the last word.
                for (number, bits) in [shifted, shifted >> 32].into_iter().enumerate() {
                    if let Some(word) = words.get_mut(first + number) {
                        *word |= bits as u32;
                    }
                }
                bit += width;
            }
        }
    }
    pad(out);
    let offsets = push_offsets(out, timing);
    for track in &clip.kept {
        let (property, curve) = curve_of(&track.values);
        let at = push_curve(out, &curve, timing);
        out[tracks + usize::from(track.joint) * 4 + property as usize] = at << 2 | TRACK_CURVE;
    }
    let driven = push_weights(out, clip, weights);
    let additive = if clip.additive { ADDITIVE } else { 0 };
    let drives = if clip.drives_weights() { DRIVES } else { 0 };
    let [end, more_end, start, more_start] = ends(timing);
    [
        timing.frames as u32,
        frame_words as u32,
        additive | drives,
        offsets,
        end,
        more_end,
        start,
        more_start,
        0,
        frames as u32,
        tracks_at,
        driven,
    ]
}
