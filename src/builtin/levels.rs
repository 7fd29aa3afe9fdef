//! Coarser levels of detail of the mannequin.
//!
//! One is its cage without refinement, over the refined points. The others were made by
//! [`Character::with_levels`](crate::character::Character::with_levels). A test makes them anew.

use crate::import::RawLevel;

/// A level as it was made.
struct Table {
    triangles: usize,
    rigid: bool,
    error_m: f32,
}

/// The levels of a mannequin with these triangles in its cage and `vertices` vertices.
///
/// Errors are those in the mannequin's own clips, as a test measures them.
pub(super) fn levels(cage: Vec<u32>, vertices: usize) -> Vec<RawLevel> {
    let mut corners = CORNERS.as_chunks::<6>().0;
    let tables = TABLES.iter().map(|table| {
        let (own, rest) = corners.split_at(table.triangles.min(corners.len()));
        corners = rest;
        let numbers = own.as_flattened().as_chunks::<2>().0.iter();
        RawLevel {
            indices: numbers.map(|two| u16::from_le_bytes(*two).into()).collect(),
            rigid: table.rigid,
            error_m: Some(table.error_m),
        }
    });
    // If other floating-point functions gave a vertex more or fewer, the tables would not fit.
    let mut levels: Vec<RawLevel> = tables.filter(|_| vertices == VERTICES).collect();
    let cage = RawLevel {
        indices: cage,
        rigid: false,
        error_m: Some(CAGE_ERROR_M),
    };
    levels.insert(levels.len().min(1), cage);
    levels
}

/// The number of vertices for which the tables were made.
const VERTICES: usize = 4117;

const CAGE_ERROR_M: f32 = 0.022;

/// The triangles of all tables, one after the other: vertices of
/// [`RawCharacter::mannequin`](crate::import::RawCharacter::mannequin), in two bytes each.
static CORNERS: &[u8] = include_bytes!("levels.bin");

/// The cage comes after the first.
const TABLES: [Table; 4] = [
    Table {
        triangles: 3434,
        rigid: false,
        error_m: 0.0134,
    },
    Table {
        triangles: 694,
        rigid: false,
        error_m: 0.0577,
    },
    Table {
        triangles: 292,
        rigid: true,
        error_m: 0.0939,
    },
    Table {
        triangles: 144,
        rigid: true,
        error_m: 0.2205,
    },
];
