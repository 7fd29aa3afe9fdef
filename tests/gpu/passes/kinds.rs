//! Every kind of pass × every method × every number of influences.

use super::troupe::{INFLUENCES, Picture, TIME_S, Troupe, WAYS, camera, floats};
use crate::reference::raster::{Drawn, shape, sights};
use crate::support::frames::{EXTENT, NORMAL_Z, REVERSED_Z};
use crate::support::{each, reversed};
use throng::ash::vk;
use throng::glam::Vec2;
use throng::{Culling, Eye, PassKind, View};

/// True for each texel whose depth is not the clear value.
fn drawn(picture: &Picture, clear: f32) -> Vec<bool> {
    picture.depth.iter().map(|depth| *depth != clear).collect()
}

#[test]
fn passes_of_every_kind_write_the_same_depths() {
    // Each way is drawn with both directions of depth, in one setup or the next.
    let mut reversed_z = false;
    each(|setup| {
        reversed_z = !reversed_z;
        let mut troupe = Troupe::new(setup, vk::Format::R8G8B8A8_SRGB, false);
        let (begin, view) = if reversed_z {
            (REVERSED_Z, reversed(&camera()))
        } else {
            (NORMAL_Z, camera())
        };
        // Jitter moves all pictures.
        let view = View {
            eye: Eye {
                jitter: Vec2::new(0.013, -0.007),
                ..view.eye
            },
            ..view
        };
        let mut make = |kind, after_prepass| {
            troupe.pass(kind, |desc| {
                desc.reversed_z = reversed_z;
                desc.after_prepass = after_prepass;
                desc.depth_bias_constant = Some(0.0);
                desc.depth_bias_slope = Some(0.0);
            })
        };
        let nearer = if reversed_z {
            vk::CompareOp::GREATER_OR_EQUAL
        } else {
            vk::CompareOp::LESS_OR_EQUAL
        };
        let color = make(PassKind::Color, None);
        let depth = make(PassKind::Depth, None);
        let equal = make(PassKind::Color, Some(vk::CompareOp::EQUAL));
        let near = make(PassKind::Color, Some(nearer));
        for (number, way) in WAYS.into_iter().enumerate() {
            troupe.show(number);
            let straight = troupe.draw(setup, view, &begin, &[color]);
            let by_depth = troupe.draw(setup, view, &begin, &[depth]);
            let in_two = troupe.draw(setup, view, &begin, &[depth, equal]);
            let by_nearer = troupe.draw(setup, view, &begin, &[depth, near]);
            let texels = drawn(&straight, begin.depth);
            let count = texels.iter().filter(|drawn| **drawn).count();
            assert!(count > 1000, "only {count} texels are drawn");
            assert!(by_depth.depth == straight.depth, "{way:?}: depth");
            assert!(in_two == straight, "{way:?}: after a prepass");
            assert!(by_nearer == straight, "{way:?}: after a prepass");
            // It writes no colour.
            let first = by_depth.color.first_chunk::<4>().unwrap();
            assert!(by_depth.color.chunks_exact(4).all(|texel| texel == first));
        }
        troupe.destroy(setup);
    });
}

/// In front of a near plane and beyond a far plane, people are drawn at the depth of the planes.
#[test]
fn depth_is_clamped_instead_of_clipped() {
    each(|setup| {
        let mut troupe = Troupe::new(setup, vk::Format::R8G8B8A8_SRGB, false);
        let whole = troupe.pass(PassKind::Depth, |_| {});
        let clamped = troupe.pass(PassKind::Depth, |desc| desc.depth_clamp = true);
        let view = camera();
        for (number, way) in WAYS.into_iter().enumerate() {
            troupe.show(number);
            let full = troupe.draw(setup, view, &NORMAL_Z, &[whole]);
            let is_drawn = drawn(&full, 1.0);
            let depths = full.depth.iter().filter(|depth| **depth != 1.0);
            let [nearest, farthest] =
                [f32::min, f32::max].map(|of| depths.clone().copied().reduce(of).unwrap());
            // The planes are moved to a quarter and three quarters of the people's depth.
            let at = |part: f32| nearest + (farthest - nearest) * part;
            let (near, far) = (at(0.25), at(0.75));
            let stretch = 1.0 / (far - near);
            let mut cut = view;
            let clip = &mut cut.eye.clip_from_world;
            let w = clip.row(3);
            let z = (clip.row(2) - near * w) * stretch;
            for (column, z) in z.to_array().into_iter().enumerate() {
                clip.col_mut(column).z = z;
            }
            cut.culling = Culling::Sides;
            let clipped = troupe.draw(setup, cut, &NORMAL_Z, &[whole]);
            let clamped = troupe.draw(setup, cut, &NORMAL_Z, &[clamped]);
            let count = |of: &[bool]| of.iter().filter(|drawn| **drawn).count();
            let fewer = count(&drawn(&clipped, 1.0));
            let all = count(&is_drawn);
            assert!(fewer + 100 < all, "{way:?}: {fewer} of {all} are left");
            for (at, full) in full
                .depth
                .iter()
                .enumerate()
                .filter(|(at, _)| is_drawn[*at])
            {
                let wanted = ((full - near) * stretch).clamp(0.0, 1.0);
                // A triangle's depth is computed with 24 bits, once for each picture.
                let found = clamped.depth[at];
                assert!(
                    (found - wanted).abs() < 1e-3,
                    "{way:?}: {found} instead of {wanted}"
                );
            }
        }
        troupe.destroy(setup);
    });
}

#[test]
fn motion_covers_what_depth_covers() {
    each(|setup| {
        let mut troupe = Troupe::new(setup, vk::Format::R32G32_SFLOAT, false);
        let depth = troupe.pass(PassKind::Depth, |_| {});
        let motion = troupe.pass(PassKind::Motion, |_| {});
        let after = troupe.pass(PassKind::Motion, |desc| {
            desc.after_prepass = Some(vk::CompareOp::EQUAL);
        });
        for (number, way) in WAYS.into_iter().enumerate() {
            troupe.show(number);
            let by_depth = troupe.draw(setup, camera(), &NORMAL_Z, &[depth]);
            let by_motion = troupe.draw(setup, camera(), &NORMAL_Z, &[motion]);
            let in_two = troupe.draw(setup, camera(), &NORMAL_Z, &[depth, after]);
            assert!(by_motion.depth == by_depth.depth, "{way:?}");
            assert!(in_two == by_motion, "{way:?}: after a prepass");
            // Nothing moves, and the background is not zero.
            let motions = floats(&by_motion.color);
            let still = motions.chunks_exact(2).map(|motion| *motion == [0.0; 2]);
            let still: Vec<bool> = still.collect();
            assert!(still == drawn(&by_motion, NORMAL_Z.depth), "{way:?}");
        }
        troupe.destroy(setup);
    });
}

/// Depths are compared with `f64` arithmetic over the palettes, by the definition of each method.
#[test]
fn depths_are_those_of_the_reference() {
    let mut largest: f64 = 0.0;
    each(|setup| {
        let mut troupe = Troupe::new(setup, vk::Format::R8G8B8A8_SRGB, true);
        let depth = troupe.pass(PassKind::Depth, |_| {});
        for (number, way) in WAYS.into_iter().enumerate() {
            troupe.show(number);
            let picture = troupe.draw(setup, camera(), &NORMAL_Z, &[depth]);
            let members = troupe.members(number);
            let shapes: Vec<_> = members
                .iter()
                .map(|member| {
                    let of = (&member.character, member.method);
                    shape(of, Some(member.clip), &[0.7], &member.place)
                })
                .collect();
            let instances: Vec<_> = (members.iter().zip(&shapes))
                .map(|(member, shape)| Drawn {
                    character: &member.character,
                    flipped: member.place.matrix3.determinant() < 0.0,
                    now: shape,
                    then: shape,
                })
                .collect();
            let view = camera();
            let mut seen = [0; INFLUENCES.len()];
            let on = (EXTENT, setup.grid(EXTENT));
            for (index, sight) in sights(on, (&view, &view.eye.clip_from_world), &instances) {
                let got = picture.depth[index];
                let Some(sight) = sight else {
                    assert_eq!(got, NORMAL_Z.depth, "texel {index} at {TIME_S} s");
                    continue;
                };
                // The masked material has holes.
                if sight.primitive == 0 {
                    let error = (f64::from(got) - sight.depth).abs() / sight.depth_error;
                    largest = largest.max(error);
                    assert!(
                        error < 1.0,
                        "{way:?}, {}: {error} of the bound",
                        sight.actor
                    );
                    seen[sight.actor] += 1;
                }
            }
            for (actor, seen) in seen.into_iter().enumerate() {
                // One dancer turns its back.
                assert!(seen > 100 || actor == 2, "{seen} texels of {actor}");
            }
        }
        troupe.destroy(setup);
    });
    println!("largest error of a depth: {largest:.3} of the bound");
}
