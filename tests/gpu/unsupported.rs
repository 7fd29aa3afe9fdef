//! Physical devices that do not support what throng requires.

use crate::support::{CONFIGS, Setup};
use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use throng::Error;
use throng::ash::{self, vk};
use throng::gpu::{Device, FeatureChain, Features};

/// The function of every instance, whichever function a test replaces.
static PROPERTIES: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

type Properties = unsafe extern "system" fn(vk::PhysicalDevice, *mut vk::PhysicalDeviceProperties);

fn device_name(setup: &Setup) -> String {
    let name = setup.context.properties.device_name_as_c_str();
    name.unwrap().to_str().unwrap().to_owned()
}

/// A device of Vulkan 1.2.
unsafe extern "system" fn old(device: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceProperties) {
    unsafe {
        let real: Properties = transmute(PROPERTIES.load(Relaxed));
        real(device, out);
        (*out).api_version = vk::API_VERSION_1_2;
    }
}

/// A device whose only feature is `synchronization2`.
unsafe extern "system" fn few(_: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceFeatures2<'_>) {
    unsafe {
        let mut next = (*out).p_next.cast::<vk::BaseOutStructure<'_>>();
        while let Some(one) = next.as_mut() {
            if one.s_type == vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES {
                let features = next.cast::<vk::PhysicalDeviceVulkan13Features<'_>>();
                (*features).synchronization2 = vk::TRUE;
            }
            next = one.p_next;
        }
    }
}

/// A device whose only feature is `bufferDeviceAddress`.
unsafe extern "system" fn address(
    _: vk::PhysicalDevice,
    out: *mut vk::PhysicalDeviceFeatures2<'_>,
) {
    unsafe {
        let mut next = (*out).p_next.cast::<vk::BaseOutStructure<'_>>();
        while let Some(one) = next.as_mut() {
            if one.s_type == vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES {
                let features = next.cast::<vk::PhysicalDeviceVulkan12Features<'_>>();
                (*features).buffer_device_address = vk::TRUE;
            }
            next = one.p_next;
        }
    }
}

/// The setup's instance, with another function of this name.
fn instance(setup: &Setup, name: &CStr, other: *const c_void) -> ash::Instance {
    let context = &setup.context;
    let handle = context.instance.handle();
    let load = |asked: &CStr| {
        let real = unsafe { context.entry.get_instance_proc_addr(handle, asked.as_ptr()) };
        let real = real.map_or(std::ptr::null(), |real| real as *const c_void);
        if asked == c"vkGetPhysicalDeviceProperties" {
            PROPERTIES.store(real.cast_mut(), Relaxed);
        }
        if asked == name { other } else { real }
    };
    unsafe { ash::Instance::load_with(load, handle) }
}

#[test]
fn the_error_lists_everything_that_is_missing() {
    let setup = Setup::new(CONFIGS[0]);
    let physical_device = setup.context.physical_device;
    let cases: [(&CStr, *const c_void, &[&str]); 2] = [
        (
            c"vkGetPhysicalDeviceFeatures2",
            few as *const c_void,
            &["bufferDeviceAddress"],
        ),
        (
            c"vkGetPhysicalDeviceProperties",
            old as *const c_void,
            &["Vulkan 1.3"],
        ),
    ];
    for (name, other, wanted) in cases {
        let instance = instance(&setup, name, other);
        let device = &setup.context.device;
        let (asked, made) = unsafe {
            let asked = Features::supported(&instance, physical_device);
            let made = Device::new(&instance, physical_device, device, Features::NONE);
            (asked.map(drop), made.map(drop))
        };
        for result in [asked, made] {
            let error = result.unwrap_err();
            let text = error.to_string();
            assert!(
                text.ends_with(&format!(" does not support {}", wanted.join(", "))),
                "{text}"
            );
            let Error::Unsupported { device, missing } = error else {
                panic!("{error}");
            };
            assert_eq!(*device, *device_name(&setup));
            assert_eq!(missing, wanted);
        }
    }
}

#[test]
fn the_optional_features_of_a_device_are_found() {
    let setup = Setup::new(CONFIGS[0]);
    let context = &setup.context;
    let found = unsafe { Features::supported(&context.instance, context.physical_device) };
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut v10 = vk::PhysicalDeviceFeatures2::default().push_next(&mut v11);
    v10 = v10.push_next(&mut v12);
    let instance = &context.instance;
    unsafe { instance.get_physical_device_features2(context.physical_device, &mut v10) };
    let v10 = v10.features;
    let indexing = v12.runtime_descriptor_array
        & v12.shader_sampled_image_array_non_uniform_indexing
        & v12.descriptor_binding_variable_descriptor_count;
    let optional = [
        (v11.multiview, Features::MULTIVIEW),
        (v10.sampler_anisotropy, Features::SAMPLER_ANISOTROPY),
        (v10.independent_blend, Features::INDEPENDENT_BLEND),
        (v10.depth_clamp, Features::DEPTH_CLAMP),
        (
            v10.draw_indirect_first_instance,
            Features::DRAW_INDIRECT_FIRST_INSTANCE,
        ),
        (v10.texture_compression_bc, Features::TEXTURE_COMPRESSION_BC),
        (
            v10.texture_compression_etc2,
            Features::TEXTURE_COMPRESSION_ETC2,
        ),
        (
            v10.texture_compression_astc_ldr,
            Features::TEXTURE_COMPRESSION_ASTC,
        ),
        (indexing, Features::DESCRIPTOR_INDEXING),
    ];
    let optional = optional.iter().filter(|(on, _)| *on == vk::TRUE);
    let wanted = optional.fold(
        Features::REQUIRED | Features::DYNAMIC_RENDERING,
        |all, (_, feature)| all | *feature,
    );
    assert_eq!(found, Ok(wanted));
}

#[test]
fn features_that_the_device_does_not_support_cannot_be_enabled() {
    let setup = Setup::new(CONFIGS[0]);
    let context = &setup.context;
    let name = c"vkGetPhysicalDeviceFeatures2";
    let instance = instance(&setup, name, address as *const c_void);
    let made = |features: Features| unsafe {
        Device::new(
            &instance,
            context.physical_device,
            &context.device,
            features,
        )
    };
    let missing = [Features::MULTIVIEW, Features::SAMPLER_ANISOTROPY];
    let error = made(Features::REQUIRED | missing[0] | missing[1]).unwrap_err();
    let Error::Unsupported { missing, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(missing, ["multiview", "samplerAnisotropy"]);
}

/// Vulkan gives no functions of extensions that a device was created without.
#[test]
fn features_of_extensions_that_are_not_enabled_are_refused() {
    let name = ash::khr::acceleration_structure::NAME;
    let setup = Setup::new(CONFIGS[0]);
    let (context, features) = (&setup.context, Features::REQUIRED);
    let (instance, physical_device) = (&context.instance, context.physical_device);
    let made = |features, device| unsafe {
        Device::new(instance, physical_device, device, features).map(drop)
    };
    let features = features | Features::ACCELERATION_STRUCTURE;
    let offered = unsafe { instance.enumerate_device_extension_properties(physical_device) };
    let offered = offered.unwrap();
    let mut offered = offered.iter().map(|it| it.extension_name_as_c_str());
    let missing = vec!["VK_KHR_acceleration_structure"];
    let error = made(features, &context.device).unwrap_err();
    match offered.any(|it| it == Ok(name)) {
        true => {
            let what = "Features::ACCELERATION_STRUCTURE";
            assert_eq!(error, Error::NotEnabled { what, missing });
        }
        false => {
            let device = device_name(&setup).into();
            assert_eq!(error, Error::Unsupported { device, missing });
        }
    }
    // The instance has debug utils, because it validates.
    assert_eq!(
        made(Features::REQUIRED | Features::DEBUG_UTILS, &context.device),
        Ok(())
    );
    let mut chain = FeatureChain::new(features);
    let enabled = unsafe {
        let info = chain.add_to(vk::DeviceCreateInfo::default());
        Features::of_device(&info)
    };
    assert_eq!(enabled, Features::REQUIRED);
}
