//! Replacing the character of an animator: what fits goes on, and what does not is listed.

use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::words::Fails;
use throng::animator::{Animator, Play, Pose, ReplaceIssue, ShowPose};
use throng::character::{AnimationDesc, BlendSpaceDesc, Character};
use throng::glam::{Affine3A, Vec3};
use throng::ik::{
    Aim, AimTarget, ChainTarget, FeetTarget, FootPlacement, GroundHit, IkChain, TwoBone,
    TwoBoneTarget,
};
use throng::import::{ImportOptions, RawCharacter, RawMorph};
use throng::mesh::{Expression, ExpressionOverride};
use throng::skeleton::Transform;
use throng::state_machine::{
    BlendPointDesc, LayerDesc, MaskBranchDesc, MaskDesc, Origin, ParameterDesc, ParameterKind,
    StateDesc, StateMachineDesc, TransitionDesc,
};

/// Walks and runs by a state machine, with a mask and a blend space.
fn desc() -> AnimationDesc {
    let point = |at: f32, clip: &str| BlendPointDesc {
        at: at.into(),
        clip: clip.into(),
    };
    let speed = ParameterKind::Float {
        default: 0.0,
        min: Some(0.0),
        max: None,
    };
    let go = TransitionDesc {
        when: vec!["speed > 1".parse().unwrap()],
        fade_s: 0.5,
        ..TransitionDesc::new(Origin::State("stand".into()), "go")
    };
    let machine = StateMachineDesc {
        parameters: vec![ParameterDesc {
            name: "speed".into(),
            kind: speed,
        }],
        masks: Vec::new(),
        layers: vec![LayerDesc {
            states: vec![
                StateDesc::clip("stand", "Idle"),
                StateDesc::clip("go", "Walk"),
            ],
            transitions: vec![go],
            ..LayerDesc::new("body", "stand")
        }],
    };
    let arm = MaskBranchDesc {
        joint: "RightUpperArm".into(),
        weight: 1.0,
        feather: 0,
    };
    AnimationDesc {
        masks: vec![MaskDesc {
            name: "arm".into(),
            branches: vec![arm],
        }],
        blend_spaces: vec![BlendSpaceDesc {
            name: "pace".into(),
            points: vec![point(0.0, "Idle"), point(1.0, "Walk"), point(2.0, "Run")],
            ..BlendSpaceDesc::default()
        }],
        state_machine: Some(machine),
        ..AnimationDesc::default()
    }
}

pub(super) fn build(change: impl FnOnce(&mut RawCharacter, &mut AnimationDesc)) -> Character {
    let (mut raw, mut animation) = (RawCharacter::mannequin(), desc());
    change(&mut raw, &mut animation);
    let options = ImportOptions {
        animation: Some(animation),
        ..ImportOptions::default()
    };
    raw.build(&options).unwrap().character
}

/// The model poses of all actors, with equal bits for equal poses.
fn poses(animator: &mut Animator, joints: usize) -> Vec<[u32; 12]> {
    let actors: Vec<_> = animator.actors().collect();
    let mut out = vec![Affine3A::IDENTITY; actors.len() * joints];
    animator.model_poses(&actors, &mut out).unwrap();
    let bits = |affine: &Affine3A| affine.to_cols_array().map(f32::to_bits);
    out.iter().map(bits).collect()
}

fn issue(what: &'static str, name: &str, affected: usize) -> ReplaceIssue {
    ReplaceIssue {
        what,
        name: name.into(),
        affected,
    }
}

/// One actor for each way to play.
fn populated(character: &Character) -> Animator {
    let mut animator = Animator::new(character).unwrap();
    animator.update(5.0).unwrap();
    let fading = animator.add("Walk").unwrap();
    let waving = animator.add("Idle").unwrap();
    let pacing = animator.add(Play::blend_space("pace").at(1.3)).unwrap();
    let driven = animator.add_with_state_machine().unwrap();
    let posed = animator.add("Idle").unwrap();
    animator.update(5.1).unwrap();
    let run = Play::new("Run").fade_s(0.4).synced();
    animator.live_mut(fading).play(run).unwrap();
    let wave = Play::new("Wave").layer(1).mask("arm").fade_s(0.2);
    animator.live_mut(waving).play(wave).unwrap();
    let mut pace = animator.live_mut(pacing);
    pace.set_blend_position(0, 1.8, 1.0).unwrap();
    let mut driven = animator.live_mut(driven);
    driven.set_parameter("speed", 2.0).unwrap();
    let pose: Vec<_> = character
        .skeleton()
        .joints()
        .iter()
        .map(|joint| joint.rest)
        .collect();
    let mut posed = animator.live_mut(posed);
    let show = ShowPose {
        fade_s: 0.5,
        ..ShowPose::default()
    };
    posed.set_pose(Pose::Local(&pose), &show).unwrap();
    animator.update(5.25).unwrap();
    animator
}

/// The same file again changes no bit, now and later.
#[test]
fn the_same_character_changes_nothing() {
    let character = build(|_, _| {});
    let joints = character.skeleton().len();
    let (mut plain, mut replaced) = (populated(&character), populated(&character));
    assert!(replaced.replace(&character).unwrap().is_empty());
    for step in 0..60 {
        let now_s = 5.25 + f64::from(step) / 30.0;
        plain.update(now_s).unwrap();
        replaced.update(now_s).unwrap();
        let same = poses(&mut plain, joints) == poses(&mut replaced, joints);
        assert!(same, "at {now_s} s");
    }
}

/// Clips in another order, with others between them, are found by name.
#[test]
fn everything_is_found_by_its_name() {
    let before = build(|_, _| {});
    let after = build(|raw, desc| {
        raw.animations.reverse();
        let layer = &mut desc.state_machine.as_mut().unwrap().layers[0];
        layer.states.insert(0, StateDesc::clip("fall", "Idle"));
        layer.transitions.insert(
            0,
            TransitionDesc::new(Origin::State("fall".into()), "stand"),
        );
        let arm = desc.masks[0].clone();
        desc.masks.insert(
            0,
            MaskDesc {
                name: "other".into(),
                ..arm
            },
        );
        let machine = desc.state_machine.as_mut().unwrap();
        machine.parameters.insert(
            0,
            ParameterDesc {
                name: "armed".into(),
                kind: ParameterKind::Bool { default: false },
            },
        );
    });
    let joints = before.skeleton().len();
    let (mut plain, mut replaced) = (populated(&before), populated(&before));
    assert_eq!(replaced.replace(&after).unwrap(), []);
    let driven = replaced.actors().nth(3).unwrap();
    for step in 0..60 {
        let now_s = 5.25 + f64::from(step) / 30.0;
        plain.update(now_s).unwrap();
        replaced.update(now_s).unwrap();
        let same = poses(&mut plain, joints) == poses(&mut replaced, joints);
        assert!(same, "at {now_s} s");
    }
    let machine = replaced.state_machine().unwrap();
    let status = replaced.live(driven).layer_status(0).unwrap();
    assert_eq!(machine.state_name(0, status.state), "go");
}

/// A looping clip that got twice as long is in the same phase.
#[test]
fn a_longer_clip_keeps_its_phase() {
    let before = build(|_, _| {});
    let after = build(|raw, _| {
        for channel in raw
            .animations
            .iter_mut()
            .flat_map(|clip| &mut clip.channels)
        {
            channel.times_s.iter_mut().for_each(|time| *time *= 2.0);
        }
    });
    let mut animator = populated(&before);
    let id = animator.add(Play::new("Walk").offset_s(0.3)).unwrap();
    let duration_s = |character: &Character| {
        let walk = character.clip("Walk").unwrap();
        character.clips()[walk.index()].duration_s()
    };
    let time_s = |animator: &Animator| animator.live(id).playing().next().unwrap().time_s;
    let phase = time_s(&animator) / duration_s(&before);
    assert!(animator.replace(&after).unwrap().is_empty());
    let got = time_s(&animator) / duration_s(&after);
    // The phase goes through a product and a quotient.
    assert!((got - phase).abs() < 1e-12, "{got} is not {phase}");
    assert!((duration_s(&after) / duration_s(&before) - 2.0).abs() < 1e-6);
}

#[test]
fn what_is_gone_is_listed_and_ends() {
    let before = build(|_, _| {});
    let mut animator = populated(&before);
    let joint = |name: &str| before.skeleton().joint(name).unwrap();
    let arm = TwoBone {
        start: joint("RightUpperArm"),
        mid: joint("RightLowerArm"),
        end: joint("RightHand"),
        hinge: Some(Vec3::X),
        soften: 0.0,
    };
    let arm = animator.add_solver(arm).unwrap();
    let looks = Aim {
        joints: vec![(joint("Head"), 1.0)],
        forward: Vec3::Z,
        up: Vec3::Y,
        offset_m: Vec3::ZERO,
        limit_rad: 1.0,
    };
    let looks = animator.add_solver(looks).unwrap();
    let second = animator.actors().nth(1).unwrap();
    let mut actor = animator.live_mut(second);
    actor
        .set_target(arm, TwoBoneTarget::at(Vec3::ONE), 0.0)
        .unwrap();
    actor
        .set_target(looks, AimTarget::at(Vec3::ONE), 0.0)
        .unwrap();
    animator.add("Wave").unwrap();

    let after = build(|raw, desc| {
        raw.animations.retain(|clip| &*clip.name != "Wave");
        for node in &mut raw.nodes {
            if &*node.name == "RightHand" {
                node.name = "RightPaw".into();
            }
        }
        desc.blend_spaces.clear();
        let machine = desc.state_machine.as_mut().unwrap();
        machine.parameters[0].name = "pace".into();
        let layer = &mut machine.layers[0];
        layer.transitions.clear();
        layer.states.pop();
    });
    let issues = animator.replace(&after).unwrap();
    let wanted = [
        issue("IK solver", "TwoBone", 1),
        issue("blend space", "pace", 1),
        issue("clip", "Wave", 2),
        issue("parameter", "speed", 1),
        issue("state", "go", 1),
    ];
    assert_eq!(issues, wanted);
    let refused = animator
        .live_mut(second)
        .set_target(arm, TwoBoneTarget::at(Vec3::ONE), 0.0);
    refused.fails("…does not fit…");
    let actor = animator.live(second);
    assert!(actor.target(arm).is_none() && actor.target(looks).is_some());
    let layers: Vec<u8> = actor.playing().map(|clip| clip.layer).collect();
    assert_eq!(layers, [0], "the idle clip goes on, the wave has ended");
    let driven = animator.actors().nth(3).unwrap();
    let machine = animator.state_machine().unwrap();
    let status = animator.live(driven).layer_status(0).unwrap();
    assert_eq!(machine.state_name(0, status.state), "stand");
    animator.update(6.0).unwrap();
    let count = after.skeleton().len() * animator.actors().len();
    assert_eq!(poses(&mut animator, after.skeleton().len()).len(), count);
}

/// Gives the mannequin morph weights, and expressions that each set one of them.
fn add_face(raw: &mut RawCharacter, weights: &[&str], expressions: &[(&str, &str)]) {
    raw.morphs = vec![RawMorph {
        node: raw.primitives[0].node,
        weights: vec![0.0; weights.len()],
        names: weights.iter().map(|name| (*name).into()).collect(),
        ..RawMorph::default()
    }];
    raw.primitives[0].morph = Some(0);
    let target = raws::moves(vec![Vec3::X * 0.01], vec![0]);
    raw.primitives[0].targets = vec![target; weights.len()];
    let node = raw.primitives[0].node;
    let expression = |(name, weight): &(&str, &str)| {
        let index = weights.iter().position(|it| it == weight).unwrap();
        Expression {
            name: (*name).into(),
            morphs: vec![((node, index), 1.0)],
            binary: false,
            blink: ExpressionOverride::None,
            look: ExpressionOverride::None,
            mouth: ExpressionOverride::None,
        }
    };
    raw.expressions = expressions.iter().map(expression).collect();
}

/// Expressions and morph weights are found by name, and what is gone is listed.
#[test]
fn faces_are_found_by_their_names() {
    let before = build(|raw, _| {
        add_face(raw, &["a", "b", "c"], &[("smile", "a"), ("frown", "b")]);
    });
    let after = build(|raw, _| {
        add_face(
            raw,
            &["x", "c", "b", "a"],
            &[("blink", "x"), ("frown", "b"), ("smile", "a")],
        );
    });
    let less = build(|raw, _| add_face(raw, &["b"], &[("frown", "b")]));
    let mut animator = Animator::new(&before).unwrap();
    let [still, id] = [(); 2].map(|()| animator.add("Idle").unwrap());
    let mut actor = animator.live_mut(id);
    actor.set_expression("smile", 0.75).unwrap();
    actor.set_expression("frown", 0.25).unwrap();
    actor.set_morph_weights(&[None, None, Some(0.5)]).unwrap();
    let weights = |animator: &Animator, id, count| {
        let mut weights = vec![f32::NAN; count];
        animator.live(id).morph_weights(&mut weights).unwrap();
        weights
    };
    assert_eq!(weights(&animator, id, 3), [0.75, 0.25, 0.5]);
    assert_eq!(animator.replace(&after).unwrap(), []);
    let actor = animator.live(id);
    let shown = ["smile", "frown", "blink"].map(|name| actor.expression(name).unwrap());
    assert_eq!(shown, [0.75, 0.25, 0.0]);
    assert_eq!(weights(&animator, id, 4), [0.0, 0.5, 0.25, 0.75]);
    assert_eq!(weights(&animator, still, 4), [0.0; 4]);
    let wanted = [
        issue("expression", "smile", 1),
        issue("morph weight", "c", 1),
    ];
    assert_eq!(animator.replace(&less).unwrap(), wanted);
    assert_eq!(weights(&animator, id, 1), [0.25]);
}

/// An actor that reaches with a chain, and one that also stands on uneven ground.
fn reaching(character: &Character) -> Animator {
    let skeleton = character.skeleton();
    let joint = |name: &str| skeleton.joint(name).unwrap();
    let leg = |hip, knee, ankle| (TwoBone::new(joint(hip), joint(knee), joint(ankle)), 0.08);
    let legs = vec![
        leg("LeftUpperLeg", "LeftLowerLeg", "LeftFoot"),
        leg("RightUpperLeg", "RightLowerLeg", "RightFoot"),
    ];
    let mut animator = Animator::new(character).unwrap();
    let chain = IkChain::between(skeleton, joint("Chest"), joint("RightHand")).unwrap();
    let chain = animator.add_solver(chain).unwrap();
    let feet = animator
        .add_solver(FootPlacement::new(joint("Hips"), legs))
        .unwrap();
    let ids = [(); 2].map(|()| animator.add("Idle").unwrap());
    let ground = [0.0, -0.1].map(|y| Some(GroundHit::level(Vec3::Y * y)));
    for id in ids {
        let mut actor = animator.live_mut(id);
        actor
            .set_target(chain, ChainTarget::at(Vec3::new(-0.3, 1.2, 0.4)), 0.5)
            .unwrap();
    }
    let mut actor = animator.live_mut(ids[1]);
    actor
        .set_target(feet, FeetTarget::on(&ground), 0.0)
        .unwrap();
    animator.update(0.2).unwrap();
    animator
}

/// The joints of chains and feet are found by name, and a solver without one of them is listed.
#[test]
fn chains_and_feet_find_their_joints() {
    let before = build(|_, _| {});
    // A joint beside the hips moves the index of every joint below.
    let after = build(|raw, _| {
        let root = raw
            .nodes
            .iter()
            .position(|node| &*node.name == "Root")
            .unwrap();
        raw.skins[0].joints.push(raw.nodes.len());
        raw.skins[0].inverse_bind.push(throng::glam::Mat4::IDENTITY);
        raw.nodes
            .push(raws::node("Cape", Some(root), Transform::IDENTITY));
    });
    let joints = after.skeleton().len();
    let hand = |character: &Character| character.skeleton().joint("RightHand").unwrap();
    assert!(joints == before.skeleton().len() + 1 && hand(&before) != hand(&after));
    let (mut replaced, mut fresh) = (reaching(&before), reaching(&after));
    assert_eq!(replaced.replace(&after).unwrap(), []);
    for step in 0..30 {
        let now_s = 0.2 + f64::from(step) / 30.0;
        replaced.update(now_s).unwrap();
        fresh.update(now_s).unwrap();
        let same = poses(&mut replaced, joints) == poses(&mut fresh, joints);
        assert!(same, "at {now_s} s");
    }
    let without = build(|raw, _| {
        for node in &mut raw.nodes {
            if ["LeftFoot", "RightHand"].contains(&&*node.name) {
                node.name = format!("{} 2", node.name).into();
            }
        }
    });
    let wanted = [
        issue("IK solver", "Chain", 2),
        issue("IK solver", "Feet", 1),
    ];
    assert_eq!(replaced.replace(&without).unwrap(), wanted);
    replaced.update(2.0).unwrap();
    let mut plain = Animator::new(&without).unwrap();
    for _ in 0..2 {
        plain.add("Idle").unwrap();
    }
    plain.update(2.0).unwrap();
    let joints = without.skeleton().len();
    assert!(poses(&mut replaced, joints) == poses(&mut plain, joints));
}
