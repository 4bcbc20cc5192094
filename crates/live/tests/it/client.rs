//! A client that says just what a test wants, right or wrong.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const DISCONNECT: u16 = 2;
pub const FLUSH: u16 = 3;
pub const TRIM: u16 = 4;
pub const ZEROES: u16 = 6;
pub const STATUS: u16 = 7;

/// A connection behind its handshake.
pub struct Client {
    pub stream: UnixStream,
    structured: bool,
    pub size: u64,
    next: u64,
}

/// A reply: whose, the error, and the data or the extents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    pub cookie: u64,
    pub error: u32,
    pub data: Vec<u8>,
}

pub fn number<const N: usize>(stream: &mut impl Read) -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn option(stream: &mut UnixStream, kind: u32, data: &[u8]) -> std::io::Result<()> {
    let all = [b"IHAVEOPT", &kind.to_be_bytes()[..], &(data.len() as u32).to_be_bytes(), data].concat();
    stream.write_all(&all)
}

/// The kind and the data of the next answer to an option.
pub fn answer(stream: &mut UnixStream) -> std::io::Result<(u32, Vec<u8>)> {
    assert_eq!(u64::from_be_bytes(number(stream)?), 0x0003_e889_0455_65a9);
    number::<4>(stream)?;
    let kind = u32::from_be_bytes(number(stream)?);
    let mut data = vec![0; u32::from_be_bytes(number(stream)?) as usize];
    stream.read_exact(&mut data)?;
    Ok((kind, data))
}

/// A connection behind the server's greeting.
pub fn greeted(path: &Path) -> UnixStream {
    let mut stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert_eq!(&number::<8>(&mut stream).unwrap(), b"NBDMAGIC");
    assert_eq!(&number::<8>(&mut stream).unwrap(), b"IHAVEOPT");
    assert_eq!(number::<2>(&mut stream).unwrap(), [0, 3]);
    stream.write_all(&[0, 0, 0, 3]).unwrap();
    stream
}

/// Ask an option and take all its answers.
pub fn ask(stream: &mut UnixStream, kind: u32, data: &[u8]) -> Vec<(u32, Vec<u8>)> {
    option(stream, kind, data).unwrap();
    let mut all = vec![];
    loop {
        let (kind, data) = answer(stream).unwrap();
        all.push((kind, data));
        if kind == 1 || kind >> 31 == 1 {
            return all;
        }
    }
}

impl Client {
    /// Connect by `NBD_OPT_GO`, with structured replies and block status or without.
    pub fn new(path: &Path, structured: bool) -> Client {
        let mut stream = greeted(path);
        if structured {
            assert_eq!(ask(&mut stream, 8, &[]), [(1, vec![])]);
            let context = b"base:allocation";
            let query = [&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 15][..], context].concat();
            let all = ask(&mut stream, 10, &query);
            assert_eq!(all[0], (4, [&1u32.to_be_bytes()[..], context].concat()));
        }
        let all = ask(&mut stream, 7, &[0; 6]);
        let size = u64::from_be_bytes(all[0].1[2..10].try_into().unwrap());
        Client { stream, structured, size, next: 1 }
    }

    /// What is behind a handshake that a test has done itself.
    pub fn over(stream: UnixStream, structured: bool) -> Client {
        Client { stream, structured, size: 0, next: 1 }
    }

    /// Connect by `NBD_OPT_EXPORT_NAME`, the way of old clients.
    pub fn old(path: &Path) -> Client {
        let mut stream = greeted(path);
        option(&mut stream, 1, b"").unwrap();
        let size = u64::from_be_bytes(number(&mut stream).unwrap());
        number::<2>(&mut stream).unwrap();
        Client { stream, structured: false, size, next: 1 }
    }

    /// Send a request, if the connection still is one. Returns its cookie.
    pub fn send(&mut self, kind: u16, flags: u16, offset: u64, length: u32, data: &[u8]) -> u64 {
        let cookie = self.next;
        self.next += 1;
        let head = [
            &0x2560_9513u32.to_be_bytes()[..],
            &flags.to_be_bytes(),
            &kind.to_be_bytes(),
            &cookie.to_be_bytes(),
            &offset.to_be_bytes(),
            &length.to_be_bytes(),
        ];
        let _ = self.stream.write_all(&[&head.concat(), data].concat());
        cookie
    }

    /// The next reply, to a read of so many bytes if it is one. Nothing when the connection has ended.
    pub fn reply(&mut self, length_of: impl Fn(u64) -> usize) -> Option<Reply> {
        let magic = u32::from_be_bytes(number(&mut self.stream).ok()?);
        if magic == 0x6744_6698 {
            let error = u32::from_be_bytes(number(&mut self.stream).ok()?);
            let cookie = u64::from_be_bytes(number(&mut self.stream).ok()?);
            let mut data = vec![0; if error == 0 { length_of(cookie) } else { 0 }];
            assert!(!self.structured || data.is_empty(), "a read is answered in chunks");
            self.stream.read_exact(&mut data).ok()?;
            return Some(Reply { cookie, error, data });
        }
        assert_eq!(magic, 0x668e_33ef);
        assert_eq!(number::<2>(&mut self.stream).ok()?, [0, 1], "one chunk a reply");
        let kind = u16::from_be_bytes(number(&mut self.stream).ok()?);
        let cookie = u64::from_be_bytes(number(&mut self.stream).ok()?);
        let mut data = vec![0; u32::from_be_bytes(number(&mut self.stream).ok()?) as usize];
        self.stream.read_exact(&mut data).ok()?;
        let head = |data: &[u8]| u32::from_be_bytes(data[..4].try_into().unwrap());
        Some(match kind {
            0 => Reply { cookie, error: 0, data },
            1 => Reply { cookie, error: 0, data: data.split_off(8) },
            5 => Reply { cookie, error: 0, data: data.split_off(4) },
            _ => Reply { cookie, error: head(&data), data: vec![] },
        })
    }

    /// Ask and wait. Returns the error and the data.
    pub fn ask(&mut self, kind: u16, flags: u16, offset: u64, length: u32, data: &[u8]) -> (u32, Vec<u8>) {
        let cookie = self.send(kind, flags, offset, length, data);
        let reply = self.reply(|_| if kind == READ { length as usize } else { 0 }).unwrap();
        assert_eq!(reply.cookie, cookie);
        (reply.error, reply.data)
    }

    pub fn read(&mut self, offset: u64, length: u32) -> Vec<u8> {
        let (error, data) = self.ask(READ, 0, offset, length, &[]);
        assert_eq!(error, 0);
        data
    }

    pub fn write(&mut self, offset: u64, data: &[u8]) {
        assert_eq!(self.ask(WRITE, 0, offset, data.len() as u32, data).0, 0);
    }

    pub fn flush(&mut self) {
        assert_eq!(self.ask(FLUSH, 0, 0, 0, &[]).0, 0);
    }
}
