//! Mip chains of images, made on the CPU.

use crate::texture::MipChain;
use throng::mesh::Image;

fn image(width: u32, height: u32, texel: impl Fn(u32, u32) -> [u8; 4]) -> Image {
    let rgba = (0..height)
        .flat_map(|y| (0..width).map(move |x| (x, y)))
        .flat_map(|(x, y)| texel(x, y))
        .collect();
    Image::new("test", width, height, rgba)
}

#[test]
fn chain_ends_in_one_texel() {
    let chain = MipChain::new(&image(5, 3, |_, _| [10, 20, 30, 40]), true, 4096);
    let sizes: Vec<_> = chain
        .levels
        .iter()
        .map(|level| (level.width, level.height))
        .collect();
    assert_eq!(sizes, [(5, 3), (2, 1), (1, 1)]);
    assert_eq!(chain.texels.len(), (15 + 2 + 1) * 4);
    assert!(
        chain
            .texels
            .chunks(4)
            .all(|texel| texel == [10, 20, 30, 40])
    );
}

#[test]
fn black_and_white_average_in_linear_light() {
    let chain = MipChain::new(
        &image(2, 1, |x, _| if x == 0 { [0, 0, 0, 255] } else { [255; 4] }),
        true,
        4096,
    );
    // Half the light of white is 188 in sRGB, not 128.
    assert_eq!(chain.texels[8..], [188, 188, 188, 255]);
}

#[test]
fn data_averages_as_it_is() {
    let checks = image(2, 1, |x, _| if x == 0 { [0, 10, 0, 255] } else { [255; 4] });
    let chain = MipChain::new(&checks, false, 4096);
    assert_eq!(chain.texels[8..], [128, 133, 128, 255]);
}

#[test]
fn levels_that_the_device_cannot_hold_are_left_out() {
    let chain = MipChain::new(&image(8, 2, |_, _| [1; 4]), true, 4);
    assert_eq!((chain.levels[0].width, chain.levels[0].height), (4, 1));
    assert_eq!(chain.levels[0].offset, 0);
}
