//! Blends that follow a ground speed: between the gaits, at their limits, and while it changes.

use crate::reference::handles::Handles;
use crate::reference::refused;
use crate::reference::rng::Rng;
use std::path::Path;
use throng::animator::{ActorId, Animator, Play, RootMotionMode};
use throng::builtin;
use throng::character::{AnimationDesc, BlendAt, BlendSpaceDesc, Character, ClipDesc, Gait};
use throng::import::ImportOptions;
use throng::state_machine::{
    BlendPointDesc, LayerDesc, MotionDesc, ParameterDesc, ParameterKind, StateDesc,
    StateMachineDesc, Value,
};

/// Weights, speeds and positions are rounded to `f32` a few times, at 6e-8 each.
const ROUNDING: f64 = 1e-6;

/// The gaits of a model may differ in heading. For Fox that is 0.01 rad, so the way bends, and is
/// longer than the distance between its ends, by its angle squared over 24: 4e-6.
const CURVE: f64 = 1e-5;

/// A blend along "speed" of clips at these speeds, as a blend space and as the state of a machine.
fn following(points: &[(&str, f32)], limits: Option<[f32; 2]>) -> AnimationDesc {
    let point = |(clip, at): &(&str, f32)| (String::from(*clip), *at);
    let points = points.iter().map(point);
    let space = BlendSpaceDesc {
        name: "gaits".into(),
        points: points
            .clone()
            .map(|(clip, at)| BlendPointDesc {
                at: at.into(),
                clip,
            })
            .collect(),
        ground_speed: true,
        speed_limits: limits,
    };
    let state = StateDesc {
        ground_speed: Some("speed".into()),
        speed_limits: limits,
        motion: MotionDesc::Blend1 {
            parameter: "speed".into(),
            points: points
                .map(|(clip, at)| BlendPointDesc { at, clip })
                .collect(),
        },
        ..StateDesc::clip("move", "")
    };
    // The same, by the blend space.
    let by_space = StateDesc {
        motion: MotionDesc::BlendSpace {
            name: "gaits".into(),
            parameters: vec!["speed".into()],
        },
        ..StateDesc::clip("move", "")
    };
    let machine = StateMachineDesc {
        parameters: vec![ParameterDesc {
            name: "speed".into(),
            kind: ParameterKind::Float {
                default: 0.0,
                min: None,
                max: None,
            },
        }],
        masks: Vec::new(),
        layers: vec![
            LayerDesc {
                states: vec![state],
                ..LayerDesc::new("body", "move")
            },
            LayerDesc {
                states: vec![by_space],
                ..LayerDesc::new("again", "move")
            },
        ],
    };
    AnimationDesc {
        gait_motion: true,
        blend_spaces: vec![space],
        state_machine: Some(machine),
        ..AnimationDesc::default()
    }
}

/// The built-in character, with gaits that are measured. Its blend is at their speeds.
fn mannequin(limits: Option<[f32; 2]>) -> (Character, [f32; 2]) {
    let character = builtin::mannequin().unwrap().character;
    let speeds = speeds(&character, ["Walk", "Run"]);
    let points = [("Idle", 0.0), ("Walk", speeds[0]), ("Run", speeds[1])];
    let built = character.with_animation(&following(&points, limits));
    (built.unwrap(), speeds)
}

fn speeds(character: &Character, clips: [&str; 2]) -> [f32; 2] {
    clips.map(|clip| {
        let gait = character.gait(character.clip(clip).unwrap());
        gait.unwrap().speed_m_s
    })
}

/// A blend space and a state machine, both at this speed.
fn both(character: &Character, speed: f32) -> (Animator, [ActorId; 2]) {
    let mut animator = Animator::new(character).unwrap();
    let blended = animator.add(Play::blend_space("gaits").at(speed)).unwrap();
    let driven = animator.add_with_state_machine().unwrap();
    animator
        .live_mut(driven)
        .set_parameter("speed", speed)
        .unwrap();
    for id in [blended, driven] {
        let mut actor = animator.live_mut(id);
        actor.set_root_motion(RootMotionMode::Apply);
    }
    animator.update(0.0).unwrap();
    (animator, [blended, driven])
}

/// Changes the speed of both over some seconds.
fn change(animator: &mut Animator, [blended, driven]: [ActorId; 2], speed: f32, over_s: f32) {
    let mut it = animator.live_mut(driven);
    it.set_parameter_over("speed", speed, over_s).unwrap();
    let mut it = animator.live_mut(blended);
    it.set_blend_position(0, speed, over_s).unwrap();
}

/// The wanted speeds of both: the position, and the parameter.
fn wanted(animator: &Animator, [blended, driven]: [ActorId; 2]) -> [f64; 2] {
    let Some((_, BlendAt::Line(position))) = animator.live(blended).blend_position(0) else {
        panic!("plays a line");
    };
    let Ok(Value::Float(parameter)) = animator.live(driven).parameter("speed") else {
        panic!("is a float");
    };
    [position, parameter].map(f64::from)
}

fn ground_speeds(animator: &Animator, ids: [ActorId; 2]) -> [f64; 2] {
    ids.map(|id| animator.live(id).ground_velocity().length().into())
}

#[track_caller]
fn near(got: [f64; 2], wanted: [f64; 2], note: &str) {
    for (got, wanted) in got.into_iter().zip(wanted) {
        assert!(
            (got - wanted).abs() <= ROUNDING * wanted,
            "{note}: {got} {wanted}"
        );
    }
}

/// Both move at what is wanted: at rest between the gaits, and while the speed changes, in any
/// updates. So the way is the integral of the speed.
fn check(name: &str, character: &Character, [slow, fast]: [f32; 2]) {
    let (mut animator, ids) = both(character, slow);
    for step in 0..=60 {
        let speed = slow + (fast - slow) * (step as f32 / 60.0);
        change(&mut animator, ids, speed, 0.0);
        animator.update(0.05 * f64::from(step)).unwrap();
        let note = format!("{name} at {speed} m/s");
        near(ground_speeds(&animator, ids), [speed.into(); 2], &note);
    }
    let mut rng = Rng::new(5);
    let mut now_s = animator.now_s();
    for (to, over_s) in [(slow, 0.7_f32), (fast, 1.3), (0.3 * slow + 0.7 * fast, 0.2)] {
        let ends_s = now_s + f64::from(over_s);
        let from = wanted(&animator, ids);
        let start_m = ids.map(|id| animator.live(id).root_transform().translation);
        change(&mut animator, ids, to, over_s);
        while now_s < ends_s {
            now_s = ends_s.min(now_s + f64::from(rng.range(0.001, 0.2)));
            animator.update(now_s).unwrap();
            // A parameter changes at this time, and its state with the next update.
            if now_s < ends_s {
                let note = format!("{name} at {now_s} s");
                near(ground_speeds(&animator, ids), wanted(&animator, ids), &note);
            }
        }
        let end_m = ids.map(|id| animator.live(id).root_transform().translation);
        let ways_m = [0, 1].map(|at| start_m[at].distance(end_m[at]));
        let means = from.map(|from| 0.5 * (from + f64::from(to)) * f64::from(over_s));
        for (way_m, mean_m) in ways_m.into_iter().zip(means) {
            let off = (way_m - mean_m).abs();
            assert!(
                off <= CURVE * mean_m,
                "{name}: the way to {to} m/s: {way_m} {mean_m}"
            );
        }
    }
}

#[test]
fn between_the_gaits_feet_do_not_slide() {
    let (character, speeds) = mannequin(None);
    check("mannequin", &character, speeds);
}

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn gaits_of_models_are_met() {
    let folder = std::env::var_os("THRONG_ASSETS").unwrap();
    for (file, gaits) in [
        (
            "Knight.glb",
            &[["Walking_A", "Running_B"], ["Walking_C", "Running_A"]][..],
        ),
        ("Fox.glb", &[["Walk", "Run"]]),
    ] {
        let path = Path::new(&folder).join(file);
        let loaded = throng_import::file(&path, &ImportOptions::default());
        let character = loaded.unwrap().character;
        for clips in gaits {
            let speeds = speeds(&character, *clips);
            let points = [(clips[0], speeds[0]), (clips[1], speeds[1])];
            let desc = following(&points, None);
            let character = character.clone().with_animation(&desc).unwrap();
            check(file, &character, speeds);
        }
    }
}

/// Slower than the first gait and faster than the last, playback stays within its limits. A blend
/// that stands plays at speed 1.
#[test]
fn playback_has_limits() {
    for limits in [None, Some([0.8, 1.5])] {
        let (character, [walk, run]) = mannequin(limits);
        let [least, most] = limits.unwrap_or([0.5, 2.0]);
        let (mut animator, ids) = both(&character, 9.0 * run);
        let speeds = ground_speeds(&animator, ids);
        near(speeds, [f64::from(most * run); 2], "the fastest");
        change(&mut animator, ids, -run, 0.0);
        animator.update(1.0).unwrap();
        assert_eq!(
            ground_speeds(&animator, ids),
            [0.0; 2],
            "the idle clip is nearest"
        );
        for id in ids {
            let mut playing = animator.actor(id).unwrap().playing().collect::<Vec<_>>();
            playing.retain(|it| it.layer == 0);
            assert_eq!((playing.len(), playing[0].weight), (1, 1.0));
        }
        // A line that starts with the walk, half as fast as the slowest.
        let points = [("Walk", walk), ("Run", run)];
        let desc = following(&points, limits);
        let character = character.with_animation(&desc).unwrap();
        let (animator, ids) = both(&character, 0.5 * least * walk);
        let speeds = ground_speeds(&animator, ids);
        near(speeds, [f64::from(least * walk); 2], "the slowest");
    }
    let (character, _) = mannequin(None);
    let (animator, ids) = both(&character, 0.0);
    for id in ids {
        let playing: Vec<_> = animator.live(id).playing().collect();
        assert_eq!((playing[0].weight, playing[0].speed), (1.0, 1.0));
    }
}

/// The speed of the play multiplies, and backward is as fast.
#[test]
fn the_own_speed_multiplies() {
    let (character, [walk, run]) = mannequin(None);
    let middle = 0.5 * (walk + run);
    let (mut animator, [blended, _]) = both(&character, middle);
    for speed in [2.0, -0.5] {
        let mut actor = animator.live_mut(blended);
        actor.set_speed(0, speed).unwrap();
        let got = f64::from(actor.ground_velocity().length());
        let wanted = f64::from(middle) * speed.abs();
        assert!((got - wanted).abs() <= ROUNDING * wanted, "{got} {wanted}");
    }
}

/// Snapshots, saved characters and characters that replace others keep it.
#[test]
fn what_is_kept_goes_on() {
    let (character, [walk, run]) = mannequin(None);
    let saved = Character::from_bytes(&character.to_bytes(), &Default::default()).unwrap();
    assert_eq!(saved.state_machine(), character.state_machine());
    let (mut animator, ids) = both(&saved, walk);
    change(&mut animator, ids, run, 1.0);
    animator.update(0.4).unwrap();
    let snapshot = animator.snapshot();
    let went = |animator: &mut Animator| {
        animator.update(0.7).unwrap();
        near(
            ground_speeds(animator, ids),
            wanted(animator, ids),
            "went on",
        );
        ids.map(|id| animator.live(id).records().to_vec())
    };
    let first = went(&mut animator);
    animator.restore(&snapshot).unwrap();
    assert_eq!(first, went(&mut animator));
    // The same clips, said to be faster.
    let faster = |clip: &str, speed_m_s: f32| ClipDesc {
        name: clip.into(),
        gait: Some(Gait {
            speed_m_s,
            heading_rad: 0.0,
        }),
        ..ClipDesc::default()
    };
    let points = [("Idle", 0.0), ("Walk", walk), ("Run", run)];
    let desc = AnimationDesc {
        clips: vec![faster("Walk", 1.3 * walk), faster("Run", 1.2 * run)],
        ..following(&points, None)
    };
    let other = builtin::mannequin().unwrap().character;
    let other = other.with_animation(&desc).unwrap();
    assert!(animator.replace(&other).unwrap().is_empty());
    animator.update(0.8).unwrap();
    near(
        ground_speeds(&animator, ids),
        wanted(&animator, ids),
        "replaced",
    );
}

/// Errors name the file, the line, and the state or blend space.
#[test]
fn what_cannot_follow_is_refused() {
    let on = |text: &str| {
        let character = builtin::mannequin().unwrap().character;
        character.with_animation_toml("hero.toml", text)
    };
    let machine = |state: &str| {
        let text = "[state_machine]\nparameter = [{ name = \"speed\", kind = \"float\" }, \
                    { name = \"on\", kind = \"bool\" }]\n[[state_machine.layer]]\n\
                    name = \"body\"\nentry = \"go\"\nstate = [\n    ";
        on(&format!("{text}{{ name = \"go\", {state} }},\n]\n"))
    };
    let line = |points: &str| {
        let motion = format!("blend_1d = {{ parameter = \"speed\", points = [{points}] }}");
        machine(&format!(
            "ground_speed = \"speed\", motion = {{ {motion} }}"
        ))
    };
    let space = |rest: &str| {
        let points = "{ at = 0.0, clip = \"Idle\" }, { at = 2.0, clip = \"Walk\" }";
        on(&format!(
            "[[blend_space]]\nname = \"gaits\"\npoints = [{points}]\n{rest}\n"
        ))
    };
    let state = "hero.toml:7: layer \"body\", state 0 \"go\", ";
    let walk = "motion = { clip = \"Walk\" }";
    let stands = "has no ground speed: it needs root motion, or a gait that is measured or given";
    assert!(space("ground_speed = true").is_ok());
    assert!(line("{ at = 0.0, clip = \"Idle\" }, { at = 2.0, clip = \"Walk\" }").is_ok());
    refused! {
        machine(&format!("ground_speed = \"sped\", {walk}"))
            => format!("{state}ground_speed: parameter \"sped\" does not exist: there are …");
        machine(&format!("ground_speed = \"on\", {walk}"))
            => format!("{state}ground_speed: parameter \"on\" is a bool, must be a float");
        machine("ground_speed = \"speed\", motion = { clip = \"Idle\" }")
            => format!("{state}ground_speed: clip \"Idle\" {stands}");
        machine("ground_speed = \"speed\"")
            => format!("{state}ground_speed: needs a motion that moves over the ground");
        line("{ at = 1.0, clip = \"Idle\" }, { at = 2.0, clip = \"Walk\" }")
            => format!("{state}ground_speed: clip \"Idle\" {stands}");
        line("{ at = 0.0, clip = \"Idle\" }")
            => format!("{state}ground_speed: clip \"Idle\" {stands}");
        machine(&format!("speed_limits = [0.5, 2.0], {walk}"))
            => format!("{state}speed_limits: needs `ground_speed`");
        machine(&format!("ground_speed = \"speed\", speed_limits = [0.0, 2.0], {walk}"))
            => format!("{state}speed_limits[0]: is 0, must be a positive number");
        space("ground_speed = true\nspeed_limits = [1.0, 0.5]")
            => "hero.toml:5: blend space 0 \"gaits\", speed_limits[1]: is 0.5, must be a number \
                not below the first";
        on("[[blend_space]]\nname = \"w\"\npoints = [{ at = 1.0, clip = \"Idle\" }]\n\
            ground_speed = true")
            => format!("hero.toml:4: blend space 0 \"w\", ground_speed: clip \"Idle\" {stands}");
    }
}
