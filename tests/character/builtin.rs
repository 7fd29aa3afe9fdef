//! The built-in character keeps what it documents, and has no visible faults.

use crate::reference::poser::Poser;
use std::collections::BTreeMap;
use throng::character::Character;
use throng::glam::{Affine3A, Vec3};
use throng::import::{Imported, RawCharacter};

const CLIPS: [&str; 4] = ["Idle", "Walk", "Run", "Wave"];

/// The mannequin at full detail.
fn mannequin() -> Imported {
    let mut raw = RawCharacter::mannequin();
    raw.primitives.truncate(1);
    raw.primitives[0].levels.clear();
    raw.build(&throng::import::ImportOptions::curves_only())
        .expect("the built-in character is valid")
}

fn clip(character: &Character, name: &str) -> (usize, f32) {
    let index = character.clip(name).expect(name).index();
    (index, character.curves()[index].duration_s())
}

fn model(character: &Character, at: Option<(usize, f32)>) -> Vec<Affine3A> {
    let at = at.map(|(clip, time_s)| (clip, f64::from(time_s)));
    Poser::new().pose(character, at).expect("pose").to_vec()
}

/// All vertices, skinned.
fn posed(character: &Character, at: Option<(usize, f32)>) -> Vec<Vec3> {
    let model = model(character, at);
    let entries = character.palette().iter();
    let palette: Vec<_> = entries
        .map(|e| model[usize::from(e.joint)] * e.inverse_bind)
        .collect();
    let mut out = Vec::new();
    for primitive in character.primitives() {
        let start = character.palette_range(primitive).start;
        for (vertex, position) in primitive.positions.iter().enumerate() {
            let influences = primitive.influences(vertex);
            out.push(
                influences
                    .map(|(j, w)| palette[start + j].transform_point3(*position) * w)
                    .sum(),
            );
        }
    }
    out
}

fn joint(character: &Character, name: &str) -> usize {
    character
        .skeleton()
        .joint(name)
        .unwrap_or_else(|_| panic!("{name}"))
        .into()
}

fn joint_at(character: &Character, name: &str, at: (usize, f32)) -> Vec3 {
    model(character, Some(at))[joint(character, name)]
        .translation
        .into()
}

/// Vertices that mostly follow a joint whose name starts with one of `names`.
fn following(character: &Character, names: &[&str]) -> Vec<usize> {
    let mut out = Vec::new();
    let mut base = 0;
    for primitive in character.primitives() {
        let start = character.palette_range(primitive).start;
        for vertex in 0..primitive.vertex_count() {
            let (strongest, _) = primitive.influences(vertex).next().expect("influences");
            let joint = usize::from(character.palette()[start + strongest].joint);
            let name = &character.skeleton().joints()[joint].name;
            if names.iter().any(|n| name.starts_with(n)) {
                out.push(base + vertex);
            }
        }
        base += primitive.vertex_count();
    }
    out
}

#[test]
fn it_needs_no_repair_and_has_every_joint_and_clip() {
    let mannequin = mannequin();
    assert_eq!(mannequin.repairs, []);
    assert!(mannequin.skeleton().len() >= 40);
    for side in ["Left", "Right"] {
        for finger in ["Thumb", "Index", "Middle", "Ring", "Little"] {
            for bone in ["Proximal", "Intermediate", "Distal"] {
                joint(&mannequin, &format!("{side}{finger}{bone}"));
            }
        }
        for limb in [
            "Shoulder", "UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot", "Toes",
        ] {
            joint(&mannequin, &format!("{side}{limb}"));
        }
    }
    for name in ["Hips", "Spine", "Chest", "UpperChest", "Neck", "Head"] {
        joint(&mannequin, name);
    }
    for name in CLIPS {
        assert!(clip(&mannequin, name).1 > 0.5, "{name}");
    }
    // The root only places the character. Every other joint moves vertices.
    assert_eq!(mannequin.palette().len(), mannequin.skeleton().len() - 1);
}

#[test]
fn it_is_made_the_same_every_time() {
    assert!(RawCharacter::mannequin() == RawCharacter::mannequin());
}

#[test]
fn it_stands_on_the_ground_at_a_persons_size() {
    let bounds = mannequin().rest_bounds();
    assert!(bounds.min.y.abs() < 1e-4, "{bounds:?}");
    assert!((1.70..1.82).contains(&bounds.max.y), "{bounds:?}");
    assert!(bounds.center().x.abs() < 1e-4, "{bounds:?}");
}

#[test]
fn weights_are_four_at_most_and_sum_to_one() {
    for primitive in &RawCharacter::mannequin().primitives {
        assert!(primitive.influences_per_vertex <= 4);
        for weights in primitive.weights.chunks(primitive.influences_per_vertex) {
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(weights.iter().all(|w| *w >= 0.0));
        }
    }
}

/// A vertex's position, to the bit.
fn place(position: Vec3) -> [u32; 3] {
    position.to_array().map(f32::to_bits)
}

#[test]
fn the_surface_is_closed_at_every_level() {
    // Vertices are split along edges of colour. Welded by position, every edge has two triangles,
    // which run along it in opposite directions. So there are no holes, and no corner of a triangle
    // is on the edge of another.
    let mannequin = mannequin();
    for primitive in mannequin.primitives() {
        let levels = primitive.levels.iter().map(|level| &level.indices[..]);
        for (number, indices) in core::iter::once(&primitive.indices[..])
            .chain(levels)
            .enumerate()
        {
            let mut edges: BTreeMap<_, i32> = BTreeMap::new();
            for triangle in indices.chunks(3) {
                let corner = |k: usize| place(primitive.positions[triangle[k % 3] as usize]);
                for k in 0..3 {
                    let (a, b) = (corner(k), corner(k + 1));
                    assert_ne!(a, b, "level {number}: an edge without length");
                    *edges.entry((a, b)).or_default() += 1;
                }
            }
            for ((a, b), count) in &edges {
                let at = a.map(f32::from_bits);
                // Coarse levels may touch themselves.
                assert!(*count == 1 || number > 0, "an edge at {at:?} twice");
                let other = edges.get(&(*b, *a)).copied().unwrap_or(0);
                assert_eq!(*count, other, "level {number}: an open edge at {at:?}");
            }
        }
    }
}

/// Seams stay closed in every pose, because the vertices at one place move in the same way.
#[test]
fn seams_stay_closed_in_every_pose() {
    let mannequin = mannequin();
    let [primitive] = mannequin.primitives() else {
        panic!("one primitive");
    };
    let mut seams: BTreeMap<[u32; 3], Vec<usize>> = BTreeMap::new();
    for (vertex, position) in primitive.positions.iter().enumerate() {
        seams.entry(place(*position)).or_default().push(vertex);
    }
    seams.retain(|_, vertices| vertices.len() > 1);
    assert!(seams.len() > 100, "{} places with seams", seams.len());
    let moved = |vertex: usize| {
        let influences = primitive.influences(vertex);
        let influences = influences.map(|(joint, weight)| (joint, weight.to_bits()));
        let deltas = primitive.targets.iter().map(|target| {
            let at = target.vertices.binary_search(&(vertex as u32));
            at.ok().map(|at| place(target.positions[at]))
        });
        (influences.collect::<Vec<_>>(), deltas.collect::<Vec<_>>())
    };
    for vertices in seams.values() {
        let (first, others) = vertices.split_first().unwrap();
        for other in others {
            assert_eq!(moved(*first), moved(*other), "vertices {first}, {other}");
        }
    }
    for (name, part) in CLIPS.into_iter().zip([0.13, 0.37, 0.61, 0.89]) {
        let (clip, duration_s) = clip(&mannequin, name);
        let positions = posed(&mannequin, Some((clip, part * duration_s)));
        for vertices in seams.values() {
            let places = vertices.iter().map(|vertex| place(positions[*vertex]));
            let mut places: Vec<_> = places.collect();
            places.dedup();
            assert_eq!(places.len(), 1, "{name}: vertices {vertices:?}");
        }
    }
}

#[test]
fn normals_are_unit_vectors_that_agree_with_the_winding() {
    let mannequin = mannequin();
    let mut volume = 0.0;
    for primitive in mannequin.primitives() {
        for normal in &primitive.normals {
            assert!((normal.length() - 1.0).abs() < 1e-4);
        }
        for triangle in primitive.indices.chunks(3) {
            let p = [0, 1, 2].map(|k| primitive.positions[triangle[k] as usize]);
            let face = (p[1] - p[0]).cross(p[2] - p[0]);
            assert!(face.length() > 1e-8, "a triangle without area at {}", p[0]);
            volume += p[0].dot(p[1].cross(p[2])) / 6.0;
            for index in triangle {
                let cosine = primitive.normals[*index as usize].dot(face.normalize());
                assert!(cosine > 0.2, "normal {cosine} off at {}", p[0]);
            }
        }
    }
    // A person of this height has 60 to 80 litres. Inside out, it would be negative.
    assert!((0.05..0.09).contains(&volume), "{volume} m³");
}

#[test]
fn the_rest_shape_is_symmetric() {
    // Within 0.1 mm: only the order of sums differs between the sides.
    let points = posed(&mannequin(), None);
    for p in &points {
        let image = Vec3::new(-p.x, p.y, p.z);
        assert!(
            points.iter().any(|q| q.distance_squared(image) < 1e-8),
            "{p}"
        );
    }
}

#[test]
fn every_clip_loops_exactly() {
    let mannequin = mannequin();
    for name in CLIPS {
        let (index, duration_s) = clip(&mannequin, name);
        let [first, last] = [0.0, duration_s].map(|t| posed(&mannequin, Some((index, t))));
        let gap = first
            .iter()
            .zip(&last)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::max);
        assert!(gap < 1e-5, "{name}: {gap} m");
    }
}

#[test]
fn nothing_sinks_into_the_ground() {
    // 5 mm: keys are 25 to 50 ms apart, and the heel and the ball are rounder than the points that
    // the foot turns about.
    let mannequin = mannequin();
    for name in CLIPS {
        let (index, duration_s) = clip(&mannequin, name);
        for step in 0..48 {
            let points = posed(&mannequin, Some((index, duration_s * step as f32 / 48.0)));
            let lowest = points.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
            assert!(lowest > -0.005, "{name} at {step}/48: {lowest} m");
            assert!(
                name == "Run" || lowest < 0.005,
                "{name} at {step}/48 floats: {lowest} m"
            );
        }
    }
}

/// While the foot is flat, its ball moves back at the speed that callers are told.
fn assert_no_slide(name: &str, speed_m_s: f32, flat: core::ops::Range<f32>) {
    let mannequin = mannequin();
    let gait = mannequin.gait(mannequin.clip(name).unwrap());
    assert_eq!(gait.unwrap().speed_m_s, speed_m_s);
    let (index, duration_s) = clip(&mannequin, name);
    for (foot, phase) in [("LeftToes", 0.0), ("RightToes", 0.5)] {
        let at = |u: f32| joint_at(&mannequin, foot, (index, (u + phase).fract() * duration_s));
        let length = (flat.end - flat.start) / 12.0;
        for step in 0..12 {
            let u = flat.start + length * step as f32;
            let speed = (at(u + length) - at(u)) / (length * duration_s);
            // 5 % of the speed: between keys joints turn evenly, and the ball moves in arcs.
            let off = (speed + Vec3::Z * speed_m_s) * Vec3::new(1.0, 0.0, 1.0);
            assert!(
                off.length() < 0.05 * speed_m_s,
                "{name} {foot} at {u}: {speed} m/s"
            );
        }
    }
}

#[test]
fn a_planted_foot_moves_with_the_ground() {
    assert_no_slide("Walk", 1.2, 0.12..0.58);
    assert_no_slide("Run", 3.1, 0.06..0.30);
}

#[test]
fn standing_feet_stay_where_they_are() {
    let mannequin = mannequin();
    for name in ["Idle", "Wave"] {
        let (index, duration_s) = clip(&mannequin, name);
        for foot in ["LeftFoot", "RightFoot", "LeftToes", "RightToes"] {
            let first = joint_at(&mannequin, foot, (index, 0.0));
            for step in 1..32 {
                let now = joint_at(&mannequin, foot, (index, duration_s * step as f32 / 32.0));
                let moved = now.distance(first);
                assert!(moved < 0.001, "{name} {foot} moves by {moved} m");
            }
        }
    }
}

#[test]
fn walking_keeps_a_foot_down_and_running_has_a_flight() {
    let mannequin = mannequin();
    for (name, flies) in [("Walk", false), ("Run", true)] {
        let (index, duration_s) = clip(&mannequin, name);
        let in_the_air = |step: &i32| {
            let points = posed(&mannequin, Some((index, duration_s * *step as f32 / 60.0)));
            points.iter().all(|p| p.y > 0.008)
        };
        let airborne = (0..60).filter(in_the_air).count();
        assert_eq!(airborne > 5, flies, "{name}: {airborne} of 60 in the air");
    }
}

#[test]
fn knees_and_elbows_bend_their_own_way_only() {
    let mannequin = mannequin();
    for name in CLIPS {
        let (index, duration_s) = clip(&mannequin, name);
        for step in 0..48 {
            let model = model(&mannequin, Some((index, duration_s * step as f32 / 48.0)));
            for side in ["Left", "Right"] {
                let of = |part: &str| model[joint(&mannequin, &format!("{side}{part}"))];
                // The shin goes back from the thigh, the forearm forward from the upper arm: seen
                // along the upper one's own z axis, which looks forward.
                let knee = of("LowerLeg").y_axis.dot(of("UpperLeg").z_axis);
                assert!(knee < 0.0, "{name} {side} knee at {step}/48: {knee}");
                let elbow = of("LowerArm").y_axis.dot(of("UpperArm").z_axis);
                assert!(elbow > 0.0, "{name} {side} elbow at {step}/48: {elbow}");
            }
        }
    }
}

#[test]
fn hands_stay_out_of_the_body() {
    // A vertex of hand or forearm within 10 cm of the trunk's axis between hips and chest, or
    // within 8 cm of a thigh's axis, would be inside.
    let mannequin = mannequin();
    let hands = following(
        &mannequin,
        &["LeftHand", "RightHand", "LeftLowerArm", "RightLowerArm"],
    );
    for name in CLIPS {
        let (index, duration_s) = clip(&mannequin, name);
        for step in 0..24 {
            let at = (index, duration_s * step as f32 / 24.0);
            let points = posed(&mannequin, Some(at));
            let cores = [
                ("Hips", "UpperChest", 0.10),
                ("LeftUpperLeg", "LeftLowerLeg", 0.08),
                ("RightUpperLeg", "RightLowerLeg", 0.08),
            ];
            for (low, high, radius_m) in cores {
                let [low, high] = [low, high].map(|j| joint_at(&mannequin, j, at));
                for vertex in &hands {
                    let p = points[*vertex];
                    let along = (p - low).dot(high - low) / low.distance_squared(high);
                    let distance = p.distance(low.lerp(high, along.clamp(0.0, 1.0)));
                    assert!(distance > radius_m, "{name} at {step}/24: {distance} m");
                }
            }
        }
    }
}

#[test]
fn bent_limbs_keep_their_thickness() {
    // The vertices that two joints share about evenly keep at least 70 % of their mean distance
    // from the elbow or knee through a run, which bends both by more than a right angle.
    let mannequin = mannequin();
    let rest = posed(&mannequin, None);
    let rest_model = model(&mannequin, None);
    let (index, duration_s) = clip(&mannequin, "Run");
    let primitive = &mannequin.primitives()[0];
    for name in ["LeftLowerArm", "LeftLowerLeg"] {
        let center = Vec3::from(rest_model[joint(&mannequin, name)].translation);
        let shared = |v: &usize| {
            let weights: Vec<_> = primitive.influences(*v).map(|(_, weight)| weight).collect();
            weights[0] < 0.65 && weights[0] + weights[1] > 0.9 && rest[*v].distance(center) < 0.09
        };
        let vertices: Vec<_> = (0..primitive.vertex_count()).filter(shared).collect();
        assert!(vertices.len() >= 8, "{name}: {}", vertices.len());
        let girth = |points: &[Vec3], center: Vec3| {
            vertices
                .iter()
                .map(|v| points[*v].distance(center))
                .sum::<f32>()
        };
        let before = girth(&rest, center);
        for step in 0..16 {
            let at = (index, duration_s * step as f32 / 16.0);
            let now = girth(&posed(&mannequin, Some(at)), joint_at(&mannequin, name, at));
            assert!(now > 0.70 * before, "{name} at {step}/16: {}", now / before);
        }
    }
}

#[test]
fn a_wave_raises_the_right_hand_palm_forward() {
    let mannequin = mannequin();
    let (index, duration_s) = clip(&mannequin, "Wave");
    let mut across = Vec::new();
    for step in 0..24 {
        let model = model(&mannequin, Some((index, duration_s * step as f32 / 24.0)));
        let hand = model[joint(&mannequin, "RightHand")];
        assert!(
            hand.translation.y > model[joint(&mannequin, "Head")].translation.y,
            "{step}/24"
        );
        // At rest the right palm looks along its joint's -x axis.
        assert!(
            -hand.x_axis.z > 0.6,
            "{step}/24: the palm looks to {}",
            -hand.x_axis
        );
        across.push(hand.translation.x);
    }
    let most = across.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let least = across.iter().copied().fold(f32::INFINITY, f32::min);
    assert!(most - least > 0.10, "the hand swings {} m", most - least);
}
