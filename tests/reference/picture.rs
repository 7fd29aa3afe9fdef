//! Pictures of 8-bit RGBA, read from and written to files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

#[path = "../../examples/common/picture.rs"]
mod file;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    /// Row by row from the top.
    pub texels: Vec<[u8; 4]>,
}

impl Picture {
    pub fn new(width: u32, height: u32, rgba: &[u8]) -> Self {
        let texels = rgba.as_chunks().0.to_vec();
        assert_eq!(texels.len(), (width * height) as usize, "as many texels");
        Self {
            width,
            height,
            texels,
        }
    }

    /// Reads a PNG of 8-bit RGB or RGBA.
    pub fn read(path: &Path) -> Self {
        Self::try_read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn try_read(path: &Path) -> Result<Self, png::DecodingError> {
        let mut decoder = png::Decoder::new(BufReader::new(File::open(path)?));
        decoder.set_transformations(png::Transformations::ALPHA);
        let mut reader = decoder.read_info()?;
        let mut rgba = vec![0; reader.output_buffer_size().expect("a size")];
        let frame = reader.next_frame(&mut rgba)?;
        assert_eq!(frame.color_type, png::ColorType::Rgba, "{}", path.display());
        Ok(Self::new(frame.width, frame.height, &rgba))
    }

    pub fn write(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        let rgba = self.texels.as_flattened();
        file::write_rgba(path, rgba, self.width, self.height)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    pub fn at(&self, x: u32, y: u32) -> [u8; 4] {
        self.texels[(y * self.width + x) as usize]
    }
}

/// Number of texels that differ by more than `by` in a channel.
pub fn different(a: &[u8], b: &[u8], by: u8) -> usize {
    assert_eq!(a.len(), b.len());
    let texels = a.chunks_exact(4).zip(b.chunks_exact(4));
    texels
        .filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > by))
        .count()
}

/// Number of texels that differ from the first one, which is background.
pub fn covered(picture: &[u8]) -> usize {
    let background = &picture[..4];
    picture
        .chunks_exact(4)
        .filter(|texel| *texel != background)
        .count()
}
