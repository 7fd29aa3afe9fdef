//! Characters and the crowd of their instances: spawn, play, prepare, draw.
//!
//! All types that [`Crowd`] and [`Frame`] use are here; the crate's root has them, too.

mod animate;
mod assets;
mod attach;
mod buffers;
mod characters;
mod control;
mod deform;
mod desc;
mod draw;
mod draw_bindings;
mod eye;
mod frame;
mod getters;
mod history;
mod instance_state;
mod instances;
mod links;
mod load;
mod parts;
mod posed;
mod range_allocator;
mod retire;
mod root;
mod runs;
mod shadow;
mod show;
mod skin;
mod skinned_vertices;
mod socket;
mod sorted;
mod spawn;
mod stats;
mod view;
mod visibility;
mod weights;
pub use crate::animator::{
    AnimationEvent, AnimationEventKind, BlendSpaceRef, ClipRef, IkReport, IkSolver, IkTarget,
    JointRef, MaskRef, Play, Playing, RootMotionMode, ShowPose, SolverId,
};
pub use crate::pass::draw::{DepthBias, MATERIAL_PUSH_OFFSET, MaterialDesc, PassDesc, PassKind};
pub use assets::CharacterDesc;
pub use attach::{AttachEnd, Attachment};
pub use characters::CharacterId;
pub use control::InstanceEvent;
pub use desc::{Capacity, CrowdDesc, MAX_FRAMES_IN_FLIGHT};
pub use draw_bindings::DrawBindings;
pub use frame::{Frame, MAX_VIEWS, PassId, ViewId, Views};
pub use instance_state::SkinningStage;
pub use instances::InstanceId;
pub use load::CharacterLoad;
pub use parts::DrawInstances;
pub use shadow::ShadowMap;
pub use show::ListId;
pub use skinned_vertices::SkinnedVertices;
pub use spawn::Spawn;
pub use stats::{CpuTimes, Stats};
pub use view::{Lighting, Shadow, View, Viewport};
mod state;
pub use state::Crowd;
