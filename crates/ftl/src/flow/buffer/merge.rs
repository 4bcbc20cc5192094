//! The merge buffer: partial pages wait in RAM until they fill a page together. A filling page is a list of unplaced
//! programs, each in the staging index like any other, so that reads are served from it; when sealed, they are
//! chained to one program, which the scheme places.

use crate::flow::buffer::program_buffer::launch;
use crate::flow::buffer::waited_for::is_forced;
use crate::flow::complete::{notify, settle};
use crate::flow::emit::load_page;
use crate::flow::fail::illegal;
use crate::flow::next::Next;
use crate::flow::place::decide::{place_host, place_sealed, send_after};
use crate::flow::place::plane::pick_plane;
use crate::layer::Layer;
use crate::map::Map;
use crate::plan::decision::{Origin, Parcel, Tag};
use crate::plan::layout::Join;
use crate::plan::span::Span;
use crate::state::merge::{MergeBuffer, OpenPage};
use crate::state::op::{OpId, Ops, Owner};
use crate::state::outbox::Outbox;
use crate::state::request::{Effect, RequestId, Timer};
use crate::state::requests::Requests;
use crate::state::state::State;
use crate::state::write_buffer::WriteBuffer;
use smallvec::SmallVec;
use std::cmp::Reverse;
use wordline_device::Ack;
use wordline_flash::Geometry;
use wordline_units::{HostOp, HostRequest, Lpn, SectorMask, SimDuration};

/// A partial page has all its data: it joins a filling page, together with what waits there of its logical page.
pub(crate) fn merge(layer: &mut Layer, id: OpId, key: u8) -> Next {
    let Some(join) = layer.seat.layout.merges else {
        illegal(
            layer.state.now,
            &layer.seat,
            &mut layer.out,
            "place into a merge buffer".into(),
            "the layout has no merge buffer".into(),
        );
        return Next::Nothing;
    };
    let version = layer.state.ops[id].version;
    // Had it not waited for missing sectors, the flush would have sealed it; what waits now is newer.
    let is_late = layer.requests.is_flushed_since(version);
    let hurries = is_late || is_forced(&layer.state.config, &layer.state.ops, &layer.requests, id);
    if !is_late {
        supersede(&mut layer.state, &mut layer.requests, &mut layer.merge_buffer, id, Some(key));
    }
    let (lpn, mask) = (layer.state.ops[id].lpn, layer.state.ops[id].mask);
    let all = SectorMask::first(layer.state.geometry.sectors_per_unit);
    if mask == all {
        let spans = [Span { lpn, mask, offset: 0 }];
        let home = layer.state.blocks.stripe().plane(lpn);
        let parcel = Parcel { origin: Origin::Host(Tag::default()), spans: &spans, home };
        let Some((place, moves)) = place_host(&layer.state, &mut layer.seat, &mut layer.out, &parcel) else {
            return Next::Nothing;
        };
        if place.route.buffer_key().is_none() {
            let plane = pick_plane(&mut layer.state, &place, home, spans.len());
            let op = &mut layer.state.ops[id];
            (op.route, op.pick, op.plane) = (place.route, place.plane, plane);
            let stage = op.stage;
            load_page(&layer.state.ops, &mut layer.store, id, stage);
            return send_after(&mut layer.state.ops, id, 0, moves);
        }
    }
    let at = page_for(layer, join, key, lpn, mask.count());
    let page = &mut layer.merge_buffer.pages[at];
    page.parts.push(id);
    page.sectors += mask.count();
    if page.sectors == all.count() || hurries {
        seal_page(layer, at);
    } else {
        answer_from_buffer(&mut layer.state, &mut layer.requests, &mut layer.out, id);
    }
    Next::Nothing
}

/// If the buffer acknowledges writes, those that wait for a partial page complete.
fn answer_from_buffer(state: &mut State, requests: &mut Requests, out: &mut Outbox, id: OpId) {
    if state.config.ack == Ack::Merge {
        notify(state, requests, out, id, state.ops[id].owner.request());
        state.ops[id].owner = Owner::Answered;
    }
}

/// Let a program absorb waiting partial pages that it overwrites: all of one with the same key, and of others
/// the sectors that it contains. Who waits for those waits for it.
pub(crate) fn supersede(
    state: &mut State,
    requests: &mut Requests,
    merge_buffer: &mut MergeBuffer,
    id: OpId,
    key: Option<u8>,
) {
    let (lpn, stage) = (state.ops[id].lpn, state.ops[id].stage);
    let mut at = 0;
    while at < merge_buffer.pages.len() {
        let page = &merge_buffer.pages[at];
        let same = key == Some(page.key);
        let found = page.parts.iter().position(|part| state.ops[*part].lpn == lpn);
        let Some(index) = found else {
            at += 1;
            continue;
        };
        let part = page.parts[index];
        let (old, new) = (state.ops[part].mask, state.ops[id].mask);
        if same || new.covers(old) {
            state.ops[id].mask = new.union(old);
            hand_over(&mut state.ops, requests, part, id);
            let page = &mut merge_buffer.pages[at];
            page.parts.remove(index);
            page.sectors -= old.count();
            state.staging.get(stage).join_programs();
            requests.drop_unsettled();
            state.buffered -= u64::from(state.config.ack.is_buffer());
            state.ops.remove(part);
        } else if !old.and(new).is_empty() {
            share(&state.ops, requests, part, id);
            state.ops[part].mask = old.minus(new);
            merge_buffer.pages[at].sectors -= old.and(new).count();
        }
        if merge_buffer.pages[at].parts.is_empty() {
            merge_buffer.pages.remove(at);
        } else {
            at += 1;
        }
    }
}

/// Transfer the waiters of a program to another.
fn hand_over(ops: &mut Ops, requests: &mut Requests, from: OpId, to: OpId) {
    let owner = std::mem::replace(&mut ops[from].owner, Owner::Answered);
    requests.hand_over(from, owner.request(), to);
}

/// Let the waiters of a program wait for another, too.
fn share(ops: &Ops, requests: &mut Requests, part: OpId, with: OpId) {
    let mut waiting: Vec<RequestId> = requests.waiting_for(part).collect();
    waiting.extend(ops[part].owner.request());
    for request in waiting {
        requests.wait_for(with, request);
    }
}

/// The open page that a partial page joins; a new one if none has room.
fn page_for(layer: &mut Layer, join: Join, key: u8, lpn: Lpn, sectors: u32) -> usize {
    let most = layer.state.geometry.sectors_per_unit - sectors;
    // A page holds one part of a logical page, or it could not be told which is newer.
    let holds = |page: &OpenPage| page.parts.iter().any(|part| layer.state.ops[*part].lpn == lpn);
    let room =
        |page: &OpenPage| page.sectors <= most && (join != Join::SameKey || page.key == key) && !holds(page);
    let having_room = layer.merge_buffer.pages.iter().enumerate().filter(|(_, page)| room(page));
    let found = match join {
        Join::First | Join::SameKey => having_room.map(|(at, _)| at).next(),
        Join::FewestChannels => having_room
            .min_by_key(|(_, page)| {
                let with = page.parts.iter().map(|part| layer.state.ops[*part].lpn).chain([lpn]);
                (channels_of(&layer.state.geometry, &layer.state.map, with), Reverse(page.sectors))
            })
            .map(|(at, _)| at),
    };
    if let Some(at) = found {
        return at;
    }
    if layer.merge_buffer.pages.len() >= layer.merge_buffer.most as usize {
        let fullest = (0..layer.merge_buffer.pages.len()).max_by_key(|at| {
            (layer.merge_buffer.pages[*at].sectors, Reverse(layer.merge_buffer.pages[*at].number))
        });
        seal_page(layer, fullest.unwrap_or(0));
    }
    layer.merge_buffer.opened += 1;
    let page = OpenPage { number: layer.merge_buffer.opened, key, parts: vec![], sectors: 0 };
    layer.merge_buffer.pages.push(page);
    if layer.state.config.ack == Ack::Program {
        // Writes wait for their parts to come to flash, so none may wait long.
        let timer = Timer::Merge { page: layer.merge_buffer.opened };
        layer.out.ask(Effect::Timer(layer.state.now + layer.merge_buffer.after, timer));
    }
    layer.merge_buffer.pages.len() - 1
}

/// Channels of these logical pages.
fn channels_of(geometry: &Geometry, map: &Map, lpns: impl Iterator<Item = Lpn>) -> u32 {
    let g = geometry;
    let places = lpns.filter_map(|lpn| map.locate(lpn));
    let channels = places.map(|ppn| g.channel_of(g.die_of(g.plane_of(g.block_of(ppn)))).0);
    channels.fold(0u128, |set, channel| set | 1 << (channel % 128)).count_ones()
}

/// An open page goes to flash.
fn seal_page(layer: &mut Layer, at: usize) {
    let page = layer.merge_buffer.pages.remove(at);
    let mut spans: SmallVec<[Span; 4]> = SmallVec::new();
    let mut offset = 0;
    for part in &page.parts {
        let op = &mut layer.state.ops[*part];
        op.offset = offset;
        offset += op.mask.count() as u8;
        spans.push(op.span());
    }
    let Some(lead) = page.parts.first().copied() else { return };
    let home = layer.state.blocks.stripe().plane(spans[0].lpn);
    let Some(place) = place_sealed(&layer.state, &mut layer.seat, &mut layer.out, &spans, home) else {
        return;
    };
    let plane = pick_plane(&mut layer.state, &place, home, spans.len());
    let mut next = OpId::NONE;
    for part in page.parts.into_iter().rev() {
        let op = &mut layer.state.ops[part];
        (op.route, op.plane, op.chain) = (place.route, plane, next);
        let stage = op.stage;
        load_page(&layer.state.ops, &mut layer.store, part, stage);
        next = part;
    }
    launch(layer, lead);
}

/// Seal all open pages.
pub(crate) fn seal_merged(layer: &mut Layer) {
    while !layer.merge_buffer.pages.is_empty() {
        seal_page(layer, 0);
    }
}

/// Partial pages in a full write buffer must not block a write: pages are sealed, oldest first, until the buffer
/// will have room once everything else is on flash.
pub(crate) fn make_space_in_merged(layer: &mut Layer, request: &HostRequest) {
    let Ack::Buffer(pages) = layer.state.config.ack else { return };
    if layer.merge_buffer.pages.is_empty() || request.op != HostOp::Write {
        return;
    }
    let wanted = layer.state.config.addressing.extent(request).pages().min(pages) as u64;
    while !layer.merge_buffer.pages.is_empty() && layer.merge_buffer.parts() + wanted > pages as u64 {
        seal_page(layer, 0);
    }
}

/// A page has waited long enough.
pub(crate) fn merge_timer(layer: &mut Layer, page: u64) {
    if let Some(at) = layer.merge_buffer.pages.iter().position(|p| p.number == page) {
        seal_page(layer, at);
    }
}

/// Idle time of the drive after which partial pages, or the write buffer, are written to flash.
fn idle_wait(merge_buffer: &MergeBuffer, write_buffer: &Option<Box<WriteBuffer>>) -> Option<SimDuration> {
    let buffered = || write_buffer.as_ref()?.idle();
    (!merge_buffer.pages.is_empty()).then_some(merge_buffer.idle).or_else(buffered)
}

/// No request is outstanding: start the timer that ends waits for more data.
pub(crate) fn watch_merged(layer: &mut Layer) {
    if let Some(idle) = idle_wait(&layer.merge_buffer, &layer.write_buffer)
        && !std::mem::replace(&mut layer.merge_buffer.watched, true)
    {
        let at = layer.state.now.max(layer.merge_buffer.last_request + idle);
        layer.out.ask(Effect::Timer(at, Timer::MergeIdle));
    }
}

/// Whether the drive has been idle long enough that waiting data are written to flash. (While a request is
/// outstanding no timer runs: it would hide that the drive is stuck.)
pub(crate) fn idle_timer(layer: &mut Layer) -> bool {
    layer.merge_buffer.watched = false;
    let Some(idle) =
        idle_wait(&layer.merge_buffer, &layer.write_buffer).filter(|_| layer.state.outstanding == 0)
    else {
        return false;
    };
    let is_over = layer.merge_buffer.last_request + idle <= layer.state.now;
    if !is_over {
        watch_merged(layer);
    }
    is_over
}

/// Sectors of a page have been trimmed: remove them from waiting partial pages. They are gone then, as if
/// erased.
pub(crate) fn trim_merged(layer: &mut Layer, lpn: Lpn, mask: SectorMask) {
    let mut at = 0;
    while at < layer.merge_buffer.pages.len() {
        let page = &mut layer.merge_buffer.pages[at];
        let mut gone = vec![];
        for part in &page.parts {
            let op = &mut layer.state.ops[*part];
            if op.lpn != lpn {
                continue;
            }
            let lost = op.mask.and(mask);
            layer.state.trims.hold(lpn, lost, op.version);
            page.sectors -= lost.count();
            op.mask = op.mask.minus(mask);
            gone.extend(op.mask.is_empty().then_some(*part));
        }
        page.parts.retain(|part| !gone.contains(part));
        if page.parts.is_empty() {
            layer.merge_buffer.pages.remove(at);
        } else {
            at += 1;
        }
        for part in gone {
            debug_assert!(layer.state.ops[part].owner.is_host());
            settle(layer, part);
        }
    }
}
