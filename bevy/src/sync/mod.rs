//! Entities to instances, in the main world: `spawn` makes and drops them, `act` hands over what
//! they do before each step of the game, and `show` how they look before each picture.

mod act;
mod end;
mod people;
mod show;
mod spawn;

pub(crate) use act::act;
pub(crate) use end::end;
pub(crate) use show::show;
pub(crate) use spawn::{despawn, follow_assets, spawn};
