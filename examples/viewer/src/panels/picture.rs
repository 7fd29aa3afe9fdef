//! The picture, its overlays, and the mouse over it.

use egui::{CentralPanel, Color32, Frame, PointerButton, Rect, Sense, TextureId, Ui, pos2};

use throng::Lighting;
use throng::ash::vk;

use super::super::app::App;
use super::super::args::Look;
use super::super::overlay::{self, Canvas, Posed};

pub(super) fn show(ui: &mut Ui, app: &mut App, texture: TextureId) {
    CentralPanel::no_frame().frame(Frame::NONE).show(ui, |ui| {
        let rect = ui.available_rect_before_wrap();
        app.picture = rect;
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        ui.painter().image(texture, rect, whole, Color32::WHITE);
        let canvas = Canvas {
            painter: ui.painter_at(rect),
            rect,
            clip_from_world: app
                .camera
                .view(extent(rect), Lighting::default())
                .eye
                .clip_from_world,
        };
        let chosen = mouse(ui, rect, app);
        let (Some(subject), Some(playback)) = (&app.subject, &app.playback) else {
            return;
        };
        let Some(id) = app.scene.first() else { return };
        let character = &subject.character;
        let posed = Posed {
            crowd: app.scene.crowd(),
            id,
            character,
            now_s: playback.time_s,
            clip: playback
                .clip()
                .map(|clip| (clip, playback.clip_time_s(character))),
        };
        let picked = chosen.and_then(|at| overlay::pick(&canvas, posed, at));
        let drawn = overlay::draw(&canvas, posed, &app.settings);
        if let Some(joint) = picked {
            app.settings.joint = Some(joint);
        }
        if let Err(error) = drawn {
            app.tell(error.to_string());
        }
    });
}

fn extent(rect: Rect) -> vk::Extent2D {
    vk::Extent2D {
        width: rect.width().max(1.0) as u32,
        height: rect.height().max(1.0) as u32,
    }
}

/// Moves the camera. Returns the place of a click that chooses a joint.
fn mouse(ui: &mut Ui, rect: Rect, app: &mut App) -> Option<egui::Pos2> {
    let response = ui.allocate_rect(rect, Sense::click_and_drag());
    let moved = response.drag_delta();
    if response.dragged_by(PointerButton::Primary) {
        app.camera.orbit(moved.x, moved.y);
    } else if response.dragged_by(PointerButton::Secondary)
        || response.dragged_by(PointerButton::Middle)
    {
        app.camera
            .pan(moved.x, moved.y, (rect.width(), rect.height()));
    }
    if response.hovered() {
        let scrolled = ui.input(|input| input.smooth_scroll_delta().y);
        app.camera.approach(scrolled / 50.0);
    }
    let shows_joints = app.settings.overlays.skeleton || app.settings.look == Look::Weights;
    let clicked = response.clicked() && shows_joints;
    clicked.then(|| response.interact_pointer_pos()).flatten()
}
