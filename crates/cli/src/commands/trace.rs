//! `trace`: inspect traces, and make traces from traces.

use crate::args::trace::{AlignArg, From, InspectArgs, MergeArgs, To, TraceCommand};
use crate::console::Console;
use crate::error::Failure;
use crate::output::{Folder, Sink};
use wordline_run::RunError;
use wordline_trace::{Align, Form, Losses, Pipeline, Step, TimeRange, with_format};
use wordline_units::{Bytes, SimDuration};
use wordline_workload::check_is_trace;

pub(crate) fn trace(command: &TraceCommand, console: &Console) -> Result<(), Failure> {
    match command {
        TraceCommand::Inspect(a) => inspect(a, console),
        TraceCommand::Convert(a) => write(&a.from, None, &a.to, console),
        TraceCommand::Cut(a) => {
            let time = TimeRange { from: a.from_time.unwrap_or(SimDuration::ZERO), to: a.until };
            let requests = a.requests.unwrap_or_default();
            write(&a.from, Some(Step::Cut { time, requests, volume: a.volume.clone() }), &a.to, console)
        }
        TraceCommand::Scale(a) => {
            write(&a.from, Some(Step::Scale { time: a.time, footprint: a.footprint }), &a.to, console)
        }
        TraceCommand::Loop(a) => {
            write(&a.from, Some(Step::Loop { times: a.times, gap: a.gap }), &a.to, console)
        }
        TraceCommand::Shift(a) => {
            let (time, offset) = (a.time.unwrap_or(SimDuration::ZERO), a.offset.unwrap_or(Bytes(0)));
            write(&a.from, Some(Step::Shift { time, offset }), &a.to, console)
        }
        TraceCommand::Merge(a) => merge(a, console),
        TraceCommand::Sample(a) => {
            let step = match (a.requests, a.pages) {
                (Some(share), _) => Step::SampleRequests { share, seed: a.seed },
                (None, Some(share)) => Step::SamplePages { share, seed: a.seed },
                // The tree of commands asks for one of them.
                (None, None) => return Err(Failure::Input("give --requests or --pages".into())),
            };
            write(&a.from, Some(step), &a.to, console)
        }
    }
}

fn inspect(args: &InspectArgs, console: &Console) -> Result<(), Failure> {
    let sink = args.json.as_deref().map(Sink::open).transpose()?;
    let folder = args.out.as_deref().map(Folder::open).transpose()?;
    let text = spelled(&args.file, args.format.as_deref())?;
    let (found, profile) = wordline_trace::inspect_profiled(&text).map_err(RunError::Workload)?;
    if !sink.as_ref().is_some_and(Sink::is_stdout) {
        console.say(&wordline_trace::render_inspection(&found))?;
    }
    let json = serde_json::to_string_pretty(&found)
        .map_err(|e| Failure::Output(format!("the inspection cannot be written as JSON: {e}")))?
        + "\n";
    if let Some(sink) = sink {
        sink.write(&json, console)?;
    }
    if let Some(folder) = folder {
        let Some(profile) = profile else {
            return Err(Failure::Input(format!(
                "{}: contains no reads or writes, so nothing can be plotted",
                args.file
            )));
        };
        let pictures = wordline_report::trace_figures(&found, &profile);
        let page = wordline_report::trace_html(&found, &profile);
        folder.fill_with(&pictures, ("trace.html", &page), ("trace.json", &json), console)?;
    }
    Ok(())
}

/// A trace with the format that is insisted on.
fn spelled(file: &str, format: Option<&str>) -> Result<String, Failure> {
    let text = format.map_or_else(|| file.to_string(), |format| with_format(file, format));
    check_is_trace(&text).map_err(RunError::Workload)?;
    Ok(text)
}

/// Read a trace, do something to it, and write it.
fn write(from: &From, step: Option<Step>, to: &To, console: &Console) -> Result<(), Failure> {
    let target = Target::open(to)?;
    if let Some(step) = &step {
        step.check().map_err(RunError::Workload)?;
    }
    let read = Pipeline::read(&spelled(&from.file, from.format.as_deref())?).map_err(RunError::Workload)?;
    target.write(step.into_iter().fold(read, Pipeline::then), console)
}

fn merge(args: &MergeArgs, console: &Console) -> Result<(), Failure> {
    let target = Target::open(&args.to)?;
    let align = match args.align {
        AlignArg::Clocks => Align::Clocks,
        AlignArg::Starts => Align::Starts,
    };
    args.files.iter().try_for_each(|file| check_is_trace(file)).map_err(RunError::Workload)?;
    target.write(Pipeline::merge(&args.files, align).map_err(RunError::Workload)?, console)
}

/// Destination and format of a written trace.
struct Target<'a> {
    name: &'a str,
    form: Form,
    sink: Sink,
}

impl Target<'_> {
    fn open(to: &To) -> Result<Target<'_>, Failure> {
        let losses = if to.lossy { Losses::Drop } else { Losses::Refuse };
        let name = to.out.as_str();
        let form = Form::of(name, to.to.as_deref(), losses).map_err(RunError::Workload)?;
        Ok(Target { name, form, sink: Sink::open_new(name, to.force)? })
    }

    fn write(self, pipeline: Pipeline, console: &Console) -> Result<(), Failure> {
        let (written, bytes) = self
            .sink
            .fill(|out| pipeline.write(&self.form, out).map_err(|e| Failure::Run(RunError::Workload(e))))?;
        let name = if self.name == "-" { "standard output" } else { self.name };
        console.note(&written.describe(name, bytes));
        Ok(())
    }
}
