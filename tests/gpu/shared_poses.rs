//! Shared poses: which instances take them, what they show, and what happens without memory.

use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::lists::lists;
use crate::support::probe::{Output, Probe};
use crate::support::{SMALL, Setup, each, placed, view};
use std::collections::BTreeMap;
use throng::animator::{ActorId, Animator, Play, Pose, ShowPose};
use throng::character::Character;
use throng::glam::{Affine3A, Mat4, Vec3, vec3};
use throng::gpu::GpuInstance;
use throng::motion::LoopMode;
use throng::palette::Mat3x4;
use throng::{
    Capacity, CharacterDesc, CharacterId, Crowd, Detail, Error, InstanceId, Stages, Stats, View,
    builtin,
};

/// The most by which a component of a palette may differ from the CPU's: 5e-6 of the model's size,
/// which is at most 2 m.
const APART: f32 = 1e-5;

/// A crowd of mannequins, and the same actors on the CPU.
struct Stage {
    character: Character,
    crowd: Crowd,
    kind: CharacterId,
    animator: Animator,
    members: Vec<(InstanceId, ActorId, Vec3)>,
    frames: FramesInFlight,
    probe: Probe,
    output: Output,
    next: u32,
}

/// The palette of an instance, as a frame shows it.
struct Seen {
    in_ring: bool,
    address: u64,
    palette: Vec<Mat3x4>,
}

impl Stage {
    fn new(setup: &mut Setup, capacity: Capacity, desc: &CharacterDesc) -> Self {
        let character = builtin::mannequin().unwrap().character;
        let mut crowd = setup.crowd_with(Stages::Gpu, 2, capacity);
        let kind = setup.add_with(&mut crowd, &character, desc);
        let set_0 = crowd.set_layout().handle();
        let probe = Probe::new(&setup.context, "test/crowd_probe.comp", set_0);
        Self {
            animator: Animator::new(&character).unwrap(),
            character,
            crowd,
            kind,
            members: Vec::new(),
            frames: FramesInFlight::new(&setup.context, 2),
            output: probe.output(&mut setup.context, 1 << 21),
            probe,
            next: 0,
        }
    }

    fn spawn(&mut self, play: Play<'_>, at: Vec3) -> InstanceId {
        let id = self
            .crowd
            .spawn(self.kind, &placed(Affine3A::from_translation(at), play))
            .unwrap();
        let actor = self.animator.add(play).unwrap();
        self.members.push((id, actor, at));
        id
    }

    /// Plays something on a member.
    fn play(&mut self, number: usize, play: Play<'_>) {
        let (id, actor, _) = self.members[number];
        self.crowd.live_mut(id).play(play).unwrap();
        self.animator.live_mut(actor).play(play).unwrap();
    }

    /// Records a frame. Returns what it shows, unless it is abandoned.
    fn frame(
        &mut self,
        setup: &mut Setup,
        (time_s, views): (f64, &[View]),
        abandons: bool,
    ) -> Result<BTreeMap<u32, Seen>, Error> {
        self.animator.update(time_s).unwrap();
        let (context, index) = (&mut setup.context, self.next);
        let cmd = self.frames.begin(context, index);
        let entries = self.character.palette().len();
        self.crowd.update(time_s).unwrap();
        let begun = unsafe {
            let allocator = &mut context.allocator();
            self.crowd.begin_frame(allocator, index, time_s)
        };
        let mut frame = begun.unwrap();
        let prepared = unsafe { frame.record_prepare(cmd, views) };
        let Ok(shown) = prepared else {
            Probe::finish(&context.device, cmd);
            self.frames.submit(context, index);
            return Err(prepared.unwrap_err());
        };
        let mut parts = Vec::new();
        let mut word = 0;
        // The most that any test shows.
        let most = self.members.len().min(64);
        for list in lists(&frame, shown[0], self.kind, most) {
            let on = (&self.probe, &self.output);
            list.record((&context.device, cmd), on, entries, word);
            let start = word;
            word += list.words(entries);
            parts.push((start, list));
        }
        Probe::finish(&context.device, cmd);
        if abandons {
            unsafe {
                context.device.end_command_buffer(cmd).unwrap();
                self.crowd.abandon_frame();
            }
            return Ok(BTreeMap::new());
        }
        self.frames.submit(context, index);
        self.frames.wait(context, index);
        self.next = 1 - index;
        let words = self.output.words();
        let seen = parts
            .iter()
            .flat_map(|(at, list)| list.read(&words, entries, *at));
        Ok(seen.map(|words| (words[0], Seen::new(words))).collect())
    }

    /// The statistics of the GPU for the frame before the last one.
    fn stats(&mut self, setup: &mut Setup, time_s: f64, views: &[View]) -> Stats {
        for _ in 0..2 {
            self.frame(setup, (time_s, views), false).unwrap();
        }
        // The figures of a frame index are read when it begins again.
        self.frame(setup, (time_s, views), false).unwrap();
        self.crowd.stats()
    }

    /// The palette that the CPU has for a member now.
    fn own(&mut self, number: usize) -> Vec<Mat3x4> {
        let mut out = vec![Mat3x4::IDENTITY; self.character.palette().len()];
        let actor = self.members[number].1;
        self.animator.palettes(&[actor], &mut out[..]).unwrap();
        out
    }

    /// The shared pose next to the only clip that a member plays, and its error in metres.
    fn shared(&self, number: usize) -> (Vec<Mat3x4>, f32) {
        let actor = self.animator.live(self.members[number].1);
        let playing: Vec<_> = actor.playing().collect();
        assert_eq!(playing.len(), 1);
        let id = playing[0].clip.unwrap();
        let clip = &self.character.clips()[id.index()];
        let steps = self.character.pose_steps(id).unwrap().unwrap();
        let part = playing[0].time_s / clip.duration_s();
        let step = (part * f64::from(steps.count)).round();
        let step_s = step / f64::from(steps.count) * clip.duration_s();
        let mut local = self.character.skeleton().rest_pose();
        clip.sample(step_s, &mut local).unwrap();
        let mut model = vec![Affine3A::IDENTITY; local.len()];
        self.character
            .skeleton()
            .model_pose(&local, &mut model)
            .unwrap();
        let mut out = vec![Mat3x4::IDENTITY; self.character.palette().len()];
        self.character.write_palette(&model, &mut out[..]).unwrap();
        (out, steps.error_m)
    }

    fn table_index(&self, number: usize) -> u32 {
        let id = self.members[number].0;
        self.crowd.live(id).table_index()
    }

    fn destroy(self, setup: &mut Setup) {
        setup.context.wait_idle().unwrap();
        self.frames.destroy(&setup.context);
        self.probe.destroy(&setup.context);
        setup.destroy(self.crowd);
    }
}

impl Seen {
    /// From what the probe wrote.
    fn new(words: &[u32]) -> Self {
        let rows: Vec<f32> = words[33..]
            .iter()
            .map(|word| f32::from_bits(*word))
            .collect();
        let palette = rows.chunks_exact(12).map(|entry| Mat3x4 {
            rows: std::array::from_fn(|row| std::array::from_fn(|at| entry[row * 4 + at])),
        });
        Self {
            in_ring: words[30] == GpuInstance::NONE,
            address: u64::from(words[30]) << 32 | u64::from(words[29]),
            palette: palette.collect(),
        }
    }

    fn is_near(&self, other: &[Mat3x4], most: f32) -> bool {
        let pairs = self.palette.iter().zip(other);
        self.palette.len() == other.len()
            && pairs.into_iter().all(|(one, other)| {
                let pairs = one
                    .rows
                    .as_flattened()
                    .iter()
                    .zip(other.rows.as_flattened());
                pairs.into_iter().all(|(a, b)| (a - b).abs() <= most)
            })
    }
}

/// A view down the −z axis, and the pixels of a metre at a distance of 1 m.
fn camera(pose_error_px: f32) -> (View, f32) {
    let view = View {
        detail: Detail {
            pose_error_px,
            ..view(vec3(0.0, 1.0, 0.0), vec3(0.0, 1.0, -1.0), EXTENT).detail
        },
        ..view(vec3(0.0, 1.0, 0.0), vec3(0.0, 1.0, -1.0), EXTENT)
    };
    let rows: Mat4 = view.eye.clip_from_world.transpose();
    let pixels = f32::max(
        rows.x_axis.truncate().length() * EXTENT.width as f32 / 2.0,
        rows.y_axis.truncate().length() * EXTENT.height as f32 / 2.0,
    );
    (view, pixels)
}

fn walk(offset_s: f64) -> Play<'static> {
    Play {
        offset_s,
        ..Play::new("Walk")
    }
}

/// Instances at growing distances play clips in every way. Those with one clip take the nearest
/// pose of it from where half a pixel hides the error, to the instance. All others have their own.
#[test]
fn far_instances_show_the_nearest_shared_pose() {
    each(|setup| {
        let mut stage = Stage::new(setup, SMALL, &CharacterDesc::default());
        let mut rng = Rng::new(11);
        let modes = [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong];
        for number in 0..32 {
            let clip = ["Walk", "Run", "Wave", "Idle"][number % 4];
            let mut play = Play::new(clip);
            play.offset_s = f64::from(rng.range(0.0, 3.0));
            play.speed = f64::from(rng.range(-1.5, 1.5));
            play.loop_mode = modes[rng.below(3)];
            let at = vec3(0.0, 0.0, -2.0 - 1.3 * number as f32);
            stage.spawn(play, at);
        }
        let (camera, pixels) = camera(0.5);
        let mut counts = [0; 2];
        for time_s in [0.0, 0.37, 2.9, 86_400.3] {
            let seen = stage.frame(setup, (time_s, &[camera]), false).unwrap();
            assert_eq!(seen.len(), stage.members.len());
            for number in 0..stage.members.len() {
                let seen = &seen[&stage.table_index(number)];
                let (shared, error_m) = stage.shared(number);
                let id = stage.members[number].0;
                let sphere = stage.crowd.live(id).bounding_sphere();
                let nearest_m = sphere.center.distance(camera.eye.position) - sphere.radius;
                let error_px = error_m * pixels / nearest_m.max(0.0);
                counts[usize::from(seen.in_ring)] += 1;
                assert_eq!(
                    stage.crowd.shares_pose(id).unwrap(),
                    !seen.in_ring,
                    "{number}"
                );
                if seen.in_ring {
                    assert!(error_px > 0.5 * 0.98, "{number}: {error_px}");
                    assert!(
                        seen.is_near(&stage.own(number), APART),
                        "{number} at {time_s}"
                    );
                } else {
                    assert!(error_px <= 0.5 * 1.001, "{number}: {error_px}");
                    assert!(seen.is_near(&shared, APART), "{number} at {time_s}");
                }
            }
        }
        assert!(counts.into_iter().all(|count| count > 20), "{counts:?}");
        // A caller who allows no error gets none.
        let exact = View {
            detail: Detail {
                pose_error_px: 0.0,
                ..camera.detail
            },
            ..camera
        };
        let seen = stage.frame(setup, (86_401.0, &[exact]), false).unwrap();
        assert!(seen.values().all(|seen| seen.in_ring));
        // An instance has a pose of its own if one of its views asks for it.
        let seen = stage
            .frame(setup, (86_402.0, &[camera, exact]), false)
            .unwrap();
        assert!(seen.values().all(|seen| seen.in_ring));
        let (views, time_s) = ([camera], 86_403.0);
        let stats = stage.stats(setup, time_s, &views);
        let seen = stage.frame(setup, (time_s, &views), false).unwrap();
        let shared = seen.values().filter(|seen| !seen.in_ring).count();
        assert_eq!(
            (stats.shared_poses, stats.poses_without_memory),
            (shared as u32, 0)
        );
        assert_eq!(stats.posed_on_gpu, 32);
        stage.destroy(setup);
    });
}

/// While clips blend, an instance has a pose of its own, however far it is.
#[test]
fn blends_are_not_shared() {
    each(|setup| {
        let mut stage = Stage::new(setup, SMALL, &CharacterDesc::default());
        stage.spawn(walk(0.2), vec3(0.0, 0.0, -60.0));
        let (camera, _) = camera(0.5);
        let in_ring = |stage: &mut Stage, setup: &mut Setup, time_s: f64| {
            let seen = stage.frame(setup, (time_s, &[camera]), false).unwrap();
            let seen = seen.into_values().next().unwrap();
            if seen.in_ring {
                assert!(seen.is_near(&stage.own(0), APART), "{time_s}");
            }
            seen.in_ring
        };
        assert!(!in_ring(&mut stage, setup, 0.0));
        stage.play(0, Play::new("Run").fade_s(0.5));
        assert!(in_ring(&mut stage, setup, 0.1));
        assert!(in_ring(&mut stage, setup, 0.4));
        assert!(!in_ring(&mut stage, setup, 0.7));
        stage.play(0, Play::new("Wave").layer(1).fade_s(0.0));
        assert!(in_ring(&mut stage, setup, 0.8));
        stage.destroy(setup);
        // A fade from the rest pose.
        let mut stage = Stage::new(setup, SMALL, &CharacterDesc::default());
        stage.spawn(Play::REST, vec3(0.0, 0.0, -60.0));
        assert!(!in_ring(&mut stage, setup, 0.0));
        stage.play(0, Play::new("Run").fade_s(0.5));
        assert!(in_ring(&mut stage, setup, 0.2));
        assert!(!in_ring(&mut stage, setup, 0.7));
        stage.destroy(setup);
    });
}

/// An instance beyond the memory takes the nearest shared pose of what it plays most. The first
/// ones have their own.
#[test]
fn poses_without_memory_are_the_nearest_ones() {
    each(|setup| {
        let entries = builtin::mannequin().unwrap().character.palette().len() as u32;
        let capacity = Capacity {
            palette_entries: entries * 3,
            ..SMALL
        };
        let mut stage = Stage::new(setup, capacity, &CharacterDesc::default());
        for number in 0..7 {
            stage.spawn(walk(0.1 * f64::from(number)), vec3(0.0, 0.0, -3.0));
        }
        let (camera, _) = camera(0.5);
        for time_s in [0.0, 0.3] {
            let seen = stage.frame(setup, (time_s, &[camera]), false).unwrap();
            for number in 0..7 {
                let seen = &seen[&stage.table_index(number)];
                assert_eq!(seen.in_ring, number < 3, "{number}");
                let wanted = match seen.in_ring {
                    true => stage.own(number),
                    false => stage.shared(number).0,
                };
                assert!(seen.is_near(&wanted, APART), "{number} at {time_s}");
            }
        }
        let stats = stage.stats(setup, 0.4, &[camera]);
        assert_eq!((stats.shared_poses, stats.poses_without_memory), (0, 4));
        // Instances that the CPU poses come first.
        let rest = stage.character.skeleton().rest_pose();
        for number in [5, 6] {
            let mut it = stage.crowd.live_mut(stage.members[number].0);
            it.set_pose(Pose::Local(&rest), &ShowPose::default())
                .unwrap();
        }
        let seen = stage.frame(setup, (0.5, &[camera]), false).unwrap();
        let in_ring = |seen: &BTreeMap<u32, Seen>, stage: &Stage| -> Vec<usize> {
            (0..7)
                .filter(|number| seen[&stage.table_index(*number)].in_ring)
                .collect()
        };
        assert_eq!(in_ring(&seen, &stage), [0, 5, 6]);
        // It must fit, or the frame is refused, and the next one is as it would be.
        for number in [3, 4] {
            let mut it = stage.crowd.live_mut(stage.members[number].0);
            it.set_pose(Pose::Local(&rest), &ShowPose::default())
                .unwrap();
        }
        let refused = stage.frame(setup, (0.6, &[camera]), false);
        let asked = u64::from(entries) * 4;
        assert!(
            matches!(refused, Err(Error::Capacity { asked: got, .. }) if got == asked),
            "{:?}",
            refused.err()
        );
        for number in [3, 4, 5] {
            let mut it = stage.crowd.live_mut(stage.members[number].0);
            it.play(walk(0.0)).unwrap();
        }
        let seen = stage.frame(setup, (0.7, &[camera]), false).unwrap();
        assert_eq!(in_ring(&seen, &stage), [0, 1, 6]);
        // More memory ends it.
        let allocator = &mut setup.context.allocator();
        let more = Capacity {
            palette_entries: entries * 7,
            ..capacity
        };
        stage.crowd.reserve(allocator, &more).unwrap();
        let seen = stage.frame(setup, (0.8, &[camera]), false).unwrap();
        assert_eq!(in_ring(&seen, &stage).len(), 7);
        stage.destroy(setup);
    });
}

/// Without memory for shared poses, instances have their own, or else the rest pose.
#[test]
fn a_character_may_have_no_shared_poses() {
    each(|setup| {
        let entries = builtin::mannequin().unwrap().character.palette().len() as u32;
        let capacity = Capacity {
            palette_entries: entries,
            ..SMALL
        };
        let desc = CharacterDesc {
            shared_pose_bytes: 0,
            ..CharacterDesc::default()
        };
        let mut stage = Stage::new(setup, capacity, &desc);
        for _ in 0..2 {
            stage.spawn(walk(0.2), vec3(0.0, 0.0, -60.0));
        }
        let seen = stage.frame(setup, (0.0, &[camera(0.5).0]), false).unwrap();
        let [first, second] = [0, 1].map(|number| &seen[&stage.table_index(number)]);
        assert!(first.in_ring && !second.in_ring);
        assert_eq!(
            second.address,
            stage.crowd.mesh(stage.kind).unwrap().rest_palette()
        );
        stage.destroy(setup);
    });
}

/// Shared poses that a frame computed which was never submitted are computed again.
#[test]
fn abandoned_frames_take_shared_poses_with_them() {
    each(|setup| {
        let mut stage = Stage::new(setup, SMALL, &CharacterDesc::default());
        stage.spawn(walk(0.2), vec3(0.0, 0.0, -60.0));
        let (camera, _) = camera(0.5);
        stage.frame(setup, (0.0, &[camera]), true).unwrap();
        stage.spawn(Play::new("Run"), vec3(1.0, 0.0, -60.0));
        stage.frame(setup, (0.1, &[camera]), true).unwrap();
        for time_s in [0.2, 0.3] {
            let seen = stage.frame(setup, (time_s, &[camera]), false).unwrap();
            for number in 0..2 {
                let seen = &seen[&stage.table_index(number)];
                assert!(!seen.in_ring);
                let (wanted, _) = stage.shared(number);
                assert!(seen.is_near(&wanted, APART), "{number} at {time_s}");
            }
        }
        stage.destroy(setup);
    });
}

/// More changes than one frame can upload reach the GPU frame by frame. Until then an instance goes
/// on with what it played, and a new one has its rest pose if the CPU has no memory for it either.
#[test]
fn changes_that_do_not_fit_an_upload_wait() {
    each(|setup| {
        let entries = builtin::mannequin().unwrap().character.palette().len() as u32;
        let capacity = Capacity {
            instances: 2_000,
            palette_entries: entries * 2,
            ..SMALL
        };
        let mut stage = Stage::new(setup, capacity, &CharacterDesc::default());
        // All but the last stand behind the camera.
        for number in 0..2_000 {
            let side = if number == 1_999 { -4.0 } else { 4.0 };
            stage.spawn(walk(0.3), vec3(0.0, 0.0, side));
        }
        let (camera, _) = camera(0.0);
        let last = |stage: &mut Stage, setup: &mut Setup, time_s: f64| {
            let seen = stage.frame(setup, (time_s, &[camera]), false).unwrap();
            assert_eq!(seen.len(), 1);
            seen.into_values().next().unwrap()
        };
        let seen = last(&mut stage, setup, 0.0);
        assert!(seen.is_near(&stage.own(1_999), APART));
        // 4,000 records, of which a frame uploads 3,024.
        let before = stage.animator.clone();
        for number in 0..2_000 {
            stage.play(number, Play::new("Run").fade_s(0.5));
        }
        let seen = last(&mut stage, setup, 0.1);
        let now = std::mem::replace(&mut stage.animator, before);
        stage.animator.update(0.1).unwrap();
        assert!(seen.is_near(&stage.own(1_999), APART));
        stage.animator = now;
        assert_eq!(stage.crowd.stats().posed_on_gpu, 2_000);
        let seen = last(&mut stage, setup, 0.2);
        assert!(seen.is_near(&stage.own(1_999), APART));
        stage.destroy(setup);
        // The same from the start.
        let mut stage = Stage::new(setup, capacity, &CharacterDesc::default());
        for number in 0..2_000 {
            let side = if number == 1_999 { -4.0 } else { 4.0 };
            stage.spawn(walk(0.3), vec3(0.0, 0.0, side));
            stage.play(number, Play::new("Run").fade_s(0.5));
        }
        let seen = last(&mut stage, setup, 0.0);
        assert_eq!(
            seen.address,
            stage.crowd.mesh(stage.kind).unwrap().rest_palette()
        );
        assert!((1..2_000).contains(&stage.crowd.stats().posed_on_gpu));
        let seen = last(&mut stage, setup, 0.1);
        assert!(seen.is_near(&stage.own(1_999), APART));
        assert_eq!(stage.crowd.stats().posed_on_gpu, 2_000);
        stage.destroy(setup);
    });
}
