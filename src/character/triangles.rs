//! Kinds of triangles, which draws tell apart.

use super::{Character, Primitive};

impl Primitive {
    /// Which triangles are rigid: each of the three vertices has one influence only, with all the
    /// weight. One a triangle.
    #[must_use]
    pub fn rigid_triangles(&self) -> Vec<bool> {
        let per_vertex = self.influences.per_vertex as usize;
        // The strongest comes first.
        let weights = &self.influences.weights;
        let is_rigid = |vertex: &u32| {
            let strongest = weights.get(*vertex as usize * per_vertex);
            strongest.is_none_or(|weight| *weight == u16::MAX)
        };
        self.of_triangles(|triangle| triangle.iter().all(is_rigid))
    }

    fn of_triangles(&self, is: impl Fn(&[u32; 3]) -> bool) -> Vec<bool> {
        self.indices.as_chunks::<3>().0.iter().map(is).collect()
    }
}

impl Character {
    /// Which triangles of `primitive`, one of this character's, may turn over against the rest pose when
    /// posed, one a triangle: a vertex follows a palette entry that
    /// [may flip](super::PaletteJoint::may_flip), or a blend of entries of which some are
    /// [mirrored](super::PaletteJoint::mirrored) and others are not. All other triangles keep the winding that
    /// [`Primitive::indices`] gives them.
    ///
    /// A vertex whose entries are not in this character's palette is taken for one that may flip.
    #[must_use]
    pub fn flipping_triangles(&self, primitive: &Primitive) -> Vec<bool> {
        let range = self.palette_range(primitive);
        let entries = self.palette.get(range).unwrap_or_default();
        let kept = !entries.iter().any(|entry| entry.may_flip)
            && entries.windows(2).all(|e| e[0].mirrored == e[1].mirrored);
        if kept && !entries.is_empty() {
            return vec![false; primitive.indices.len() / 3];
        }
        let flips = |vertex| {
            let influences = primitive.influences.of(vertex).filter(|of| of.1 > 0.0);
            let mut sides = [false; 2];
            for (joint, _) in influences {
                match entries.get(joint) {
                    Some(entry) if !entry.may_flip => sides[usize::from(entry.mirrored)] = true,
                    _ => return true,
                }
            }
            sides == [true; 2]
        };
        let flips: Vec<bool> = (0..primitive.vertex_count()).map(flips).collect();
        primitive.of_triangles(|corners| corners.iter().any(|v| flips[*v as usize]))
    }
}
