//! A joint and its ancestors, evaluated in `f64` from the clip's curves.

use crate::clip::{CurveClip, Interpolation, Keys, Track, TrackValues, animate_tracks};
use crate::id::Id;
use crate::skeleton::{Joint, NO_PARENT, Skeleton, Transform};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};

/// The joints from a root down to one joint, and the tracks that drive them.
pub(super) struct Chain {
    /// The joints, as indices in the skeleton.
    path: Vec<u16>,
    /// Rest transforms, starting at the root. The joint itself is the last.
    rest: Vec<Transform>,
    /// The tracks. Their joints are indices in the chain.
    tracks: Vec<Track>,
    local: Vec<Transform>,
    /// The start of the clip, in seconds.
    pub(super) start_s: f32,
}

/// The joint in a pose of its ancestors.
#[derive(Clone, Copy)]
pub(super) struct PosedJoint {
    /// The transform from the parent's space to character space.
    pub(super) parent: DAffine3,
    pub(super) local: Transform,
}

impl PosedJoint {
    /// The joint's origin, in character space.
    pub(super) fn position(&self) -> DVec3 {
        let local = self.local.translation.as_dvec3();
        self.parent.transform_point3(local)
    }

    /// The joint's axes in character space, without its own scale.
    pub(super) fn axes(&self) -> DMat3 {
        self.parent.matrix3 * DMat3::from_quat(unit(&self.local))
    }
}

impl Chain {
    pub(super) fn new(skeleton: &Skeleton, clip: &CurveClip, joint: Id<Joint>) -> Self {
        let joints = skeleton.joints();
        let mut path = Vec::new();
        let mut at = joint.0;
        while at != NO_PARENT {
            path.push(at);
            at = joints[usize::from(at)].parent_index();
        }
        path.reverse();
        let rest = path.iter().map(|joint| joints[usize::from(*joint)].rest);
        let mut tracks = Vec::new();
        for (index, joint) in path.iter().enumerate() {
            let own = clip.tracks().iter().filter(|track| track.joint.0 == *joint);
            tracks.extend(own.map(|track| Track {
                joint: Id::new(index as u16),
                values: track.values.clone(),
            }));
        }
        let rest: Vec<_> = rest.collect();
        Self {
            path,
            local: rest.clone(),
            rest,
            tracks,
            start_s: clip.start_s(),
        }
    }

    pub(super) fn at(&mut self, time_s: f64) -> PosedJoint {
        self.local.copy_from_slice(&self.rest);
        animate_tracks(&self.tracks, time_s, 0, &mut self.local);
        posed(&self.local)
    }

    pub(super) fn at_rest(&self) -> PosedJoint {
        posed(&self.rest)
    }

    /// The joint in a local pose of the whole skeleton.
    pub(super) fn in_pose(&self, pose: &[Transform]) -> PosedJoint {
        let path = self.path.iter();
        let local: Vec<_> = path.map(|joint| pose[usize::from(*joint)]).collect();
        posed(&local)
    }

    /// The tracks that change anything.
    pub(super) fn moving(&self) -> impl Iterator<Item = &Track> {
        self.tracks.iter().filter(|track| moves(&track.values))
    }

    /// Returns true if an ancestor of the joint moves.
    pub(super) fn parents_move(&self) -> bool {
        let joint = self.len().saturating_sub(1);
        self.moving().any(|track| usize::from(track.joint) < joint)
    }

    /// Returns true if the joint rotates, by itself or with an ancestor.
    pub(super) fn turns(&self) -> bool {
        self.moving()
            .any(|track| matches!(track.values, TrackValues::Rotation(_)))
    }

    /// The translation track of the joint itself.
    pub(super) fn translation(&self) -> Option<&Keys<Vec3>> {
        let joint = self.len().saturating_sub(1);
        self.tracks.iter().find_map(|track| match &track.values {
            TrackValues::Translation(keys) if usize::from(track.joint) == joint => Some(keys),
            _ => None,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn key_count(&self) -> usize {
        let counts = self.tracks.iter().map(|track| track.values.times_s().len());
        counts.sum()
    }
}

fn posed(local: &[Transform]) -> PosedJoint {
    let (joint, above) = match local.split_last() {
        Some((joint, above)) => (*joint, above),
        None => (Transform::IDENTITY, local),
    };
    let parent = above.iter().fold(DAffine3::IDENTITY, |parent, local| {
        parent
            * DAffine3::from_scale_rotation_translation(
                local.scale.as_dvec3(),
                unit(local),
                local.translation.as_dvec3(),
            )
    });
    PosedJoint {
        parent,
        local: joint,
    }
}

fn unit(local: &Transform) -> DQuat {
    let q = local.rotation.as_dquat();
    if q.length_squared() > 0.0 {
        q.normalize()
    } else {
        DQuat::IDENTITY
    }
}

/// Returns true if a track ever changes what it drives.
pub(super) fn moves(values: &TrackValues) -> bool {
    match values {
        TrackValues::Translation(keys) | TrackValues::Scale(keys) => changes(keys, Vec3::ZERO),
        TrackValues::Rotation(keys) => changes(keys, glam::Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
    }
}

/// Returns true if the values differ from the first one, or if a tangent is not zero.
fn changes<T: Copy + PartialEq>(keys: &Keys<T>, zero: T) -> bool {
    if keys.times_s.len() < 2 {
        return false;
    }
    if keys.interpolation != Interpolation::CubicSpline {
        return keys.values.iter().any(|value| *value != keys.values[0]);
    }
    let value = |key: &[T]| key[1] != keys.values[1] || key[0] != zero || key[2] != zero;
    keys.values.chunks_exact(3).any(value)
}

/// The inverse of the parent's transform, if it exists.
pub(super) fn inverse(parent: &DAffine3) -> Option<DAffine3> {
    let inverse = parent.inverse();
    let is_finite = inverse.matrix3.is_finite() && inverse.translation.is_finite();
    (parent.matrix3.determinant() != 0.0 && is_finite).then_some(inverse)
}

/// The rotation of a matrix that only rotates and scales uniformly. `None` for any other.
pub(super) fn rotation(matrix: &DMat3) -> Option<DQuat> {
    const SHEAR: f64 = 1e-4;
    let lengths = DVec3::new(
        matrix.x_axis.length(),
        matrix.y_axis.length(),
        matrix.z_axis.length(),
    );
    let length = lengths.element_sum() / 3.0;
    let even = (lengths - length).abs().max_element() <= SHEAR * length;
    if !(even && length > 0.0 && length.is_finite()) {
        return None;
    }
    let (x, y) = (matrix.x_axis / lengths.x, matrix.y_axis / lengths.y);
    let z = matrix.z_axis / lengths.z;
    let skew = x.dot(y).abs().max(y.dot(z).abs()).max(z.dot(x).abs());
    if skew > SHEAR || x.cross(y).dot(z) < 0.0 {
        return None;
    }
    // Make the axes orthonormal, which removes the rest of the shear.
    let y = (y - x * x.dot(y)).normalize_or(DVec3::Y);
    let q = DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y)));
    Some(q.normalize())
}
