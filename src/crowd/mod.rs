//! The crowd: characters and their instances, which are spawned, played, prepared and drawn.
//!
//! Its types are public at the root of the crate.

mod characters;
mod desc;
mod draw;
mod frame;
mod history;
mod ids;
mod instance;
mod instances;
mod memory;
mod pick;
mod prepare;
mod producers;
mod scene;
mod snapshot;
mod spawn;
mod state;
mod stats;
mod view;
mod visibility;

pub use desc::{Capacity, CharacterDesc, CrowdDesc};
pub use draw::bindings::DrawBindings;
pub use draw::shadow_map::ShadowMap;
pub use frame::Frame;
pub use ids::{CharacterId, InstanceId, ListId, PassId, ViewId};
pub use instance::{CrowdMut, CrowdRef, InCrowd, Instance, InstanceMut, InstanceRef};
pub use instances::attachments::Attachment;
pub use instances::state::SkinningStage;
pub use producers::skinned_vertices::SkinnedVertices;
pub use snapshot::{CrowdSnapshot, InstanceSnapshot};
pub use spawn::Spawn;
pub use state::Crowd;
pub use stats::Stats;
pub use view::{Lighting, Shadow, View};
