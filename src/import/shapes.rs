//! Characters made by code without skinning: static meshes, simple shapes, a skeleton alone.

use super::imported::Imported;
use super::options::ImportOptions;
use super::repair::RepairKind;
use super::{RawCharacter, RawNode, RawPrimitive};
use crate::error::Result;
use crate::id::Id;
use crate::mesh::Material;
use crate::skeleton::{Skeleton, Transform};
use core::f32::consts::{PI, TAU};
use glam::{Vec2, Vec3};

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
            vrm: skeleton.vrm(),
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
        let raw = RawCharacter::rigid("rigid", vec![self], vec![material]);
        let mut imported = raw.build(&ImportOptions::default())?;
        // It is meant to have none.
        let repairs = &mut imported.repairs;
        repairs.retain(|repair| repair.kind != RepairKind::NoSkin);
        Ok(imported)
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

    /// A box around the origin, `size_m` metres long on each axis, with flat normals.
    ///
    /// Each side shows the whole texture, upright on the four sides around +Y. Turn it into a
    /// character with [`Self::build_rigid`].
    ///
    /// ```
    /// use throng::glam::Vec3;
    /// use throng::import::RawPrimitive;
    /// use throng::mesh::Material;
    ///
    /// let red = Material::flat([0.8, 0.1, 0.1, 1.0]);
    /// let cube = RawPrimitive::cuboid(Vec3::ONE).build_rigid(red)?.character;
    /// assert_eq!(cube.rest_bounds().size(), Vec3::ONE);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn cuboid(size_m: Vec3) -> Self {
        /// The normal of each side, and the direction of its texture's right edge.
        const SIDES: [[Vec3; 2]; 6] = [
            [Vec3::X, Vec3::NEG_Z],
            [Vec3::NEG_X, Vec3::Z],
            [Vec3::Y, Vec3::X],
            [Vec3::NEG_Y, Vec3::X],
            [Vec3::Z, Vec3::X],
            [Vec3::NEG_Z, Vec3::NEG_X],
        ];
        /// Counter-clockwise from the lower left, in half lengths of the side.
        const CORNERS: [Vec2; 4] = [
            Vec2::new(-1.0, -1.0),
            Vec2::new(1.0, -1.0),
            Vec2::new(1.0, 1.0),
            Vec2::new(-1.0, 1.0),
        ];
        let half_m = size_m.abs() * 0.5;
        let mut mesh = Self {
            name: "cuboid".into(),
            ..Self::default()
        };
        for [normal, right] in SIDES {
            let up = normal.cross(right);
            let first = mesh.positions.len() as u32;
            for corner in CORNERS {
                let at = normal + right * corner.x + up * corner.y;
                mesh.positions.push(at * half_m);
                mesh.normals.push(normal);
                mesh.tangents.push(right.extend(1.0));
                mesh.uvs.push(Vec2::new(corner.x, -corner.y) * 0.5 + 0.5);
            }
            let triangles = [0, 1, 2, 0, 2, 3].map(|corner| first + corner);
            mesh.indices.extend(triangles);
        }
        mesh
    }

    /// A sphere around the origin, with smooth normals.
    ///
    /// `rings` is the number of rows of triangles from pole to pole, from 2 to 256. Other values
    /// are clamped to this range. Each row has twice as many segments around the sphere.
    ///
    /// The texture goes around once from left to right, upright. Its edges meet at +Z.
    #[must_use]
    pub fn sphere(radius_m: f32, rings: u32) -> Self {
        let rings = rings.clamp(2, 256);
        let around = 2 * rings;
        let mut mesh = Self {
            name: "sphere".into(),
            ..Self::default()
        };
        for ring in 0..=rings {
            let (sin, cos) = (PI * ring as f32 / rings as f32).sin_cos();
            // Exactly on the axis. The sine of the rounded half turn is not exactly zero.
            let is_pole = ring == 0 || ring == rings;
            let sin = if is_pole { 0.0 } else { sin };
            for column in 0..=around {
                // The last column has the position of the first, with the texture's other edge.
                let turn = TAU * (column % around) as f32 / around as f32;
                let normal = Vec3::new(sin * turn.sin(), cos, sin * turn.cos());
                let middle = if is_pole { 0.5 } else { 0.0 };
                let u = (column as f32 + middle) / around as f32;
                mesh.positions.push(normal * radius_m.abs());
                mesh.normals.push(normal);
                let tangent = Vec3::new(turn.cos(), 0.0, -turn.sin());
                mesh.tangents.push(tangent.extend(1.0));
                mesh.uvs.push(Vec2::new(u, ring as f32 / rings as f32));
            }
        }
        for ring in 0..rings {
            for column in 0..around {
                let above = ring * (around + 1) + column;
                let below = above + around + 1;
                let is_last = ring + 1 == rings;
                // At the poles, two corners coincide.
                if !is_last {
                    mesh.indices.extend([above, below, below + 1]);
                }
                if ring > 0 {
                    let corner = if is_last { below } else { below + 1 };
                    mesh.indices.extend([above, corner, above + 1]);
                }
            }
        }
        mesh
    }
}
