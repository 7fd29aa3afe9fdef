//! Skins: clusters become joints with inverse bind matrices.

use super::convert::matrix;
use super::nodes::Nodes;
use crate::budget::Budget;
use crate::fault::cut;
use std::collections::HashMap;
use std::rc::Rc;
use throng::error::{Object, ObjectKind, Result};
use throng::glam::Mat4;
use throng::import::{RawPrimitive, RawSkin};

/// The bytes of a joint in a [`RawSkin`], and of its index in [`Clusters`].
const JOINT_BYTES: usize = size_of::<usize>() + size_of::<Mat4>() + size_of::<Option<u32>>();

/// The skins that were read so far. All nodes and meshes with the same deformer share one.
#[derive(Default)]
pub(super) struct Skins<'a> {
    pub(super) raw: Vec<RawSkin>,
    /// By ufbx's number of the deformer. `None` if none of its clusters has a joint.
    known: HashMap<u32, Option<Rc<Clusters<'a>>>>,
}

/// The clusters that all nodes with the same deformer share.
struct Clusters<'a> {
    deformer: &'a ufbx::SkinDeformer,
    /// By cluster: the index of its joint.
    joints: Vec<Option<u32>>,
    /// The most weights of a vertex, at least 1.
    influences: usize,
    /// True if a vertex has no weights.
    has_weightless: bool,
    /// The skin's number in the character.
    number: usize,
}

/// The skin of a mesh on a node.
pub(super) struct Skin<'a> {
    clusters: Rc<Clusters<'a>>,
    /// The index of the joint that vertices without weights follow.
    node_joint: Option<u32>,
}

impl<'a> Skins<'a> {
    /// The skin of `mesh` on `node`. `None` if the mesh has none.
    ///
    /// Vertices without weights follow the node that carries the mesh, which is one more joint.
    /// `bind` maps them to that node.
    pub(super) fn read(
        &mut self,
        mesh: &'a ufbx::Mesh,
        (node, bind): (usize, Mat4),
        nodes: &Nodes,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Skin<'a>>> {
        let Some(deformer) = mesh.skin_deformers.first() else {
            return Ok(None);
        };
        let id = deformer.element.typed_id;
        let clusters = match self.known.get(&id) {
            Some(known) => known.clone(),
            None => {
                let clusters = self.clusters(deformer, nodes, budget)?.map(Rc::new);
                self.known.entry(id).or_insert(clusters).clone()
            }
        };
        let Some(clusters) = clusters else {
            return Ok(None);
        };
        let node_joint = if clusters.has_weightless {
            let at = Object::new(ObjectKind::Skin, id as usize, "joints");
            budget.charge(JOINT_BYTES as u64, &at)?;
            Some(add(&mut self.raw[clusters.number], node, bind))
        } else {
            None
        };
        Ok(Some(Skin {
            clusters,
            node_joint,
        }))
    }

    fn clusters(
        &mut self,
        deformer: &'a ufbx::SkinDeformer,
        nodes: &Nodes,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Clusters<'a>>> {
        let at = Object::new(
            ObjectKind::Skin,
            deformer.element.typed_id as usize,
            "joints",
        );
        let bytes = (deformer.clusters.len() as u64).saturating_mul(JOINT_BYTES as u64);
        budget.charge(bytes, &at)?;
        let mut raw = RawSkin {
            name: cut(&deformer.element.name),
            ..RawSkin::default()
        };
        let mut joints = Vec::with_capacity(deformer.clusters.len());
        for cluster in &deformer.clusters {
            let bone = cluster.bone_node.as_ref();
            let number = bone.and_then(|bone| nodes.number(bone));
            // Vertices are read with the geometric transform of their node.
            let bind = matrix(&cluster.mesh_node_to_bone);
            joints.push(number.map(|number| add(&mut raw, number, bind)));
        }
        if raw.joints.is_empty() {
            return Ok(None);
        }
        let counts = || deformer.vertices.iter().map(|vertex| vertex.num_weights);
        let number = self.raw.len();
        self.raw.push(raw);
        Ok(Some(Clusters {
            deformer,
            joints,
            influences: counts().max().unwrap_or_default().max(1) as usize,
            has_weightless: counts().min().unwrap_or_default() == 0,
            number,
        }))
    }
}

/// Appends a joint and returns its index.
fn add(skin: &mut RawSkin, node: usize, bind: Mat4) -> u32 {
    skin.joints.push(node);
    skin.inverse_bind.push(bind);
    skin.joints.len() as u32 - 1
}

impl Skin<'_> {
    /// The joints and weights of a vertex of the mesh.
    fn weights(&self, vertex: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let clusters = &*self.clusters;
        let vertex = clusters.deformer.vertices.get(vertex);
        let (begin, count) = vertex.map_or((0, 0), |vertex| {
            (vertex.weight_begin as usize, vertex.num_weights as usize)
        });
        let weights = clusters.deformer.weights.iter().skip(begin).take(count);
        weights.filter_map(|weight| {
            let joint = clusters.joints.get(weight.cluster_index as usize);
            let value = weight.weight as f32;
            joint.copied().flatten().map(|joint| (joint, value))
        })
    }

    /// The number of joints and weights of each vertex.
    pub(super) fn influences(&self) -> usize {
        self.clusters.influences
    }

    /// Sets the skin, joints and weights of a primitive with these vertices of the mesh.
    pub(super) fn write(&self, vertices: &[u32], primitive: &mut RawPrimitive) {
        let influences = self.influences();
        let size = vertices.len() * influences;
        primitive.skin = Some(self.clusters.number);
        primitive.influences_per_vertex = influences;
        primitive.joints = Vec::with_capacity(size);
        primitive.weights = Vec::with_capacity(size);
        for (done, vertex) in vertices.iter().enumerate() {
            let mut sum = 0.0;
            for (joint, weight) in self.weights(*vertex as usize) {
                primitive.joints.push(joint);
                primitive.weights.push(weight);
                sum += weight;
            }
            if sum == 0.0 && primitive.joints.len() == done * influences {
                // The root is not a joint. What follows it stays where it is.
                primitive.joints.push(self.node_joint.unwrap_or_default());
                primitive.weights.push(1.0);
            }
            primitive.joints.resize((done + 1) * influences, 0);
            primitive.weights.resize((done + 1) * influences, 0.0);
        }
    }
}
