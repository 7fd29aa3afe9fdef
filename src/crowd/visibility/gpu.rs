//! The input of the stages attach, cull, scan, allocate_rows, compact and args, if they run on the
//! GPU.

use crate::crowd::memory::buffers::{FrameBuffers, FrameWriter};
use crate::crowd::memory::sections::{Part, SectionBytes};
use crate::crowd::memory::work::WorkLayout;
use crate::crowd::scene::Scene;
use crate::crowd::view::View;
use crate::crowd::visibility::cull::ViewTest;
use crate::crowd::visibility::occluders::Occluders;
use crate::error::Result;
use crate::gpu::GpuTime;
use crate::gpu::animation::words;
use crate::gpu::constants::CHUNK;
use crate::gpu::layout::{GpuAttachment, GpuCullView, GpuOcclusion};
use crate::pass::attach::AttachDispatch;
use crate::pass::cull::CullDispatch;
use crate::pass::push::{AttachPush, CullPush};

/// A frame that was written, and the stages that follow from that.
#[derive(Debug)]
pub(crate) struct CullStep {
    pub(crate) written: SectionBytes,
    /// If the GPU culls.
    pub(crate) cull: Option<CullDispatch>,
    /// If it places attached instances.
    pub(crate) attach: Option<AttachDispatch>,
}

/// The record of an eye of a view: those of further eyes follow those of all views.
pub(crate) fn eye_record(views: &[View], view: usize, eye: usize) -> usize {
    if eye == 0 {
        return view;
    }
    let more = views[..view].iter().map(|view| view.eye_count() - 1);
    views.len() + more.sum::<usize>() + eye - 1
}

impl Scene {
    /// Writes what the GPU's cull stage reads: changed members, views and lists. This is the last
    /// step of a frame, which has a time. `frames` are its number and that of the frame before.
    pub(crate) fn write_cull(
        &self,
        (views, occluders): (&[View], &Occluders),
        frames: [u64; 2],
        time_s: f64,
        mut out: FrameWriter<'_>,
    ) -> Result<CullStep> {
        let Some(layout) = out.buffers.work.as_ref().map(|work| work.layout) else {
            return Ok(CullStep {
                written: out.written,
                cull: None,
                attach: None,
            });
        };
        self.characters.upload(&layout, &mut out)?;
        self.attachments.gpu.upload(&layout, &mut out)?;
        let more_at = |number: usize| eye_record(views, number, 1);
        let tested = |record: GpuCullView, number: usize, eye: usize| {
            let test = occluders.test(number, eye).map_or(0, |(flags, _)| flags);
            let late = if views[number].late {
                GpuCullView::LATE
            } else {
                0
            };
            GpuCullView {
                flags: record.flags | test | late,
                ..record
            }
        };
        let each = views.iter().enumerate();
        let records = each.clone().map(|(number, view)| {
            let record = ViewTest::new(view).record(view, more_at(number) as u32);
            tested(record, number, 0)
        });
        let eyes = each.clone().flat_map(|(number, view)| {
            let eyes = (1..).zip(ViewTest::new(view).more_records(view));
            eyes.map(move |(eye, record)| tested(record, number, eye))
        });
        let count = views.iter().map(View::eye_count).sum();
        out.write(Part::CullViews, 0, count)?
            .fill_from(records.chain(eyes))?;
        // The tests stand at the end, that of the first record last.
        let end = out.buffers.sections[Part::CullViews].bytes;
        for (number, view) in each {
            for eye in 0..view.eye_count() {
                if let Some((_, test)) = occluders.test(number, eye) {
                    let back = eye_record(views, number, eye) as u64 + 1;
                    let at = end - back * size_of::<GpuOcclusion>() as u64;
                    out.write(Part::CullViews, at, 1)?.copy_from(&[*test])?;
                }
            }
        }
        // Instances that came after a list was made are not in it.
        let words = self.instances.table_len().div_ceil(CHUNK);
        let each = u64::from(out.buffers.sections.listed_words) * 4;
        for list in 0..self.shown.list_count {
            let bits = self.shown.listed(list).iter().copied();
            let bits = bits.chain(core::iter::repeat(0)).take(words);
            let at = u64::from(list) * each;
            out.write(Part::ListedBits, at, words)?.fill_from(bits)?;
        }
        let (buffers, frame_index) = (&*out.buffers, out.frame_index);
        let epoch_s = self.poses.gpu.as_ref().map(|poses| poses.epoch_s(time_s));
        let now = GpuTime::new(time_s, epoch_s.unwrap_or(time_s)).words();
        let mut cull = self.cull_dispatch(views, &layout, buffers, now);
        [cull.push.frame, cull.push.last_frame] = frames.map(|frame| frame as u32);
        let tests = cull.holds || !occluders.is_empty();
        let pyramids = buffers.pyramids.as_ref().filter(|_| tests);
        cull.behind = pyramids.map(|pyramids| pyramids.cull.first());
        cull.follows = occluders.follows;
        cull.input = buffers.offset(frame_index, buffers.sections[Part::CullViews]);
        Ok(CullStep {
            written: out.written,
            attach: self.attach_dispatch(&layout, buffers, (cull.input, now)),
            cull: Some(cull),
        })
    }

    fn attach_dispatch(
        &self,
        layout: &WorkLayout,
        buffers: &FrameBuffers,
        (input, now): (u32, [u32; 2]),
    ) -> Option<AttachDispatch> {
        let (count, levels) = self.attachments.gpu.in_use();
        let plays = buffers.plays.as_ref()?;
        (levels != [0; GpuAttachment::LEVELS as usize]).then_some(AttachDispatch {
            set: buffers.cull.first(),
            input,
            push: AttachPush {
                plays: plays.address,
                now,
                actors_at: (buffers.table_layout.actors / 16) as u32,
                attachments_at: layout.attachments / 4,
                count,
                level: 0,
                spheres_at: (buffers.table_layout.spheres / 16) as u32,
                reserved: 0,
            },
            levels,
        })
    }

    fn cull_dispatch(
        &self,
        views: &[View],
        layout: &WorkLayout,
        buffers: &FrameBuffers,
        [now_low, now_high]: [u32; 2],
    ) -> CullDispatch {
        let (table, sections) = (&buffers.table_layout, &buffers.sections);
        let plays = buffers.plays.as_ref().map_or(0, |plays| plays.address);
        let [plays_low, plays_high] = words(plays);
        let [chunks, characters, draws] = self.characters.chunks.ends();
        CullDispatch {
            set: buffers.cull.first(),
            behind: None,
            input: 0,
            push: CullPush {
                view_count: views.len() as u32,
                actors_at: (table.actors / 16) as u32,
                levels_at: (table.levels / 4) as u32,
                listed_at: (sections[Part::CullViews].bytes / 4) as u32,
                listed_words: sections.listed_words,
                shown_at: (table.shown / 4) as u32,
                chunks_end: chunks,
                rows_first: self.instances.rows_end(),
                rows_end: self.instances.rows_capacity(),
                plays_low,
                plays_high,
                now_low,
                now_high,
                ..layout.push
            },
            chunks,
            characters,
            draws,
            animates: self.poses.gpu.is_some(),
            eyes: views.iter().any(|view| view.eye_count() > 1),
            receivers: views.iter().any(|view| view.receivers.is_some()),
            holds: views.iter().any(|view| view.late),
            follows: false,
            looks: self.characters.have_looks(),
            limited: views
                .iter()
                .any(|view| view.detail.max_triangles.is_some() && !ViewTest::new(view).is_fixed()),
        }
    }
}
