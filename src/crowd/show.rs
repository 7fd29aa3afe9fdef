//! Visibility set by the engine: hidden instances, view masks and lists.

use super::desc::MAX_VIEWS;
use super::state::Crowd;
use super::view::View;
use super::visibility::Visibility;
use super::{Frame, InstanceId, ListId};
use crate::error::{Error, Result};
use crate::gpu::limit;

/// The most lists of one frame: one for each view.
const MAX_LISTS: u32 = MAX_VIEWS;

impl Crowd {
    /// Shows or hides an instance and everything attached to it.
    ///
    /// It applies to all views.
    ///
    /// A hidden instance is neither drawn nor animated. Its clips advance with time all the same,
    /// and it can be moved like any other.
    ///
    /// If no view showed an instance in the frame before, its first visible frame has no motion:
    /// for motion vectors, it was at the same place with the same pose in every view's last frame,
    /// as after [`Self::teleport`]. This also applies if [`Self::set_view_mask`] or [`Frame::list`]
    /// kept it out of all views.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    #[doc(alias = "visibility")]
    pub fn set_visible(&mut self, id: InstanceId, visible: bool) -> Result<()> {
        self.instances.get(id)?;
        if let Some(marks) = self.visibility.marks.get_mut(id.index as usize) {
            marks.visible = visible;
        }
        Ok(())
    }

    /// Sets the mask that decides which views show an instance.
    ///
    /// A view shows it if its [`View::mask`] and `mask` have a bit in common. The default is
    /// [`u32::MAX`], so every view shows it. With 0, none does. An instance that no view of a frame
    /// shows is not animated.
    ///
    /// For example, the player's own body in a first-person game is seen only by its shadow:
    /// `crowd.set_view_mask(body, SHADOW)?`, where the camera's view has a mask without the bit
    /// `SHADOW`.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    #[doc(alias = "cull")]
    pub fn set_view_mask(&mut self, id: InstanceId, mask: u32) -> Result<()> {
        self.instances.get(id)?;
        if let Some(marks) = self.visibility.marks.get_mut(id.index as usize) {
            marks.mask = mask;
        }
        Ok(())
    }
}

impl Frame<'_> {
    /// Makes a list of instances for views of this frame.
    ///
    /// A view with this [`View::list`] shows only these instances, provided that they are visible
    /// and its mask allows them. Several views can share a list. Use it if the engine does its own
    /// culling.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the frame is prepared already.
    /// - [`Error::Capacity`] for more lists than [`Capacity::views`](super::Capacity::views).
    /// - [`Error::At`], with the index in the list: [`Error::Stale`] or [`Error::NotFound`] if the
    ///   instance is not alive, [`Error::Argument`] if it occurs twice.
    #[doc(alias = "cull")]
    pub fn list(&mut self, instances: &[InstanceId]) -> Result<ListId> {
        if self.prepared {
            return Err(Error::invalid("frame", "was already prepared"));
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
                        let what = "instance";
                        return Err(Error::duplicate(what, of.unwrap_or(place)));
                    }
                }
                Ok(())
            });
            if let Err(why) = marked {
                // The next list reuses the bits of this one, so clear them.
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
    /// Checks that the view's list belongs to this frame.
    ///
    /// # Errors
    /// [`Error::Argument`] if it does not.
    pub(super) fn check(&self, view: &View, frame: u64) -> Result<()> {
        let good = |list: ListId| list.frame == frame && list.index < self.lists;
        if view.list.is_none_or(good) {
            return Ok(());
        }
        Err(Error::invalid("View::list", "was not made in this frame"))
    }
}
