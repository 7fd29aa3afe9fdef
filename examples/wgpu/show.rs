//! The crowd in wgpu's scene.

use crate::{DEPTH, SKY, Scene, texture};
use throng::glam::Vec4;
use throng::glam::{Affine3A, Vec3, camera::rh};
use throng::{
    Capacity, CrowdDesc, Lighting, PassId, PassKind, Receivers, Shadow, Spawn, View, builtin,
};
use throng_wgpu::{Crowd, Depth, Encoder, Error, Gpu, PassDesc};
use wgpu::*;

pub(crate) struct Show {
    pub(crate) gpu: Gpu,
    crowd: Crowd,
    passes: [PassId; 2],
    scene: Scene,
    map: TextureView,
    depth: TextureView,
}

impl Show {
    pub(crate) fn new(adapter: &Adapter, format: TextureFormat) -> Result<Self, Error> {
        let required_features = Features::IMMEDIATES;
        let required_limits = Limits { max_immediate_size: 128, ..Default::default() };
        let desc = DeviceDescriptor { required_features, required_limits, ..Default::default() };
        let gpu = Gpu::open(adapter, &desc)?;
        let map = texture(gpu.device(), DEPTH, 2048, 2048);
        let scene = Scene::new(gpu.device(), &map, format);
        // With space for depth of any window.
        let capacity = Capacity { depth_pixels: 3840 * 2160, ..Default::default() };
        let desc = CrowdDesc { frames_in_flight: 3, capacity, ..Default::default() };
        let mut crowd = Crowd::new(&gpu, &desc)?;
        crowd.set_shadow_map(map.texture(), false)?;
        let (color_formats, depth_format) = (&[Some(format)], Some(DEPTH));
        let lit = PassDesc { color_formats, depth_format, shadow_map: true, ..Default::default() };
        let shadow = PassDesc { kind: PassKind::Shadow, depth_format, ..Default::default() };
        let passes = [crowd.create_pass(&lit)?, crowd.create_pass(&shadow)?];
        let kind = crowd.add_character(&builtin::mannequin()?.character, &Default::default())?;
        for at in 0..100 {
            let (x, z) = ((at % 10) as f32 * 1.1 - 5.0, (at / 10) as f32 * -1.1 + 3.0);
            let world_from_model = Affine3A::from_translation(Vec3::new(x, 0.0, z));
            let play = ["Walk", "Wave", "Run", "Idle"][at % 4].into();
            crowd.spawn(kind, &Spawn { world_from_model, play, ..Default::default() })?;
        }
        Ok(Self { gpu, crowd, passes, scene, depth: map.clone(), map })
    }

    /// Draws a frame into a picture.
    pub(crate) fn draw(&mut self, picture: &TextureView, time_s: f64) -> Result<(), Error> {
        let size @ Extent3d { width, height, .. } = picture.texture().size();
        let (eye, sun) = (Vec3::new(2.0, 3.5, 9.0), Lighting::default().sun_direction * 20.0);
        let camera = rh::proj::directx::perspective(0.75, width as f32 / height as f32, 0.1, 100.0)
            * rh::view::look_at_mat4(eye, Vec3::Y * 0.8, Vec3::Y);
        let light = rh::proj::directx::orthographic(-9.0, 9.0, -9.0, 9.0, 1.0, 40.0)
            * rh::view::look_at_mat4(sun, Vec3::NEG_Z * 2.0, Vec3::Y);
        let from_sun = throng_wgpu::shadow_of(light, sun, self.map.texture().size());
        let shadow = Some(Shadow::of(&[from_sun]));
        let view = View { shadow, ..throng_wgpu::view(camera, eye, size) };
        let floor = Some(Vec4::Y); // the ground is at 0
        let from_sun =
            View { receivers: Some(Receivers { floor, ..Receivers::of(0) }), ..from_sun };
        if self.depth.texture().size() != size {
            self.depth = texture(self.gpu.device(), DEPTH, width, height);
        }
        let color = |load| {
            let ops = Operations { load, store: StoreOp::Store };
            let (view, depth_slice, resolve_target) = (picture, None, None);
            [Some(RenderPassColorAttachment { view, depth_slice, resolve_target, ops })]
        };
        let pass = |color_attachments, view, load| {
            let depth_ops = Some(Operations { load, store: StoreOp::Store });
            let at = RenderPassDepthStencilAttachment { view, depth_ops, stencil_ops: None };
            let rest = RenderPassDescriptor::default();
            RenderPassDescriptor { color_attachments, depth_stencil_attachment: Some(at), ..rest }
        };
        let (sky, scene) = (color(LoadOp::Clear(SKY)), color(LoadOp::Load));
        let matrices = [camera, light].map(|it| it.to_cols_array());

        // First the walls' depth: nobody behind them is posed or drawn.
        let mut encoder = Encoder::new(&self.gpu);
        let walls = encoder.begin_render_pass(&pass(&[], &self.depth, LoadOp::Clear(1.0)));
        self.scene.draw_depth(walls, matrices);
        encoder.submit()?;
        self.crowd.update(time_s)?;
        let mut frame = self.crowd.begin_frame(time_s)?;
        let depth = Depth::new(self.depth.texture());
        let views = frame.prepare_behind(&[view, from_sun], &[depth])?;

        let mut encoder = Encoder::new(&self.gpu);
        let into_map = pass(&[], &self.map, LoadOp::Clear(1.0));
        frame.draw(&mut encoder, views[1], self.passes[1], &into_map)?;
        let first = encoder.begin_render_pass(&pass(&sky, &self.depth, LoadOp::Load));
        self.scene.draw(first, matrices);
        let then = pass(&scene, &self.depth, LoadOp::Load);
        frame.draw(&mut encoder, views[0], self.passes[0], &then)?;
        encoder.submit()?;
        Ok(())
    }
}
