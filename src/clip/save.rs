//! Serialises packed clips.
//!
//! Keys are saved joint by joint, in as few bits as they need, and are laid out for reading while
//! they are loaded. Data that the kernel uses without checks is derived or validated then, never
//! taken from the bytes as it is.

use super::components::{IDENTITY, Property, components};
use super::curve::CurveClip;
use super::keys::{Column, MAX_BITS, Packed, Step};
use super::packed::{Block, BlockKeys, Clip, ClipReport, ClipSizes, VertexError};
use super::quantise::{Implied, unmoved_columns};
use super::rates::MAX_FRAMES;
use super::save_tracks::{load_tracks, save_tracks};
use super::stream::{BitReader, BitWriter};
use super::timing::Timing;
use super::track::WeightTrack;
use super::weights::{Column as WeightColumn, EvenWeights, PADDING, WeightKeys};
use crate::bytes::{Reader, Save, invalid, save_structs};
use crate::error::Result;
use crate::id::Id;
use crate::mesh::Model;
use crate::simd::{Row, WIDTH};
use core::ops::Range;

save_structs! {
    Timing { start_s, end_s, frames, rate, offsets }
    ClipReport {
        quantised, rate_hz, frames, bytes, memory_bytes, raw_bytes, error_m, error_joint,
        error_time_s, vertex_error, kept_tracks, weight_error,
    }
    VertexError { error_m, primitive, vertex, time_s }
}

impl Save for Row {
    fn save(&self, to: &mut Vec<u8>) {
        self.0.save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self(Save::load(from)?))
    }
}

/// Bits of a block's flags.
const FLAG_BITS: u32 = 7;
/// Bits of a step.
const STEP_BITS: u32 = 15;
/// Bits of the number of a component that follows from others, and the number of none.
const IMPLIED_BITS: u32 = 4;
const NOT_IMPLIED: u32 = 8;

fn expect(holds: bool, why: &'static str) -> Result<()> {
    holds.then_some(()).ok_or_else(|| invalid("clip", why))
}

impl Clip {
    /// Saves the clip. Returns where its bytes go.
    pub(crate) fn save(&self, to: &mut Vec<u8>) -> ClipSizes {
        let start = to.len();
        self.name.save(to);
        self.additive.save(to);
        self.timing.save(to);
        let mut bits = BitWriter::default();
        let mut sizes = ClipSizes::default();
        // The sizes of tables and of constants are in bits at first.
        self.save_blocks(&mut bits, &mut sizes);
        match &self.keys {
            BlockKeys::Plain(rows, stride) => {
                0_u8.save(to);
                stride.save(to);
                rows.save(to);
                sizes.keys = size_of_val(&rows[..]);
            }
            BlockKeys::Packed(packed) => {
                1_u8.save(to);
                self.save_keys(packed, &mut bits, &mut sizes);
                sizes.keys = (bits.len() - sizes.tables - sizes.constants).div_ceil(8);
            }
        }
        let before = bits.len();
        save_tracks(&self.kept, &self.timing, &mut bits);
        sizes.curves = (bits.len() - before).div_ceil(8);
        bits.finish().save(to);
        let before = to.len();
        self.weights.len().save(to);
        self.weights.iter().for_each(|keys| keys.save(to));
        sizes.weights = to.len() - before;
        self.report.save(to);
        sizes.tables = sizes.tables.div_ceil(8);
        sizes.constants = sizes.constants.div_ceil(8);
        let known = sizes.tables + sizes.constants + sizes.keys + sizes.curves + sizes.weights;
        sizes.others = (to.len() - start).saturating_sub(known);
        sizes
    }

    /// Writes the flags of all blocks, and the constants.
    fn save_blocks(&self, to: &mut BitWriter, sizes: &mut ClipSizes) {
        for block in &self.blocks {
            to.put(u32::from(block.flags & !Block::NEAR), FLAG_BITS);
        }
        sizes.tables = to.len();
        for (number, block) in self.blocks.iter().enumerate() {
            for property in block.still() {
                let rows = &self.constants[block.rows_of(property)];
                for joint in self.joints_of(number) {
                    let values = rows.iter().map(|row| row.0[joint % WIDTH]);
                    self.save_fixed(joint, property, &values.collect::<Vec<f32>>(), to);
                }
            }
        }
        sizes.constants = to.len() - sizes.tables;
    }

    /// Writes the values of a property that does not move.
    fn save_fixed(&self, joint: usize, property: Property, values: &[f32], to: &mut BitWriter) {
        let rest = &components(&self.at_rest(joint))[property.range()];
        let bits = values.iter().map(|value| value.to_bits());
        let rests = bits.clone().eq(rest.iter().map(|value| value.to_bits()));
        to.put(u32::from(!rests), 1);
        if !rests {
            bits.for_each(|bits| to.put(bits, 32));
        }
    }

    fn load_fixed(
        &self,
        joint: usize,
        property: Property,
        from: &mut BitReader<'_>,
    ) -> Result<[f32; 4]> {
        let at_rest = components(&self.at_rest(joint));
        let mut values = [0.0; 4];
        let rests = from.take(1)? == 0;
        for (value, rest) in values.iter_mut().zip(&at_rest[property.range()]) {
            *value = match rests {
                true => *rest,
                false => f32::from_bits(from.take(32)?),
            };
            expect(value.is_finite(), "has keys that are not finite")?;
        }
        Ok(values)
    }

    /// Writes the keys of all joints that move.
    fn save_keys(&self, packed: &Packed, to: &mut BitWriter, sizes: &mut ClipSizes) {
        for (joint, rows, property) in self.moving() {
            let (mut fixed, mut lists, mut step) = (Vec::new(), Vec::new(), None);
            for row in rows {
                match packed.column(row, joint % WIDTH) {
                    Column::Fixed(value) => fixed.push(value),
                    Column::Steps(own, multiples) => {
                        step = Some(own);
                        lists.push(multiples);
                    }
                }
            }
            let start = to.len();
            to.put(step.is_some().into(), 1);
            // All components of a property have one step, or none has one.
            let Some(step) = step else {
                self.save_fixed(joint, property, &fixed, to);
                sizes.constants += to.len() - start;
                continue;
            };
            to.put(step.upper().into(), STEP_BITS);
            let implied = implied_of(step, &lists);
            if property == Property::Rotation {
                to.put(implied.map_or(NOT_IMPLIED, Implied::number), IMPLIED_BITS);
            }
            sizes.tables += to.len() - start;
            for (component, multiples) in lists.iter().enumerate() {
                if implied.is_none_or(|implied| implied.component != component) {
                    to.put_list(multiples);
                }
            }
        }
    }

    /// Reads what [`Self::save_keys`] wrote.
    fn load_keys(&self, from: &mut BitReader<'_>) -> Result<Packed> {
        let frames = self.timing.frames;
        expect(frames <= MAX_FRAMES, "has too many frames")?;
        let mut columns = unmoved_columns(&self.blocks);
        for (joint, rows, property) in self.moving() {
            let columns = columns[rows].iter_mut();
            let columns = columns.map(|row| &mut row[joint % WIDTH]);
            if from.take(1)? == 0 {
                let values = self.load_fixed(joint, property, from)?;
                columns
                    .zip(values)
                    .for_each(|(column, value)| *column = Column::Fixed(value));
                continue;
            }
            let step = Step::from_upper(from.take(STEP_BITS)? as u16);
            let step = step.ok_or_else(|| invalid("clip", "has an invalid step"))?;
            let implied = match property {
                Property::Rotation => from.take(IMPLIED_BITS)?,
                _ => NOT_IMPLIED,
            };
            let implied = Implied::of_number(implied);
            let mut lists = vec![Vec::new(); property.len()];
            for (component, list) in lists.iter_mut().enumerate() {
                if implied.is_none_or(|implied| implied.component != component) {
                    *list = from.take_list(frames)?;
                }
            }
            if let Some(implied) = implied {
                lists[implied.component] = implied.list(step, &lists);
            }
            columns
                .zip(lists)
                .for_each(|(column, list)| *column = Column::Steps(step, list));
        }
        let packed = Packed::new(&columns, frames);
        let packed =
            packed.ok_or_else(|| invalid("clip", "has keys that are too wide or not exact"))?;
        expect(packed.stride > 0 || frames == 1, "has frames without keys")?;
        Ok(packed)
    }

    /// The joints and properties that move, each with its rows.
    fn moving(&self) -> impl Iterator<Item = (usize, Range<usize>, Property)> + '_ {
        let blocks = self.blocks.iter().enumerate();
        blocks.flat_map(move |(number, block)| {
            block.moving().flat_map(move |property| {
                let joints = self.joints_of(number);
                joints.map(move |joint| (joint, block.rows_of(property), property))
            })
        })
    }

    /// Loads a clip of `character`, whose skeleton has this fingerprint.
    pub(crate) fn load(model: &Model, fingerprint: u64, from: &mut Reader<'_>) -> Result<Self> {
        let skeleton = &model.skeleton;
        let name = Save::load(from)?;
        let additive = Save::load(from)?;
        let timing = load_timing(from)?;
        let form = u8::load(from)?;
        expect(form < 2, "has keys of an unknown form")?;
        let plain = match form {
            0 => load_plain(&timing, from)?,
            _ => BlockKeys::Plain(Vec::new(), 0),
        };
        let bytes: Vec<u8> = Save::load(from)?;
        let mut bits = BitReader::new(&bytes);
        let mut clip = Self {
            name,
            timing,
            keys: plain,
            constants: Vec::new(),
            blocks: Vec::new(),
            rest: skeleton.joints.clone(),
            skeleton: fingerprint,
            additive,
            kept: Vec::new(),
            weights: Vec::new(),
            report: ClipReport::NONE,
        };
        clip.load_blocks(&mut bits)?;
        if form == 1 {
            clip.keys = BlockKeys::Packed(clip.load_keys(&mut bits)?);
        }
        if let BlockKeys::Plain(_, stride) = &clip.keys {
            let moving = clip.blocks.iter().flat_map(|block| block.moving());
            let rows: usize = moving.map(Property::len).sum();
            expect(rows == *stride, "has a block beyond its rows")?;
        }
        let kept = load_tracks(&clip.timing, &mut bits)?;
        bits.finish()?;
        // This checks and sorts the tracks.
        clip.kept = CurveClip::of_aligned("", kept, skeleton)?.tracks().to_vec();
        clip.weights = load_weights(model, from)?;
        clip.report = ClipReport {
            quantised: form == 1,
            rate_hz: clip.timing.rate,
            frames: clip.timing.frames,
            kept_tracks: clip.kept.len(),
            ..ClipReport::load(from)?
        };
        clip.mark_close_rotations();
        Ok(clip)
    }

    /// Reads what [`Self::save_blocks`] wrote, and numbers rows.
    fn load_blocks(&mut self, from: &mut BitReader<'_>) -> Result<()> {
        let mut moving = 0;
        let mut constants = 0;
        for _ in 0..self.rest.len().div_ceil(WIDTH) {
            let flags = from.take(FLAG_BITS)? as u8;
            let mut block = Block {
                rows: [0; 3],
                flags,
            };
            for property in Property::ALL {
                let (moves, rests) = (block.moves(property), block.rests(property));
                expect(!(moves && rests), "has a block that both moves and rests")?;
                if !rests {
                    let next = if moves { &mut moving } else { &mut constants };
                    block.rows[property as usize] = *next;
                    *next += property.len() as u32;
                }
            }
            self.blocks.push(block);
        }
        for number in 0..self.blocks.len() {
            let block = self.blocks[number];
            for property in block.still() {
                let rows = property.range().map(|own| Row([IDENTITY[own]; WIDTH]));
                let mut rows: Vec<Row> = rows.collect();
                for joint in self.joints_of(number) {
                    let values = self.load_fixed(joint, property, from)?;
                    for (row, value) in rows.iter_mut().zip(values) {
                        row.0[joint % WIDTH] = value;
                    }
                }
                self.constants.append(&mut rows);
            }
        }
        Ok(())
    }
}

/// The component of a rotation that follows from the others in all frames.
fn implied_of(step: Step, lists: &[Vec<i32>]) -> Option<Implied> {
    let [a, b, c, d] = lists else {
        return None;
    };
    let mut all = (0..NOT_IMPLIED).filter_map(Implied::of_number);
    all.find(|implied| {
        let mut frames = a.iter().zip(b).zip(c.iter().zip(d));
        frames.all(|((a, b), (c, d))| {
            let all = [*a, *b, *c, *d];
            implied.multiple(all, step) == all[implied.component]
        })
    })
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
            columns.push(WeightColumn {
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
                track.check(count)?;
                WeightKeys::Curve(track)
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
