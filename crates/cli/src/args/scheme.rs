//! `scheme` and what it takes: the comments are the help texts.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum SchemeCommand {
    /// Write a scheme to begin with: a class of Python and its test, or a file of Rust
    ///
    /// The file has the headings that every scheme has, and runs as it is.
    New(SchemeNewArgs),
}

#[derive(Args, Debug)]
pub(crate) struct SchemeNewArgs {
    /// What tables call it: small letters, digits and hyphens, such as small-first
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// A file for crates/schemes/src of a checkout, in place of a class of Python
    #[arg(long)]
    pub(crate) rust: bool,
    /// The folder that it goes to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) out: PathBuf,
    /// Replace files of that name
    #[arg(long)]
    pub(crate) force: bool,
}
