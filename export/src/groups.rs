//! The meshes of the file: primitives that share a node.

use super::omissions::{Omission, Omissions};
use std::collections::HashMap;
use throng::character::Character;
use throng::mesh::{MeshLevel, Primitive};

/// Primitives that become one mesh.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// The name of the node.
    pub(super) part: &'a str,
    pub(super) name: &'a str,
    /// The number of each primitive in the character, ascending.
    pub(super) primitives: Vec<usize>,
    /// The first of the mesh's weights, and their number.
    pub(super) first_weight: usize,
    pub(super) weights: usize,
}

/// Primitives with the same morph weights, or without any and with the same names.
pub(super) fn of<'a>(character: &'a Character, omissions: &mut Omissions) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut known = HashMap::new();
    let mut without = 0;
    for (index, primitive) in character.primitives().iter().enumerate() {
        if primitive.indices.is_empty() {
            // A file has the full level alone, of which a mesh for far away has none.
            let is_level = |level: &MeshLevel| !level.indices.is_empty();
            without += usize::from(!primitive.levels.iter().any(is_level));
            continue;
        }
        let (part, name) = (&*primitive.part, mesh_name(primitive));
        let weights = primitive.targets.len();
        let first_weight = if weights == 0 {
            0
        } else {
            primitive.first_weight.index()
        };
        let names = (weights == 0).then_some((part, name));
        let group = *known.entry((names, first_weight)).or_insert_with(|| {
            groups.push(Group {
                part,
                name,
                primitives: Vec::new(),
                first_weight,
                weights,
            });
            groups.len() - 1
        });
        groups[group].primitives.push(index);
    }
    omissions.add(Omission::NoTriangles, without);
    let driven: usize = groups.iter().map(|group| group.weights).sum();
    let unused = character.morph_weights().len().saturating_sub(driven);
    omissions.add(Omission::UnusedWeights, unused);
    groups
}

/// The name of a primitive without its number in the mesh.
fn mesh_name(primitive: &Primitive) -> &str {
    let numbered = primitive.name.rsplit_once('.');
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match numbered.filter(|(_, number)| is_number(number)) {
        Some((name, _)) => name,
        None => &primitive.name,
    }
}
