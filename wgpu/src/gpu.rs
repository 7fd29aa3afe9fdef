//! The device: opened with what throng needs, and shared by crowds and encoders.

use crate::error::{Error, Result};
use core::fmt;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::AtomicU32;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use throng::ash::{self, vk};
use throng::gpu::{self, FeatureChain, Features, GpuAllocator};
use throng::gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use wgpu::hal::vulkan::{Adapter, Api as Vulkan, CreateDeviceCallback};

/// A device and queue of wgpu that crowds can use, and the memory of these crowds.
///
/// It is a handle: clones are the same device. [`Self::device`] and [`Self::queue`] are those of
/// wgpu, for everything else that the program draws.
///
/// ```no_run
/// use throng_wgpu::{Crowd, Error, Gpu, wgpu};
///
/// fn open(adapter: &wgpu::Adapter) -> Result<(Gpu, Crowd), Error> {
///     let gpu = Gpu::open(adapter, &wgpu::DeviceDescriptor::default())?;
///     let crowd = Crowd::new(&gpu, &throng::CrowdDesc::default())?;
///     let _buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
///         label: None,
///         size: 256,
///         usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
///         mapped_at_creation: false,
///     });
///     Ok((gpu, crowd))
/// }
/// ```
#[derive(Clone)]
pub struct Gpu {
    pub(crate) shared: Arc<Shared>,
    /// Commands in flight have weak handles of it.
    queue: Arc<wgpu::Queue>,
}

/// The objects that outlive everything made with them.
///
/// It does not own the queue: callbacks of submissions own it, and the queue owns these.
pub(crate) struct Shared {
    /// Dropped before the device, whose memory it frees.
    allocator: Mutex<Allocator>,
    pub(crate) throng: gpu::Device,
    pub(crate) raw: ash::Device,
    pub(crate) adapter: wgpu::Adapter,
    pub(crate) device: wgpu::Device,
    /// Samplers that bind groups have.
    pub(crate) samplers: AtomicU32,
}

impl Gpu {
    /// Opens a device with what `desc` requires, and what throng needs besides.
    ///
    /// It enables more than [`wgpu::Adapter::request_device`]: the Vulkan features
    /// `bufferDeviceAddress` and `dynamicRendering`, descriptor indexing unless `desc` requires
    /// binding arrays, and where they exist [`wgpu::Features::INDIRECT_FIRST_INSTANCE`] and the
    /// features of compressed textures (BC, ETC2 and ASTC).
    ///
    /// # Errors
    /// - [`Error::Backend`] if the adapter is not one of Vulkan.
    /// - [`throng::Error::Unsupported`] if it lacks what throng needs.
    /// - [`Error::Features`], [`Error::Experimental`] and [`Error::Limit`] if it lacks what `desc`
    ///   requires.
    /// - [`Error::Device`], [`Error::RequestDevice`] and others from the device.
    pub fn open(adapter: &wgpu::Adapter, desc: &wgpu::DeviceDescriptor<'_>) -> Result<Self> {
        let wanted = wgpu::Features::INDIRECT_FIRST_INSTANCE
            | wgpu::Features::TEXTURE_COMPRESSION_BC
            | wgpu::Features::TEXTURE_COMPRESSION_ETC2
            | wgpu::Features::TEXTURE_COMPRESSION_ASTC;
        let wanted = wanted & adapter.features();
        let desc = wgpu::DeviceDescriptor {
            required_features: desc.required_features | wanted,
            ..desc.clone()
        };
        // SAFETY: the adapter is not destroyed through the guard.
        let guard = unsafe { adapter.as_hal::<Vulkan>() };
        let hal = guard.ok_or_else(|| Error::Backend(adapter.get_info().backend))?;
        check(adapter, &desc)?;
        let (open, enabled) = open(&hal, &desc)?;
        // SAFETY: the device was opened from this adapter, with the features of `desc`.
        let (device, queue) = unsafe { adapter.create_device_from_hal::<Vulkan>(open, &desc)? };
        drop(hal);
        // SAFETY: `open` enabled the features, and checked the version.
        unsafe { Self::of(adapter, device, queue, enabled) }
    }

    /// A device that is open.
    ///
    /// # Safety
    /// The device is one of Vulkan 1.3, was opened from the adapter with these features, and the
    /// queue is the device's. [`Features::MULTIVIEW`] is added here, if wgpu has it.
    pub(crate) unsafe fn of(
        adapter: &wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        mut enabled: Features,
    ) -> Result<Self> {
        if device.features().contains(wgpu::Features::MULTIVIEW) {
            enabled |= Features::MULTIVIEW;
        }
        let backend = || Error::Backend(adapter.get_info().backend);
        // SAFETY: neither is destroyed through its guard.
        let (hal, open) = unsafe { (adapter.as_hal::<Vulkan>(), device.as_hal::<Vulkan>()) };
        let (hal, open) = (hal.ok_or_else(backend)?, open.ok_or_else(backend)?);
        let raw = open.raw_device().clone();
        drop(open);
        let physical_device = hal.raw_physical_device();
        let instance = hal.shared_instance().raw_instance();
        // SAFETY: the handles belong together. `Shared` keeps the device alive, and that its
        // instance. It has the features, and the version, by this function's contract.
        let throng = unsafe { gpu::Device::new(instance, physical_device, &raw, enabled)? };
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: raw.clone(),
            physical_device,
            debug_settings: Default::default(),
            buffer_device_address: true,
            allocation_sizes: Default::default(),
        });
        let allocator = allocator.map_err(|why| throng::Error::Memory {
            name: "allocator".into(),
            bytes: 0,
            why: Box::<dyn std::error::Error + Send + Sync>::from(why).into(),
        })?;
        let shared = Shared {
            allocator: Mutex::new(allocator),
            throng,
            raw,
            adapter: adapter.clone(),
            device,
            samplers: AtomicU32::new(0),
        };
        let shared = Arc::new(shared);
        let queue = Arc::new(queue);
        Ok(Self { shared, queue })
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.shared.device
    }

    /// The queue of all submissions.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// The adapter that the device was opened from.
    #[must_use]
    pub fn adapter(&self) -> &wgpu::Adapter {
        &self.shared.adapter
    }

    pub(crate) fn weak_queue(&self) -> Weak<wgpu::Queue> {
        Arc::downgrade(&self.queue)
    }

    /// Lets wgpu find out what has ended, and call callbacks that are due.
    pub(crate) fn poll(&self, poll: wgpu::PollType) -> Result<()> {
        let poll = || self.device().poll(poll).map(drop).map_err(Error::Wait);
        self.unless_lost(poll)
    }

    /// True if wgpu knows that the device is lost or destroyed.
    pub(crate) fn is_lost(&self) -> bool {
        let mut encoder = self.device().create_command_encoder(&Default::default());
        // SAFETY: nothing is recorded.
        unsafe { encoder.as_hal_mut::<Vulkan, _, _>(|hal| hal.is_none()) }
    }

    /// Runs `call`, in which wgpu panics if the device is lost, and returns an error then.
    ///
    /// Other panics, such as those of the program's callbacks, go on.
    pub(crate) fn unless_lost<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>();
            let is_fatal = text.is_some_and(|text| text.starts_with("Error in "));
            match is_fatal && self.is_lost() {
                true => Err(Error::DeviceLost),
                false => resume_unwind(panic),
            }
        })
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.adapter().get_info().name;
        f.debug_struct("Gpu")
            .field("name", &name)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// The allocator of everything that throng makes with this device.
    pub(crate) fn allocator(&self) -> GpuAllocator<MutexGuard<'_, Allocator>> {
        let locked = self.allocator.lock();
        let locked = locked.unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the allocator was made for this device, with device addresses, and is the only
        // one. Crowds hold `Shared`, so it lives longer than they do.
        unsafe { GpuAllocator::new(&self.raw, locked) }
    }
}

/// Checks what wgpu checks in `request_device`, but not in `create_device_from_hal`.
fn check(adapter: &wgpu::Adapter, desc: &wgpu::DeviceDescriptor<'_>) -> Result<()> {
    let missing = desc.required_features - adapter.features();
    if !missing.is_empty() {
        return Err(Error::Features(missing));
    }
    let experimental = desc.required_features & wgpu::Features::all_experimental_mask();
    if !experimental.is_empty() && !desc.experimental_features.is_enabled() {
        return Err(Error::Experimental(experimental));
    }
    let mut failed = Ok(());
    let allowed = adapter.limits();
    let limits = &desc.required_limits;
    limits.check_limits_with_fail_fn(&allowed, true, |name, asked, allowed| {
        failed = Err(Error::Limit {
            name,
            asked,
            allowed,
        });
    });
    failed
}

/// Opens a device of Vulkan. Returns it with the features that throng may use.
fn open(
    adapter: &Adapter,
    desc: &wgpu::DeviceDescriptor<'_>,
) -> Result<(wgpu::hal::OpenDevice<Vulkan>, Features)> {
    let instance = adapter.shared_instance();
    let supported = supported(adapter)?;
    // wgpu chains these structures itself for some features, and Vulkan allows each of them once.
    let chains_address = adapter
        .required_device_extensions(desc.required_features)
        .contains(&ash::khr::buffer_device_address::NAME);
    let chains_indexing = desc.required_features.intersects(INDEXING);
    let mut own = Features::DYNAMIC_RENDERING;
    if !chains_address {
        own |= Features::REQUIRED;
    }
    if !chains_indexing && supported.contains(Features::DESCRIPTOR_INDEXING) {
        own |= Features::DESCRIPTOR_INDEXING;
    }
    let mut chain = FeatureChain::new(own);
    let mut enabled = own | Features::REQUIRED;
    if instance.extensions().contains(&ash::ext::debug_utils::NAME) {
        enabled |= Features::DEBUG_UTILS;
    }
    let (chain, found) = (&mut chain, &mut enabled);
    let callback: Box<CreateDeviceCallback<'_>> = Box::new(move |args| {
        let core = args.device_features.get_core();
        let with_core = vk::DeviceCreateInfo::default().enabled_features(&core);
        // SAFETY: `with_core` has valid features, and neither a chain nor extensions.
        *found |= unsafe { Features::of_device(&with_core) };
        // SAFETY: nothing is chained yet, the extension names are valid, and the device supports
        // the features.
        *args.create_info = unsafe { chain.add_to(*args.create_info) };
    });
    // SAFETY: `check` found the features and limits, and `supported` those that the callback adds.
    let open = unsafe {
        adapter.open_with_callback(
            desc.required_features,
            &desc.required_limits,
            &desc.memory_hints,
            Some(callback),
        )
    };
    Ok((open.map_err(Error::Device)?, enabled))
}

/// The features that a device of this adapter can have, if throng can use it.
pub(crate) fn supported(adapter: &Adapter) -> Result<Features> {
    let instance = adapter.shared_instance();
    let properties = adapter.physical_device_capabilities().properties();
    let name = properties.device_name_as_c_str().unwrap_or_default();
    let lacks = |missing| throng::Error::Unsupported {
        device: name.to_string_lossy().into(),
        missing: vec![missing],
    };
    if instance.instance_api_version() < gpu::Device::API_VERSION {
        return Err(lacks("Vulkan 1.3 of the loader").into());
    }
    let physical_device = adapter.raw_physical_device();
    // SAFETY: the adapter keeps both alive. wgpu makes instances for Vulkan 1.3, if the loader has
    // it.
    let supported = unsafe { Features::supported(instance.raw_instance(), physical_device)? };
    match supported.contains(Features::DYNAMIC_RENDERING) {
        true => Ok(supported),
        false => Err(lacks("dynamicRendering").into()),
    }
}

/// The features for which wgpu chains the structure of descriptor indexing.
const INDEXING: wgpu::Features = wgpu::Features::TEXTURE_BINDING_ARRAY
    .union(wgpu::Features::BUFFER_BINDING_ARRAY)
    .union(wgpu::Features::STORAGE_RESOURCE_BINDING_ARRAY)
    .union(wgpu::Features::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING)
    .union(wgpu::Features::STORAGE_TEXTURE_ARRAY_NON_UNIFORM_INDEXING)
    .union(wgpu::Features::UNIFORM_BUFFER_BINDING_ARRAYS)
    .union(wgpu::Features::PARTIALLY_BOUND_BINDING_ARRAY);
