//! Features that an engine enables, in whichever structures.

use crate::engine::{Engine, with_info};
use crate::reference::words::Fails;
use crate::support::frames::EXTENT;
use crate::support::{Change, SMALL, Setup, each, placed, stages, view};
use throng::ash::{self, vk};
use throng::glam::{Affine3A, Vec3};
use throng::gpu::{Device, FeatureChain, Features};
use throng::{
    Capacity, CharacterDesc, Crowd, CrowdDesc, Error, PassDesc, RayDesc, Stages, builtin,
};

const COLOR: vk::Format = vk::Format::R8G8B8A8_SRGB;
const WANTED: Features = Features::REQUIRED
    .union(Features::DYNAMIC_RENDERING)
    .union(Features::MULTIVIEW)
    .union(Features::INDEPENDENT_BLEND)
    .union(Features::DRAW_INDIRECT_FIRST_INSTANCE);

fn create(setup: &Setup, info: &vk::DeviceCreateInfo<'_>) -> ash::Device {
    let (instance, physical_device) = (&setup.context.instance, setup.context.physical_device);
    Change::amid_use(|| unsafe { instance.create_device(physical_device, info, None) }).unwrap()
}

/// The types of the structures in a chain, sorted.
unsafe fn types(info: &vk::DeviceCreateInfo<'_>) -> Vec<vk::StructureType> {
    let mut next = info.p_next.cast::<vk::BaseInStructure<'_>>();
    let mut types = Vec::new();
    while let Some(one) = unsafe { next.as_ref() } {
        types.push(one.s_type);
        next = one.p_next;
    }
    types.sort_unstable();
    types
}

/// Draws a frame with a device, and returns the picture.
fn picture(setup: &Setup, raw: ash::Device, features: Features) -> Vec<u8> {
    let mut engine = Engine::with_device(setup, raw, features);
    let desc = CrowdDesc {
        stages: Stages::Gpu,
        profile: true,
        ..setup.crowd_desc(1, SMALL)
    };
    let mut crowd = Crowd::new(&engine.device, &mut engine.allocator, &desc).unwrap();
    let mannequin = builtin::mannequin().unwrap().character;
    let mannequin =
        crowd.add_character(&mut engine.allocator, &mannequin, &CharacterDesc::default());
    let spawn = placed(Affine3A::IDENTITY, "Walk");
    crowd.spawn(mannequin.unwrap(), &spawn).unwrap();
    let pass = PassDesc {
        color_formats: vec![COLOR],
        ..PassDesc::default()
    };
    let pass = unsafe { crowd.create_pass(&pass) }.unwrap();
    let mut image = engine.image(COLOR, EXTENT, (1, vk::SampleCountFlags::TYPE_1));
    let view_of_image = engine.view(&mut image, 0, 1);
    let from = view(Vec3::new(0.0, 1.0, 4.0), Vec3::Y, EXTENT);
    engine.run(|engine, cmd| unsafe {
        crowd.update(0.3).unwrap();
        let mut frame = crowd.begin_frame(&mut engine.allocator, 0, 0.3).unwrap();
        let views = frame.record_prepare(cmd, &[from]).unwrap();
        let attached = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        engine.transition(cmd, &image, vk::ImageLayout::UNDEFINED, attached);
        let attachments = [vk::RenderingAttachmentInfo::default()
            .image_view(view_of_image)
            .image_layout(attached)
            .load_op(vk::AttachmentLoadOp::CLEAR)];
        let rendering = vk::RenderingInfo::default()
            .render_area(EXTENT.into())
            .layer_count(1)
            .color_attachments(&attachments);
        engine.raw.cmd_begin_rendering(cmd, &rendering);
        frame.record_draw(cmd, views[0], pass).unwrap();
        engine.raw.cmd_end_rendering(cmd);
        let copied = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        engine.transition(cmd, &image, attached, copied);
    });
    let picture = engine.read(&image, 0);
    assert!(picture.iter().any(|byte| *byte != 0), "nothing was drawn");
    unsafe { crowd.destroy(&mut engine.allocator) };
    engine.destroy_image(image);
    engine.destroy();
    picture
}

/// Enables what is wanted, checks what is chained then, and draws.
fn made(
    setup: &Setup,
    info: vk::DeviceCreateInfo<'_>,
    wanted_types: &[vk::StructureType],
) -> Vec<u8> {
    unsafe {
        let mut chain = FeatureChain::new(WANTED);
        let info = chain.add_to(info);
        assert_eq!(Features::of_device(&info), WANTED);
        let mut wanted_types = wanted_types.to_vec();
        wanted_types.sort_unstable();
        assert_eq!(types(&info), wanted_types);
        picture(setup, create(setup, &info), WANTED)
    }
}

#[test]
fn features_are_enabled_in_the_structures_that_an_engine_chains() {
    use vk::StructureType as T;
    let setup = &Setup::new(crate::support::CONFIGS[0]);
    let messages = setup.context.messages.clone();
    let mut pictures = Vec::new();

    // None.
    let singles = [
        T::PHYSICAL_DEVICE_MULTIVIEW_FEATURES,
        T::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        T::PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES,
    ];
    with_info(setup, |info| {
        pictures.push(made(setup, info, &singles));
    });

    // One for each version, with features of the engine.
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
    let v10 = vk::PhysicalDeviceFeatures::default().fill_mode_non_solid(true);
    let mut v10 = vk::PhysicalDeviceFeatures2::default().features(v10);
    with_info(setup, |info| {
        let info = info.push_next(&mut v11).push_next(&mut v12);
        let info = info.push_next(&mut v13).push_next(&mut v10);
        let types = [
            T::PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
            T::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
            T::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
            T::PHYSICAL_DEVICE_FEATURES_2,
        ];
        pictures.push(made(setup, info, &types));
    });
    let kept = (v12.timeline_semaphore, v10.features.fill_mode_non_solid);
    assert_eq!(kept, (vk::TRUE, vk::TRUE));

    // The features of vk-graph.
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut sync = vk::PhysicalDeviceSynchronization2Features::default().synchronization2(true);
    let v10 = vk::PhysicalDeviceFeatures::default();
    with_info(setup, |info| {
        let info = info.push_next(&mut v11).push_next(&mut v12);
        let info = info.push_next(&mut sync).enabled_features(&v10);
        let types = [
            T::PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
            T::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
            T::PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
            T::PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES,
        ];
        pictures.push(made(setup, info, &types));
    });
    assert_eq!(v10.independent_blend, vk::FALSE, "a copy is changed");

    // Single ones, as those of wgpu. It switches the first two off.
    let mut off = vk::PhysicalDeviceMaintenance4Features::default();
    let mut model = vk::PhysicalDeviceVulkanMemoryModelFeatures::default();
    let mut multiview = vk::PhysicalDeviceMultiviewFeatures::default();
    let mut address = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
    with_info(setup, |info| {
        let info = info.push_next(&mut off).push_next(&mut multiview);
        let info = info.push_next(&mut address).push_next(&mut model);
        let types = [
            T::PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES,
            T::PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
            singles[0],
            singles[1],
            singles[2],
        ];
        pictures.push(made(setup, info, &types));
    });

    assert!(pictures.iter().all(|picture| *picture == pictures[0]));
    messages.check().unwrap();
}

#[test]
fn structures_are_read_and_written_one_by_one() {
    let all = Features::REQUIRED
        .union(Features::DYNAMIC_RENDERING)
        .union(Features::MULTIVIEW)
        .union(Features::SAMPLER_ANISOTROPY)
        .union(Features::INDEPENDENT_BLEND)
        .union(Features::DEPTH_CLAMP)
        .union(Features::DRAW_INDIRECT_FIRST_INSTANCE)
        .union(Features::TEXTURE_COMPRESSION_BC)
        .union(Features::TEXTURE_COMPRESSION_ETC2)
        .union(Features::TEXTURE_COMPRESSION_ASTC)
        .union(Features::DESCRIPTOR_INDEXING)
        .union(Features::ACCELERATION_STRUCTURE);
    let mut v10 = vk::PhysicalDeviceFeatures2::default();
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut multiview = vk::PhysicalDeviceMultiviewFeatures::default();
    let mut address = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
    let mut indexing = vk::PhysicalDeviceDescriptorIndexingFeatures::default();
    let mut rendering = vk::PhysicalDeviceDynamicRenderingFeatures::default();
    let mut builds = vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default();
    let extension = [ash::khr::acceleration_structure::NAME.as_ptr()];
    let info = || vk::DeviceCreateInfo::default().enabled_extension_names(&extension);
    let read = |info: &vk::DeviceCreateInfo<'_>| unsafe { Features::of_device(info) };
    macro_rules! read {
        ($($one:ident)+) => {{
            let mut features = Features::NONE;
            $(
                assert_eq!(read(&info().push_next(&mut $one)), Features::NONE);
                let mut chain = FeatureChain::new(all);
                let _ = unsafe { chain.add_to(info().push_next(&mut $one)) };
                let enabled = read(&info().push_next(&mut $one));
                assert_ne!(enabled, Features::NONE);
                features |= enabled;
            )+
            features
        }};
    }
    let core = read!(v10);
    let wide = core | read!(v11 v12 v13);
    assert_eq!(wide, all - Features::ACCELERATION_STRUCTURE);
    assert_eq!(
        core | read!(multiview address indexing rendering builds),
        all
    );
    // Without its extension, the feature does not count.
    let bare = vk::DeviceCreateInfo::default().push_next(&mut builds);
    assert_eq!(read(&bare), Features::NONE);
    // All three are needed.
    v12.runtime_descriptor_array = vk::FALSE;
    let enabled = read(&info().push_next(&mut v12));
    assert!(!enabled.contains(Features::DESCRIPTOR_INDEXING));
    assert_eq!(all - all, Features::NONE);
    assert_eq!(format!("{:?}", Features::NONE), "{}");
    assert_eq!(format!("{all:?}").split(',').count(), 14);
}

/// The names in an error of features that are not enabled.
fn names<T>(result: Result<T, Error>) -> (&'static str, Vec<&'static str>) {
    match result.map(drop) {
        Err(Error::NotEnabled { what, missing }) => (what, missing),
        other => panic!("{other:?}"),
    }
}

#[test]
fn features_that_are_not_enabled_are_named() {
    each(|setup| {
        let (instance, physical_device) = (&setup.context.instance, setup.context.physical_device);
        let raw = &setup.context.device;
        let with = |features| unsafe { Device::new(instance, physical_device, raw, features) };
        let none = with(WANTED - Features::REQUIRED);
        assert_eq!(names(none), ("throng", vec!["bufferDeviceAddress"]));
        with(Features::NONE)
            .fails("throng needs bufferDeviceAddress, which the device has not enabled");

        let bare = with(Features::REQUIRED).unwrap();
        let desc = CrowdDesc {
            skinned_usage: vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR,
            ..CrowdDesc::default()
        };
        let allocator = &mut setup.context.allocator();
        let built = Crowd::new(&bare, allocator, &desc).map(drop);
        assert_eq!(
            names(built),
            ("CrowdDesc::skinned_usage", vec!["accelerationStructure"])
        );
        let desc = CrowdDesc {
            stages: Stages::Gpu,
            rays: Some(RayDesc::default()),
            ..CrowdDesc::default()
        };
        let built = Crowd::new(&bare, allocator, &desc).map(drop);
        assert_eq!(
            names(built),
            ("CrowdDesc::rays", vec!["accelerationStructure"])
        );
        let desc = CrowdDesc {
            stages: stages(),
            capacity: Capacity { ..SMALL },
            ..CrowdDesc::default()
        };
        let mut crowd = Crowd::new(&bare, allocator, &desc).unwrap();
        let mut desc = PassDesc {
            color_formats: vec![COLOR],
            ..PassDesc::default()
        };
        let pass = names(unsafe { crowd.create_pass(&desc) });
        assert_eq!(
            pass,
            ("a PassDesc without a render pass", vec!["dynamicRendering"])
        );
        desc.color_formats = vec![COLOR, COLOR];
        let pass = names(unsafe { crowd.create_pass(&desc) });
        assert_eq!(pass, ("PassDesc::color_formats", vec!["independentBlend"]));
        desc.color_formats = vec![COLOR];
        desc.depth_clamp = true;
        let pass = names(unsafe { crowd.create_pass(&desc) });
        assert_eq!(pass, ("PassDesc::depth_clamp", vec!["depthClamp"]));
        unsafe { crowd.destroy(allocator) };
    });
}
