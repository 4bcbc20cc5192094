//! Writes of a workload in steady state: a distribution if writes are independent, otherwise the writes
//! themselves, repeated endlessly. A drive is put into its steady state with them.

use std::ops::Range;
use wordline_trace::{DriveShape, ErrorKind, Problem, RequestStream, WorkloadError};
use wordline_units::{HostOp, HostRequest, Message, Opt};

/// The class of pages that are never written.
pub const UNTOUCHED: u8 = u8::MAX;

/// Write rates of logical pages, if writes are independent of each other.
#[derive(Clone, PartialEq, Debug)]
pub struct UpdateLaw {
    /// The class of each logical page of the drive, or [`UNTOUCHED`].
    pub class_of: Vec<u8>,
    /// Share of the writes of each class. Neighboring classes have similar rates per page.
    pub shares: Vec<f64>,
    /// Lengths of writes in pages, with their weights.
    pub lengths: Vec<(u32, f64)>,
    /// Whether each write begins at a multiple of its length.
    pub aligned: bool,
}

/// The writes of a drive.
pub enum Updates {
    /// Independent writes.
    Law(UpdateLaw),
    /// Writes in an order that matters.
    Stream(UpdateStream),
}

/// Opens a workload again, for its requests from the first on.
type Opened = dyn Fn() -> Result<RequestStream, WorkloadError> + Send;

/// The logical pages of a workload's writes. The workload is repeated at its end; an empty run marks a
/// restart.
pub struct UpdateStream {
    name: String,
    unit: u64,
    open: Box<Opened>,
    requests: RequestStream,
    /// Whether the workload has written since it was opened.
    writes: bool,
    /// Requests since the last write.
    idle: u64,
}

/// A workload without limits that writes nothing within this many requests counts as read-only.
const IDLE_MAX: u64 = 10_000_000;

impl UpdateStream {
    pub(crate) fn new(
        name: &str,
        drive: DriveShape,
        open: Box<Opened>,
    ) -> Result<UpdateStream, WorkloadError> {
        let requests = open()?;
        Ok(UpdateStream {
            name: name.to_string(),
            unit: drive.unit_blocks(),
            open,
            requests,
            writes: false,
            idle: 0,
        })
    }

    fn pages(&self, r: &HostRequest) -> Range<u32> {
        let end = (r.lba.0 + r.blocks as u64).div_ceil(self.unit);
        // A drive has fewer pages than 32 bits can number, and requests fit it.
        (r.lba.0 / self.unit) as u32..end.min(u32::MAX as u64) as u32
    }
}

impl Iterator for UpdateStream {
    type Item = Result<Range<u32>, WorkloadError>;

    /// The pages of the next write. A workload that does not write, or that trims, is an error.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.requests.next() {
                Some(Ok(r)) if r.op == HostOp::Write => {
                    (self.writes, self.idle) = (true, 0);
                    return Some(Ok(self.pages(&r)));
                }
                Some(Ok(r)) if r.op == HostOp::Trim => return Some(Err(trims(&self.name))),
                Some(Ok(_)) if self.idle == IDLE_MAX => return Some(Err(no_writes(&self.name))),
                Some(Ok(_)) => self.idle += 1,
                Some(Err(e)) => return Some(Err(e)),
                None if !std::mem::take(&mut self.writes) => return Some(Err(no_writes(&self.name))),
                None => match (self.open)() {
                    Ok(requests) => {
                        self.requests = requests;
                        return Some(Ok(0..0));
                    }
                    Err(e) => return Some(Err(e)),
                },
            }
        }
    }
}

pub(crate) fn trims(name: &str) -> WorkloadError {
    let what = "the workload trims, so the fill level in steady state is not known in advance";
    Problem::new(ErrorKind::Option, name, what)
        .allowed("for a steady state, a workload that writes and does not trim")
        .hint(
            Message::from("precondition the drive once with ")
                + Opt::SaveState.of("FILE")
                + ", and begin with "
                + Opt::FromState.of("FILE"),
        )
        .into()
}

pub(crate) fn no_writes(name: &str) -> WorkloadError {
    let what = "the workload writes nothing, so it has no steady state";
    Problem::new(ErrorKind::Option, name, what)
        .allowed("for a steady state, a workload that writes")
        .hint(Opt::Initial.of("fill:100%") + " fills the drive")
        .into()
}

/// The classes of a drive's pages, as marked by a pattern.
pub(crate) struct Classes {
    class_of: Vec<u8>,
    first: u64,
    unit: u64,
    /// Whether parts of a page are in different classes, so that they have different rates.
    mixed: bool,
}

impl Classes {
    /// For a pattern whose space begins at block `first`.
    pub fn new(drive: DriveShape, first: u64) -> Classes {
        let unit = drive.unit_blocks();
        let pages = (drive.blocks() / unit).min(u32::MAX as u64) as usize;
        Classes { class_of: vec![UNTOUCHED; pages], first, unit, mixed: false }
    }

    /// The class of each page. None if parts of a page are in different classes.
    pub fn of_pages(self) -> Option<Vec<u8>> {
        (!self.mixed).then_some(self.class_of)
    }

    /// Put the pages of some blocks of the space into a class.
    #[inline]
    pub fn mark(&mut self, class: u8, blocks: Range<u64>) {
        let (from, to) = (self.first + blocks.start, self.first + blocks.end);
        self.mixed |= to - from < self.unit;
        let pages = (from / self.unit) as usize..(to.div_ceil(self.unit) as usize).min(self.class_of.len());
        self.class_of[pages].fill(class);
    }
}
