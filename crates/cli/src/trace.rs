//! `trace inspect`.

use crate::args::InspectArgs;
use crate::console::Console;
use crate::error::Failure;
use crate::output::Sink;
use wordline_run::RunError;
use wordline_workload::with_format;

pub(crate) fn inspect(args: &InspectArgs, console: &Console) -> Result<(), Failure> {
    let sink = args.json.as_deref().map(Sink::open).transpose()?;
    let text = match &args.format {
        Some(format) => with_format(&args.file, format),
        None => args.file.clone(),
    };
    let found = wordline_workload::inspect(&text).map_err(RunError::Workload)?;
    if !sink.as_ref().is_some_and(Sink::is_stdout) {
        console.say(&found.render())?;
    }
    if let Some(sink) = sink {
        let json = serde_json::to_string_pretty(&found)
            .map_err(|e| Failure::Output(format!("the inspection cannot be written as JSON: {e}")))?;
        sink.write(&(json + "\n"), console)?;
    }
    Ok(())
}
