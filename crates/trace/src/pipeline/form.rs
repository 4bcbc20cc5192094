//! The output format of a trace: by file name, or as specified.

use crate::error::{ErrorKind, Problem, WorkloadError, did_you_mean};
use crate::formats::{FORMATS, format_named};
use crate::reading::detection::Settings;
use crate::reading::format::{Format, Timing};
use crate::reading::writing::Writing;
use crate::source::compression::Compression;
use crate::text::parameter::{Options, Parameter};

/// How to treat properties that a format cannot represent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Losses {
    /// Refuse to write, and count what would be lost.
    Refuse,
    /// Drop it, and count it.
    Drop,
}

/// The output: format, compression, and permitted losses.
pub struct Form {
    pub(crate) name: String,
    pub(crate) format: &'static Format,
    pub(crate) settings: Settings,
    pub(crate) compression: Compression,
    pub(crate) losses: Losses,
}

impl Form {
    /// The form for a file of this name. `to` is the name of a format, with optional options
    /// (`five-columns:time=us`); without it, the extension of the file determines the format.
    ///
    /// # Errors
    ///
    /// An extension of no format, or of several; an unknown format or option.
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

    /// The writer of this form.
    pub(crate) fn writing(&self) -> Result<Writing, WorkloadError> {
        (self.format.write)(&self.settings).map_err(|miss| {
            let mut problem =
                Problem::new(ErrorKind::Option, format!("--to {}", self.format.name), miss.reason);
            if let Some(fault) = miss.option {
                problem = problem.allowed(fault.allowed.clone());
            }
            problem.hint(format!("`wordline explain {}` describes the grammar", self.format.name)).into()
        })
    }
}

/// `NAME`, or `NAME:key=value,...`.
fn told(to: &str) -> Result<(&'static Format, Settings), WorkloadError> {
    let (name, options) = to.split_once(':').unwrap_or((to, ""));
    let Some(format) = format_named(name) else {
        let names = || FORMATS.iter().filter(|f| f.is_written()).map(|f| f.name);
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
    // Units stated in a grammar can be set for input that differs from it, but not for output.
    let is_stated =
        |p: &Parameter| matches!(format.timing, Timing::Stated { .. }) && matches!(p.key, "time" | "unit");
    let known: Vec<Parameter> = format.parameters.iter().filter(|p| !is_stated(p)).copied().collect();
    given.check_known(&known);
    given.finish()?;
    let settings = format.parameters.iter().filter_map(|p| Some((p.key, given.text(p.key)?.to_string())));
    Ok((format, settings.collect()))
}

fn by_ending(name: &str, stem: &str) -> Result<&'static Format, WorkloadError> {
    let ending = stem.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_so = |f: &&&Format| f.name == ending || f.quirks.endings.contains(&ending);
    // Any table may end in .csv.
    if let Some(format) = FORMATS.iter().find(is_so).filter(|f| !f.needs_settings()) {
        return Ok(format);
    }
    let what = match ending {
        "" => "the name does not determine the output format".to_string(),
        _ if FORMATS.iter().any(|f| f.name == ending) => {
            format!("the extension .{ending} does not determine the output format, since several have it")
        }
        _ => format!("the extension .{ending} does not determine the output format"),
    };
    let by_name = |f: &&&Format| f.is_written() && !f.needs_settings();
    let names = FORMATS.iter().filter(by_name).map(|f| f.name).collect::<Vec<_>>().join(", ");
    let endings: Vec<String> =
        FORMATS.iter().flat_map(|f| f.quirks.endings).map(|ending| format!(".{ending}")).collect();
    let endings = endings.join(", ");
    Err(Problem::new(ErrorKind::Option, name, what)
        .allowed(format!("a name that ends in {endings} or in a format's name ({names})"))
        .hint("--to wordline keeps everything and reads fastest; --to csv is for other programs")
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_known_by_its_name_or_told() {
        let named = |name: &str| Form::of(name, None, Losses::Refuse).map(|f| (f.format.name, f.compression));
        assert_eq!(named("a.wl").unwrap(), ("wordline", Compression::Plain));
        assert_eq!(named("dir.x/a.blkparse.zst").unwrap(), ("blkparse", Compression::Zstd));
        assert_eq!(named("a.iolog.gz").unwrap(), ("fio-iolog", Compression::Gzip));
        for ambiguous in ["a.csv", "a.trace.gz", "a", "-"] {
            let e = named(ambiguous).unwrap_err().to_string();
            assert!(e.contains("--to"), "{e}");
            assert!(
                !e.contains("five-columns, csv") && e.contains("several have it") == (ambiguous == "a.csv")
            );
        }
        let told =
            |to: &str| Form::of("a", Some(to), Losses::Refuse).err().map_or(String::new(), |e| e.to_string());
        assert_eq!(
            told("csv:time=T:us,offset=LBA:sector,size=Blocks:4KiB,op=Kind,decimal=comma,delimiter=tab"),
            ""
        );
        for (to, says) in [
            ("mrs", "did you mean \"msr\"?"),
            ("five-columns:time=h", "ns, 100ns, us, ms, s"),
            ("csv:time=#1:us", "needs a title"),
            ("csv:time=T:date", "dates are supported for input only"),
            ("csv:size=always:4KiB", "the size of each request"),
            ("csv:decimal=comma", "columns and decimals use the same separator"),
            ("csv:preamble=2", "is allowed for input tables only"),
            ("msr:time=us", "unknown key"),
        ] {
            let e = told(to);
            assert!(e.contains(says), "{to}: {e}");
        }
    }
}
