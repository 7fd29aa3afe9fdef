//! The builds, refits and copies of a frame.

use crate::crowd::characters::list::Characters;
use crate::crowd::rays::buffers::{POSITION_BYTES, RayBuffers, Space};
use crate::crowd::rays::character::build;
use ash::vk;

/// A structure to build or to refit, and the space that those before it take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) character: u32,
    pub(super) structure: vk::AccelerationStructureKHR,
    pub(super) before: Space,
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

/// The builds, refits and copies of a frame, and the structures of Vulkan for them, kept so that
/// frames allocate nothing.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Poses first, and then slots.
    pub(super) jobs: Vec<Job>,
    /// The space before the next job.
    pub(super) end: Space,
    /// Copies from where structures were built to where they take less memory.
    pub(super) copies: Vec<[vk::AccelerationStructureKHR; 2]>,
    geometries: Vec<vk::AccelerationStructureGeometryKHR<'static>>,
    pub(super) infos: Vec<vk::AccelerationStructureBuildGeometryInfoKHR<'static>>,
    pub(super) ranges: Vec<*const vk::AccelerationStructureBuildRangeInfoKHR>,
}

// SAFETY: only `Rays::record_structures` (`commands.rs`) uses the addresses in it, and writes them
// before.
unsafe impl Send for Plan {}
// SAFETY: as above.
unsafe impl Sync for Plan {}

impl Plan {
    pub(super) fn clear(&mut self) {
        self.jobs.clear();
        self.copies.clear();
        self.end = Space::default();
    }

    /// Adds a job of a character, which takes this space.
    pub(super) fn add(
        &mut self,
        (character, kind): (u32, Kind),
        structure: vk::AccelerationStructureKHR,
        space: Space,
    ) {
        self.jobs.push(Job {
            character,
            structure,
            before: self.end,
            kind,
        });
        self.end = self.end.plus(space);
    }

    /// Fills in the builds of all jobs.
    pub(super) fn fill(&mut self, characters: &Characters, buffers: &RayBuffers) {
        self.geometries.clear();
        self.ranges.clear();
        self.infos.clear();
        for job in &self.jobs {
            let Some(own) = &characters[job.character].rays else {
                continue;
            };
            let refits = job.kind != Kind::Pose;
            let mesh = own.mesh(refits);
            let mut info = build(&[], refits)
                .dst_acceleration_structure(job.structure)
                .scratch_data(vk::DeviceOrHostAddressKHR {
                    device_address: buffers.scratch_address + job.before.scratch,
                });
            if job.kind == Kind::Refit {
                info.mode = vk::BuildAccelerationStructureModeKHR::UPDATE;
                info.src_acceleration_structure = job.structure;
            }
            info.geometry_count = mesh.ranges.len() as u32;
            self.infos.push(info);
            self.ranges.push(mesh.ranges.as_ptr());
            let vertices = buffers.positions.address + job.before.vertices * POSITION_BYTES;
            self.geometries.extend(mesh.geometries(vertices));
        }
        // From here on, the geometries do not move.
        let mut first = 0;
        for info in &mut self.infos {
            info.p_geometries = self.geometries[first..].as_ptr();
            first += info.geometry_count as usize;
        }
    }

    /// The structures of poses that are built.
    pub(super) fn poses(&self) -> &[Job] {
        let count = self.jobs.partition_point(|job| job.kind == Kind::Pose);
        &self.jobs[..count]
    }

    /// The structures that are built, and the slots that are refitted.
    pub(super) fn counts(&self) -> [u32; 2] {
        let refits = self.jobs.iter().filter(|job| job.kind == Kind::Refit);
        let refits = refits.count();
        [(self.jobs.len() - refits) as u32, refits as u32]
    }
}
