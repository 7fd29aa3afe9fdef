//! Faults that the layer has to find, and the same without a fault.

use super::scene::{EXTENT, FORMATS, dancer};
use crate::support::frames::FramesInFlight;
use crate::support::probe::Probe;
use crate::support::{SMALL, Setup, view};
use throng::Spawn;
use throng::ash::vk;
use throng::glam::Vec3;

/// The words of a record and of four entries, as `shaders/test/crowd_probe.comp` writes them.
const WORDS: u64 = 1 + 33 + 4 * 12;

/// A shader that writes into a buffer of the right size.
pub(super) fn nothing(setup: &mut Setup) {
    probe(setup, WORDS);
}

/// The same, with a buffer that is too small.
pub(super) fn past_the_end(setup: &mut Setup) {
    probe(setup, WORDS - 8);
}

/// A pool whose command buffers are reset one by one, which best practices advise against.
pub(super) fn one_buffer_at_a_time(setup: &Setup) {
    let device = &setup.context.device;
    let info = vk::CommandPoolCreateInfo::default()
        .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
        .queue_family_index(setup.context.queue_family);
    unsafe {
        let pool = device.create_command_pool(&info, None).unwrap();
        device.destroy_command_pool(pool, None);
    }
}

/// Writes what the GPU sees of an instance into a buffer of this many words.
fn probe(setup: &mut Setup, words: u64) {
    let mut crowd = setup.crowd(1, SMALL);
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
    let id = setup.add(&mut crowd, &dancer(&FORMATS[0]));
    crowd.spawn(id, &Spawn::default()).unwrap();
    let set_0 = crowd.set_layout().handle();
    let probe = Probe::new(&setup.context, "test/crowd_probe.comp", set_0);
    let output = probe.output(&mut setup.context, words);
    let cmd = frames_in_flight.begin(&setup.context, 0);
    let context = &mut setup.context;
    let view = view(Vec3::new(0.0, 2.0, 9.0), Vec3::ZERO, EXTENT);
    unsafe {
        let frame = crowd.begin_frame(&mut context.allocator(), 0, 0.0);
        let mut frame = frame.unwrap();
        let views = frame.record_prepare(cmd, &[view]).unwrap();
        let inputs = frame.draw_bindings(views[0], id, 0).unwrap();
        let (device, offsets) = (&context.device, &inputs.dynamic_offsets);
        probe.bind(device, cmd, inputs.set, offsets, &output);
        let push = [inputs.plain.start, 1, 4, 0, inputs.list, u32::MAX];
        probe.run((device, cmd), &push, inputs.ring_palettes, 1);
    }
    frames_in_flight.submit(&setup.context, 0);
    frames_in_flight.destroy(&setup.context);
    probe.destroy(&setup.context);
    setup.destroy(crowd);
}
