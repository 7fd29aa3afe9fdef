//! Points that make no blend space, and outputs of the wrong length.

use super::plain::{plane, space};
use crate::reference::words::Fails;
use throng::Error;
use throng::error::{ArgumentFault, DescFault};
use throng::glam::Vec2;
use throng::motion::BlendSpace;

/// Points on a line, one unit apart.
fn line(count: usize) -> Vec<f32> {
    (0..count).map(|i| i as f32).collect()
}

/// Points on a parabola, all on the hull.
fn curve(count: usize) -> Vec<Vec2> {
    let points = line(count).into_iter();
    points.map(|x| Vec2::new(x, x * x)).collect()
}

/// Checks that point `index` is refused because it equals point `of`.
#[track_caller]
fn check_duplicate(result: Result<BlendSpace, Error>, index: u64, of: usize) {
    let Err(Error::Description { why, .. }) = &result else {
        panic!("{result:?}");
    };
    let same = Error::Argument {
        what: "position",
        why: ArgumentFault::Duplicate { of },
    };
    let want = Error::At {
        what: "point",
        index,
        name: "".into(),
        why: Box::new(same),
    };
    assert!(
        matches!(&**why, DescFault::Refused(why) if **why == want),
        "{why:?}"
    );
}

#[test]
fn points_at_one_position_are_refused() {
    check_duplicate(space(&[2.0_f32, 0.0, 1.0, -0.0]), 3, 1);
    let twice = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-0.0, 1.0]];
    check_duplicate(space(&twice), 3, 1);
    space(&twice).fails("…points: point 3: position: is equal to that of element 1");
    // Different numbers, but not at the scale of the others.
    check_duplicate(space(&[[1e6, 1e6], [0.0, 0.0], [1e-9, 0.0]]), 2, 1);
}

#[test]
fn the_number_of_points_is_limited() {
    let most = BlendSpace::MAX_POINTS;
    assert_eq!(space(&line(most)).unwrap().clips().len(), most);
    assert!(space(&line(most + 1)).is_err());
    // All on the hull.
    assert_eq!(plane(&curve(most)).triangles().len(), most - 2);
}

#[test]
fn short_outputs_are_refused() {
    let mut out = [9.0; 3];
    for space in [space(&line(4)).unwrap(), plane(&curve(4))] {
        let short = Error::Argument {
            what: "weights",
            why: ArgumentFault::Length { got: 3, need: 4 },
        };
        assert_eq!(space.weights(Vec2::ZERO, &mut out), Err(short));
    }
    assert_eq!(out, [9.0; 3]);
}
