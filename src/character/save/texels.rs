//! Images as bytes.

use crate::bytes::{Reader, Save, invalid};
use crate::error::Result;
use crate::mesh::{Image, RunLengths, TexelRuns};

impl Save for Image {
    fn save(&self, to: &mut Vec<u8>) {
        self.name.save(to);
        [self.width, self.height].save(to);
        let texels = self.runs();
        let runs = texels.runs();
        runs.len().save(to);
        Save::save_list(runs, to);
        to.extend_from_slice(texels.own());
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        let name = Save::load(from)?;
        let size @ [width, height] = <[u32; 2]>::load(from)?;
        let runs: Vec<u16> = Save::load(from)?;
        let lengths = RunLengths::of(&runs);
        let (what, texels) = ("image", u64::from(width) * u64::from(height));
        if lengths.own + lengths.repeated != texels {
            return Err(invalid(what, "has a different size than it states"));
        }
        if !lengths.is_valid {
            return Err(invalid(what, "has a run without a texel of its own"));
        }
        // `Image::rgba` allocates these bytes later, and would panic on more.
        if texels.saturating_mul(4) > isize::MAX as u64 {
            return Err(invalid(what, "does not fit into memory"));
        }
        let own = u8::load_list(usize::try_from(4 * lengths.own).unwrap_or(usize::MAX), from)?;
        Ok(Self::of_runs(name, size, TexelRuns::of_parts(runs, own)))
    }
}
