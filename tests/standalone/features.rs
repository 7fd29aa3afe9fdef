//! Sets of device features.

use throng::ash::vk;
use throng::standalone::FeatureSet;

/// Sets every feature of a structure after its header, and returns the number of words set.
fn fill<T>(features: &mut T, header_bytes: usize) -> usize {
    let words = (size_of::<T>() - header_bytes) / size_of::<vk::Bool32>();
    let start = core::ptr::from_mut(features).cast::<u8>();
    // SAFETY: besides features, which are words, a structure holds only the header and padding.
    // The words lie within the structure, and nothing else refers to it meanwhile.
    let words = unsafe {
        let first = start.add(header_bytes).cast::<vk::Bool32>();
        core::slice::from_raw_parts_mut(first, words)
    };
    words.fill(vk::TRUE);
    words.len()
}

/// Every feature of Vulkan 1.3 belongs to a set.
#[test]
fn the_list_is_complete() {
    // The header is a type and a pointer.
    let header = size_of::<vk::BaseOutStructure<'_>>();
    let mut all = FeatureSet::default();
    let words = fill(&mut all.v10, 0)
        + fill(&mut all.v11, header)
        + fill(&mut all.v12, header)
        + fill(&mut all.v13, header);
    let names = FeatureSet::default().lacks(&all).len();
    // The surplus is at most the padding at the ends of the three structures.
    assert!((names..names + 3).contains(&words), "{names} of {words}");
}

#[test]
fn sets_are_sets() {
    let base = FeatureSet::base();
    let none = FeatureSet::default();
    let mut more = FeatureSet::default();
    more.v10.multi_draw_indirect = vk::TRUE;
    assert!(base.or(&more).lacks(&base).is_empty());
    assert_eq!(
        base.or(&more).and(&base).lacks(&more),
        ["multi_draw_indirect"]
    );
    assert_eq!(
        none.lacks(&base),
        [
            "buffer_device_address",
            "synchronization2",
            "dynamic_rendering",
            "maintenance4"
        ]
    );
    assert!(none.lacks(&base.and(&none)).is_empty());
}
