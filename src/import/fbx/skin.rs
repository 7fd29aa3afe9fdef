//! Skins: clusters become joints with inverse bind matrices.

use super::convert::matrix;
use super::nodes::Nodes;
use crate::import::fault::cut;
use crate::import::{RawPrimitive, RawSkin};

/// The least and the most weights of a vertex of a mesh.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeightCounts {
    least: u32,
    most: u32,
}

impl WeightCounts {
    /// Those of the first skin of a mesh.
    pub(super) fn of(mesh: &ufbx::Mesh) -> Self {
        let skin = mesh.skin_deformers.first();
        let vertices = skin.map_or(&[][..], |skin| skin.vertices.as_ref());
        let counts = || vertices.iter().map(|vertex| vertex.num_weights);
        Self {
            least: counts().min().unwrap_or_default(),
            most: counts().max().unwrap_or_default(),
        }
    }
}

/// The skin of a mesh on a node.
pub(super) struct Skin<'a> {
    deformer: &'a ufbx::SkinDeformer,
    /// By cluster: the index of its joint.
    joints: Vec<Option<u32>>,
    /// The index of the joint that vertices without weights follow.
    node_joint: Option<u32>,
    influences: usize,
    /// The skin's number in the character.
    number: usize,
}

impl<'a> Skin<'a> {
    /// Appends the skin of `mesh` on `node` to `skins`. `None` if the mesh has none.
    ///
    /// Vertices without weights follow the node that carries the mesh, which is one more joint.
    pub(super) fn read(
        mesh: &'a ufbx::Mesh,
        counts: WeightCounts,
        node: &ufbx::Node,
        nodes: &Nodes,
        skins: &mut Vec<RawSkin>,
    ) -> Option<Self> {
        let deformer: &ufbx::SkinDeformer = mesh.skin_deformers.first()?;
        let mut raw = RawSkin {
            name: cut(&deformer.element.name),
            ..RawSkin::default()
        };
        let mut add = |joint: Option<usize>, bind: &ufbx::Matrix| {
            raw.joints.push(joint?);
            raw.inverse_bind.push(matrix(bind));
            Some(raw.joints.len() as u32 - 1)
        };
        let joint_of = |cluster: &ufbx::SkinCluster| {
            let bone = cluster.bone_node.as_ref()?;
            nodes.number(bone)
        };
        let joints: Vec<Option<u32>> = deformer
            .clusters
            .iter()
            .map(|cluster| add(joint_of(cluster), &cluster.geometry_to_bone))
            .collect();
        if joints.iter().all(Option::is_none) {
            return None;
        }
        let mut skin = Self {
            deformer,
            joints,
            node_joint: None,
            influences: counts.most.max(1) as usize,
            number: skins.len(),
        };
        if counts.least == 0 {
            skin.node_joint = add(nodes.number(node), &node.geometry_to_node);
        }
        skins.push(raw);
        Some(skin)
    }

    /// The joints and weights of a vertex of the mesh.
    fn weights(&self, vertex: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let vertex = self.deformer.vertices.get(vertex);
        let (begin, count) = vertex.map_or((0, 0), |vertex| {
            (vertex.weight_begin as usize, vertex.num_weights as usize)
        });
        let weights = self.deformer.weights.iter().skip(begin).take(count);
        weights.filter_map(|weight| {
            let joint = self.joints.get(weight.cluster_index as usize);
            let value = weight.weight as f32;
            joint.copied().flatten().map(|joint| (joint, value))
        })
    }

    /// The number of joints and weights of each vertex.
    pub(super) fn influences(&self) -> usize {
        self.influences
    }

    /// Sets the skin, joints and weights of a primitive with these vertices of the mesh.
    pub(super) fn write(&self, vertices: &[u32], primitive: &mut RawPrimitive) {
        let size = vertices.len() * self.influences;
        primitive.skin = Some(self.number);
        primitive.influences_per_vertex = self.influences;
        primitive.joints = Vec::with_capacity(size);
        primitive.weights = Vec::with_capacity(size);
        for (done, vertex) in vertices.iter().enumerate() {
            let mut sum = 0.0;
            for (joint, weight) in self.weights(*vertex as usize) {
                primitive.joints.push(joint);
                primitive.weights.push(weight);
                sum += weight;
            }
            if sum == 0.0 && primitive.joints.len() == done * self.influences {
                // The root is no joint. What follows it stays where it is.
                primitive.joints.push(self.node_joint.unwrap_or_default());
                primitive.weights.push(1.0);
            }
            primitive.joints.resize((done + 1) * self.influences, 0);
            primitive.weights.resize((done + 1) * self.influences, 0.0);
        }
    }
}
