//! Palettes in the format of a character's method.

use super::PaletteRing;
use super::layout::{
    METHOD_DUAL_QUAT, METHOD_DUAL_QUAT_STRETCH, METHOD_LINEAR, METHOD_QUAT_OFFSET,
};
use crate::character::{Affine, Character};
use crate::error::Result;
use crate::pose::{
    DualQuat, DualQuatStretch, Mat3x4, Method, PaletteEntry, Poser, QuatOffset, WriteOnly,
    check_method, palette_projected,
};

/// A row of a palette.
pub(crate) const ROW_BYTES: u64 = 16;

/// The method as shaders know it, if the character's palettes fit it.
pub(crate) fn method_code(character: &Character, method: Method) -> Result<u32> {
    let plan = check_method(character, method)?;
    Ok(match (plan.method, plan.stretch) {
        (Method::Linear, _) => METHOD_LINEAR,
        (Method::DualQuat, false) => METHOD_DUAL_QUAT,
        (Method::DualQuat, true) => METHOD_DUAL_QUAT_STRETCH,
        (Method::QuatOffset, _) => METHOD_QUAT_OFFSET,
    })
}

/// Rows of 16 bytes that an entry takes.
pub(crate) fn entry_rows(method: u32) -> u32 {
    let bytes = match method {
        METHOD_DUAL_QUAT => size_of::<DualQuat>(),
        METHOD_DUAL_QUAT_STRETCH => size_of::<DualQuatStretch>(),
        METHOD_QUAT_OFFSET => size_of::<QuatOffset>(),
        _ => size_of::<Mat3x4>(),
    };
    bytes as u32 / ROW_BYTES as u32
}

/// Writes the palette of a model pose in the format of `method` into `slot` of the ring, from `row` on.
///
/// # Safety
/// As [`PaletteRing::writer_as`].
pub(crate) unsafe fn write(
    ring: &mut PaletteRing,
    (slot, row): (u32, u32),
    character: &Character,
    method: u32,
    model: &[Affine],
) -> Result<()> {
    // SAFETY: the caller's word.
    unsafe {
        match method {
            METHOD_DUAL_QUAT => write_as::<DualQuat>(ring, (slot, row), character, model),
            METHOD_DUAL_QUAT_STRETCH => {
                write_as::<DualQuatStretch>(ring, (slot, row), character, model)
            }
            METHOD_QUAT_OFFSET => write_as::<QuatOffset>(ring, (slot, row), character, model),
            _ => write_as::<Mat3x4>(ring, (slot, row), character, model),
        }
    }
}

/// # Safety
/// As [`write`].
unsafe fn write_as<E: PaletteEntry>(
    ring: &mut PaletteRing,
    (slot, row): (u32, u32),
    character: &Character,
    model: &[Affine],
) -> Result<()> {
    let count = character.palette().len() as u32;
    // SAFETY: the caller's word.
    let out = unsafe { ring.writer_as::<E>(slot, row, count)? };
    palette_projected::<E>(character, model, out)
}

/// The bytes of the rest pose's palette.
pub(crate) fn rest(character: &Character, method: u32) -> Result<Vec<u8>> {
    let mut poser = Poser::new();
    let model = poser.pose(character, None)?;
    match method {
        METHOD_DUAL_QUAT => bytes_of::<DualQuat>(character, model),
        METHOD_DUAL_QUAT_STRETCH => bytes_of::<DualQuatStretch>(character, model),
        METHOD_QUAT_OFFSET => bytes_of::<QuatOffset>(character, model),
        _ => bytes_of::<Mat3x4>(character, model),
    }
}

fn bytes_of<E: PaletteEntry>(character: &Character, model: &[Affine]) -> Result<Vec<u8>> {
    let mut entries = vec![E::zeroed(); character.palette().len()];
    palette_projected::<E>(character, model, WriteOnly::over(&mut entries))?;
    Ok(bytemuck::cast_slice(&entries).to_vec())
}
