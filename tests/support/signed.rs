//! Saved characters whose bytes were altered, with a valid header.

/// Magic, version, zeros, length and checksum.
pub(crate) const HEADER: usize = 32;

/// Writes the length and the checksum of an altered body into the header.
pub(crate) fn sign(bytes: &mut [u8]) {
    let (header, body) = bytes.split_at_mut(HEADER);
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut add = |word: &[u8]| {
        let mut eight = [0; 8];
        eight[..word.len()].copy_from_slice(word);
        hash = (hash ^ u64::from_le_bytes(eight))
            .wrapping_mul(0x0000_0100_0000_01B3)
            .rotate_left(23);
    };
    let whole = body.len() / 8 * 8;
    body[..whole].chunks(8).for_each(&mut add);
    add(&body[whole..]);
    header[16..24].copy_from_slice(&(body.len() as u64).to_le_bytes());
    header[24..32].copy_from_slice(&hash.to_le_bytes());
}
