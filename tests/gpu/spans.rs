//! The spans of a frame, for profilers.

use crate::support::{self, SMALL, placed};
use std::sync::{Arc, Mutex};
use throng::glam::{Affine3A, Vec3};
use throng::{CharacterDesc, Stages, builtin};
use throng_standalone::{Begin, Target, TargetDesc};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Writes down the names of spans as they are entered and left, by depth.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Names>>);

#[derive(Default)]
struct Names {
    /// By id, from 1.
    made: Vec<&'static str>,
    /// With the number of spans around each.
    entered: Vec<(usize, &'static str)>,
    open: Vec<u64>,
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "throng"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let made = &mut self.0.lock().unwrap().made;
        made.push(span.metadata().name());
        Id::from_u64(made.len() as u64)
    }

    fn enter(&self, span: &Id) {
        let mut names = self.0.lock().unwrap();
        let name = names.made[span.into_u64() as usize - 1];
        let depth = names.open.len();
        names.entered.push((depth, name));
        names.open.push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let last = self.0.lock().unwrap().open.pop();
        assert_eq!(last, Some(span.into_u64()), "spans overlap");
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
}

#[test]
fn a_frame_has_spans() {
    support::each(|setup| {
        let mut crowd = setup.crowd_with(Stages::Cpu, 2, SMALL);
        let mannequin = builtin::mannequin().unwrap().character;
        let target = Target::new(&setup.context, &TargetDesc::default()).unwrap();
        let pass = unsafe { crowd.create_pass(&target.pass_desc()) }.unwrap();
        let id = crowd
            .add_character(
                &mut setup.context.allocator(),
                &mannequin,
                &CharacterDesc::default(),
            )
            .unwrap();
        crowd
            .spawn(id, &placed(Affine3A::IDENTITY, "Walk"))
            .unwrap();
        let view = support::view(Vec3::new(0.0, 1.0, 4.0), Vec3::Y, target.extent());
        let mut draw = |time_s| {
            let mut frame = setup.begin(&mut crowd, 0, time_s);
            let context = &mut setup.context;
            context
                .submit_and_wait(|device, cmd| unsafe {
                    let views = frame.record_prepare(cmd, &[view]).unwrap();
                    target.begin(device, cmd, &Begin::default());
                    frame.record_draw(cmd, views[0], pass).unwrap();
                    target.end(device, cmd);
                })
                .unwrap();
        };
        // Spans whose first use meets the making of a subscriber in another test's thread may stay
        // off: this frame uses all of them before.
        draw(0.25);
        let log = Log::default();
        tracing::subscriber::with_default(log.clone(), || draw(0.5));
        let names = log.0.lock().unwrap();
        let wanted = [
            (0, "update"),
            (0, "begin_frame"),
            (0, "record_prepare"),
            (1, "choose_posers"),
            (1, "attachments"),
            (1, "cull"),
            (1, "write"),
            (2, "animate"),
            (1, "record"),
            (0, "record_draw"),
        ];
        assert_eq!(names.entered, wanted);
        setup.destroy(crowd);
    });
}
