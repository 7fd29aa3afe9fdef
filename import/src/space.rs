//! Conversion of the axes and units that the import options state.

use super::fault::file_part;
use super::read::Read;
use throng::error::{ArgumentFault, Error, Result};
use throng::glam::{Affine3A, Mat4, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawKeys, RawNode, Repair, RepairKind, UpAxis};

/// The rotation that turns this axis up.
fn upright(axis: UpAxis) -> Quat {
    let half = core::f32::consts::FRAC_1_SQRT_2;
    match axis {
        UpAxis::Y => Quat::IDENTITY,
        // Z becomes Y, and Y becomes -Z.
        UpAxis::Z => Quat::from_xyzw(-half, 0.0, 0.0, half),
    }
}

/// Fails if an option is out of range.
fn check(options: &ImportOptions) -> Result<()> {
    let scale = options.scale;
    if scale.is_normal() && scale > 0.0 {
        return Ok(());
    }
    let (min, max) = (f32::MIN_POSITIVE, f32::MAX);
    Err(Error::Argument {
        what: "scale",
        why: ArgumentFault::OutOfRange {
            value: scale.into(),
            min: min.into(),
            max: max.into(),
        },
    })
}

/// Fails if the options ask for a conversion, which is impossible for the reason `why`.
pub(super) fn check_none(options: &ImportOptions, why: &'static str) -> Result<()> {
    check(options)?;
    let what = match (options.scale, options.up) {
        (1.0, None | Some(UpAxis::Y)) => return Ok(()),
        (1.0, Some(UpAxis::Z)) => "up",
        _ => "scale",
    };
    let why = ArgumentFault::Invalid(why);
    Err(Error::Argument { what, why })
}

/// Converts what a reader returned to +Y up and metres, as the options say.
pub(super) fn convert(read: &mut Read, options: &ImportOptions) -> Result<()> {
    check(options)?;
    let (raw, own_nodes) = (&mut read.raw, read.has_own_nodes);
    if let Some(up) = options.up
        && up != read.up.unwrap_or(UpAxis::Y)
    {
        let stated = upright(read.up.unwrap_or(UpAxis::Y));
        turn(raw, upright(up) * stated.inverse(), own_nodes);
        if let Some(stated) = read.up {
            let kind = RepairKind::UpReplaced { stated, up };
            Repair::note(&mut raw.repairs, &file_part(""), kind, 1);
        }
    }
    if options.scale != 1.0 {
        scale(raw, options.scale, own_nodes);
    }
    Ok(())
}

/// Turns the roots and the channels that drive them. Nothing below them changes.
fn turn(raw: &mut RawCharacter, rotation: Quat, own_nodes: bool) {
    let is_root = |node: &RawNode| node.parent.is_none();
    if own_nodes {
        for node in raw.nodes.iter_mut().filter(|node| is_root(node)) {
            node.transform.translation = rotation * node.transform.translation;
            node.transform.rotation = rotation * node.transform.rotation;
            if let Some(matrix) = &mut node.matrix {
                *matrix = Mat4::from_quat(rotation) * *matrix;
            }
        }
    }
    let turn = Affine3A::from_quat(rotation);
    for point in &mut raw.spawn_points {
        point.world_from_model = turn * point.world_from_model * turn.inverse();
    }
    let nodes = &raw.nodes;
    let channels = raw.animations.iter_mut().flat_map(|a| &mut a.channels);
    for channel in channels.filter(|channel| nodes.get(channel.node).is_some_and(is_root)) {
        // Tangents turn as values do.
        match &mut channel.values {
            RawKeys::Translation(keys) => keys.iter_mut().for_each(|key| *key = rotation * *key),
            RawKeys::Rotation(keys) => keys.iter_mut().for_each(|key| *key = rotation * *key),
            RawKeys::Scale(_) | RawKeys::Weights(_) => {}
        }
    }
}

/// Multiplies all lengths, so that no node gets a scale.
fn scale(raw: &mut RawCharacter, by: f32, own_nodes: bool) {
    let scaled = |matrix: &mut Mat4| matrix.w_axis *= throng::glam::vec4(by, by, by, 1.0);
    if own_nodes {
        for node in &mut raw.nodes {
            node.transform.translation *= by;
            node.matrix.iter_mut().for_each(scaled);
        }
    }
    let binds = raw.skins.iter_mut().flat_map(|skin| &mut skin.inverse_bind);
    binds.for_each(scaled);
    for primitive in &mut raw.primitives {
        let moved = primitive.targets.iter_mut().flat_map(|t| &mut t.positions);
        let all = primitive.positions.iter_mut().chain(moved);
        all.for_each(|position| *position *= by);
    }
    for channel in raw.animations.iter_mut().flat_map(|a| &mut a.channels) {
        if let RawKeys::Translation(keys) = &mut channel.values {
            keys.iter_mut().for_each(|key| *key *= by);
        }
    }
    for point in &mut raw.spawn_points {
        point.world_from_model.translation *= by;
    }
    let longer = |offset: &mut Vec3| *offset *= by;
    for chain in &mut raw.springs.chains {
        chain.tail_m.iter_mut().for_each(longer);
        for joint in &mut chain.joints {
            // Speeds are in metres per second.
            joint.stiffness *= by;
            joint.gravity *= by;
            joint.radius_m *= by;
        }
    }
    for collider in &mut raw.springs.colliders {
        longer(&mut collider.offset_m);
        collider.tail_m.iter_mut().for_each(longer);
        collider.radius_m *= by;
    }
}
