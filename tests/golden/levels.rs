//! Levels of detail look like full detail where they are used.

use super::reference::picture::Picture;
use super::stage::picture;
use super::{output, say};
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::{CharacterDesc, Play, Spawn, builtin};

const SIZE: (u32, u32) = (480, 270);
/// People in a picture, in rows and columns.
const COLUMNS: u32 = 12;
const PEOPLE: u32 = 72;
/// Half of the field of view of the stage, in radians.
const HALF_VIEW: f32 = 0.25;
/// The heights of people in pixels.
const HEIGHTS: [f32; 7] = [2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0];
/// The most that levels may change a picture, relative to a shift by one pixel: the error that a
/// view allows is as large.
///
/// On lavapipe, the mannequin's levels were measured at 0.14 to 0.93. With the joints of far meshes
/// mixed up, it was 1.02.
const MOST: f32 = 1.0;

/// A picture of walkers at as many times and in as many directions, `height_px` high.
fn walkers(character: &Character, height_px: f32, level: Option<u32>) -> Picture {
    let bounds = character.rest_bounds();
    let metres_per_px = bounds.size().y / height_px;
    let distance_m = 0.5 * SIZE.1 as f32 * metres_per_px / HALF_VIEW.tan();
    let eye = (Vec3::Z * distance_m, Vec3::ZERO);
    let (drawn, _) = picture(SIZE, eye, level, |crowd, allocator| {
        let id = crowd.add_character(allocator, character, &CharacterDesc::default());
        let id = id.expect("a character");
        for number in 0..PEOPLE {
            let [column, row] = [number % COLUMNS, number / COLUMNS].map(|at| at as f32 + 0.5);
            // Each has another part of a pixel.
            let part = [0.37, 0.71].map(|step: f32| step * number as f32 % 1.0);
            let at = Vec3::new(
                column * (SIZE.0 / COLUMNS) as f32 - 0.5 * SIZE.0 as f32 + part[0],
                row * (SIZE.1 * COLUMNS / PEOPLE) as f32 - 0.5 * SIZE.1 as f32 + part[1],
                0.0,
            );
            let turn = Quat::from_rotation_y(number as f32 * 2.4);
            let place = at * metres_per_px - turn * bounds.center();
            let spawn = Spawn {
                world_from_model: Affine3A::from_rotation_translation(turn, place),
                play: Play::new("Walk").offset_s(f64::from(number) * 0.17),
                ..Spawn::default()
            };
            crowd.spawn(id, &spawn).expect("room");
        }
    });
    drawn
}

/// The mean difference of two pictures, 0 to 255, where either shows more than the background.
fn difference(a: &Picture, b: &Picture) -> f32 {
    let apart = |a: &[u8; 4], b: &[u8; 4]| {
        let channels = a.iter().zip(b).take(3);
        channels
            .map(|(a, b)| u32::from(a.abs_diff(*b)))
            .sum::<u32>()
    };
    let background = a.texels[0];
    let texels = a.texels.iter().zip(&b.texels);
    let shown = texels.filter(|(a, b)| [a, b].iter().any(|it| ***it != background));
    let all: Vec<u32> = shown.map(|(a, b)| apart(a, b)).collect();
    all.iter().sum::<u32>() as f32 / (3 * all.len()) as f32
}

/// The picture moved to the right by one pixel.
fn shifted(picture: &Picture) -> Picture {
    let mut shifted = picture.clone();
    let rows = shifted.texels.chunks_mut(picture.width as usize);
    rows.for_each(|row| row.rotate_right(1));
    shifted
}

#[test]
fn nobody_sees_levels_of_detail() {
    let mannequin = builtin::mannequin().expect("the mannequin").character;
    for level in mannequin.levels() {
        say(&format!("{level:?}"));
    }
    let mut worst = 0.0_f32;
    for height_px in HEIGHTS {
        let full = walkers(&mannequin, height_px, Some(0));
        let levels = walkers(&mannequin, height_px, None);
        for (name, picture) in [("full", &full), ("levels", &levels)] {
            picture.write(&output().join(format!("{height_px}-px.{name}.png")));
        }
        let (seen, by_a_pixel) = (
            difference(&full, &levels),
            difference(&full, &shifted(&full)),
        );
        say(&format!(
            "{height_px} px: {seen:.2} of 255, {by_a_pixel:.2} by a pixel"
        ));
        assert!(seen > 0.0, "the levels were not used");
        worst = worst.max(seen / by_a_pixel);
    }
    assert!(worst < MOST, "{worst}");
}
