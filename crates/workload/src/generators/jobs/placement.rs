//! Places jobs on a drive: `numjobs` copies of each, with their addresses. All jobs share the drive, like
//! jobs on one block device: they overlap unless `offset` separates them.

use crate::generators::jobs::job::{Job, Spread};
use crate::generators::jobs::spell::Amount;
use crate::generators::jobs::zones::Zones;
use std::sync::Arc;
use wordline_trace::{DriveShape, ErrorKind, Problem, readable_bytes};
use wordline_units::LBA_BYTES;

/// Maximum number of jobs of a file, including copies: a request has 16 bits for the number of its job.
const JOBS_MAX: usize = 1 << 16;

/// A copy of a job on a drive. All sizes are in bytes.
pub(crate) struct Placed {
    pub job: Arc<Job>,
    /// Number of its group; `stonewall` begins a new one.
    pub group: u32,
    /// Number of its report group; `stonewall` and `new_group` begin a new one.
    pub report_group: u32,
    pub start: u64,
    pub size: u64,
    /// The end of its file, that is, of the drive.
    pub reach: u64,
    /// Bytes moved in all loops together, and bytes requested per loop.
    pub total: u64,
    pub each: u64,
    /// Bytes moved in one loop.
    pub each_loop: u64,
}

impl Placed {
    /// First block of 512 bytes, and number of blocks.
    pub fn blocks(&self) -> (u64, u64) {
        (self.start / LBA_BYTES, self.size / LBA_BYTES)
    }
}

/// Place all copies of all jobs on a drive.
pub(crate) fn place(jobs: &[Job], drive: DriveShape, problems: &mut Vec<Problem>) -> Vec<Placed> {
    let mut placed = Vec::new();
    let (mut group, mut report_group) = (0, 0);
    let copies: usize = jobs.iter().map(|j| j.clones as usize).sum();
    if copies > JOBS_MAX {
        let what = format!("{copies} jobs, numjobs counted");
        problems.push(Problem::new(ErrorKind::Option, "numjobs", what).allowed(format!("up to {JOBS_MAX}")));
        return placed;
    }
    agree_on_zones(jobs, drive.logical_bytes, problems);
    for job in jobs {
        if job.stonewall && !placed.is_empty() {
            group += 1;
        }
        if (job.stonewall || job.new_group) && !placed.is_empty() {
            report_group += 1;
        }
        if let Some(name) = &job.wait_for
            && !placed.iter().any(|p: &Placed| p.job.name == *name)
        {
            let what = format!("wait_for={name}: no job before [{}] has that name", job.name);
            let names = jobs.iter().take_while(|j| j.place != job.place).map(|j| j.name.as_str());
            problems.push(
                Problem::new(ErrorKind::Option, &job.place, what)
                    .allowed(names.collect::<Vec<_>>().join(", ")),
            );
        }
        let job = Arc::new(job.clone());
        for clone in 0..job.clones {
            match one(&job, clone, drive.logical_bytes) {
                Ok(p) => placed.push(Placed { group, report_group, ..p }),
                Err(problem) => {
                    problems.push(*problem);
                    break;
                }
            }
        }
    }
    placed
}

/// Where a copy of a job begins, the size of its space, and the bytes of one loop.
fn span(job: &Job, clone: u32, drive: u64) -> (u64, u64, u64) {
    let smallest = job.extremes().0;
    let further = (clone as u64).saturating_mul(job.offset_increment.of(drive));
    let begin = job.offset.of(drive).saturating_add(further);
    let shares =
        matches!((job.offset, job.offset_increment), (Amount::Percent(_), _) | (_, Amount::Percent(1..)));
    let start = match shares {
        false => begin,
        true => begin.next_multiple_of(if job.offset_align > 0 { job.offset_align } else { smallest }),
    };
    let end = job.file_size.unwrap_or(drive);
    let rest = end.saturating_sub(start);
    let size = match (job.size, job.file_size) {
        (None | Some(Amount::Percent(100)), _) => rest,
        (Some(Amount::Percent(p)), _) => {
            let share = Amount::Percent(p).of(end).min(rest);
            share - share % smallest
        }
        (Some(Amount::Bytes(_)), Some(_)) => rest,
        (Some(Amount::Bytes(n)), None) => n,
    };
    let loop_bytes = match job.size {
        Some(Amount::Bytes(n)) => n.min(size),
        _ => size,
    };
    (start, size, loop_bytes)
}

fn one(job: &Arc<Job>, clone: u32, drive: u64) -> Result<Placed, Box<Problem>> {
    let place = || format!("{} [{}]", job.place, job.name);
    let fail = |what: String| Box::new(Problem::new(ErrorKind::Fit, place(), what));
    let largest = job.extremes().1;
    let (start, size, loop_bytes) = span(job, clone, drive);
    if start.saturating_add(size) > drive {
        let sizes = [size, start, drive].map(readable_bytes);
        let what = match size {
            0 => format!("its start, {}, is beyond the drive size, {}", sizes[1], sizes[2]),
            _ => format!("{} from offset {} exceed the drive size, {}", sizes[0], sizes[1], sizes[2]),
        };
        let problem = Problem::new(ErrorKind::Fit, place(), what);
        return Err(Box::new(
            problem.allowed("offset and size within the drive").hint(fitting(job, start, drive)),
        ));
    }
    if size < largest {
        let what = format!(
            "a size of {} has no space for a request of {}",
            readable_bytes(size),
            readable_bytes(largest)
        );
        return Err(fail(what));
    }
    if let Spread::ZonedAbs(zones) = &job.spread {
        for zones in zones {
            let all: u64 = zones.iter().map(|z| z.1).fold(0, u64::saturating_add);
            if zones.iter().any(|z| z.1 < largest) {
                return Err(fail(format!(
                    "a zone has no space for a request of {}",
                    readable_bytes(largest)
                )));
            }
            if all > size {
                let what = format!("zones of {} in a size of {}", readable_bytes(all), readable_bytes(size));
                return Err(fail(what));
            }
        }
    }
    let (start, size) = in_zones(job, start, size).map_err(fail)?;
    let each = job.io_size.map_or(loop_bytes, |a| a.of(size));
    Ok(Placed {
        job: Arc::clone(job),
        group: 0,
        report_group: 0,
        start,
        size,
        reach: job.file_size.unwrap_or(drive).min(drive),
        total: each.saturating_mul(job.loops),
        each,
        each_loop: loop_bytes,
    })
}

/// The whole zones in the space of a job that writes zones in order, as in fio. Reads need no zones.
fn in_zones(job: &Job, start: u64, size: u64) -> Result<(u64, u64), String> {
    let Some(zone) = job.zones.map(|z| z.size).filter(|_| job.kinds.uses(1)) else {
        return Ok((start, size));
    };
    let (first, end) = (start.next_multiple_of(zone), (start + size) / zone * zone);
    if first >= end {
        let sizes = [size, zone].map(readable_bytes);
        return Err(format!("a size of {} holds no whole zone of {}", sizes[0], sizes[1]));
    }
    Ok((first, end - first))
}

/// Check that all jobs use the same zones.
fn agree_on_zones(jobs: &[Job], drive: u64, problems: &mut Vec<Problem>) {
    let mut zoned = jobs.iter().filter_map(|j| Some((j, j.zones?)));
    let Some((first, rule)) = zoned.next() else { return };
    let mut reject = |job: &Job, what: String, allowed: String| {
        problems.push(
            Problem::new(ErrorKind::Option, format!("{} [{}]", job.place, job.name), what).allowed(allowed),
        );
    };
    if drive.div_ceil(rule.size) > Zones::MOST {
        let what = format!("zones of {} on a drive of {}", readable_bytes(rule.size), readable_bytes(drive));
        reject(first, what, format!("at most {} zones", Zones::MOST));
    }
    for (job, other) in zoned {
        if (rule.size, rule.capacity, rule.most_open) != (other.size, other.capacity, other.most_open) {
            let what = format!("its zones differ from those of [{}] on the same drive", first.name);
            reject(job, what, "the same zonesize, zonecapacity and max_open_zones in all jobs".into());
        }
    }
}

/// How to make a job fit a drive that is too small for it.
fn fitting(job: &Job, start: u64, drive: u64) -> String {
    let room = drive.saturating_sub(start);
    let room = room - room % job.extremes().1.max(LBA_BYTES);
    match (room, job.file_size) {
        (0, _) if job.clones > 1 => {
            let each = drive.saturating_sub(job.offset.of(drive)) / job.clones as u64;
            let each = each - each % (1 << 20);
            format!(
                "a larger drive, or copies closer together: \
                     offset_increment={each},size={each}"
            )
        }
        (0, _) => "a larger drive, or a lower offset: offset=0".into(),
        (_, Some(_)) => format!("a smaller file: filesize={}", drive - drive % (1 << 20).min(drive)),
        (_, None) => format!("a smaller size, after the file name: size={room}"),
    }
}
