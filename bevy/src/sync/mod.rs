//! Entities to instances, in the main world: `spawn` makes and drops them, `act` hands over what
//! they do before each step of the game, `show` how they look before each picture, and `renew` both
//! for those whose character was replaced.

mod act;
mod end;
mod people;
mod renew;
mod show;
mod spawn;

pub(crate) use act::act;
pub(crate) use end::end;
pub(crate) use renew::renew;
pub(crate) use show::show;
pub(crate) use spawn::{despawn, follow_assets, spawn};
