//! A server for a test, and what its log said.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use wordline_live::{Address, Encryption, ServeSpec, Server, StatsReport};
use wordline_run::RunSpec;
use wordline_volatile::PowerLoss;

/// A drive that is served in a folder of its own.
pub struct Served {
    server: Option<Server>,
    pub folder: TempDir,
    log: Arc<Mutex<Vec<String>>>,
}

/// A small drive that acknowledges what is on flash.
pub fn spec(scheme: &str, scale: &str) -> ServeSpec {
    let set = [
        ("capacity.logical", "64MiB"),
        ("medium.flash.blocks_per_plane", "24"),
        ("slc_cache.static_blocks", "4"),
        ("ack.mode", "program"),
        ("ack.pages", "off"),
    ];
    let set =
        set.into_iter().filter(|(key, _)| *key != "ack.pages").map(|(k, v)| (k.to_string(), v.to_string()));
    let run = RunSpec {
        set: set.collect(),
        initial: "fresh".to_string(),
        ..RunSpec::new("fair-tlc", scheme, "uniform:requests=1")
    };
    ServeSpec {
        run,
        addresses: vec![],
        encryption: Encryption::Off,
        certificates: None,
        control: None,
        time_scale: scale.parse().unwrap(),
        spin: Duration::ZERO,
        write_cache: 0,
        power_loss: PowerLoss::Any,
        atomic: None,
        read_only: false,
        data: None,
        always_sync: false,
        session: None,
        session_data: false,
        connections: 64,
        recovery_scale: 1.0,
        export: None,
        size: None,
        image: None,
        memory: None,
        activated: false,
    }
}

impl Served {
    pub fn new(spec: ServeSpec) -> Served {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(Mutex::new(vec![]));
        let lines = Arc::clone(&log);
        let spec = ServeSpec {
            addresses: vec![Address::Unix(folder.path().join("d.sock"))],
            control: Some(folder.path().join("d.ctl")),
            ..spec
        };
        let told = move |line: &str| lines.lock().unwrap().push(line.to_string());
        let server = Server::start(&spec, Arc::new(told)).unwrap_or_else(|e| panic!("{e}"));
        Served { server: Some(server), folder, log }
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("d.sock")
    }

    /// The address as clients spell it.
    pub fn uri(&self) -> String {
        Address::Unix(self.socket()).to_string()
    }

    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Ask on the control socket.
    pub fn ctl(&self, order: &str) -> serde_json::Value {
        let text =
            wordline_live::ask(&self.folder.path().join("d.ctl"), order).unwrap_or_else(|e| panic!("{e}"));
        serde_json::from_str(&text).unwrap()
    }

    /// Why the service cannot go on.
    pub fn failure(&self) -> Option<String> {
        self.server.as_ref().and_then(Server::failure)
    }

    pub fn stop(mut self) -> StatsReport {
        self.server.take().unwrap().stop().unwrap_or_else(|e| panic!("{e}"))
    }
}

/// Random numbers of a seed.
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}
