//! Characters without skinning: a static mesh on one joint, and a skeleton alone.

use super::imported::Imported;
use super::options::ImportOptions;
use super::{RawCharacter, RawNode, RawPrimitive};
use crate::error::Result;
use crate::id::Id;
use crate::mesh::Material;
use crate::skeleton::{Skeleton, Transform};
use glam::Vec3;

impl RawCharacter {
    /// A character with one named joint at the origin that moves these meshes.
    ///
    /// Meshes without a material take the first one, if there is one. Their nodes, skins and
    /// influences are ignored.
    #[must_use]
    pub fn rigid(name: &str, meshes: Vec<RawPrimitive>, materials: Vec<Material>) -> Self {
        let material = (!materials.is_empty()).then_some(0);
        let on_joint = |(number, mesh): (usize, RawPrimitive)| RawPrimitive {
            number,
            node: 0,
            skin: None,
            influences_per_vertex: 0,
            joints: Vec::new(),
            weights: Vec::new(),
            material: mesh.material.or(material),
            ..mesh
        };
        Self {
            name: name.into(),
            nodes: vec![RawNode {
                name: name.into(),
                parent: None,
                transform: Transform::IDENTITY,
                matrix: None,
            }],
            primitives: meshes.into_iter().enumerate().map(on_joint).collect(),
            materials,
            ..Self::default()
        }
    }

    /// A character with this skeleton and nothing to draw, for animation alone.
    ///
    /// Its joints keep their indices.
    ///
    /// ```
    /// use throng::skeleton::{Joint, Skeleton, Transform};
    /// use throng::import::{ImportOptions, RawCharacter};
    ///
    /// let root = Joint { name: "root".into(), parent: None, rest: Transform::IDENTITY };
    /// let skeleton = Skeleton::new(vec![root])?;
    /// let raw = RawCharacter::from_skeleton(&skeleton);
    /// let character = raw.build(&ImportOptions::default())?.character;
    /// assert_eq!(character.skeleton(), &skeleton);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn from_skeleton(skeleton: &Skeleton) -> Self {
        let nodes = skeleton.joints().iter().map(|joint| RawNode {
            name: joint.name.clone(),
            parent: joint.parent.map(Id::index),
            transform: joint.rest,
            matrix: None,
        });
        Self {
            nodes: nodes.collect(),
            roles: skeleton
                .roles()
                .iter()
                .map(|(role, joint)| (*role, joint.index()))
                .collect(),
            ..Self::default()
        }
    }
}

impl RawPrimitive {
    /// Builds a rigid character with one joint from this static mesh.
    ///
    /// Use it for a prop, a weapon or a crate.
    ///
    /// ```
    /// use throng::glam::Vec3;
    /// use throng::import::RawPrimitive;
    /// use throng::mesh::Material;
    ///
    /// let crate_mesh = RawPrimitive::cuboid(Vec3::new(1.0, 0.8, 1.0));
    /// let wood = Material::flat([0.5, 0.35, 0.2, 1.0]);
    /// let prop = crate_mesh.build_rigid(wood)?.character;
    /// assert_eq!(prop.skeleton().len(), 1);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`RawCharacter::build`].
    pub fn build_rigid(self, material: Material) -> Result<Imported> {
        RawCharacter::rigid("rigid", vec![self], vec![material]).build(&ImportOptions::default())
    }

    /// The same mesh moved by `offset_m`, in metres.
    #[must_use]
    pub fn translated(mut self, offset_m: Vec3) -> Self {
        for position in &mut self.positions {
            *position += offset_m;
        }
        self
    }

    /// The same mesh in one vertex colour, linear RGBA. It is multiplied by the material's colour.
    #[must_use]
    pub fn colored(mut self, color: [f32; 4]) -> Self {
        self.colors = vec![color; self.positions.len()];
        self
    }
}
