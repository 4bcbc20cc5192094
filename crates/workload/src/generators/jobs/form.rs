//! Requests as a drive gets them: in whole sectors, with the class, stream and FUA of their job.

use crate::generators::jobs::job::Job;
use crate::generators::jobs::spell::DIRECTIONS;
use wordline_trace::RandomStream;
use wordline_units::{Attributes, HostOp, HostRequest, LBA_BYTES, LatencyHint};

const OPS: [HostOp; DIRECTIONS] = [HostOp::Read, HostOp::Write, HostOp::Trim];
const READ: usize = 0;
const WRITE: usize = 1;

/// A page of a file system.
const PAGE: u64 = 4096;

/// What is drawn for single requests of a job.
pub(crate) struct Form {
    choice: RandomStream,
    /// Which of its streams is next.
    turn: usize,
}

impl Form {
    pub fn new(choice: RandomStream) -> Form {
        Form { choice, turn: 0 }
    }

    /// A request of bytes: in whole sectors, or, where it has parts of some, in whole pages of a file
    /// system.
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

    /// Whether something happens that does in this many of a hundred cases.
    pub fn draws(&mut self, percent: u64) -> bool {
        self.choice.below(100) < percent
    }

    /// The class of a request: the job's, or one drawn for it.
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
