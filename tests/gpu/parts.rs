//! The parts as used by an engine that fills its own palettes.
//!
//! The results of `throng_deform` are compared with the `f64` reference. The words that
//! `throng_palette` reads are compared bit for bit.

use crate::reference::compare::{in_file_order, vertex_pairs};
use crate::reference::maths::{V3, angle, distance};
use crate::reference::poser::Poser;
use crate::reference::raws;
use crate::reference::raws::node;
use crate::reference::ribbon::{built, ribbon};
use crate::reference::scene::Scene;
use crate::reference::{assets, gltf, raw};
use crate::support::probe::Probe;
use crate::support::{Setup, each};
use throng::ash::{self, vk};
use throng::character::Character;
use throng::glam::{Affine3A, Mat3, Mat4, Quat, Vec3};
use throng::gpu::{
    Device, GpuInstance, PaletteRing, PaletteRingDesc, SetBuffers, SetLayout, SkinnedMesh, Upload,
};
use throng::gpu_allocator::MemoryLocation;
use throng::import::{RawCharacter, RawPrimitive};
use throng::mesh::JointIndices;
use throng::palette::{Mat3x4, WriteOnly};
use throng_standalone::Buffer;

/// As a fraction of the model's size.
const POSITION_BOUND: f64 = 5e-5;
/// In radians. 16-bit octahedral normals account for a tenth of it.
const NORMAL_BOUND: f64 = 1e-3;

/// The clip and the transform of one instance.
#[derive(Clone, Copy)]
struct Stand {
    clip: Option<(usize, f64)>,
    world_from_model: Affine3A,
}

/// The data that the GPU saw of one instance.
struct Seen {
    palette: Vec<u32>,
    /// Per primitive and vertex: position and normal.
    vertices: Vec<Vec<(Vec3, Vec3)>>,
}

/// The frame index that is written and read. The other stays as it was allocated.
const FRAME_INDEX: u32 = 1;

fn bits(palette: &[Mat3x4]) -> Vec<u32> {
    let rows = palette.iter().flat_map(|entry| entry.rows.as_flattened());
    rows.map(|value| value.to_bits()).collect()
}

fn storage(setup: &mut Setup, name: &str, bytes: &[u8]) -> Buffer {
    let mut buffer = Buffer::new(
        &setup.context,
        name,
        bytes.len() as u64,
        vk::BufferUsageFlags::STORAGE_BUFFER,
        MemoryLocation::CpuToGpu,
    )
    .unwrap();
    buffer.write(0, bytes).unwrap();
    buffer
}

fn whole(buffer: &Buffer) -> Option<vk::DescriptorBufferInfo> {
    Some(vk::DescriptorBufferInfo {
        buffer: buffer.handle(),
        offset: 0,
        range: vk::WHOLE_SIZE,
    })
}

fn words<T: Copy>(items: &[T]) -> Vec<u8> {
    let bytes =
        unsafe { std::slice::from_raw_parts(items.as_ptr().cast::<u8>(), size_of_val(items)) };
    bytes.to_vec()
}

/// The palette of the file's own curves, which the reference evaluates too.
fn of_curves(poser: &mut Poser, character: &Character, clip: Option<(usize, f64)>) -> Vec<Mat3x4> {
    let mut out = vec![Mat3x4::IDENTITY; character.palette().len()];
    let to = WriteOnly::from(&mut out);
    poser.palette(character, clip, to).unwrap();
    out
}

/// Runs one character on the GPU with the parts alone.
fn see(setup: &mut Setup, character: &Character, stands: &[Stand]) -> Vec<Seen> {
    let config = setup.config;
    let entries = character.palette().len() as u32;
    let count = stands.len() as u32;
    let mut upload = Upload::default();
    let device = setup.device();
    let allocator = &mut setup.context.allocator();
    let mut set_layout = SetLayout::new(&device).unwrap();
    let method = throng::palette::SkinningMethod::Linear;
    let mesh = SkinnedMesh::new(&device, allocator, &mut upload, character, method);
    let mut mesh = mesh.unwrap();
    let ring = PaletteRingDesc {
        frames_in_flight: 2,
        entries: entries * count + 3,
        staged: config.staged,
        min_offset_alignment: config.min_offset_alignment,
    };
    let mut ring = PaletteRing::new(&device, allocator, &ring).unwrap();
    // Without the flag, it depends on the device's memory.
    assert!(ring.is_staged() || !config.staged);

    let mut poser = Poser::new();
    let mut records = Vec::new();
    for (at, stand) in (0..).zip(stands) {
        // It does not start at 0, so that an ignored base is noticed.
        let palette_base = 3 + at * entries;
        let cpu = of_curves(&mut poser, character, stand.clip);
        let to = unsafe { ring.writer(FRAME_INDEX, palette_base, cpu.len() as u32) };
        to.unwrap().copy_from(&cpu).unwrap();
        let resident = stand.clip.is_none();
        records.push(GpuInstance {
            palette: if resident {
                mesh.rest_palette()
            } else {
                GpuInstance::in_ring(palette_base * 48)
            },
            user: at,
            ..GpuInstance::new(&stand.world_from_model)
        });
    }
    let instances = storage(setup, "instances", &words(&records));
    let backwards: Vec<u32> = (0..count).rev().collect();
    let visible = storage(setup, "visible", &words(&backwards));
    let content = SetBuffers {
        mesh: Some(mesh.buffer()),
        instances: whole(&instances),
        lists: whole(&visible),
        ..SetBuffers::default()
    };
    let (pool, set) = own_set(setup, &device, &set_layout);
    unsafe { set_layout.write(&device, set, &content) };

    let context = &mut setup.context;
    let vertices = character.vertex_count() as u32;
    let skin = Probe::new(context, "test/skin_probe.comp", set_layout.handle());
    let deformed = skin.output(context, u64::from(vertices * count) * 8);
    let look = Probe::new(context, "test/crowd_probe.comp", set_layout.handle());
    let stride = 33 + 12 * entries;
    let looked = look.output(context, u64::from(1 + count * stride));
    let offsets = [0, 0];
    let palettes = ring.address(FRAME_INDEX);
    let record = |raw: &ash::Device, cmd| {
        unsafe {
            upload.record(&device, cmd);
            if ring.record_upload(&device, cmd, FRAME_INDEX, entries * count + 3) {
                copied(raw, cmd);
            }
        }
        skin.bind(raw, cmd, set, &offsets, &deformed);
        let mut first = 0;
        for at in 0..count {
            for (number, primitive) in (0..).zip(character.primitives()) {
                let size = primitive.vertex_count() as u32;
                skin.run(
                    (raw, cmd),
                    &[number, count - 1 - at, first, 0],
                    palettes,
                    size,
                );
                first += size;
            }
        }
        look.bind(raw, cmd, set, &offsets, &looked);
        let none = GpuInstance::NONE;
        look.run(
            (raw, cmd),
            &[0, count, entries, 0, none, none],
            palettes,
            count,
        );
        Probe::finish(raw, cmd);
    };
    context.submit_and_wait(record).unwrap();
    let seen = seen(
        character,
        &deformed.words(),
        looked.words().get(1..).unwrap(),
        stride as usize,
        &records,
    );

    unsafe { context.device.destroy_descriptor_pool(pool, None) };
    skin.destroy(context);
    look.destroy(context);
    unsafe {
        upload.free(&device, &mut context.allocator());
        ring.destroy(&device, &mut context.allocator());
        mesh.destroy(&device, &mut context.allocator());
        set_layout.destroy(&device);
    }
    let report = context.allocator().generate_report();
    assert!(report.allocations.is_empty(), "{:?}", report.allocations);
    seen
}

/// A descriptor set in its own pool.
pub(crate) fn own_set(
    setup: &Setup,
    device: &Device,
    layout: &SetLayout,
) -> (vk::DescriptorPool, vk::DescriptorSet) {
    let sizes = layout.pool_sizes(&[5]);
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(1)
        .pool_sizes(&sizes);
    let pool = unsafe { setup.context.device.create_descriptor_pool(&info, None) }.unwrap();
    let sets = unsafe { layout.allocate(device, pool, &[5]) }.unwrap();
    (pool, sets[0])
}

/// The barrier that a staged ring requires from its user.
fn copied(device: &ash::Device, cmd: vk::CommandBuffer) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::COPY)
        .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .dst_access_mask(vk::AccessFlags2::SHADER_STORAGE_READ)];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
}

fn seen(
    character: &Character,
    deformed: &[u32],
    looked: &[u32],
    stride: usize,
    records: &[GpuInstance],
) -> Vec<Seen> {
    let vector = |words: &[u32]| {
        Vec3::new(
            f32::from_bits(words[0]),
            f32::from_bits(words[1]),
            f32::from_bits(words[2]),
        )
    };
    let mut vertices = deformed.chunks_exact(8);
    let mut all = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let words = &looked[(records.len() - 1 - at) * stride..][..stride];
        assert_eq!(words[0], at as u32, "the visible list is read");
        let bytes: Vec<u8> = words[1..33].iter().flat_map(|w| w.to_ne_bytes()).collect();
        assert_eq!(bytes, self::words(&[*record]), "the instance's record");
        let primitive = |count: usize| {
            let run: Vec<&[u32]> = vertices.by_ref().take(count).collect();
            run.iter()
                .map(|words| (vector(words), vector(&words[4..])))
                .collect()
        };
        all.push(Seen {
            palette: words[33..].to_vec(),
            vertices: character
                .primitives()
                .iter()
                .map(throng::mesh::Primitive::vertex_count)
                .map(primitive)
                .collect(),
        });
    }
    all
}

/// A character, and the vertices of its reference in each pose.
struct Case {
    name: String,
    character: Character,
    size: f64,
    pairs: Vec<Vec<(usize, usize)>>,
    stands: Vec<Stand>,
    /// Per pose and part: positions and normals.
    expected: Vec<Vec<Posed>>,
}

type Posed = (Vec<V3>, Vec<Option<V3>>);

impl Case {
    fn new(name: String, scene: &Scene, character: Character) -> Self {
        let mut clips = vec![None];
        for (index, clip) in scene.clips.iter().enumerate().take(3) {
            clips.extend([0.37, 0.81].map(|part| Some((index, clip.end() * part))));
        }
        let posed = |clip| {
            let globals = scene.globals(clip);
            let parts = scene.parts.iter();
            parts.map(|part| scene.posed(part, &globals)).collect()
        };
        let stand = |clip: &Option<(usize, f64)>| Stand {
            clip: *clip,
            world_from_model: Affine3A::IDENTITY,
        };
        Self {
            name,
            size: scene.size(),
            pairs: vertex_pairs(scene, &character),
            stands: clips.iter().map(stand).collect(),
            expected: clips.into_iter().map(posed).collect(),
            character,
        }
    }

    /// The largest errors of positions, relative to the model's size, and of normals, in radians.
    fn worst(&self, seen: &[Seen]) -> (f64, f64) {
        let wide = |v: Vec3| v.to_array().map(f64::from);
        let (mut position, mut normal) = (0.0, 0.0);
        for (expected, seen) in self.expected.iter().zip(seen) {
            let parts = expected.iter().zip(&seen.vertices).zip(&self.pairs);
            for (((positions, normals), got), pairs) in parts {
                for (theirs, ours) in pairs {
                    let (p, n) = got[*ours];
                    position = worse(position, distance(wide(p), positions[*theirs]) / self.size);
                    if let Some(Some(expected)) = normals.get(*theirs) {
                        normal = worse(normal, angle(wide(n), *expected));
                    }
                }
            }
        }
        (position, normal)
    }
}

/// The larger number. NaN counts as infinity.
fn worse(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

fn cases() -> Vec<Case> {
    let file = |path: &std::path::PathBuf| {
        let character = throng_import::file(path, &in_file_order());
        let character = character.unwrap_or_else(|e| panic!("{e}")).character;
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        Case::new(name, &gltf::load(path), character)
    };
    let mut cases: Vec<Case> = assets::files().iter().map(file).collect();
    let mannequin = RawCharacter::mannequin();
    let character = RawCharacter::mannequin()
        .build(&in_file_order())
        .unwrap()
        .character;
    cases.push(Case::new(
        "the built-in mannequin".into(),
        &raw::scene(&mannequin),
        character,
    ));
    // More joints than 8 bits can tell apart.
    let long = ribbon(300);
    let scene = raw::scene(&long);
    let character = long.build(&in_file_order()).unwrap().character;
    let joints = &character.primitives()[0].joints;
    assert!(matches!(joints, JointIndices::U16(_)));
    cases.push(Case::new("a ribbon of 300".into(), &scene, character));
    for seed in [3, 14, 15] {
        let made = crate::reference::random::character(seed);
        let scene = raw::scene(&made);
        cases.push(Case::new(
            format!("random {seed}"),
            &scene,
            made.build(&in_file_order()).unwrap().character,
        ));
    }
    cases
}

#[test]
fn what_shaders_see_is_the_palette_and_the_reference() {
    let cases = cases();
    let mut poser = Poser::new();
    let mut over = Vec::new();
    each(|setup| {
        for case in &cases {
            let seen = see(setup, &case.character, &case.stands);
            for (stand, seen) in case.stands.iter().zip(&seen) {
                let cpu = of_curves(&mut poser, &case.character, stand.clip);
                let name = &case.name;
                assert!(
                    seen.palette == bits(&cpu),
                    "{name}: palette at {:?}",
                    stand.clip
                );
            }
            let (position, normal) = case.worst(&seen);
            println!(
                "{:28} {:50} positions {position:8.1e}  normals {normal:8.1e} rad",
                case.name, setup.config.name
            );
            if position > POSITION_BOUND || normal > NORMAL_BOUND {
                over.push((case.name.clone(), position, normal));
            }
        }
    });
    assert!(over.is_empty(), "{over:?}");
}

/// Two triangles on one joint with an uneven scale.
fn crooked(scale: Vec3) -> RawCharacter {
    let normal = Vec3::new(0.6, 0.48, 0.64);
    RawCharacter {
        name: "crooked".into(),
        nodes: vec![node(
            "joint",
            None,
            raws::transform(Vec3::new(0.2, 0.3, -0.1), Quat::from_rotation_y(0.5), scale),
        )],
        skins: vec![raws::skin([0], vec![Mat4::from_rotation_x(0.4)])],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            normals: vec![normal, -normal, Vec3::Z, Vec3::NEG_X],
            influences_per_vertex: 1,
            joints: vec![0; 4],
            weights: vec![1.0; 4],
            indices: vec![0, 1, 2, 0, 2, 3],
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    }
}

/// The normal under the inverse transpose, computed in `f64`.
fn expected_normal(model: Mat3, normal: Vec3) -> Vec3 {
    let m = model.as_dmat3();
    (m.inverse().transpose() * normal.as_dvec3())
        .normalize()
        .as_vec3()
}

#[test]
fn normals_follow_the_inverse_transpose() {
    let worlds = [
        Affine3A::from_scale_rotation_translation(
            Vec3::new(1.0, 5.0, 0.3),
            Quat::from_rotation_z(1.1),
            Vec3::new(4.0, 5.0, 6.0),
        ),
        Affine3A::from_scale(Vec3::new(-1.0, 1.0, 1.0)),
        Affine3A::from_scale(Vec3::new(-2.0, 3.0, -0.5)),
        // So small that products of three elements underflow.
        Affine3A::from_scale(Vec3::splat(1e-20)),
    ];
    for scale in [Vec3::new(0.25, 3.0, 1.0), Vec3::new(1.0, -2.0, 0.5)] {
        let character = built(crooked(scale)).character;
        each(|setup| {
            let stands = worlds.map(|world_from_model| Stand {
                clip: None,
                world_from_model,
            });
            let primitive = &character.primitives()[0];
            let joint = Affine3A::from_scale_rotation_translation(
                scale,
                Quat::from_rotation_y(0.5),
                Vec3::new(0.2, 0.3, -0.1),
            ) * Affine3A::from_mat4(Mat4::from_rotation_x(0.4));
            for (stand, seen) in stands.iter().zip(see(setup, &character, &stands)) {
                let world = stand.world_from_model * joint;
                // A uniform factor changes no normal, and keeps the inverse finite.
                let size = stand.world_from_model.matrix3.x_axis.length();
                let linear = Mat3::from(stand.world_from_model.matrix3) * (1.0 / size);
                let linear = linear * Mat3::from(joint.matrix3);
                for (vertex, (position, normal)) in seen.vertices[0].iter().enumerate() {
                    let at = world.transform_point3(primitive.positions[vertex]);
                    assert!(
                        position.distance(at) <= 1e-5 * (1.0 + at.length()),
                        "{position} {at}"
                    );
                    let expected = expected_normal(linear, primitive.normals[vertex]);
                    let off = normal.angle_between(expected);
                    assert!(off < 2e-3, "{normal} is not {expected}: {off} rad");
                }
            }
        });
    }
}

#[test]
fn what_is_scaled_to_nothing_stays_finite() {
    for scale in [Vec3::ONE, Vec3::ZERO, Vec3::new(1.0, 0.0, 1.0)] {
        let character = built(crooked(scale)).character;
        each(|setup| {
            let stands = [
                Vec3::ZERO,
                Vec3::new(1.0, 1.0, 0.0),
                Vec3::splat(f32::MIN_POSITIVE),
            ]
            .map(|scale| Stand {
                clip: None,
                world_from_model: Affine3A::from_scale(scale),
            });
            for seen in see(setup, &character, &stands) {
                for (position, normal) in &seen.vertices[0] {
                    assert!(position.is_finite() && normal.is_finite());
                    assert!(
                        (normal.length() - 1.0).abs() < 1e-3,
                        "{normal} is not a direction"
                    );
                }
            }
        });
    }
}
