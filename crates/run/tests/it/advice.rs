//! Can advice be followed? Every hint of a run, and every state that an error proposes, is taken on the same drive: each ends
//! well, gives no hint twice, and does what it says. All built-in drives, made small, under all schemes.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use wordline_device::builtin;
use wordline_report::Report;
use wordline_run::{RunError, RunSpec, run};

/// A built-in drive of at most 64 MiB: as it is but for its size.
fn small(device: &str) -> Vec<(String, String)> {
    let spec = wordline_device::find(device).unwrap().spec(&[]).unwrap();
    let mut set = vec![];
    let mut bytes = 0;
    for m in &spec.media {
        let mut add =
            |key: &str, value: u64| set.push((format!("medium.{}.{key}", m.name), value.to_string()));
        for key in ["channels", "chips_per_channel", "dies_per_chip"] {
            add(key, 1);
        }
        let planes = u64::from(m.topology.planes_per_die.min(2));
        add("planes_per_die", planes);
        let wordlines = (256 << 10) / m.page.0;
        add("wordlines_per_block", wordlines);
        let block = wordlines * m.page.0 * u64::from(m.densest().bits());
        let blocks = (56 << 20) / spec.media.len() as u64 / block / planes;
        add("blocks_per_plane", blocks);
        bytes += blocks * planes * block;
    }
    let mut add = |key: &str, value: String| set.push((key.to_string(), value));
    if let Some(cache) = spec.slc_cache {
        add("slc_cache.static_blocks", if cache.dynamic_blocks == 0 { "6" } else { "2" }.into());
        add("slc_cache.dynamic_blocks", if cache.dynamic_blocks == 0 { "0" } else { "6" }.into());
    }
    add("capacity.logical", format!("{}KiB", (bytes * 7 / 10) >> 14 << 4));
    add("host.queue_depth", "32".into());
    set
}

/// Workload and initial state: what provokes advice.
const LOADS: [(&str, &str); 7] = [
    ("uniform:read=20%,bs=16KiB,qd=4,requests=300", "fresh"),
    ("uniform:read=0%,bs=4KiB,qd=1,requests=300", "preload"),
    ("uniform:read=0%,bs=16KiB,qd=8,requests=300", "fill:50%,valid=90%"),
    ("uniform:read=100%,bs=4KiB,requests=200", "fresh"),
    ("uniform:read=50%,bs=16KiB,rate=1M,requests=1200", "preload"),
    ("mix:read=40%,trim=40%,bs=16KiB,qd=4,requests=600", "preload"),
    ("uniform:read=0%,bs=16KiB,qd=8,requests=300", "fill:90%,valid=60%"),
];

fn done(spec: &RunSpec) -> Result<Report, RunError> {
    run(spec, &mut |_| ControlFlow::Continue(()))
}

/// The options that a text proposes, as `--option value`.
fn options(text: &str) -> Vec<(String, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let value = |word: &str| word.trim_end_matches(['.', ',', ';', ')', ':']).to_string();
    let pairs = words.windows(2).filter(|pair| pair[0].trim_start_matches('(').starts_with("--"));
    pairs.map(|pair| (pair[0].trim_start_matches('(').to_string(), value(pair[1]))).collect()
}

/// The run with what is proposed.
fn followed(spec: &RunSpec, text: &str) -> RunSpec {
    let mut next = spec.clone();
    for (option, value) in options(text) {
        match option.as_str() {
            "--initial" => next.initial = value,
            "--requests" => next.requests = Some(value.parse().unwrap()),
            "--set" => {
                let (key, value) = value.split_once('=').unwrap();
                next.set.retain(|(known, _)| known != key);
                next.set.push((key.to_string(), value.to_string()));
            }
            other => panic!("{other} in {text:?} is not an option of a run"),
        }
    }
    next
}

/// Pairs of a small drive and a scheme that it takes.
fn pairs() -> Vec<RunSpec> {
    // Made small, those of real drives are alike.
    let drives = builtin().iter().filter(|d| !d.is_measured()).map(|d| (d.name.to_string(), small(d.name)));
    drives
        .flat_map(|(device, set)| {
            let spec =
                move |scheme: &str| RunSpec { set: set.clone(), ..RunSpec::new(&device, scheme, "uniform") };
            wordline_schemes::all().iter().map(|e| spec(&e.name)).collect::<Vec<_>>()
        })
        .collect()
}

/// What was said, and what of it could not be followed.
#[derive(Default)]
struct Heard {
    said: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Heard {
    /// A run that must end well.
    fn follow(&mut self, spec: &RunSpec, text: &str, of: &RunSpec) -> Option<Report> {
        self.said.insert(text.to_string());
        let what = || format!("{} on {}, {} {}: {text}", of.scheme, of.device, of.workload, of.initial);
        match done(spec) {
            Ok(report) if report.host.failures() == 0 => return Some(report),
            Ok(report) => self.wrong.push(format!("{}\n  {:?}", what(), report.host.failed)),
            Err(e) => self.wrong.push(format!("{}\n  {e}", what())),
        }
        None
    }

    /// Follow the hints of a run, and theirs, until none has an option.
    fn hints(&mut self, spec: &RunSpec, report: &Report) {
        type Waiting = (RunSpec, String, BTreeSet<String>);
        let mut waiting: Vec<Waiting> =
            report.hints.iter().map(|h| (spec.clone(), h.clone(), BTreeSet::new())).collect();
        while let Some((spec, hint, mut before)) = waiting.pop() {
            self.said.insert(hint.clone());
            let proposed = options(&hint);
            if proposed.is_empty() {
                continue;
            }
            let next = followed(&spec, &hint);
            let what =
                format!("{} on {}, {} {}: {hint}", spec.scheme, spec.device, spec.workload, spec.initial);
            if !before.insert(format!("{proposed:?}")) || next == spec {
                self.wrong.push(format!("said before: {what}"));
                continue;
            }
            let Some(after) = self.follow(&next, &hint, &spec) else { continue };
            let collected = !after.hints.iter().any(|h| h.contains("no collection happened"));
            if hint.contains("is enough") && !collected {
                self.wrong.push(format!("nothing was collected: {what}\n  {:?}", after.hints));
            }
            if after.hints.iter().any(|h| *h == hint || options(h) == proposed) {
                self.wrong.push(format!("said again: {what}"));
            }
            waiting.extend(after.hints.iter().map(|h| (next.clone(), h.clone(), before.clone())));
        }
    }

    /// Set what a scheme asks for that does not take a drive.
    fn refusal(&mut self, spec: &RunSpec, reason: &str) {
        let Some((_, asked)) = reason.split_once("; set ") else { return };
        let words = asked.split([' ', ',']).filter(|word| word.contains('='));
        let set: Vec<String> = words.map(|word| format!("--set {word}")).collect();
        if !set.is_empty()
            && self.said.insert(format!("{} on {}: {}", spec.scheme, spec.device, set.join(" ")))
        {
            self.follow(&followed(spec, &set.join(" ")), &set.join(" "), spec);
        }
    }

    /// Set the triggers that are out of reach to what the report proposes.
    fn limits(&mut self, spec: &RunSpec, report: &Report) {
        for limit in &report.out_of_reach {
            let Some(value) = &limit.within_reach else { continue };
            let set = format!("--set {}={value}", limit.setting);
            let Some(after) = self.follow(&followed(spec, &set), &set, spec) else { continue };
            if after.out_of_reach.iter().any(|after| after.region == limit.region) {
                self.wrong.push(format!("still out of reach: {} on {}, {set}", spec.scheme, spec.device));
            }
        }
    }
}

#[test]
fn hints_of_every_drive_and_scheme_can_be_followed() {
    let mut heard = Heard::default();
    for pair in pairs() {
        for (workload, initial) in LOADS {
            let mut spec = RunSpec { workload: workload.into(), initial: initial.into(), ..pair.clone() };
            let report = match done(&spec) {
                Ok(report) => report,
                Err(RunError::Refused(refusal)) => {
                    heard.refusal(&spec, &refusal.reason);
                    continue;
                }
                Err(e) => {
                    // An initial state that does not fit: the error has one that does.
                    let text = e.to_string();
                    let Some((_, hint)) = text.split_once("\n  hint: ") else {
                        heard.wrong.push(format!("no way out: {} on {}: {text}", spec.scheme, spec.device));
                        continue;
                    };
                    let next = followed(&spec, hint);
                    let Some(report) = heard.follow(&next, hint, &spec) else { continue };
                    spec = next;
                    report
                }
            };
            heard.limits(&spec, &report);
            heard.hints(&spec, &report);
        }
    }
    let told: String = heard.said.iter().map(|hint| format!("{hint}\n")).collect();
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("advice.txt"), &told).unwrap();
    assert!(heard.wrong.is_empty(), "{} are wrong:\n{}", heard.wrong.len(), heard.wrong.join("\n"));
    // Each kind of advice was provoked.
    for kind in [
        "starts with few free blocks.",
        "more before migration or GC starts",
        "were unmapped and took no flash time; --initial",
        "trimmed or never written",
        "is a rate that the drive sustains.",
        "are padding",
        "--set errors.model=raro",
        "--set gc.trigger=",
        "--set scheme.static_blocks=",
        ".one_shot=false --set medium.flash.",
        "--set mapping.sector=",
        "valid=",
    ] {
        assert!(told.contains(kind), "nothing said {kind:?}:\n{told}");
    }
}

/// The texts that a grammar stands for: with and without what is in brackets, and each alternative.
fn expanded(grammar: &str) -> Vec<String> {
    let Some(open) = grammar.find('[') else { return vec![grammar.to_string()] };
    let mut depth = 0;
    let closes = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        depth == 0 && c == ']'
    };
    let close = open + grammar[open..].find(closes).unwrap();
    let (before, inner, behind) = (&grammar[..open], &grammar[open + 1..close], &grammar[close + 1..]);
    let mut middles = vec![String::new()];
    for inner in expanded(inner) {
        let mut alternatives = inner.split('|');
        let first = alternatives.next().unwrap();
        // What stands before the first stands before the others.
        let lead = &first[..first.rfind([':', '=']).map_or(0, |at| at + 1)];
        middles.push(first.to_string());
        middles.extend(alternatives.map(|a| format!("{lead}{a}")));
    }
    let tails = expanded(behind);
    middles.iter().flat_map(|m| tails.iter().map(move |tail| format!("{before}{m}{tail}"))).collect()
}

#[test]
fn initial_states_that_an_error_allows_are_taken() {
    let spec = RunSpec {
        set: small("fair-tlc"),
        ..RunSpec::new("fair-tlc", "ips", "uniform:bs=16KiB,requests=200")
    };
    let text = done(&RunSpec { initial: "no-such".into(), ..spec.clone() }).unwrap_err().to_string();
    let allowed = text.split("allowed: ").nth(1).unwrap().trim_end_matches(", joined by +");
    let mut tried = 0;
    for grammar in allowed.split(", ") {
        for form in expanded(grammar) {
            let initial = [("SHARE", "60%"), ("MODE", "tlc"), ("CYCLES", "10"), ("TIME", "30d")]
                .iter()
                .fold(form, |text, (word, value)| text.replace(word, value));
            // A scheme without windows can begin steady.
            let scheme = if initial.starts_with("steady") { "conventional" } else { "ips" };
            let spec = RunSpec { initial: initial.clone(), scheme: scheme.into(), ..spec.clone() };
            let report = done(&spec).unwrap_or_else(|e| panic!("{initial}: {e}"));
            assert_eq!(report.host.failures(), 0, "{initial}");
            tried += 1;
        }
    }
    assert!(tried > 15, "{allowed}");
}
