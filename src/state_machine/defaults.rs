//! Default values of fields, which text may leave out.

pub(super) fn one() -> f32 {
    1.0
}

pub(super) fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
pub(super) fn is_one(value: &f32) -> bool {
    *value == 1.0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
pub(super) fn is_yes(value: &bool) -> bool {
    *value
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
