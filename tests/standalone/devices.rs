//! The choice of a device and of its features.

use crate::setup::{alone, context, desc, finish};
use std::process::Command;
use throng_standalone::{Context, ContextDesc, StandaloneError};

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

/// The index of the context's device, and its name in capitals.
fn names(context: &Context) -> [String; 2] {
    // SAFETY: the instance is alive.
    let all = unsafe { context.instance.enumerate_physical_devices() }.expect("devices");
    let index = all.iter().position(|it| *it == context.physical_device);
    let name = context.properties.device_name_as_c_str().expect("a name");
    let name = name.to_string_lossy().to_uppercase();
    [index.expect("the device").to_string(), name]
}

#[test]
fn the_environment_chooses_the_device() {
    run_with(
        "devices::child_with_nonsense_device",
        "THRONG_DEVICE",
        "nonsense",
    );
    let first = context();
    let names = names(&first);
    finish(first);
    for asked in names {
        run_with("devices::child_with_a_device", "THRONG_DEVICE", &asked);
    }
}

#[test]
#[ignore = "run by `the_environment_chooses_the_device`"]
fn child_with_a_device() {
    let asked = std::env::var("THRONG_DEVICE").expect("a device");
    let context = context();
    assert!(names(&context).contains(&asked));
    finish(context);
}

#[test]
#[ignore = "run by `the_environment_chooses_the_device`"]
fn child_with_nonsense_device() {
    let _turn = alone();
    let error = Context::new(&desc());
    let Err(StandaloneError::NoDevice { asked, devices }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(asked.as_deref(), Some("nonsense"));
    assert!(!devices.is_empty());
    for (device, why) in devices {
        assert!(why.contains("not the requested"), "{device}: {why}");
    }
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
        matches!(error, Err(StandaloneError::Missing { .. })),
        "{error:?}"
    );
    let context = Context::new(&ContextDesc {
        validation: false,
        ..desc()
    });
    assert!(
        !context
            .expect("a context without validation")
            .across_submits
    );
}
