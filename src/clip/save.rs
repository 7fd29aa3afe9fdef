//! Serialises packed clips.
//!
//! Data that the kernel uses without checks is derived or validated while loading, never taken from
//! the bytes as it is. For example, fields are contiguous, so their widths imply their positions.

use super::curve::{CurveClip, Track, WeightTrack};
use super::keys::{Packed, PackedRow};
use super::packed::{Block, BlockKeys, Clip, ClipReport, Property, VertexError, fingerprint};
use super::timing::Timing;
use super::weights::{Column, EvenWeights, MAX_BITS, PADDING, WeightKeys};
use crate::bytes::{Reader, Save, invalid, save_structs};
use crate::error::Result;
use crate::id::Id;
use crate::mesh::Model;
use crate::simd::{Row, WIDTH};
use crate::skeleton::Skeleton;

save_structs! {
    Timing { start_s, end_s, frames, rate, offsets }
    ClipReport {
        quantised, rate_hz, frames, bytes, memory_bytes, raw_bytes, error_m, error_joint,
        error_time_s, vertex_error, kept_tracks, weight_error,
    }
    VertexError { error_m, primitive, vertex, time_s }
}

/// Saves a block without [`Block::NEAR`], which is derived while loading.
impl Save for Block {
    fn save(&self, to: &mut Vec<u8>) {
        self.rows.save(to);
        (self.flags & !Self::NEAR).save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            rows: Save::load(from)?,
            flags: Save::load(from)?,
        })
    }
}

impl Save for Row {
    fn save(&self, to: &mut Vec<u8>) {
        self.0.save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self(Save::load(from)?))
    }
}

fn expect(holds: bool, why: &'static str) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(invalid("clip", why))
    }
}

impl Clip {
    pub(crate) fn fingerprint(skeleton: &Skeleton) -> u64 {
        fingerprint(skeleton)
    }

    pub(crate) fn save(&self, to: &mut Vec<u8>) {
        self.name.save(to);
        self.timing.save(to);
        match &self.keys {
            BlockKeys::Plain(rows, stride) => {
                0_u8.save(to);
                stride.save(to);
                rows.save(to);
            }
            BlockKeys::Packed(packed) => {
                1_u8.save(to);
                packed.save(to);
            }
        }
        self.constants.save(to);
        self.blocks.save(to);
        self.additive.save(to);
        self.kept.save(to);
        self.weights.len().save(to);
        self.weights.iter().for_each(|keys| keys.save(to));
        self.report.save(to);
    }

    /// Loads a clip of `character`, whose skeleton has this fingerprint.
    pub(crate) fn load(model: &Model, fingerprint: u64, from: &mut Reader<'_>) -> Result<Self> {
        let skeleton = &model.skeleton;
        let name = Save::load(from)?;
        let timing = load_timing(from)?;
        let keys = match u8::load(from)? {
            0 => load_plain(&timing, from)?,
            1 => BlockKeys::Packed(Packed::load(timing.frames, from)?),
            _ => return Err(invalid("clip", "has keys of an unknown form")),
        };
        let constants: Vec<Row> = Save::load(from)?;
        let blocks: Vec<Block> = Save::load(from)?;
        check_blocks(&blocks, &keys, constants.len(), skeleton.len())?;
        let additive = Save::load(from)?;
        let kept: Vec<Track> = Save::load(from)?;
        // This checks and sorts the tracks.
        let kept = CurveClip::of_aligned("", kept, skeleton)?.tracks().to_vec();
        let weights = load_weights(model, from)?;
        let report = ClipReport {
            quantised: matches!(keys, BlockKeys::Packed(_)),
            rate_hz: timing.rate,
            frames: timing.frames,
            kept_tracks: kept.len(),
            ..ClipReport::load(from)?
        };
        let mut clip = Self {
            name,
            timing,
            keys,
            constants,
            blocks,
            rest: skeleton.joints.clone(),
            skeleton: fingerprint,
            additive,
            kept,
            weights,
            report,
        };
        clip.mark_close_rotations();
        Ok(clip)
    }
}

fn load_timing(from: &mut Reader<'_>) -> Result<Timing> {
    let timing = Timing::load(from)?;
    let times = [timing.start_s, timing.end_s, timing.rate];
    let finite = times.into_iter().all(f64::is_finite);
    let right = finite && timing.start_s <= timing.end_s && timing.rate >= 0.0;
    expect(right, "has invalid times")?;
    // Frame numbers have 32 bits.
    let frames = (1..=u32::MAX as usize).contains(&timing.frames);
    expect(frames, "has no frames or too many")?;
    let offsets = timing.offsets.is_empty() || timing.offsets.len() == timing.frames;
    expect(offsets, "has offsets for a different number of frames")?;
    Ok(timing)
}

fn load_plain(timing: &Timing, from: &mut Reader<'_>) -> Result<BlockKeys> {
    let stride = usize::load(from)?;
    let rows: Vec<Row> = Save::load(from)?;
    let right = stride.checked_mul(timing.frames) == Some(rows.len());
    expect(right, "has too few or too many keys")?;
    expect(stride > 0 || timing.frames == 1, "has frames without keys")?;
    Ok(BlockKeys::Plain(rows, stride))
}

/// Checks that everything that blocks refer to exists.
fn check_blocks(blocks: &[Block], keys: &BlockKeys, constants: usize, joints: usize) -> Result<()> {
    expect(
        blocks.len() == joints.div_ceil(WIDTH),
        "belongs to another skeleton",
    )?;
    let rows = match keys {
        BlockKeys::Plain(_, stride) => *stride,
        BlockKeys::Packed(packed) => packed.rows.len(),
    };
    for block in blocks {
        expect(
            block.flags < Block::KEPT << 1,
            "has a block of an unknown form",
        )?;
        for property in Property::ALL {
            let (moves, rests) = (block.moves(property), block.rests(property));
            expect(!(moves && rests), "has a block that both moves and rests")?;
            let end = u64::from(block.rows[property as usize]) + property.len() as u64;
            let inside = rests || end <= if moves { rows } else { constants } as u64;
            expect(inside, "has a block beyond its rows")?;
        }
    }
    Ok(())
}

impl Packed {
    fn save(&self, to: &mut Vec<u8>) {
        self.rows.len().save(to);
        for row in &self.rows {
            row.widths().save(to);
            row.min.save(to);
            let scales: [u16; WIDTH] =
                std::array::from_fn(|lane| (row.scale(lane).to_bits() >> 16) as u16);
            scales.save(to);
        }
        self.frames_bytes().to_vec().save(to);
    }

    fn load(frames: usize, from: &mut Reader<'_>) -> Result<Self> {
        let count = usize::load(from)?;
        let (mut rows, mut windows, mut bits) = (Vec::new(), Vec::new(), 0);
        for _ in 0..count {
            let widths: [u8; WIDTH] = Save::load(from)?;
            let min: [f32; WIDTH] = Save::load(from)?;
            let scales: [u16; WIDTH] = Save::load(from)?;
            let laid_out = PackedRow::lay_out(widths.map(u32::from), bits);
            let Some((mut row, window, end)) = laid_out else {
                return Err(invalid("clip", "has fields that are too wide"));
            };
            let finite = min.into_iter().all(f32::is_finite);
            expect(finite, "has keys that are not finite")?;
            row.min = min;
            for (lane, upper) in scales.into_iter().enumerate() {
                expect(PackedRow::is_scale(upper), "has an invalid scale")?;
                row.set_scale(lane, upper);
            }
            rows.push(row);
            windows.push(window);
            bits = end;
            // Bit and byte positions have 32 bits.
            expect(bits < u32::MAX / 2, "has frames that are too long")?;
        }
        expect(bits > 0 || frames == 1, "has frames without keys")?;
        let bytes: Vec<u8> = Save::load(from)?;
        Self::of_frames(rows, windows, (bits, frames), bytes)
            .ok_or_else(|| invalid("clip", "has too few or too many keys"))
    }
}

impl WeightKeys {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Self::Even(even) => {
                0_u8.save(to);
                even.first_weight.save(to);
                even.timing.save(to);
                even.columns.len().save(to);
                for column in &even.columns {
                    (column.width as u8).save(to);
                    column.min.save(to);
                    column.scale.save(to);
                }
                even.bytes.save(to);
            }
            Self::Curve(track) => {
                1_u8.save(to);
                track.save(to);
            }
        }
    }
}

impl EvenWeights {
    /// Loads the keys of some of a character's `weights` morph weights.
    fn load(weights: usize, from: &mut Reader<'_>) -> Result<Self> {
        let first_weight = Id::load(from)?;
        let timing = load_timing(from)?;
        let (mut columns, mut bit) = (Vec::new(), 0_u32);
        for _ in 0..usize::load(from)? {
            let width = u32::from(u8::load(from)?);
            let [min, scale] = Save::load(from)?;
            let right = width <= MAX_BITS && f32::is_finite(min) && f32::is_finite(scale);
            expect(right, "has morph weights of an unknown form")?;
            columns.push(Column {
                min,
                scale,
                bit,
                width,
            });
            bit += width;
            expect(bit < u32::MAX / 2, "has too many morph weights")?;
        }
        let end = u64::from(first_weight) + columns.len() as u64;
        expect(end <= weights as u64, MISSING_WEIGHT)?;
        let stride = bit.div_ceil(8) as usize;
        let bytes: Vec<u8> = Save::load(from)?;
        let need = stride.checked_mul(timing.frames);
        let right = need.and_then(|need| need.checked_add(PADDING)) == Some(bytes.len());
        expect(right, "has too few or too many morph weights")?;
        Ok(Self {
            first_weight,
            timing,
            columns,
            stride,
            bytes,
        })
    }
}

const MISSING_WEIGHT: &str = "drives morph weights that do not exist, or drives one twice";

fn load_weights(model: &Model, from: &mut Reader<'_>) -> Result<Vec<WeightKeys>> {
    let count = model.morph_weights.len();
    let mut all = Vec::new();
    let mut end = 0;
    for _ in 0..usize::load(from)? {
        let keys = match u8::load(from)? {
            0 => WeightKeys::Even(EvenWeights::load(count, from)?),
            1 => {
                let track = WeightTrack::load(from)?;
                let none = CurveClip::new("", Vec::new(), &model.skeleton)?;
                // This checks the track.
                let clip = none.with_weight_tracks(vec![track], count)?;
                let tracks = clip.weight_tracks().to_vec();
                all.extend(tracks.into_iter().map(WeightKeys::Curve));
                let Some(last) = all.pop() else {
                    return Err(invalid("clip", "has a weight track without weights"));
                };
                last
            }
            _ => return Err(invalid("clip", "has morph weights of an unknown form")),
        };
        // Either kind of keys has compared it with the number of weights.
        let range = keys.range();
        expect(range.start >= end && !range.is_empty(), MISSING_WEIGHT)?;
        end = range.end;
        all.push(keys);
    }
    Ok(all)
}
