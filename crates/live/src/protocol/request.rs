//! Requests ("Request message"): 28 bytes, followed by the data of a write.

use crate::error::Broken;
use crate::protocol::handshake::Agreed;
use crate::protocol::numbers::{MAX_PAYLOAD, MAX_SKIPPED, NbdError, REQUEST, command, flag};

/// Bytes of a request without its data.
pub(crate) const HEAD: usize = 28;

/// The kind of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    Read,
    Write,
    Disconnect,
    Flush,
    Trim,
    WriteZeroes,
    BlockStatus,
    Cache,
}

/// A request as it was sent. `offset` and `length` are in bytes, and not yet checked against the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    /// The kind of the request. Nothing if this server does not support it.
    pub verb: Option<Verb>,
    pub flags: u16,
    /// Identifies the reply.
    pub cookie: u64,
    pub offset: u64,
    pub length: u32,
}

/// Parse the head of a request.
///
/// # Errors
/// If the stream is out of step, or announces more data than the server takes: the next request can then not
/// be found.
pub(crate) fn request(head: &[u8; HEAD]) -> Result<Request, Broken> {
    let u16_at = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let u32_at = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let u64_at = |at: usize| u64::from(u32_at(at)) << 32 | u64::from(u32_at(at + 4));
    let magic = u32_at(0);
    if magic != REQUEST {
        return Err(Broken::protocol(format!("a request that begins with {magic:#010x}"), "Request message"));
    }
    let kind = u16_at(6);
    let verb = match kind {
        command::READ => Some(Verb::Read),
        command::WRITE => Some(Verb::Write),
        command::DISC => Some(Verb::Disconnect),
        command::FLUSH => Some(Verb::Flush),
        command::TRIM => Some(Verb::Trim),
        command::WRITE_ZEROES => Some(Verb::WriteZeroes),
        command::CACHE => Some(Verb::Cache),
        command::BLOCK_STATUS => Some(Verb::BlockStatus),
        _ => None,
    };
    let request =
        Request { verb, flags: u16_at(4), cookie: u64_at(8), offset: u64_at(16), length: u32_at(24) };
    if request.skipped() > MAX_SKIPPED as usize {
        let what = format!("a write of {} bytes exceeds {MAX_PAYLOAD}", request.length);
        return Err(Broken::protocol(what, "Block size constraints"));
    }
    Ok(request)
}

impl Request {
    /// Bytes of the data that follow and are taken.
    pub(crate) fn payload(&self) -> usize {
        if self.verb == Some(Verb::Write) && self.length <= MAX_PAYLOAD { self.length as usize } else { 0 }
    }

    /// Bytes of the data that follow and are dropped, since they are too many.
    pub(crate) fn skipped(&self) -> usize {
        if self.verb == Some(Verb::Write) && self.length > MAX_PAYLOAD { self.length as usize } else { 0 }
    }

    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Check the request against a drive of `size` bytes.
    ///
    /// # Errors
    /// Why the request is invalid: the error code and a message for the client.
    pub(crate) fn check(&self, size: u64, read_only: bool, agreed: Agreed) -> Result<Verb, Refused> {
        let Some(verb) = self.verb else {
            return Err((NbdError::Invalid, "unknown request type".into()));
        };
        let allowed = match verb {
            Verb::Read if agreed.structured => flag::DF | flag::FUA,
            Verb::BlockStatus => flag::REQ_ONE | flag::FUA,
            Verb::WriteZeroes => flag::FUA | flag::NO_HOLE | flag::FAST_ZERO,
            _ => flag::FUA,
        };
        if self.flags & !allowed != 0 {
            let what = format!("invalid flags {:#x}; allowed: {allowed:#x}", self.flags);
            return Err((NbdError::Invalid, what));
        }
        if matches!(verb, Verb::Flush | Verb::Disconnect) {
            return Ok(verb);
        }
        if verb == Verb::BlockStatus && !agreed.allocation {
            return Err((NbdError::Invalid, "block status without negotiated base:allocation".into()));
        }
        if read_only && matches!(verb, Verb::Write | Verb::WriteZeroes | Verb::Trim) {
            return Err((NbdError::NotPermitted, "the drive is served read-only".into()));
        }
        if self.length == 0 {
            return Err((NbdError::Invalid, "a request with length 0".into()));
        }
        if matches!(verb, Verb::Read | Verb::Write) && self.length > MAX_PAYLOAD {
            let what = format!("a request of {} bytes; at most {MAX_PAYLOAD} are allowed", self.length);
            return Err((NbdError::Invalid, what));
        }
        let end = self.offset.checked_add(u64::from(self.length));
        if end.is_none_or(|end| end > size) {
            let writes = matches!(verb, Verb::Write | Verb::WriteZeroes);
            let error = if writes { NbdError::NoSpace } else { NbdError::Invalid };
            let what =
                format!("{} bytes at {} exceed the size of the drive, {size}", self.length, self.offset);
            return Err((error, what));
        }
        Ok(verb)
    }
}

/// An error code and a message for the client.
pub(crate) type Refused = (NbdError, String);

#[cfg(test)]
mod tests {
    use super::*;

    fn head(flags: u16, kind: u16, offset: u64, length: u32) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&REQUEST.to_be_bytes());
        head[4..6].copy_from_slice(&flags.to_be_bytes());
        head[6..8].copy_from_slice(&kind.to_be_bytes());
        head[8..16].copy_from_slice(&7u64.to_be_bytes());
        head[16..24].copy_from_slice(&offset.to_be_bytes());
        head[24..].copy_from_slice(&length.to_be_bytes());
        head
    }

    #[test]
    fn a_request_is_read_as_the_document_lays_it_out() {
        let r = request(&head(1, 1, 1 << 40 | 5, 4096)).unwrap();
        let wanted =
            Request { verb: Some(Verb::Write), flags: 1, cookie: 7, offset: 1 << 40 | 5, length: 4096 };
        assert_eq!((r, r.payload()), (wanted, 4096));
        assert!(request(&[0; HEAD]).is_err());
    }

    #[test]
    fn oversized_write_is_dropped_or_ends_the_connection() {
        let most = MAX_PAYLOAD as usize;
        let bytes = |length| request(&head(0, 1, 0, length)).map(|r| (r.payload(), r.skipped())).ok();
        assert_eq!(bytes(MAX_PAYLOAD), Some((most, 0)));
        assert_eq!(bytes(MAX_PAYLOAD + 1), Some((0, most + 1)));
        assert_eq!(bytes(MAX_SKIPPED), Some((0, 2 * most)));
        assert_eq!(bytes(MAX_SKIPPED + 1), None);
        assert_eq!(bytes(u32::MAX), None);
    }

    #[test]
    fn unsupported_request_gets_the_error_of_the_document() {
        let size = 1 << 20;
        let check = |flags, kind, offset, length| {
            let r = request(&head(flags, kind, offset, length)).unwrap();
            r.check(size, false, Agreed { structured: true, allocation: false }).map_err(|(e, _)| e)
        };
        assert_eq!(check(0, 0, 0, size as u32), Ok(Verb::Read));
        assert_eq!(check(0, 0, 1, size as u32), Err(NbdError::Invalid));
        assert_eq!(check(0, 0, u64::MAX, 4096), Err(NbdError::Invalid));
        assert_eq!(check(0, 1, size, 512), Err(NbdError::NoSpace));
        assert_eq!([0, 1].map(|kind| check(0, kind, 0, MAX_PAYLOAD + 1)), [Err(NbdError::Invalid); 2]);
        assert_eq!(check(0, 0, 0, 0), Err(NbdError::Invalid));
        assert_eq!(check(0x80, 0, 0, 512), Err(NbdError::Invalid));
        assert_eq!(check(2, 1, 0, 512), Err(NbdError::Invalid), "NO_HOLE of a write");
        assert_eq!(check(2, 6, 0, 512), Ok(Verb::WriteZeroes));
        assert_eq!(check(16, 6, 0, 512), Ok(Verb::WriteZeroes));
        assert_eq!(check(0, 5, 0, 512), Ok(Verb::Cache));
        assert_eq!(check(0, 7, 0, 512), Err(NbdError::Invalid), "no context was agreed on");
        assert_eq!(check(0, 9, 0, 512), Err(NbdError::Invalid));
        assert_eq!(check(0, 3, 0, 0), Ok(Verb::Flush));
    }

    #[test]
    fn read_only_drive_accepts_reads_and_flushes_only() {
        let check = |kind| {
            let r = request(&head(0, kind, 0, if kind == 3 { 0 } else { 512 })).unwrap();
            r.check(1 << 20, true, Agreed { structured: true, allocation: true }).map_err(|(e, _)| e)
        };
        assert_eq!([0, 3, 7].map(check), [Ok(Verb::Read), Ok(Verb::Flush), Ok(Verb::BlockStatus)]);
        assert_eq!([1, 4, 6].map(check), [Err(NbdError::NotPermitted); 3]);
    }
}
