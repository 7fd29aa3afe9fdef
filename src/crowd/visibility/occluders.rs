//! The depth pictures of a frame, and the places of their pyramids.

use crate::crowd::Capacity;
use crate::crowd::depth::Depth;
use crate::crowd::memory::pyramids::{Pyramids, most_eyes};
use crate::crowd::view::{Culling, View};
use crate::crowd::visibility::occlusion::{Projection, Pyramid};
use crate::error::Result;
use crate::gpu::layout::GpuOcclusion;
use crate::gpu::{Device, limit};
use crate::pass::pyramid::PyramidDispatch;
use ash::vk;

/// The depth pictures of a frame.
#[derive(Debug, Default)]
pub(crate) struct Occluders {
    tests: Vec<EyeTest>,
    /// The dispatches of the stage pyramid, for each test.
    pub(crate) dispatches: Vec<PyramidDispatch>,
}

/// The test of an eye against a pyramid.
#[derive(Debug, Clone, Copy)]
struct EyeTest {
    view: u32,
    eye: u32,
    record: GpuOcclusion,
}

impl Occluders {
    /// Reserves memory, so that frames allocate nothing.
    pub(crate) fn grow(&mut self, capacity: &Capacity, device: &Device) {
        let pictures =
            usize::from(capacity.depth_pixels > 0) * most_eyes(capacity, device) as usize;
        self.tests
            .reserve(pictures.saturating_sub(self.tests.len()));
        let more = pictures.saturating_sub(self.dispatches.len());
        self.dispatches.reserve(more);
    }

    /// Takes the depth pictures of a frame, which are checked. `pyramids` is `None` if the CPU
    /// culls: then nothing is tested.
    ///
    /// # Errors
    /// [`Error::Capacity`] if there is no space for their pyramids.
    pub(crate) fn take(
        &mut self,
        views: &[View],
        depths: &[Depth],
        capacity: &Capacity,
        pyramids: Option<(&Pyramids, u32)>,
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
            let Some((pyramids, frame_index)) = pyramids else {
                continue;
            };
            if view.culling == Culling::Off || pyramid.texels() == 0 {
                continue;
            }
            let samples = depth.samples.as_raw();
            self.dispatches.push(PyramidDispatch {
                set: pyramids.set(frame_index, self.dispatches.len() as u32),
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
                record: GpuOcclusion::new(&pyramid, &eye),
            });
        }
        let what = "pixels of depth (Capacity::depth_pixels, raised by Crowd::reserve)";
        limit(what, texels, capacity.depth_pixels.into())?;
        Ok(())
    }

    /// The test of an eye, if it has depth.
    pub(crate) fn test(&self, view: usize, eye: usize) -> Option<&GpuOcclusion> {
        let is_it = |test: &&EyeTest| (test.view as usize, test.eye as usize) == (view, eye);
        self.tests.iter().find(is_it).map(|test| &test.record)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }
}
