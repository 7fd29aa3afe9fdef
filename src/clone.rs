//! `Clone` whose `clone_from` reuses the memory of its fields, which a derived one does not.

/// Implements `Clone` field by field.
macro_rules! clone_fields {
    ($($name:ident { $($field:tt),* $(,)? })*) => {$(
        impl Clone for $name {
            fn clone(&self) -> Self {
                Self { $($field: Clone::clone(&self.$field)),* }
            }

            fn clone_from(&mut self, from: &Self) {
                $(Clone::clone_from(&mut self.$field, &from.$field);)*
            }
        }
    )*};
}

pub(crate) use clone_fields;
