//! Curves: steps, takes without keys, and the range of a take.

use crate::arm::import;
use crate::ascii::{CONSTANT, LINEAR, arm};

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
    // Code 82 is "repeat".
    let repeat = "Post-Extrapolation: {\nType: 82\nRepetition: -1\n}\nKeyVer: 4008";
    let last = file.objects.rfind("KeyVer: 4008").unwrap();
    file.objects
        .replace_range(last..last + "KeyVer: 4008".len(), repeat);
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
