//! `man`: a manual page for each command, generated from the definitions of its arguments.

use crate::args::about::ManArgs;
use crate::args::tree::Cli;
use crate::console::Console;
use crate::error::Failure;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::path::Path;
use std::{fs, io};

/// Commands are in the first section, where man looks in a folder of this name.
const SECTION: &str = "man1";

pub(crate) fn man(args: &ManArgs, console: &Console) -> Result<(), Failure> {
    let folder = &args.folder.join(SECTION);
    fs::create_dir_all(folder)
        .map_err(|e| Failure::Input(format!("{}: cannot create the folder: {e}", args.folder.display())))?;
    let mut tree = Cli::command().disable_help_subcommand(true);
    tree.build();
    pages(&tree, folder)
        .map_err(|e| Failure::Output(format!("{}: cannot write a manual page: {e}", folder.display())))?;
    let shown = wordline_report::quoted(&args.folder.display().to_string());
    console.note(&format!("Manual: {}; `man -M {shown} wordline` opens the first page", folder.display()));
    Ok(())
}

/// The page of a command, and those of the commands in it.
fn pages(command: &Command, folder: &Path) -> io::Result<()> {
    for inner in command.get_subcommands() {
        pages(inner, folder)?;
    }
    let source = format!("wordline {}", wordline_run::VERSION);
    Man::new(command.clone()).source(source).manual("Wordline").generate_to(folder)?;
    Ok(())
}
