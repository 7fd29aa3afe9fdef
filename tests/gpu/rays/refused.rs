//! Wrong options and views, and crowds without rays.

use super::World;
use crate::support::{SMALL, each_with_rays};
use throng::{CharacterDesc, Crowd, CrowdDesc, Culling, RayDesc, Stages, View, builtin};

/// Wrong options and views are refused by name, and nothing is recorded then.
#[test]
fn what_cannot_be_is_refused() {
    each_with_rays(|setup| {
        let device = setup.device();
        let mut made = |change: fn(&mut CrowdDesc, &mut RayDesc)| {
            let mut desc = setup.crowd_desc(2, SMALL);
            desc.stages = Stages::Gpu;
            let mut rays = RayDesc::default();
            change(&mut desc, &mut rays);
            desc.rays = Some(rays);
            let made = Crowd::new(&device, &mut setup.allocator(), &desc);
            made.map(drop).unwrap_err().to_string()
        };
        let stages = made(|desc, _| desc.stages = Stages::GpuCull);
        assert!(
            stages.contains("CrowdDesc::rays: needs CrowdDesc::stages"),
            "{stages}"
        );
        let none = made(|_, rays| rays.max_people = 0);
        assert!(none.contains("RayDesc::max_people"), "{none}");
        let many = made(|_, rays| rays.max_people = u32::MAX);
        assert!(many.contains("maxInstanceCount"), "{many}");
        let many = made(|_, rays| rays.builds_per_frame = 1025);
        assert!(many.contains("RayDesc::builds_per_frame"), "{many}");
        let many = made(|_, rays| rays.near_slots = 1025);
        assert!(many.contains("RayDesc::near_slots"), "{many}");

        let mut world = World::new(setup, RayDesc::default(), SMALL);
        let mannequin = builtin::mannequin().unwrap().character;
        let desc = CharacterDesc {
            ray_levels: Some([1, 99]),
            ..CharacterDesc::default()
        };
        let added = world
            .crowd
            .add_character(&mut setup.allocator(), &mannequin, &desc);
        let added = added.unwrap_err().to_string();
        assert!(added.contains("level 99"), "{added}");
        let cmd = world.frames.begin(&setup.context, 0);
        let mut frame = setup.begin(&mut world.crowd, 0, 0.1);
        let camera = View {
            culling: Culling::Frustum,
            ..world.view
        };
        unsafe {
            let late = View {
                late: true,
                ..world.view
            };
            let refused = frame.record_prepare(cmd, &[late]).unwrap_err().to_string();
            assert!(refused.contains("View::late: must be false"), "{refused}");
            let views = frame.record_prepare(cmd, &[camera, world.view]).unwrap();
            let why = |result: throng::Result<_>| match result {
                Ok(_) => panic!("it was recorded"),
                Err(error) => throng::Error::to_string(&error),
            };
            let wrong = why(frame.record_rays(cmd, views[0]));
            assert!(wrong.contains("view: must have Culling::Rays"), "{wrong}");
            frame.record_rays(cmd, views[1]).unwrap();
            let twice = why(frame.record_rays(cmd, views[1]));
            assert!(twice.contains("has recorded rays already"), "{twice}");
        }
        world.frames.submit(&setup.context, 0);
        world.frames.wait(&setup.context, 0);
        world.destroy(setup);
    });
}

/// A crowd without rays has nothing of them: no pipeline, no memory, no set, and a view of rays is
/// one that shows everything large enough.
#[test]
fn without_rays_there_is_nothing_of_them() {
    each_with_rays(|setup| {
        let mut names = Vec::new();
        for rays in [None, Some(RayDesc::default())] {
            let desc = CrowdDesc {
                stages: Stages::Gpu,
                rays,
                ..setup.crowd_desc(2, SMALL)
            };
            let device = setup.device();
            let mut crowd = Crowd::new(&device, &mut setup.allocator(), &desc).unwrap();
            setup.add(&mut crowd, &builtin::mannequin().unwrap().character);
            let pipelines = crowd.pipelines().map(|it| it.stage.to_owned());
            let pipelines: Vec<String> = pipelines.filter(|it| it.starts_with("ray")).collect();
            let report = setup.context.allocator().generate_report();
            let memory = report.allocations.iter().map(|it| it.name.clone());
            let own = ["ray", "people", "slots", "structures"];
            let memory = memory.filter(|name| own.iter().any(|own| name.contains(own)));
            names.push((pipelines.len(), memory.count()));
            assert_eq!(crowd.ray_stats().is_some(), rays.is_some());
            assert_eq!(crowd.ray_set_layout().is_some(), rays.is_some());
            setup.destroy(crowd);
        }
        assert_eq!(names[0], (0, 0));
        assert!(names[1].0 >= 4 && names[1].1 >= 7, "{names:?}");
    });
}
