//! The panels around the picture, one file each.

pub(crate) mod clips;
mod help;
mod layers;
mod look;
mod machine;
mod packing;
mod picture;
pub(crate) mod plots;
mod skeleton;
pub(crate) mod timeline;

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align2, CollapsingHeader, Color32, FontId, Painter, Panel, Pos2, Rect, ScrollArea, TextureId,
    Ui,
};

use super::app::{Action, App};
use super::subject::list_names;

/// Lays out all panels, and the picture between them.
pub(crate) fn show(ui: &mut Ui, app: &mut App, texture: TextureId, actions: &mut Vec<Action>) {
    if app.settings.panels {
        Panel::top("top").show(ui, |ui| top(ui, app, actions));
        Panel::bottom("timeline").show(ui, |ui| timeline::show(ui, app, actions));
        Panel::left("left").default_size(250.0).show(ui, |ui| {
            ScrollArea::vertical().show(ui, |ui| left(ui, app, actions));
        });
        Panel::right("right").default_size(270.0).show(ui, |ui| {
            ScrollArea::vertical().show(ui, |ui| right(ui, app, actions));
        });
    }
    picture::show(ui, app, texture);
    if app.settings.help {
        help::show(ui, app);
    }
    messages(ui, app, actions);
}

fn top(ui: &mut Ui, app: &mut App, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let names = list_names(&app.files);
        let present = app.subject.as_ref().map(|subject| &subject.request.path);
        let listed = || app.files.iter().zip(&names);
        let shown = listed().find(|(file, _)| Some(*file) == present);
        let shown = shown.map_or("", |(_, name)| name);
        egui::ComboBox::from_id_salt("file")
            .selected_text(shown)
            .width(220.0)
            .show_ui(ui, |ui| {
                for (file, name) in listed() {
                    if ui.selectable_label(Some(file) == present, name).clicked() {
                        actions.push(Action::Open(file.clone()));
                    }
                }
            });
        if let Some(subject) = &app.subject {
            let character = &subject.character;
            ui.label(format!(
                "{} joints, {} vertices, {} triangles, {} clips",
                character.skeleton().len(),
                character.vertex_count(),
                character.triangle_count(),
                character.clips().len(),
            ));
        }
        if let Some(file) = &app.loader.file {
            ui.spinner();
            ui.label(format!("importing {file}"));
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("Help (h)").clicked() {
                app.settings.help = !app.settings.help;
            }
            path(ui, actions);
        });
    });
}

/// A field for the path of a file, for window systems on which no file can be dropped.
fn path(ui: &mut Ui, actions: &mut Vec<Action>) {
    let id = ui.id().with("path");
    let mut text: String = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let field = egui::TextEdit::singleline(&mut text)
        .hint_text("drop a file, or type a path")
        .desired_width(190.0);
    let entered =
        ui.add(field).lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    if entered && !text.trim().is_empty() {
        actions.push(Action::Open(text.trim().into()));
        text.clear();
    }
    ui.data_mut(|data| data.insert_temp(id, text));
}

fn left(ui: &mut Ui, app: &mut App, actions: &mut Vec<Action>) {
    let character = app.subject.as_ref().map(|subject| &subject.character);
    let spaces = character.is_some_and(|character| !character.blend_spaces().is_empty());
    let machine = character.is_some_and(|character| character.state_machine().is_some());
    let expressions = character.is_some_and(|character| !character.expressions().is_empty());
    let springs = character.is_some_and(|character| !character.springs().chains.is_empty());
    section(ui, "Clips", true, |ui| clips::show(ui, app, actions));
    section(ui, "Layers", true, |ui| layers::show(ui, app, actions));
    section(ui, "Blend spaces", spaces, |ui| {
        clips::blend_spaces(ui, app, actions)
    });
    section(ui, "State machine", machine, |ui| {
        machine::show(ui, app, actions)
    });
    section(ui, "Expressions", expressions, |ui| {
        layers::expressions(ui, app, actions)
    });
    section(ui, "Spring bones", springs, |ui| {
        layers::springs(ui, app, actions)
    });
    section(ui, "Morph weights", false, |ui| {
        layers::morphs(ui, app, actions)
    });
    section(ui, "Events", false, |ui| timeline::events(ui, app));
    section(ui, "Packing", false, |ui| packing::show(ui, app, actions));
}

fn right(ui: &mut Ui, app: &mut App, actions: &mut Vec<Action>) {
    section(ui, "View", true, |ui| look::view(ui, app, actions));
    section(ui, "Skinning", true, |ui| look::skinning(ui, app, actions));
    section(ui, "Times", true, |ui| plots::show(ui, app));
    section(ui, "Skeleton", false, |ui| skeleton::show(ui, app));
    let count = app
        .subject
        .as_ref()
        .map_or(0, |subject| subject.repairs.len());
    section(ui, &format!("Repairs ({count})"), false, |ui| {
        repairs(ui, app)
    });
}

fn section(ui: &mut Ui, title: &str, open: bool, show: impl FnOnce(&mut Ui)) {
    // Sections with something in them open when a file is loaded.
    CollapsingHeader::new(title)
        .id_salt((title, open))
        .default_open(open)
        .show(ui, show);
}

/// Everything that the import repaired.
fn repairs(ui: &mut Ui, app: &App) {
    let Some(subject) = &app.subject else { return };
    if subject.repairs.is_empty() {
        ui.weak("none");
    }
    for repair in &subject.repairs {
        ui.label(repair);
    }
}

/// Errors, in a window over the picture.
fn messages(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    if app.messages.is_empty() {
        return;
    }
    egui::Window::new("Messages")
        .default_pos(app.picture.min + egui::vec2(12.0, 12.0))
        .default_width(480.0)
        .show(ui.ctx(), |ui| {
            for message in &app.messages {
                ui.colored_label(Color32::from_rgb(255, 150, 120), message);
            }
            if ui.button("Clear").clicked() {
                actions.push(Action::ClearMessages);
            }
        });
}

/// Draws a line of text at a point, moved and shortened so that it stays within `rect`.
fn text_within(
    painter: &Painter,
    rect: Rect,
    (at, align): (Pos2, Align2),
    (text, color): (&str, Color32),
) {
    let job = LayoutJob {
        wrap: TextWrapping::truncate_at_width(rect.width()),
        ..LayoutJob::simple_singleline(text.to_owned(), FontId::proportional(10.0), color)
    };
    let galley = painter.layout_job(job);
    let mut place = align.anchor_size(at, galley.size()).min;
    place.x = place.x.min(rect.right() - galley.size().x).max(rect.left());
    place.y = place.y.min(rect.bottom() - galley.size().y).max(rect.top());
    painter.galley(place, galley, color);
}
