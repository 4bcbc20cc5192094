//! State shared by all threads of a server, and what each thread does with it: lock, advance time, take the
//! replies, unlock, send them.

use crate::address::Address;
use crate::certificates::Certificates;
use crate::client::Client;
use crate::clock::TimeScale;
use crate::control_command::Fork;
use crate::drive::{Drive, Kept};
use crate::engine::command::Delivery;
use crate::engine::core::Engine;
use crate::engine::status;
use crate::error::ServeError;
use crate::host::{Granted, use_huge_pages};
use crate::lock;
use crate::pacer::{Pacing, Watch};
use crate::page_memory::PageMemory;
use crate::pieces::Units;
use crate::protocol::handshake::Export;
use crate::protocol::request::Request;
use crate::reply_queue::ReplyQueue;
use crate::spec::ServeSpec;
use crate::statistics::Statistics;
use crate::syncing::Syncing;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};
use wordline_ftl::HeldData;

/// How long to wait at shutdown for clients that do not read their replies, and how often to check.
const LAST_WORDS: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(5);

/// Maximum number of log lines per second that clients can cause.
const LINES: u64 = 20;

/// Limits the log lines of the current second.
#[derive(Default)]
struct Often {
    begun: Option<Instant>,
    lines: u64,
}

impl Often {
    /// Whether one more line may be logged, and how many lines were suppressed in the second before.
    fn take(&mut self, now: Instant) -> (bool, u64) {
        let mut more = 0;
        if self.begun.is_none_or(|begun| now.saturating_duration_since(begun) >= Duration::from_secs(1)) {
            more = self.lines.saturating_sub(LINES);
            (self.begun, self.lines) = (Some(now), 0);
        }
        self.lines += 1;
        (self.lines <= LINES, more)
    }
}

/// Receives each line of the log.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// A fork, served until it is dropped.
pub(crate) struct Forked {
    /// Address for clients.
    pub uri: String,
    /// The address as given in the command.
    pub at: Address,
    pub control: Option<PathBuf>,
    /// The snapshot that the fork continues from.
    pub of: Option<String>,
    /// Its server. Dropping it ends the fork.
    #[expect(dead_code, reason = "it ends as it is dropped")]
    pub server: Box<dyn Send>,
}

/// Function that serves a drive at an address.
pub(crate) type Serve = fn(Drive, &ServeSpec, Log) -> Result<Started, ServeError>;

/// The server of a fork, and where clients find it.
pub(crate) type Started = (String, Box<dyn Send>);

/// State shared by all threads of a server.
pub(crate) struct Shared {
    pub engine: Mutex<Engine>,
    /// Replies that wait for a sync of the drive's folder, if it has one.
    pub syncing: Option<Syncing>,
    pub pacing: Pacing,
    /// Units of the drive.
    pub units: Units,
    /// Memory of its pages that were overwritten.
    pub page_memory: Arc<PageMemory>,
    pub export: Export,
    /// Privileges granted by the system.
    granted: Granted,
    pub statistics: Arc<Mutex<Statistics>>,
    pub connections: Mutex<Vec<Client>>,
    pub next_connection: AtomicU64,
    pub log: Log,
    /// Limits log lines that clients can cause.
    often: Mutex<Often>,
    pub stopping: AtomicBool,
    /// The drive takes no time.
    untimed: AtomicBool,
    begun: Instant,
    /// How the drive and its forks are served.
    spec: ServeSpec,
    serve: Serve,
    /// Snapshots of the drive, by name.
    pub snapshots: Mutex<BTreeMap<String, Kept>>,
    /// Served forks.
    pub forks: Mutex<Vec<Forked>>,
}

impl Shared {
    pub(crate) fn new(
        engine: Engine,
        syncing: Option<Syncing>,
        export: Export,
        granted: Granted,
        (spec, serve): (&ServeSpec, Serve),
        log: Log,
    ) -> Shared {
        Shared {
            units: engine.executor().space().units(),
            page_memory: engine.executor().drive().page_memory(),
            engine: Mutex::new(engine),
            syncing,
            pacing: Pacing::new(spec.spin),
            export,
            granted,
            statistics: Arc::default(),
            connections: Mutex::default(),
            next_connection: AtomicU64::new(1),
            log,
            often: Mutex::default(),
            stopping: AtomicBool::new(false),
            untimed: AtomicBool::new(spec.time_scale == TimeScale::NONE),
            begun: Instant::now(),
            spec: spec.clone(),
            serve,
            snapshots: Mutex::default(),
            forks: Mutex::default(),
        }
    }

    /// Log a line that clients can cause as often as they like. Above a limit per second, lines are only
    /// counted.
    pub(crate) fn log_often(&self, line: &str) {
        let (says, more) = lock(&self.often).take(Instant::now());
        if more > 0 {
            (self.log)(&format!("{more} more lines like these in the last second"));
        }
        if says {
            (self.log)(line);
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// The certificates with which connections are encrypted, if any.
    pub(crate) fn certificates(&self) -> Option<&Certificates> {
        self.spec.certificates.as_ref()
    }

    /// Maximum number of connections.
    pub(crate) fn most_connections(&self) -> usize {
        self.spec.connections
    }

    /// Number of power cuts so far.
    pub(crate) fn epoch(&self) -> u64 {
        lock(&self.engine).epoch()
    }

    pub(crate) fn time_scale(&self) -> TimeScale {
        lock(&self.engine).scale()
    }

    /// Whether the drive takes no time.
    pub(crate) fn is_untimed(&self) -> bool {
        self.untimed.load(Ordering::Relaxed)
    }

    /// Whether a thread is in the drive at this moment.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.engine.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Submit all requests of a client. Returns whether its connection still exists. A drive that takes no time may
    /// complete them on another thread (`apart`).
    pub(crate) fn submit(
        &self,
        (watch, apart): (&mut Watch, bool),
        reply_queue: &Arc<ReplyQueue>,
        requests: &mut Vec<(Request, HeldData)>,
    ) -> bool {
        use_huge_pages();
        let arrived = Instant::now();
        let mut engine = lock(&self.engine);
        let mut cuts = engine.epoch();
        let mut is_open = true;
        let apart = apart && engine.scale() == TimeScale::NONE;
        for (request, data) in requests.drain(..) {
            is_open = is_open && engine.submit(reply_queue, request, data, arrived);
            // The thread that holds the lock completes what is due meanwhile, because the pacing thread waits
            // for the lock.
            if !apart && engine.next_due().is_some_and(|due| due <= Instant::now()) {
                engine.pump(Instant::now());
                self.leave(engine, cuts, Some(&mut *watch));
                engine = lock(&self.engine);
                cuts = engine.epoch();
            }
        }
        if apart {
            engine.leave_work();
            self.leave(engine, cuts, None);
        } else {
            engine.pump(Instant::now());
            self.leave(engine, cuts, Some(watch));
        }
        is_open
    }

    /// Unlock, and send completed replies. After a power cut, end all connections. The thread given as `to`
    /// processes the next due event.
    pub(crate) fn leave(&self, mut engine: MutexGuard<'_, Engine>, cuts: u64, mut to: Option<&mut Watch>) {
        let (mut out, notes) = engine.take_output();
        let was_cut = engine.epoch() != cuts;
        let wakes = self.pacing.pass(&mut engine, to.as_deref_mut());
        drop(engine);
        if wakes {
            self.pacing.wake();
        }
        let is_free = to.is_some_and(|watch| !watch.has_due());
        let syncing = self.syncing.as_ref();
        let own = syncing.and_then(|syncing| Some((syncing, syncing.take(&mut out, is_free)?)));
        self.send(out);
        notes.lines.iter().for_each(|note| (self.log)(note));
        notes.of_damage.iter().for_each(|note| self.log_often(note));
        if was_cut {
            self.disconnect(Some(cuts + 1));
        }
        match own {
            Some((syncing, reply)) => self.sync_for(syncing, vec![reply]),
            None if is_free => syncing.into_iter().for_each(Syncing::begin_writing),
            None => {}
        }
    }

    /// Sync the drive's folder for replies, and send them.
    fn sync_for(&self, syncing: &Syncing, mut out: Vec<Delivery>) {
        if let Some(failed) = syncing.sync(&mut out) {
            self.with_engine(|engine| engine.fail(failed));
        }
        self.send(out);
    }

    fn send(&self, out: Vec<Delivery>) {
        if out.is_empty() {
            return;
        }
        let mut sending: Vec<Arc<ReplyQueue>> = vec![];
        for delivery in out {
            let reply_queue = delivery.push();
            if !sending.iter().any(|other| Arc::ptr_eq(other, &reply_queue)) {
                sending.push(reply_queue);
            }
        }
        for reply_queue in sending {
            reply_queue.send();
        }
    }

    /// End all connections, or only those that began before this many power cuts: later connections have
    /// begun after the cut.
    pub(crate) fn disconnect(&self, before: Option<u64>) {
        let clients = lock(&self.connections);
        clients.iter().filter(|client| before.is_none_or(|cuts| client.epoch < cuts)).for_each(Client::end);
    }

    /// Sync the drive's folder for replies that wait for it, until the server stops.
    pub(crate) fn sync(&self) {
        let Some(syncing) = &self.syncing else { return };
        while let Some(out) = syncing.next(&self.stopping) {
            self.sync_for(syncing, out);
        }
    }

    /// Stop the threads and end all connections.
    pub(crate) fn stop(&self) {
        self.with_engine(|engine| {
            self.stopping.store(true, Ordering::Relaxed);
            engine.end();
        });
        self.pacing.wake();
        if let Some(syncing) = &self.syncing {
            syncing.stop();
        }
        // Requests received until now are completed. Then the connections end.
        lock(&self.connections).iter().for_each(|client| client.socket.shut_read());
        let until = Instant::now() + LAST_WORDS;
        while Instant::now() < until && !lock(&self.connections).is_empty() {
            std::thread::sleep(LOOK);
        }
        self.disconnect(None);
    }

    /// Apply a change to the running drive, as of now.
    pub(crate) fn with_engine<T>(&self, act: impl FnOnce(&mut Engine) -> T) -> T {
        let mut engine = lock(&self.engine);
        let cuts = engine.epoch();
        engine.pump(Instant::now());
        let done = act(&mut engine);
        // Complete what is now due: everything, if the drive no longer takes time.
        engine.pump(Instant::now());
        self.leave(engine, cuts, None);
        done
    }

    /// Change the time scale from now on.
    pub(crate) fn set_time_scale(&self, scale: TimeScale) {
        self.untimed.store(scale == TimeScale::NONE, Ordering::Relaxed);
        self.with_engine(|engine| engine.executor_mut().set_scale(scale));
    }

    /// Save the drive as it is now. Requests in flight stay so in the snapshot, where their replies go to no
    /// client.
    pub(crate) fn snapshot(&self, name: String) -> Value {
        let begun = Instant::now();
        if lock(&self.snapshots).contains_key(&name) {
            let what = format!(
                "{name}: a snapshot of this name exists\n  allowed: another name, or first drop {name}"
            );
            return json!({ "error": what });
        }
        match self.with_engine(|engine| engine.executor().drive().keep()) {
            Ok(kept) => {
                let at = kept.at.0;
                lock(&self.snapshots).insert(name.clone(), kept);
                json!({ "snapshot": name, "at_ns": at, "took_ms": begun.elapsed().as_secs_f64() * 1e3 })
            }
            Err(why) => json!({ "error": why }),
        }
    }

    /// Serve a drive that continues from a state of this one.
    pub(crate) fn fork(&self, asked: Fork) -> Value {
        let begun = Instant::now();
        let forked = match &asked.of {
            None => self.with_engine(|engine| engine.executor().drive().keep()).and_then(|kept| kept.drive()),
            Some(name) => {
                let forked = lock(&self.snapshots).get(name).map(Kept::drive);
                forked.unwrap_or_else(|| Err(self.unknown(name)))
            }
        };
        let scale = self.time_scale();
        let served = forked.map_err(ServeError::Input).and_then(|drive| {
            let spec = ServeSpec {
                addresses: vec![asked.at.clone()],
                control: asked.control.clone(),
                time_scale: asked.time_scale.unwrap_or(scale),
                read_only: false,
                session: None,
                session_data: false,
                activated: false,
                image: None,
                data: None,
                ..self.spec.clone()
            };
            let at = drive.now().0;
            (self.serve)(drive, &spec, self.log_of(&asked.at)).map(|forked| (forked, at))
        });
        match served {
            Ok(((uri, server), at)) => {
                let Fork { at: address, control, of, .. } = asked;
                lock(&self.forks).push(Forked { uri: uri.clone(), at: address, control, of, server });
                json!({ "fork": uri, "at_ns": at, "took_ms": begun.elapsed().as_secs_f64() * 1e3 })
            }
            Err(e) => json!({ "error": e.to_string() }),
        }
    }

    /// The log, whose lines begin with the address of a fork.
    fn log_of(&self, fork: &Address) -> Log {
        let (log, name) = (Arc::clone(&self.log), fork.spelled());
        Arc::new(move |line| log(&format!("fork {name}: {line}")))
    }

    /// The served forks, as JSON.
    pub(crate) fn forks_to_json(&self) -> Value {
        let forks = lock(&self.forks);
        let told = forks.iter().map(|fork| {
            let mut told = json!({ "fork": fork.uri });
            if let Some(control) = &fork.control {
                told["control"] = control.display().to_string().into();
            }
            if let Some(of) = &fork.of {
                told["snapshot"] = of.clone().into();
            }
            told
        });
        told.collect()
    }

    /// End a fork: its connections, its threads, and its memory.
    pub(crate) fn end_fork(&self, at: &Address) -> Value {
        let ended = {
            let mut forks = lock(&self.forks);
            let found = forks.iter().position(|fork| fork.at == *at);
            found.map(|found| forks.remove(found))
        };
        // Its threads end here. Other clients may request forks meanwhile.
        match ended {
            Some(fork) => json!({ "ended": fork.uri.clone() }),
            None => {
                let all: Vec<String> =
                    lock(&self.forks).iter().map(|fork| format!("end nbd={}", fork.at.spelled())).collect();
                let all = if all.is_empty() { "none; fork creates one".to_string() } else { all.join("; ") };
                json!({ "error": format!("{}: no fork is served there\n  allowed: {all}", at.spelled()) })
            }
        }
    }

    /// Delete a snapshot.
    pub(crate) fn drop_snapshot(&self, name: String) -> Value {
        let dropped = lock(&self.snapshots).remove(&name);
        match dropped {
            Some(_) => json!({ "dropped": name }),
            None => json!({ "error": self.unknown(&name) }),
        }
    }

    /// Error message for an unknown snapshot.
    fn unknown(&self, name: &str) -> String {
        let all: Vec<String> = lock(&self.snapshots).keys().cloned().collect();
        let all =
            if all.is_empty() { "none; create one with snapshot NAME".to_string() } else { all.join(", ") };
        format!("{name}: unknown snapshot\n  allowed: {all}")
    }

    /// All statistics, as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let (mut drive, scale) = self.with_engine(|engine| (status::to_json(engine), engine.scale()));
        if let Some(syncing) = &self.syncing {
            syncing.add_to(&mut drive["folder"]);
        }
        let connections = {
            let clients = lock(&self.connections);
            clients
                .iter()
                .filter_map(|client| client.reply_queue.as_ref())
                .for_each(|reply_queue| reply_queue.settle());
            clients.len()
        };
        let (served, quiet) = {
            let statistics = lock(&self.statistics);
            (statistics.to_json(), statistics.quiet_to_json())
        };
        json!({
            "export": self.export.name,
            "wall_s": self.begun.elapsed().as_secs_f64(),
            "time_scale": scale.factor(),
            "connections": connections,
            "host": { "io_flusher": self.granted.io_flusher, "memory_locked": self.granted.locked },
            "served": served,
            "quiet": quiet,
            "drive": drive,
            "snapshots": lock(&self.snapshots).keys().collect::<Vec<_>>(),
            "forks": self.forks_to_json(),
        })
    }
}
