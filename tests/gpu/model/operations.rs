//! The operations: each is applied to the crowd, to the animators and to the model.

use super::frames::expect_near;
use super::{Attached, Member, Model, Playing};
use crate::reference::explore::Operation;
use crate::reference::handles::Handles;
use crate::support::Setup;
use std::collections::BTreeSet;
use throng::animator::{Pose, ShowPose};
use throng::glam::Affine3A;
use throng::motion::LoopMode;
use throng::skeleton::Joint;
use throng::{Attachment, Capacity, Crowd, Error, Id, InstanceId, Play, Spawn};

impl Model {
    pub(super) fn entries(&self) -> u32 {
        let of = |member: &Member| self.kinds[member.character].palette().len() as u32;
        self.members.iter().map(of).sum()
    }

    fn transform(&mut self) -> Affine3A {
        let mut scale = self.rng.vector(0.5, 1.5);
        if self.rng.chance(4) {
            scale.x = -scale.x;
        }
        let place = self.rng.vector(-3.0, 3.0);
        Affine3A::from_scale_rotation_translation(scale, self.rng.rotation(), place)
    }

    fn tint(&mut self) -> [f32; 4] {
        [0; 4].map(|_| self.rng.range(0.0, 1.0))
    }

    fn playing(&mut self, kind: usize) -> (Play<'static>, Option<Playing>) {
        let clips = self.kinds[kind].clips().len();
        if clips == 0 || self.rng.chance(4) {
            return (Play::REST, None);
        }
        let clip = self.rng.below(clips);
        let start_s = (!self.rng.chance(3)).then(|| f64::from(self.rng.range(-50.0, 50.0)));
        let loop_mode = [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong][self.rng.below(3)];
        let play = Play {
            start_s,
            offset_s: f64::from(self.rng.range(-1.0, 1.0)),
            speed: [1.0, -0.7, 0.0, 2.5][self.rng.below(4)],
            loop_mode,
            ..Play::new(Id::new(clip as u16))
        };
        let playing = Playing {
            clip,
            start_s: start_s.unwrap_or(self.now_s),
            offset_s: play.offset_s,
            speed: play.speed,
            loop_mode,
        };
        (play, Some(playing))
    }

    fn spawn(&mut self, crowd: &mut Crowd) {
        let character = self.rng.below(self.kinds.len());
        let (play, layer) = self.playing(character);
        let spawn = Spawn {
            world_from_model: self.transform(),
            tint: self.tint(),
            user_data: self.rng.bits() as u32,
            play,
            ..Spawn::default()
        };
        let need = self.kinds[character].palette().len() as u32;
        let (alive, entries) = (self.members.len() as u32, self.entries());
        let got = crowd.spawn(self.ids[character], &spawn);
        let full = if alive + 1 > self.capacity.instances {
            Some((
                "instances (Capacity::instances, raised by Crowd::reserve)",
                alive + 1,
                self.capacity.instances,
            ))
        } else if entries + need > self.capacity.palette_entries {
            Some((
                "palette entries (Capacity::palette_entries, raised by Crowd::reserve)",
                entries + need,
                self.capacity.palette_entries,
            ))
        } else {
            None
        };
        if let Some((what, asked, cap)) = full {
            let (asked, cap) = (asked.into(), cap.into());
            assert_eq!(got, Err(Error::Capacity { what, asked, cap }));
            self.refused += 1;
            return;
        }
        self.members.push(Member {
            id: got.unwrap(),
            actor: self.animators[character].add(play).unwrap(),
            character,
            world_from_model: spawn.world_from_model,
            tint: spawn.tint,
            user: spawn.user_data,
            layer,
            model: None,
            mixed: false,
            visible: true,
            mask: u32::MAX,
            attached: None,
            born: self.restored,
        });
    }

    fn despawn(&mut self, crowd: &mut Crowd) {
        let at = self.rng.below(self.members.len());
        let mut doomed = vec![self.members[at].id];
        // Attached instances go, too, or stay where they are.
        for at in 0.. {
            let Some(id) = doomed.get(at).copied() else {
                break;
            };
            let children = self.members.iter().filter_map(|member| {
                let to = member.attached.filter(|to| to.parent == id)?;
                Some((member.id, to.outlives))
            });
            for (child, outlives) in children.collect::<Vec<_>>() {
                match outlives {
                    true => self.freed(crowd, child),
                    false => doomed.push(child),
                }
            }
        }
        crowd.despawn(doomed[0]).unwrap();
        for id in doomed {
            let at = self.members.iter().position(|member| member.id == id);
            let member = self.members.swap_remove(at.unwrap());
            let animator = &mut self.animators[member.character];
            animator.remove(member.actor).unwrap();
            self.dead.push(member.id);
        }
    }

    /// Notes that an instance is not attached any more. The crowd does not know that yet.
    fn freed(&mut self, crowd: &Crowd, id: InstanceId) {
        let (world, bound) = self.world(id);
        let told = crowd.live(id).transform();
        expect_near(&told, &world, bound);
        let member = self.members.iter_mut().find(|member| member.id == id);
        let member = member.unwrap();
        (member.world_from_model, member.attached) = (told, None);
    }

    /// Attaches an instance to another one, or detaches one.
    fn attach(&mut self, crowd: &mut Crowd) {
        let [child, parent] = [(); 2].map(|()| self.rng.below(self.members.len()));
        let (child, above) = (&self.members[child], &self.members[parent]);
        let (id, parent) = (child.id, above.id);
        if self.rng.chance(3) {
            let is_attached = child.attached.is_some();
            if is_attached {
                self.freed(crowd, id);
            }
            assert_eq!(crowd.live_mut(id).detach(), is_attached);
            return;
        }
        let joint = self.rng.below(self.kinds[above.character].skeleton().len()) as u16;
        let offset = self.transform();
        let attachment = Attachment {
            outlives_parent: self.rng.chance(2),
            ..Attachment::new(parent, Id::<Joint>::new(joint)).at(offset)
        };
        let got = crowd.live_mut(id).attach_to(attachment);
        let mut up = std::iter::successors(Some(parent), |id| {
            let member = self.members.iter().find(|member| member.id == *id);
            member.unwrap().attached.map(|to| to.parent)
        });
        if up.any(|above| above == id) {
            assert!(matches!(got, Err(Error::Argument { .. })), "{got:?}");
            return;
        }
        got.unwrap();
        let outlives = attachment.outlives_parent;
        let member = self.members.iter_mut().find(|member| member.id == id);
        member.unwrap().attached = Some(Attached {
            parent,
            joint,
            offset,
            outlives,
        });
        let (world, bound) = self.world(id);
        expect_near(&crowd.live(id).transform(), &world, bound);
    }

    fn change(&mut self, crowd: &mut Crowd) {
        let at = self.rng.below(self.members.len());
        let Member {
            id,
            actor,
            character,
            ..
        } = self.members[at];
        match self.rng.below(8) {
            7 if !self.kinds[character].clips().is_empty() => {
                // A transition that fades, or that only the CPU can pose.
                let (play, _) = self.playing(character);
                let play = match self.rng.chance(2) {
                    true => play.fade_s(0.4),
                    false => play.inertial_s(0.4),
                };
                let own = &mut self.animators[character];
                crowd.live_mut(id).play(play).unwrap();
                own.live_mut(actor).play(play).unwrap();
                let member = &mut self.members[at];
                (member.mixed, member.model, member.layer) = (true, None, None);
            }
            5 => {
                let to = self.rng.chance(2);
                crowd.live_mut(id).set_visible(to);
                self.members[at].visible = to;
                assert_eq!(crowd.instance(id).map(|it| it.is_visible()), Ok(to));
            }
            6 => {
                let to = [0, 1, 2, 3, u32::MAX][self.rng.below(5)];
                crowd.live_mut(id).set_view_mask(to);
                self.members[at].mask = to;
                assert_eq!(crowd.instance(id).map(|it| it.view_mask()), Ok(to));
            }
            0 if self.members[at].attached.is_some() => {
                let to = self.transform();
                let refused = crowd.live_mut(id).set_transform(&to);
                assert!(matches!(refused, Err(Error::At { .. })), "{refused:?}");
            }
            0 => {
                let to = self.transform();
                crowd.live_mut(id).set_transform(&to).unwrap();
                self.members[at].world_from_model = to;
            }
            1 => {
                let to = self.tint();
                crowd.live_mut(id).set_tint(to).unwrap();
                self.members[at].tint = to;
            }
            2 => {
                let to = self.rng.bits() as u32;
                crowd.live_mut(id).set_user_data(to);
                self.members[at].user = to;
            }
            3 => {
                let joints = self.kinds[character].skeleton().len();
                let model: Vec<_> = (0..joints).map(|_| self.transform()).collect();
                let (animator, show) = (&mut self.animators[character], ShowPose::default());
                crowd
                    .live_mut(id)
                    .set_pose(Pose::Model(&model), &show)
                    .unwrap();
                animator
                    .live_mut(actor)
                    .set_pose(Pose::Model(&model), &show)
                    .unwrap();
                self.members[at].model = (!self.members[at].mixed).then_some(model);
                self.members[at].layer = None;
                let clips: Vec<_> = crowd.live(id).playing().map(|of| of.clip).collect();
                assert_eq!(clips, [None]);
            }
            _ => {
                let (play, layer) = self.playing(character);
                crowd.live_mut(id).play(play).unwrap();
                self.animators[character]
                    .live_mut(actor)
                    .play(play)
                    .unwrap();
                self.members[at].layer = layer.filter(|_| !self.members[at].mixed);
                self.members[at].model = None;
            }
        }
    }

    fn touch_the_dead(&mut self, crowd: &mut Crowd) {
        let id = self.dead[self.rng.below(self.dead.len())];
        assert!(!crowd.is_alive(id));
        let attached = self.members.first().map(|parent| {
            let to = Attachment::new(id, Id::<Joint>::new(0));
            crowd.live_mut(parent.id).attach_to(to)
        });
        let results = [
            attached.unwrap_or_else(|| crowd.despawn(id)),
            crowd.despawn(id),
            crowd.instance(id).map(drop),
            crowd.instance_mut(id).map(drop),
        ];
        for result in results {
            let stale = matches!(
                result,
                Err(Error::Stale {
                    what: "instance",
                    ..
                })
            );
            assert!(stale, "{result:?}");
        }
    }

    fn grow(&mut self, setup: &mut Setup, crowd: &mut Crowd) {
        let capacity = Capacity {
            instances: self.capacity.instances + self.rng.below(6) as u32,
            // Sometimes less than the present capacity: nothing shrinks.
            palette_entries: self.capacity.palette_entries + self.rng.below(60) as u32 - 10,
            views: 1 + self.rng.below(2) as u32,
            attachments: self.rng.below(20) as u32,
            ..Capacity::default()
        };
        crowd.reserve(&mut setup.allocator(), &capacity).unwrap();
        let max = |a: u32, b: u32| a.max(b);
        self.capacity = Capacity {
            instances: max(self.capacity.instances, capacity.instances),
            palette_entries: max(self.capacity.palette_entries, capacity.palette_entries),
            views: max(self.capacity.views, capacity.views),
            attachments: max(self.capacity.attachments, capacity.attachments),
            ..Capacity::default()
        };
        assert_eq!(crowd.capacity(), self.capacity);
    }

    pub(super) fn operate(&mut self, setup: &mut Setup, crowd: &mut Crowd, operation: Operation) {
        let (what, rng) = operation.choose(&[
            (34, "spawn"),
            (20, "despawn"),
            (26, "change"),
            (12, "attach"),
            (7, "touch the dead"),
            (1, "grow"),
            (2, "replace"),
            (2, "restore"),
            (1, "save"),
        ]);
        self.rng = rng;
        match what {
            "spawn" => self.spawn(crowd),
            "replace" => self.replace(setup, crowd),
            "restore" => self.restore(crowd),
            "save" => self.save(crowd),
            "touch the dead" if !self.dead.is_empty() => self.touch_the_dead(crowd),
            "grow" if self.rng.chance(2) => self.grow(setup, crowd),
            _ if self.members.is_empty() => {}
            "despawn" => self.despawn(crowd),
            "change" => self.change(crowd),
            "attach" => self.attach(crowd),
            _ => {}
        }
        assert_eq!(crowd.instances().len(), self.members.len());
        let all: BTreeSet<u32> = crowd
            .instances()
            .map(|id| crowd.live(id).table_index())
            .collect();
        let known = self
            .members
            .iter()
            .map(|member| crowd.live(member.id).table_index());
        assert_eq!(all, known.collect());
    }
}
