//! The list of clips, and the pads of blend spaces.

use egui::{Color32, Pos2, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, vec2};
use throng::Id;
use throng::clip::Clip;
use throng::glam::Vec2;
use throng::motion::BlendSpace;

use super::super::app::{Action, App};
use super::super::playback::Base;
use super::super::subject::shown as shown_name;
use super::text_within;

/// Height of the list of clips, in points.
const LIST_HEIGHT: f32 = 220.0;
/// A longer list has a field to search it.
const LONG: usize = 9;

pub(super) fn show(ui: &mut Ui, app: &mut App, actions: &mut Vec<Action>) {
    let (Some(subject), Some(playback)) = (&app.subject, &mut app.playback) else {
        return;
    };
    ui.horizontal(|ui| {
        ui.label("Fade");
        ui.add(egui::Slider::new(&mut playback.fade_s, 0.0..=2.0).suffix(" s"));
    });
    let clips = subject.character.clips();
    let mut search = "";
    if clips.len() > LONG {
        ui.horizontal(|ui| {
            ui.label("find");
            ui.text_edit_singleline(&mut app.search);
        });
        search = &app.search;
    }
    let found = found(clips.iter().map(Clip::name), search);
    let base = playback.base();
    // The present clip is scrolled into view when it changes.
    let id = ui.id().with("shown clip");
    let shown: Option<Base> = ui.data(|data| data.get_temp(id));
    let scroll = shown != Some(base);
    ui.data_mut(|data| data.insert_temp(id, base));
    let mut row = |ui: &mut Ui, own: Base, name: &str, right: String| {
        let button = egui::Button::selectable(base == own, name)
            .truncate()
            .min_size(vec2(ui.available_width(), 0.0))
            .right_text(right);
        let response = ui.add(button).on_hover_text(name);
        if scroll && base == own {
            response.scroll_to_me(None);
        }
        if response.clicked() {
            actions.push(Action::Play(own));
        }
    };
    ScrollArea::vertical()
        .max_height(LIST_HEIGHT)
        .show(ui, |ui| {
            row(ui, Base::RestPose, "Rest pose", String::new());
            for (index, clip) in found.iter().map(|index| (*index, &clips[*index])) {
                let key = match index {
                    0..9 => format!("{}  ", index + 1),
                    _ => String::new(),
                };
                let name = match clip.name() {
                    "" => "(no name)",
                    name => &shown_name(name),
                };
                let kind = if clip.is_additive() { "+" } else { "" };
                let right = format!("{kind}{:.2} s", clip.duration_s());
                let own = Base::Clip(Id::new(index as u16));
                row(ui, own, &format!("{key}{name}"), right);
            }
            if found.is_empty() && !clips.is_empty() {
                ui.weak("no name contains this");
            }
        });
}

/// The indices of the names that contain a text, in any case.
pub(crate) fn found<'a>(names: impl Iterator<Item = &'a str>, text: &str) -> Vec<usize> {
    let text = text.trim().to_lowercase();
    let names = names.enumerate();
    let found = names.filter(|(_, name)| text.is_empty() || name.to_lowercase().contains(&text));
    found.map(|(index, _)| index).collect()
}

/// A pad for each blend space. A click plays it, and dragging moves the position.
pub(super) fn blend_spaces(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (Some(subject), Some(playback)) = (&app.subject, &app.playback) else {
        return;
    };
    let spaces = subject.character.blend_spaces();
    if spaces.is_empty() {
        ui.weak("none (see the TOML file beside a model)");
    }
    for (index, space) in spaces.iter().enumerate() {
        let id = Id::new(index as u16);
        let at = match playback.base() {
            Base::BlendSpace(other, at) if other == id => Some(at),
            _ => None,
        };
        ui.label(shown_name(space.name()));
        if let Some(at) = pad(ui, space, at, |clip| {
            let clip = subject.character.clips().get(clip.index());
            clip.map_or("", |clip| clip.name())
        }) {
            actions.push(Action::Play(Base::BlendSpace(id, at)));
        }
    }
}

/// Draws the points of a blend space. Returns the new position if the user moved it.
fn pad<'a>(
    ui: &mut Ui,
    space: &BlendSpace,
    at: Option<Vec2>,
    name: impl Fn(Id<Clip>) -> &'a str,
) -> Option<Vec2> {
    let points = space.points();
    let is_line = space.dimensions() == 1;
    let low = points.iter().copied().reduce(Vec2::min)?;
    let high = points.iter().copied().reduce(Vec2::max)?;
    let margin = (Vec2::new(0.12, 0.2) * (high - low)).max(Vec2::splat(0.05));
    let (low, size) = (low - margin, high - low + 2.0 * margin);
    let width = ui.available_width().min(230.0);
    let wanted = vec2(width, if is_line { 44.0 } else { width * 0.55 });
    let (response, painter) = ui.allocate_painter(wanted, Sense::click_and_drag());
    let rect: Rect = response.rect;
    let place = |point: Vec2| -> Pos2 {
        let part = (point - low) / size;
        rect.min + vec2(part.x * rect.width(), (1.0 - part.y) * rect.height())
    };
    let visuals = ui.visuals();
    let frame = Stroke::new(1.0, visuals.weak_text_color());
    painter.rect(
        rect,
        3.0,
        visuals.extreme_bg_color,
        frame,
        StrokeKind::Inside,
    );
    for (point, clip) in points.iter().zip(space.clips()) {
        let at = place(*point);
        painter.circle_filled(at, 3.0, Color32::from_rgb(255, 196, 64));
        let at = (at + vec2(0.0, -4.0), egui::Align2::CENTER_BOTTOM);
        text_within(&painter, rect, at, (name(*clip), visuals.text_color()));
    }
    if let Some(at) = at {
        painter.circle_stroke(
            place(at),
            6.0,
            Stroke::new(2.0, Color32::from_rgb(255, 70, 160)),
        );
    }
    let pointer = response.interact_pointer_pos()?;
    let part = (pointer - rect.min) / rect.size();
    let part = Vec2::new(part.x.clamp(0.0, 1.0), 1.0 - part.y.clamp(0.0, 1.0));
    let moved = low + part * size;
    Some(if is_line { moved.with_y(0.0) } else { moved })
}
