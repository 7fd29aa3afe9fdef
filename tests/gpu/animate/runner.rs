//! Poses actors by the GPU, and compares the palettes with the CPU's.

use crate::glam::{Affine3A, Vec3};
use crate::palette::{
    DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, PaletteFormat, SkinningMethod,
};
use crate::support::Setup;
use throng::Error;
use throng::animator::{ActorId, Animator};
use throng::ash::vk;
use throng::character::Character;
use throng::gpu::{
    AnimateDispatch, AnimateJob, AnimateJobs, AnimatePipeline, AnimationTables, CpuReason, Device,
    GpuPlay, PosedBy, Upload,
};
use throng::gpu_allocator::MemoryLocation;
use throng::palette::QuatOffset;
use throng_standalone::Buffer;

/// The plays of actors, as they were at one time.
pub(super) struct Taken {
    pub(super) actors: Vec<ActorId>,
    pub(super) plays: Vec<GpuPlay>,
    /// First and number, by actor.
    ranges: Vec<(u32, u32)>,
    /// The words of morph weights that the caller set, by actor.
    weights: Vec<Vec<u32>>,
    /// The actors that only the CPU can pose.
    pub(super) refused: Vec<(ActorId, CpuReason)>,
}

impl Taken {
    pub(super) fn new(animator: &Animator, actors: &[ActorId], epoch_s: f64) -> Self {
        let mut taken = Self {
            actors: Vec::new(),
            plays: Vec::new(),
            ranges: Vec::new(),
            weights: Vec::new(),
            refused: Vec::new(),
        };
        for actor in actors {
            let first = taken.plays.len() as u32;
            match animator
                .gpu_plays(*actor, epoch_s, &mut taken.plays)
                .unwrap()
            {
                PosedBy::Gpu => {
                    taken.actors.push(*actor);
                    let count = taken.plays.len() as u32 - first;
                    taken.ranges.push((first, count));
                    let mut words = Vec::new();
                    animator.gpu_weights(*actor, &mut words).unwrap();
                    taken.weights.push(words);
                }
                PosedBy::Cpu(reason) => taken.refused.push((*actor, reason)),
            }
        }
        taken
    }

    /// The plays of an actor.
    pub(super) fn of(&self, number: usize) -> &[GpuPlay] {
        let (first, count) = self.ranges[number];
        &self.plays[first as usize..][..count as usize]
    }
}

pub(super) struct Runner {
    device: Device,
    format: PaletteFormat,
    pub(super) tables: AnimationTables,
    pipeline: AnimatePipeline,
    /// The corners of a box around the mesh.
    corners: [Vec3; 8],
    weights: usize,
}

/// The GPU's results for actors, one after the other.
pub(super) struct Posed {
    pub(super) palettes: Vec<u8>,
    /// Morph weights, or `None` for an actor whose clips drive none.
    pub(super) weights: Vec<Option<Vec<f32>>>,
}

/// The number of morph weights before the shader writes one.
const UNWRITTEN: u32 = u32::MAX;

impl Runner {
    /// `None` if the method cannot represent the character.
    pub(super) fn new(
        setup: &mut Setup,
        character: &Character,
        method: SkinningMethod,
    ) -> Option<Self> {
        let (device, mut upload) = (setup.device(), Upload::default());
        let allocator = &mut setup.context.allocator();
        let made = AnimationTables::new(&device, allocator, &mut upload, character, method);
        let tables = match made {
            Ok(tables) => tables,
            Err(Error::Unrepresentable { .. }) => return None,
            Err(error) => panic!("{error}"),
        };
        setup
            .context
            .submit_and_wait(|_, cmd| unsafe { upload.record(&device, cmd) })
            .unwrap();
        unsafe { upload.free(&device, &mut setup.context.allocator()) };
        let mut pipeline = AnimatePipeline::new(&device).unwrap();
        unsafe { pipeline.prepare(&device, &tables) }.unwrap();
        let primitives = character.primitives().iter();
        let points = primitives.flat_map(|primitive| primitive.positions.iter().copied());
        let (low, high) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), at| {
            (low.min(at), high.max(at))
        });
        let corner = |number: usize| {
            let part = |axis: usize| {
                if number >> axis & 1 == 0 {
                    low[axis]
                } else {
                    high[axis]
                }
            };
            Vec3::new(part(0), part(1), part(2))
        };
        Some(Self {
            device,
            format: PaletteFormat::of(character, method).unwrap(),
            tables,
            pipeline,
            corners: std::array::from_fn(corner),
            weights: character.morph_weights().len(),
        })
    }

    fn buffer(setup: &mut Setup, size: u64) -> (Buffer, vk::DeviceAddress) {
        let buffer = Buffer::new(
            &setup.context,
            "animate",
            size.max(16),
            vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
                | vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::INDIRECT_BUFFER,
            MemoryLocation::GpuToCpu,
        )
        .unwrap();
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle());
        let address = unsafe { setup.context.device.get_buffer_device_address(&info) };
        assert!(address.is_multiple_of(16));
        (buffer, address)
    }

    /// The palettes and morph weights at a time.
    pub(super) fn run(
        &self,
        setup: &mut Setup,
        taken: &Taken,
        (now_s, epoch_s): (f64, f64),
        indirect: bool,
    ) -> Posed {
        let (count, bytes) = (taken.actors.len(), self.tables.palette_bytes());
        let (mut plays, plays_at) = Self::buffer(setup, taken.plays.len() as u64 * 64);
        let (mut jobs, jobs_at) = Self::buffer(setup, count as u64 * 16);
        // Four words: x, y and z of the dispatch, and the number of jobs. The dispatch is larger.
        let (mut args, args_at) = Self::buffer(setup, 16);
        let (palettes, palettes_at) = Self::buffer(setup, count as u64 * bytes);
        let words = 1 + 2 * self.weights;
        let (mut morphs, morphs_at) = Self::buffer(setup, (count * words * 4) as u64);
        let unwritten = vec![UNWRITTEN; count * words];
        let (mut own, own_weights) = Self::buffer(setup, (count * words * 4) as u64);
        let mut set = vec![UNWRITTEN; count * words];
        for (set, of) in set.chunks_exact_mut(words).zip(&taken.weights) {
            set[..of.len()].copy_from_slice(of);
        }
        let job = |(number, (first, plays)): (usize, &(u32, u32))| AnimateJob {
            first_play: *first,
            plays: *plays,
            palette: number as u32 * (bytes / 16) as u32,
            morphs: (number * words) as u32,
        };
        let list: Vec<AnimateJob> = taken.ranges.iter().enumerate().map(job).collect();
        let command = [count as u32 + 3, 1, 1, count as u32];
        let parts: [(&mut Buffer, &[u8]); 5] = [
            (&mut plays, bytemuck::cast_slice(&taken.plays)),
            (&mut jobs, bytemuck::cast_slice(&list)),
            (&mut args, bytemuck::cast_slice(&command)),
            (&mut morphs, bytemuck::cast_slice(&unwritten)),
            (&mut own, bytemuck::cast_slice(&set)),
        ];
        for (buffer, bytes) in parts {
            buffer.write(0, bytes).unwrap();
        }
        let dispatch = AnimateDispatch {
            tables: &self.tables,
            plays: plays_at,
            jobs: jobs_at,
            palettes: palettes_at,
            morphs: morphs_at,
            own_weights,
            count: if indirect {
                AnimateJobs::Indirect {
                    count: args_at + 12,
                    buffer: args.handle(),
                    offset: 0,
                }
            } else {
                AnimateJobs::Count(count as u32)
            },
            now_s,
            epoch_s,
        };
        let (device, pipeline) = (&self.device, &self.pipeline);
        setup
            .context
            .submit_and_wait(|raw, cmd| unsafe {
                pipeline.record(device, cmd, &dispatch);
                let barriers = [vk::MemoryBarrier2::default()
                    .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
                    .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
                    .dst_stage_mask(vk::PipelineStageFlags2::HOST)
                    .dst_access_mask(vk::AccessFlags2::HOST_READ)];
                let info = vk::DependencyInfo::default().memory_barriers(&barriers);
                raw.cmd_pipeline_barrier2(cmd, &info);
            })
            .unwrap();
        let mut out = vec![0; count * bytes as usize];
        palettes.read_mapped(0, &mut out).unwrap();
        let mut lists = vec![0_u8; count * words * 4];
        morphs.read_mapped(0, &mut lists).unwrap();
        let lists: Vec<u32> = bytemuck::pod_collect_to_vec(&lists);
        let lists = lists.chunks_exact(words);
        Posed {
            palettes: out,
            weights: lists.map(|list| self.expanded(list)).collect(),
        }
    }

    /// All weights of a list of those that are not 0.
    fn expanded(&self, list: &[u32]) -> Option<Vec<f32>> {
        let (count, rest) = list.split_first().unwrap();
        if *count == UNWRITTEN {
            assert!(rest.iter().all(|word| *word == UNWRITTEN));
            return None;
        }
        let mut all = vec![0.0; self.weights];
        let mut before = None;
        for pair in rest.chunks_exact(2).take(*count as usize) {
            let (number, value) = (pair[0], f32::from_bits(pair[1]));
            assert!(before < Some(number) && value != 0.0, "{number}: {value}");
            all[number as usize] = value;
            before = Some(number);
        }
        Some(all)
    }

    /// The largest difference of each actor's palette from the CPU's.
    ///
    /// It is the distance between the images of a corner of the mesh's box under an entry, divided
    /// by the size of the box's largest image.
    pub(super) fn differences(
        &self,
        animator: &mut Animator,
        taken: &Taken,
        palettes: &[u8],
    ) -> Vec<f32> {
        match self.format {
            PaletteFormat::Mat3x4 => self.compare::<Mat3x4>(animator, taken, palettes),
            PaletteFormat::DualQuat => self.compare::<DualQuat>(animator, taken, palettes),
            PaletteFormat::DualQuatStretch => {
                self.compare::<DualQuatStretch>(animator, taken, palettes)
            }
            PaletteFormat::QuatOffset => self.compare::<QuatOffset>(animator, taken, palettes),
        }
    }

    fn compare<E: PaletteEntry>(
        &self,
        animator: &mut Animator,
        taken: &Taken,
        palettes: &[u8],
    ) -> Vec<f32> {
        let entries = self.tables.palette_bytes() as usize / size_of::<E>();
        let mut cpu = vec![E::project(&Affine3A::IDENTITY); entries * taken.actors.len()];
        animator.palettes(&taken.actors, &mut cpu[..]).unwrap();
        let gpu: Vec<E> = palettes
            .chunks_exact(size_of::<E>())
            .map(bytemuck::pod_read_unaligned)
            .collect();
        // The difference under an entry, and the size of the box's image.
        let difference = |(a, b): (&E, &E)| {
            let [a, b] = [a, b].map(PaletteEntry::to_affine);
            let images = self.corners.map(|at| a.transform_point3(at));
            let ways = images.iter().zip(self.corners);
            let ways = ways.map(|(image, at)| (*image - b.transform_point3(at)).length());
            // NaN is not less than anything.
            let worst = ways.fold(0.0, |worst, way| if way <= worst { worst } else { way });
            (worst, (images[7] - images[0]).length())
        };
        let pairs = cpu.chunks_exact(entries).zip(gpu.chunks_exact(entries));
        let worst = |(cpu, gpu): (&[E], &[E])| {
            let all = cpu.iter().zip(gpu).map(difference);
            let (way, size) = all.fold((0.0, 0.0_f32), |(worst, size), (way, own)| {
                (if way <= worst { worst } else { way }, size.max(own))
            });
            way / size
        };
        pairs.map(worst).collect()
    }

    pub(super) fn destroy(mut self, setup: &mut Setup) {
        unsafe {
            self.pipeline.destroy(&self.device);
            self.tables
                .destroy(&self.device, &mut setup.context.allocator());
        }
    }
}
