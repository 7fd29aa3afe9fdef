//! Best practices and GPU-assisted validation over a small scene with every stage and every pass.
//!
//! These checks would take hours for all other tests, so they have a scene of their own. It is
//! drawn in a process of its own, because the layer takes them from the environment: see
//! [`in_child`].

mod allowed;
mod draw;
mod planted;
mod scene;
#[path = "../../../examples/common/shadow.rs"]
pub(crate) mod shadow;

use crate::support::exceptions::{self, Needs};
use crate::support::{CONFIGS, Config, Setup};
use std::io::Write as _;
use std::process::Command;

const BEST_PRACTICES: &str = "VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT";
const GPU_ASSISTED: &str = "VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT";
/// Tells the child process that it is one.
const CHILD: &str = "THRONG_MORE_VALIDATION";
/// The environment variable with additional checks of the layer.
const ENABLES: &str = "VK_LAYER_ENABLES";

/// Runs the test `name` again, in a process whose layer also checks `enables`, and returns false.
/// In that process, it returns true.
fn in_child(name: &str, enables: &[&str]) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let before = std::env::var(ENABLES).unwrap_or_default();
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("more_validation::{name}")])
        .args(["--nocapture", "--include-ignored"])
        .env(CHILD, "1")
        .env(ENABLES, format!("{before}:{}", enables.join(":")))
        // Every message counts, not only the first ten of a kind.
        .env("VK_LAYER_ENABLE_MESSAGE_LIMIT", "false")
        // The layer's additions make shaders long. Lavapipe optimises them for minutes otherwise.
        .env("GALLIVM_PERF", "nopt")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, errors) = (text(&ran.stdout), text(&ran.stderr));
    assert!(ran.status.success(), "{out}{errors}");
    assert!(out.contains("1 passed"), "{out}{errors}");
    let _ = write!(std::io::stderr(), "{errors}");
    false
}

/// Draws the scene, and fails on any message that is not allowed.
fn check(config: Config) {
    let mut setup = Setup::new(config);
    let messages = setup.context.messages.clone();
    let frames = draw::draw(&mut setup);
    drop(setup);
    let (mut allowed, mut others) = (Vec::new(), String::new());
    for (number, message) in messages.all().into_iter().enumerate() {
        if allowed::is_allowed(&message, frames.contains(&number)) {
            allowed.push(message);
        } else {
            others += &format!("{message}\n");
        }
    }
    say(&allowed);
    assert!(others.is_empty(), "{}:\n{others}", config.name);
}

/// Prints how often each allowed message came.
fn say(allowed: &[String]) {
    let ids = allowed.iter().map(|message| message.split(':').next());
    let mut ids: Vec<&str> = ids.flatten().collect();
    ids.sort_unstable();
    for same in ids.chunk_by(|a, b| a == b) {
        let (count, id) = (same.len(), same[0]);
        let _ = writeln!(std::io::stderr(), "allowed, {count} times: {id}");
    }
}

#[test]
fn best_practices() {
    if in_child("best_practices", &[BEST_PRACTICES]) {
        check(CONFIGS[1]);
    }
}

/// Every access of every shader, while it runs.
#[test]
#[ignore = "takes minutes to compile shaders: see CONTRIBUTING.md"]
fn gpu_assisted() {
    if in_child("gpu_assisted", &[GPU_ASSISTED]) {
        check(CONFIGS[1]);
    }
}

/// Without this test, the others would prove nothing.
#[test]
fn planted_faults_are_found() {
    const NAME: &str = "planted_faults_are_found";
    if !in_child(NAME, &[BEST_PRACTICES, GPU_ASSISTED]) {
        return;
    }
    let mut setup = Setup::new(CONFIGS[0]);
    let test = format!("more_validation::{NAME}");
    let gpu_assisted = exceptions::has(&setup.context, &test, Needs::ShaderInt64);
    let messages = setup.context.messages.clone();
    let switched_off = |message: &String| message.contains("shaderInt64");
    let mut seen = 0;
    let mut found = || -> Vec<String> {
        let all = messages.all();
        let list = all.into_iter().skip(seen).inspect(|_| seen += 1);
        list.filter(|message| !allowed::is_allowed(message, false))
            .filter(|message| gpu_assisted || !switched_off(message))
            .collect()
    };
    planted::nothing(&mut setup);
    let before = found();
    planted::one_buffer_at_a_time(&setup);
    let practice = found();
    // The GPU's findings may come later, but before the device is gone. On a busy machine, the
    // layer sometimes gives up waiting for it, so there are several tries.
    let out_of_bounds = |message: &String| message.contains("out of bounds");
    let mut access = Vec::new();
    for _ in 0..if gpu_assisted { 5 } else { 0 } {
        planted::past_the_end(&mut setup);
        access.extend(found());
        if access.iter().any(out_of_bounds) {
            break;
        }
    }
    drop(setup);
    access.extend(found());
    assert!(before.is_empty(), "{before:?}");
    assert!(practice[0].contains("BestPractices"), "{practice:?}");
    if gpu_assisted {
        assert!(access.iter().any(out_of_bounds), "{access:?}");
    }
}
