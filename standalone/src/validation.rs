//! The validation layer and its messages.

use crate::{Result, StandaloneError};
use ash::vk;
use std::ffi::{CStr, c_void};
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

/// The messages of the validation layer so far: the name of the rule, such as
/// `SYNC-HAZARD-WRITE-AFTER-WRITE`, a colon, and the text.
///
/// Clones share one list. The list outlives the context, so messages about destruction can be read
/// afterwards.
#[derive(Clone, Debug, Default)]
pub struct Messages(Arc<Mutex<Vec<String>>>);

impl Messages {
    /// A copy of the list.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        self.lock().clone()
    }

    /// Fails if there is any message.
    ///
    /// # Errors
    ///
    /// Returns [`StandaloneError::Validation`] with all messages.
    pub fn check(&self) -> Result<()> {
        match self.all() {
            none if none.is_empty() => Ok(()),
            messages => Err(StandaloneError::Validation { messages }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
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
    let (data, list) = unsafe { (data.as_ref(), user.cast::<Mutex<Vec<String>>>().as_ref()) };
    let (Some(data), Some(list)) = (data, list) else {
        return vk::FALSE;
    };
    let id = text(data.p_message_id_name);
    let message = format!("{id}: {}", text(data.p_message));
    let is_of_machine = NOT_THE_PROGRAM.contains(&id.as_str());
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
