//! A crowd with every way of skinning and every way of shading.
//!
//! The tests compare the pictures that different passes draw of it.

use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::raws::moves;
use crate::reference::ribbon::{built, ribbon};
use crate::reference::rng::Rng;
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::read_image::{ImageRead, read_image};
use crate::support::{SMALL, Setup, described, view};
use throng::ash::vk;
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::RawCharacter;
use throng::mesh::{AlphaMode, Image, Material};
use throng::palette::SkinningMethod;
use throng::{
    Capacity, Crowd, Id, InstanceId, PassDesc, PassId, PassKind, Play, SkinningStage, Spawn, View,
};
use throng_standalone::{Begin, Target, TargetDesc};

/// Numbers of influences per vertex.
pub(crate) const INFLUENCES: [usize; 5] = [1, 2, 4, 8, 11];
/// Every method in the vertex stage, and two methods in the stages before it.
///
/// The first three are all methods.
pub(crate) const WAYS: [(SkinningMethod, SkinningStage); 5] = [
    (SkinningMethod::Linear, SkinningStage::Vertex),
    (SkinningMethod::DualQuat, SkinningStage::Vertex),
    (SkinningMethod::QuatOffset, SkinningStage::Vertex),
    (SkinningMethod::DualQuat, SkinningStage::Compute),
    (SkinningMethod::Linear, SkinningStage::Cpu),
];
const JOINTS: usize = 12;
/// The time of all pictures, in seconds.
pub(crate) const TIME_S: f64 = 0.3;

/// A ribbon with this many influences per vertex, and with morph targets.
///
/// Its back is masked and has holes.
fn dancer(influences: usize) -> RawCharacter {
    let mut raw = ribbon(JOINTS);
    let mut rng = Rng::new(influences as u64);
    raw.materials[1].alpha = AlphaMode::Mask { cutoff: 0.5 };
    // Only the finest level, because the choice of a level depends on neighbouring pixels: lavapipe
    // gives no material to those that an early depth test has dropped.
    if let Some(texture) = &mut raw.materials[1].base_color_texture {
        texture.mip = None;
    }
    let image = &raw.images[0];
    let mut texels = image.rgba().unwrap().into_owned();
    for texel in texels.chunks_exact_mut(4).step_by(3) {
        texel[3] = 0;
    }
    raw.images[0] = Image::new(&image.name, image.width, image.height, texels);
    raw.morphs = vec![raws::morph(0, "ribbon", vec![0.7])];
    for primitive in &mut raw.primitives {
        let count = primitive.positions.len();
        primitive.influences_per_vertex = influences;
        (primitive.joints, primitive.weights) = (Vec::new(), Vec::new());
        for vertex in 0..count {
            // The joints nearest to the row come first, with falling weights.
            let mut near: Vec<usize> = (0..JOINTS).collect();
            near.sort_by_key(|joint| joint.abs_diff(vertex / 2));
            let weights: Vec<f32> = (0..influences)
                .map(|at| rng.range(0.5, 1.0) / (1 + at * at) as f32)
                .collect();
            let sum: f32 = weights.iter().sum();
            let joints = near.iter().take(influences).map(|joint| *joint as u32);
            primitive.joints.extend(joints);
            primitive
                .weights
                .extend(weights.iter().map(|weight| weight / sum));
        }
        primitive.morph = Some(0);
        primitive.targets = vec![moves(
            vec![Vec3::new(0.0, 0.1, 0.3); count.div_ceil(3)],
            (0..count as u32).step_by(3).collect(),
        )];
    }
    raw
}

/// A transparent ribbon.
fn veil() -> RawCharacter {
    let mut raw = ribbon(3);
    for material in &mut raw.materials {
        *material = Material {
            base_color: [0.2, 0.9, 0.3, 0.5],
            alpha: AlphaMode::Blend,
            ..Material::default()
        };
    }
    raw
}

/// An instance, and the data that a reference needs to place its vertices.
pub(crate) struct Member {
    pub(crate) character: Character,
    pub(crate) method: SkinningMethod,
    pub(crate) place: Affine3A,
    pub(crate) clip: (usize, f64),
}

/// One crowd for all of [`WAYS`], because its pipelines take longer than its pictures.
///
/// The instances of one way are visible at a time: see [`Troupe::show`].
pub(crate) struct Troupe {
    pub(crate) crowd: Crowd,
    /// The instances of each way with their ids. A veil has an id alone.
    ways: Vec<(Vec<Member>, Vec<InstanceId>)>,
    pub(crate) frames_in_flight: FramesInFlight,
    pub(crate) target: Target,
}

/// The content of the target after one rendering.
#[derive(PartialEq)]
pub(crate) struct Picture {
    pub(crate) color: Vec<u8>,
    pub(crate) depth: Vec<f32>,
}

impl Troupe {
    /// Adds a dancer of each number of influences for each way.
    ///
    /// Every second dancer is flipped, and every third is seen from behind. There is a veil among
    /// the dancers, unless they are `bare`.
    pub(crate) fn new(setup: &mut Setup, format: vk::Format, bare: bool) -> Self {
        Self::of(setup, format, bare, (&WAYS, &INFLUENCES))
    }

    /// Three dancers and a veil, skinned in one way.
    pub(crate) fn few(setup: &mut Setup, format: vk::Format) -> Self {
        Self::of(setup, format, false, (&WAYS[..1], &INFLUENCES[1..4]))
    }

    fn of(
        setup: &mut Setup,
        format: vk::Format,
        bare: bool,
        (ways, influences): (&[(SkinningMethod, SkinningStage)], &[usize]),
    ) -> Self {
        let capacity = Capacity {
            skinned_words: 5000,
            cpu_skinned_words: 5000,
            histories: 2,
            ..SMALL
        };
        let mut crowd = setup.crowd(2, capacity);
        let dancers = influences
            .iter()
            .map(|count| built(dancer(*count)).character);
        let dancers: Vec<_> = dancers.collect();
        let veil = built(veil()).character;
        let ways = ways.iter().map(|(method, skin)| {
            let (method, skin) = (*method, *skin);
            let mut ids = Vec::new();
            let mut add = |character: &Character, place: Affine3A, method, clip: usize| {
                let desc = described(method, skin == SkinningStage::Cpu);
                let allocator = &mut setup.context.allocator();
                let id = crowd.add_character(allocator, character, &desc);
                let play = Play::new(Id::new(clip as u16)).start_s(0.0);
                let spawn = Spawn {
                    world_from_model: place,
                    play,
                    skinning_stage: skin,
                    ..Spawn::default()
                };
                let spawned = crowd.spawn(id.unwrap(), &spawn).unwrap();
                ids.push(spawned);
                let record = crowd.live(spawned).records()[0];
                let duration_s = character.clips()[clip].duration_s();
                (clip, record.clip_time_s(TIME_S, duration_s))
            };
            let mut members = Vec::new();
            for (at, character) in dancers.iter().enumerate() {
                let flip = if at % 2 == 1 { -1.0 } else { 1.0 };
                let turn = if at % 3 == 2 { 2.9 } else { 0.4 };
                let place = Affine3A::from_scale_rotation_translation(
                    Vec3::new(flip, 1.0, 1.1),
                    Quat::from_rotation_y(turn),
                    Vec3::new(at as f32 * 1.2 - 2.4, -5.0, 0.1 * at as f32),
                );
                members.push(Member {
                    character: character.clone(),
                    method,
                    place,
                    clip: add(character, place, method, at % 2),
                });
            }
            if !bare {
                let place = Affine3A::from_scale_rotation_translation(
                    Vec3::splat(3.0),
                    Quat::IDENTITY,
                    Vec3::new(0.0, -4.0, 1.0),
                );
                add(&veil, place, SkinningMethod::Linear, 0);
            }
            (members, ids)
        });
        let ways = ways.collect();
        let desc = TargetDesc {
            extent: EXTENT,
            color_format: format,
            depth_usage: vk::ImageUsageFlags::TRANSFER_SRC,
            ..TargetDesc::default()
        };
        Self {
            crowd,
            ways,
            frames_in_flight: FramesInFlight::new(&setup.context, 2),
            target: Target::new(&setup.context, &desc).unwrap(),
        }
    }

    /// Hides all instances but those of one way, given by its index in [`WAYS`].
    pub(crate) fn show(&mut self, way: usize) {
        for (number, (_, ids)) in self.ways.iter().enumerate() {
            for id in ids {
                self.crowd.live_mut(*id).set_visible(number == way);
            }
        }
    }

    /// The dancers of one way.
    pub(crate) fn members(&self, way: usize) -> &[Member] {
        &self.ways[way].0
    }

    pub(crate) fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        setup.destroy(self.crowd);
    }

    pub(crate) fn pass(
        &mut self,
        kind: PassKind,
        change: impl FnOnce(&mut PassDesc<'_>),
    ) -> PassId {
        let mut desc = PassDesc {
            kind,
            ..self.target.pass_desc()
        };
        change(&mut desc);
        unsafe { self.crowd.create_pass(&desc) }.unwrap()
    }

    /// Draws these passes one after the other, in one rendering.
    pub(crate) fn draw(
        &mut self,
        setup: &mut Setup,
        view: View,
        begin: &Begin,
        passes: &[PassId],
    ) -> Picture {
        let cmd = self.frames_in_flight.begin(&setup.context, 0);
        unsafe {
            let context = &mut setup.context;
            let allocator = &mut context.allocator();
            self.crowd.update(TIME_S).unwrap();
            let mut frame = self.crowd.begin_frame(allocator, 0, TIME_S).unwrap();
            let views = frame.record_prepare(cmd, &[view]).unwrap();
            self.target.begin(&context.device, cmd, begin);
            for pass in passes {
                frame.record_draw(cmd, views[0], *pass).unwrap();
            }
            self.target.end(&context.device, cmd);
        }
        self.frames_in_flight.submit(&setup.context, 0);
        self.frames_in_flight.wait(&setup.context, 0);
        let texel_bytes = if self.target.pass_desc().color_formats[0] == vk::Format::R32G32_SFLOAT {
            8
        } else {
            4
        };
        let color = ImageRead {
            image: self.target.color().0,
            aspect: vk::ImageAspectFlags::COLOR,
            layout: vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
            layer: 0,
            extent: EXTENT,
            texel_bytes,
        };
        let depth = ImageRead {
            image: self.target.depth().unwrap().0,
            aspect: vk::ImageAspectFlags::DEPTH,
            layout: vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
            texel_bytes: 4,
            ..color
        };
        unsafe {
            Picture {
                color: read_image(&setup.context, &color).unwrap(),
                depth: floats(&read_image(&setup.context, &depth).unwrap()),
            }
        }
    }
}

pub(crate) fn floats(bytes: &[u8]) -> Vec<f32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| f32::from_ne_bytes(*word)).collect()
}

/// A view of the whole troupe.
pub(crate) fn camera() -> View {
    view(Vec3::new(0.5, 0.5, 17.0), Vec3::ZERO, EXTENT)
}
