//! Images of textures: embedded in the file, or in its folder.

use crate::error::{AssetFault, Object, ObjectKind, Result};
use crate::import::budget::Budget;
use crate::import::fault::{check_cap, fault_of, object};
use crate::import::folder::Files;
use crate::import::gltf::image::decode;
use crate::import::gltf::lost_images::LostImages;
use crate::import::gltf::resources::{check_path, load_path};
use crate::import::gltf::texture::checkerboard;
use crate::mesh::Image;
use std::collections::HashMap;

/// The images that materials use so far.
pub(super) struct Images<'a, 'b> {
    pub(super) all: Vec<Image>,
    /// By the index of the texture's file. `None`: it is missing or cannot be decoded.
    numbers: HashMap<u32, Option<u32>>,
    placeholder: Option<u32>,
    pub(super) lost: LostImages,
    budget: &'a mut Budget<'b>,
    files: &'a Files<'a>,
}

impl<'a, 'b> Images<'a, 'b> {
    pub(super) fn new(budget: &'a mut Budget<'b>, files: &'a Files<'a>) -> Self {
        Self {
            all: Vec::new(),
            numbers: HashMap::new(),
            placeholder: None,
            lost: LostImages::default(),
            budget,
            files,
        }
    }

    /// Decodes the image of a texture, unless that was done before. `None` if it is missing or
    /// cannot be decoded.
    pub(super) fn load(&mut self, texture: &ufbx::Texture) -> Result<Option<u32>> {
        if let Some(known) = self.numbers.get(&texture.file_index) {
            return Ok(*known);
        }
        let index = texture.file_index as usize;
        let object = object(ObjectKind::Image, index, "");
        let image = self.decode(texture, &object);
        let image = self.lost.check(index, image)?;
        let number = image.map(|image| self.append(image));
        self.numbers.insert(texture.file_index, number);
        Ok(number)
    }

    fn decode(&mut self, texture: &ufbx::Texture, object: &Object) -> Result<Image> {
        let name = name(texture);
        let cap = self.budget.options.max_resource_bytes;
        if !texture.content.is_empty() {
            let asked = texture.content.len() as u64;
            check_cap(|| object.clone(), "bytes of one resource", asked, cap)?;
            return decode(&texture.content, name, self.budget, object);
        }
        let mut result = Err(fault_of(object.clone(), AssetFault::Missing("a file name")));
        for path in paths(texture) {
            result = load_path(&path, object, cap, self.files);
            if result.is_ok() {
                break;
            }
        }
        decode(&result?, name, self.budget, object)
    }

    /// The image that all colours share whose own image was not read, here that of `texture`.
    pub(super) fn placeholder(&mut self, texture: &ufbx::Texture) -> u32 {
        self.lost.replace(texture.file_index as usize);
        match self.placeholder {
            Some(number) => number,
            None => {
                let number = self.append(checkerboard());
                *self.placeholder.insert(number)
            }
        }
    }

    fn append(&mut self, image: Image) -> u32 {
        self.all.push(image);
        self.all.len() as u32 - 1
    }
}

/// Lists the files of all textures, whether materials use them or not.
pub(super) fn list(textures: &[ufbx::Ref<ufbx::Texture>], files: &Files<'_>) {
    let outside = textures.iter().filter(|texture| texture.content.is_empty());
    for path in outside.flat_map(|texture| paths(texture)) {
        if check_path(&path).is_ok() {
            files.list(&path);
        }
    }
}

/// The paths at which the image of a texture may be. Most files have absolute paths, or paths from
/// the folder of another machine.
fn paths(texture: &ufbx::Texture) -> impl Iterator<Item = String> {
    let relative = texture.relative_filename.replace('\\', "/");
    let paths = [relative, name(texture).to_owned()];
    paths.into_iter().filter(|path| !path.is_empty())
}

/// The file name of a texture, or an empty one.
fn name(texture: &ufbx::Texture) -> &str {
    let name = base_name(&texture.relative_filename).or(base_name(&texture.filename));
    name.unwrap_or_default()
}

/// The part of a path after its last slash or backslash, if there is one.
fn base_name(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next();
    name.filter(|name| !name.is_empty())
}
