//! A trace that is replayed several times, one pass behind the other.

use crate::support;
use wordline_trace::{DriveShape, Overrides};
use wordline_units::{HostOp, HostRequest};
use wordline_workload::Workload;

const DRIVE: DriveShape = DriveShape { logical_bytes: 1 << 30, sector_bytes: 4096, unit_bytes: 4096 };

/// Four requests over 3 ms, the second a read; times in us, addresses and sizes in bytes.
fn trace() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("four.csv");
    let rows = "us,op,at,size\n100,W,0,4096\n1100,R,8192,4096\n2100,W,4096,8192\n3100,W,0,4096\n";
    std::fs::write(&path, rows).unwrap();
    let spelling = format!("{}:format=csv,time=us:us,op=op,offset=at,size=size", path.display());
    (folder, spelling)
}

fn requests(text: &str) -> Vec<HostRequest> {
    support::requests(text, DRIVE, 1)
}

#[test]
fn each_pass_repeats_requests_a_mean_gap_later() {
    let (_folder, text) = trace();
    let once = requests(&text);
    assert_eq!(requests(&format!("{text},loops=1")), once);
    let thrice = requests(&format!("{text},loops=3"));
    assert_eq!(thrice.len(), 12);
    for (n, r) in thrice.iter().enumerate() {
        let expected = &once[n % 4];
        // Three gaps of 1 ms, and a fourth to the next pass.
        assert_eq!(r.arrival.0, expected.arrival.0 + (n as u64 / 4) * 4_000_000);
        assert_eq!((r.lba, r.blocks, r.op), (expected.lba, expected.blocks, expected.op));
    }
    let halved = requests(&format!("{text},loops=2,speedup=2"));
    assert_eq!(halved[4].arrival.0, 2_000_000);
    assert!(requests(&format!("{text},loops=2,closed=4")).iter().all(|r| r.arrival.0 == 0));
}

#[test]
fn trace_limits_end_each_pass_and_bytes_end_all() {
    let (_folder, text) = trace();
    let ops = |options: &str| -> Vec<HostOp> {
        requests(&format!("{text},{options}")).iter().map(|r| r.op).collect()
    };
    assert_eq!(ops("loops=2,requests=2"), [HostOp::Write, HostOp::Read, HostOp::Write, HostOp::Read]);
    assert_eq!(ops("loops=2,duration=1ms"), [HostOp::Write, HostOp::Write]);
    assert_eq!(ops("loops=1000,bytes=20KiB").len(), 5);
    let workload = support::parse(&format!("{text},loops=3,requests=2"));
    assert_eq!((workload.limit(DRIVE).requests, workload.resolved()["loops"].as_u64()), (Some(6), Some(3)));
    assert!(support::parse(&text).resolved().get("loops").is_none());
    let error = Workload::parse(&format!("{text},loops=0"), Overrides::default()).unwrap_err().to_string();
    assert!(error.contains("1 to 1000000"), "{error}");
}
