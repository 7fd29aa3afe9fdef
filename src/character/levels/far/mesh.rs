//! A mesh of a whole character.

use crate::mesh::{JointIndices, MeshLevel, Primitive};
use glam::{Affine3A, Vec3, Vec3A};

/// A mesh of a whole character, each vertex of which follows one entry of the palette.
#[derive(Debug, Clone, Default)]
pub(in crate::character::levels) struct FarMesh {
    /// In the mesh space of the vertex's entry, whose skinning matrix moves it.
    pub(super) positions: Vec<Vec3A>,
    /// Indices into the character's palette.
    pub(super) entries: Vec<u32>,
    pub(in crate::character::levels) indices: Vec<u32>,
}

impl FarMesh {
    /// The vertices in the pose of a palette, in character space.
    pub(super) fn posed(&self, palette: &[Affine3A]) -> Vec<Vec3A> {
        let all = self.positions.iter().zip(&self.entries);
        let all = all.map(|(at, entry)| palette[*entry as usize].transform_point3a(*at));
        all.collect()
    }

    /// Unit normals at rest in character space: the means of the triangles around each vertex.
    pub(super) fn normals(positions: &[Vec3A], indices: &[u32]) -> Vec<Vec3A> {
        let mut normals = vec![Vec3A::ZERO; positions.len()];
        for triangle in indices.as_chunks::<3>().0 {
            let [a, b, c] = triangle.map(|index| positions[index as usize]);
            let facing = (b - a).cross(c - a);
            for index in triangle {
                normals[*index as usize] += facing;
            }
        }
        let unit = |normal: Vec3A| normal.normalize_or(Vec3A::Y);
        normals.into_iter().map(unit).collect()
    }

    /// True if an edge belongs to one triangle alone.
    pub(super) fn is_open(&self) -> bool {
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(self.indices.len());
        for [a, b, c] in self.indices.as_chunks::<3>().0 {
            edges.extend([[a, b], [b, c], [c, a]].map(|[a, b]| [*a.min(b), *a.max(b)]));
        }
        edges.sort_unstable();
        edges.chunk_by(|a, b| a == b).any(|same| same.len() == 1)
    }

    /// The mesh as a primitive that is drawn at level `at` of `count` alone.
    ///
    /// `rest` is the palette at rest, and `colors` are those of the vertices.
    pub(in crate::character::levels) fn primitive(
        &self,
        rest: &[Affine3A],
        colors: Vec<[f32; 4]>,
        material: u32,
        [at, count]: [usize; 2],
    ) -> Primitive {
        let normals = Self::normals(&self.posed(rest), &self.indices);
        let normals = normals
            .into_iter()
            .zip(&self.entries)
            .map(|(normal, entry)| {
                // Normals are moved by the inverse transpose.
                let turned = rest[*entry as usize].matrix3.transpose() * normal;
                Vec3::from(turned.normalize_or(Vec3A::Y))
            });
        let palette = 0..rest.len() as u32;
        let level = |number: usize| MeshLevel {
            indices: match number {
                number if number == at => self.indices.clone(),
                _ => Vec::new(),
            },
            vertices: 0,
            rigid: true,
            error_m: MeshLevel::UNMEASURED_M,
            cover: MeshLevel::UNMEASURED_M,
        };
        Primitive {
            name: "far".into(),
            part: "far".into(),
            material,
            variants: Vec::new(),
            positions: self.positions.iter().map(|at| Vec3::from(*at)).collect(),
            normals: normals.collect(),
            tangents: Vec::new(),
            uvs: Vec::new(),
            uvs1: Vec::new(),
            colors,
            influences_per_vertex: 1,
            joints: JointIndices::packed(&self.entries, &palette),
            palette,
            weights: Vec::new(),
            targets: Vec::new(),
            first_weight: Default::default(),
            indices: Vec::new(),
            levels: (0..count).map(level).collect(),
        }
    }
}

/// The vertices that triangles use, of `count`, in the order of their first use, and the triangles
/// with the numbers in that order.
pub(super) fn renumbered(triangles: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut numbers = vec![u32::MAX; count];
    let mut vertices = Vec::new();
    let indices = triangles.iter().map(|vertex| {
        let number = &mut numbers[*vertex as usize];
        if *number == u32::MAX {
            *number = vertices.len() as u32;
            vertices.push(*vertex);
        }
        *number
    });
    let indices = indices.collect();
    (vertices, indices)
}
