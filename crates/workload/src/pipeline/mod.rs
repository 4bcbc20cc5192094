//! Traces in, traces out. A [`Pipeline`] reads one or several traces, takes their requests through
//! [`Step`]s, and writes them in any format: one stream from end to end, in memory that does not grow
//! with the trace. Requests keep the clock and the bytes that their file states, since a trace that was
//! cut out of another must still agree with it.
//!
//! `flow` is a stream that can be opened again, `step` what is done to it, `fitted` what a format
//! cannot say of it.

mod fitted;
mod flow;
mod step;

use crate::compress::Encoder;
use crate::error::{ErrorKind, Problem, WorkloadError, did_you_mean};
use crate::formats::{FORMATS, Format, Settings, Writing, format_named};
use crate::numbers::{grouped, readable_bytes};
use crate::parameter::Options;
use crate::source::Compression;
use fitted::Fitted;
pub use flow::Align;
use flow::{Flow, Merge, TraceFlow};
use std::io::{self, Write};
pub use step::{NumberRange, Scale, Share, Step, TimeRange};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 16;

/// Traces, and what is to become of their requests.
pub struct Pipeline {
    flow: Box<dyn Flow>,
}

impl Pipeline {
    /// Reads a trace: `FILE` (or several joined by `+`), perhaps with options as for a run, or `-`.
    ///
    /// # Errors
    ///
    /// Those of a run: a file that cannot be read, recognised or used as it is; and options that say
    /// how a drive is to be driven, which is no business of a file.
    pub fn read(text: &str) -> Result<Pipeline, WorkloadError> {
        Ok(Pipeline { flow: Box::new(TraceFlow::load(text)?) })
    }

    /// Merges traces by time. Volumes of different traces stay apart: where two share a name, both
    /// are called by their file too.
    ///
    /// # Errors
    ///
    /// Those of [`Pipeline::read`]; more than 65,536 volumes.
    pub fn merge(texts: &[String], align: Align) -> Result<Pipeline, WorkloadError> {
        let flows = texts.iter().map(|t| TraceFlow::load(t)).collect::<Result<Vec<_>, _>>()?;
        Ok(Pipeline { flow: Box::new(Merge::of(flows, align)?) })
    }

    /// With one more thing done to the requests.
    pub fn then(self, step: Step) -> Pipeline {
        Pipeline { flow: step.after(self.flow) }
    }

    /// Writes the requests.
    ///
    /// # Errors
    ///
    /// Those of the trace and of `out`; no request is left; the form cannot keep something of the
    /// requests and [`Losses::Refuse`] says that it must.
    pub fn write(&self, form: &Form, out: impl Write) -> Result<Written, WorkloadError> {
        let Writing { keeps, read_with, mut writer } = form.writing()?;
        let mut fitted = Fitted::new(self.flow.as_ref(), keeps, form.losses)?;
        let failed = |e: io::Error| {
            WorkloadError::from(Problem::new(
                ErrorKind::Io,
                form.name.as_str(),
                format!("cannot be written: {e}"),
            ))
        };
        let mut encoder = Encoder::new(form.compression, out).map_err(failed)?;
        let mut buffer = Vec::with_capacity(2 * BUFFER);
        writer.begin(fitted.volumes(), &mut buffer);
        let mut requests = 0u64;
        for record in self.flow.open()? {
            let written = fitted.each(record?, |record, volumes| {
                requests += 1;
                writer.write(record, volumes, &mut buffer);
            });
            written.map_err(|what| Problem::new(ErrorKind::Content, self.flow.label(), what))?;
            if buffer.len() >= BUFFER {
                encoder.write_all(&buffer).map_err(failed)?;
                buffer.clear();
            }
        }
        writer.end(&mut buffer);
        fitted.judge(self.flow.label(), form)?;
        if requests == 0 {
            return Err(Problem::new(
                ErrorKind::Empty,
                self.flow.label(),
                "no request is left to be written",
            )
            .allowed("at least one request")
            .hint("wordline trace inspect shows span, volumes and number of what is there")
            .into());
        }
        encoder.write_all(&buffer).map_err(failed)?;
        encoder.finish().map_err(failed)?;
        let read_with: Vec<String> = read_with.iter().map(|(k, v)| pair(k, v)).collect();
        Ok(Written {
            requests,
            format: form.format.name,
            read_with: read_with.join(","),
            dropped: fitted.losses(),
            renamed: fitted.renamed().to_vec(),
        })
    }
}

/// `key=value`, in quotes where the value holds a comma.
fn pair(key: &str, value: &str) -> String {
    if value.contains(',') { format!("{key}=\"{value}\"") } else { format!("{key}={value}") }
}

/// What to do about that which a format cannot keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Losses {
    /// Refuse to write, and count what would be lost.
    Refuse,
    /// Leave it out, and count it.
    Drop,
}

/// What is written: format, compression, and what may be lost.
pub struct Form {
    name: String,
    format: &'static Format,
    settings: Settings,
    compression: Compression,
    losses: Losses,
}

impl Form {
    /// For a file of this name. `to` is a format's name, perhaps with options of its own
    /// (`five-columns:time=us`); without it the name's ending must say.
    ///
    /// # Errors
    ///
    /// An ending that says no format, or several; a format or an option that there is not.
    pub fn of(name: &str, to: Option<&str>, losses: Losses) -> Result<Form, WorkloadError> {
        let (compression, stem) = Compression::asked_by(name);
        let (format, settings) = match to {
            Some(to) => told(to)?,
            None => (by_ending(name, stem)?, Settings::new()),
        };
        let form = Form { name: name.to_string(), format, settings, compression, losses };
        form.writing()?;
        Ok(form)
    }

    fn writing(&self) -> Result<Writing, WorkloadError> {
        (self.format.write)(&self.settings).map_err(|miss| {
            let mut problem =
                Problem::new(ErrorKind::Option, format!("--to {}", self.format.name), miss.reason);
            if let Some(fault) = miss.option {
                problem = problem.allowed(format!("{}={}", fault.key, fault.allowed));
            }
            problem.hint(format!("wordline explain {} has the whole grammar", self.format.name)).into()
        })
    }
}

/// `NAME`, or `NAME:key=value,...`.
fn told(to: &str) -> Result<(&'static Format, Settings), WorkloadError> {
    let (name, options) = to.split_once(':').unwrap_or((to, ""));
    let Some(format) = format_named(name) else {
        let names = || FORMATS.iter().map(|f| f.name);
        return Err(Problem::new(
            ErrorKind::Option,
            format!("--to {to}"),
            format!("{name:?} is not a format"),
        )
        .allowed(names().collect::<Vec<_>>().join(", "))
        .hint(did_you_mean(name, names()))
        .into());
    };
    let mut given = Options::parse(&format!("--to {name}"), options);
    given.check_known(format.parameters);
    given.finish()?;
    let settings = format.parameters.iter().filter_map(|p| Some((p.key, given.text(p.key)?.to_string())));
    Ok((format, settings.collect()))
}

/// Endings of names that say a format, beside the formats' own names.
const ENDINGS: [(&str, &str); 2] = [("wl", "wordline"), ("iolog", "fio-iolog")];

fn by_ending(name: &str, stem: &str) -> Result<&'static Format, WorkloadError> {
    let ending = stem.rsplit_once('.').map_or("", |(_, ending)| ending);
    let alias = ENDINGS.iter().find(|(e, _)| *e == ending).map_or(ending, |(_, format)| format);
    // Any table ends in .csv.
    if let Some(format) = format_named(alias).filter(|f| !f.must_be_told()) {
        return Ok(format);
    }
    let what = match ending {
        "" => "the name does not say which format is to be written".to_string(),
        _ => format!("the ending .{ending} does not say which format is to be written"),
    };
    let names = FORMATS.iter().map(|f| f.name).collect::<Vec<_>>().join(", ");
    Err(Problem::new(ErrorKind::Option, name, what)
        .allowed(format!(
            "a name that ends in .wl, .iolog or in a format's name, or --to with one of {names}"
        ))
        .hint("--to wordline keeps everything and reads fastest; --to csv is for other programs")
        .into())
}

/// What was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// How many requests.
    pub requests: u64,
    /// The format's name.
    pub format: &'static str,
    /// Options with which it is read again, where the content does not say them; may be empty.
    pub read_with: String,
    /// What was left out, a sentence each.
    pub dropped: Vec<String>,
    /// Volumes that are called otherwise there: name, and new name.
    pub renamed: Vec<(String, String)>,
}

impl Written {
    /// A line for people; `bytes` are those of the file.
    pub fn describe(&self, name: &str, bytes: u64) -> String {
        let requests = grouped(self.requests);
        let mut text = format!("{name}: {requests} requests as {}, {}", self.format, readable_bytes(bytes));
        for loss in &self.dropped {
            text += &format!("\n  dropped: {loss}");
        }
        if !self.renamed.is_empty() {
            const SHOWN: usize = 8;
            let shown = self.renamed.iter().take(SHOWN).map(|(old, new)| format!("{old} is {new}"));
            let more = self.renamed.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
            text += &format!("\n  volumes: {}{more}", shown.collect::<Vec<_>>().join(", "));
        }
        if !self.read_with.is_empty() {
            text += &format!("\n  read it with --format '{}:{}'", self.format, self.read_with);
        }
        text
    }
}
