//! Pipelines are created in batches, with the engine's cache.

use crate::counting::{Counted, PIPELINES, batches, objects};
use crate::reference::ribbon::{built, ribbon};
use crate::support::{SMALL, described, each, stages};
use throng::ash::vk::{self, Handle};
use throng::mesh::AlphaMode;
use throng::palette::SkinningMethod;
use throng::{CharacterDesc, PassDesc, PassKind, Stages};

#[test]
fn a_pass_and_a_character_create_their_pipelines_in_one_call() {
    each(|setup| {
        let mut counted = Counted::new(setup);
        let info = vk::PipelineCacheCreateInfo::default();
        let device = &setup.context.device;
        counted.cache = unsafe { device.create_pipeline_cache(&info, None) }.unwrap();
        let cache = counted.cache.as_raw();
        batches();
        let mut crowd = counted.crowd(setup, 1, SMALL);
        // Scatter, shift and skin, six for the stage cull, and the stage attach.
        let compute = match stages() {
            Stages::Gpu => 10,
            Stages::GpuCull => 9,
            _ => 3,
        };
        assert_eq!(batches(), vec![(cache, 1); compute]);
        assert_eq!(crowd.pipelines().count(), compute);
        let mut raw = ribbon(4);
        raw.materials[0].alpha = AlphaMode::Blend;
        let character = built(raw).character;
        let allocator = &mut counted.allocator;
        crowd
            .add_character(allocator, &character, &CharacterDesc::default())
            .unwrap();
        assert_eq!(batches(), [], "there is no pass");
        let color = PassDesc {
            color_formats: vec![vk::Format::R8G8B8A8_SRGB],
            ..PassDesc::default()
        };
        let shadow = PassDesc {
            kind: PassKind::Shadow,
            depth_format: vk::Format::D32_SFLOAT,
            ..PassDesc::default()
        };
        unsafe { crowd.create_pass(&color) }.unwrap();
        let of_color = crowd.pipelines().count() - compute;
        assert!(of_color >= 2, "opaque and blended");
        assert_eq!(batches(), [(cache, of_color as u32)]);
        unsafe { crowd.create_pass(&shadow) }.unwrap();
        let of_shadow = crowd.pipelines().count() - compute - of_color;
        assert!(of_shadow < of_color, "blended materials cast no shadow");
        assert_eq!(batches(), [(cache, of_shadow as u32)]);
        // The same combinations again.
        crowd
            .add_character(allocator, &character, &CharacterDesc::default())
            .unwrap();
        assert_eq!(batches(), []);
        // The same combinations in another format, for both passes in one call.
        let desc = described(SkinningMethod::DualQuat, false);
        crowd.add_character(allocator, &character, &desc).unwrap();
        let more = of_color + of_shadow;
        assert_eq!(batches(), [(cache, more as u32)]);
        assert_eq!(crowd.pipelines().count(), compute + 2 * more);
        assert_eq!(objects()[PIPELINES], (compute + 2 * more) as i64);
        // The first frame says how many came before it, except those that every crowd has. After
        // it, there were no more.
        for wanted in [2 * more as u32, 0] {
            let frame = unsafe { crowd.begin_frame(allocator, 0, 0.0) }.unwrap();
            assert_eq!(frame.stats().new_pipelines, wanted);
        }
        unsafe {
            crowd.destroy(allocator);
            device.destroy_pipeline_cache(counted.cache, None);
        }
        counted.finish();
    });
}
