//! What survives a power cut? Random drives, schemes and operations, cut at random instants; then small scenes, cut at
//! every instant at which something happens.

mod flushes;
mod scenes;

use crate::support::{SWARM, number};
use wordline_swarm::power::{Tally, length_of_cuts, power_cuts};

/// Run a case; whatever is wrong is told with scheme and device.
fn run(seed: u64, length: u64) -> Result<Tally, String> {
    power_cuts(&SWARM, seed, length).map_err(|e| format!("{e}, under {} on\n{}", e.scheme, e.device))
}

/// The shortest failing run of a seed: the case to replay.
fn shrink(seed: u64, length: u64) -> u64 {
    (1..length).find(|shorter| run(seed, *shorter).is_err()).unwrap_or(length)
}

#[test]
fn acknowledged_or_flushed_data_survive_any_power_cut() {
    let (first, cases) = (number("WORDLINE_SEED", 1), number("WORDLINE_CASES", 400));
    let mut tally = Tally::default();
    let failures: Vec<String> = (first..first + cases)
        .filter_map(|seed| {
            let length = length_of_cuts(seed);
            match run(seed, length) {
                Ok(t) => {
                    tally += t;
                    None
                }
                Err(e) => {
                    let length = shrink(seed, length);
                    let replay = "cargo test -p wordline-sim --test it power_cut::replays";
                    Some(format!("{e}\n  replay: WORDLINE_CASE={seed}:{length} {replay}"))
                }
            }
        })
        .take(10)
        .collect();
    println!("{tally:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let Tally { cuts, torn_programs, torn_erases, lost_requests, protected, undone_trims, logged, .. } =
        tally;
    let met = [cuts, torn_programs, torn_erases, lost_requests, protected, undone_trims, logged];
    assert!(cases < 400 || met.iter().all(|n| *n > 0), "the cases do not try everything: {tally:?}");
}

#[test]
fn replays_the_case_that_the_environment_names() {
    let Ok(case) = std::env::var("WORDLINE_CASE") else { return };
    let (seed, length) = case.split_once(':').expect("WORDLINE_CASE=SEED:LENGTH");
    run(seed.parse().expect("a seed"), length.parse().expect("a length")).unwrap_or_else(|e| panic!("{e}"));
}

/// The block that collection had opened was ended by a torn wordline, and with it the reserve was lost: its pages count
/// from where they were collected, as long as that is not erased.
#[test]
fn torn_gc_wordline_takes_no_reserve_block() {
    run(506_426, 578).unwrap_or_else(|e| panic!("{e}"));
}

/// Sectors of one place may have been written at different times: a move that gave all of them the newest version let older
/// data win over what was written since.
#[test]
fn moved_page_keeps_the_version_of_each_sector() {
    run(3040, 315).unwrap_or_else(|e| panic!("{e}"));
}
