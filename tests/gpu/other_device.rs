//! Objects of another device, and destroyed ones.

use crate::misuse::is_argument;
use crate::reference::ribbon::{built, ribbon};
use crate::support::{Change, Setup, each};
use throng::ash::{self, vk};
use throng::gpu::{Device, FeatureChain, Features, SetLayout, SkinPipeline, SkinnedMesh, Upload};
use throng::palette::SkinningMethod;
use throng_standalone::Handles;

/// A second device of the setup's physical device.
fn second_device(setup: &Setup) -> ash::Device {
    let context = &setup.context;
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(context.queue_family)
        .queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    let mut chain = FeatureChain::new(Features::REQUIRED);
    unsafe {
        let info = chain.add_to(info);
        let instance = &context.instance;
        Change::amid_use(|| instance.create_device(context.physical_device, &info, None))
    }
    .unwrap()
}

#[test]
fn objects_of_another_device_or_destroyed_ones_are_refused() {
    each(|setup| {
        let other = second_device(setup);
        let character = built(ribbon(3)).character;
        let method = SkinningMethod::Linear;
        let (device, again) = (setup.device(), setup.device());
        let Handles {
            instance,
            physical_device,
            ..
        } = &**setup.context;
        let foreign =
            unsafe { Device::new(instance, *physical_device, &other, Features::REQUIRED) };
        let foreign = foreign.unwrap();
        let allocator = &mut setup.context.allocator();
        let mut layout = SetLayout::new(&device).unwrap();
        is_argument(SkinPipeline::new(&foreign, &layout), "SetLayout");
        // Two values of one device are the same device.
        let mut pipeline = SkinPipeline::new(&again, &layout).unwrap();
        unsafe {
            pipeline.destroy(&again);
            layout.destroy(&device);
        }
        is_argument(SkinPipeline::new(&device, &layout), "SetLayout");

        let mut upload = Upload::default();
        let mesh = SkinnedMesh::new(&device, allocator, &mut upload, &character, method);
        let mut mesh = mesh.unwrap();
        let wrong = SkinnedMesh::new(&foreign, allocator, &mut upload, &character, method);
        is_argument(wrong, "Upload");
        unsafe {
            mesh.destroy(&device, allocator);
            upload.free(&device, allocator);
            Change::amid_use(|| other.destroy_device(None));
        }
    });
}
