//! The skin stage as a part, without the crowd.

use super::made::{self, Kind, Palette};
use super::{POSITION_BOUND, Worst, floats};
use crate::parts::own_set;
use crate::reference::maths::distance;
use crate::reference::rng::Rng;
use crate::support::{Setup, each};
use throng::ash::{self, vk};
use throng::glam::Affine3A;
use throng::gpu::{
    GpuInstance, PaletteRing, PaletteRingDesc, SetBuffers, SetLayout, SkinDispatch, SkinList,
    SkinPipeline, SkinnedMesh, Upload,
};
use throng::gpu_allocator::MemoryLocation;
use throng::skin::Skinner;
use throng_standalone::Buffer;

fn buffer(setup: &mut Setup, words: &[u32]) -> Buffer {
    let mut buffer = Buffer::new(
        &setup.context,
        "storage",
        words.len() as u64 * 4,
        vk::BufferUsageFlags::STORAGE_BUFFER,
        MemoryLocation::GpuToCpu,
    )
    .unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    buffer.write(0, &bytes).unwrap();
    buffer
}

fn whole(buffer: &Buffer) -> Option<vk::DescriptorBufferInfo> {
    Some(vk::DescriptorBufferInfo {
        buffer: buffer.handle(),
        offset: 0,
        range: vk::WHOLE_SIZE,
    })
}

/// An instance whose palette starts at `row` of the ring, or is the rest palette at an address. Its
/// deformed vertices start at `word`.
fn record(palette: Result<u32, vk::DeviceAddress>, word: u32) -> [u32; 32] {
    bytemuck::cast(GpuInstance {
        palette: palette.map_or_else(|address| address, |row| GpuInstance::in_ring(row * 16)),
        skinned: word,
        ..GpuInstance::new(&Affine3A::IDENTITY)
    })
}

/// The barriers that the stage requires from its user.
fn all_visible(device: &ash::Device, cmd: vk::CommandBuffer) {
    let (stage, write) = (
        vk::PipelineStageFlags2::ALL_COMMANDS,
        vk::AccessFlags2::MEMORY_WRITE,
    );
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(stage)
        .src_access_mask(write)
        .dst_stage_mask(stage | vk::PipelineStageFlags2::HOST)
        .dst_access_mask(vk::AccessFlags2::MEMORY_READ | write)];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
}

#[test]
fn it_needs_no_crowd() {
    assert_eq!(size_of::<GpuInstance>(), 32 * 4);
    each(|setup| {
        let config = setup.config;
        let mut rng = Rng::new(9);
        let character = made::character(Kind::Stretch, 4, &mut rng);
        let skinner = Skinner::new(&character).unwrap();
        let mut upload = Upload::default();
        let device = setup.device();
        let allocator = &mut setup.context.allocator();
        let mut set_layout = SetLayout::new(&device).unwrap();
        let mut stage = SkinPipeline::new(&device, &set_layout).unwrap();
        let method = Kind::Stretch.method();
        let mesh = SkinnedMesh::new(&device, allocator, &mut upload, &character, method);
        let mut mesh = mesh.unwrap();
        let entries = character.palette().len() as u32;
        let ring = PaletteRingDesc {
            frames_in_flight: 1,
            entries: entries + 2,
            staged: config.staged,
            min_offset_alignment: config.min_offset_alignment,
        };
        let mut ring = PaletteRing::new(&device, allocator, &ring).unwrap();
        let palette = Palette::new(Kind::Stretch, &character, Some((0, 0.5)));
        let rest = Palette::new(Kind::Stretch, &character, None);
        let Palette::Stretch(list) = &palette else {
            unreachable!()
        };
        let writer = unsafe { ring.writer(0, 2, entries) };
        writer.unwrap().copy_from(list).unwrap();

        let words = skinner.layout().words;
        let at_rest = Err(mesh.rest_palette());
        let records = [
            record(Ok(6), 8),
            record(at_rest, GpuInstance::NONE),
            record(at_rest, 8 + words),
        ];
        let instances = buffer(setup, records.as_flattened());
        let listed = buffer(setup, &[7, 2, 1, 0]);
        let skinned = buffer(setup, &vec![0x7FC0_1234; 8 + 2 * words as usize + 4]);
        let content = SetBuffers {
            mesh: Some(mesh.buffer()),
            instances: whole(&instances),
            lists: whole(&listed),
            skinned: whole(&skinned),
            ..SetBuffers::default()
        };
        let (pool, set) = own_set(setup, &device, &set_layout);
        unsafe { set_layout.write(&device, set, &content) };
        let context = &mut setup.context;
        let mut record = |stage: &SkinPipeline, raw: &ash::Device, cmd| unsafe {
            upload.record(&device, cmd);
            ring.record_upload(&device, cmd, 0, entries + 2);
            all_visible(raw, cmd);
            let dispatch = SkinDispatch {
                mesh: &mesh,
                set,
                dynamic_offsets: [0, 0],
                list: SkinList::Range(1..4),
                ring_palettes: ring.address(0),
            };
            stage.record(&device, cmd, &dispatch);
            all_visible(raw, cmd);
        };
        context
            .submit_and_wait(|raw, cmd| record(&stage, raw, cmd))
            .unwrap();
        let got = floats(&skinned);
        // The pipelines of the mesh's own variants do the same. Positions have the same bits.
        unsafe { stage.prepare(&device, &mesh) }.unwrap();
        context
            .submit_and_wait(|raw, cmd| record(&stage, raw, cmd))
            .unwrap();
        let again = floats(&skinned);
        for part in &skinner.layout().primitives {
            let positions =
                part.positions as usize..(part.positions + 3 * part.vertex_count) as usize;
            for start in [8, 8 + words as usize] {
                let bits = |words: &[f32]| -> Vec<u32> {
                    let words = &words[start..][positions.clone()];
                    words.iter().map(|word| word.to_bits()).collect()
                };
                assert_eq!(bits(&again), bits(&got));
            }
        }
        let zero = [0.0; made::WEIGHTS];
        for (palette, start) in [(&palette, 8), (&rest, 8 + words as usize)] {
            let want = palette.skin(&skinner, &zero);
            let mut worst = 0.0;
            for part in &skinner.layout().primitives {
                for at in 0..part.vertex_count {
                    let at = (part.positions + 3 * at) as usize;
                    let three = |words: &[f32]| [0, 1, 2].map(|axis| f64::from(words[at + axis]));
                    Worst::note(&mut worst, distance(three(&got[start..]), three(&want)));
                }
            }
            assert!(worst < POSITION_BOUND, "{worst}");
        }
        let marked = |words: &[f32]| words.iter().all(|w| w.to_bits() == 0x7FC0_1234);
        assert!(marked(&got[..8]) && marked(&got[8 + 2 * words as usize..]));

        unsafe { context.device.destroy_descriptor_pool(pool, None) };
        unsafe {
            upload.free(&device, &mut context.allocator());
            ring.destroy(&device, &mut context.allocator());
            mesh.destroy(&device, &mut context.allocator());
            stage.destroy(&device);
            set_layout.destroy(&device);
        }
    });
}
