//! The tree of joints. A click chooses the joint of the heat map.

use egui::Ui;
use throng::Id;

use super::super::app::App;

pub(super) fn show(ui: &mut Ui, app: &mut App) {
    let Some(subject) = &app.subject else { return };
    let id = ui.id().with("search");
    let mut search: String = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    ui.horizontal(|ui| {
        ui.label("find");
        ui.text_edit_singleline(&mut search);
    });
    ui.data_mut(|data| data.insert_temp(id, search.clone()));
    let wanted = search.to_lowercase();
    let joints = subject.character.skeleton().joints();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); joints.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (index, joint) in joints.iter().enumerate().rev() {
        match joint.parent {
            Some(parent) => children[parent.index()].push(index),
            None => open.push((index, 0)),
        }
    }
    // Depth first. Lists are reversed, so the first child is taken first.
    while let Some((index, depth)) = open.pop() {
        open.extend(children[index].iter().map(|child| (*child, depth + 1)));
        let name = subject.joint_name(Id::new(index as u16));
        if !wanted.is_empty() && !name.to_lowercase().contains(&wanted) {
            continue;
        }
        let joint = Id::new(index as u16);
        let indent = "  ".repeat(depth.min(20));
        let chosen = app.settings.joint == Some(joint);
        if ui
            .selectable_label(chosen, format!("{indent}{name}"))
            .clicked()
        {
            app.settings.joint = Some(joint);
        }
    }
}
