//! Thousands of random operations on instances of all skinning stages.
//!
//! Frames in flight are begun in any order, skipped, abandoned, and grown in between. The vertices
//! that a frame deformed are compared when its frame index is begun again.

use super::beings::{Being, beings};
use super::made::{Palette, WEIGHTS};
use super::{POSITION_BOUND, Worst, copy, floats, readback, to_host};
use crate::reference::explore::{Operation, explore};
use crate::reference::handles::Handles;
use crate::reference::maths::distance;
use crate::reference::rng::Rng;
use crate::reference::words::Fails;
use crate::support::frames::FramesInFlight;
use crate::support::{Setup, each, stages};
use throng::error::ArgumentFault;
use throng::glam::{Affine3A, Vec3};
use throng::{Capacity, Crowd, Error, InstanceId, Play, SkinningStage, Spawn, Stages};
use throng_standalone::Buffer;

const FRAMES_IN_FLIGHT: u32 = 3;
const OPERATIONS: usize = 1500;
const READBACK_WORDS: usize = 120_000;

/// It is tight, so that the limit is reached and ranges are compacted.
const START: Capacity = Capacity {
    instances: 12,
    palette_entries: 256,
    views: 1,
    morph_weights: 64,
    blended: 1,
    skinned_words: 14_000,
    cpu_skinned_words: 6_000,
    attachments: 0,
    histories: 0,
    depth_pixels: 0,
    late_views: 0,
};

#[derive(Clone, Copy)]
struct Member {
    id: InstanceId,
    being: usize,
    skin: SkinningStage,
    plays: bool,
    weights: [f32; WEIGHTS],
    /// The place of its deformed vertices in the last frame, unless it has changed since.
    offset: Option<u64>,
}

/// An instance of a frame in flight, the place of its words, and the expected words.
struct Expected {
    being: usize,
    skin: SkinningStage,
    word: usize,
    wanted: Vec<f32>,
}

struct Model {
    rng: Rng,
    beings: Vec<Being>,
    members: Vec<Member>,
    capacity: Capacity,
    now_s: f64,
    refused: [usize; 3],
    compared: [usize; 2],
    moved: usize,
    frames: usize,
}

impl Model {
    fn used(&self, of: impl Fn(&Member) -> bool) -> u32 {
        let members = self.members.iter().filter(|member| of(member));
        members.map(|m| self.beings[m.being].words(m.skin)).sum()
    }

    /// The expected error for an instance with this many words, besides those that `others`
    /// accepts.
    fn refusal(
        &self,
        being: usize,
        skin: SkinningStage,
        others: impl Fn(&Member) -> bool,
    ) -> Option<Error> {
        let own = self.beings[being].words(skin);
        if skin == SkinningStage::Cpu && !self.beings[being].cpu_skin {
            let why = ArgumentFault::Invalid(
                "SkinningStage::Cpu needs a character added with CharacterDesc::cpu_skinning",
            );
            return Some(Error::Argument {
                what: "skinning_stage",
                why,
            });
        }
        let full = |what, asked: u32, cap: u32| {
            (asked > cap).then(|| Error::Capacity {
                what,
                asked: asked.into(),
                cap: cap.into(),
            })
        };
        let all = self.used(&others) + own;
        let cpu = self.used(|m| others(m) && m.skin == SkinningStage::Cpu) + own;
        let cpu = if skin == SkinningStage::Cpu { cpu } else { 0 };
        full(
            "words of deformed vertices (Capacity::skinned_words, raised by Crowd::reserve)",
            all,
            self.capacity.skinned_words,
        )
        .or_else(|| {
            let cap = self.capacity.cpu_skinned_words;
            let what = "words of vertices deformed on the CPU (Capacity::cpu_skinned_words, \
                        raised by Crowd::reserve)";
            full(what, cpu, cap)
        })
    }

    fn note(&mut self, refusal: &Error) {
        let kind = match refusal {
            Error::Capacity { what, .. } => usize::from(what.contains("CPU")),
            _ => 2,
        };
        self.refused[kind] += 1;
    }

    fn mode(&mut self) -> SkinningStage {
        [
            SkinningStage::Vertex,
            SkinningStage::Compute,
            SkinningStage::Cpu,
        ][self.rng.below(3)]
    }

    fn spawn(&mut self, crowd: &mut Crowd) {
        if self.members.len() as u32 == self.capacity.instances {
            return;
        }
        let being = self.rng.below(self.beings.len());
        let (skin, plays) = (self.mode(), !self.rng.chance(3));
        let play: Play<'_> = if plays { "move".into() } else { Play::REST };
        let sign = if self.rng.chance(3) { -1.0 } else { 1.0 };
        let got = crowd.spawn(
            self.beings[being].id,
            &Spawn {
                play: Play {
                    start_s: Some(0.0),
                    ..play
                },
                skinning_stage: skin,
                world_from_model: Affine3A::from_scale(Vec3::new(sign, 1.0, 1.0)),
                ..Spawn::default()
            },
        );
        if let Some(refusal) = self.refusal(being, skin, |_| true) {
            self.note(&refusal);
            assert_eq!(got, Err(refusal));
            return;
        }
        self.members.push(Member {
            id: got.unwrap(),
            being,
            skin,
            plays,
            weights: [0.25, 0.0, 0.0],
            offset: None,
        });
    }

    fn set_skin(&mut self, crowd: &mut Crowd) {
        let at = self.rng.below(self.members.len());
        let (member, skin) = (self.members[at], self.mode());
        let got = crowd.on(member.id, |mut it| it.set_skinning_stage(skin));
        let refusal = self.refusal(member.being, skin, |other| other.id != member.id);
        if let Some(refusal) = refusal {
            self.note(&refusal);
            assert_eq!(got, Err(refusal));
        } else {
            got.unwrap();
            self.members[at].skin = skin;
            self.members[at].offset = None;
        }
        assert_eq!(
            crowd.instance(member.id).map(|it| it.skinning_stage()),
            Ok(self.members[at].skin)
        );
    }

    fn operate(&mut self, setup: &mut Setup, crowd: &mut Crowd, operation: Operation) {
        let (what, rng) = operation.choose(&[
            (35, "spawn"),
            (15, "despawn"),
            (30, "set the skinning stage"),
            (10, "play"),
            (8, "set weights"),
            (1, "grow"),
        ]);
        self.rng = rng;
        match what {
            "spawn" => self.spawn(crowd),
            "grow" if self.rng.chance(4) => {
                self.capacity.skinned_words += self.rng.below(3000) as u32;
                self.capacity.cpu_skinned_words += self.rng.below(1500) as u32;
                setup.reserve(crowd, &self.capacity);
            }
            _ if self.members.is_empty() => {}
            "despawn" => {
                let at = self.rng.below(self.members.len());
                let id = self.members.swap_remove(at).id;
                crowd.despawn(id).unwrap();
                crowd
                    .instance(id)
                    .map(|it| it.skinning_stage())
                    .fails("…no longer exists…");
                crowd
                    .on(id, |mut it| it.set_skinning_stage(SkinningStage::Compute))
                    .fails("…no longer exists…");
            }
            "set the skinning stage" => self.set_skin(crowd),
            "play" => {
                let at = self.rng.below(self.members.len());
                let member = &mut self.members[at];
                member.plays = !member.plays;
                let play: Play<'_> = if member.plays {
                    "move".into()
                } else {
                    Play::REST
                };
                let start_s = Some(0.0);
                crowd
                    .live_mut(member.id)
                    .play(Play { start_s, ..play })
                    .unwrap();
            }
            "set weights" => {
                let at = self.rng.below(self.members.len());
                let weights = [0; WEIGHTS].map(|_| self.rng.range(-1.0, 1.5));
                let weights = weights.map(|w| if w < 0.0 { 0.0 } else { w });
                let id = self.members[at].id;
                crowd
                    .live_mut(id)
                    .set_morph_weights(&weights.map(Some))
                    .unwrap();
                self.members[at].weights = weights;
            }
            _ => {}
        }
    }

    fn wanted(&self, member: &Member) -> Vec<f32> {
        let being = &self.beings[member.being];
        let clip = member.plays.then(|| (0, self.now_s.rem_euclid(1.0)));
        let palette = Palette::new(being.kind, &being.character, clip);
        palette.skin(&being.skinner, &member.weights)
    }

    /// Records a frame and copies all deformed vertices. Some frames are abandoned.
    fn frame(
        &mut self,
        setup: &mut Setup,
        crowd: &mut Crowd,
        frames_in_flight: &mut FramesInFlight,
        (frame_index, to): (u32, &Buffer),
    ) -> Vec<Expected> {
        self.now_s += f64::from(self.rng.range(0.0, 0.3));
        let cmd = frames_in_flight.begin(&setup.context, frame_index);
        let context = &mut setup.context;
        crowd.update(self.now_s).unwrap();
        let begun = unsafe { crowd.begin_frame(&mut context.allocator(), frame_index, self.now_s) };
        let mut frame = begun.unwrap();
        let mut flight = Vec::new();
        if self.rng.chance(6) {
            return flight;
        }
        if let Some(member) = self.members.first() {
            frame.skinned(member.id).fails("frame: …");
        }
        unsafe { frame.record_prepare(cmd, &[]) }.unwrap();
        let mut word = 0;
        for at in 0..self.members.len() {
            let member = self.members[at];
            let skinned = frame.skinned(member.id);
            if member.skin == SkinningStage::Vertex {
                skinned.fails("instance: …");
                continue;
            }
            let skinned = skinned.unwrap();
            let before = self.members[at].offset.replace(skinned.offset);
            self.moved += usize::from(before.is_some_and(|offset| offset != skinned.offset));
            copy(&context.device, cmd, &skinned, to, word);
            flight.push(Expected {
                being: member.being,
                skin: member.skin,
                word,
                wanted: self.wanted(&member),
            });
            word += (skinned.size / 4) as usize;
        }
        assert!(word <= READBACK_WORDS);
        if stages() != Stages::Gpu {
            // The GPU's counts are known some frames later.
            assert_eq!(frame.stats().skinned as usize, flight.len());
        }
        to_host(&context.device, cmd);
        self.frames += 1;
        if self.rng.chance(8) {
            unsafe { crowd.abandon_frame() };
            return Vec::new();
        }
        frames_in_flight.submit(context, frame_index);
        flight
    }

    fn check(&mut self, flight: &[Expected], words: &[f32]) {
        for one in flight {
            let being = &self.beings[one.being];
            let got = &words[one.word..][..one.wanted.len()];
            let cpu = one.skin == SkinningStage::Cpu;
            self.compared[usize::from(cpu)] += 1;
            let mut worst = 0.0;
            for part in &being.skinner.layout().primitives {
                for at in 0..part.vertex_count {
                    let start = (part.positions + 3 * at) as usize;
                    let three =
                        |words: &[f32]| [0, 1, 2].map(|axis| f64::from(words[start + axis]));
                    Worst::note(&mut worst, distance(three(got), three(&one.wanted)));
                }
            }
            // The CPU gives the same bits. The GPU adds in another order.
            let bound = if cpu { 0.0 } else { POSITION_BOUND };
            assert!(worst <= bound, "{:?} {:?}: {worst}", being.kind, one.skin);
        }
    }
}

#[test]
fn modes_survive_thousands_of_operations() {
    let models = explore(21, OPERATIONS, |operations| {
        let mut models = Vec::new();
        each(|setup| models.push(run(setup, operations)));
        models
    });
    for model in models {
        assert!(model.moved > 10, "ranges were compacted");
        assert!(model.refused.iter().all(|count| *count > 5));
        assert!(model.compared.iter().all(|count| *count > 100));
    }
}

fn run(setup: &mut Setup, operations: &[Operation]) -> Model {
    let mut rng = Rng::new(21);
    let mut crowd = setup.crowd(FRAMES_IN_FLIGHT, START);
    let mut model = Model {
        beings: beings(setup, &mut crowd, &mut rng),
        rng,
        members: Vec::new(),
        capacity: START,
        now_s: 0.0,
        refused: [0; 3],
        compared: [0; 2],
        moved: 0,
        frames: 0,
    };
    let mut frames_in_flight = FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT);
    let outputs: Vec<Buffer> = (0..FRAMES_IN_FLIGHT)
        .map(|_| readback(setup, READBACK_WORDS))
        .collect();
    let mut flights: Vec<Vec<Expected>> = (0..FRAMES_IN_FLIGHT).map(|_| Vec::new()).collect();
    for (number, operation) in operations.iter().enumerate() {
        model.operate(setup, &mut crowd, *operation);
        let last = number + FRAMES_IN_FLIGHT as usize >= operations.len();
        if model.rng.chance(6) || last {
            let frame_index = model.rng.below(FRAMES_IN_FLIGHT as usize);
            frames_in_flight.wait(&setup.context, frame_index as u32);
            let flight = std::mem::take(&mut flights[frame_index]);
            model.check(&flight, &floats(&outputs[frame_index]));
            let on = (frame_index as u32, &outputs[frame_index]);
            flights[frame_index] = model.frame(setup, &mut crowd, &mut frames_in_flight, on);
        }
    }
    for frame_index in 0..FRAMES_IN_FLIGHT as usize {
        frames_in_flight.wait(&setup.context, frame_index as u32);
        model.check(&flights[frame_index], &floats(&outputs[frame_index]));
    }
    println!(
        "{}: {} frames, refused {:?}, compared {:?}, moved {}, capacity {:?}",
        setup.config.name, model.frames, model.refused, model.compared, model.moved, model.capacity
    );
    frames_in_flight.destroy(&setup.context);
    setup.destroy(crowd);
    model
}
