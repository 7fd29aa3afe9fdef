//! Writes a posed model as Wavefront OBJ.

use super::{Failure, Moment, summary, title};
use std::fmt::Write as _;
use throng::character::Character;
use throng::glam::{DVec3, Vec3};
use throng::mesh::Primitive;
use throng::skin::PosedVertices;

/// The posed mesh as OBJ text. Numbers have enough digits to be read back exactly.
pub(super) fn obj(
    model: &Character,
    moment: Moment,
    deformed: Vec<PosedVertices>,
    turned: &[Vec<bool>],
) -> Result<String, Failure> {
    let mut text = format!(
        "# {}, {}\n",
        model.name().escape_debug(),
        summary(model, moment)
    );
    let (mut positions, mut normals) = (1, 1);
    let parts = model.primitives().iter().zip(deformed).zip(turned);
    for (index, ((part, mut posed), turned)) in parts.enumerate() {
        // An OBJ file defines front faces by winding only.
        let faces = part.indices.as_chunks::<3>().0.iter().zip(turned);
        let faces =
            faces.map(|([a, b, c], turned)| if *turned { [*a, *c, *b] } else { [*a, *b, *c] });
        let faces: Vec<[u32; 3]> = faces.collect();
        let flat = posed.normals.is_empty();
        if flat {
            posed.normals = faces
                .iter()
                .map(|corners| face_normal(&posed.positions, corners))
                .collect();
        }
        let mut all = posed.positions.iter().chain(&posed.normals);
        if !all.all(|v| v.is_finite()) {
            let words = format!(
                "{}: the pose is too large for 32-bit numbers",
                title(&part.name)
            );
            return Err(Failure::Told(words));
        }
        object(&mut text, &object_name(index, part), &posed);
        for (face, corners) in faces.iter().enumerate() {
            text.push('f');
            for corner in corners {
                let corner = *corner as usize;
                let normal = if flat { face } else { corner };
                let _ = write!(text, " {}//{}", positions + corner, normals + normal);
            }
            text.push('\n');
        }
        positions += posed.positions.len();
        normals += posed.normals.len();
    }
    Ok(text)
}

fn object(text: &mut String, name: &str, posed: &PosedVertices) {
    let _ = writeln!(text, "o {name}");
    for (keyword, list) in [("v", &posed.positions), ("vn", &posed.normals)] {
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
        if c.is_whitespace() || c.is_control() {
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
