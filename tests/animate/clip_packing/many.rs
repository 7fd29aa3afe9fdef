//! Many clips are packed at once as one by one, and the observer is told of each.

use std::sync::{Arc, Mutex};
use throng::clip::{Clip, ClipOptions, PackObserver};
use throng::import::{ImportOptions, RawCharacter};

#[test]
fn clips_are_packed_together_as_one_by_one_and_each_is_told() {
    let curves_only = ImportOptions::curves_only();
    let character = RawCharacter::mannequin().build(&curves_only).unwrap();
    let (curves, packing) = (character.curves(), ClipOptions::default());
    let one_by_one: Vec<Clip> = curves
        .iter()
        .map(|curve| Clip::new(&character, curve, &packing).unwrap())
        .collect();
    let told = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&told);
    let options = ImportOptions {
        packing: Some(packing),
        on_packed: Some(PackObserver::new(move |clip: &str, done, total| {
            to.lock().unwrap().push((done, total, clip.to_owned()));
        })),
        ..ImportOptions::default()
    };
    let packed = RawCharacter::mannequin().build(&options).unwrap();
    assert_eq!(packed.clips(), one_by_one);
    let mut told = told.lock().unwrap().clone();
    told.sort();
    let numbers: Vec<_> = told
        .iter()
        .map(|(done, total, _)| (*done, *total))
        .collect();
    let count = curves.len();
    assert_eq!(
        numbers,
        (1..=count).map(|done| (done, count)).collect::<Vec<_>>()
    );
    let mut names: Vec<&str> = told.iter().map(|(_, _, name)| name.as_str()).collect();
    let mut known: Vec<&str> = curves.iter().map(|curve| curve.name()).collect();
    names.sort_unstable();
    known.sort_unstable();
    assert_eq!(names, known);
    let bad = ImportOptions {
        packing: Some(ClipOptions {
            error_m: Some(-1.0),
            ..packing
        }),
        on_packed: Some(PackObserver::new(|_, _, _| panic!("nothing is packed"))),
        ..ImportOptions::default()
    };
    let error = RawCharacter::mannequin()
        .build(&bad)
        .unwrap_err()
        .to_string();
    assert!(error.contains("error_m"), "{error}");
}

#[test]
fn imports_tell_of_what_they_pack() {
    for (options, tells) in [
        (ImportOptions::default(), true),
        (ImportOptions::curves_only(), false),
    ] {
        let told = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&told);
        let options = ImportOptions {
            on_packed: Some(PackObserver::new(move |_, done, total| {
                to.lock().unwrap().push((done, total));
            })),
            ..options
        };
        let character = RawCharacter::mannequin().build(&options).unwrap();
        let mut told = told.lock().unwrap().clone();
        told.sort_unstable();
        let count = if tells { character.clips().len() } else { 0 };
        let all: Vec<_> = (1..=count).map(|done| (done, count)).collect();
        assert_eq!(told, all);
    }
}
