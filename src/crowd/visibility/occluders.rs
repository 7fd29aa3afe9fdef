//! The depth pictures of a frame, and the places of their pyramids.

use crate::crowd::Capacity;
use crate::crowd::depth::Depth;
use crate::crowd::frame::history::Histories;
use crate::crowd::memory::history_buffer::HistoryBuffer;
use crate::crowd::memory::pyramids::{Pyramids, most_eyes};
use crate::crowd::receivers::Receivers;
use crate::crowd::view::View;
use crate::crowd::visibility::occlusion::{Projection, Pyramid};
use crate::error::Result;
use crate::gpu::layout::{GpuCullView, GpuOcclusion};
use crate::gpu::{Device, limit};
use crate::pass::pyramid::PyramidDispatch;
use ash::vk;
use bytemuck::Zeroable;

/// The depth pictures of a frame.
#[derive(Debug, Default)]
pub(crate) struct Occluders {
    tests: Vec<EyeTest>,
    /// True if a history may be read later, so that motion vectors follow hidden instances.
    pub(crate) follows: bool,
    /// The dispatches of the stage pyramid, for each test.
    pub(crate) dispatches: Vec<PyramidDispatch>,
}

/// The test of an eye against a pyramid.
#[derive(Debug, Clone, Copy)]
struct EyeTest {
    view: u32,
    eye: u32,
    /// Flags of [`GpuCullView`].
    flags: u32,
    record: GpuOcclusion,
}

impl Occluders {
    /// Reserves memory, so that frames allocate nothing.
    pub(crate) fn grow(&mut self, capacity: &Capacity, device: &Device) {
        let pictures = usize::from(capacity.tests_depth()) * most_eyes(capacity, device) as usize;
        self.tests
            .reserve(pictures.saturating_sub(self.tests.len()));
        let more = pictures.saturating_sub(self.dispatches.len());
        self.dispatches.reserve(more);
    }

    /// Takes the depth pictures of a frame, which are checked. `pyramids` has the frame index, and
    /// if they are those of the reveal. It is `None` if the CPU culls: then nothing is tested.
    ///
    /// # Errors
    /// [`Error::Capacity`] if there is no space for their pyramids.
    pub(crate) fn take(
        &mut self,
        views: &[View],
        depths: &[Depth],
        capacity: &Capacity,
        pyramids: Option<(&Pyramids, (u32, bool))>,
    ) -> Result<()> {
        self.tests.clear();
        self.dispatches.clear();
        let (mut end, mut texels) = (0, 0);
        for depth in depths {
            let Some(view) = views.get(depth.view as usize) else {
                continue;
            };
            let Some(view) = view.of_eye(depth.eye as usize) else {
                continue;
            };
            let pyramid = Pyramid::new(view.viewport, depth.texel_level(), end);
            texels += pyramid.texels();
            end = pyramid.end();
            let Some((pyramids, of)) = pyramids else {
                continue;
            };
            if !view.culling.is_bounded() || pyramid.texels() == 0 {
                continue;
            }
            let samples = depth.samples.as_raw();
            self.dispatches.push(PyramidDispatch {
                set: pyramids.set(of, self.dispatches.len() as u32),
                image: vk::DescriptorImageInfo {
                    image_view: depth.image,
                    image_layout: depth.layout,
                    sampler: vk::Sampler::null(),
                },
                steps: pyramid.dispatches((depth.texel_level(), samples), depth.reversed_z),
            });
            let eye = Projection {
                clip_from_world: view.eye.clip_from_world,
                jitter: view.eye.jitter,
                viewport: view.viewport,
                flip_y: view.flip_y,
                reversed_z: depth.reversed_z,
                margin_m: depth.margin_m,
                depth_step: depth.half_step().unwrap_or_default(),
            };
            self.tests.push(EyeTest {
                view: depth.view,
                eye: depth.eye,
                flags: GpuCullView::BEHIND,
                record: GpuOcclusion::new(&pyramid, &eye),
            });
        }
        let what = "pixels of depth (Capacity::depth_pixels, raised by Crowd::reserve)";
        limit(what, texels, capacity.depth_pixels.into())?;
        for (number, view) in views.iter().enumerate() {
            if let Some(receivers) = &view.receivers {
                let checked = receivers.check(number, views.len());
                checked.map_err(|why| why.at("view", number))?;
                if pyramids.is_some() && view.culling.is_bounded() {
                    self.test_casters(number as u32, view, receivers);
                }
            }
        }
        Ok(())
    }

    /// Tests the casters of a light by what receives their shadows, in each of its eyes.
    fn test_casters(&mut self, view: u32, light: &View, receivers: &Receivers) {
        for (number, eye) in (0..).zip(light.eyes()) {
            let test = self.test_mut(view, number);
            test.flags |= GpuCullView::RECEIVERS;
            test.record = test.record.with_receivers(&eye, receivers);
        }
    }

    /// Notes the last frames of views, if this one may hide instances.
    ///
    /// `palettes` is the address of this frame's palettes.
    pub(crate) fn follow(
        &mut self,
        views: &[View],
        (histories, buffer): (&Histories, &HistoryBuffer),
        palettes: vk::DeviceAddress,
    ) {
        let hides = !self.is_empty() || views.iter().any(|view| view.late);
        let keeps = histories.any() || views.iter().any(|view| view.history.is_some());
        self.follows = hides && keeps;
        if !self.follows {
            return;
        }
        for (number, view) in (0..).zip(views) {
            let [records, ..] = histories.past(view.history, buffer).addresses;
            if records != 0 {
                let test = self.test_mut(number, 0);
                test.flags |= GpuCullView::HISTORY;
                test.record.history = [records, palettes];
            }
        }
    }

    /// The test of an eye, which is new if it has none yet.
    fn test_mut(&mut self, view: u32, eye: u32) -> &mut EyeTest {
        let is_it = |test: &EyeTest| (test.view, test.eye) == (view, eye);
        let at = self.tests.iter().position(is_it).unwrap_or_else(|| {
            self.tests.push(EyeTest {
                view,
                eye,
                flags: 0,
                record: GpuOcclusion::zeroed(),
            });
            self.tests.len() - 1
        });
        &mut self.tests[at]
    }

    /// The flags of [`GpuCullView`] for the tests of an eye, and its record, if it has any.
    pub(crate) fn test(&self, view: usize, eye: usize) -> Option<(u32, &GpuOcclusion)> {
        let is_it = |test: &&EyeTest| (test.view as usize, test.eye as usize) == (view, eye);
        let test = self.tests.iter().find(is_it)?;
        Some((test.flags, &test.record))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }
}
