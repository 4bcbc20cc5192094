//! Cases that were found before the drawing of cases changed, kept whole: device, state, requests. Each stopped, went round
//! in circles or was falsely full, by a rule of docs/progress.md that the drive did not hold to then.

use wordline_schemes::Registry;
use wordline_swarm::{read_case, run_case, stress};

/// A kept case runs to its end, with every check on.
fn goes_on(text: &str) {
    let registry = stress::over(&Registry::standard()).unwrap();
    let case = read_case(text, &registry).unwrap_or_else(|why| panic!("{why}"));
    run_case(&case).unwrap_or_else(|failure| panic!("{failure}"));
}

/// It never ended. Rule: a scheme's own moves and idle work find room as `bind` will give it, or are let go (step 3).
#[test]
fn separated_data_over_a_sector_cache_make_progress() {
    goes_on(include_str!("../cases/sa-hot-cold-77002288.txt"));
}

/// Two collections had nothing to do, and pages were in flight. Rule: a collection that has begun ends with its erase (1).
#[test]
fn gc_of_fast_and_dense_media_ends_with_erases() {
    goes_on(include_str!("../cases/fast-then-dense-900018987.txt"));
}

/// A write ended as out of space on a drive with room. Rule: a program waits as long as a victim gains (2).
#[test]
fn no_write_fails_while_a_victim_gains() {
    goes_on(include_str!("../cases/conventional-900040801.txt"));
}

/// The same under maps of parts of pages. Rule: a victim is listed by what emptying it costs (2).
#[test]
fn no_partial_write_fails_while_a_victim_gains() {
    goes_on(include_str!("../cases/hierarchy-900044632.txt"));
}

/// It went round in circles. Rule: a block is emptied only if that gives slots back, whoever asks for it (1).
#[test]
fn idle_work_without_end_gives_back_what_it_takes() {
    goes_on(include_str!("../cases/restless-900050849.txt"));
}

/// Three moved pages and no collection: 43 units lay in 108 slots, in pieces, so that no block gave a slot back. Rule: where
/// nothing gains, pieces are joined (step 3).
#[test]
fn pages_in_pieces_are_joined_where_no_victim_gains() {
    goes_on(include_str!("../cases/hierarchy-900021932.txt"));
}

/// Idle work that follows its page is over where it ends.
#[test]
fn idle_work_ends_where_its_page_ends() {
    goes_on(include_str!("../cases/hyssd-10006464.txt"));
    goes_on(include_str!("../cases/hyssd-10024087.txt"));
}

/// A move in a group does not wait for moves that wait for its place.
#[test]
fn grouped_moves_do_not_wait_for_each_other() {
    goes_on(include_str!("../cases/hyssd-conventional-9005289.txt"));
}

/// Blocks of the initial state are victims by what emptying them costs.
#[test]
fn initial_blocks_are_victims_by_their_cost() {
    goes_on(include_str!("../cases/hierarchy-8529004673.txt"));
}

/// What may lie in any plane leaves others a place.
#[test]
fn data_of_any_plane_leave_others_a_place() {
    goes_on(include_str!("../cases/hierarchy-edge-10.txt"));
    goes_on(include_str!("../cases/sector-edge-22023.txt"));
    goes_on(include_str!("../cases/hierarchy-edge-42205.txt"));
}

/// A page that is being packed waits for its own time when the group before it leaves.
#[test]
fn packed_page_waits_for_its_own_time() {
    goes_on(include_str!("../cases/restless-hot-cold-edge-5005055.txt"));
}

/// It went on, but with a wrong count: a page of two units was packed as one unit of another page.
#[test]
fn units_of_a_broken_group_share_pages_anew() {
    goes_on(include_str!("../cases/hotness-6002078.txt"));
}

/// Groups of moved pages that hold places for which others wait are padded (step 3): found with that left out.
#[test]
fn move_groups_are_padded_if_others_wait() {
    goes_on(include_str!("../cases/hyssd-conventional-51000723.txt"));
}

/// Moves from the dense medium waited for room in the fast one, whose collection waited for room in the dense one, whose
/// collections waited for those moves to leave their blocks; and writes ended as out of space for it. Rule: moves without
/// room are given up before anything else is (step 3).
#[test]
fn promotions_into_a_full_cache_make_progress() {
    goes_on(include_str!("../cases/hyssd-conventional-31003286.txt"));
    goes_on(include_str!("../cases/hyssd-ips-cooperative-61000863.txt"));
    goes_on(include_str!("../cases/hyssd-ips-agc-61008999.txt"));
    goes_on(include_str!("../cases/hyssd-51005586.txt"));
}

/// Acknowledged data never left RAM, or a write ended as out of space, though superblocks with parity held mostly invalid
/// data. Rule: a collection pads one program of a superblock alone, and each that gains by that begins (1, 2).
#[test]
fn superblock_with_parity_gains_what_it_does_not_hold() {
    goes_on(include_str!("../cases/conventional-edge-1039.txt"));
    goes_on(include_str!("../cases/conventional-edge-20522.txt"));
}

/// Reads that were queued in one plane kept data from it, and three superblocks were open for its slots, when a write ended
/// as out of space. Rule: an open slot of any plane comes before the reserve (1).
#[test]
fn open_slots_of_a_superblock_precede_its_reserve() {
    goes_on(include_str!("../cases/conventional-edge-700660.txt"));
}

/// Idle time read a page of the cache without end, since a full plane had no slot for it. Rule: idle work begins where it
/// can end (4).
#[test]
fn idle_move_without_a_slot_does_not_begin() {
    goes_on(include_str!("../cases/turbo-write-3751.txt"));
}
