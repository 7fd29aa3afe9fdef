//! The stages that decide on the GPU who is drawn: cull, scan, allocate_rows, compact, args and
//! looks.

use crate::error::Result;
use crate::gpu::constants::{ARGS_WORKGROUP, LOOKS_ROW};
use crate::gpu::pipeline::spirv;
use crate::gpu::sets::Sets;
use crate::gpu::{Device, Features, Guard, destroy_fields};
use crate::pass::compute::ComputePass;
use crate::pass::push::CullPush;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

/// The stages, in the order in which they run.
const STAGES: [(&str, &[u32]); 7] = [
    ("budget", spirv::BUDGET_COMP),
    ("cull", spirv::CULL_COMP),
    ("scan", spirv::SCAN_COMP),
    ("allocate_rows", spirv::ALLOCATE_ROWS_COMP),
    ("compact", spirv::COMPACT_COMP),
    ("args", spirv::ARGS_COMP),
    ("looks", spirv::LOOKS_COMP),
];

/// True for the stages that read what the stage before wrote. Scan and allocate_rows
/// both read what cull wrote, and compact and args what scan wrote. Looks reads what both wrote.
const WAITS: [bool; STAGES.len()] = [false, true, true, false, true, false, true];

/// The numbers of some stages.
const SCAN: usize = 2;
const COMPACT: usize = 4;
const ARGS: usize = 5;
const LOOKS: usize = 6;

/// The stages that test instances, which are the first. They have pipelines for views with several
/// eyes.
const TESTS: usize = 2;

/// A stage that also tests instances against depth, or one of a frame that holds back instances,
/// with its constants.
type Variant = (&'static str, &'static [u32], [bool; 2]);

/// Compact of frames in which motion vectors follow hidden instances, and the first stages, which
/// also test instances against depth.
///
/// With the first constant of the stages, views may have several eyes, and with the second, lights
/// may have receivers.
const BEHIND: [Variant; 1 + 4 * TESTS] = {
    let (budget, cull) = (spirv::BUDGET_BEHIND_COMP, spirv::CULL_BEHIND_COMP);
    [
        ("compact follows", spirv::COMPACT_HOLDS_COMP, [false, true]),
        ("budget behind", budget, [false, false]),
        ("cull behind", cull, [false, false]),
        ("budget behind, receivers", budget, [false, true]),
        ("cull behind, receivers", cull, [false, true]),
        ("budget behind of eyes", budget, [true, false]),
        ("cull behind of eyes", cull, [true, false]),
        ("budget behind of eyes, receivers", budget, [true, true]),
        ("cull behind of eyes, receivers", cull, [true, true]),
    ]
};

/// The stages of frames that hold back instances: compact before the reveal and in it, and reveal,
/// with the constants of [`BEHIND`].
const LATE: [Variant; 7] = {
    let (compact, reveal) = (spirv::COMPACT_HOLDS_COMP, spirv::REVEAL_COMP);
    [
        ("compact holds", compact, [false, false]),
        ("compact late", compact, [true, false]),
        ("compact late, follows", compact, [true, true]),
        ("reveal", reveal, [false, false]),
        ("reveal, receivers", reveal, [false, true]),
        ("reveal of eyes", reveal, [true, false]),
        ("reveal of eyes, receivers", reveal, [true, true]),
    ]
};

/// The pipelines of [`STAGES`], and on a device with multiview those of [`TESTS`] for views with
/// several eyes.
#[derive(Debug)]
pub(crate) struct CullPass {
    all: ComputePass,
    /// The stages of [`BEHIND`]. On a device without multiview, those for one eye.
    behind: Option<ComputePass>,
    /// The stages of [`LATE`], with the layouts of `behind`.
    late: Option<ComputePass>,
}

destroy_fields!(CullPass, &'a Device: late, behind, all);

/// The buffers that the stages read and write.
pub(crate) struct CullBuffers {
    /// The instance table with actors and levels.
    pub(crate) table: vk::DescriptorBufferInfo,
    /// The work buffer.
    pub(crate) work: vk::DescriptorBufferInfo,
    /// Views and lists in the ring. The range is at most that of one frame in flight.
    pub(crate) input: vk::DescriptorBufferInfo,
}

/// The input of [`CullPass::record`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct CullDispatch {
    pub(crate) set: vk::DescriptorSet,
    /// The set from [`CullPass::make_set_behind`], if an eye has depth.
    pub(crate) behind: Option<vk::DescriptorSet>,
    /// The dynamic offset of the input.
    pub(crate) input: u32,
    pub(crate) push: CullPush,
    /// Chunks, characters and draws in use.
    pub(crate) chunks: u32,
    pub(crate) characters: u32,
    pub(crate) draws: u32,
    /// True if the looks of members vary.
    pub(crate) looks: bool,
    /// True if a view has a limit of triangles.
    pub(crate) limited: bool,
    /// True if the stage animate follows.
    pub(crate) animates: bool,
    /// True if a view has several eyes.
    pub(crate) eyes: bool,
    /// True if a light has receivers.
    pub(crate) receivers: bool,
    /// True if a view holds back instances until the reveal.
    pub(crate) holds: bool,
    /// True if motion vectors follow hidden instances.
    pub(crate) follows: bool,
}

impl CullDispatch {
    /// The workgroups of the stage looks: rows of draws for each view.
    fn looks(&self) -> [u32; 2] {
        match self.looks {
            false => [0; 2],
            true => [
                self.draws.min(LOOKS_ROW),
                self.draws.div_ceil(LOOKS_ROW) * self.push.view_count,
            ],
        }
    }

    /// The number of the variant of [`BEHIND`].
    fn variant(&self) -> usize {
        usize::from(self.eyes) * 2 + usize::from(self.receivers)
    }
}

/// The bindings. The last one, the pyramids, is for [`BEHIND`] alone.
const BINDINGS: [vk::DescriptorType; 4] = [
    vk::DescriptorType::STORAGE_BUFFER,
    vk::DescriptorType::STORAGE_BUFFER,
    vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
    vk::DescriptorType::STORAGE_BUFFER,
];

impl CullPass {
    pub(crate) fn new(device: &Device) -> Result<Guard<'_, Self>> {
        let set = (&BINDINGS[..3], None);
        // SAFETY: the set layout is the pass's own.
        let mut pass = unsafe { ComputePass::new::<CullPush>(device, "throng cull", set) }?;
        let first = Features::DRAW_INDIRECT_FIRST_INSTANCE;
        let first = [u32::from(device.enabled.contains(first))];
        for (stage, (name, words)) in STAGES.into_iter().enumerate() {
            let name = format!("throng {name}");
            let constants = if stage < ARGS { &[][..] } else { &first };
            // SAFETY: the module is the crate's own, compiled for such a layout. Its workgroup has
            // a fixed size of at most 256, and the constant is no size.
            unsafe { pass.add(device, &name, words, constants) }?;
        }
        if device.enabled.contains(Features::MULTIVIEW) {
            for (name, words) in STAGES.into_iter().take(TESTS) {
                let name = format!("throng {name} of eyes");
                // SAFETY: as above. The constant is no size.
                unsafe { pass.add(device, &name, words, &[vk::TRUE]) }?;
            }
        }
        Ok(pass.map(|all| Self {
            all,
            behind: None,
            late: None,
        }))
    }

    /// Creates the pipelines that also test instances against depth, unless it has them.
    pub(crate) fn prepare_behind(&mut self, device: &Device) -> Result<()> {
        if self.behind.is_some() {
            return Ok(());
        }
        let eyes = device.enabled.contains(Features::MULTIVIEW);
        let stages = &BEHIND[..1 + if eyes { 4 } else { 2 } * TESTS];
        self.behind = Some(Self::with_pyramids(device, "throng cull behind", stages)?);
        Ok(())
    }

    /// Creates the pipelines of frames that hold back instances, unless it has them.
    pub(crate) fn prepare_late(&mut self, device: &Device) -> Result<()> {
        if self.late.is_none() {
            self.late = Some(Self::with_pyramids(device, "throng reveal", &LATE)?);
        }
        Ok(())
    }

    fn with_pyramids(
        device: &Device,
        name: &'static str,
        stages: &[Variant],
    ) -> Result<ComputePass> {
        let set = (&BINDINGS[..], None);
        // SAFETY: the set layout is the pass's own.
        let mut pass = unsafe { ComputePass::new::<CullPush>(device, name, set) }?;
        for (name, words, constants) in stages {
            let constants = constants.map(u32::from);
            // SAFETY: the module is the crate's own, compiled for such a layout. Its workgroup has
            // a fixed size, and no constant is a size.
            unsafe { pass.add(device, &format!("throng {name}"), words, &constants) }?;
        }
        Ok(pass.keep())
    }

    pub(crate) fn set_layout(&self) -> vk::DescriptorSetLayout {
        self.all.set_layout()
    }

    /// The pipelines, with their names.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = (&'static str, vk::Pipeline)> + '_ {
        let names = STAGES.iter().cycle().map(|(name, _)| *name);
        let more = [(&self.behind, &BEHIND[..]), (&self.late, &LATE[..])];
        let more = more.into_iter().flat_map(|(pass, stages)| {
            let names = stages.iter().map(|(name, ..)| *name);
            names.zip(pass.iter().flat_map(ComputePass::pipelines))
        });
        names.zip(self.all.pipelines()).chain(more)
    }

    /// Makes a set in a pool of its own.
    pub(crate) fn make_set<'g>(
        &self,
        device: &'g Device,
        buffers: &CullBuffers,
    ) -> Result<Guard<'g, Sets>> {
        let buffers = [buffers.table, buffers.work, buffers.input];
        self.all.make_set(device, &buffers)
    }

    /// Makes a set for tests against depth, after [`Self::prepare_behind`].
    pub(crate) fn make_set_behind<'g>(
        &self,
        device: &'g Device,
        buffers: &CullBuffers,
        pyramids: vk::DescriptorBufferInfo,
    ) -> Result<Guard<'g, Sets>> {
        let buffers = [buffers.table, buffers.work, buffers.input, pyramids];
        let pass = self.behind.as_ref().unwrap_or(&self.all);
        pass.make_set(device, &buffers)
    }

    /// Records the stages, with barriers between them. The caller records those before and after.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass; the sets are from [`Self::make_set`] and
    /// [`Self::make_set_behind`], and their buffers are laid out as `push` says.
    pub(crate) unsafe fn record(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        dispatch: &CullDispatch,
    ) {
        let behind = self.behind.as_ref().zip(dispatch.behind);
        let late = self.late.as_ref().zip(dispatch.behind);
        let late = late.filter(|_| dispatch.holds);
        let (views, chunks) = (dispatch.push.view_count, dispatch.chunks);
        let args = dispatch.draws.div_ceil(ARGS_WORKGROUP);
        // Without views, the stages show all that are visible, for the stage animate.
        let (any, animates) = (views.min(1), u32::from(dispatch.animates));
        let sizes = [
            [chunks * u32::from(dispatch.limited), any],
            [chunks, any.max(animates)],
            [dispatch.characters, views],
            [animates, chunks.min(1)],
            [chunks, 1],
            [args, views],
            dispatch.looks(),
        ];
        let steps = (0..).zip(WAITS.into_iter().zip(sizes));
        let steps = steps.map(|(stage, (waits, size))| {
            let tests = stage < TESTS;
            let follows = dispatch.follows && stage == COMPACT;
            let late = late.filter(|_| stage == COMPACT);
            let with = match (behind.filter(|_| tests || follows), late) {
                (Some((pass, set)), _) if follows => (pass, set, 0),
                (Some((pass, set)), _) => (pass, set, 1 + stage + dispatch.variant() * TESTS),
                (_, Some((pass, set))) => (pass, set, 0),
                _ if dispatch.eyes && tests => (&self.all, dispatch.set, stage + STAGES.len()),
                _ => (&self.all, dispatch.set, stage),
            };
            Step { with, waits, size }
        });
        // SAFETY: this function has the same contract. The numbers of workgroups are within the
        // limits of every device: there are less than 65,536 chunks, characters and views.
        unsafe { record((device, cmd), dispatch, &[], steps) };
    }

    /// Records the stage reveal and those after it, with barriers between them. The caller records
    /// those before and after.
    ///
    /// # Safety
    /// As [`Self::record`], for the dispatch of the frame with the push constants of a reveal.
    pub(crate) unsafe fn record_reveal(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        dispatch: &CullDispatch,
    ) {
        let Some((late, set)) = self.late.as_ref().zip(dispatch.behind) else {
            return;
        };
        let (views, chunks) = (dispatch.push.view_count, dispatch.chunks);
        let args = dispatch.draws.div_ceil(ARGS_WORKGROUP);
        let step = |with, waits, size| Step { with, waits, size };
        let all = |stage| (&self.all, dispatch.set, stage);
        let steps = [
            step((late, set, 3 + dispatch.variant()), false, [chunks, 1]),
            step(all(SCAN), true, [dispatch.characters, views]),
            step(
                (late, set, 1 + usize::from(dispatch.follows)),
                true,
                [chunks, 1],
            ),
            step(all(ARGS), false, [args, views]),
            step(all(LOOKS), true, dispatch.looks()),
        ];
        // SAFETY: this function has the same contract.
        unsafe { record((device, cmd), dispatch, &[], steps.into_iter()) };
    }
}

/// A dispatch of a stage.
pub(super) struct Step<'a> {
    /// The pass, a set of its layout, and the number of the pipeline.
    pub(super) with: (&'a ComputePass, vk::DescriptorSet, usize),
    /// True if it reads what the step before wrote.
    pub(super) waits: bool,
    /// Workgroups in both directions.
    pub(super) size: [u32; 2],
}

/// Records dispatches, with barriers between them. `more` are sets that they have besides.
///
/// # Safety
/// `cmd` is recording, outside a render pass. The sets have the layouts of their passes, and their
/// buffers are laid out as the push constants say.
pub(super) unsafe fn record<'a>(
    (device, cmd): (&Device, vk::CommandBuffer),
    dispatch: &CullDispatch,
    more: &[vk::DescriptorSet],
    steps: impl Iterator<Item = Step<'a>>,
) {
    let (raw, point) = (&device.raw, vk::PipelineBindPoint::COMPUTE);
    let (stage, read, write) = (
        Stage::COMPUTE_SHADER,
        Access::SHADER_READ,
        Access::SHADER_WRITE,
    );
    let push = bytemuck::bytes_of(&dispatch.push);
    let (mut bound, mut waiting) = (None, false);
    for Step { with, waits, size } in steps {
        waiting |= waits;
        let ((pass, set, number), [x, y]) = (with, size);
        if x == 0 || y == 0 {
            continue;
        }
        let layout = pass.layout.handle;
        // SAFETY: `cmd` is recording outside a render pass and the set has this layout, by this
        // function's contract.
        unsafe {
            if core::mem::take(&mut waiting) {
                device.barrier(cmd, (stage, write), (stage, read | write));
            }
            if bound.replace(layout) != Some(layout) {
                raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[set], &[dispatch.input]);
                if !more.is_empty() {
                    raw.cmd_bind_descriptor_sets(cmd, point, layout, 1, more, &[]);
                }
                raw.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::COMPUTE, 0, push);
            }
            raw.cmd_bind_pipeline(cmd, point, pass.pipeline(number));
            raw.cmd_dispatch(cmd, x, y, 1);
        }
    }
}
