//! Which instances the stage animate poses on the GPU, and the play records that it has of them.

use crate::crowd::Capacity;
use crate::crowd::memory::range_allocator::RangeAllocator;
use crate::crowd::table::Table;
use crate::gpu::animation::MAX_PLAYS;
use crate::gpu::{CpuReason, GpuPlay, PosedBy};
use crate::grow::reserve_all;
use core::ops::Range;

/// Play records of one frame's upload, besides one for each instance.
const MORE_UPLOAD: u32 = 1024;

/// The lengths of ranges of records. Most instances keep their range, whatever they play.
const LENGTHS: [u32; 2] = [4, MAX_PLAYS as u32];

/// The largest distance from the epoch of play records, in seconds. Records may begin as long
/// before or after it again.
const MAX_EPOCH_S: f64 = (1_u32 << 28) as f64;

/// The number of play records that a crowd of `instances` has space for.
pub(crate) fn play_capacity(instances: u32) -> u32 {
    instances.saturating_mul(LENGTHS[0]).max(LENGTHS[1])
}

/// The play records that one frame has space for.
pub(crate) fn upload_capacity(instances: u32) -> u32 {
    play_capacity(instances).min(instances.saturating_add(MORE_UPLOAD))
}

/// The GPU's copy of what an instance plays.
#[derive(Debug, Clone, Copy)]
struct Played {
    /// Its first record.
    first: u32,
    /// The clip whose shared poses stand in for what it plays plus 1, or 0, and [`Self::SKINNED`].
    bits: u16,
    /// The number of its records, and above four bits, the length of the range from the first on.
    records: u8,
    posed_by: PosedBy,
}

impl Played {
    const NONE: Self = Self {
        first: 0,
        bits: 0,
        records: 0,
        posed_by: PosedBy::Cpu(CpuReason::Chosen),
    };

    /// [`Self::bits`]: the GPU deforms its vertices before they are drawn. A character has at most
    /// 16,384 clips.
    const SKINNED: u16 = 1 << 15;

    fn count(self) -> u32 {
        u32::from(self.records & 15)
    }

    fn length(self) -> u32 {
        u32::from(self.records >> 4)
    }

    fn skinned(self) -> bool {
        self.bits & Self::SKINNED != 0
    }

    fn shared(self) -> u16 {
        self.bits & !Self::SKINNED
    }
}

const _: () = assert!(size_of::<Played>() == 8);

/// The buffer that has no space for play records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// The upload of this frame.
    Upload,
    /// The buffer of all records.
    Records,
}

/// The instances that the GPU poses. Exists if the stage animate runs there.
#[derive(Debug, Default)]
pub(crate) struct GpuPoses {
    /// By table index.
    played: Table<Played>,
    ranges: RangeAllocator,
    /// The number of instances that the GPU poses, in all and by character.
    all: u32,
    of_character: Table<u32>,
    /// The number of those whose vertices the GPU deforms, by character.
    skinned_of: Table<u32>,
    /// The time that play records count from.
    epoch_s: Option<f64>,
    outdated: bool,
    /// The records of the frame that is being prepared.
    pub(crate) upload: Vec<GpuPlay>,
    /// Their destinations: the start and length in `upload`, and the first record there.
    pub(crate) copies: Vec<(Range<u32>, u32)>,
    /// The instances among those of the upload that have morph weights.
    pub(crate) weighted: Vec<u32>,
    upload_capacity: u32,
}

impl GpuPoses {
    /// Grows to a capacity, so that frames allocate nothing.
    pub(crate) fn grow(&mut self, capacity: &Capacity) {
        let instances = capacity.instances;
        let weighted = capacity.morph_weights.min(instances) as usize;
        self.ranges.grow(play_capacity(instances));
        for length in LENGTHS {
            let most = play_capacity(instances) / length;
            self.ranges.reserve(length, most as usize);
        }
        self.upload_capacity = upload_capacity(instances);
        let (instances, records) = (instances as usize, self.upload_capacity as usize);
        if self.played.len() < instances {
            reserve_all(&mut self.played, instances);
            self.played.resize(instances, Played::NONE);
        }
        // An actor may have more records than a frame has space for.
        reserve_all(&mut self.upload, records + usize::from(u8::MAX));
        reserve_all(&mut self.copies, instances.min(records));
        reserve_all(&mut self.weighted, weighted);
    }

    /// Notes the number of characters.
    pub(crate) fn reserve_characters(&mut self, characters: usize) {
        if self.of_character.len() < characters {
            self.of_character.resize(characters, 0);
            self.skinned_of.resize(characters, 0);
        }
    }

    /// Begins a frame at a time. Returns true if no records are valid any more, because the time
    /// is too far from their epoch.
    pub(crate) fn begin(&mut self, now_s: f64) -> bool {
        self.upload.clear();
        self.copies.clear();
        self.weighted.clear();
        let epoch_s = Some(self.epoch_s(now_s));
        self.outdated = core::mem::replace(&mut self.epoch_s, epoch_s) != epoch_s;
        self.outdated
    }

    /// True if no records of earlier frames are valid.
    pub(crate) fn is_outdated(&self) -> bool {
        self.outdated
    }

    /// The time that play records of a frame at `now_s` count from.
    pub(crate) fn epoch_s(&self, now_s: f64) -> f64 {
        let near = |epoch_s: &f64| (now_s - epoch_s).abs() <= MAX_EPOCH_S;
        self.epoch_s.filter(near).unwrap_or(now_s)
    }

    /// The processor that poses an instance, as the last prepared frame knew it.
    pub(crate) fn posed_by(&self, index: u32) -> PosedBy {
        self.played[index].posed_by
    }

    /// True if the GPU poses an instance.
    pub(crate) fn poses(&self, index: u32) -> bool {
        self.posed_by(index) == PosedBy::Gpu
    }

    /// True if the GPU poses any instance.
    pub(crate) fn poses_any(&self) -> bool {
        self.all > 0
    }

    /// The number of instances that the GPU poses.
    pub(crate) fn count(&self) -> u32 {
        self.all
    }

    /// True if the GPU poses an instance of a character.
    pub(crate) fn poses_some_of(&self, character: u32) -> bool {
        self.of_character[character] > 0
    }

    /// The play records of an instance, as [`GpuActor::plays`](crate::gpu::layout::GpuActor) has
    /// them. `None` if the CPU poses it.
    pub(crate) fn plays(&self, index: u32, count_bits: u32) -> Option<u32> {
        let played = self.played[index];
        (played.posed_by == PosedBy::Gpu).then_some(played.first << count_bits | played.count())
    }

    /// Sets the clip whose shared poses stand in for what an instance plays, if they do. Returns
    /// whether it was another one.
    pub(crate) fn set_shared_clip(&mut self, index: u32, clip: Option<u16>) -> bool {
        let bits = clip.map_or(0, |clip| clip + 1) & !Played::SKINNED;
        let played = &mut self.played[index];
        let before = played.shared();
        played.bits = played.bits & Played::SKINNED | bits;
        before != bits
    }

    /// Sets whether the GPU deforms the vertices of an instance that it poses. Returns whether that
    /// is new.
    pub(crate) fn set_skinned(&mut self, (character, index): (u32, u32), skinned: bool) -> bool {
        let before = self.played[index];
        let flag = if skinned { Played::SKINNED } else { 0 };
        let bits = before.shared() | flag;
        self.set(character, index, Played { bits, ..before });
        before.skinned() != skinned
    }

    /// True if the GPU poses an instance and deforms its vertices.
    pub(crate) fn skins(&self, index: u32) -> bool {
        self.played[index].skinned()
    }

    /// True if the GPU deforms vertices of an instance of a character that it poses.
    pub(crate) fn skins_some_of(&self, character: u32) -> bool {
        self.skinned_of[character] > 0
    }

    /// True if the GPU deforms vertices of any instance that it poses.
    pub(crate) fn skins_any(&self) -> bool {
        self.skinned_of.iter().any(|count| *count > 0)
    }

    /// The clip whose shared poses stand in for what an instance plays.
    pub(crate) fn shared_clip(&self, index: u32) -> Option<u16> {
        self.played[index].shared().checked_sub(1)
    }

    /// Lets the GPU pose an instance with the records of `upload` from `start` on. Returns whether
    /// it has other records or another number of them than before.
    ///
    /// # Errors
    /// [`Full`] if there is no space. Then nothing changes, and `upload` ends at `start`.
    pub(crate) fn take(
        &mut self,
        (character, index): (u32, u32),
        start: usize,
    ) -> Result<bool, Full> {
        if self.upload.len() > self.upload_capacity as usize {
            self.upload.truncate(start);
            return Err(Full::Upload);
        }
        let count = self.upload.len() - start;
        let before = self.played[index];
        let mut now = before;
        let fits = count <= before.length() as usize;
        let range = match fits {
            true => Some((before.first, before.length())),
            false => {
                let length = LENGTHS[usize::from(count > LENGTHS[0] as usize)];
                let first = self.ranges.allocate(length);
                first.map(|first| (first, length))
            }
        };
        let Some((first, length)) = range else {
            self.upload.truncate(start);
            return Err(Full::Records);
        };
        if !fits {
            self.ranges.free(before.first, before.length());
        }
        (now.first, now.records) = (first, (length << 4) as u8 | count as u8);
        now.posed_by = PosedBy::Gpu;
        self.copy(start as u32..self.upload.len() as u32, first);
        self.set(character, index, now);
        let same = (before.posed_by, before.first, before.records)
            == (PosedBy::Gpu, now.first, now.records);
        Ok(!same)
    }

    /// Adds a copy of records, as a part of the last one if it follows on that.
    fn copy(&mut self, records: Range<u32>, to: u32) {
        if records.is_empty() {
            return;
        }
        match self.copies.last_mut() {
            Some((last, first))
                if last.end == records.start && *first + last.len() as u32 == to =>
            {
                last.end = records.end;
            }
            _ => self.copies.push((records, to)),
        }
    }

    /// Lets the CPU pose an instance. Returns whether the GPU did until now.
    pub(crate) fn leave(&mut self, (character, index): (u32, u32), why: CpuReason) -> bool {
        let before = self.played[index];
        self.ranges.free(before.first, before.length());
        let now = Played {
            posed_by: PosedBy::Cpu(why),
            ..Played::NONE
        };
        self.set(character, index, now);
        before.posed_by == PosedBy::Gpu
    }

    fn set(&mut self, character: u32, index: u32, now: Played) {
        let before = core::mem::replace(&mut self.played[index], now);
        let skinned = &mut self.skinned_of[character];
        *skinned = *skinned + u32::from(now.skinned()) - u32::from(before.skinned());
        let [before, now] = [before, now].map(|of| u32::from(of.posed_by == PosedBy::Gpu));
        let own = &mut self.of_character[character];
        *own = *own + now - before;
        self.all = self.all + now - before;
    }
}
