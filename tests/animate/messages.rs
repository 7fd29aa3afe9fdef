//! The words of errors about actors.

use crate::reference::cases;
use crate::reference::handles::Handles;
use crate::reference::words::Fails;
use std::path::PathBuf;
use throng::animator::{Actor, Animator, Play};
use throng::builtin;
use throng::glam::Vec3;
use throng::ik::{Aim, AimTarget, TwoBoneTarget};
use throng::import::{ImportOptions, RawCharacter};
use throng::state_machine::Condition;

const MACHINE: &str = r#"
[state_machine]
parameter = [{ name = "speed", kind = "float" }, { name = "jump", kind = "trigger" }]
[[state_machine.layer]]
name = "body"
entry = "stand"
[[state_machine.layer.state]]
name = "stand"
motion.clip = "Idle"
"#;

type Call = fn(Actor<&mut Animator>) -> throng::Result<()>;

/// Checks the errors of an actor that a state machine drives.
fn refused(table: &[(&str, Call, &str)]) {
    let mannequin = builtin::mannequin().unwrap().character;
    let character = mannequin.with_animation_toml("m.toml", MACHINE).unwrap();
    let mut animator = Animator::new(&character).unwrap();
    let head = (character.skeleton().joint("Head").unwrap(), 1.0);
    animator.add_solver(Aim::new(vec![head], Vec3::Z)).unwrap();
    let id = animator.add_with_state_machine().unwrap();
    for (case, call, words) in table {
        call(animator.live_mut(id)).fails_in(case, words);
    }
}

#[test]
fn a_parameter_of_another_kind_is_named_with_both_kinds() {
    refused(&cases![
        |mut it| it.set_parameter("jump", 1.0)
            => "parameter 1 \"jump\": value: is of kind float, must be of kind trigger";
        |mut it| it.set_parameter("speed", true)
            => "parameter 0 \"speed\": value: is of kind bool, must be of kind float";
        |mut it| it.set_parameter_over("jump", 1.0, 1.0)
            => "parameter 1 \"jump\": value: is of kind float, must be of kind trigger";
        |mut it| it.set_parameter("speed", f32::NAN)
            => "parameter 0 \"speed\": value: NaN is not finite";
    ]);
}

#[test]
fn a_layer_of_the_state_machine_is_named_with_a_way_out() {
    let words = "layer 0 \"body\": state machine: drives this layer: use a layer above its own, \
                 or stop_state_machine";
    refused(&cases![
        |mut it| it.play("Walk") => words;
        |mut it| it.seek(0, 1.0) => words;
    ]);
    // Both ways out.
    let mannequin = builtin::mannequin().unwrap().character;
    let character = mannequin.with_animation_toml("m.toml", MACHINE).unwrap();
    let mut animator = Animator::new(&character).unwrap();
    let id = animator.add_with_state_machine().unwrap();
    let mut actor = animator.live_mut(id);
    actor.play(Play::new("Wave").layer(1)).unwrap();
    actor.stop_state_machine(0.0).unwrap();
    actor.play("Walk").unwrap();
}

#[test]
fn a_target_for_another_kind_of_solver_is_named_with_both_kinds() {
    refused(&cases![
        |mut it| it.set_target(0.into(), TwoBoneTarget::at(Vec3::ONE), 0.0)
            => "IK solver 0 \"Aim\": target: is of kind TwoBone, must be of kind Aim";
        |mut it| it.set_target(0.into(), AimTarget::at(Vec3::NAN), 0.0)
            => "IK solver 0 \"Aim\": AimTarget::position: NaN is not finite";
        |mut it| it.set_target(1.into(), AimTarget::at(Vec3::ONE), 0.0)
            => "IK solver 1 does not exist: there are 1";
    ]);
}

#[test]
fn an_unknown_comparison_is_named_with_those_that_exist() {
    "speed >> 1"
        .parse::<Condition>()
        .fails("comparison \">>\" does not exist: there are >, >=, <, <=, ==, !=");
}

/// Clips without names are played by id, which the message says.
#[test]
fn clips_without_names_are_played_by_id() {
    let mut raw = RawCharacter::mannequin();
    // It names clips.
    raw.animation = None;
    for clip in raw.animations.iter_mut().skip(1) {
        clip.name = "".into();
    }
    let named = raw.animations[0].name.clone();
    let character = raw.build(&ImportOptions::default()).unwrap().character;
    let mut animator = Animator::new(&character).unwrap();
    let count = character.clips().len() - 1;
    let words = format!(
        "clip \"Sit\" does not exist: there are {named}, {count} without a name (select them by \
         id, such as Id::new(1))"
    );
    animator.add("Sit").fails(words);
    animator
        .add(throng::Id::<throng::clip::Clip>::new(1))
        .unwrap();
}

#[test]
#[cfg_attr(not(models), ignore = "needs the models of THRONG_ASSETS")]
fn the_clip_that_was_meant_is_listed_first() {
    let path = PathBuf::from(std::env::var_os("THRONG_ASSETS").unwrap()).join("Knight.glb");
    let knight = throng_import::file(&path, &ImportOptions::default()).unwrap();
    let mut animator = Animator::new(&knight.character).unwrap();
    animator
        .add("Walk")
        .fails("clip \"Walk\" does not exist: there are Walking_A, …");
}
