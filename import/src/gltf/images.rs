//! The images that materials use, each decoded once.
//!
//! A missing or broken image does not reject a character: a checkerboard replaces its colours.

use std::collections::{BTreeMap, HashMap};
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::import::{Repair, RepairKind};
use throng::mesh::Image;

/// The images so far.
#[derive(Default)]
pub(crate) struct Images {
    all: Vec<Image>,
    /// By the image's index in the file. `None`: it is missing or cannot be decoded.
    numbers: HashMap<usize, Option<u32>>,
    placeholder: Option<u32>,
    /// The images that are missing or cannot be decoded, by their index in the file.
    lost: BTreeMap<usize, LostImage>,
}

struct LostImage {
    why: AssetFault,
    /// True if the placeholder replaces it in a material.
    is_replaced: bool,
    /// True if a material lost a texture.
    is_left_out: bool,
}

/// The reason why an image is missing or cannot be decoded. References that break the format and
/// exceeded caps stay errors.
pub(crate) fn lost(error: Error) -> Result<AssetFault> {
    match error {
        Error::Asset {
            file,
            why:
                why @ (AssetFault::Image(_)
                | AssetFault::Missing(_)
                | AssetFault::Resource { .. }
                | AssetFault::Unreadable { .. }),
            ..
        } if file.is_empty() => Ok(why),
        error => Err(error),
    }
}

impl Images {
    /// The number of the file's image at `index`, which `load` decodes unless that was done before.
    /// `None` if it is missing or cannot be decoded.
    pub(crate) fn get(
        &mut self,
        index: usize,
        load: impl FnOnce() -> Result<Image>,
    ) -> Result<Option<u32>> {
        if let Some(known) = self.numbers.get(&index) {
            return Ok(*known);
        }
        let number = match load() {
            Ok(image) => Some(self.append(image)),
            Err(error) => {
                let image = LostImage {
                    why: lost(error)?,
                    is_replaced: false,
                    is_left_out: false,
                };
                self.lost.insert(index, image);
                None
            }
        };
        self.numbers.insert(index, number);
        Ok(number)
    }

    /// The image that all colours share whose own image was not read, here the one at `index`.
    pub(crate) fn placeholder(&mut self, index: usize) -> u32 {
        if let Some(lost) = self.lost.get_mut(&index) {
            lost.is_replaced = true;
        }
        match self.placeholder {
            Some(number) => number,
            None => {
                let number = self.append(checkerboard());
                *self.placeholder.insert(number)
            }
        }
    }

    /// Notes that a material has no texture instead of this image.
    pub(crate) fn leave_out(&mut self, index: usize) {
        if let Some(lost) = self.lost.get_mut(&index) {
            lost.is_left_out = true;
        }
    }

    fn append(&mut self, image: Image) -> u32 {
        self.all.push(image);
        self.all.len() as u32 - 1
    }

    /// The images. Reports those that were lost, in the order of the file.
    pub(crate) fn finish(self, repairs: &mut Vec<Repair>) -> Vec<Image> {
        for (index, lost) in self.lost {
            let object = Object::new(ObjectKind::Image, index, "");
            let why = Box::new(lost.why);
            let replaced = RepairKind::ImageReplaced(why.clone());
            Repair::note(repairs, &object, replaced, lost.is_replaced.into());
            let left_out = RepairKind::ImageLeftOut(why);
            Repair::note(repairs, &object, left_out, lost.is_left_out.into());
        }
        self.all
    }
}

/// The width and height of the placeholder, in texels.
const PLACEHOLDER_SIZE: u32 = 16;
/// The width of a square of its checkerboard.
const PLACEHOLDER_SQUARE: u32 = 2;

/// The placeholder: magenta and black squares.
fn checkerboard() -> Image {
    let texel = |at: u32| {
        let (x, y) = (at % PLACEHOLDER_SIZE, at / PLACEHOLDER_SIZE);
        match (x / PLACEHOLDER_SQUARE + y / PLACEHOLDER_SQUARE) % 2 {
            0 => [255, 0, 255, 255],
            _ => [0, 0, 0, 255],
        }
    };
    let texels = (0..PLACEHOLDER_SIZE * PLACEHOLDER_SIZE).flat_map(texel);
    let rgba = texels.collect();
    Image::new("placeholder", PLACEHOLDER_SIZE, PLACEHOLDER_SIZE, rgba)
}
