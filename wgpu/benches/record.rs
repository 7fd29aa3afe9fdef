//! CPU time of a frame that is recorded through wgpu, beside one that is recorded straight.
//!
//! Both draw the same crowd of mannequins into one colour and one depth attachment, without the
//! validation layer. The GPU is waited for between frames, which is not measured. Prints the
//! medians of both in one run, in microseconds.
//!
//! Then it prepares frames while the one before is in flight, to find whether that waits for it.

#[cfg(feature = "wgpu-29")]
extern crate wgpu29 as wgpu;
#[cfg(feature = "wgpu-30")]
extern crate wgpu30 as wgpu;

use std::error::Error;
use std::io::Write as _;
use std::time::Instant;
use throng::ash::vk;
use throng::glam::{Affine3A, Mat4, Vec3, camera::rh};
use throng::{CharacterDesc, CrowdDesc, Spawn, View, builtin};
use throng_standalone::{Begin, Context, ContextDesc, Frames, Target, TargetDesc};
use throng_wgpu::{Crowd, Encoder, Gpu, PassDesc, throng};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

const FRAMES: usize = 200;
const EDGE: u32 = 64;
const SIZE: wgpu::Extent3d = wgpu::Extent3d {
    width: EDGE,
    height: EDGE,
    depth_or_array_layers: 1,
};

/// Begin and prepare, draw, submit, in microseconds.
type Times = [f64; 3];

fn main() -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(
        out,
        "instances | prepare | draw | submit, in µs: straight -> through wgpu"
    )?;
    for instances in [10, 100, 1000] {
        let straight = median(straight(instances)?);
        let through = median(through_wgpu(instances)?);
        let pairs = straight.iter().zip(through);
        let pairs = pairs.map(|(a, b)| format!("{a:.0} -> {b:.0}"));
        let pairs = pairs.collect::<Vec<_>>().join(" | ");
        writeln!(out, "{instances} | {pairs}")?;
    }
    let [whole, prepare, recorded, submit] = in_flight()?;
    writeln!(
        out,
        "a frame takes {whole:.1} ms with the GPU; while one is in flight, prepare takes \
         {prepare:.1} ms, of which recording {recorded:.1} ms, and an empty submission {submit:.1} ms"
    )?;
    Ok(())
}

fn median<const N: usize>(mut all: Vec<[f64; N]>) -> [f64; N] {
    core::array::from_fn(|at| {
        all.sort_by(|a, b| a[at].total_cmp(&b[at]));
        all[all.len() / 2][at]
    })
}

fn spawns(instances: usize) -> impl Iterator<Item = Spawn<'static>> {
    (0..instances).map(|at| Spawn {
        world_from_model: Affine3A::from_translation(Vec3::new(
            (at % 32) as f32 - 16.0,
            0.0,
            -((at / 32) as f32),
        )),
        play: "Walk".into(),
        ..Spawn::default()
    })
}

fn view(size: wgpu::Extent3d) -> View {
    let eye = Vec3::new(0.0, 3.0, 20.0);
    let view_from_world: Mat4 = rh::view::look_at_mat4(eye, Vec3::ZERO, Vec3::Y);
    let clip_from_view = rh::proj::directx::perspective(0.9, 1.0, 0.1, 100.0);
    throng_wgpu::view(clip_from_view * view_from_world, eye, size)
}

fn straight(instances: usize) -> Result<Vec<Times>> {
    let mut context = Context::new(&ContextDesc::default())?;
    let target = TargetDesc {
        extent: vk::Extent2D {
            width: EDGE,
            height: EDGE,
        },
        ..TargetDesc::default()
    };
    let target = Target::new(&context, &target)?;
    // SAFETY: the context outlives the crowd.
    let device = unsafe { context.gpu_device() };
    let desc = CrowdDesc::default();
    let mut crowd = throng::Crowd::new(&device, &mut context.allocator(), &desc)?;
    let character = builtin::mannequin()?.character;
    let character = crowd.add_character(
        &mut context.allocator(),
        &character,
        &CharacterDesc::default(),
    )?;
    // SAFETY: the formats are those of the target.
    let pass = unsafe { crowd.create_pass(&target.pass_desc())? };
    for spawn in spawns(instances) {
        crowd.spawn(character, &spawn)?;
    }
    let mut frames = Frames::new(&context, 1)?;
    let mut all = Vec::new();
    for number in 0..FRAMES {
        let in_flight = frames.begin()?;
        let (device, cmd) = (context.device.clone(), in_flight.cmd);
        let start = Instant::now();
        // SAFETY: the frame in flight was just begun, and the recording is submitted below.
        let (prepared, drawn) = unsafe {
            let time_s = number as f64 / 60.0;
            crowd.update(time_s)?;
            let mut frame = crowd.begin_frame(&mut context.allocator(), 0, time_s)?;
            let views = frame.record_prepare(cmd, &[view(SIZE)])?;
            let prepared = start.elapsed();
            target.begin(&device, cmd, &Begin::default());
            frame.record_draw(cmd, views[0], pass)?;
            target.end(&device, cmd);
            (prepared, start.elapsed())
        };
        // SAFETY: the commands are valid.
        unsafe { in_flight.submit()? };
        let submitted = start.elapsed();
        context.wait_idle()?;
        all.push(parts([prepared, drawn, submitted]));
    }
    drop(frames);
    // SAFETY: the device is idle.
    unsafe { crowd.destroy(&mut context.allocator()) };
    drop(target);
    Ok(all)
}

/// The times of the steps, from the times at which they ended.
fn parts([prepared, drawn, submitted]: [std::time::Duration; 3]) -> Times {
    [prepared, drawn - prepared, submitted - drawn].map(|it| it.as_secs_f64() * 1e6)
}

fn through_wgpu(instances: usize) -> Result<Vec<Times>> {
    let mut scene = Scene::new(instances, SIZE)?;
    let mut all = Vec::new();
    for number in 0..FRAMES {
        all.push(scene.frame(number)?);
        scene.idle()?;
    }
    Ok(all)
}

/// The milliseconds that a frame takes with the GPU. While such a frame is in flight, those of
/// `Frame::prepare`, of its recording (`Stats::prepare_ms`), and of an empty submission of wgpu.
fn in_flight() -> Result<[f64; 4]> {
    let large = wgpu::Extent3d {
        width: 512,
        height: 512,
        depth_or_array_layers: 1,
    };
    let mut scene = Scene::new(300, large)?;
    let ms = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
    let mut all = Vec::new();
    for number in 0..8 {
        let start = Instant::now();
        scene.frame(4 * number)?;
        scene.idle()?;
        let whole = ms(start);
        scene.frame(4 * number + 1)?;
        let [prepare, ..] = scene.frame(4 * number + 2)?;
        let recorded = scene.crowd.stats().prepare_ms;
        scene.idle()?;
        scene.frame(4 * number + 3)?;
        let start = Instant::now();
        let encoder = scene
            .gpu
            .device()
            .create_command_encoder(&Default::default());
        scene.gpu.queue().submit([encoder.finish()]);
        let submit = ms(start);
        scene.idle()?;
        all.push([whole, prepare / 1e3, recorded, submit]);
    }
    // The first frames upload the character.
    Ok(median(all.split_off(2)))
}

/// Mannequins, and what they are drawn into.
struct Scene {
    gpu: Gpu,
    crowd: Crowd,
    pass: throng::PassId,
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Scene {
    fn new(instances: usize, size: wgpu::Extent3d) -> Result<Self> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::VULKAN,
            flags: wgpu::InstanceFlags::empty(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapter = now(instance.request_adapter(&Default::default())).ok_or("not ready")??;
        let gpu = Gpu::open(&adapter, &Default::default())?;
        let texture = |format| {
            let texture = gpu.device().create_texture(&wgpu::TextureDescriptor {
                label: None,
                size,
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&Default::default())
        };
        let color = texture(wgpu::TextureFormat::Rgba8UnormSrgb);
        let depth = texture(wgpu::TextureFormat::Depth32Float);
        let mut crowd = Crowd::new(&gpu, &CrowdDesc::default())?;
        let character =
            crowd.add_character(&builtin::mannequin()?.character, &CharacterDesc::default())?;
        let pass = crowd.create_pass(&PassDesc {
            color_formats: &[Some(color.texture().format())],
            depth_format: Some(depth.texture().format()),
            ..PassDesc::default()
        })?;
        for spawn in spawns(instances) {
            crowd.spawn(character, &spawn)?;
        }
        Ok(Self {
            gpu,
            crowd,
            pass,
            color,
            depth,
        })
    }

    /// Submits a frame, and waits for nothing.
    fn frame(&mut self, number: usize) -> Result<Times> {
        let color_attachments = [Some(wgpu::RenderPassColorAttachment {
            view: &self.color,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations::default(),
        })];
        let desc = wgpu::RenderPassDescriptor {
            color_attachments: &color_attachments,
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        };
        let start = Instant::now();
        self.crowd.update(number as f64 / 60.0)?;
        let mut frame = self.crowd.begin_frame(number as f64 / 60.0)?;
        let size = self.color.texture().size();
        let views = frame.prepare(&[view(size)])?;
        let prepared = start.elapsed();
        let mut encoder = Encoder::new(&self.gpu);
        frame.draw(&mut encoder, views[0], self.pass, &desc)?;
        let drawn = start.elapsed();
        encoder.submit()?;
        let submitted = start.elapsed();
        Ok(parts([prepared, drawn, submitted]))
    }

    fn idle(&self) -> Result<()> {
        let wait = wgpu::PollType::wait_indefinitely();
        self.gpu.device().poll(wait)?;
        Ok(())
    }
}

/// The output of a future, if it is ready.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    let waker = std::task::Waker::noop();
    match std::pin::pin!(future).poll(&mut std::task::Context::from_waker(waker)) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}
