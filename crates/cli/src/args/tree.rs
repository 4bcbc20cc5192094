//! The tree of commands. The comments are the help texts.

use crate::args::about::{CompletionsArgs, ExplainArgs, ListArgs, ManArgs};
use crate::args::crash::CrashArgs;
use crate::args::device::DeviceCommand;
use crate::args::live::{CtlArgs, ServeArgs};
use crate::args::python::{AtlasArgs, ModelArgs, PickArgs, PtsArgs, ReproduceArgs, SweepArgs, ValidateArgs};
use crate::args::run::{CheckLogArgs, CompareArgs, DemoArgs, LifetimeArgs, RerunArgs, RunArgs, WhyArgs};
use crate::args::scheme::SchemeCommand;
use crate::args::trace::TraceCommand;
use crate::args::twin::TwinCommand;
use clap::{Parser, Subcommand};

/// Simulate hybrid-flash SSDs: replay a workload on a drive under a scheme and measure latency, write
/// amplification and wear.
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
    /// Run several schemes on one device and workload and compare them
    Compare(CompareArgs),
    /// Run one scheme
    Run(RunArgs),
    /// Run every combination of devices, workloads, schemes and settings, and tabulate the results
    ///
    /// Runs execute in parallel on all cores. Finished runs are cached by the hash of their configuration, so
    /// an interrupted sweep resumes, and a sweep with more values runs only the new ones. Needs Python: pip
    /// install '.[sweep]' in a clone.
    Sweep(SweepArgs),
    /// Reproduce the evaluation of a paper: figures, tables, and a verdict on each claim
    ///
    /// Runs at full scale by default. Finished runs are cached, as in sweep. Part of the laboratory: pip
    /// install . ./lab in a clone.
    Reproduce(ReproduceArgs),
    /// Recommend a scheme by load, fill level and wear, for your workload and drive or from the published
    /// atlas
    ///
    /// Every scheme runs at ten loads, three fill levels and three states of wear, with several seeds. The
    /// page recommends a scheme for the conditions that a reader selects, with its gains and costs. Finished
    /// runs are cached, as in sweep. Needs Python: pip install '.[atlas]' in a clone. Without a workload and
    /// a device it makes the published atlas, which is part of the laboratory: pip install . ./lab in a
    /// clone.
    Atlas(AtlasArgs),
    /// Evaluate the analytic model of a scheme on a device and workload, without a simulation
    ///
    /// For HySSD it prints the cost of a page access at each utilization of the faster medium, the hit rates
    /// behind it, and the utilizations of least cost and of longest lifetime. --simulate checks the model by
    /// runs at fixed utilizations. Needs Python: pip install '.[sweep]' in a clone.
    Model(ModelArgs),
    /// Run a test of SNIA's performance test specification in simulated time
    ///
    /// Follows version 2.0.2: purge, preconditioning, rounds until its steady-state rule holds, then its tables and plots.
    /// Measurements are shorter than specified unless --cell is 60s. Needs Python: pip install '.[sweep]'
    /// in a clone.
    Pts(PtsArgs),
    /// Rank drives for a workload: p99 latency, time past the SLC cache, write amplification, years of rated TBW
    ///
    /// Drive, cache and data are scaled down together, until the drive is at most 128 times as large as what the workload
    /// writes. Needs Python: pip install '.[fit]' in a clone.
    Pick(PickArgs),
    /// Repeat a workload on a drive until the drive wears out, under one or several schemes
    ///
    /// Blocks retire at the end of their endurance; the run ends at the condition of --end. The terminal
    /// shows the projected end and remaining time; Ctrl-C stops the run and writes the results so far.
    /// Reports host writes until the end as TBW, DWPD over 5 years and years at the workload's pace, and how
    /// latency, retries, write amplification and capacity change as the drive ages. The device file must give
    /// the endurance of its flash.
    Lifetime(LifetimeArgs),
    /// Repeat a run from its report, or a served drive from its session, and check that the result is
    /// identical
    Rerun(RerunArgs),
    /// Explain slow requests: rerun with tracing and show where the time went
    ///
    /// For each request, from arrival to completion: what its plane, array or bus was doing, since when and
    /// why. All times agree with the operation log and the timeline to the nanosecond.
    Why(WhyArgs),
    /// Serve a drive with real bytes over NBD, at the modelled speed, until Ctrl-C
    ///
    /// Works with fio, nbdcopy, qemu, nbdfuse and any other NBD client. Data are stored by physical page, in
    /// RAM until the server ends, or with --data in a folder. With --control you can cut the power, inject
    /// read errors and early FLUSH completions, and change the speed while the drive is served.
    Serve(ServeArgs),
    /// Control a served drive: statistics, power cuts, fault injection, snapshots
    Ctl(CtlArgs),
    /// Find bugs by power cuts: run a client once, and check what a cut may leave of its writes, state by state
    ///
    /// Records every write, FLUSH, FUA, trim and acknowledgement of --run over NBD, or takes a --log. Then checks
    /// crash states between points of durability: nothing lost; all lost; each prefix; one write lost; one kept; one
    /// sector lost; two writes lost; then random states, in which each sector survives with a probability of 0.1,
    /// 0.5 or 0.9. The first state that fails is reduced, named and reported. Exit code 0: none failed; 1: a state
    /// failed; 2: wrong usage, or the check fails with nothing lost. Needs no root.
    Crash(CrashArgs),
    /// Compare conventional, slc-cache and sector on a small drive under a bursty workload
    Demo(DemoArgs),
    /// Check an operation log against the rules of flash, with a program independent of the engine
    CheckLog(CheckLogArgs),
    /// Check the synthetic twins of traces against their tables, or fit a twin to a trace
    Twin {
        #[command(subcommand)]
        command: TwinCommand,
    },
    /// Create, convert and show device files
    Device {
        #[command(subcommand)]
        command: DeviceCommand,
    },
    /// Create a scheme of your own, in Python or Rust
    Scheme {
        #[command(subcommand)]
        command: SchemeCommand,
    },
    /// Inspect, convert, cut, scale, repeat, shift, merge and sample traces
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// List devices, schemes, workloads or trace formats
    List(ListArgs),
    /// Explain a device, scheme, workload, trace format, key of a device file, command, option, figure or
    /// term
    Explain(ExplainArgs),
    /// Validate the engine against theory and recorded figures of another simulator
    ///
    /// Prints each quantity with the reference value, the simulated value and the tolerance. Exits with 0
    /// only if every row is within its tolerance or has a stated reason. Part of the laboratory: pip install
    /// . ./lab in a clone.
    Validate(ValidateArgs),
    /// Print a shell script that completes commands, options and names
    ///
    /// For bash: wordline completions bash > ~/.local/share/bash-completion/completions/wordline. For zsh: to a file
    /// _wordline in a folder of $fpath. For fish: to ~/.config/fish/completions/wordline.fish.
    Completions(CompletionsArgs),
    /// Write a manual page for each command to DIR/man1, for man -M DIR or a package
    Man(ManArgs),
}
