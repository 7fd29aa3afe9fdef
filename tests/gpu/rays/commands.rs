//! Objects and commands of a crowd, with rays and without.

use super::EXTENT;
use crate::support::frames::FramesInFlight;
use crate::support::noted::{self, Noted, notes};
use crate::support::{SMALL, Setup, each_with_rays, view};
use throng::ash::vk;
use throng::ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};
use throng::glam::Vec3;
use throng::gpu::{Device, Features};
use throng::{Crowd, CrowdDesc, RayDesc, Spawn, Stages, builtin};

/// The setup's device with functions that note, as throng takes it, without some features.
pub(super) fn noting(setup: &Setup, without: Features) -> Device {
    let context = &setup.context;
    let device = noted::noting(&context.device);
    let enabled = unsafe { context.gpu_device() }.enabled() - without;
    let physical_device = context.physical_device;
    unsafe { Device::new(&context.instance, physical_device, &device, enabled) }.unwrap()
}

/// The objects of a crowd, the commands of a few frames that record no rays, and the names and
/// bytes of its memory.
#[derive(Debug, PartialEq)]
struct Costs {
    made: Vec<Noted>,
    frames: Vec<Vec<Noted>>,
    memory: Vec<(String, u64)>,
}

impl Costs {
    fn new(setup: &mut Setup, without: Features, rays: Option<RayDesc>) -> Self {
        let device = noting(setup, without);
        notes(None);
        let desc = CrowdDesc {
            stages: Stages::Gpu,
            rays,
            ..setup.crowd_desc(2, SMALL)
        };
        let mut crowd = Crowd::new(&device, &mut setup.allocator(), &desc).unwrap();
        let kind = setup.add(&mut crowd, &builtin::mannequin().unwrap().character);
        for _ in 0..4 {
            let spawn = Spawn {
                play: "Walk".into(),
                ..Spawn::default()
            };
            crowd.spawn(kind, &spawn).unwrap();
        }
        let made = notes(None);
        let mut in_flight = FramesInFlight::new(&setup.context, 2);
        let frames = (0..4).map(|number| {
            let cmd = in_flight.begin(&setup.context, number % 2);
            let mut frame = setup.begin(&mut crowd, number % 2, 0.1 * f64::from(number));
            let seen = view(Vec3::new(0.0, 2.0, 9.0), Vec3::Y, EXTENT);
            unsafe { frame.record_prepare(cmd, &[seen]) }.unwrap();
            in_flight.submit(&setup.context, number % 2);
            notes(None)
        });
        let frames = frames.collect();
        let report = setup.context.allocator().generate_report();
        let memory = report.allocations.into_iter();
        let mut memory: Vec<_> = memory.map(|it| (it.name, it.size)).collect();
        memory.sort_unstable();
        in_flight.destroy(&setup.context);
        setup.destroy(crowd);
        Self {
            made,
            frames,
            memory,
        }
    }
}

/// A crowd without rays costs the same whether its device has acceleration structures or not:
/// buffers with their usages, pipelines, memory, and commands. A crowd with rays that records none
/// waits for traces in each frame, and records nothing else once all is uploaded.
#[test]
fn crowds_without_rays_cost_nothing_more() {
    each_with_rays(|setup| {
        let costs = Costs::new(setup, Features::ACCELERATION_STRUCTURE, None);
        let same = Costs::new(setup, Features::NONE, None);
        assert_eq!(costs.made, same.made);
        assert_eq!(costs.frames, same.frames);
        assert_eq!(costs.memory, same.memory);
        let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR
            | vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR;
        let of_rays = |it: &Noted| matches!(it, Noted::Buffer(_, own) if own.intersects(usage));
        assert!(!costs.made.iter().any(of_rays));
        let with = Costs::new(setup, Features::NONE, Some(RayDesc::default()));
        assert!(with.made.iter().any(of_rays));
        let traces = RayDesc::default().readers;
        // The first two upload, and one has structures made for builds that are never recorded.
        for (without, with) in costs.frames.iter().zip(&with.frames).skip(2) {
            let waits = |it: &&Noted| {
                let none = Access::empty();
                let then = Stage::COMPUTE_SHADER | Stage::TRANSFER;
                **it == Noted::Barrier {
                    before: (traces, none),
                    after: (then, none),
                }
            };
            assert_eq!(with.iter().filter(waits).count(), 1, "{with:?}");
            let with: Vec<_> = with.iter().filter(|it| !waits(it)).collect();
            assert_eq!(with, without.iter().collect::<Vec<_>>());
        }
    });
}
