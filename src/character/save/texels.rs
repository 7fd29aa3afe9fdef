//! Images as bytes: runs of texels, because most textures have large areas of one colour.
//!
//! Less is read and summed than the texels' own bytes, and an area is filled faster than copied.

use crate::bytes::{Reader, Save, invalid};
use crate::error::Result;
use crate::mesh::Image;
use std::iter::repeat_n;

/// So many texels that equal the one before end a run. For fewer, a new run takes longer than
/// copying them.
const WORTHWHILE: usize = 16;
/// The most texels of either kind in a run.
const MOST: usize = u8::MAX as usize;

impl Save for Image {
    fn save(&self, to: &mut Vec<u8>) {
        self.name.save(to);
        [self.width, self.height].save(to);
        let texels = self.rgba.as_chunks::<4>().0;
        let (runs, own) = runs(texels);
        runs.save(to);
        to.extend_from_slice(own.as_flattened());
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        let name = Save::load(from)?;
        let [width, height] = <[u32; 2]>::load(from)?;
        let runs: Vec<u16> = Save::load(from)?;
        let rgba = load_texels(u64::from(width) * u64::from(height), &runs, from)?;
        Ok(Self {
            name,
            width,
            height,
            rgba,
        })
    }
}

/// Splits texels into runs, and returns the texels that are not repetitions.
fn runs(texels: &[[u8; 4]]) -> (Vec<u16>, Vec<[u8; 4]>) {
    let (mut runs, mut all) = (Vec::new(), Vec::new());
    let mut rest = texels;
    while !rest.is_empty() {
        let mut own = 0;
        let repeats = loop {
            own += 1;
            let after = rest[own..].iter().take(MOST);
            let repeats = after.take_while(|texel| **texel == rest[own - 1]).count();
            if repeats >= WORTHWHILE || own == MOST || own == rest.len() {
                break repeats;
            }
        };
        runs.push(u16::from_le_bytes([own as u8, repeats as u8]));
        all.extend_from_slice(&rest[..own]);
        rest = &rest[own + repeats..];
    }
    (runs, all)
}

/// Reads an image of so many texels.
fn load_texels(count: u64, runs: &[u16], from: &mut Reader<'_>) -> Result<Vec<u8>> {
    let what = "image";
    let [mut own, mut repeated] = [0_u64; 2];
    for run in runs {
        let [texels, repeats] = run.to_le_bytes();
        own += u64::from(texels);
        repeated += u64::from(repeats);
    }
    if own + repeated != count {
        return Err(invalid(what, "has a different size than it states"));
    }
    // All is there that the memory is for.
    from.expect(usize::try_from(4 * own).unwrap_or(usize::MAX))?;
    let mut texels: Vec<[u8; 4]> = Vec::new();
    let reserved = usize::try_from(count).map(|count| texels.try_reserve_exact(count));
    if !matches!(reserved, Ok(Ok(()))) {
        return Err(invalid(what, "does not fit into memory"));
    }
    for run in runs {
        let [own, repeats] = run.to_le_bytes();
        let own = from.take(4 * usize::from(own))?.as_chunks::<4>().0;
        let Some(last) = own.last() else {
            return Err(invalid(what, "has a run without a texel of its own"));
        };
        texels.extend_from_slice(own);
        texels.extend(repeat_n(*last, usize::from(repeats)));
    }
    Ok(texels.into_flattened())
}
