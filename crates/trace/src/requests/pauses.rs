//! Pauses of a closed loop's client, after each request or after a number of bytes.

use crate::requests::fit::DriveShape;
use crate::requests::pace::ByteBound;
use crate::text::parameter::{Options, Parameter, value};
use serde_json::{Value, json};
use wordline_units::SimDuration;

/// Pauses of a client that keeps requests outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pauses {
    /// Time between the completion of a request and the submission of the one that replaces it.
    pub think: SimDuration,
    /// Number of written bytes after which the client waits for all outstanding requests, and how long it
    /// then pauses.
    pub burst: Option<(u64, SimDuration)>,
}

/// Pauses as given, before the drive is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pausing {
    think: SimDuration,
    burst: Option<(ByteBound, SimDuration)>,
}

impl Pausing {
    /// The pause after each request.
    pub const THINK: Parameter = value(
        "think",
        "time",
        "0",
        "such as 5ms, in a closed loop",
        "think time: from a completion to the next submission",
    );
    /// The size of a burst.
    pub const BURST: Parameter = value(
        "burst",
        "size",
        "none",
        "such as 64MiB, or 0.05x the drive, in a closed loop",
        "bytes written before the client waits for all outstanding requests and rests",
    );
    /// The pause after each burst.
    pub const REST: Parameter =
        value("rest", "time", "none", "such as 30s, with burst", "how long the client rests after a burst");

    /// Parse the pauses from the options of a workload; `closed` says whether it is a closed loop.
    pub fn of(o: &mut Options, closed: bool) -> Pausing {
        const TIME: &str = "a time such as 5ms";
        let think = o.get::<SimDuration>("think", TIME);
        let burst = o.get::<ByteBound>("burst", "a size such as 64MiB, or 0.05x the drive");
        let rest = o.get::<SimDuration>("rest", TIME);
        if !closed && let Some(key) = ["think", "burst", "rest"].into_iter().find(|k| o.text(k).is_some()) {
            o.reject(key, "think time requires a closed loop".into(), "with a closed loop", "");
        }
        match (o.text("burst").is_some(), o.text("rest").is_some()) {
            (true, false) => o.reject("burst", "rest is missing".into(), "burst and rest", ""),
            (false, true) => o.reject("rest", "burst is missing".into(), "burst and rest", ""),
            _ => {}
        }
        Pausing { think: think.unwrap_or_default(), burst: burst.zip(rest) }
    }

    /// The pauses on a drive, if any.
    pub fn on(self, drive: DriveShape) -> Option<Pauses> {
        let burst = self.burst.map(|(bytes, rest)| (bytes.of(drive.logical_bytes), rest));
        Some(Pauses { think: self.think, burst }).filter(|p| *p != Pauses::default())
    }

    /// Their entry in the configuration of a run, if any.
    pub fn resolve(self, resolved: &mut Value) {
        if self != Pausing::default() {
            let (burst, rest) = self.burst.map(|(b, r)| (b.to_string(), r)).unzip();
            resolved["pauses"] = json!({ "think": self.think, "burst": burst, "rest": rest });
        }
    }
}
