//! The two colours of an instance, by weights, by a mask and by the alpha of vertices.

use super::made::{character, image, sharp, square};
use super::{Stage, camera};
use crate::support::{Config, Setup, each_with};
use throng::Spawn;
use throng::import::RawPrimitive;
use throng::mesh::{AlphaMode, Material};

/// Grey armour whose grey becomes the colours of an instance.
const GREY: [f32; 3] = [0.5; 3];
const FIRST: [f32; 3] = [1.0, 1.0, 0.0];
const SECOND: [f32; 3] = [0.25, 0.5, 1.0];

/// A grey square without light. The left half of the mask is red, the right half green.
fn grey() -> Material {
    let [r, g, b] = GREY;
    Material {
        base_color: [r, g, b, 1.0],
        unlit: true,
        tint_weights: [1.0, 1.0],
        tint_mask: Some(sharp(0)),
        tint_reference: GREY,
        ..Material::default()
    }
}

/// Draws a square, and returns the colours of its left and its right half, 0 to 255. `None` if
/// nothing is drawn.
///
/// Every texel of a half has the same colour, up to 1 of 255: half precision has the tints exactly,
/// texels of the mask are 0 or 1, and only interpolation and the conversion to 8 bits round.
fn halves(
    setup: &mut Setup,
    stage: &mut Stage,
    (material, part): (Material, RawPrimitive),
    alpha: f32,
) -> Option<[[u8; 3]; 2]> {
    let mask = image(2, &[[255, 0, 0, 255], [0, 255, 0, 255]]);
    let made = character(vec![part], vec![material], vec![mask]);
    let id = stage.add(setup, &made);
    let [r, g, b] = FIRST;
    let spawn = Spawn {
        tint: [r, g, b, alpha],
        second_tint: SECOND,
        ..Spawn::default()
    };
    let instance = stage.crowd.spawn(id, &spawn).unwrap();
    let drawn = stage.picture(setup, &camera());
    stage.crowd.despawn(instance).unwrap();
    stage.crowd.remove_character(id).unwrap();
    let background = drawn[..4].to_vec();
    let rows = drawn.chunks_exact(4 * super::EXTENT.width as usize);
    let rows = rows.map(|row| {
        let texels = row.chunks_exact(4).filter(|texel| *texel != background);
        texels
            .map(|it| [it[0], it[1], it[2]])
            .collect::<Vec<[u8; 3]>>()
    });
    let rows: Vec<_> = rows.collect();
    // The square leans, so short rows have one half alone.
    let longest = rows.iter().max_by_key(|row| row.len())?;
    let ends = [*longest.first()?, *longest.last()?];
    let texels = rows.as_slice().concat();
    assert!(texels.len() > 500, "{}", texels.len());
    for texel in &texels {
        let known = ends.iter().any(|end| off(end, texel) <= 1);
        assert!(known, "{texel:?} {ends:?}");
    }
    Some(ends)
}

/// The largest difference of two colours, in steps of 8 bits.
fn off(one: &[u8; 3], other: &[u8; 3]) -> u8 {
    let each = one
        .iter()
        .zip(other)
        .map(|(one, other)| one.abs_diff(*other));
    each.max().unwrap_or_default()
}

/// The base colour times the factors of the tints with these weights.
fn wanted(reference: [f32; 3], weights: [f32; 2]) -> [u8; 3] {
    core::array::from_fn(|at| {
        let factor = |tint: f32, weight: f32| 1.0 + weight * (tint / reference[at] - 1.0);
        let color = GREY[at] * factor(FIRST[at], weights[0]) * factor(SECOND[at], weights[1]);
        (color.clamp(0.0, 1.0) * 255.0).round() as u8
    })
}

fn check(setup: &mut Setup) {
    let mut stage = Stage::new(setup);
    let half_alpha = RawPrimitive {
        colors: vec![[1.0, 1.0, 1.0, 0.5]; 4],
        ..square()
    };
    let white = [1.0; 3];
    // The grey has exactly the colours.
    assert_eq!(wanted(GREY, [1.0, 0.0]), [255, 255, 0]);
    assert_eq!(wanted(GREY, [0.0, 1.0]), [64, 128, 255]);
    for (name, material, part, expected) in [
        ("mask", grey(), square(), [[1.0, 0.0], [0.0, 1.0]]),
        (
            "first colour alone",
            Material {
                tint_weights: [1.0, 0.0],
                ..grey()
            },
            square(),
            [[1.0, 0.0], [0.0, 0.0]],
        ),
        (
            "mask without a reference",
            Material {
                tint_reference: white,
                ..grey()
            },
            square(),
            [[1.0, 0.0], [0.0, 1.0]],
        ),
        (
            "mask and alpha",
            Material {
                tint_by_alpha: true,
                ..grey()
            },
            half_alpha.clone(),
            [[0.5, 0.0], [0.0, 1.0]],
        ),
        (
            "half a weight",
            Material {
                tint_mask: None,
                tint_weights: [0.5, 0.0],
                ..grey()
            },
            square(),
            [[0.5, 0.0]; 2],
        ),
        (
            "second colour alone",
            Material {
                tint_mask: None,
                tint_weights: [0.0, 1.0],
                ..grey()
            },
            square(),
            [[0.0, 1.0]; 2],
        ),
        (
            "weights and alpha",
            Material {
                tint_mask: None,
                tint_weights: [0.5, 0.5],
                tint_by_alpha: true,
                ..grey()
            },
            half_alpha,
            [[0.25, 0.5]; 2],
        ),
        (
            "by default",
            Material {
                tint_mask: None,
                tint_weights: [1.0, 0.0],
                tint_reference: white,
                ..grey()
            },
            square(),
            [[1.0, 0.0]; 2],
        ),
    ] {
        let reference = material.tint_reference;
        let drawn = halves(setup, &mut stage, (material, part), 1.0).unwrap();
        for (drawn, weights) in drawn.into_iter().zip(expected) {
            let wanted = wanted(reference, weights);
            assert!(
                off(&drawn, &wanted) <= 1,
                "{name}: {drawn:?}, not {wanted:?}"
            );
        }
    }
    // The alpha of a tint acts on a mask of alpha, whatever its colours do.
    let cut_out = Material {
        alpha: AlphaMode::Mask { cutoff: 0.5 },
        ..grey()
    };
    let cut_out = |alpha: f32, setup: &mut Setup, stage: &mut Stage| {
        halves(setup, stage, (cut_out.clone(), square()), alpha)
    };
    assert_eq!(cut_out(0.25, setup, &mut stage), None);
    let drawn = cut_out(1.0, setup, &mut stage).unwrap();
    assert!(off(&drawn[0], &[255, 255, 0]) <= 1, "{drawn:?}");
    stage.destroy(setup);
}

/// With an array of textures, and on devices without optional features, which have none.
#[test]
fn tints_apply_where_weights_and_masks_say() {
    for bare in [false, true] {
        each_with(|config| Config { bare, ..config }, check);
    }
}
