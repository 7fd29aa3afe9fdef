//! The lists of instances that a view draws, whether the CPU or the GPU makes them.

use crate::support::probe::{Output, Probe};
use throng::ash::{self, vk};
use throng::gpu::GpuInstance;
use throng::{CharacterId, Frame, ViewId};

/// A list of instances that are drawn alike.
pub struct List {
    set: vk::DescriptorSet,
    dynamic_offsets: [u32; 2],
    ring_palettes: vk::DeviceAddress,
    list: u32,
    first: u32,
    /// The most instances that it can have.
    pub most: usize,
    /// The index of their number, in the lists as shaders see them.
    count_at: u32,
    pub flipped: bool,
    /// The level of detail, if the list has only one.
    pub level: Option<u32>,
    /// The primitive of the only draw that has it, if its instances hide parts. Only the GPU's
    /// lists tell.
    pub primitive: Option<u32>,
}

/// The lists of a character with these many instances, in the order of drawing. It has no blended
/// materials.
pub fn lists(frame: &Frame<'_>, view: ViewId, kind: CharacterId, instances: usize) -> Vec<List> {
    if let Ok(draws) = frame.indirect_draws(view, kind) {
        let mut lists: Vec<List> = Vec::new();
        for draw in draws {
            let list = List {
                set: draw.set,
                dynamic_offsets: draw.dynamic_offsets,
                ring_palettes: draw.ring_palettes,
                list: draw.list,
                first: 0,
                most: instances,
                count_at: draw.offset as u32 / 4 + 1,
                flipped: draw.flipped,
                level: Some(draw.level),
                primitive: draw.varies.then_some(draw.draw.primitive),
            };
            // The draws of all other primitives of a level share a list.
            let key = |list: &List| (list.level, list.flipped, list.primitive);
            if lists.iter().all(|other| key(other) != key(&list)) {
                lists.push(list);
            }
        }
        return lists;
    }
    let inputs = frame.draw_bindings(view, kind, 0).unwrap();
    let ranges = [(inputs.plain, false), (inputs.flipped, true)];
    let list = |(range, flipped): (std::ops::Range<u32>, bool)| List {
        set: inputs.set,
        dynamic_offsets: inputs.dynamic_offsets,
        ring_palettes: inputs.ring_palettes,
        list: inputs.list,
        first: range.start,
        most: range.len(),
        count_at: GpuInstance::NONE,
        flipped,
        level: None,
        primitive: None,
    };
    ranges.map(list).into()
}

impl List {
    /// Words of an instance with `entries` of a palette, as the probe writes them.
    pub fn stride(entries: usize) -> usize {
        33 + 12 * entries
    }

    /// Words that [`Self::record`] writes at most.
    pub fn words(&self, entries: usize) -> usize {
        1 + self.most * Self::stride(entries)
    }

    /// Records the probe `test/crowd_probe.comp`, which writes the list and `entries` of each
    /// palette from the word `at` on.
    pub fn record(
        &self,
        (device, cmd): (&ash::Device, vk::CommandBuffer),
        (probe, output): (&Probe, &Output),
        entries: usize,
        at: usize,
    ) {
        assert!((at + self.words(entries)) as u64 * 4 <= output.buffer.size());
        probe.bind(device, cmd, self.set, &self.dynamic_offsets, output);
        let most = self.most as u32;
        let push = [
            self.first,
            most,
            entries as u32,
            at as u32,
            self.list,
            self.count_at,
        ];
        // At least one invocation, which writes the number of instances.
        probe.run((device, cmd), &push, self.ring_palettes, most.max(1));
    }

    /// The words of each instance that [`Self::record`] wrote.
    pub fn read<'a>(&self, words: &'a [u32], entries: usize, at: usize) -> Vec<&'a [u32]> {
        let count = words[at] as usize;
        assert!(count <= self.most, "{count} of {}", self.most);
        let each = words[at + 1..].chunks(Self::stride(entries));
        each.take(count).collect()
    }
}
