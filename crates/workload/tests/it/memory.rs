//! What is in memory gives the same requests as the file of that content.

use wordline_trace::{DriveShape, Overrides, Pacing};
use wordline_units::HostRequest;
use wordline_workload::Workload;

const DRIVE: DriveShape = DriveShape { logical_bytes: 1 << 40, sector_bytes: 512, unit_bytes: 16_384 };

const MSR: &str = "128166372003061629,hm,0,Read,383496192,32768,113736
128166372016382155,hm,0,Write,2822144,4096,68310
128166372026382245,hm,0,Write,2826240,4096,58211
";

fn in_memory(name: &str, content: &str, options: &str) -> Workload {
    Workload::in_memory(name, content.as_bytes(), options, Overrides::default()).unwrap()
}

fn requests(workload: &Workload) -> Vec<HostRequest> {
    workload.open(DRIVE, 1).unwrap().map(Result::unwrap).collect()
}

#[test]
fn a_trace_in_memory_is_the_trace_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hm_0.csv");
    std::fs::write(&path, MSR).unwrap();
    let file = Workload::parse(&format!("{}:speedup=2", path.display()), Overrides::default()).unwrap();
    let held = in_memory("hm_0.csv", MSR, "speedup=2");
    assert_eq!(requests(&held), requests(&file));
    assert_eq!(requests(&held).len(), 3);
    assert_eq!(held.resolved()["sha256"], file.resolved()["sha256"]);
    assert_eq!(held.resolved()["text"], "hm_0.csv:speedup=2");
}

#[test]
fn jobs_and_twins_are_known_by_content_and_name() {
    let jobs = in_memory("a.fio", "[global]\nioengine=null\n[j]\nrw=write\nsize=64k\nbs=4k\n", "");
    assert_eq!(jobs.pacing(), Pacing::Jobs);
    assert_eq!(jobs.open(DRIVE, 1).unwrap().count(), 16);
    let text = wordline_workload::twin::twin_named("hm_0").and_then(|t| t.text()).unwrap();
    let twin = in_memory("hm_0.toml", text, "scale=64,requests=20");
    let named = Workload::parse("twin:hm_0:scale=64,requests=20", Overrides::default()).unwrap();
    assert_eq!(requests(&twin), requests(&named));
}
