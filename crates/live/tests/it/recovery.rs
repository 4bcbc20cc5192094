//! Until a drive has recovered from a power cut nothing is answered, and a cut within a recovery has that begin anew.

use crate::client::{Client, FLUSH, READ, STATUS, TRIM, WRITE, ZEROES};
use crate::environment::from_environment;
use crate::support::{Served, spec};
use std::collections::BTreeSet;
use wordline_live::{ServeSpec, rerun_session};
use wordline_run::RunSpec;

/// A drive whose recovery takes long, and has something to look at.
fn slow() -> ServeSpec {
    let mut spec = spec("conventional", "100000");
    spec.run.initial = "fill:50%".to_string();
    spec
}

#[test]
fn nothing_is_answered_before_the_recovery_ends() {
    let served = Served::new(slow());
    served.ctl("cut");
    let mut client = Client::new(&served.socket(), true);
    let mut asked: BTreeSet<u64> =
        [(FLUSH, 0, 0), (TRIM, 0, 16_384), (ZEROES, 0, 4096), (STATUS, 0, 4096), (77, 0, 0)]
            .into_iter()
            .map(|(kind, offset, length)| client.send(kind, 0, offset, length, &[]))
            .collect();
    asked.insert(client.send(READ, 0, 60 << 20, 4096, &[]));
    asked.insert(client.send(WRITE, 0, 8192, 4096, &[3; 4096]));
    while served.ctl("stats")["drive"]["held"] != 7 {}
    let stats = served.ctl("stats");
    assert_eq!(
        (&stats["drive"]["recovers"], &stats["served"]),
        (&true.into(), &serde_json::json!({})),
        "{stats}"
    );
    served.ctl("set time-scale=0");
    for _ in 0..7 {
        let reply = client.reply(|_| 0).unwrap();
        assert!(asked.remove(&reply.cookie));
    }
    assert_eq!(client.read(8192, 4096), [3; 4096]);
}

#[test]
fn cut_during_recovery_restarts_it_and_rerun_agrees() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("session");
    let served = Served::new(ServeSpec { session: Some(session.clone()), ..slow() });
    for _ in 0..3 {
        served.ctl("cut");
    }
    served.ctl("set time-scale=0");
    let cuts = served.ctl("stats")["drive"]["cuts"].clone();
    let number = |at: usize, key: &str| cuts[at][key].as_u64().unwrap();
    for at in 1..3 {
        let before = number(at - 1, "at_ns");
        assert!(
            number(at, "at_ns") >= before && number(at, "at_ns") < before + number(at - 1, "recovery_ns"),
            "{cuts}"
        );
        assert_eq!(number(at, "recovery_ns"), number(0, "recovery_ns"));
    }
    Client::new(&served.socket(), true).write(0, &[1; 4096]);
    served.stop();
    let again =
        rerun_session(&session, RunSpec::new("", "", "uniform:requests=1")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((Some(again.again), again.cuts), (again.recorded, 3));
}

#[test]
fn faster_recovery_reaches_the_same_state() {
    let hashes = ["1", "0"].map(|scale| {
        let served = Served::new(ServeSpec { recovery_scale: scale.parse().unwrap(), ..slow() });
        served.ctl("cut");
        assert_eq!(served.ctl("stats")["drive"]["recovers"], scale == "1");
        let said = served.log().join("\n");
        assert_eq!(said.contains("serve --recovery-scale shortens this"), scale == "1", "{said}");
        served.ctl("set time-scale=0");
        served.stop().to_json()["result_hash"].clone()
    });
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn three_loaded_connections_resume_after_each_cut() {
    let served = Served::new(spec("conventional", "0"));
    for round in 0..from_environment("WORDLINE_RECONNECTS", 20) {
        let loaded: Vec<Client> = (0..3).map(|_| Client::new(&served.socket(), true)).collect();
        served.ctl("cut writes=30");
        let served = &served;
        let failed: usize = std::thread::scope(|scope| {
            let back = |(place, client)| scope.spawn(move || comes_back(served, place, client));
            let all: Vec<_> = (0..).zip(loaded).map(back).collect();
            all.into_iter().map(|client| client.join().unwrap()).sum()
        });
        assert_eq!(failed, 0, "writes behind a new handshake, round {round}");
    }
}

/// Write until the power is cut, connect as soon as the connection has ended, and go on. Returns how many writes then fail.
fn comes_back(served: &Served, place: u64, mut client: Client) -> usize {
    let mut sent = 0;
    while client.reply_or_send(place * 64 + sent % 64) {
        sent += 1;
    }
    let mut again = Client::new(&served.socket(), true);
    (0..20).filter(|sector| !again.reply_or_send(place * 64 + sector)).count()
}

impl Client {
    /// Write a sector. Returns whether that is acknowledged.
    fn reply_or_send(&mut self, sector: u64) -> bool {
        self.send(WRITE, 0, sector * 4096, 4096, &[1; 4096]);
        self.reply(|_| 0).is_some_and(|reply| reply.error == 0)
    }
}
