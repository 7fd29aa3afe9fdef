//! Random calls to both crowds.

use super::{FRAMES_IN_FLIGHT, GiveUp, MOST, Member, World, parted};
use crate::reference::handles::Handles;
use crate::support::frames::FramesInFlight;
use crate::support::{Setup, placed};
use throng::glam::{Affine3A, Quat, Vec3};
use throng::{Capacity, Play};

impl World {
    fn transform(&mut self) -> Affine3A {
        let rng = &mut self.rng;
        let flip = if rng.chance(4) { -1.0 } else { 1.0 };
        let scale = Vec3::new(flip * rng.range(0.4, 1.6), rng.range(0.4, 1.6), 1.0);
        let far = if rng.chance(3) { 40.0 } else { 6.0 };
        let mut within = || rng.range(-far, far);
        let place = Vec3::new(within(), 0.3 * within(), within());
        let turn = Quat::from_rotation_y(self.rng.range(0.0, 6.0));
        Affine3A::from_scale_rotation_translation(scale, turn, place)
    }

    fn spawn(&mut self, setup: &mut Setup) {
        if self.members.len() >= MOST {
            return;
        }
        let kind = self.rng.below(self.kinds.len());
        // Mostly mannequins, because they have levels.
        let kind = if self.rng.chance(2) { 0 } else { kind };
        let world_from_model = self.transform();
        let clips = ["Walk", "Idle"];
        let plays = kind == 0 && self.rng.chance(8);
        let clip = clips[self.rng.below(2)];
        let play = if plays { Play::new(clip) } else { Play::REST };
        self.put(setup, kind, &world_from_model, play);
    }

    /// Spawns an instance in both crowds, which grow if they must.
    pub(super) fn put(
        &mut self,
        setup: &mut Setup,
        kind: usize,
        world_from_model: &Affine3A,
        play: Play,
    ) {
        let spawn = placed(*world_from_model, play);
        let need = self.crowds[0].capacity();
        if self.members.len() as u32 == need.instances {
            let more = Capacity {
                instances: need.instances * 2,
                palette_entries: need.palette_entries * 2,
                views: need.views.max(3),
                ..need
            };
            for crowd in &mut self.crowds {
                setup.reserve(crowd, &more);
            }
            // Earlier counts of the GPU are not kept.
            self.reports = [None, None];
        }
        let id = self.kinds[kind].0;
        let ids = self
            .crowds
            .each_mut()
            .map(|crowd| crowd.spawn(id, &spawn).unwrap());
        assert_eq!(ids[0], ids[1]);
        let hidden = 0;
        let member = Member {
            id: ids[0],
            kind,
            hidden,
        };
        self.members.push(member);
    }

    /// One random call to both crowds.
    pub(super) fn operate(&mut self, setup: &mut Setup) {
        let count = self.members.len();
        let operation = self.rng.below(12);
        if count < 2 || operation < 3 {
            return self.spawn(setup);
        }
        let at = self.rng.below(count);
        let id = self.members[at].id;
        match operation {
            3 if self.rng.chance(2) => {
                self.members.swap_remove(at);
                for crowd in &mut self.crowds {
                    crowd.despawn(id).unwrap();
                }
            }
            4..8 => {
                let place = self.transform();
                for crowd in &mut self.crowds {
                    crowd.live_mut(id).set_transform(&place).unwrap();
                }
            }
            8 => {
                let visible = self.rng.chance(2);
                for crowd in &mut self.crowds {
                    crowd.live_mut(id).set_visible(visible);
                }
            }
            9 => {
                let mask = [1, 2, 3, u32::MAX][self.rng.below(4)];
                for crowd in &mut self.crowds {
                    crowd.live_mut(id).set_view_mask(mask);
                }
            }
            10 if self.members[at].kind > 0 => {
                let part = self.rng.below(2);
                let visible = self.rng.chance(2);
                let bit = 1 << part;
                let hidden = &mut self.members[at].hidden;
                *hidden = if visible {
                    *hidden & !bit
                } else {
                    *hidden | bit
                };
                for crowd in &mut self.crowds {
                    let mut it = crowd.live_mut(id);
                    it.set_part_visible(["front", "back"][part], visible)
                        .unwrap();
                }
            }
            11 if self.members[at].kind == 0 => {
                let clip = ["Walk", "Idle", "Run"][self.rng.below(3)];
                let play = if self.rng.chance(2) {
                    Play::REST
                } else {
                    Play::new(clip).fade_s(0.1)
                };
                for crowd in &mut self.crowds {
                    crowd.live_mut(id).play(play).unwrap();
                }
            }
            _ => {}
        }
    }

    /// Adds, replaces or removes a character.
    pub(super) fn recast(&mut self, setup: &mut Setup) {
        let last = self.kinds.len() - 1;
        if last > 1 && self.rng.chance(2) {
            let (id, _) = self.kinds.pop().unwrap();
            let (gone, kept) = std::mem::take(&mut self.members)
                .into_iter()
                .partition(|member| member.kind == last);
            self.members = kept;
            for crowd in &mut self.crowds {
                for member in &gone {
                    crowd.despawn(member.id).unwrap();
                }
                crowd.remove_character(id).unwrap();
            }
        } else if last < 4 {
            let joints = 2 + self.rng.below(5);
            self.add(setup, parted(joints));
        } else {
            let joints = 2 + self.rng.below(5);
            let (id, _) = self.kinds[last];
            for crowd in &mut self.crowds {
                let allocator = &mut setup.context.allocator();
                let issues = crowd.replace_character(allocator, id, &parted(joints));
                assert_eq!(issues.unwrap(), []);
            }
            self.kinds[last].1 = parted(joints);
        }
        // The work buffer may have grown.
        self.reports = [None, None];
    }

    /// Begins a frame in both crowds and gives it up. It has no views, because what they show
    /// decides which levels the next frame starts from.
    pub(super) fn give_up(&mut self, setup: &mut Setup, how: GiveUp) {
        self.frame_index = 1 - self.frame_index;
        let index = self.frame_index;
        let cmd = self.frames_in_flight.begin(&setup.context, index);
        for crowd in &mut self.crowds {
            let allocator = &mut setup.context.allocator();
            unsafe {
                crowd.update(self.now_s).unwrap();
                let mut frame = crowd.begin_frame(allocator, index, self.now_s).unwrap();
                if how == GiveUp::AbandonPrepared {
                    frame.record_prepare(cmd, &[]).unwrap();
                }
                if how != GiveUp::Drop {
                    crowd.abandon_frame();
                }
            }
        }
        // Nothing of what was recorded is submitted.
        let again = FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT);
        let unused = std::mem::replace(&mut self.frames_in_flight, again);
        unused.destroy(&setup.context);
        self.reports = [None, None];
    }
}
