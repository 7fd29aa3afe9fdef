//! The view, its overlays, and the skinning.

use egui::{ComboBox, Slider, Ui};
use throng::character::Character;
use throng::gpu::PosedBy;
use throng::palette::SkinningMethod;
use throng::{SkinningStage, Stages, ViewStats};

use super::super::app::{Action, App};
use super::super::args::{Look, MAX_INSTANCES};
use super::super::figures::level_figures;
use super::super::keys::Command;

pub(super) fn view(ui: &mut Ui, app: &mut App, actions: &mut Vec<Action>) {
    let settings = &mut app.settings;
    ComboBox::from_id_salt("view")
        .selected_text(settings.look.name())
        .show_ui(ui, |ui| {
            for look in Look::ALL {
                ui.selectable_value(&mut settings.look, look, look.name());
            }
        });
    match settings.look {
        Look::Shaded => {}
        Look::Normals => _ = ui.weak("X red, Y green, Z blue, in world space"),
        Look::Weights => {
            let joint = settings.joint.zip(app.subject.as_ref());
            let name = joint.map_or("none".to_owned(), |(joint, subject)| {
                subject.joint_name(joint)
            });
            ui.weak(format!("{name}: blue 0, red 1"));
        }
        Look::Influences => {
            _ = ui.weak("1 grey, 2 blue, 3 green, 4 yellow, to 8 orange, more red");
        }
        Look::Levels => {
            _ = ui.weak("0 white, 1 blue, 2 green, 3 yellow, 4 red, 5 violet, 6 cyan, 7 grey");
        }
    }
    if let Some(subject) = &app.subject {
        level(ui, &mut settings.level, &subject.character);
        if settings.level.is_none() {
            ui.weak(automatic(&app.scene.shown, settings.look));
        }
    }
    let shown = &mut settings.overlays;
    ui.horizontal_wrapped(|ui| {
        ui.checkbox(&mut shown.skeleton, "skeleton");
        ui.checkbox(&mut shown.names, "names");
        ui.checkbox(&mut shown.axes, "axes");
        ui.checkbox(&mut shown.bounds, "bounds")
            .on_hover_text("a box that surely contains the posed character");
        ui.checkbox(&mut shown.trail, "trail");
        ui.checkbox(&mut shown.sockets, "sockets");
        ui.checkbox(&mut settings.ground, "ground");
        ui.checkbox(&mut settings.shadow, "shadow");
        ui.checkbox(&mut settings.multisampled, "antialiasing");
    });
    let mut follow = settings.follow;
    ui.checkbox(&mut follow, "camera follows")
        .on_hover_text("a character that travels (c)");
    if follow != settings.follow {
        actions.push(Action::Command(Command::ToggleFollow));
    }
    ui.add(Slider::new(&mut settings.scale, 0.25..=2.0).text("resolution"));
    ui.add(
        Slider::new(&mut settings.fov_degrees, 1.0..=150.0)
            .text("field of view")
            .suffix("°"),
    );
    let light = &mut settings.light;
    ui.add(Slider::new(&mut light.strength, 0.0..=4.0).text("light"));
    ui.add(
        Slider::new(&mut light.direction[0], -180.0..=180.0)
            .text("sun around")
            .suffix("°"),
    );
    ui.add(
        Slider::new(&mut light.direction[1], -90.0..=90.0)
            .text("sun above")
            .suffix("°"),
    );
    ui.horizontal(|ui| {
        let [r, g, b, _] = settings.background;
        let mut color = [r, g, b];
        if ui.color_edit_button_rgb(&mut color).changed() {
            settings.background = [color[0], color[1], color[2], 1.0];
        }
        ui.label("background");
    });
}

/// The level of detail, with its figures.
fn level(ui: &mut Ui, level: &mut Option<u32>, character: &Character) {
    let coarsest = character.levels().len() as i32;
    // The slider has the automatic choice before the full level.
    let mut at = level.map_or(-1, |level| (level as i32).min(coarsest));
    let slider = Slider::new(&mut at, -1..=coarsest)
        .custom_formatter(|at, _| match at < 0.0 {
            true => "automatic".into(),
            false => format!("{at:.0}"),
        })
        .custom_parser(|text| match "automatic".starts_with(text.trim()) {
            true => Some(-1.0),
            false => text.trim().parse().ok(),
        })
        .text("level");
    if ui.add(slider).changed() {
        *level = u32::try_from(at).ok();
    }
    if let Some(level) = *level {
        let level = level_figures(character, level);
        let (error_mm, cover) = (1e3 * level.error_m, 100.0 * level.cover);
        let triangles = level.triangles;
        ui.weak(format!(
            "{triangles} triangles, error {error_mm:.1} mm, covers {cover:.0} %"
        ));
    }
}

/// Describes the levels of detail that the automatic choice showed.
fn automatic(shown: &ViewStats, look: Look) -> String {
    if !matches!(look, Look::Shaded | Look::Levels) {
        return "this view shows full detail".into();
    }
    let levels = (0..).zip(shown.levels).filter(|(_, count)| *count > 0);
    let levels = levels.map(|(level, count): (u32, u32)| format!("{count} at level {level}"));
    let levels: Vec<String> = levels.collect();
    format!("{}; {} triangles", levels.join(", "), shown.triangles)
}

pub(super) fn skinning(ui: &mut Ui, app: &mut App, actions: &mut Vec<Action>) {
    let settings = &mut app.settings;
    let before = (settings.method, settings.stage);
    ComboBox::from_label("method")
        .selected_text(method_name(settings.method))
        .show_ui(ui, |ui| {
            for method in [
                SkinningMethod::Linear,
                SkinningMethod::DualQuat,
                SkinningMethod::QuatOffset,
            ] {
                ui.selectable_value(&mut settings.method, method, method_name(method));
            }
        });
    ComboBox::from_label("stage")
        .selected_text(stage_name(settings.stage))
        .show_ui(ui, |ui| {
            for stage in [
                SkinningStage::Vertex,
                SkinningStage::Compute,
                SkinningStage::Cpu,
            ] {
                ui.selectable_value(&mut settings.stage, stage, stage_name(stage));
            }
        });
    let slider = Slider::new(&mut settings.instances, 1..=MAX_INSTANCES)
        .logarithmic(true)
        .text("instances");
    let counted = ui.add(slider);
    // A drag rebuilds once, at its end.
    let chosen = counted.drag_stopped() || counted.changed() && !counted.dragged();
    if chosen || before != (settings.method, settings.stage) {
        actions.push(Action::Rebuild);
    }
    if let Some(playback) = &mut app.playback
        && ui
            .checkbox(&mut playback.spread, "at different times")
            .changed()
    {
        actions.push(Action::Replay);
    }
    ui.weak(match app.scene.crowd().stages() {
        Stages::Gpu => "cull and animate on the GPU",
        Stages::GpuCull => "cull on the GPU, animate on the CPU",
        _ => "cull and animate on the CPU",
    });
    ui.weak("largest distance of a vertex from skinning by exact matrices:");
    let Some(measured) = app.accuracy else {
        ui.weak("pause to measure it");
        return;
    };
    ui.label(format!("method: {:.4} mm", measured.method_mm));
    match measured.device_mm {
        Some(error_mm) => ui.label(format!("stage: {error_mm:.4} mm")),
        None => ui.weak("stage: only what compute and CPU write can be read"),
    };
    if let Some(side) = measured.side {
        ui.label(match (side.posed_by, side.distance_mm) {
            (PosedBy::Cpu(reason), _) => format!("pose: only the CPU, {reason}"),
            (PosedBy::Gpu, None) => "pose: CPU or GPU".into(),
            (PosedBy::Gpu, Some(mm)) => format!("pose: the GPU's is {mm:.5} mm from the CPU's"),
        });
    }
    if let Some(error_mm) = measured.clip_mm {
        ui.label(format!("packed clip: {error_mm:.4} mm"));
    }
}

fn method_name(method: SkinningMethod) -> &'static str {
    match method {
        SkinningMethod::Linear => "linear blend",
        SkinningMethod::DualQuat => "dual quaternion",
        SkinningMethod::QuatOffset => "quaternion and offset",
    }
}

fn stage_name(stage: SkinningStage) -> &'static str {
    match stage {
        SkinningStage::Vertex => "vertex shader",
        SkinningStage::Compute => "compute shader",
        SkinningStage::Cpu => "CPU",
    }
}
