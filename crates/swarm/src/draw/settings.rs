//! Random settings of a device file other than the flash.

use crate::rng::Rng;
use wordline_device::{
    Ack, Allocation, Copies, DeviceSpec, Dram, GcClass, GcSpec, HostLink, Lanes, Level, MergeBuffer,
    Multiplane, MultiplanePages, ParallelUnit, Recheck, Service, ServiceOrder, Shares, SlcCache, Suspension,
    Trigger, Victim, WhenFull,
};
use wordline_flash::CacheRegister;
use wordline_units::{Bytes, Rate, SimDuration};

/// Vary how operations are served: multi-plane operations, the order of service, what reads interrupt, a read
/// cache, a host link.
pub(crate) fn vary_service(rng: &mut Rng, spec: &mut DeviceSpec) {
    spec.parallel_unit = rng.pick(&[ParallelUnit::Die, ParallelUnit::Plane]);
    let may_share = spec.parallel_unit == ParallelUnit::Die;
    let together = may_share && rng.once_in(2);
    spec.multiplane = if together { Multiplane::Opportunistic } else { Multiplane::Off };
    let same = together && rng.once_in(2);
    spec.multiplane_pages = if same { MultiplanePages::Same } else { MultiplanePages::Any };
    spec.service = service(rng, spec);
    spec.dram = Dram { read_cache: read_cache(rng, spec.unit), ..Dram::default() };
    spec.host = host_link(rng);
}

/// The order of service, and what reads interrupt.
fn service(rng: &mut Rng, spec: &DeviceSpec) -> Service {
    let caches = spec.media.iter().any(|m| m.cache_register != CacheRegister::Off);
    if !caches && rng.once_in(2) {
        return Service { suspension: Some(suspension(rng)), ..Service::default() };
    }
    // Planes in a multi-plane operation serve several kinds of work at the same time.
    if rng.once_in(4) && spec.multiplane == Multiplane::Off {
        let shares = std::array::from_fn(|_| rng.pick(&[1, 1, 2, 7, 1000]));
        return Service { order: ServiceOrder::Shares, shares: Some(Shares(shares)), suspension: None };
    }
    let orders =
        [ServiceOrder::ReadFirst, ServiceOrder::ReadFirst, ServiceOrder::FirstCome, ServiceOrder::Shortest];
    Service { order: rng.pick(&orders), ..Service::default() }
}

fn suspension(rng: &mut Rng) -> Suspension {
    let mut time = || rng.once_in(3).then(|| rng.time(0, 60));
    let (program, erase) = (time().or(Some(SimDuration(1))), time());
    let (resume, limit) = (rng.time(0, 60), rng.count(1, 5));
    let mut min_left = || if rng.once_in(3) { rng.time(1, 60) } else { SimDuration::ZERO };
    let (program_min_left, erase_min_left) = (min_left(), min_left());
    Suspension { program, erase, resume, limit, program_min_left, erase_min_left }
}

fn read_cache(rng: &mut Rng, unit: Bytes) -> Bytes {
    Bytes(if rng.once_in(3) { rng.within(1, 8) * unit.0 } else { 0 })
}

fn host_link(rng: &mut Rng) -> HostLink {
    let rate = if rng.once_in(3) { Rate { bytes: rng.within(1, 4), nanoseconds: 1 } } else { Rate::OFF };
    let mut overhead = || if rng.once_in(3) { rng.time(1, 20) } else { SimDuration::ZERO };
    HostLink {
        rate,
        read_overhead: overhead(),
        write_overhead: overhead(),
        read_latency: SimDuration::ZERO,
        write_latency: SimDuration::ZERO,
        queue_depth: 1024,
        link: Lanes::Shared,
    }
}

/// Allocation orders that place a page whatever its address.
pub(crate) const FREE_ORDERS: [Allocation; 2] = [Allocation::Dynamic, Allocation::RoundRobin];

/// Any of the 24 allocation orders by address, or a free one.
pub(crate) fn allocation(rng: &mut Rng) -> Allocation {
    let mut levels = [Level::Channel, Level::Chip, Level::Die, Level::Plane];
    for i in (1..4).rev() {
        levels.swap(i, rng.below(i as u64 + 1) as usize);
    }
    if rng.once_in(4) { rng.pick(&FREE_ORDERS) } else { Allocation::Static(levels) }
}

pub(crate) fn ack(rng: &mut Rng) -> Ack {
    match rng.below(4) {
        0 => Ack::Buffer(rng.count(1, 9)),
        1 => Ack::Merge,
        _ => Ack::Program,
    }
}

pub(crate) fn merge(rng: &mut Rng) -> MergeBuffer {
    MergeBuffer { pages: rng.count(1, 5), after: rng.time(1, 700), idle: rng.time(1, 30_000) }
}

/// Garbage collection on planes of this many blocks.
pub(crate) fn gc(rng: &mut Rng, blocks: u32) -> GcSpec {
    GcSpec {
        trigger: trigger(rng),
        victim: rng.pick(&[
            Victim::Greedy,
            Victim::Greedy,
            Victim::Fifo,
            Victim::DChoices(2),
            Victim::WindowedGreedy(3),
            Victim::CostBenefit,
        ]),
        dead_first: rng.once_in(3),
        copies: Copies::Together,
        class: rng.pick(&[GcClass::Background, GcClass::Host, GcClass::Urgent, GcClass::Foreground]),
        hard_reserve: rng.count(1, 4.min(blocks - 1)),
        pace_below: None,
        recheck: rng.pick(&[Recheck::Erase, Recheck::Erase, Recheck::Allocation]),
    }
}

pub(crate) fn slc_cache(rng: &mut Rng) -> SlcCache {
    let static_blocks = rng.count(0, 4);
    SlcCache {
        static_blocks,
        dynamic_blocks: if static_blocks == 0 || rng.once_in(2) { rng.count(1, 3) } else { 0 },
        dynamic_reserve: None,
        trigger: trigger(rng),
        when_full: rng.pick(&[WhenFull::Wait, WhenFull::Direct]),
        idle: None,
    }
}

fn trigger(rng: &mut Rng) -> Trigger {
    let share = rng.percent(1, 60);
    if rng.once_in(2) { Trigger::FreeBlocks(share) } else { Trigger::FreeSlots(share) }
}
