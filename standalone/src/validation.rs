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
