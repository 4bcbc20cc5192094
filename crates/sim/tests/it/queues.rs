//! Several queues of a host in front of a drive: whose turn it is, to the nanosecond, and that one queue changes nothing.

use crate::support::one_die;
use std::convert::Infallible;
use wordline_device::ArbitrationOrder;
use wordline_sim::{
    Arrivals, Completion, Device, Host, HostTurn, NoProbe, Pacing, Queues, Stop, drive, drive_host,
};
use wordline_units::{HostOp, HostRequest, QueueClass, SimTime};

/// A read of a page on an idle drive: array, bus, link.
const READ: u64 = 140_000 + 20_480 + 1_000;

fn device() -> Device<NoProbe> {
    one_die::full(&one_die::spec(&[]), "conventional")
}

/// A host that notes what has ended.
struct Noted<H> {
    host: H,
    ended: Vec<Completion>,
}

impl<H: Host> Host for Noted<H> {
    type Error = H::Error;

    fn turn(&mut self, now: SimTime) -> Result<HostTurn, H::Error> {
        self.host.turn(now)
    }

    fn completed(&mut self, completion: &Completion) {
        self.host.completed(completion);
        self.ended.push(completion.clone());
    }

    fn is_timed(&self) -> bool {
        self.host.is_timed()
    }

    fn ends_worn(&self) -> bool {
        self.host.ends_worn()
    }
}

fn ended(queues: Queues, most: u32, asked: Vec<HostRequest>) -> Vec<Completion> {
    let stream = asked.into_iter().map(Ok::<_, Infallible>);
    let mut host = Noted { host: Arrivals::new(stream, false), ended: vec![] };
    drive_host(&mut device(), &mut host, Some((queues, most)), |_| {}).unwrap();
    host.ended
}

fn read(volume: u16, page: u64, at: u64) -> HostRequest {
    HostRequest { volume, ..HostRequest::new(HostOp::Read, page * 32, 32) }.at(SimTime(at))
}

#[test]
fn weights_pick_the_next_read_to_the_nanosecond() {
    let classes = [QueueClass::Low, QueueClass::Medium, QueueClass::High, QueueClass::Urgent];
    let queues = Queues::new(ArbitrationOrder::Weighted([4, 2, 1]), 1, classes.map(|class| (class, 64)));
    // Three queues have six reads each from the beginning; while the third is read, one comes to the fourth.
    let mut asked: Vec<_> = (0..18).map(|i| read(i as u16 / 6, i, 0)).collect();
    asked.push(read(3, 20, 2 * READ + 5));
    let ended = ended(queues, 1, asked);
    let order: Vec<u16> = ended.iter().map(|c| c.request.volume).collect();
    assert_eq!(order, [2, 2, 2, 3, 2, 1, 1, 0, 2, 2, 1, 1, 0, 1, 1, 0, 0, 0, 0]);
    for (turn, c) in (1..).zip(&ended) {
        assert_eq!(c.at.0, turn * READ);
        assert_eq!(c.parts.total(), c.at.since(c.request.arrival).0);
    }
}

#[test]
fn round_robin_lets_a_short_queue_through_a_long_one() {
    let plain = [(QueueClass::Medium, 64); 2];
    let mut asked: Vec<_> = (0..8).map(|i| read(0, i, 0)).collect();
    asked.extend([read(1, 8, 0), read(1, 9, 0)]);
    let order =
        |queues, asked| -> Vec<u16> { ended(queues, 1, asked).iter().map(|c| c.request.volume).collect() };
    let turns = |burst| Queues::new(ArbitrationOrder::RoundRobin, burst, plain);
    assert_eq!(order(turns(1), asked.clone()), [0, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(order(turns(4), asked), [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]);
}

/// Numbers that look random.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Reads and writes in bursts, from so many sources.
fn drawn(seed: u64, sources: u64) -> Vec<HostRequest> {
    let mut draw = Drawn(seed);
    let mut at = 0;
    let one = |_| {
        at += if draw.below(8) == 0 { draw.below(20_000_000) } else { draw.below(3) };
        let op = if draw.below(3) == 0 { HostOp::Write } else { HostOp::Read };
        let (lba, volume) = (draw.below(4_000) * 32, draw.below(sources) as u16);
        HostRequest { volume, ..HostRequest::new(op, lba, 32) }.at(SimTime(at))
    };
    (0..2_000).map(one).collect()
}

#[test]
fn one_queue_changes_nothing() {
    for seed in 1..4 {
        for most in [1, 3, 16] {
            let mut plain = device();
            let stream = drawn(seed, 1).into_iter().map(Ok::<_, Infallible>);
            let open = Pacing::Open { queue_depth: most };
            drive(&mut plain, stream, open, Stop::default(), |_| {}).unwrap();

            let mut queued = device();
            let stream = drawn(seed, 1).into_iter().map(Ok::<_, Infallible>);
            let weighted = ArbitrationOrder::Weighted([4, 2, 1]);
            let queues = Queues::new(weighted, 1, [(QueueClass::Low, u32::MAX)]);
            drive_host(&mut queued, &mut Arrivals::new(stream, false), Some((queues, most)), |_| {}).unwrap();
            let hash = |d: &Device<NoProbe>| d.metrics().result_hash(&d.ftl().counters().integers());
            assert_eq!(hash(&plain), hash(&queued), "seed {seed}, {most} at once");
        }
    }
}

#[test]
fn queue_keeps_its_depth_and_its_order() {
    for seed in 10..20 {
        let mut draw = Drawn(seed);
        let classes = QueueClass::WORDS.map(|(_, class)| class);
        let depths = [1, 2, 3, 5].map(|d| d + draw.below(3) as u32);
        let order = match draw.below(2) {
            0 => ArbitrationOrder::RoundRobin,
            _ => ArbitrationOrder::Weighted([1, 1, 1].map(|w| w + draw.below(9) as u32)),
        };
        let queues = Queues::new(order, 1 + draw.below(4) as u32, classes.into_iter().zip(depths));
        let most = 1 + draw.below(10) as u32;
        let mut ended = ended(queues, most, drawn(seed, 4));
        assert_eq!(ended.len(), 2_000);
        // When each was taken follows from its latency: what came before admission is the first part.
        ended.sort_by_key(|c| c.number);
        let taken = |c: &Completion| c.request.arrival.0 + c.parts.nanoseconds()[0];
        for (volume, depth) in (0..4).zip(depths) {
            let own: Vec<_> = ended.iter().filter(|c| c.request.volume == volume).collect();
            assert!(own.windows(2).all(|w| w[0].request.arrival <= w[1].request.arrival), "seed {seed}");
            for c in &own {
                let at = taken(c);
                let under_way = own.iter().filter(|o| taken(o) <= at && o.at.0 > at).count();
                assert!(under_way <= depth as usize, "seed {seed}: {under_way} of {depth}");
            }
        }
        for c in &ended {
            let at = taken(c);
            let under_way = ended.iter().filter(|o| taken(o) <= at && o.at.0 > at).count();
            assert!(under_way <= most as usize, "seed {seed}: {under_way} of {most}");
        }
    }
}

/// When reads of pages on dies of their own end that come at once, of these volumes and so long.
fn at_once(link: &str, asked: &[(u16, u32)]) -> Vec<(u16, u64)> {
    let overrides = [
        ("capacity.logical", "512MiB"),
        ("medium.flash.blocks_per_plane", "16"),
        ("medium.flash.bus.rate", "off"),
        ("host.link", link),
        ("host.rate", "1GB/s"),
        ("host.read_overhead", "10us"),
    ];
    let overrides: Vec<_> = overrides.map(|(k, v)| (k.to_string(), v.to_string())).into();
    let spec = wordline_device::find("raro-16gb").unwrap().spec(&overrides).unwrap();
    let mut d = one_die::full(&spec, "conventional");
    for (page, (volume, blocks)) in (0..).zip(asked) {
        let read = HostRequest { volume: *volume, ..HostRequest::new(HostOp::Read, page * 32, *blocks) };
        d.submit(read, SimTime(0)).unwrap();
    }
    let mut done = vec![];
    while let Some(c) = d.next_completion(SimTime::NEVER).unwrap() {
        assert_eq!(c.parts.total(), c.at.0);
        done.push((c.request.volume, c.at.0));
    }
    done
}

#[test]
fn one_queue_serializes_on_its_link_and_others_do_not() {
    // 140 us of the array, then 10 us and 4,096 or 16,384 ns on the link.
    let (short, long) = (14_096, 26_384);
    let three = [(0, 32), (1, 8), (0, 8)];
    let shared = [(0, 140_000 + long), (1, 140_000 + long + short), (0, 140_000 + long + 2 * short)];
    assert_eq!(at_once("shared", &three), shared);
    let own = [(1, 140_000 + short), (0, 140_000 + long), (0, 140_000 + long + short)];
    assert_eq!(at_once("per-queue", &three), own);
    // One queue comes to the same either way.
    let one = [(0, 32), (0, 8), (0, 32), (0, 8)];
    assert_eq!(at_once("per-queue", &one), at_once("shared", &one));
}
