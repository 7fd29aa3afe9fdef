//! Curves: steps, takes without keys, and the range of a take.

use crate::arm::import;
use crate::ascii::{CONSTANT, CUBIC, File, LINEAR, arm};
use throng::clip::TrackValues;
use throng::import::{ImportOptions, Imported};

#[test]
fn steps_stay_steps() {
    let (mut file, numbers) = arm();
    let take = file.take("Snap", 0.0, 2.0);
    let keys = [(0.0, 0.0), (1.0, 50.0), (2.0, 50.0)];
    let of_base = (numbers.base, "Lcl Translation", "d|X");
    file.curve(take, of_base, &keys, CONSTANT);
    let c = import(&file);
    assert_eq!(c.repairs, []);
    let clip = &c.curves()[2];
    let mut local = c.skeleton().rest_pose();
    for (time_s, x) in [
        (0.0, 0.0),
        (0.5, 0.0),
        (0.999_99, 0.0),
        (1.0, 0.5),
        (1.5, 0.5),
    ] {
        clip.sample(time_s, &mut local).unwrap();
        let got = local[0].translation.x;
        assert!((got - x).abs() < 1e-6, "{got} at {time_s} s");
    }
}

#[test]
fn a_take_without_keys_is_reported() {
    let (mut file, _) = arm();
    file.take("Nothing", 0.0, 1.0);
    let c = import(&file);
    assert_eq!(c.curves().len(), 3);
    assert_eq!(
        c.repair_summary(),
        ["animation 2: animation without channels (1)"]
    );
}

#[test]
fn a_take_is_as_long_as_its_range() {
    let (mut file, numbers) = arm();
    let take = file.take("Long", 0.0, 5.0);
    let keys = [(0.0, 0.0), (1.0, 50.0)];
    file.curve(
        take,
        (numbers.base, "Lcl Translation", "d|X"),
        &keys,
        CONSTANT,
    );
    let c = import(&file);
    assert!((c.curves()[2].duration_s() - 5.0).abs() < 1e-6);
}

/// Makes the curve that was added last repeat after its last key.
pub(crate) fn repeat_the_last_curve(file: &mut File) {
    // Code 82 is "repeat".
    let repeat = "Post-Extrapolation: {\nType: 82\nRepetition: -1\n}\nKeyVer: 4008";
    let last = file.objects.rfind("KeyVer: 4008").unwrap();
    file.objects
        .replace_range(last..last + "KeyVer: 4008".len(), repeat);
}

#[test]
fn curves_that_repeat_fill_the_take() {
    let (mut file, numbers) = arm();
    let take = file.take("Cycle", 0.0, 3.0);
    let keys = [(0.0, 0.0), (1.0, 50.0)];
    file.curve(
        take,
        (numbers.base, "Lcl Translation", "d|X"),
        &keys,
        LINEAR,
    );
    repeat_the_last_curve(&mut file);
    let c = import(&file);
    let clip = &c.curves()[2];
    let mut local = c.skeleton().rest_pose();
    for (time_s, x) in [(0.5, 0.25), (1.5, 0.25), (2.75, 0.375)] {
        clip.sample(time_s, &mut local).unwrap();
        let got = local[0].translation.x;
        assert!((got - x).abs() < 1e-5, "{got} at {time_s} s");
    }
}

#[test]
fn a_take_of_years_costs_no_memory() {
    let (mut file, numbers) = arm();
    let take = file.take("Years", 0.0, 1e8);
    let keys = [(0.0, 0.0), (1.0, 50.0)];
    file.curve(
        take,
        (numbers.base, "Lcl Translation", "d|X"),
        &keys,
        LINEAR,
    );
    let c = import(&file);
    assert!(c.curves()[2].duration_s() > 9e7);
}

/// The number of keys of the first rotation of a clip.
fn rotation_keys(c: &Imported, clip: usize) -> usize {
    let tracks = c.curves()[clip].tracks().iter();
    let keys = tracks.filter_map(|track| match &track.values {
        TrackValues::Rotation(keys) => Some(keys.times_s.len()),
        _ => None,
    });
    keys.into_iter().next().unwrap()
}

#[test]
fn keys_of_every_frame_are_kept_as_they_are() {
    // Cubic keys, as exporters write them that bake every frame. The last three files say that they
    // have more frames per second: 3 and 14 are the codes of 60 and 120.
    for (rate, code) in [
        (24.0, 11),
        (25.0, 10),
        (30.0, 6),
        (30.0, 3),
        (30.0, 1),
        (60.0, 1),
    ] {
        let (mut file, numbers) = arm();
        file.settings = file.settings.replace("\"\",6", &format!("\"\",{code}"));
        let take = file.take("Baked", 0.0, 2.0);
        let last = (2.0 * rate) as u32;
        let key = |key: u32| (f64::from(key) / rate, (f64::from(key) * 0.37).sin() * 40.0);
        let keys: Vec<(f64, f64)> = (0..=last).map(key).collect();
        file.curve(take, (numbers.tip, "Lcl Rotation", "d|X"), &keys, CUBIC);
        let c = import(&file);
        assert_eq!(rotation_keys(&c, 2), keys.len(), "{rate} Hz, code {code}");
    }
}

#[test]
fn curves_are_sampled_only_beside_the_keys_of_those_that_repeat() {
    let (mut file, numbers) = arm();
    let take = file.take("Cycle", 0.0, 4.0);
    let key = |key: u32| (f64::from(key) / 30.0, (f64::from(key) * 0.37).sin() * 40.0);
    let keys: Vec<(f64, f64)> = (0..=90).map(key).collect();
    file.curve(take, (numbers.tip, "Lcl Rotation", "d|X"), &keys, LINEAR);
    repeat_the_last_curve(&mut file);
    // 60 samples of the last second beside 91 keys.
    assert_eq!(rotation_keys(&import(&file), 2), 91 + 60);
}

/// Files often start with a take that the exporter has added, without keys or with constant ones.
#[test]
fn takes_that_do_not_move_are_not_played_first() {
    let packed = ImportOptions::default();
    for is_constant in [false, true] {
        let (mut file, numbers) = arm();
        let start = file.objects.find("AnimationStack").unwrap();
        file.objects.truncate(start);
        let empty = file.take("Take 001", 0.0, 1.0);
        if is_constant {
            let keys = [(0.0, 30.0), (0.5, 30.0), (1.0, 30.0)];
            file.curve(empty, (numbers.tip, "Lcl Rotation", "d|X"), &keys, CUBIC);
        }
        let take = file.take("Bend", 0.0, 1.0);
        let keys = [(0.0, 0.0), (1.0, 90.0)];
        file.curve(take, (numbers.tip, "Lcl Rotation", "d|X"), &keys, LINEAR);
        for options in [ImportOptions::curves_only(), packed.clone()] {
            let c = throng_import::bytes(file.text().as_bytes(), &options).unwrap();
            // The order is that of the file, and so are names and indices.
            let [first, bend] = ["Take 001", "Bend"].map(|name| c.clip(name).unwrap());
            assert_eq!((first.index(), bend.index()), (0, 1));
            assert_eq!(c.default_clip(), Some(bend));
            let moves: Vec<bool> = c.clips().iter().map(|clip| clip.moves()).collect();
            assert!(moves.is_empty() || moves == [false, true], "{moves:?}");
        }
    }
}
