//! The crowd: characters and their instances, which are spawned, played, prepared and drawn.
//!
//! Its types are public at the root of the crate. The modules, each of which uses those above it:
//!
//! | module | contents |
//! |---|---|
//! | [`ids`], [`capacity`], [`desc`], [`view`], [`stats`] | plain data of the interface |
//! | [`memory`] | buffers, ranges of them, and what is freed later |
//! | [`characters`], [`animators`] | the characters, their data on the GPU, and their actors |
//! | [`instances`] | the instance table, and who is attached to whom |
//! | [`visibility`] | stage cull: what each view shows |
//! | [`history`], [`view_record`] | what shaders read of a view |
//! | [`producers`] | stages animate and skin: which palettes and vertices a frame writes |
//! | [`scene`], [`crowd`] | all of these together |
//! | [`setup`] | what changes between frames: characters, capacities, passes |
//! | [`instance`] | spawning, the handles of instances, picking |
//! | [`frame`] | begin, prepare, draw |

mod animators;
mod capacity;
mod character_desc;
mod characters;
#[expect(
    clippy::module_inception,
    reason = "it has the type that the module is named after"
)]
mod crowd;
mod desc;
mod frame;
mod history;
mod ids;
mod instance;
mod instances;
mod memory;
mod producers;
mod scene;
mod setup;
mod stats;
mod view;
mod view_record;
mod visibility;

pub use capacity::Capacity;
pub use character_desc::CharacterDesc;
pub use crowd::Crowd;
pub use desc::{CrowdDesc, Processor, Stages};
pub use frame::bindings::{DrawBindings, IndirectDraw};
pub use frame::skinned_vertices::SkinnedVertices;
pub use frame::{Frame, Views};
pub use ids::{CharacterId, InstanceId, ListId, PassId, ViewId};
pub use instance::handle::{CrowdAccess, CrowdMut, CrowdRef, Instance, InstanceMut, InstanceRef};
pub use instance::pick::InstanceHit;
pub use instance::snapshot::{CrowdSnapshot, InstanceSnapshot};
pub use instance::spawn::Spawn;
pub use instances::attachments::Attachment;
pub use instances::state::SkinningStage;
pub use setup::growth::MoreInstances;
pub use setup::passes::{PipelineInfo, WarmUp};
pub use stats::{Stats, ViewStats};
pub use view::{Culling, Eye, Lighting, Shadow, View};
