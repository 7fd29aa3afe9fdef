//! The options of characters and of their instances.

use crate::palette::SkinningMethod;

/// Options for adding a character to a crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CharacterDesc {
    /// The skinning method, which also decides the palette format.
    pub method: SkinningMethod,
    /// Keeps the meshes on the CPU, without images.
    ///
    /// They are required for [`SkinningStage::Cpu`] and for
    /// [`Crowd::pick`](crate::crowd::Crowd::pick). Vertex streams are kept twice: as they are in
    /// the character, and in the layout of a [`Skinner`](crate::skin::Skinner).
    pub cpu_skinning: bool,
    /// The most bytes of device memory for poses that instances share: 4 MiB unless set.
    ///
    /// It counts if the GPU poses instances ([`Stages::Gpu`](crate::crowd::Stages::Gpu)). A
    /// clip takes one palette for each of its [`PoseSteps`](crate::skin::PoseSteps), from the first
    /// time that an instance plays it alone. Clips for which there is no more memory have no shared
    /// poses. No more is allocated than all clips need. With 0, nothing is shared. See
    /// [`Detail::pose_error_px`](crate::crowd::Detail::pose_error_px).
    pub shared_pose_bytes: u32,
    /// The offset of its instances in shader binding tables, for ray tracing pipelines: the lower
    /// 24 bits of this. It counts with [`CrowdDesc::rays`](crate::CrowdDesc::rays).
    pub sbt_offset: u32,
    /// The levels of detail at which rays meet it: in slots, and in shared poses. With `None`,
    /// [`RayDesc`](crate::RayDesc) says which.
    pub ray_levels: Option<[u32; 2]>,
}

impl Default for CharacterDesc {
    fn default() -> Self {
        Self {
            method: SkinningMethod::default(),
            cpu_skinning: false,
            shared_pose_bytes: 4 << 20,
            sbt_offset: 0,
            ray_levels: None,
        }
    }
}

/// The stage that deforms an instance's vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SkinningStage {
    /// The vertex shader of every draw. Nothing is stored.
    #[default]
    Vertex,
    /// The skin stage on the GPU, once per frame, into device memory that draws then read.
    Compute,
    /// The CPU skinning stage, into the same memory.
    ///
    /// It runs while the frame is prepared, on the threads of
    /// [`CrowdDesc::threads`](crate::crowd::CrowdDesc::threads). The character must have been added
    /// with [`CharacterDesc::cpu_skinning`](crate::crowd::CharacterDesc::cpu_skinning).
    Cpu,
}
