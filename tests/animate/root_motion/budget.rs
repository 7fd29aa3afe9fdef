//! The work and memory that several extractions share.

use throng::Error;
use throng::character::Character;
use throng::import::{ImportOptions, RawCharacter};
use throng::motion::{RootMotion, RootMotionBudget, RootMotionOptions};

/// Clips are rejected once earlier ones have used up the budget, and not before.
#[test]
fn many_clips_share_a_budget() {
    let options = ImportOptions::curves_only();
    let character = RawCharacter::mannequin().build(&options).unwrap().character;
    let walk = &character.curves()[1];
    let options = RootMotionOptions {
        error_m: Some(1e-6),
        ..RootMotionOptions::default()
    };
    let run = |character: &Character, mut budget: RootMotionBudget| {
        for number in 0..1000 {
            if let Err(why) = RootMotion::extract_within(character, walk, &options, &mut budget) {
                return (number, why);
            }
        }
        panic!("nothing was refused")
    };
    let mut one = RootMotionBudget::CLIP;
    RootMotion::extract_within(&character, walk, &options, &mut one).unwrap();
    let took = RootMotionBudget::CLIP.products - one.products;
    let keys = RootMotionBudget::CLIP.keys - one.keys;
    assert!(took > 100, "{took}");
    let products = 10 * took + took / 2;
    let (number, why) = run(&character, RootMotionBudget { products, ..one });
    assert_eq!(number, 10, "{why}");
    assert!(matches!(why, Error::Capacity { .. }), "{why}");
    if keys > 0 {
        let few = RootMotionBudget {
            keys: 3 * keys,
            ..RootMotionBudget::DESCRIPTION
        };
        let (number, why) = run(&character, few);
        assert_eq!(number, 3, "{why}");
        assert!(
            why.to_string().contains("keys of all root motions"),
            "{why}"
        );
    }
}
