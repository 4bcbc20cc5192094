//! The handshake ("Newstyle negotiation"), from the server's greeting to the first request.

use crate::error::Broken;
use crate::protocol::numbers::{
    ALLOCATION, BASE_ALLOCATION, FIXED_NEWSTYLE, IHAVEOPT, MAX_OPTION, MAX_OPTIONS, MAX_PAYLOAD, MAX_STRING,
    NBDMAGIC, NO_ZEROES, OPTION_REPLY, answer, can, info, option,
};
use crate::protocol::options;
use crate::spec::Encryption;
use std::io::{self, Read, Write};

/// The export, served under one name and as the default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Export {
    /// Its name. An empty name also refers to it.
    pub name: String,
    /// Its description, in one line.
    pub description: String,
    /// Its size in bytes.
    pub size: u64,
    /// Preferred size of reads and writes, in bytes: a power of two.
    pub preferred: u32,
    /// Clients cannot write to it.
    pub read_only: bool,
    /// Whether connections are encrypted.
    pub encryption: Encryption,
}

/// A client's stream.
pub(crate) trait Client: Read + Write {
    /// Start TLS on both sides.
    fn begin_tls(&mut self) -> io::Result<()>;
}

/// Result of the negotiation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Agreed {
    /// Reads are answered in structured chunks, and errors have a message.
    pub structured: bool,
    /// The client may request `base:allocation`.
    pub allocation: bool,
}

const OPTIONS: &str = "Option haggling";
const TLS: &str = "TLS support";

/// Greet a client and process its options. Returns the result of the negotiation, or nothing if the client
/// ends it.
///
/// # Errors
/// If the client violates the protocol, or the socket fails.
pub(crate) fn handshake<S: Client>(stream: &mut S, export: &Export) -> Result<Option<Agreed>, Broken> {
    let mut hello = [0; 18];
    hello[..8].copy_from_slice(&NBDMAGIC.to_be_bytes());
    hello[8..16].copy_from_slice(&IHAVEOPT.to_be_bytes());
    hello[16..].copy_from_slice(&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    stream.write_all(&hello)?;
    let mut flags = [0; 4];
    stream.read_exact(&mut flags)?;
    let flags = u32::from_be_bytes(flags);
    if flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
        return Err(Broken::protocol(format!("client flags {flags:#x}"), "Client flags"));
    }
    let no_zeroes = flags & u32::from(NO_ZEROES) != 0;
    let mut agreed = Agreed::default();
    let mut encrypted = false;
    for _ in 0..MAX_OPTIONS {
        let Some((kind, data)) = next_option(stream)? else { return Ok(None) };
        let mut say = Answers { option: kind, bytes: vec![] };
        match kind {
            option::STARTTLS => {
                if export.begin_tls((stream, &mut say), data.is_empty(), encrypted)? {
                    // Discard what was negotiated before TLS, which another party may have sent.
                    (encrypted, agreed) = (true, Agreed::default());
                }
                continue;
            }
            option::ABORT => {}
            option::EXPORT_NAME if export.encryption == Encryption::Require && !encrypted => {
                return Err(Broken::protocol("NBD_OPT_EXPORT_NAME without TLS, which is required", TLS));
            }
            _ if export.encryption == Encryption::Require && !encrypted => {
                say.add(answer::ERR_TLS_REQD, b"begin TLS first (NBD_OPT_STARTTLS)");
                stream.write_all(&say.bytes)?;
                continue;
            }
            _ => {}
        }
        match kind {
            option::EXPORT_NAME => {
                if !export.is_called(std::str::from_utf8(&data).ok()) {
                    let what = format!("NBD_OPT_EXPORT_NAME for an export that is not {:?}", export.name);
                    return Err(Broken::protocol(what, "NBD_OPT_EXPORT_NAME"));
                }
                let mut bytes = export.size.to_be_bytes().to_vec();
                bytes.extend(export.flags(agreed).to_be_bytes());
                bytes.extend(vec![0; if no_zeroes { 0 } else { 124 }]);
                stream.write_all(&bytes)?;
                return Ok(Some(agreed));
            }
            option::ABORT => {
                // A client that aborts may not wait for the reply.
                say.add(answer::ACK, &[]);
                let _ = stream.write_all(&say.bytes);
                return Ok(None);
            }
            option::LIST if data.is_empty() => {
                let name = export.name.as_bytes();
                let length = (name.len() as u32).to_be_bytes();
                say.add(answer::SERVER, &[&length, name, export.description()].concat());
                say.add(answer::ACK, &[]);
            }
            option::STRUCTURED_REPLY if data.is_empty() => {
                agreed.structured = true;
                say.add(answer::ACK, &[]);
            }
            option::LIST | option::STRUCTURED_REPLY => say.invalid("this option takes no data"),
            option::INFO | option::GO => match options::info(&data) {
                None => say.invalid(options::MALFORMED),
                Some(asked) if !export.is_called(Some(&asked.name)) => say.unknown(export),
                Some(asked) => {
                    export.tell(&asked.infos, agreed, &mut say);
                    if kind == option::GO {
                        stream.write_all(&say.bytes)?;
                        return Ok(Some(agreed));
                    }
                }
            },
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                let lists = kind == option::LIST_META_CONTEXT;
                // "Issuing this command replaces all previously-set metadata contexts (including when this command fails)".
                agreed.allocation &= lists;
                match options::contexts(&data, lists) {
                    None => say.invalid(options::MALFORMED),
                    Some(_) if !agreed.structured => say.invalid("negotiate structured replies first"),
                    Some(asked) if !export.is_called(Some(&asked.name)) => say.unknown(export),
                    Some(asked) => {
                        if asked.allocation {
                            let context = BASE_ALLOCATION.as_bytes();
                            say.add(
                                answer::META_CONTEXT,
                                &[&(if lists { 0 } else { ALLOCATION }).to_be_bytes(), context].concat(),
                            );
                        }
                        say.add(answer::ACK, &[]);
                        agreed.allocation |= !lists && asked.allocation;
                    }
                }
            }
            _ => say.add(answer::ERR_UNSUP, b"unsupported option"),
        }
        stream.write_all(&say.bytes)?;
    }
    Err(Broken::protocol(format!("more than {MAX_OPTIONS} options"), OPTIONS))
}

/// The next option and its data; nothing if the client has disconnected.
fn next_option<S: Read>(stream: &mut S) -> Result<Option<(u32, Vec<u8>)>, Broken> {
    let mut head = [0; 16];
    if let Err(e) = stream.read_exact(&mut head) {
        return if e.kind() == std::io::ErrorKind::UnexpectedEof { Ok(None) } else { Err(e.into()) };
    }
    let [m0, m1, m2, m3, m4, m5, m6, m7, k0, k1, k2, k3, l0, l1, l2, l3] = head;
    let magic = u64::from_be_bytes([m0, m1, m2, m3, m4, m5, m6, m7]);
    let (kind, length) = (u32::from_be_bytes([k0, k1, k2, k3]), u32::from_be_bytes([l0, l1, l2, l3]));
    if magic != IHAVEOPT {
        return Err(Broken::protocol(format!("an option that begins with {magic:#018x}"), OPTIONS));
    }
    if length > MAX_OPTION || kind == option::EXPORT_NAME && length as usize > MAX_STRING {
        return Err(Broken::protocol(format!("option {kind} with {length} bytes of data"), OPTIONS));
    }
    let mut data = vec![0; length as usize];
    stream.read_exact(&mut data)?;
    Ok(Some((kind, data)))
}

/// Replies to an option.
struct Answers {
    option: u32,
    bytes: Vec<u8>,
}

impl Answers {
    fn add(&mut self, kind: u32, data: &[u8]) {
        self.bytes.extend(OPTION_REPLY.to_be_bytes());
        self.bytes.extend(self.option.to_be_bytes());
        self.bytes.extend(kind.to_be_bytes());
        self.bytes.extend((data.len() as u32).to_be_bytes());
        self.bytes.extend(data);
    }

    fn invalid(&mut self, why: &str) {
        self.add(answer::ERR_INVALID, why.as_bytes());
    }

    fn unknown(&mut self, export: &Export) {
        let why = format!("unknown export; allowed: {:?} or the empty name", export.name);
        self.add(answer::ERR_UNKNOWN, why.as_bytes());
    }
}

impl Export {
    fn is_called(&self, name: Option<&str>) -> bool {
        name.is_some_and(|name| name.is_empty() || name == self.name)
    }

    /// Its description, as far as the protocol has room for it.
    fn description(&self) -> &[u8] {
        &self.description.as_bytes()[..self.description.floor_char_boundary_at(MAX_STRING)]
    }

    /// Start TLS if the client may request it. Returns whether it has started.
    fn begin_tls<S: Client>(
        &self,
        (stream, say): (&mut S, &mut Answers),
        is_empty: bool,
        encrypted: bool,
    ) -> Result<bool, Broken> {
        let begins = self.encryption != Encryption::Off && is_empty && !encrypted;
        match self.encryption {
            Encryption::Off => say.add(answer::ERR_POLICY, b"this server has no TLS"),
            _ if encrypted => say.invalid("TLS has begun already"),
            _ if !is_empty => say.invalid("this option takes no data"),
            _ => say.add(answer::ACK, &[]),
        }
        stream.write_all(&say.bytes)?;
        if begins {
            stream.begin_tls()?;
        }
        Ok(begins)
    }

    /// Transmission flags.
    fn flags(&self, agreed: Agreed) -> u16 {
        let always = can::HAS_FLAGS | can::FLUSH | can::FUA | can::MULTI_CONN | can::CACHE;
        let writes =
            if self.read_only { can::READ_ONLY } else { can::TRIM | can::WRITE_ZEROES | can::FAST_ZERO };
        // "NBD_FLAG_SEND_DF [...] MUST be set" where structured replies were agreed on, and not otherwise.
        always | writes | if agreed.structured { can::DF } else { 0 }
    }

    /// Send the requested information on the export, and what is always sent.
    fn tell(&self, asked: &[u16], agreed: Agreed, say: &mut Answers) {
        let of = |kind: u16, data: &[u8]| [&kind.to_be_bytes(), data].concat();
        let mut export = self.size.to_be_bytes().to_vec();
        export.extend(self.flags(agreed).to_be_bytes());
        say.add(answer::INFO, &of(info::EXPORT, &export));
        let sizes = [1, self.preferred, MAX_PAYLOAD].map(u32::to_be_bytes).concat();
        say.add(answer::INFO, &of(info::BLOCK_SIZE, &sizes));
        if asked.contains(&info::NAME) {
            say.add(answer::INFO, &of(info::NAME, self.name.as_bytes()));
        }
        if asked.contains(&info::DESCRIPTION) {
            say.add(answer::INFO, &of(info::DESCRIPTION, self.description()));
        }
        say.add(answer::ACK, &[]);
    }
}

/// Finds where a text may be cut.
trait Boundary {
    fn floor_char_boundary_at(&self, most: usize) -> usize;
}

impl Boundary for str {
    fn floor_char_boundary_at(&self, most: usize) -> usize {
        (0..=most.min(self.len())).rev().find(|at| self.is_char_boundary(*at)).unwrap_or(0)
    }
}
