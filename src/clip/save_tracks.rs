//! Serialises the tracks that a clip keeps as curves.

use super::components::Property;
use super::keys::MAX_BITS;
use super::stream::{BitReader, BitWriter};
use super::timing::Timing;
use super::track::{Interpolation, Keys, Track, TrackValues};
use crate::bytes::invalid;
use crate::error::{Error, Result};
use crate::id::Id;

const COUNT_BITS: u32 = 32;
const JOINT_BITS: u32 = 16;
const PROPERTY_BITS: u32 = 2;
const INTERPOLATION_BITS: u32 = 2;
/// Key times are those of the clip's frames, those of the track before, or their own.
const TIMES_BITS: u32 = 2;
const OF_FRAMES: u32 = 0;
const OF_TRACK: u32 = 1;
const OWN: u32 = 2;
/// Bits of the number of binary places of all values of a list, and the number of lists whose
/// values have more of them.
const PLACES_BITS: u32 = 5;
const ANY_PLACES: u32 = 31;
/// The most equal values of which one is written, so that memory is bounded by what was read.
const MOST_SAME: usize = 1024;

const INTERPOLATIONS: [Interpolation; 3] = [
    Interpolation::Step,
    Interpolation::Linear,
    Interpolation::CubicSpline,
];

pub(super) fn save_tracks(tracks: &[Track], timing: &Timing, to: &mut BitWriter) {
    to.put(tracks.len() as u32, COUNT_BITS);
    let of_frames = frame_times_s(timing);
    let mut before: &[f32] = &[];
    for track in tracks {
        let keys = track.values.numbers();
        let times_s = keys.times_s;
        to.put(track.joint.0.into(), JOINT_BITS);
        to.put(track.values.property() as u32, PROPERTY_BITS);
        to.put(keys.interpolation as u32, INTERPOLATION_BITS);
        if times_s == of_frames {
            to.put(OF_FRAMES, TIMES_BITS);
        } else if times_s == before {
            to.put(OF_TRACK, TIMES_BITS);
        } else {
            to.put(OWN, TIMES_BITS);
            to.put(times_s.len() as u32, COUNT_BITS);
            times_s
                .iter()
                .for_each(|time_s| to.put(time_s.to_bits(), 32));
        }
        before = times_s;
        for component in 0..keys.width {
            let values = keys.values.iter().skip(component).step_by(keys.width);
            put_floats(&values.copied().collect::<Vec<f32>>(), to);
        }
    }
}

pub(super) fn load_tracks(timing: &Timing, from: &mut BitReader<'_>) -> Result<Vec<Track>> {
    let mut tracks: Vec<Track> = Vec::new();
    for _ in 0..from.take(COUNT_BITS)? {
        let joint = Id::new(from.take(JOINT_BITS)? as u16);
        let property = Property::ALL.get(from.take(PROPERTY_BITS)? as usize);
        let property = *property.ok_or_else(unknown)?;
        let interpolation = INTERPOLATIONS.get(from.take(INTERPOLATION_BITS)? as usize);
        let interpolation = *interpolation.ok_or_else(unknown)?;
        let times_s = match (from.take(TIMES_BITS)?, tracks.last()) {
            (OF_FRAMES, _) => frame_times_s(timing),
            (OF_TRACK, Some(before)) => before.values.times_s().to_vec(),
            (OWN, _) => {
                let count = from.take(COUNT_BITS)?;
                let times = (0..count).map(|_| from.take(32).map(f32::from_bits));
                times.collect::<Result<_>>()?
            }
            _ => return Err(unknown()),
        };
        let count = times_s.len() * interpolation.values_per_key();
        let columns = (0..property.len()).map(|_| take_floats(count, from));
        let columns: Vec<Vec<f32>> = columns.collect::<Result<_>>()?;
        let values = (0..count).flat_map(|at| columns.iter().map(move |column| column[at]));
        let keys = Keys {
            values: values.collect(),
            times_s,
            interpolation,
        };
        let values = TrackValues::of_numbers(property, keys);
        tracks.push(Track { joint, values });
    }
    Ok(tracks)
}

fn unknown() -> Error {
    invalid("clip", "has a kept track of an unknown form")
}

fn frame_times_s(timing: &Timing) -> Vec<f32> {
    timing.times_s().map(|time_s| time_s as f32).collect()
}

/// Writes numbers as integers if they have few binary places.
fn put_floats(values: &[f32], to: &mut BitWriter) {
    let integer = |value: f32, places: u32| {
        let scaled = f64::from(value) * f64::from(1_u32 << places);
        let fits = scaled.fract() == 0.0 && scaled.abs() < f64::from(1_u32 << MAX_BITS);
        (fits && value.to_bits() != (-0.0_f32).to_bits()).then_some(scaled as i32)
    };
    let integers = |places: u32| {
        let all = values.iter().map(|value| integer(*value, places));
        all.collect::<Option<Vec<i32>>>()
    };
    let all_same = || values.iter().all(|value| *value == values[0]);
    let found = match values.len() > MOST_SAME && all_same() {
        true => None,
        false => (0..ANY_PLACES).find_map(|places| Some((places, integers(places)?))),
    };
    match found {
        Some((places, integers)) => {
            to.put(places, PLACES_BITS);
            to.put_list(&integers);
        }
        None => {
            to.put(ANY_PLACES, PLACES_BITS);
            values.iter().for_each(|value| to.put(value.to_bits(), 32));
        }
    }
}

fn take_floats(count: usize, from: &mut BitReader<'_>) -> Result<Vec<f32>> {
    let places = from.take(PLACES_BITS)?;
    if places == ANY_PLACES || count == 0 {
        let values = (0..count).map(|_| from.take(32).map(f32::from_bits));
        return values.collect();
    }
    let mut integers = from.take_list(count)?;
    if integers.len() < count && count > MOST_SAME {
        return Err(unknown());
    }
    integers.resize(count, integers[0]);
    let scale = 1.0 / f64::from(1_u32 << places);
    let values = integers
        .iter()
        .map(|integer| (f64::from(*integer) * scale) as f32);
    Ok(values.collect())
}
