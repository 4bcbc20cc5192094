//! A drive saved after a run and taken up by the next, in words, reports and errors.

use std::ops::ControlFlow;
use std::path::Path;
use wordline_ftl::Label;
use wordline_report::Report;
use wordline_run::{
    Blame, Files, Recording, RunError, RunSpec, Setup, Snapshot, compare, rerun, run, run_recorded,
};
use wordline_sim::{Device, NoProbe};
use wordline_units::{HostOp, HostRequest, SimTime};

fn asked(scheme: &str, workload: &str) -> RunSpec {
    RunSpec { check: true, ..RunSpec::new("demo-8gb", scheme, workload) }
}

const AGEING: &str = "uniform:read=0%,qd=32,requests=60k";
const AFTER: &str = "zipf:qd=8,requests=5k";

fn try_run(spec: &RunSpec) -> Result<Report, RunError> {
    run(spec, &mut |_| ControlFlow::Continue(()))
}

fn aged(folder: &Path, scheme: &str) -> (Report, String) {
    let file = folder.join("aged.state").to_str().unwrap().to_string();
    let spec =
        RunSpec { initial: "fill:90%".into(), save_state: Some(file.clone()), ..asked(scheme, AGEING) };
    (try_run(&spec).unwrap(), file)
}

fn from(file: &str, scheme: &str) -> RunSpec {
    RunSpec { from_state: Some(file.into()), ..asked(scheme, AFTER) }
}

#[test]
fn run_from_a_state_starts_at_zero_and_is_reproducible() {
    let folder = tempfile::tempdir().unwrap();
    let (before, file) = aged(folder.path(), "slc-cache");
    let first = try_run(&from(&file, "slc-cache")).unwrap();
    assert_eq!(first.host.requests, 5000);
    assert!(first.wear["slc"].mean >= before.wear["slc"].mean, "wear is kept");
    let logical = |r: &Report| r.capacity.live_bytes as f64 / r.capacity.logical_bytes as f64;
    assert!(logical(&before) > 0.9 && logical(&first) >= logical(&before), "what is written is kept");
    let fresh = try_run(&asked("slc-cache", AFTER)).unwrap();
    assert_ne!(first.result_hash, fresh.result_hash);
    assert!(first.flash.erases.values().sum::<u64>() > fresh.flash.erases.values().sum::<u64>());

    let state = &first.config["initial"]["state"];
    assert_eq!((state["file"].as_str(), state["seed"].as_u64()), (Some(file.as_str()), Some(1)));
    let again = rerun(&first, None, 1, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(again.is_same() && again.report.config == first.config);

    let (_, other) = {
        let spec = RunSpec {
            seed: 2,
            save_state: Some(file.clone()),
            initial: "fill:90%".into(),
            ..asked("slc-cache", AGEING)
        };
        (try_run(&spec).unwrap(), file.clone())
    };
    let e = rerun(&first, None, 1, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(e.contains(&other) && e.contains("not the state file of the report: checksum"), "{e}");
    std::fs::remove_file(&file).unwrap();
    let e = rerun(&first, None, 1, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(e.contains(&file) && e.contains("cannot be read"), "{e}");
}

#[test]
fn state_is_one_exact_file_and_may_replace_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let (_, file) = aged(folder.path(), "conventional");
    let bytes = std::fs::read(&file).unwrap();
    aged(folder.path(), "conventional");
    assert!(std::fs::read(&file).unwrap() == bytes);
    let spec = RunSpec { save_state: Some(file.clone()), ..from(&file, "conventional") };
    let first = try_run(&spec).unwrap();
    assert!(std::fs::read(&file).unwrap() != bytes);
    let second = try_run(&spec).unwrap();
    assert_ne!(first.config["initial"]["state"], second.config["initial"]["state"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn unsuitable_state_is_refused_with_what_would_suit() {
    let folder = tempfile::tempdir().unwrap();
    let (_, file) = aged(folder.path(), "slc-cache");
    let junk = folder.path().join("junk").to_str().unwrap().to_string();
    std::fs::write(&junk, "lba,size\n".repeat(100)).unwrap();
    let part = folder.path().join("part").to_str().unwrap().to_string();
    let mut bytes = std::fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&part, bytes).unwrap();
    let here = folder.path().to_str().unwrap().to_string();
    let good = from(&file, "slc-cache");
    let cases: Vec<(RunSpec, Vec<&str>)> = vec![
        (RunSpec { scheme: "conventional".into(), ..good.clone() }, vec!["scheme slc-cache", "conventional"]),
        (
            RunSpec { set: vec![("scheme.when_full".into(), "wait".into())], ..good.clone() },
            vec!["scheme slc-cache,", "slc-cache:when_full=wait"],
        ),
        (
            RunSpec { device: "consumer-qlc".into(), ..good.clone() },
            vec!["device demo-8gb", "not consumer-qlc", "device.name"],
        ),
        (
            RunSpec { set: vec![("gc.victim".into(), "fifo".into())], ..good.clone() },
            vec!["gc.victim is \"greedy\" in the state file, but \"fifo\" in this run"],
        ),
        (RunSpec { initial: "fresh".into(), ..good.clone() }, vec!["--initial fresh", "use one of the two"]),
        (RunSpec { from_state: Some(junk.clone()), ..good.clone() }, vec!["not a state file"]),
        (RunSpec { from_state: Some(part.clone()), ..good.clone() }, vec!["damaged", "its body"]),
        (RunSpec { from_state: Some(here.clone()), ..good.clone() }, vec!["from-state"]),
        (RunSpec { from_state: Some("nowhere".into()), ..good.clone() }, vec!["cannot be read"]),
        (
            RunSpec { save_state: Some("no/such/folder/x".into()), ..good.clone() },
            vec!["--save-state no/such/folder/x", "cannot be written"],
        ),
        (RunSpec { save_state: Some(here.clone()), ..good.clone() }, vec!["not a file"]),
    ];
    for (spec, says) in cases {
        let e = try_run(&spec).unwrap_err();
        assert_eq!(e.blame(), Blame::User, "{e}");
        let text = e.to_string();
        for word in says {
            assert!(text.contains(word), "{word:?} is not in: {text}");
        }
    }
    let setup = Setup::resolve(&RunSpec { save_state: Some(junk), ..good.clone() }).unwrap();
    let schemes = ["slc-cache", "slc-cache"].map(str::to_string);
    let e = compare(&setup, &schemes, 1, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(e.contains("schemes would write one state each; run a single scheme"), "{e}");
    let e = try_run(&RunSpec { save_state: Some("x".into()), replicas: 2, ..good.clone() }).unwrap_err();
    assert!(e.to_string().contains("--save-state x: 2 replicas") && e.blame() == Blame::User, "{e}");
    let setup = Setup::resolve(&good).unwrap();
    let both = compare(&setup, &schemes, 2, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(both.reports[0].result_hash, both.reports[1].result_hash, "forks of one state do not meet");
}

#[test]
fn replicas_share_the_state_and_one_equals_its_seed() {
    let folder = tempfile::tempdir().unwrap();
    let (_, file) = aged(folder.path(), "slc-cache");
    let spec = RunSpec { replicas: 3, ..from(&file, "slc-cache") };
    let all = try_run(&spec).unwrap();
    for run in &all.replicas.as_ref().unwrap().runs {
        let alone = try_run(&RunSpec { replicas: 1, seed: run.seed, ..spec.clone() }).unwrap();
        assert_eq!(run.result_hash, alone.result_hash);
    }
    assert!(rerun(&all, None, 2, &mut |_| ControlFlow::Continue(())).unwrap().is_same());
}

#[test]
fn recorded_run_starts_from_a_state_and_saves_unwatched() {
    let folder = tempfile::tempdir().unwrap();
    let (_, file) = aged(folder.path(), "slc-cache");
    let [plain, watched] = ["plain", "watched"].map(|name| folder.path().join(name));
    let spec =
        |to: &Path| RunSpec { save_state: Some(to.to_str().unwrap().into()), ..from(&file, "slc-cache") };
    let unwatched = try_run(&spec(&plain)).unwrap();
    let (log, ends) = (folder.path().join("log.csv"), folder.path().join("ends.csv"));
    let setup = Setup::resolve(&spec(&watched)).unwrap();
    let files = Files { log: Some(log.clone()), completions: Some(ends.clone()), ..Files::default() };
    let recording = Recording::open(&files).unwrap();
    let seen = run_recorded(&setup, "slc-cache", recording, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(seen.result_hash, unwatched.result_hash);
    assert!(std::fs::read(&plain).unwrap() == std::fs::read(&watched).unwrap());
    assert_eq!(std::fs::read_to_string(&ends).unwrap().lines().count(), 2 + 5000);
    assert!(std::fs::read_to_string(&log).unwrap().contains("\"programmed\":[["));
}

#[test]
fn forks_of_a_snapshot_in_flight_run_independently() {
    let device = wordline_run::device("demo-8gb", &[]).unwrap();
    let geometry = device.geometry().unwrap();
    let scheme = wordline_schemes::build("slc-cache").unwrap();
    let mut drive: Device<NoProbe> = Device::new(&device, &geometry, scheme, NoProbe).unwrap();
    let write = |n: u64| HostRequest::new(HostOp::Write, n * 7919 % 100_000 * 8, 32).at(SimTime(n * 3000));
    let serve = |drive: &mut Device<NoProbe>, numbers: std::ops::Range<u64>| {
        for n in numbers {
            drive.submit(write(n), SimTime(n * 3000)).unwrap();
            while drive.poll().is_some() {}
        }
    };
    let hash = |drive: &mut Device<NoProbe>| {
        drive.drain().unwrap();
        drive.metrics().result_hash(&drive.ftl().counters().integers())
    };
    serve(&mut drive, 0..4000);
    assert!(drive.outstanding() > 0);
    let label = Label { device: &device, scheme: "slc-cache" };
    let snapshot = Snapshot::of(&drive, &geometry, label, 1).unwrap();
    let (mut one, mut two, mut idle) =
        (snapshot.fork().unwrap(), snapshot.fork().unwrap(), snapshot.fork().unwrap());
    for numbers in [4000..4700, 4700..6000] {
        serve(&mut one, numbers.clone());
        serve(&mut two, numbers.clone());
        serve(&mut drive, numbers);
    }
    let through = hash(&mut drive);
    assert_eq!(hash(&mut one), through);
    drop(snapshot);
    assert_eq!(hash(&mut two), through, "a fork outlives its snapshot");
    assert_ne!(hash(&mut idle), through);
}
