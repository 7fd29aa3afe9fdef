//! Objects of glTF that all parts of an export write, and errors about them.

use serde_json::{Map, Value};
use throng::glam::Affine3A;
use throng::skeleton::Skeleton;
use throng::{Error, Result};

/// Adds the object that an error is about.
pub(crate) fn at(what: &'static str, index: usize) -> impl Fn(Error) -> Error {
    move |why| Error::At {
        what,
        index: index as u64,
        name: Box::default(),
        why: Box::new(why),
    }
}

/// The model pose of the rest pose.
///
/// # Errors
/// Never fails, because the slices have the right lengths.
pub(crate) fn rest_model_pose(skeleton: &Skeleton) -> Result<Vec<Affine3A>> {
    let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
    skeleton.model_pose(&skeleton.rest_pose(), &mut model)?;
    Ok(model)
}

/// An object with a name, or an empty one. glTF has no empty names.
pub(crate) fn named(name: &str) -> Value {
    let mut object = Map::new();
    if !name.is_empty() {
        object.insert("name".into(), name.into());
    }
    object.into()
}

/// Adds the lists that have elements. glTF has no empty lists.
pub(crate) fn put_lists<const N: usize>(root: &mut Value, lists: [(&str, Vec<Value>); N]) {
    for (name, list) in lists {
        if !list.is_empty() {
            root[name] = list.into();
        }
    }
}
