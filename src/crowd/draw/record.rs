//! Drawing a prepared frame.

use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::frame::Frame;
use crate::crowd::memory::sections::Part;
use crate::crowd::view_record::Prepared;
use crate::crowd::visibility::chunks::Slot;
use crate::crowd::visibility::runs::{DrawInstances, Run, shown};
use crate::crowd::{PassId, ViewId};
use crate::error::{Error, Result, expect};
use crate::gpu::GpuInstance;
use crate::gpu::PrimitiveDraw;
use crate::pass::desc::{EnvironmentLight, PassKind};
use crate::pass::draw::{DrawPass, PUSH_STAGES};
use crate::pass::pipelines::Variant;
use crate::pass::push::DrawPush;
use ash::vk;

impl Frame<'_> {
    /// Draws the crowd as `view` sees it.
    ///
    /// May be called any number of times per frame, from several threads and into several command
    /// buffers, including secondary ones. It binds the following and leaves it bound: its
    /// pipelines, descriptor set 0 (and others in passes with
    /// [`shadow_map`](crate::PassDesc::shadow_map) or an environment map), the first 16 bytes of
    /// push constants, index buffer, viewport, scissor, cull mode and front face.
    ///
    /// In a pass with a [view mask](crate::PassDesc::view_mask), it draws all eyes of the view, and
    /// opens no profiler scope.
    ///
    /// Blended primitives are drawn after everything else, character by character, far instances
    /// first.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the pass does not exist.
    /// - [`Error::Argument`] if the view belongs to another frame, if the pass uses a shadow map or
    ///   an environment map and the crowd has none, if the view mask of the pass has bits for which
    ///   the view has no eyes, if the view is a [late](ViewId::late) one before the reveal, or if
    ///   depth of a perspective view does not run as
    ///   [`PassDesc::reversed_z`](crate::PassDesc::reversed_z) says.
    ///
    /// Nothing is recorded then.
    ///
    /// # Safety
    /// - `cmd` is one of the crowd's device, for a queue family that has graphics. It is recording,
    ///   inside a dynamic rendering whose attachments and view mask are those of the pass; or
    ///   inside the [subpass](crate::PassDesc::render_pass) of the pass, or that of a compatible
    ///   render pass.
    /// - It is submitted after the commands of this frame's [`Self::record_prepare`], and before
    ///   this frame index begins again. With
    ///   [`CrowdDesc::profile`](crate::crowd::CrowdDesc::profile), it runs at most once, as for
    ///   [`Self::begin_scope`].
    /// - If the pass has a [`MaterialDesc`](crate::MaterialDesc), its sets are bound and its push
    ///   constants are pushed, with the layout of
    ///   [`Crowd::pass_layout`](crate::crowd::Crowd::pass_layout).
    pub unsafe fn record_draw(
        &self,
        cmd: vk::CommandBuffer,
        view: ViewId,
        pass: PassId,
    ) -> Result<()> {
        span!("record_draw");
        let crowd = &*self.crowd;
        let pass = crowd.pass(pass)?;
        let prepared = self.prepared_view(view)?;
        let waits = view.late && crowd.frame.late.waits.is_some();
        let why = "is late, but Frame::record_reveal was not called";
        expect("view", !waits, why)?;
        let shadow = crowd.pipelines.shadow.set().filter(|_| pass.shadow_map);
        let has_shadow = !pass.shadow_map || shadow.is_some();
        let why = "needs a shadow map, but set_shadow_map was not called";
        expect("pass", has_shadow, why)?;
        let reflects = pass.target.environment == EnvironmentLight::Map;
        let environment = crowd.pipelines.environment.set().filter(|_| reflects);
        let has_map = !reflects || environment.is_some();
        let why = "needs an environment map, but set_environment_map was not called";
        expect("pass", has_map, why)?;
        let view_mask = pass.target.view_mask;
        let has_eyes = view_mask >> prepared.eyes == 0;
        let why = "has fewer eyes than the view mask of the pass has";
        expect("view", has_eyes, why)?;
        let reversed = pass.target.reversed_z;
        let fits = prepared
            .reversed_depth
            .is_none_or(|depth| depth == reversed);
        let why = match reversed {
            true => "has depth that grows with distance, but the pass has reversed_z",
            false => "has depth that shrinks with distance, but the pass lacks reversed_z",
        };
        expect("view", fits, why)?;
        let recorder = Recorder {
            frame: self,
            cmd,
            view,
            prepared,
            pass,
        };
        // SAFETY: this function's contract is that of the calls inside: `cmd` is recording inside a
        // rendering of this pass, after `record_prepare`, which `prepared_view` found. The scope
        // is ended here.
        unsafe {
            crowd.device.begin_label(cmd, c"throng draw");
            // With a view mask, a timestamp takes one query per view.
            let scope = match view_mask {
                0 => self.begin_scope(cmd, pass.target.kind.scope()),
                _ => None,
            };
            recorder.begin([shadow, environment]);
            recorder.solid();
            if pass.target.kind == PassKind::Color && recorder.is_last() {
                recorder.blended();
            }
            self.end_scope(cmd, scope);
            crowd.device.end_label(cmd);
        }
        Ok(())
    }

    pub(crate) fn prepared_view(&self, view: ViewId) -> Result<&Prepared> {
        let prepared = self.crowd.frame.views.get(view.index as usize);
        let current = self.prepared && view.frame == self.crowd.memory.retire_queue.frame();
        let prepared = prepared.filter(|_| current);
        prepared.ok_or(Error::invalid("view", "was not prepared in this frame"))
    }

    /// The dynamic offsets of set 0: where the frame's view and lists start.
    pub(crate) fn dynamic_offsets(&self, view: ViewId) -> [u32; 2] {
        let buffers = &self.crowd.memory.buffers;
        let sections = &buffers.sections;
        let views = buffers.offset(self.frame_index, sections[Part::Views]);
        [
            views + view.index * sections.view_stride as u32,
            buffers.lists_offset(self.frame_index),
        ]
    }

    /// The lists of the GPU that a view draws: its own, and from the reveal on what that added.
    pub(crate) fn lists(&self, view: ViewId) -> impl Iterator<Item = ViewId> + use<> {
        let reveals = self.crowd.frame.late.reveals(view.index);
        let lists = [(!view.late, view), (reveals, view.late())];
        lists
            .into_iter()
            .filter_map(|(is_drawn, list)| is_drawn.then_some(list))
    }

    /// The index of the word before the lists of the CPU, as shaders see them. It is 0, which is
    /// the start of a list whose draws give absolute indices.
    pub(crate) fn cpu_list(&self) -> u32 {
        let sections = &self.crowd.memory.buffers.sections;
        sections.first_in_lists(Part::Visible)
    }

    /// The index of the first element of the lists of the CPU, as shaders see them.
    pub(crate) fn first_visible(&self) -> u32 {
        self.cpu_list() + 1
    }
}

/// The data for recording one call of [`Frame::record_draw`].
struct Recorder<'a> {
    frame: &'a Frame<'a>,
    cmd: vk::CommandBuffer,
    view: ViewId,
    prepared: &'a Prepared,
    pass: &'a DrawPass,
}

/// The properties in which draws of a primitive differ.
struct DrawKind {
    level: u8,
    /// True if the instances' transforms are flipped.
    flipped: bool,
    /// See [`DrawPush::list`].
    list: u32,
}

/// The state that is bound already, so that it is not bound again.
#[derive(Default)]
struct Bound {
    pipeline: Option<vk::Pipeline>,
    set: Option<vk::DescriptorSet>,
    index_type: Option<vk::IndexType>,
    double_sided: Option<bool>,
    front: Option<vk::FrontFace>,
}

impl Recorder<'_> {
    /// Binds what all draws of the call use.
    ///
    /// `sets` are those that the pass uses in addition to set 0.
    ///
    /// # Safety
    /// As [`Frame::record_draw`].
    unsafe fn begin(&self, sets: [Option<vk::DescriptorSet>; 2]) {
        let raw = &self.frame.crowd.device.raw;
        // SAFETY: `cmd` is recording inside a rendering, by this function's contract; the sets are
        // the crowd's and alive.
        unsafe {
            raw.cmd_set_viewport(self.cmd, 0, &[self.prepared.viewport]);
            raw.cmd_set_scissor(self.cmd, 0, &[self.prepared.scissor]);
            for (number, set) in (1..).zip(sets.into_iter().flatten()) {
                let (point, layout) = (vk::PipelineBindPoint::GRAPHICS, self.pass.layout.handle);
                raw.cmd_bind_descriptor_sets(self.cmd, point, layout, number, &[set], &[]);
            }
        }
    }

    /// Draws everything that is not blended. For each character, instances with a flipped transform
    /// are drawn separately.
    ///
    /// # Safety
    /// As [`Frame::record_draw`].
    unsafe fn solid(&self) {
        let crowd = &self.frame.crowd;
        for (index, character) in crowd.scene.characters.iter() {
            if let Some(slot) = &character.slot {
                // SAFETY: this function has the same contract.
                unsafe { self.indirect(character, slot) };
                continue;
            }
            if self.view.late {
                continue;
            }
            let runs = crowd.scene.shown.runs(self.view.index, index);
            let groups = runs.chunk_by(|a, b| (a.flipped, a.level) == (b.flipped, b.level));
            // SAFETY: this function has the same contract.
            unsafe { self.character(character, false, groups) };
        }
    }

    /// The lists that it draws: those of the view, and what the reveal added.
    fn lists(&self) -> impl Iterator<Item = ViewId> + use<> {
        self.frame.lists(self.view)
    }

    /// True if no other call draws more of the view: late instances come last.
    fn is_last(&self) -> bool {
        let late = &self.frame.crowd.frame.late;
        let holds = late.views.get(self.view.index as usize);
        match holds.is_some_and(|view| view.late) {
            true => late.waits.is_none(),
            false => !self.view.late,
        }
    }

    /// Draws everything that is blended, in the order in which the view sorted it.
    ///
    /// # Safety
    /// As [`Frame::record_draw`].
    unsafe fn blended(&self) {
        let crowd = &self.frame.crowd;
        for (index, character) in crowd.scene.characters.iter() {
            let runs = crowd.frame.sorted.runs(self.view.index, index);
            // SAFETY: this function has the same contract.
            unsafe { self.character(character, true, runs.chunks(1)) };
        }
    }

    /// Draws either the blended primitives of a character or all others, for one group of runs
    /// after the other.
    ///
    /// The runs of a group are either all flipped or all not, have one level of detail, and are
    /// contiguous. So if several of them show a primitive, one draw covers them. State that was
    /// bound for one group stays bound for the next.
    ///
    /// # Safety
    /// As [`Frame::record_draw`].
    unsafe fn character<'r>(
        &self,
        character: &LoadedCharacter,
        blended: bool,
        groups: impl Iterator<Item = &'r [Run]>,
    ) {
        let device = &self.frame.crowd.device;
        let mut draws = character
            .levels
            .iter()
            .flat_map(|level| level.draws(blended));
        let drawn = draws.any(|draw| {
            let variant = Variant::of(draw, character.reads);
            self.pass.pipeline(variant).is_some()
        });
        let mut groups = groups.peekable();
        if !drawn || groups.peek().is_none() {
            return;
        }
        let (mut bound, mut vertices) = (Bound::default(), 0);
        // SAFETY: this function has the same contract.
        unsafe {
            device.begin_label(self.cmd, &character.label);
            for group in groups {
                let level = group.first().and_then(|run| character.level(run.level));
                let Some(level) = level else { continue };
                for run in group {
                    let each = character.vertices(level, blended, run.look.hidden);
                    vertices += each * u64::from(run.count);
                }
                for draw in level.draws(blended) {
                    for instances in shown(group, |look| character.shows(draw, look)) {
                        self.draw(character, draw, instances, &mut bound);
                    }
                }
            }
            device.end_label(self.cmd);
        }
        self.frame.crowd.frame.counters.fetched(vertices);
    }

    /// Records the indirect draws of a character whose instances the GPU lists.
    ///
    /// # Safety
    /// As [`Frame::record_draw`].
    unsafe fn indirect(&self, character: &LoadedCharacter, slot: &Slot) {
        let crowd = &self.frame.crowd;
        let device = &crowd.device;
        let Some(work) = &crowd.memory.buffers.work else {
            return;
        };
        let (mut bound, mut count) = (Bound::default(), 0);
        // SAFETY: `cmd` is recording inside a rendering, by this function's contract; the arguments
        // lie in the work buffer, where this frame's stages wrote them.
        unsafe {
            device.begin_label(self.cmd, &character.label);
            let draws = character.indirect(slot);
            let draws = draws.flat_map(|shown| self.lists().map(move |view| (shown, view)));
            for (shown, view) in draws {
                let kind = DrawKind {
                    level: shown.level as u8,
                    flipped: shown.flipped,
                    list: work.layout.start(view, shown.slot),
                };
                if self.bind(character, shown.draw, &kind, &mut bound) {
                    let at = work.layout.args_offset(view, shown.slot);
                    let (raw, buffer) = (&device.raw, work.buffer.handle);
                    raw.cmd_draw_indexed_indirect(self.cmd, buffer, at, 1, 0);
                    count += 1;
                }
            }
            device.end_label(self.cmd);
        }
        crowd.frame.counters.drew(count, 0);
    }

    /// Records the draws of one primitive.
    ///
    /// # Safety
    /// As [`Frame::record_draw`].
    unsafe fn draw(
        &self,
        character: &LoadedCharacter,
        draw: &PrimitiveDraw,
        run: DrawInstances,
        bound: &mut Bound,
    ) {
        let crowd = &self.frame.crowd;
        let kind = DrawKind {
            level: run.level,
            flipped: run.flipped,
            list: self.frame.cpu_list(),
        };
        // SAFETY: this function has the same contract.
        unsafe {
            if !self.bind(character, draw, &kind, bound) {
                return;
            }
            let (first, count) = (draw.first_index, draw.index_count);
            let instance = self.frame.first_visible() + run.first;
            let raw = &crowd.device.raw;
            raw.cmd_draw_indexed(self.cmd, count, run.count, first, 0, instance);
        }
        let instances = u64::from(run.count);
        // Triangles that may flip have two draws. The vertex shader keeps one of them per instance,
        // so they count once.
        let triangles = if draw.flipped {
            0
        } else {
            u64::from(draw.index_count / 3) * instances
        };
        crowd.frame.counters.drew(1, triangles);
    }

    /// Binds everything for a draw of a primitive. Returns false if the pass does not draw it.
    ///
    /// # Safety
    /// As [`Frame::record_draw`].
    unsafe fn bind(
        &self,
        character: &LoadedCharacter,
        draw: &PrimitiveDraw,
        kind: &DrawKind,
        bound: &mut Bound,
    ) -> bool {
        let crowd = &self.frame.crowd;
        let (raw, cmd, layout) = (&crowd.device.raw, self.cmd, self.pass.layout.handle);
        let variant = Variant::of(draw, character.reads);
        let pipeline = self.pass.pipeline(variant);
        let (Some(pipeline), Some(set)) = (pipeline, character.set(draw.material)) else {
            return false;
        };
        let point = vk::PipelineBindPoint::GRAPHICS;
        let flipped = draw.flipped != kind.flipped;
        let front = self
            .prepared
            .front_face(self.pass.target.reversed_z, flipped);
        // SAFETY: `cmd` is recording inside a rendering, by this function's contract; pipelines,
        // sets, buffers and ranges are the crowd's own.
        unsafe {
            if bound.pipeline.replace(pipeline) != Some(pipeline) {
                raw.cmd_bind_pipeline(cmd, point, pipeline);
            }
            if bound.set.replace(set) != Some(set) {
                let offsets = self.frame.dynamic_offsets(self.view);
                raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[set], &offsets);
            }
            if bound.index_type.replace(draw.index_type) != Some(draw.index_type) {
                raw.cmd_bind_index_buffer(cmd, character.mesh.index_buffer(), 0, draw.index_type);
            }
            if bound.double_sided.replace(draw.double_sided) != Some(draw.double_sided) {
                let cull = if draw.double_sided {
                    vk::CullModeFlags::NONE
                } else {
                    vk::CullModeFlags::BACK
                };
                raw.cmd_set_cull_mode(cmd, cull);
            }
            if bound.front.replace(front) != Some(front) {
                raw.cmd_set_front_face(cmd, front);
            }
            let push = DrawPush {
                primitive: draw.primitive,
                flip: draw.flip_code.unwrap_or(GpuInstance::NONE),
                level: kind.level.into(),
                list: kind.list,
            };
            raw.cmd_push_constants(cmd, layout, PUSH_STAGES, 0, bytemuck::bytes_of(&push));
        }
        true
    }
}
