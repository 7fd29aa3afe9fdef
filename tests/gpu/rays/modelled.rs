//! Records and hits in the frames of a random model.

use super::tracer::{Ray, Record, Tracer};
use crate::reference::rng::Rng;
use std::collections::BTreeMap;
use throng::RayCrowd;
use throng::ash::{self, vk};
use throng::glam::{Affine3A, Vec3};
use throng::palette::Mat3x4;
use throng_standalone::Context;

/// Somebody whom the view shows.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) world: Affine3A,
    /// The bound of the transform's error.
    pub(crate) bound: f32,
    pub(crate) mask: u32,
}

/// The people of a frame by their custom index, and the number of records.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) people: BTreeMap<u32, Person>,
    pub(crate) count: u32,
}

/// Figures of what was compared.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    pub(crate) people: usize,
    pub(crate) left_out: usize,
    pub(crate) without_structure: usize,
    pub(crate) hits: usize,
}

/// Traces rays in frames in flight.
pub(crate) struct Modelled {
    tracers: Vec<Tracer>,
    figures: Figures,
}

impl Modelled {
    pub(crate) fn new(context: &Context, layout: vk::DescriptorSetLayout, frames: u32) -> Self {
        Self {
            tracers: (0..frames).map(|_| Tracer::new(context, layout)).collect(),
            figures: Figures::default(),
        }
    }

    /// Records rays at everybody who is shown. The last frame of this index has ended.
    pub(crate) fn record(
        &mut self,
        on: (&ash::Device, vk::CommandBuffer),
        traced: &RayCrowd,
        (shown, frame_index): (&Shown, u32),
        rng: &mut Rng,
    ) {
        let rays = shown.people.values().flat_map(|person| {
            [(); 4].map(|()| {
                let at = person.world.transform_point3(rng.vector(-0.3, 1.0));
                let direction = rng.direction();
                Ray {
                    origin: at - direction * 20.0,
                    direction,
                    mask: 0xFF,
                }
            })
        });
        let rays: Vec<_> = rays.collect();
        self.tracers[frame_index as usize].record(on, traced, &rays);
    }

    /// Compares the records of a frame that has ended, and who was met.
    pub(crate) fn check(&mut self, shown: &Shown, frame_index: u32) {
        let tracer = &self.tracers[frame_index as usize];
        let records = tracer.records(shown.count);
        let expected = shown.people.len().min(records.len());
        let (filled, empty) = records.split_at(expected);
        assert!(empty.iter().all(|it| *it == Record::default()), "{empty:?}");
        let mut indices: Vec<_> = filled.iter().map(|it| it.index).collect();
        indices.sort_unstable();
        indices.dedup();
        assert_eq!(indices.len(), filled.len(), "{filled:?}");
        for record in filled {
            let person = shown.people.get(&record.index);
            let person = person.unwrap_or_else(|| panic!("{record:?} {shown:?}"));
            let rows = Mat3x4::from_affine(&person.world).rows;
            for (is, wanted) in record.transform.iter().zip(rows.as_flattened()) {
                assert!((is - wanted).abs() <= person.bound, "{record:?} {person:?}");
            }
            assert_eq!((record.mask, record.sbt_offset), (person.mask, 0));
            self.figures.without_structure += usize::from(record.structure == 0);
        }
        for hit in tracer.hits().iter().flatten() {
            let record = &filled[hit.record as usize];
            assert_eq!(record.index, hit.index);
            assert!(record.mask != 0 && record.structure != 0, "{record:?}");
            assert!(hit.position.distance(Vec3::ZERO) < 1e3, "{hit:?}");
            self.figures.hits += 1;
        }
        self.figures.people += filled.len();
        self.figures.left_out += shown.people.len() - expected;
    }

    pub(crate) fn destroy(self, context: &Context) -> Figures {
        for tracer in self.tracers {
            tracer.destroy(context);
        }
        self.figures
    }
}
