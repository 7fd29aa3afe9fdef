//! How a picture is held against its golden one.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use image::{GenericImageView as _, RgbImage};

/// Side of a tile, pixels.
const TILE: u32 = 32;
/// The least score of the worst tile; 1 is the same.
///
/// Measured on the crowd `builtin` with lavapipe: another version of Mesa (25.0.7 instead of 22.3.6) 1.000;
/// no antialiasing at all 0.83, more than two devices that place their samples differently can be
/// apart; one of sixty characters moved by a quarter of a metre 0.74; the whole picture shifted by
/// one pixel 0.41.
pub(super) const LEAST: f64 = 0.85;

/// Compares a picture with the golden one, or makes it the golden one.
pub(super) fn check(name: &str, actual: &RgbImage) {
    if std::env::var_os("THRONG_UPDATE_GOLDEN").is_some() {
        save(&golden_path(name), actual);
        return say(&format!("{name}: updated"));
    }
    let golden = golden(name);
    assert_eq!(
        actual.dimensions(),
        golden.dimensions(),
        "{name}: another size"
    );
    let worst = worst(&golden, actual);
    say(&format!("{name}: {:.4} at {:?}", worst.score, worst.at));
    if worst.score < LEAST {
        let [actual_path, difference_path] =
            ["actual", "difference"].map(|kind| output().join(format!("{name}.{kind}.png")));
        save(&actual_path, actual);
        save(&difference_path, &difference(&golden, actual));
        panic!(
            "{name}: the tile at {:?} scores {:.4}, less than {LEAST}: see {} and {}",
            worst.at,
            worst.score,
            actual_path.display(),
            difference_path.display()
        );
    }
}

/// The tile that differs most.
pub(super) struct Worst {
    pub(super) score: f64,
    /// Its upper left corner.
    at: (u32, u32),
}

pub(super) fn worst(golden: &RgbImage, actual: &RgbImage) -> Worst {
    let (width, height) = golden.dimensions();
    let corners = (0..height).step_by(TILE as usize);
    let corners = corners.flat_map(|y| (0..width).step_by(TILE as usize).map(move |x| (x, y)));
    let scores = corners.map(|(x, y)| {
        // The last ones overlap those before.
        let at = (x.min(width - TILE), y.min(height - TILE));
        let tile = |image: &RgbImage| image.view(at.0, at.1, TILE, TILE).to_image();
        let compared = image_compare::rgb_hybrid_compare(&tile(golden), &tile(actual));
        Worst {
            score: compared.expect("tiles of one size").score,
            at,
        }
    });
    let least = scores.min_by(|a, b| a.score.total_cmp(&b.score));
    least.expect("at least one tile")
}

/// Black where both are alike; four times the difference elsewhere.
fn difference(golden: &RgbImage, actual: &RgbImage) -> RgbImage {
    let mut difference = golden.clone();
    for (pixel, other) in difference.pixels_mut().zip(actual.pixels()) {
        for (channel, other) in pixel.0.iter_mut().zip(other.0) {
            *channel = channel.abs_diff(other).saturating_mul(4);
        }
    }
    difference
}

pub(super) fn golden(name: &str) -> RgbImage {
    let path = golden_path(name);
    let opened = image::open(&path);
    opened
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .to_rgb8()
}

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.png"))
}

pub(super) fn output() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/golden")
}

fn save(path: &Path, image: &RgbImage) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
    image
        .save(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Past the test harness's capture.
pub(super) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
