//! Frames in flight that are submitted out of order.

use crate::setup::{context, finish};
use throng::standalone::{Frames, StandaloneError};

fn assert_stale(result: Result<(), StandaloneError>, wanted: usize) {
    assert!(
        matches!(result, Err(StandaloneError::StaleFrame { frame_index }) if frame_index == wanted),
        "{result:?}"
    );
}

#[test]
fn a_frame_of_other_frames_in_flight_is_refused() {
    let mut context = context();
    let mut one = Frames::new(&context, 1).expect("frames in flight");
    let mut two = Frames::new(&context, 2).expect("frames in flight");
    for index in 0..2 {
        let ours = one.begin(&mut context).expect("a frame");
        let theirs = two.begin(&mut context).expect("a frame");
        assert_eq!(theirs.frame_index, index);
        // SAFETY: nothing is recorded, and frames of others are rejected.
        unsafe {
            assert_stale(one.submit(&mut context, theirs, None), index);
            one.submit(&mut context, ours, None).expect("a submission");
            let theirs = two.begin(&mut context).expect("a frame");
            two.submit(&mut context, theirs, None)
                .expect("a submission");
        }
    }
    one.destroy(&mut context);
    two.destroy(&mut context);
    finish(context);
}

#[test]
fn a_frame_that_was_begun_again_is_refused() {
    let mut context = context();
    let mut frames = Frames::new(&context, 2).expect("frames in flight");
    let first = frames.begin(&mut context).expect("a frame");
    let again = frames.begin(&mut context).expect("a frame");
    // SAFETY: nothing is recorded, and the first is rejected.
    unsafe {
        assert_stale(frames.submit(&mut context, first, None), 0);
        frames
            .submit(&mut context, again, None)
            .expect("a submission");
    }
    // The frame in flight is destroyed before it is submitted.
    let last = frames.begin(&mut context).expect("a frame");
    frames.destroy(&mut context);
    let mut frames = Frames::new(&context, 2).expect("frames in flight");
    // SAFETY: the frame is rejected.
    unsafe { assert_stale(frames.submit(&mut context, last, None), 1) };
    frames.destroy(&mut context);
    finish(context);
}
