//! A volatile write cache: what a cut draws of it, and that nothing else depends on it.

use crate::client::{Client, FLUSH, TRIM, WRITE, ZEROES};
use crate::support::{Rng, Served, spec};
use serde_json::Value;
use std::collections::BTreeSet;
use wordline_live::ServeSpec;
use wordline_volatile::{Atomic, PowerLoss};

const SECTOR: u64 = 4096;

fn cached(loss: PowerLoss) -> ServeSpec {
    ServeSpec { write_cache: 1 << 20, power_loss: loss, ..spec("slc-cache", "0") }
}

/// The same with a protected write buffer, into which the cache drains.
fn buffered(loss: PowerLoss) -> ServeSpec {
    let mut spec = cached(loss);
    spec.run.set.retain(|(key, _)| key != "ack.mode");
    spec.run
        .set
        .extend([("ack.mode", "buffer"), ("ack.pages", "64")].map(|(k, v)| (k.to_string(), v.to_string())));
    spec
}

fn sector(byte: u8) -> Vec<u8> {
    vec![byte; SECTOR as usize]
}

/// The first byte of each of some sectors, all of which are whole.
fn sectors(client: &mut Client, count: u64) -> Vec<u8> {
    let all = client.read(0, (count * SECTOR) as u32);
    all.chunks(SECTOR as usize)
        .map(|sector| {
            assert!(sector.iter().all(|byte| *byte == sector[0]), "a sector is torn");
            sector[0]
        })
        .collect()
}

/// Write a few sectors, cut by a seed, and look.
fn cut(spec: ServeSpec, order: &str) -> (Vec<u8>, Value) {
    let served = Served::new(spec);
    let mut client = Client::new(&served.socket(), true);
    (0..16).for_each(|at| client.write(at * SECTOR, &sector(1)));
    client.flush();
    (0..16).for_each(|at| client.write(at * SECTOR, &sector(2)));
    let cut = served.ctl(order)["cut"]["write_cache"].clone();
    (sectors(&mut Client::new(&served.socket(), true), 16), cut)
}

#[test]
fn run_without_a_cut_is_the_same_under_every_model() {
    let models = [PowerLoss::Any, PowerLoss::None, PowerLoss::Fifo, PowerLoss::Window(3), PowerLoss::All];
    let mut all: BTreeSet<String> = BTreeSet::new();
    for loss in models {
        for atomic in [None, Some(Atomic { size: 16_384, boundary: None })] {
            let served = Served::new(ServeSpec { atomic, write_cache: 65_536, ..cached(loss) });
            let mut client = Client::new(&served.socket(), true);
            let mut rng = Rng(3);
            for round in 0..300u32 {
                let (offset, length) = (rng.below(1 << 22), 1 + rng.below(20_000) as u32);
                match rng.below(9) {
                    0 => client.ask(TRIM, 0, offset, length, &[]),
                    1 => client.ask(ZEROES, 0, offset, length, &[]),
                    2 => client.ask(FLUSH, 0, 0, 0, &[]),
                    _ => client.ask(
                        WRITE,
                        (rng.below(6) == 0) as u16,
                        offset,
                        length,
                        &vec![round as u8; length as usize],
                    ),
                };
            }
            let given = served.stop().to_json().clone();
            let latencies: Vec<String> = (given["served"].as_object().unwrap().values())
                .flat_map(|verb| verb["latency"].as_object().unwrap().values())
                .map(|share| share["modelled_us"].to_string())
                .collect();
            let drive = &given["drive"];
            let waf = [&drive["programmed_bytes"], &drive["host_bytes"], &given["result_hash"]]
                .map(Value::to_string);
            all.insert(format!("{waf:?} {latencies:?}"));
        }
    }
    assert_eq!(all.len(), 1, "{all:?}");
}

#[test]
fn seed_draws_the_same_cut_and_its_answer_lists_it() {
    let (found, told) = cut(cached(PowerLoss::Any), "cut seed=7");
    assert!(
        found.contains(&1) && found.contains(&2) && found.iter().all(|byte| [1, 2].contains(byte)),
        "{found:?}"
    );
    for (at, request) in told["requests"].as_array().unwrap().iter().enumerate() {
        let fate = if found[at] == 2 { "survived" } else { "lost" };
        assert_eq!(
            (request["offset"].as_u64(), request["fate"].as_str()),
            (Some(at as u64 * SECTOR), Some(fate))
        );
    }
    assert_eq!((told["seed"].as_u64(), told["model"].as_str()), (Some(7), Some("any")));
    assert_eq!(cut(cached(PowerLoss::Any), "cut seed=7").0, found);
    assert_ne!(cut(cached(PowerLoss::Any), "cut seed=8").0, found);
}

/// Neither depends on whether the drive had the data on flash or in a buffer of its own that outlives a cut.
#[test]
fn buffer_behind_the_cache_does_not_change_the_loss() {
    assert_eq!(cut(buffered(PowerLoss::Any), "cut seed=7").0, cut(cached(PowerLoss::Any), "cut seed=7").0);
    assert_eq!(cut(buffered(PowerLoss::All), "cut").0, vec![1; 16]);
    assert_eq!(cut(buffered(PowerLoss::None), "cut").0, vec![2; 16]);
    let (fifo, _) = cut(buffered(PowerLoss::Fifo), "cut seed=5");
    assert!(fifo.is_sorted_by(|a, b| a >= b), "a suffix: {fifo:?}");
}

#[test]
fn content_left_by_a_cut_stays_until_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    let spec = || ServeSpec { data: Some(folder.path().join("drive")), ..cached(PowerLoss::Any) };
    let served = Served::new(spec());
    let mut client = Client::new(&served.socket(), true);
    (0..16).for_each(|at| client.write(at * SECTOR, &sector(1)));
    client.flush();
    (0..16).for_each(|at| client.write(at * SECTOR, &sector(2)));
    served.ctl("cut seed=7");
    let mut client = Client::new(&served.socket(), true);
    let mut left = sectors(&mut client, 16);
    client.flush();
    assert_eq!(sectors(&mut client, 16), left);
    // A fork has it, too, and so has the drive after another cut and another start.
    let fork = served.folder.path().join("f.sock");
    served.ctl(&format!("fork nbd=unix:{}", fork.display()));
    assert_eq!(sectors(&mut Client::new(&fork, true), 16), left);
    served.ctl("cut seed=9");
    let mut client = Client::new(&served.socket(), true);
    assert_eq!(sectors(&mut client, 16), left, "all of it is durable");
    client.write(3 * SECTOR, &sector(7));
    assert_eq!(client.ask(TRIM, 0, 4 * SECTOR, SECTOR as u32, &[]).0, 0);
    client.flush();
    (left[3], left[4]) = (7, 0);
    assert_eq!(sectors(&mut client, 16), left);
    served.stop();
    let served = Served::new(spec());
    let mut client = Client::new(&served.socket(), true);
    assert_eq!(sectors(&mut client, 16), left);
    // A part of a sector goes over what the cut left of it.
    client.write(5 * SECTOR, &[8; 1]);
    let found = client.read(5 * SECTOR, SECTOR as u32);
    assert_eq!((found[0], found[1]), (8, left[5]));
}

#[test]
fn flush_and_fua_are_never_lost() {
    let served = Served::new(cached(PowerLoss::All));
    let mut client = Client::new(&served.socket(), true);
    let mut other = Client::new(&served.socket(), true);
    client.write(0, &sector(1));
    other.flush();
    assert_eq!(client.ask(WRITE, 1, SECTOR, SECTOR as u32, &sector(2)).0, 0);
    assert_eq!(client.ask(ZEROES, 1, 0, SECTOR as u32, &[]).0, 0);
    client.write(2 * SECTOR, &sector(3));
    served.ctl("cut");
    assert_eq!(sectors(&mut Client::new(&served.socket(), true), 3), [0, 2, 0]);
}

#[test]
fn drive_that_acknowledges_early_states_its_risk() {
    let log = |spec: ServeSpec| Served::new(spec).log().join("\n");
    let said = log(ServeSpec { write_cache: 0, ..buffered(PowerLoss::Any) });
    assert!(
        said.contains("acknowledges writes from its write buffer of 1MiB")
            && said.contains("loses no acknowledged write"),
        "{said}"
    );
    assert_eq!(log(buffered(PowerLoss::Any)), "");
    assert_eq!(log(ServeSpec { write_cache: 0, ..cached(PowerLoss::Any) }), "");
}
