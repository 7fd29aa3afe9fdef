//! Characters with everything that moves vertices: additive clips, masks, a blend space, spring
//! bones, expressions, and solvers.

use crate::reference::assets::files;
use crate::reference::random;
use crate::reference::rng::Rng;
use throng::Id;
use throng::animator::{Animator, IkSolver};
use throng::character::{AdditiveDesc, AnimationDesc, BlendSpaceDesc, Character, PoseReference};
use throng::glam::Vec3;
use throng::ik::{Aim, FootPlacement, IkChain, TwoBone};
use throng::import::{ImportOptions, RawCharacter};
use throng::mesh::Expression;
use throng::skeleton::{Joint, Skeleton};
use throng::spring::{SpringBones, SpringChain, SpringJoint};
use throng::state_machine::{BlendPointDesc, MaskBranchDesc, MaskDesc};

/// The names of masks and of the blend space.
pub(super) const MASK: &str = "some";
pub(super) const SPACE: &str = "space";

/// Calls `each` with the built-in character, all files, and random characters.
pub(super) fn for_each(random: u64, mut each: impl FnMut(&str, Character)) {
    let built_in = |options: &ImportOptions| RawCharacter::mannequin().build(options);
    each(
        "mannequin",
        equipped(1, |options| Some(built_in(options).ok()?.character)).unwrap(),
    );
    for file in files() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let load =
            |options: &ImportOptions| Some(throng_import::file(&file, options).unwrap().character);
        each(&name, equipped(2, load).unwrap());
    }
    for seed in 0..random {
        let load = |options: &ImportOptions| {
            let raw = random::morphing(seed);
            Some(raw.build(options).ok()?.character)
        };
        // Some random characters have vertices that nothing moves, and are refused.
        if let Some(character) = equipped(seed, load) {
            each(&format!("random {seed}"), character);
        }
    }
}

pub(super) fn equipped(
    seed: u64,
    load: impl Fn(&ImportOptions) -> Option<Character>,
) -> Option<Character> {
    let rng = &mut Rng::new(seed);
    let plain = load(&ImportOptions::default())?;
    let names: Vec<String> = plain
        .clips()
        .iter()
        .map(|clip| clip.name().into())
        .collect();
    let unique = |name: &&String| names.iter().filter(|other| other == name).count() == 1;
    let some: Vec<&String> = names.iter().filter(unique).take(3).collect();
    let mut animation = AnimationDesc::default();
    for clip in &some {
        animation.additive.push(AdditiveDesc {
            name: Some(format!("{clip} added")),
            clip: (*clip).clone(),
            reference: PoseReference::Start,
        });
    }
    let points = some.iter().enumerate().map(|(at, clip)| BlendPointDesc {
        at: (at as f32).into(),
        clip: (*clip).clone(),
    });
    if some.len() > 1 {
        animation.blend_spaces.push(BlendSpaceDesc {
            name: SPACE.into(),
            points: points.collect(),
            ..BlendSpaceDesc::default()
        });
    }
    let joints = plain.skeleton().joints().iter();
    let named = joints.filter(|joint| plain.skeleton().joint(&joint.name).is_ok());
    let named: Vec<&str> = named
        .map(|joint| &*joint.name)
        .filter(|name| !name.is_empty())
        .collect();
    if !named.is_empty() {
        animation.masks.push(MaskDesc {
            name: MASK.into(),
            branches: (0..3)
                .map(|_| MaskBranchDesc {
                    joint: named[rng.below(named.len())].into(),
                    weight: rng.range(0.2, 1.0),
                    feather: 0,
                })
                .collect(),
        });
    }
    let options = ImportOptions {
        animation: Some(animation),
        ..ImportOptions::default()
    };
    let mut character = load(&options)?;
    let weights = character.morph_weights().len();
    if weights > 0 {
        let expressions = (0..3).map(|at| {
            let morphs = (0..weights).filter(|_| rng.chance(2)).collect::<Vec<_>>();
            let part = |weight: usize| (Id::new(weight as u16), rng.range(-1.0, 1.0));
            Expression::new(
                &format!("face {at}"),
                morphs.into_iter().map(part).collect(),
            )
        });
        let expressions = expressions.collect();
        character = character.with_expressions(expressions).unwrap();
    }
    if let Some(path) = path(character.skeleton(), 3, rng) {
        let swing = |joint: &Id<Joint>| SpringJoint {
            stiffness: 0.2,
            gravity: Vec3::Y * -0.5,
            drag: 0.1,
            ..SpringJoint::new(*joint)
        };
        let chain = SpringChain {
            tail_m: Some(Vec3::splat(0.1)),
            ..SpringChain::new(path.iter().map(swing).collect())
        };
        let springs = SpringBones {
            chains: vec![chain],
            ..SpringBones::default()
        };
        character = character.with_springs(springs).unwrap();
    }
    Some(character)
}

/// A random path of `length` joints, each the parent of the next. `None` if there is none.
pub(super) fn path(skeleton: &Skeleton, length: usize, rng: &mut Rng) -> Option<Vec<Id<Joint>>> {
    (0..50).find_map(|_| {
        let mut at = Id::new(rng.below(skeleton.len()) as u16);
        let mut path = vec![at];
        while path.len() < length {
            at = skeleton.joints()[at.index()].parent?;
            path.insert(0, at);
        }
        Some(path)
    })
}

/// Adds a solver of each kind that finds its joints.
pub(super) fn add_solvers(animator: &mut Animator, skeleton: &Skeleton, rng: &mut Rng) {
    let add = |animator: &mut Animator, solver: IkSolver| {
        animator.add_solver(solver).unwrap();
    };
    let mut paths = (0..4).map(|_| path(skeleton, 3, rng));
    let mut next = || paths.next().flatten();
    if let Some(path) = next() {
        add(animator, TwoBone::new(path[0], path[1], path[2]).into());
    }
    if let Some(path) = next() {
        let joints = path.iter().map(|joint| (*joint, 0.33));
        add(animator, Aim::new(joints.collect(), Vec3::Z).into());
    }
    if let Some(path) = next() {
        let chain = IkChain::between(skeleton, path[0], path[2]).unwrap();
        add(animator, chain.into());
    }
    if let Some(path) = next()
        && let Some(pelvis) = skeleton.joints()[path[0].index()].parent
    {
        let leg = (TwoBone::new(path[0], path[1], path[2]), 0.1);
        add(animator, FootPlacement::new(pelvis, vec![leg]).into());
    }
}
