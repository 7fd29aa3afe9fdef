//! Mip chains of images, made on the CPU.

use throng::mesh::Image;

fn image(width: u32, height: u32, texel: impl Fn(u32, u32) -> [u8; 4]) -> Image {
    let rgba = (0..height)
        .flat_map(|y| (0..width).map(move |x| (x, y)))
        .flat_map(|(x, y)| texel(x, y))
        .collect();
    Image::new("test", width, height, rgba)
}

/// The texels of all levels.
fn texels(image: &Image) -> Vec<u8> {
    let levels = image.levels().map(|level| level.bytes);
    levels.collect::<Vec<_>>().concat()
}

#[test]
fn chain_ends_in_one_texel() {
    let chain = image(5, 3, |_, _| [10, 20, 30, 40])
        .with_mips(true)
        .unwrap();
    let sizes: Vec<_> = chain
        .levels()
        .map(|level| (level.width, level.height))
        .collect();
    assert_eq!(sizes, [(5, 3), (2, 1), (1, 1)]);
    assert_eq!(texels(&chain), [10, 20, 30, 40].repeat(15 + 2 + 1));
}

#[test]
fn black_and_white_average_in_linear_light() {
    let half = image(2, 1, |x, _| if x == 0 { [0, 0, 0, 255] } else { [255; 4] });
    // Half the light of white is 188 in sRGB, not 128.
    let chain = half.with_mips(true).unwrap();
    assert_eq!(texels(&chain)[8..], [188, 188, 188, 255]);
}

#[test]
fn data_averages_as_it_is() {
    let checks = image(2, 1, |x, _| if x == 0 { [0, 10, 0, 255] } else { [255; 4] });
    let chain = checks.with_mips(false).unwrap();
    assert_eq!(texels(&chain)[8..], [128, 133, 128, 255]);
}
