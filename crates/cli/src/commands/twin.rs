//! `twin check`, `twin fit` and `twin class`.

use crate::args::twin::{TwinCheckArgs, TwinClassArgs, TwinFitArgs};
use crate::console::Console;
use crate::error::Failure;
use crate::output::Sink;
use serde_json::json;
use wordline_report::{Latency, Report, TwinPanel, twin_figures};
use wordline_run::{RunError, RunSpec, Setup};
use wordline_trace::{Fit, readable_bytes, with_format};
use wordline_workload::twin::{Aspect, Checked, Criterion, Depth, Fitted, TWINS, TwinBody, Unit, Verdict};

pub(crate) fn check(args: &TwinCheckArgs, console: &Console) -> Result<(), Failure> {
    let sink = args.json.as_deref().map(Sink::open).transpose()?;
    // Known before the time is spent: a folder that cannot be written.
    if let Some(folder) = &args.out {
        let refused = |e: std::io::Error| {
            Failure::Input(format!("{}: cannot create the folder: {e}", folder.display()))
        };
        std::fs::create_dir_all(folder).map_err(refused)?;
        Sink::open(&folder.join("twins-table.md").to_string_lossy())?;
    }
    let all = || TWINS.iter().filter(|t| !matches!(t.body, TwinBody::Same(_))).map(|t| t.name.to_string());
    let names: Vec<String> =
        args.names.iter().flat_map(|n| if n == "all" { all().collect() } else { vec![n.clone()] }).collect();
    let depth = if args.requests.is_some() { Depth::Counts } else { Depth::Full };
    let (mut tables, mut found, mut panels, mut outside) = (String::new(), vec![], vec![], vec![]);
    for name in names {
        let checked = wordline_workload::twin::check(&name, args.requests.map(|n| n.0), depth)
            .map_err(RunError::Workload)?;
        if !sink.as_ref().is_some_and(Sink::is_stdout) {
            console.say(&(checked.render() + "\n"))?;
        }
        if !checked.holds() {
            outside.push(checked.name.clone());
        }
        tables += &markdown(&checked);
        panels.extend(panel(&checked));
        found.push(json!({ "name": checked.name, "holds": checked.holds(), "rows": checked.rows }));
    }
    if let Some(folder) = &args.out {
        let write = |name: &str, text: &str| -> Result<(), Failure> {
            Sink::open(&folder.join(name).to_string_lossy())?.write(text, console)
        };
        write("twins-table.md", &format!("{TABLE_HEAD}{tables}"))?;
        for figure in twin_figures(&panels) {
            write(&format!("{}.svg", figure.name), &figure.svg)?;
            write(&format!("{}.csv", figure.name), &figure.csv)?;
        }
    }
    if let Some(sink) = sink {
        let text = serde_json::to_string_pretty(&found)
            .map_err(|e| Failure::Output(format!("the figures cannot be written as JSON: {e}")))?;
        sink.write(&(text + "\n"), console)?;
    }
    if outside.is_empty() {
        return Ok(());
    }
    Err(Failure::Differs(format!("outside its criterion: {}", outside.join(", "))))
}

const TABLE_HEAD: &str = "# Twins and their tables\n\nWritten by `make twins`. Deviations of shares are in \
    percentage points, all others in percent; a row without a criterion is for information. \"Table\" is \
    the paper's, or for values that a twin's file marks ASSUMED the value assumed: `wordline explain \
    twin:NAME` says which.\n";

fn markdown(checked: &Checked) -> String {
    let mut out = format!("\n## {}\n\n{}\n\n", checked.name, checked.title);
    out += "| statistic | table | twin | deviation | criterion | verdict |\n|---|---:|---:|---:|---:|---|\n";
    for row in &checked.rows {
        out += &format!("| {} |\n", row.cells().join(" | "));
    }
    out
}

/// Plots of a twin.
fn panel(checked: &Checked) -> Option<TwinPanel> {
    let s = checked.statistics.as_ref()?;
    let [reads, writes] = s.sizes();
    let share = |sizes: Vec<(u64, u64)>| -> Vec<(f64, f64)> {
        let all: u64 = sizes.iter().map(|(_, n)| n).sum();
        sizes
            .into_iter()
            .scan(0, |sum, (size, n)| {
                *sum += n;
                Some((size as f64, *sum as f64 / all as f64))
            })
            .collect()
    };
    let name = checked.name.trim_start_matches("twin:");
    let targets =
        wordline_workload::twin::description_of(&checked.name).map(|d| d.targets.hits).unwrap_or_default();
    let [_, _, written] = s.footprints().unwrap_or_default();
    let caches: Vec<u64> = (0..=40)
        .map(|k| (written as f64 / f64::powf(2.0, k as f64 / 4.0)) as u64 / 4096 * 4096)
        .rev()
        .filter(|c| *c > 0)
        .collect();
    let hits = s.hits(&caches).unwrap_or_default();
    let (counts, part_s) = s.arrivals();
    // The last part is cut off where the requests end.
    let counts = counts.split_last().map_or(counts, |(_, whole)| whole);
    Some(TwinPanel {
        name: name.to_string(),
        read_sizes: share(reads),
        write_sizes: share(writes),
        hits: caches.iter().map(|c| *c as f64).zip(hits).collect(),
        targets: targets.into_iter().map(|(cache, hit)| (cache as f64, hit.as_f64())).collect(),
        rates: counts.iter().map(|n| *n as f64 / part_s).collect(),
        part_s,
    })
}

pub(crate) fn class(args: &TwinClassArgs, console: &Console) -> Result<(), Failure> {
    let class = wordline_workload::twin::fit_class(&args.traces).map_err(RunError::Workload)?;
    console.say(&class.render())
}

/// The basis of an automatically chosen drive, and its largest size.
const DRIVE: &str = "demo-8gb";
const LARGEST: u64 = 4 << 40;

pub(crate) fn fit(args: &TwinFitArgs, console: &Console) -> Result<(), Failure> {
    let sink = args.out.as_deref().map(|out| Sink::open_new(out, args.force)).transpose()?;
    let text = match &args.format {
        Some(format) => with_format(&args.file, format),
        None => args.file.clone(),
    };
    let fitted = wordline_workload::twin::fit(&text, &args.title).map_err(RunError::Workload)?;
    let mut verdict = Verdict::of(&fitted);
    verdict.untried("trace and twin were not run on a drive".to_string());
    // The twin is kept whatever becomes of the runs.
    let ran = run_both(args, &fitted, &text, &mut verdict, console);
    let toml = fitted.to_toml(&verdict.render());
    let last = match sink {
        Some(sink) if !sink.is_stdout() => {
            sink.write(&toml, console)?;
            None
        }
        other => other,
    };
    let refused = ran?;
    console.say(&verdict.render())?;
    if let Some(sink) = last {
        sink.write(&toml, console)?;
    }
    match refused {
        // A drive that was asked for, and does not do.
        Some(why) if args.device.is_some() => Err(Failure::Input(why)),
        Some(why) => {
            console.note(&format!("note: {why}"));
            Ok(())
        }
        None => Ok(()),
    }
}

/// Run trace and twin on a drive and add the comparison to the verdict; if no drive can hold them, the reason.
fn run_both(
    args: &TwinFitArgs,
    fitted: &Fitted,
    trace: &str,
    verdict: &mut Verdict,
    console: &Console,
) -> Result<Option<String>, Failure> {
    match Drive::of(args, fitted.room())? {
        Ok(drive) => {
            let [trace, twin] = drive.runs(args, trace, &fitted.to_toml(&verdict.render()), console)?;
            verdict.on(format!("{} under {}", drive.words, args.scheme));
            on_drive(verdict, &trace, &twin);
            Ok(None)
        }
        Err(why) => Ok(Some(why)),
    }
}

/// The drive on which trace and twin are run.
struct Drive {
    device: String,
    set: Vec<(String, String)>,
    fit: Fit,
    words: String,
}

impl Drive {
    /// The named drive, or one with space for this many bytes; or an error.
    fn of(args: &TwinFitArgs, room: u64) -> Result<Result<Drive, String>, Failure> {
        let fit = args.fit.unwrap_or(Fit::Compact);
        let set = args.set.clone();
        let needs = readable_bytes(room);
        if let Some(device) = &args.device {
            let has = wordline_run::device(device, &set)?.logical_bytes();
            if room > has && fit != Fit::Wrap {
                return Ok(Err(format!(
                    "--device {device}: trace and twin need {needs}, the drive has {}; the twin was fitted \
                     but not run\n  allowed: a larger drive, or --fit wrap, which takes addresses modulo \
                     the capacity\n  hint: without --device, the drive is enlarged as needed",
                    readable_bytes(has)
                )));
            }
            return Ok(Ok(Drive { device: device.clone(), set, fit, words: device.clone() }));
        }
        let device = wordline_run::device(DRIVE, &[])?;
        let capacity = device.logical_bytes();
        let times = if fit == Fit::Wrap { 1 } else { room.div_ceil(capacity).max(1) };
        if capacity.saturating_mul(times) > LARGEST {
            return Ok(Err(format!(
                "trace and twin need {needs}, more than the largest drive for this purpose ({}), so they \
                 were not run. Use --fit wrap to run them on the default drive",
                readable_bytes(LARGEST)
            )));
        }
        let mut words = DRIVE.to_string();
        let mut own = vec![];
        if times > 1 {
            let blocks = device.media[0].blocks_per_plane as u64 * times;
            let cache = device.slc_cache.map_or(0, |c| c.static_blocks) as u64 * times;
            own = [
                ("capacity.logical", format!("{}B", capacity * times)),
                ("medium.flash.blocks_per_plane", blocks.to_string()),
                ("slc_cache.static_blocks", cache.to_string()),
            ]
            .map(|(key, value)| (key.to_string(), value))
            .to_vec();
            words += &format!(" enlarged {times} times ({})", readable_bytes(capacity * times));
        }
        own.extend(set);
        Ok(Ok(Drive { device: DRIVE.to_string(), set: own, fit, words }))
    }

    /// Trace and twin under the same scheme.
    fn runs(
        &self,
        args: &TwinFitArgs,
        trace: &str,
        twin: &str,
        console: &Console,
    ) -> Result<[Report; 2], Failure> {
        let file = tempfile::Builder::new().prefix("wordline-").suffix(".toml").tempfile();
        let failed = |e: std::io::Error| Failure::Output(format!("cannot write a temporary file: {e}"));
        let file = file.map_err(failed)?;
        std::fs::write(file.path(), twin).map_err(failed)?;
        let run = |workload: &str| -> Result<Report, Failure> {
            let spec = RunSpec {
                set: self.set.clone(),
                fit: Some(self.fit),
                ..RunSpec::new(&self.device, &args.scheme, workload)
            };
            let setup = Setup::resolve(&spec)?;
            let mut bar = console.bar(&setup, 1);
            let schemes = std::slice::from_ref(&args.scheme);
            let done = wordline_run::compare(&setup, schemes, 1, &mut |p| bar.update(p))?;
            Ok(done.reports.into_iter().next().ok_or(RunError::Interrupted)?)
        };
        Ok([run(trace)?, run(&file.path().to_string_lossy())?])
    }
}

/// The figures of a drive under trace and twin.
fn on_drive(verdict: &mut Verdict, trace: &Report, twin: &Report) {
    let both = |of: &dyn Fn(&Report) -> Option<f64>| [of(trace), of(twin)];
    let erases = |r: &Report| r.flash.erases.values().sum::<u64>();
    let (near, far) = (Criterion::Percent(10.0), Criterion::Percent(20.0));
    let collected = erases(trace) > 0;
    if collected {
        let (waf, aspect) = (near, Aspect::Amplification);
        verdict.add(aspect, "write amplification", Unit::Number, both(&|r| Some(r.waf.as_ref()?.total)), waf);
        verdict.add(aspect, "erases", Unit::Count, both(&|r| Some(erases(r) as f64)), near);
    } else {
        verdict.untried(
            "write amplification was not tested, because the trace is too short for the drive to erase a \
             block"
                .to_string(),
        );
    }
    type Of = fn(&Latency) -> f64;
    let figures: [(&str, Of, Criterion); 3] =
        [("mean", |l| l.mean, near), ("median", |l| l.p50, near), ("p99", |l| l.p99, far)];
    for (op, write) in [("write", true), ("read", false)] {
        for (name, figure, bound) in figures {
            let of = |r: &Report| {
                let latency = if write { &r.latency_us.write } else { &r.latency_us.read };
                latency.as_ref().map(figure)
            };
            let bound = if write && name == "mean" { Criterion::Percent(25.0) } else { bound };
            let what = format!("{op} latency, {name}");
            verdict.add(Aspect::Latency, &what, Unit::Latency, both(&of), bound);
        }
    }
}
