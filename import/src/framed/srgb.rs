//! Colours of formats that store them sRGB encoded.

/// Decodes an sRGB value; see IEC 61966-2-1.
pub(crate) fn linear(value: f32) -> f32 {
    match value <= 0.040_45 {
        true => value / 12.92,
        false => ((value + 0.055) / 1.055).powf(2.4),
    }
}
