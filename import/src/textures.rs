//! Textures of formats that have only the names of image files.

use super::budget::Budget;
use super::fault::cut;
use super::folder::Files;
use throng::error::{Object, ObjectKind, Result};
use throng::import::{RawCharacter, Repair, RepairKind};
use throng::mesh::{Material, TextureRef};

/// The base colour of a material without a texture: a grey that shows light and shadow.
const NEUTRAL: [f32; 4] = [0.5, 0.5, 0.5, 1.0];

/// Loads the textures that materials name. `names` has the material and the name of the file.
///
/// A texture that is missing or cannot be decoded is left out. A material that has no texture then,
/// and no vertex colours, becomes neutral.
pub(super) fn load(
    raw: &mut RawCharacter,
    names: &[(usize, &str)],
    budget: &mut Budget<'_>,
    files: &Files<'_>,
    repairs: &mut Vec<Repair>,
) -> Result<()> {
    let mut is_used = vec![false; raw.materials.len()];
    let mut has_colors = vec![false; raw.materials.len()];
    let mut has_none = false;
    for primitive in &raw.primitives {
        match primitive.material {
            Some(material) => {
                is_used[material] = true;
                has_colors[material] |= !primitive.colors.is_empty();
            }
            None => has_none |= primitive.colors.is_empty(),
        }
    }
    let mut images = Images::default();
    for (material, name) in names.iter().filter(|(material, _)| is_used[*material]) {
        let at = Object::new(
            ObjectKind::Material,
            *material,
            format!("texture {}", cut(name)),
        );
        match images.load(name, budget, files, &at, raw)? {
            Ok(texture) => raw.materials[*material].base_color_texture = texture,
            Err(why) => Repair::note(repairs, &at, why, 1),
        }
    }
    for (material, has_colors) in raw.materials.iter_mut().zip(has_colors) {
        if material.base_color_texture.is_none() && !has_colors {
            material.base_color = NEUTRAL;
        }
    }
    if has_none {
        let neutral = raw.materials.len();
        raw.materials.push(Material::flat(NEUTRAL));
        for primitive in &mut raw.primitives {
            if primitive.material.is_none() && primitive.colors.is_empty() {
                primitive.material = Some(neutral);
            }
        }
    }
    Ok(())
}

/// A texture, the reason why it is lost, or `None` if no images are wanted.
type Loaded = Result<Option<TextureRef>, RepairKind>;

/// The images so far, by the name in the file.
#[derive(Default)]
struct Images {
    #[cfg(feature = "gltf")]
    of_name: std::collections::HashMap<String, Result<u32, throng::error::AssetFault>>,
}

/// Without `gltf`, nothing decodes images.
#[cfg(not(feature = "gltf"))]
#[allow(clippy::unused_self, reason = "as with the feature")]
impl Images {
    fn load(
        &mut self,
        _: &str,
        _: &mut Budget<'_>,
        _: &Files<'_>,
        _: &Object,
        _: &mut RawCharacter,
    ) -> Result<Loaded> {
        Ok(Err(RepairKind::LeftOut))
    }
}

#[cfg(feature = "gltf")]
mod decoded {
    use super::{Images, Loaded};
    use crate::budget::Budget;
    use crate::folder::Files;
    use crate::gltf::image;
    use crate::gltf::images::lost;
    use crate::gltf::resources::load_path;
    use std::collections::HashSet;
    use std::io::ErrorKind;
    use throng::error::{AssetFault, Object, Result};
    use throng::import::RawCharacter;
    use throng::import::RepairKind;
    use throng::mesh::{Image, TextureRef};

    /// The most folders of a name that are looked for. Names may start at the root of a project.
    const MOST_FOLDERS: usize = 8;
    /// The extensions of images that may stand in for one of another format.
    const DECODED: [&str; 5] = ["png", "jpg", "jpeg", "webp", "ktx2"];

    impl Images {
        pub(super) fn load(
            &mut self,
            name: &str,
            budget: &mut Budget<'_>,
            files: &Files<'_>,
            at: &Object,
            raw: &mut RawCharacter,
        ) -> Result<Loaded> {
            if !(budget.options.meshes && budget.options.images) {
                candidates(name).iter().for_each(|path| files.list(path));
                return Ok(Ok(None));
            }
            let known = match self.of_name.get(name) {
                Some(known) => known.clone(),
                None => {
                    let found = find(name, budget, files, at)?.map(|image| {
                        raw.images.push(image);
                        raw.images.len() as u32 - 1
                    });
                    self.of_name.insert(name.into(), found.clone());
                    found
                }
            };
            Ok(match known {
                Ok(image) => Ok(Some(TextureRef::new(image))),
                Err(why) => Err(RepairKind::ImageLeftOut(Box::new(why))),
            })
        }
    }

    /// The first file that can be decoded. Otherwise the reason for the first one that is there.
    fn find(
        name: &str,
        budget: &mut Budget<'_>,
        files: &Files<'_>,
        at: &Object,
    ) -> Result<Result<Image, AssetFault>> {
        let cap = budget.options.limits.resource_bytes;
        let mut failed: Option<AssetFault> = None;
        let is_missing = |why: &AssetFault| match why {
            AssetFault::Unreadable { kind, .. } => *kind == ErrorKind::NotFound,
            _ => false,
        };
        for path in candidates(name) {
            let base = path.rsplit('/').next().unwrap_or(&path);
            let bytes = load_path(&path, at, cap, files);
            let image = bytes.and_then(|bytes| image::decode(&bytes, base, budget, at));
            match image {
                Ok(image) => return Ok(Ok(image)),
                Err(error) => {
                    let why = lost(error)?;
                    let is_better = |before| is_missing(before) && !is_missing(&why);
                    if failed.as_ref().is_none_or(is_better) {
                        failed = Some(why);
                    }
                }
            }
        }
        Ok(Err(failed.unwrap_or(AssetFault::Missing("a file name"))))
    }

    /// The files that a name may mean, in the folder of the model: the path, the path without its
    /// first folders, and the same with the extensions of other formats.
    fn candidates(name: &str) -> Vec<String> {
        let name = name.trim().replace('\\', "/");
        // The parts up to the last of these cannot be followed.
        let is_step = |part: &&str| matches!(*part, "" | "." | "..") || part.contains(':');
        let parts: Vec<&str> = name.split('/').collect();
        let first = parts.iter().rposition(is_step).map_or(0, |at| at + 1);
        let first = first.max(parts.len().saturating_sub(MOST_FOLDERS + 1));
        let mut all: Vec<String> = (first..parts.len())
            .map(|start| parts[start..].join("/"))
            .collect();
        let others = all.iter().flat_map(|path| {
            let stem = path.rsplit_once('.').map_or(&**path, |(stem, _)| stem);
            DECODED.iter().map(move |one| format!("{stem}.{one}"))
        });
        let others: Vec<String> = others.collect();
        all.extend(others);
        let mut seen = HashSet::new();
        all.retain(|path| seen.insert(path.clone()));
        all
    }
}
