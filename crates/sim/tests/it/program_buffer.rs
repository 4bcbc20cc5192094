//! How long pages wait for the rest of the wordline that is programmed in one shot, by exact counts and times.

use crate::support::one_die;
use wordline_ftl::Cause;
use wordline_sim::{Completion, Device, NoProbe};
use wordline_units::{Attributes, HostOp, HostRequest, SimTime};

type Drive = Device<NoProbe>;

const BUS: u64 = 20_480;
const LINK: u64 = 1_000;
const PROGRAM: u64 = 3_102_000;
const PAD: u64 = 500_000;

/// A drive whose wordlines of four pages are programmed at once.
fn one_shot(keys: &[(&str, &str)]) -> Drive {
    let one_shot = [("medium.flash.qlc.one_shot", "true"), ("medium.flash.qlc.program", "3102us")];
    one_die::empty(&one_die::spec(&[&one_shot, keys].concat()), "conventional")
}

const BUFFER: [(&str, &str); 2] = [("ack.mode", "buffer"), ("ack.pages", "16")];

fn ask(d: &mut Drive, op: HostOp, page: u64, attributes: Attributes) {
    let request = HostRequest { attributes, ..HostRequest::new(op, page * 32, 32) };
    d.submit(request.at(d.now()), d.now()).unwrap();
}

fn write(d: &mut Drive, pages: impl IntoIterator<Item = u64>) {
    pages.into_iter().for_each(|page| ask(d, HostOp::Write, page, Attributes::default()));
}

/// Everything that is due within ten seconds happens.
fn settle(d: &mut Drive) -> Vec<Completion> {
    std::iter::from_fn(|| d.next_completion(SimTime(d.now().0 + 10_000_000_000)).unwrap()).collect()
}

/// One-shot programs, and the pages that they padded.
fn programs(d: &Drive) -> (u64, u64) {
    let counters = d.ftl().counters();
    let unit = d.ftl().view().geometry().unit;
    (
        counters.regions.iter().map(|r| r.ops.program_operations).sum(),
        counters.program_bytes(Cause::Pad) / unit,
    )
}

#[test]
fn protected_buffer_holds_data_until_its_wordline_fills() {
    let mut d = one_shot(&BUFFER);
    write(&mut d, 0..3);
    assert_eq!(settle(&mut d).len(), 3);
    assert_eq!(programs(&d), (0, 0), "nobody waits for them");
    write(&mut d, [3]);
    settle(&mut d);
    assert_eq!(programs(&d), (1, 0));
}

#[test]
fn what_a_time_is_given_for_is_padded_after_it() {
    let timed = [&BUFFER[..], &[("program.pad_after", "20ms")]].concat();
    let mut d = one_shot(&timed);
    write(&mut d, 0..3);
    d.advance_to(SimTime(19_000_000)).unwrap();
    assert_eq!(programs(&d), (0, 0));
    settle(&mut d);
    assert_eq!(programs(&d), (1, 1));
}

#[test]
fn a_flush_and_a_forced_write_do_not_wait_for_others() {
    let mut d = one_shot(&BUFFER);
    write(&mut d, 0..3);
    settle(&mut d);
    ask(&mut d, HostOp::Flush, 0, Attributes::default());
    let flushed = settle(&mut d).pop().unwrap();
    assert_eq!(flushed.parts.total(), 4 * BUS + PROGRAM);
    assert_eq!(programs(&d), (1, 1));

    // The page before it has no hurry; the one that is forced takes it along.
    write(&mut d, [4]);
    settle(&mut d);
    ask(&mut d, HostOp::Write, 5, Attributes::FUA);
    let forced = settle(&mut d).pop().unwrap();
    assert_eq!(forced.parts.total(), PAD + 4 * BUS + PROGRAM + LINK);
    assert_eq!(programs(&d), (2, 3));
}

// It waits for the time of the host before it is padded.
#[test]
fn write_acknowledged_when_programmed_waits_host_time() {
    let protected = [("program.buffer", "protected"), ("program.pad_after", "never")];
    for (wait, keys) in
        [(PAD, &protected[..]), (70_000, &[&protected[..], &[("program.pad_host_after", "70us")]].concat())]
    {
        let mut d = one_shot(keys);
        write(&mut d, [0]);
        assert_eq!(settle(&mut d)[0].parts.total(), wait + 4 * BUS + PROGRAM + LINK);
        assert_eq!(programs(&d), (1, 3));
    }
}

#[test]
fn waiting_wordlines_take_half_of_a_full_buffer() {
    // Four planes, of each a page: the fifth write finds the buffer full.
    let four = [("medium.flash.channels", "4"), ("ack.mode", "buffer"), ("ack.pages", "4")];
    let mut d = one_shot(&four);
    write(&mut d, 0..4);
    assert_eq!(settle(&mut d).len(), 4);
    assert_eq!(programs(&d), (0, 0));
    write(&mut d, [4]);
    assert_eq!(settle(&mut d).len(), 1);
    assert_eq!(programs(&d), (2, 6));
}
