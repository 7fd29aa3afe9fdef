//! Images that are missing or cannot be decoded, and what became of their textures.

use crate::error::{AssetFault, Error, ObjectKind, Result};
use crate::import::fault::object;
use crate::import::repair::{Repair, RepairKind, note};
use std::collections::BTreeMap;

/// The images that are missing or cannot be decoded, by their index in the file.
#[derive(Default)]
pub(in crate::import) struct LostImages(BTreeMap<usize, LostImage>);

struct LostImage {
    why: AssetFault,
    /// True if the placeholder stands for it in a material.
    is_replaced: bool,
    /// True if a material lost a texture.
    is_left_out: bool,
}

impl LostImages {
    /// The image, or `None` if it is missing or cannot be decoded. References that break the format
    /// and exceeded caps stay errors.
    pub(in crate::import) fn check<T>(
        &mut self,
        index: usize,
        image: Result<T>,
    ) -> Result<Option<T>> {
        match image {
            Ok(image) => Ok(Some(image)),
            Err(Error::Asset {
                file,
                why:
                    why @ (AssetFault::Image(_)
                    | AssetFault::Missing(_)
                    | AssetFault::Resource { .. }
                    | AssetFault::Unreadable { .. }),
                ..
            }) if file.is_empty() => {
                let lost = LostImage {
                    why,
                    is_replaced: false,
                    is_left_out: false,
                };
                self.0.insert(index, lost);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Notes that the placeholder stands for this image in a material.
    pub(in crate::import) fn replace(&mut self, index: usize) {
        if let Some(lost) = self.0.get_mut(&index) {
            lost.is_replaced = true;
        }
    }

    /// Notes that a material has no texture in place of this image.
    pub(in crate::import) fn leave_out(&mut self, index: usize) {
        if let Some(lost) = self.0.get_mut(&index) {
            lost.is_left_out = true;
        }
    }

    /// Reports the images, in the order of the file.
    pub(in crate::import) fn report(self, repairs: &mut Vec<Repair>) {
        for (index, lost) in self.0 {
            let object = object(ObjectKind::Image, index, "");
            let why = Box::new(lost.why);
            let replaced = RepairKind::ImageReplaced(why.clone());
            note(repairs, &object, replaced, lost.is_replaced.into());
            let left_out = RepairKind::ImageLeftOut(why);
            note(repairs, &object, left_out, lost.is_left_out.into());
        }
    }
}
