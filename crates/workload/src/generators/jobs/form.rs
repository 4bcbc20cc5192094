//! Requests as the drive receives them: in whole sectors, with the priority class, stream and FUA of their
//! job.

use crate::generators::jobs::job::Job;
use crate::generators::jobs::spell::DIRECTIONS;
use wordline_trace::RandomStream;
use wordline_units::{Attributes, HostOp, HostRequest, LBA_BYTES, LatencyHint};

const OPS: [HostOp; DIRECTIONS] = [HostOp::Read, HostOp::Write, HostOp::Trim];
const READ: usize = 0;
const WRITE: usize = 1;

/// Size of a file-system page in bytes.
const PAGE: u64 = 4096;

/// State of what is drawn for each request of a job.
pub(crate) struct Form {
    choice: RandomStream,
    /// Index of the next stream.
    turn: usize,
}

impl Form {
    pub fn new(choice: RandomStream) -> Form {
        Form { choice, turn: 0 }
    }

    /// A request for a range of bytes, in whole sectors. If it covers sectors in part, it is extended to
    /// whole file-system pages.
    pub fn request(&mut self, job: &Job, direction: usize, at: u64, bytes: u64) -> HostRequest {
        let (mut first, mut end) = (at, at + bytes);
        if !first.is_multiple_of(LBA_BYTES) || !end.is_multiple_of(LBA_BYTES) {
            (first, end) = (first - first % PAGE, end.next_multiple_of(PAGE));
        }
        let asked = if direction == WRITE && job.reads_for_writes { READ } else { direction };
        let blocks = ((end - first) / LBA_BYTES) as u32;
        let mut request = HostRequest::new(OPS[asked], first / LBA_BYTES, blocks);
        let hint = self.hint(job, direction, bytes);
        let stream = if asked == WRITE { self.stream(job) } else { 0 };
        let fua = asked == WRITE && job.fua;
        request.attributes = Attributes::NONE.with_hint(hint).with_stream(stream).with_fua(fua);
        request
    }

    /// True with a probability of this many percent.
    pub fn draws(&mut self, percent: u64) -> bool {
        self.choice.below(100) < percent
    }

    /// The class of a request: the job's, or a drawn one.
    fn hint(&mut self, job: &Job, direction: usize, bytes: u64) -> LatencyHint {
        let Some(rules) = job.priorities.as_ref().and_then(|p| p.0.get(direction)) else { return job.hint };
        let mut of_size = rules.iter().filter(|r| r.0.is_none_or(|size| size == bytes)).peekable();
        if of_size.peek().is_none() {
            return job.hint;
        }
        let drawn = self.choice.below(100) as u32;
        let mut up_to = 0;
        for (_, percent, hint) in of_size {
            up_to += percent;
            if drawn < up_to {
                return *hint;
            }
        }
        job.hint
    }

    fn stream(&mut self, job: &Job) -> u8 {
        match job.streams.numbers.as_slice() {
            [] => 0,
            [one] => *one,
            several if job.streams.drawn => several[self.choice.below(several.len() as u64) as usize],
            several => {
                self.turn += 1;
                several[(self.turn - 1) % several.len()]
            }
        }
    }
}
