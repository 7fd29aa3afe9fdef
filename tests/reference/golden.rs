//! Compares a picture with its golden version.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::picture::Picture;

/// Width and height of a tile in pixels.
const TILE: u32 = 32;
/// Width and height of the windows within a tile in pixels.
const WINDOW: u32 = 8;
/// The minimum score of the worst tile. Identical tiles score 1.
///
/// Scores measured on the crowd `builtin` with lavapipe:
///
/// - another version of Mesa (25.0.7 instead of 22.3.6): 1.000,
/// - no antialiasing at all, which differs more than two devices that place their samples
///   differently: 0.83,
/// - one of sixty characters moved by a quarter of a metre: 0.74,
/// - the whole picture shifted by one pixel: 0.41.
pub const LEAST: f64 = 0.85;

/// Compares a picture with the golden one in a folder, or replaces the golden one.
pub fn check(folder: &str, name: &str, actual: &Picture) {
    if std::env::var_os("THRONG_UPDATE_GOLDEN").is_some() {
        actual.write(&golden_path(folder, name));
        return say(&format!("{name}: updated"));
    }
    let golden = golden(folder, name);
    assert_eq!(
        (actual.width, actual.height),
        (golden.width, golden.height),
        "{name}: another size"
    );
    let worst = worst(&golden, actual);
    say(&format!("{name}: {:.4} at {:?}", worst.score, worst.at));
    if worst.score < LEAST {
        let [actual_path, difference_path] =
            ["actual", "difference"].map(|kind| output().join(format!("{name}.{kind}.png")));
        actual.write(&actual_path);
        difference(&golden, actual).write(&difference_path);
        panic!(
            "{name}: the tile at {:?} scores {:.4}, less than {LEAST}: see {} and {}",
            worst.at,
            worst.score,
            actual_path.display(),
            difference_path.display()
        );
    }
}

/// A part of a picture, in pixels.
#[derive(Debug, Clone, Copy)]
pub struct Area {
    pub corner: (u32, u32),
    pub size: (u32, u32),
}

/// Copies an area of the golden picture into another one, so that it is not compared.
pub fn leave_out(folder: &str, name: &str, actual: &mut Picture, area: Area) {
    let golden = golden(folder, name);
    say(&format!("{name}: {area:?} is not compared"));
    let Area {
        corner: (left, top),
        size: (width, height),
    } = area;
    for y in top..top + height {
        let start = (y * actual.width + left) as usize;
        let row = start..start + width as usize;
        actual.texels[row.clone()].copy_from_slice(&golden.texels[row]);
    }
}

/// The tile that differs most.
pub struct Worst {
    pub score: f64,
    /// Its upper left corner.
    at: (u32, u32),
}

pub fn worst(golden: &Picture, actual: &Picture) -> Worst {
    let (width, height) = (golden.width, golden.height);
    let corners = (0..height).step_by(TILE as usize);
    let corners = corners.flat_map(|y| (0..width).step_by(TILE as usize).map(move |x| (x, y)));
    let scores = corners.map(|(x, y)| {
        // The last tiles overlap the ones before.
        let at = (x.min(width - TILE), y.min(height - TILE));
        Worst {
            score: similarity(golden, actual, at),
            at,
        }
    });
    let least = scores.min_by(|a, b| a.score.total_cmp(&b.score));
    least.expect("at least one tile")
}

/// The similarity of two tiles, 1 being identical.
///
/// It is the mean over all windows of the lower of two scores: the structural similarity of the
/// brightness, and the similarity of the colours.
fn similarity(golden: &Picture, actual: &Picture, at: (u32, u32)) -> f64 {
    let corners = (0..TILE).step_by(WINDOW as usize);
    let corners = corners.flat_map(|y| (0..TILE).step_by(WINDOW as usize).map(move |x| (x, y)));
    let scores: Vec<f64> = corners
        .map(|(x, y)| {
            let [golden, actual] =
                [golden, actual].map(|picture| window(picture, (at.0 + x, at.1 + y)));
            structure(&golden, &actual).min(color(&golden, &actual))
        })
        .collect();
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// The texels of a window as luma and two chroma differences (ITU-T T.871), 0 to 255.
fn window(picture: &Picture, (left, top): (u32, u32)) -> Vec<[f64; 3]> {
    let places = (0..WINDOW).flat_map(|y| (0..WINDOW).map(move |x| (left + x, top + y)));
    let texels = places.map(|(x, y)| {
        let [r, g, b, _] = picture.at(x, y).map(f64::from);
        [
            0.299 * r + 0.587 * g + 0.114 * b,
            0.5 * b - 0.168736 * r - 0.331264 * g,
            0.5 * r - 0.418688 * g - 0.081312 * b,
        ]
    });
    texels.collect()
}

/// The structural similarity of the brightness (Wang et al. 2004, equation 13).
///
/// It uses the sums of the products in place of their means, which makes it stricter for dark and
/// flat windows.
fn structure(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let (c1, c2) = ((0.01_f64 * 255.0).powi(2), (0.03_f64 * 255.0).powi(2));
    let mean = |of: &[[f64; 3]]| of.iter().map(|texel| texel[0]).sum::<f64>() / of.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product = |a: &[[f64; 3]], mean_a: f64, b: &[[f64; 3]], mean_b: f64| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| (a[0] - mean_a) * (b[0] - mean_b)).sum()
    };
    let covariance = product(a, mean_a, b, mean_b);
    let variances = product(a, mean_a, a, mean_a) + product(b, mean_b, b, mean_b);
    let means = mean_a.powi(2) + mean_b.powi(2);
    let similarity = (2.0 * mean_a * mean_b + c1) * (2.0 * covariance + c2);
    (similarity / ((means + c1) * (variances + c2))).clamp(0.0, 1.0)
}

/// 1 minus the mean distance of the colours, as a fraction of the range.
fn color(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let apart = |(a, b): (&[f64; 3], &[f64; 3])| (a[1] - b[1]).hypot(a[2] - b[2]) / 255.0;
    let apart: f64 = a.iter().zip(b).map(apart).sum();
    1.0 - apart / a.len() as f64
}

/// A picture of the differences: black for equal pixels, four times the difference elsewhere.
fn difference(golden: &Picture, actual: &Picture) -> Picture {
    let mut difference = golden.clone();
    for (texel, other) in difference.texels.iter_mut().zip(&actual.texels) {
        for (channel, other) in texel[..3].iter_mut().zip(other) {
            *channel = channel.abs_diff(*other).saturating_mul(4);
        }
    }
    difference
}

pub fn golden(folder: &str, name: &str) -> Picture {
    Picture::read(&golden_path(folder, name))
}

fn golden_path(folder: &str, name: &str) -> PathBuf {
    Path::new(folder).join(format!("{name}.png"))
}

pub fn output() -> PathBuf {
    // The package is in a folder of the workspace.
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/golden")
}

/// Prints a line, bypassing the test harness's capture.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
