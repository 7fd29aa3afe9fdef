//! Points that make no blend space, and outputs of the wrong length.

use throng::Error;
use throng::error::ArgumentFault;
use throng::glam::Vec2;
use throng::motion::{BlendSpace, BlendSpace1, BlendSpace2};

/// Why points are refused.
#[derive(Debug, PartialEq)]
enum Refused {
    /// The index of a point, and its fault.
    Point(u64, ArgumentFault),
    /// There is none.
    Empty,
    /// There are 257 of 256.
    Full,
}

fn refused<T: std::fmt::Debug>(row: &str, result: Result<T, Error>) -> Refused {
    match result {
        Err(Error::Argument {
            why: ArgumentFault::Length { got: 0, need: 1 },
            ..
        }) => Refused::Empty,
        Err(Error::Capacity {
            asked: 257,
            cap: 256,
            ..
        }) => Refused::Full,
        Err(Error::At {
            what: "point",
            index,
            why,
            ..
        }) => match *why {
            Error::Argument { why, .. } => Refused::Point(index, why),
            other => panic!("{row}: {other:?}"),
        },
        other => panic!("{row}: {other:?}"),
    }
}

/// Points on a line, one unit apart.
fn line(count: usize) -> Vec<f32> {
    (0..count).map(|i| i as f32).collect()
}

/// Points on a parabola, all on the hull.
fn curve(count: usize) -> Vec<Vec2> {
    let points = line(count).into_iter();
    points.map(|x| Vec2::new(x, x * x)).collect()
}

const TWICE: ArgumentFault = ArgumentFault::Duplicate { of: 1 };

fn not_finite(value: f32) -> Refused {
    Refused::Point(1, ArgumentFault::NotFinite(value.into()))
}

const INFINITIES: [f32; 2] = [f32::INFINITY, f32::NEG_INFINITY];

#[test]
fn points_on_a_line_are_refused() {
    let infinite = INFINITIES.map(|x| ("infinite", vec![0.0, x], not_finite(x)));
    let rows = [
        ("twice", vec![2.0, 0.0, 1.0, -0.0], Refused::Point(3, TWICE)),
        ("none", vec![], Refused::Empty),
        ("too many", line(257), Refused::Full),
    ];
    for (row, points, wanted) in rows.into_iter().chain(infinite) {
        assert_eq!(refused(row, BlendSpace1::new(&points)), wanted, "{row}");
    }
    assert!(BlendSpace1::new(&[f32::NAN]).is_err());
    assert!(BlendSpace1::new(&line(BlendSpace::MAX_POINTS)).is_ok());
}

#[test]
fn points_in_a_plane_are_refused() {
    let twice = [Vec2::X, Vec2::Y, Vec2::ONE, Vec2::new(-0.0, 1.0)];
    let infinite = INFINITIES.map(|value| {
        let points = [Vec2::new(1.0, value), Vec2::new(value, 1.0)];
        points.map(|point| ("infinite", vec![Vec2::ZERO, point], not_finite(value)))
    });
    let rows = [
        ("twice", twice.to_vec(), Refused::Point(3, TWICE)),
        ("none", vec![], Refused::Empty),
        ("too many", curve(257), Refused::Full),
    ];
    for (row, points, wanted) in rows.into_iter().chain(infinite.into_iter().flatten()) {
        assert_eq!(refused(row, BlendSpace2::new(&points)), wanted, "{row}");
    }
    let text = BlendSpace2::new(&twice).unwrap_err().to_string();
    assert_eq!(text, "point 3: position: is equal to that of element 1");
    // Different numbers, but not at the scale of the others.
    let near = [Vec2::splat(1e6), Vec2::ZERO, Vec2::new(1e-9, 0.0)];
    let near = refused("near", BlendSpace2::new(&near));
    assert_eq!(near, Refused::Point(2, TWICE));
    // The most there can be, all on the hull.
    let full = BlendSpace2::new(&curve(256)).unwrap();
    assert_eq!(full.triangles().len(), 254);
}

#[test]
fn short_outputs_are_refused() {
    let mut out = [9.0; 3];
    let (of_line, of_plane) = (
        BlendSpace1::new(&line(4)).unwrap(),
        BlendSpace2::new(&curve(4)).unwrap(),
    );
    for (row, result) in [
        ("line", of_line.weights(0.0, &mut out)),
        ("plane", of_plane.weights(Vec2::ZERO, &mut out)),
    ] {
        let short = Error::Argument {
            what: "weights",
            why: ArgumentFault::Length { got: 3, need: 4 },
        };
        assert_eq!(result, Err(short), "{row}");
    }
    assert_eq!(out, [9.0; 3]);
}
