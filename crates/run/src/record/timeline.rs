//! A run, or a part of it, as a timeline for a trace viewer: Chrome's trace event format as JSON, for
//! Perfetto and chrome://tracing. A process is a channel with tracks for its bus and each of its planes; a
//! slice is a use of one of them by an operation, named by kind and cause. Requests are asynchronous spans of
//! the process `host`, with their latency parts.

use crate::ask::setup::Setup;
use crate::error::RunError;
use crate::record::output::Output;
use serde_json::{Value, json};
use std::fmt::{self, Write as _};
use std::path::Path;
use std::str::FromStr;
use wordline_flash::Geometry;
use wordline_ftl::{LatencyPart, OpKind};
use wordline_sim::{Begin, Completion, Event, Moment};
use wordline_units::{ChannelId, HostOp, Opt, PlaneId, SimDuration, SimTime};

/// The window of a timeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Window {
    /// All of it.
    #[default]
    Whole,
    /// From one simulated time to another.
    Between(SimTime, SimTime),
    /// From the arrival of a request to its completion, by its number from 0.
    Around(u64),
}

impl FromStr for Window {
    type Err = String;

    /// `1.2s..1300ms`, both of them simulated times.
    fn from_str(text: &str) -> Result<Window, String> {
        let wrong =
            |why: &str| format!("{text:?} is not a window: {why}\n  allowed: FROM..TO, as in 1.2s..1300ms");
        let (from, to) = text.split_once("..").ok_or_else(|| wrong("\"..\" is missing"))?;
        let time = |t: &str| t.parse::<SimDuration>().map_err(|e| wrong(&e.to_string()));
        let (from, to) = (time(from)?, time(to)?);
        if from >= to {
            return Err(wrong("the end is before the start"));
        }
        Ok(Window::Between(SimTime(from.0), SimTime(to.0)))
    }
}

/// The process of the host; channels follow.
const HOST: u32 = 0;
/// The track of a channel's bus; planes follow.
const BUS: u32 = 0;

/// Nanoseconds as the microseconds of the format.
struct Micros(u64);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// A use of an array or a bus.
#[derive(Clone, Copy)]
struct Use {
    by: Begin,
    pid: u32,
    tid: u32,
    retries: u8,
    start: SimTime,
    end: SimTime,
}

/// The file of a run's timeline.
pub(crate) struct Timeline {
    out: Output,
    asked: Window,
    /// The displayed window as far as known: its end, once it has started.
    from: Option<SimTime>,
    until: SimTime,
    /// The end of the last use or request.
    last: SimTime,
    regions: Vec<String>,
    slot_shift: u32,
    /// The operations of each plane, one per register.
    current: Vec<[Option<Begin>; 2]>,
    /// The last use of each plane and bus before the window.
    running: Vec<Option<Use>>,
    channels: Vec<u32>,
    line: String,
}

impl Timeline {
    /// Make sure that the file can be written.
    pub fn open(path: &Path, window: Window) -> Result<Timeline, RunError> {
        let (from, until) = match window {
            Window::Whole => (Some(SimTime(0)), SimTime::NEVER),
            Window::Between(from, to) => (Some(from), to),
            Window::Around(_) => (None, SimTime::NEVER),
        };
        Ok(Timeline {
            out: Output::open(path)?,
            asked: window,
            from,
            until,
            last: SimTime(0),
            regions: vec![],
            slot_shift: 0,
            current: vec![],
            running: vec![],
            channels: vec![],
            line: String::new(),
        })
    }

    /// Name the tracks.
    pub fn begin(&mut self, setup: &Setup, scheme: &str, regions: &[String]) -> Result<(), RunError> {
        let g: &Geometry = &setup.geometry;
        self.regions = regions.to_vec();
        self.slot_shift = g.slot_shift;
        self.current = vec![[None, None]; g.planes as usize];
        self.channels = (0..g.planes).map(|p| g.channel_of(g.die_of(PlaneId(p))).0).collect();
        let channels = self.channels.iter().max().map_or(0, |last| last + 1);
        self.running = vec![None; (g.planes + channels) as usize];
        let about = json!({
            "timeline": "wordline.timeline/1",
            "version": crate::ask::spec::VERSION,
            "device": setup.device.name,
            "scheme": scheme,
            "workload": setup.workload.name(),
            "seed": setup.spec.seed,
        });
        // Every event but the first has a comma before it.
        let mut text = format!(
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":[\n{}",
            named("process_name", HOST, 0, "host")
        );
        let mut name = |what, pid, tid, text_of: &str| {
            text.push_str(",\n");
            text.push_str(&named(what, pid, tid, text_of));
        };
        for channel in 0..channels {
            name("process_name", channel + 1, 0, &format!("channel {channel}"));
            name("thread_name", channel + 1, BUS, "bus");
        }
        for plane in 0..g.planes {
            let die = g.die_of(PlaneId(plane));
            let pid = self.channels[plane as usize] + 1;
            name("thread_name", pid, 1 + plane, &format!("die {die} plane {plane}"));
        }
        self.out.write(&text)
    }

    /// Whether the window overlaps two times, as far as known.
    fn shows(&self, start: SimTime, end: SimTime) -> bool {
        self.from.is_some_and(|from| end > from && start < self.until)
    }

    /// An operation has its plane.
    pub fn op_begins(&mut self, b: &Begin) {
        let [first, second] = &mut self.current[b.plane.index()];
        *(if first.is_none() { first } else { second }) = Some(*b);
    }

    fn by(&self, plane: PlaneId, op: u64) -> Option<Begin> {
        self.current[plane.index()].into_iter().flatten().find(|b| b.op == op)
    }

    pub fn event(&mut self, event: Event) -> Result<(), RunError> {
        let (plane, used) = match event {
            Event::Array { op, plane, retries, start, end, .. } => {
                let (pid, tid) = (self.channels[plane.index()] + 1, 1 + plane.0);
                (plane.index(), self.by(plane, op).map(|by| Use { by, pid, tid, retries, start, end }))
            }
            Event::Bus { op, channel: ChannelId(channel), plane, start, end, .. } => {
                let (pid, tid) = (channel + 1, BUS);
                let bus = self.current.len() + channel as usize;
                (bus, self.by(plane, op).map(|by| Use { by, pid, tid, retries: 0, start, end }))
            }
            Event::Ready { op, plane, .. } => {
                for register in &mut self.current[plane.index()] {
                    register.take_if(|b| b.op == op);
                }
                return Ok(());
            }
        };
        let Some(used) = used else { return Ok(()) };
        self.last = self.last.max(used.end);
        if self.from.is_none() {
            self.running[plane] = Some(used);
            return Ok(());
        }
        self.show(&used)
    }

    /// Write a use, if it is in the window.
    fn show(&mut self, u: &Use) -> Result<(), RunError> {
        if !self.shows(u.start, u.end) {
            return Ok(());
        }
        let Begin { op, kind, cause, ppn, slots, mode, page, bytes, from, .. } = u.by;
        let (block, slot) = (ppn.0 >> self.slot_shift, ppn.0 & ((1 << self.slot_shift) - 1));
        let (kind_key, cause, region) = (kind.key(), cause.key(), &self.regions[u.by.region.0 as usize]);
        self.line.clear();
        // Writing to a string cannot fail.
        let _ = write!(
            self.line,
            ",\n{{\"ph\":\"X\",\"name\":\"{kind_key} {cause}\",\"cat\":\"{cause}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\
             \"args\":{{\"op\":{op},\"block\":{block},\"region\":{},\"mode\":\"{}\"",
            u.pid,
            u.tid,
            Micros(u.start.0),
            Micros(u.end.since(u.start).0),
            Value::from(region.as_str()),
            mode.key(),
        );
        if kind != OpKind::Erase {
            let _ = write!(self.line, ",\"slot\":{slot},\"slots\":{slots},\"page\":\"{}\"", page.key());
        }
        if u.tid == BUS {
            let _ = write!(self.line, ",\"bytes\":{bytes}");
        }
        if u.retries > 0 {
            let _ = write!(self.line, ",\"retries\":{}", u.retries);
        }
        if let Some(from) = from {
            let _ = write!(self.line, ",\"from_block\":{from}");
        }
        self.line.push_str("}}");
        self.out.write(&self.line)
    }

    pub fn moment(&mut self, moment: Moment) -> Result<(), RunError> {
        match (self.asked, moment) {
            (Window::Around(wanted), Moment::Submitted { request, at, .. }) if request == wanted => {
                self.from = Some(at);
                for i in 0..self.running.len() {
                    if let Some(used) = self.running[i].take() {
                        self.show(&used)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A request completed: write its span with its parts.
    pub fn completion(&mut self, c: &Completion) -> Result<(), RunError> {
        if self.asked == Window::Around(c.number) {
            self.until = c.at;
        }
        let (arrival, at) = (c.request.arrival, c.at);
        self.last = self.last.max(at);
        if !(self.shows(arrival, at) || self.from.is_some_and(|from| from <= at && at <= self.until)) {
            return Ok(());
        }
        let op = c.request.op.key();
        let mut parts = serde_json::Map::new();
        for part in LatencyPart::ALL {
            let ns = c.parts[part];
            if ns > 0 {
                parts.insert(format!("{}_ns", part.key()), ns.into());
            }
        }
        let mut args = json!({ "number": c.number, "outcome": c.outcome.key(), "parts": parts });
        if c.request.op != HostOp::Flush {
            (args["lba"], args["blocks"]) = (c.request.lba.0.into(), c.request.blocks.into());
        }
        let number = c.number;
        let line = &mut self.line;
        line.clear();
        let mut put = |ph: &str, name: &str, at: SimTime, args: &str| {
            let _ = write!(
                line,
                ",\n{{\"ph\":\"{ph}\",\"name\":\"{name}\",\"cat\":\"request\",\"id\":\"{number}\",\"pid\":{HOST},\
                 \"tid\":0,\"ts\":{}{args}}}",
                Micros(at.0)
            );
        };
        put("b", op, arrival, &format!(",\"args\":{args}"));
        let queue = c.parts[LatencyPart::Admission];
        let missed = c.parts[LatencyPart::MapMiss];
        let staged = c.parts[LatencyPart::Staging];
        let link = c.parts[LatencyPart::Link];
        let flash = c.parts.total() - queue - missed - staged - link;
        let mut from = arrival;
        let ways = [
            ("admission", queue),
            ("map_miss", missed),
            ("staging", staged),
            ("flash", flash),
            ("link", link),
        ];
        for (way, time) in ways {
            if time > 0 {
                let to = from + SimDuration(time);
                put("b", way, from, "");
                put("e", way, to, "");
                from = to;
            }
        }
        put("e", op, at, "");
        self.out.write(&self.line)
    }

    /// Write the rest, and give the file its name.
    pub fn finish(mut self) -> Result<(), RunError> {
        if let (Window::Around(number), None) = (self.asked, self.from) {
            let what =
                ": no such request in this run\n  allowed: a number from 0, below that of its requests";
            return Err((Opt::Around.of(number) + what).into());
        }
        if let Window::Between(from, until) = self.asked
            && from > self.last
        {
            let window = format!("{:#}..{:#}", SimDuration(from.0), SimDuration(until.0));
            let what = format!(
                ": the run ends at {:#} of simulated time, before the window\n  allowed: a window that begins \
                 within the run",
                SimDuration(self.last.0)
            );
            return Err((Opt::Window.of(window) + what).into());
        }
        self.out.write("\n]}\n")?;
        self.out.finish()
    }
}

/// The name of a process or of a track.
fn named(what: &str, pid: u32, tid: u32, name: &str) -> String {
    json!({ "ph": "M", "name": what, "pid": pid, "tid": tid, "args": { "name": name } }).to_string()
}
