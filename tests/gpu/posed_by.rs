//! Which side poses the instances of a crowd, and why.

use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::raws::{animation, linear, moves};
use crate::reference::ribbon::{built, ribbon};
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::{SIDES, SMALL, Setup, described, each, placed, view};
use throng::animator::{Play, Pose, ShowPose};
use throng::ash::vk;
use throng::character::Character;
use throng::glam::{Affine3A, Vec3};
use throng::gpu::{CpuReason, PosedBy};
use throng::ik::{TwoBone, TwoBoneTarget};
use throng::import::{RawCharacter, RawKeys};
use throng::mesh::AlphaMode;
use throng::palette::SkinningMethod;
use throng::skeleton::Transform;
use throng::{
    Attachment, Capacity, CharacterId, Crowd, InstanceId, SkinningStage, Spawn, Stages, builtin,
};

/// A crowd and its frames.
struct Stage {
    crowd: Crowd,
    frames: FramesInFlight,
    next: u32,
}

impl Stage {
    fn new(setup: &mut Setup, capacity: Capacity) -> Self {
        Self {
            crowd: setup.crowd_with(Stages::Gpu, 2, capacity),
            frames: FramesInFlight::new(&setup.context, 2),
            next: 0,
        }
    }

    fn add(&mut self, setup: &mut Setup, character: &Character) -> CharacterId {
        let allocator = &mut setup.context.allocator();
        let desc = described(SkinningMethod::Linear, true);
        let added = self.crowd.add_character(allocator, character, &desc);
        added.unwrap()
    }

    /// Submits a frame. Returns its statistics.
    fn frame(&mut self, setup: &mut Setup, time_s: f64) -> throng::Stats {
        let (context, index) = (&mut setup.context, self.next);
        self.next = 1 - index;
        let cmd = self.frames.begin(context, index);
        let views = [view(Vec3::new(0.0, 1.0, 9.0), Vec3::Y, EXTENT)];
        let stats = unsafe {
            let allocator = &mut context.allocator();
            self.crowd.update(time_s).unwrap();
            let mut frame = self.crowd.begin_frame(allocator, index, time_s).unwrap();
            frame.record_prepare(cmd, &views).unwrap();
            frame.stats()
        };
        self.frames.submit(context, index);
        stats
    }

    fn posed_by(&self, id: InstanceId) -> PosedBy {
        self.crowd.posed_by(id).unwrap()
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames.destroy(&setup.context);
        setup.destroy(self.crowd);
    }
}

fn reason(why: CpuReason) -> PosedBy {
    PosedBy::Cpu(why)
}

/// Every reason that a crowd can have, one instance for each, and one without any.
#[test]
fn every_reason_is_told() {
    each(|setup| {
        let capacity = Capacity {
            skinned_words: 120_000,
            cpu_skinned_words: 60_000,
            ..SMALL
        };
        let mut stage = Stage::new(setup, capacity);
        let mannequin = builtin::mannequin().unwrap().character;
        let kind = stage.add(setup, &mannequin);
        let mut blended = ribbon(3);
        blended.materials[0].alpha = AlphaMode::Blend;
        let blended = stage.add(setup, &built(blended).character);
        let spawn = |crowd: &mut Crowd, kind, play| {
            crowd
                .spawn(kind, &placed(Affine3A::IDENTITY, play))
                .unwrap()
        };
        let walk = Play::new("Walk");
        let walker = spawn(&mut stage.crowd, kind, walk);
        let rests = spawn(&mut stage.crowd, kind, Play::REST);
        let see_through = spawn(&mut stage.crowd, blended, "sway".into());
        let deformed = spawn(&mut stage.crowd, kind, walk);
        let mut it = stage.crowd.live_mut(deformed);
        it.set_skinning_stage(SkinningStage::Compute).unwrap();
        let on_cpu = spawn(&mut stage.crowd, kind, walk);
        let mut it = stage.crowd.live_mut(on_cpu);
        it.set_skinning_stage(SkinningStage::Cpu).unwrap();
        let posed = spawn(&mut stage.crowd, kind, walk);
        let joints = mannequin.skeleton().joints().iter();
        let local: Vec<Transform> = joints.map(|joint| joint.rest).collect();
        let mut it = stage.crowd.live_mut(posed);
        it.set_pose(Pose::Local(&local), &ShowPose::default())
            .unwrap();
        let reaches = spawn(&mut stage.crowd, kind, walk);
        let joint = |name: &str| mannequin.skeleton().joint(name).unwrap();
        let [start, mid, end] = ["LeftUpperArm", "LeftLowerArm", "LeftHand"].map(joint);
        let arm = TwoBone::new(start, mid, end);
        let arm = stage.crowd.add_solver(kind, arm).unwrap();
        let target = TwoBoneTarget::at(Vec3::ONE);
        let mut it = stage.crowd.live_mut(reaches);
        it.set_target(arm, target, 0.0).unwrap();
        let jumps = spawn(&mut stage.crowd, kind, walk);
        let all = [
            (walker, PosedBy::Gpu),
            (rests, reason(CpuReason::Rest)),
            (see_through, reason(CpuReason::Blended)),
            (deformed, PosedBy::Gpu),
            (on_cpu, reason(CpuReason::SkinningStage)),
            (posed, reason(CpuReason::OwnPose)),
            (reaches, reason(CpuReason::InverseKinematics)),
            (jumps, PosedBy::Gpu),
        ];
        for (id, wanted) in all {
            assert_eq!(stage.posed_by(id), wanted);
        }
        let stats = stage.frame(setup, 0.1);
        assert_eq!((stats.posed_on_gpu, stats.animated), (3, 4));
        // A transition that ends.
        let mut it = stage.crowd.live_mut(jumps);
        it.play(Play::new("Run").inertial_s(0.2)).unwrap();
        assert_eq!(stage.posed_by(jumps), reason(CpuReason::Inertialisation));
        assert_eq!(stage.frame(setup, 0.2).posed_on_gpu, 2);
        for (id, wanted) in all.into_iter().take(7) {
            assert_eq!(stage.posed_by(id), wanted);
        }
        assert_eq!(stage.frame(setup, 0.5).posed_on_gpu, 3);
        assert_eq!(stage.posed_by(jumps), PosedBy::Gpu);
        // Reasons go.
        let mut it = stage.crowd.live_mut(reaches);
        it.clear_target(arm, 0.0).unwrap();
        let mut it = stage.crowd.live_mut(deformed);
        it.set_skinning_stage(SkinningStage::Vertex).unwrap();
        let mut it = stage.crowd.live_mut(posed);
        it.play(walk).unwrap();
        let stats = stage.frame(setup, 0.6);
        assert_eq!((stats.posed_on_gpu, stats.animated), (5, 2));
        // The CPU does not pose still instances either.
        let mut it = stage.crowd.live_mut(walker);
        it.set_paused(true);
        let stats = stage.frame(setup, 0.7);
        assert_eq!((stats.posed_on_gpu, stats.animated), (5, 2));
        for id in [walker, jumps] {
            stage.crowd.despawn(id).unwrap();
        }
        assert_eq!(stage.frame(setup, 0.8).posed_on_gpu, 3);
        stage.destroy(setup);
    });
}

/// A crowd whose instances walk for the GPU uploads nothing for them.
#[test]
fn walking_uploads_nothing() {
    each(|setup| {
        let mut stage = Stage::new(setup, SMALL);
        let kind = stage.add(setup, &builtin::mannequin().unwrap().character);
        for number in 0..6 {
            let play = Play::new("Walk").offset_s(0.1 * f64::from(number));
            stage
                .crowd
                .spawn(kind, &placed(Affine3A::IDENTITY, play))
                .unwrap();
        }
        let first = stage.frame(setup, 0.1);
        assert_eq!(
            (first.posed_on_gpu, first.animated, first.changes),
            (6, 0, 6)
        );
        for number in 2..9 {
            let stats = stage.frame(setup, 0.1 * f64::from(number));
            assert_eq!(
                (stats.posed_on_gpu, stats.animated, stats.changes),
                (6, 0, 0)
            );
            // The view, and what the cull stage tests with.
            assert!(stats.upload_bytes < 1024, "{}", stats.upload_bytes);
        }
        stage.destroy(setup);
    });
}

/// Characters with more joints than shaders have memory for are posed on the CPU.
#[test]
fn large_skeletons_are_posed_on_the_cpu() {
    each(|setup| {
        let capacity = Capacity {
            palette_entries: 1024,
            ..SMALL
        };
        let mut stage = Stage::new(setup, capacity);
        let [most, more] = [300, 301].map(|joints| {
            let kind = stage.add(setup, &built(ribbon(joints)).character);
            stage
                .crowd
                .spawn(kind, &placed(Affine3A::IDENTITY, "sway"))
                .unwrap()
        });
        assert_eq!(stage.posed_by(most), PosedBy::Gpu);
        assert_eq!(stage.posed_by(more), reason(CpuReason::Joints));
        let stats = stage.frame(setup, 0.1);
        assert_eq!((stats.posed_on_gpu, stats.animated), (1, 1));
        stage.destroy(setup);
    });
}

/// A ribbon whose second clip drives morph weights.
fn morphing() -> RawCharacter {
    let mut raw = ribbon(3);
    raw.morphs = vec![raws::morph(0, "ribbon", vec![0.25])];
    for primitive in &mut raw.primitives {
        let vertices: Vec<u32> = (0..primitive.positions.len() as u32).collect();
        primitive.morph = Some(0);
        primitive.targets = vec![moves(vec![Vec3::X; vertices.len()], vertices)];
    }
    raw.animations.push(animation(
        "smile",
        vec![linear(0, [0.0, 1.0], RawKeys::Weights(vec![0.0, 1.0]))],
    ));
    raw
}

/// Clips drive morph weights on the GPU, and so do clips and the caller together. While nothing
/// changes, that takes no upload.
#[test]
fn morph_weights_of_clips_and_of_the_caller_are_combined_on_the_gpu() {
    each(|setup| {
        let mut stage = Stage::new(setup, SMALL);
        let kind = stage.add(setup, &built(morphing()).character);
        let [sways, smiles] = ["sway", "smile"].map(|clip| {
            stage
                .crowd
                .spawn(kind, &placed(Affine3A::IDENTITY, clip))
                .unwrap()
        });
        let mut still = 0;
        for (frame, weight) in [Some(0.5), Some(0.5), None, None].into_iter().enumerate() {
            if frame % 2 == 0 {
                for id in [sways, smiles] {
                    let mut it = stage.crowd.live_mut(id);
                    it.set_morph_weights(&[weight]).unwrap();
                }
            }
            for id in [sways, smiles] {
                assert_eq!(stage.posed_by(id), PosedBy::Gpu);
            }
            let stats = stage.frame(setup, 0.1 * (1 + frame) as f64);
            assert_eq!((stats.posed_on_gpu, stats.animated), (2, 0));
            if frame % 2 == 1 {
                still = still.max(stats.upload_bytes);
            } else {
                // The play record of each.
                assert!(
                    stats.upload_bytes >= still + 2 * 64,
                    "{}",
                    stats.upload_bytes
                );
            }
        }
        stage.destroy(setup);
    });
}

/// The CPU poses instances if play records have no memory.
#[test]
fn a_crowd_without_memory_for_play_records_is_posed_all_the_same() {
    each(|setup| {
        let capacity = Capacity {
            instances: 3,
            palette_entries: 600,
            ..SMALL
        };
        let mut stage = Stage::new(setup, capacity);
        let kind = stage.add(setup, &builtin::mannequin().unwrap().character);
        let ids = [(); 3].map(|()| stage.crowd.spawn(kind, &Spawn::default()).unwrap());
        // Space for four records each: two instances with eight have nothing left for the third.
        for id in &ids {
            let mut it = stage.crowd.live_mut(*id);
            for layer in 0..6 {
                it.play(Play::new("Walk").layer(layer)).unwrap();
            }
        }
        let stats = stage.frame(setup, 0.1);
        assert_eq!((stats.posed_on_gpu, stats.animated), (1, 2));
        let full = ids
            .iter()
            .filter(|id| stage.posed_by(**id) == reason(CpuReason::Memory));
        assert_eq!(full.count(), 2);
        stage.crowd.despawn(ids[0]).unwrap();
        stage.frame(setup, 0.2);
        assert_eq!(stage.frame(setup, 0.3).posed_on_gpu, 1);
        let more = Capacity {
            instances: 8,
            ..capacity
        };
        setup.reserve(&mut stage.crowd, &more);
        assert_eq!(stage.frame(setup, 0.4).posed_on_gpu, 2);
        stage.destroy(setup);
    });
}

/// A frame has space for one record of each instance and 1,024 more. Those that do not fit come to
/// the GPU with the next frames, however often that happens. Until then, instances that the GPU
/// poses already go on with their old records.
#[test]
fn records_that_do_not_fit_into_a_frame_come_with_the_next() {
    each(|setup| {
        let count = 600;
        let capacity = Capacity {
            instances: count,
            palette_entries: 3 * count,
            ..SMALL
        };
        let mut stage = Stage::new(setup, capacity);
        let kind = stage.add(setup, &built(ribbon(3)).character);
        for _ in 0..count {
            let id = stage.crowd.spawn(kind, &Spawn::default()).unwrap();
            let mut it = stage.crowd.live_mut(id);
            for layer in 0..4 {
                it.play(Play::new("sway").layer(layer)).unwrap();
            }
        }
        // Each time that time goes back, all records are needed again.
        for round in 0..6 {
            let time_s = 10.0 - f64::from(round);
            let full = stage.frame(setup, time_s).posed_on_gpu;
            let wanted = if round == 0 {
                (count + 1024) / 4
            } else {
                count
            };
            assert_eq!(full, wanted, "{round}");
            stage.frame(setup, time_s + 0.1);
            assert_eq!(
                stage.frame(setup, time_s + 0.2).posed_on_gpu,
                count,
                "{round}"
            );
        }
        stage.destroy(setup);
    });
}

/// However often an instance has changed what it plays, its records find space.
#[test]
fn a_crowd_that_is_full_blends_on_the_gpu() {
    each(|setup| {
        let capacity = Capacity {
            instances: 5,
            palette_entries: 600,
            ..SMALL
        };
        let mut stage = Stage::new(setup, capacity);
        let kind = stage.add(setup, &builtin::mannequin().unwrap().character);
        let ids = [(); 5].map(|()| stage.crowd.spawn(kind, &Spawn::default()).unwrap());
        let clips = ["Idle", "Walk", "Run", "Wave"];
        let mut counts = [0; 5];
        for number in 0..24 {
            // One to four clips at a time.
            for id in ids.iter().filter(|_| number % 6 < 3) {
                let play = Play::new(clips[number % 4]).fade_s(0.15);
                stage.crowd.live_mut(*id).play(play).unwrap();
            }
            let stats = stage.frame(setup, 0.1 * (1.0 + number as f64));
            assert_eq!((stats.posed_on_gpu, stats.animated), (5, 0), "{number}");
            let records = stage.crowd.live(ids[0]).records().len();
            counts[records] += 1;
        }
        assert!(counts[1..4].iter().all(|count| *count > 1), "{counts:?}");
        stage.destroy(setup);
    });
}

/// Objects attached to instances that the GPU poses follow their joints.
#[test]
fn attachments_follow_what_the_gpu_poses() {
    each(|setup| {
        let mut stage = Stage::new(setup, SMALL);
        let kind = stage.add(setup, &builtin::mannequin().unwrap().character);
        let walk = placed(Affine3A::IDENTITY, "Walk");
        let parent = stage.crowd.spawn(kind, &walk).unwrap();
        let child = Spawn {
            attachment: Some(Attachment::new(parent, "RightHand")),
            ..walk
        };
        let child = stage.crowd.spawn(kind, &child).unwrap();
        let grandchild = Spawn {
            attachment: Some(Attachment::new(child, "Head")),
            ..Spawn::default()
        };
        let grandchild = stage.crowd.spawn(kind, &grandchild).unwrap();
        let mut before = [Affine3A::IDENTITY; 2];
        for number in 1..5 {
            let time_s = 0.15 * f64::from(number);
            stage.frame(setup, time_s);
            assert_eq!(stage.posed_by(parent), PosedBy::Gpu);
            let model = |id, joint: &str| {
                let it = stage.crowd.live(id);
                it.transform() * it.joint_model(joint, time_s).unwrap()
            };
            let wanted = [model(parent, "RightHand"), model(child, "Head")];
            let seen = [child, grandchild].map(|id| stage.crowd.live(id).transform());
            for (seen, wanted) in seen.iter().zip(&wanted) {
                assert!(seen.abs_diff_eq(*wanted, 1e-5), "{seen} {wanted}");
            }
            assert!(seen.iter().zip(&before).all(|(now, then)| now != then));
            before = seen;
        }
        // The parent reaches its last pose between two frames.
        let mut it = stage.crowd.live_mut(parent);
        it.play(Play::new("Wave").once()).unwrap();
        let mut clips = stage.crowd.character(kind).unwrap().clips().iter();
        let wave = clips.find(|clip| clip.name() == "Wave").unwrap();
        let end_s = 0.6 + wave.duration_s();
        for time_s in [end_s - 0.3, end_s + 0.1, end_s + 0.2] {
            stage.frame(setup, time_s);
            assert_eq!(stage.posed_by(parent), PosedBy::Gpu);
            let it = stage.crowd.live(parent);
            let wanted = it.transform() * it.joint_model("RightHand", time_s).unwrap();
            let seen = stage.crowd.live(child).transform();
            assert!(seen.abs_diff_eq(wanted, 1e-5), "{seen} {wanted}");
        }
        stage.destroy(setup);
    });
}

#[test]
fn a_crowd_says_which_stages_were_chosen() {
    each(|setup| {
        let software = setup.context.properties.device_type == vk::PhysicalDeviceType::CPU;
        let auto = if software { Stages::Cpu } else { Stages::Gpu };
        let chosen = SIDES.map(|stages| (stages, stages));
        for (stages, wanted) in chosen.into_iter().chain([(Stages::Auto, auto)]) {
            let crowd = setup.crowd_with(stages, 2, SMALL);
            assert_eq!(crowd.stages(), wanted);
            setup.destroy(crowd);
        }
    });
}
