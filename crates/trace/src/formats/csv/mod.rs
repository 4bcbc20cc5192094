//! Any delimited text, by the names of its columns, for traces that no other format fits. The options give
//! the name and unit of each column. Only the delimiter is detected, from the title row.

pub(crate) mod missing;
pub(crate) mod plan;
pub(crate) mod proposal;
pub(crate) mod rows;
pub(crate) mod table;
pub(crate) mod write;

use crate::error::did_you_mean;
use crate::formats::csv::plan::{DELIMITERS, NO_CLOCK, Name, Plan, decoded, tells_time};
use crate::formats::csv::proposal::proposed;
use crate::formats::csv::rows::{Csv, split};
use crate::formats::csv::write::write;
use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineReader, Tally};
use crate::reading::units::UNIT;
use crate::text::parameter::{Parameter, choice};

const fn column(key: &'static str, default: &'static str, about: &'static str) -> Parameter {
    Parameter { key, unit: "column", default, allowed: "a title, or #N", choices: &[], about }
}

const fn words(key: &'static str, default: &'static str, about: &'static str) -> Parameter {
    Parameter { key, unit: "words", default, allowed: "words separated by /", choices: &[], about }
}

/// The format.
pub static FORMAT: Format = Format {
    name: "csv",
    title: "any delimited text: name its columns and their units",
    grammar: "\
format=csv,time=COLUMN[:UNIT],offset=COLUMN[:UNIT][:hex],size=COLUMN[:UNIT][:hex][:zero-based],op=COLUMN

COLUMN  a title of the title row, or #1, #2, ... in a table without titles. Write a title that holds a comma
        in double quotes.
UNIT    of time: ns, us, ms, s, filetime or 100ns, date (2016-02-21 22:52:25.133, UTC).
        Of offset and size: byte, sector (512), or a multiple such as 4KiB.
        Default: the unit at the end of the title, in brackets or after _ (Init Time (s), ts_ms). KB, MB and
        GB there are ambiguous and need a suffix (Size (KB):KiB or :kB). Without a unit in the title, unit=
        or byte applies. A time without a unit is inferred or rejected; so is a missing unit= if nine of ten
        requests would be shorter than 512 bytes.

In a table separated by white space, surplus words of a row belong to the first column that no option names,
such as a command name with spaces.

latency=COLUMN means that times are completion times; the latency is subtracted to get the arrival, as for
biosnoop.

size=COLUMN:UNIT:zero-based: 0 in the column is one unit, as in the field NLB of NVMe commands.

time=none: a table without times, replayed as a closed loop.

size=always:4KiB and op=always:write apply to all rows; end=COLUMN can replace size. Lines before the title
row are skipped. Fields may be in double quotes. Rows are sorted by time.

A table is written with the same options, columns by their titles; default titles are Time (ns),
Volume, Op, Offset and Size, and a write with FUA is the word fua. Latency hints and streams are written if
hint= and stream= say what their columns are called.",
    parameters: &[
        column("time", "none", "arrival time with its unit: Init Time:us; none for a table without times"),
        column("latency", "none", "latency with its unit, if times are completion times"),
        column("offset", "none", "first byte or unit; append :hex for hexadecimal"),
        column(
            "size",
            "none",
            "length; append :hex for hexadecimal, :zero-based if 0 is one unit; always:4KiB for all rows",
        ),
        column("end", "none", "one past the last byte or unit, in place of size"),
        Parameter {
            default: "byte",
            about: "unit of offset and size if their columns name none; a sector is 512 bytes",
            ..UNIT
        },
        column("op", "none", "operation; always:write for all rows"),
        column("device", "one volume", "names the volume"),
        column("hint", "none", "latency hint of the host: short, medium, long or empty"),
        column("stream", "none", "stream of a write: 1 to 31, 0 or empty; ignored for other rows"),
        words("read", "none", "words of op that are reads, in any case, besides r, read and rd"),
        words("write", "none", "words of op that are writes, besides w, write and wr"),
        words(
            "flush",
            "none",
            "words of op that are FLUSHes, besides f, flush, sync and fsync; offset and size are ignored",
        ),
        words("trim", "none", "words of op that are trims, besides t, trim, d, discard and unmap"),
        words("fua", "none", "words of op that are writes with force unit access"),
        words("ignore", "none", "words of op that are not requests, such as completions"),
        choice(
            "delimiter",
            "by the title row",
            "comma, semicolon, tab, space, bar",
            &["comma", "semicolon", "tab", "space", "bar"],
            "column separator; space is any run of white space",
        ),
        choice("decimal", "point", "point, comma", &["point", "comma"], "decimal separator"),
        choice(
            "thousands",
            "nothing",
            "comma, point, space, apostrophe, underscore",
            &["comma", "point", "space", "apostrophe", "underscore"],
            "thousands separator",
        ),
        Parameter {
            key: "preamble",
            unit: "count",
            default: "up to the title row",
            allowed: "0 or more",
            choices: &[],
            about: "number of lines to skip first",
        },
        Parameter {
            key: "comment",
            unit: "text",
            default: "none",
            allowed: "the beginning of a line",
            choices: &[],
            about: "prefix of comment lines, which are skipped",
        },
    ],
    order: Order::Loose,
    timing: Timing::Told,
    quirks: Quirks {
        needs_settings: true,
        may_lack_clock: |settings| settings.get("time").is_some_and(|time| time == NO_CLOCK),
        tells_time,
        proposal: Some(proposed),
        ..Quirks::NONE
    },
    extents: Extents::Bytes,
    detect,
    open: |settings, input| {
        let csv = Csv::of(settings);
        let volumes = csv.volumes();
        LineReader::open(csv, volumes, input)
    },
    write,
    example: Example {
        options: ",time=T:ms,offset=At:hex,size=Size,op=Op,device=Disk,decimal=comma,thousands=point",
        body: Body::Lines {
            title: "T;Op;At;Size;Disk\n",
            time: |i| format!("0,{:06}", i * 10),
            line: |r, time| {
                let op = r.op("Read", "Write");
                format!("{time};{op};0x{:x};{};a", r.sector * 512, r.sectors * 512)
            },
        },
    },
};

/// Number of lines in which a title row is searched.
const PREAMBLE_LINES: usize = 1_000;

/// The delimiter with which a line is the title row, or why there is none.
fn find_delimiter(plan: &Plan, sample: &Sample) -> Result<u8, Miss> {
    let told = |d: &&(&str, u8)| plan.delimiter.is_none_or(|t| t == d.1);
    let lines = || sample.lines().skip(plan.preamble as usize).take(PREAMBLE_LINES);
    let mut fields = Vec::new();
    if !plan.is_titled() {
        // Without titles: the delimiter that splits the first row into all columns.
        let most = plan.names().into_iter().flatten().filter_map(|n| match n {
            Name::Number(n) => Some(*n),
            Name::Title(_) => None,
        });
        let most = most.max().unwrap_or(0);
        let first = lines().find(|l| !l.trim_ascii().is_empty()).unwrap_or_default();
        let fits = DELIMITERS
            .iter()
            .filter(told)
            .find(|(_, d)| split(first, *d, &mut fields).is_ok() && fields.len() > most);
        return fits.map(|(_, d)| *d).ok_or_else(|| {
            Miss::new(0, format!("no delimiter splits the first row into {} columns", most + 1))
        });
    }
    let mut nearest: (usize, Vec<String>, String) = (usize::MAX, Vec::new(), String::new());
    for line in lines() {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        for (_, delimiter) in DELIMITERS.iter().filter(told) {
            if split(line, *delimiter, &mut fields).is_err() {
                continue;
            }
            let titles: Vec<&[u8]> = fields.iter().map(|f| &line[f.0 as usize..f.1 as usize]).collect();
            match plan.places(&titles) {
                Ok(_) => return Ok(*delimiter),
                Err(missing) if missing.len() < nearest.0 => {
                    let shown = titles
                        .iter()
                        .take(24)
                        .map(|t| decoded(t.trim_ascii()).replace(char::is_control, " "));
                    nearest = (missing.len(), missing, shown.collect::<Vec<_>>().join(" | "));
                }
                Err(_) => {}
            }
        }
    }
    let (_, missing, titles) = nearest;
    let hints = missing.iter().map(|m| did_you_mean(m, titles.split(" | ")));
    let hint = hints.filter(|h| !h.is_empty()).collect::<Vec<_>>().join(" ");
    let reason = format!("no title row has {}; the nearest is: {titles}. {hint}", missing.join(", "));
    Err(Miss::new(0, reason.trim_end().to_string()))
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let plan = Plan::of(told)?;
    let delimiter = find_delimiter(&plan, sample)?;
    let mut settings = told.clone();
    if let Some((name, _)) = DELIMITERS.iter().find(|(_, d)| *d == delimiter) {
        settings.insert("delimiter", name.to_string());
    }
    let csv = Csv::of(&settings);
    let volumes = csv.volumes();
    let tally = Tally::of(sample, csv, volumes).at_least_half()?;
    let titles = plan.names().into_iter().flatten().filter_map(|n| match n {
        Name::Title(t) => Some(t.as_str()),
        Name::Number(_) => None,
    });
    let titles = titles.collect::<Vec<_>>().join(", ");
    let what = "have a time, an offset, a size and an operation where the options say";
    Ok(Detection { settings, ..tally.found(Confidence::Certain, &format!("with {titles}"), what) })
}
