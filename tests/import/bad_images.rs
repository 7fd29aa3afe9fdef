//! Images that are refused.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::import::gltf;

fn with_image(bytes: &[u8]) -> Builder {
    let mut b = triangle();
    let view = b.view(bytes);
    b.json["images"] = json!([{ "bufferView": view }]);
    b.json["textures"] = json!([{ "source": 0 }]);
    b.json["materials"] =
        json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
    b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    b
}

#[test]
fn images_that_cannot_be_decoded() {
    let png = grey_png(40, 30);
    assert!(gltf(&with_image(&png).glb(), &options()).is_ok());
    assert!(
        refused(&with_image(&png[..png.len() / 2]).glb())
            .starts_with("f: image 0: cannot be decoded: ")
    );
    let words = refused(&with_image(b"GIF89a....").glb());
    assert_eq!(
        words,
        "f: image 0: cannot be decoded: it is neither PNG nor JPEG"
    );
    let mut small = options();
    small.max_image_texels = 1199;
    let error = gltf(&with_image(&png).glb(), &small).unwrap_err();
    assert_eq!(
        error.to_string(),
        "f: image 0: texels of one image: 1200 exceeds the limit of 1199"
    );
    let mut huge = png.clone();
    huge[16..24].copy_from_slice(&[0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF]);
    let words = refused(&with_image(&huge).glb());
    assert!(words.starts_with("f: image 0: "), "{words}");
    let mut b = with_image(&png);
    b.json["images"][0]["uri"] = json!("x.png");
    assert_eq!(
        refused(&b.glb()),
        "f: image 0: has both a uri and a bufferView"
    );
    b.json["images"][0] = json!({});
    assert_eq!(refused(&b.glb()), "f: image 0: missing uri or bufferView");
    b.json["samplers"] = json!([{ "wrapS": 1 }]);
    b.json["textures"] = json!([{ "source": 0, "sampler": 0 }]);
    assert!(refused(&b.glb()).starts_with("f: sampler 0, wrapS: wrapS is 1"));
}
