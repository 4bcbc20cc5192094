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

impl Description {
    /// A file that generates the same requests, without names of originals and targets. `head` are the
    /// comment lines at its top, without `#`. Each value gets `remark` as its source.
    pub fn to_toml(&self, head: &[String], remark: &str) -> String {
        let mut l = Lines { out: String::new(), remark };
        for line in head {
            let _ = writeln!(l.out, "{}", format!("# {}", comment(line)).trim_end());
        }
        let _ = write!(l.out, "\n[twin]\ntitle = {}\n", quoted(&self.title));
        l.number("requests", self.requests);
        l.text("write", self.write);
        l.number("run", decimal(self.run));
        l.table("arrivals");
        let a = &self.arrivals;
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
        for (name, side) in [("write", &self.writes), ("read", &self.reads)] {
            l.table(name);
            side.write(&mut l);
        }
        l.out
    }
}

impl Side {
    fn write(&self, l: &mut Lines) {
        let bytes = |blocks: u64| Bytes(blocks * LBA_BYTES);
        l.text("sizes", joined(&self.sizes, |(size, weight)| format!("{}@{weight}", bytes(*size as u64))));
        if let Some(mean) = self.mean {
            l.text("mean", kib(mean));
        }
        match self.rest {
            Rest::None => {}
            Rest::Size(size) => l.text("rest", bytes(size as u64)),
            Rest::Large { share, most } => {
                l.text("large", share);
                l.text("large_most", bytes(most));
            }
        }
        if let Some(m) = &self.modulation {
            l.text("modulated_by", joined(&m.factors, f64::to_string));
            l.number("modulated_every", m.every);
        }
        l.text("align", bytes(self.align));
        l.text("page", bytes(self.page));
        l.text("page_aligned", self.page_aligned);
        l.text("straddle", self.straddle);
        if self.begin > 0 {
            l.text("begin", Bytes(self.begin));
        }
        l.text("footprint", Bytes(self.footprint));
        l.text("sequential", self.sequential);
        l.text("hot", self.hot);
        l.text("uniform", self.uniform);
        l.number("streams", self.streams);
        if let Some(stretch) = self.stretch {
            l.text("stretch", Bytes(stretch));
        }
        l.text("rewrite", self.rewrite);
        l.text("hot_space", self.hot_space);
        l.text("hot_lies", if self.hot_lies == HotLies::Apart { "apart" } else { "scattered" });
        l.number("theta", decimal(self.theta));
        l.text("extent", Bytes(self.extent));
        l.text("item", bytes(self.item));
        l.text("stable", self.stable);
        if self.drift > 0.0 {
            l.number("drift", decimal(self.drift));
        }
        if self.overlap > Fraction::ZERO {
            l.text("overlap", self.overlap);
        }
        let Some(files) = &self.files else { return };
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
}
