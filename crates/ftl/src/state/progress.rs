//! A watch on work without progress: a drive that erases its blocks again and again, while nothing of the host's comes to
//! flash and no request comes, is in a livelock.

/// How often a drive may erase all its blocks while nothing comes of it. What idle time, refresh and levelling do on their
/// own takes each block a few times.
const ROUNDS: u32 = 64;

/// Counts erases since the host last got on.
#[derive(Clone, Debug)]
pub(crate) struct ProgressWatch {
    /// What had come of the host's by then.
    seen: u64,
    erases: u32,
    most: u32,
}

impl ProgressWatch {
    /// Of a drive with this many blocks.
    pub fn new(blocks: u32) -> ProgressWatch {
        ProgressWatch { seen: 0, erases: 0, most: blocks.saturating_mul(ROUNDS) }
    }

    /// Count from now on.
    pub fn start_anew(&mut self) {
        self.erases = 0;
    }

    /// A block has been erased, when so much had come of the host's: a count that only grows. Returns the erases since it
    /// last grew, if they are too many.
    pub fn erased(&mut self, come: u64) -> Option<u32> {
        if come != self.seen {
            (self.seen, self.erases) = (come, 0);
        }
        self.erases += 1;
        (self.erases > self.most).then_some(self.erases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erases_count_from_when_the_host_last_got_on() {
        let mut watch = ProgressWatch::new(2);
        for come in [1, 2] {
            assert!((0..2 * ROUNDS).all(|_| watch.erased(come).is_none()));
        }
        assert_eq!(watch.erased(2), Some(2 * ROUNDS + 1));
        assert_eq!(watch.erased(3), None);
    }
}
