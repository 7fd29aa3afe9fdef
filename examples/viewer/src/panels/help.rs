//! The help.

use egui::Ui;

use super::super::app::App;
use super::super::keys::KEYS;

pub(super) fn show(ui: &Ui, app: &mut App) {
    egui::Window::new("Help")
        .open(&mut app.settings.help)
        .collapsible(false)
        .resizable(false)
        .min_width(430.0)
        .anchor(egui::Align2::CENTER_CENTER, [0.0, 0.0])
        .show(ui.ctx(), |ui| {
            ui.monospace(KEYS);
            ui.label("Click a joint to choose it for the view of its weights.");
        });
}
