//! The instance, the validation layer and the debug messenger.

use crate::error::Check;
use crate::{Messages, Result, StandaloneError, advice, validation};
use ash::{Entry, ext, khr, vk};
use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

/// Settings for a new [`Context`](crate::Context).
#[derive(Clone, Copy)]
pub struct ContextDesc<'a> {
    /// The application's name, for drivers and tools.
    pub app_name: &'a str,
    /// The Vulkan entry points to use. `None` loads the system's Vulkan loader.
    pub entry: Option<&'a Entry>,
    /// Enables the validation layer.
    ///
    /// The default is true if the environment variable `THRONG_VALIDATION` is set to anything but
    /// `0`.
    ///
    /// It is `VK_LAYER_KHRONOS_validation` with synchronization validation, and collects every
    /// message of severity warning and above.
    ///
    /// # Hazards across submissions
    ///
    /// Layers before 1.3.275 check for hazards within one command buffer only. To check across
    /// submissions, they need this variable in the environment of the process before the instance
    /// is created:
    ///
    /// ```text
    /// VK_LAYER_ENABLES=VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT
    /// ```
    ///
    /// This repository's `.cargo/config.toml` sets it for every program that Cargo runs.
    /// [`Handles::across_submits`](crate::Handles::across_submits) tells if the check is active. A
    /// context that validates without it logs a warning.
    ///
    /// # Hazards of shaders
    ///
    /// Layers of 2025, such as 1.4.309, do not see the accesses of shaders to storage buffers,
    /// unless the environment has this variable, which `.cargo/config.toml` sets, too:
    ///
    /// ```text
    /// VK_KHRONOS_VALIDATION_SYNCVAL_SHADER_ACCESSES_HEURISTIC=true
    /// ```
    ///
    /// No layer sees accesses through device addresses.
    ///
    /// # Collected messages
    ///
    /// Messages of all types are collected, including performance warnings. Two kinds are only
    /// logged, because they are about the machine and not about the program: messages of the
    /// loader, for example about a driver that fails to load, and the layer's remarks on its own
    /// settings.
    ///
    /// It is an error if the layer is not installed. Validation that was asked for is never skipped
    /// silently.
    pub validation: bool,
    /// Samples textures anisotropically if the device supports it and is not a software driver.
    /// Pictures that are compared between devices do without.
    pub sampler_anisotropy: bool,
    /// Enables acceleration structures and ray queries (`VK_KHR_ray_query`). Devices without them
    /// are rejected.
    pub rays: bool,
}

impl Default for ContextDesc<'_> {
    fn default() -> Self {
        Self {
            app_name: "throng",
            entry: None,
            validation: std::env::var_os("THRONG_VALIDATION").is_some_and(|value| value != "0"),
            sampler_anisotropy: true,
            rays: false,
        }
    }
}

/// Owns the instance. Destroys the messenger first, then the instance.
pub(crate) struct Instance {
    pub(crate) entry: Entry,
    pub(crate) instance: ash::Instance,
    pub(crate) debug_utils: bool,
    pub(crate) across_submits: bool,
    pub(crate) messages: Messages,
    /// The enabled extensions for creating surfaces.
    surface_extensions: Vec<&'static CStr>,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
}

/// Layers, extensions and flags to create the instance with.
struct Plan {
    layers: Vec<*const c_char>,
    extensions: Vec<*const c_char>,
    flags: vk::InstanceCreateFlags,
    debug_utils: bool,
    across_submits: bool,
}

impl Instance {
    /// Creates the instance.
    ///
    /// `surface_extensions` lists the extensions that surfaces of the window system need.
    pub(crate) fn new(
        desc: &ContextDesc<'_>,
        surface_extensions: &[&'static CStr],
    ) -> Result<Self> {
        let (app_name, validation) = (desc.app_name, desc.validation);
        let entry = match desc.entry {
            Some(entry) => entry.clone(),
            None => load()?,
        };
        let plan = Plan::new(&entry, validation, surface_extensions)?;
        let messages = Messages::default();
        let instance = create(&entry, app_name, validation, &plan, &messages)?;
        if desc.entry.is_none() {
            keep_drivers_loaded(&entry);
        }
        let mut owner = Self {
            entry,
            instance,
            debug_utils: plan.debug_utils,
            across_submits: plan.across_submits,
            messages,
            surface_extensions: surface_extensions.to_vec(),
            messenger: None,
        };
        if validation {
            owner.listen()?;
        }
        Ok(owner)
    }

    /// Fails if surfaces that need these extensions cannot be created.
    pub(crate) fn check_surface_extensions(&self, needed: &[&'static CStr]) -> Result<()> {
        let missing = needed.iter().find(|e| !self.surface_extensions.contains(e));
        missing.map_or(Ok(()), |name| Err(missing_extension(name)))
    }

    fn listen(&mut self) -> Result<()> {
        let loader = ext::debug_utils::Instance::new(&self.entry, &self.instance);
        // SAFETY: the extension is enabled, and `self.messages` outlives the messenger.
        let messenger =
            unsafe { loader.create_debug_utils_messenger(&self.messages.messenger(), None) }
                .check("vkCreateDebugUtilsMessengerEXT")?;
        self.messenger = Some((loader, messenger));
        Ok(())
    }
}

/// Keeps the loader and all drivers in memory until the process ends.
///
/// Without an instance the loader unloads drivers. NVIDIA's (580.159) leaves a destructor behind in
/// each thread that destroyed a device, and such a thread crashes when it ends.
fn keep_drivers_loaded(entry: &Entry) {
    static KEPT: OnceLock<Option<(Entry, ash::Instance)>> = OnceLock::new();
    KEPT.get_or_init(|| {
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&app);
        // SAFETY: the info is alive during the call, and the instance is never destroyed.
        let instance = unsafe { entry.create_instance(&info, None) }.ok()?;
        Some((entry.clone(), instance))
    });
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: device and surfaces are destroyed before their instance, by `Handles`,
        // `Swapchain` and `Context::for_window`.
        unsafe {
            if let Some((loader, messenger)) = self.messenger.take() {
                loader.destroy_debug_utils_messenger(messenger, None);
            }
            self.instance.destroy_instance(None);
        }
    }
}

impl Plan {
    fn new(entry: &Entry, validation: bool, surface: &[&'static CStr]) -> Result<Self> {
        let offered = extensions(entry, None)?;
        let has = |name: &CStr| offered.iter().any(|e| e.as_c_str() == name);
        let mut plan = Self {
            layers: Vec::new(),
            extensions: Vec::new(),
            flags: vk::InstanceCreateFlags::empty(),
            debug_utils: has(ext::debug_utils::NAME),
            across_submits: false,
        };
        for &name in surface {
            if !has(name) {
                return Err(missing_extension(name));
            }
            plan.extensions.push(name.as_ptr());
        }
        if has(khr::portability_enumeration::NAME) {
            plan.extensions
                .push(khr::portability_enumeration::NAME.as_ptr());
            plan.flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        if validation {
            plan.validate(entry)?;
        }
        if plan.debug_utils {
            plan.extensions.push(ext::debug_utils::NAME.as_ptr());
        }
        Ok(plan)
    }

    fn validate(&mut self, entry: &Entry) -> Result<()> {
        let version = layer_version(entry, validation::LAYER)?;
        let offered = extensions(entry, Some(validation::LAYER))?;
        let has = |name: &CStr| offered.iter().any(|e| e.as_c_str() == name);
        if !has(ext::validation_features::NAME) {
            return Err(missing_extension(ext::validation_features::NAME));
        }
        self.debug_utils |= has(ext::debug_utils::NAME);
        if !self.debug_utils {
            return Err(missing_extension(ext::debug_utils::NAME));
        }
        self.layers.push(validation::LAYER.as_ptr());
        self.extensions
            .push(ext::validation_features::NAME.as_ptr());
        self.across_submits = validation::sees_across_submits(version);
        if !self.across_submits {
            log::warn!(
                "hazards across submissions are not checked: set {}={} before the process starts",
                validation::ENABLES_VARIABLE,
                validation::ACROSS_SUBMITS
            );
        }
        Ok(())
    }
}

fn create(
    entry: &Entry,
    app_name: &str,
    validation: bool,
    plan: &Plan,
    messages: &Messages,
) -> Result<ash::Instance> {
    let app_name = CString::new(app_name.replace('\0', "")).unwrap_or_default();
    let app = vk::ApplicationInfo::default()
        .application_name(&app_name)
        .engine_name(c"throng")
        .api_version(vk::API_VERSION_1_3);
    let enabled = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
    // Chained to the instance, so that its creation and destruction are checked as well.
    let mut messenger = messages.messenger();
    let mut info = vk::InstanceCreateInfo::default()
        .flags(plan.flags)
        .application_info(&app)
        .enabled_layer_names(&plan.layers)
        .enabled_extension_names(&plan.extensions);
    if validation {
        info = info.push_next(&mut features).push_next(&mut messenger);
    }
    // SAFETY: everything that `info` points to lives until the call returns.
    match unsafe { entry.create_instance(&info, None) } {
        Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER) => Err(no_driver()),
        created => created.check("vkCreateInstance"),
    }
}

/// The entry points of the system's Vulkan loader.
fn load() -> Result<Entry> {
    // SAFETY: running the Vulkan loader's initialisers is sound.
    unsafe { Entry::load() }.map_err(|error| StandaloneError::Missing {
        what: format!("there is no Vulkan loader ({error})"),
        advice: advice::LOADER.into(),
    })
}

fn layer_version(entry: &Entry, layer: &CStr) -> Result<u32> {
    // SAFETY: the entry is loaded.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }
        .check("vkEnumerateInstanceLayerProperties")?;
    layers
        .iter()
        .find(|found| found.layer_name_as_c_str() == Ok(layer))
        .map(|found| found.spec_version)
        .ok_or_else(|| StandaloneError::Missing {
            what: format!("layer {} is not installed", layer.to_string_lossy()),
            advice: advice::LAYER.into(),
        })
}

fn extensions(entry: &Entry, layer: Option<&CStr>) -> Result<Vec<CString>> {
    // SAFETY: the entry is loaded, and `layer` is the name of an enumerated layer.
    let found = unsafe { entry.enumerate_instance_extension_properties(layer) }
        .check("vkEnumerateInstanceExtensionProperties")?;
    Ok(names(&found))
}

pub(crate) fn names(found: &[vk::ExtensionProperties]) -> Vec<CString> {
    found
        .iter()
        .filter_map(|e| e.extension_name_as_c_str().ok())
        .map(CStr::to_owned)
        .collect()
}

/// The error of a machine without a driver that works.
pub(crate) fn no_driver() -> StandaloneError {
    StandaloneError::Missing {
        what: "there is no Vulkan driver that works".into(),
        advice: advice::driver(),
    }
}

fn missing_extension(name: &CStr) -> StandaloneError {
    let name = name.to_string_lossy();
    StandaloneError::Missing {
        what: format!("instance extension {name} is not available"),
        advice: match name.ends_with("_surface") {
            true => format!("to draw to windows of this system, {}", advice::driver()),
            false => String::new(),
        },
    }
}
