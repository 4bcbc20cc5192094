//! Clients that others wrote, where they are installed; `.ci/run` installs them from Debian's packages (fio, libnbd-bin,
//! qemu-utils).

use crate::support::{Served, spec};
use std::process::{Command, Output};
use wordline_live::ServeSpec;

pub fn there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        println!("{program} is not installed: not tried");
    }
    found
}

pub fn run(program: &str, args: &[&str], folder: &std::path::Path) -> Output {
    let done = Command::new(program).args(args).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{program} {args:?}: {done:?}");
    done
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn fio_verifies_what_it_wrote_and_trims() {
    if !there("fio") {
        return;
    }
    let served = Served::new(spec("slc-cache", "0.01"));
    let uri = format!("--uri={}", served.uri());
    let all = ["--ioengine=nbd", &uri, "--bs=4k", "--size=8m", "--iodepth=16", "--output-format=terse"];
    let of = |more: &[&str]| {
        run("fio", &[&all[..], more].concat(), served.folder.path());
    };
    of(&["--name=w", "--rw=randrw", "--verify=crc32c", "--numjobs=2", "--offset_increment=8m"]);
    of(&[
        "--name=odd",
        "--rw=randwrite",
        "--bsrange=512-12k",
        "--bs_unaligned=1",
        "--verify=md5",
        "--fsync=8",
    ]);
    of(&["--name=t", "--rw=trim", "--offset=16m"]);
    let stats = served.ctl("stats");
    for verb in ["read", "write", "flush", "trim"] {
        assert!(stats["served"][verb]["requests"].as_u64() > Some(0), "{verb} in {stats}");
    }
    assert!(served.log().is_empty(), "{:?}", served.log());
}

#[test]
fn nbdcopy_returns_its_data_and_nbdinfo_sees_holes() {
    if !there("nbdcopy") || !there("nbdinfo") {
        return;
    }
    let served = Served::new(spec("conventional", "0"));
    let (uri, folder) = (served.uri(), served.folder.path());
    let mut image: Vec<u8> = (0..3_000_001u64).map(|i| ((i * i) >> 7) as u8).collect();
    image[1 << 20..2 << 20].fill(0);
    std::fs::write(folder.join("in"), &image).unwrap();
    run("nbdcopy", &["in", &uri], folder);
    run("nbdcopy", &[&uri, "out"], folder);
    let out = std::fs::read(folder.join("out")).unwrap();
    assert!(out[..image.len()] == image[..] && out[image.len()..].iter().all(|b| *b == 0));
    let map = text(&run("nbdinfo", &["--map", &uri], folder).stdout);
    let lines: Vec<Vec<&str>> = map.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["1048576", "1048576", "3", "hole,zero"], "{map}");
    let info = text(&run("nbdinfo", &[&uri], folder).stdout);
    for line in ["can_multi_conn: true", "can_fua: true", "can_trim: true", "using structured packets"] {
        assert!(info.contains(line), "{line} is not in {info}");
    }
}

#[test]
fn read_only_drive_says_so_and_its_fork_is_writable() {
    if !there("nbdinfo") || !there("qemu-io") {
        return;
    }
    let served = Served::new(ServeSpec { read_only: true, ..spec("conventional", "0") });
    let folder = served.folder.path();
    let info = text(&run("nbdinfo", &[&served.uri()], folder).stdout);
    for line in ["is_read_only: true", "can_trim: false", "can_zero: false", "can_flush: true"] {
        assert!(info.contains(line), "{line} is not in {info}");
    }
    let fork = served.ctl(&format!("fork nbd=unix:{}", folder.join("fork.sock").display()));
    let orders = ["-c", "write -P 7 0 64k", "-c", "read -P 7 0 64k"];
    run("qemu-io", &[&["-f", "raw", fork["fork"].as_str().unwrap()], &orders[..]].concat(), folder);
    let orders = ["-r", "-c", "read -P 0 0 64k"];
    run("qemu-io", &[&["-f", "raw", &served.uri()], &orders[..]].concat(), folder);
    assert!(served.ctl("stats")["served"].get("write").is_none());
}

#[test]
fn qemu_writes_reads_and_compares() {
    if !there("qemu-img") || !there("qemu-io") {
        return;
    }
    let served = Served::new(spec("sector", "0"));
    let (uri, folder) = (served.uri(), served.folder.path());
    let orders = [
        "write -P 7 1000 3000",
        "read -P 7 1000 3000",
        "write -z 500 100000",
        "read -P 0 500 100000",
        "write -f -P 9 0 64k",
        "discard 0 1M",
        "flush",
        "read -P 0 0 64k",
    ];
    let orders: Vec<&str> = orders.iter().flat_map(|o| ["-c", o]).collect();
    run("qemu-io", &[&["-f", "raw", &uri], &orders[..]].concat(), folder);
    std::fs::write(folder.join("in"), vec![5; 1 << 20]).unwrap();
    run("qemu-img", &["convert", "-n", "-f", "raw", "-O", "raw", "in", &uri], folder);
    let same = run("qemu-img", &["compare", "-f", "raw", "-F", "raw", "in", &uri], folder);
    assert!(text(&same.stdout).contains("Images are identical"), "{same:?}");
}
