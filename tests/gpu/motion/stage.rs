//! A crowd whose motion is drawn, and a model of it.
//!
//! The model knows the positions at the last write of each history. Its own origin stays, whatever
//! that of the crowd is.

use super::moments::Moment;
use crate::reference::handles::Handles;
use crate::reference::raster::{Drawn, Pixel, Shape, look, shape};
use crate::reference::raws;
use crate::reference::raws::linear;
use crate::reference::ribbon::{built, ribbon};
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::read_image::{ImageRead, read_image};
use crate::support::{SMALL, Setup, described, stages};
use std::collections::BTreeMap;
use throng::ash::vk;
use throng::character::Character;
use throng::glam::{Affine3A, DMat4, DVec2, Mat4, Vec3};
use throng::gpu::PosedBy;
use throng::import::{RawCharacter, RawKeys};
use throng::mesh::AlphaMode;
use throng::palette::SkinningMethod;
use throng::skeleton::Joint;
use throng::{
    Attachment, Capacity, CharacterDesc, CharacterId, Crowd, Eye, Id, InstanceId, PassDesc, PassId,
    PassKind, Play, SkinningStage, Spawn, Stages, View,
};
use throng_standalone::{Begin, Target, TargetDesc};

/// It is larger than any motion of a test.
const BACKGROUND: f32 = 9.0;
const FORMAT: vk::Format = vk::Format::R32G32_SFLOAT;
/// Number of targets: the largest number of views in one frame.
const TARGETS: usize = 2;

pub(crate) const HISTORIES: Capacity = Capacity {
    histories: 3,
    skinned_words: 4096,
    cpu_skinned_words: 4096,
    ..SMALL
};

/// A ribbon with two morph targets and a masked back.
pub(crate) fn dancer(joints: usize) -> RawCharacter {
    let mut raw = ribbon(joints);
    raw.materials[1].alpha = AlphaMode::Mask { cutoff: 0.5 };
    raw.morphs = vec![raws::morph(0, "ribbon", vec![0.0, 0.25])];
    for (number, clip) in raw.animations.iter_mut().enumerate() {
        let far = 0.5 + 0.2 * number as f32;
        clip.channels.push(linear(
            0,
            [0.0, 0.4, 1.0],
            RawKeys::Weights(vec![0.1, 0.25, far, 0.0, 0.1, 0.25]),
        ));
    }
    for primitive in &mut raw.primitives {
        let count = primitive.positions.len() as u32;
        let target =
            |vertices: Vec<u32>, delta: Vec3| raws::moves(vec![delta; vertices.len()], vertices);
        primitive.morph = Some(0);
        primitive.targets = vec![
            target((0..count).collect(), Vec3::new(0.2, 0.1, 0.0)),
            target((count / 2..count).collect(), Vec3::new(0.0, 0.3, 0.2)),
        ];
    }
    raw
}

/// A dancer whose joints stand still in all clips, so that only its morph weights change.
pub(crate) fn face(joints: usize) -> RawCharacter {
    let mut raw = dancer(joints);
    for clip in &mut raw.animations {
        clip.channels
            .retain(|channel| matches!(channel.values, RawKeys::Weights(_)));
    }
    raw
}

/// The test's model of an instance.
#[derive(Clone)]
pub(crate) struct Actor {
    pub(crate) id: InstanceId,
    /// A teleport changes the key.
    pub(super) key: u64,
    pub(super) character: usize,
    place: Affine3A,
    /// The weights that the caller set.
    weights: [Option<f32>; 2],
    visible: bool,
    /// True if a frame was submitted while it was hidden.
    pub(super) missed: bool,
    /// The actor and joint that it follows, and its offset.
    attached: Option<(usize, u16, Affine3A)>,
}

/// The data that a history was written with.
struct Past {
    clip: Mat4,
    shapes: BTreeMap<u64, Shape>,
}

pub(crate) struct World {
    pub(crate) crowd: Crowd,
    pub(crate) characters: Vec<(CharacterId, Character, SkinningMethod)>,
    pub(crate) actors: Vec<Actor>,
    frames_in_flight: FramesInFlight,
    targets: Vec<Target>,
    /// Of each target.
    passes: [PassId; TARGETS],
    pasts: Vec<Option<Past>>,
    pub(super) keys: u64,
    pub(super) saved: Vec<Moment>,
    /// True if instances show shared poses, where a clip has some.
    pub(crate) shares: bool,
    /// The crowd's origin.
    origin: Vec3,
    /// The next frame index, of two.
    frame_index: u32,
}

impl World {
    pub(crate) fn new(
        setup: &mut Setup,
        capacity: Capacity,
        characters: &[(RawCharacter, SkinningMethod)],
    ) -> Self {
        Self::with(setup, stages(), capacity, characters)
    }

    pub(crate) fn with(
        setup: &mut Setup,
        stages: Stages,
        capacity: Capacity,
        characters: &[(RawCharacter, SkinningMethod)],
    ) -> Self {
        let mut crowd = setup.crowd_with(stages, 2, capacity);
        let frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let desc = TargetDesc {
            name: "motion",
            extent: EXTENT,
            color_format: FORMAT,
            ..TargetDesc::default()
        };
        let target = |_| Target::new(&setup.context, &desc).unwrap();
        let targets: Vec<_> = (0..TARGETS).map(target).collect();
        let pass = create_pass(&mut crowd, [1.0; 2]);
        let mut add = |(raw, method): &(RawCharacter, SkinningMethod)| {
            let character = built(raw.clone()).character;
            let allocator = &mut setup.allocator();
            let id = crowd.add_character(allocator, &character, &skinned_by(*method));
            (id.unwrap(), character, *method)
        };
        Self {
            characters: characters.iter().map(&mut add).collect(),
            crowd,
            actors: Vec::new(),
            frames_in_flight,
            targets,
            passes: [pass; TARGETS],
            pasts: (0..capacity.histories).map(|_| None).collect(),
            keys: 0,
            saved: Vec::new(),
            shares: false,
            origin: Vec3::ZERO,
            frame_index: 0,
        }
    }

    pub(crate) fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        setup.destroy(self.crowd);
    }

    /// Scales the motion of the second view.
    pub(crate) fn scale_second(&mut self, scale: [f32; 2]) {
        self.passes[1] = create_pass(&mut self.crowd, scale);
    }

    /// Moves the crowd's origin.
    pub(crate) fn shift(&mut self, offset: Vec3) {
        self.crowd.shift_origin(offset.as_dvec3()).unwrap();
        self.origin += offset;
    }

    pub(crate) fn origin(&self) -> Vec3 {
        self.origin
    }

    /// A place as the crowd has it.
    fn seen(&self, place: &Affine3A) -> Affine3A {
        Affine3A::from_translation(-self.origin) * *place
    }

    /// Views as the crowd gets them.
    fn views(&self, views: &[View]) -> Vec<View> {
        let origin = DMat4::from_translation(self.origin.as_dvec3());
        let views = views.iter().map(|view| View {
            eye: Eye {
                clip_from_world: (view.eye.clip_from_world.as_dmat4() * origin).as_mat4(),
                position: view.eye.position - self.origin,
                ..view.eye
            },
            ..*view
        });
        views.collect()
    }

    /// Spawns an instance, and returns the number of the new actor.
    pub(crate) fn spawn(
        &mut self,
        character: usize,
        place: Affine3A,
        play: Option<usize>,
    ) -> usize {
        self.spawn_as(character, place, play, SkinningStage::Vertex)
    }

    pub(crate) fn spawn_as(
        &mut self,
        character: usize,
        place: Affine3A,
        play: Option<usize>,
        skin: SkinningStage,
    ) -> usize {
        let spawn = Spawn {
            world_from_model: self.seen(&place),
            play: playing(play),
            skinning_stage: skin,
            ..Spawn::default()
        };
        let id = self
            .crowd
            .spawn(self.characters[character].0, &spawn)
            .unwrap();
        self.keys += 1;
        self.actors.push(Actor {
            id,
            key: self.keys,
            character,
            place,
            weights: [None; 2],
            visible: true,
            missed: false,
            attached: None,
        });
        self.actors.len() - 1
    }

    /// Despawns an actor. The numbers of later actors decrease by one.
    pub(crate) fn despawn(&mut self, actor: usize) {
        let actor = self.actors.remove(actor);
        self.crowd.despawn(actor.id).unwrap();
    }

    pub(crate) fn place(&mut self, actor: usize, place: Affine3A) {
        let seen = self.seen(&place);
        let actor = &mut self.actors[actor];
        actor.place = place;
        self.crowd.live_mut(actor.id).set_transform(&seen).unwrap();
    }

    pub(crate) fn teleport(&mut self, index: usize, place: Affine3A) {
        let seen = self.seen(&place);
        let actor = &mut self.actors[index];
        actor.place = place;
        self.keys += 1;
        actor.key = self.keys;
        self.crowd.live_mut(actor.id).teleport(&seen).unwrap();
        let follows = |child: &Actor| child.attached.is_some_and(|(parent, ..)| parent == index);
        for child in self.actors.iter_mut().filter(|child| follows(child)) {
            self.keys += 1;
            child.key = self.keys;
        }
    }

    pub(crate) fn show(&mut self, actor: usize, visible: bool) {
        let actor = &mut self.actors[actor];
        actor.visible = visible;
        self.crowd.live_mut(actor.id).set_visible(visible);
    }

    /// Attaches to an earlier actor with linear skinning. Neither may be despawned after that.
    pub(crate) fn attach(&mut self, child: usize, parent: usize, joint: u16, offset: Affine3A) {
        let (id, to) = (self.actors[child].id, self.actors[parent].id);
        self.crowd
            .live_mut(id)
            .attach_to(Attachment::new(to, Id::<Joint>::new(joint)).at(offset))
            .unwrap();
        self.actors[child].attached = Some((parent, joint, offset));
    }

    /// Computes the transforms of attached actors at a time.
    fn follow(&mut self, time_s: f64) {
        for child in 0..self.actors.len() {
            let Some((parent, joint, offset)) = self.actors[child].attached else {
                continue;
            };
            let above = &self.actors[parent];
            let model = self
                .crowd
                .instance(above.id)
                .and_then(|it| it.joint_model(Id::<Joint>::new(joint), time_s));
            let model = model.unwrap();
            self.actors[child].place = above.place * model * offset;
        }
    }

    /// Resets the motion of actors that were hidden in the frame before.
    fn arrive(&mut self, time_s: f64) {
        self.follow(time_s);
        for actor in &mut self.actors {
            if actor.visible && std::mem::take(&mut actor.missed) {
                self.keys += 1;
                actor.key = self.keys;
            }
            actor.missed = !actor.visible;
        }
    }

    pub(crate) fn play(&mut self, actor: usize, play: Option<usize>) {
        let id = self.actors[actor].id;
        self.crowd.live_mut(id).play(playing(play)).unwrap();
    }

    /// Sets morph weights, or leaves them to clips.
    pub(crate) fn morph(&mut self, actor: usize, weights: [Option<f32>; 2]) {
        let actor = &mut self.actors[actor];
        actor.weights = weights;
        self.crowd
            .live_mut(actor.id)
            .set_morph_weights(&weights)
            .unwrap();
    }

    /// The number of actors that the GPU poses, with weights of a clip and of the caller.
    pub(crate) fn combined_on_gpu(&self) -> usize {
        let combines = |actor: &&Actor| {
            let plays = !self.crowd.live(actor.id).records().is_empty();
            let sets = actor.weights != [None; 2];
            plays && sets && self.crowd.posed_by(actor.id) == Ok(PosedBy::Gpu)
        };
        self.actors.iter().filter(combines).count()
    }

    pub(crate) fn skin(&mut self, actor: usize, skin: SkinningStage) {
        self.crowd
            .live_mut(self.actors[actor].id)
            .set_skinning_stage(skin)
            .unwrap();
    }

    pub(crate) fn reserve(&mut self, setup: &mut Setup, capacity: &Capacity) {
        let allocator = &mut setup.allocator();
        self.crowd.reserve(allocator, capacity).unwrap();
        let histories = self.crowd.capacity().histories as usize;
        self.pasts.resize_with(histories, || None);
    }

    fn shapes(&self, time_s: f64) -> BTreeMap<u64, Shape> {
        let each = self.actors.iter().map(|actor| {
            let (_, character, method) = &self.characters[actor.character];
            let instance = self.crowd.live(actor.id);
            let record = instance.records().first();
            let clip = record.map(|record| {
                let clip = usize::from(record.clip);
                let duration_s = character.clips()[clip].duration_s();
                let time_s = record.clip_time_s(time_s, duration_s);
                let steps = character.pose_steps(Id::new(clip as u16)).unwrap();
                (
                    clip,
                    match steps.filter(|_| self.shares) {
                        Some(steps) => {
                            let step_s = duration_s / f64::from(steps.count);
                            (time_s / step_s).round() * step_s
                        }
                        None => time_s,
                    },
                )
            });
            let mut weights = [0.0, 0.25];
            if let Some((clip, time_s)) = clip {
                character.clips()[clip].sample_weights(time_s, |weight, value| {
                    weights[weight.index()] = value;
                });
            }
            for (weight, set) in weights.iter_mut().zip(actor.weights) {
                *weight = set.unwrap_or(*weight);
            }
            let weights = &weights[..character.morph_weights().len()];
            let shape = shape((character, *method), clip, weights, &actor.place);
            (actor.key, shape)
        });
        each.collect()
    }

    /// Records a frame and submits it, without waiting for it.
    fn submit(&mut self, setup: &mut Setup, time_s: f64, views: &[View]) -> u32 {
        let frame_index = self.frame_index;
        self.frame_index = 1 - frame_index;
        let cmd = self.frames_in_flight.begin(&setup.context, frame_index);
        let device = setup.context.device.clone();
        let begin = Begin {
            color: [BACKGROUND; 4],
            ..Begin::default()
        };
        self.crowd.update(time_s).unwrap();
        let views = self.views(views);
        unsafe {
            let allocator = &mut setup.allocator();
            let mut frame = self
                .crowd
                .begin_frame(allocator, frame_index, time_s)
                .unwrap();
            let ids = frame.record_prepare(cmd, &views).unwrap();
            for (view, (target, pass)) in ids.iter().zip(self.targets.iter().zip(self.passes)) {
                target.begin(&device, cmd, &begin);
                frame.record_draw(cmd, *view, pass).unwrap();
                target.end(&device, cmd);
            }
        }
        self.frames_in_flight.submit(&setup.context, frame_index);
        frame_index
    }

    /// Submits a frame that is not read, and that may still run while the next is recorded.
    pub(crate) fn pass_by(&mut self, setup: &mut Setup, time_s: f64, views: &[View]) {
        self.arrive(time_s);
        let shapes = self.shapes(time_s);
        self.submit(setup, time_s, views);
        self.remember(views, &shapes);
    }

    /// Draws a frame. Returns the motion of all actors' pixels for each view.
    pub(crate) fn frame(
        &mut self,
        setup: &mut Setup,
        time_s: f64,
        views: &[View],
    ) -> Vec<Vec<Pixel>> {
        self.arrive(time_s);
        let shapes = self.shapes(time_s);
        let frame_index = self.submit(setup, time_s, views);
        self.frames_in_flight.wait(&setup.context, frame_index);
        let on = (EXTENT, setup.grid(EXTENT));
        let each = views.iter().zip(&self.targets).map(|(view, target)| {
            let past = view.history.and_then(|h| self.pasts[h as usize].as_ref());
            let drawn: Vec<_> = self
                .actors
                .iter()
                .filter(|actor| actor.visible)
                .map(|actor| {
                    let now = &shapes[&actor.key];
                    let then = past.and_then(|past| past.shapes.get(&actor.key));
                    Drawn {
                        character: &self.characters[actor.character].1,
                        flipped: actor.place.matrix3.determinant() < 0.0,
                        now,
                        then: then.unwrap_or(now),
                    }
                })
                .collect();
            let then = past.map_or(view.eye.clip_from_world, |past| past.clip);
            let picture = read(setup, target);
            look(&picture, (on, BACKGROUND), (view, &then), &drawn)
        });
        let seen = each.collect();
        self.remember(views, &shapes);
        seen
    }

    fn remember(&mut self, views: &[View], shapes: &BTreeMap<u64, Shape>) {
        for view in views {
            if let Some(history) = view.history {
                self.pasts[history as usize] = Some(Past {
                    clip: view.eye.clip_from_world,
                    shapes: shapes.clone(),
                });
            }
        }
    }

    /// Prepares a frame that is never submitted.
    pub(crate) fn abandon(&mut self, setup: &mut Setup, time_s: f64, views: &[View]) {
        self.prepare_in_vain(setup, time_s, views);
        unsafe { self.crowd.abandon_frame() };
    }

    /// The same, but the caller must still abandon the frame.
    pub(crate) fn prepare_in_vain(&mut self, setup: &mut Setup, time_s: f64, views: &[View]) {
        let cmd = self
            .frames_in_flight
            .begin(&setup.context, self.frame_index);
        self.crowd.update(time_s).unwrap();
        let views = self.views(views);
        unsafe {
            let allocator = &mut setup.allocator();
            let mut frame = self
                .crowd
                .begin_frame(allocator, self.frame_index, time_s)
                .unwrap();
            frame.record_prepare(cmd, &views).unwrap();
        }
    }

    /// Begins a frame that is not even prepared.
    pub(crate) fn drop_frame(&mut self, setup: &mut Setup, time_s: f64) {
        self.frames_in_flight.wait(&setup.context, self.frame_index);
        let allocator = &mut setup.allocator();
        self.crowd.update(time_s).unwrap();
        unsafe { self.crowd.begin_frame(allocator, self.frame_index, time_s) }.unwrap();
    }
}

fn create_pass(crowd: &mut Crowd, motion_scale: [f32; 2]) -> PassId {
    let pass = PassDesc {
        kind: PassKind::Motion,
        color_formats: vec![FORMAT],
        depth_format: vk::Format::D32_SFLOAT,
        motion_scale,
        ..PassDesc::default()
    };
    unsafe { crowd.create_pass(&pass) }.unwrap()
}

/// The description with which all characters are added.
pub(super) fn skinned_by(method: SkinningMethod) -> CharacterDesc {
    described(method, true)
}

/// A clip that starts at time 0, or the rest pose.
fn playing(clip: Option<usize>) -> Play<'static> {
    let play = clip.map_or(Play::REST, |clip| Play::new(Id::new(clip as u16)));
    play.start_s(0.0)
}

fn read(setup: &mut Setup, target: &Target) -> Vec<[f32; 2]> {
    let read = ImageRead {
        image: target.color().0,
        aspect: vk::ImageAspectFlags::COLOR,
        layout: vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
        layer: 0,
        extent: EXTENT,
        texel_bytes: 8,
    };
    let bytes = unsafe { read_image(&setup.context, &read) }.unwrap();
    let float = |bytes: &[u8]| f32::from_ne_bytes(bytes.try_into().unwrap());
    let texels = bytes.chunks_exact(8);
    texels.map(|t| [float(&t[..4]), float(&t[4..])]).collect()
}

/// The largest difference from the expected motion, divided by the one that a device may show.
pub(crate) fn worst(pixels: &[Pixel]) -> f64 {
    let error = |pixel: &Pixel| {
        let error = (pixel.got - pixel.expected).abs() / pixel.error;
        if error.is_nan() {
            f64::INFINITY
        } else {
            error.max_element()
        }
    };
    pixels.iter().map(error).fold(0.0, f64::max)
}

/// The smallest motion that counts, above the error in most pixels.
const MOTION: f64 = 2e-3;

/// Asserts that a picture shows the expected motion.
///
/// Returns the numbers of the actor's pixels that move, and that stand exactly still.
pub(crate) fn check(pixels: &[Pixel], actor: usize) -> (usize, usize) {
    assert!(worst(pixels) < 1.0, "{} of the bound", worst(pixels));
    let mine = pixels.iter().filter(|pixel| pixel.actor == actor);
    let moving = |pixel: &&Pixel| pixel.expected.abs().max_element() > MOTION;
    (
        mine.clone().filter(moving).count(),
        mine.filter(|pixel| pixel.got == DVec2::ZERO).count(),
    )
}

/// Asserts that an actor's pixels move as expected, and that there are enough of them.
pub(crate) fn moves(pixels: &[Pixel], actor: usize) {
    let (moving, _) = check(pixels, actor);
    assert!(moving > 50, "only {moving} pixels of {actor} move");
}

/// Asserts that an actor is visible and stands exactly still.
pub(crate) fn stands(pixels: &[Pixel], actor: usize) {
    let seen = pixels.iter().filter(|pixel| pixel.actor == actor).count();
    let (_, still) = check(pixels, actor);
    assert!(seen > 50, "only {seen} pixels of {actor} are seen");
    assert_eq!(still, seen, "pixels of {actor} that stand still");
}
