//! Images of saved characters.

use crate::reference::random;
use crate::reference::rng::Rng;
use crate::reference::signed::{file, sections};
use crate::reference::words::Says;
use crate::save::small;
use throng::character::Character;
use throng::import::ImportOptions;
use throng::mesh::{Image, ImageFormat};

/// The contents of a section with one image of these runs.
fn image(width: u32, height: u32, runs: &[[u8; 2]], own: &[[u8; 4]]) -> Vec<u8> {
    let mut contents = [1_u64, 0].map(u64::to_le_bytes).concat();
    contents.extend([width, height].map(u32::to_le_bytes).concat());
    // RGBA8 without stored levels.
    contents.extend([0; 5]);
    contents.extend((runs.len() as u64).to_le_bytes());
    contents.extend(runs.as_flattened());
    contents.extend(own.as_flattened());
    contents
}

#[test]
fn runs_of_texels_are_checked() {
    let all = sections(&small()[0].to_bytes());
    let images = all.iter().position(|section| section.name == "images");
    let load = |contents: Vec<u8>| {
        let mut other = all.clone();
        other[images.unwrap()].contents = contents;
        Character::from_bytes(&file(&other), &Default::default())
    };
    let [red, blue] = [[255, 0, 0, 255], [0, 0, 255, 9]];
    let read = load(image(3, 2, &[[1, 3], [2, 0]], &[red, blue, red])).unwrap();
    let texels = [red, red, red, red, blue, red];
    assert_eq!(read.images()[0].rgba().unwrap(), texels.as_flattened());
    // Whatever is saved is read back, whichever runs the writer chooses.
    let mut rng = Rng::new(11);
    for _ in 0..50 {
        let size = 1 + rng.below(3000);
        let mut texels: Vec<[u8; 4]> = Vec::new();
        while texels.len() < size {
            let length = (1 + rng.below(600)).min(size - texels.len());
            let texel = (rng.bits() as u32).to_le_bytes();
            let is_flat = rng.below(2) == 0;
            let next = |n: usize| if is_flat { texel } else { [n as u8, 1, 2, 3] };
            texels.extend((0..length).map(next));
        }
        let runs = texels.chunks(255).map(|own| [own.len() as u8, 0]);
        let runs: Vec<[u8; 2]> = runs.collect();
        let plain = load(image(size as u32, 1, &runs, &texels)).unwrap();
        assert_eq!(plain.images()[0].rgba().unwrap(), texels.as_flattened());
        // The writer chooses other runs, with which the image is the same one.
        let mut raw = random::character(1);
        let copy = |texels| Image::new(&plain.images()[0].name, size as u32, 1, texels);
        raw.images = vec![copy(plain.images()[0].rgba().unwrap().into_owned())];
        let made = raw.build(&ImportOptions::default()).unwrap().character;
        let read = Character::from_bytes(&made.to_bytes(), &Default::default()).unwrap();
        assert_eq!(read.images(), plain.images());
        let mut other = read.images()[0].rgba().unwrap().into_owned();
        other[4 * size - 1] ^= 1;
        assert_ne!(copy(other), read.images()[0]);
    }
    let why = |contents| match load(contents) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("taken"),
    };
    let size = "saved character: image has a different size than it states";
    assert_eq!(why(image(3, 2, &[[1, 4]], &[red])), size);
    assert_eq!(why(image(3, 2, &[[1, 6]], &[red])), size);
    // Nothing is allocated for a size that the runs do not have.
    assert_eq!(why(image(u32::MAX, u32::MAX, &[[1, 5]], &[red])), size);
    let none = "saved character: image has a run without a texel of its own";
    assert_eq!(why(image(3, 2, &[[0, 4], [2, 0]], &[red, blue])), none);
    // Nor for texels that are cut off.
    why(image(255, 2, &[[255, 255]], &[red])).says("…ends…");
    why(image(3, 2, &[[1, 5]], &[red, blue])).says("…has bytes after its end…");
}

/// A file of 2 MB, whose one image has 4 bytes for each of 81 million texels.
#[test]
fn images_of_saved_files_are_capped() {
    let mut all = sections(&small()[0].to_bytes());
    let images = all.iter().position(|section| section.name == "images");
    let (side, run) = (9_216, [1, 255]);
    let runs = vec![run; side * side / 256];
    let own = vec![[9; 4]; runs.len()];
    all[images.unwrap()].contents = image(side as u32, side as u32, &runs, &own);
    let path = std::env::temp_dir().join(format!("throng-capped-{}.throng", std::process::id()));
    std::fs::write(&path, file(&all)).unwrap();
    let load = |options: &ImportOptions| throng_import::file(&path, options).map(|_| ());
    let (texels, bytes) = (side as u64 * side as u64, 4 * side as u64 * side as u64);
    let mut options = ImportOptions::default();
    let error = load(&options).unwrap_err().to_string();
    let cap = format!("image 0: texels of one image: {texels} exceeds the limit of 67108864");
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(error, format!("{name}: {cap}"));
    options.limits.image_texels = texels;
    load(&options).unwrap();
    options.limits.decoded_bytes = bytes - 1;
    assert!(load(&options).is_err());
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn compressed_images_keep_their_levels() {
    let mut rng = Rng::new(12);
    let mut raw = random::character(1);
    raw.images = vec![Image::new("own", 1, 1, vec![9; 4])];
    let plain = raw.build(&ImportOptions::default()).unwrap().character;
    for format in ImageFormat::ALL {
        for levels in [1, 2, 4] {
            let size = format.bytes(9, 5, levels) as usize;
            let bytes = (0..size).map(|_| rng.bits() as u8).collect();
            let image = Image::with_levels("own", format, [9, 5], levels, bytes);
            let made = plain.clone().with_images(vec![image]).unwrap();
            let saved = made.to_bytes();
            let read = Character::from_bytes(&saved, &Default::default()).unwrap();
            assert_eq!(read.images(), made.images());
            assert_eq!(read.to_bytes(), saved);
            let image = &read.images()[0];
            assert_eq!(
                (image.format(), image.levels().count()),
                (format, levels as usize)
            );
            let rgba = image.rgba().unwrap();
            assert_eq!(rgba.len(), 9 * 5 * 4);
            let decoded = image.decoded().unwrap();
            let sizes = decoded.levels().map(|level| level.bytes.len());
            assert!(sizes.eq([180, 32, 8, 4].into_iter().take(levels as usize)));
            assert_eq!(decoded.rgba().unwrap(), rgba);
        }
    }
}

#[test]
fn stored_levels_are_checked() {
    let bc7 = |size, levels, bytes| {
        let mut raw = random::character(1);
        let data = vec![0; bytes];
        raw.images = vec![Image::with_levels(
            "own",
            ImageFormat::Bc7,
            size,
            levels,
            data,
        )];
        let error = raw.build(&ImportOptions::default());
        error.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(bc7([9, 5], 4, 16 * (6 + 1 + 1 + 1)), Ok(()));
    for (size, levels, bytes, words) in [
        ([0, 5], 1, 0, "image 0: has no texels"),
        ([9, 5], 0, 0, "image 0: has no mip levels"),
        (
            [9, 5],
            5,
            176,
            "image 0: mip levels: 5 exceeds the limit of 4",
        ),
        (
            [9, 5],
            4,
            143,
            "image 0: the pixel data in bytes has 143, needs 144",
        ),
        (
            [u32::MAX; 2],
            1,
            16,
            "image 0: the pixel data in bytes has 16, needs 1844674",
        ),
    ] {
        let error = bc7(size, levels, bytes).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    // The same of a saved character: a level more than its bytes have.
    let all = sections(&small()[0].to_bytes());
    let images = all
        .iter()
        .position(|section| section.name == "images")
        .unwrap();
    for (format, levels, words) in [
        (6, 2, "the pixel data in bytes has 16, needs 32"),
        (6, u32::MAX, "mip levels: 4294967295 exceeds the limit of 3"),
        (12, 1, "format of an image is unknown"),
        (6, 0, "is compressed and has no mip levels"),
    ] {
        let mut contents = [1_u64, 0].map(u64::to_le_bytes).concat();
        contents.extend([4_u32, 4].map(u32::to_le_bytes).concat());
        contents.push(format);
        contents.extend(u32::to_le_bytes(levels));
        contents.extend(16_u64.to_le_bytes());
        contents.extend([0; 16]);
        let mut other = all.clone();
        other[images].contents = contents;
        let error = Character::from_bytes(&file(&other), &Default::default());
        let error = error.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
