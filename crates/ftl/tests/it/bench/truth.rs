//! What the host knows of its data: the newest of each sector, and what a power cut may leave of it.

use wordline_units::{HostOp, HostRequest};

/// What a sector was at a moment of the host's time.
#[derive(Clone, Copy, Debug)]
struct Was {
    since: u64,
    stamp: u64,
}

/// The host's data by sector of 512 bytes. A stamp names the write that a sector is from; 0 is none.
#[derive(Clone, Debug)]
pub struct Truth {
    /// What each sector has been, from the newest state that is safe on.
    history: Vec<Vec<Was>>,
    /// Whether less than a page can be trimmed.
    trims_parts: bool,
    per_page: u64,
    /// Sectors of writes that have failed, whose old or new data may be there.
    unsure: Vec<bool>,
    time: u64,
}

impl Truth {
    pub fn new(sectors: u64, per_page: u64, trims_parts: bool) -> Truth {
        let blank = vec![Was { since: 0, stamp: 0 }];
        let history = vec![blank; sectors as usize];
        Truth { history, trims_parts, per_page, unsure: vec![false; sectors as usize], time: 0 }
    }

    /// A request comes. Returns when.
    pub fn asked(&mut self, request: &HostRequest, stamp: u64) -> u64 {
        self.time += 1;
        let (mut first, mut end) = (request.lba.0, request.lba.0 + u64::from(request.blocks));
        let stamp = if request.op == HostOp::Write { stamp } else { 0 };
        if request.op == HostOp::Trim && !self.trims_parts {
            (first, end) = (first.next_multiple_of(self.per_page), end / self.per_page * self.per_page);
        }
        if matches!(request.op, HostOp::Write | HostOp::Trim) {
            for lba in first..end {
                self.history[lba as usize].push(Was { since: self.time, stamp });
            }
        }
        self.time
    }

    /// What is safe from now on of a range: all that was asked until a time.
    pub fn is_safe(&mut self, range: std::ops::Range<u64>, until: u64) {
        for lba in range {
            let history = &mut self.history[lba as usize];
            let newest = history.iter().rposition(|was| was.since <= until);
            history.drain(..newest.unwrap_or(0));
        }
    }

    pub fn has_failed(&mut self, request: &HostRequest) {
        for lba in request.lba.0..request.lba.0 + u64::from(request.blocks) {
            self.unsure[lba as usize] = true;
        }
    }

    pub fn sectors(&self) -> u64 {
        self.history.len() as u64
    }

    /// The newest stamps of a request's sectors; none where it is not known.
    pub fn newest(&self, request: &HostRequest) -> Vec<Option<u64>> {
        let range = request.lba.0..request.lba.0 + u64::from(request.blocks);
        let sure = |lba: &usize| !self.unsure[*lba];
        range
            .map(|lba| Some(lba as usize).filter(sure).map(|lba| self.history[lba].last().unwrap().stamp))
            .collect()
    }

    /// After a power cut a sector is found with a stamp: it must be one that may be left.
    pub fn found(&mut self, lba: u64, stamp: u64) {
        let history = &mut self.history[lba as usize];
        let left = history.iter().any(|was| was.stamp == stamp) || self.unsure[lba as usize];
        assert!(left, "sector {lba} is found with {stamp} after the cut, and may be of {history:?}");
        *history = vec![Was { since: 0, stamp }];
        self.unsure[lba as usize] = false;
    }
}

/// The bytes of a write with a stamp.
pub fn bytes(request: &HostRequest, stamp: u64) -> Vec<u8> {
    let mut data = vec![0; request.blocks as usize * 512];
    for (sector, lba) in data.chunks_mut(512).zip(request.lba.0..) {
        sector[..8].copy_from_slice(&stamp.to_le_bytes());
        sector[8..16].copy_from_slice(&lba.to_le_bytes());
    }
    data
}

/// The stamps of what has been read, each at its own address.
pub fn stamps(request: &HostRequest, data: &[u8]) -> Vec<u64> {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let sectors = data.chunks(512).zip(request.lba.0..);
    sectors
        .map(|(sector, lba)| {
            let stamp = number(&sector[..8]);
            assert!(stamp == 0 || number(&sector[8..16]) == lba, "sector {lba} holds another's data");
            stamp
        })
        .collect()
}
