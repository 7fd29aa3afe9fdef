//! Thousands of random operations against a plain model of a crowd.
//!
//! Frames in flight are begun in any order, skipped, and grown in between. The data that the GPU
//! saw of a frame is compared when its frame index is begun again: the lists of visible instances,
//! every record and every palette, bit for bit. Palettes that the GPU computed, and transforms of
//! attached instances, are compared within a bound. What instances play decides which side poses
//! them, and changes it in any frame. Characters are replaced, and the crowd goes back to
//! snapshots. An access outside the crowd's buffers ends the program.
//!
//! Rays meet the crowd in some frames, if the device has ray queries, and the records are those of
//! the model. Some of these frames are abandoned.

mod changes;
mod frames;
mod operations;
mod rays;

use crate::rays::modelled::{Modelled, Shown};
use crate::reference::explore::{Operation, explore};
use crate::reference::random;
use crate::reference::ribbon::{built, ribbon};
use crate::reference::rng::Rng;
use crate::support::frames::FramesInFlight;
use crate::support::lists::List;
use crate::support::probe::{Output, Probe};
use crate::support::{SIDES, SMALL, Setup, each, each_with_rays};
use changes::Saved;
use frames::{Stamps, check};
use std::collections::{BTreeMap, HashMap};
use throng::animator::{ActorId, Animator};
use throng::character::Character;
use throng::glam::Affine3A;
use throng::import::RawCharacter;
use throng::mesh::PaletteJoint;
use throng::motion::LoopMode;
use throng::palette::Mat3x4;
use throng::skeleton::Transform;
use throng::{Capacity, CharacterDesc, CharacterId, Crowd, CrowdDesc, InstanceId, RayDesc, Stages};

const FRAMES_IN_FLIGHT: u32 = 3;
const OPERATIONS: usize = 5000;
const START: Capacity = Capacity {
    instances: 8,
    palette_entries: 120,
    views: 1,
    attachments: 6,
    ..SMALL
};

/// Largest difference between palettes of SIMD and of scalar code, relative to their largest
/// number.
///
/// Both round differently along a chain of at most 9 joints, and interpolated directions differ by
/// 1e-6 in each. The same holds between CPU and GPU.
pub(crate) const APART: f32 = 1e-5;

/// The expected state of an instance.
#[derive(Debug, Clone)]
struct Member {
    id: InstanceId,
    /// The same instance in the test's own animator.
    actor: ActorId,
    character: usize,
    world_from_model: Affine3A,
    tint: [f32; 4],
    user: u32,
    layer: Option<Playing>,
    /// A pose that was set. An instance with such a pose plays nothing.
    model: Option<Vec<Affine3A>>,
    /// True once it faded or moved from what it played before. Only the test's own animator knows
    /// the pose then.
    mixed: bool,
    visible: bool,
    mask: u32,
    attached: Option<Attached>,
    /// The number of restores before it was spawned, or before the one that brought it back.
    born: usize,
}

/// The parent of an attached instance.
#[derive(Debug, Clone, Copy)]
struct Attached {
    parent: InstanceId,
    joint: u16,
    offset: Affine3A,
    outlives: bool,
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
    /// The clip's own time, computed here independently.
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

/// The data of one instance that a shader should see.
#[derive(Debug, Clone, PartialEq)]
struct Expected {
    record: Vec<u32>,
    palette: Vec<u32>,
    animated: bool,
    flipped: bool,
    /// The bound of the transform's error. For an attached instance, the GPU computes it, too.
    bound: f32,
}

/// One character's part of a frame in flight.
struct Part {
    /// Its lists, with the index of the first word of each in the output.
    lists: Vec<(usize, List)>,
    entries: usize,
    /// The instances by their table index.
    expected: BTreeMap<u32, Expected>,
    /// The lives behind the records.
    lives: BTreeMap<u32, Life>,
}

/// An instance, and its [`Member::born`]: nothing connects the motion of two with one id.
type Life = (InstanceId, usize);

/// The data that a frame in flight should have seen.
#[derive(Default)]
struct Flight {
    parts: Vec<Part>,
    /// True if the GPU poses instances.
    on_gpu: bool,
    /// The people that rays meet.
    shown: Option<Shown>,
}

struct Model {
    rng: Rng,
    /// The characters that can replace each other.
    variants: Vec<Vec<Character>>,
    /// The variant that each character is.
    versions: Vec<usize>,
    /// The characters as they are.
    kinds: Vec<Character>,
    /// One animator for each character, on one thread, that plays the same clips.
    animators: Vec<Animator>,
    ids: Vec<CharacterId>,
    members: Vec<Member>,
    dead: Vec<InstanceId>,
    capacity: Capacity,
    now_s: f64,
    /// The largest difference between the animators' palettes and those of scalar code.
    worst: f32,
    refused: usize,
    frames: usize,
    /// True if the GPU poses instances.
    on_gpu: bool,
    /// Instances that the GPU posed and placed, summed over frames, and changes between the sides.
    posed_on_gpu: usize,
    placed_on_gpu: usize,
    switches: usize,
    /// The sides that posed the instances in the last frame.
    sides: HashMap<InstanceId, bool>,
    saved: Vec<Saved>,
    replaced: usize,
    restored: usize,
    stamps: Stamps,
    /// `None` for a crowd without rays.
    rays: Option<Modelled>,
    abandoned: usize,
}

impl Member {
    /// Its palette, computed with scalar code. `None` for the rest pose.
    fn scalar(&self, character: &Character, now_s: f64) -> Option<Vec<Mat3x4>> {
        if let Some(model) = &self.model {
            return Some(of_model(character, model));
        }
        let playing = self.layer?;
        let clip = &character.clips()[playing.clip];
        let mut local = vec![Transform::IDENTITY; character.skeleton().len()];
        let at = playing.at(now_s, clip.duration_s());
        clip.sample(at, &mut local).unwrap();
        let mut model = vec![Affine3A::IDENTITY; local.len()];
        character.skeleton().model_pose(&local, &mut model).unwrap();
        Some(of_model(character, &model))
    }
}

/// The difference between two palettes, relative to the largest number of the second.
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

/// The palette of a model pose, computed here independently.
fn of_model(character: &Character, model: &[Affine3A]) -> Vec<Mat3x4> {
    let entries = character.palette().iter();
    let matrix = |entry: &PaletteJoint| model[usize::from(entry.joint)] * entry.inverse_bind;
    entries
        .map(|entry| Mat3x4::from_affine(&matrix(entry)))
        .collect()
}

/// Characters, and what replaces each of them: with more joints, fewer, or the same.
fn variants() -> Vec<Vec<Character>> {
    // A character without clips.
    let still = |joints| RawCharacter {
        animations: Vec::new(),
        ..ribbon(joints)
    };
    let raws = [
        vec![ribbon(3), ribbon(12)],
        vec![ribbon(9), ribbon(5)],
        vec![random::character(5)],
        vec![random::character(8)],
        vec![still(4), still(2)],
    ];
    let of = |raws: Vec<RawCharacter>| raws.into_iter().map(|raw| built(raw).character).collect();
    raws.into_iter().map(of).collect()
}

#[test]
fn thousands_of_operations_are_seen_as_the_model_has_them() {
    for (seed, stages) in (1..).zip(SIDES) {
        let models = explore(seed, OPERATIONS, |operations| {
            let mut models = Vec::new();
            each(|setup| models.push(run(setup, operations, (stages, None))));
            models
        });
        for model in models {
            assert!(model.replaced > 40 && model.restored > 20);
            assert!(model.refused > 50 && model.frames > 200);
            assert_eq!(
                model.on_gpu,
                model.posed_on_gpu > 200 && model.placed_on_gpu > 50 && model.switches > 10
            );
        }
    }
}

#[test]
fn rays_meet_what_the_model_has() {
    let rays = RayDesc {
        max_people: 8,
        builds_per_frame: 3,
        near_slots: 3,
        ..RayDesc::default()
    };
    let runs = explore(4, OPERATIONS / 2, |operations| {
        let mut runs = Vec::new();
        each_with_rays(|setup| {
            let mut model = run(setup, operations, (Stages::Gpu, Some(rays)));
            let figures = model.rays.take().unwrap().destroy(&setup.context);
            runs.push((model, figures));
        });
        runs
    });
    for (model, figures) in runs {
        println!("{figures:?}, {} frames abandoned", model.abandoned);
        assert!(model.frames > 150 && model.abandoned > 15);
        assert!(figures.people > 500 && figures.left_out > 50 && figures.hits > 500);
    }
}

/// Applies operations to a crowd with these stages.
fn run(
    setup: &mut Setup,
    operations: &[Operation],
    (stages, rays): (Stages, Option<RayDesc>),
) -> Model {
    setup.guard_memory();
    let mut start = START;
    if stages == Stages::Gpu {
        // Palettes always fit, since the GPU would refuse no instance. See shared_poses.rs.
        start.palette_entries = 1 << 16;
    }
    start.views += u32::from(rays.is_some());
    let desc = CrowdDesc {
        stages,
        rays,
        ..setup.crowd_desc(FRAMES_IN_FLIGHT, start)
    };
    let mut crowd = Crowd::new(&setup.device(), &mut setup.allocator(), &desc).unwrap();
    let variants = variants();
    let kinds: Vec<Character> = variants.iter().map(|all| all[0].clone()).collect();
    let mut add = |character: &Character| {
        let added =
            crowd.add_character(&mut setup.allocator(), character, &CharacterDesc::default());
        added.unwrap()
    };
    let ids: Vec<CharacterId> = kinds.iter().map(&mut add).collect();
    let animator = |of| Animator::new(of).unwrap();
    let mut model = Model {
        rng: Rng::new(0),
        animators: kinds.iter().map(animator).collect(),
        versions: vec![0; kinds.len()],
        variants,
        kinds,
        ids,
        members: Vec::new(),
        dead: Vec::new(),
        capacity: start,
        now_s: 0.0,
        worst: 0.0,
        refused: 0,
        frames: 0,
        on_gpu: stages == Stages::Gpu,
        posed_on_gpu: 0,
        placed_on_gpu: 0,
        switches: 0,
        sides: HashMap::new(),
        saved: Vec::new(),
        replaced: 0,
        restored: 0,
        stamps: Stamps::new(),
        rays: crowd
            .ray_set_layout()
            .map(|layout| Modelled::new(&setup.context, layout, FRAMES_IN_FLIGHT)),
        abandoned: 0,
    };
    model.save(&crowd);
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
    for operation in operations {
        model.operate(setup, &mut crowd, *operation);
        if model.rng.chance(7) {
            let frame_index = model.rng.below(FRAMES_IN_FLIGHT as usize) as u32;
            frames_in_flight.wait(&setup.context, frame_index);
            let flight = std::mem::take(&mut flights[frame_index as usize]);
            let words = outputs[frame_index as usize].words();
            check(&flight, &words, &mut model.stamps);
            model.check_rays(&flight, frame_index);
            if model.rng.chance(5) {
                // The frame is begun and skipped. Nothing may be lost.
                model.now_s += 0.01;
                model.update();
                let allocator = &mut setup.allocator();
                crowd.update(model.now_s).unwrap();
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
        let words = &outputs[frame_index as usize].words();
        check(&flights[frame_index as usize], words, &mut model.stamps);
        model.check_rays(&flights[frame_index as usize], frame_index);
    }
    println!(
        "{}, {stages:?}: {} frames, {} refused, capacity {:?}, {} alive at the end, {:e} from \
             scalar code, {} poses, {} places and {} changes of side on the GPU, {} replaced, \
             {} restored",
        setup.config.name,
        model.frames,
        model.refused,
        model.capacity,
        model.members.len(),
        model.worst,
        model.posed_on_gpu,
        model.placed_on_gpu,
        model.switches,
        model.replaced,
        model.restored
    );
    assert!(model.worst < APART, "{:e}", model.worst);
    frames_in_flight.destroy(&setup.context);
    probe.destroy(&setup.context);
    setup.destroy(crowd);
    model
}
