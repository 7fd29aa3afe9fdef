//! Random changes of the crowds and of the walls.

use super::{Member, World};
use crate::reference::handles::Handles;
use crate::support::placed;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::{Attachment, Play, SkinningStage, Spawn};

/// Instances alive at the same time, at most.
const MOST: usize = 160;

impl World {
    fn transform(&mut self) -> Affine3A {
        let rng = &mut self.rng;
        let flip = if rng.chance(4) { -1.0 } else { 1.0 };
        let scale = Vec3::new(flip * rng.range(0.4, 1.6), rng.range(0.4, 1.6), 1.0);
        let far = if rng.chance(3) { 20.0 } else { 5.0 };
        let mut within = || rng.range(-far, far);
        let place = Vec3::new(within(), 0.2 * within(), within());
        let turn = Quat::from_rotation_y(self.rng.range(0.0, 6.0));
        Affine3A::from_scale_rotation_translation(scale, turn, place)
    }

    pub(super) fn spawn(&mut self) {
        if self.members.len() >= MOST {
            return;
        }
        let kind = usize::from(self.rng.chance(4));
        let clips = ["Walk", "Idle", "Run"];
        let plays = kind == 0 && !self.rng.chance(4);
        let clip = clips[self.rng.below(3)];
        let play = if plays { Play::new(clip) } else { Play::REST };
        let skinning_stage = match self.rng.below(6) {
            0 if self.motions.is_empty() => SkinningStage::Compute,
            _ => SkinningStage::Vertex,
        };
        let spawn = Spawn {
            skinning_stage,
            ..placed(self.transform(), play)
        };
        let of = self.kinds[kind];
        let ids = self
            .crowds
            .each_mut()
            .map(|crowd| crowd.spawn(of, &spawn).unwrap());
        assert!(ids.iter().all(|id| *id == ids[0]));
        let (id, attached) = (ids[0], false);
        self.members.push(Member { id, kind, attached });
    }

    /// One random call to both crowds.
    pub(super) fn operate(&mut self) {
        let count = self.members.len();
        let operation = self.rng.below(10);
        if count < 8 || operation == 0 {
            return self.spawn();
        }
        let at = self.rng.below(count);
        let Member { id, kind, .. } = self.members[at];
        let place = self.transform();
        let most_s = if self.motions.is_empty() { 0.4 } else { 0.0 };
        let fade_s = self.rng.range(0.0, most_s);
        let clip = ["Walk", "Idle", "Run", "Wave"][self.rng.below(3)];
        let mask = [1, 2, 3, u32::MAX][self.rng.below(4)];
        let (visible, part) = (self.rng.chance(2), ["front", "back"][self.rng.below(2)]);
        let parent = self.members[self.rng.below(count)].id;
        // No two at one place: which of them is seen there depends on the order of draws.
        let beside = Affine3A::from_translation(self.rng.vector(-0.2, 0.2));
        let attaches =
            operation == 8 && kind == 1 && self.crowds[0].live(parent).character() == self.kinds[0];
        if operation == 1 && self.rng.chance(2) {
            self.members.swap_remove(at);
        }
        self.members
            .iter_mut()
            .filter(|member| member.id == id)
            .for_each(|member| {
                member.attached |= attaches;
            });
        let despawned = self.members.iter().all(|member| member.id != id);
        for crowd in &mut self.crowds {
            if despawned {
                crowd.despawn(id).unwrap();
                continue;
            }
            let mut it = crowd.live_mut(id);
            match operation {
                2..5 if it.attachment().is_none() => it.set_transform(&place).unwrap(),
                5 => it.set_visible(visible || mask != 1),
                6 => it.set_view_mask(mask),
                7 if kind == 1 => it.set_part_visible(part, visible).unwrap(),
                8 if attaches => {
                    let hand = Attachment::new(parent, "RightHand").at(beside);
                    it.attach_to(hand).unwrap();
                }
                9 if kind == 0 => it.play(Play::new(clip).fade_s(fade_s)).unwrap(),
                _ => {}
            }
        }
        // With an instance goes what is attached to it.
        let crowd = &self.crowds[0];
        self.members
            .retain(|member| crowd.instance(member.id).is_ok());
    }

    /// Walls between an eye and the middle, and among the instances.
    pub(super) fn build(&mut self, eye: Vec3) {
        let rng = &mut self.rng;
        let mut triangles = Vec::new();
        for _ in 0..rng.below(9) {
            let middle = match rng.below(3) {
                0 => rng.vector(-5.0, 5.0),
                _ => eye.lerp(rng.vector(-3.0, 3.0), rng.range(0.1, 0.95)),
            };
            let facing = match rng.below(4) {
                0 => rng.direction(),
                _ => (eye - middle).normalize_or(Vec3::X),
            };
            let along = facing.any_orthonormal_vector() * rng.range(0.2, 5.0);
            let up = facing.cross(along).normalize_or(Vec3::Y) * rng.range(0.2, 5.0);
            let corner = |x: f32, y: f32| middle + along * x + up * y;
            let [a, b] = [corner(-1.0, -1.0), corner(1.0, -1.0)];
            let [c, d] = [corner(1.0, 1.0), corner(-1.0, 1.0)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        self.walls.set(&triangles);
    }
}
