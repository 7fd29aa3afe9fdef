//! The layout of deformed vertices, from the counts of streams.

use throng::Error;
use throng::skin::{SkinnedLayout, SkinnedPart, StreamCounts};

const fn streams(vertices: u64, normals: bool, tangents: bool) -> StreamCounts {
    StreamCounts {
        vertices,
        normals,
        tangents,
    }
}

#[test]
fn parts_follow_each_other_at_multiples_of_four_words() {
    let layout = SkinnedLayout::of(
        [
            streams(5, true, true),
            streams(4, false, true),
            streams(0, true, false),
            streams(1, false, false),
        ]
        .into_iter(),
    )
    .unwrap();
    let part = |positions, normals, tangents, vertex_count| SkinnedPart {
        positions,
        normals,
        tangents,
        vertex_count,
    };
    let expected = [
        part(0, Some(16), Some(32), 5),
        part(52, None, Some(64), 4),
        part(80, Some(80), None, 0),
        part(80, None, None, 1),
    ];
    assert_eq!(layout.primitives, expected);
    assert_eq!(layout.words, 84);
    assert_eq!(
        SkinnedLayout::of(std::iter::empty()).unwrap(),
        SkinnedLayout::default()
    );
}

#[test]
fn the_largest_fits_and_one_more_is_refused() {
    // 2^32 - 4 words are the maximum.
    let most = (1_u64 << 30) - 1;
    let tangents = |vertices| SkinnedLayout::of([streams(vertices, false, true)].into_iter());
    let fits = tangents(613_566_756).unwrap();
    assert_eq!(fits.words, 1_840_700_268 + 4 * 613_566_756);
    assert!(u64::from(fits.words) <= 4 * most);
    let error = tangents(613_566_757).unwrap_err();
    let Error::Capacity { asked, cap, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((asked, cap), (1_840_700_272 + 2_454_267_028, 0xFFFF_FFFF));
    let error = tangents(u64::MAX).unwrap_err();
    assert!(matches!(error, Error::Capacity { .. }), "{error}");
}
