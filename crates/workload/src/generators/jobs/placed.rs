//! Jobs on a drive: `numjobs` copies of each, with the addresses that are theirs. All jobs share the
//! one drive, as jobs on one block device do: they overlap unless `offset` keeps them apart.

use crate::error::{ErrorKind, Problem};
use crate::generators::jobs::job::{Job, Spread};
use crate::generators::jobs::spell::Amount;
use crate::requests::fit::DriveShape;
use crate::text::numbers::readable_bytes;
use std::sync::Arc;
use wordline_units::LBA_BYTES;

/// Most jobs of a file with their copies: a request carries its job's number in 16 bits.
const JOBS_MAX: usize = 1 << 16;

/// One copy of a job. Bytes throughout.
pub(crate) struct Placed {
    pub job: Arc<Job>,
    /// Which of the groups that `stonewall` parts.
    pub group: u32,
    pub start: u64,
    pub size: u64,
    /// Moved in all loops together.
    pub total: u64,
    /// Moved in one loop.
    pub each_loop: u64,
}

impl Placed {
    /// First block of 512 bytes, and how many.
    pub fn blocks(&self) -> (u64, u64) {
        (self.start / LBA_BYTES, self.size / LBA_BYTES)
    }
}

/// Every copy of every job on a drive.
pub(crate) fn place(jobs: &[Job], drive: DriveShape, problems: &mut Vec<Problem>) -> Vec<Placed> {
    let mut placed = Vec::new();
    let mut group = 0;
    let copies: usize = jobs.iter().map(|j| j.clones as usize).sum();
    if copies > JOBS_MAX {
        let what = format!("{copies} jobs, numjobs counted");
        problems.push(Problem::new(ErrorKind::Option, "numjobs", what).allowed(format!("up to {JOBS_MAX}")));
        return placed;
    }
    for job in jobs {
        if job.stonewall && !placed.is_empty() {
            group += 1;
        }
        let job = Arc::new(job.clone());
        for clone in 0..job.clones {
            match one(&job, clone, group, drive.logical_bytes) {
                Ok(p) => placed.push(p),
                Err(problem) => {
                    problems.push(*problem);
                    break;
                }
            }
        }
    }
    placed
}

fn one(job: &Arc<Job>, clone: u32, group: u32, drive: u64) -> Result<Placed, Box<Problem>> {
    let place = || format!("{} [{}]", job.place, job.name);
    let fail = |what: String| Box::new(Problem::new(ErrorKind::Fit, place(), what));
    let (smallest, largest) = job.extremes();
    let further = (clone as u64).saturating_mul(job.offset_increment.of(drive));
    let begin = job.offset.of(drive).saturating_add(further);
    let start = match job.offset {
        Amount::Bytes(_) => begin,
        Amount::Percent(_) => {
            begin.next_multiple_of(if job.offset_align > 0 { job.offset_align } else { smallest })
        }
    };
    if !start.is_multiple_of(LBA_BYTES) {
        return Err(fail(format!("offset {start} is not a multiple of 512 B")));
    }
    let rest = drive.saturating_sub(start);
    let size = match job.size {
        None | Some(Amount::Percent(100)) => rest,
        Some(Amount::Percent(p)) => {
            let share = Amount::Percent(p).of(drive).min(rest);
            share - share % smallest
        }
        Some(Amount::Bytes(n)) => n,
    };
    if size > rest {
        let sizes = [size, start, drive].map(readable_bytes);
        let what = format!("{} from {} on end beyond the drive of {}", sizes[0], sizes[1], sizes[2]);
        let hint = "size= and offset= take shares, also behind the file's name: FILE:size=50%";
        let problem = Problem::new(ErrorKind::Fit, place(), what);
        return Err(Box::new(problem.allowed("offset and size within the drive").hint(hint)));
    }
    if size < largest {
        let what = format!(
            "a size of {} has no room for a request of {}",
            readable_bytes(size),
            readable_bytes(largest)
        );
        return Err(fail(what));
    }
    if let Spread::ZonedAbs(zones) = &job.spread {
        for zones in zones {
            let all: u64 = zones.iter().map(|z| z.1).fold(0, u64::saturating_add);
            if zones.iter().any(|z| z.1 < largest) {
                return Err(fail(format!("a zone has no room for a request of {}", readable_bytes(largest))));
            }
            if all > size {
                let what = format!("zones of {} in a size of {}", readable_bytes(all), readable_bytes(size));
                return Err(fail(what));
            }
        }
    }
    let each = job.io_size.map_or(size, |a| a.of(size));
    Ok(Placed {
        job: Arc::clone(job),
        group,
        start,
        size,
        total: each.saturating_mul(job.loops),
        each_loop: size,
    })
}
