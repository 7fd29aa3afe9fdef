//! No character is accepted whose poses could overflow.

use crate::raw::raw;
use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::raws::{animation, linear, moves};
use crate::reference::rng::Rng;
use crate::reference::signed::{file, sections};
use crate::reference::words::{Fails, Says};
use throng::animator::{Animator, Play, Pose, ShowPose};
use throng::character::{AdditiveDesc, AnimationDesc, Character};
use throng::clip::Interpolation;
use throng::glam::{Affine3A, Mat4, Quat, Vec3};
use throng::import::{ImportOptions, RawAnimation, RawChannel, RawCharacter, RawKeys};
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset, WriteOnly};
use throng::skeleton::Transform;
use throng::skin::Skinner;
use throng::{Error, Id};

fn channel(node: usize, values: RawKeys) -> RawChannel {
    linear(node, [0.0, 1.0], values)
}

fn clip(name: &str, channels: Vec<RawChannel>) -> RawAnimation {
    animation(name, channels)
}

fn scale(node: usize, size: f32) -> RawChannel {
    channel(node, RawKeys::Scale(vec![Vec3::ONE, Vec3::splat(size)]))
}

fn shift(node: usize, size: f32) -> RawChannel {
    channel(node, RawKeys::Translation(vec![Vec3::ZERO, Vec3::X * size]))
}

/// The reason for which the character is refused, in every form of its clips.
#[track_caller]
fn refused(change: impl Fn(&mut RawCharacter)) -> String {
    let mut texts = Vec::new();
    for options in [
        ImportOptions::default(),
        ImportOptions::curves_only(),
        with_curves(),
    ] {
        let mut raw = raw();
        change(&mut raw);
        texts.push(raw.build(&options).unwrap_err().to_string());
    }
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{texts:?}");
    texts.remove(0)
}

#[test]
fn clips_that_overflow_are_refused() {
    let said = refused(|raw| {
        raw.animations[0].channels = vec![scale(0, 1e20), scale(1, 1e20)];
    });
    said.says("…joint 0…1e18…");
    let said = refused(|raw| {
        raw.animations[0].channels = vec![shift(0, 3e38), shift(1, 3e38)];
    });
    said.says("…joint 0…");
    // Each clip is harmless, but not their blend.
    let said = refused(|raw| {
        raw.animations = vec![
            clip("a", vec![scale(0, 1e15)]),
            clip("b", vec![scale(1, -1e15)]),
        ];
    });
    assert!(
        said.contains("joint 1") && said.contains("9.99") && said.contains("e29 "),
        "{said}"
    );
    let said = refused(|raw| {
        raw.skins[0].inverse_bind[1] = Mat4::from_scale(Vec3::splat(1e10));
        raw.animations[0].channels = vec![scale(1, 1e10)];
    });
    said.says("…palette entry 1…");
    let said = refused(|raw| {
        raw.skins[0].inverse_bind[1] = Mat4::from_scale(Vec3::splat(1e20));
        raw.nodes[1].transform.scale = Vec3::splat(1e-20);
    });
    said.says("…inverse bind matrix 1…");
    let said = refused(|raw| {
        raw.primitives[0].positions[1] = Vec3::X * 1e10;
        raw.animations[0].channels = vec![scale(1, 1e10)];
    });
    said.says("…primitive 0…");
    // The keys are small, but the curve between them is not.
    let said = refused(|raw| {
        let mut swing = shift(1, 0.0);
        swing.interpolation = Interpolation::CubicSpline;
        swing.values = RawKeys::Translation(vec![
            Vec3::ZERO,
            Vec3::ZERO,
            Vec3::X * 1e38,
            Vec3::X * -1e38,
            Vec3::ZERO,
            Vec3::ZERO,
        ]);
        raw.animations[0].channels = vec![swing];
    });
    said.says("…joint 1…");
}

/// Gives the triangle a morph target that moves a vertex by `reach`.
fn morph(raw: &mut RawCharacter, rest: f32, reach: f32) {
    raw.morphs = vec![raws::morph(0, "", vec![rest])];
    raw.primitives[0].morph = Some(0);
    raw.primitives[0].targets = vec![moves(vec![Vec3::X * reach], vec![1])];
}

#[test]
fn morph_targets_that_overflow_are_refused() {
    let said = refused(|raw| {
        morph(raw, 0.0, 1e20);
        raw.animations[0].channels = vec![channel(0, RawKeys::Weights(vec![0.0, 1e20]))];
    });
    said.says("…primitive 0…");
    let mut small = raw();
    morph(&mut small, 0.0, 1e10);
    let small = small.build(&ImportOptions::default()).unwrap().character;
    let mut animator = Animator::new(&small).unwrap();
    let actor = animator.add(Play::REST).unwrap();
    let mut it = animator.live_mut(actor);
    assert!(it.set_morph_weight(Id::new(0), Some(1e17)).is_ok());
    for size in [1.1e18, f32::MAX, f32::NAN] {
        let said = it.set_morph_weight(Id::new(0), Some(size));
        assert!(matches!(said, Err(Error::Argument { .. })), "{said:?}");
        let said = it.set_morph_weights(&[Some(size)]);
        assert!(matches!(said, Err(Error::Argument { .. })), "{said:?}");
    }
}

#[test]
fn added_clips_and_saved_characters_obey_the_same_limit() {
    let with = |size: f32| {
        let mut raw = raw();
        raw.animations[0].channels = vec![scale(0, size), scale(1, size)];
        raw.build(&with_curves())
    };
    let good = with(1e8).unwrap().character;
    let curve = |size: f32| {
        let mut raw = raw();
        raw.animations[0].channels = vec![scale(1, size)];
        let built = raw.build(&with_curves()).unwrap();
        built.character.curves()[0].clone()
    };
    let more = |size: f32| good.clone().with_clips(vec![curve(size)]);
    assert!(more(1e9).is_ok());
    more(1e12).fails("…joint 1…e19 …");

    // The numbers of a saved file are changed one by one, so each kind of key is.
    let saved = good.to_bytes();
    assert_eq!(
        Character::from_bytes(&saved, &Default::default()).unwrap(),
        good
    );
    let whole = sections(&saved);
    let (mut refused, mut loaded) = (0, 0);
    for (index, section) in whole.iter().enumerate() {
        let numeric = ["skeleton", "mesh", "clips", "curves"].contains(&&*section.name);
        for at in (0..section.contents.len().saturating_sub(3)).filter(|_| numeric) {
            let mut altered = whole.clone();
            altered[index].contents[at..at + 4].copy_from_slice(&1e30_f32.to_le_bytes());
            match Character::from_bytes(&file(&altered), &Default::default()) {
                Err(_) => refused += 1,
                Ok(character) => {
                    loaded += 1;
                    expect_finite(&character, &format!("{} at {at}", section.name));
                }
            }
        }
    }
    assert!(refused > 100 && loaded > 0, "{refused}, {loaded}");
}

/// Poses of the caller obey the limit joint by joint, and so do the model poses that they give.
#[test]
fn poses_of_the_caller_obey_the_same_limit() {
    let character = raw().build(&ImportOptions::default()).unwrap().character;
    let mut animator = Animator::new(&character).unwrap();
    let actor = animator.add(Play::REST).unwrap();
    let mut local = [Transform::IDENTITY; 2];
    let shown = ShowPose::default();
    let joint = |result: throng::Result<()>| match result {
        Err(Error::At {
            what: "joint",
            index,
            ..
        }) => Some(index),
        other => {
            assert_eq!(other, Ok(()));
            None
        }
    };
    let mut it = animator.live_mut(actor);
    local[1].translation = Vec3::X * 1.1e18;
    assert_eq!(joint(it.set_pose(Pose::Local(&local), &shown)), Some(1));
    local[1].translation = Vec3::X * 1e10;
    assert_eq!(joint(it.set_pose(Pose::Local(&local), &shown)), None);
    local[0].scale = Vec3::splat(1e10);
    assert_eq!(joint(it.set_pose(Pose::Local(&local), &shown)), Some(1));
    let mut model = [Affine3A::IDENTITY; 2];
    model[0].translation.z = -1.1e18;
    assert_eq!(joint(it.set_pose(Pose::Model(&model), &shown)), Some(0));
    animator.update(0.1).unwrap();
    let seen = numbers::<Mat3x4>(&mut animator, &character);
    assert!(seen.iter().all(|number| number.is_finite()));
}

fn numbers<E: PaletteEntry>(animator: &mut Animator, character: &Character) -> Vec<f32> {
    let actors: Vec<_> = animator.actors().collect();
    let zero = <E as bytemuck::Zeroable>::zeroed();
    let mut palettes = vec![zero; actors.len() * character.palette().len()];
    let out = WriteOnly::from(&mut palettes);
    animator.palettes(&actors, out).unwrap();
    bytemuck::cast_slice(&palettes).to_vec()
}

/// Checks the palettes and vertices of all clips, alone and together.
fn expect_finite(character: &Character, what: &str) {
    let mut animator = Animator::new(character).unwrap();
    let clips = 0..character.clips().len() as u16;
    let actor = animator.add(Play::REST).unwrap();
    for clip in clips.clone() {
        let alone = animator.add(Play::new(Id::new(clip))).unwrap();
        assert!(animator.actor(alone).is_ok());
        let mut all = animator.live_mut(actor);
        all.play(Play::new(Id::new(clip)).layer(clip as u8))
            .unwrap();
    }
    let skinner = Skinner::new(character).unwrap();
    let mut weights = vec![0.0; character.morph_weights().len()];
    let mut words = vec![0.0; skinner.layout().words as usize];
    for time_s in [0.0, 0.4, 1.0] {
        animator.update(time_s).unwrap();
        let all = [
            numbers::<Mat3x4>(&mut animator, character),
            numbers::<QuatOffset>(&mut animator, character),
            numbers::<DualQuat>(&mut animator, character),
            numbers::<DualQuatStretch>(&mut animator, character),
        ];
        for (format, numbers) in all.iter().enumerate() {
            let finite = numbers.iter().all(|number| number.is_finite());
            assert!(finite, "{what}: format {format} at {time_s}: {numbers:?}");
        }
        let it = animator.live(actor);
        it.morph_weights(&mut weights).unwrap();
        let length = character.palette().len() * 12;
        for palette in all[0].chunks_exact(length.max(1)) {
            let palette: &[Mat3x4] = bytemuck::cast_slice(palette);
            let out = WriteOnly::from(&mut words);
            skinner.skin(palette, &weights, out).unwrap();
            let bounds = skinner.bounds(palette, &weights).unwrap();
            assert!(bounds.size().is_finite(), "{what}");
        }
    }
}

/// A number whose logarithm is evenly distributed up to 10 to the power of `most`.
fn any(rng: &mut Rng, most: f32) -> f32 {
    let size = 10_f32.powf(rng.range(-most, most));
    if rng.chance(3) { -size } else { size }
}

/// Characters with numbers of all sizes: whatever is accepted has finite palettes and vertices.
#[test]
fn what_is_accepted_never_overflows() {
    let mut accepted = 0;
    for case in 0..600 {
        let rng = &mut Rng::new(case);
        let most = [4.0, 12.0, 20.0, 37.0][case as usize % 4];
        let vector = |rng: &mut Rng| Vec3::from_array([0; 3].map(|_| any(rng, most)));
        let mut raw = raw();
        if rng.chance(2) {
            raw.nodes[1].transform.translation = vector(rng);
            raw.nodes[0].transform.scale = vector(rng);
        }
        if rng.chance(2) {
            let bind = Mat4::from_scale_rotation_translation(
                vector(rng),
                Quat::from_rotation_x(1.0),
                vector(rng),
            );
            raw.skins[0].inverse_bind[1] = bind;
        }
        if rng.chance(2) {
            raw.primitives[0].positions[2] = vector(rng);
        }
        if rng.chance(2) {
            morph(&mut raw, any(rng, most), any(rng, most));
        }
        for number in 0..rng.below(3) {
            let keys = |rng: &mut Rng| vec![vector(rng), vector(rng)];
            let mut channels = vec![
                channel(number % 2, RawKeys::Scale(keys(rng))),
                channel(1, RawKeys::Translation(keys(rng))),
            ];
            if !raw.morphs.is_empty() {
                let keys = vec![any(rng, most), any(rng, most)];
                channels.push(channel(0, RawKeys::Weights(keys)));
            }
            raw.animations.push(clip("more", channels));
        }
        let mut options = with_curves();
        if rng.chance(3) {
            options.animation = Some(AnimationDesc {
                additive: vec![AdditiveDesc {
                    name: Some("added".into()),
                    clip: "more".into(),
                    reference: Default::default(),
                }],
                ..AnimationDesc::default()
            });
        }
        if let Ok(built) = raw.build(&options) {
            accepted += 1;
            expect_finite(&built.character, &format!("case {case}"));
        }
    }
    assert!(accepted > 100, "{accepted}");
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
