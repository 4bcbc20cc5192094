//! A state as a file: its header, and a check that the file is what was written.
//!
//! The file: a header of 64 bytes; the large tables, each at a multiple of 64 KiB, of which chunks that are all zeros
//! are left out as holes; and the body, in postcard's encoding: what the state is of, where the tables are with a
//! checksum of each chunk, and the fields in their order. The header holds the checksum of the body, so that this one
//! number names a state, and it is written last, so that what was cut short is not a state file. Tables are mapped
//! copy-on-write ([`crate::file::memory`]): a drive that is restored reads of them what it touches, and costs the
//! memory of what it changes.

use crate::file::memory::Stored;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::ops::Range;
use thiserror::Error;
use twox_hash::{XxHash3_64, XxHash3_128};
use wordline_device::{DeviceSpec, to_toml};
use wordline_units::SimTime;

/// Tables begin at multiples of this, which every system can map, and have holes and checksums by it.
pub(crate) const CHUNK: usize = 64 << 10;

pub(crate) const MAGIC: [u8; 16] = *b"\x89Wordline state\n";
/// How a state is laid out: the declarations of all that is written. `ftl/tests/it/layout.rs` holds it to the sources.
const LAYOUT: &[u8] = include_bytes!("layout.txt");
/// The number of the format, which follows from the layout: what is written otherwise has another number.
pub(crate) const FORMAT: u32 = format_of(LAYOUT);
/// In the format's number, of a state without what the flash holds: drives over media of their own, and forks.
pub(crate) const APART: u32 = 1 << 31;
/// Written as the machine writes it, since tables are.
pub(crate) const BYTE_ORDER: u32 = 0x0102_0304;
const HEADER: usize = 64;

/// The FNV-1a hash of a layout, without the bit of [`APART`]. However lines end.
const fn format_of(layout: &[u8]) -> u32 {
    let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while at < layout.len() {
        if layout[at] != b'\r' {
            hash = (hash ^ layout[at] as u64).wrapping_mul(0x0100_0000_01b3);
        }
        at += 1;
    }
    (hash ^ hash >> 32) as u32 & !APART
}

/// The identity of a state: only the same device under the same scheme can restore it.
#[derive(Clone, Copy, Debug)]
pub struct Label<'a> {
    /// The device, resolved.
    pub device: &'a DeviceSpec,
    /// The scheme's spelling.
    pub scheme: &'a str,
}

/// The header of a state file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct About {
    /// The version of Wordline that wrote it.
    pub version: String,
    /// The device's name.
    pub device: String,
    /// The device as a device file, with every default written out.
    pub toml: String,
    /// The scheme's spelling.
    pub scheme: String,
    /// A hash of how the scheme divided the drive.
    pub layout: u64,
    /// Seed of the run that saved it.
    pub seed: u64,
    /// Simulated time of the drive.
    pub now: SimTime,
    /// Number of requests that the drive had accepted.
    pub requests: u64,
}

/// A state that cannot be restored.
#[derive(Debug, Error)]
pub enum StateError {
    /// Something else, or a file that was not written to its end.
    #[error("not a state file, or the file is incomplete")]
    NotAState,
    /// Written in another format.
    #[error(
        "state file has format {found}; this version of Wordline reads format {FORMAT}; save it again with \
         this version"
    )]
    OtherFormat {
        /// Its format.
        found: u32,
    },
    /// Written by a machine with another order of bytes.
    #[error("state was saved on a machine with a different byte order; save it again on this machine")]
    OtherOrder,
    /// Written by a Wordline whose drives have other fields.
    #[error(
        "state was saved by a different build of Wordline, version {version}: its {part} differs; save it \
         again with this build"
    )]
    OtherVersion {
        /// What differs first.
        part: String,
        /// The version that saved it.
        version: String,
    },
    /// Its bytes are not those that were written.
    #[error("state file is damaged: checksum of {part} does not match; use another copy, or save it again")]
    Damaged {
        /// Which of them.
        part: String,
    },
    /// Of another drive.
    #[error("state belongs to device {saved}, not {given}: {differs}; use the device it was saved with")]
    OtherDevice {
        /// Whose it is.
        saved: String,
        /// Whose it should be.
        given: String,
        /// The first key that differs, with both values.
        differs: String,
    },
    /// Of a drive under another scheme.
    #[error("state was saved under scheme {saved}, not {given}; use the scheme it was saved with")]
    OtherScheme {
        /// Whose it is.
        saved: String,
        /// Whose it should be.
        given: String,
    },
    /// Without what the flash holds, which was not given either.
    #[error(
        "state was saved without the contents of the flash; pass the media it was saved with, or save it \
         with them"
    )]
    NoMedia,
    /// The system cannot read it.
    #[error("cannot read the state file: {0}")]
    Io(#[from] io::Error),
}

fn damaged(part: impl Into<String>) -> StateError {
    StateError::Damaged { part: part.into() }
}

/// How much of a file is verified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checked {
    /// To its end: for files from anywhere.
    Whole,
    /// Its header and body; tables when they are touched. For files that nobody else can write to.
    Body,
}

/// Where a table is, and which of its chunks are there.
#[derive(Serialize, Deserialize)]
pub(crate) struct TableAt {
    pub offset: u64,
    pub bytes: u64,
    /// Number and checksum of each chunk that is not all zeros.
    pub chunks: Vec<(u64, u64)>,
}

impl std::fmt::Debug for TableAt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes at {}", self.bytes, self.offset)
    }
}

impl TableAt {
    /// Compare with what was written; the chunk that differs first.
    fn check(&self, all: &[u8]) -> Result<(), u64> {
        let from = self.offset as usize;
        let mut there = self.chunks.iter().peekable();
        for (i, chunk) in all[from..from + self.bytes as usize].chunks(CHUNK).enumerate() {
            let sound = match there.next_if(|(at, _)| *at == i as u64) {
                Some((_, sum)) => XxHash3_64::oneshot(chunk) == *sum,
                None => is_zero(chunk),
            };
            if !sound {
                return Err(i as u64);
            }
        }
        Ok(())
    }
}

pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    let (head, words, tail) = bytemuck::pod_align_to::<u8, u64>(bytes);
    words.chunks(64).all(|w| w.iter().fold(0, |all, w| all | w) == 0)
        && head.iter().chain(tail).all(|b| *b == 0)
}

/// A verified state file.
#[derive(Debug)]
pub struct StateFile {
    pub(crate) bytes: Stored,
    pub(crate) about: About,
    pub(crate) tables: Vec<TableAt>,
    pub(crate) fields: Range<usize>,
    /// Whether the media are not in it.
    pub(crate) apart: bool,
    /// Whether it is bytes alone ([`Saver::pack`](crate::Saver::pack)).
    pub(crate) packed: bool,
    checksum: String,
}

impl StateFile {
    /// Verify a file.
    ///
    /// # Errors
    /// When it is not a state file of this version, or damaged.
    pub fn open(file: File, checked: Checked) -> Result<StateFile, StateError> {
        if file.metadata()?.len() < HEADER as u64 {
            return Err(StateError::NotAState);
        }
        StateFile::look_through(Stored::of(file)?, checked)
    }

    /// A state in memory, on systems without files: each drive restored from it copies all its tables.
    ///
    /// # Errors
    /// When it is not a state of this version, or damaged.
    pub fn of_bytes(bytes: Vec<u8>, checked: Checked) -> Result<StateFile, StateError> {
        if bytes.len() < HEADER {
            return Err(StateError::NotAState);
        }
        StateFile::look_through(Stored::Bytes(bytes), checked)
    }

    fn look_through(bytes: Stored, checked: Checked) -> Result<StateFile, StateError> {
        let (header, sum) = bytes[..HEADER].split_at(HEADER - 8);
        if header[..16] != MAGIC {
            return Err(StateError::NotAState);
        }
        let word = |at: usize| -> u64 {
            let bytes: [u8; 8] = std::array::from_fn(|i| header[at + i]);
            u64::from_le_bytes(bytes)
        };
        if XxHash3_64::oneshot(header).to_le_bytes() != *sum {
            return Err(damaged("its header"));
        }
        let (format, apart) = (word(16) as u32 & !APART, word(16) as u32 & APART != 0);
        if format != FORMAT {
            return Err(StateError::OtherFormat { found: format });
        }
        if header[20..24] != BYTE_ORDER.to_ne_bytes() {
            return Err(StateError::OtherOrder);
        }
        let (begin, len) = (word(24), word(32));
        if begin.checked_add(len) != Some(bytes.len() as u64) || begin < HEADER as u64 {
            return Err(damaged("its length"));
        }
        let begin = begin as usize;
        let body = &bytes[begin..];
        let hash = XxHash3_128::oneshot(body);
        if hash.to_le_bytes() != header[40..56] {
            return Err(damaged("its body"));
        }
        let no_head = |_| damaged("the head of its body");
        let (about, rest): (About, &[u8]) = postcard::take_from_bytes(body).map_err(no_head)?;
        let (tables, rest): (Vec<TableAt>, &[u8]) = postcard::take_from_bytes(rest).map_err(no_head)?;
        for (i, table) in tables.iter().enumerate() {
            let end = table.offset.checked_add(table.bytes.max(1));
            if end.is_none_or(|end| end > begin as u64) || !table.offset.is_multiple_of(CHUNK as u64) {
                return Err(damaged(format!("the place of table {i}")));
            }
            if checked == Checked::Whole {
                table.check(&bytes).map_err(|chunk| damaged(format!("chunk {chunk} of table {i}")))?;
            }
        }
        let fields = bytes.len() - rest.len()..bytes.len();
        Ok(StateFile { about, tables, fields, apart, packed: false, checksum: format!("{hash:032x}"), bytes })
    }

    /// The result of [`Saver::pack`](crate::Saver::pack) in this run. It is not verified.
    pub fn packed(bytes: Vec<u8>) -> StateFile {
        let about = About {
            version: String::new(),
            device: String::new(),
            toml: String::new(),
            scheme: String::new(),
            layout: 0,
            seed: 0,
            now: SimTime(0),
            requests: 0,
        };
        let (fields, checksum) = (0..bytes.len(), String::new());
        StateFile {
            about,
            tables: vec![],
            fields,
            apart: false,
            packed: true,
            checksum,
            bytes: Stored::Bytes(bytes),
        }
    }

    /// Whether it lacks the flash contents, so that the caller must provide the media.
    pub fn lacks_media(&self) -> bool {
        self.apart
    }

    /// Identity of the state.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The checksum that names the state: that of the body, which contains the checksums of the tables.
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// Whether a device under a scheme can restore it.
    ///
    /// # Errors
    /// When it belongs to another device or scheme.
    pub fn is_of(&self, label: Label) -> Result<(), StateError> {
        if let Some(differs) = first_difference(&self.about.toml, &to_toml(label.device)) {
            let (saved, given) = (self.about.device.clone(), label.device.name.clone());
            return Err(StateError::OtherDevice { saved, given, differs });
        }
        if self.about.scheme != label.scheme {
            let (saved, given) = (self.about.scheme.clone(), label.scheme.to_string());
            return Err(StateError::OtherScheme { saved, given });
        }
        Ok(())
    }
}

/// The first key of two device files in which they differ; descriptions may.
fn first_difference(saved: &str, given: &str) -> Option<String> {
    fn keys(text: &str) -> Vec<(String, &str)> {
        let mut section = "";
        let mut keys = vec![];
        for line in text.lines() {
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']');
            } else if let Some((key, value)) = line.split_once(" = ")
                && (section, key) != ("device", "description")
            {
                keys.push((format!("{}.{key}", section.replace('"', "")), value));
            }
        }
        keys
    }
    let (saved, given) = (keys(saved), keys(given));
    let of =
        |list: &[(String, &str)], key: &str| list.iter().find(|(k, _)| k == key).map(|(_, v)| v.to_string());
    let all = saved.iter().chain(&given).map(|(k, _)| k);
    let word = |v: Option<String>| v.unwrap_or("missing".into());
    all.map(|key| (key, of(&saved, key), of(&given, key)))
        .find(|(_, a, b)| a != b)
        .map(|(key, a, b)| format!("{key} is {} in the state file, but {} in this run", word(a), word(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_differing_key_is_named_except_description() {
        let a = "[device]\nname = \"x\"\ndescription = \"a\"\n\n[medium.\"f\"]\npage = \"4KiB\"\n";
        let b = a.replace("\"a\"", "\"b\"");
        assert_eq!(first_difference(a, &b), None);
        let b = b.replace("4KiB", "8KiB");
        let said = first_difference(a, &b).unwrap();
        assert_eq!(said, "medium.f.page is \"4KiB\" in the state file, but \"8KiB\" in this run");
        let more = format!("{a}[ack]\nmode = \"buffer\"\n");
        assert!(first_difference(a, &more).unwrap().contains("ack.mode is missing in the state"));
    }
}
