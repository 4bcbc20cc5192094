//! A watch for livelock: a drive that erases its blocks repeatedly without host data reaching flash and without new
//! requests.

/// Maximum number of erases of all blocks without progress. Idle work, refresh and wear leveling take each block a few
/// times.
const ROUNDS: u32 = 64;

/// Counts erases since the host last got on.
#[derive(Clone, Debug)]
pub(crate) struct ProgressWatch {
    /// Host progress at that time.
    seen: u64,
    erases: u32,
    most: u32,
}

impl ProgressWatch {
    /// The count of a drive with this many blocks.
    pub fn new(blocks: u32) -> ProgressWatch {
        ProgressWatch { seen: 0, erases: 0, most: blocks.saturating_mul(ROUNDS) }
    }

    /// Restart the count.
    pub fn start_anew(&mut self) {
        self.erases = 0;
    }

    /// Count an erase at this host progress, a number that only grows. Returns the erases since its last change, if
    /// they are too many.
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
