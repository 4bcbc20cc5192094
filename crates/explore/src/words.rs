//! Pending and executed events, in words.

use crate::world::{Event, World};
use wordline_ftl::drive::Driver;
use wordline_ftl::{OpId, OpKind};
use wordline_units::Ppn;

/// Pending events, in words.
pub(crate) fn pending_in_words(world: &World) -> String {
    let op = |id: &OpId| op_in_words(world, *id);
    let queues: Vec<String> = world.pending().queues.iter().flatten().flatten().map(op).collect();
    let waiting: Vec<String> = world.pending().waiting.programs().map(|id| op(&id)).collect();
    let current: Vec<String> = world.pending().current.iter().flatten().map(op).collect();
    let list = |ops: Vec<String>| if ops.is_empty() { "nothing".to_string() } else { ops.join("; ") };
    format!(
        "under way: {}\nqueued: {}\nwithout a slot: {}\ntimers: {:?}\n{}",
        list(current),
        list(queues),
        list(waiting),
        world.pending().timers,
        world.layer().inspect().leftovers()
    )
}

/// An operation in words.
fn op_in_words(world: &World, id: OpId) -> String {
    let op = world.layer().op(id);
    let g = &world.drive().geometry;
    let parts: Vec<String> =
        world.layer().operation(id).parts().map(|part| format!("page {}", part.lpn)).collect();
    let bound = world.pending().current.contains(&Some(id)) || op.kind != OpKind::Program;
    let at = if bound && op.ppn != Ppn::NONE {
        format!(" at block {} slot {}", g.block_of(op.ppn), g.slot_of(op.ppn))
    } else {
        String::new()
    };
    let from = world.layer().operation(id).source().map_or(String::new(), |b| format!(" from block {b}"));
    format!(
        "{} ({:?}, {:?}) of {}{at}{from} in plane {}",
        op.kind.key(),
        op.cause(),
        op.class(),
        if parts.is_empty() { "a block".into() } else { parts.join(", ") },
        op.plane
    )
}

/// An event in words, just before it happens.
pub(crate) fn event_in_words(world: &World, event: Event) -> String {
    match event {
        Event::Begin(plane) => match world.first(u32::from(plane)) {
            Some((_, id)) => format!("begins: {}", op_in_words(world, id)),
            None => "begins: nothing".into(),
        },
        Event::End(plane) => match world.pending().current[plane as usize] {
            Some(id) => format!("ends:   {}", op_in_words(world, id)),
            None => "ends:   nothing".into(),
        },
        Event::Ring(at) => format!("rings:  {:?}", world.pending().timers.get(at as usize)),
        Event::LastResort => "nothing is pending: the last resort".into(),
        Event::Idle => "the drive has been idle for long".into(),
        Event::Write(lpn) => format!("host:   write page {lpn}"),
        Event::WritePart(lpn) => format!("host:   write the first sector of page {lpn}"),
        Event::Read(lpn) => format!("host:   read page {lpn}"),
        Event::Trim(lpn) => format!("host:   trim page {lpn}"),
        Event::Flush => "host:   flush".into(),
    }
}
