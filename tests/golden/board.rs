//! The board of materials: a ball for each feature of materials.

#[allow(dead_code, reason = "shared with the tests of shading")]
#[path = "../gpu/materials/made.rs"]
mod made;

use super::reference::golden::{Area, leave_out};
use super::reference::precision::OUTLINE_BITS;
use super::stage::picture;
use super::{FOLDER, check};
use made::{balls, character, images};
use throng::glam::{Affine3A, Vec3};
use throng::{CharacterDesc, Spawn};

const COLUMNS: usize = 6;
/// The only double-sided surface with a curved outline.
const BOWL: Area = Area {
    corner: (380, 228),
    size: (90, 68),
};

#[test]
fn materials() {
    let (mut drawn, sub_pixel_bits) = picture(
        (576, 320),
        (Vec3::new(0.0, 1.2, 15.0), Vec3::ZERO),
        None,
        |crowd, allocator| {
            for (at, (part, material)) in balls().into_iter().enumerate() {
                let made = character(vec![part], vec![material], images());
                let id = crowd
                    .add_character(allocator, &made.character, &CharacterDesc::default())
                    .expect("a character");
                let (column, row) = ((at % COLUMNS) as f32, (at / COLUMNS) as f32);
                let place = Vec3::new(2.2 * (column - 2.5), 2.2 * (1.0 - row), 0.0);
                let spawn = Spawn {
                    world_from_model: Affine3A::from_translation(place),
                    ..Spawn::default()
                };
                crowd.spawn(id, &spawn).expect("room");
            }
        },
    );
    if sub_pixel_bits < OUTLINE_BITS {
        leave_out(FOLDER, "materials", &mut drawn, BOWL);
    }
    check("materials", &drawn);
}
