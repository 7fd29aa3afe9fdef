//! The names that errors list.

use throng::Error;
use throng::skeleton::{Joint, Skeleton, Transform};

#[test]
fn names_are_listed_and_missing_ones_counted() {
    let long = "x".repeat(299);
    for (names, expected) in [
        (&[][..], "none"),
        (&["Walk", "Run"], "Walk, Run"),
        (
            &[""],
            "1 without a name (select them by id, such as Id::new(0))",
        ),
        (
            &["", "Walk", ""],
            "Walk, 2 without a name (select them by id, such as Id::new(0))",
        ),
        (&[&long, "Run", ""], &*format!("{long}, …")),
    ] {
        let joint = |name: &&str| Joint {
            name: (*name).into(),
            parent: None,
            rest: Transform::IDENTITY,
        };
        let skeleton = Skeleton::new(names.iter().map(joint).collect()).unwrap();
        match skeleton.joint("Fly") {
            Err(Error::UnknownName { name, known, .. }) => {
                assert_eq!((&*name, &*known), ("Fly", expected));
            }
            other => panic!("{other:?}"),
        }
    }
}
