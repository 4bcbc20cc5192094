//! `crash`: crash states of what a client wrote, each held to a check.

use crate::args::crash::{ConvertArgs, CrashArgs, CrashCommand};
use crate::console::Console;
use crate::error::Failure;
use crate::interrupt;
use crate::output::Sink;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use wordline_crash::{
    CrashError, Dropped, Found, RecordSpec, SearchSpec, Template, Verdict, drop_flushes, record,
    replay_state, search,
};
use wordline_volatile::{Event, Log, LogError, Rules, dm, flushes};

/// Where the log goes if a state fails.
const LOG: &str = "wordline-crash.log";

pub(crate) fn crash(args: &CrashArgs, console: &Console) -> Result<(), Failure> {
    if let Some(CrashCommand::Convert(convert)) = &args.command {
        return converted(convert, console);
    }
    let json = args.json.as_deref().map(Sink::open).transpose()?;
    let text = args.check.as_deref().unwrap_or_default();
    let check =
        Template::new("--check", text, &["image", "uri", "socket", "acked"], &["image", "uri", "socket"])?;
    let log = log(args, console)?;
    let spec = SearchSpec {
        rules: Rules { sector: log.sector, atomic: args.atomic },
        states: args.states,
        seed: args.seed,
        threads: args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        most: Duration::from_nanos(args.timeout.0),
        broken: args.broken.clone(),
    };
    if let Some(name) = &args.state {
        return one_state(&log, &check, &spec, name, console);
    }
    let bar = console.bar_of_checks(spec.states);
    let found = search(&log, &check, &spec, &interrupt::is_asked, &|checks| bar.set_position(checks));
    bar.finish_and_clear();
    let found = found?;
    let dropped = if args.drop_flushes && found.failing.is_none() {
        Some(drop_flushes(&log, &check, &spec, &interrupt::is_asked)?)
    } else {
        None
    };
    let saved = save(args, &log, &found)?;
    let replay = saved.map(|path| replay_command(args, &path, &found));
    if json.as_ref().is_none_or(|sink| !sink.is_stdout()) {
        console.say(&to_text(&found, dropped.as_deref(), replay.as_deref()))?;
    }
    if let Some(sink) = json {
        sink.write(&format!("{:#}\n", to_json(&found, dropped.as_deref(), replay.as_deref())), console)?;
    }
    match found.failing {
        None => Ok(()),
        Some(failing) => Err(Failure::Differs(format!("crash state {} fails the check", failing.name))),
    }
}

/// The log: of a client that is run now, or of a file.
fn log(args: &CrashArgs, console: &Console) -> Result<Log, Failure> {
    let log = match (&args.run, &args.log) {
        (Some(client), _) => recorded(args, client)?,
        (None, Some(path)) => read(path, None)?,
        (None, None) => return Err(Failure::Input("neither --run nor --log".to_string())),
    };
    let count = |is: fn(&Event) -> bool| log.of_client().iter().filter(|event| is(event)).count();
    console.note(&format!(
        "log: {} writes, {} trims and zeroes, {} FLUSH and FUA, {} marks",
        count(|e| matches!(e, Event::Write { .. })),
        count(|e| matches!(e, Event::Zero { .. })),
        flushes(&log).len(),
        count(|e| matches!(e, Event::Mark(_))),
    ));
    Ok(log)
}

fn recorded(args: &CrashArgs, client: &str) -> Result<Log, Failure> {
    let (size, sector) = (args.size.0, args.sector.0);
    if !sector.is_power_of_two() || !(512..=65_536).contains(&sector) {
        let what = format!("--sector {}", args.sector);
        return Err(Failure::Input(format!(
            "{what}: not a sector\n  allowed: 512B to 64KiB, a power of two"
        )));
    }
    if size == 0 || !size.is_multiple_of(sector) {
        let what = format!("--size {}: not a whole number of sectors", args.size);
        return Err(Failure::Input(format!("{what}\n  allowed: a multiple of {}", args.sector)));
    }
    let client = Template::new("--run", client, &["uri", "socket"], &["uri", "socket"])?;
    let most = Duration::from_nanos(args.timeout.0);
    let spec = RecordSpec { size, sector, image: args.image.clone(), most };
    let done = record(&client, &spec, &interrupt::is_asked)?;
    if !done.status.success() {
        let what = format!("--run: the client ended with {}", done.status);
        return Err(Failure::Input(format!("{what}\n  allowed: a client that ends with exit code 0")));
    }
    if !done.log.of_client().iter().any(|event| matches!(event, Event::Write { .. } | Event::Zero { .. })) {
        let what = "--run: the client wrote nothing to the drive";
        return Err(Failure::Input(format!(
            "{what}\n  allowed: a client that writes to {{uri}} or {{socket}}"
        )));
    }
    Ok(done.log)
}

/// Read a log of either format.
fn read(path: &Path, size: Option<u64>) -> Result<Log, Failure> {
    let shown = path.display();
    let unread = |e: std::io::Error| Failure::Input(format!("{shown}: cannot be read: {e}"));
    let mut bytes = vec![];
    BufReader::new(File::open(path).map_err(unread)?).read_to_end(&mut bytes).map_err(unread)?;
    let allowed = "a log of writes that a crash test has saved, or one of dm-log-writes";
    let wrong = |e: LogError| Failure::Input(format!("{shown}: {e}\n  allowed: {allowed}"));
    if dm::is_one(&bytes) { dm::decode(&bytes, size) } else { Log::read(&mut &bytes[..]) }.map_err(wrong)
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
    let log = read(&args.from, args.size.map(|size| size.0))?;
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

/// Where the log is kept, if it is.
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
    if let Some(atomic) = args.atomic {
        let boundary = atomic.boundary.map_or(String::new(), |b| format!(",boundary={b}B"));
        words.push(format!("--atomic {}B{boundary}", atomic.size));
    }
    words.push(format!("--state {}", wordline_report::quoted(name)));
    words.join(" ")
}

fn to_text(found: &Found, dropped: Option<&[Dropped]>, replay: Option<&str>) -> String {
    let mut text = String::new();
    if let Some(failing) = &found.failing {
        text += &failing.to_text();
        if let Some(replay) = replay {
            text += &format!("again: {replay}\n");
        }
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
        "two_lost_complete": coverage.two_lost,
        "one_lost_complete": coverage.one_lost,
        "checks": coverage.checks,
        "equal_states": coverage.equal,
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
