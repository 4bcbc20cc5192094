//! How a server parses the bytes of a client that sends them and disconnects, without a drive: the entry
//! point for fuzzing.

use crate::error::Broken;
use crate::protocol::handshake::{self, Agreed, Export, handshake};
use crate::protocol::request::{self, HEAD, Verb};
use crate::spec::Encryption;
use std::io::{self, Read, Write};
use std::ops::Range;

/// The parsed requests, and the size of the handshake's replies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Heard {
    /// Bytes of the replies in the handshake.
    pub answered: usize,
    /// Valid requests: the byte range of each, empty for a FLUSH.
    pub asked: Vec<Range<u64>>,
    /// Error messages of the rejected requests, as the client gets them.
    pub refused: Vec<String>,
    /// Why the connection is closed, unless the client disconnects.
    pub broken: Option<String>,
}

struct Client<'a> {
    sent: &'a [u8],
    answered: usize,
}

impl Read for Client<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.sent.read(to)
    }
}

impl Write for Client<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.answered += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl handshake::Client for Client<'_> {
    fn begin_tls(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Parse what a client sends, from the handshake on, to a server of a drive of `size` bytes.
pub fn hear(sent: &[u8], size: u64) -> Heard {
    let export = Export {
        name: "drive".into(),
        description: "A drive".into(),
        size,
        preferred: 4096,
        read_only: false,
        encryption: Encryption::Off,
    };
    let mut client = Client { sent, answered: 0 };
    let mut heard = Heard::default();
    let outcome = handshake(&mut client, &export);
    heard.answered = client.answered;
    let listened = match outcome {
        Ok(Some(agreed)) => listen(client.sent, agreed, size, &mut heard),
        Ok(None) => Ok(()),
        Err(broken) => Err(broken),
    };
    heard.broken = listened.err().map(|broken| broken.to_string());
    heard
}

fn listen(mut sent: &[u8], agreed: Agreed, size: u64, heard: &mut Heard) -> Result<(), Broken> {
    while let Some((head, rest)) = sent.split_first_chunk::<HEAD>() {
        let request = request::request(head)?;
        let Some(rest) = rest.get(request.payload() + request.skipped()..) else {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        };
        sent = rest;
        match request.check(size, false, agreed) {
            Ok(Verb::Disconnect) => return Ok(()),
            Ok(Verb::Flush) => heard.asked.push(0..0),
            Ok(_) => heard.asked.push(request.offset..request.offset + u64::from(request.length)),
            Err((_, why)) => heard.refused.push(why),
        }
    }
    if sent.is_empty() { Ok(()) } else { Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()) }
}
