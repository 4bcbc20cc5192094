//! Who begins, and who waits, in a die without a clock.

use crate::back_end::{BackEnd, Begin};
use crate::clock::Clock;
use crate::state::agenda::Ask;
use crate::state::plane::{Place, Want};
use wordline_ftl::{BoxedMedia, Cause, Class, DriveInfo, Ftl, OpId, OpKind, QueueEntry};
use wordline_swarm::Tiny;
use wordline_units::{PlaneId, SimTime};

/// A die of four planes that share its array, and an empty layer over it.
fn die(multiplane: bool) -> (BackEnd, Ftl) {
    let spec = Tiny { planes: 4, multiplane, ..Tiny::default() }.spec(1);
    let geometry = spec.geometry().unwrap();
    let logical_pages = (spec.logical_bytes() / spec.unit.0) as u32;
    let info = DriveInfo { spec: &spec, geometry: &geometry, logical_pages };
    let scheme = wordline_schemes::build("conventional:mode=slc").unwrap();
    (BackEnd::new(&spec, &geometry), Ftl::over(&info, scheme, BoxedMedia::none()).unwrap())
}

fn entry(class: Class, id: u32, plane: u32, kind: OpKind) -> QueueEntry {
    let key = (class as u64) << 56 | u64::from(id);
    QueueEntry::new(OpId(id), PlaneId(plane), key, kind, Cause::Host)
}

fn read(id: u32, plane: u32) -> QueueEntry {
    entry(Class::Read, id, plane, OpKind::Read)
}

fn program(id: u32, plane: u32) -> QueueEntry {
    entry(Class::Write, id, plane, OpKind::Program)
}

/// An operation has its plane and its array from 0 to 100.
fn begin(back: &mut BackEnd, entry: QueueEntry) {
    let (now, end) = (SimTime(0), SimTime(100));
    let array = back.planes.give(entry, now).array as usize;
    back.scheduler.begin_on_array(array, entry, (now, end), end.since(now));
}

#[test]
fn operation_begins_at_once_where_nothing_is_before_it() {
    let (mut back, ftl) = die(false);
    assert_eq!(back.come(read(1, 0), &ftl, SimTime(0)), Some(Begin::OnArray(read(1, 0))));
    assert_eq!(back.come(program(2, 1), &ftl, SimTime(0)), Some(Begin::Program(program(2, 1))));
    begin(&mut back, read(1, 0));
    // Its array is busy, and its plane.
    assert_eq!(back.come(read(3, 2), &ftl, SimTime(0)), None);
    assert_eq!(back.come(program(4, 0), &ftl, SimTime(0)), None);
    assert_eq!(back.come(program(5, 3), &ftl, SimTime(0)), Some(Begin::Program(program(5, 3))));
}

#[test]
fn plane_that_offers_waits_for_its_array_once() {
    let (mut back, ftl) = die(false);
    begin(&mut back, read(1, 0));
    assert!(back.queue(read(2, 1)) && back.queue(read(3, 2)));
    for plane in [1, 2, 1] {
        assert_eq!(back.offer(plane, &ftl, SimTime(0)), None);
        assert_eq!(back.planes().wants(plane), Want::Array);
    }
    let array = back.planes.place(0).array;
    assert!(!back.may_begin(Ask::Array(array)) && back.scheduler.next_ask().is_none());
    back.scheduler.end_at_array(array as usize, SimTime(100));
    assert_eq!(back.at_array(array as usize, &ftl, SimTime(0)), Some(Begin::OnArray(read(2, 1))));
    assert_eq!(back.at_array(array as usize, &ftl, SimTime(0)), Some(Begin::OnArray(read(3, 2))));
    assert_eq!(back.at_array(array as usize, &ftl, SimTime(0)), None);
}

#[test]
fn plane_without_a_page_lets_its_bus_serve_others() {
    let (mut back, ftl) = die(false);
    let mut clock = Clock::default();
    back.planes.give(program(9, 3), SimTime(0));
    let place = back.planes.place(3);
    let end = back.begin_on_bus((place, program(9, 3)), 1, 0, &mut clock);
    let channel = place.channel;
    assert_eq!(clock.next(), Some(end));
    assert!(back.queue(program(1, 0)) && back.queue(program(2, 0)) && back.queue(program(3, 1)));
    [0, 1].into_iter().for_each(|plane| assert_eq!(back.offer(plane, &ftl, SimTime(0)), None));
    assert!(!back.may_begin(Ask::Bus(channel)));
    back.scheduler.end_at_bus(channel as usize);
    assert_eq!(back.at_bus(channel as usize, &ftl), Some(Begin::Program(program(1, 0))));
    // It finds no page: its plane has the next one wait, and the bus is asked again.
    back.pass_over(0, &ftl);
    assert_eq!((back.scheduler.next_ask(), back.scheduler.next_ask()), (Some(Ask::Bus(channel)), None));
    assert_eq!(back.at_bus(channel as usize, &ftl), Some(Begin::Program(program(2, 0))));
}

#[test]
fn sensed_page_is_transferred_once_its_bus_is_free() {
    let (mut back, mut ftl) = die(false);
    assert!(back.arrays().are_at_rest());
    begin(&mut back, program(1, 0));
    assert!(!back.arrays().are_at_rest());
    // What has been brought waits for the array that another plane has.
    back.planes.give(program(2, 1), SimTime(0));
    assert!(!back.brought(program(2, 1), SimTime(50)));
    let array = back.planes.place(0).array;
    back.scheduler.end_at_array(array as usize, SimTime(100));
    assert_eq!(back.at_array(array as usize, &ftl, SimTime(0)), Some(Begin::GoesOnArray(program(2, 1))));
    assert!(back.brought(program(2, 1), SimTime(100)), "now it begins");
    assert!(ftl.tables().check().is_ok());
}

#[test]
fn planes_of_a_multi_plane_round_offer_together() {
    let (mut back, ftl) = die(true);
    assert_eq!(back.come(read(1, 2), &ftl, SimTime(0)), None);
    assert!(!back.queue(read(1, 2)) && !back.queue(read(2, 0)));
    assert!(back.scheduler().has_later() && back.scheduler.next_ask().is_none());
    back.post_newly_queued(&ftl);
    assert_eq!([0, 1, 2].map(|plane| back.planes().wants(plane)), [Want::Array, Want::Nothing, Want::Array]);
    assert!(!back.scheduler().has_later());
    let Place { array, channel, .. } = back.planes.place(2);
    let asks: Vec<Ask> = std::iter::from_fn(|| back.next_ask()).collect();
    assert_eq!(
        asks,
        [Ask::Bus(channel), Ask::Array(array)].repeat(2),
        "plane by plane, the bus of each first"
    );
}
