//! The rules by which a block of ASTC is legal.
//!
//! The decoder computes with the bits of a block before it knows that they make sense. So only
//! legal blocks are handed to it, and the others have the error colour, as on a device.

/// The bits, trits and quints of a number with the range of an index, from 2 to 32 values.
const RANGES: [(u32, bool, bool); 12] = [
    (1, false, false),
    (0, true, false),
    (2, false, false),
    (0, false, true),
    (1, true, false),
    (3, false, false),
    (1, false, true),
    (2, true, false),
    (4, false, false),
    (2, false, true),
    (3, true, false),
    (5, false, false),
];
/// Formats of endpoints that only the HDR profile has, as bits.
const HDR_ENDPOINTS: u32 = 1 << 2 | 1 << 3 | 1 << 7 | 1 << 11 | 1 << 14 | 1 << 15;

/// Returns true if a block of 4 by 4 texels follows the LDR profile: section 23 of the Khronos Data
/// Format Specification 1.3.
pub(super) fn is_legal(block: [u8; 16]) -> bool {
    let block = u128::from_le_bytes(block);
    let field = |at: u32, bits: u32| (block >> at) as u32 & ((1 << bits) - 1);
    // A void extent has one colour, which must be LDR.
    if field(0, 9) == 0x1FC {
        return field(9, 1) == 0;
    }
    let (a, b) = (field(5, 2), field(7, 2));
    let (mut high, mut dual) = (field(9, 1), field(10, 1));
    let (range, width, height) = match (field(0, 2), field(2, 2)) {
        (0, 0) => return false,
        (0, range) => match b {
            2 => {
                let height = field(9, 2) + 6;
                (high, dual) = (0, 0);
                (range, a + 6, height)
            }
            // 12 by N, N by 12, 6 by 10, 10 by 6: none fits.
            _ => return false,
        },
        (range, 0) => (range, b + 4, a + 2),
        (range, 1) => (range, b + 8, a + 2),
        (range, 2) => (range, a + 2, b + 8),
        (range, _) if b & 2 == 0 => (range, a + 2, (b & 1) + 6),
        (range, _) => (range, (b & 1) + 2, a + 2),
    };
    let range = range << 1 | field(4, 1);
    if range < 2 || width > 4 || height > 4 {
        return false;
    }
    let (bits, trits, quints) = RANGES[(range - 2 + 6 * high) as usize];
    let weights = width * height * (1 + dual);
    let digits = match (trits, quints) {
        (true, _) => (weights * 8).div_ceil(5),
        (_, true) => (weights * 7).div_ceil(3),
        _ => 0,
    };
    let weight_bits = weights * bits + digits;
    let parts = field(11, 2) + 1;
    if !(24..=96).contains(&weight_bits) || parts + dual > 4 {
        return false;
    }
    let (formats, config_bits) = endpoint_formats(parts, weight_bits, field);
    let formats = &formats[..parts as usize];
    let values: u32 = formats.iter().map(|format| (format >> 2) * 2 + 2).sum();
    let used = config_bits + weight_bits + 2 * dual + (values * 13).div_ceil(5);
    let is_ldr = formats
        .iter()
        .all(|format| HDR_ENDPOINTS >> format & 1 == 0);
    is_ldr && values <= 18 && used <= 128
}

/// The formats of the endpoints of all partitions, and the bits before the endpoints.
fn endpoint_formats(
    parts: u32,
    weight_bits: u32,
    field: impl Fn(u32, u32) -> u32,
) -> ([u32; 4], u32) {
    if parts == 1 {
        return ([field(13, 4); 4], 17);
    }
    let base = field(23, 2);
    if base == 0 {
        return ([field(25, 4); 4], 29);
    }
    // A bit for the class of each partition, then two bits for each, which continue below the
    // weights.
    let more = 3 * parts - 4;
    let below = field(128 - weight_bits - more, more);
    let all = field(25, 4) | below << 4;
    let format = |part: u32| {
        let class = base - 1 + (all >> part & 1);
        class << 2 | all >> (parts + 2 * part) & 3
    };
    (core::array::from_fn(|part| format(part as u32)), 29 + more)
}
