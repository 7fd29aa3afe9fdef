//! Parsing the text of a state machine allocates at most in proportion to its length.

use crate::counting::{allocated_bytes, measure};
use crate::reference::words::Says;
use throng::state_machine::StateMachineDesc;

/// An unknown key of any length, with a long list in it.
///
/// Writing out the path of each element would take 60 GB.
#[test]
fn text_with_long_keys() {
    let _measurement = measure();
    let (key, list) = ("k".repeat(400_000), "0,".repeat(300_000));
    let text = format!("[[layer]]\nname = \"body\"\nentry = \"stand\"\n{key} = [{list}]\n");
    let before = allocated_bytes();
    let error = StateMachineDesc::from_toml("long.toml", &text).unwrap_err();
    let bytes = allocated_bytes() - before;
    assert!(bytes < 1000 * text.len(), "{bytes}");
    error.says("long.toml:4: layer 0 \"body\"…");
}
