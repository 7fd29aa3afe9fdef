//! Clips, compared with the file's own curves in `f64` code that is independent of the crate.

use super::load::{
    ERROR_M, HUMAN_M, Model, POINT_M, ROUNDING, image, matrix, models, palettes, size,
};
use crate::reference::batch::Sample;
use crate::reference::compare::pairings;
use crate::reference::maths::M4;
use crate::reference::rng::Rng;
use std::collections::BTreeMap;
use throng::SimdLevel;
use throng::glam::{DMat4, DVec3};

/// The node of a palette entry, and the points at which the entry is compared.
///
/// The points are near its joint, in the joint's space and in bind space.
struct Probe {
    entry: usize,
    node: usize,
    points: Vec<(DVec3, DVec3)>,
}

/// Points at rest, 3 cm from each joint along its axes, in a character of 1.8 m.
///
/// Entries with a nearly flat inverse bind matrix have none, because it cannot be inverted.
fn probes(model: &Model) -> Vec<Probe> {
    let mut entries: BTreeMap<usize, (usize, M4)> = BTreeMap::new();
    for pairing in pairings(&model.scene, &model.character) {
        entries.extend(pairing.entries);
    }
    let rest = model.scene.globals(None);
    let distance = POINT_M * size(&model.character) / HUMAN_M;
    let mut probes = Vec::new();
    for (entry, (node, bind)) in entries {
        let (bind, at_rest) = (matrix(&bind), matrix(&rest[node]));
        let inverse = bind.inverse();
        let spread = |m: &DMat4| m.x_axis.length() + m.y_axis.length() + m.z_axis.length();
        if !inverse.is_finite() || spread(&inverse) * spread(&bind) > 1e3 {
            continue;
        }
        let point = |axis: usize| {
            let length = at_rest.col(axis).truncate().length();
            let reach = distance / if length > 0.0 { length } else { 1.0 };
            let local = DVec3::from_array(DVec3::AXES[axis].to_array()) * reach;
            (local, inverse.transform_point3(local))
        };
        probes.push(Probe {
            entry,
            node,
            points: [0, 1, 2].map(point).to_vec(),
        });
    }
    probes
}

/// 64 times within, before and after the clip, and those that the reference picks.
fn times(rng: &mut Rng, end: f64, mut picked: Vec<f64>) -> Vec<f64> {
    picked.extend((0..64).map(|_| f64::from(rng.range(-0.05, 1.05)) * end));
    picked
}

#[test]
fn clips_follow_the_curves_of_every_model() {
    let mut rng = Rng::new(5);
    let mut faults = Vec::new();
    for model in models() {
        let character = &model.character;
        let (clips, probes) = (character.clips(), probes(model));
        let entries = character.palette().len();
        let bound = ERROR_M * size(character) / HUMAN_M;
        let mut worst: f64 = 0.0;
        for (number, clip) in clips.iter().enumerate() {
            let report = clip.report();
            assert!(
                f64::from(report.error_m) <= bound,
                "{}: {report:?}",
                model.name
            );
            let reference = &model.scene.clips[number];
            let times = times(&mut rng, reference.end(), reference.times());
            let instances: Vec<_> = times.iter().map(|t| [Sample::new(number, *t)]).collect();
            for level in SimdLevel::available() {
                let got = palettes(character, level, &instances);
                for (time, palette) in times.iter().zip(got.chunks(entries.max(1))) {
                    let globals = model.scene.globals(Some((number, *time)));
                    for probe in &probes {
                        for (local, bind) in &probe.points {
                            let want = matrix(&globals[probe.node]).transform_point3(*local);
                            let (got, sum) = image(&palette[probe.entry], *bind);
                            let allowed = bound + ROUNDING * (sum + size(character));
                            let off = (got - want).length();
                            worst = worst.max((off - ROUNDING * (sum + size(character))) / bound);
                            if off > allowed || off.is_nan() {
                                faults.push(format!(
                                    "{}, clip {number} at {time} s, entry {}: off by {off:.2e}, \
                                     {allowed:.2e} allowed, {report:?}",
                                    model.name, probe.entry
                                ));
                            }
                        }
                    }
                }
            }
        }
        for clip in clips {
            let report = clip.report();
            println!(
                "{:22} {:6.2} Hz {:5} frames {:8} bytes, {:?} 1:{:.1} of 30 Hz, {:.1e} of the \
                 bound, {} kept",
                model.name,
                report.rate_hz,
                report.frames,
                report.bytes,
                report.quantised,
                report.raw_bytes / report.bytes as f64,
                f64::from(report.error_m) / bound,
                report.kept_tracks
            );
        }
        println!("{:22} used {worst:.2} of the bound", model.name);
    }
    let count = faults.len();
    faults.truncate(12);
    assert!(faults.is_empty(), "{count}: {faults:#?}");
}
