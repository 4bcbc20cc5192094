//! What a draw and a request cost. `ranks` is one draw of Zipf's law and nothing else, beside `numbers`, an
//! even draw from the same stream: the random number is in both. `requests` is a whole request, with its
//! kind, size and time; `zipf` scatters its ranks over the drive, `uniform` has none. `twins` is the same
//! for twins. `cargo bench -p wordline-workload --bench generators`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use wordline_trace::{DriveShape, Overrides, RandomStream};
use wordline_workload::{Workload, ZipfLaw};

const DRAWS: u64 = 100_000;
const DRIVE: DriveShape = DriveShape { logical_bytes: 1 << 50, sector_bytes: 4096, unit_bytes: 4096 };

fn main() {
    divan::main();
}

fn draws(bencher: Bencher, draw: impl Fn(&mut RandomStream) -> u64) {
    let mut random = RandomStream::new(1, "bench");
    let counted = bencher.counter(ItemsCount::new(DRAWS));
    counted.bench_local(|| (0..DRAWS).fold(0u64, |sum, _| sum.wrapping_add(draw(&mut random))));
}

#[divan::bench]
fn numbers(bencher: Bencher) {
    draws(bencher, |r| r.below(black_box(1 << 16)));
}

/// By the number of ranks and a thousand times θ: up to 65,536 ranks have a table.
#[divan::bench(args = [(1 << 16, 990), (1 << 28, 500), (1 << 28, 990), (1 << 28, 1200)])]
fn ranks(bencher: Bencher, (ranks, theta): (u64, u64)) {
    let law = ZipfLaw::over(ranks, theta as f64 / 1000.0);
    let Some(law) = law else { panic!("{ranks} ranks have a law") };
    draws(bencher, |r| law.draw(r));
}

fn requests_of(bencher: Bencher, text: &str) {
    let workload = Workload::parse(text, Overrides { fit: None, requests: Some(DRAWS) });
    let Ok(workload) = workload else { panic!("{text} is a workload") };
    bencher
        .counter(ItemsCount::new(DRAWS))
        .with_inputs(|| workload.open(DRIVE, 1))
        .bench_values(|stream| stream.map(Iterator::count).unwrap_or_default());
}

#[divan::bench(args = [
    "uniform", "zipf:theta=0.99,span=256MiB", "zipf:theta=0.99,span=1TiB", "bursty", "mix",
])]
fn requests(bencher: Bencher, text: &str) {
    requests_of(bencher, text);
}

#[divan::bench(args = [
    "hm_0", "web_0", "financial", "exchange", "dap", "msfs", "lun1", "proj_0", "raro-1.2",
])]
fn twins(bencher: Bencher, name: &str) {
    requests_of(bencher, &format!("twin:{name}"));
}
