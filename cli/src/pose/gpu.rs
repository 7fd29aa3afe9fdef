//! The same pose on the GPU: reads back the deformed mesh, and draws the picture.

use super::deform::play;
use super::picture;
use crate::failure::Failure;
use crate::moment::Moment;
use glam::camera::rh;
use throng::character::Character;
use throng::glam::{Vec3, Vec4};
use throng::mesh::Aabb;
use throng::palette::SkinningMethod;
use throng::skin::{PosedVertices, SkinnedLayout};
use throng::{
    Capacity, CharacterDesc, Crowd, CrowdDesc, Detail, InstanceId, SkinningStage, Spawn, View,
    ash::vk,
};
use throng_standalone::{Begin, Context, ContextDesc, Target, TargetDesc};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 720,
    height: 720,
};

/// The model, its pose and the skinning method.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) model: &'a Character,
    pub(super) moment: Option<Moment>,
    pub(super) method: SkinningMethod,
}

/// The vertices of every primitive, in the file's world space, from the skin stage's buffer.
pub(super) fn deformed(subject: Subject<'_>) -> Result<Vec<PosedVertices>, Failure> {
    if subject.model.primitives().is_empty() {
        return Ok(Vec::new());
    }
    with_crowd(subject, SkinningStage::Compute, |context, crowd, id| {
        // SAFETY: nothing was submitted with this frame index before.
        let mut frame = unsafe { crowd.begin_frame(&mut context.allocator(), 0, 0.0)? };
        // SAFETY: the command buffer is recording, and is submitted and waited for at once.
        context.submit_and_wait(|_, cmd| unsafe { frame.record_prepare(cmd, &[]) })??;
        let skinned = frame.skinned(id)?;
        // SAFETY: the range belongs to the instance, and the buffer allows copying from it.
        let bytes = unsafe { context.read_buffer(skinned.buffer, skinned.offset, skinned.size)? };
        let read = |offset: u64, stride: u32, count: u32| {
            let start = (offset - skinned.offset) as usize;
            vectors(&bytes[start..], stride as usize, count as usize)
        };
        let (vector, tangent) = (SkinnedLayout::VECTOR_BYTES, SkinnedLayout::TANGENT_BYTES);
        let posed = skinned.primitives().map(|part| PosedVertices {
            positions: read(part.positions, vector, part.vertex_count)
                .map(Vec4::truncate)
                .collect(),
            normals: part.normals.map_or_else(Vec::new, |normals| {
                read(normals, vector, part.vertex_count)
                    .map(Vec4::truncate)
                    .collect()
            }),
            tangents: part.tangents.map_or_else(Vec::new, |tangents| {
                read(tangents, tangent, part.vertex_count).collect()
            }),
        });
        Ok(posed.collect())
    })
}

/// Vectors of at most four numbers, as many as the stride can hold. The others are 0.
fn vectors(bytes: &[u8], stride: usize, count: usize) -> impl Iterator<Item = Vec4> {
    bytes.chunks_exact(stride).take(count).map(|bytes| {
        let mut vector = Vec4::ZERO;
        for (at, word) in bytes.as_chunks::<4>().0.iter().take(4).enumerate() {
            vector[at] = f32::from_ne_bytes(*word);
        }
        vector
    })
}

/// Draws the posed model, as the bytes of a PNG file. `bounds` is the box around the model.
pub(super) fn picture(
    subject: Subject<'_>,
    skin: SkinningStage,
    bounds: Aabb,
) -> Result<Vec<u8>, Failure> {
    with_crowd(subject, skin, |context, crowd, _| {
        let desc = TargetDesc {
            extent: EXTENT,
            samples: vk::SampleCountFlags::TYPE_4,
            ..TargetDesc::default()
        };
        let target = Target::new(context, &desc)?;
        let pixels = shoot(context, crowd, &target, bounds)?;
        picture::png(&pixels, (EXTENT.width, EXTENT.height))
    })
}

fn shoot(
    context: &mut Context,
    crowd: &mut Crowd,
    target: &Target,
    bounds: Aabb,
) -> Result<Vec<u8>, Failure> {
    // SAFETY: the target was created with these formats.
    let pass = unsafe { crowd.create_pass(&target.pass_desc())? };
    let begin = Begin {
        color: [0.62, 0.66, 0.70, 1.0],
        ..Begin::default()
    };
    // SAFETY: nothing was submitted with this frame index before.
    let mut frame = unsafe { crowd.begin_frame(&mut context.allocator(), 0, 0.0)? };
    context.submit_and_wait(|device, cmd| {
        // SAFETY: the command buffer is recording, and is submitted and waited for at once.
        unsafe {
            let views = frame.record_prepare(cmd, &[view(bounds)])?;
            target.begin(device, cmd, &begin);
            for view in views.iter() {
                frame.record_draw(cmd, *view, pass)?;
            }
            target.end(device, cmd);
        }
        Ok::<(), Failure>(())
    })??;
    Ok(target.read_rgba()?)
}

/// The camera: from the front, somewhat above and to the side.
fn view(bounds: Aabb) -> View {
    let (center, reach) = (bounds.center(), 0.5 * bounds.size().length().max(1e-3));
    let direction = Vec3::new(0.45, 0.25, 1.0).normalize();
    let field = 0.6_f32;
    let distance = reach / (field * 0.5).sin();
    let eye = center + direction * distance;
    let (near, far) = (distance - reach, distance + reach);
    let clip = rh::proj::vulkan::perspective(field, 1.0, (near * 0.9).max(1e-4), far * 1.1);
    let clip_from_world = clip * rh::view::look_at_mat4(eye, center, Vec3::Y);
    View {
        detail: Detail {
            error_px: 0.0,
            ..Detail::default()
        },
        ..View::new(clip_from_world, eye, EXTENT)
    }
}

/// Creates a device, and a crowd with the one model in its pose.
fn with_crowd<T>(
    subject: Subject<'_>,
    skin: SkinningStage,
    use_it: impl FnOnce(&mut Context, &mut Crowd, InstanceId) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut context = Context::new(&ContextDesc {
        app_name: "throng pose",
        ..ContextDesc::default()
    })?;
    let model = subject.model;
    let words = SkinnedLayout::new(model)?.words;
    let desc = CrowdDesc {
        frames_in_flight: 1,
        capacity: Capacity {
            instances: 1,
            palette_entries: model.palette().len() as u32,
            views: 1,
            morph_weights: model.morph_weights().len() as u32,
            skinned_words: words,
            cpu_skinned_words: words,
            ..Capacity::default()
        },
        ..CrowdDesc::default()
    };
    // SAFETY: the context outlives the crowd.
    let device = unsafe { context.gpu_device() };
    let mut crowd = Crowd::new(&device, &mut context.allocator(), &desc)?;
    let made = spawn(&mut context, &mut crowd, subject, skin)
        .and_then(|id| use_it(&mut context, &mut crowd, id));
    context.wait_idle()?;
    // SAFETY: the device is idle.
    unsafe { crowd.destroy(&mut context.allocator()) };
    made
}

fn spawn(
    context: &mut Context,
    crowd: &mut Crowd,
    subject: Subject<'_>,
    skin: SkinningStage,
) -> Result<InstanceId, Failure> {
    let desc = CharacterDesc {
        method: subject.method,
        cpu_skinning: skin == SkinningStage::Cpu,
        ..CharacterDesc::default()
    };
    let character = crowd.add_character(&mut context.allocator(), subject.model, &desc)?;
    let play = play(subject.moment);
    let spawn = Spawn {
        play,
        skinning_stage: skin,
        ..Spawn::default()
    };
    Ok(crowd.spawn(character, &spawn)?)
}
