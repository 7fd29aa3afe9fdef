//! The memory that a vertex needs, stream by stream.

use crate::Outcome;
use crate::load::{COUNTS, Load};
use std::mem::size_of_val;
use throng::glam::{Vec2, Vec3, Vec4};
use throng::mesh::{JointIndices, MorphTarget};

pub(crate) struct Stream {
    pub(crate) name: &'static str,
    pub(crate) bytes: usize,
}

/// The streams whose size is the same for every primitive.
pub(crate) fn fixed() -> Vec<Stream> {
    let stream = |name, bytes| Stream { name, bytes };
    vec![
        stream("positions", size_of::<Vec3>()),
        stream("normals", size_of::<Vec3>()),
        stream("tangents", size_of::<Vec4>()),
        stream("uvs, each set", size_of::<Vec2>()),
        stream("colours", size_of::<[f32; 4]>()),
        stream("morph target, a vertex that it moves", moved(false)),
        stream("the same with normals and tangents", moved(true)),
    ]
}

/// The bytes of one moved vertex of a morph target.
fn moved(directions: bool) -> usize {
    let one = MorphTarget {
        vertices: vec![0],
        positions: vec![Vec3::ZERO],
        normals: vec![Vec3::ZERO; usize::from(directions)],
        tangents: vec![Vec3::ZERO; usize::from(directions)],
    };
    size_of_val(&*one.vertices)
        + size_of_val(&*one.positions)
        + size_of_val(&*one.normals)
        + size_of_val(&*one.tangents)
}

/// Bytes of joints and weights per vertex: (influences, bytes of joints, bytes of weights).
pub(crate) fn influences() -> Outcome<Vec<(usize, usize, usize)>> {
    let of = |count: usize| -> Outcome<_> {
        let load = Load::new(count)?;
        let primitive = &load.character.primitives()[0];
        let joints = match &primitive.joints {
            JointIndices::U8(list) => size_of_val(&**list),
            JointIndices::U16(list) => size_of_val(&**list),
        };
        let weights = size_of_val(&*primitive.weights);
        Ok((count, joints / load.vertices(), weights / load.vertices()))
    };
    COUNTS.into_iter().map(of).collect()
}
