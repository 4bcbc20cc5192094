//! What a layout makes of a drive's flash, and what it says of states that fit.

use crate::bench::{self, Bench, drive};
use wordline_device::Trigger;
use wordline_ftl::{FlashUse, Initial, InitialError, Mapped, RegionId};
use wordline_units::{CellMode, Fraction};

const PAGE: u64 = 2048;

#[test]
fn free_share_within_reach_is_what_the_data_leave() {
    let b = Bench::new(bench::one(CellMode::Slc), &[]);
    let (layout, geometry) = (b.ftl.layout(), &b.drive.geometry);
    let home = RegionId(0);
    // Ten blocks of four pages.
    assert_eq!(FlashUse::new(layout, geometry).reachable_free_share(home, 0), 1.0);
    assert_eq!(FlashUse::new(layout, geometry).reachable_free_share(home, 16 * PAGE), 0.6);
    assert_eq!(FlashUse::new(layout, geometry).reachable_free_share(home, 17 * PAGE), 0.5);
    assert_eq!(FlashUse::new(layout, geometry).resting_bytes(), 40 * PAGE);
}

#[test]
fn trigger_is_out_of_reach_once_data_need_its_blocks() {
    for (percent, slots, live, missed) in [
        (60, false, 16, false),
        (61, false, 16, true),
        (50, false, 17, false),
        (60, false, 17, true),
        (57, true, 17, false),
        (58, true, 17, true),
    ] {
        let share = Fraction::percent(percent);
        let trigger = if slots { Trigger::FreeSlots(share) } else { Trigger::FreeBlocks(share) };
        let b = Bench::new(bench::one(CellMode::Slc).with(|r| r.trigger = trigger), &[]);
        let found = FlashUse::new(b.ftl.layout(), &b.drive.geometry).triggers_out_of_reach(live * PAGE);
        assert_eq!(!found.is_empty(), missed, "{trigger} beside {live} pages: {found:?}");
    }
}

#[test]
fn cache_in_blocks_of_its_own_adds_no_room_for_data() {
    let b = Bench::new(bench::cache(), &[]);
    let (layout, geometry) = (b.ftl.layout(), &b.drive.geometry);
    let flash = FlashUse::new(layout, geometry).flash_bytes();
    assert!(
        flash[CellMode::Slc.index()] > 0
            && flash[CellMode::Tlc.index()] == FlashUse::new(layout, geometry).resting_bytes()
    );
}

#[test]
fn fitting_state_collects_with_its_first_blocks() {
    for percent in [50, 90, 100] {
        let mut b = Bench::new(bench::one(CellMode::Slc), &[]);
        let (share, valid) = b.ftl.inspect().fill_short_of_collection(Fraction::percent(percent)).unwrap();
        let pages = share.of(b.ftl.inspect().logical_lbas() / 4) as u32;
        assert!(percent < 100 || pages == 16, "{share}");
        b.ftl.setup().precondition(&Initial { valid, ..Initial::holding(Mapped::First(pages)) }, 1).unwrap();
        assert_eq!(b.ftl.counters().collections, 0);
        b.fill(0..8);
        assert!(b.ftl.counters().collections > 0, "{percent} % of the pages in blocks {valid} valid");
    }
}

#[test]
fn oversized_state_names_a_valid_share_that_fits() {
    let state = |valid| Initial { valid, ..Initial::holding(Mapped::First(16)) };
    let begun = |valid| Bench::new(bench::one(CellMode::Slc), &[]).ftl.setup().precondition(&state(valid), 1);
    let Err(InitialError::TooMuch { would_do: Some(valid), .. }) = begun(Fraction::percent(25)) else {
        panic!("a quarter of each block takes sixteen of them");
    };
    begun(valid).unwrap();
    assert_eq!(drive(&[]).spec.logical_bytes(), 16 * PAGE);
}
