//! VRM's additions to a character survive saving.

use super::files::{import, vrm0, vrm1};
use super::hostile::play;
use crate::reference::signed::sign;
use throng::character::Character;

#[test]
fn saved_characters_keep_everything() {
    for file in [vrm0(), vrm1()] {
        let character = import(&file).character;
        assert!(!character.springs().chains.is_empty() && !character.expressions().is_empty());
        let loaded = Character::from_bytes(&character.to_bytes(), &Default::default()).unwrap();
        assert_eq!(loaded, character);
        assert_eq!(loaded.springs(), character.springs());
        assert_eq!(loaded.expressions(), character.expressions());
        assert_eq!(loaded.skeleton().roles(), character.skeleton().roles());
    }
}

#[test]
fn altered_bytes_give_an_error_or_a_sound_character() {
    let character = import(&vrm1()).character;
    let bytes = character.to_bytes();
    // Expressions, spring bones and roles come last.
    let (mut good, mut bad) = (0, 0);
    for at in bytes.len() - 1200..bytes.len() {
        for value in [0, 1, 19, 0x7F, 0xFF] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            sign(&mut bytes);
            match Character::from_bytes(&bytes, &Default::default()) {
                Ok(loaded) => {
                    good += 1;
                    play(&loaded);
                }
                Err(_) => bad += 1,
            }
        }
    }
    assert!(good > 100 && bad > 100, "{good} loaded, {bad} refused");
}
