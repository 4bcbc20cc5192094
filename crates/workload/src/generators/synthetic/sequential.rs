//! `sequential`: several streams in turn. Each runs through its own share of the space and restarts at its
//! end. Reads have cursors of their own.

use crate::generators::synthetic::patterns::{Pattern, PatternSpec, Space, Wanted};
use crate::generators::synthetic::registry::{Plan, Synthetic};
use serde_json::{Value, json};
use wordline_trace::options::{number, value};
use wordline_trace::{ErrorKind, Parameter, Problem, RandomStream};
use wordline_units::HostOp;

pub(crate) const STREAMS: Parameter =
    value("streams", "count", "1", "1 to 65536", "streams, each in its own share of the span");

pub(crate) static SEQUENTIAL: Synthetic = Synthetic {
    name: "sequential",
    title: "streams of consecutive requests, each through its share of the drive",
    own: &[STREAMS],
    has_common: true,
    plan: |o| Plan::Pattern(Box::new(Sequential { streams: number(o, "streams", 1, 1..=65_536) })),
};

pub(crate) struct Sequential {
    pub streams: u64,
}

impl PatternSpec for Sequential {
    fn begin(&self, space: Space, _random: &mut RandomStream) -> Result<Box<dyn Pattern>, Problem> {
        let share = space.blocks / self.streams / space.align * space.align;
        if share < space.largest {
            let what = format!("{} streams leave less than one request of space for each", self.streams);
            return Err(
                Problem::new(ErrorKind::Option, "streams", what).allowed("fewer streams or a larger span")
            );
        }
        let cursors = || (0..self.streams).map(|s| s * share).collect::<Vec<_>>();
        let cursors = [cursors(), cursors()];
        Ok(Box::new(Cursors { share, align: space.align, cursors, turn: [0, 0] }))
    }

    fn resolved(&self) -> Value {
        json!({ "streams": self.streams })
    }
}

struct Cursors {
    share: u64,
    align: u64,
    /// Cursors of reads, and of writes and trims.
    cursors: [Vec<u64>; 2],
    turn: [usize; 2],
}

impl Pattern for Cursors {
    fn next(&mut self, wanted: Wanted, _random: &mut RandomStream) -> u64 {
        let kind = usize::from(wanted.op != HostOp::Read);
        let stream = self.turn[kind];
        self.turn[kind] = (stream + 1) % self.cursors[kind].len();
        let start = stream as u64 * self.share;
        let cursor = &mut self.cursors[kind][stream];
        if *cursor + wanted.blocks as u64 > start + self.share {
            *cursor = start;
        }
        let at = *cursor;
        *cursor += (wanted.blocks as u64).next_multiple_of(self.align);
        at
    }
}
