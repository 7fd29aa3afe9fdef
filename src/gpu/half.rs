//! Numbers of half precision (binary16) that are neither negative nor infinite.

/// The largest number of half precision.
pub(crate) const MAX: f32 = 65_504.0;

/// The bits of a number, rounded to nearest even.
///
/// It is clamped to 0..=[`MAX`], and NaN becomes 0.
#[allow(clippy::manual_clamp, reason = "NaN becomes 0")]
pub(crate) fn pack(value: f32) -> u16 {
    let value = value.max(0.0).min(MAX);
    // The smallest normal number. Below it, all steps are 2⁻²⁴, those of f32 from 0.5 on, so a sum
    // rounds as it should.
    if value < f32::from_bits(113 << 23) {
        return (value + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits()) as u16;
    }
    // The exponent's bias is less by 112, and the last 13 bits are rounded.
    let bits = value.to_bits() - (112 << 23);
    ((bits + 0xFFF + (bits >> 13 & 1)) >> 13) as u16
}

/// The number of these bits, which are those of [`pack`].
pub(crate) fn unpack(bits: u16) -> f32 {
    // 2¹¹² makes up for the exponent's bias. The product is exact.
    f32::from_bits(u32::from(bits) << 13) * f32::from_bits((112 + 127) << 23)
}
