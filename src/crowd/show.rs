//! What the engine says of who shows what: hidden instances, view masks, lists of its own.

use super::state::Crowd;
use super::view::View;
use super::visibility::Visibility;
use super::{Frame, InstanceId, MAX_VIEWS};
use crate::error::{ArgumentFault, Error, Result};
use crate::gpu::limit;

/// A list of instances that views of one frame show. See [`Frame::list`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ListId {
    pub(super) frame: u64,
    pub(super) index: u32,
}

/// The most lists of one frame: one for each view.
const MAX_LISTS: u32 = MAX_VIEWS;

impl Crowd {
    /// Shows or hides an instance, in all views, and with it whatever is attached to it. A hidden
    /// instance is neither drawn nor animated; its clips go on by the clock, and it can be moved as
    /// any other.
    ///
    /// An instance that no view showed in the frame before has no motion in its first frame: motion
    /// vectors take it for having been there, in its present pose, in every view's last frame, as
    /// after [`Self::teleport`]. The same holds where [`Self::set_view_mask`] or [`Frame::list`]
    /// kept it from all views.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn set_visible(&mut self, id: InstanceId, visible: bool) -> Result<()> {
        self.instances.get(id)?;
        if let Some(marks) = self.visibility.marks.get_mut(id.index as usize) {
            marks.visible = visible;
        }
        Ok(())
    }

    /// Says which views show an instance: those whose [`View::mask`] has a bit in common with
    /// `mask`. Every view does at first ([`u32::MAX`]); 0 is as hidden. An instance that no view of
    /// a frame shows is not animated.
    ///
    /// For the player's own body in a first-person game, which is seen only by its shadow:
    /// `crowd.set_view_mask(body, SHADOW)?`, where the camera's view has a mask without the bit
    /// `SHADOW`.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn set_view_mask(&mut self, id: InstanceId, mask: u32) -> Result<()> {
        self.instances.get(id)?;
        if let Some(marks) = self.visibility.marks.get_mut(id.index as usize) {
            marks.mask = mask;
        }
        Ok(())
    }
}

impl Frame<'_> {
    /// Makes a list of instances for views of this frame: a view whose [`View::list`] it is shows
    /// those instances only, as far as they are visible and its mask allows. Several views can
    /// share one. For engines that cull by themselves.
    ///
    /// # Errors
    /// [`Error::Argument`] if the frame is prepared already; [`Error::Capacity`] for more lists
    /// than [`Capacity::views`](super::Capacity::views); [`Error::At`], by the place in the list,
    /// for an instance that is not alive ([`Error::Stale`] or [`Error::NotFound`]), and for one
    /// that stands there twice ([`Error::Argument`]).
    pub fn list(&mut self, instances: &[InstanceId]) -> Result<ListId> {
        if self.prepared {
            let why = ArgumentFault::Invalid("record_prepare was already called for it");
            return Err(Error::Argument { what: "frame", why });
        }
        let crowd = &mut *self.crowd;
        let visibility = &mut crowd.visibility;
        let number = visibility.lists;
        let cap = crowd.desc.capacity.views.min(MAX_LISTS);
        limit("lists", u64::from(number) + 1, cap.into())?;
        visibility.listed.resize(crowd.instances.states.len(), 0);
        for (place, id) in instances.iter().enumerate() {
            let marked = crowd.instances.get(*id).and_then(|_| {
                let index = id.index as usize;
                let listed = visibility.listed.get_mut(index);
                match listed.filter(|listed| **listed >> number & 1 == 0) {
                    Some(listed) => *listed |= 1 << number,
                    None => {
                        let of = instances.iter().position(|other| other == id);
                        let why = ArgumentFault::Duplicate {
                            of: of.unwrap_or(place),
                        };
                        let what = "instance";
                        return Err(Error::Argument { what, why });
                    }
                }
                Ok(())
            });
            if let Err(why) = marked {
                // The list's bits are given to the next one.
                for listed in &mut visibility.listed {
                    *listed &= !(1 << number);
                }
                return Err(Error::At {
                    what: "instance",
                    index: place as u64,
                    why: Box::new(why),
                });
            }
        }
        visibility.lists += 1;
        Ok(ListId {
            frame: crowd.retire_queue.frame(),
            index: number,
        })
    }
}

impl Visibility {
    /// # Errors
    /// [`Error::Argument`] for a list that is not of this frame.
    pub(super) fn check(&self, view: &View, frame: u64) -> Result<()> {
        let good = |list: ListId| list.frame == frame && list.index < self.lists;
        if view.list.is_none_or(good) {
            return Ok(());
        }
        let why = ArgumentFault::Invalid("was not made in this frame");
        Err(Error::Argument {
            what: "View::list",
            why,
        })
    }
}
