//! Samplers: a floor to its horizon, and devices with few of them.

use super::made::{character, colors, sharp, square};
use super::{BACKGROUND, HERE, Stage, camera};
use crate::reference::picture::different;
use crate::support::frames::EXTENT;
use crate::support::{SMALL, Setup, each, view};
use std::f32::consts::FRAC_PI_2;
use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use throng::Crowd;
use throng::ash::{self, vk};
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::Imported;
use throng::mesh::{Image, Material, TextureRef};

static PROPERTIES: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

type Properties =
    unsafe extern "system" fn(vk::PhysicalDevice, *mut vk::PhysicalDeviceProperties2<'_>);

/// The minimum limits of Vulkan.
unsafe extern "system" fn few(
    device: vk::PhysicalDevice,
    out: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    unsafe {
        let real: Properties = transmute(PROPERTIES.load(Relaxed));
        real(device, out);
        let limits = &mut (*out).properties.limits;
        limits.max_per_stage_descriptor_samplers = 16;
        limits.max_per_stage_descriptor_sampled_images = 16;
        limits.max_descriptor_set_samplers = 96;
        limits.max_descriptor_set_sampled_images = 96;
    }
}

/// The setup's instance, whose devices have 16 samplers per stage.
fn instance(setup: &Setup) -> ash::Instance {
    let context = &setup.context;
    let handle = context.instance.handle();
    let load = |name: &CStr| {
        let real = unsafe { context.entry.get_instance_proc_addr(handle, name.as_ptr()) };
        let real = real.map_or(std::ptr::null(), |real| real as *const c_void);
        if name == c"vkGetPhysicalDeviceProperties2" {
            PROPERTIES.store(real.cast_mut(), Relaxed);
            return few as *const c_void;
        }
        real
    };
    unsafe { ash::Instance::load_with(load, handle) }
}

fn stage(setup: &mut Setup, instance: &ash::Instance) -> Stage {
    let desc = setup.crowd_desc(2, SMALL);
    let device = setup.device_of(instance, &setup.context.device);
    let crowd = Crowd::new(&device, &mut setup.context.allocator(), &desc).unwrap();
    Stage::over(setup, crowd)
}

/// Four squares side by side, each with a material of four textures of its own.
fn squares() -> Imported {
    let (mut images, mut parts, mut materials) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..4 {
        let first = images.len() as u32;
        let own = colors();
        images.extend((0..4).map(|at| {
            let mut texels = own.rgba().unwrap().into_owned();
            texels.rotate_left(4 * (3 * number + at));
            Image::new(&own.name, own.width, own.height, texels)
        }));
        let mut part = square();
        for corner in &mut part.positions {
            *corner = *corner * 0.35 + Vec3::new(number as f32 * 0.75 - 1.1, 0.0, 0.0);
        }
        parts.push(part);
        materials.push(Material {
            base_color_texture: Some(sharp(first)),
            metallic_roughness_texture: Some(sharp(first + 1)),
            occlusion_texture: Some(sharp(first + 2)),
            emissive_texture: Some(sharp(first + 3)),
            emissive: [0.2; 3],
            ..Material::default()
        });
    }
    character(parts, materials, images)
}

/// At the horizon of a floor, some pixels of a quad are beyond it, and their texture coordinates
/// have no bound. On llvmpipe, an anisotropic filter takes hours for such a quad: the picture took
/// 17 s at a hundredth of this density, and time grows with its square. So throng has no such
/// filter on software drivers.
#[test]
fn a_floor_is_drawn_to_its_horizon() {
    each(|setup| {
        let mut floor = square();
        for uv in &mut floor.uvs {
            *uv *= 1e8;
        }
        let material = Material {
            base_color_texture: Some(TextureRef::new(0)),
            ..Material::default()
        };
        let made = character(vec![floor], vec![material], vec![colors()]);
        // Below the eye, as wide as the view is far, and slanted so that its horizon is.
        let slanted = Quat::from_rotation_z(0.3) * Quat::from_rotation_x(-FRAC_PI_2);
        let place = Affine3A::from_scale_rotation_translation(
            Vec3::splat(1e4),
            slanted,
            slanted * Vec3::NEG_Z,
        );
        let view = view(Vec3::ZERO, Vec3::NEG_Z, EXTENT);
        let mut stage = Stage::new(setup);
        let drawn = stage.alone(setup, &made, &[(place, [1.0; 4])], &view);
        let background = BACKGROUND.color.map(|value| (value * 255.0).round() as u8);
        let covered = drawn.chunks_exact(4).filter(|texel| **texel != background);
        assert!(covered.count() > 500);
        stage.destroy(setup);
    });
}

/// A character with more textures than a set has space for gets a set for each material.
#[test]
fn textures_that_do_not_fit_one_set_are_drawn_from_several() {
    each(|setup| {
        let made = squares();
        let mut usual = Stage::new(setup);
        let all = usual.alone(setup, &made, &HERE, &camera());
        usual.destroy(setup);
        let instance = instance(setup);
        let mut few = stage(setup, &instance);
        let id = few.add(setup, &made);
        let sets = few.crowd.mesh(id).unwrap().sets();
        // 16 textures and the white one; half of 16 samplers are for other sets.
        assert_eq!(sets, [6; 4]);
        let drawn = few.alone(setup, &made, &HERE, &camera());
        assert_eq!(different(&all, &drawn, 0), 0);
        let background = BACKGROUND.color.map(|value| (value * 255.0).round() as u8);
        let covered = drawn.chunks_exact(4).filter(|texel| **texel != background);
        assert!(covered.count() > 500);
        few.destroy(setup);
    });
}
