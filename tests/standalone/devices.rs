//! The choice of a device and of its features.

use crate::setup::{alone, context, desc, finish, finish_second, second, with};
use std::process::Command;
use throng::ash::vk;
use throng::standalone::{
    Context, ContextDesc, DEVICE_VARIABLE, FeatureSet, Missing, StandaloneError, Validation, select,
};

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let _turn = alone();
    let error = Context::new(&ContextDesc {
        device: Some("nonsense"),
        ..desc()
    });
    let Err(StandaloneError::NoDevice { asked, devices }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(asked.as_deref(), Some("nonsense"));
    assert!(!devices.is_empty());
    for device in devices {
        assert_eq!(device.missing, [Missing::NotAskedFor], "{device}");
    }
}

#[test]
fn a_device_is_chosen_by_index_and_by_name() {
    let first = context();
    let index = first.info.index.to_string();
    let name = first.info.name.to_uppercase();
    for device in [index.as_str(), name.as_str()] {
        let device = Some(device);
        let context = second(&ContextDesc { device, ..desc() });
        assert_eq!(context.info, first.info);
        finish_second(context);
    }
    finish(first);
}

#[test]
fn what_is_required_and_missing_is_named() {
    let required_extensions = &[c"VK_THRONG_nonsense"];
    let _turn = alone();
    let error = Context::new(&ContextDesc {
        required_extensions,
        ..desc()
    });
    let Err(StandaloneError::NoDevice { devices, .. }) = error else {
        panic!("{error:?}");
    };
    let missing = Missing::Extension("VK_THRONG_nonsense".to_owned());
    assert!(
        devices.iter().any(|d| d.missing == [missing.clone()]),
        "{devices:?}"
    );
}

#[test]
fn optional_features_are_enabled_where_supported() {
    let mut desc = desc();
    desc.optional.v10.multi_draw_indirect = vk::TRUE;
    desc.optional.v11.shader_draw_parameters = vk::TRUE;
    let context = with(&desc);
    // SAFETY: both handles belong to the context, and support Vulkan 1.3.
    let supported = unsafe { FeatureSet::supported(&context.instance, context.physical_device) };
    let wanted = FeatureSet::base().or(&desc.optional);
    assert!(supported.lacks(&context.enabled).is_empty());
    assert!(context.enabled.lacks(&wanted.and(&supported)).is_empty());
    assert!(wanted.lacks(&context.enabled).is_empty());
    finish(context);
}

/// Runs one ignored test of this file in a process with an additional environment variable.
///
/// The environment of a process with threads must not be changed from inside.
fn run_with(test: &str, variable: &str, value: &str) {
    let this = std::env::current_exe().expect("the path of this test");
    let output = Command::new(this)
        .args(["--ignored", "--exact", test])
        .env(variable, value)
        .output()
        .expect("the test starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

#[test]
fn the_environment_chooses_the_device() {
    run_with(
        "devices::child_with_nonsense_device",
        DEVICE_VARIABLE,
        "nonsense",
    );
}

#[test]
#[ignore = "run by `the_environment_chooses_the_device`"]
fn child_with_nonsense_device() {
    let _turn = alone();
    let error = Context::new(&ContextDesc {
        device: Some("0"),
        ..desc()
    });
    let Err(StandaloneError::NoDevice { asked, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(asked.as_deref(), Some("nonsense"));
}

#[test]
fn validation_without_its_layer_is_an_error() {
    run_with("devices::child_without_layer", "VK_LAYER_PATH", "/nowhere");
}

#[test]
#[ignore = "run by `validation_without_its_layer_is_an_error`"]
fn child_without_layer() {
    let error = Context::new(&desc());
    assert!(
        matches!(error, Err(StandaloneError::MissingLayer { .. })),
        "{error:?}"
    );
    let context = Context::new(&ContextDesc {
        validation: Validation::Off,
        ..desc()
    });
    assert!(
        !context
            .expect("a context without validation")
            .across_submits
    );
}

/// The driver of the first of two devices fails when it is asked what it supports.
#[test]
fn a_failing_driver_does_not_hide_other_devices() {
    let context = context();
    let device = |index, kind| {
        let mut info = context.info.clone();
        (info.index, info.kind) = (index, kind);
        info
    };
    let failing = || {
        let call = "vkEnumerateDeviceExtensionProperties";
        let result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        let error = StandaloneError::Vulkan { call, result };
        (device(0, vk::PhysicalDeviceType::DISCRETE_GPU), Err(error))
    };
    let working = |index, kind| (device(index, kind), Ok((index, Vec::new())));
    let cpu = vk::PhysicalDeviceType::CPU;
    let integrated = vk::PhysicalDeviceType::INTEGRATED_GPU;
    let all = [failing(), working(1, cpu), working(2, integrated)];
    assert_eq!(select(None, all).expect("two devices"), [2, 1]);
    for (asked, wanted) in [
        (None, Missing::Failed(String::new())),
        (Some("0"), Missing::Failed(String::new())),
        (Some("1"), Missing::NotAskedFor),
    ] {
        let error = select::<usize>(asked, [failing()]).expect_err("no device");
        let StandaloneError::NoDevice { devices, .. } = &error else {
            panic!("{error:?}");
        };
        let missing = devices.iter().flat_map(|device| &device.missing);
        let missing: Vec<_> = missing.map(std::mem::discriminant).collect();
        assert_eq!(missing, [std::mem::discriminant(&wanted)], "{error}");
    }
    finish(context);
}
