//! A device that compiles pipelines and tells their statistics.

use crate::{Figures, Outcome};
use std::error::Error;
use std::ffi::CStr;
use std::ptr::NonNull;
use throng::ash::{self, khr, vk};
use throng::gpu::{Device, FeatureChain, Features, MemoryAllocator, MemoryBlock, MemoryRequest};
use throng::gpu_allocator::MemoryLocation;

/// The device, and what belongs to it. Nothing is ever submitted.
pub(crate) struct Compiler {
    pub(crate) gpu: Device,
    pub(crate) raw: ash::Device,
    /// Name and version of the driver.
    pub(crate) driver: String,
    statistics: khr::pipeline_executable_properties::Device,
    instance: ash::Instance,
    _entry: ash::Entry,
}

impl Compiler {
    pub(crate) fn new() -> Outcome<Self> {
        // SAFETY: the Vulkan loader is a library like any other. The handles belong together, and
        // the device is created with the features and the extension that are asked for.
        unsafe {
            let entry = ash::Entry::load()?;
            let app = vk::ApplicationInfo::default().api_version(Device::API_VERSION);
            let info = vk::InstanceCreateInfo::default().application_info(&app);
            let instance = entry.create_instance(&info, None)?;
            let devices = instance.enumerate_physical_devices()?;
            let physical_device = *devices.first().ok_or("there is no device")?;
            let mut driver = vk::PhysicalDeviceDriverProperties::default();
            let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
            instance.get_physical_device_properties2(physical_device, &mut properties);
            let text = |text: &[std::ffi::c_char]| {
                CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
            };
            // The second part of the information is a revision, which packages change.
            let version = text(&driver.driver_info);
            let version = version.split(" (").next().unwrap_or_default();
            let driver = format!("{} {version}", text(&driver.driver_name));
            let queue = vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0]);
            let queues = [queue];
            let extensions = [khr::pipeline_executable_properties::NAME.as_ptr()];
            let mut statistics =
                vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
                    .pipeline_executable_info(true);
            // Every GPU here has this feature. Without it, vertex shaders read where the lists of
            // the stage cull start.
            let enabled = Features::REQUIRED
                | Features::DYNAMIC_RENDERING
                | Features::DRAW_INDIRECT_FIRST_INSTANCE;
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .push_next(&mut statistics);
            let mut chain = FeatureChain::new(enabled);
            let info = chain.add_to(info);
            let raw = instance.create_device(physical_device, &info, None)?;
            let gpu = Device::new(&instance, physical_device, &raw, enabled)?;
            let flags = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
            Ok(Self {
                gpu: gpu.with_pipeline_flags(flags),
                driver,
                statistics: khr::pipeline_executable_properties::Device::new(&instance, &raw),
                raw,
                instance,
                _entry: entry,
            })
        }
    }

    /// The figures of each stage of a pipeline, with the stage's name.
    pub(crate) fn figures(&self, pipeline: vk::Pipeline) -> Outcome<Vec<(String, Figures)>> {
        let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
        // SAFETY: the pipeline belongs to the device, which has the extension, and was created with
        // CAPTURE_STATISTICS.
        let stages = unsafe { self.statistics.get_pipeline_executable_properties(&info) }?;
        let mut all = Vec::new();
        for (index, stage) in (0..).zip(&stages) {
            let info = vk::PipelineExecutableInfoKHR::default()
                .pipeline(pipeline)
                .executable_index(index);
            // SAFETY: as above.
            let found = unsafe { self.statistics.get_pipeline_executable_statistics(&info) }?;
            let value = |name: &str| {
                let mut named = found.iter().filter(|it| {
                    let found = it.name_as_c_str();
                    found.is_ok_and(|found| found.to_bytes() == name.as_bytes())
                });
                // SAFETY: all statistics that are asked for are unsigned numbers in this driver.
                named.next().map_or(0, |it| unsafe { it.value.u64 })
            };
            let name = stage.name_as_c_str()?.to_string_lossy().into_owned();
            let figures = Figures {
                instructions: value("Instructions"),
                valu: value("VALU"),
                vmem: value("VMEM"),
                smem: value("SMEM"),
                vgprs: value("VGPRs"),
                spills: value("Spilled VGPRs") + value("Spilled SGPRs"),
                waves: value("Subgroups per SIMD"),
                latency: value("Latency"),
                inverse_throughput: value("Inverse Throughput"),
                code_bytes: value("Code size"),
            };
            all.push((name, figures));
        }
        Ok(all)
    }

    /// Destroys the device. Everything made with it has been destroyed.
    pub(crate) fn destroy(self) {
        // SAFETY: nothing was submitted, and everything made with the device was destroyed.
        unsafe {
            self.raw.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// Memory of a device that never runs anything, so the CPU's is its own.
pub(crate) struct Idle(pub(crate) ash::Device);

/// The handle of its blocks: what the CPU may write.
struct Bytes(#[expect(dead_code, reason = "it is alive as long as the block")] Box<[u64]>);

// SAFETY: each block is a memory object of its own. Nothing is ever submitted, so the memory that
// the CPU sees need not be the device's. It is aligned for all types that are written.
unsafe impl MemoryAllocator for Idle {
    fn device(&self) -> vk::Device {
        self.0.handle()
    }

    fn allocate(
        &mut self,
        request: &MemoryRequest<'_>,
    ) -> Result<MemoryBlock, Box<dyn Error + Send + Sync>> {
        let size = request.requirements.size;
        let mut flags = vk::MemoryAllocateFlagsInfo::default();
        if request.device_address {
            flags = flags.flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        }
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(request.requirements.memory_type_bits.trailing_zeros())
            .push_next(&mut flags);
        // SAFETY: the device is alive, and the type is one of those that the request allows.
        let memory = unsafe { self.0.allocate_memory(&info, None) }?;
        let visible = request.location != MemoryLocation::GpuOnly;
        let words = if visible { size as usize / 8 + 8 } else { 0 };
        let mut bytes = vec![0_u64; words].into_boxed_slice();
        // Mapped memory is aligned to 64 bytes.
        let start = bytes.as_mut_ptr().cast::<u8>();
        let start = start.wrapping_add(start.align_offset(64));
        Ok(MemoryBlock {
            memory,
            offset: 0,
            mapped: NonNull::new(start).filter(|_| visible),
            handle: Box::new(Bytes(bytes)),
        })
    }

    unsafe fn free(&mut self, block: MemoryBlock) -> Result<(), Box<dyn Error + Send + Sync>> {
        // SAFETY: the block is one of this allocator, and nothing uses it.
        unsafe { self.0.free_memory(block.memory, None) };
        Ok(())
    }
}
