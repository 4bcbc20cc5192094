//! Cases that were found before the drawing of cases changed, kept whole: device, state, requests. Each stopped, went round
//! in circles or was falsely full, by a rule of docs/progress.md that the drive did not hold to then.

use wordline_schemes::Registry;
use wordline_swarm::{Case, Failure, Outcome, stress};

/// A kept case on a drive with so many more blocks in each plane, run with every check on.
fn run(text: &str, more_blocks: u32) -> Result<Outcome, Failure> {
    let registry = stress::over(&Registry::standard()).unwrap();
    let widen = |spec: &mut wordline_device::DeviceSpec| {
        spec.media.iter_mut().for_each(|m| m.blocks_per_plane += more_blocks);
    };
    Case::read(text, &registry, widen).unwrap_or_else(|why| panic!("{why}")).run()
}

fn goes_on(text: &str) {
    run(text, 0).unwrap_or_else(|failure| panic!("{failure}"));
}

/// It never ended. Rule: a scheme's own moves and idle work find room as `bind` will give it, or are let go (step 3).
#[test]
fn separated_data_over_a_cache_of_sectors_come_to_an_end() {
    goes_on(include_str!("../cases/sa-hot-cold-77002288.txt"));
}

/// Two collections had nothing to do, and pages were in flight. Rule: a collection that has begun ends with its erase (1).
#[test]
fn collections_of_a_fast_and_a_dense_medium_end_with_their_erases() {
    goes_on(include_str!("../cases/fast-then-dense-900018987.txt"));
}

/// A write ended as out of space on a drive with room. Rule: a program waits as long as a victim gains (2).
#[test]
fn no_write_is_refused_while_a_victim_gives_something_back() {
    goes_on(include_str!("../cases/conventional-900040801.txt"));
}

/// The same under maps of parts of pages. Rule: a victim is listed by what emptying it costs (2).
#[test]
fn no_write_of_parts_is_refused_while_a_victim_gives_something_back() {
    goes_on(include_str!("../cases/hierarchy-900044632.txt"));
}

/// It went round in circles. Rule: a block is emptied only if that gives slots back, whoever asks for it (1).
#[test]
fn idle_work_without_end_gives_back_what_it_takes() {
    goes_on(include_str!("../cases/restless-900050849.txt"));
}

/// Three moved pages and no collection. The pages of the host lie in pieces: 43 units in 108 slots, so that no block gives
/// a slot back. That is what docs/progress.md does not cover: the drive says so, and one block more is enough.
#[test]
fn pieces_of_pages_at_the_edge_need_a_block_more() {
    let case = include_str!("../cases/hierarchy-900021932.txt");
    let told = run(case, 0).unwrap_err().message;
    assert!(told.contains("43 live units in 12 blocks of 108 slots"), "{told}");
    run(case, 1).unwrap_or_else(|failure| panic!("{failure}"));
}
