//! `device`: a drive of one's own, from a data sheet or from another simulator's file, and a look at it.

use crate::args::device::{DeviceCommand, DeviceImportArgs, DeviceNewArgs, DeviceShowArgs};
use crate::args::values::cell;
use crate::console::Console;
use crate::error::Failure;
use crate::output::Sink;
use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal};
use std::path::Path;
use std::str::FromStr;
use wordline_device::{Draft, LeftOut, describe, drawing};
use wordline_units::CellMode;

pub(crate) fn device(command: &DeviceCommand, console: &Console) -> Result<(), Failure> {
    match command {
        DeviceCommand::New(args) => new(args, console),
        DeviceCommand::Import(args) => import(args, console),
        DeviceCommand::Show(args) => show(args, console),
        // Python does these.
        DeviceCommand::Fit(_) | DeviceCommand::Probe(_) => Ok(()),
    }
}

/// Name of the drive: the file name without extension.
fn name_of(file: &str) -> String {
    let stem = Path::new(file).file_stem().map(|s| s.to_string_lossy().into_owned());
    stem.filter(|s| s != "-").unwrap_or_else(|| "my-drive".to_string())
}

fn new(args: &DeviceNewArgs, console: &Console) -> Result<(), Failure> {
    let sink = Sink::open_new(&args.file, args.force)?;
    let draft = Draft {
        name: name_of(&args.file),
        capacity: given(args.capacity, "--capacity", "logical capacity, such as 1TB", console)?,
        cell: given(args.cell.map(Cell), "--cell", "slc, mlc, tlc or qlc", console)?.0,
        channels: given(args.channels, "--channels", "number of channels, such as 8", console)?,
        interface: given(
            args.interface.clone(),
            "--interface",
            "sata3, pcie3x4, pcie4x4, pcie5x4, or a rate such as 2000MB/s",
            console,
        )?,
        over_provisioning: args.over_provisioning,
        page: args.page,
        bus: args.bus,
        read: args.read,
        program: args.program,
        write_rate: args.write_rate,
        erase: args.erase,
        endurance: args.endurance,
        slc_cache: args.slc_cache,
    };
    let text = draft.to_toml().map_err(|e| Failure::Input(e.to_string()))?;
    sink.write(&text, console)?;
    warn_of(&text, &args.file, console);
    if args.file != "-" {
        let assumed = text.lines().filter(|line| line.contains("# ASSUMED:")).count();
        console.note(&format!("{}: written; {assumed} of its values are assumed; check them", args.file));
        console.note(&format!("  wordline device show {}", args.file));
    }
    Ok(())
}

/// Warn of implausible values in a device file that was just made.
fn warn_of(text: &str, name: &str, console: &Console) {
    if let Ok(spec) = wordline_device::from_toml(text, name, &[]) {
        console.warn_of(&spec);
    }
}

/// A kind of cells, as it is typed.
#[derive(Clone, Copy)]
struct Cell(CellMode);

impl FromStr for Cell {
    type Err = String;
    fn from_str(text: &str) -> Result<Cell, String> {
        cell(text).map(Cell)
    }
}

/// The given value, or the answer on a terminal.
fn given<T: FromStr<Err: Display>>(
    flag: Option<T>,
    name: &str,
    what: &str,
    console: &Console,
) -> Result<T, Failure> {
    if let Some(value) = flag {
        return Ok(value);
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::Input(format!(
            "{name} is missing: {what}; standard input is not a terminal, so it cannot be asked for"
        )));
    }
    loop {
        console.note(&format!("{}: {what}", name.trim_start_matches('-')));
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        if !matches!(read, Ok(n) if n > 0) {
            return Err(Failure::Input(format!("{name} is missing: {what}")));
        }
        match line.trim().parse() {
            Ok(value) => return Ok(value),
            Err(e) => console.note(&format!("  {e}")),
        }
    }
}

fn import(args: &DeviceImportArgs, console: &Console) -> Result<(), Failure> {
    let bytes = std::fs::read(&args.file)
        .map_err(|e| Failure::Input(format!("{}: the file cannot be read: {e}", args.file)))?;
    let sink = Sink::open_new(&args.to, args.force)?;
    let name = name_of(if args.to == "-" { &args.file } else { &args.to });
    let found =
        wordline_device::import(&bytes, &args.file, &name).map_err(|e| Failure::Input(e.to_string()))?;
    sink.write(&found.text, console)?;
    warn_of(&found.text, &args.to, console);
    if !found.left_out.is_empty() {
        console.note(&format!("{} values have no counterpart in a device file:", found.left_out.len()));
        console.note(&table(&found.left_out));
    }
    Ok(())
}

fn table(left_out: &[LeftOut]) -> String {
    let width = |of: fn(&LeftOut) -> &str| left_out.iter().map(|l| of(l).chars().count()).max().unwrap_or(0);
    let (key, value) = (width(|l| &l.key), width(|l| &l.value));
    let row = |l: &LeftOut| format!("  {:<key$}  {:<value$}  {}", l.key, l.value, l.why);
    left_out.iter().map(row).collect::<Vec<_>>().join("\n")
}

fn show(args: &DeviceShowArgs, console: &Console) -> Result<(), Failure> {
    let spec = wordline_run::device(&args.device, &args.set)?;
    console.say(&format!("{}\n{}", describe(&spec), drawing(&spec)))
}
