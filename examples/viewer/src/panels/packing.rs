//! Packing options, and the size and error of each clip.

use egui::{Grid, Slider, Ui};

use super::super::accuracy::bound_m;
use super::super::app::{Action, App};
use super::super::subject::{Subject, shown};

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(subject) = &app.subject else { return };
    let unpackable = subject.unpackable();
    if let Some(why) = unpackable {
        ui.weak(why);
    }
    ui.add_enabled_ui(unpackable.is_none(), |ui| controls(ui, subject, actions));
    Grid::new("packed clips").striped(true).show(ui, |ui| {
        for title in ["clip", "KiB", "ratio", "Hz", "error"] {
            ui.strong(title);
        }
        ui.end_row();
        let mut bytes = 0;
        for clip in subject.character.clips() {
            let report = clip.report();
            bytes += report.bytes;
            ui.label(shown(clip.name()));
            ui.label(format!("{:.1}", report.bytes as f64 / 1024.0));
            ui.label(format!("{:.1}", report.ratio()));
            ui.label(format!("{:.0}", report.rate_hz));
            ui.label(format!("{:.3} mm", f64::from(report.error_m) * 1e3));
            ui.end_row();
        }
        ui.strong("all");
        ui.strong(format!("{:.1}", bytes as f64 / 1024.0));
        ui.end_row();
    });
    ui.weak(format!(
        "file {:.1} KiB, imported in {:.2} s",
        subject.file_bytes as f64 / 1024.0,
        subject.import_s
    ));
}

/// The controls of packing.
fn controls(ui: &mut Ui, subject: &Subject, actions: &mut Vec<Action>) {
    let mut options = subject.request.packing;
    let mut error_mm = bound_m(&options, &subject.character) * 1e3;
    ui.label("largest error");
    let slider = Slider::new(&mut error_mm, 0.001..=100.0)
        .logarithmic(true)
        .suffix(" mm");
    let moved = ui.add(slider);
    let toggled = ui.checkbox(&mut options.quantise, "quantised").changed();
    // A drag packs once, at its end. Until then the slider keeps its place.
    let id = ui.id().with("error");
    let dragged: Option<f32> = ui.data(|data| data.get_temp(id));
    if moved.dragged() {
        ui.data_mut(|data| data.insert_temp(id, error_mm));
    }
    let chosen = moved.drag_stopped() || moved.changed() && !moved.dragged();
    if chosen || toggled {
        let error_mm = if moved.changed() {
            error_mm
        } else {
            dragged.unwrap_or(error_mm)
        };
        if chosen {
            options.error_m = Some(error_mm / 1e3);
        }
        actions.push(Action::Repack(options));
    }
}
