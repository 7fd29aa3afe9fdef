//! Files of other formats than glTF, made here.

use throng::import::{ImportOptions, Imported, ResourceReader};

pub(crate) const BONES: &str = r#"<Skeleton name="rig" count="3">
<Bone name="hand" parent="arm" orientation="0 0 0 1" position="0 1 0" scale="1 1 1"/>
<Bone name="root" orientation="0 0 0.707106781 0.707106781" position="1 0 0"/>
<Bone name="arm" parent="root" position="0 2 0"/>
</Skeleton>"#;

pub(crate) const SECTION: &str = r#"<MeshSection material="skin">
<vertexbuffer count="3" ctype="fff fff ff ffff hhhh"
 semantic="position normal texcoord blendweights blendindices">
0 0 0   0 0 1   0 0   1 0 0 0     0 0 0 0,
1 0 0   0 0 1   1 0   0.5 0.5 0 0 1 2 0 0,
0 1 0   0 0 1   0 1   0.25 0.25 0.5 0  2 1 0 0,
</vertexbuffer>
<indexbuffer count="1"> 0 1 2, </indexbuffer>
</MeshSection>"#;

pub(crate) const WALK: &str = r#"<Animation name="walk" trackcount="2" framecount="3"
 duration="1.5" dtime="0.5">
<AnimTrack name="root" count="3" has_scale="true">
0 0 0  0 0 0 1  1 1 1, 1 0 0  0 0 0 1  2 2 2, 2 0 0  0 0 0 1  1 1 1,
</AnimTrack>
<AnimTrack name="arm" count="3">
0 0 0  0 0 0 1, 0 1 0  0 0 1 0, 0 2 0  0 0 0 1
</AnimTrack>
</Animation>"#;

/// A complete EZMesh file: three bones, a skinned triangle and a clip.
pub(crate) fn ezm_text() -> String {
    format!(
        r#"<?xml version="1.0"?>
<MeshSystem asset_name="a" mesh_system_version="1">
<Skeletons count="1">{BONES}</Skeletons>
<Animations count="1">{WALK}</Animations>
<Materials count="1"><Material name="skin" meta_data=""/></Materials>
<Meshes count="1"><Mesh name="body" skeleton="rig" submesh_count="1">{SECTION}</Mesh></Meshes>
</MeshSystem>"#
    )
}

/// The model of a skinned triangle on two bones, of which one is not skinned.
pub(crate) const WGL_MODEL: &str = r#"{
"modelVersion": 1,
"name": "player",
"meshes": [{
    "material": "cloth",
    "defaultTexture": "root/texture/Player.png",
    "submeshes": [{ "indexOffset": 0, "indexCount": 3, "boneOffset": 1, "boneCount": 2 }]
}],
"bones": [
{ "name": "root", "parent": -1, "pos": [0, 1, 0], "rot": [0, 0, 0, 1],
  "skinned": false, "bindPoseMat": [] },
{ "name": "hip", "parent": 0, "pos": [1, 0, 0], "rot": [0.6, 0, 0, 0.8],
  "skinned": true, "bindPoseMat": [1,0,0,0, 0,1,0,0, 0,0,1,0, 3,4,5,1] },
{ "name": "knee", "parent": 1, "pos": [0, 0, 2], "rot": [0, 0.6, 0, 0.8],
  "skinned": true, "bindPoseMat": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1] }
]
}"#;

/// Imports a WebGL model with these vertices. The name of `options` is needed.
pub(crate) fn import_wgl(
    model: &[u8],
    vertices: &[u8],
    options: &ImportOptions,
) -> throng::Result<Imported> {
    let vertices = vertices.to_vec();
    let options = ImportOptions {
        resources: Some(ResourceReader::new(move |_| Ok(vertices.clone()))),
        ..options.clone()
    };
    throng_import::bytes(model, &options)
}

/// A clip of three frames for two of the bones, and for one that the model does not have.
pub(crate) const WGL_CLIP: &str = r#"{
"animVersion": 1,
"name": "run",
"frameRate": 2,
"duration": 1500,
"frameCount": 3,
"bones": ["root", "knee", "tail"],
"keyframes": [
[{ "pos": [0, 0, 0], "rot": [0, 0, 0, 1] }, { "pos": [0, 0, 2], "rot": [0, 0.6, 0, 0.8] },
 { "pos": [0, 0, 0], "rot": [0, 0, 0, 1] }],
[{ "pos": [1, 2, 3], "rot": [0, 0, 0, 1] }, { "pos": [0, 0, 2], "rot": [0, 0, 0.6, 0.8] },
 { "pos": [0, 0, 0], "rot": [0, 0, 0, 1] }],
[{ "pos": [2, 0, 0], "rot": [0, 0, 0, 1] }, { "pos": [0, 0, 2], "rot": [0.6, 0, 0, 0.8] },
 { "pos": [0, 0, 0], "rot": [0, 0, 0, 1] }]
]
}"#;

/// A file of lumps.
pub(crate) fn wgl_lumps(lumps: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let mut bytes = b"wglv".to_vec();
    let words = |bytes: &mut Vec<u8>, all: &[u32]| {
        bytes.extend(all.iter().flat_map(|word| word.to_le_bytes()));
    };
    words(&mut bytes, &[1, lumps.len() as u32]);
    let mut at = 12 + 12 * lumps.len();
    for (name, data) in lumps {
        bytes.extend_from_slice(*name);
        words(&mut bytes, &[at as u32, data.len() as u32]);
        at += data.len();
    }
    for (_, data) in lumps {
        bytes.extend_from_slice(data);
    }
    bytes
}

/// Vertices with these flags, and the indices of one triangle.
pub(crate) fn wgl_vertices(format: u32, rows: &[&[f32]]) -> Vec<u8> {
    let mut vert = format.to_le_bytes().to_vec();
    vert.extend(((rows[0].len() * 4) as u32).to_le_bytes());
    let numbers = rows.iter().flat_map(|row| row.iter());
    vert.extend(numbers.flat_map(|number| number.to_le_bytes()));
    let indx = [0_u16, 1, 2].iter().flat_map(|index| index.to_le_bytes());
    wgl_lumps(&[(b"vert", vert), (b"indx", indx.collect())])
}

/// Positions, texture coordinates, normals, tangents and weights of a triangle. The sum of the
/// second vertex's weights is 0.96.
pub(crate) fn wgl_triangle() -> Vec<u8> {
    let row = |x: f32, y: f32, influences: [f32; 6]| -> Vec<f32> {
        let mut row = vec![x, y, 0.0, x, y, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0];
        row.extend(influences);
        row
    };
    let rows = [
        row(0.0, 0.0, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        row(1.0, 0.0, [0.5, 0.46, 0.0, 0.0, 1.0, 0.0]),
        row(0.0, 1.0, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
    ];
    let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
    wgl_vertices(0x5b, &rows)
}
