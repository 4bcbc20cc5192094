//! What a probe sees, and through it the moments that no latency shows by itself.

use std::collections::HashSet;
use wordline_ftl::{Cause, Initial, Mapped, OpKind, Order, Part};
use wordline_sim::{Begin, Device, Event, Probe};
use wordline_swarm::Tiny;
use wordline_units::{HostOp, HostRequest, SimTime};

/// Keeps every operation with its parts and the time of its first use.
#[derive(Default)]
struct Watch {
    begun: Vec<(Begin, Vec<Part>)>,
    starts: Vec<SimTime>,
    uses: Vec<(u64, SimTime, SimTime)>,
}

impl Probe for Watch {
    const WATCHES: bool = true;

    fn begin(&mut self, begin: &Begin, parts: impl Iterator<Item = Part>) {
        self.begun.push((*begin, parts.collect()));
    }

    fn event(&mut self, event: Event) {
        let (op, start, end) = match event {
            Event::Array { op, start, end, .. } | Event::Bus { op, start, end, .. } => (op, start, end),
            Event::Ready { .. } => return,
        };
        if self.starts.len() < self.begun.len() {
            assert_eq!(self.begun.last().unwrap().0.op, op, "its begin comes right before its first use");
            self.starts.push(start);
        }
        self.uses.push((op, start, end));
    }
}

fn device(tiny: &Tiny, scheme: &str, bits: u32) -> Device<Watch> {
    let spec = tiny.spec(bits);
    let scheme = wordline_schemes::build(scheme).unwrap();
    Device::new(&spec, &spec.geometry().unwrap(), scheme, Watch::default()).unwrap()
}

/// Single units written one by one, so slowly that each collection is over before the next begins.
fn slow_overwrites(tiny: &Tiny) -> Device<Watch> {
    let mut d = device(tiny, "conventional:mode=slc", 1);
    let units = tiny.units(1) as u64;
    let mut dice = 1u64;
    for i in 0..1500 {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let lba = (dice >> 33) % units * tiny.sectors_per_unit as u64;
        let at = SimTime(i * 5_000_000);
        d.submit(HostRequest::new(HostOp::Write, lba, tiny.sectors_per_unit).at(at), at).unwrap();
    }
    d.advance_to(SimTime(1500 * 5_000_000)).unwrap();
    d
}

#[test]
fn every_operation_begins_once_under_its_own_number() {
    let d = slow_overwrites(&Tiny::default());
    let numbers: HashSet<u64> = d.probe().begun.iter().map(|(b, _)| b.op).collect();
    assert_eq!(numbers.len(), d.probe().begun.len());
    let uses = |kind| if kind == OpKind::Erase { 1 } else { 2 };
    let expected: usize = d.probe().begun.iter().map(|(b, _)| uses(b.kind)).sum();
    assert_eq!(d.probe().uses.len(), expected);
    let erases = d.probe().begun.iter().filter(|(b, _)| b.kind == OpKind::Erase).count() as u64;
    assert!(erases > 0 && erases == d.ftl().counters().erases.iter().sum::<u64>());
}

#[test]
fn a_packed_page_waits_its_own_time_for_company() {
    let tiny = Tiny { units_per_page: 2, sectors_per_unit: 1, ..Tiny::default() };
    let d = slow_overwrites(&tiny);
    let (mut padded, mut last_read) = (0, SimTime(0));
    for ((begin, parts), start) in d.probe().begun.iter().zip(&d.probe().starts) {
        if begin.cause != Cause::Gc {
            continue;
        }
        if begin.kind == OpKind::Read {
            last_read = d.probe().uses.iter().rfind(|(op, ..)| *op == begin.op).unwrap().2;
        } else if begin.kind == OpKind::Program && parts.len() == 1 {
            // Alone, so the unit that the last read brought is the one that waited.
            padded += 1;
            assert!(
                start.since(last_read).0 >= 500_000,
                "padded {} ns after it came",
                start.since(last_read).0
            );
        }
    }
    assert!(padded > 20, "only {padded} pages were padded");
}

// Whatever else sets a timer meanwhile.
#[test]
fn timer_precedes_what_was_set_after_it() {
    let tiny = Tiny { chips: 2, one_shot: true, ..Tiny::default() };
    let mut d = device(&tiny, "conventional", 3);
    let held = Initial { order: Order::Sequential, ..Initial::holding(Mapped::First(6)) };
    d.ftl_mut().setup().precondition(&held, 1).unwrap();
    let page = |op, lpn: u64, at| (HostRequest::new(op, lpn * 4, 4).at(SimTime(at)), SimTime(at));
    // A page for plane 0 waits for company until 500 us. A read of plane 1 has been sensed at 500 us, too,
    // and wants the same bus. In between another page begins to wait.
    for (request, at) in [
        page(HostOp::Write, 0, 0),
        page(HostOp::Read, 3, 493_000), // a CSB page: 7 us
        page(HostOp::Write, 1, 496_000),
    ] {
        d.submit(request, at).unwrap();
    }
    let read = d.next_completion(SimTime(600_000)).unwrap().unwrap();
    let (group, one) = (3 * 2048, 2048);
    assert_eq!((read.number, read.at), (1, SimTime(500_000 + group + one)));
}
