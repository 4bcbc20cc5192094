//! Damaged variants of every format: cut anywhere, bytes replaced anywhere, numbers beyond all
//! bounds, other line ends. Each gives the requests that are whole and names the line or byte of
//! what is not; none gives a number that was never in the file.

use tempfile::TempDir;
use wordline_trace::{
    Body, DriveShape, ErrorKind, Example, FORMATS, Format, Inspection, Overrides, Position, Trace, inspect,
};
use wordline_units::{HostOp, HostRequest};

const DRIVE: DriveShape = DriveShape { logical_bytes: 1 << 50, sector_bytes: 4096, unit_bytes: 4096 };

/// The formats, with the content of their examples and the options that these are read with.
fn examples() -> impl Iterator<Item = (&'static Format, Vec<u8>, &'static str)> {
    FORMATS.iter().map(|format| (*format, format.example.pieces().concat(), format.example.options))
}

/// Those whose requests are lines.
fn of_lines() -> impl Iterator<Item = (&'static Format, Vec<u8>, &'static str)> {
    examples().filter(|(format, ..)| matches!(format.example.body, Body::Lines { .. }))
}

struct Bench {
    folder: TempDir,
}

/// A request but for its volume and the volume's base, which are multiples of 1 MiB.
type Seen = (u64, u64, u32, HostOp);

impl Bench {
    fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    fn text(&self, format: &Format, content: &[u8], options: &str) -> String {
        let path = self.folder.path().join("trace");
        std::fs::write(&path, content).unwrap();
        format!("{}:format={},skip=bad{options}", path.display(), format.name)
    }

    /// What is read of a content, or why nothing is.
    fn read(
        &self,
        format: &Format,
        content: &[u8],
        options: &str,
    ) -> Result<(Vec<Seen>, Inspection), ErrorKind> {
        let text = self.text(format, content, options);
        let found = inspect(&text).map_err(|e| e.kind())?;
        let workload = Trace::parse(&format!("{text},backwards=clamp"), Overrides::default());
        let workload = workload.map_err(|e| e.kind())?;
        let seen = |r: HostRequest| (r.arrival.0, r.lba.0 % 2048, r.blocks, r.op);
        let requests = workload.open(DRIVE).unwrap().map(|r| seen(r.unwrap())).collect();
        Ok((requests, found))
    }
}

/// Where each line or record of an example begins, and its end.
fn starts(format: &Format) -> Vec<usize> {
    let ends = format.example.pieces().into_iter().scan(0, |end, piece| {
        *end += piece.len();
        Some(*end)
    });
    [0].into_iter().chain(ends).collect()
}

#[test]
fn every_format_has_an_example_that_is_recognized() {
    let bench = Bench::new();
    for (format, content, options) in examples() {
        let name = format.name;
        let (requests, found) = bench.read(format, &content, options).unwrap();
        let expected = (Example::REQUESTS, 0, false);
        assert_eq!((requests.len() as u64, found.unusable.count, found.open_end), expected, "{name}");
        if format.needs_settings() {
            continue;
        }
        let text = bench.text(format, &content, options);
        let (path, _) = text.split_once(':').unwrap();
        match inspect(path) {
            Ok(found) => assert_eq!(found.format, name),
            // What only the options say is asked for, in that format.
            Err(e) => assert!(
                e.kind() == ErrorKind::Ambiguous
                    && options.contains(",unit=")
                    && e.to_string().contains(&format!("{name} format, but")),
                "{name}: {e}"
            ),
        }
    }
}

#[test]
fn cut_file_gives_whole_requests_and_names_the_rest() {
    let bench = Bench::new();
    for (format, content, options) in examples() {
        let name = format.name;
        if matches!(format.example.body, Body::Whole(_)) {
            // Damage costs more than a request; the tests of such a format are beside it.
            continue;
        }
        let (whole, _) = bench.read(format, &content, options).unwrap();
        let starts = starts(format);
        let from = starts[starts.len() - 4];
        for cut in from..content.len() {
            let (requests, found) = bench.read(format, &content[..cut], options).unwrap();
            let what = format!("{name} cut at {cut} of {}: {:?}", content.len(), found.unusable);
            let common = requests.iter().zip(&whole).take_while(|(a, b)| a == b).count();
            let clean = starts.contains(&cut);
            if clean {
                assert!(common == requests.len() && found.unusable.count == 0 && !found.open_end, "{what}");
            } else if matches!(format.example.body, Body::Records { .. }) {
                assert_eq!((common, found.unusable.count), (requests.len(), 1), "{what}");
                let begin = starts.iter().rev().find(|s| **s < cut).unwrap();
                assert_eq!(found.unusable.first[0].at, Position::Byte(*begin as u64), "{what}");
            } else {
                // A last number may have been cut; then the missing newline is pointed at.
                assert!(found.open_end, "{what}");
                let sorted = requests.iter().filter(|r| !whole.contains(r)).count();
                assert!(
                    sorted <= 1 && requests.len() + found.unusable.count as usize <= whole.len(),
                    "{what}"
                );
                for u in &found.unusable.first {
                    let line = starts.iter().filter(|s| **s < cut).count() as u64;
                    assert_eq!(u.at, Position::Line(line), "{what}");
                }
            }
        }
    }
}

#[test]
fn no_damaged_byte_makes_a_request_that_was_not_there() {
    let bench = Bench::new();
    for (format, content, options) in of_lines() {
        let name = format.name;
        let (whole, _) = bench.read(format, &content, options).unwrap();
        let starts = starts(format);
        let last = starts.len() - 3..starts.len() - 2;
        let (begin, end) = (starts[last.start], starts[last.end]);
        for at in begin..end - 1 {
            for byte in [0, 0xff, b'\r', b'J', b'-', b'"'] {
                // A return before the newline is the end of a line as Windows writes it.
                if byte == b'\r' && at == end - 2 {
                    continue;
                }
                let mut damaged = content.clone();
                damaged[at] = byte;
                let (requests, found) = bench.read(format, &damaged, options).unwrap();
                let what = format!("{name}, byte {at} is {byte:#x}: {:?}", found.unusable);
                for r in &requests {
                    assert!(whole.contains(r), "{what}: {r:?}");
                }
                // A letter in a name or a column that is not used changes nothing.
                let lost = whole.len() - requests.len();
                let told = found.unusable.count + found.asides;
                assert!(lost <= 1 && told >= lost as u64, "{what}");
                for u in &found.unusable.first {
                    assert_eq!(u.at, Position::Line(starts.len() as u64 - 2), "{what}");
                }
            }
        }
    }
}

#[test]
fn overflowing_number_is_refused_where_it_matters() {
    let bench = Bench::new();
    for (format, content, options) in of_lines() {
        let name = format.name;
        let (whole, _) = bench.read(format, &content, options).unwrap();
        let starts = starts(format);
        let (begin, end) = (starts[starts.len() - 3], starts[starts.len() - 2]);
        let line = std::str::from_utf8(&content[begin..end]).unwrap();
        let mut refused = 0;
        let digits: Vec<_> =
            line.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(i, _)| i).collect();
        for huge in ["99999999999999999999", "18446744073709551615", "-1", "9e999999999999999999"] {
            for run in digits.chunk_by(|a, b| a + 1 == *b) {
                let damaged = format!("{}{huge}{}", &line[..run[0]], &line[run[run.len() - 1] + 1..]);
                let content = [&content[..begin], damaged.as_bytes(), &content[end..]].concat();
                match bench.read(format, &content, options) {
                    Ok((requests, found)) => {
                        let what = format!("{name}: {damaged} {:?}", found.unusable);
                        assert!(requests.len() + found.unusable.count as usize >= whole.len(), "{what}");
                        // A time may have any number of decimals, so times are left out of account.
                        let place = |r: &Seen| (r.1, r.2, r.3);
                        let known: Vec<_> = whole.iter().map(place).collect();
                        assert!(requests.iter().all(|r| known.contains(&place(r))), "{what}");
                        refused += found.unusable.count;
                    }
                    Err(kind) => {
                        assert_eq!(kind, ErrorKind::Content, "{name}: {damaged}");
                        refused += 1;
                    }
                }
            }
        }
        let numbers = digits.chunk_by(|a, b| a + 1 == *b).count();
        assert!(refused as usize >= (4 * numbers).min(6), "{name}: only {refused} were refused");
    }
}

// Nor does a missing last newline.
#[test]
fn line_ends_and_blank_lines_change_nothing() {
    let bench = Bench::new();
    for (format, content, options) in of_lines() {
        let name = format.name;
        let (whole, _) = bench.read(format, &content, options).unwrap();
        let text = String::from_utf8(content).unwrap();
        for (variant, open_end) in [
            (text.replace('\n', "\r\n"), false),
            (text.replace('\n', "\n\n"), false),
            (text.trim_end().to_string(), true),
        ] {
            let (requests, found) = bench.read(format, variant.as_bytes(), options).unwrap();
            assert!(requests == whole, "{name}: {variant:?}");
            assert_eq!((found.unusable.count, found.open_end), (0, open_end), "{name}");
        }
        let padded = [text.as_bytes(), &[0; 700]].concat();
        let (requests, found) = bench.read(format, &padded, options).unwrap();
        assert_eq!(requests, whole, "{name}");
        assert!(found.unusable.count + found.asides > 0, "{name}: zeros are passed over in silence");
    }
}

#[test]
fn invalid_binary_record_is_named_with_its_byte() {
    let bench = Bench::new();
    for (format, content, options) in examples() {
        let name = format.name;
        let Body::Records { faults, .. } = format.example.body else { continue };
        let (whole, _) = bench.read(format, &content, options).unwrap();
        let starts = starts(format);
        let begin = starts[starts.len() - 3];
        for (at, bytes) in faults {
            let mut damaged = content.clone();
            damaged[begin + at..begin + at + bytes.len()].copy_from_slice(bytes);
            let (requests, found) = bench.read(format, &damaged, options).unwrap();
            assert!(requests.iter().all(|r| whole.contains(r)), "{name} at {at}");
            assert_eq!(requests.len() + 1, whole.len(), "{name} at {at}: {:?}", found.unusable);
            assert_eq!(found.unusable.count, 1, "{name} at {at}");
            assert_eq!(found.unusable.first[0].at, Position::Byte(begin as u64), "{name} at {at}");
        }
    }
}
