//! Barriers that are left out on purpose: the layer sees what they are for.

use super::commands::noting;
use super::{EXTENT, World, rays_into};
use crate::reference::rng::Rng;
use crate::support::noted::{Noted, notes};
use crate::support::{CONFIGS, SMALL, Setup, placed, view};
use std::io::Write as _;
use throng::animator::Play;
use throng::ash::{self, vk};
use throng::glam::{Affine3A, Vec3};
use throng::gpu::Features;
use throng::{RayDesc, builtin};

/// The first layer that is known to follow structures.
const LAYER: u32 = vk::make_api_version(0, 1, 4, 309);

/// The barriers of a frame that builds and refits, in their order, and whether layer 1.4.309 sees
/// that one is missing.
///
/// The first is not needed here, because each frame is waited for. The layer does not see that a
/// dispatch reads what another one wrote, and follows neither addresses nor the host.
const BARRIERS: [(&str, bool); 9] = [
    ("after earlier frames", false),
    ("after the update of work and tables", true),
    ("between the starts and the slots", false),
    ("after the slots", true),
    ("after the positions", false),
    ("before structures are built", true),
    ("before the host reads counters", false),
    ("between bottom and top", true),
    ("before traces", true),
];

/// True if the layer is new enough.
fn follows_structures() -> bool {
    let entry = unsafe { ash::Entry::load() }.unwrap();
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.unwrap();
    let is_new = |it: &vk::LayerProperties| {
        let name = it.layer_name_as_c_str();
        name == Ok(c"VK_LAYER_KHRONOS_validation") && it.spec_version >= LAYER
    };
    layers.iter().any(is_new)
}

/// Traces a few frames, in the last but one of which a barrier of the rays is left out. Returns the
/// number of barriers of that frame, and the rules that were broken.
fn frames(mut setup: Setup, left_out: Option<usize>) -> (usize, Vec<String>) {
    let rays = RayDesc {
        near_slots: 4,
        builds_per_frame: 4,
        ..RayDesc::default()
    };
    let device = noting(&setup, Features::NONE);
    let mut world = World::on(&device, &mut setup, rays, SMALL);
    world.view.eye = view(Vec3::new(3.0, 2.0, 9.0), Vec3::Y, EXTENT).eye;
    world.view.detail.pose_error_px = 0.0;
    let kind = setup.add(&mut world.crowd, &builtin::mannequin().unwrap().character);
    let mut rng = Rng::new(59);
    for number in 0..8 {
        let place = Affine3A::from_translation(Vec3::X * number as f32);
        let spawn = placed(place, Play::new(["Walk", "Run"][number % 2]));
        world.crowd.spawn(kind, &spawn).unwrap();
    }
    let mut barriers = 0;
    for number in 0..6 {
        let rays = rays_into(&mut rng, 64, 3.0);
        let frame_index = number % 2;
        let raw = setup.context.device.clone();
        let cmd = world.frames.begin(&setup.context, frame_index);
        let mut frame = setup.begin(&mut world.crowd, frame_index, 0.02 * f64::from(number));
        let views = unsafe { frame.record_prepare(cmd, &[world.view]) }.unwrap();
        notes(left_out.filter(|_| number == 4));
        let traced = unsafe { frame.record_rays(cmd, views[0]) }.unwrap();
        let noted = notes(None);
        world.tracer.record((&raw, cmd), &traced, &rays);
        world.frames.submit(&setup.context, frame_index);
        world.frames.wait(&setup.context, frame_index);
        let is_barrier = |it: &&Noted| matches!(it, Noted::Barrier { .. });
        barriers = noted.iter().filter(is_barrier).count();
    }
    world.destroy(&mut setup);
    let messages = setup.context.messages.clone();
    drop(setup);
    let id = |message: String| message.split(':').next().unwrap_or_default().to_owned();
    let mut rules: Vec<_> = messages.all().into_iter().map(id).collect();
    rules.dedup();
    (barriers, rules)
}

/// The layer sees that these barriers are missing, one after the other, and that none is missing
/// otherwise.
#[test]
fn missing_barriers_of_rays_are_seen() {
    let setup = || Setup::of(CONFIGS[0], true);
    let first = match setup() {
        Ok(first) if follows_structures() => first,
        Ok(_) => {
            let _ = writeln!(std::io::stderr(), "NOT TESTED HERE: the layer is too old");
            return;
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "NOT TESTED HERE: {error}");
            return;
        }
    };
    assert_eq!(frames(first, None), (BARRIERS.len(), Vec::new()));
    let seen = BARRIERS.into_iter().enumerate().filter(|(_, it)| it.1);
    for (number, (name, _)) in seen {
        let (_, rules) = frames(setup().unwrap(), Some(number));
        println!("{name}: {rules:?}");
        let hazards = rules.iter().any(|rule| rule.starts_with("SYNC-HAZARD"));
        assert!(hazards, "{name}: {rules:?}");
    }
}
