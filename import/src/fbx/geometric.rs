//! Geometric transforms, which apply to the meshes of a node and not to its children.

use super::convert::{affine, wide};
use throng::glam::{DAffine3, DMat3, DMat4, DVec3, Mat4, Vec3};

/// The geometric transform of a node. Its meshes are read with it.
#[derive(Clone, Copy)]
pub(super) struct Geometric {
    node_from_geometry: DAffine3,
    /// For normals: a positive multiple of the inverse transpose.
    cofactors: DMat3,
    /// True if it turns triangles over.
    pub(super) mirrors: bool,
}

impl Geometric {
    pub(super) fn of(node: &ufbx::Node) -> Self {
        let node_from_geometry = affine(&node.geometry_to_node);
        let linear = node_from_geometry.matrix3;
        let [x, y, z] = [linear.x_axis, linear.y_axis, linear.z_axis];
        let mirrors = linear.determinant() < 0.0;
        let sign = if mirrors { -1.0 } else { 1.0 };
        Self {
            node_from_geometry,
            cofactors: DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y)) * sign,
            mirrors,
        }
    }

    pub(super) fn point(&self, point: ufbx::Vec3) -> Vec3 {
        let point = self.node_from_geometry.transform_point3(wide(point));
        point.as_vec3()
    }

    /// A change of a position.
    pub(super) fn vector(&self, vector: ufbx::Vec3) -> Vec3 {
        let vector = self.node_from_geometry.transform_vector3(wide(vector));
        vector.as_vec3()
    }

    /// A tangent or bitangent, at length 1.
    pub(super) fn direction(&self, direction: ufbx::Vec3) -> Vec3 {
        let direction = self.node_from_geometry.transform_vector3(wide(direction));
        direction.normalize_or_zero().as_vec3()
    }

    /// A normal, at length 1.
    pub(super) fn normal(&self, normal: ufbx::Vec3) -> Vec3 {
        self.wide_normal(normal).normalize_or_zero().as_vec3()
    }

    /// A change of a normal, which is `None` if it is computed later.
    ///
    /// It is divided by what divides the normal. The sum of both then has the right direction for
    /// every weight of the shape.
    pub(super) fn normal_change(&self, change: ufbx::Vec3, normal: Option<ufbx::Vec3>) -> Vec3 {
        let length = match normal {
            Some(normal) => self.wide_normal(normal).length(),
            // The geometric mean over three directions.
            None => self.cofactors.determinant().abs().cbrt(),
        };
        // If everything is scaled by 0, normals have no direction.
        match length > 0.0 {
            true => (self.wide_normal(change) / length).as_vec3(),
            false => Vec3::ZERO,
        }
    }

    fn wide_normal(&self, normal: ufbx::Vec3) -> DVec3 {
        self.cofactors * wide(normal)
    }

    /// Maps vertices that were read with this transform to where `other` has them.
    ///
    /// The identity if that is unknown, because this transform makes meshes flat.
    pub(super) fn to(&self, other: &Self) -> Mat4 {
        if self.node_from_geometry == other.node_from_geometry {
            return Mat4::IDENTITY;
        }
        let moved = other.node_from_geometry * self.node_from_geometry.inverse();
        match moved.is_finite() {
            true => DMat4::from(moved).as_mat4(),
            false => Mat4::IDENTITY,
        }
    }
}
