//! Thousands of random operations against a plain model, with frames in flight that are begun in
//! any order, skipped and grown in between. What the GPU saw of a frame is compared when its frame index
//! is begun again: the visible lists, every record and every palette, bit for bit.

use crate::reference::random;
use crate::reference::rng::Rng;
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::made::{built, rest_palette, ribbon};
use crate::support::probe::{Output, Probe};
use crate::support::{Setup, each, view};
use std::collections::{BTreeMap, BTreeSet};
use throng::animator::{ActorId, Animator, AnimatorDesc, ShowPose};
use throng::character::Character;
use throng::glam::Vec3;
use throng::gpu::layout::GpuInstance;
use throng::ids::{ClipId, JointId};
use throng::mesh::PaletteJoint;
use throng::motion::LoopMode;
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::model_pose;
use throng::skeleton::{Affine, Transform};
use throng::{Capacity, CharacterId, Crowd, Error, InstanceId, Play, Spawn, Stats, View};

const FRAMES_IN_FLIGHT: u32 = 3;
const OPERATIONS: usize = 2500;
const START: Capacity = Capacity {
    instances: 8,
    palette_entries: 120,
    views: 1,
    ..Capacity::DEFAULT
};

/// Of palettes in lanes and in scalar code, by their largest number: both round differently along a
/// chain of at most 9 joints, and directions that were interpolated are 1e-6 apart in each.
const APART: f32 = 1e-5;

/// What an instance should be.
#[derive(Debug, Clone)]
struct Member {
    id: InstanceId,
    /// The same in the animator of the test's own.
    actor: ActorId,
    character: usize,
    world_from_model: Affine,
    tint: [f32; 4],
    user: u32,
    layer: Option<Playing>,
    /// A pose that was set; then it plays nothing.
    model: Option<Vec<Affine>>,
    visible: bool,
    mask: u32,
}

#[derive(Debug, Clone, Copy)]
struct Playing {
    clip: usize,
    start_s: f64,
    offset_s: f64,
    speed: f64,
    loop_mode: LoopMode,
}

impl Playing {
    /// The clip's own time, written out anew.
    fn at(&self, now_s: f64, duration_s: f64) -> f64 {
        let time = (now_s - self.start_s) * self.speed + self.offset_s;
        if duration_s <= 0.0 {
            return 0.0;
        }
        match self.loop_mode {
            LoopMode::Loop => time - duration_s * (time / duration_s).floor(),
            LoopMode::Once => time.min(duration_s).max(0.0),
            LoopMode::PingPong => {
                let twice = time - 2.0 * duration_s * (time / (2.0 * duration_s)).floor();
                twice.min(2.0 * duration_s - twice)
            }
        }
    }
}

/// What one instance should look like to a shader.
#[derive(Debug, Clone, PartialEq)]
struct Expected {
    record: Vec<u32>,
    palette: Vec<u32>,
    animated: bool,
    mirrored: bool,
}

/// A character of a frame in flight.
struct Part {
    /// Where its words start in the output.
    first: usize,
    entries: usize,
    plain: usize,
    mirrored: usize,
    /// By table index.
    expected: BTreeMap<u32, Expected>,
}

/// A frame in flight: what it should have seen.
#[derive(Default)]
struct Flight {
    parts: Vec<Part>,
}

struct Model {
    rng: Rng,
    kinds: Vec<Character>,
    /// One for each kind, on one thread, in which the same things are played.
    animators: Vec<Animator>,
    ids: Vec<CharacterId>,
    members: Vec<Member>,
    dead: Vec<InstanceId>,
    capacity: Capacity,
    now_s: f64,
    /// How far the animators' palettes are from those of scalar code, at most.
    worst: f32,
    refused: usize,
    frames: usize,
}

impl Member {
    /// The palette of what it shows, in scalar code; `None` for the rest pose.
    fn scalar(&self, character: &Character, now_s: f64) -> Option<Vec<Mat3x4>> {
        if let Some(model) = &self.model {
            return Some(of_model(character, model));
        }
        let playing = self.layer?;
        let clip = &character.clips()[playing.clip];
        let mut local = vec![Transform::IDENTITY; character.skeleton().len()];
        let at = playing.at(now_s, clip.duration_s());
        clip.sample(at, &mut local).unwrap();
        let mut model = vec![Affine::IDENTITY; local.len()];
        model_pose(character.skeleton(), &local, &mut model).unwrap();
        Some(of_model(character, &model))
    }
}

/// How far palettes are apart, by the largest number of the second.
fn apart(a: &[Mat3x4], b: &[Mat3x4]) -> f32 {
    let numbers = |list: &[Mat3x4]| {
        list.iter()
            .flat_map(|m| m.rows.into_iter().flatten())
            .collect()
    };
    let [a, b]: [Vec<f32>; 2] = [a, b].map(numbers);
    let most = b
        .iter()
        .fold(f32::MIN_POSITIVE, |most, v| most.max(v.abs()));
    let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    off.fold(0.0, f32::max) / most
}

/// The palette of a model pose, written out anew.
fn of_model(character: &Character, model: &[Affine]) -> Vec<Mat3x4> {
    let entries = character.palette().iter();
    let matrix = |entry: &PaletteJoint| model[usize::from(entry.joint)] * entry.inverse_bind;
    entries
        .map(|entry| Mat3x4::from_affine(&matrix(entry)))
        .collect()
}

fn kinds() -> Vec<Character> {
    let raws = [
        ribbon(3),
        ribbon(9),
        random::character(5),
        random::character(8),
    ];
    let mut kinds: Vec<Character> = raws.map(|raw| built(raw).character).into();
    // One without clips.
    let mut still = ribbon(4);
    still.animations.clear();
    kinds.push(built(still).character);
    kinds
}

impl Model {
    fn entries(&self) -> u32 {
        let of = |member: &Member| self.kinds[member.character].palette().len() as u32;
        self.members.iter().map(of).sum()
    }

    fn transform(&mut self) -> Affine {
        let mut scale = self.rng.vector(0.5, 1.5);
        if self.rng.chance(4) {
            scale.x = -scale.x;
        }
        let place = self.rng.vector(-3.0, 3.0);
        Affine::from_scale_rotation_translation(scale, self.rng.rotation(), place)
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
            ..Play::new(ClipId(clip as u16))
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
            user: self.rng.bits() as u32,
            play,
            ..Spawn::default()
        };
        let need = self.kinds[character].palette().len() as u32;
        let (alive, entries) = (self.members.len() as u32, self.entries());
        let got = crowd.spawn(self.ids[character], &spawn);
        let full = if alive + 1 > self.capacity.instances {
            Some(("instances", alive + 1, self.capacity.instances))
        } else if entries + need > self.capacity.palette_entries {
            Some((
                "palette entries",
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
            user: spawn.user,
            layer,
            model: None,
            visible: true,
            mask: u32::MAX,
        });
    }

    fn despawn(&mut self, crowd: &mut Crowd) {
        let at = self.rng.below(self.members.len());
        let member = self.members.swap_remove(at);
        crowd.despawn(member.id).unwrap();
        let animator = &mut self.animators[member.character];
        animator.remove(member.actor).unwrap();
        self.dead.push(member.id);
    }

    fn change(&mut self, crowd: &mut Crowd) {
        let at = self.rng.below(self.members.len());
        let Member {
            id,
            actor,
            character,
            ..
        } = self.members[at];
        match self.rng.below(7) {
            5 => {
                let to = self.rng.chance(2);
                crowd.set_visible(id, to).unwrap();
                self.members[at].visible = to;
                assert_eq!(crowd.is_visible(id), Ok(to));
            }
            6 => {
                let to = [0, 1, 2, 3, u32::MAX][self.rng.below(5)];
                crowd.set_view_mask(id, to).unwrap();
                self.members[at].mask = to;
                assert_eq!(crowd.view_mask(id), Ok(to));
            }
            0 => {
                let to = self.transform();
                crowd.set_transform(id, &to).unwrap();
                self.members[at].world_from_model = to;
            }
            1 => {
                let to = self.tint();
                crowd.set_tint(id, to).unwrap();
                self.members[at].tint = to;
            }
            2 => {
                let to = self.rng.bits() as u32;
                crowd.set_user(id, to).unwrap();
                self.members[at].user = to;
            }
            3 => {
                let joints = self.kinds[character].skeleton().len();
                let model: Vec<_> = (0..joints).map(|_| self.transform()).collect();
                crowd.set_model_pose(id, &model).unwrap();
                let (animator, show) = (&mut self.animators[character], ShowPose::default());
                animator.show_model_pose(actor, &model, &show).unwrap();
                self.members[at].model = Some(model);
                self.members[at].layer = None;
                let clips: Vec<_> = crowd.playing(id).unwrap().map(|of| of.clip).collect();
                assert_eq!(clips, [None]);
            }
            _ => {
                let (play, layer) = self.playing(character);
                crowd.play(id, play).unwrap();
                self.animators[character].play(actor, play).unwrap();
                self.members[at].layer = layer;
                self.members[at].model = None;
            }
        }
    }

    fn touch_the_dead(&mut self, crowd: &mut Crowd) {
        let id = self.dead[self.rng.below(self.dead.len())];
        assert!(!crowd.is_alive(id));
        let results = [
            crowd.despawn(id),
            crowd.set_transform(id, &Affine::IDENTITY),
            crowd.set_tint(id, [0.0; 4]),
            crowd.set_user(id, 1),
            crowd.set_visible(id, true),
            crowd.set_view_mask(id, 1),
            crowd.detach(id).map(drop),
            crowd.attach(id, id, JointId(0), &Affine::IDENTITY),
            crowd.transform(id).map(drop),
            crowd.tint(id).map(drop),
            crowd.user(id).map(drop),
            crowd.is_visible(id).map(drop),
            crowd.view_mask(id).map(drop),
            crowd.morph_overrides(id).map(drop),
            crowd.character_of(id).map(drop),
            crowd.attachment(id).map(drop),
            crowd.attached_to(id).map(drop),
            crowd.hidden_parts(id).map(drop),
            crowd.play(id, Play::REST),
            crowd.set_model_pose(id, &[]),
            crowd.table_index(id).map(drop),
            crowd.instance(id).map(drop),
            crowd.playing(id).map(drop),
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
            // Less than there is, sometimes: nothing shrinks.
            palette_entries: self.capacity.palette_entries + self.rng.below(60) as u32 - 10,
            views: 1 + self.rng.below(2) as u32,
            ..Capacity::DEFAULT
        };
        crowd
            .reserve(&mut setup.context.allocator, &capacity)
            .unwrap();
        let max = |a: u32, b: u32| a.max(b);
        self.capacity = Capacity {
            instances: max(self.capacity.instances, capacity.instances),
            palette_entries: max(self.capacity.palette_entries, capacity.palette_entries),
            views: max(self.capacity.views, capacity.views),
            ..Capacity::DEFAULT
        };
        assert_eq!(crowd.capacity(), self.capacity);
    }

    fn operate(&mut self, setup: &mut Setup, crowd: &mut Crowd) {
        match self.rng.below(100) {
            0..34 => self.spawn(crowd),
            34..54 if !self.members.is_empty() => self.despawn(crowd),
            54..92 if !self.members.is_empty() => self.change(crowd),
            92..99 if !self.dead.is_empty() => self.touch_the_dead(crowd),
            99 if self.rng.chance(2) => self.grow(setup, crowd),
            _ => {}
        }
        assert_eq!(crowd.len(), self.members.len());
        let all: BTreeSet<u32> = crowd
            .instances()
            .map(|id| crowd.table_index(id).unwrap())
            .collect();
        let known = self
            .members
            .iter()
            .map(|member| crowd.table_index(member.id).unwrap());
        assert_eq!(all, known.collect());
    }

    /// What a shader should see of every member of a kind, by table index.
    fn expected(
        &mut self,
        crowd: &Crowd,
        kind: usize,
        (mask, listed): (u32, Option<&[InstanceId]>),
    ) -> BTreeMap<u32, Expected> {
        let (character, animator) = (&self.kinds[kind], &mut self.animators[kind]);
        let rest = rest_palette::<Mat3x4>(character);
        let of_kind = self.members.iter().filter(|m| m.character == kind);
        let of_kind = of_kind.filter(|member| {
            let named = listed.is_none_or(|ids| ids.contains(&member.id));
            member.visible && member.mask & mask != 0 && named
        });
        let mut all = BTreeMap::new();
        for member in of_kind {
            let mut cpu = rest.clone();
            if let Some(wanted) = member.scalar(character, self.now_s) {
                let to = WriteOnly::over(&mut cpu);
                animator.palettes(&[member.actor], to).unwrap();
                self.worst = self.worst.max(apart(&cpu, &wanted));
            }
            let words = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            let rows = Mat3x4::from_affine(&member.world_from_model).rows;
            let mut record = words(rows.as_flattened());
            record.extend(words(&member.tint));
            record.push(member.user);
            let expected = Expected {
                record,
                palette: cpu
                    .iter()
                    .flat_map(|m| words(m.rows.as_flattened()))
                    .collect(),
                animated: member.layer.is_some() || member.model.is_some(),
                mirrored: member.world_from_model.matrix3.determinant() < 0.0,
            };
            let index = crowd.table_index(member.id).unwrap();
            assert!(
                all.insert(index, expected).is_none(),
                "two in one frame in flight"
            );
        }
        all
    }

    /// Records a frame in which the probe looks at everything.
    fn frame(
        &mut self,
        setup: &mut Setup,
        crowd: &mut Crowd,
        frames_in_flight: &mut FramesInFlight,
        (probe, outputs): (&Probe, &[Output]),
        frame_index: u32,
    ) -> Flight {
        let cmd = frames_in_flight.begin(&setup.context, frame_index);
        let mut flight = Flight::default();
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
        let context = &mut setup.context;
        let begun = unsafe { crowd.begin_frame(&mut context.allocator, frame_index, self.now_s) };
        let mut frame = begun.unwrap();
        self.check_playing(frame.crowd());
        let views = [View {
            mask,
            list: listed.map(|ids| frame.list(&ids).unwrap()),
            ..view(Vec3::new(0.0, 2.0, 9.0), Vec3::ZERO, EXTENT)
        }];
        let views = unsafe { frame.record_prepare(cmd, &views) }.unwrap();
        let mut word = 0;
        for (kind, expected) in expected.into_iter().enumerate() {
            let inputs = frame.inputs(views[0], self.ids[kind], 0).unwrap();
            let (plain, mirrored) = (inputs.plain.len(), inputs.mirrored.len());
            assert_eq!(inputs.plain.end, inputs.mirrored.start);
            let entries = self.kinds[kind].palette().len();
            let output = &outputs[frame_index as usize];
            let count = (plain + mirrored) as u32;
            if count > 0 {
                probe.bind(
                    &context.device,
                    cmd,
                    inputs.set,
                    &inputs.dynamic_offsets,
                    output,
                );
                let push = [inputs.plain.start, count, entries as u32, word as u32];
                probe.run(&context.device, cmd, push, count);
            }
            flight.parts.push(Part {
                first: word,
                entries,
                plain,
                mirrored,
                expected,
            });
            word += count as usize * (25 + 12 * entries);
        }
        assert!(word as u64 * 4 <= output_words(outputs) * 4);
        self.check_stats(&frame.stats(), &flight);
        Probe::finish(&context.device, cmd);
        frames_in_flight.submit(&setup.context, frame_index);
        self.frames += 1;
        flight
    }

    /// Takes the animators of the test's own to the present time.
    fn update(&mut self) {
        for animator in &mut self.animators {
            animator.update(self.now_s).unwrap();
        }
    }

    /// The crowd says what every member plays.
    fn check_playing(&self, crowd: &Crowd) {
        for member in &self.members {
            let Some(playing) = member.layer else {
                continue;
            };
            let clip = &self.kinds[member.character].clips()[playing.clip];
            let told: Vec<_> = crowd.playing(member.id).unwrap().collect();
            assert_eq!(told.len(), 1);
            assert_eq!(told[0].clip, Some(ClipId(playing.clip as u16)));
            let at = playing.at(self.now_s, clip.duration_s());
            let off = (told[0].time_s - at).abs();
            // A loop's end is its start.
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
        // What stands still is written once for each frame in flight.
        assert!(stats.animated <= count && stats.palette_entries <= entries);
        assert!(stats.changes as usize <= self.capacity.instances as usize);
        assert_eq!(stats.draws, 0);
    }
}

fn output_words(outputs: &[Output]) -> u64 {
    outputs[0].buffer.size() / 4
}

/// Compares what a frame saw.
fn check(flight: &Flight, kinds: &[CharacterId], crowd_kinds: &[u32], words: &[u32]) {
    assert_eq!(kinds.len(), crowd_kinds.len());
    for (kind, part) in flight.parts.iter().enumerate() {
        let (first, entries, expected) = (part.first, part.entries, &part.expected);
        let (plain, mirrored) = (part.plain, part.mirrored);
        assert_eq!(expected.len(), plain + mirrored, "instances of kind {kind}");
        let stride = 25 + 12 * entries;
        let run = &words[first..][..stride * expected.len()];
        let mut seen = BTreeMap::new();
        for (at, words) in run.chunks_exact(stride.max(1)).enumerate() {
            let mut record = words[1..17].to_vec();
            record.push(words[20]);
            assert_eq!(words[19], crowd_kinds[kind], "the record's character");
            let source = words[18];
            assert!(source == GpuInstance::SOURCE_RING || source == GpuInstance::SOURCE_RESIDENT);
            let one = Expected {
                record,
                palette: words[25..].to_vec(),
                animated: source == GpuInstance::SOURCE_RING,
                mirrored: at >= plain,
            };
            assert!(
                seen.insert(words[0], one).is_none(),
                "one instance is listed twice"
            );
        }
        assert!(
            seen == *expected,
            "kind {kind}: {seen:?}\nis not {expected:?}"
        );
    }
}

#[test]
fn thousands_of_operations_are_seen_as_the_model_has_them() {
    let mut seed = 0;
    each(|setup| {
        seed += 1;
        let mut crowd = setup.crowd(FRAMES_IN_FLIGHT, START);
        let kinds = kinds();
        let mut add = |character: &Character| {
            let added = crowd.add_character(&mut setup.context.allocator, character);
            added.unwrap()
        };
        let ids: Vec<CharacterId> = kinds.iter().map(&mut add).collect();
        let animator = |of| Animator::new(of, &AnimatorDesc::default()).unwrap();
        let mut model = Model {
            rng: Rng::new(seed),
            animators: kinds.iter().map(animator).collect(),
            kinds,
            ids,
            members: Vec::new(),
            dead: Vec::new(),
            capacity: START,
            now_s: 0.0,
            worst: 0.0,
            refused: 0,
            frames: 0,
        };
        let numbers: Vec<u32> = (0..model.ids.len() as u32).collect();
        let mut frames_in_flight = FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT);
        let probe = Probe::new(
            &setup.context,
            "test/crowd_probe.comp",
            crowd.set_layout().handle(),
        );
        let outputs: Vec<Output> = (0..FRAMES_IN_FLIGHT)
            .map(|_| probe.output(&mut setup.context, 1 << 18))
            .collect();
        let mut flights: Vec<Flight> = (0..FRAMES_IN_FLIGHT).map(|_| Flight::default()).collect();
        for _ in 0..OPERATIONS {
            model.operate(setup, &mut crowd);
            if model.rng.chance(7) {
                let frame_index = model.rng.below(FRAMES_IN_FLIGHT as usize) as u32;
                frames_in_flight.wait(&setup.context, frame_index);
                let flight = std::mem::take(&mut flights[frame_index as usize]);
                check(
                    &flight,
                    &model.ids,
                    &numbers,
                    outputs[frame_index as usize].words(),
                );
                if model.rng.chance(5) {
                    // Begun and skipped: nothing may be lost.
                    model.now_s += 0.01;
                    model.update();
                    let allocator = &mut setup.context.allocator;
                    unsafe { crowd.begin_frame(allocator, frame_index, model.now_s) }.unwrap();
                } else {
                    let on = (&probe, outputs.as_slice());
                    flights[frame_index as usize] =
                        model.frame(setup, &mut crowd, &mut frames_in_flight, on, frame_index);
                }
            }
        }
        for frame_index in 0..FRAMES_IN_FLIGHT {
            frames_in_flight.wait(&setup.context, frame_index);
            let words = outputs[frame_index as usize].words();
            check(&flights[frame_index as usize], &model.ids, &numbers, words);
        }
        println!(
            "{}: {} frames, {} refused, capacity {:?}, {} alive at the end, {:e} from scalar code",
            setup.config.name,
            model.frames,
            model.refused,
            model.capacity,
            model.members.len(),
            model.worst
        );
        assert!(model.worst < APART, "{:e}", model.worst);
        assert!(model.refused > 50 && model.frames > 200);
        frames_in_flight.destroy(&setup.context);
        for output in outputs {
            output.buffer.destroy(&mut setup.context);
        }
        probe.destroy(&setup.context);
        setup.destroy(crowd);
    });
}
