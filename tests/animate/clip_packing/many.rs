//! Many clips are packed at once as one by one, and the observer is told of each.

use std::sync::{Arc, Mutex};
use throng::Error;
use throng::clip::{Clip, ClipOptions, PackObserver};
use throng::import::{ImportOptions, RawCharacter};

#[test]
fn clips_are_packed_together_as_one_by_one_and_each_is_told() {
    let curves_only = ImportOptions::curves_only();
    let character = RawCharacter::mannequin().build(&curves_only).unwrap();
    let (curves, options) = (character.curves(), ClipOptions::default());
    let told = Mutex::new(Vec::new());
    let packed = character.pack(curves, &options, |clip, done, total| {
        assert_eq!(total, curves.len());
        let mut told = told.lock().unwrap();
        told.push((done, clip.to_owned()));
    });
    let packed = packed.unwrap();
    let one_by_one: Vec<Clip> = curves
        .iter()
        .map(|curve| Clip::new(&character, curve, &options).unwrap())
        .collect();
    assert_eq!(packed, one_by_one);
    let mut told = told.into_inner().unwrap();
    told.sort();
    let numbers: Vec<usize> = told.iter().map(|(done, _)| *done).collect();
    assert_eq!(numbers, (1..=curves.len()).collect::<Vec<_>>());
    let mut names: Vec<&str> = told.iter().map(|(_, name)| name.as_str()).collect();
    let mut known: Vec<&str> = curves.iter().map(|curve| curve.name()).collect();
    names.sort_unstable();
    known.sort_unstable();
    assert_eq!(names, known);
    let bad = ClipOptions {
        error_m: Some(-1.0),
        ..options
    };
    let error = character.pack(curves, &bad, |_, _, _| panic!("nothing is packed"));
    assert!(matches!(error, Err(Error::Argument { .. })));
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
