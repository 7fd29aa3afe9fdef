//! Blends and transitions allocate nothing once they have run.

use crate::counting::{allocations, measure};
use throng::Id;
use throng::clip::{Clip, ClipOptions};
use throng::clip::{CurveClip, Interpolation, Keys, WeightTrack};
use throng::glam::{Vec2, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawMorph, RawNode, RawPrimitive};
use throng::mesh::MorphTarget;
use throng::motion::{
    BLEND_THRESHOLD, BlendSpace2, ClipSample, GradientBands, Inertia, Moving, PoseLayer,
    SampleList, WeightSample, blend, blend_weights,
};
use throng::skeleton::Mask;

/// Two clips of 40 morph weights: one with even sampling, and one with step interpolation.
fn morphing() -> [Clip; 2] {
    let raw = RawCharacter {
        nodes: vec![RawNode {
            name: "node".into(),
            parent: None,
            transform: throng::skeleton::Transform::IDENTITY,
            matrix: None,
        }],
        primitives: vec![RawPrimitive {
            positions: vec![Vec3::ZERO; 3],
            indices: vec![0, 1, 2],
            morph: Some(0),
            targets: vec![MorphTarget::default(); 40],
            ..RawPrimitive::default()
        }],
        morphs: vec![RawMorph {
            weights: vec![0.0; 40],
            ..RawMorph::default()
        }],
        ..RawCharacter::default()
    };
    let character = raw.build(&ImportOptions::curves_only()).unwrap().character;
    [Interpolation::Linear, Interpolation::Step].map(|interpolation| {
        let track = WeightTrack {
            first_weight: 0,
            count: 40,
            keys: Keys {
                times_s: (0..30).map(|key| key as f32 * 0.1).collect(),
                values: (0..1200).map(|value| (value % 7) as f32 * 0.1).collect(),
                interpolation,
            },
        };
        let clip = CurveClip::new("clip", Vec::new(), character.skeleton()).unwrap();
        let clip = clip.with_weight_tracks(vec![track], 40).unwrap();
        Clip::new(&character, &clip, &ClipOptions::default()).unwrap()
    })
}

#[test]
fn nothing_is_allocated_after_the_first_round() {
    let _measurement = measure();
    let character = RawCharacter::mannequin()
        .build(&ImportOptions::curves_only())
        .unwrap()
        .character;
    let skeleton = character.skeleton();
    let rest: Vec<_> = skeleton.joints().iter().map(|joint| joint.rest).collect();
    let mask = Mask::all(skeleton);
    let corners = [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE];
    let (space, bands) = (
        BlendSpace2::new(&corners).unwrap(),
        GradientBands::new(&corners).unwrap(),
    );
    let (mut list, mut inertia) = (SampleList::new(), Inertia::new());
    let (mut out, mut weights) = (rest.clone(), [0.0; 4]);
    let faces = morphing();
    let (at_rest, mut face) = ([0.0; 40], [0.0; 40]);
    let mut round = |number: u32| {
        list.clear();
        for turn in 0..20 {
            let time_s = f64::from(number) + 0.05 * f64::from(turn);
            list.push(
                (0..4).map(|clip| ClipSample::new(Id::new(clip), time_s).on_level(clip as u8)),
            );
        }
        space.weights(Vec2::splat(0.3), &mut weights).unwrap();
        bands.weights(Vec2::splat(0.3), &mut weights).unwrap();
        let standing = Moving {
            earlier: &rest,
            now: &rest,
        };
        inertia.begin(&standing, &standing, 0.1, 0.0, 1.0).unwrap();
        let one = PoseLayer::new(&rest).masked(&mask);
        blend(
            &rest,
            &[one, one.weighted(0.5).on_level(1)],
            BLEND_THRESHOLD,
            &mut out,
        )
        .unwrap();
        inertia.apply(0.5, &mut out).unwrap();
        let both = faces.iter().map(|clip| WeightSample::new(clip, 0.3));
        blend_weights(&at_rest, BLEND_THRESHOLD, both, &mut face).unwrap();
    };
    round(0);
    let before = allocations();
    for number in 1..20 {
        round(number);
    }
    assert_eq!(allocations(), before);
}
