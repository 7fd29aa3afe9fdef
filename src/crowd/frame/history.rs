//! Histories of views, for motion vectors.
//!
//! A history keeps the instance table, the palettes, the morph weights and the deformed vertices of
//! the last frame in which its view was recorded.
//!
//! Each history has two halves. A frame reads the half that was written when the history's view was
//! last recorded, and writes its own state to the other half, for the next frame. So histories of
//! different rates are independent, and it does not matter what happens between two frames of a
//! view.

use crate::crowd::memory::history_buffer::{HistoryBuffer, RECORD_WORDS, Words};
use crate::crowd::memory::retire::{RetireQueue, Retired};
use crate::crowd::view::View;
use crate::crowd::{Capacity, Culling};
use crate::error::{Error, Result, expect_index};
use crate::gpu::{Device, Gpu, destroy_fields};
use ash::vk;
use glam::{DVec3, Mat4};

/// The clip space of each eye of a view, if it has the eye.
type Clips = [Option<Mat4>; View::MAX_EYES];

/// The state of a view's last frame.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Past {
    /// The clip space of each eye then, without jitter, or `None` if there was no such frame or
    /// eye.
    pub(crate) clip_from_world: Clips,
    /// The number of records that the instance table had.
    pub(crate) instances: u32,
    /// The present origin in the world space of that frame.
    pub(crate) origin: DVec3,
    /// See [`GpuView::history`].
    pub(crate) addresses: [vk::DeviceAddress; 4],
}

/// The frame that a history was written in last.
#[derive(Debug, Clone, Copy)]
struct Last {
    /// The clip space of each eye, without jitter.
    clip_from_world: Clips,
    /// The half that was written.
    half: u32,
    /// The words written to each of its sections.
    words: Words,
    /// The sum of the shifts of the origin since.
    origin: DVec3,
}

/// The CPU's state of the histories.
#[derive(Debug, Default)]
pub(crate) struct Histories {
    last: Vec<Option<Last>>,
    /// The elements of `last` that this frame replaced, in case it is abandoned.
    replaced: Vec<(u32, Option<Last>)>,
    /// The buffer before growth, until a frame has copied the halves written last.
    old: Option<HistoryBuffer>,
    /// True if this frame has copied them, so that the retire queue has the buffer.
    moved: bool,
}

destroy_fields!(Histories, Gpu<'a>: old);

/// False for a view of rays, which may share the history of another view.
fn draws(view: &View) -> bool {
    view.culling != Culling::Rays
}

impl Histories {
    /// Allocates the state of all histories, so that frames allocate nothing.
    pub(crate) fn reserve(&mut self, capacity: &Capacity) {
        self.last.resize(capacity.histories as usize, None);
        self.replaced.reserve(capacity.views as usize);
    }

    /// Starts a new frame. The frame before was submitted or skipped.
    pub(crate) fn begin_frame(&mut self) {
        self.replaced.clear();
        self.moved = false;
    }

    /// Checks that the view of this index may keep its history. A view of rays may share that of
    /// another view.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the history does not exist.
    /// - [`Error::Argument`] if an earlier view keeps it.
    pub(crate) fn check(&self, views: &[View], index: usize) -> Result<()> {
        let Some((view, history)) = views.get(index).and_then(|it| Some((it, it.history?))) else {
            return Ok(());
        };
        expect_index("history", history as usize, self.last.len())?;
        let mut earlier = views.iter().take(index).filter(|other| draws(other));
        if draws(view) && earlier.any(|other| other.history == Some(history)) {
            return Err(Error::invalid(
                "View::history",
                "is already used by an earlier view of the frame",
            ));
        }
        Ok(())
    }

    /// True if there is a history.
    pub(crate) fn any(&self) -> bool {
        self.last.iter().any(Option::is_some)
    }

    /// The last frame of this history, in `buffer`.
    pub(crate) fn past(&self, history: Option<u32>, buffer: &HistoryBuffer) -> Past {
        let of = |history: u32| {
            let last = self.last.get(history as usize)?.as_ref()?;
            let address = |section| buffer.address(history, last.half, section);
            Some(Past {
                clip_from_world: last.clip_from_world,
                instances: (last.words[0] / RECORD_WORDS) as u32,
                origin: last.origin,
                addresses: [0, 1, 2, 3].map(address),
            })
        };
        history.and_then(of).unwrap_or_default()
    }

    /// Returns true if a frame with these views has copies to record.
    pub(crate) fn wants(&self, views: &[View]) -> bool {
        self.old.is_some() || views.iter().any(|view| view.history.is_some())
    }

    /// Records the copies of a frame.
    ///
    /// First come those that growth left behind, then the frame's own state for each view with a
    /// history. `sources` are buffers and byte offsets. The caller records barriers before and
    /// after.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass; the buffers are alive, and the sources have at
    /// least `words` words.
    pub(crate) unsafe fn record(
        &mut self,
        (device, cmd): (&Device, vk::CommandBuffer),
        buffer: &HistoryBuffer,
        retire_queue: &mut RetireQueue,
        (sources, words): ([(vk::Buffer, u64); 4], Words),
        views: &[View],
    ) {
        let to = buffer.buffer.handle;
        if let Some(old) = self.old.take() {
            for (history, last) in (0..).zip(&self.last) {
                let Some(last) = last else { continue };
                let region = |section| vk::BufferCopy {
                    src_offset: old.start(history, last.half, section) * 4,
                    dst_offset: buffer.start(history, last.half, section) * 4,
                    size: last.words[section] * 4,
                };
                for region in [0, 1, 2, 3].map(region).iter().filter(|r| r.size > 0) {
                    // SAFETY: `cmd` is recording outside a render pass, by this function's
                    // contract; both buffers have this half with at least these words.
                    unsafe {
                        let from = old.buffer.handle;
                        device.raw.cmd_copy_buffer(cmd, from, to, &[*region]);
                    }
                }
            }
            retire_queue.retire(Retired::History(old));
            self.moved = true;
        }
        // Of views that share a history, the one that draws keeps it.
        let of_rays = views.iter().filter(|view| !draws(view));
        for view in views.iter().filter(|view| draws(view)).chain(of_rays) {
            let Some(history) = view.history else {
                continue;
            };
            if self.replaced.iter().any(|(other, _)| *other == history) {
                continue;
            }
            let last = &mut self.last[history as usize];
            let half = last.as_ref().map_or(0, |last| 1 - last.half);
            for (section, ((from, start), words)) in sources.into_iter().zip(words).enumerate() {
                let region = vk::BufferCopy {
                    src_offset: start,
                    dst_offset: buffer.start(history, half, section) * 4,
                    size: words * 4,
                };
                if words > 0 {
                    // SAFETY: `cmd` is recording and the sources have the words, by this function's
                    // contract; a half has space for everything that the crowd has.
                    unsafe { device.raw.cmd_copy_buffer(cmd, from, to, &[region]) };
                }
            }
            self.replaced.push((history, *last));
            *last = Some(Last {
                clip_from_world: core::array::from_fn(|number| {
                    view.of_eye(number).map(|eye| eye.eye.clip_from_world)
                }),
                half,
                words,
                origin: DVec3::ZERO,
            });
        }
    }

    /// Changes the state for a new, larger buffer.
    ///
    /// `replaced` is the old one. It is kept for the next frame to copy, or returned if it holds
    /// nothing to copy.
    pub(crate) fn grow(
        &mut self,
        replaced: HistoryBuffer,
        capacity: &Capacity,
    ) -> Option<HistoryBuffer> {
        let written = self.any();
        self.reserve(capacity);
        if self.old.is_some() || !written {
            return Some(replaced);
        }
        self.old = Some(replaced);
        None
    }

    /// Notes a shift of the origin.
    ///
    /// A history stays in the world space of its frame, in which its clip spaces are, too. So
    /// motion vectors are measured from where that frame showed things, without another rounding.
    pub(crate) fn shift(&mut self, offset: DVec3) {
        let replaced = self.replaced.iter_mut().map(|(_, last)| last);
        for last in self.last.iter_mut().chain(replaced).flatten() {
            last.origin += offset;
        }
    }

    /// Undoes the frame begun last, which is never submitted and so has read and written nothing.
    pub(crate) fn abandon_frame(&mut self, retire_queue: &mut RetireQueue) {
        for (history, last) in self.replaced.drain(..).rev() {
            self.last[history as usize] = last;
        }
        if core::mem::take(&mut self.moved)
            && let Some(old) = retire_queue.restore_history()
            && let Some(never_filled) = self.old.replace(old)
        {
            retire_queue.retire(Retired::History(never_filled));
        }
    }
}
