//! A case of the swarm: a drive under a scheme, its initial contents, and the host's requests.

use crate::draw::any::any;
use crate::draw::small::{small, varied};
use crate::draw::spelling::Spellings;
use crate::draw::{edge, host, variants};
use crate::drive::{Drive, Wanted};
use crate::rng::Rng;
use wordline_ftl::Initial;
use wordline_units::HostRequest;

/// Number of drives drawn for a scheme before another scheme is drawn: for a single scheme, and for one over
/// another, where most combinations are refused.
const DRIVES: [u32; 2] = [12, 2];
/// Number of schemes drawn before the draw fails. The second half gets larger drives, because a scheme with
/// many regions has no room on small ones.
const SCHEMES: u32 = 60;
const FURTHER_BLOCKS: u32 = 24;

/// Everything that determines a run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Device and scheme.
    pub drive: Drive,
    /// The contents of the drive before the first request.
    pub initial: Initial,
    /// The requests, in the order of their arrival.
    pub requests: Vec<HostRequest>,
    /// The seed from which it was drawn.
    pub seed: u64,
    /// Number of drives drawn before this one and refused by their schemes.
    pub refused: u32,
}

impl Case {
    /// The case of a seed, with its first `length` requests. A shorter case is the beginning of a longer one.
    pub(crate) fn draw(spellings: &Spellings, seed: u64, length: u64) -> Result<Case, String> {
        let mut rng = Rng::new(seed);
        let (drive, refused) = drawn(&mut rng, spellings)?;
        let drive = varied_further(&mut rng, drive);
        let initial = host::initial(&mut rng, &drive);
        let requests = host::requests(&mut rng, &drive, length);
        Ok(Case { drive, initial, requests, seed, refused })
    }

    /// A case at the edge: a full drive with no more blocks than its scheme needs, and a host that sends
    /// bursts.
    pub(crate) fn at_the_edge(spellings: &Spellings, seed: u64, length: u64) -> Result<Case, String> {
        let mut rng = Rng::new(seed);
        let (drive, refused) = taken(&mut rng, spellings, true, edge::drive)?;
        let drive = varied_further(&mut rng, drive);
        let initial = edge::initial(&mut rng, &drive);
        let requests = edge::requests(&mut rng, &drive, length);
        Ok(Case { drive, initial, requests, seed, refused })
    }
}

/// The drive with the variants that its scheme accepts.
fn varied_further(rng: &mut Rng, drive: Drive) -> Drive {
    let drive = variants::perhaps_mapped_on_flash(rng, drive);
    let drive = variants::perhaps_wearing(rng, drive);
    let drive = variants::perhaps_keeping_back(rng, drive);
    let drive = variants::perhaps_in_superblocks(rng, drive);
    let drive = variants::perhaps_with_parity(rng, drive);
    let drive = variants::perhaps_taking_turns(rng, drive);
    let drive = variants::perhaps_with_a_resting_cache(rng, drive);
    let drive = variants::perhaps_paced(rng, drive);
    let drive = variants::perhaps_parting_copies(rng, drive);
    variants::perhaps_with_a_controller(rng, variants::perhaps_packed(rng, drive))
}

/// A small drive or any drive under a scheme, and the number of drives refused before it.
fn drawn(rng: &mut Rng, spellings: &Spellings) -> Result<(Drive, u32), String> {
    if rng.once_in(2) { taken(rng, spellings, true, varied) } else { taken(rng, spellings, false, any) }
}

/// A small drive under a scheme. Its logical capacity is small enough that it never runs out of space.
pub(crate) fn small_drive(rng: &mut Rng, spellings: &Spellings) -> Result<Drive, String> {
    let (drive, _) = taken(rng, spellings, true, |rng, wanted| small(rng, wanted, 75))?;
    let drive = variants::perhaps_mapped_on_flash(rng, drive);
    let drive = variants::perhaps_in_superblocks(rng, drive);
    let drive = variants::perhaps_with_parity(rng, drive);
    let drive = variants::perhaps_with_a_resting_cache(rng, drive);
    let drive = variants::perhaps_paced(rng, drive);
    Ok(variants::perhaps_with_a_controller(rng, variants::perhaps_packed(rng, drive)))
}

/// The first drive that the scheme drawn for it accepts, and the number refused before it. A refusal is a
/// valid answer, and makes no case.
fn taken(
    rng: &mut Rng,
    spellings: &Spellings,
    is_small: bool,
    draw: impl Fn(&mut Rng, &Wanted) -> Result<Drive, String>,
) -> Result<(Drive, u32), String> {
    let is_stacked = rng.once_in(8);
    let (mut refused, mut reason) = (0, String::new());
    for tried in 0..SCHEMES {
        // Perhaps no two schemes of the registry can be combined.
        let is_stacked = is_stacked && tried < SCHEMES / 2;
        let scheme = spellings.draw(rng, is_small, is_stacked)?;
        let two_media = spellings.media.are_two(rng, &scheme);
        let further_blocks = if tried < SCHEMES / 2 { 0 } else { FURTHER_BLOCKS };
        let wanted = Wanted { scheme: &scheme, two_media, further_blocks };
        for _ in 0..DRIVES[usize::from(is_stacked)] {
            match draw(rng, &wanted) {
                Ok(drive) => return Ok((drive, refused)),
                Err(e) => (refused, reason) = (refused + 1, e),
            }
        }
    }
    Err(format!("{refused} drives were drawn, and the schemes take none of them: {reason}"))
}
