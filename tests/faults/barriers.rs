//! Every copy and dispatch of a frame is ordered with what reads and wrote its data.
//!
//! Shaders read palettes and histories through addresses, which synchronization validation does not
//! follow. So this test records the commands themselves, and checks the barriers between them.

use crate::drawing::{ROOM, populate};
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, target};
use crate::support::noted::{Noted, notes, noting};
use crate::support::{Setup, each, view};
use throng::ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};
use throng::glam::Vec3;
use throng::{Crowd, View};

/// The commands of a third frame: everything is uploaded, and both halves of the history exist.
fn commands(setup: &mut Setup) -> Vec<Noted> {
    let device = noting(&setup.context.device);
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
    let desc = setup.crowd_desc(2, ROOM);
    let device = setup.device_of(&setup.context.instance, &device);
    let allocator = &mut setup.context.allocator();
    let mut crowd = Crowd::new(&device, allocator, &desc).unwrap();
    populate(&mut crowd, allocator);
    let target = target(&mut setup.context);
    let pass = pass(&mut crowd, &target, false);
    let mut noted = Vec::new();
    for number in 0..3 {
        let frame_index = number % 2;
        let cmd = frames_in_flight.begin(&setup.context, frame_index);
        let context = &mut setup.context;
        let view = View {
            history: Some(0),
            ..view(Vec3::new(0.4, 2.0, 6.0), Vec3::new(0.0, 1.5, 0.0), EXTENT)
        };
        notes(None);
        unsafe {
            let allocator = &mut context.allocator();
            let time_s = 0.1 * f64::from(number);
            crowd.update(time_s).unwrap();
            let mut frame = crowd.begin_frame(allocator, frame_index, time_s).unwrap();
            let views = frame.record_prepare(cmd, &[view]).unwrap();
            target.begin(&context.device, cmd, &NORMAL_Z);
            frame.record_draw(cmd, views[0], pass).unwrap();
            target.end(&context.device, cmd);
        }
        noted = notes(None);
        frames_in_flight.submit(context, frame_index);
    }
    setup.context.wait_idle().unwrap();
    frames_in_flight.destroy(&setup.context);
    setup.destroy(crowd);
    noted
}

const READERS: Stage =
    Stage::from_raw(Stage::VERTEX_SHADER.as_raw() | Stage::COMPUTE_SHADER.as_raw());

/// Barriers must hold: the data that copies and dispatches write is visible to the dispatches and
/// draws after them, and they wait for the earlier frame's readers.
///
/// Returns the first command that breaks the rule.
fn unordered(commands: &[Noted]) -> Option<usize> {
    // Writes that no barrier has made visible to shaders yet.
    let (mut copied, mut dispatched) = (false, false);
    // The same before the last command, if that is a copy.
    let mut before_copy = None;
    // True if a barrier has ordered the next copy, or dispatch, after the last frame's readers.
    let (mut copies_wait, mut dispatches_wait) = (false, false);
    for (at, command) in commands.iter().enumerate() {
        match *command {
            Noted::Barrier { before, after } => {
                let reads = Access::SHADER_READ;
                let shaders = after.0.contains(READERS) && after.1.contains(reads);
                let skin = after.0.contains(Stage::COMPUTE_SHADER) && after.1.contains(reads);
                let from_copy =
                    before.0.contains(Stage::TRANSFER) && before.1.contains(Access::TRANSFER_WRITE);
                let from_compute = before.0.contains(Stage::COMPUTE_SHADER)
                    && before.1.contains(Access::SHADER_WRITE);
                // Shaders do not read data for the host.
                if let Some(before) = before_copy.take()
                    && after.0 == Stage::HOST
                {
                    copied = before;
                }
                copied &= !(from_copy && (shaders || skin));
                dispatched &= !(from_compute && shaders);
                copies_wait |= before.0.contains(READERS) && after.0.contains(Stage::TRANSFER);
                dispatches_wait |=
                    before.0.contains(READERS) && after.0.contains(Stage::COMPUTE_SHADER);
            }
            Noted::Copy => {
                if !copies_wait {
                    return Some(at);
                }
                before_copy = Some(copied);
                copied = true;
            }
            Noted::Dispatch => {
                if copied || !dispatches_wait {
                    return Some(at);
                }
                dispatched = true;
            }
            Noted::Draw if copied || dispatched => return Some(at),
            _ => {}
        }
    }
    None
}

#[test]
fn what_shaders_read_through_addresses_is_ordered() {
    each(|setup| {
        let commands = commands(setup);
        let count = |wanted: Noted| commands.iter().filter(|one| **one == wanted).count();
        // The history alone has four copies; the skin stage has a dispatch.
        assert!(
            count(Noted::Copy) >= 4 && count(Noted::Dispatch) >= 1,
            "{commands:#?}"
        );
        assert!(count(Noted::Draw) > 0);
        assert_eq!(unordered(&commands), None, "{commands:#?}");
        // The check is not blind: some barriers are needed, and without each the order breaks.
        let needed = (0..commands.len()).filter(|at| {
            let mut fewer = commands.clone();
            let left_out = fewer.remove(*at);
            matches!(left_out, Noted::Barrier { .. }) && unordered(&fewer).is_some()
        });
        assert!(needed.count() >= 2, "{commands:#?}");
        // The fragment stage of the frame before is waited for only by copies that replace views.
        let waits = commands.iter().filter(|one| {
            matches!(one, Noted::Barrier { before, after }
                if before.0.contains(Stage::FRAGMENT_SHADER) && !after.0.contains(Stage::TRANSFER))
        });
        assert_eq!(waits.count(), 0, "{commands:#?}");
    });
}
