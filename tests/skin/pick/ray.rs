//! Rays against single triangles and boxes.

use throng::glam::DVec3;
use throng::skin::Line;

const TRIANGLE: [DVec3; 3] = [
    DVec3::new(0.0, 0.0, 5.0),
    DVec3::new(0.0, 1.0, 5.0),
    DVec3::new(1.0, 0.0, 5.0),
];

#[test]
fn fronts_are_counter_clockwise() {
    let line = Line::new(DVec3::new(0.25, 0.25, 0.0), DVec3::Z);
    let front = line.meets(TRIANGLE).unwrap();
    assert_eq!((front.distance, front.back_face), (5.0, false));
    assert_eq!(front.barycentrics, [0.5, 0.25, 0.25]);
    let [a, b, c] = TRIANGLE;
    assert!(line.meets([a, c, b]).unwrap().back_face);
    let back = Line::new(DVec3::new(0.25, 0.25, 9.0), DVec3::NEG_Z);
    let met = back.meets(TRIANGLE).unwrap();
    assert_eq!((met.distance, met.back_face), (4.0, true));
}

#[test]
fn what_lies_behind_or_has_no_area_is_not_met() {
    let line = Line::new(DVec3::new(0.25, 0.25, 6.0), DVec3::Z);
    assert_eq!(line.meets(TRIANGLE), None);
    let line = Line::new(DVec3::ZERO, DVec3::Z);
    let [a, b, _] = TRIANGLE;
    for degenerate in [[a, a, a], [a, a, b], [a, b, (a + b) * 0.5]] {
        assert_eq!(line.meets(degenerate), None);
    }
    assert_eq!(line.meets([a, b, DVec3::NAN]), None);
}

#[test]
fn boxes_are_missed_only_where_nothing_in_them_is_met() {
    let (min, max) = (DVec3::new(-1.0, -1.0, 4.0), DVec3::new(1.0, 1.0, 4.0));
    let from = |x: f64, direction: DVec3| Line::new(DVec3::new(x, 0.0, 0.0), direction);
    assert!(!from(1.0, DVec3::Z).misses(min, max));
    assert!(from(1.001, DVec3::Z).misses(min, max));
    assert!(from(0.0, DVec3::NEG_Z).misses(min, max));
    assert!(!from(-3.0, DVec3::new(1.0, 0.0, 1.0)).misses(min, max));
    assert!(from(-3.0, DVec3::new(1.0, 0.5, 1.0)).misses(min, max));
    assert!(!from(9.0, DVec3::Z).misses(DVec3::NAN, DVec3::NAN));
}
