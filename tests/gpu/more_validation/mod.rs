//! GPU-assisted validation and best practices over a small scene with every stage and every pass.
//!
//! These checks take minutes for the other tests, so they have a scene of their own. It is drawn in
//! a process of its own, because the layer takes them from the environment: see [`in_child`].

mod allowed;
mod draw;
mod scene;
#[path = "../../../examples/common/shadow.rs"]
mod shadow;

use crate::support::frames::FramesInFlight;
use crate::support::probe::Probe;
use crate::support::{CONFIGS, SMALL, Setup, view};
use std::io::Write as _;
use std::process::Command;
use throng::Spawn;
use throng::ash::vk;
use throng::glam::Vec3;
use throng::standalone::Message;

/// Tells the child process that it is one.
const CHILD: &str = "THRONG_MORE_VALIDATION";
/// What the layer checks in the child process. Context adds synchronization validation.
const ENABLES: &str = "VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT:\
     VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT";

/// Runs the test `name` again, in a process whose layer has the additional checks, and returns
/// false. In that process, it returns true.
fn in_child(name: &str) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let name = format!("more_validation::{name}");
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture"])
        .env(CHILD, "1")
        .env("VK_LAYER_ENABLES", ENABLES)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
    let _ = write!(
        std::io::stderr(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    false
}

/// Splits messages into those that [`allowed`] explains and the others.
fn split(messages: Vec<Message>) -> (Vec<Message>, Vec<Message>) {
    messages.into_iter().partition(allowed::is_allowed)
}

/// Prints how often each allowed message came.
fn say(allowed: &[Message]) {
    let mut ids: Vec<&str> = allowed.iter().map(|message| message.id.as_str()).collect();
    ids.sort_unstable();
    for same in ids.chunk_by(|a, b| a == b) {
        let _ = writeln!(
            std::io::stderr(),
            "allowed, {} times: {}",
            same.len(),
            same[0]
        );
    }
}

/// Every method, stage and pass, with and without optional features, gives no message that is not
/// allowed.
#[test]
fn every_stage_and_pass() {
    if !in_child("every_stage_and_pass") {
        return;
    }
    for config in [CONFIGS[1], CONFIGS[3]] {
        let mut setup = Setup::new(config);
        let messages = setup.context.messages();
        draw::draw(&mut setup);
        drop(setup);
        let (allowed, others) = split(messages.take());
        say(&allowed);
        let others: String = others
            .iter()
            .map(|message| format!("{message}\n"))
            .collect();
        assert!(others.is_empty(), "{}:\n{others}", config.name);
    }
}

/// The checks are on, and their messages are not allowed: a shader that writes past the end of its
/// buffer is found, and so is a pool whose command buffers are reset one by one.
#[test]
fn planted_faults_are_found() {
    if !in_child("planted_faults_are_found") {
        return;
    }
    let mut setup = Setup::new(CONFIGS[0]);
    let messages = setup.context.messages();
    reset_buffers_one_by_one(&setup);
    write_past_the_end(&mut setup);
    drop(setup);
    let (_, others) = split(messages.take());
    let found = |what: fn(&Message) -> bool| {
        assert!(others.iter().any(what), "{others:?}");
    };
    found(|message| message.id.contains("BestPractices"));
    found(|message| message.text.contains("Descriptor") || message.text.contains("descriptor"));
}

fn reset_buffers_one_by_one(setup: &Setup) {
    let device = &setup.context.device;
    let info = vk::CommandPoolCreateInfo::default()
        .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
        .queue_family_index(setup.context.queue_family);
    unsafe {
        let pool = device.create_command_pool(&info, None).unwrap();
        device.destroy_command_pool(pool, None);
    }
}

/// The probe writes the record and the palette of an instance into a buffer of four words.
fn write_past_the_end(setup: &mut Setup) {
    let mut crowd = setup.crowd(1, SMALL);
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
    let character = scene::dancer(&scene::FORMATS[0]);
    let id = crowd.add_character(&mut setup.context.allocator(), &character);
    let id = id.unwrap();
    crowd.spawn(id, &Spawn::default()).unwrap();
    let probe = Probe::new(
        &setup.context,
        "test/crowd_probe.comp",
        crowd.set_layout().handle(),
    );
    let output = probe.output(&mut setup.context, 4);
    let cmd = frames_in_flight.begin(&setup.context, 0);
    let context = &mut setup.context;
    let view = view(Vec3::new(0.0, 2.0, 9.0), Vec3::ZERO, scene::EXTENT);
    unsafe {
        let mut frame = crowd.begin_frame(&mut context.allocator(), 0, 0.0).unwrap();
        let views = frame.record_prepare(cmd, &[view]).unwrap();
        let inputs = frame.inputs(views[0], id, 0).unwrap();
        let (device, offsets) = (&context.device, &inputs.dynamic_offsets);
        probe.bind(device, cmd, inputs.set, offsets, &output);
        probe.run(device, cmd, [inputs.plain.start, 1, 4, 0], 1);
    }
    frames_in_flight.submit(&setup.context, 0);
    frames_in_flight.destroy(&setup.context);
    output.buffer.destroy(&mut setup.context);
    probe.destroy(&setup.context);
    setup.destroy(crowd);
}
