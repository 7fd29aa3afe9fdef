//! The layout of deformed vertices.

use crate::reference::raws::node;
use throng::glam::{Vec3, Vec4};
use throng::import::{RawCharacter, RawPrimitive};
use throng::skeleton::Transform;
use throng::skin::{SkinnedLayout, SkinnedStreams};

fn primitive(vertices: u32, normals: bool, tangents: bool) -> RawPrimitive {
    let list = |there: bool| (0..vertices).filter(move |_| there);
    RawPrimitive {
        positions: list(true).map(|v| Vec3::X * v as f32).collect(),
        normals: list(normals).map(|_| Vec3::Z).collect(),
        tangents: list(tangents)
            .map(|_| Vec4::new(1.0, 0.0, 0.0, 1.0))
            .collect(),
        indices: list(true)
            .flat_map(|v| [v, (v + 1) % vertices, (v + 2) % vertices])
            .collect(),
        ..RawPrimitive::default()
    }
}

#[test]
fn streams_follow_each_other_at_multiples_of_four_words() {
    let raw = RawCharacter {
        nodes: vec![node("node", None, Transform::IDENTITY)],
        primitives: vec![
            primitive(5, true, true),
            primitive(4, true, false),
            primitive(3, false, false),
            primitive(7, true, true),
        ],
        ..RawCharacter::default()
    };
    let character = raw.build(&Default::default()).unwrap().character;
    let layout = SkinnedLayout::new(&character).unwrap();
    let streams = |positions, normals, tangents, vertex_count| SkinnedStreams {
        positions,
        normals,
        tangents,
        vertex_count,
    };
    let expected = [
        streams(0, Some(16), Some(32), 5),
        streams(52, Some(64), None, 4),
        streams(76, None, None, 3),
        streams(88, Some(112), Some(136), 7),
    ];
    assert_eq!(layout.primitives, expected);
    assert_eq!(layout.words, 164);
}
