//! The crowd: characters and their instances, which are spawned, played, prepared and drawn.
//!
//! Its types are public at the root of the crate.

mod animate;
mod assets;
mod attachments;
mod buffers;
mod characters;
mod deform;
mod desc;
mod draw;
mod draw_bindings;
mod eye;
mod frame;
mod history;
mod history_buffer;
mod ids;
mod instance;
mod instance_state;
mod instances;
mod load;
mod passes;
mod pick;
mod prepare;
mod range_allocator;
mod retire;
mod runs;
mod scene;
mod shadow_map;
mod skin;
mod skinned_vertices;
mod sorted;
mod spawn;
mod state;
mod stats;
mod view;
mod visibility;

pub use attachments::Attachment;
pub use desc::{Capacity, CharacterDesc, CrowdDesc};
pub use draw_bindings::DrawBindings;
pub use frame::Frame;
pub use ids::{CharacterId, InstanceId, ListId, PassId, ViewId};
pub use instance::{CrowdMut, CrowdRef, InCrowd, Instance, InstanceMut, InstanceRef};
pub use instance_state::SkinningStage;
pub use shadow_map::ShadowMap;
pub use skinned_vertices::SkinnedVertices;
pub use spawn::Spawn;
pub use state::Crowd;
pub use stats::Stats;
pub use view::{Lighting, Shadow, View};
