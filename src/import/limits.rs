//! Limits of the size of imported files.

/// The most that an import accepts of each kind of data.
///
/// They keep a hostile file from taking unbounded memory. Each is checked before anything of that
/// size is allocated, and the error has the limit and what the file asks for. The defaults suit
/// models of games.
///
/// ```
/// use throng::import::{ImportLimits, ImportOptions};
///
/// let limits = ImportLimits { vertices: 100_000, ..Default::default() };
/// let options = ImportOptions { limits, ..Default::default() };
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportLimits {
    /// The most bytes of one file, buffer or encoded image.
    pub resource_bytes: u64,
    /// The most bytes of JSON or XML text.
    pub text_bytes: u64,
    /// The most bytes of all decoded data together.
    ///
    /// This counts everything that is loaded and decoded, each once. Working memory and the
    /// finished character may each take as much again. In FBX files, it also limits the memory that
    /// the parser takes for its result, and as much for its work.
    pub decoded_bytes: u64,
    /// The most nodes.
    pub nodes: usize,
    /// The most drawable parts: primitives of meshes, counted once for each node that carries them.
    pub primitives: usize,
    /// The most vertices of all primitives together, before merging.
    pub vertices: usize,
    /// The most triangle indices of all primitives together.
    pub indices: usize,
    /// The most morph targets of all drawable parts together.
    ///
    /// A target counts once for each part that has it. The same limit applies to the morph weights
    /// of all nodes together, of which a character has at most
    /// [`MorphWeight::MAX_COUNT`](crate::mesh::MorphWeight::MAX_COUNT).
    pub morph_targets: usize,
    /// The most morph target elements, over all targets of all drawable parts.
    ///
    /// Elements are counted as the file stores them. A target has one per vertex for each
    /// attribute, or only those of its sparse part.
    pub morph_elements: u64,
    /// The most keys of all clips together.
    pub keys: usize,
    /// The most joints of packed clips, over all clips together.
    ///
    /// A packed clip takes memory and time for each joint of the skeleton, including joints that it
    /// does not drive. Curves have no such limit.
    pub clip_joints: u64,
    /// The most spawn points; see [`SpawnPoint`](crate::import::SpawnPoint).
    pub spawn_points: usize,
    /// The most texels of one image.
    pub image_texels: u64,
}

impl Default for ImportLimits {
    fn default() -> Self {
        Self {
            resource_bytes: 1 << 30,
            text_bytes: 256 << 20,
            decoded_bytes: 2 << 30,
            nodes: 262_144,
            primitives: 65_536,
            vertices: 4 << 20,
            indices: 24 << 20,
            morph_targets: 1 << 18,
            morph_elements: 1 << 28,
            keys: 16 << 20,
            clip_joints: 4 << 20,
            spawn_points: 1 << 18,
            image_texels: 8192 * 8192,
        }
    }
}
