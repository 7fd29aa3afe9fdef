//! Invalid histories.

use super::events::{at, camera};
use super::stage::{HISTORIES, World, dancer, moves};
use crate::reference::refused;
use crate::support::each;
use throng::ash::vk;
use throng::palette::SkinningMethod;
use throng::{Capacity, Crowd, Error, View};

/// Refused histories change nothing.
#[test]
fn histories_that_there_are_not_or_that_two_views_keep_are_refused() {
    each(|setup| {
        let mut world = World::new(setup, HISTORIES, &[(dancer(3), SkinningMethod::Linear)]);
        world.spawn(0, at(0.0), Some(0));
        world.frame(setup, 0.1, &[camera()]);
        let other = View {
            history: Some(3),
            ..camera()
        };
        let nothing = vk::CommandBuffer::null();
        let mut prepare = |views: &[View]| unsafe {
            setup.context.wait_idle().unwrap();
            let allocator = &mut setup.context.allocator();
            world.crowd.update(0.2).unwrap();
            let mut frame = world.crowd.begin_frame(allocator, 0, 0.2).unwrap();
            frame.record_prepare(nothing, views).map(drop)
        };
        refused! {
            prepare(&[camera(), other]) => "view 1: history 3 does not exist: there are 3";
            prepare(&[camera(), camera()]) => "view 1: View::history: …";
        }
        let seen = world.frame(setup, 0.3, &[camera()]);
        moves(&seen[0], 0);
        world.destroy(setup);
    });
}

#[test]
fn histories_past_the_size_of_a_buffer_are_refused_with_numbers() {
    each(|setup| {
        // A record has 96 bytes, an entry 48 and a weight 12. All of them are kept twice.
        let all = u64::from(u32::MAX) * 2 * (64 * 96 + 4096 * 48);
        let refuse = |error: Error| match error {
            Error::Capacity {
                what: "bytes of a buffer",
                asked,
                cap,
            } => assert!(asked > cap && asked >= all, "{asked} {cap}"),
            other => panic!("{other}"),
        };
        let capacity = Capacity {
            histories: u32::MAX,
            ..HISTORIES
        };
        let desc = setup.crowd_desc(2, capacity);
        let made = Crowd::new(&setup.device(), &mut setup.context.allocator(), &desc);
        refuse(made.unwrap_err());
        let mut crowd = setup.crowd(2, HISTORIES);
        let allocator = &mut setup.context.allocator();
        refuse(crowd.reserve(allocator, &capacity).unwrap_err());
        assert_eq!(crowd.capacity(), HISTORIES);
        setup.destroy(crowd);
    });
}
