//! The builds, refits and copies of a frame.

use crate::crowd::characters::list::Characters;
use crate::crowd::rays::character::build;
use ash::vk;

/// A structure to build or to refit: of which character, its scratch memory, and its vertices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) character: u32,
    pub(super) structure: vk::AccelerationStructureKHR,
    pub(super) scratch: vk::DeviceAddress,
    pub(super) vertices: vk::DeviceAddress,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A pose is built.
    Pose,
    /// A slot is built in the rest pose.
    Slot,
    /// A slot is refitted.
    Refit,
}

/// The slots of a character that have jobs.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotJobs {
    pub(super) character: u32,
    /// The first word.
    pub(super) first: u32,
    pub(super) count: u32,
}

/// The builds, refits and copies of a frame.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Poses first, and then slots.
    pub(super) jobs: Vec<Job>,
    pub(super) slots: Vec<SlotJobs>,
    /// Copies from where structures were built to where they take less memory.
    pub(super) copies: Vec<[vk::AccelerationStructureKHR; 2]>,
    pub(super) builds: Builds,
}

/// The structures of Vulkan for all jobs of a frame, kept so that frames allocate nothing.
#[derive(Debug, Default)]
pub(super) struct Builds {
    pub(super) geometries: Vec<vk::AccelerationStructureGeometryKHR<'static>>,
    pub(super) ranges: Vec<vk::AccelerationStructureBuildRangeInfoKHR>,
    pub(super) infos: Vec<vk::AccelerationStructureBuildGeometryInfoKHR<'static>>,
    pub(super) ranges_of: Vec<*const vk::AccelerationStructureBuildRangeInfoKHR>,
}

// SAFETY: only `Rays::record_structures` (`commands.rs`) uses the addresses in it, and writes them
// before.
unsafe impl Send for Builds {}
// SAFETY: as above.
unsafe impl Sync for Builds {}

impl Plan {
    pub(super) fn clear(&mut self) {
        self.jobs.clear();
        self.slots.clear();
        self.copies.clear();
    }

    /// Fills in the builds of all jobs.
    pub(super) fn fill(&mut self, characters: &Characters) {
        let builds = &mut self.builds;
        builds.geometries.clear();
        builds.ranges.clear();
        builds.infos.clear();
        builds.ranges_of.clear();
        let mesh = |job: &Job| {
            let own = characters[job.character].rays.as_ref()?;
            match job.kind {
                Kind::Pose => Some(&own.mesh),
                Kind::Slot | Kind::Refit => own.slots.as_ref().map(|slots| &slots.mesh),
            }
        };
        for job in &self.jobs {
            let mesh = mesh(job);
            let geometries = mesh.into_iter().flat_map(|it| it.geometries(job.vertices));
            builds.geometries.extend(geometries);
            let ranges = mesh.into_iter().flat_map(|it| it.ranges());
            builds.ranges.extend(ranges);
        }
        // From here on, the lists do not move.
        let mut first = 0;
        for job in &self.jobs {
            let count = mesh(job).map_or(0, |mesh| mesh.geometries(0).len());
            let refits = job.kind != Kind::Pose;
            let (mode, before) = match job.kind {
                Kind::Refit => (vk::BuildAccelerationStructureModeKHR::UPDATE, job.structure),
                _ => (
                    vk::BuildAccelerationStructureModeKHR::BUILD,
                    vk::AccelerationStructureKHR::null(),
                ),
            };
            let mut info = build(&[], refits)
                .mode(mode)
                .src_acceleration_structure(before)
                .dst_acceleration_structure(job.structure)
                .scratch_data(vk::DeviceOrHostAddressKHR {
                    device_address: job.scratch,
                });
            info.geometry_count = count as u32;
            info.p_geometries = builds.geometries[first..].as_ptr();
            builds.infos.push(info);
            builds.ranges_of.push(builds.ranges[first..].as_ptr());
            first += count;
        }
    }

    /// The structures that are built, and the slots that are refitted.
    pub(super) fn counts(&self) -> [u32; 2] {
        let refits = self.jobs.iter().filter(|job| job.kind == Kind::Refit);
        let refits = refits.count();
        [(self.jobs.len() - refits) as u32, refits as u32]
    }
}
