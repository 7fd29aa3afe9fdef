//! Rectangles on the screen around boxes, compared with points of the boxes.

use crate::reference::rng::Rng;
use throng::glam::{DVec2, DVec3, Mat4, Vec2, Vec3, Vec4Swizzles as _, camera::rh};
use throng::mesh::{Aabb, Sphere};

const NEAR: f32 = 0.5;
const FAR: f32 = 20.0;

/// Cameras at the origin that look to -Z: with normal and reversed depth, and without perspective.
fn cameras() -> [Mat4; 3] {
    [
        rh::proj::vulkan::perspective(1.2, 1.5, NEAR, FAR),
        rh::proj::vulkan::perspective_infinite_reverse(1.2, 1.5, NEAR),
        rh::proj::vulkan::orthographic(-3.0, 3.0, -2.0, 2.0, NEAR, FAR),
    ]
}

/// The place on the screen of a point whose depth is in 0..1.
fn seen(camera: Mat4, at: DVec3) -> Option<DVec2> {
    let clip = camera.as_dmat4() * at.extend(1.0);
    let inside = clip.z >= 0.0 && clip.z <= clip.w && clip.w > 0.0;
    inside.then(|| clip.xy() / clip.w)
}

/// The last point of a line that is seen, if its first one is.
fn last_seen(camera: Mat4, from: DVec3, to: DVec3) -> DVec2 {
    let (mut seen_at, mut end) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (seen_at + end);
        match seen(camera, from.lerp(to, middle)) {
            Some(_) => seen_at = middle,
            None => end = middle,
        }
    }
    seen(camera, from.lerp(to, seen_at)).unwrap()
}

/// The rectangle around points of the edges, with the points where edges cross the planes of depth.
fn reference(camera: Mat4, bounds: &Aabb) -> Option<[DVec2; 2]> {
    const STEPS: u32 = 400;
    let corners = bounds.corners().map(Vec3::as_dvec3);
    let mut points = Vec::new();
    for axis in [1, 2, 4] {
        for from in (0..8).filter(|from| from & axis == 0) {
            let at = |step: u32| {
                corners[from].lerp(corners[from | axis], f64::from(step) / f64::from(STEPS))
            };
            for step in 0..=STEPS {
                let Some(point) = seen(camera, at(step)) else {
                    continue;
                };
                points.push(point);
                for next in [step.saturating_sub(1), (step + 1).min(STEPS)] {
                    if seen(camera, at(next)).is_none() {
                        points.push(last_seen(camera, at(step), at(next)));
                    }
                }
            }
        }
    }
    let least = points.iter().copied().reduce(DVec2::min)?;
    let greatest = points.iter().copied().reduce(DVec2::max)?;
    Some([least, greatest])
}

#[test]
fn are_around_what_is_between_the_planes_of_depth() {
    let mut rng = Rng::new(7);
    let [mut none, mut crossing] = [0; 2];
    for camera in cameras() {
        for _ in 0..300 {
            let mut coordinate = |reach: f32| rng.range(-reach, reach);
            let center = Vec3::new(coordinate(4.0), coordinate(4.0), coordinate(24.0));
            let half = Vec3::new(coordinate(2.0), coordinate(2.0), coordinate(6.0)).abs();
            let bounds = Aabb {
                min: center - half,
                max: center + half,
            };
            let found = bounds.screen_rect(&camera);
            let wanted = reference(camera, &bounds);
            // An edge that is between the planes for less than a step of the reference.
            let Some(([least, greatest], wanted)) = found.zip(wanted) else {
                let thin = found.is_some_and(|[a, b]| (b - a).max_element() < 0.05);
                assert!(found.is_none() == wanted.is_none() || thin, "{bounds:?}");
                none += 1;
                continue;
            };
            let crosses = |z: f32| bounds.min.z < z && bounds.max.z > z;
            crossing += i32::from(crosses(-NEAR));
            // The roundings of the result, which may be large where a corner is near the eye.
            let scale = wanted[0].abs().max(wanted[1].abs()).max_element().max(1.0);
            for (found, wanted) in [least, greatest].into_iter().zip(wanted) {
                let off = (found.as_dvec2() - wanted).abs().max_element();
                assert!(off <= 1e-6 * scale, "{bounds:?}: {found} {wanted}");
            }
        }
    }
    assert!(none > 100 && crossing > 50, "{none} {crossing}");
}

#[test]
fn do_not_exist_for_what_is_behind_or_beyond() {
    let [normal, reversed, _] = cameras();
    let at = |near: f32, far: f32| Aabb {
        min: Vec3::new(-1.0, -1.0, -far),
        max: Vec3::new(1.0, 1.0, -near),
    };
    for camera in cameras() {
        assert_eq!(Aabb::EMPTY.screen_rect(&camera), None);
        assert_eq!(at(-3.0, -1.0).screen_rect(&camera), None, "behind");
        assert_eq!(
            at(0.1, 0.4).screen_rect(&camera),
            None,
            "before the near plane"
        );
        // Around the eye: it reaches beyond the picture on all sides.
        let [least, greatest] = at(-3.0, 3.0).screen_rect(&camera).unwrap();
        assert!(greatest.x > 0.3 && least.x < -0.3 && least.is_finite());
    }
    assert_eq!(
        at(21.0, 22.0).screen_rect(&normal),
        None,
        "beyond the far plane"
    );
    assert!(at(21.0, 22.0).screen_rect(&reversed).is_some());
    let nothing = Mat4::from_cols_array(&[f32::NAN; 16]);
    assert_eq!(at(1.0, 2.0).screen_rect(&nothing), None);
}

#[test]
fn are_those_of_a_point_for_a_box_without_extent() {
    let [camera, ..] = cameras();
    let at = Vec3::new(0.3, -0.2, -2.0);
    let point = Aabb { min: at, max: at };
    let [least, greatest] = point.screen_rect(&camera).unwrap();
    assert_eq!(least, greatest);
    // y points down in Vulkan, and the point is below the middle.
    assert!(least.cmpgt(Vec2::ZERO).all(), "{least}");
}

#[test]
fn corners_and_boxes_of_spheres() {
    let bounds = Aabb {
        min: Vec3::new(1.0, 2.0, 3.0),
        max: Vec3::new(4.0, 6.0, 8.0),
    };
    let corners = bounds.corners();
    assert_eq!(corners[0], bounds.min);
    assert_eq!(corners[0b101], Vec3::new(4.0, 2.0, 8.0));
    let around = corners.into_iter().fold(Aabb::EMPTY, Aabb::with_point);
    assert_eq!(around, bounds);
    let sphere = Sphere {
        center: Vec3::X,
        radius: 0.5,
    };
    let around = Aabb::from(sphere);
    assert_eq!((around.center(), around.size()), (Vec3::X, Vec3::ONE));
    assert!(Aabb::from(Sphere::EMPTY).is_empty());
}
