//! Advice for missing drivers and layers, as the end of error messages.

use std::env::var_os;

/// Source of the Vulkan loader.
pub(crate) const LOADER: &str = if cfg!(target_os = "windows") {
    "install the current driver of the graphics card, which contains it"
} else if cfg!(target_os = "macos") {
    "install the Vulkan SDK of LunarG or MoltenVK"
} else {
    "install it (libvulkan1 on Debian and Ubuntu, vulkan-loader on Fedora, vulkan-icd-loader on \
     Arch)"
};

/// Source of the validation layer.
pub(crate) const LAYER: &str = if cfg!(target_os = "linux") {
    "install it (vulkan-validationlayers on Debian and Ubuntu, vulkan-validation-layers on Fedora \
     and Arch), set VK_ADD_LAYER_PATH to its folder, or switch validation off (unset \
     THRONG_VALIDATION)"
} else {
    "install the Vulkan SDK of LunarG, set VK_ADD_LAYER_PATH to the layer's folder, or switch \
     validation off (unset THRONG_VALIDATION)"
};

/// The environment variables that replace the list of drivers.
const DRIVER_VARIABLES: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// Advice if there is no driver, or none that works.
pub(crate) fn driver() -> String {
    let set = |name: &&str| var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = DRIVER_VARIABLES.into_iter().find(set) {
        let value = var_os(name).unwrap_or_default();
        let value = throng::error::Escaped(value.to_string_lossy());
        return format!(
            "{name} is set to \"{value}\": unset it, or set it to the .json file of a driver"
        );
    }
    let driver = "install the current driver of the graphics card";
    if cfg!(target_os = "linux") {
        format!(
            "{driver} or, to draw on the CPU, Mesa's lavapipe (mesa-vulkan-drivers on Debian, \
             Ubuntu and Fedora, vulkan-swrast on Arch)"
        )
    } else {
        driver.into()
    }
}
