//! Typed indices behave like the numbers that they hold, whatever they index.

use std::collections::HashSet;
use throng::Id;
use throng::mesh::{Expression, MorphWeight};
use throng::skeleton::Joint;

#[test]
fn ids_order_and_hash_by_index() {
    let [a, b]: [Id<Joint>; 2] = [3, 7].map(Id::new);
    assert!(a < b && a == Id::from(3) && Id::<Joint>::default() == Id::new(0));
    assert_eq!(HashSet::from([a, b, a]).len(), 2);
    assert_eq!(
        (u16::from(b), u64::from(b), usize::from(b), b.index()),
        (7, 7, 7, 7)
    );
}

/// Error messages and logs show what an id is of, without the path and generics of the type.
#[test]
fn ids_print_what_they_index() {
    assert_eq!(format!("{:?}", Id::<Joint>::new(3)), "Id<Joint>(3)");
    let generic = Id::<Expression<Id<MorphWeight>>>::new(65_535);
    assert_eq!(format!("{generic:?}"), "Id<Expression>(65535)");
}
