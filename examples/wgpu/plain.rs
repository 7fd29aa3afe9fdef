//! What any program with wgpu has: textures, passes, and a scene.

use wgpu::{LoadOp, Operations, TextureFormat, TextureUsages, TextureView};

pub(crate) const DEPTH: TextureFormat = TextureFormat::Depth32Float;

/// Ground and boxes, in the shadow of the crowd.
pub(crate) struct Scene {
    globals: wgpu::Buffer,
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
}

impl Scene {
    pub(crate) fn new(device: &wgpu::Device, map: &TextureView, color: TextureFormat) -> Self {
        let module = &device.create_shader_module(wgpu::include_wgsl!("scene.wgsl"));
        let compare = Some(wgpu::CompareFunction::LessEqual);
        let options = Default::default();
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("scene"),
            layout: None,
            vertex: wgpu::VertexState {
                module,
                entry_point: None,
                compilation_options: options,
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: compare,
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module,
                entry_point: None,
                compilation_options: Default::default(),
                targets: &[Some(color.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let globals = buffer(device, 128, usage);
        let mag_filter = wgpu::FilterMode::Linear;
        let desc = wgpu::SamplerDescriptor { compare, mag_filter, ..Default::default() };
        let sampler = device.create_sampler(&desc);
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        let entries = &[
            entry(0, globals.as_entire_binding()),
            entry(1, wgpu::BindingResource::TextureView(map)),
            entry(2, wgpu::BindingResource::Sampler(&sampler)),
        ];
        let layout = &pipeline.get_bind_group_layout(0);
        let desc = wgpu::BindGroupDescriptor { label: None, layout, entries };
        let group = device.create_bind_group(&desc);
        Self { globals, pipeline, group }
    }

    pub(crate) fn set(&self, queue: &wgpu::Queue, matrices: [[f32; 16]; 2]) {
        let bytes = matrices.map(|it| it.map(f32::to_ne_bytes));
        queue.write_buffer(&self.globals, 0, bytes.as_flattened().as_flattened());
    }

    pub(crate) fn draw(&self, mut pass: wgpu::RenderPass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.draw(0..36, 0..4);
    }
}

fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let mapped_at_creation = false;
    device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation })
}

pub(crate) fn texture(
    device: &wgpu::Device,
    format: TextureFormat,
    [width, height]: [u32; 2],
    usage: TextureUsages,
) -> TextureView {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: usage | TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}

pub(crate) type Color<'a> = [Option<wgpu::RenderPassColorAttachment<'a>>; 1];

pub(crate) fn color(view: &TextureView, load: LoadOp<wgpu::Color>) -> Color<'_> {
    let ops = Operations { load, ..Default::default() };
    [Some(wgpu::RenderPassColorAttachment { view, depth_slice: None, resolve_target: None, ops })]
}

pub(crate) fn depth(
    view: &TextureView,
    load: LoadOp<f32>,
) -> Option<wgpu::RenderPassDepthStencilAttachment<'_>> {
    let depth_ops = Some(Operations { load, ..Default::default() });
    Some(wgpu::RenderPassDepthStencilAttachment { view, depth_ops, stencil_ops: None })
}

/// The pixels of a texture whose rows are multiples of 256 bytes.
pub(crate) fn read(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    texture: &wgpu::Texture,
) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
    let buffer = &buffer(device, u64::from(4 * texture.width() * texture.height()), usage);
    let bytes_per_row = Some(4 * texture.width());
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row, rows_per_image: None };
    let mut encoder = device.create_command_encoder(&Default::default());
    let to = wgpu::TexelCopyBufferInfo { buffer, layout };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), to, texture.size());
    encoder.map_buffer_on_submit(buffer, wgpu::MapMode::Read, .., |_| ());
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely())?;
    Ok(buffer.get_mapped_range(..)?.to_vec())
}
