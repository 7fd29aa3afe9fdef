//! The scrub bar with keys and events, and the buttons beside it.

use egui::{Align2, Color32, FontId, Sense, Stroke, Ui, vec2};
use throng::character::Character;

use super::super::app::{Action, App};
use super::super::keys::Command;
use super::super::playback::{FASTEST, Playback, SLOWEST};
use super::super::subject::shown;

const EVENT: Color32 = Color32::from_rgb(255, 196, 64);
const CURSOR: Color32 = Color32::from_rgb(255, 70, 160);

pub(super) fn show(ui: &mut Ui, app: &mut App, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        buttons(ui, app, actions);
    });
    bar(ui, app, actions);
}

fn buttons(ui: &mut Ui, app: &mut App, actions: &mut Vec<Action>) {
    let (Some(subject), Some(playback)) = (&app.subject, &mut app.playback) else {
        ui.weak("nothing is loaded");
        return;
    };
    let mut button = |text: &str, hint: &str, command: Command| {
        if ui.button(text).on_hover_text(hint).clicked() {
            actions.push(Action::Command(command));
        }
    };
    button("|<", "to the start (Home)", Command::Restart);
    button("<", "one frame back (,)", Command::Step(-1));
    let play = if playback.playing { "pause" } else { "play" };
    button(play, "play or pause (Space)", Command::PlayOrPause);
    button(">", "one frame forward (.)", Command::Step(1));
    let looping = ui.selectable_label(playback.looping, "loop");
    if looping.on_hover_text("loop (l)").clicked() {
        actions.push(Action::Command(Command::ToggleLoop));
    }
    let speed = egui::Slider::new(&mut playback.speed, SLOWEST..=FASTEST).logarithmic(true);
    ui.add(speed.suffix(" x")).on_hover_text("speed (- and =)");
    let character = &subject.character;
    ui.monospace(time_text(playback, character));
}

/// The present time, and the frame if a clip plays. Frames are those of the keys `,` and `.`.
pub(crate) fn time_text(playback: &Playback, character: &Character) -> String {
    let time_s = playback.shown_time_s(character);
    if playback.clip().is_none() {
        return format!("{time_s:.3} s");
    }
    let duration_s = playback.duration_s(character);
    let rate_hz = playback.step_rate_hz(character);
    let frame = (time_s * rate_hz).round();
    let frames = (duration_s * rate_hz).round();
    format!("{time_s:.3} / {duration_s:.3} s, frame {frame} of {frames}")
}

/// The bar: keys as ticks, events as marks. Dragging moves the clock.
fn bar(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let width = ui.available_width().max(50.0);
    let (response, painter) = ui.allocate_painter(vec2(width, 34.0), Sense::click_and_drag());
    let rect = response.rect.shrink2(vec2(6.0, 0.0));
    let visuals = ui.visuals();
    painter.rect_filled(rect, 2.0, visuals.extreme_bg_color);
    let (Some(subject), Some(playback)) = (&app.subject, &app.playback) else {
        return;
    };
    let character = &subject.character;
    let (Some(clip), duration_s) = (playback.clip(), playback.duration_s(character)) else {
        return;
    };
    let x = |time_s: f64| {
        let part = if duration_s > 0.0 {
            time_s / duration_s
        } else {
            0.0
        };
        rect.left() + part.clamp(0.0, 1.0) as f32 * rect.width()
    };
    let tick = Stroke::new(1.0, visuals.weak_text_color());
    for time_s in &app.key_times.1 {
        painter.vline(x(*time_s), rect.bottom() - 8.0..=rect.bottom(), tick);
    }
    for (name, time_s) in character.events(clip) {
        let at = x(time_s);
        painter.vline(at, rect.y_range(), Stroke::new(1.5, EVENT));
        let place = egui::pos2(at + 3.0, rect.top() + 1.0);
        painter.text(
            place,
            Align2::LEFT_TOP,
            shown(name),
            FontId::proportional(10.0),
            EVENT,
        );
    }
    let now = x(playback.clip_time_s(character));
    painter.vline(now, rect.y_range(), Stroke::new(2.0, CURSOR));
    if let Some(at) = response.interact_pointer_pos() {
        let part = f64::from(((at.x - rect.left()) / rect.width()).clamp(0.0, 1.0));
        // A looping clip at its end would be at its start.
        let most = if playback.looping {
            duration_s * (1.0 - 1e-9)
        } else {
            duration_s
        };
        actions.push(Action::Seek((part * duration_s).min(most)));
    }
}

/// The latest events of the first instance.
pub(super) fn events(ui: &mut Ui, app: &App) {
    if app.events.is_empty() {
        ui.weak("none so far");
    }
    for (time_s, text) in app.events.iter().rev() {
        ui.label(format!("{time_s:.2} s  {text}"));
    }
}
