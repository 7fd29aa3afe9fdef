//! No character in the example `crowd` pops.
//!
//! Between two frames, no joint moves farther than clips and fades explain.

use throng::ash::vk;
use throng::glam::Vec3;
use throng::skeleton::Joint;
use throng::{Id, PassDesc};
use throng_standalone::Context;

use super::crowd::roles::Fades;
use super::crowd::show::{self, DEPTH, Show};
use super::{args, say};

/// Frames per second, and their number.
const RATE: u32 = 60;
const FRAMES: u32 = 12 * RATE;
/// Upper bound of a joint's speed in metres per second.
///
/// The fastest joint was measured at 8.2 m/s, with fades. Without them it was 69 m/s.
const BOUND_M_S: f32 = 9.0;

/// Observations of some people over a few seconds.
#[derive(Debug, Default)]
struct Seen {
    fastest_m_s: f32,
    least_gap_m: f32,
    stops: u32,
    starts: u32,
    waves: u32,
}

/// Runs the crowd, and looks at all of its joints in every frame, until one is faster than
/// `enough_m_s`.
fn watch(fades: Fades, enough_m_s: f32) -> Seen {
    let args = args(&["--instances", "24", "--shadows", "off"]);
    let scene = show::scene_with(&args, fades).expect("a scene");
    let mut context = Context::new(&show::context_desc(&args)).expect("a device");
    let pass = PassDesc {
        color_formats: vec![vk::Format::R8G8B8A8_SRGB],
        depth_format: DEPTH,
        ..PassDesc::default()
    };
    let mut show = Show::new(&mut context, scene, pass, &args).expect("a crowd");
    let joints = show.scene.models()[0].character.skeleton().len() as u16;
    let mut seen = Seen {
        least_gap_m: f32::INFINITY,
        ..Seen::default()
    };
    let mut last: Vec<(Option<bool>, bool, Vec<Vec3>)> = Vec::new();
    for frame in 0..FRAMES {
        let time_s = f64::from(frame) / f64::from(RATE);
        show.advance(time_s).expect("an update");
        let director = show.scene.director();
        let minds = director.minds().map(|(person, mind)| {
            let gap_m = director.gap_m(show.scene.layout(), person);
            seen.least_gap_m = seen.least_gap_m.min(gap_m);
            let at = |joint| -> Vec3 {
                let joint = Id::<Joint>::new(joint);
                let place = show
                    .crowd()
                    .instance(mind.instance)
                    .and_then(|it| it.joint_transform(joint, time_s));
                place.expect("a joint").translation.into()
            };
            let places: Vec<Vec3> = (0..joints).map(at).collect();
            (mind.is_going(), mind.is_waving(), places)
        });
        let now: Vec<_> = minds.collect();
        for (was, is) in last.iter().zip(&now) {
            seen.stops += u32::from(was.0 == Some(true) && is.0 == Some(false));
            seen.starts += u32::from(was.0 == Some(false) && is.0 == Some(true));
            seen.waves += u32::from(is.1 && !was.1);
            for (from, to) in was.2.iter().zip(&is.2) {
                let speed_m_s = from.distance(*to) * RATE as f32;
                seen.fastest_m_s = seen.fastest_m_s.max(speed_m_s);
            }
        }
        last = now;
        if seen.fastest_m_s > enough_m_s {
            break;
        }
    }
    show.destroy(&mut context).expect("an idle device");
    seen
}

#[test]
fn nobody_pops() {
    let seen = watch(Fades::default(), f32::INFINITY);
    say(&format!("with fades: {seen:?}"));
    assert!(seen.stops >= 3 && seen.starts >= 3 && seen.waves >= 3);
    assert!(seen.fastest_m_s < BOUND_M_S, "{} m/s", seen.fastest_m_s);
    assert!(seen.least_gap_m > 0.0, "someone walks through another");
}

/// Without this test, the one above would prove nothing.
#[test]
fn cuts_are_found() {
    let fades = Fades::default();
    for (what, fades) in [
        (
            "walk",
            Fades {
                walk_s: 0.0,
                ..fades
            },
        ),
        (
            "run",
            Fades {
                run_s: 0.0,
                ..fades
            },
        ),
        (
            "wave",
            Fades {
                wave_s: 0.0,
                ..fades
            },
        ),
    ] {
        let cut = watch(fades, BOUND_M_S);
        say(&format!("cuts to a {what}: {cut:?}"));
        let fastest_m_s = cut.fastest_m_s;
        assert!(fastest_m_s > BOUND_M_S, "a cut to a {what} would pass");
    }
}
