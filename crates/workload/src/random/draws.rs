//! Where the random numbers of a workload come from.

use wordline_trace::RandomStream;

/// The seed of a workload, and its pass. What a workload is like (which pages are hot, where files lie) follows from the
/// seed alone; what it draws also differs from pass to pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Draws {
    pub seed: u64,
    /// From 0, for a workload that is repeated.
    pub pass: u64,
}

impl Draws {
    /// Those of the first pass.
    pub fn first(seed: u64) -> Draws {
        Draws { seed, pass: 0 }
    }

    /// The numbers of a part that are the same in every pass.
    pub fn fixed(self, part: &str) -> RandomStream {
        RandomStream::new(self.seed, part)
    }

    /// The numbers of a part in this pass.
    pub fn drawn(self, part: &str) -> RandomStream {
        self.after(part, self.fixed(part))
    }

    /// The numbers of a part in this pass, if its first ones were the fixed ones taken from `fixed`.
    pub fn after(self, part: &str, fixed: RandomStream) -> RandomStream {
        match self.pass {
            0 => fixed,
            pass => RandomStream::new(self.seed, &format!("{part}/pass {pass}")),
        }
    }
}
