//! The messages that are no faults, each with its reason.

/// A part of the rule's name, and a part of the text.
type Known = (&'static str, &'static str);

const KNOWN: &[Known] = &[
    // The instance enables these extensions for the layer itself. Without validation, it does not.
    ("specialuse-extension", "VK_EXT_debug_utils"),
    ("specialuse-extension", "VK_EXT_validation_features"),
    // Its successor VK_EXT_layer_settings is too new for the layers of 2023.
    ("deprecated-extension", "VK_EXT_validation_features"),
    // The layer 1.4.309 knows only the call of Vulkan 1.0 here, and not
    // vkGetPhysicalDeviceFeatures2, which is called.
    (
        "physical-device-features-not-retrieved",
        "vkGetPhysicalDeviceFeatures()",
    ),
    // GPU-assisted validation says what it enables for itself.
    ("GPU-Assisted-Validation", "Forcing "),
    ("GPU-Assisted-Validation", "Ray Query validation option"),
    // A scope of the profiler is a range of commands in any stage. With a narrower stage, it would
    // measure a part of them. Only crowds with `CrowdDesc::profile` write timestamps.
    ("pipeline-stage-flags", "vkCmdWriteTimestamp"),
    // The event of a frame says that all of its commands have run. Nothing waits for it on the GPU.
    ("pipeline-stage-flags", "vkCmdSetEvent"),
    // The layers of 2023 expect the older SHADER_READ, which includes SHADER_SAMPLED_READ.
    (
        "ImageBarrierAccessLayout",
        "VK_ACCESS_2_SHADER_SAMPLED_READ_BIT: accessMask",
    ),
    // SPIR-V 1.6 has another form, which needs `maintenance4`, which is not required.
    ("SpirvDeprecated_WorkgroupSize", "LocalSizeId"),
];

/// Messages about work outside of frames: filling a crowd, and reading pictures back.
const KNOWN_OUTSIDE: &[Known] = &[
    // Buffers and images of throng-standalone have a memory object each. throng itself allocates
    // from the engine's allocator alone.
    ("small-allocation", ""),
    ("small-dedicated-allocation", ""),
    // An upload is read by any stage of the engine's shaders, also by those of extensions. A
    // picture that is read back may have been written by any stage. Both happen rarely.
    ("pipeline-stage-flags", "vkCmdPipelineBarrier"),
    // An image that is read back may have been written in any way, and be used in any way next.
    (
        "ImageBarrierAccessLayout",
        "for layout VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL",
    ),
];

/// True if the message is no fault. Frames may give fewer messages than the work around them.
pub(super) fn is_allowed(message: &str, in_frame: bool) -> bool {
    let outside = if in_frame { &[] } else { KNOWN_OUTSIDE };
    let is = |(id, text): &Known| message.contains(id) && message.contains(text);
    KNOWN.iter().chain(outside).any(is)
}
