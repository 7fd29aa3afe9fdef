//! Nothing is read or written past the end of a slice: each ends before an inaccessible page.

use crate::guarded::Guarded;
use crate::reference::{random, rng::Rng};
use crate::skinner::load::{COUNTS, Streams, each_format, made, palettes, rest_weights};
use throng::Error;
use throng::SimdLevel;
use throng::import::ImportOptions;
use throng::palette::{PaletteEntry, WriteOnly};
use throng::skin::Skinner;

fn is_length<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::Argument { .. }))
}

/// Skins with a palette, weights and an output that each end before a guard page.
fn skin<P: PaletteEntry>(skinner: &Skinner, palette: &[P], weights: &[f32]) {
    let palette = Guarded::new(palette);
    let (palette, weights) = (palette.slice(), Guarded::new(weights));
    let short = &palette[1..];
    let words = skinner.layout().words as usize;
    let mut out = Guarded::new(&vec![f32::NAN; words]);
    let to = WriteOnly::from(out.slice_mut());
    skinner.skin(palette, weights.slice(), to).unwrap();
    let bounds = skinner.bounds(palette, weights.slice()).unwrap();
    assert!(bounds.min.is_finite() && bounds.max.is_finite());

    let to = WriteOnly::from(&mut out.slice_mut()[1..]);
    assert!(is_length(skinner.skin(palette, weights.slice(), to)));
    let to = WriteOnly::from(out.slice_mut());
    assert!(is_length(skinner.skin(short, weights.slice(), to)));
    assert!(is_length(skinner.bounds(short, weights.slice())));
    if let [_, short @ ..] = weights.slice() {
        let to = WriteOnly::from(out.slice_mut());
        assert!(is_length(skinner.skin(palette, short, to)));
        assert!(is_length(skinner.bounds(palette, short)));
    }
}

#[test]
fn skinners_stay_within_their_slices_on_every_level() {
    let mut rng = Rng::new(91);
    let mut all: Vec<_> = (0..6)
        .map(|seed| {
            random::morphing(seed)
                .build(&ImportOptions::default())
                .unwrap()
                .character
        })
        .collect();
    for (number, influences) in COUNTS.into_iter().enumerate() {
        for vertices in (1..10).chain([15, 16, 17, 31, 33, 100]) {
            let streams = Streams::ALL[(number + vertices) % 3];
            all.push(made(&mut rng, vertices, influences, streams));
        }
    }
    for character in all {
        let weights = rest_weights(&character);
        let palettes = palettes(&mut rng, character.palette().len());
        for level in SimdLevel::available() {
            let skinner = Skinner::new(&character)
                .unwrap()
                .with_simd_level(level)
                .unwrap();
            each_format!(palettes, |palette| { skin(&skinner, palette, &weights) });
        }
    }
}
