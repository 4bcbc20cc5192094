//! Writing: what a format keeps of a request ([`Keeps`]), and how it writes one ([`RecordWriter`]). A writer
//! is in the same file as the reader of its format. It only receives requests that the format can represent;
//! the caller (see `pipeline`) ensures that and counts losses.

use crate::reading::detection::{Miss, OptionFault, Settings};
use crate::reading::record::Record;
use crate::text::numbers::TENS;

/// Properties that survive being written to a format and read again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keeps {
    pub flush: bool,
    pub trim: bool,
    /// Force unit access of writes.
    pub fua: bool,
    /// Access-latency hints.
    pub hints: bool,
    /// Streams of writes.
    pub streams: bool,
    /// Offsets and lengths are multiples of this many bytes.
    pub unit: u64,
    /// Maximum length of a request in bytes.
    pub longest: u64,
    /// Times are multiples of this many nanoseconds.
    pub tick: u64,
    pub clock: Clock,
    pub volumes: Naming,
}

impl Keeps {
    /// Everything: reads and writes of any length, to the byte and the nanosecond, on volumes with any name.
    pub const ALL: Keeps = Keeps {
        flush: true,
        trim: true,
        fua: true,
        hints: true,
        streams: true,
        unit: 1,
        longest: crate::reading::record::LONGEST_TRIM,
        tick: 1,
        clock: Clock::Own,
        volumes: Naming::Any,
    };

    /// Everything except latency hints and streams, which few formats have.
    pub const STATED: Keeps = Keeps { hints: false, streams: false, ..Keeps::ALL };

    /// Reads and writes, but neither FLUSH, TRIM nor FUA.
    pub const TRANSFERS: Keeps = Keeps { flush: false, trim: false, fua: false, ..Keeps::STATED };
}

/// The times of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clock {
    /// As in the input file.
    Own,
    /// Counted from the first request.
    FromStart,
    /// Unix time of the years 2001 to 2065. Other clocks are set to 2001-09-09 at the first request.
    Unix,
}

/// The volume names of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Naming {
    /// None: a file holds one volume.
    None,
    /// Any word.
    Any,
    /// A number.
    Number,
    /// A word, a dot and a number, such as `usr.1`.
    HostAndDisk,
    /// The two numbers of a Linux device with a dot between them, such as `8.16`.
    MajorMinor,
}

impl Naming {
    /// Whether the format allows this name.
    pub fn allows(self, label: &str) -> bool {
        let number = |t: &str| !t.is_empty() && t.len() < 19 && t.bytes().all(|c| c.is_ascii_digit());
        match self {
            Naming::None => true,
            Naming::Any => {
                label.bytes().all(|c| c.is_ascii_graphic() && !matches!(c, b',' | b';' | b'"' | b'|'))
                    && !label.is_empty()
            }
            Naming::Number => number(label),
            Naming::HostAndDisk => label
                .rsplit_once('.')
                .is_some_and(|(host, disk)| !host.is_empty() && number(disk) && Naming::Any.allows(host)),
            Naming::MajorMinor => label.split_once('.').is_some_and(|(major, minor)| {
                let below = |t: &str, end: u32| number(t) && t.parse::<u32>().is_ok_and(|n| n < end);
                below(major, 1 << 12) && below(minor, 1 << 20)
            }),
        }
    }

    /// A name for the volume with this number.
    pub fn invented(self, number: usize) -> String {
        match self {
            Naming::None => String::new(),
            Naming::Any => format!("volume{number}"),
            Naming::Number => number.to_string(),
            Naming::HostAndDisk => format!("volume.{number}"),
            Naming::MajorMinor => format!("0.{number}"),
        }
    }
}

/// A file being written.
pub(crate) trait RecordWriter: Send {
    /// Writes what precedes the first request. The format allows all names of `volumes`.
    fn begin(&mut self, _volumes: &[String], _out: &mut Vec<u8>) {}
    /// Writes a request. The format can represent its time, range and kind; the names are those of
    /// [`RecordWriter::begin`].
    fn write(&mut self, record: &Record, volumes: &[String], out: &mut Vec<u8>);
    /// Writes what follows the last request.
    fn end(&mut self, _out: &mut Vec<u8>) {}
}

/// A writer, and what it keeps with its settings.
pub(crate) struct Writing {
    pub keeps: Keeps,
    /// The options needed to read the file again, if the content does not state them.
    pub read_with: Settings,
    pub writer: Box<dyn RecordWriter>,
}

impl Writing {
    pub fn new(keeps: Keeps, writer: impl RecordWriter + 'static) -> Writing {
        Writing { keeps, read_with: Settings::new(), writer: Box::new(writer) }
    }
}

/// The error of a format that cannot be written.
pub(crate) fn read_only(reason: &str, allowed: &str) -> Result<Writing, Miss> {
    let option = OptionFault { key: "--to", allowed: allowed.to_string() };
    Err(Miss { fits: 0, reason: reason.to_string(), option: Some(option) })
}

/// A writer of rows, each of which depends only on its request.
pub(crate) struct Rows {
    pub title: &'static str,
    pub row: fn(&Record, &str, &mut Vec<u8>),
}

impl RecordWriter for Rows {
    fn begin(&mut self, _volumes: &[String], out: &mut Vec<u8>) {
        out.extend_from_slice(self.title.as_bytes());
    }

    fn write(&mut self, record: &Record, volumes: &[String], out: &mut Vec<u8>) {
        let name = volumes.get(record.volume as usize).map_or("", String::as_str);
        (self.row)(record, name, out);
        out.push(b'\n');
    }
}

/// The parts of a row.
pub(crate) trait Row {
    /// Text as it is.
    fn text(&mut self, text: &str) -> &mut Self;
    /// A whole number.
    fn number(&mut self, n: u64) -> &mut Self;
    /// A hexadecimal number with `0x` and at least this many digits.
    fn hexadecimal(&mut self, n: u64, digits: usize) -> &mut Self;
    /// `n` in units of 10^-`decimals`, with all decimals: 1500 with 3 is `1.500`.
    fn fixed(&mut self, n: u64, decimals: usize) -> &mut Self;
}

impl Row for Vec<u8> {
    #[inline]
    fn text(&mut self, text: &str) -> &mut Self {
        self.extend_from_slice(text.as_bytes());
        self
    }

    #[inline]
    fn number(&mut self, n: u64) -> &mut Self {
        self.text(itoa::Buffer::new().format(n))
    }

    fn hexadecimal(&mut self, n: u64, digits: usize) -> &mut Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        self.text("0x");
        let length = (16 - n.leading_zeros() as usize / 4).max(digits).max(1);
        for at in (0..length).rev() {
            self.push(DIGITS[if at < 16 { (n >> (4 * at)) as usize & 15 } else { 0 }]);
        }
        self
    }

    #[inline]
    fn fixed(&mut self, n: u64, decimals: usize) -> &mut Self {
        let scale = TENS[decimals];
        self.number(n / scale);
        if decimals > 0 {
            // An additional digit keeps leading zeros.
            let start = self.len();
            self.number(n % scale + scale);
            self[start] = b'.';
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_all_their_digits() {
        let mut row = Vec::new();
        row.fixed(1_500, 3).text(" ").fixed(7, 9).text(" ").fixed(12, 0).text(" ");
        row.hexadecimal(0x42_ed00, 10).text(" ").hexadecimal(0, 0).text(" ").hexadecimal(u64::MAX, 4);
        assert_eq!(
            String::from_utf8(row).unwrap(),
            "1.500 0.000000007 12 0x000042ed00 0x0 0xffffffffffffffff"
        );
    }

    #[test]
    fn a_name_is_allowed_if_the_format_reads_it_back() {
        assert!(Naming::HostAndDisk.allows("usr.1") && Naming::HostAndDisk.allows("a.b.0"));
        assert!(!Naming::HostAndDisk.allows("usr") && !Naming::HostAndDisk.allows(".1"));
        assert!(Naming::MajorMinor.allows("8.16") && !Naming::MajorMinor.allows("8.x"));
        assert!(Naming::Number.allows("17") && !Naming::Number.allows("usr.1"));
        assert!(Naming::Any.allows("/dev/sdb") && !Naming::Any.allows("a\"b"));
        for naming in [Naming::Any, Naming::Number, Naming::HostAndDisk, Naming::MajorMinor] {
            assert!(naming.allows(&naming.invented(12)), "{naming:?}");
        }
    }
}
