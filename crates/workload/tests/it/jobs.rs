//! What the keys of job files mean: beside `fio`, which holds what is drawn against fio itself. The
//! expected requests and rules are those of fio 3.33.

use wordline_trace::{DriveShape, Overrides};
use wordline_units::{HostOp, HostRequest, LatencyHint, SimTime};
use wordline_workload::{JobScript, Turn, Workload};

const DRIVE: DriveShape = DriveShape { logical_bytes: 1 << 30, sector_bytes: 512, unit_bytes: 4096 };

fn workload(text: &str, options: &str) -> Result<Workload, String> {
    let named = Workload::in_memory("jobs.fio", text.as_bytes(), options, Overrides::default());
    named.map_err(|e| e.to_string())
}

fn requests(text: &str) -> Vec<HostRequest> {
    workload(text, "").unwrap().open(DRIVE, 1).unwrap().map(Result::unwrap).collect()
}

/// Addresses in KiB with the kind's first letter.
fn asked(text: &str) -> Vec<(char, u64)> {
    let letter = |op: HostOp| op.key().chars().next().unwrap();
    requests(text).iter().map(|r| (letter(r.op), r.lba.0 / 2)).collect()
}

/// The jobs against a drive on which each request takes so long, one beside the other: what was asked, and
/// when, until a time.
fn timed(text: &str, until: u64, takes: impl Fn(usize) -> u64) -> Vec<(u64, HostRequest)> {
    let mut script: JobScript = workload(text, "").unwrap().script(DRIVE, 1).unwrap().unwrap();
    let (mut now, mut all, mut open) = (0, vec![], Vec::<(u64, HostRequest)>::new());
    while now < until {
        open.sort_by_key(|o| o.0);
        let next = match script.next(SimTime(now)) {
            Turn::Issue(request) => {
                open.push((now + takes(open.len()), request));
                all.push((now, request));
                continue;
            }
            Turn::Until(at) => open.first().map_or(at.0, |o| o.0.min(at.0)),
            Turn::Completion => open[0].0,
            Turn::End => break,
        };
        now = next;
        while open.first().is_some_and(|o| o.0 <= now) {
            let (at, request) = open.remove(0);
            script.completed(&request, SimTime(at));
        }
    }
    all
}

#[test]
fn shares_of_sizes_come_to_what_fio_draws() {
    // 2 + 3 + 11 + 84 and 13 + 21 + 19 + 49, of which the largest gets the 47 that are left.
    let text = "[a]\nrw=randrw\nnorandommap\nsize=200m\nio_size=600m\nbssplit=4k/2:16k/3:64k/11:128k/84,4k/13:16k/21:64k/19:128k/49\n";
    let all = requests(text);
    let share = |op: HostOp, kib: u64| {
        let of = all.iter().filter(|r| r.op == op);
        of.clone().filter(|r| r.bytes() == kib << 10).count() as f64 * 100.0 / of.count() as f64
    };
    for (op, kib, percent) in [
        (HostOp::Read, 4, 2.0),
        (HostOp::Read, 128, 84.0),
        (HostOp::Write, 16, 21.0),
        (HostOp::Write, 128, 47.0),
    ] {
        assert!((share(op, kib) - percent).abs() < 2.5, "{op:?} {kib}: {}", share(op, kib));
    }
    // Shares below 100 give the rest to the largest; 0 is left out, and shares what the others leave.
    let sizes = |split: &str| {
        let all = requests(&format!("[a]\nrw=write\nsize=40m\nbssplit={split}\n"));
        all.iter().filter(|r| r.bytes() == 4096).count() as f64 * 100.0 / all.len() as f64
    };
    assert!((sizes("4k/30:8k/10") - 90.0).abs() < 2.0);
    assert!((sizes("4k/0:8k/40") - 60.0).abs() < 2.0);
    let e = workload("[a]\nbssplit=4k/60:8k/60:16k\n", "").unwrap_err();
    assert!(e.contains("exceed 100"), "{e}");
}

#[test]
fn sync_makes_every_write_wait_for_flash() {
    for (sync, fua) in [("1", true), ("sync", true), ("dsync", true), ("0", false), ("none", false)] {
        let all = requests(&format!("[a]\nrw=rw\nsync={sync}\nsize=64k\n"));
        assert!(all.iter().all(|r| r.attributes.is_fua() == (fua && r.op == HostOp::Write)), "{sync}");
    }
    let e = workload("[a]\nsync=2\n", "").unwrap_err();
    assert!(e.contains("dsync") && e.contains(":2: sync"), "{e}");
}

#[test]
fn placement_identifiers_are_streams() {
    let text = "[global]\nioengine=io_uring_cmd\ncmd_type=nvme\ndataplacement=fdp\nrw=write\nsize=16k\n\
                [hot]\nplids=1\n[cold]\nplids=2,4-5\n[none]\ndataplacement=none\nplids=3\n";
    let streams: Vec<_> = requests(text).iter().map(|r| (r.volume, r.attributes.stream())).collect();
    let of = |job| streams.iter().filter(|s| s.0 == job).map(|s| s.1).collect::<Vec<_>>();
    assert_eq!((of(0), of(1), of(2)), (vec![2; 4], vec![3, 5, 6, 3], vec![0; 4]));
    let said = workload(text, "").unwrap().remarks();
    assert!(said.iter().any(|r| r.contains("identifier N of fdp is stream N + 1")), "{said:?}");
    let picked = requests("[a]\nfdp=1\nfdp_pli=0,1\nplid_select=random\nrw=write\nsize=1m\n");
    let first = picked.iter().filter(|r| r.attributes.stream() == 1).count();
    assert!((64..192).contains(&first), "{first}");
    let bare = workload("[a]\ndataplacement=fdp\nrw=write\n", "").unwrap();
    assert!(bare.remarks().iter().any(|r| r.contains("without plids=")), "{:?}", bare.remarks());
    let e = workload("[a]\ndataplacement=fdp\nplids=40\n", "").unwrap_err();
    assert!(e.contains("40 is not a valid stream"), "{e}");
}

#[test]
fn sizes_that_are_no_sectors_take_whole_pages() {
    let text = "[a]\nrw=write\nbs=1000\nsize=9000\n";
    let spans: Vec<_> = requests(text).iter().map(|r| (r.lba.0 / 8, r.blocks / 8)).collect();
    // Bytes 4000 to 4999 and 8000 to 8999 lie in two pages each.
    assert_eq!(spans, [(0, 1), (0, 1), (0, 1), (0, 1), (0, 2), (1, 1), (1, 1), (1, 1), (1, 2)]);
    let remarks = workload(text, "").unwrap().remarks();
    assert!(remarks.iter().any(|r| r.contains("bs=1000") && r.contains("pages of 4 KiB")), "{remarks:?}");
    assert!(workload("[a]\nbs=1536\n", "").unwrap().remarks().is_empty());
}

#[test]
fn a_job_goes_backwards_in_strides_and_in_zones() {
    let text = "[a]\nrw=read:-8k\nsize=32k\n";
    assert_eq!(asked(text).iter().map(|r| r.1).collect::<Vec<_>>(), [0, 24, 20, 16, 12, 8, 4, 0]);
    let text = "[a]\nrw=read:-8k\nsize=32k\noffset=16k\n";
    assert_eq!(asked(text).iter().map(|r| r.1).collect::<Vec<_>>(), [24, 20, 16, 40, 36, 32, 28, 24]);
    let text = "[a]\nrw=read\nfilesize=64k\nzonemode=strided\nzonesize=8k\nzoneskip=12k\n";
    assert_eq!(asked(text).iter().map(|r| r.1).collect::<Vec<_>>(), [0, 4, 20, 24, 40, 44, 60]);
    // Without a file, the zones go on over the drive until size is moved.
    let text = text.replace("filesize=64k", "size=32k");
    assert_eq!(asked(&text).iter().map(|r| r.1).collect::<Vec<_>>(), [0, 4, 20, 24, 40, 44, 60, 64]);
    let text = "[a]\nrw=read\nsize=64k\nzonesize=16k\nzonerange=8k\nzoneskip=8k\n";
    let all: Vec<u64> = asked(text).iter().map(|r| r.1).collect();
    assert_eq!(all, [0, 4, 0, 4, 16, 20, 16, 20, 32, 36, 32, 36, 48, 52, 48, 52]);
}

#[test]
fn what_is_verified_is_read_back() {
    let sequential = asked("[a]\nrw=write\nverify=crc32c\nsize=8k\n");
    assert_eq!(sequential, [('w', 0), ('w', 4), ('r', 0), ('r', 4)]);
    let backlog = asked("[a]\nrw=write\nverify=crc32c\nverify_backlog=2\nsize=20k\n");
    let letters: String = backlog.iter().map(|r| r.0).collect();
    assert_eq!(letters, "wwrrwwrrwr");
    let random = asked("[a]\nrw=randwrite\nverify=md5\nsize=64k\n");
    assert!(random[..16].iter().zip(&random[16..]).all(|(w, r)| w.1 == r.1 && (w.0, r.0) == ('w', 'r')));
    assert_eq!(asked("[a]\nrw=write\nverify=md5\ndo_verify=0\nsize=8k\n").len(), 2);
    assert_eq!(asked("[a]\nrw=write\nverify=md5\nverify_only\nsize=8k\n"), [('r', 0), ('r', 4)]);
    assert_eq!(asked("[a]\nrw=read\nverify=md5\nsize=8k\n").len(), 2);
}

#[test]
fn a_verify_of_scsi_makes_the_drive_read() {
    let text = "[a]\nioengine=sg\nrw=write\nbs=512\nnumber_ios=3\nsg_write_mode=verify_bytchk_01\n";
    assert!(requests(text).iter().all(|r| r.op == HostOp::Read));
    assert!(workload(text, "").unwrap().remarks().iter().any(|r| r.contains("VERIFY")));
}

#[test]
fn requests_are_submitted_and_reaped_in_batches() {
    let text =
        "[a]\nrw=read\nioengine=libaio\niodepth=8\niodepth_batch=4\niodepth_batch_complete_min=4\nsize=64k\n";
    let times: Vec<u64> = timed(text, 1_000_000, |n| 100 + n as u64).iter().map(|r| r.0).collect();
    // Four at a time, and four must have ended before the next four.
    assert_eq!(times, [0, 0, 0, 0, 0, 0, 0, 0, 103, 103, 103, 103, 107, 107, 107, 107]);
    let text = "[a]\nrw=read\nioengine=libaio\niodepth=4\niodepth_low=1\nsize=32k\n";
    let times: Vec<u64> = timed(text, 1_000_000, |n| 100 + n as u64).iter().map(|r| r.0).collect();
    assert_eq!(times, [0, 0, 0, 0, 102, 102, 102, 204]);
}

#[test]
fn a_synchronous_engine_keeps_one_request_outstanding() {
    let text = "[a]\nrw=read\niodepth=16\nsize=16k\n";
    assert_eq!(timed(text, 1000, |_| 10).iter().map(|r| r.0).collect::<Vec<_>>(), [0, 10, 20, 30]);
    let remarks = workload(text, "").unwrap().remarks();
    assert!(remarks[0].contains("psync, the default engine, keeps one"), "{remarks:?}");
    let offload = timed(&format!("{text}io_submit_mode=offload\n"), 1000, |_| 10);
    assert!(offload.iter().all(|r| r.0 == 0));
}

#[test]
fn single_requests_have_their_own_class() {
    let text = "[a]\nrw=randread\nioengine=libaio\nprioclass=3\ncmdprio_percentage=20\nsize=20m\n";
    let all = requests(text);
    let short = all.iter().filter(|r| r.attributes.hint() == LatencyHint::Short).count();
    assert!((short as f64 / all.len() as f64 - 0.2).abs() < 0.03, "{short} of {}", all.len());
    assert!(all.iter().all(|r| r.attributes.hint() != LatencyHint::None));
    let text =
        "[a]\nrw=read\nbssplit=64k/40:1024k/60\ncmdprio_bssplit=64k/25/1/1:64k/75/3/2:1024k/0\nsize=400m\n";
    for r in requests(text) {
        let wanted =
            if r.blocks == 128 { [LatencyHint::Short, LatencyHint::Long] } else { [LatencyHint::None; 2] };
        assert!(wanted.contains(&r.attributes.hint()));
    }
}

#[test]
fn jobs_wait_for_others_and_end_with_them() {
    let text = "[global]\nsize=16k\n[a]\nrw=write\n[b]\nwait_for=a\nrw=read\n[c]\nrw=trim\n";
    let all = timed(text, 1_000_000, |_| 10);
    let first = |job| all.iter().find(|r| r.1.volume == job).unwrap().0;
    assert_eq!((first(0), first(1), first(2)), (0, 40, 0));
    let e = workload("[a]\nwait_for=b\n[b]\n", "").unwrap().open(DRIVE, 1).err().unwrap().to_string();
    assert!(e.contains("no job before [a]"), "{e}");
    // The short job takes the long one with it, and nobody of the next group.
    let text = "[global]\nexitall\n[short]\nsize=8k\n[long]\nsize=1m\n[next]\nstonewall\nsize=12k\n";
    let all = timed(text, 1_000_000, |_| 10);
    let count = |job| all.iter().filter(|r| r.1.volume == job).count();
    assert_eq!((count(0), count(1), count(2)), (2, 2, 3));
    let all = timed(&text.replace("exitall", "exitall\nexit_what=all"), 1_000_000, |_| 10);
    assert_eq!(all.iter().filter(|r| r.1.volume == 2).count(), 0);
}

#[test]
fn jobs_of_a_flow_share_by_their_weights() {
    let text = "[global]\nsize=4m\n[a]\nrw=write\nflow=1\n[b]\nrw=read\nflow=8\n";
    for text in [text.to_string(), text.replace("size=4m", "size=4m\nflow_sleep=50")] {
        let all = timed(&text, 2_000_000, |_| 1000);
        let count = |job| all.iter().take(360).filter(|r| r.1.volume == job).count() as f64;
        assert!((count(1) / count(0) - 8.0).abs() < 0.5, "{} to {}", count(1), count(0));
    }
}

#[test]
fn a_job_ends_by_what_it_measures() {
    const SECOND: u64 = 1_000_000_000;
    let end = |keys: &str, takes: fn(usize) -> u64| {
        let text =
            format!("[a]\nrw=read\nioengine=libaio\niodepth=32\nsize=1g\ntime_based\nruntime=60\n{keys}");
        timed(&text, 100 * SECOND, takes)
    };
    let slow = |_| SECOND / 40;
    let last = |keys: &str| end(keys, slow).last().unwrap().0 / SECOND;
    assert_eq!((last(""), last("ratemin=1m\n"), last("ratemin=100m\n")), (59, 59, 2));
    assert_eq!((last("max_latency=100000\n"), last("max_latency=10000\n")), (59, 0));
    assert_eq!(last("ss=iops:10%\nss_dur=5\nss_ramp=2\n"), 6);
    // A depth of 9 takes 10 ms.
    let by_depth: fn(usize) -> u64 = |n| 1_000_000 * (n as u64 + 1);
    let found = end("latency_target=10000\nlatency_window=500000\nlatency_percentile=90\n", by_depth);
    let at_the_end: Vec<u64> = found.iter().rev().take(20).map(|r| r.0).collect();
    assert!(found.last().unwrap().0 < 20 * SECOND && at_the_end[0] - at_the_end[19] < SECOND / 2);
}

#[test]
fn a_variable_of_the_environment_is_kept_in_the_text() {
    // Every process has one.
    let path = std::env::var("PATH").unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[a]\ndescription=${PATH}\nfilename=${WL_NOT_SET}\nsize=4k\n").unwrap();
    let name = file.path().display().to_string();
    let workload = Workload::parse(&name, Overrides::default()).unwrap();
    assert_eq!(workload.text(), format!("{name}:PATH={path}"));
    let given = Workload::parse(&format!("{name}:PATH=x"), Overrides::default()).unwrap();
    assert_eq!(given.text(), format!("{name}:PATH=x"));
}

#[test]
fn keys_that_a_drive_does_not_see_are_named() {
    let remarks =
        workload("[global]\ndirect=1\nthread\n[a]\nfilename=/dev/x\ndirect=1\n", "").unwrap().remarks();
    assert_eq!(remarks, ["ignored fio keys, which do not affect a drive: direct, thread, filename."]);
    let left = workload("[a]\ntrim_backlog=8\n", "ignore=trim_backlog").unwrap().remarks();
    assert!(left[0].contains("ignore= skipped trim_backlog"), "{left:?}");
    let e = workload("[a]\nsize=4k\n", "ignore=verfy").unwrap_err();
    assert!(e.contains("did you mean \"verify\"?"), "{e}");
}

/// What makes a job fit that does not, typed as the refusal says, makes it fit.
#[test]
fn a_hint_for_a_job_beyond_the_drive_makes_it_fit() {
    for text in [
        "[a]\nrw=write\nsize=3g\n",
        "[a]\nrw=write\nfilesize=8g\nsize=1m\n",
        "[a]\nrw=write:112k\nbs=16k\noffset=120k\noffset_increment=124g\nio_size=120g\nnumjobs=30\n",
        "[a]\nrw=write\noffset=1023m\nsize=2m\n",
    ] {
        let refused = workload(text, "").unwrap().open(DRIVE, 1).err().unwrap().to_string();
        let (_, hint) = refused.rsplit_once(": ").unwrap_or_else(|| panic!("{refused}"));
        let options = hint.split([';', ' ', '\n']).next().unwrap();
        let requests = workload(text, options).unwrap().open(DRIVE, 1);
        assert_eq!(requests.unwrap_or_else(|e| panic!("{options}: {e}")).take(8).count(), 8, "{options}");
    }
}
