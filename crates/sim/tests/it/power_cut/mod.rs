//! What survives a power cut? Random drives, schemes and operations, cut at random instants: every
//! acknowledged or flushed write is found again, and the map that recovery builds from page metadata
//! is the committed one. Then small scenes, cut at every instant at which something happens.

mod cut;
mod flushes;
mod run;
mod scenes;
mod watch;

use crate::support::{SWARM, caught, number};
use run::Run;
use watch::Tally;
use wordline_device::Flush;
use wordline_ftl::{Initial, Mapped};
use wordline_swarm::{Drive, Rng};
use wordline_units::{Fraction, SimTime};

/// Half of the buffers keep pages back, under schemes that take whole pages.
fn keeping_back(rng: &mut Rng, drive: Drive) -> Drive {
    if !drive.spec.ack.is_buffer() || rng.once_in(2) {
        return drive;
    }
    let flush = Flush { high: Fraction::ONE, low: Fraction::percent(34), idle: None };
    drive.changed(|spec| spec.flush = Some(flush))
}

/// Draw a case and run it; whatever is wrong is told with scheme and device.
fn run(seed: u64, length: u64) -> Result<Tally, String> {
    let mut rng = Rng(seed);
    let drive = SWARM.small_drive(&mut rng).map_err(|e| e.to_string())?;
    let drive = keeping_back(&mut rng, drive);
    let on = format!("{} on\n{}", drive.scheme, wordline_device::to_toml(&drive.spec));
    let run = Run::new(drive.spec, drive.scheme.scheme);
    caught(|| cut_again_and_again(run, rng, seed, length)).map_err(|e| format!("{e}, under {on}"))
}

fn cut_again_and_again(mut run: Run, mut rng: Rng, seed: u64, length: u64) -> Result<Tally, String> {
    if rng.below(2) == 0 {
        let units = run.sectors() / run.per_unit;
        let initial = Initial::holding(Mapped::First(units as u32));
        run.device.ftl.precondition(&initial, seed).unwrap_or_else(|e| panic!("{e}"));
    }
    let mut until_cut = 1 + rng.below(200);
    for _ in 0..length {
        run.step(&mut rng)?;
        until_cut -= 1;
        if until_cut > 0 {
            continue;
        }
        until_cut = 1 + rng.below(200);
        let now = run.device.now();
        let event = run.device.next_event().unwrap_or(now);
        let at = match rng.below(5) {
            0 => now,
            1 => event,
            2 => SimTime(now.0.max(event.0.saturating_sub(1))),
            3 => SimTime(now.0 + rng.below(100_000)),
            _ => SimTime(now.0 + rng.below(2_000_000)),
        };
        run.collect(at)?;
        if run.device.advance_to(at).is_err() {
            return run.error("the drive stops".into());
        }
        run = run.cut()?;
    }
    run.finish()
}

/// The shortest failing run of a seed: the case to replay.
fn shrink(seed: u64, length: u64) -> u64 {
    (1..length).find(|shorter| run(seed, *shorter).is_err()).unwrap_or(length)
}

#[test]
fn what_is_acknowledged_or_flushed_survives_any_power_cut() {
    let (first, cases) = (number("WORDLINE_SEED", 1), number("WORDLINE_CASES", 400));
    let mut tally = Tally::default();
    let failures: Vec<String> = (first..first + cases)
        .filter_map(|seed| {
            let length = Rng(seed ^ 0x6375_7473).below(700);
            match run(seed, length) {
                Ok(t) => {
                    tally.add(t);
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
fn a_torn_wordline_of_a_collection_takes_no_block_of_the_reserve() {
    run(506_426, 578).unwrap_or_else(|e| panic!("{e}"));
}

/// Sectors of one place may have been written at different times: a move that gave all of them the newest version let older
/// data win over what was written since.
#[test]
fn a_page_that_a_scheme_moves_keeps_the_version_of_each_of_its_sectors() {
    run(3040, 315).unwrap_or_else(|e| panic!("{e}"));
}
