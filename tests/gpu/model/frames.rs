//! Frames: the expected data, and the data that the probe saw.

use super::{APART, Expected, Flight, Life, Member, Model, Part, apart};
use crate::reference::handles::Handles;
use crate::reference::ribbon::rest_palette;
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::lists::lists;
use crate::support::probe::{Output, Probe};
use crate::support::{Setup, view};
use std::collections::{BTreeMap, HashMap};
use throng::glam::{Affine3A, Vec3};
use throng::gpu::{GpuInstance, PosedBy};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Joint;
use throng::{Crowd, Culling, Id, InstanceId, Stats, View};

impl Model {
    fn member(&self, id: InstanceId) -> &Member {
        let member = self.members.iter().find(|member| member.id == id);
        member.unwrap()
    }

    /// The current transform of an instance, and the bound of each element's error.
    ///
    /// Joints may be off by [`APART`] of their largest element, and products by as much of the
    /// products of the largest elements.
    pub(super) fn world(&self, id: InstanceId) -> (Affine3A, f32) {
        let member = self.member(id);
        let Some(to) = member.attached else {
            return (member.world_from_model, 0.0);
        };
        let above = self.member(to.parent);
        let actor = self.animators[above.character].live(above.actor);
        let joint = Id::<Joint>::new(to.joint);
        let model = actor.joint_model(joint, self.now_s).unwrap();
        let (world, bound) = self.world(to.parent);
        let [a, b, c] = [&world, &model, &to.offset].map(largest);
        // Each element of a product is a sum of up to four.
        let product = 4.0 * a * 4.0 * b * c;
        let passed_on = 16.0 * bound * b * c;
        (world * model * to.offset, passed_on + 2.0 * APART * product)
    }

    /// True if neither an instance nor what it is attached to is hidden.
    pub(super) fn is_visible(&self, member: &Member) -> bool {
        let above = member.attached.map(|to| self.member(to.parent));
        member.visible && above.is_none_or(|above| self.is_visible(above))
    }

    /// The expected data of every visible instance of a character, by table index.
    fn expected(
        &mut self,
        crowd: &Crowd,
        kind: usize,
        (mask, listed): (u32, Option<&[InstanceId]>),
    ) -> BTreeMap<u32, Expected> {
        let of_kind = self.members.iter().filter(|m| m.character == kind);
        let of_kind = of_kind.filter(|member| {
            let named = listed.is_none_or(|ids| ids.contains(&member.id));
            self.is_visible(member) && member.mask & mask != 0 && named
        });
        let of_kind = of_kind.map(|member| (member, self.world(member.id)));
        let of_kind: Vec<_> = of_kind.collect();
        let (character, animator) = (&self.kinds[kind], &mut self.animators[kind]);
        let rest = rest_palette::<Mat3x4>(character);
        let mut all = BTreeMap::new();
        for (member, (world, bound)) in of_kind {
            let mut cpu = rest.clone();
            let actor = animator.live(member.actor);
            let plays = !actor.records().is_empty() || actor.pose_version().is_none();
            if member.mixed && plays {
                let to = WriteOnly::from(&mut cpu);
                animator.palettes(&[member.actor], to).unwrap();
            } else if let Some(wanted) = member.scalar(character, self.now_s) {
                let to = WriteOnly::from(&mut cpu);
                animator.palettes(&[member.actor], to).unwrap();
                self.worst = self.worst.max(apart(&cpu, &wanted));
            }
            let words = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            let rows = Mat3x4::from_affine(&world).rows;
            let mut record = words(rows.as_flattened());
            record.extend(GpuInstance::pack_colors(member.tint, [1.0; 3], 0));
            record.push(member.user);
            let expected = Expected {
                record,
                palette: cpu
                    .iter()
                    .flat_map(|m| words(m.rows.as_flattened()))
                    .collect(),
                animated: member.layer.is_some() || member.model.is_some() || member.mixed && plays,
                flipped: world.matrix3.determinant() < 0.0,
                bound,
            };
            let index = crowd.live(member.id).table_index();
            assert!(
                all.insert(index, expected).is_none(),
                "two in one frame in flight"
            );
        }
        all
    }

    /// Records a frame in which the probe copies everything that it sees.
    pub(super) fn frame(
        &mut self,
        setup: &mut Setup,
        crowd: &mut Crowd,
        frames_in_flight: &mut FramesInFlight,
        (probe, outputs): (&Probe, &[Output]),
        frame_index: u32,
    ) -> Flight {
        let cmd = frames_in_flight.begin(&setup.context, frame_index);
        let mut flight = Flight {
            on_gpu: self.on_gpu,
            ..Flight::default()
        };
        self.now_s += f64::from(self.rng.range(0.0, 0.3));
        let mask = [1, 2, u32::MAX, u32::MAX][self.rng.below(4)];
        let listed: Option<Vec<InstanceId>> = self.rng.chance(3).then(|| {
            let ids = self.members.iter().map(|member| member.id);
            ids.filter(|_| self.rng.chance(2)).collect()
        });
        self.update();
        let expected: Vec<_> = (0..self.kinds.len())
            .map(|kind| self.expected(crowd, kind, (mask, listed.as_deref())))
            .collect();
        crowd.update(self.now_s).unwrap();
        let begun = unsafe { crowd.begin_frame(&mut setup.allocator(), frame_index, self.now_s) };
        let mut frame = begun.unwrap();
        self.check_playing(&frame);
        let mut views = vec![View {
            mask,
            culling: Culling::Off,
            list: listed.map(|ids| frame.make_list(&ids).unwrap()),
            ..view(Vec3::new(0.0, 2.0, 9.0), Vec3::ZERO, EXTENT)
        }];
        views.extend(self.view_of_rays(&views[0]));
        let mask_of_rays = views[views.len() - 1].mask;
        let views = unsafe { frame.record_prepare(cmd, &views) }.unwrap();
        self.note_sides(&frame);
        let mut word = 0;
        for (kind, expected) in expected.into_iter().enumerate() {
            let entries = self.kinds[kind].palette().len();
            let output = &outputs[frame_index as usize];
            let all = frame.instances_of(self.ids[kind]).unwrap().len();
            let lists = lists(&frame, views[0], self.ids[kind], all);
            let lists = lists.into_iter().map(|list| {
                let at = word;
                list.record((&setup.context.device, cmd), (probe, output), entries, at);
                word += list.words(entries);
                (at, list)
            });
            flight.parts.push(Part {
                lists: lists.collect(),
                entries,
                lives: self.lives(&frame, kind),
                expected,
            });
        }
        if views.len() > 1 {
            let on = (&setup.context.device, cmd);
            let with = (views[1], mask_of_rays, frame_index);
            flight.shown = Some(self.trace(on, &mut frame, with));
            if self.rng.chance(6) {
                // It is never submitted.
                unsafe { crowd.abandon_frame() };
                self.abandoned += 1;
                return Flight::default();
            }
        } else {
            self.check_stats(&frame.stats(), &flight);
        }
        Probe::finish(&setup.context.device, cmd);
        frames_in_flight.submit(&setup.context, frame_index);
        self.frames += 1;
        flight
    }

    /// The lives of a character's instances, by table index.
    fn lives(&self, crowd: &Crowd, kind: usize) -> BTreeMap<u32, Life> {
        let of_kind = self.members.iter().filter(|m| m.character == kind);
        let life = |member: &Member| {
            let index = crowd.live(member.id).table_index();
            (index, (member.id, member.born))
        };
        of_kind.map(life).collect()
    }

    /// Counts who was posed on which side.
    fn note_sides(&mut self, crowd: &Crowd) {
        let on_gpu = |member: &Member| {
            let posed_by = crowd.posed_by(member.id).unwrap();
            (member.id, posed_by == PosedBy::Gpu)
        };
        let now: HashMap<InstanceId, bool> = self.members.iter().map(on_gpu).collect();
        let changes = |(id, side): &(&InstanceId, &bool)| {
            self.sides.get(*id).is_some_and(|before| before != *side)
        };
        self.switches += now.iter().filter(changes).count();
        self.posed_on_gpu += now.values().filter(|side| **side).count();
        assert_eq!(
            crowd.stats().posed_on_gpu as usize,
            now.values().filter(|side| **side).count()
        );
        self.placed_on_gpu += crowd.stats().placed_on_gpu as usize;
        self.sides = now;
    }

    /// Updates the test's own animators to the present time.
    pub(super) fn update(&mut self) {
        for animator in &mut self.animators {
            animator.update(self.now_s).unwrap();
        }
    }

    /// Compares the clips and times that the crowd reports for every instance.
    fn check_playing(&self, crowd: &Crowd) {
        for member in &self.members {
            let Some(playing) = member.layer else {
                continue;
            };
            let clip = &self.kinds[member.character].clips()[playing.clip];
            let told: Vec<_> = crowd.live(member.id).playing().collect();
            assert_eq!(told.len(), 1);
            assert_eq!(told[0].clip, Some(Id::new(playing.clip as u16)));
            let at = playing.at(self.now_s, clip.duration_s());
            let off = (told[0].time_s - at).abs();
            // The end of a loop is its start.
            let off = off.min((off - clip.duration_s()).abs());
            assert!(off < 1e-9, "{} {at}", told[0].time_s);
        }
    }

    fn check_stats(&self, stats: &Stats, flight: &Flight) {
        let all = flight.parts.iter().flat_map(|part| part.expected.values());
        let animated = all.filter(|expected| expected.animated);
        let (count, entries) = animated.fold((0, 0), |(count, entries), expected| {
            (count + 1, entries + expected.palette.len() as u32 / 12)
        });
        assert_eq!(stats.instances as usize, self.members.len());
        // Instances that stand still are written once for each frame in flight.
        assert!(stats.animated <= count && stats.palette_entries <= entries);
        assert!(stats.changes as usize <= self.capacity.instances as usize);
        assert_eq!(stats.draws, 0);
    }
}

/// Checks that the scatter pass made the matrix for normals as the CPU does.
///
/// The rounding of three operations on numbers up to 2 is allowed.
fn check_normals(seen: &GpuInstance) {
    let wanted = GpuInstance::new(&seen.world_from_model.to_affine());
    assert_eq!(seen.side, wanted.side);
    let of = |it: &GpuInstance| [it.normal_x, it.normal_y, it.normal_z].concat();
    for (seen, wanted) in of(seen).into_iter().zip(of(&wanted)) {
        assert!(
            (seen - wanted).abs() <= 8.0 * f32::EPSILON,
            "{seen} {wanted}"
        );
    }
}

/// The largest element of a transform.
fn largest(of: &Affine3A) -> f32 {
    of.to_cols_array()
        .into_iter()
        .fold(0.0, |a, b| a.max(b.abs()))
}

/// Compares two transforms.
pub(super) fn expect_near(seen: &Affine3A, wanted: &Affine3A, bound: f32) {
    let pairs = seen.to_cols_array().into_iter().zip(wanted.to_cols_array());
    for (a, b) in pairs {
        assert!(
            (a - b).abs() <= bound,
            "{seen}\nis not {wanted}, within {bound:e}"
        );
    }
}

/// True if a palette that the GPU computed is that of the CPU, except for rounding.
fn near(seen: &[u32], wanted: &[u32]) -> bool {
    let [seen, wanted]: [Vec<Mat3x4>; 2] = [seen, wanted].map(|words| {
        let all = words.as_chunks::<12>().0;
        all.iter()
            .map(|entry| bytemuck::pod_read_unaligned(bytemuck::bytes_of(entry)))
            .collect()
    });
    apart(&seen, &wanted) < APART
}

/// The life of each stamp at each index of the table.
pub(super) type Stamps = HashMap<(u32, u32), Life>;

/// Compares the data that a frame saw with the expected data.
///
/// Two instances at an index never have the same stamp, because motion vectors would connect them.
pub(super) fn check(flight: &Flight, words: &[u32], stamps: &mut Stamps) {
    for (kind, part) in flight.parts.iter().enumerate() {
        let (entries, expected) = (part.entries, &part.expected);
        let lists = part.lists.iter();
        let run = lists.flat_map(|(at, list)| {
            let each = list.read(words, entries, *at).into_iter();
            each.map(|words| (list.flipped, words))
        });
        let mut seen = BTreeMap::new();
        for (flipped, words) in run {
            let seen_record: GpuInstance =
                bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[1..33]));
            let mut record = words[1..13].to_vec();
            record.extend(seen_record.colors);
            record.push(seen_record.user);
            check_normals(&seen_record);
            if let Some(life) = part.lives.get(&words[0]) {
                let known = stamps.entry((words[0], seen_record.stamp)).or_insert(*life);
                assert_eq!(known, life, "the stamp {} repeats", seen_record.stamp);
            }
            let in_ring = (seen_record.palette >> 32) as u32 == GpuInstance::NONE;
            let one = Expected {
                record,
                palette: words[33..].to_vec(),
                animated: in_ring,
                flipped,
                bound: 0.0,
            };
            assert!(
                seen.insert(words[0], one).is_none(),
                "one instance is listed twice"
            );
        }
        for (index, own) in &mut seen {
            let Some(wanted) = expected.get(index).filter(|wanted| wanted.bound > 0.0) else {
                continue;
            };
            let [seen, exact] = [&own.record, &wanted.record].map(|record| {
                let rows =
                    bytemuck::pod_read_unaligned::<Mat3x4>(bytemuck::cast_slice(&record[..12]));
                rows.to_affine()
            });
            expect_near(&seen, &exact, wanted.bound);
            own.record[..12].copy_from_slice(&wanted.record[..12]);
            own.bound = wanted.bound;
            // The determinant has six products of three elements each.
            let most = largest(&exact);
            if exact.matrix3.determinant().abs() <= 18.0 * wanted.bound * most * most {
                own.flipped = wanted.flipped;
            }
        }
        if flight.on_gpu {
            for (index, own) in &mut seen {
                let wanted = expected.get(index).filter(|_| own.animated);
                if let Some(wanted) = wanted.filter(|wanted| near(&own.palette, &wanted.palette)) {
                    own.palette.clone_from(&wanted.palette);
                }
            }
        }
        assert!(
            seen == *expected,
            "kind {kind}: {seen:?}\nis not {expected:?}"
        );
    }
}
