//! The crowd in wgpu's scene.

use crate::plain::{self, DEPTH, Scene, color, depth};
use throng::glam::{Affine3A, Vec3, camera::rh};
use throng::{CrowdDesc, Lighting, PassId, PassKind, Spawn, View, builtin};
use throng_wgpu::{Crowd, Encoder, Gpu, PassDesc, Result};
use wgpu::{LoadOp, RenderPassDescriptor, TextureUsages, TextureView};

const SKY: wgpu::Color = wgpu::Color { r: 0.3, g: 0.42, b: 0.6, a: 1.0 };

pub(crate) struct Show {
    pub(crate) gpu: Gpu,
    crowd: Crowd,
    passes: [PassId; 2],
    scene: Scene,
    map: TextureView,
    depth: TextureView,
}

impl Show {
    pub(crate) fn new(adapter: &wgpu::Adapter, format: wgpu::TextureFormat) -> Result<Self> {
        let gpu = Gpu::open(adapter, &Default::default())?;
        let map = plain::texture(gpu.device(), DEPTH, [2048; 2], TextureUsages::TEXTURE_BINDING);
        let mut crowd = Crowd::new(&gpu, &CrowdDesc { frames_in_flight: 3, ..Default::default() })?;
        crowd.set_shadow_map(map.texture(), false)?;
        let formats = PassDesc { depth_format: Some(DEPTH), ..Default::default() };
        let color_formats = &[Some(format)];
        let color = PassDesc { color_formats, shadow_map: true, ..formats.clone() };
        let shadow = PassDesc { kind: PassKind::Shadow, ..formats };
        let passes = [crowd.create_pass(&color)?, crowd.create_pass(&shadow)?];
        let mannequin = crowd.add_character(&builtin::mannequin()?.character)?;
        for at in 0..100 {
            let (x, z) = ((at % 10) as f32 * 1.1 - 5.0, (at / 10) as f32 * -1.1 + 3.0);
            let world_from_model = Affine3A::from_translation(Vec3::new(x, 0.0, z));
            let play = ["Walk", "Wave", "Run", "Idle"][at % 4].into();
            crowd.spawn(mannequin, &Spawn { world_from_model, play, ..Default::default() })?;
        }
        let scene = Scene::new(gpu.device(), &map, format);
        let depth = map.clone();
        Ok(Self { gpu, crowd, passes, scene, map, depth })
    }

    /// Draws a frame into a picture.
    pub(crate) fn draw(&mut self, picture: &TextureView, time_s: f64) -> Result<()> {
        let (device, size) = (self.gpu.device(), picture.texture().size());
        let (eye, sun) = (Vec3::new(2.0, 3.5, 9.0), Lighting::default().sun_direction * 20.0);
        let view_from_world = rh::view::look_at_mat4(eye, Vec3::Y * 0.8, Vec3::Y);
        let aspect = size.width as f32 / size.height as f32;
        let camera = rh::proj::directx::perspective(0.75, aspect, 0.1, 100.0) * view_from_world;
        let from_sun = rh::view::look_at_mat4(sun, Vec3::NEG_Z * 2.0, Vec3::Y);
        let light = rh::proj::directx::orthographic(-9.0, 9.0, -9.0, 9.0, 1.0, 40.0) * from_sun;
        self.scene.set(self.gpu.queue(), [camera, light].map(|it| it.to_cols_array()));
        let shadow = Some(throng_wgpu::shadow(&[light]));
        let view = View { shadow, ..throng_wgpu::view(camera, eye, size) };
        let from_sun = throng_wgpu::view(light, sun, self.map.texture().size());
        let mut frame = self.crowd.begin_frame(time_s)?;
        let views = frame.prepare(&[view, from_sun])?;

        if self.depth.texture().size() != size {
            let size = [size.width, size.height];
            self.depth = plain::texture(device, DEPTH, size, TextureUsages::empty());
        }
        let desc = |color_attachments, depth_stencil_attachment| RenderPassDescriptor {
            color_attachments,
            depth_stencil_attachment,
            ..Default::default()
        };
        let (sky, scene) = (color(picture, LoadOp::Clear(SKY)), color(picture, LoadOp::Load));
        let into_map = desc(&[], depth(&self.map, LoadOp::Clear(1.0)));
        let first = desc(&sky, depth(&self.depth, LoadOp::Clear(1.0)));
        let then = desc(&scene, depth(&self.depth, LoadOp::Load));
        let mut encoder = Encoder::new(&self.gpu);
        frame.draw(&mut encoder, views[1], self.passes[1], &into_map)?;
        self.scene.draw(encoder.begin_render_pass(&first));
        frame.draw(&mut encoder, views[0], self.passes[0], &then)?;
        encoder.submit();
        Ok(())
    }
}
