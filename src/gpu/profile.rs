//! GPU times, measured with timestamps around scopes. Callers can do without it.

use super::{Device, Object, VkCall, destroy_fields, limit};
use crate::error::Result;
use ash::vk;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::OnceLock;

/// An open scope, to be passed to [`Frame::end_scope`](crate::Frame::end_scope).
///
/// It can be ended once, and only in the frame in which it was begun.
#[derive(Debug)]
#[must_use = "a scope that is not ended measures nothing"]
pub struct Scope {
    /// The frame that it belongs to, see [`Profiler::opened`].
    frame: u64,
    query: u32,
}

/// Timestamps around scopes, separate for each frame in flight.
///
/// Results of a frame index are read without waiting when that index begins again.
#[derive(Debug)]
pub(crate) struct Profiler {
    pool: Object<vk::QueryPool>,
    scopes_per_frame: u32,
    period_ns: f32,
    /// The valid bits of a timestamp. Counters wrap around at the end of these.
    mask: u64,
    frame_index: u32,
    /// Identifies the frame whose queries are reset, among those of all profilers of the process. 0
    /// if they are not.
    opened: u64,
    used: AtomicU32,
    /// By frame index and scope. Set once per frame.
    names: Vec<Vec<OnceLock<&'static str>>>,
    /// Names and milliseconds.
    times: Vec<(&'static str, f64)>,
    raw: Vec<[u64; 2]>,
}

destroy_fields!(Profiler, &'a Device: pool);

impl Profiler {
    /// Creates a profiler for `scopes` scopes in each of `frames_in_flight` frames.
    ///
    /// Returns `None` if the graphics queues of the device have no timestamps.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan).
    pub(crate) fn new(device: &Device, frames_in_flight: u32, scopes: u32) -> Result<Option<Self>> {
        let period_ns = device.limits.timestamp_period_ns;
        let mask = u64::MAX.checked_shr(64_u32.saturating_sub(device.limits.timestamp_bits));
        let Some(mask) = mask.filter(|_| period_ns > 0.0) else {
            return Ok(None);
        };
        let (frames_in_flight, scopes) = (frames_in_flight.max(1), scopes.max(1));
        let count = limit(
            "timestamps",
            u64::from(frames_in_flight) * u64::from(scopes) * 2,
            u32::MAX.into(),
        )? as u32;
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(count);
        // SAFETY: the info is alive during the call.
        let pool =
            unsafe { device.raw.create_query_pool(&info, None) }.call("vkCreateQueryPool")?;
        Ok(Some(Self {
            pool: Object::new(device, pool, "throng timestamps").keep(),
            scopes_per_frame: scopes,
            period_ns,
            mask,
            frame_index: 0,
            opened: 0,
            used: AtomicU32::new(scopes),
            names: (0..frames_in_flight)
                .map(|_| (0..scopes).map(|_| OnceLock::new()).collect())
                .collect(),
            times: Vec::with_capacity(scopes as usize),
            raw: Vec::with_capacity(scopes as usize * 2),
        }))
    }

    /// Reads what the previous frame with this frame index measured.
    ///
    /// Scopes whose commands have not run are left out.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan), for example if the device is lost. The times of
    /// that frame are gone.
    ///
    /// # Safety
    /// `device` is the one that this was made with. What was recorded in the previous frame with
    /// this index has been submitted, or that frame was abandoned with [`Self::abandon_frame`].
    pub(crate) unsafe fn begin_frame(&mut self, device: &Device, frame_index: u32) -> Result<()> {
        self.times.clear();
        self.raw.clear();
        // Nothing can be measured until the frame's queries are reset.
        self.opened = 0;
        *self.used.get_mut() = self.scopes_per_frame;
        let Some(names) = self.names.get_mut(frame_index as usize) else {
            return Ok(());
        };
        self.frame_index = frame_index;
        let opened = names.iter().take_while(|name| name.get().is_some()).count();
        self.raw.resize(opened * 2, [0; 2]);
        let first = frame_index * self.scopes_per_frame * 2;
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        let mut read = Ok(());
        if opened > 0 {
            let (pool, raw) = (self.pool.handle, &mut self.raw);
            // SAFETY: the range is that of `opened` scopes, so it lies in the pool, and `raw` has
            // an element for each query. A name is set only after `record_reset`, whose commands
            // were submitted by this function's contract (`abandon_frame` takes the names), so each
            // query was reset. Without the wait flag, Vulkan does not wait for results here; a
            // driver may still wait for a lock of its own.
            read = unsafe { device.raw.get_query_pool_results(pool, first, raw, flags) };
            // Some are not available if a scope was never recorded.
            read = read.or_else(|result| match result {
                vk::Result::NOT_READY => Ok(()),
                result => Err(result),
            });
            if read.is_ok() {
                let scopes = names
                    .iter()
                    .filter_map(OnceLock::get)
                    .zip(self.raw.chunks_exact(2));
                let done = scopes.filter(|(_, stamps)| stamps.iter().all(|stamp| stamp[1] != 0));
                let tick_ms = f64::from(self.period_ns) * 1e-6;
                self.times.extend(done.map(|(name, stamps)| {
                    let ticks = ticks([stamps[0][0], stamps[1][0]], self.mask);
                    (*name, ticks as f64 * tick_ms)
                }));
            }
        }
        for name in names {
            name.take();
        }
        read.call("vkGetQueryPoolResults")
    }

    /// Discards the scopes of the frame begun last.
    ///
    /// Its commands must never be submitted.
    pub(crate) fn abandon_frame(&mut self) {
        self.opened = 0;
        *self.used.get_mut() = self.scopes_per_frame;
        for name in self
            .names
            .get_mut(self.frame_index as usize)
            .into_iter()
            .flatten()
        {
            name.take();
        }
    }

    /// Resets the frame's queries. Scopes can be opened from here on.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass, and is submitted before the commands that open
    /// scopes.
    pub(crate) unsafe fn record_reset(&mut self, device: &Device, cmd: vk::CommandBuffer) {
        let (raw, pool, count) = (&device.raw, self.pool.handle, self.scopes_per_frame * 2);
        let first = self.frame_index * count;
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.opened = NEXT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract. The pool
        // has so many queries for each frame index, and `begin_frame` took only one that exists.
        unsafe { raw.cmd_reset_query_pool(cmd, pool, first, count) };
        *self.used.get_mut() = 0;
    }

    /// Begins a scope.
    ///
    /// Returns `None` if there is no space for it, or if [`Self::record_reset`] has not been
    /// recorded in this frame.
    ///
    /// # Safety
    /// - `cmd` is recording, and is submitted at most once, after the commands of
    ///   [`Self::record_reset`] of the same frame.
    /// - It is not inside a rendering with a view mask, in which a timestamp takes one query per
    ///   view.
    pub(crate) unsafe fn begin(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        name: &'static str,
    ) -> Option<Scope> {
        let number = self
            .used
            .fetch_add(1, Ordering::Relaxed)
            .min(self.scopes_per_frame);
        let names = self.names.get(self.frame_index as usize)?;
        names.get(number as usize)?.set(name).ok()?;
        let query = (self.frame_index * self.scopes_per_frame + number) * 2;
        let (raw, pool) = (&device.raw, self.pool.handle);
        let stage = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: `cmd` is recording, and runs once after the reset, by this function's contract.
        // `used` gives each number to one scope, so nothing else writes this query.
        unsafe { raw.cmd_write_timestamp(cmd, stage, pool, query) };
        let frame = self.opened;
        Some(Scope { frame, query })
    }

    /// Ends a scope.
    ///
    /// It may end in the same command buffer or in another one of the same frame. A scope of
    /// another frame or profiler is ignored.
    ///
    /// # Safety
    /// As for [`Self::begin`].
    pub(crate) unsafe fn end(&self, device: &Device, cmd: vk::CommandBuffer, scope: Scope) {
        if scope.frame != self.opened {
            return;
        }
        let (raw, pool) = (&device.raw, self.pool.handle);
        let (stage, query) = (vk::PipelineStageFlags::ALL_COMMANDS, scope.query + 1);
        // SAFETY: `cmd` is recording, and runs once after the reset, by this function's contract.
        // `begin` made the scope in this frame, as just compared, and it cannot be copied, so
        // nothing else writes this query.
        unsafe { raw.cmd_write_timestamp(cmd, stage, pool, query) };
    }

    /// The times that the last [`Self::begin_frame`] read, in the order of opening.
    ///
    /// They belong to the previous frame with that frame index.
    #[must_use]
    pub(crate) fn times(&self) -> &[(&'static str, f64)] {
        &self.times
    }
}

/// Ticks between two timestamps whose counter wraps around past `mask`.
///
/// A second timestamp that is a little earlier than the first counts as equal.
fn ticks([first, second]: [u64; 2], mask: u64) -> u64 {
    let ticks = second.wrapping_sub(first) & mask;
    if ticks > mask / 2 { 0 } else { ticks }
}
