//! Writes a twin's file that generates the same requests.

use crate::generators::twin::description::{DECIMALS, Description, HotLies, Rest, Side};
use std::fmt::Write;
use wordline_config::{comment, quoted};
use wordline_units::{Bytes, Fraction, LBA_BYTES, SimDuration};

/// Writes keys and values, each with the same remark.
struct Lines<'a> {
    out: String,
    remark: &'a str,
}

impl Lines<'_> {
    fn table(&mut self, name: &str) {
        let _ = write!(self.out, "\n[{name}]\n");
    }

    fn number(&mut self, key: &str, value: impl std::fmt::Display) {
        self.line(&format!("{key} = {value}"));
    }

    fn text(&mut self, key: &str, value: impl std::fmt::Display) {
        self.line(&format!("{key} = \"{value}\""));
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.out, "{line:<40}# {}", self.remark);
    }
}

fn decimal(x: f64) -> String {
    format!("{x:.DECIMALS$}")
}

fn kib(bytes: f64) -> String {
    decimal(bytes / 1024.0) + "KiB"
}

fn joined<T>(values: &[T], one: impl Fn(&T) -> String) -> String {
    values.iter().map(one).collect::<Vec<_>>().join("/")
}

/// A file that generates the same requests, without names of originals and targets. `head` are the
/// comment lines at its top, without `#`. Each value gets `remark` as its source.
pub fn to_toml(d: &Description, head: &[String], remark: &str) -> String {
    let mut l = Lines { out: String::new(), remark };
    for line in head {
        let _ = writeln!(l.out, "{}", format!("# {}", comment(line)).trim_end());
    }
    let _ = write!(l.out, "\n[twin]\ntitle = {}\n", quoted(&d.title));
    l.number("requests", d.requests);
    l.text("write", d.write);
    l.number("run", decimal(d.run));
    l.table("arrivals");
    let a = &d.arrivals;
    if let Some(closed) = a.closed {
        l.text("closed", closed);
    } else {
        l.text("span", a.span);
        l.text("group", a.group);
    }
    if let Some(m) = &a.memory {
        l.text("windows", joined(&m.windows, SimDuration::to_string));
        l.text("read_dispersion", joined(&m.reads, |d| decimal(*d)));
        l.text("write_dispersion", joined(&m.writes, |d| decimal(*d)));
        l.text("together", joined(&m.together, |c| decimal(*c)));
    }
    if let Some(e) = &a.envelope {
        l.text("envelope_period", e.period);
        l.text("read_envelope", joined(&e.reads, |w| decimal(*w)));
        l.text("write_envelope", joined(&e.writes, |w| decimal(*w)));
    }
    for (name, side) in [("write", &d.writes), ("read", &d.reads)] {
        l.table(name);
        write_side(side, &mut l);
    }
    l.out
}

fn write_side(side: &Side, l: &mut Lines) {
    let bytes = |blocks: u64| Bytes(blocks * LBA_BYTES);
    l.text("sizes", joined(&side.sizes, |(size, weight)| format!("{}@{weight}", bytes(*size as u64))));
    if let Some(mean) = side.mean {
        l.text("mean", kib(mean));
    }
    match side.rest {
        Rest::None => {}
        Rest::Size(size) => l.text("rest", bytes(size as u64)),
        Rest::Large { share, most } => {
            l.text("large", share);
            l.text("large_most", bytes(most));
        }
    }
    if let Some(m) = &side.modulation {
        l.text("modulated_by", joined(&m.factors, f64::to_string));
        l.number("modulated_every", m.every);
    }
    l.text("align", bytes(side.align));
    l.text("page", bytes(side.page));
    l.text("page_aligned", side.page_aligned);
    l.text("straddle", side.straddle);
    if side.begin > 0 {
        l.text("begin", Bytes(side.begin));
    }
    l.text("footprint", Bytes(side.footprint));
    l.text("sequential", side.sequential);
    l.text("hot", side.hot);
    l.text("uniform", side.uniform);
    l.number("streams", side.streams);
    if let Some(stretch) = side.stretch {
        l.text("stretch", Bytes(stretch));
    }
    l.text("rewrite", side.rewrite);
    l.text("hot_space", side.hot_space);
    l.text("hot_lies", if side.hot_lies == HotLies::Apart { "apart" } else { "scattered" });
    l.number("theta", decimal(side.theta));
    l.text("extent", Bytes(side.extent));
    l.text("item", bytes(side.item));
    l.text("stable", side.stable);
    if side.drift > 0.0 {
        l.number("drift", decimal(side.drift));
    }
    if side.overlap > Fraction::ZERO {
        l.text("overlap", side.overlap);
    }
    let Some(files) = &side.files else { return };
    let sized = |(size, weight): &(u32, f64)| format!("{}@{weight}", bytes(*size as u64));
    l.text("files", files.bursts);
    l.text("files_apart", files.apart);
    if !files.sizes.is_empty() {
        l.text("file_sizes", joined(&files.sizes, sized));
    }
    l.text("file_lengths", joined(&files.lengths, |(n, weight)| format!("{n}@{weight}")));
    l.text("file_begins", joined(&files.begins, sized));
    l.text("file_near", files.near);
}
