//! What is left when the power is cut: nothing that was flushed is lost, and each sector is as some write left it.

use crate::client::{Client, FLUSH, READ, WRITE};
use crate::environment::from_environment;
use crate::ledger::{Ledger, SECTOR};
use crate::support::{Rng, Served, spec};
use std::collections::BTreeMap;
use wordline_live::ServeSpec;

const SECTORS: u64 = 64;

/// A drive whose volatile cache answers writes, so slow that nothing reaches flash by itself within a test.
fn cached() -> Served {
    Served::new(ServeSpec { write_cache: 1 << 20, ..spec("conventional", "100000") })
}

/// Write, flush at times, cut the power, and look. With `true` flushes lie. Returns the first thing that is wrong.
fn cut_again_and_again(lies: bool, rounds: u64, seed: u64) -> (Option<String>, u64) {
    let served = cached();
    let mut ledger = Ledger::new(SECTORS);
    let mut rng = Rng(seed);
    let mut lost = 0;
    for round in 0..rounds {
        let mut client = Client::new(&served.socket(), true);
        served.ctl("set time-scale=100000");
        for _ in 0..1 + rng.below(30) {
            let count = 1 + rng.below(4);
            let first = rng.below(SECTORS - count);
            let data = ledger.write(first, count);
            client.write(first * SECTOR, &data);
            if rng.below(12) == 0 {
                if lies {
                    served.ctl("inject early-flush");
                } else {
                    served.ctl("set time-scale=0");
                }
                client.flush();
                ledger.settled(0, SECTORS);
                served.ctl("set time-scale=100000");
            }
        }
        // Half of the cuts come in the midst of programs, which are torn.
        if rng.below(2) == 0 {
            served.ctl(&format!("cut seed={} within=4ms", seed ^ round));
            served.ctl("set time-scale=0.01");
            while served.ctl("stats")["drive"]["cuts"].as_array().unwrap().len() as u64 == round {}
        } else {
            served.ctl("cut");
        }
        assert_eq!(client.reply(|_| 0), None, "the connection ends with the power");
        served.ctl("set time-scale=0");
        let cut = served.ctl("stats")["drive"]["cuts"][round as usize].clone();
        lost += cut["lost_requests"].as_u64().unwrap();
        let mut client = Client::new(&served.socket(), true);
        let found = client.read(0, (SECTORS * SECTOR) as u32);
        if let Some(wrong) = ledger.compare(&found) {
            return (Some(format!("round {round}, seed {seed}: {wrong}")), lost);
        }
    }
    (None, lost)
}

#[test]
fn cuts_lose_nothing_flushed_and_show_nothing_torn() {
    let (rounds, first) = (from_environment("WORDLINE_CUTS", 12), from_environment("WORDLINE_SEED", 1));
    let mut lost = 0;
    for seed in first..first + 4 {
        let (wrong, of_seed) = cut_again_and_again(false, rounds, seed);
        assert_eq!(wrong, None);
        lost += of_seed;
    }
    assert!(lost > 50, "a cut that loses nothing tries nothing: {lost}");
}

#[test]
fn a_flush_that_lies_is_caught() {
    let caught = (1..=4).filter(|seed| cut_again_and_again(true, 12, *seed).0.is_some()).count();
    assert!(caught >= 3, "of four runs with flushes that lie only {caught} were caught");
}

#[test]
fn without_a_vwc_every_acknowledged_write_survives() {
    for scheme in ["conventional", "slc-cache", "sector"] {
        let served = Served::new(spec(scheme, "0"));
        let mut client = Client::new(&served.socket(), true);
        let mut answered = BTreeMap::new();
        served.ctl("cut writes=30");
        for i in 0..100u64 {
            let stamp = [i as u8 + 1; 4096];
            client.send(WRITE, 0, i % 40 * 5000, 4096, &stamp);
            match client.reply(|_| 0) {
                Some(reply) => assert_eq!(reply.error, 0),
                None => break,
            }
            answered.insert(i % 40 * 5000, stamp);
        }
        assert_eq!(answered.len(), 30, "{scheme}: the thirtieth is answered, and the power is gone");
        let mut client = Client::new(&served.socket(), true);
        for (offset, stamp) in answered {
            assert_eq!(client.read(offset, 4096), stamp, "{scheme} at {offset}");
        }
    }
}

#[test]
fn cut_drops_connections_and_new_ones_await_recovery() {
    let served = cached();
    let mut one = Client::new(&served.socket(), true);
    let mut two = Client::new(&served.socket(), false);
    one.write(0, &[1; 4096]);
    one.send(FLUSH, 0, 0, 0, &[]);
    two.send(WRITE, 1, 8192, 4096, &[2; 4096]);
    served.ctl("cut flushes=1");
    // The write that is answered is on its way to flash, too.
    while served.ctl("stats")["drive"]["commands_under_way"] != 3 {}
    let cut = served.ctl("cut")["cut"].clone();
    assert!(cut["lost_requests"].as_u64().unwrap() >= 2 && cut["recovery_ns"].as_u64().unwrap() > 0, "{cut}");
    assert_eq!((one.reply(|_| 0), two.reply(|_| 0)), (None, None));
    let mut three = Client::new(&served.socket(), true);
    let read = three.send(READ, 0, 0, 4096, &[]);
    served.ctl("set time-scale=0");
    three.flush_after(read);
    let stats = served.ctl("stats");
    assert_eq!(stats["drive"]["cuts"].as_array().unwrap().len(), 1, "the armed cut went with the power");
    assert!(served.log()[0].starts_with("power cut 1 at "), "{:?}", served.log());
}

impl Client {
    /// Take the answer of a read of a sector, and flush.
    fn flush_after(&mut self, read: u64) {
        let reply = self.reply(|_| 4096).unwrap();
        assert_eq!((reply.cookie, reply.error), (read, 0));
        self.flush();
    }
}
