//! A simulated window system that behaves as Android's: one screen, which rotates.
//!
//! Images of its swapchains are plain images. Acquiring and presenting signal semaphores and wait
//! for them by submissions, so that the validation layer checks their use.

use crate::driver::{SURFACES, SWAPCHAINS, answer, count, lock, with_device};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Mutex;
use throng::ash::{self, vk};
use winit::raw_window_handle::{
    AndroidNdkWindowHandle, DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle,
    RawWindowHandle, WindowHandle,
};

pub(crate) const UPRIGHT: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 128,
};
pub(crate) const FORMAT: vk::Format = vk::Format::R8G8B8A8_SRGB;

/// A window of the simulated screen, with its number. It can have one surface at a time.
#[derive(Debug)]
pub(crate) struct Window(pub(crate) usize);

impl HasWindowHandle for Window {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        let number = std::ptr::without_provenance_mut(self.0);
        let raw = AndroidNdkWindowHandle::new(NonNull::new(number).unwrap());
        // SAFETY: the simulated screen takes the handle for a number.
        Ok(unsafe { WindowHandle::borrow_raw(RawWindowHandle::AndroidNdk(raw)) })
    }
}

impl HasDisplayHandle for Window {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        Ok(DisplayHandle::android())
    }
}

/// What the screen is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// The extent of its window. All ones if the images decide.
    pub(crate) window: vk::Extent2D,
    pub(crate) transform: vk::SurfaceTransformFlagsKHR,
    pub(crate) transforms: vk::SurfaceTransformFlagsKHR,
    pub(crate) format: vk::Format,
}

const FIRST: Screen = Screen {
    window: UPRIGHT,
    transform: vk::SurfaceTransformFlagsKHR::IDENTITY,
    transforms: vk::SurfaceTransformFlagsKHR::from_raw(0x1ff),
    format: FORMAT,
};

struct Surface {
    window: usize,
    lost: bool,
    /// The swapchain that is not retired.
    swapchain: u64,
}

struct Swapchain {
    surface: u64,
    transform: vk::SurfaceTransformFlagsKHR,
    images: Vec<(vk::Image, vk::DeviceMemory)>,
    acquired: Vec<bool>,
    next: usize,
}

struct State {
    screen: Screen,
    handles: u64,
    surfaces: BTreeMap<u64, Surface>,
    swapchains: BTreeMap<u64, Swapchain>,
    /// The transform and the extent of every swapchain that was created.
    created: Vec<(vk::SurfaceTransformFlagsKHR, vk::Extent2D)>,
}

static STATE: Mutex<State> = Mutex::new(State {
    screen: FIRST,
    handles: 0x5000,
    surfaces: BTreeMap::new(),
    swapchains: BTreeMap::new(),
    created: Vec::new(),
});

/// Makes the screen as it is at first.
pub(crate) fn reset() {
    set(FIRST);
    created();
}

pub(crate) fn set(screen: Screen) {
    lock(&STATE).screen = screen;
}

/// Turns the screen. Its window gets this extent.
pub(crate) fn turn(transform: vk::SurfaceTransformFlagsKHR, window: vk::Extent2D) {
    let screen = &mut lock(&STATE).screen;
    (screen.transform, screen.window) = (transform, window);
}

/// Takes all surfaces away.
pub(crate) fn lose() {
    for surface in lock(&STATE).surfaces.values_mut() {
        surface.lost = true;
    }
}

/// The transform and extent of the swapchains that were created since this was called last.
pub(crate) fn created() -> Vec<(vk::SurfaceTransformFlagsKHR, vk::Extent2D)> {
    std::mem::take(&mut lock(&STATE).created)
}

/// The simulated function of this name.
pub(crate) fn function(name: &str) -> Option<*const c_void> {
    Some(match name {
        "vkCreateAndroidSurfaceKHR" => create_surface as *const c_void,
        "vkDestroySurfaceKHR" => destroy_surface as *const c_void,
        "vkGetPhysicalDeviceSurfaceSupportKHR" => support as *const c_void,
        "vkGetPhysicalDeviceSurfaceCapabilitiesKHR" => capabilities as *const c_void,
        "vkGetPhysicalDeviceSurfaceFormatsKHR" => formats as *const c_void,
        "vkGetPhysicalDeviceSurfacePresentModesKHR" => present_modes as *const c_void,
        "vkCreateSwapchainKHR" => create_swapchain as *const c_void,
        "vkDestroySwapchainKHR" => destroy_swapchain as *const c_void,
        "vkGetSwapchainImagesKHR" => images as *const c_void,
        "vkAcquireNextImageKHR" => acquire as *const c_void,
        "vkQueuePresentKHR" => present as *const c_void,
        _ => return None,
    })
}

type Device = *mut c_void;

/// The answer of a call about a surface. A surface that is lost stays lost.
fn about(call: &'static str, surface: u64) -> Option<vk::Result> {
    let lost = vk::Result::ERROR_SURFACE_LOST_KHR;
    let answer = answer(call);
    let mut state = lock(&STATE);
    let surface = state.surfaces.get_mut(&surface).expect("a live surface");
    surface.lost |= answer == Some(lost);
    answer.or_else(|| surface.lost.then_some(lost))
}

unsafe extern "system" fn create_surface(
    _: Device,
    info: *const vk::AndroidSurfaceCreateInfoKHR<'_>,
    _: *const c_void,
    out: *mut u64,
) -> vk::Result {
    if let Some(answer) = answer("vkCreateAndroidSurfaceKHR") {
        return answer;
    }
    let window = unsafe { (*info).window }.addr();
    let mut state = lock(&STATE);
    if state.surfaces.values().any(|other| other.window == window) {
        return vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR;
    }
    state.handles += 1;
    let handle = state.handles;
    let surface = Surface {
        window,
        lost: false,
        swapchain: 0,
    };
    state.surfaces.insert(handle, surface);
    unsafe { *out = handle };
    count(SURFACES, 1);
    vk::Result::SUCCESS
}

unsafe extern "system" fn destroy_surface(_: Device, surface: u64, _: *const c_void) {
    let mut state = lock(&STATE);
    if state.surfaces.remove(&surface).is_some() {
        count(SURFACES, -1);
    }
    let mut swapchains = state.swapchains.values();
    assert!(
        swapchains.all(|s| s.surface != surface),
        "it has swapchains"
    );
}

unsafe extern "system" fn support(_: Device, _: u32, surface: u64, out: *mut u32) -> vk::Result {
    if let Some(answer) = about("vkGetPhysicalDeviceSurfaceSupportKHR", surface) {
        return answer;
    }
    unsafe { *out = vk::TRUE };
    vk::Result::SUCCESS
}

unsafe extern "system" fn capabilities(
    _: Device,
    surface: u64,
    out: *mut vk::SurfaceCapabilitiesKHR,
) -> vk::Result {
    if let Some(answer) = about("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", surface) {
        return answer;
    }
    let screen = lock(&STATE).screen;
    let side = |width| vk::Extent2D {
        width,
        height: width,
    };
    let capabilities = vk::SurfaceCapabilitiesKHR {
        min_image_count: 2,
        max_image_count: 3,
        current_extent: screen.window,
        min_image_extent: side(1),
        max_image_extent: side(4096),
        max_image_array_layers: 1,
        supported_transforms: screen.transforms,
        current_transform: screen.transform,
        supported_composite_alpha: vk::CompositeAlphaFlagsKHR::INHERIT,
        supported_usage_flags: vk::ImageUsageFlags::COLOR_ATTACHMENT,
    };
    unsafe { *out = capabilities };
    vk::Result::SUCCESS
}

/// Writes a list as functions that enumerate something do.
unsafe fn list<T>(items: &[T], number: *mut u32, out: *mut T) -> vk::Result {
    unsafe {
        if !out.is_null() {
            assert!(*number as usize >= items.len());
            out.copy_from_nonoverlapping(items.as_ptr(), items.len());
        }
        *number = items.len() as u32;
    }
    vk::Result::SUCCESS
}

unsafe extern "system" fn formats(
    _: Device,
    surface: u64,
    number: *mut u32,
    out: *mut vk::SurfaceFormatKHR,
) -> vk::Result {
    if let Some(answer) = about("vkGetPhysicalDeviceSurfaceFormatsKHR", surface) {
        return answer;
    }
    let format = lock(&STATE).screen.format;
    let color_space = vk::ColorSpaceKHR::SRGB_NONLINEAR;
    let format = vk::SurfaceFormatKHR {
        format,
        color_space,
    };
    unsafe { list(&[format], number, out) }
}

unsafe extern "system" fn present_modes(
    _: Device,
    surface: u64,
    number: *mut u32,
    out: *mut vk::PresentModeKHR,
) -> vk::Result {
    if let Some(answer) = about("vkGetPhysicalDeviceSurfacePresentModesKHR", surface) {
        return answer;
    }
    unsafe { list(&[vk::PresentModeKHR::FIFO], number, out) }
}

unsafe extern "system" fn create_swapchain(
    _: Device,
    info: *const vk::SwapchainCreateInfoKHR<'_>,
    _: *const c_void,
    out: *mut u64,
) -> vk::Result {
    use vk::Handle;
    let info = unsafe { &*info };
    let (surface, old) = (info.surface.as_raw(), info.old_swapchain.as_raw());
    let answer = about("vkCreateSwapchainKHR", surface);
    let mut state = lock(&STATE);
    let screen = state.screen;
    let shown = state.surfaces.get_mut(&surface).expect("a live surface");
    if shown.swapchain != 0 && shown.swapchain != old {
        return vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR;
    }
    // The old one is retired even if the new one cannot be created.
    shown.swapchain = 0;
    if let Some(answer) = answer {
        return answer;
    }
    assert!(screen.transforms.contains(info.pre_transform));
    assert_eq!(info.pre_transform.as_raw().count_ones(), 1);
    assert_eq!(info.composite_alpha, vk::CompositeAlphaFlagsKHR::INHERIT);
    assert_eq!(
        (info.min_image_count, info.image_format),
        (3, screen.format)
    );
    state.created.push((info.pre_transform, info.image_extent));
    let images: Vec<_> = (0..info.min_image_count).map(|_| image(info)).collect();
    state.handles += 1;
    let handle = state.handles;
    let swapchain = Swapchain {
        surface,
        transform: info.pre_transform,
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

unsafe extern "system" fn destroy_swapchain(_: Device, swapchain: u64, _: *const c_void) {
    let mut state = lock(&STATE);
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

unsafe extern "system" fn images(
    _: Device,
    swapchain: u64,
    number: *mut u32,
    out: *mut vk::Image,
) -> vk::Result {
    if let Some(answer) = answer("vkGetSwapchainImagesKHR") {
        return answer;
    }
    let state = lock(&STATE);
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

unsafe extern "system" fn acquire(
    _: Device,
    swapchain: u64,
    timeout: u64,
    signalled: vk::Semaphore,
    _: vk::Fence,
    out: *mut u32,
) -> vk::Result {
    assert!(timeout < u64::MAX);
    let surface = lock(&STATE).swapchains[&swapchain].surface;
    let answer = about("vkAcquireNextImageKHR", surface);
    let answer = answer.unwrap_or(vk::Result::SUCCESS);
    // Suboptimal is a success.
    if answer.as_raw() < 0 {
        return answer;
    }
    let mut state = lock(&STATE);
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

unsafe extern "system" fn present(
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
    let surface = lock(&STATE).swapchains[&swapchain].surface;
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
    let mut state = lock(&STATE);
    let screen = state.screen;
    let swapchain = state.swapchains.get_mut(&swapchain).unwrap();
    assert!(swapchain.acquired[index], "it is not acquired");
    swapchain.acquired[index] = false;
    answer.unwrap_or(if swapchain.transform == screen.transform {
        vk::Result::SUCCESS
    } else {
        vk::Result::SUBOPTIMAL_KHR
    })
}
