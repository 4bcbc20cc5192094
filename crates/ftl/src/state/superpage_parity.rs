//! Parity across the planes of a superblock: once all other programs of a superpage have their slots, a program without data
//! of the host takes the last.
//!
//! The controller adds pages up while they pass through its RAM, so parity reads nothing. Its page is never mapped: a block
//! with parity has less to collect. The programs of a superpage are counted, not matched by page number, since a page goes to
//! the least filled plane.

use crate::plan::region::RegionId;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use wordline_device::Parity;

/// How far each group of planes is from its next parity.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct SuperpageParity {
    planes: u32,
    /// Programs since the last of parity, by region and plane, each at the first plane of its group; empty without parity.
    programs: Vec<u32>,
}

impl SuperpageParity {
    /// The counters for this number of regions and planes.
    pub fn new(parity: Parity, regions: usize, planes: u32) -> SuperpageParity {
        let counted = if parity == Parity::Off { 0 } else { regions * planes as usize };
        SuperpageParity { planes, programs: vec![0; counted] }
    }

    /// Whether parity is on.
    #[inline(always)]
    pub fn is_written(&self) -> bool {
        !self.programs.is_empty()
    }

    /// A program of a region has its slot in a group of planes. Returns whether its superpage lacks only the parity.
    pub fn count_program(&mut self, region: RegionId, group: &Range<u32>) -> bool {
        let programs = &mut self.programs[region.index() * self.planes as usize + group.start as usize];
        *programs += 1;
        let is_complete = *programs + 1 >= group.len() as u32;
        if is_complete {
            *programs = 0;
        }
        is_complete
    }

    /// Maximum number of parity programs for this number of data programs in a group of planes; its first superpage may
    /// lack only one program.
    pub fn programs_beside(&self, programs: u32, group: u32) -> u32 {
        if group < 2 || !self.is_written() {
            return 0;
        }
        (programs + group - 2) / (group - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_of_a_region_has_parity_of_its_own() {
        let mut parity = SuperpageParity::new(Parity::Superpage, 2, 8);
        let groups = [0..4, 4..8];
        let mut counted = |region, group: usize| parity.count_program(RegionId(region), &groups[group]);
        assert_eq!([0, 0, 1, 0].map(|group| counted(1, group)), [false, false, false, true]);
        assert_eq!([1, 1, 0].map(|group| counted(1, group)), [false, true, false]);
        assert!(!counted(0, 0) && !SuperpageParity::new(Parity::Off, 2, 8).is_written());
    }

    // In any order of programs.
    #[test]
    fn parity_never_takes_more_programs_than_foreseen() {
        for (group, before, programs) in [(2, 0, 5), (4, 2, 1), (4, 2, 7), (4, 0, 6), (8, 6, 15)] {
            let mut parity = SuperpageParity::new(Parity::Superpage, 1, group);
            let mut written = |programs: u32| {
                (0..programs).filter(|_| parity.count_program(RegionId(0), &(0..group))).count() as u32
            };
            assert_eq!(written(before), 0);
            let taken = written(programs);
            assert!(taken <= parity.programs_beside(programs, group), "{group} {before} {programs}: {taken}");
        }
        assert_eq!(
            [0, 1, 3, 4].map(|n| SuperpageParity::new(Parity::Superpage, 1, 4).programs_beside(n, 4)),
            [0, 1, 1, 2]
        );
        assert_eq!(SuperpageParity::default().programs_beside(3, 4), 0);
    }
}
