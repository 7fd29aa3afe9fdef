//! The times of the stages, as figures and small plots.

use egui::{Color32, Pos2, Sense, Stroke, Ui, vec2};
use throng::Stats;

use super::super::app::App;

pub(super) fn show(ui: &mut Ui, app: &App) {
    let Some(latest) = app.plots.back() else {
        return;
    };
    ui.weak("CPU, milliseconds");
    for (index, (name, ms)) in latest.cpu.iter().enumerate() {
        let past = app.plots.iter().filter_map(|times| times.cpu.get(index));
        plot(ui, name, *ms, past.map(|time| time.1));
    }
    ui.weak("GPU, milliseconds");
    if latest.gpu.is_empty() {
        ui.weak("no timestamps");
    }
    for (name, ms) in &latest.gpu {
        let past = app.plots.iter().filter_map(|times| {
            let mut same = times.gpu.iter().filter(|time| time.0 == *name);
            same.next().map(|time| time.1)
        });
        plot(ui, name, *ms, past);
    }
    ui.label(drawn_text(app.scene.instances(), &app.scene.stats));
    ui.weak(&app.device);
}

/// Describes what a frame drew and wrote.
pub(crate) fn drawn_text(instances: usize, stats: &Stats) -> String {
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let triangles = match stats.triangles {
        count @ 0..1000 => format!("{count} triangle{}", plural(count)),
        count => format!("{:.1} thousand triangles", count as f64 / 1e3),
    };
    format!(
        "{instances} instance{}, {} draw{}, {triangles}, {:.1} KiB written",
        plural(instances as u64),
        stats.draws,
        plural(stats.draws.into()),
        stats.upload_bytes as f64 / 1024.0
    )
}

/// A name, the latest value and the values before it.
fn plot(ui: &mut Ui, name: &str, ms: f64, past: impl Iterator<Item = f64>) {
    ui.horizontal(|ui| {
        let (response, painter) = ui.allocate_painter(vec2(90.0, 16.0), Sense::hover());
        let rect = response.rect;
        let past: Vec<f64> = past.collect();
        let most = past.iter().copied().fold(1e-3, f64::max);
        let last = (past.len().max(2) - 1) as f32;
        let points = past.iter().enumerate().map(|(index, ms)| -> Pos2 {
            let x = index as f32 / last * rect.width();
            let y = (1.0 - (ms / most) as f32) * (rect.height() - 2.0) + 1.0;
            rect.min + vec2(x, y)
        });
        painter.rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
        let stroke = Stroke::new(1.0, Color32::from_rgb(120, 200, 255));
        painter.line(points.collect(), stroke);
        ui.label(format!("{name} {ms:.3}"));
    });
}
