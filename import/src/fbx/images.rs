//! Images of textures: embedded in the file, or in its folder.

use crate::budget::Budget;
use crate::fault::check_cap;
use crate::folder::Files;
use crate::gltf::image::decode;
use crate::gltf::resources::{check_path, load_path};
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::mesh::Image;

pub(super) struct Decoder<'a, 'b> {
    pub(super) budget: &'a mut Budget<'b>,
    pub(super) files: &'a Files<'a>,
}

impl Decoder<'_, '_> {
    pub(super) fn decode(&mut self, texture: &ufbx::Texture) -> Result<Image> {
        let name = name(texture);
        let object = &Object::new(ObjectKind::Image, texture.file_index as usize, "");
        let cap = self.budget.options.limits.resource_bytes;
        if !texture.content.is_empty() {
            let asked = texture.content.len() as u64;
            check_cap(|| object.clone(), "bytes of one resource", asked, cap)?;
            return decode(&texture.content, name, self.budget, object);
        }
        let mut result = Err(Error::asset(
            object.clone(),
            AssetFault::Missing("a file name"),
        ));
        for path in paths(texture) {
            result = load_path(&path, object, cap, self.files);
            if result.is_ok() {
                break;
            }
        }
        decode(&result?, name, self.budget, object)
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
