//! The skin stage: deformed vertices in device memory.
//!
//! They are compared with the CPU implementation and with the `f64` definitions.

mod beings;
mod made;
mod parts;
mod pictures;
mod plain;
mod random;

use crate::reference::handles::Handles;
use crate::reference::maths::{angle, distance};
use crate::reference::rng::Rng;
use crate::support::frames::FramesInFlight;
use crate::support::{Setup, described, each, stages};
use made::{INFLUENCES, Kind, Palette, WEIGHTS};
use throng::ash::{self, vk};
use throng::character::Character;
use throng::glam::{Affine3A, Vec3};
use throng::gpu_allocator::MemoryLocation;
use throng::palette::Mat3x4;
use throng::skin::Skinner;
use throng::{
    Capacity, CharacterId, Crowd, InstanceId, Play, SkinnedVertices, SkinningStage, Spawn, Stages,
};
use throng_standalone::Buffer;

/// In metres. Characters are two metres large, and move by less than one. Measured: 5.1e-7.
const POSITION_BOUND: f64 = 2e-6;
/// In radians, for directions of the GPU. They have 16 bits, with an error of 1.4e-4 that scales
/// may increase. Measured: 1.4e-4.
const DIRECTION_BOUND: f64 = 5e-4;
/// In radians, for directions of the CPU. Measured: 3.5e-7.
const TWIN_DIRECTION_BOUND: f64 = 2e-6;

const CAPACITY: Capacity = Capacity {
    instances: 256,
    palette_entries: 4096,
    views: 1,
    morph_weights: 512,
    blended: 1,
    skinned_words: 300_000,
    cpu_skinned_words: 150_000,
    attachments: 0,
    histories: 0,
    depth_pixels: 0,
    late_views: 0,
};

/// A character of the crowd, and the data of its CPU implementation.
struct Member {
    kind: Kind,
    influences: usize,
    character: Character,
    skinner: Skinner,
    id: CharacterId,
}

/// An instance, and the place that its deformed vertices were copied to.
struct Case {
    member: usize,
    id: InstanceId,
    skin: SkinningStage,
    plays: bool,
    weights: [f32; WEIGHTS],
    word: usize,
}

const TIME_S: f64 = 0.625;

fn members(setup: &mut Setup, crowd: &mut Crowd) -> Vec<Member> {
    let mut rng = Rng::new(7);
    let mut all = Vec::new();
    for kind in Kind::ALL {
        for influences in INFLUENCES {
            let character = made::character(kind, influences, &mut rng);
            let desc = described(kind.method(), true);
            let allocator = &mut setup.context.allocator();
            let id = crowd.add_character(allocator, &character, &desc);
            all.push(Member {
                kind,
                influences,
                skinner: Skinner::new(&character).unwrap(),
                character,
                id: id.unwrap(),
            });
        }
    }
    all
}

fn cases(crowd: &mut Crowd, members: &[Member]) -> Vec<Case> {
    let flipped = Affine3A::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    let mut all = Vec::new();
    for (member, of) in members.iter().enumerate() {
        for (skin, plays, mirrors, weights) in [
            (SkinningStage::Compute, true, false, None),
            (SkinningStage::Vertex, true, false, None),
            (SkinningStage::Compute, false, true, Some([0.0, 1.5, -0.5])),
            (SkinningStage::Cpu, true, true, Some([0.0, 0.0, 0.0])),
            (SkinningStage::Compute, true, true, Some([-0.7, 0.4, 1.0])),
            (SkinningStage::Cpu, false, false, None),
            (SkinningStage::Cpu, true, false, Some([1.0, -1.0, 0.3])),
        ] {
            let play: Play<'_> = if plays { "move".into() } else { Play::REST };
            let spawn = Spawn {
                play,
                skinning_stage: skin,
                world_from_model: if mirrors { flipped } else { Affine3A::IDENTITY },
                ..Spawn::default()
            };
            let id = crowd.spawn(of.id, &spawn).unwrap();
            if let Some(weights) = weights {
                crowd
                    .live_mut(id)
                    .set_morph_weights(&weights.map(Some))
                    .unwrap();
            }
            all.push(Case {
                member,
                id,
                skin,
                plays,
                weights: weights.unwrap_or([0.25, 0.0, 0.0]),
                word: 0,
            });
        }
    }
    all
}

/// Host memory that deformed vertices are copied to.
pub(crate) fn readback(setup: &mut Setup, words: usize) -> Buffer {
    Buffer::new(
        &setup.context,
        "deformed vertices",
        words as u64 * 4,
        vk::BufferUsageFlags::TRANSFER_DST,
        MemoryLocation::GpuToCpu,
    )
    .unwrap()
}

/// Copies an instance's deformed vertices to `word` of `to`.
pub(crate) fn copy(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    skinned: &SkinnedVertices<'_>,
    to: &Buffer,
    word: usize,
) {
    let region = vk::BufferCopy {
        src_offset: skinned.offset,
        dst_offset: word as u64 * 4,
        size: skinned.size,
    };
    unsafe { device.cmd_copy_buffer(cmd, skinned.buffer, to.handle(), &[region]) };
}

/// Makes copies visible to the host, once the fence is waited for.
pub(crate) fn to_host(device: &ash::Device, cmd: vk::CommandBuffer) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::COPY)
        .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::HOST)
        .dst_access_mask(vk::AccessFlags2::HOST_READ)];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
}

pub(crate) fn floats(buffer: &Buffer) -> Vec<f32> {
    let mut bytes = vec![0; buffer.size() as usize];
    buffer.read_mapped(0, &mut bytes).unwrap();
    let words = bytes.as_chunks::<4>().0;
    words.iter().map(|word| f32::from_ne_bytes(*word)).collect()
}

/// The largest differences.
#[derive(Debug, Default, Clone, Copy)]
struct Worst {
    position: f64,
    direction: f64,
}

impl Worst {
    fn note(worst: &mut f64, value: f64) {
        *worst = worst.max(if value.is_nan() { f64::INFINITY } else { value });
    }
}

/// The words of an instance from the crate's CPU implementation.
fn cpu_skin(member: &Member, case: &Case) -> Vec<f32> {
    let clip = case.plays.then_some((0, TIME_S));
    let palette = Palette::new(member.kind, &member.character, clip);
    palette.skin(&member.skinner, &case.weights)
}

/// Compares an instance's words with the definitions and with the CPU implementation.
fn compare(member: &Member, case: &Case, got: &[f32], worst: &mut [Worst; 2]) {
    let clip = case.plays.then_some((0, TIME_S));
    let matrices = Palette::new(Kind::Linear, &member.character, clip);
    let Palette::Linear(matrices) = &matrices else {
        unreachable!()
    };
    let matrices: &[Mat3x4] = matrices;
    let cpu_skin = cpu_skin(member, case);
    let layout = member.skinner.layout();
    for (part, primitive) in layout.primitives.iter().zip(member.character.primitives()) {
        let (kind, character) = (member.kind, &member.character);
        let wanted = made::reference(kind, character, primitive, matrices, &case.weights);
        for (at, want) in wanted.iter().enumerate() {
            let three = |words: &[f32], start: u32, each: usize| {
                let start = start as usize + at * each;
                [0, 1, 2].map(|axis| f64::from(words[start + axis]))
            };
            let position = three(got, part.positions, 3);
            Worst::note(&mut worst[0].position, distance(position, want.position));
            let other = three(&cpu_skin, part.positions, 3);
            Worst::note(&mut worst[1].position, distance(position, other));
            for (start, each, want) in [
                (part.normals, 3, want.normal),
                (part.tangents, 4, want.tangent),
            ] {
                let Some(start) = start else { continue };
                let direction = three(got, start, each);
                let length = distance(direction, [0.0; 3]);
                assert!((length - 1.0).abs() < 1e-5, "{length}");
                let Some(want) = want else { continue };
                Worst::note(&mut worst[0].direction, angle(direction, want));
                let other = three(&cpu_skin, start, each);
                Worst::note(&mut worst[1].direction, angle(direction, other));
            }
            if let Some(start) = part.tangents {
                let sign = |words: &[f32]| words[start as usize + at * 4 + 3];
                assert_eq!(sign(got), sign(&cpu_skin));
                assert_eq!(f64::from(sign(got)), want.sign);
            }
        }
    }
}

#[test]
fn deformed_vertices_are_those_of_the_twin_and_the_definitions() {
    each(|setup| {
        let mut crowd = setup.crowd(2, CAPACITY);
        let members = members(setup, &mut crowd);
        let mut cases = cases(&mut crowd, &members);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let to = readback(setup, CAPACITY.skinned_words as usize);
        // Twice, so that data which was read before is overwritten.
        for frame_index in 0..2 {
            let cmd = frames_in_flight.begin(&setup.context, frame_index);
            let context = &mut setup.context;
            crowd.update(TIME_S).unwrap();
            let frame = unsafe { crowd.begin_frame(&mut context.allocator(), frame_index, TIME_S) };
            let mut frame = frame.unwrap();
            unsafe { frame.record_prepare(cmd, &[]) }.unwrap();
            let mut word = 0;
            for case in cases
                .iter_mut()
                .filter(|case| case.skin != SkinningStage::Vertex)
            {
                let skinned = frame.skinned(case.id).unwrap();
                let words = members[case.member].skinner.layout().words;
                assert_eq!(skinned.size, u64::from(words) * 4);
                copy(&context.device, cmd, &skinned, &to, word);
                case.word = word;
                word += words as usize;
            }
            if stages() != Stages::Gpu {
                // The GPU's counts are known some frames later.
                assert_eq!(frame.stats().skinned as usize, members.len() * 6);
            }
            to_host(&context.device, cmd);
            frames_in_flight.submit(context, frame_index);
            frames_in_flight.wait(context, frame_index);
        }
        let words = floats(&to);
        for kind in Kind::ALL {
            let mut worst = [[Worst::default(); 2]; 2];
            for case in cases
                .iter()
                .filter(|case| case.skin != SkinningStage::Vertex)
            {
                let member = &members[case.member];
                if member.kind != kind {
                    continue;
                }
                let got = &words[case.word..][..member.skinner.layout().words as usize];
                let cpu = case.skin == SkinningStage::Cpu;
                compare(member, case, got, &mut worst[usize::from(cpu)]);
                if cpu {
                    same_parts(member, got, &cpu_skin(member, case));
                }
            }
            let [compute, cpu] = worst;
            println!(
                "{}, {kind:?}: compute against f64 and cpu_skin {compute:?}, CPU {cpu:?}",
                setup.config.name
            );
            for worst in compute {
                assert!(worst.position < POSITION_BOUND, "{kind:?}: {worst:?}");
                assert!(worst.direction < DIRECTION_BOUND, "{kind:?}: {worst:?}");
            }
            assert!(cpu[0].position < POSITION_BOUND, "{kind:?}: {cpu:?}");
            assert!(cpu[0].direction < TWIN_DIRECTION_BOUND, "{kind:?}: {cpu:?}");
        }
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}

/// Compares every word of every part, bit for bit.
fn same_parts(member: &Member, got: &[f32], want: &[f32]) {
    let bits = |words: &[f32]| words.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
    for part in &member.skinner.layout().primitives {
        let streams = [
            (Some(part.positions), 3),
            (part.normals, 3),
            (part.tangents, 4),
        ];
        for (start, each) in streams {
            let Some(start) = start else { continue };
            let range = start as usize..(start + part.vertex_count * each) as usize;
            let (got, want) = (bits(&got[range.clone()]), bits(&want[range]));
            assert!(got == want, "{:?} of {}", member.kind, member.influences);
        }
    }
}
