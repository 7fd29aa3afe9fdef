//! The validation layer and its messages.

use ash::vk;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";
/// The environment variable that configures old layers.
pub(crate) const ENABLES_VARIABLE: &str = "VK_LAYER_ENABLES";
/// The value of [`ENABLES_VARIABLE`] that makes old layers check across submissions.
pub(crate) const ACROSS_SUBMITS: &str =
    "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT";
/// The first version of the layer that checks across submissions by default.
const ACROSS_SUBMITS_SINCE: u32 = vk::make_api_version(0, 1, 3, 275);
/// Ids of messages about the machine, not about the program.
const NOT_THE_PROGRAM: [&str; 2] = ["Loader Message", "VALIDATION-SETTINGS"];

/// Switches the validation layer on or off.
///
/// [`Self::On`] enables `VK_LAYER_KHRONOS_validation` with synchronization validation, and
/// collects every message of severity warning and above.
///
/// # Hazards across submissions
///
/// Layers before 1.3.275 check for hazards within one command buffer only. To check across
/// submissions, they need this variable in the environment of the process before the instance is
/// created:
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
/// Layers of 2025, such as 1.4.309, do not see the accesses of shaders to storage buffers, unless
/// the environment has this variable, which `.cargo/config.toml` sets, too:
///
/// ```text
/// VK_KHRONOS_VALIDATION_SYNCVAL_SHADER_ACCESSES_HEURISTIC=true
/// ```
///
/// No layer sees accesses through device addresses.
///
/// # Collected messages
///
/// Messages of all types are collected, including performance warnings. Two kinds are only logged,
/// because they are about the machine and not about the program: messages of the loader, for
/// example about a driver that fails to load, and the layer's remarks on its own settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// No validation layer.
    #[default]
    Off,
    /// The Khronos layer with synchronization validation.
    ///
    /// It is an error if the layer is not installed. Validation that was asked for is never skipped
    /// silently.
    On,
}

impl Validation {
    /// `On` if the environment variable `THRONG_VALIDATION` is set to anything but `0`.
    #[must_use]
    pub fn from_env() -> Self {
        match std::env::var_os("THRONG_VALIDATION") {
            Some(value) if value != "0" => Self::On,
            _ => Self::Off,
        }
    }
}

/// A message of the validation layer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// The name of the rule, such as `SYNC-HAZARD-WRITE-AFTER-WRITE`.
    pub id: String,
    /// The full text.
    pub text: String,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.text)
    }
}

/// The messages so far.
///
/// Clones share one list. The list outlives the context, so messages about destruction can be read
/// afterwards.
#[derive(Clone, Debug, Default)]
pub struct Messages(Arc<Mutex<Vec<Message>>>);

impl Messages {
    /// A copy of the list.
    #[must_use]
    pub fn all(&self) -> Vec<Message> {
        self.lock().clone()
    }

    /// Takes all messages and leaves the list empty.
    #[must_use]
    pub fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.lock())
    }

    /// Returns true if there are no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// All messages as text, one per line. Empty if there are none.
    #[must_use]
    pub fn report(&self) -> String {
        self.lock().iter().map(|m| format!("{m}\n")).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Message>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Create info for a messenger that fills this list. It is valid while any clone lives.
    pub(crate) fn messenger(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        use vk::DebugUtilsMessageSeverityFlagsEXT as Level;
        use vk::DebugUtilsMessageTypeFlagsEXT as Kind;
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Level::WARNING | Level::ERROR)
            .message_type(Kind::GENERAL | Kind::VALIDATION | Kind::PERFORMANCE)
            .pfn_user_callback(Some(on_message))
            .user_data(Arc::as_ptr(&self.0).cast_mut().cast())
    }
}

/// Returns true if a layer of this version checks for hazards between submissions.
pub(crate) fn sees_across_submits(layer_version: u32) -> bool {
    layer_version >= ACROSS_SUBMITS_SINCE
        || std::env::var(ENABLES_VARIABLE).is_ok_and(|value| value.contains(ACROSS_SUBMITS))
}

unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid data for the duration of the call. `user` is the mutex that
    // the instance's owner keeps alive until the instance is destroyed.
    let (data, list) = unsafe { (data.as_ref(), user.cast::<Mutex<Vec<Message>>>().as_ref()) };
    let (Some(data), Some(list)) = (data, list) else {
        return vk::FALSE;
    };
    let message = Message {
        id: text(data.p_message_id_name),
        text: text(data.p_message),
    };
    let is_of_machine = NOT_THE_PROGRAM.contains(&message.id.as_str());
    if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) && !is_of_machine {
        log::error!("vulkan: {message}");
    } else {
        log::warn!("vulkan: {message}");
    }
    if !is_of_machine {
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(message);
    }
    vk::FALSE
}

fn text(at: *const std::ffi::c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: the pointer is not null, and the layer's strings end in a zero.
    let text = unsafe { CStr::from_ptr(at) };
    text.to_string_lossy().into_owned()
}
