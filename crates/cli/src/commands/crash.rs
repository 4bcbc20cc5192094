//! `crash`: crash states of a client's writes, each verified by a check.

use crate::args::crash::{ConvertArgs, CrashArgs, CrashCommand};
use crate::commands::live::run_spec;
use crate::console::Console;
use crate::error::Failure;
use crate::interrupt;
use crate::output::Sink;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use wordline_crash::{
    CrashError, Dropped, FileSystem, Found, RecordSpec, SearchSpec, SessionSpec, Template, Verdict,
    drop_flushes, record, replay_state, search, sessions,
};
use wordline_live::ThroughDrive;
use wordline_run::RunSpec;
use wordline_units::Bytes;
use wordline_volatile::{
    BrokenKind, Event, Interval, Log, LogError, Rules, SessionFault, dm, flushes, intervals,
};

/// Destination of the log if a state fails.
const LOG: &str = "wordline-crash.log";

/// Results: the log, the failing states, and which FLUSHes were needed.
struct Searched {
    log: Log,
    found: Found,
    dropped: Option<Vec<Dropped>>,
    /// The sessions with faults, in a line.
    sessions: Option<String>,
}

pub(crate) fn crash(args: &CrashArgs, console: &Console) -> Result<(), Failure> {
    if let Some(CrashCommand::Convert(convert)) = &args.command {
        return converted(convert, console);
    }
    let json = args.json.as_deref().map(Sink::open).transpose()?;
    let text = args.check.as_deref().unwrap_or_default();
    let places = ["image", "uri", "socket", "mnt"];
    let check = Template::new("--check", text, &["image", "uri", "socket", "mnt", "acked"], &places)?;
    args.mount.as_ref().map_or(Ok(()), FileSystem::check)?;
    if sessions_of(args).next().is_some() && args.run.is_none() {
        let what = "--broken: a fault of a drive at work needs a client";
        return Err(Failure::Input(format!("{what}\n  allowed: a client to run, in place of a log")));
    }
    let log = log(args, console)?;
    let spec = SearchSpec {
        rules: Rules { sector: log.sector, atomic: args.atomic },
        states: args.states,
        seed: args.seed,
        threads: args.threads.unwrap_or_else(|| threads(check.has("mnt"))),
        most: Duration::from_nanos(args.timeout.0),
        is_persistent: args.persistent,
        broken: args
            .broken
            .iter()
            .filter_map(|kind| if let BrokenKind::AtCut(kind) = kind { Some(*kind) } else { None })
            .collect(),
        mount: args.mount.clone(),
        through: through(args, &log, console)?,
    };
    if let Some(name) = &args.state {
        return one_state(&log, &check, &spec, name, console);
    }
    let searched = searched(args, log, (&check, &spec), console)?;
    let Searched { log, found, dropped, sessions } = &searched;
    let saved = save(args, log, found)?;
    let replay = saved.map(|path| replay_command(args, &path, found));
    if json.as_ref().is_none_or(|sink| !sink.is_stdout()) {
        let through = spec.through.as_ref().map_or(String::new(), |drive| format!("{}\n", drive.to_text()));
        console.say(&(to_text(&searched, replay.as_deref()) + &through))?;
    }
    if let Some(sink) = json {
        let through = spec.through.as_ref().map(|drive| drive.to_text());
        let mut value = to_json(found, dropped.as_deref(), replay.as_deref());
        value["sessions"] = sessions.clone().into();
        value["through_drive"] = through.into();
        sink.write(&format!("{value:#}\n"), console)?;
    }
    match &found.failing {
        None => Ok(()),
        Some(failing) => Err(Failure::Differs(format!("crash state {} fails the check", failing.name))),
    }
}

/// Number of checks in parallel. One that mounts waits for the kernel most of its time.
fn threads(mounts: bool) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if mounts { cores * 3 } else { cores }
}

/// The simulated drive at each cut of a log.
fn through(args: &CrashArgs, log: &Log, console: &Console) -> Result<Option<Arc<ThroughDrive>>, Failure> {
    let Some(device) = args.device.as_ref().filter(|_| args.through_drive) else { return Ok(None) };
    let run = RunSpec {
        device: device.clone(),
        scheme: args.scheme.clone(),
        initial: "fresh".to_string(),
        ..run_spec(console)
    };
    let rules = Rules { sector: log.sector, atomic: args.atomic };
    let cuts = intervals(log, rules, None).iter().map(Interval::at).collect();
    Ok(Some(Arc::new(ThroughDrive::new(&run, log, &cuts)?)))
}

/// The requested faults of sessions, with their rates.
fn sessions_of(args: &CrashArgs) -> impl Iterator<Item = (SessionFault, u64)> + '_ {
    args.broken.iter().filter_map(|kind| {
        if let BrokenKind::InSession(fault, rate) = kind { Some((*fault, *rate)) } else { None }
    })
}

/// Search the states of a log and, where no state fails, the sessions with faults.
fn searched(
    args: &CrashArgs,
    log: Log,
    (check, spec): (&Template, &SearchSpec),
    console: &Console,
) -> Result<Searched, Failure> {
    let bar = console.bar_of_checks(spec.states);
    let kinds: Vec<(SessionFault, u64)> = sessions_of(args).collect();
    let bounded;
    // Whether a fault is needed shows on a drive without one.
    let first = if kinds.is_empty() {
        spec
    } else {
        bounded = SearchSpec { states: (spec.states / 4).max(1), ..spec.clone() };
        &bounded
    };
    let found = search(&log, check, first, &interrupt::is_asked, &|checks| bar.set_position(checks));
    bar.finish_and_clear();
    let found = found?;
    let dropped = if args.drop_flushes && found.failing.is_none() {
        Some(drop_flushes(&log, check, spec, &interrupt::is_asked)?)
    } else {
        None
    };
    if kinds.is_empty() || found.failing.is_some() {
        return Ok(Searched { log, found, dropped, sessions: None });
    }
    let client = client(args)?;
    let sessions_spec = SessionSpec { kinds, count: args.sessions.max(1), seed: args.seed };
    let before = found.coverage;
    let bar = console.bar_of_checks(spec.states);
    let ended = sessions(
        (&client, check),
        (&record_spec(args)?, spec),
        &sessions_spec,
        &interrupt::is_asked,
        &|checks| bar.set_position(checks),
    );
    bar.finish_and_clear();
    let Some(session) = ended? else { return Ok(Searched { log, found, dropped, sessions: None }) };
    let mut text =
        format!("{} sessions with faults of the drive, of which {} met a request", session.run, session.met);
    if session.found.failing.is_some() {
        let (fault, seed, status) = (session.fault, session.seed, session.status);
        text += &format!(
            "; needed: {fault}, seed {seed}; without it no state fails; the client ended with {status}"
        );
    }
    let found = Found { coverage: before.with(session.found.coverage), ..session.found };
    Ok(Searched { log: session.log, found, dropped, sessions: Some(text) })
}

/// The log: of a client that is run now, or of a file.
fn log(args: &CrashArgs, console: &Console) -> Result<Log, Failure> {
    let log = match (&args.run, &args.log) {
        (Some(_), _) => recorded(args)?,
        (None, Some(path)) => read(path, None, console)?,
        (None, None) => return Err(Failure::Input("neither --run nor --log is set".to_string())),
    };
    let count = |is: fn(&Event) -> bool| log.of_client().iter().filter(|event| is(event)).count();
    console.note(&format!(
        "log: {} writes, {} trims and zeroes, {} FLUSH and FUA, {} marks",
        count(|e| matches!(e, Event::Write { .. })),
        count(|e| matches!(e, Event::Zero { .. })),
        flushes(&log).len(),
        count(|e| matches!(e, Event::Mark(_))),
    ));
    let is_mark = |event: &Event| matches!(event, Event::Mark(_));
    let runs = log.of_client().chunk_by(|a, b| is_mark(a) == is_mark(b)).filter(|run| is_mark(&run[0]));
    // What a file system has not written yet can lie between marks, too.
    if let [all @ [_, _, ..]] = runs.collect::<Vec<_>>()[..]
        && args.mount.is_none()
    {
        console.note(&format!(
            "all {} marks follow each other without a request between them: a client that does not flush its output prints too late, \
             and claims too little",
            all.len()
        ));
    }
    Ok(log)
}

/// The command of --run.
fn client(args: &CrashArgs) -> Result<Template, Failure> {
    let text = args.run.as_deref().unwrap_or_default();
    let places: &[&str] = if args.mount.is_some() { &["mnt"] } else { &["uri", "socket", "image"] };
    Ok(Template::new("--run", text, places, places)?)
}

/// The drive that --run sees.
fn record_spec(args: &CrashArgs) -> Result<RecordSpec, Failure> {
    let least = args.mount.as_ref().map_or(0, FileSystem::least);
    let size = args.size.unwrap_or(Bytes(least.max(64 << 20)));
    let sector = args.sector.unwrap_or(Bytes(if args.mount.is_some() { 4096 } else { 512 }));
    if !sector.0.is_power_of_two() || !(512..=65_536).contains(&sector.0) {
        let what = format!("--sector {sector}: not a sector");
        return Err(Failure::Input(format!("{what}\n  allowed: 512B to 64KiB, a power of two")));
    }
    if size.0 == 0 || !size.0.is_multiple_of(sector.0) {
        let what = format!("--size {size}: not a whole number of sectors");
        return Err(Failure::Input(format!("{what}\n  allowed: a multiple of {sector}")));
    }
    if size.0 < least {
        let what = format!("--size {size}: too small for the file system");
        return Err(Failure::Input(format!("{what}\n  allowed: at least {}", Bytes(least))));
    }
    Ok(RecordSpec {
        size: size.0,
        sector: sector.0,
        image: args.image.clone(),
        most: Duration::from_nanos(args.timeout.0),
        mount: args.mount.clone().map(|system| (system, args.mkfs.clone())),
        faults: None,
    })
}

fn recorded(args: &CrashArgs) -> Result<Log, Failure> {
    let done = record(&client(args)?, &record_spec(args)?, &interrupt::is_asked)?;
    if !done.status.success() {
        let what = format!("--run: the client ended with {}", done.status);
        return Err(Failure::Input(format!("{what}\n  allowed: a client that ends with exit code 0")));
    }
    if !done.log.of_client().iter().any(|event| matches!(event, Event::Write { .. } | Event::Zero { .. })) {
        let what = "--run: the client wrote nothing to the drive";
        let places = if args.mount.is_some() { "{mnt}" } else { "{uri}, {socket} or {image}" };
        return Err(Failure::Input(format!("{what}\n  allowed: a client that writes to {places}")));
    }
    Ok(done.log)
}

/// Read a log of either format.
fn read(path: &Path, size: Option<u64>, console: &Console) -> Result<Log, Failure> {
    let shown = path.display();
    let unread = |e: std::io::Error| Failure::Input(format!("{shown}: cannot be read: {e}"));
    let mut bytes = vec![];
    BufReader::new(File::open(path).map_err(unread)?).read_to_end(&mut bytes).map_err(unread)?;
    let allowed = "a log of writes that a crash test has saved, or one of dm-log-writes";
    let wrong = |e: LogError| Failure::Input(format!("{shown}: {e}\n  allowed: {allowed}"));
    if dm::is_one(&bytes) {
        return dm::decode(&bytes, size).map_err(wrong);
    }
    let (log, end) = Log::read_whole_events(&mut &bytes[..]).map_err(wrong)?;
    if let Some(end) = end {
        console.note(&format!("{shown}: the file ends within an event, and is read up to byte {end}"));
    }
    Ok(log)
}

fn write(log: &Log, path: &Path) -> Result<(), Failure> {
    let failed = |e: LogError| Failure::Output(format!("{}: cannot be written: {e}", path.display()));
    let file = File::create(path).map_err(|e| failed(e.into()))?;
    log.write(&mut BufWriter::new(file)).map_err(failed)
}

fn converted(args: &ConvertArgs, console: &Console) -> Result<(), Failure> {
    let mut head = vec![];
    let unread = |e: std::io::Error| Failure::Input(format!("{}: cannot be read: {e}", args.from.display()));
    File::open(&args.from).map_err(unread)?.take(32).read_to_end(&mut head).map_err(unread)?;
    let log = read(&args.from, args.size.map(|size| size.0), console)?;
    let format = if dm::is_one(&head) {
        write(&log, &args.to)?;
        "wordline crash"
    } else {
        std::fs::write(&args.to, dm::encode(&log))
            .map_err(|e| Failure::Output(format!("{}: cannot be written: {e}", args.to.display())))?;
        "dm-log-writes"
    };
    console.note(&format!("{}: {} events as a log of {format}", args.to.display(), log.events.len()));
    Ok(())
}

fn one_state(
    log: &Log,
    check: &Template,
    spec: &SearchSpec,
    name: &str,
    console: &Console,
) -> Result<(), Failure> {
    let (story, verdict) = replay_state(log, check, spec, name, &interrupt::is_asked)?;
    let Verdict::Failed { how, said } = verdict else {
        return console.say(&format!("state {name}: {story}  the check passed\n"));
    };
    console.say(&format!("state {name}: {story}  the check ended with {how}\n{said}\n"))?;
    Err(Failure::Differs(format!("crash state {name} fails the check")))
}

/// Where the log was saved, if it was.
fn save(args: &CrashArgs, log: &Log, found: &Found) -> Result<Option<PathBuf>, Failure> {
    if let Some(path) = &args.log {
        return Ok(Some(path.clone()));
    }
    let path = args.save.clone().or_else(|| found.failing.as_ref().map(|_| PathBuf::from(LOG)));
    path.as_deref().map(|path| write(log, path)).transpose()?;
    Ok(path)
}

/// The command that checks the failing state once more.
fn replay_command(args: &CrashArgs, log: &Path, found: &Found) -> String {
    let name = found.failing.as_ref().map_or("", |failing| &failing.name);
    let mut words = vec!["wordline".to_string(), "crash".to_string(), "--log".to_string()];
    words.push(wordline_report::quoted(&log.display().to_string()));
    words.push("--check".to_string());
    words.push(wordline_report::quoted(args.check.as_deref().unwrap_or_default()));
    if args.persistent {
        words.push("--persistent".to_string());
    }
    if let Some(atomic) = args.atomic {
        let boundary = atomic.boundary.map_or(String::new(), |b| format!(",boundary={b}B"));
        words.push(format!("--atomic {}B{boundary}", atomic.size));
    }
    if let Some(mount) = &args.mount {
        words.push(format!("--mount {}", wordline_report::quoted(&mount.to_string())));
    }
    if let Some(device) = &args.device {
        let [device, scheme] = [device, &args.scheme].map(|word| wordline_report::quoted(word));
        words.push(format!("--through-drive --device {device} --scheme {scheme}"));
    }
    words.push(format!("--state {}", wordline_report::quoted(name)));
    words.join(" ")
}

fn to_text(searched: &Searched, replay: Option<&str>) -> String {
    let Searched { found, dropped, sessions, .. } = searched;
    let mut text = String::new();
    if let Some(failing) = &found.failing {
        text += &failing.to_text();
        if let Some(replay) = replay {
            text += &format!("again: {replay}\n");
        }
    }
    if let Some(sessions) = sessions {
        text += &format!("{sessions}\n");
    }
    text += &found.coverage.to_text();
    text.push('\n');
    if let Some(dropped) = dropped {
        text += &dropped_to_text(dropped);
    }
    if found.failing.is_none() {
        text.push_str("no crash state fails\n");
    }
    text
}

fn dropped_to_text(dropped: &[Dropped]) -> String {
    let needed = dropped.iter().filter(|one| one.needed.is_some()).count();
    let mut text = format!("{} FLUSH and FUA ignored in turn: the check notices {needed}\n", dropped.len());
    for one in dropped.iter().take(40) {
        let what = if one.flush.is_flush { "FLUSH" } else { "FUA of request" };
        let came = match &one.needed {
            Some(name) => format!("needed: state {name} fails"),
            None => format!("not noticed in {} states", one.states),
        };
        text += &format!("  {what} {:<6} {came}\n", one.flush.id);
    }
    if needed == 0 && !dropped.is_empty() {
        text.push_str("  this check notices no FLUSH that a drive ignores: it does not test durability\n");
    }
    text
}

fn to_json(found: &Found, dropped: Option<&[Dropped]>, replay: Option<&str>) -> Value {
    let coverage = found.coverage;
    let failing = found.failing.as_ref().map(|failing| {
        let (how, said) = match &failing.verdict {
            Verdict::Passed => ("", ""),
            Verdict::Failed { how, said } => (how.as_str(), said.as_str()),
        };
        json!({
            "state": failing.name,
            "class": failing.class.map(wordline_volatile::Class::key),
            "story": failing.story,
            "check_ended_with": how,
            "check_said": said,
            "fails_again": failing.again,
            "reductions": failing.reductions,
            "replay": replay,
        })
    });
    let dropped = dropped.map(|all| {
        let one = |one: &Dropped| json!({ "request": one.flush.id, "flush": one.flush.is_flush, "fails": one.needed });
        all.iter().map(one).collect::<Vec<Value>>()
    });
    json!({
        "intervals": coverage.intervals,
        "interval_kinds": coverage.kinds,
        "two_lost_complete": coverage.two_lost,
        "one_lost_complete": coverage.one_lost,
        "checks": coverage.checks,
        "equal_states": coverage.equal,
        "equal_in_what_is_read": coverage.unread,
        "equal_and_checked": coverage.anyway,
        "seconds": coverage.milliseconds as f64 / 1e3,
        "failing": failing,
        "dropped": dropped,
    })
}

impl From<CrashError> for Failure {
    fn from(e: CrashError) -> Failure {
        match e {
            CrashError::Input(text) => Failure::Input(text),
            CrashError::Machine(text) => Failure::Output(text),
            CrashError::Stopped => Failure::Stopped("no results were kept".to_string()),
        }
    }
}
