//! Frames in flight that are begun again.

use crate::setup::{context, finish};
use throng_standalone::Frames;

#[test]
fn a_frame_that_is_not_submitted_is_begun_again() {
    let context = context();
    let mut frames = Frames::new(&context, 2).expect("frames in flight");
    for wanted in [0, 1, 0] {
        let dropped = frames.begin().expect("a frame");
        assert_eq!(dropped.frame_index, wanted);
        let frame = frames.begin().expect("a frame");
        assert_eq!(frame.frame_index, wanted);
        // SAFETY: nothing is recorded.
        unsafe { frame.submit() }.expect("a submission");
    }
    drop(frames);
    finish(context);
}
