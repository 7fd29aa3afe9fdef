//! Tests that a driver cannot pass, because it lacks a feature that the test needs.

use std::ffi::CStr;
use std::io::Write as _;
use throng::ash::vk;
use throng_standalone::Context;

/// An optional feature that a test, or what it uses of the validation layer, needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Without it, the layer of 2023 switches GPU-assisted validation off.
    ShaderInt64,
    /// Layers of images with several samples can be drawn into. Mesa 22's lavapipe draws into the
    /// first alone.
    LayersWithSamples,
    /// No sample of a triangle is nearer than the whole triangle. SwiftShader extrapolates the
    /// depth of slivers, so with several samples, people behind a wall show through it here and
    /// there.
    DepthOfSamples,
}

/// The drivers, tests and features. Anywhere else, a missing feature fails the test.
const EXPECTED: [(&str, &str, Needs); 4] = [
    (
        "SwiftShader",
        "more_validation::planted_faults_are_found",
        Needs::ShaderInt64,
    ),
    (
        "SwiftShader",
        "occlusion::frames::pictures_are_the_same_behind_depth",
        Needs::DepthOfSamples,
    ),
    (
        "SwiftShader",
        "occlusion::frames::motion_is_the_same_behind_depth",
        Needs::DepthOfSamples,
    ),
    (
        "llvmpipe",
        "passes::multiview::both_eyes_of_a_headset_are_one_draw",
        Needs::LayersWithSamples,
    ),
];

/// Returns true if the device has what the present test needs, and false if its lack is expected.
///
/// # Panics
///
/// If the lack is not expected, with the names of the feature and the device.
pub fn has(context: &Context, test: &str, needs: Needs) -> bool {
    let (instance, device) = (&context.instance, context.physical_device);
    let features = unsafe { instance.get_physical_device_features(device) };
    let properties = unsafe { instance.get_physical_device_properties(device) };
    let name = unsafe { CStr::from_ptr(properties.device_name.as_ptr()) }.to_string_lossy();
    let has = match needs {
        Needs::ShaderInt64 => features.shader_int64 == vk::TRUE,
        Needs::LayersWithSamples => !driver(context).starts_with("Mesa 22."),
        Needs::DepthOfSamples => !name.contains("SwiftShader"),
    };
    if has {
        return true;
    }
    let is_expected = EXPECTED.iter().any(|(driver, named, feature)| {
        name.contains(driver) && *named == test && *feature == needs
    });
    assert!(is_expected, "{test} needs {needs:?}, which {name} lacks");
    let _ = writeln!(
        std::io::stderr(),
        "EXPECTED: {test} CHECKS LESS, BECAUSE {name} LACKS {needs:?}"
    );
    false
}

/// The driver's description of itself, such as `Mesa 22.3.6 (LLVM 15.0.6)`.
fn driver(context: &Context) -> String {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    let (instance, device) = (&context.instance, context.physical_device);
    unsafe { instance.get_physical_device_properties2(device, &mut properties) };
    let info = driver.driver_info_as_c_str().unwrap_or_default();
    info.to_string_lossy().into_owned()
}
