//! Replies ("Simple reply message", "Structured reply chunk message"): a short head, followed by the data of
//! a read, which are sent without a copy.

use crate::protocol::handshake::Agreed;
use crate::protocol::numbers::{ALLOCATION, NbdError, SIMPLE_REPLY, STRUCTURED_REPLY, chunk};
use std::ops::Range;

/// A reply to send.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reply {
    /// The head.
    head: Vec<u8>,
    /// The data of a read, which may extend beyond the requested range at both ends.
    body: Vec<u8>,
    /// The requested part of the data.
    asked: Range<usize>,
}

/// A run of bytes in one state of `base:allocation`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub length: u32,
    pub state: u32,
}

fn simple(cookie: u64, error: u32) -> Vec<u8> {
    let mut head = Vec::with_capacity(16);
    head.extend(SIMPLE_REPLY.to_be_bytes());
    head.extend(error.to_be_bytes());
    head.extend(cookie.to_be_bytes());
    head
}

/// The head of the only or last chunk.
fn chunked(cookie: u64, kind: u16, length: usize) -> Vec<u8> {
    let mut head = Vec::with_capacity(28);
    head.extend(STRUCTURED_REPLY.to_be_bytes());
    head.extend(chunk::DONE.to_be_bytes());
    head.extend(kind.to_be_bytes());
    head.extend(cookie.to_be_bytes());
    head.extend((length as u32).to_be_bytes());
    head
}

impl Reply {
    /// Success, without data.
    pub(crate) fn done(agreed: Agreed, cookie: u64) -> Reply {
        let head = if agreed.structured { chunked(cookie, chunk::NONE, 0) } else { simple(cookie, 0) };
        Reply { head, ..Reply::default() }
    }

    /// The data of a read from an offset: the part `asked` of a body.
    pub(crate) fn data(
        agreed: Agreed,
        cookie: u64,
        offset: u64,
        body: Vec<u8>,
        asked: Range<usize>,
    ) -> Reply {
        let head = if agreed.structured {
            let mut head = chunked(cookie, chunk::OFFSET_DATA, 8 + asked.len());
            head.extend(offset.to_be_bytes());
            head
        } else {
            simple(cookie, 0)
        };
        Reply { head, body, asked }
    }

    /// The states of a range, from its first byte.
    pub(crate) fn extents(cookie: u64, extents: &[Extent]) -> Reply {
        let mut head = chunked(cookie, chunk::BLOCK_STATUS, 4 + 8 * extents.len());
        head.extend(ALLOCATION.to_be_bytes());
        for extent in extents {
            head.extend(extent.length.to_be_bytes());
            head.extend(extent.state.to_be_bytes());
        }
        Reply { head, ..Reply::default() }
    }

    /// An error, and the reason.
    pub(crate) fn error(agreed: Agreed, cookie: u64, error: NbdError, why: &str) -> Reply {
        let head = if agreed.structured {
            let why = &why.as_bytes()[..why.len().min(1024)];
            let mut head = chunked(cookie, chunk::ERROR, 6 + why.len());
            head.extend((error as u32).to_be_bytes());
            head.extend((why.len() as u16).to_be_bytes());
            head.extend(why);
            head
        } else {
            simple(cookie, error as u32)
        };
        Reply { head, ..Reply::default() }
    }

    /// The cookie of the request, which has the same offset in both kinds of replies.
    pub(crate) fn cookie(&self) -> u64 {
        let bytes = self.head.get(8..16).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_be_bytes)
    }

    /// Head and data.
    pub(crate) fn parts(&self) -> [&[u8]; 2] {
        [&self.head, self.body.get(self.asked.clone()).unwrap_or(&[])]
    }

    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.asked.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNKS: Agreed = Agreed { structured: true, allocation: true };

    #[test]
    fn replies_are_laid_out_as_the_document_has_them() {
        let done = Reply::done(Agreed::default(), 9);
        assert_eq!(done.parts().concat(), [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]);
        let data = Reply::data(CHUNKS, 9, 513, vec![1, 2, 3, 4], 1..3).parts().concat();
        let head = [0x66, 0x8e, 0x33, 0xef, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 10];
        assert_eq!(data, [&head[..], &513u64.to_be_bytes(), &[2, 3]].concat());
        let error = Reply::error(CHUNKS, 9, NbdError::NoSpace, "full").parts().concat();
        assert_eq!(error[6..8], [0x80, 1]);
        assert_eq!(Reply::error(CHUNKS, 9, NbdError::Io, "x").cookie(), 9);
        assert_eq!(Reply::done(Agreed::default(), 7).cookie(), 7);
        assert_eq!(error[20..], [0, 0, 0, 28, 0, 4, b'f', b'u', b'l', b'l']);
        assert_eq!(
            Reply::error(Agreed::default(), 9, NbdError::Io, "x").parts().concat()[4..8],
            [0, 0, 0, 5]
        );
        let extents = Reply::extents(9, &[Extent { length: 4096, state: 3 }]);
        assert_eq!(extents.parts().concat()[20..], [0, 0, 0, 1, 0, 0, 16, 0, 0, 0, 0, 3]);
        assert_eq!(extents.len(), 32);
    }
}
