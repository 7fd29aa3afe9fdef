//! Own shading in wgpu: the program's WGSL shades a crowd with lights of its own.
//!
//! The lights and a ramp of tones are resources of wgpu in a bind group. Writes `own_shading.png`.
//!
//! ```sh
//! cargo run -p throng-wgpu --example own_shading
//! ```

#[cfg(feature = "wgpu-29")]
extern crate wgpu29 as wgpu;
#[cfg(feature = "wgpu-30")]
extern crate wgpu30 as wgpu;

use std::{error::Error, fs::File};
use throng::glam::{Affine3A, Mat4, Vec3, camera::rh};
use throng::{CharacterDesc, CrowdDesc, Spawn, builtin};
use throng_wgpu::{
    BindGroup, BindGroupLayout, Binding, Crowd, Encoder, Gpu, MaterialDesc, PassDesc, throng, view,
};
use wgpu::util::{DeviceExt, TextureDataOrder};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// The shader of the program. `ThrongIn` and `throng_surface` are throng's.
const WGSL: &str = "
struct Light { position: vec3f, reach_m: f32, color: vec3f }

@group(1) @binding(0) var<storage> lights: array<Light>;
@group(1) @binding(1) var tones: texture_2d<f32>;
@group(1) @binding(2) var tones_sampler: sampler;

@fragment
fn shade(in: ThrongIn) -> @location(0) vec4f {
    let surface = throng_surface(in);
    if throng_masked() { if surface.hole { discard; } }
    var light = vec3f(0.12, 0.11, 0.16);
    for (var at = 0u; at < arrayLength(&lights); at++) {
        let to_light = lights[at].position - surface.position;
        let away = saturate(1.0 - length(to_light) / lights[at].reach_m);
        let facing = max(dot(surface.normal, normalize(to_light)), 0.0) * away;
        light += lights[at].color * textureSampleLevel(tones, tones_sampler, vec2f(facing, 0.5), 0.0).r;
    }
    // The program marks one of the people with its own word.
    let edge = pow(1.0 - max(dot(surface.normal, surface.to_eye), 0.0), 3.0) * f32(in.user);
    let color = surface.base_color.rgb * light + edge * vec3f(0.9, 0.8, 0.3) + surface.emissive;
    return vec4f(color, surface.base_color.a);
}
";

const SIZE: wgpu::Extent3d = wgpu::Extent3d {
    width: 720,
    height: 400,
    depth_or_array_layers: 1,
};
const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

fn main() -> Result<()> {
    let instance = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    let instance = wgpu::Instance::new(instance);
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let gpu = Gpu::open(&adapter, &wgpu::DeviceDescriptor::default())?;
    let layout = layout(&gpu)?;
    let group = group(&gpu, &layout)?;
    let mut crowd = Crowd::new(&gpu, &CrowdDesc::default())?;
    let pass = crowd.create_pass(&PassDesc {
        color_formats: &[Some(COLOR)],
        depth_format: Some(DEPTH),
        material: Some(MaterialDesc {
            bind_group_layouts: &[&layout],
            ..MaterialDesc::new(WGSL)
        }),
        ..PassDesc::default()
    })?;
    populate(&mut crowd)?;

    let eye = Vec3::new(0.4, 1.5, 5.4);
    let aspect = SIZE.width as f32 / SIZE.height as f32;
    let clip_from_world: Mat4 = rh::proj::directx::perspective(0.65, aspect, 0.1, 100.0)
        * rh::view::look_at_mat4(eye, Vec3::Y * 0.9, Vec3::Y);
    let color = texture(&gpu, COLOR);
    let depth = texture(&gpu, DEPTH);
    let mut encoder = Encoder::new(&gpu);
    let mut frame = crowd.begin_frame(0.3)?;
    let views = frame.prepare(&[view(clip_from_world, eye, SIZE)])?;
    let color_attachments = [Some(wgpu::RenderPassColorAttachment {
        view: &color,
        depth_slice: None,
        resolve_target: None,
        ops: wgpu::Operations {
            load: wgpu::LoadOp::Clear(wgpu::Color {
                r: 0.02,
                g: 0.02,
                b: 0.05,
                a: 1.0,
            }),
            store: wgpu::StoreOp::Store,
        },
    })];
    let desc = wgpu::RenderPassDescriptor {
        color_attachments: &color_attachments,
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &depth,
            depth_ops: Some(wgpu::Operations {
                load: wgpu::LoadOp::Clear(1.0),
                store: wgpu::StoreOp::Store,
            }),
            stencil_ops: None,
        }),
        ..Default::default()
    };
    frame.draw_with(&mut encoder, views[0], pass, &desc, &[(&group, &[])])?;
    write(&gpu, encoder, color.texture())
}

/// The layout of the program's group.
fn layout(gpu: &Gpu) -> Result<BindGroupLayout> {
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty,
        count: None,
    };
    let lights = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Storage { read_only: true },
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let tones = wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: true },
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: false,
    };
    let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
    let desc = wgpu::BindGroupLayoutDescriptor {
        label: Some("lights"),
        entries: &[entry(0, lights), entry(1, tones), entry(2, sampler)],
    };
    Ok(BindGroupLayout::new(gpu, &desc)?)
}

/// Two lights, and a ramp of three tones.
fn group(gpu: &Gpu, layout: &BindGroupLayout) -> Result<BindGroup> {
    let lights: [[f32; 8]; 2] = [
        [-2.5, 2.4, 2.0, 6.0, 1.9, 0.9, 0.5, 0.0],
        [2.8, 1.8, 1.2, 5.0, 0.4, 0.8, 2.2, 0.0],
    ];
    let contents = lights.map(|light| light.map(f32::to_ne_bytes));
    let lights = gpu
        .device()
        .create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("lights"),
            contents: contents.as_flattened().as_flattened(),
            usage: wgpu::BufferUsages::STORAGE,
        });
    let tones = gpu.device().create_texture_with_data(
        gpu.queue(),
        &wgpu::TextureDescriptor {
            label: Some("tones"),
            size: wgpu::Extent3d {
                width: 8,
                height: 1,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        },
        TextureDataOrder::LayerMajor,
        &[0, 90, 90, 170, 170, 255, 255, 255],
    );
    let tones = tones.create_view(&Default::default());
    let bindings = [
        (0, Binding::Buffer(lights.as_entire_buffer_binding())),
        (1, Binding::TextureView(&tones)),
        (2, Binding::Sampler(wgpu::SamplerDescriptor::default())),
    ];
    Ok(BindGroup::new(gpu, layout, &bindings)?)
}

/// A row of people, one of whom is marked.
fn populate(crowd: &mut Crowd) -> Result<()> {
    let mannequin =
        crowd.add_character(&builtin::mannequin()?.character, &CharacterDesc::default())?;
    for (at, clip) in ["Walk", "Wave", "Run", "Idle", "Walk"]
        .into_iter()
        .enumerate()
    {
        let x = at as f32 * 0.9 - 1.8;
        crowd.spawn(
            mannequin,
            &Spawn {
                world_from_model: Affine3A::from_translation(Vec3::new(x, 0.0, 0.0)),
                play: clip.into(),
                user_data: u32::from(clip == "Wave"),
                ..Spawn::default()
            },
        )?;
    }
    Ok(())
}

fn texture(gpu: &Gpu, format: wgpu::TextureFormat) -> wgpu::TextureView {
    let texture = gpu.device().create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: SIZE,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}

/// Submits the draws, and writes the picture.
fn write(gpu: &Gpu, mut encoder: Encoder, picture: &wgpu::Texture) -> Result<()> {
    let row = (4 * SIZE.width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(row * SIZE.height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let to = wgpu::TexelCopyBufferInfo {
        buffer: &buffer,
        layout: wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row),
            rows_per_image: None,
        },
    };
    encoder.copy_texture_to_buffer(picture.as_image_copy(), to, SIZE);
    encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., |_| ());
    encoder.submit()?;
    gpu.device().poll(wgpu::PollType::wait_indefinitely())?;
    let mapped = buffer.get_mapped_range(..);
    #[cfg(feature = "wgpu-30")]
    let mapped = mapped?;
    let rows = mapped.chunks(row as usize);
    let rgba: Vec<u8> = rows
        .flat_map(|row| &row[..4 * SIZE.width as usize])
        .copied()
        .collect();
    let file = File::create("own_shading.png")?;
    let mut png = png::Encoder::new(file, SIZE.width, SIZE.height);
    png.set_color(png::ColorType::Rgba);
    Ok(png.write_header()?.write_image_data(&rgba)?)
}
