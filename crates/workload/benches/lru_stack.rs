//! Uses a second of the LRU stack, over four million pages: the working set of 16 GiB.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use wordline_reuse::LruStack;
use wordline_trace::RandomStream;

const PAGES: u32 = 4_000_000;
const USES: u64 = 4_000_000;

fn main() {
    divan::main();
}

fn uses(bencher: Bencher, next: impl Fn(&mut RandomStream) -> u32) {
    let mut stack = LruStack::new(PAGES as usize);
    (0..PAGES).for_each(|page| {
        stack.touch(page);
    });
    let mut random = RandomStream::new(1, "bench");
    bencher.counter(ItemsCount::new(USES)).bench_local(|| {
        let distances = (0..USES).filter_map(|_| stack.touch(next(&mut random)));
        black_box(distances.map(u64::from).sum::<u64>())
    });
}

/// Every page as likely as any other: the worst for the machine's caches.
#[divan::bench(sample_count = 10)]
fn uniform(b: Bencher) {
    uses(b, |r| r.below(PAGES as u64) as u32);
}

/// Nine uses in ten go to a tenth of the pages.
#[divan::bench(sample_count = 10)]
fn hot(b: Bencher) {
    uses(
        b,
        |r| if r.below(10) > 0 { r.below(PAGES as u64 / 10) as u32 } else { r.below(PAGES as u64) as u32 },
    );
}
