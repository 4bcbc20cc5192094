//! What there is, and how it is called: the comments are the help texts.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// Built-in devices
    Devices,
    /// Schemes, which decide where data are placed
    Schemes,
    /// Built-in workloads
    Workloads,
    /// Trace formats that Wordline reads
    Formats,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// What to list
    pub(crate) kind: Kind,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// Name of a device, scheme, workload, format, command, option, figure or term (several words are one
    /// name); a table or key of a device file (gc, gc.victim, device-files for all); or the path of a device
    /// file
    #[arg(required = true, allow_hyphen_values = true)]
    pub(crate) name: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Shell {
    /// Bash, 4.4 or newer
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Output folder (created if missing); pages go to its man1: man1/wordline.1, man1/wordline-run.1, ...
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}
