//! Writes a posed mesh as Wavefront OBJ.

use super::deform::Mesh;
use std::fmt::Write as _;
use throng::error::Escaped;
use throng::glam::{DVec3, Vec3};
use throng::mesh::Primitive;

/// The posed mesh as OBJ text. Numbers have enough digits to be read back exactly.
///
/// An OBJ file defines front faces by winding only. Primitives without normals get one per face.
pub(super) fn obj(mesh: &Mesh<'_>, summary: &str) -> String {
    let mut text = format!("# {}, {summary}\n", Escaped(mesh.model.name()));
    let (mut first_position, mut first_normal) = (1, 1);
    let parts = mesh.model.primitives().iter().zip(mesh.posed);
    for (index, (part, posed)) in parts.enumerate() {
        let faces: Vec<[u32; 3]> = mesh.triangles(index).collect();
        let flat = posed.normals.is_empty();
        let face_normals = faces.iter().filter(|_| flat);
        let face_normals = face_normals.map(|face| face_normal(&posed.positions, face));
        let normals: Vec<Vec3> = posed.normals.iter().copied().chain(face_normals).collect();
        object(
            &mut text,
            &object_name(index, part),
            &posed.positions,
            &normals,
        );
        for (face, corners) in faces.iter().enumerate() {
            text.push('f');
            for corner in corners {
                let corner = *corner as usize;
                let normal = if flat { face } else { corner };
                let _ = write!(
                    text,
                    " {}//{}",
                    first_position + corner,
                    first_normal + normal
                );
            }
            text.push('\n');
        }
        first_position += posed.positions.len();
        first_normal += normals.len();
    }
    text
}

fn object(text: &mut String, name: &str, positions: &[Vec3], normals: &[Vec3]) {
    let _ = writeln!(text, "o {name}");
    for (keyword, list) in [("v", positions), ("vn", normals)] {
        for value in list {
            // Adding 0 turns −0 into 0.
            let [x, y, z] = (*value + Vec3::ZERO).to_array();
            let _ = writeln!(text, "{keyword} {x} {y} {z}");
        }
    }
}

/// An object name that is a single word and unique to the primitive.
fn object_name(index: usize, part: &Primitive) -> String {
    let plain = |c: char| {
        let is_escaped = !c.is_ascii_graphic() && Escaped(c).to_string() != c.to_string();
        if c.is_whitespace() || is_escaped {
            '_'
        } else {
            c
        }
    };
    format!(
        "{index}_{}",
        part.name.chars().map(plain).collect::<String>()
    )
}

/// The normal of a triangle, on the side from which its corners are counter-clockwise.
///
/// It is +Y if the triangle has no area.
fn face_normal(positions: &[Vec3], corners: &[u32; 3]) -> Vec3 {
    let [a, b, c] = corners.map(|corner| positions[corner as usize].as_dvec3());
    (b - a).cross(c - a).normalize_or(DVec3::Y).as_vec3()
}
