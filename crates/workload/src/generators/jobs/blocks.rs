//! Which blocks of a job's space have been used: one bit per block. Higher levels have one bit per 64-bit
//! word below, set if that word is full, up to a single word. The next free block is found in a few steps,
//! however full the map is. Memory is 1/8 byte per block, plus 1/63 of that for the higher levels.

/// A map of used blocks.
pub(crate) struct UsedBlocks {
    blocks: u64,
    /// Bits, lowest level first. A set bit of a higher level is a full word below.
    levels: Vec<Vec<u64>>,
}

impl UsedBlocks {
    /// A map with all blocks free.
    pub fn new(blocks: u64) -> UsedBlocks {
        let mut levels = Vec::new();
        let mut bits = blocks.max(1);
        loop {
            let words = bits.div_ceil(64);
            let mut level = vec![0u64; words as usize];
            // Bits after the end count as used.
            if !bits.is_multiple_of(64) {
                level[words as usize - 1] = u64::MAX << (bits % 64);
            }
            levels.push(level);
            if words == 1 {
                return UsedBlocks { blocks, levels };
            }
            bits = words;
        }
    }

    /// Free all blocks.
    pub fn clear(&mut self) {
        *self = UsedBlocks::new(self.blocks);
    }

    fn is_used(&self, block: u64) -> bool {
        self.levels[0][(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// Uses up to `count` blocks from `first`, as far as they are free. Returns how many were used.
    pub fn take_run(&mut self, first: u64, count: u64) -> u64 {
        let mut taken = 0;
        while taken < count && first + taken < self.blocks && !self.is_used(first + taken) {
            self.set(first + taken);
            taken += 1;
        }
        taken
    }

    fn set(&mut self, block: u64) {
        let mut at = block;
        for level in &mut self.levels {
            let word = &mut level[(at / 64) as usize];
            *word |= 1 << (at % 64);
            if *word != u64::MAX {
                return;
            }
            at /= 64;
        }
    }

    /// The first free block at or after `from`, wrapping to the beginning. `None` if all are used.
    pub fn next_free(&self, from: u64) -> Option<u64> {
        self.free_from(from).or_else(|| self.free_from(0))
    }

    fn free_from(&self, from: u64) -> Option<u64> {
        if from >= self.blocks {
            return None;
        }
        // Go up until a word has a free bit at or after this position, then down to the block.
        let mut at = from;
        for height in 0..self.levels.len() {
            let word = (at / 64) as usize;
            let free = self.levels[height].get(word).map_or(0, |w| !w & u64::MAX << (at % 64));
            if free != 0 {
                let mut found = word as u64 * 64 + free.trailing_zeros() as u64;
                for below in self.levels[..height].iter().rev() {
                    found = found * 64 + (!below[found as usize]).trailing_zeros() as u64;
                }
                return Some(found);
            }
            at = at / 64 + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_trace::RandomStream;

    #[test]
    fn the_next_free_block_is_that_of_a_plain_list() {
        let mut random = RandomStream::new(3, "test");
        for blocks in [1, 2, 63, 64, 65, 4095, 4096, 4097, 5000] {
            let (mut map, mut plain) = (UsedBlocks::new(blocks), vec![false; blocks as usize]);
            for _ in 0..blocks {
                let from = random.below(blocks);
                let want = (0..blocks).map(|i| (from + i) % blocks).find(|b| !plain[*b as usize]);
                assert_eq!(map.next_free(from), want, "{blocks} blocks from {from}");
                let first = want.unwrap();
                let run = (first..blocks).take(3).take_while(|b| !plain[*b as usize]).count() as u64;
                assert_eq!(map.take_run(first, 3), run);
                (first..first + run).for_each(|b| plain[b as usize] = true);
                if plain.iter().all(|used| *used) {
                    break;
                }
            }
            (0..blocks).for_each(|b| {
                map.take_run(b, 1);
            });
            assert_eq!(map.next_free(0), None);
            map.clear();
            assert_eq!(map.next_free(blocks - 1), Some(blocks - 1));
        }
    }
}
