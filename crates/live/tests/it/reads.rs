//! What a client reads is what was written, however it was written.

use crate::client::{Client, DISCONNECT, FLUSH, READ, STATUS, TRIM, WRITE, ZEROES};
use crate::support::{Rng, Served, spec};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use wordline_live::ServeSpec;
use wordline_run::RunSpec;

/// A part of the drive that is written over and over.
const AREA: u64 = 1 << 20;

/// Random commands, several under way where they do not touch, against a plain array.
fn against_an_array(scheme: &str, structured: bool, seed: u64) {
    let served = Served::new(spec(scheme, "0"));
    let mut client = Client::new(&served.socket(), structured);
    let mut rng = Rng(seed);
    let mut array = vec![0u8; AREA as usize];
    for step in 0..1500u32 {
        // Up to four commands that do not touch each other's sectors, at once.
        let mut expected: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        let part = AREA / 4;
        let several = 1 + rng.below(4);
        for i in 0..several {
            let length = match rng.below(4) {
                0 => 1 + rng.below(600),
                1 => 4096 * (1 + rng.below(8)),
                _ => 1 + rng.below(40_000),
            };
            let offset = i * part + rng.below(part - length);
            let offset = if rng.below(3) == 0 { offset / 4096 * 4096 } else { offset };
            let range = offset as usize..(offset + length) as usize;
            match rng.below(8) {
                0..=2 => {
                    let data = vec![step as u8 | 1; length as usize];
                    let fua = rng.below(4) == 0;
                    client.send(WRITE, u16::from(fua), offset, length as u32, &data);
                    array[range].copy_from_slice(&data);
                }
                3 => {
                    let no_hole = 2 * rng.below(2) as u16;
                    client.send(ZEROES, no_hole, offset, length as u32, &[]);
                    array[range].fill(0);
                }
                4 => {
                    client.send(FLUSH, 0, 0, 0, &[]);
                }
                _ => {
                    let cookie = client.send(READ, 0, offset, length as u32, &[]);
                    expected.insert(cookie, array[range].to_vec());
                }
            }
        }
        for _ in 0..several {
            let reply = client.reply(|cookie| expected.get(&cookie).map_or(0, Vec::len)).unwrap();
            assert_eq!(reply.error, 0);
            if let Some(data) = expected.get(&reply.cookie) {
                assert!(reply.data == *data, "step {step} of {scheme}, seed {seed}: other bytes");
            }
        }
    }
    assert!(client.read(0, AREA as u32) == array, "{scheme}: the whole area");
    drop(client);
    let given = served.stop();
    assert!(given.to_json()["result_hash"].is_string(), "{given:?}");
}

#[test]
fn random_commands_read_as_a_plain_array_does() {
    against_an_array("conventional", true, 1);
    against_an_array("slc-cache", false, 2);
    against_an_array("sector", true, 3);
}

#[test]
fn a_trim_leaves_every_byte_beside_it() {
    for scheme in ["conventional", "slc-cache", "sector"] {
        let served = Served::new(spec(scheme, "0"));
        let mut client = Client::new(&served.socket(), true);
        let mut rng = Rng(5);
        let mut zeroes = 0;
        for _ in 0..100 {
            client.write(0, &[7; 1 << 17]);
            // Often an edge just beside that of a page.
            let near = |at: u64, by: u64| (at + by).saturating_sub(2).clamp(1, (1 << 17) - 1);
            let edges = [0; 2].map(|_| near(rng.below(8) << 14, rng.below(5)));
            let odd = [rng.below(1 << 17), rng.below(1 << 17)];
            let [a, b] = if rng.below(2) == 0 { edges } else { odd };
            let (from, to) = (a.min(b), a.max(b) + 1);
            assert_eq!(client.ask(TRIM, 0, from, (to - from) as u32, &[]).0, 0);
            let found = client.read(0, 1 << 17);
            let (before, rest) = found.split_at(from as usize);
            let (inside, after) = rest.split_at((to - from) as usize);
            assert!(before.iter().chain(after).all(|b| *b == 7), "{scheme}: beside a trim of {from} to {to}");
            assert!(inside.iter().all(|b| [0, 7].contains(b)), "{scheme}: in a trim of {from} to {to}");
            zeroes += inside.iter().filter(|b| **b == 0).count();
        }
        assert!(zeroes > 1 << 20, "{scheme}: it trims nothing");
    }
}

#[test]
fn leaving_client_still_gets_earlier_replies() {
    let served = Served::new(spec("conventional", "1000"));
    let mut client = Client::new(&served.socket(), true);
    let mut asked: Vec<u64> =
        (0..4).map(|i| client.send(WRITE, 0, i << 14, 1 << 14, &[1; 1 << 14])).collect();
    client.send(DISCONNECT, 0, 0, 0, &[]);
    while let Some(reply) = client.reply(|_| 0) {
        assert_eq!(reply.error, 0);
        asked.retain(|cookie| *cookie != reply.cookie);
    }
    assert!(asked.is_empty(), "not answered: {asked:?}");
}

#[test]
fn parts_of_one_sector_written_at_once_are_all_there() {
    let served = Served::new(spec("conventional", "0"));
    let mut client = Client::new(&served.socket(), true);
    client.write(0, &[9; 8192]);
    // Sixteen parts of two sectors, and zeroes across them, in one breath: each completes a sector.
    for i in 0..16u64 {
        client.send(WRITE, 0, 10 + i * 500, 500, &[i as u8 + 1; 500]);
    }
    for _ in 0..16 {
        assert_eq!(client.reply(|_| 0).unwrap().error, 0);
    }
    let found = client.read(0, 8192);
    assert_eq!((&found[..10], &found[8010..]), (&[9; 10][..], &[9; 182][..]));
    for (i, part) in found[10..8010].chunks(500).enumerate() {
        assert!(part.iter().all(|b| *b == i as u8 + 1), "part {i}");
    }
}

#[test]
fn connections_share_writes_and_flushes() {
    let served = Served::new(spec("conventional", "0"));
    let (mut one, mut other) = (Client::new(&served.socket(), true), Client::old(&served.socket()));
    assert_eq!(one.size, other.size);
    one.write(5000, b"hello");
    assert_eq!(other.read(4999, 7), b"\0hello\0");
    other.flush();
    other.write(0, b"x");
    assert_eq!(one.read(0, 1), b"x");
}

#[test]
fn empty_read_overtakes_a_write_and_both_complete() {
    // Five thousand times slower than the model: a program takes half a second and more.
    let served = Served::new(spec("conventional", "5000"));
    let mut client = Client::new(&served.socket(), true);
    let write = client.send(WRITE, 0, 0, 16_384, &[1; 16_384]);
    let read = client.send(READ, 0, 1 << 20, 4096, &[]);
    let mut next = || client.reply(|cookie| if cookie == read { 4096 } else { 0 }).unwrap().cookie;
    let order = [next(), next()];
    assert_eq!(order, [read, write]);
    let stats = served.ctl("stats");
    let modelled = stats["served"]["write"]["latency"]["p50"]["modelled_us"].as_f64().unwrap();
    let delivered = stats["served"]["write"]["latency"]["p50"]["delivered_us"].as_f64().unwrap();
    assert!(delivered >= modelled * 0.999 && modelled > 500_000.0, "{modelled} us, delivered in {delivered}");
    // What was modelled then is told as it was then.
    served.ctl("set time-scale=1");
    assert_eq!(served.ctl("stats")["served"]["write"], stats["served"]["write"]);
}

#[test]
fn requests_in_flight_end_when_time_scale_is_zero() {
    let served = Served::new(spec("conventional", "1000000"));
    let mut client = Client::new(&served.socket(), true);
    client.stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    client.send(WRITE, 0, 0, 4096, &[3; 4096]);
    while served.ctl("stats")["drive"]["commands_under_way"] != 1 {
        std::thread::yield_now();
    }
    // Whoever asked last paces: that connection now, most likely.
    client.send(WRITE, 0, 4096, 4096, &[4; 4096]);
    std::thread::sleep(Duration::from_millis(20));
    served.ctl("set time-scale=0");
    for _ in 0..2 {
        assert_eq!(client.reply(|_| 0).unwrap().error, 0);
    }
}

/// What a block status tells: lengths and states.
fn extents(client: &mut Client, flags: u16, offset: u64, length: u32) -> Vec<(u32, u32)> {
    let (error, data) = client.ask(STATUS, flags, offset, length, &[]);
    assert_eq!(error, 0);
    let number = |c: &[u8]| u32::from_be_bytes(c.try_into().unwrap());
    data.chunks(8).map(|c| (number(&c[..4]), number(&c[4..]))).collect()
}

#[test]
fn block_status_tells_what_holds_data() {
    let served = Served::new(spec("conventional", "0"));
    let mut client = Client::new(&served.socket(), true);
    client.write(16_384, &[1; 16_384]);
    assert_eq!(extents(&mut client, 0, 0, 65_536), [(16_384, 3), (16_384, 0), (32_768, 3)]);
    assert_eq!(extents(&mut client, 8, 100, 65_536), [(16_284, 3)]);
    assert_eq!(client.ask(TRIM, 0, 16_384, 16_384, &[]).0, 0);
    assert_eq!(extents(&mut client, 0, 0, 65_536), [(65_536, 3)]);
    assert_eq!(client.read(16_384, 4), [0; 4]);
}

#[test]
fn block_status_fits_its_reply_and_continues_from_there() {
    let served = Served::new(spec("sector", "0"));
    let mut client = Client::new(&served.socket(), true);
    for at in (0..40 << 20).step_by(8192) {
        client.write(at, &[1; 4096]);
    }
    let (mut at, mut told) = (0, vec![]);
    while at < 40 << 20 {
        let some = extents(&mut client, 0, at, (40 << 20) - at as u32);
        assert!(!some.is_empty() && some.len() <= 4096, "{}", some.len());
        at += some.iter().map(|(length, _)| u64::from(*length)).sum::<u64>();
        told.extend(some);
    }
    assert_eq!((at, told.len()), (40 << 20, 10_240));
    assert!(told.chunks(2).all(|pair| pair == [(4096, 0), (4096, 3)]));
}

/// Copies by block status would have lost them.
#[test]
fn block_status_shows_data_of_a_trim_that_a_cut_undid() {
    let served = Served::new(spec("conventional", "0"));
    let mut client = Client::new(&served.socket(), true);
    let all = 16 << 20;
    (0..16).for_each(|at| client.write(at << 20, &[7; 1 << 20]));
    client.flush();
    assert_eq!(client.ask(TRIM, 0, 0, all, &[]).0, 0);
    assert_eq!(extents(&mut client, 0, 0, all), [(all, 3)]);
    served.ctl("cut");
    let mut client = Client::new(&served.socket(), true);
    assert_eq!(client.read(0, all), vec![7; all as usize], "no FLUSH has covered the trim");
    assert_eq!(extents(&mut client, 0, 0, all), [(all, 0)]);
}

/// Bytes of data on a drive of 8 GiB, which takes few requests.
fn mapped(socket: &Path) -> u64 {
    let mut client = Client::new(socket, true);
    let (mut at, mut bytes, mut requests) = (0, 0, 0);
    while at < 8 << 30 {
        let most = ((8 << 30) - at).min(4 << 30) - 4096;
        for (length, state) in extents(&mut client, 0, at, most.max(4096) as u32) {
            at += u64::from(length);
            bytes += if state == 0 { u64::from(length) } else { 0 };
        }
        requests += 1;
    }
    assert!(requests <= 8, "{requests}");
    bytes
}

fn large(scheme: &str, initial: &str) -> ServeSpec {
    let run = RunSpec { initial: initial.into(), ..RunSpec::new("demo-8gb", scheme, "uniform:requests=1") };
    ServeSpec { run, ..spec(scheme, "0") }
}

#[test]
fn map_of_a_large_drive_in_a_folder_takes_few_requests() {
    let folder = tempfile::tempdir().unwrap();
    for written in [0, 16_384] {
        let data = Some(folder.path().to_path_buf());
        let served = Served::new(ServeSpec { data, ..large("slc-cache", "fresh") });
        assert_eq!(mapped(&served.socket()), written);
        Client::new(&served.socket(), true).write(5 << 30, &[1; 16_384]);
        served.stop();
    }
}

/// A map of sectors, a cache that loses some, a full drive, and forks of all.
#[test]
fn map_takes_few_requests_after_a_cut_and_in_forks() {
    for (scheme, initial, write_cache, full) in [
        ("sector", "fresh", 0, 0),
        ("slc-cache", "fresh", 1 << 20, 0),
        ("conventional", "fill:50%", 0, 4u64 << 30),
    ] {
        let served = Served::new(ServeSpec { write_cache, ..large(scheme, initial) });
        let holds = |socket: &Path| mapped(socket) - full;
        assert_eq!(holds(&served.socket()), 0, "{scheme}");
        let mut client = Client::new(&served.socket(), true);
        client.write(5 << 30, &[1; 8192]);
        client.flush();
        client.write(6 << 30, &[2; 65_536]);
        for cut in ["", "cut seed=3"] {
            if !cut.is_empty() {
                served.ctl(cut);
            }
            let now = holds(&served.socket());
            assert!((8192..=8192 + 8192 + 65_536).contains(&now), "{scheme} {cut}: {now}");
            let fork = served.folder.path().join(format!("fork{}.sock", cut.len()));
            served.ctl(&format!("fork nbd=unix:{}", fork.display()));
            assert_eq!(holds(&fork), now, "{scheme} {cut}");
        }
        // A part of what is full is no longer so.
        if full > 0 {
            let mut client = Client::new(&served.socket(), true);
            assert_eq!(client.ask(TRIM, 0, 1 << 30, 1 << 20, &[]).0, 0);
            assert_eq!(extents(&mut client, 0, 1 << 30, 2 << 20), [(1 << 20, 3), (1 << 20, 0)]);
        }
    }
}

#[test]
fn injected_read_errors_hit_the_intended_reads() {
    let served = Served::new(spec("conventional", "0"));
    for structured in [true, false] {
        let mut client = Client::new(&served.socket(), structured);
        client.write(0, &[1; 8192]);
        served.ctl("inject read-error offset=4KiB length=4KiB count=1");
        assert_eq!(client.read(0, 4096), [1; 4096]);
        assert_eq!(client.ask(READ, 0, 4000, 200, &[]).0, 5, "EIO");
        assert_eq!(client.read(4096, 4096), [1; 4096]);
    }
    assert_eq!(served.ctl("stats")["drive"]["faults"]["failed_reads"], 2);
}

#[test]
fn slow_die_recovers_and_retired_block_is_lost() {
    let served = Served::new(spec("conventional", "0"));
    let mut client = Client::new(&served.socket(), true);
    client.write(0, &[7; 1 << 20]);
    client.flush();
    let time = |client: &mut Client| {
        let now = || served.ctl("stats")["drive"]["time_ns"].as_u64().unwrap();
        let before = now();
        client.read(0, 1 << 20);
        now() - before
    };
    let usual = time(&mut client);
    assert_eq!(served.ctl("inject slow-die die=0 factor=40")["die"], 0);
    let slow = time(&mut client);
    assert!(slow > 10 * usual, "{slow} ns in place of {usual}");
    served.ctl("cut");
    let mut client = Client::new(&served.socket(), true);
    assert!(time(&mut client) > 10 * usual, "a cut mends no die");
    assert_eq!(served.ctl("stats")["drive"]["faults"]["slow_dies"][0]["factor"], 40);
    served.ctl("inject clear");
    assert_eq!(time(&mut client), usual);

    for block in 0..3 {
        served.ctl(&format!("inject retire block={block}"));
    }
    // More than the flash has, so that blocks are erased.
    for round in 0..480u64 {
        client.write((round % 60) << 20, &[round as u8; 1 << 20]);
    }
    let lost = served.ctl("stats")["drive"]["lost_blocks"]["retired"].as_u64().unwrap();
    assert_eq!(lost, 3);
    assert_eq!(client.read(59 << 20, 4096), [479u64 as u8; 4096]);
    for (order, allowed) in [("die=9999 factor=2", "0 to "), ("die=0", "a factor from 1 to 100000")] {
        let path = served.folder.path().join("d.ctl");
        let said = wordline_live::ask(&path, &format!("inject slow-die {order}")).unwrap_err().to_string();
        assert!(said.contains(allowed), "{said}");
    }
}

#[test]
fn writes_without_space_fail_as_often_as_was_planted() {
    let served = Served::new(spec("conventional", "0"));
    let mut client = Client::new(&served.socket(), true);
    served.ctl("inject no-space count=2");
    let errors = [0; 3].map(|_| client.ask(WRITE, 0, 0, 4096, &[1; 4096]).0);
    assert_eq!(errors, [28, 28, 0]);
    assert_eq!(served.ctl("stats")["drive"]["faults"]["refused_writes"], 2);
}
