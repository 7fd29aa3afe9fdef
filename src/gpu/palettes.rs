//! Palettes in the format of a character's method.

use super::layout::{
    METHOD_DUAL_QUAT, METHOD_DUAL_QUAT_STRETCH, METHOD_LINEAR, METHOD_QUAT_OFFSET,
};
use crate::character::{Affine, Character};
use crate::error::Result;
use crate::pose::{
    DualQuat, DualQuatStretch, Mat3x4, Method, PaletteEntry, PaletteFormat, PaletteRef, Poser,
    QuatOffset, WriteOnly, check_method, palette_checked, palette_projected,
};
use bytemuck::{Pod, Zeroable};

/// A row of a palette.
pub(crate) const ROW_BYTES: u64 = 16;

/// Palettes in memory, in the format of any method.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct Row([f32; 4]);

const _: () = assert!(size_of::<Row>() as u64 == ROW_BYTES);

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

/// The format of a method's palettes.
pub(crate) fn format(method: u32) -> PaletteFormat {
    match method {
        METHOD_DUAL_QUAT => PaletteFormat::DualQuat,
        METHOD_DUAL_QUAT_STRETCH => PaletteFormat::DualQuatStretch,
        METHOD_QUAT_OFFSET => PaletteFormat::QuatOffset,
        _ => PaletteFormat::Mat3x4,
    }
}

/// The palette of a model pose in the format of `method`, into as many rows as it has.
pub(crate) fn evaluate(
    character: &Character,
    method: u32,
    model: &[Affine],
    out: &mut [Row],
) -> Result<()> {
    match method {
        METHOD_DUAL_QUAT => evaluate_as::<DualQuat>(character, model, out),
        METHOD_DUAL_QUAT_STRETCH => evaluate_as::<DualQuatStretch>(character, model, out),
        METHOD_QUAT_OFFSET => evaluate_as::<QuatOffset>(character, model, out),
        _ => evaluate_as::<Mat3x4>(character, model, out),
    }
}

fn evaluate_as<E: PaletteEntry>(
    character: &Character,
    model: &[Affine],
    out: &mut [Row],
) -> Result<()> {
    let out = bytemuck::try_cast_slice_mut::<Row, E>(out).unwrap_or_default();
    palette_projected::<E>(character, model, WriteOnly::over(out))
}

/// Whether the format of `method` holds the palette of a model pose.
///
/// # Errors
/// As [`palette_checked`].
pub(crate) fn check(
    character: &Character,
    method: u32,
    model: &[Affine],
    scratch: &mut Vec<Row>,
) -> Result<()> {
    // Matrices hold anything.
    if method == METHOD_LINEAR {
        return Ok(());
    }
    let rows = character.palette().len() * entry_rows(method) as usize;
    scratch.clear();
    scratch.resize(rows, Row::zeroed());
    match method {
        METHOD_DUAL_QUAT => check_as::<DualQuat>(character, model, scratch),
        METHOD_DUAL_QUAT_STRETCH => check_as::<DualQuatStretch>(character, model, scratch),
        _ => check_as::<QuatOffset>(character, model, scratch),
    }
}

fn check_as<E: PaletteEntry>(
    character: &Character,
    model: &[Affine],
    out: &mut [Row],
) -> Result<()> {
    let out = bytemuck::try_cast_slice_mut::<Row, E>(out).unwrap_or_default();
    palette_checked::<E>(character, model, WriteOnly::over(out))
}

/// Rows of [`evaluate`] as the palette that they are.
pub(crate) fn as_ref(method: u32, rows: &[Row]) -> PaletteRef<'_> {
    match method {
        METHOD_DUAL_QUAT => PaletteRef::DualQuat(entries(rows)),
        METHOD_DUAL_QUAT_STRETCH => PaletteRef::DualQuatStretch(entries(rows)),
        METHOD_QUAT_OFFSET => PaletteRef::QuatOffset(entries(rows)),
        _ => PaletteRef::Mat3x4(entries(rows)),
    }
}

/// Empty, if they are not whole entries.
fn entries<E: PaletteEntry>(rows: &[Row]) -> &[E] {
    bytemuck::try_cast_slice(rows).unwrap_or_default()
}

/// The rest pose's palette.
pub(crate) fn rest(character: &Character, method: u32) -> Result<Vec<Row>> {
    let mut poser = Poser::new();
    let model = poser.pose(character, None)?;
    let rows = character.palette().len() * entry_rows(method) as usize;
    let mut palette = vec![Row::zeroed(); rows];
    evaluate(character, method, model, &mut palette)?;
    Ok(palette)
}
