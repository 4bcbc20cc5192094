//! When a write buffer empties: which pages are programmed when, by exact counts and to the nanosecond.

use crate::support::one_die;
use wordline_sim::{Completion, Device, NoProbe};
use wordline_units::{Attributes, HostOp, HostRequest, SimTime};

const BUS: u64 = 20_480;
const LINK: u64 = 1_000;
const PROGRAM: u64 = 3_102_000;

/// A drive with a buffer of eight pages.
fn device(flush: &[(&str, &str)]) -> Device<NoProbe> {
    let keys = [&[("ack.mode", "buffer"), ("ack.pages", "8")], flush].concat();
    one_die::empty(&one_die::spec(&keys), "conventional")
}

/// From full to half.
const FULL: [(&str, &str); 3] = [("ack.flush", "when-full"), ("ack.high", "100%"), ("ack.low", "50%")];

fn ask(d: &mut Device<NoProbe>, op: HostOp, page: u64) {
    d.submit(HostRequest::new(op, page * 32, 32).at(d.now()), d.now()).unwrap();
}

/// Everything that is due happens.
fn settle(d: &mut Device<NoProbe>) -> Vec<Completion> {
    std::iter::from_fn(|| d.next_completion(SimTime(d.now().0 + 100_000_000)).unwrap()).collect()
}

fn programs(d: &Device<NoProbe>) -> u64 {
    d.ftl().counters().regions.iter().map(|r| r.ops.program_operations).sum()
}

/// Seven pages, and ten writes more to the first.
fn seven_and_ten(d: &mut Device<NoProbe>) {
    for page in (0..7).chain([0; 10]) {
        ask(d, HostOp::Write, page);
        settle(d);
    }
}

#[test]
fn page_rewritten_while_waiting_is_programmed_once() {
    let mut at_once = device(&[]);
    seven_and_ten(&mut at_once);
    assert_eq!(programs(&at_once), 17);

    let mut d = device(&FULL);
    seven_and_ten(&mut d);
    assert_eq!(programs(&d), 0);
    // What waits is read from RAM.
    ask(&mut d, HostOp::Read, 3);
    assert_eq!(settle(&mut d)[0].parts.total(), LINK);
    // The eighth page fills it: the four that were written least recently go, and the first page is not among them.
    ask(&mut d, HostOp::Write, 7);
    settle(&mut d);
    assert_eq!(programs(&d), 4);
    let is_mapped =
        |d: &mut Device<NoProbe>, page| !d.ftl_mut().tables().locate(wordline_units::Lpn(page)).is_empty();
    let on_flash: Vec<u32> = (0..8).filter(|page| is_mapped(&mut d, *page)).collect();
    assert_eq!(on_flash, [1, 2, 3, 4]);
    // A FLUSH sends the others off and waits for them.
    ask(&mut d, HostOp::Flush, 0);
    let flushed = settle(&mut d).pop().unwrap();
    assert_eq!(flushed.parts.total(), 4 * (BUS + PROGRAM));
    assert_eq!(programs(&d), 8);
    d.drain().unwrap();
    assert_eq!(d.ftl().counters().regions.iter().map(|r| r.ops.program_operations).sum::<u64>(), 8);
}

#[test]
fn fua_write_takes_only_its_own_page_to_flash() {
    let mut d = device(&FULL);
    ask(&mut d, HostOp::Write, 0);
    ask(&mut d, HostOp::Write, 1);
    settle(&mut d);
    let forced = HostRequest { attributes: Attributes::FUA, ..HostRequest::new(HostOp::Write, 0, 32) };
    let now = d.now();
    d.submit(forced.at(now), now).unwrap();
    let ended = settle(&mut d).pop().unwrap();
    assert_eq!(ended.parts.total(), BUS + PROGRAM + LINK);
    assert_eq!(programs(&d), 1);
}

#[test]
fn waiting_pages_leave_only_once_the_drive_is_idle() {
    let mut d = device(&[("ack.flush", "idle"), ("ack.idle", "2ms")]);
    ask(&mut d, HostOp::Write, 0);
    let ended = d.next_completion(SimTime::NEVER).unwrap().unwrap();
    assert_eq!(ended.at.0, LINK);
    let goes = 2_000_000;
    d.advance_to(SimTime(goes + BUS + PROGRAM - 1)).unwrap();
    assert_eq!(programs(&d), 0);
    d.advance_to(SimTime(goes + BUS + PROGRAM)).unwrap();
    assert_eq!(programs(&d), 1);
}

#[test]
fn write_larger_than_the_free_buffer_finds_room() {
    let mut d = device(&FULL);
    (0..7).for_each(|page| ask(&mut d, HostOp::Write, page));
    settle(&mut d);
    let now = d.now();
    d.submit(HostRequest::new(HostOp::Write, 20 * 32, 6 * 32).at(now), now).unwrap();
    assert_eq!(settle(&mut d).len(), 1);
    d.drain().unwrap();
    assert_eq!(programs(&d), 13);
}
