//! `scheme` and what it takes: the comments are the help texts.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum SchemeCommand {
    /// Create a scheme from a template: a Python class with a test, or a Rust file
    ///
    /// The file has the required headings and runs unchanged.
    New(SchemeNewArgs),
}

#[derive(Args, Debug)]
pub(crate) struct SchemeNewArgs {
    /// Name of the scheme: lower-case letters, digits and hyphens, such as small-first
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Create a Rust file for crates/schemes/src of a checkout instead of a Python class
    #[arg(long)]
    pub(crate) rust: bool,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) out: PathBuf,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}
