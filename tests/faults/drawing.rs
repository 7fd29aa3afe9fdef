//! A crowd that draws instances of every skinning stage, and a check that it still does.

use crate::counting::Counted;
use crate::reference::picture::{covered, different};
use crate::reference::ribbon::{built, ribbon};
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, target};
use crate::support::{SMALL, Setup, described, view};
use throng::glam::{Affine3A, Vec3};
use throng::gpu::MemoryAllocator;
use throng::palette::SkinningMethod;
use throng::{Capacity, Crowd, PassId, SkinningStage, Spawn, View};
use throng_standalone::Target;

/// Capacity for instances that are skinned before they are drawn, and for one history.
pub(crate) const ROOM: Capacity = Capacity {
    skinned_words: 1000,
    cpu_skinned_words: 500,
    histories: 1,
    ..SMALL
};

/// Spawns an instance of every skinning stage.
pub(crate) fn populate(crowd: &mut Crowd, allocator: &mut dyn MemoryAllocator) {
    let character = built(ribbon(4)).character;
    let desc = described(SkinningMethod::Linear, true);
    let id = crowd.add_character(allocator, &character, &desc);
    let id = id.unwrap();
    let modes = [
        SkinningStage::Vertex,
        SkinningStage::Compute,
        SkinningStage::Cpu,
    ];
    for (at, skin) in (0..).zip(modes) {
        let place = Vec3::new(0.5 * (at - 1) as f32, 0.0, 0.1 * at as f32);
        let spawn = Spawn {
            world_from_model: Affine3A::from_translation(place),
            play: "sway".into(),
            skinning_stage: skin,
            ..Spawn::default()
        };
        crowd.spawn(id, &spawn).unwrap();
    }
}

/// A crowd that draws something, and a check that it still does.
pub(crate) struct Drawing {
    pub(crate) crowd: Crowd,
    pass: PassId,
    target: Target,
    frames_in_flight: FramesInFlight,
    next: u32,
    pub(crate) picture: Vec<u8>,
}

impl Drawing {
    pub(crate) fn new(setup: &mut Setup, counted: &mut Counted) -> Self {
        let mut crowd = counted.crowd(setup, 2, ROOM);
        populate(&mut crowd, &mut counted.allocator);
        let target = target(&mut setup.context);
        let pass = pass(&mut crowd, &target, false);
        let frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let mut drawing = Self {
            crowd,
            pass,
            target,
            frames_in_flight,
            next: 0,
            picture: Vec::new(),
        };
        drawing.picture = drawing.draw(setup, counted);
        assert!(covered(&drawing.picture) > 300);
        drawing
    }

    fn draw(&mut self, setup: &mut Setup, counted: &mut Counted) -> Vec<u8> {
        let frame_index = self.next % 2;
        self.next += 1;
        let cmd = self.frames_in_flight.begin(&setup.context, frame_index);
        let view = View {
            history: Some(0),
            ..view(Vec3::new(0.4, 2.0, 6.0), Vec3::new(0.0, 1.5, 0.0), EXTENT)
        };
        unsafe {
            let allocator = &mut counted.allocator;
            self.crowd.update(0.3).unwrap();
            let mut frame = self.crowd.begin_frame(allocator, frame_index, 0.3).unwrap();
            let views = frame.record_prepare(cmd, &[view]).unwrap();
            self.target.begin(&setup.context.device, cmd, &NORMAL_Z);
            frame.record_draw(cmd, views[0], self.pass).unwrap();
            self.target.end(&setup.context.device, cmd);
        }
        self.frames_in_flight.submit(&setup.context, frame_index);
        self.frames_in_flight.wait(&setup.context, frame_index);
        self.target.read_rgba().unwrap()
    }

    pub(crate) fn check(&mut self, setup: &mut Setup, counted: &mut Counted) {
        let now = self.draw(setup, counted);
        // A replacement may have another pipeline, which rounds the same result in its own way.
        assert_eq!(different(&now, &self.picture, 1), 0, "another picture");
    }

    pub(crate) fn finish(self, setup: &mut Setup, mut counted: Counted) {
        self.frames_in_flight.destroy(&setup.context);
        unsafe { self.crowd.destroy(&mut counted.allocator) };
        counted.finish();
    }
}
