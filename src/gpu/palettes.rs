//! Palettes in a format that is known at run time.

use crate::character::Character;
use crate::error::Result;
use crate::palette::{PaletteEntry, PaletteFormat, PaletteRef, WriteOnly, with_entry};
use crate::skeleton::rest_model_pose;
use bytemuck::{Pod, Zeroable};
use glam::Affine3A;

/// Bytes of a row of a palette.
pub(crate) const ROW_BYTES: u64 = 16;

/// A row of a palette in memory, in any format.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct Row([f32; 4]);

const _: () = assert!(size_of::<Row>() as u64 == ROW_BYTES);

/// Rows of 16 bytes that an entry has.
pub(crate) const fn entry_rows(format: PaletteFormat) -> u32 {
    (format.entry_bytes() as u64 / ROW_BYTES) as u32
}

/// Writes the palette of a model pose into exactly as many rows as it has.
fn write_as<E: PaletteEntry>(
    character: &Character,
    model: &[Affine3A],
    out: &mut [Row],
) -> Result<()> {
    let out = bytemuck::try_cast_slice_mut::<Row, E>(out).unwrap_or_default();
    let out = WriteOnly::from(out);
    character.write_palette(model, out)
}

/// Views the rows of a palette as its entries.
pub(crate) fn as_ref(format: PaletteFormat, rows: &[Row]) -> PaletteRef<'_> {
    with_entry!(format, E => entries::<E>(rows).into())
}

/// The rows as entries. Empty if they are not whole entries.
fn entries<E: PaletteEntry>(rows: &[Row]) -> &[E] {
    bytemuck::try_cast_slice(rows).unwrap_or_default()
}

/// The rest pose's palette.
pub(crate) fn rest(character: &Character, format: PaletteFormat) -> Result<Vec<Row>> {
    let model = rest_model_pose(character.skeleton());
    let rows = character.palette().len() * entry_rows(format) as usize;
    let mut palette = vec![Row::zeroed(); rows];
    with_entry!(format, E => write_as::<E>(character, &model, &mut palette))?;
    Ok(palette)
}
