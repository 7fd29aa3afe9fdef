//! Layers over the base, expressions, spring bones and morph weights.

use egui::{ComboBox, Slider, Ui};
use throng::Id;
use throng::character::Character;
use throng::clip::Clip;
use throng::skeleton::Mask;

use super::super::app::{Action, App};
use super::super::playback::{Layer, MAX_LAYERS};
use super::super::subject::shown;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (Some(subject), Some(playback)) = (&app.subject, &app.playback) else {
        return;
    };
    let character = &subject.character;
    for (index, layer) in playback.layers.iter().enumerate() {
        ui.push_id(index, |ui| {
            ui.separator();
            if let Some(changed) = edit(ui, character, *layer, index + 1) {
                actions.push(Action::SetLayer(index, changed));
            }
        });
    }
    ui.horizontal(|ui| {
        let free = playback.layers.len() < MAX_LAYERS && !character.clips().is_empty();
        if ui
            .add_enabled(free, egui::Button::new("Add a layer"))
            .clicked()
        {
            actions.push(Action::AddLayer(Id::new(0)));
        }
        let used = !playback.layers.is_empty();
        if ui
            .add_enabled(used, egui::Button::new("Remove the last"))
            .clicked()
        {
            actions.push(Action::RemoveLayer);
        }
    });
}

/// The controls of a layer. Returns the layer if it was changed.
fn edit(ui: &mut Ui, character: &Character, layer: Layer, number: usize) -> Option<Layer> {
    let mut new = layer;
    let clip_name = |clip: Id<Clip>| character.clips().get(clip.index()).map_or("", |c| c.name());
    let clip_name = |clip| shown(clip_name(clip));
    ComboBox::from_label(format!("layer {number}"))
        .selected_text(clip_name(new.clip))
        .show_ui(ui, |ui| {
            for index in 0..character.clips().len() as u16 {
                ui.selectable_value(&mut new.clip, Id::new(index), clip_name(Id::new(index)));
            }
        });
    let mask_name = |mask: Option<Id<Mask>>| {
        let mask = mask.and_then(|mask| character.masks().get(mask.index()));
        mask.map_or("all joints".into(), |mask| shown(&mask.name))
    };
    ComboBox::from_label("mask")
        .selected_text(mask_name(new.mask))
        .show_ui(ui, |ui| {
            ui.selectable_value(&mut new.mask, None, mask_name(None));
            for index in 0..character.masks().len() as u16 {
                let mask = Some(Id::new(index));
                ui.selectable_value(&mut new.mask, mask, mask_name(mask));
            }
        });
    ui.add(Slider::new(&mut new.weight, 0.0..=1.0).text("weight"));
    ui.add(
        Slider::new(&mut new.fade_s, 0.0..=2.0)
            .text("fade")
            .suffix(" s"),
    );
    (new != layer).then_some(new)
}

/// A slider for each expression.
pub(super) fn expressions(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (Some(subject), Some(playback)) = (&app.subject, &app.playback) else {
        return;
    };
    let expressions = subject.character.expressions();
    if expressions.is_empty() {
        ui.weak("none (VRM files have them)");
        return;
    }
    let mut weights = playback.expressions.clone();
    for (index, (expression, weight)) in expressions.iter().zip(&mut weights).enumerate() {
        let name = match &*expression.name {
            "" => format!("expression {index}"),
            name => name.to_owned(),
        };
        let slider = ui.add(Slider::new(weight, 0.0..=1.0).text(name));
        if expression.binary {
            slider.on_hover_text("all or nothing: shown above 0.5");
        }
    }
    if ui.button("None").clicked() {
        weights.fill(0.0);
    }
    if weights != playback.expressions {
        actions.push(Action::Expressions(weights));
    }
}

/// A switch, and what swings.
pub(super) fn springs(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (Some(subject), Some(playback)) = (&app.subject, &app.playback) else {
        return;
    };
    let springs = subject.character.springs();
    if springs.chains.is_empty() {
        ui.weak("none (VRM files have them)");
        return;
    }
    let mut on = playback.springs;
    if ui.checkbox(&mut on, "swing").changed() {
        actions.push(Action::Springs(on));
    }
    let joints: usize = springs.chains.iter().map(|chain| chain.joints.len()).sum();
    let (chains, colliders) = (springs.chains.len(), springs.colliders.len());
    ui.weak(format!(
        "chains: {chains}, joints: {joints}, colliders: {colliders}"
    ));
}

pub(super) fn morphs(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (Some(subject), Some(playback)) = (&app.subject, &app.playback) else {
        return;
    };
    let weights = subject.character.morph_weights();
    if weights.is_empty() {
        ui.weak("none");
        return;
    }
    let mut present = vec![0.0; weights.len()];
    if let Some(id) = app.scene.first() {
        // A fault here leaves the sliders at 0.
        let _ = app
            .scene
            .crowd()
            .instance(id)
            .and_then(|it| it.morph_weights(&mut present));
    }
    let mut overrides = playback.morphs.clone();
    let mut changed = false;
    for (index, ((weight, present), own)) in
        weights.iter().zip(present).zip(&mut overrides).enumerate()
    {
        let name = match (&*weight.name, &*weight.owner) {
            ("", owner) => format!("{} {index}", shown(owner)),
            (name, _) => shown(name),
        };
        ui.horizontal(|ui| {
            let mut is_own = own.is_some();
            if ui.checkbox(&mut is_own, "").changed() {
                *own = is_own.then_some(present);
                changed = true;
            }
            let mut value = own.unwrap_or(present);
            let slider = Slider::new(&mut value, 0.0..=1.0).clamping(egui::SliderClamping::Never);
            if ui.add(slider.text(name)).changed() {
                *own = Some(value);
                changed = true;
            }
        });
    }
    if ui.button("All by the clips").clicked() {
        overrides.fill(None);
        changed = true;
    }
    if changed {
        actions.push(Action::Morphs(overrides));
    }
}
