//! What VRM adds to a character survives saving.

use super::files::{import, vrm0, vrm1};
use throng::character::Character;

#[test]
fn saved_characters_keep_everything() {
    for file in [vrm0(), vrm1()] {
        let character = import(&file).character;
        assert!(!character.springs().is_empty() && !character.expressions().is_empty());
        let loaded = Character::from_bytes(&character.to_bytes()).unwrap();
        assert_eq!(loaded, character);
        assert_eq!(loaded.springs(), character.springs());
        assert_eq!(loaded.expressions(), character.expressions());
        assert_eq!(loaded.skeleton().roles(), character.skeleton().roles());
    }
}
