//! Program buffers, between placement and program: units wait until they fill a page, and pages until they fill the
//! group that is programmed in one shot, or until a time limit.

use crate::flow::buffer::waited_for::is_any_waited_for;
use crate::flow::collect::invalidate::{end_move, invalidate};
use crate::flow::collect::job::job_page_over;
use crate::flow::emit::emit;
use crate::flow::records::protected::protect_moved;
use crate::flow::records::superseded::look_later;
use crate::layer::Layer;
use crate::plan::region::{MapKind, MovedIn, Region, RegionId};
use crate::plan::span::Dead;
use crate::state::blocks::superblock_members::{has_superblocks, superblock_planes};
use crate::state::blocks::{Blocks, job_mut, program_buffer_mut};
use crate::state::op::{Op, OpId, Ops, Owner};
use crate::state::region::{RegionState, WriteStream};
use crate::state::request::{Effect, Timer};
use crate::state::state::State;
use wordline_device::Ack;
use wordline_units::{Lpn, PlaneId, Ppn, SimTime};

/// A program, with its chain, has all its data: issue it, or let it wait for other data.
pub(crate) fn launch(layer: &mut Layer, lead: OpId) {
    let op = &layer.state.ops[lead];
    let region = op.route.region();
    let r = &layer.state.blocks.region(region);
    let (units, has_more) = (r.units_per_page, !op.chain.is_none());
    let is_full = is_full_program(&layer.state, op, r);
    if has_more && let Some(rest) = split(&mut layer.state.ops, lead, units as u8) {
        launch(layer, lead);
        launch(layer, rest);
        return;
    }
    if is_full {
        layer.state.ops[lead].slots = units as u8;
        emit(&mut layer.state, &mut layer.out, lead);
        return;
    }
    let host = layer.state.ops[lead].owner.is_host();
    let packs = || layer.state.blocks.region(region).packs_host;
    let leaves_room = || layer.state.ops.chain(lead).nth(units as usize - 1).is_none();
    if !host && packs_sectors(&layer.state) {
        add_sectors(layer, region, lead);
    } else if units == 1 || host && !(packs() && leaves_room()) {
        add_page(layer, region, lead);
    } else {
        // Of the host, part of a page. A group that was taken apart comes in pages: its units share pages again.
        let mut unit = lead;
        while !unit.is_none() {
            let op = &mut layer.state.ops[unit];
            op.slot = 0;
            let next = std::mem::replace(&mut op.chain, OpId::NONE);
            add_unit(layer, region, unit);
            unit = next;
        }
    }
}

/// If entering a protected program buffer completes a move, the page leaves its old place. It is launched next,
/// behind the host program that waited for it.
pub(crate) fn enter_if_it_waits(layer: &mut Layer, lead: OpId) {
    let op = &layer.state.ops[lead];
    let region = op.route.region();
    if !is_full_program(&layer.state, op, layer.state.blocks.region(region)) {
        enter_program_buffer(layer, region, lead);
    }
}

/// Whether a program fills the program unit of its region, or is moved to where it shares its page with nothing.
#[inline]
fn is_full_program(state: &State, op: &Op, r: &RegionState) -> bool {
    let is_moved_alone = || {
        matches!(r.region.moved_in, MovedIn::Alone | MovedIn::Rewritten)
            && WriteStream::of(op) == WriteStream::Moved
    };
    fills_program(state, r) || (r.pages_per_program == 1 && is_moved_alone())
}

/// Whether the contents of a slot fill a program of a region.
#[inline(always)]
pub(crate) fn fills_program(state: &State, r: &RegionState) -> bool {
    r.pages_per_program == 1 && r.units_per_page == 1 && !packs_sectors(state)
}

/// A parcel is cut for pages of the home region; pages of another medium may hold fewer units. Returns what does
/// not fit into the page, as a separate program.
fn split(ops: &mut Ops, lead: OpId, units: u8) -> Option<OpId> {
    let first = ops[lead].slot;
    let mut last = lead;
    loop {
        let next = ops[last].chain;
        if next.is_none() {
            return None;
        }
        if ops[next].slot - first >= units {
            ops[last].chain = OpId::NONE;
            let from = ops[next].slot;
            let mut part = next;
            while !part.is_none() {
                ops[part].slot -= from;
                part = ops[part].chain;
            }
            return Some(next);
        }
        last = next;
    }
}

/// Units share pages: add a unit to the page that is being packed.
fn add_unit(layer: &mut Layer, region: RegionId, lead: OpId) {
    let plane = layer.state.ops[lead].plane;
    let units = layer.state.blocks.region(region).units_per_page as u8;
    let stream = WriteStream::of(&layer.state.ops[lead]);
    let waiting = program_buffer_mut(&mut layer.state.blocks, region, plane, stream).page;
    let goes_along = |with: OpId| layer.state.ops[with].route == layer.state.ops[lead].route;
    if stream == WriteStream::Host && !waiting.is_none() && !goes_along(waiting) {
        close_page(layer, region, plane, stream); // the scheme wants it elsewhere
    }
    enter_program_buffer(layer, region, lead);
    layer.state.incomplete_units += u64::from(layer.state.blocks.region(region).waits_on(stream));
    let buffer = program_buffer_mut(&mut layer.state.blocks, region, plane, stream);
    let (first, slot) = (buffer.page, buffer.page_slots);
    buffer.page_slots += 1;
    if first.is_none() {
        buffer.page = lead;
    }
    let full = buffer.page_slots == units;
    shift_slots(&mut layer.state.ops, lead, slot); // a moved unit comes with slot 0
    if !first.is_none() {
        join(&mut layer.state.ops, first, lead);
    }
    if full {
        close_page(layer, region, plane, stream);
    } else {
        arm_pad(layer, region, plane, stream);
    }
}

/// Whether parts of several logical pages share the pages to which they are moved.
fn packs_sectors(state: &State) -> bool {
    state.map_kind() == MapKind::Extent
}

/// The contents of a slot join the page that is being packed, if all of them fit: a move then never takes more
/// slots than it frees.
fn add_sectors(layer: &mut Layer, region: RegionId, lead: OpId) {
    let plane = layer.state.ops[lead].plane;
    let stream = WriteStream::of(&layer.state.ops[lead]);
    let all = layer.state.geometry.sectors_per_unit as u8;
    enter_program_buffer(layer, region, lead);
    let parts: Vec<(Lpn, u32)> = layer
        .state
        .ops
        .chain(lead)
        .map(|p| (layer.state.ops[p].lpn, layer.state.ops[p].mask.count()))
        .collect();
    let sectors = parts.iter().map(|(_, sectors)| sectors).sum::<u32>() as u8;
    let buffer = &layer.state.blocks.at(region, plane).program_buffers[stream as usize];
    let (waiting, has_room) = (buffer.page, buffer.page_slots + sectors <= all);
    // A page holds one part of a logical page, or it could not be told which is newer.
    if !has_room || holds_any(&layer.state.ops, waiting, &parts) {
        close_page(layer, region, plane, stream);
    }
    let buffer = program_buffer_mut(&mut layer.state.blocks, region, plane, stream);
    let (first, offset) = (buffer.page, buffer.page_slots);
    buffer.page_slots += sectors;
    let full = buffer.page_slots == all;
    if first.is_none() {
        buffer.page = lead;
    } else {
        let mut part = lead;
        while !part.is_none() {
            layer.state.ops[part].offset += offset;
            part = layer.state.ops[part].chain;
        }
        join(&mut layer.state.ops, first, lead);
    }
    if full {
        close_page(layer, region, plane, stream);
    } else {
        arm_pad(layer, region, plane, stream);
    }
}

/// Whether a program contains a part of any of these logical pages.
fn holds_any(ops: &Ops, lead: OpId, lpns: &[(Lpn, u32)]) -> bool {
    let mut part = lead;
    while !part.is_none() {
        let op = &ops[part];
        if lpns.iter().any(|(lpn, _)| *lpn == op.lpn) {
            return true;
        }
        part = op.chain;
    }
    false
}

/// Close the page that was being packed.
fn close_page(layer: &mut Layer, region: RegionId, plane: PlaneId, stream: WriteStream) {
    let r = &layer.state.blocks.region(region);
    let (alone, waits_on) = (r.pages_per_program == 1, r.waits_on(stream));
    let buffer = program_buffer_mut(&mut layer.state.blocks, region, plane, stream);
    let page = std::mem::replace(&mut buffer.page, OpId::NONE);
    let slots = std::mem::take(&mut buffer.page_slots);
    if alone {
        // The page is the whole group: the next one waits for its own time, not for what is left of this one's.
        buffer.generation += 1;
        buffer.pad_at = SimTime::NEVER;
    }
    if waits_on {
        layer.state.incomplete_units -= u64::from(slots); // a group counts them again
    }
    if !page.is_none() {
        add_page(layer, region, page);
    }
}

/// Add a page to the group that is programmed in one shot.
pub(crate) fn add_page(layer: &mut Layer, region: RegionId, lead: OpId) {
    let plane = layer.state.ops[lead].plane;
    let r = &layer.state.blocks.region(region);
    let (units, pages) = (r.units_per_page as u8, r.pages_per_program as u8);
    if pages == 1 {
        layer.state.ops[lead].slots = units;
        emit(&mut layer.state, &mut layer.out, lead);
        return;
    }
    let stream = WriteStream::of(&layer.state.ops[lead]);
    if units == 1 {
        enter_program_buffer(layer, region, lead);
    }
    let waits_on = layer.state.blocks.region(region).waits_on(stream);
    let came = if waits_on { layer.state.ops.chain(lead).count() as u16 } else { 0 };
    layer.state.incomplete_units += u64::from(came);
    let buffer = program_buffer_mut(&mut layer.state.blocks, region, plane, stream);
    let (group, page) = (buffer.group, buffer.group_pages);
    buffer.group_pages += 1;
    buffer.group_units += came;
    if group.is_none() {
        buffer.group = lead;
    }
    let full = buffer.group_pages == pages;
    shift_slots(&mut layer.state.ops, lead, page * units);
    if !group.is_none() {
        join(&mut layer.state.ops, group, lead);
    }
    if full {
        close_group(layer, region, plane, stream);
    } else {
        arm_pad(layer, region, plane, stream);
    }
}

/// Send a group off, whole or padded.
fn close_group(layer: &mut Layer, region: RegionId, plane: PlaneId, stream: WriteStream) {
    let r = &layer.state.blocks.region(region);
    let slots = (r.units_per_page * r.pages_per_program) as u8;
    let buffer = program_buffer_mut(&mut layer.state.blocks, region, plane, stream);
    let group = std::mem::replace(&mut buffer.group, OpId::NONE);
    buffer.group_pages = 0;
    buffer.generation += 1;
    buffer.pad_at = SimTime::NEVER;
    let units = std::mem::take(&mut buffer.group_units);
    layer.state.incomplete_units -= u64::from(units);
    if !group.is_none() {
        layer.state.ops[group].slots = slots;
        emit(&mut layer.state, &mut layer.out, group);
    }
    if !program_buffer_mut(&mut layer.state.blocks, region, plane, stream).page.is_none() {
        arm_pad(layer, region, plane, stream); // a page that is still being packed waits on, for its own time
    }
}

/// A relocation that waits for other data no longer blocks its job. If the program buffer survives a power cut the
/// data leave their old place at once, so that it can be erased; this completes a move.
pub(crate) fn enter_program_buffer(layer: &mut Layer, region: RegionId, lead: OpId) {
    let op = &layer.state.ops[lead];
    let (owner, lpn, source, idle) = (op.owner, op.lpn, op.from, op.idle);
    if !matches!(owner, Owner::Job(_) | Owner::Move(_)) {
        return;
    }
    if layer.store.keeps_bytes() && layer.out.fault().is_some() {
        return; // its bytes may not have been read, so it must not leave its place
    }
    let plane = layer.state.geometry.plane_at(source);
    if !layer.state.blocks.region(region).region.protected {
        let Owner::Job(from_region) = owner else { return };
        let mut part = lead;
        while !part.is_none() {
            // It may have fallen back from another one.
            let in_window = std::mem::replace(&mut layer.state.ops[part].in_window, false);
            if let Some(job) = job_mut(&mut layer.state.blocks, from_region, plane) {
                job.window -= u32::from(in_window);
            }
            part = layer.state.ops[part].chain;
        }
        return;
    }
    let (mut part, mut parts, mut in_window) = (lead, 0, 0);
    let mut dead = Dead::new();
    while !part.is_none() {
        let (span, from, next) = {
            let op = &layer.state.ops[part];
            (op.span(), op.from, op.chain)
        };
        let keep = layer.state.map.still_at(span, from);
        let stage = layer.state.staging.enter(span.lpn);
        let entry = layer.state.staging.get(stage);
        entry.add_program();
        // What RAM holds already is newer: a write that waits for its missing sectors, say.
        let older = entry.take_in(keep);
        entry.begin_relocation(part, keep);
        layer.state.ops[part].mask = keep;
        protect_moved(&layer.state, &mut layer.store, part, keep);
        layer.state.map.unmap(span.lpn, keep, &mut dead);
        if layer.store.keeps_bytes() && !older.is_empty() {
            let page = layer.store.page(part);
            layer.store.stage(stage, &page, older);
        }
        layer.state.ops[part].stage = stage;
        layer.state.ops[part].from = Ppn::NONE;
        layer.state.ops[part].owner = Owner::Nobody;
        in_window += u32::from(layer.state.ops[part].in_window);
        (part, parts) = (next, parts + 1);
    }
    invalidate(layer, &dead);
    if layer.store.keeps_bytes() {
        look_later(&mut layer.store, &dead);
    }
    match owner {
        // What has fallen back from a program buffer that is not safe does not count in the window any more.
        Owner::Job(from) => (0..parts).for_each(|i| job_page_over(layer, from, plane, i < in_window)),
        Owner::Move(waits) => end_move(layer, lpn, source, idle, waits),
        _ => {}
    }
}

/// Add parts to a program, which gets the priority of the most urgent of them.
fn join(ops: &mut Ops, chain: OpId, more: OpId) {
    let class = ops[chain].class.min(ops[more].class);
    let privileged = ops[chain].privileged || ops[more].privileged;
    ops[chain].class = class;
    ops[chain].privileged = privileged;
    let mut last = chain;
    while !ops[last].chain.is_none() {
        last = ops[last].chain;
    }
    ops[last].chain = more;
}

fn shift_slots(ops: &mut Ops, lead: OpId, by: u8) {
    let mut part = lead;
    while !part.is_none() {
        ops[part].slot += by;
        part = ops[part].chain;
    }
}

/// Whether a page that a scheme moves is among those that wait.
fn holds_move(state: &State, region: RegionId, plane: PlaneId, stream: WriteStream) -> bool {
    let buffer = &state.blocks.at(region, plane).program_buffers[stream as usize];
    let is_move = |part| matches!(state.ops[part].owner, Owner::Move(_));
    let mut leads = [buffer.page, buffer.group].into_iter().filter(|lead| !lead.is_none());
    leads.any(|lead| state.ops.chain(lead).any(is_move))
}

/// Start the time limit of a group that waits for other data.
fn arm_pad(layer: &mut Layer, region: RegionId, plane: PlaneId, stream: WriteStream) {
    let buffer = &layer.state.blocks.at(region, plane).program_buffers[stream as usize];
    let waited_for = layer.state.draining
        || match stream {
            WriteStream::Host => is_any_waited_for(
                &layer.state.config,
                &layer.state.ops,
                &layer.requests,
                [buffer.page, buffer.group],
            ),
            _ => holds_move(&layer.state, region, plane, stream),
        };
    let Region { pad_after, pad_host_after, .. } = layer.state.blocks.region(region).region;
    let Some(wait) = (if waited_for { Some(pad_host_after) } else { pad_after }) else { return };
    let at = layer.state.now + wait;
    let buffer = program_buffer_mut(&mut layer.state.blocks, region, plane, stream);
    if at < buffer.pad_at {
        buffer.pad_at = at;
        let timer = Timer::Pad { region, plane, stream, generation: buffer.generation };
        layer.out.ask(Effect::Timer(at, timer));
    }
}

/// Groups without a time limit may take half of a full write buffer: beyond that the fullest groups are padded, so
/// that room is left for programs.
pub(crate) fn make_space_in_groups(layer: &mut Layer) {
    let Ack::Buffer(pages) = layer.state.config.ack else { return };
    while layer.state.incomplete_units > u64::from(pages) / 2
        && let Some((region, plane)) = fullest_group(&layer.state.blocks)
    {
        pad(layer, region, plane, WriteStream::Host);
    }
}

/// The group in which most logical pages of the host wait; of equals the first region and plane.
fn fullest_group(blocks: &Blocks) -> Option<(RegionId, PlaneId)> {
    let mut fullest = None;
    let mut most = 0;
    for (index, region) in blocks.regions().iter().enumerate() {
        let first = blocks.pool_of(RegionId(index as u8)).first_plane;
        for (local, plane) in region.planes.iter().enumerate() {
            let buffer = &plane.program_buffers[WriteStream::Host as usize];
            let packed = if region.waits_on(WriteStream::Host) { buffer.page_slots } else { 0 };
            let units = buffer.group_units + u16::from(packed);
            if units > most {
                most = units;
                fullest = Some((RegionId(index as u8), PlaneId(first + local as u32)));
            }
        }
    }
    fullest
}

/// Whether a job of a plane has pages left to read that may join a group.
fn feeds(blocks: &Blocks, region: RegionId, plane: PlaneId, stream: WriteStream) -> bool {
    let pool = blocks.region(region).region.pool;
    (0..blocks.regions().len() as u8).map(RegionId).any(|from| {
        let within = blocks.region(from).region.pool == pool;
        let comes = match stream {
            WriteStream::Host => false,
            WriteStream::Moved => !within,
            WriteStream::Collected => within,
        };
        comes
            && blocks.reaches(from, plane)
            && superblock_planes(blocks, from, plane).any(|p| {
                let job = blocks.at(from, PlaneId(p)).job;
                job.is_some_and(|j| !j.is_paused() && (!j.exhausted || j.window > 0))
            })
    })
}

fn pad(layer: &mut Layer, region: RegionId, plane: PlaneId, stream: WriteStream) {
    if stream != WriteStream::Host || layer.state.blocks.region(region).packs_host {
        close_page(layer, region, plane, stream);
    }
    close_group(layer, region, plane, stream);
}

/// Pad all waiting host data, and with `moved` also those that collection moves. Of a superblock that is being emptied only
/// the last program is padded, as `gains` has it.
pub(crate) fn seal(layer: &mut Layer, moved: bool) {
    for index in 0..layer.state.blocks.regions().len() {
        let region = RegionId(index as u8);
        let r = &layer.state.blocks.regions()[index];
        if r.units_per_page * r.pages_per_program == 1 && !packs_sectors(&layer.state) {
            continue;
        }
        let first = layer.state.blocks.pool_of(region).first_plane;
        for local in 0..layer.state.blocks.regions()[index].planes.len() as u32 {
            pad(layer, region, PlaneId(first + local), WriteStream::Host);
            for stream in WriteStream::WITHIN.into_iter().filter(|_| moved) {
                let (blocks, plane) = (&layer.state.blocks, PlaneId(first + local));
                let grows = has_superblocks(blocks, region) && feeds(blocks, region, plane, stream);
                if !(grows && stream == WriteStream::Collected) {
                    pad(layer, region, plane, stream);
                }
            }
        }
    }
}

/// A group has reached its time limit, unless it has been replaced by another.
pub(crate) fn pad_timer(
    layer: &mut Layer,
    region: RegionId,
    plane: PlaneId,
    stream: WriteStream,
    generation: u32,
) {
    let buffer = program_buffer_mut(&mut layer.state.blocks, region, plane, stream);
    if buffer.generation != generation {
        return;
    }
    buffer.pad_at = SimTime::NEVER;
    // While a job still reads, its pages are the data to wait for: padding them one by one
    // could cost more than the job gives back.
    if feeds(&layer.state.blocks, region, plane, stream) && !layer.state.blocks.planes().is_gc_blocked(plane)
    {
        arm_pad(layer, region, plane, stream);
    } else {
        pad(layer, region, plane, stream);
    }
}
