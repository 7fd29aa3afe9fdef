//! Sunlight through a shadow map, compared with rays.

use super::made::{character, square};
use super::{BACKGROUND, HERE, Stage, camera, traced};
use crate::engine::Engine;
use crate::reference::precision::Grid;
use crate::reference::trace::{pixel, triangles};
use crate::support::frames::EXTENT;
use crate::support::{Setup, each, view};
use throng::ash::{self, vk};
use throng::glam::camera::rh;
use throng::glam::{DVec2, DVec3, Mat4, Vec3, Vec4};
use throng::import::{Imported, RawPrimitive};
use throng::mesh::Material;
use throng::{Lighting, PassDesc, PassKind, Shadow, ShadowMap, Spawn, View};

const EDGE: u32 = 512;
const LAYERS: u32 = 2;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
const DRAWN: vk::ImageLayout = vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL;
const SAMPLED: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
/// Half of the plates' edges, their heights, and the x and z of their centres.
const HALF: f64 = 0.6;
const HEIGHT: f64 = 0.7;
const PLATES: [(f64, f64); 2] = [(-0.9, 0.2), (0.8, -0.3)];

/// A floor, and two plates above it.
fn plates() -> Imported {
    let lying = |half: f32, at: Vec3| {
        let turned = |p: &Vec3| at + Vec3::new(p.x, 0.0, -p.y) * half;
        RawPrimitive {
            positions: square().positions.iter().map(turned).collect(),
            normals: vec![Vec3::Y; 4],
            tangents: Vec::new(),
            material: Some(0),
            ..square()
        }
    };
    let mut parts = vec![lying(3.0, Vec3::ZERO)];
    parts.extend(PLATES.map(|(x, z)| lying(HALF as f32, DVec3::new(x, HEIGHT, z).as_vec3())));
    let material = Material {
        base_color: [0.7, 0.6, 0.5, 1.0],
        roughness: 0.8,
        double_sided: true,
        ..Material::default()
    };
    character(parts, vec![material], Vec::new())
}

/// Clears a layer of the shadow map and begins rendering to it.
fn begin(device: &ash::Device, cmd: vk::CommandBuffer, layer: vk::ImageView, far: f32) {
    let clear = vk::ClearValue {
        depth_stencil: vk::ClearDepthStencilValue {
            depth: far,
            stencil: 0,
        },
    };
    let depth = vk::RenderingAttachmentInfo::default()
        .image_view(layer)
        .image_layout(DRAWN)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(clear);
    let info = vk::RenderingInfo::default()
        .render_area(extent().into())
        .layer_count(1)
        .depth_attachment(&depth);
    unsafe { device.cmd_begin_rendering(cmd, &info) };
}

fn extent() -> vk::Extent2D {
    vk::Extent2D {
        width: EDGE,
        height: EDGE,
    }
}

/// The views of the sun: the surroundings of the first plate, and everything.
fn layers(sun: Vec3, reversed: bool) -> [Mat4; 2] {
    let look = rh::view::look_at_mat4(sun.normalize() * 10.0, Vec3::ZERO, Vec3::Y);
    let (near, far) = if reversed { (20.0, 0.1) } else { (0.1, 20.0) };
    let (x, z) = PLATES[0];
    let middle = look.transform_point3(DVec3::new(x, 0.3, z).as_vec3());
    let close = Mat4::from_translation(-middle.with_z(0.0)) * look;
    [(1.2, close), (4.5, look)].map(|(half, look)| {
        rh::proj::vulkan::orthographic(-half, half, -half, half, near, far) * look
    })
}

/// True if the sun reaches the surface at a pixel. `None` if an edge is too close to decide.
fn sunlit(view: &View, sun: DVec3, at: (u32, u32)) -> Option<bool> {
    let ndc = [at.0, at.1].map(|v| (f64::from(v) + 0.5) / 96.0 * 2.0 - 1.0);
    let far =
        view.eye.clip_from_world.inverse() * Vec4::new(ndc[0] as f32, ndc[1] as f32, 0.9, 1.0);
    let eye = view.eye.position.as_dvec3();
    let ray = (far.truncate() / far.w).as_dvec3() - eye;
    let on = |from: DVec3, ray: DVec3, y: f64| from + ray * ((y - from.y) / ray.y);
    // The distance from the plate's edge in metres, negative outside.
    let inside = |p: DVec3| {
        let of = PLATES.map(|(x, z)| HALF - (DVec2::new(p.x - x, p.z - z)).abs().max_element());
        of[0].max(of[1])
    };
    let seen = inside(on(eye, ray, HEIGHT));
    // A texel of the coarse layer is 18 mm. Nine lookups between four texels each reach two texels
    // to either side, 1.5 times as far on a floor that the light meets at 42 degrees. The point is
    // moved off the floor by up to 1.7 texels.
    let close = 0.1;
    if seen.abs() < close {
        return None;
    }
    let shadow = inside(on(on(eye, ray, 0.0), sun, HEIGHT));
    match seen > 0.0 {
        true => Some(true),
        false if shadow.abs() < close => None,
        false => Some(shadow < 0.0),
    }
}

#[test]
fn plates_shade_the_floor_where_rays_say_so() {
    each(|setup| {
        for (reversed_z, flipped) in [(false, false), (true, false), (false, true)] {
            shade(setup, reversed_z, flipped);
        }
    });
}

fn shade(setup: &mut Setup, reversed_z: bool, flipped: bool) {
    let mut stage = Stage::new(setup);
    let mut engine = Engine::of_setup(setup);
    let one = vk::SampleCountFlags::TYPE_1;
    let mut map = engine.image(DEPTH, extent(), (LAYERS, one));
    let all = engine.view(&mut map, 0, LAYERS);
    let layers_of_map = [0, 1].map(|layer| engine.view(&mut map, layer, 1));
    let made = plates();
    let id = stage.add(setup, &made);
    stage.crowd.spawn(id, &Spawn::default()).unwrap();
    let shadow_pass = PassDesc {
        kind: PassKind::Shadow,
        depth_format: DEPTH,
        reversed_z,
        ..PassDesc::default()
    };
    let color_pass = PassDesc {
        shadow_map: true,
        ..stage.target.pass_desc()
    };
    let looked_up = ShadowMap {
        view: all,
        layout: SAMPLED,
        edge: EDGE,
        reversed_z,
    };
    let lighting = camera().lighting;
    let clips = layers(lighting.sun_direction, reversed_z);
    let mut shadow = Shadow {
        layers: LAYERS,
        flip_y: flipped,
        ..Shadow::default()
    };
    shadow.clip_from_world[..2].copy_from_slice(&clips);
    let seen = View {
        lighting,
        shadow: Some(shadow),
        ..view(
            Vec3::new(-0.6, 2.8, 3.0),
            Vec3::new(-0.3, 0.2, -0.3),
            EXTENT,
        )
    };
    let lights = clips.map(|clip| View {
        flip_y: flipped,
        ..View::new(clip, lighting.sun_direction * 100.0, extent())
    });
    let cmd = stage.frames_in_flight.begin(&setup.context, 0);
    let context = &mut setup.context;
    let device = context.device.clone();
    unsafe {
        stage.crowd.set_shadow_map(&looked_up).unwrap();
        let shadow_pass = stage.crowd.create_pass(&shadow_pass).unwrap();
        let color_pass = stage.crowd.create_pass(&color_pass).unwrap();
        let mut frame = stage
            .crowd
            .begin_frame(&mut context.allocator(), 0, 0.0)
            .unwrap();
        let views = frame
            .record_prepare(cmd, &[seen, lights[0], lights[1]])
            .unwrap();
        engine.transition(cmd, &map, vk::ImageLayout::UNDEFINED, DRAWN);
        for (layer, light) in layers_of_map.into_iter().zip(&views[1..]) {
            begin(&device, cmd, layer, if reversed_z { 0.0 } else { 1.0 });
            frame.record_draw(cmd, *light, shadow_pass).unwrap();
            device.cmd_end_rendering(cmd);
        }
        engine.transition(cmd, &map, DRAWN, SAMPLED);
        stage.target.begin(&device, cmd, &BACKGROUND);
        frame.record_draw(cmd, views[0], color_pass).unwrap();
        stage.target.end(&device, cmd);
    }
    stage.frames_in_flight.submit(&setup.context, 0);
    stage.frames_in_flight.wait(&setup.context, 0);
    let drawn = stage.target.read_rgba().unwrap();
    judge(setup.grid(EXTENT), &made, &seen, &drawn);
    // The map outlives the crowd.
    let Stage {
        crowd,
        frames_in_flight,
        ..
    } = stage;
    frames_in_flight.destroy(&setup.context);
    unsafe { crowd.destroy(&mut setup.context.allocator()) };
    engine.destroy_image(map);
    engine.destroy();
    let report = setup.context.allocator().generate_report();
    assert!(report.allocations.is_empty(), "{:?}", report.allocations);
}

/// Compares the pixels with those that are lit, and with those that the sun does not reach.
fn judge(grid: Grid, made: &Imported, seen: &View, drawn: &[u8]) {
    let dark = View {
        lighting: Lighting {
            sun_color: Vec3::ZERO,
            ..seen.lighting
        },
        ..*seen
    };
    let all = traced(made, &HERE);
    let (bright_ones, dark_ones) = (triangles(seen, &all), triangles(&dark, &all));
    let sun = seen.lighting.sun_direction.as_dvec3();
    let mut counts = [0, 0];
    for at in (0..EXTENT.height).flat_map(|y| (0..EXTENT.width).map(move |x| (x, y))) {
        let Some(lit) = sunlit(seen, sun, at) else {
            continue;
        };
        let (view, of) = if lit {
            (seen, &bright_ones)
        } else {
            (&dark, &dark_ones)
        };
        let wanted = pixel(view, grid, of, at, DVec3::ZERO);
        let Some(wanted) = wanted.filter(|told| told.color != DVec3::ZERO) else {
            continue;
        };
        counts[usize::from(lit)] += 1;
        let texel = &drawn[((at.1 * EXTENT.width + at.0) * 4) as usize..][..3];
        let off = wanted.off(texel);
        assert!(off < 1.0, "{at:?}: lit {lit}, off by {off} of the bound");
    }
    assert!(counts[0] > 150 && counts[1] > 2000, "{counts:?}");
}
