//! The lists and pictures of both crowds, compared.

use super::{BOTH, World};
use crate::reference::handles::Handles;
use crate::reference::picture::{covered, different};
use crate::support::frames::{EXTENT, NORMAL_Z, picture};
use crate::support::lists::{List, lists};
use crate::support::probe::Probe;
use crate::support::{Setup, reversed, view};
use std::collections::HashMap;
use throng::glam::camera::rh;
use throng::glam::{Vec2, Vec3};
use throng::{Culling, Detail, Eye, InstanceId, View};

/// A view's lists of a character: for each level, flipped or not, the table indices in order.
/// Instances that hide parts come after the others.
pub(super) type Listed = HashMap<(u32, bool), Vec<u32>>;

/// The lists of a frame in flight, with their places in the output.
///
/// By crowd, view and character.
type Flight = Vec<Vec<Vec<Vec<(usize, List)>>>>;

impl World {
    fn views(&mut self) -> Vec<View> {
        let count = 1 + self.rng.below(self.crowds[0].capacity().views as usize);
        (0..count).map(|_| self.view(true)).collect()
    }

    /// A view of any kind. Its depth is reversed only if `reverses`.
    fn view(&mut self, reverses: bool) -> View {
        let orthographic = self.rng.chance(4);
        let reverses = reverses && !orthographic && self.rng.chance(4);
        let seen = self.eye(orthographic, reverses);
        let eyes = self.multiview && self.rng.chance(2);
        let eyes = if eyes {
            self.rng.below(View::MAX_EYES)
        } else {
            0
        };
        let mut more_eyes = [None; View::MAX_EYES - 1];
        for eye in more_eyes.iter_mut().take(eyes) {
            let seen = self.eye(orthographic, reverses);
            *eye = Some(Eye::new(seen.eye.clip_from_world, seen.eye.position));
        }
        let rng = &mut self.rng;
        let culling = [
            Culling::Frustum,
            Culling::Frustum,
            Culling::Sides,
            Culling::Off,
        ];
        View {
            culling: culling[rng.below(4)],
            detail: Detail {
                error_px: [0.0, 0.5, 1.0, 1.0, 3.0][rng.below(5)],
                pose_error_px: 0.5,
                level: [None, None, None, Some(2)][rng.below(4)],
                max_triangles: [None, None, Some(20_000), Some(2_000)][rng.below(4)],
            },
            mask: [u32::MAX, u32::MAX, 1, 2][rng.below(4)],
            eye: Eye {
                jitter: Vec2::new(rng.range(-0.02, 0.02), 0.01),
                ..seen.eye
            },
            flip_y: rng.chance(4),
            more_eyes,
            ..seen
        }
    }

    fn eye(&mut self, orthographic: bool, reverses: bool) -> View {
        let rng = &mut self.rng;
        let mut point = |far: f32| {
            let mut within = || rng.range(-far, far);
            Vec3::new(within(), 0.2 * within(), within())
        };
        let (eye, at) = (point(12.0), point(4.0) + Vec3::Y);
        if !orthographic {
            let seen = view(eye, at, EXTENT);
            return if reverses { reversed(&seen) } else { seen };
        }
        let half = self.rng.range(1.0, 8.0);
        let clip_from_view = rh::proj::vulkan::orthographic(-half, half, -half, half, 0.1, 30.0);
        let view_from_world = rh::view::look_at_mat4(eye, at, Vec3::Y);
        View::new(clip_from_view * view_from_world, eye, EXTENT)
    }

    /// Prepares a frame with random views in both crowds, and compares what they list.
    pub(super) fn frame(&mut self, setup: &mut Setup) {
        let views = self.views();
        let members = self.members.iter().map(|member| member.id);
        let some: Vec<InstanceId> = members.filter(|_| self.rng.chance(2)).collect();
        let with_list = self.rng.chance(3).then(|| self.rng.below(views.len()));
        self.show(setup, &views, with_list.map(|view| (view, &some[..])));
    }

    /// Prepares a frame in both crowds, and compares what they list. One view may have a list.
    /// Returns what each view lists of each character.
    pub(super) fn show(
        &mut self,
        setup: &mut Setup,
        views: &[View],
        with_list: Option<(usize, &[InstanceId])>,
    ) -> Vec<Vec<Listed>> {
        self.now_s += 0.05;
        self.frame_index = 1 - self.frame_index;
        let (index, now_s) = (self.frame_index, self.now_s);
        let cmd = self.frames_in_flight.begin(&setup.context, index);
        let (mut flight, mut told) = (Flight::new(), Vec::new());
        let mut at = [0; 2];
        let report = self.reports[index as usize].take();
        for (side, crowd) in self.crowds.iter_mut().enumerate() {
            let context = &mut setup.context;
            crowd.update(now_s).unwrap();
            let begun = unsafe { crowd.begin_frame(&mut context.allocator(), index, now_s) };
            let mut frame = begun.unwrap();
            if side == 1
                && let Some(report) = &report
            {
                assert_eq!(frame.view_stats(), report);
            }
            let mut own = views.to_vec();
            if let Some((view, some)) = with_list {
                own[view].list = Some(frame.make_list(some).unwrap());
            }
            let ids = unsafe { frame.record_prepare(cmd, &own) }.unwrap();
            let mut of_views = Vec::new();
            for id in ids.iter() {
                let mut of_kinds = Vec::new();
                for (kind, _) in &self.kinds {
                    let all = frame.instances_of(*kind).unwrap().len();
                    let made = lists(&frame, *id, *kind, all).into_iter().map(|list| {
                        let start = at[side];
                        let on = (&self.probe, &self.outputs[side]);
                        list.record((&context.device, cmd), on, 0, start);
                        at[side] += list.words(0);
                        (start, list)
                    });
                    of_kinds.push(made.collect());
                }
                of_views.push(of_kinds);
            }
            flight.push(of_views);
            if side == 0 {
                // The levels, by view and table index.
                for id in ids.iter() {
                    let levels = self.members.iter().map(|member| {
                        let level = frame.level(*id, member.id).unwrap();
                        let index = frame.live(member.id).table_index();
                        (index, (level, member.hidden))
                    });
                    told.push(levels.collect::<HashMap<_, _>>());
                }
                self.reports[index as usize] = Some(frame.view_stats().to_vec());
            }
        }
        Probe::finish(&setup.context.device, cmd);
        self.frames_in_flight.submit(&setup.context, index);
        self.frames_in_flight.wait(&setup.context, index);
        let words = self.outputs.each_ref().map(|output| output.words());
        let mut listed = Vec::new();
        for (view, told) in told.iter().enumerate() {
            let mut of_view = Vec::new();
            let kinds = flight[0][view].iter().zip(&flight[1][view]);
            for (kind, (of_cpu, of_gpu)) in kinds.enumerate() {
                let of = |side: usize| {
                    let lists = [of_cpu, of_gpu][side].iter();
                    let words = &words[side];
                    lists.flat_map(move |(at, list)| {
                        let each = list.read(words, 0, *at).into_iter();
                        each.map(|words| (list.flipped, list.level, list.primitive, words[0]))
                    })
                };
                let (mut cpu, mut gpu) = (Listed::new(), Listed::new());
                for (flipped, _, _, index) in of(0) {
                    let (level, hidden) = told[&index];
                    if hidden == BOTH {
                        // No draw has it.
                        continue;
                    }
                    cpu.entry((level.unwrap(), flipped))
                        .or_default()
                        .push(index);
                }
                for (flipped, level, primitive, index) in of(1) {
                    let (level, hidden) = (level.unwrap(), told[&index].1);
                    assert_eq!(primitive.is_some(), hidden != 0);
                    assert!(primitive.is_none_or(|it| hidden >> it & 1 == 0));
                    self.seen[0] += usize::from(level == 0);
                    self.seen[1] += usize::from(level > 0);
                    self.seen[2] += usize::from(flipped);
                    self.seen[3] += usize::from(primitive.is_some());
                    gpu.entry((level, flipped)).or_default().push(index);
                }
                // The CPU sorts those that hide parts by the parts.
                for list in gpu.values_mut() {
                    list.sort_by_key(|index| told[index].1);
                }
                assert_eq!(gpu, cpu, "view {view}, character {kind}");
                of_view.push(gpu);
            }
            listed.push(of_view);
        }
        listed
    }

    /// Draws both crowds, and compares the pictures. Returns the number of pixels that they cover.
    pub(super) fn look(&mut self, setup: &mut Setup) -> usize {
        self.now_s += 0.05;
        self.frame_index = 1 - self.frame_index;
        let seen = View {
            mask: u32::MAX,
            ..self.view(false)
        };
        let [wanted, drawn] = [0, 1].map(|side| {
            picture(
                &mut setup.context,
                &mut self.crowds[side],
                &mut self.frames_in_flight,
                (self.frame_index, self.now_s),
                (&self.target, self.passes[side], &NORMAL_Z),
                &[seen],
            )
        });
        self.reports[self.frame_index as usize] = None;
        assert_eq!(different(&drawn, &wanted, 0), 0);
        covered(&drawn)
    }
}
