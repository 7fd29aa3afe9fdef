//! Built-in content: a mannequin and simple shapes.
//!
//! [`cuboid`] and [`sphere`] are meshes for props: [`import::rigid`](crate::import::rigid) makes
//! characters of them. The character is a mannequin made by code, about 1.79 m tall, that stands at
//! the origin on y = 0 and looks along +Z.
//!
//! It has 57 joints with all fingers, named in the manner of VRM humanoids, and the clips `Idle`,
//! `Walk`, `Run` and `Wave`, which all loop. Its colours are vertex colours of a single part; the
//! shirt is nearly white, so that an instance's tint shows there most.
//!
//! ```
//! let mannequin = throng::builtin::mannequin()?;
//! assert!(mannequin.clip("Walk").is_ok());
//! # Ok::<(), throng::Error>(())
//! ```

mod arm;
mod cage;
mod clips;
mod gait;
mod hand;
mod head;
mod leg;
mod mesh;
mod pose;
mod refine;
mod rig;
mod row;
mod shapes;
mod trunk;
pub use shapes::{cuboid, sphere};
mod mannequin;
pub use mannequin::RUN_SPEED_M_S;
pub use mannequin::WALK_SPEED_M_S;
pub use mannequin::animation;
pub use mannequin::mannequin;
pub use mannequin::mannequin_with;
pub use mannequin::raw;
