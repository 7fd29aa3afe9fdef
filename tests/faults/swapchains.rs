//! Swapchains of the simulated window system.
//!
//! Their images are plain images. Acquiring and presenting signal semaphores and wait for them by
//! submissions, so that the validation layer checks their use.

use crate::driver::{answer, with_device};
use crate::objects::{SWAPCHAINS, count};
use crate::screen::{Device, FORMAT, Swapchain, about, list, state};
use std::ffi::c_void;
use throng::ash::{self, vk};

pub(crate) unsafe extern "system" fn create_swapchain(
    _: Device,
    info: *const vk::SwapchainCreateInfoKHR<'_>,
    _: *const c_void,
    out: *mut u64,
) -> vk::Result {
    use vk::Handle;
    let info = unsafe { &*info };
    let (surface, old) = (info.surface.as_raw(), info.old_swapchain.as_raw());
    let answer = about("vkCreateSwapchainKHR", surface);
    let mut state = state();
    let shown = state.surfaces.get_mut(&surface).expect("a live surface");
    if shown.swapchain != 0 && shown.swapchain != old {
        return vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR;
    }
    // The old one is retired even if the new one cannot be created.
    shown.swapchain = 0;
    if let Some(answer) = answer {
        return answer;
    }
    // The window system rotates the images.
    let identity = vk::SurfaceTransformFlagsKHR::IDENTITY;
    assert_eq!(info.pre_transform, identity);
    assert_eq!(info.composite_alpha, vk::CompositeAlphaFlagsKHR::INHERIT);
    assert_eq!((info.min_image_count, info.image_format), (3, FORMAT));
    let images: Vec<_> = (0..info.min_image_count).map(|_| image(info)).collect();
    state.handles += 1;
    let handle = state.handles;
    let swapchain = Swapchain {
        surface,
        acquired: vec![false; images.len()],
        images,
        next: 0,
    };
    state.swapchains.insert(handle, swapchain);
    state.surfaces.get_mut(&surface).unwrap().swapchain = handle;
    unsafe { *out = handle };
    count(SWAPCHAINS, 1);
    vk::Result::SUCCESS
}

/// An image for a swapchain, with its memory.
fn image(info: &vk::SwapchainCreateInfoKHR<'_>) -> (vk::Image, vk::DeviceMemory) {
    let image = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(info.image_format)
        .extent(info.image_extent.into())
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(info.image_usage);
    let make = |device: &ash::Device| unsafe {
        let image = device.create_image(&image, None).unwrap();
        let needs = device.get_image_memory_requirements(image);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(needs.memory_type_bits.trailing_zeros());
        let memory = device.allocate_memory(&info, None).unwrap();
        device.bind_image_memory(image, memory, 0).unwrap();
        (image, memory)
    };
    with_device(make).unwrap()
}

pub(crate) unsafe extern "system" fn destroy_swapchain(
    _: Device,
    swapchain: u64,
    _: *const c_void,
) {
    let mut state = state();
    let Some(gone) = state.swapchains.remove(&swapchain) else {
        assert_eq!(swapchain, 0, "it was destroyed before");
        return;
    };
    let surface = state.surfaces.get_mut(&gone.surface);
    let surface = surface.expect("its surface is alive");
    if surface.swapchain == swapchain {
        surface.swapchain = 0;
    }
    with_device(|device| unsafe {
        for (image, memory) in gone.images {
            device.destroy_image(image, None);
            device.free_memory(memory, None);
        }
    });
    count(SWAPCHAINS, -1);
}

pub(crate) unsafe extern "system" fn images(
    _: Device,
    swapchain: u64,
    number: *mut u32,
    out: *mut vk::Image,
) -> vk::Result {
    if let Some(answer) = answer("vkGetSwapchainImagesKHR") {
        return answer;
    }
    let state = state();
    let images = state.swapchains[&swapchain].images.iter();
    let images: Vec<_> = images.map(|(image, _)| *image).collect();
    unsafe { list(&images, number, out) }
}

/// Submits a signal or a wait of semaphores.
fn submit(info: vk::SubmitInfo2<'_>) {
    with_device(|device| unsafe {
        let queue = device.get_device_queue(0, 0);
        device.queue_submit2(queue, &[info], vk::Fence::null())
    })
    .unwrap()
    .unwrap();
}

fn semaphore(semaphore: vk::Semaphore) -> vk::SemaphoreSubmitInfo<'static> {
    vk::SemaphoreSubmitInfo::default()
        .semaphore(semaphore)
        .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
}

pub(crate) unsafe extern "system" fn acquire(
    _: Device,
    swapchain: u64,
    timeout: u64,
    signalled: vk::Semaphore,
    _: vk::Fence,
    out: *mut u32,
) -> vk::Result {
    assert!(timeout < u64::MAX);
    let surface = state().swapchains[&swapchain].surface;
    let answer = about("vkAcquireNextImageKHR", surface);
    let answer = answer.unwrap_or(vk::Result::SUCCESS);
    // Suboptimal is a success.
    if answer.as_raw() < 0 {
        return answer;
    }
    let mut state = state();
    let shown = state.surfaces[&surface].swapchain;
    let taken = state.swapchains.get_mut(&swapchain).unwrap();
    if shown != swapchain {
        return vk::Result::ERROR_OUT_OF_DATE_KHR;
    }
    let count = taken.images.len();
    let free = (0..count).map(|at| (taken.next + at) % count);
    let Some(index) = { free }.find(|&index| !taken.acquired[index]) else {
        return vk::Result::TIMEOUT;
    };
    taken.acquired[index] = true;
    taken.next = index + 1;
    submit(vk::SubmitInfo2::default().signal_semaphore_infos(&[semaphore(signalled)]));
    unsafe { *out = index as u32 };
    answer
}

pub(crate) unsafe extern "system" fn present(
    _: *mut c_void,
    info: *const vk::PresentInfoKHR<'_>,
) -> vk::Result {
    use vk::Handle;
    let info = unsafe { &*info };
    assert_eq!((info.swapchain_count, info.wait_semaphore_count), (1, 1));
    let (swapchain, index, waits) = unsafe {
        let index = *info.p_image_indices as usize;
        (
            (*info.p_swapchains).as_raw(),
            index,
            *info.p_wait_semaphores,
        )
    };
    let surface = state().swapchains[&swapchain].surface;
    let answer = about("vkQueuePresentKHR", surface);
    // With these results, the image is returned, and its semaphore was waited for.
    let returned = [
        vk::Result::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT,
        vk::Result::ERROR_OUT_OF_DATE_KHR,
        vk::Result::ERROR_SURFACE_LOST_KHR,
        vk::Result::SUBOPTIMAL_KHR,
    ];
    if let Some(answer) = answer.filter(|answer| !returned.contains(answer)) {
        return answer;
    }
    submit(vk::SubmitInfo2::default().wait_semaphore_infos(&[semaphore(waits)]));
    let mut state = state();
    let swapchain = state.swapchains.get_mut(&swapchain).unwrap();
    assert!(swapchain.acquired[index], "it is not acquired");
    swapchain.acquired[index] = false;
    answer.unwrap_or(vk::Result::SUCCESS)
}
