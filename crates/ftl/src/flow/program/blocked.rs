//! A program finds no slot in its plane: it waits, goes to another plane, is dropped, or finally fails.

use crate::ftl::Ftl;
use crate::plan::decision::{PlanePick, Route, Target};
use crate::plan::region::RegionId;
use crate::state::admission::Claim;
use crate::state::op::{Op, OpId, Owner};
use crate::state::request::Effect;
use crate::state::without_effect::WithoutEffect;
use wordline_counters::Cause;
use wordline_units::PlaneId;

/// Result for a program that finds no slot in its plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Blocked {
    /// It waits there.
    Waits,
    /// It has left for another plane.
    ChangesPlane,
    /// It is given up.
    Dropped,
}

/// What is abandoned if nothing else can continue, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GiveUp {
    /// Programs of moves alone: the data stay in place, and no longer prevent collection of their block.
    Moves,
    /// All programs that can be abandoned, writes included.
    Writes,
}

impl Ftl {
    /// Handle a program that found no slot in its plane.
    pub(crate) fn find_space(&mut self, id: OpId) -> Blocked {
        // A program into the same pool might wait for the very block that the move pins.
        let mere = |op: &Op| op.owner == Owner::Move(OpId::NONE) && !self.leaves_its_pool(op);
        if self.state.ops.chain(id).all(|p| mere(&self.state.ops[p])) {
            self.abandon_moves(id);
            return Blocked::Dropped;
        }
        if let Some(there) = self.member_with_space(id) {
            self.change_plane(id, there);
            return Blocked::ChangesPlane;
        }
        let (plane, route) = (self.state.ops[id].plane, self.state.ops[id].route);
        // A page that its job waits for, not one of a group: that job reads on without it, and what it
        // reads is the data that other groups wait for.
        let op = &self.state.ops[id];
        let blocks_gc = matches!(op.owner, Owner::Job(_)) && op.in_window;
        if let Owner::Job(from) = op.owner
            && blocks_gc
        {
            for p in self.state.superblock_planes(from, self.state.geometry.plane_at(op.from)) {
                self.state.planes.block_gc(PlaneId(p));
            }
        }
        for target in route.targets() {
            if !self.state.is_there(target.region, plane) {
                continue;
            }
            for p in self.state.superblock_planes(target.region, plane) {
                self.state.planes.block_program(PlaneId(p), target.region);
                if blocks_gc {
                    self.state.planes.block_gc(PlaneId(p));
                }
            }
            self.collect_for(target.region, plane);
        }
        Blocked::Waits
    }

    /// Abandon pages that find no place in their target: they stay where they are.
    fn abandon_moves(&mut self, lead: OpId) {
        let op = &self.state.ops[lead];
        self.state.backlog.take(op.plane, op.kind);
        let mut part = lead;
        while !part.is_none() {
            let op = &self.state.ops[part];
            let (lpn, from, idle, owner, next) = (op.lpn, op.from, op.idle, op.owner, op.chain);
            let in_window = op.in_window;
            self.leave_buffer(part);
            self.state.ops.remove(part);
            match owner {
                Owner::Job(region) => {
                    self.give_up_page(region, self.state.geometry.plane_at(from), in_window)
                }
                Owner::Move(waits) => {
                    self.state.counters.moves_dropped += 1;
                    self.state.counters.without_effect.count(WithoutEffect::MoveNoRoom);
                    self.end_move(lpn, from, idle, waits);
                }
                _ => self.internal(format!("a program of {owner:?} was canceled, which only moves may be")),
            }
            part = next;
        }
    }

    /// Nothing is pending, and a program has no slot in its plane. If its data have left their old place, or if it may
    /// go to any plane, it goes to the plane with the most room, or else to one where a collection would free space; if
    /// no plane of its regions can take data that have no other copy, it goes to another region of its pool, and
    /// finally, on a cache, to any plane: no acknowledged data are lost. Returns whether there is one.
    pub(crate) fn send_elsewhere(&mut self, id: OpId) -> bool {
        let op = &self.state.ops[id];
        let has_no_other_place = op.owner == Owner::Nobody || op.owner.is_host();
        // Where data lie in any plane, those of a victim, too, may have more room elsewhere; and so may what a cache
        // passes on, which may have lain in any plane of the cache.
        let may_change_plane = self.state.dynamic
            || op.owner == Owner::Nobody
            || (matches!(op.owner, Owner::Job(_)) && self.leaves_its_pool(op))
            || (op.owner.is_host() && op.pick != PlanePick::Home);
        if may_change_plane && self.find_plane(id) {
            return true;
        }
        if has_no_other_place && let Some(target) = self.region_with_room(id) {
            self.go_to_region(id, target);
            return true;
        }
        // What leaves a cache may lie in any plane, and may have filled this one.
        let has_cache = || self.state.regions.iter().any(|r| r.region.evicts_to_other_pool);
        has_no_other_place && !may_change_plane && has_cache() && self.find_plane(id)
    }

    /// Send a program to the plane with the most room, or to one where a collection frees some. Returns whether there
    /// is one.
    fn find_plane(&mut self, id: OpId) -> bool {
        let Some(there) = self.plane_with_room(id).or_else(|| self.plane_that_collects(id)) else {
            return false;
        };
        // The reserve there is for what is collected there.
        self.state.ops[id].privileged = false;
        self.change_plane(id, there);
        true
    }

    /// Whether the data of a program are in another pool.
    fn leaves_its_pool(&self, op: &Op) -> bool {
        let source = self.state.region_of(self.state.geometry.block_of(op.from));
        !self.state.share_pool(source, op.route.region())
    }

    /// The plane with the most room, other than its own, that has a slot for a program.
    fn plane_with_room(&self, id: OpId) -> Option<PlaneId> {
        let op = &self.state.ops[id];
        op.route.targets().find_map(|target| {
            let takes = self.state.pool_of(target.region).planes();
            let takes = takes.filter(|p| *p != op.plane && self.state.has_room(target, *p, Claim::Data));
            let takes = takes.filter(|p| !self.refuses_conversion(id, target, *p));
            takes.max_by_key(|p| self.state.spare_slots(target.region, *p))
        })
    }

    /// A plane, other than its own, where a collection starts that frees space for a program.
    fn plane_that_collects(&mut self, id: OpId) -> Option<PlaneId> {
        let (here, route) = (self.state.ops[id].plane, self.state.ops[id].route);
        for region in route.targets().map(|target| target.region) {
            for plane in self.state.pool_of(region).planes().filter(|plane| *plane != here) {
                let before = self.out.asked();
                self.collect_for(region, plane);
                if self.out.asked() > before {
                    return Some(plane);
                }
            }
        }
        None
    }

    /// A region of the same pool that has a slot for a program in its plane: one with an equal program unit, or else
    /// one with a smaller unit.
    fn region_with_room(&self, id: OpId) -> Option<Target> {
        if !self.state.map_kind().is_by_page() {
            return None; // maps by sectors know of some regions that they hold parts of pages
        }
        let op = &self.state.ops[id];
        let wanted = op.route.region();
        let as_much = self.at_once(wanted);
        let in_pool = |r: &RegionId| self.state.share_pool(*r, wanted);
        let regions = || (0..self.state.regions.len() as u8).map(RegionId).filter(in_pool);
        let alike = regions().filter(|r| self.at_once(*r) == as_much);
        let lesser = regions().filter(|r| self.at_once(*r).0 < as_much.0);
        let mut targets = alike.chain(lesser).flat_map(|region| {
            let r = &self.state.regions[region.index()];
            r.region.rule.classes(r.shape).iter().map(move |class| Target { region, class: *class })
        });
        targets.find(|target| {
            !op.route.targets().any(|t| t == *target) && self.state.has_room(*target, op.plane, Claim::Data)
        })
    }

    /// Units in one program operation of a region, and how many of them share a page.
    fn at_once(&self, region: RegionId) -> (u32, u32) {
        let r = &self.state.regions[region.index()];
        (r.units_per_page * r.pages_per_program, r.units_per_page)
    }

    /// Send a program that is in no queue to another region: split, if that one has a smaller program unit.
    fn go_to_region(&mut self, id: OpId, target: Target) {
        self.leave_buffer_all(id);
        let fits = self.at_once(target.region) == self.at_once(self.state.ops[id].route.region());
        let mut part = id;
        while !part.is_none() {
            self.state.ops[part].route = Route::to(target.region, target.class);
            part = self.state.ops[part].chain;
        }
        if fits {
            let entry = self.entry_of(id);
            return self.out.ask(Effect::ChangePlane(entry));
        }
        let op = &self.state.ops[id];
        self.state.backlog.take(op.plane, op.kind);
        self.launch(id);
    }

    /// Send a program that is in no queue to another plane.
    fn change_plane(&mut self, id: OpId, there: PlaneId) {
        let op = &mut self.state.ops[id];
        let here = std::mem::replace(&mut op.plane, there);
        self.state.backlog.take(here, op.kind);
        self.state.backlog.add(there, op.kind);
        let entry = self.entry_of(id);
        self.out.ask(Effect::ChangePlane(entry));
    }

    /// Abandon a program that can never be bound: the drive is full or worn out.
    pub(crate) fn give_up(&mut self, lead: OpId) {
        match self.state.ops[lead].owner {
            Owner::Move(_) | Owner::Job(_) => return self.abandon_moves(lead),
            Owner::Parity => {
                // Its superpage stays without.
                let op = &self.state.ops[lead];
                self.state.backlog.take(op.plane, op.kind);
                return self.state.ops.remove(lead);
            }
            _ => {}
        }
        let outcome = self.no_place();
        let op = &self.state.ops[lead];
        self.state.backlog.take(op.plane, op.kind);
        let mut part = lead;
        while !part.is_none() {
            let (owner, next) = (self.state.ops[part].owner, self.state.ops[part].chain);
            let mut metadata = None;
            if owner.is_host() {
                if self.store.keeps_metadata() {
                    self.state.trims.forget_void(part);
                }
                if self.state.ops[part].cause == Cause::Metadata {
                    metadata = Some(self.state.ops[part].lpn);
                    self.metadata_not_programmed(part, self.state.ops[part].lpn);
                }
                self.requests.will_end(part, owner.request(), outcome);
            }
            self.settle(part);
            if let Some(lpn) = metadata {
                self.metadata_over(lpn);
            }
            part = next;
        }
    }

    /// Whether an operation can delay a host request.
    #[inline(always)]
    pub fn serves_host(&self, id: OpId) -> bool {
        self.state.ops[id].owner.is_host()
    }

    /// Whether a program may be abandoned: one of the host whose data are not acknowledged yet, so that the error can
    /// be reported; a move that was to make room for one; one of a page whose collection relied on blocks that have
    /// worn out; or parity.
    pub(crate) fn can_fail(&self, id: OpId, what: GiveUp) -> bool {
        if what == GiveUp::Moves {
            let stays = |part| matches!(self.state.ops[part].owner, Owner::Move(_) | Owner::Parity);
            return self.state.ops.chain(id).all(stays);
        }
        match self.state.ops[id].owner {
            Owner::Request(_) | Owner::Answered => !self.ack.answers_from_ram(),
            Owner::Move(_) => true,
            Owner::Job(_) => self.state.wear.lost.retired > 0,
            Owner::Parity => true,
            Owner::Nobody | Owner::Rmw(_) | Owner::Gather | Owner::Rewrite(_) | Owner::Map => false,
        }
    }

    /// Abandon what waits for room in a buffer that nothing leaves any more. Returns whether there was any.
    pub(crate) fn drop_held_moves(&mut self) -> bool {
        if self.state.wear.lost.retired == 0 {
            return false;
        }
        let held = std::mem::take(&mut self.moves.waiting);
        for (_, waits) in &held {
            self.state.counters.moves_dropped += 1;
            self.state.counters.without_effect.count(WithoutEffect::MoveNoRoom);
            self.awaited(*waits);
        }
        !held.is_empty()
    }

    /// Another plane of its superblock that has a slot for a program.
    fn member_with_space(&self, id: OpId) -> Option<PlaneId> {
        let op = &self.state.ops[id];
        let (here, privileged) = (op.plane, op.privileged);
        // What evens out wear, and what a scheme moves, may not take every slot that there is.
        if matches!(op.owner, Owner::Move(_))
            || self.state.wear.spec.static_beyond.is_some() && self.levels(op)
        {
            return None;
        }
        let mut targets = op.route.targets().filter(|t| self.state.is_there(t.region, here));
        targets.find_map(|target| {
            let mut planes = self.state.superblock_planes(target.region, here).map(PlaneId);
            planes.find(|p| *p != here && self.state.has_room(target, *p, Claim::of(privileged)))
        })
    }
}
