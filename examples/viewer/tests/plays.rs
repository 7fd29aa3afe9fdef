//! Playing: layers, blend spaces, state machines, expressions and springs.

use super::{animated, args, with};
use crate::app::Action;
use crate::headless::{Studio, with_studio};
use crate::keys::Command;
use crate::playback::Base;
use throng::glam::Vec2;
use throng::state_machine::Value;
use throng::{Id, SkinningStage};

#[test]
fn layers_masks_morphs_blend_spaces_and_the_state_machine() {
    with(&["--clip", "Walk", "--time", "0.2"], |studio| {
        let before = studio.shoot().expect("a picture");
        let wave = {
            let character = &studio.app.subject.as_ref().expect("a file").character;
            assert!(!character.masks().is_empty());
            character.clip("Wave").expect("a clip")
        };
        studio.act(Action::AddLayer(wave)).expect("a layer");
        studio.app.playback.as_mut().expect("a clip").seek(0.9);
        let waving = studio.shoot().expect("a picture");
        assert_ne!(waving, before);
        let mut layer = studio.app.playback.as_ref().expect("a clip").layers[0];
        layer.mask = Some(Id::new(0));
        layer.weight = 0.5;
        studio.act(Action::SetLayer(0, layer)).expect("a layer");
        assert_ne!(studio.shoot().expect("a picture"), waving);
        studio.act(Action::RemoveLayer).expect("no layer");
        let space = Base::BlendSpace(Id::new(0), Vec2::new(0.5, 0.0));
        studio.act(Action::Play(space)).expect("a blend space");
        studio.shoot().expect("a picture");
        let space = Base::BlendSpace(Id::new(0), Vec2::new(1.5, 0.0));
        studio.act(Action::Play(space)).expect("another position");
        studio.shoot().expect("a picture");
        studio
            .act(Action::Play(Base::StateMachine))
            .expect("a state machine");
        studio.shoot().expect("a picture");
        let parameters: Vec<_> = {
            let character = &studio.app.subject.as_ref().expect("a file").character;
            let machine = character.state_machine().expect("a machine");
            let desc = machine.desc();
            assert!(desc.layers[0].states.len() > 1 && desc.layers[0].transitions.len() > 1);
            (0..desc.parameters.len() as u16).map(Id::new).collect()
        };
        let id = studio.app.scene.first().expect("an instance");
        for parameter in parameters {
            let value = studio
                .app
                .scene
                .crowd()
                .instance(id)
                .and_then(|it| it.parameter(parameter));
            let value = match value.expect("a value") {
                Value::Float(_) => Value::Float(1.0),
                Value::Trigger(_) => Value::Trigger(true),
                other => other,
            };
            studio
                .act(Action::Parameter(parameter, value))
                .expect("a value");
        }
        studio.shoot().expect("a picture");
        studio
            .act(Action::Play(Base::Clip(Id::new(0))))
            .expect("a clip");
        studio.shoot().expect("a picture");
    });
}

#[test]
fn layers_lie_above_the_state_machine() {
    with(&["--time", "0.2"], |studio| {
        studio.act(Action::AddLayer(Id::new(3))).expect("a layer");
        studio
            .act(Action::Play(Base::StateMachine))
            .expect("a machine");
        studio.shoot().expect("a picture");
        studio
            .act(Action::AddLayer(Id::new(2)))
            .expect("another layer");
        studio.app.settings.stage = SkinningStage::Compute;
        studio.act(Action::Rebuild).expect("instances");
        assert_eq!(studio.app.settings.stage, SkinningStage::Compute);
        studio.shoot().expect("a picture");
        studio
            .act(Action::Play(Base::Clip(Id::new(1))))
            .expect("a clip");
        studio.act(Action::RemoveLayer).expect("one layer");
        studio.shoot().expect("a picture");
        assert_eq!(
            studio.app.playback.as_ref().expect("a clip").layers.len(),
            1
        );
    });
}

/// Home starts a state machine again, with the parameters that were set.
#[test]
fn home_starts_the_state_machine_again() {
    let path = animated();
    let path = path.to_string_lossy();
    let ran = with_studio(&args(&[&path]), |studio| {
        studio.act(Action::Play(Base::StateMachine))?;
        let machine = studio
            .app
            .subject
            .as_ref()
            .expect("a file")
            .character
            .clone();
        let machine = machine.state_machine().expect("a state machine");
        let speed = machine.parameter("speed")?;
        let status = |studio: &Studio<'_>| {
            let id = studio.app.scene.first().expect("an instance");
            studio
                .app
                .scene
                .crowd()
                .instance(id)
                .and_then(|it| it.layer_status(0))
        };
        studio.shoot()?;
        let start = status(studio)?;
        studio.act(Action::Parameter(speed, Value::Float(1.4)))?;
        for _ in 0..8 {
            studio.app.playback.as_mut().expect("a clip").time_s += 0.25;
            studio.shoot()?;
        }
        assert_ne!(status(studio)?.state, start.state);
        studio.app.command(Command::Restart)?;
        let again = status(studio)?;
        assert_eq!((again.state, again.phase), (start.state, start.phase));
        let id = studio.app.scene.first().expect("an instance");
        let kept = studio.app.scene.crowd().instance(id)?.parameter(speed)?;
        assert_eq!(kept, Value::Float(1.4));
        let playback = studio.app.playback.as_ref().expect("a machine");
        let character = &studio.app.subject.as_ref().expect("a file").character;
        assert_eq!(playback.shown_time_s(character), 0.0);
        Ok(())
    });
    ran.expect("a viewer");
}

/// A VRM file: a face with an expression, and hair that swings.
fn doll() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doll.vrm");
    path.to_owned()
}

#[test]
fn expressions_are_shown() {
    let path = doll();
    let ran = with_studio(&args(&[&path, "--time", "0.5", "--no-springs"]), |studio| {
        let before = studio.shoot()?;
        studio.act(Action::Expressions(vec![1.0]))?;
        let happy = studio.shoot()?;
        assert_ne!(happy, before);
        // New instances show it, too.
        studio.app.settings.stage = SkinningStage::Compute;
        studio.act(Action::Rebuild)?;
        assert_eq!(
            studio.app.playback.as_ref().expect("a clip").expressions,
            [1.0]
        );
        let id = studio.app.scene.first().expect("an instance");
        let mut weights = [0.0];
        studio.shoot()?;
        let crowd = studio.app.scene.crowd();
        crowd.instance(id)?.morph_weights(&mut weights)?;
        assert_eq!(weights, [1.0]);
        assert!(studio.act(Action::Expressions(vec![2.0])).is_err());
        assert_eq!(
            studio.app.playback.as_ref().expect("a clip").expressions,
            [1.0]
        );
        studio.act(Action::Expressions(vec![0.0]))?;
        studio.app.settings.stage = SkinningStage::Vertex;
        studio.act(Action::Rebuild)?;
        assert!(studio.shoot()? == before);
        Ok(())
    });
    ran.expect("a viewer");
}

/// Hair hangs down in the first picture already, as after a while in the window.
#[test]
fn springs_swing_and_can_be_switched_off() {
    let path = doll();
    for (more, swings) in [(&[][..], true), (&["--no-springs"], false)] {
        let ran = with_studio(
            &args(&[&[&*path, "--time", "0.5"], more].concat()),
            |studio| {
                let tip = |studio: &mut Studio<'_>| {
                    studio.shoot().expect("a picture");
                    let now_s = studio.app.playback.as_ref().expect("a clip").time_s;
                    let id = studio.app.scene.first().expect("an instance");
                    let crowd = studio.app.scene.crowd();
                    let instance = crowd.instance(id).expect("a live instance");
                    instance
                        .joint_model("hair3", now_s)
                        .expect("a joint")
                        .translation
                        .y
                };
                // As modelled, the tip is at 1.2 m. It hangs from there on 0.6 m of hair.
                let hanging = |y: f32| y < 0.75;
                assert_eq!(hanging(tip(studio)), swings);
                studio.act(Action::Springs(!swings))?;
                for _ in 0..20 {
                    studio.app.playback.as_mut().expect("a clip").time_s += 0.1;
                    studio.shoot()?;
                }
                let y = tip(studio);
                assert_eq!(hanging(y), !swings, "{y}");
                let title = studio.app.title();
                assert!(title.contains("paused at 0.500 s"), "{title}");
                Ok(())
            },
        );
        ran.expect("a viewer");
    }
}
