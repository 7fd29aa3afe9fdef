//! A random model: actors with poses that the caller set, whose character is replaced, and which go
//! back to snapshots of any of the characters.

use super::replace::build;
use crate::reference::explore::{Operation, explore};
use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::rng::Rng;
use crate::reference::sweep::rounds;
use std::collections::BTreeMap;
use throng::animator::{ActorId, Animator, AnimatorSnapshot, Play, Pose, ShowPose};
use throng::character::Character;
use throng::glam::{Affine3A, Mat4};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Transform;

/// The mannequin, and the same with a joint above the others, with many more joints, without a
/// clip, without a mask, and without its state machine.
fn characters() -> [Character; 6] {
    let with_joints = |count: usize, root: &'static str| {
        build(|raw, _| {
            let mut nodes = raw.nodes.iter();
            let parent = nodes.position(|node| &*node.name == root);
            for number in 0..count {
                raw.skins[0].joints.push(raw.nodes.len());
                raw.skins[0].inverse_bind.push(Mat4::IDENTITY);
                raw.nodes.push(raws::node(
                    format!("Cape {number}"),
                    parent,
                    Transform::IDENTITY,
                ));
            }
        })
    };
    [
        build(|_, _| {}),
        with_joints(1, "Root"),
        with_joints(70, "Head"),
        build(|raw, desc| {
            raw.animations.retain(|clip| &*clip.name != "Wave");
            desc.state_machine = None;
        }),
        build(|_, desc| desc.masks.clear()),
        build(|_, desc| desc.state_machine = None),
    ]
}

/// The pose that the caller set for an actor, by the names of joints.
type Named = BTreeMap<Box<str>, Transform>;

fn named(character: &Character, pose: &[Transform]) -> Named {
    let joints = character.skeleton().joints().iter();
    let pairs = joints.map(|joint| joint.name.clone()).zip(pose);
    pairs.map(|(name, at)| (name, *at)).collect()
}

/// A pose of another character, with the rest pose of the joints that this one lacks.
fn adopted(character: &Character, before: &Named) -> Vec<Transform> {
    let joints = character.skeleton().joints().iter();
    joints
        .map(|joint| before.get(&joint.name).copied().unwrap_or(joint.rest))
        .collect()
}

struct Model<'a> {
    characters: &'a [Character],
    rng: Rng,
    animator: Animator,
    /// The index of the present character.
    now: usize,
    /// Snapshots, with the character that they are of.
    saved: Vec<(usize, AnimatorSnapshot)>,
    replaced: usize,
    restored: usize,
}

impl Model<'_> {
    fn transform(&mut self) -> Transform {
        raws::transform(
            self.rng.vector(-1.0, 1.0),
            self.rng.rotation(),
            self.rng.vector(0.5, 1.5),
        )
    }

    fn act(&mut self) {
        let ids: Vec<ActorId> = self.animator.actors().collect();
        if ids.is_empty() || self.rng.chance(8) {
            match self.rng.chance(2) {
                true => drop(self.animator.add_with_state_machine()),
                false => drop(self.animator.add("Walk").unwrap()),
            }
            return;
        }
        let id = ids[self.rng.below(ids.len())];
        if self.rng.chance(15) {
            self.animator.remove(id).unwrap();
            return;
        }
        let joints = self.characters[self.now].skeleton().len();
        let local: Vec<Transform> = (0..joints).map(|_| self.transform()).collect();
        let model: Vec<Affine3A> = local.iter().map(Transform::to_affine).collect();
        let show = ShowPose {
            fade_s: [0.0, 0.3][self.rng.below(2)],
            layer: [0, 0, 9][self.rng.below(3)],
            ..ShowPose::default()
        };
        let mut actor = self.animator.live_mut(id);
        // Some of these are refused, for want of a machine, a mask or a pose.
        match self.rng.below(8) {
            0..=2 => drop(actor.set_pose(Pose::Local(&local), &show)),
            3 | 4 => drop(actor.set_pose(Pose::Model(&model), &show)),
            5 => drop(actor.set_parameter("speed", self.rng.range(0.0, 2.0))),
            6 => drop(actor.play(Play::new("Wave").layer(9).mask("arm").fade_s(0.2))),
            _ => drop(actor.play(Play::new("Run").fade_s(0.2))),
        }
    }

    /// The local poses that callers set, as the actors show them.
    fn shown(&self) -> BTreeMap<ActorId, Vec<Transform>> {
        let actors = self.animator.actors();
        let pose = |id| match self.animator.actor(id).ok()?.pose()? {
            Pose::Local(local) => Some((id, local.to_vec())),
            Pose::Model(_) => None,
        };
        actors.filter_map(pose).collect()
    }

    /// [`Self::shown`] of these actors. Others show a model pose, or did so before a replacement.
    fn shown_of(
        &self,
        wanted: &BTreeMap<ActorId, Vec<Transform>>,
    ) -> BTreeMap<ActorId, Vec<Transform>> {
        let mut shown = self.shown();
        shown.retain(|id, _| wanted.contains_key(id));
        shown
    }

    fn replace(&mut self) {
        let to = self.rng.below(self.characters.len());
        let [before, after] = [self.now, to].map(|at| &self.characters[at]);
        let mut wanted = self.shown();
        for pose in wanted.values_mut() {
            *pose = adopted(after, &named(before, pose));
        }
        self.animator.replace(after).unwrap();
        self.now = to;
        self.replaced += 1;
        assert!(
            self.shown_of(&wanted) == wanted,
            "poses of the caller keep their joints"
        );
        // The adopted state is consistent, so it can be saved and restored.
        let snapshot = self.animator.snapshot();
        self.animator.restore(&snapshot).unwrap();
        assert!(self.shown_of(&wanted) == wanted);
    }

    fn restore(&mut self) {
        let Some((of, snapshot)) = self
            .rng
            .below(self.saved.len() + 1)
            .checked_sub(1)
            .map(|at| &self.saved[at])
        else {
            self.saved.push((self.now, self.animator.snapshot()));
            return;
        };
        if self.animator.restore(snapshot).is_ok() {
            self.restored += 1;
        } else {
            assert_ne!(*of, self.now);
        }
    }

    fn operate(&mut self, operation: Operation) {
        let (what, rng) = operation.choose(&[
            (3, "replace"),
            (3, "restore"),
            (6, "update"),
            (18, "act"),
            (10, "look"),
        ]);
        self.rng = rng;
        match what {
            "replace" => self.replace(),
            "restore" => self.restore(),
            "update" => {
                let now_s = self.animator.now_s() + 0.05;
                self.animator.update(now_s).unwrap();
            }
            "act" => self.act(),
            _ => self.look(),
        }
    }

    /// Evaluates all actors in each form. An actor that shows nothing but a local pose has it.
    fn look(&mut self) {
        let character = &self.characters[self.now];
        let joints = character.skeleton().len();
        let ids: Vec<ActorId> = self.animator.actors().collect();
        let mut local = vec![Transform::IDENTITY; ids.len() * joints];
        self.animator.local_poses(&ids, &mut local).unwrap();
        let entries = character.palette().len();
        let mut palettes = vec![Mat3x4::IDENTITY; ids.len() * entries];
        let out = WriteOnly::from(&mut palettes);
        self.animator.palettes(&ids, out).unwrap();
        let mut numbers = palettes.iter().flat_map(|it| it.rows.as_flattened());
        assert!(numbers.all(|number| number.is_finite()));
        for (id, local) in ids.iter().zip(local.chunks(joints)) {
            let actor = self.animator.live(*id);
            let (Some(Pose::Local(pose)), [record]) = (actor.pose(), actor.records()) else {
                continue;
            };
            if record.weight_at(actor.time_s()) == 1.0 {
                for (got, wanted) in local.iter().zip(pose) {
                    // Rotations are normalised again.
                    assert!((got.translation, got.scale) == (wanted.translation, wanted.scale));
                    assert!(got.rotation.dot(wanted.rotation).abs() > 1.0 - 1e-6);
                }
            }
        }
    }
}

#[test]
fn poses_of_the_caller_survive_replacements_and_restores() {
    let characters = characters();
    let counts = [0, 2].map(|at: usize| characters[at].skeleton().len());
    assert!(counts[1] == counts[0] + 70);
    let (mut replaced, mut restored) = (0, 0);
    for seed in 0..rounds(32) as u64 {
        let model = explore(seed, 400, |operations| {
            let mut model = Model {
                characters: &characters,
                rng: Rng::new(0),
                animator: Animator::new(&characters[0]).unwrap(),
                now: 0,
                saved: Vec::new(),
                replaced: 0,
                restored: 0,
            };
            operations.iter().for_each(|it| model.operate(*it));
            model
        });
        (replaced, restored) = (replaced + model.replaced, restored + model.restored);
    }
    println!("{replaced} replaced, {restored} restored");
    assert!(replaced > 100 && restored > 20);
}
