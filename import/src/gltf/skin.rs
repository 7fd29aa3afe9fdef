//! Skins: joints and inverse bind matrices.

use super::component::Component;
use super::fault::lookup;
use super::json::Document;
use super::source::Source;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::glam::Mat4;
use throng::import::{RawPrimitive, RawSkin, Repair, RepairKind};

/// All skins, with the matrices of those that a primitive uses, or of all skins if there are no
/// primitives.
pub(super) fn read(source: &mut Source<'_>, primitives: &[RawPrimitive]) -> Result<Vec<RawSkin>> {
    let used = RawPrimitive::used_skins(primitives, source.doc.skins.len());
    let doc = source.doc;
    let mut skins = Vec::with_capacity(doc.skins.len());
    for (index, skin) in doc.skins.iter().enumerate() {
        let at = |part: &str| Object::new(ObjectKind::Skin, index, part);
        if skin.joints.is_empty() {
            return Err(Error::asset(at(""), AssetFault::Missing("joints")));
        }
        let mut joints = Vec::with_capacity(skin.joints.len());
        for (number, node) in skin.joints.iter().enumerate() {
            let referrer = || at(&format!("joints[{number}]"));
            joints.push(lookup(&doc.nodes, *node, "node", referrer)?.0);
        }
        if let Some(node) = skin.skeleton {
            lookup(&doc.nodes, node, "node", || at("skeleton"))?;
        }
        let inverse_bind = match skin.inverse_bind_matrices {
            Some(accessor) => matrices(source, index, accessor, joints.len(), used[index])?,
            None => Vec::new(),
        };
        skins.push(RawSkin {
            name: skin.name.as_deref().unwrap_or_default().into(),
            joints,
            inverse_bind,
        });
    }
    Ok(skins)
}

/// Reports skins in use whose joints are not in the scene, or not below the root that they name.
pub(super) fn note(
    doc: &Document,
    reached: &[bool],
    primitives: &[RawPrimitive],
    repairs: &mut Vec<Repair>,
) {
    let used = RawPrimitive::used_skins(primitives, doc.skins.len());
    let below = doc.ranges();
    for (index, skin) in doc
        .skins
        .iter()
        .enumerate()
        .filter(|(index, _)| used[*index])
    {
        let joints = || skin.joints.iter().map(|joint| *joint as usize);
        let outside = joints().filter(|joint| !reached[*joint]).count();
        let beside = skin.skeleton.map_or(0, |root| {
            let root = &below[root as usize];
            let is_beside = |joint: &usize| !root.contains(&below[*joint].start);
            joints().filter(is_beside).count()
        });
        for (part, kind, count) in [
            ("joints", RepairKind::JointsOutsideScene, outside),
            ("skeleton", RepairKind::SkeletonRoot, beside),
        ] {
            let object = Object::new(ObjectKind::Skin, index, part);
            Repair::note(repairs, &object, kind, count as u64);
        }
    }
}

fn matrices(
    source: &mut Source<'_>,
    skin: usize,
    accessor: u64,
    need: usize,
    used: bool,
) -> Result<Vec<Mat4>> {
    let at = || Object::new(ObjectKind::Skin, skin, "inverseBindMatrices");
    let float = |component, _| component == Component::F32;
    let (index, accessor) = source.typed(accessor, "MAT4", "5126", float, at)?;
    if accessor.count < need as u64 {
        let (what, got, need) = ("the accessor", accessor.count, need as u64);
        return Err(Error::asset(at(), AssetFault::Count { what, got, need }));
    }
    if !used {
        return Ok(Vec::new());
    }
    let elements = source.elements(index, need, size_of::<Mat4>())?;
    Ok(elements.all(|columns| Mat4::from_cols_array(&columns)))
}
