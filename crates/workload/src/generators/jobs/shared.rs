//! State shared by the jobs of a file: flows, zones, and outstanding requests that others wait for.

use crate::generators::jobs::flow::Flows;
use crate::generators::jobs::job::{Job, Overlap};
use crate::generators::jobs::zones::Zones;
use wordline_units::HostRequest;

/// An outstanding request that others may wait for.
struct Span {
    job: u16,
    of: Overlap,
    first: u64,
    end: u64,
}

impl Span {
    fn of(job: u16, of: Overlap, request: &HostRequest) -> Span {
        Span { job, of, first: request.lba.0, end: request.lba.0 + u64::from(request.blocks) }
    }

    fn stops(&self, other: &Span) -> bool {
        let all = self.of == Overlap::OfAllJobs && other.of == Overlap::OfAllJobs;
        (all || self.job == other.job) && self.first < other.end && other.first < self.end
    }
}

/// State shared by the jobs of a file.
#[derive(Default)]
pub(crate) struct Shared {
    pub flows: Flows,
    pub zones: Option<Zones>,
    pub outstanding: Outstanding,
}

/// Outstanding requests that others may wait for, and the jobs that wait.
#[derive(Default)]
pub(crate) struct Outstanding {
    spans: Vec<Span>,
    waiting: Vec<u16>,
}

impl Outstanding {
    /// Whether a request overlaps an outstanding one and must wait. If not, it counts as outstanding.
    pub fn overlaps(&mut self, number: u16, job: &Job, request: &HostRequest) -> bool {
        let Some(of) = job.serialized else { return false };
        let span = Span::of(number, of, request);
        if self.spans.iter().any(|s| s.stops(&span)) {
            return true;
        }
        self.spans.push(span);
        false
    }

    /// Note that a request has completed.
    pub fn ended(&mut self, number: u16, job: &Job, request: &HostRequest) {
        let Some(of) = job.serialized else { return };
        let span = Span::of(number, of, request);
        let same = |s: &Span| s.job == number && s.first == span.first && s.end == span.end;
        if let Some(n) = self.spans.iter().position(same) {
            self.spans.swap_remove(n);
        }
    }

    /// Let a job wait until a request of any job has completed.
    pub fn wait(&mut self, job: u16) {
        self.waiting.push(job);
    }

    /// The jobs that waited and may try again.
    pub fn woken(&mut self) -> std::vec::Drain<'_, u16> {
        self.waiting.drain(..)
    }
}
