//! How long a request of the `zipf` workload takes, whose address is one draw of Zipf's law: beside one of
//! `uniform`, so that the difference is the draw and the scattering of ranks. `cargo bench -p
//! wordline-workload --bench zipf`.

use divan::Bencher;
use divan::counter::ItemsCount;
use wordline_workload::{DriveShape, Overrides, Workload};

fn main() {
    divan::main();
}

const REQUESTS: u64 = 100_000;

#[divan::bench(args = [
    "uniform", "zipf:theta=0.99,span=256MiB", "zipf:theta=0.99", "zipf:theta=1.2", "zipf:theta=0.5",
])]
fn requests(bencher: Bencher, text: &str) {
    let workload = Workload::parse(text, Overrides { fit: None, requests: Some(REQUESTS) });
    let Ok(workload) = workload else { panic!("{text} is a workload") };
    let drive = DriveShape { logical_bytes: 1 << 40, sector_bytes: 4096, unit_bytes: 4096 };
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(|| workload.open(drive, 1))
        .bench_values(|stream| stream.map(Iterator::count).unwrap_or_default());
}
