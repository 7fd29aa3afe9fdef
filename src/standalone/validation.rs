//! The validation layer, and what it says.
//!
//! [`Validation::On`] enables `VK_LAYER_KHRONOS_validation` with synchronization
//! validation, and collects every message of severity warning and above.
//!
//! # Hazards across submissions
//!
//! Layers before 1.3.275 look for hazards within one command buffer only, unless
//! the environment of the process has
//!
//! ```text
//! VK_LAYER_ENABLES=VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT
//! ```
//!
//! before the instance is made. The application has no official way to say the
//! same to such a layer, so this repository's `.cargo/config.toml` sets it for
//! whatever Cargo runs. Later layers check submissions unasked.
//! [`Context::across_submits`](super::Context) says which of the two holds, and
//! a context that validates without it logs a warning.
//!
//! # What is collected
//!
//! Every type of message, performance warnings too: best practices are not
//! enabled, so the few that core validation has are defects of the program.
//! Left out, and only logged, is what speaks of the machine and not of the
//! program: messages of the loader (a driver that fails to load) and the layer's
//! remarks on its own settings.

use ash::vk;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The layer.
pub const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";
/// The environment variable that old layers take settings from.
pub const ENABLES_VARIABLE: &str = "VK_LAYER_ENABLES";
/// The setting in it that makes them look across submissions.
pub const ACROSS_SUBMITS: &str = "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT";
/// The first version of the layer that looks across submissions unasked.
const ACROSS_SUBMITS_SINCE: u32 = vk::make_api_version(0, 1, 3, 275);
/// Who speaks of the machine and not of the program.
const NOT_THE_PROGRAM: [&str; 2] = ["Loader Message", "VALIDATION-SETTINGS"];

/// Whether the validation layer watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// No layer.
    #[default]
    Off,
    /// The Khronos layer with synchronization validation. An error if it is not
    /// installed: what was asked for is never left out in silence.
    On,
}

impl Validation {
    /// `On` where the environment variable `THRONG_VALIDATION` is set to
    /// anything but `0`.
    #[must_use]
    pub fn from_env() -> Self {
        match std::env::var_os("THRONG_VALIDATION") {
            Some(value) if value != "0" => Self::On,
            _ => Self::Off,
        }
    }
}

/// How bad a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Probably wrong.
    Warning,
    /// Against the specification.
    Error,
}

/// One message of the layer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// How bad it is.
    pub severity: Severity,
    /// General, validation or performance.
    pub kind: vk::DebugUtilsMessageTypeFlagsEXT,
    /// The name of the rule, such as `SYNC-HAZARD-WRITE-AFTER-WRITE`.
    pub id: String,
    /// The whole text.
    pub text: String,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}: {}", self.severity, self.id, self.text)
    }
}

/// The messages so far. Clones share one list, which outlives the context: what
/// the layer says at destruction can be read afterwards.
#[derive(Clone, Debug, Default)]
pub struct Messages(Arc<Mutex<Vec<Message>>>);

impl Messages {
    /// A copy of the list.
    #[must_use]
    pub fn all(&self) -> Vec<Message> {
        self.lock().clone()
    }

    /// The list, which is empty afterwards.
    #[must_use]
    pub fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.lock())
    }

    /// Whether nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// All messages as text, one a line; empty where there are none.
    #[must_use]
    pub fn report(&self) -> String {
        self.lock().iter().map(|m| format!("{m}\n")).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Message>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address that the messenger calls back with. It is good for as long as
    /// one clone lives.
    fn user_data(&self) -> *mut c_void {
        Arc::as_ptr(&self.0).cast_mut().cast()
    }

    /// What a messenger that fills this list is made from.
    pub(super) fn messenger(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        use vk::DebugUtilsMessageSeverityFlagsEXT as Level;
        use vk::DebugUtilsMessageTypeFlagsEXT as Kind;
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Level::WARNING | Level::ERROR)
            .message_type(Kind::GENERAL | Kind::VALIDATION | Kind::PERFORMANCE)
            .pfn_user_callback(Some(on_message))
            .user_data(self.user_data())
    }
}

/// Whether hazards between submissions are looked for, by a layer of this version.
pub(super) fn sees_across_submits(layer_version: u32) -> bool {
    layer_version >= ACROSS_SUBMITS_SINCE
        || std::env::var(ENABLES_VARIABLE).is_ok_and(|value| value.contains(ACROSS_SUBMITS))
}

unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid data for the time of the call, and `user` is
    // the mutex that the instance's owner keeps alive until the instance is gone.
    let (data, list) = unsafe { (data.as_ref(), user.cast::<Mutex<Vec<Message>>>().as_ref()) };
    if let (Some(data), Some(list)) = (data, list) {
        receive(severity, kind, data, list);
    }
    vk::FALSE
}

fn receive(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: &vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    list: &Mutex<Vec<Message>>,
) {
    let message = Message {
        severity: if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
            Severity::Error
        } else {
            Severity::Warning
        },
        kind,
        id: text(data.p_message_id_name),
        text: text(data.p_message),
    };
    if NOT_THE_PROGRAM.contains(&message.id.as_str()) {
        log::warn!("vulkan: {message}");
        return;
    }
    match message.severity {
        Severity::Error => log::error!("vulkan: {message}"),
        Severity::Warning => log::warn!("vulkan: {message}"),
    }
    list.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(message);
}

fn text(at: *const std::ffi::c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the layer's strings end in a zero.
    let text = unsafe { CStr::from_ptr(at) };
    text.to_string_lossy().into_owned()
}
