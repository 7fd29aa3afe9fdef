//! The memory layout of an instance's deformed vertices.

use crate::character::Character;
use crate::error::{Error, Result};

/// Words of one position or normal: x, y, z.
pub(crate) const VECTOR_WORDS: u32 = 3;
/// Words of one tangent: x, y, z and the bitangent's sign.
pub(crate) const TANGENT_WORDS: u32 = 4;
/// Alignment of each stream, in words: 16 bytes.
const ALIGN_WORDS: u64 = 4;

/// The layout of the deformed vertices of one instance.
///
/// Offsets are in 32-bit words from the start of the instance. The CPU
/// ([`Skinner`](crate::skin::Skinner)) and the GPU write the same layout.
///
/// Each primitive has these streams, in order:
///
/// 1. All positions: three `f32` per vertex, tightly packed.
/// 2. If the primitive has normals, all normals: three `f32` per vertex.
/// 3. If the primitive has tangents, all tangents: four `f32` per vertex.
///
/// Each stream starts at a multiple of 4 words (16 bytes). The words between streams are undefined.
/// The positions of a primitive are therefore a vertex buffer of stride 12 bytes. The primitive's
/// own `indices` address it, and an acceleration structure can be built from it.
///
/// ```
/// use throng::skin::SkinnedLayout;
///
/// let character = throng::builtin::mannequin()?.character;
/// let layout = SkinnedLayout::new(&character)?;
/// let streams = layout.primitives[0];
/// // The x, y and z of the last vertex are the words last..last + 3.
/// let last = streams.positions + 3 * (streams.vertex_count - 1);
/// assert!(last + 3 <= layout.words);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkinnedLayout {
    /// One element for each of the character's primitives.
    pub primitives: Vec<SkinnedStreams>,
    /// Words of one instance, a multiple of 4. The next instance can start there.
    pub words: u32,
}

/// The deformed vertices of one primitive, in 32-bit words from the instance's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SkinnedStreams {
    /// Offset of the first position. A position has 3 words.
    pub positions: u32,
    /// Offset of the first normal, if the primitive has normals. A normal has 3 words.
    pub normals: Option<u32>,
    /// Offset of the first tangent, if the primitive has tangents. A tangent has 4 words.
    pub tangents: Option<u32>,
    /// The number of vertices.
    pub vertex_count: u32,
}

impl SkinnedLayout {
    /// Bytes of one position or normal: the stride of a vertex buffer of them.
    pub const VECTOR_BYTES: u32 = VECTOR_WORDS * 4;
    /// Bytes of one tangent.
    pub const TANGENT_BYTES: u32 = TANGENT_WORDS * 4;

    /// Computes the layout of an instance of `character`.
    ///
    /// # Errors
    /// [`Error::Capacity`] if an instance has 2³² words (16 GiB) or more.
    pub fn new(character: &Character) -> Result<Self> {
        let mut words = 0;
        let streams = character.primitives().iter().map(|primitive| {
            let vertices = primitive.vertex_count();
            let mut take = |words_each| take(&mut words, vertices as u64, words_each);
            SkinnedStreams {
                positions: take(VECTOR_WORDS),
                normals: (!primitive.normals.is_empty()).then(|| take(VECTOR_WORDS)),
                tangents: (!primitive.tangents.is_empty()).then(|| take(TANGENT_WORDS)),
                vertex_count: vertices as u32,
            }
        });
        let primitives = streams.collect();
        let words = u32::try_from(words).map_err(|_| Error::Capacity {
            what: "words of an instance's skinned vertices",
            asked: words,
            cap: u32::MAX.into(),
        })?;
        Ok(Self { primitives, words })
    }
}

/// Returns the start of a stream, and advances `words` to the start of the next.
///
/// The start is truncated to 32 bits. It is correct if the total fits in 32 bits, and unused
/// otherwise.
fn take(words: &mut u64, vertices: u64, words_each: u32) -> u32 {
    let start = *words as u32;
    *words = vertices
        .saturating_mul(words_each.into())
        .saturating_add(*words)
        .checked_next_multiple_of(ALIGN_WORDS)
        .unwrap_or(u64::MAX);
    start
}
