//! Limits of an export.

use super::exported;
use crate::reference::words::Says;
use throng::error::Error;
use throng_export::ExportOptions;

#[test]
fn a_file_that_is_too_large_is_an_error() {
    let mannequin = throng::builtin::mannequin().unwrap();
    let whole = exported(&mannequin).bytes.len() as u64;
    let with = |max_bytes| {
        let options = ExportOptions {
            max_bytes,
            ..ExportOptions::default()
        };
        throng_export::glb(&mannequin, &options)
    };
    assert_eq!(with(whole).unwrap().bytes.len() as u64, whole);
    let error = with(1000).unwrap_err();
    let words = "primitive 0: bytes of a binary glTF file: 49404 requested, at most 1000 allowed";
    assert_eq!(error.to_string(), words);
    let Error::Capacity { asked, cap, .. } = with(whole - 1).unwrap_err() else {
        panic!("another error");
    };
    assert_eq!((asked, cap), (whole, whole - 1));
    let mut named = std::collections::BTreeSet::new();
    for part in 1..40 {
        match with(whole * part / 40) {
            Err(Error::At { what, why, .. }) => {
                why.says("…: … requested, at most … allowed");
                named.insert(what);
            }
            Err(Error::Capacity { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(
        named.contains("primitive") && named.contains("clip"),
        "{named:?}"
    );
}
