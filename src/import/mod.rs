//! Import of files to characters.
//!
//! [`file()`] imports a file of any format, and [`bytes()`] imports the bytes of one. Each format
//! has a reader of its own, under a Cargo feature. It checks every count, index and range before it
//! reads, and fills a [`RawCharacter`] with the contents of the file. [`RawCharacter::build`]
//! checks it, repairs harmless faults, lists the repairs and makes a
//! [`Character`](crate::character::Character). Code that generates characters starts from a
//! [`RawCharacter`] too: [`RawPrimitive::build_rigid`] makes a character from a static mesh, and
//! [`RawCharacter::from_skeleton`] one from a skeleton alone.
//!
//! [`Character::add_clips_file`](crate::character::Character::add_clips_file) adds clips from other
//! files, of any format, to a character. It matches joints by name.
//!
//! Contents that are left out, as listed below, are each reported as a [`Repair`].
//!
//! # glTF
//!
//! Version 2.0, as `.glb`, or as `.gltf` with data URIs or other files. Cargo feature `gltf`.
//!
//! Contents that are read:
//!
//! - The meshes of the chosen scene ([`ImportOptions::scene`]), with all sets of joints and
//!   weights, normals, tangents and one set of colours.
//! - The texture coordinates that the material's textures name (`TEXCOORD_0` if there are none).
//!   The first set that one of [`Material::textures`](crate::mesh::Material::textures) names
//!   becomes [`uvs`](crate::mesh::Primitive::uvs), the second
//!   [`uvs1`](crate::mesh::Primitive::uvs1). A texture that uses a third set is left out.
//! - Morph targets of positions, normals and tangents, with their weights and names
//!   (`extras.targetNames` of the mesh).
//! - Skins, even if their joints are not in the scene.
//! - All animations of translation, rotation, scale and weights.
//! - Metallic-roughness materials with their textures (PNG, JPEG, WebP).
//!
//! A mesh on a node without a skin follows that node rigidly. A mesh with a skin but without joints
//! and weights does so too, with a [`Repair`]. A primitive without a material gets the format's
//! default, which is white, metallic and rough.
//!
//! Contents that are left out:
//!
//! - Points and lines.
//! - Morph targets of other attributes, or of attributes that the primitive does not have.
//! - Textures of used materials without an image.
//! - `KHR_materials_*` extensions of used materials that are not read and change how a surface
//!   looks.
//! - Trailing indices that make no full triangle.
//! - The node that [`export`](crate::export) adds above several roots, without a report.
//! - Animation channels without a node, of a path that glTF 2.0 does not have, or with a pointer to
//!   anything but a property of a node.
//!
//! Images that are missing or cannot be decoded are replaced or left out; see
//! [`RepairKind::ImageReplaced`] and [`RepairKind::ImageLeftOut`].
//!
//! Extensions:
//!
//! - `KHR_mesh_quantization`, `KHR_texture_transform`, `KHR_materials_emissive_strength` and
//!   `KHR_materials_unlit` are read.
//! - `KHR_animation_pointer` is read if it points to a property of a node that glTF 2.0 can
//!   animate.
//! - `EXT_mesh_gpu_instancing` becomes [`Imported::spawn_points`].
//! - `KHR_node_visibility`: meshes of invisible nodes are left out; if all are, none is.
//! - `KHR_materials_pbrSpecularGlossiness` is converted; see [`RepairKind::SpecularGlossiness`].
//! - `EXT_meshopt_compression` and `KHR_meshopt_compression` need the Cargo feature `meshopt`,
//!   `KHR_draco_mesh_compression` needs `draco`, and `EXT_texture_webp` needs `webp`. A compression
//!   without its feature is an error,
//!   [`AssetFault::NoDecoder`](crate::error::AssetFault::NoDecoder), unless it is optional and the
//!   file has uncompressed data too.
//! - Of VRM 0.x and 1.0, humanoid bones ([`Skeleton::roles`](crate::skeleton::Skeleton::roles)),
//!   expressions ([`Character::expressions`](crate::character::Character::expressions)) and spring
//!   bones ([`Character::springs`](crate::character::Character::springs)). A character of version
//!   0.x is turned so that it faces +Z.
//! - A file may also require extensions without which the model can still be drawn, such as those
//!   of other textures, finer shading and lights. `docs/formats.md` lists them.
//! - Any other required extension is an error. Any other optional one is ignored.
//!
//! Indices, counts and ranges are checked in the whole file, values only in the parts that are
//! used. Alignment is not checked, because everything is read byte by byte.
//!
//! # FBX
//!
//! Binary and text, versions 5 to 7.7. Cargo feature `fbx`.
//!
//! Units and axes are converted to metres and +Y up. Lengths in metres are part of vertices and
//! translations, so no node gets a scale from the conversion.
//!
//! Contents that are read:
//!
//! - Meshes with their polygons, normals, tangents, the first set of colours and the first set of
//!   texture coordinates, and one primitive for each material. Geometric transforms are part of the
//!   vertices.
//! - Skins, with any number of influences. Vertices without weights follow the mesh's node. All
//!   others follow the joints alone, as in glTF, and ignore the node's transform. Maya also applies
//!   the node's movement since binding. Instances of a skinned mesh are therefore apart in Maya,
//!   but coincide here, which is reported ([`RepairKind::SkinnedInstances`]).
//! - Blend shapes, including shapes in between. Each shape has a morph weight.
//! - All takes, each as one animation, in the range of the take. Layers of a take are combined.
//! - Materials, as far as [`Material`](crate::mesh::Material) goes, with their textures (PNG, JPEG)
//!   for base colour, emission, normals and occlusion. Textures may be embedded. Otherwise they are
//!   other files, found by the relative path in the file or by the name alone.
//!
//! Contents that are left out:
//!
//! - Points and lines, NURBS and geometry caches.
//! - Meshes of invisible nodes, if another node is visible.
//! - Second skins of a mesh.
//! - Textures for roughness, metalness and opacity.
//!
//! Cameras, lights, constraints and [`ImportOptions::scene`] are ignored. So is the skinning method
//! of a skin: the engine chooses the [`SkinningMethod`](crate::palette::SkinningMethod).
//!
//! Animation curves that are linear keep their keys, and so do curves with a key for each frame, as
//! most exporters write them: keys at most 1/23.5 s apart. Between other keys, curves are sampled
//! at the smallest multiple of the file's frame rate that is at least 60 per second. Keys that a
//! straight line replaces are left out. Stepped keys stay steps. Curves that repeat or go on
//! outside their keys fill the take.
//!
//! In 657 of 666 published files, posed vertices are at most 1.5 mm per metre of the scene's size
//! from where ufbx evaluates them between frames. In the others, values overshoot within a frame,
//! ufbx skins with dual quaternions, or a skin is bound to the root.
//!
//! Warnings of the parser, such as clamped indices, are repairs too; see [`RepairKind::Fbx`].
//!
//! # EZMesh
//!
//! The XML format of MeshImport, `.ezm`, which PhysX tools wrote. Cargo feature `ezm`. The root
//! element may be `MeshSystem`, `SceneGraph` or `Mesh`. Names of elements, attributes and semantics
//! may have any case.
//!
//! Contents that are read:
//!
//! - `Mesh`: `MeshSection`s with a `vertexbuffer` of their own or of the mesh, and an
//!   `indexbuffer`. Vertices have positions, normals, tangents with the sign of the binormals, two
//!   sets of texture coordinates, colours, and up to 256 joints and weights. Colours are sRGB
//!   encoded: hexadecimal `AARRGGBB`, or three or four numbers from 0 to 1.
//! - `Skeleton`: bones in any order. Meshes are bound in the rest pose.
//! - `Animation`: tracks of 7 or 10 numbers per frame (position, rotation, scale), at the rate of
//!   `dtime`.
//! - `Material`s and the materials of sections, by name. The format has no colours. A name that is
//!   that of an image file, or such a name in `meta_data`, is the texture of the base colour; see
//!   [Textures without a path](#textures-without-a-path).
//!
//! A mesh with weights in a file without a skeleton is rigid. A file with animations and without a
//! skeleton gets a joint for each track;
//! [`Character::add_clips`](crate::character::Character::add_clips) gives its clips to a character.
//!
//! Other semantics, more than two sets of texture coordinates, tracks of joints that the
//! skeleton does not have, and the elements `TetraMesh`, `NodeTriangle`, `NodeInstance` and
//! `MeshCollisionRepresentation` are left out.
//!
//! Every count that the file states must match its contents, except for the duration of an
//! animation, which is only reported. Documents with a DTD are rejected, so there are no entities.
//! In errors, the index of a node is that of a bone, counted over all skeletons.
//!
//! # WebGL models
//!
//! The "Building the Game" WebGL format: a `.wglmodel` with the `.wglvert` of the same name, and
//! `.wglanim`. Cargo feature `wgl`.
//!
//! Contents that are read:
//!
//! - Vertices: positions, two sets of texture coordinates, normals, tangents, colours (sRGB
//!   encoded) and three weights and joints. Indices have 16 bits.
//! - `meshes` (or `models`) of `submeshes` (or `meshes`), each with its range of indices and bones.
//! - `bones`, in any order. Bones without an inverse bind matrix take that of the rest pose, which
//!   is reported if they are `skinned`.
//! - `defaultTexture`, the texture of a mesh's base colour; see
//!   [Textures without a path](#textures-without-a-path).
//!
//! The format is left-handed. Everything is mirrored in x, as in other converters from that engine
//! to glTF: a character that faces +Z still does, and its left hand is on its left. Weights in a
//! file without bones are left out.
//!
//! The `.wglvert` has the name of the model's file, or of [`ImportOptions::name`] if only bytes are
//! given. Its extension has the case of the model's extension, or lower case. It is an error to
//! import it alone.
//!
//! A `.wglanim` file becomes a character with a joint for each bone and nothing to draw; to play it
//! on a model, use
//! [`Character::add_clips_file`](crate::character::Character::add_clips_file).
//!
//! In errors, nodes are bones, and buffers are the lumps of the `.wglvert`.
//!
//! # Textures without a path
//!
//! EZMesh and WebGL models name an image file, often with the folders of another machine. The file
//! is looked for in the model's folder and the folders inside that: by the whole path, by the path
//! without its first folders, and then by the same names with the extensions `png`, `jpg`, `jpeg`
//! and `webp`. Images are decoded if the Cargo feature `gltf` is enabled, too.
//!
//! A texture that is not found or cannot be decoded is left out, which is reported. A material
//! without a texture, of primitives without vertex colours, is a plain grey.
//!
//! # Axes and units
//!
//! glTF has metres and +Y up, and FBX states its own. For files that state neither,
//! [`ImportOptions::up`] and [`ImportOptions::scale`] do.
//!
//! # Saved characters
//!
//! The bytes of [`Character::to_bytes`](crate::character::Character::to_bytes), `.throng`, are
//! loaded as by [`Character::from_bytes`](crate::character::Character::from_bytes). No Cargo
//! feature is needed. Of the options, only [`ImportOptions::max_image_texels`],
//! [`ImportOptions::max_decoded_bytes`], which limits the decompressed images, and, for [`file()`],
//! [`ImportOptions::max_resource_bytes`] apply. [`ImportOptions::up`] and [`ImportOptions::scale`]
//! are errors if they would change it.
//!
//! # Files that a file refers to
//!
//! These are buffers and images of glTF, textures of all other formats, and the `.wglvert` of a
//! WebGL model.
//!
//! [`ImportOptions::resources`] provides them, if it is set. Otherwise [`file()`] reads them from
//! the folder of the file and the folders inside that, and [`bytes()`] provides none. Paths must be
//! relative (after percent-decoding in glTF), without `..`, and must still lie in the folder after
//! all links are followed. Only plain files are read. [`Imported::files`] lists them. A file that
//! does not exist is looked for without regard to case, as some systems do anyway. Of several, the
//! first in byte order is read.
//!
//! # Animation data beside a file
//!
//! Animation data that a format cannot store may be in a TOML file of the same name: `knight.toml`
//! beside `knight.glb`. [`AnimationDesc`](crate::character::AnimationDesc) describes its contents.
//! It is read by [`file()`], for all formats but saved characters, if [`ImportOptions::sidecar`] is
//! true and [`ImportOptions::animation`] is `None`.

mod add_clips;
mod assemble;
#[cfg(any(feature = "fbx", feature = "ezm", feature = "wgl"))]
mod budget;
mod fault;
#[cfg(feature = "fbx")]
mod fbx;
mod file;
mod folder;
mod format;
#[cfg(any(feature = "ezm", feature = "wgl"))]
mod framed;
#[cfg(feature = "gltf")]
mod gltf;
mod imported;
#[cfg(any(feature = "gltf", feature = "wgl"))]
mod json;
mod options;
mod raw;
mod read;
mod repair;
mod resource_reader;
mod rigid;
mod shapes;
mod space;
mod spawn_point;
#[cfg(any(feature = "ezm", feature = "wgl"))]
mod textures;
#[cfg(feature = "gltf")]
mod vrm;
mod weight_match;

/// The mark, in `extras.throng`, of the node that an export adds above several roots.
#[cfg(feature = "gltf")]
pub(crate) const COMMON_ROOT: &str = "common root";

pub use file::{bytes, file, has_hierarchy};
pub use format::has_known_extension;
pub use imported::{Imported, InfluenceLoss};
pub use options::{ImportOptions, UpAxis};
pub use raw::{
    RawAnimation, RawChannel, RawCharacter, RawKeys, RawMorph, RawNode, RawPrimitive, RawSkin,
};
pub use repair::{Repair, RepairKind};
pub use resource_reader::ResourceReader;
pub use spawn_point::SpawnPoint;
