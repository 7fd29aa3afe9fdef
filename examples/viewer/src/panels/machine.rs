//! The graph of the state machine with its live states, and its parameters.

use std::f32::consts::{FRAC_PI_2, TAU};

use egui::{Color32, Pos2, Sense, Slider, Stroke, Ui, vec2};
use throng::state_machine::{LayerDesc, Origin, ParameterKind, StateDesc, StateMachine, Value};
use throng::{Id, InstanceId};

use super::super::app::{Action, App};
use super::super::playback::Base;
use super::super::subject::shown;
use super::text_within;

const LIVE: Color32 = Color32::from_rgb(90, 210, 90);
const NODE: Color32 = Color32::from_rgb(70, 80, 95);

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (Some(subject), Some(playback)) = (&app.subject, &app.playback) else {
        return;
    };
    let Some(machine) = subject.character.state_machine() else {
        ui.weak("none (see the TOML file beside a model)");
        return;
    };
    let driven = playback.base() == Base::StateMachine;
    if ui
        .selectable_label(driven, "Driven by the state machine")
        .clicked()
    {
        let base = if driven {
            Base::RestPose
        } else {
            Base::StateMachine
        };
        actions.push(Action::Play(base));
    }
    let Some(id) = app.scene.first().filter(|_| driven) else {
        return;
    };
    parameters(ui, app, (machine, id), actions);
    for (layer, desc) in (0..).zip(&machine.desc().layers) {
        let status = app
            .scene
            .crowd()
            .instance(id)
            .and_then(|it| it.layer_status(layer))
            .ok();
        let live = status.map(|status| (status.state, status.weight));
        let name = shown(&desc.name);
        ui.label(match status {
            Some(status) => {
                let state = shown(&desc.states[status.state.index()].name);
                format!("{name}: {state}, {:.0} %", status.position * 100.0)
            }
            None => name,
        });
        let transition = status.and_then(|status| status.transition);
        graph(ui, desc, (live, transition));
    }
}

fn parameters(
    ui: &mut Ui,
    app: &App,
    (machine, id): (&StateMachine, InstanceId),
    actions: &mut Vec<Action>,
) {
    for (index, desc) in (0..).zip(&machine.desc().parameters) {
        let (parameter, kind) = (Id::new(index), desc.kind);
        let name = shown(&desc.name);
        let Ok(value) = app
            .scene
            .crowd()
            .instance(id)
            .and_then(|it| it.parameter(parameter))
        else {
            continue;
        };
        let changed = match (kind, value) {
            (ParameterKind::Float { min, max, .. }, Value::Float(mut value)) => {
                let low = min.unwrap_or(max.unwrap_or(10.0) - 20.0).min(value);
                let high = max.unwrap_or(low + 20.0).max(value);
                let slider = Slider::new(&mut value, low..=high).text(name);
                ui.add(slider).changed().then_some(Value::Float(value))
            }
            (ParameterKind::Int { min, max, .. }, Value::Int(mut value)) => {
                let low = min
                    .unwrap_or(max.unwrap_or(10).saturating_sub(20))
                    .min(value);
                let high = max.unwrap_or(low.saturating_add(20)).max(value);
                let slider = Slider::new(&mut value, low..=high).text(name);
                ui.add(slider).changed().then_some(Value::Int(value))
            }
            (_, Value::Bool(mut value)) => {
                let changed = ui.checkbox(&mut value, name).changed();
                changed.then_some(Value::Bool(value))
            }
            _ => ui.button(name).clicked().then_some(Value::Trigger(true)),
        };
        if let Some(value) = changed {
            actions.push(Action::Parameter(parameter, value));
        }
    }
}

/// The states of a layer on a circle, with arrows for transitions. A short arrow comes from any
/// state, or from the entry.
fn graph(
    ui: &mut Ui,
    layer: &LayerDesc,
    (live, transition): (Option<(Id<StateDesc>, f32)>, Option<usize>),
) {
    let states = &layer.states;
    let find = |name: &str| states.iter().position(|state| state.name == name);
    let width = ui.available_width().min(240.0);
    let height = if states.len() < 3 { 0.45 } else { 0.85 };
    let (response, painter) = ui.allocate_painter(vec2(width, width * height), Sense::hover());
    let rect = response.rect;
    let center = rect.center();
    let (rx, ry) = (0.34 * rect.width(), 0.38 * rect.height());
    let place = |index: usize| -> Pos2 {
        let angle = index as f32 / states.len().max(1) as f32 * TAU - FRAC_PI_2;
        let flat = if states.len() < 3 { FRAC_PI_2 } else { 0.0 };
        let (sin, cos) = (angle + flat).sin_cos();
        center + vec2(cos * rx, sin * ry)
    };
    for (index, desc) in layer.transitions.iter().enumerate() {
        let Some(to) = find(&desc.to) else { continue };
        let from = match &desc.from {
            Origin::State(from) => find(from),
            _ => None,
        };
        let color = if transition == Some(index) {
            LIVE
        } else {
            Color32::GRAY
        };
        let stroke = Stroke::new(1.0, color);
        let end = place(to);
        let start = match from {
            Some(from) => place(from),
            // Any state, or the entry.
            None => end + (end - center).normalized() * 16.0,
        };
        let way = end - start;
        if way.length() < 1.0 {
            continue;
        }
        // Beside the line between the states, so that both directions are visible.
        let side = vec2(-way.y, way.x).normalized() * 3.0;
        let cut = way.normalized() * 9.0;
        let from_node = if from.is_some() {
            cut
        } else {
            egui::Vec2::ZERO
        };
        arrow(
            &painter,
            [start + side + from_node, end + side - cut],
            stroke,
        );
    }
    for (index, state) in states.iter().enumerate() {
        let name = shown(&state.name);
        let weight = live
            .filter(|live| live.0.index() == index)
            .map(|live| live.1);
        let color = weight.map_or(NODE, |weight| {
            NODE.lerp_to_gamma(LIVE, 0.35 + 0.65 * weight.clamp(0.0, 1.0))
        });
        painter.circle_filled(place(index), 8.0, color);
        let color = ui.visuals().text_color();
        // Away from the middle, where the arrows are.
        let (offset, align) = if place(index).y < center.y - 1.0 {
            (-9.0, egui::Align2::CENTER_BOTTOM)
        } else {
            (9.0, egui::Align2::CENTER_TOP)
        };
        let at = place(index) + vec2(0.0, offset);
        text_within(&painter, rect, (at, align), (&name, color));
    }
}

fn arrow(painter: &egui::Painter, [start, end]: [Pos2; 2], stroke: Stroke) {
    let back = (start - end).normalized() * 6.0;
    painter.line_segment([start, end], stroke);
    for angle in [-0.45, 0.45] {
        let tip = egui::emath::Rot2::from_angle(angle) * back;
        painter.line_segment([end, end + tip], stroke);
    }
}
