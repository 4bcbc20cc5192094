//! What survives a power cut? Power is cut at random times. Every acknowledged or flushed write must be found
//! again, and the mapping table that recovery builds from page metadata must be the committed one.

mod run;
mod watch;

use crate::drive::Drive;
use crate::rng::Rng;
use crate::swarm::{Failure, Swarm, caught};
pub use run::Run;
pub use watch::{Tally, Watch};
use wordline_device::Flush;
use wordline_units::{Fraction, SimTime};

/// Half of the write buffers delay flushing, under schemes that take whole pages.
fn keeping_back(rng: &mut Rng, drive: Drive) -> Drive {
    if !drive.spec.ack.is_buffer() || rng.once_in(2) {
        return drive;
    }
    let flush = Flush { high: Fraction::ONE, low: Fraction::percent(34), idle: None };
    drive.changed(|spec| spec.flush = Some(flush))
}

/// Number of requests of a seed's full power-cut case.
pub fn length_of_cuts(seed: u64) -> u64 {
    Rng::new(seed ^ 0x6375_7473).below(700)
}

/// Draws a small drive, a scheme and requests, and cuts the power from time to time. Returns what the cuts
/// met.
///
/// # Errors
/// The first error found, or the message of a panic.
pub fn power_cuts(swarm: &Swarm, seed: u64, length: u64) -> Result<Tally, Failure> {
    let mut rng = Rng::new(seed);
    let drive = swarm.small_drive(&mut rng)?;
    let drive = keeping_back(&mut rng, drive);
    let (scheme, device) = (drive.scheme.to_string(), wordline_device::to_toml(&drive.spec));
    let cut = || cut_again_and_again(Run::new(drive.spec, drive.scheme.scheme)?, rng, seed, length);
    caught(cut).map_err(|message| Failure { seed, length, scheme, device, message })
}

fn cut_again_and_again(mut run: Run, mut rng: Rng, seed: u64, length: u64) -> Result<Tally, String> {
    if rng.below(2) == 0 {
        run.fill(seed)?;
    }
    let mut until_cut = 1 + rng.below(200);
    for _ in 0..length {
        run.step(&mut rng)?;
        until_cut -= 1;
        if until_cut > 0 {
            continue;
        }
        until_cut = 1 + rng.below(200);
        let now = run.now();
        let event = run.next_event().unwrap_or(now);
        let at = match rng.below(5) {
            0 => now,
            1 => event,
            2 => SimTime(now.0.max(event.0.saturating_sub(1))),
            3 => SimTime(now.0 + rng.below(100_000)),
            _ => SimTime(now.0 + rng.below(2_000_000)),
        };
        run.collect(at)?;
        run.advance_to(at)?;
        run = run.cut()?;
    }
    run.finish()
}
