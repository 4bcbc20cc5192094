//! The tree of commands. The comments are the help texts.

use crate::args::about::{CompletionsArgs, ExplainArgs, ListArgs, ManArgs};
use crate::args::crash::CrashArgs;
use crate::args::device::DeviceCommand;
use crate::args::live::{CtlArgs, ServeArgs};
use crate::args::python::{AtlasArgs, ModelArgs, PtsArgs, ReproduceArgs, SweepArgs, ValidateArgs};
use crate::args::run::{CheckLogArgs, CompareArgs, DemoArgs, LifetimeArgs, RerunArgs, RunArgs, WhyArgs};
use crate::args::scheme::SchemeCommand;
use crate::args::trace::TraceCommand;
use crate::args::twin::TwinCommand;
use clap::{Parser, Subcommand};

/// An open laboratory for hybrid-flash SSDs: replay a workload on a drive under a scheme, and see
/// latency, write amplification and wear.
#[derive(Parser, Debug)]
#[command(
    name = "wordline",
    bin_name = "wordline",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run several schemes on one device and workload, and show them side by side
    Compare(CompareArgs),
    /// Run one scheme
    Run(RunArgs),
    /// Run every combination of devices, workloads, schemes and settings, and show them in one table
    ///
    /// Runs go at once on all cores. Each that has ended is kept under the hash of its configuration, so
    /// that a sweep that was broken off goes on, and one with further values does only those. Needs
    /// Python: pip install '.[sweep]' in a clone.
    Sweep(SweepArgs),
    /// Run the evaluation of a paper: its figures, its tables, and what came of each of its claims
    ///
    /// At full scale unless told otherwise. Runs that have ended are kept, as with sweep. Part of the laboratory:
    /// pip install . ./lab in a clone.
    Reproduce(ReproduceArgs),
    /// Say which scheme pays under which load, fill and age: of your workload on your drive, or of all
    ///
    /// Every scheme runs under ten loads, three fills and three ages, with several seeds. The page answers what to
    /// take for the conditions that a reader chooses, what it gains and what it costs. Runs that have ended are
    /// kept, as with sweep. Needs Python: pip install '.[atlas]' in a clone. Without a workload and a device it makes
    /// the published atlas, which is part of the laboratory: pip install . ./lab in a clone.
    Atlas(AtlasArgs),
    /// Draw the analytic model of a scheme on a device and workload, without a simulation
    ///
    /// The model of HySSD: what a page access costs at each utilisation of the faster medium, the hit rates
    /// that this rests on, and the utilisations of least cost and longest life. With --simulate, runs of fixed
    /// utilisations stand beside it. Needs Python: pip install '.[sweep]' in a clone.
    Model(ModelArgs),
    /// Run a test of SNIA's performance test specification in simulated time
    ///
    /// As version 2.0.2 describes them: purge, preconditioning, rounds until its steady-state rule holds, then its tables
    /// and plots. Measurements are shorter than there unless --cell 60s is given. Needs Python: pip install '.[sweep]'
    /// in a clone.
    Pts(PtsArgs),
    /// Repeat a workload on a drive until it wears out, under one scheme or several
    ///
    /// Blocks retire when their lives are used up, and the drive is over at the end that --end names. While it runs
    /// it says where each life heads and how long it may take; Ctrl-C stops it, and what was lived until then is
    /// written. Gives what can be written until then, as DWPD over 5 years and as years at the workload's pace,
    /// and how latency, retries, write amplification and capacity change as the drive ages. The device file must know the endurance of its
    /// flash.
    Lifetime(LifetimeArgs),
    /// Repeat a run from its report alone, or a served drive from its session, and say whether the result is the same
    Rerun(RerunArgs),
    /// Tell why requests of a report's run took so long, in words, by doing the run again with a watcher
    ///
    /// Where each request's time went, from arrival to completion: what its plane, array or bus was at, since
    /// when and why. Every time in it is one of the operation log and of the timeline, to the nanosecond.
    Why(WhyArgs),
    /// Serve a drive with real bytes over NBD, at the modelled speed, until Ctrl-C
    ///
    /// For fio, nbdcopy, qemu, nbdfuse and whatever else speaks NBD. Bytes lie by physical page in RAM, and are gone when it
    /// ends, or with --data in a folder. With --control the drive's power can be cut, reads and flushes can be made to fail,
    /// and time be made to go slower while it is served.
    Serve(ServeArgs),
    /// Ask a served drive how it does, cut its power, plant faults, or change its speed
    Ctl(CtlArgs),
    /// Find bugs by power cuts: run a client once, and check what a cut may leave of its writes, state by state
    ///
    /// Records every write, FLUSH, FUA, trim and acknowledgement of --run over NBD, or takes a --log. Then checks crash states
    /// between points of durability: nothing lost; all lost; each prefix; one write lost; one kept; one sector lost; two
    /// writes lost; and then drawn ones, in which each sector survives with a probability of .1, .5 or .9. The first state that
    /// fails is reduced, named and told. Exit code 0: none failed; 1: a state failed; 2: wrong usage, or the check fails with
    /// nothing lost. Needs no root.
    Crash(CrashArgs),
    /// Compare conventional, slc-cache and sector on a small drive under a bursty workload
    Demo(DemoArgs),
    /// Check an operation log by the rules of flash, with a program apart from the engine
    CheckLog(CheckLogArgs),
    /// Synthetic twins of traces: hold them to their tables, or make one of a trace
    Twin {
        #[command(subcommand)]
        command: TwinCommand,
    },
    /// A drive of one's own: from a data sheet, from a file of MQSim or SSDSim, and a look at it
    Device {
        #[command(subcommand)]
        command: DeviceCommand,
    },
    /// A scheme of one's own to begin with, in Python or in Rust
    Scheme {
        #[command(subcommand)]
        command: SchemeCommand,
    },
    /// Look at traces, convert them, and cut, scale, loop, shift, merge and sample them
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// List what there is by name
    List(ListArgs),
    /// Explain a device, scheme, workload, trace format, key of a device file, figure or term
    Explain(ExplainArgs),
    /// Hold the engine to theory and to recorded figures of another simulator
    ///
    /// Prints each quantity with their figure, ours, and how far apart the two may be. Ends with exit
    /// code 0 only if every row is within its tolerance or has its reason beside it. Part of the laboratory:
    /// pip install . ./lab in a clone.
    Validate(ValidateArgs),
    /// Print what a shell reads to complete commands, options and names
    ///
    /// For bash: wordline completions bash > ~/.local/share/bash-completion/completions/wordline. For zsh: to a file
    /// _wordline in a folder of $fpath. For fish: to ~/.config/fish/completions/wordline.fish.
    Completions(CompletionsArgs),
    /// Write a manual page of each command into DIR/man1, for man -M DIR or a package
    Man(ManArgs),
}
