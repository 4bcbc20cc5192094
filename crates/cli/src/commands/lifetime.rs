//! `lifetime`: lifetime runs, their progress, and their results when stopped.

use crate::args::run::{LifetimeArgs, What};
use crate::args::values::Schemes;
use crate::commands::experiment::{json_of, replaced, spec, threads};
use crate::commands::figures::duration;
use crate::console::Console;
use crate::error::Failure;
use crate::output::{Folder, Sink};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use wordline_report::{lifetime_figures, lifetime_html, lifetime_table, significant};
use wordline_run::{LifeProgress, LifetimeSpec, device_of_run};
use wordline_units::grouped;

pub(crate) fn lifetime(args: &LifetimeArgs, console: &Console) -> Result<(), Failure> {
    is_of_a_life(&args.what)?;
    let folder = args.out.as_deref().map(Folder::open).transpose()?;
    let json = args.json.as_deref().map(Sink::open).transpose()?;
    let csv = args.csv.as_deref().map(Sink::open).transpose()?;
    let schemes = Schemes::all(&args.schemes);
    let asked = LifetimeSpec {
        run: spec(&args.what, &schemes[0], console),
        schemes: schemes.clone(),
        acceleration: args.acceleration,
        checks_acceleration: true,
        shelf: args.shelf.unwrap_or_default(),
        end: args.end,
        threads: threads(args.what.threads),
    };
    replaced(std::slice::from_ref(&asked.run.workload), asked.run.requests, asked.run.fit, console);
    console.warn_of(&device_of_run(&asked.run.device, &asked.run.set)?);
    let told = Told::new(&schemes, console);
    let lifetimes = wordline_run::lifetime(&asked, &|p| {
        told.hear(&p);
        ControlFlow::Continue(())
    })?;
    let text = json_of(lifetimes.to_json())?;
    if ![&json, &csv].into_iter().flatten().any(Sink::is_stdout) {
        console.say(&lifetime_table(&lifetimes, console.style()))?;
    }
    if let Some(folder) = folder {
        folder.write("phases.csv", &lifetimes.to_csv(), console)?;
        let page = ("lifetime.html", lifetime_html(&lifetimes));
        let figures = lifetime_figures(&lifetimes);
        folder.fill_with(&figures, (page.0, &page.1), ("lifetime.json", &text), console)?;
    }
    if let Some(sink) = csv {
        sink.write(&lifetimes.to_csv(), console)?;
    }
    if let Some(sink) = json {
        sink.write(&text, console)?;
    }
    if !lifetimes.stopped {
        return Ok(());
    }
    Err(Failure::Stopped(match &args.out {
        Some(folder) => format!("the results so far are in {}", folder.display()),
        None => "the results so far are printed above".to_string(),
    }))
}

/// Refuse options of a run that do not apply to a lifetime run.
pub(crate) fn is_of_a_life(what: &What) -> Result<(), Failure> {
    let wrong = if what.twin_sensitivity {
        "--twin-sensitivity compares runs; leave it out".to_string()
    } else if let Some(file) = &what.from_state {
        format!("{file}: a lifetime run starts with a new drive and takes no saved state")
    } else {
        return Ok(());
    };
    Err(Failure::Input(wrong))
}

/// Minimum interval of progress lines.
const EVERY: Duration = Duration::from_secs(10);

/// A life by its scheme, seed and acceleration.
type Which = (usize, u64, u32);

/// Tells how far the lives are, in a line now and then.
struct Told<'a> {
    schemes: &'a [String],
    console: &'a Console,
    begun: Instant,
    /// For each lifetime run: when progress was last printed, and after how many passes.
    last: Mutex<BTreeMap<Which, (Instant, u64)>>,
}

impl<'a> Told<'a> {
    fn new(schemes: &'a [String], console: &'a Console) -> Told<'a> {
        Told { schemes, console, begun: Instant::now(), last: Mutex::default() }
    }

    fn hear(&self, p: &LifeProgress) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, passes) = last.entry((p.scheme, p.seed, p.acceleration)).or_insert((self.begun, 0));
        let first = *passes == 0 && p.passes > 0;
        if p.ended.is_none() && !first && at.elapsed() < EVERY {
            return;
        }
        (*at, *passes) = (Instant::now(), p.passes);
        drop(last);
        self.console.note(&self.line(p, self.begun.elapsed()));
    }

    /// How a life has ended, or where it heads.
    fn line(&self, p: &LifeProgress, elapsed: Duration) -> String {
        let name = format!("{}, seed {}, acceleration {}", self.schemes[p.scheme], p.seed, p.acceleration);
        let writes = |x: f64| format!("{} drive writes", significant(x));
        if let Some(end) = p.ended {
            return format!("{name}: ended ({end}) after {}", writes(p.drive_writes));
        }
        if p.passes == 0 {
            return format!("{name}: first pass of the workload running");
        }
        if p.life_used <= 0.0 {
            let (passes, drive_writes) = (grouped(p.passes), writes(p.drive_writes));
            return format!("{name}: no block is worn yet after {passes} passes, {drive_writes}");
        }
        let left = elapsed.mul_f64(((1.0 - p.all_done) / p.all_done.max(1e-9)).min(1e6));
        format!(
            "{name}: {} wear after {}, projected end at most {}; at most {} left for all runs",
            percent(p.life_used),
            writes(p.drive_writes),
            significant(p.drive_writes / p.life_used),
            duration(left)
        )
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::Record;

    #[test]
    fn progress_line_shows_wear_forecast_and_total_time() {
        let (schemes, console) = (
            ["raro".to_string()],
            Console::new(wordline_schemes::Registry::standard(), None, Record::of(&[])),
        );
        let told = Told::new(&schemes, &console);
        let p = LifeProgress {
            scheme: 0,
            seed: 1,
            acceleration: 20,
            passes: 3,
            drive_writes: 30.0,
            life_used: 0.03,
            all_done: 0.1,
            ended: None,
        };
        let line = told.line(&p, Duration::from_secs(20));
        assert_eq!(
            line,
            "raro, seed 1, acceleration 20: 3.0 % wear after 30.0 drive writes, projected end at most 1,000; at most 3 min \
             left for all runs"
        );
        let first = told.line(&LifeProgress { passes: 0, life_used: 0.0, ..p.clone() }, Duration::ZERO);
        assert!(first.contains("first pass"), "{first}");
        let unworn = told.line(&LifeProgress { passes: 1_238, life_used: 0.0, ..p.clone() }, Duration::ZERO);
        assert!(unworn.ends_with("no block is worn yet after 1,238 passes, 30.0 drive writes"), "{unworn}");
        let ended = told.line(&LifeProgress { ended: Some(wordline_run::EndOfLife::OutOfSpace), ..p }, EVERY);
        assert!(ended.ends_with("ended (out-of-space) after 30.0 drive writes"), "{ended}");
    }
}
