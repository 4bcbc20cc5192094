//! Blocks that wear out: when they retire, what becomes of the drive, what a power cut leaves of it, and what
//! wear leveling does.

use std::collections::BTreeMap;
use wordline_device::{DeviceSpec, WearSpec};
use wordline_ftl::{BoxedMedia, Bytes, Initial, Mapped, Outcome};
use wordline_sim::{Device, NoProbe};
use wordline_swarm::{Rng, Tiny};
use wordline_units::{Fraction, HostOp, HostRequest, SimTime};

/// A drive of two planes with blocks that live so many cycles.
fn spec(endurance: u32, wear: WearSpec) -> DeviceSpec {
    let tiny = Tiny { planes: 2, blocks: 16, wordlines: 8, spare: 7, ..Tiny::default() };
    let mut spec = tiny.spec(2);
    for mode in spec.media.iter_mut().flat_map(|m| m.modes.iter_mut().flatten()) {
        mode.endurance = endurance;
    }
    DeviceSpec { wear, ..spec }
}

const ENFORCED: WearSpec = WearSpec {
    enforce: true,
    acceleration: 1,
    spread: Fraction::ZERO,
    bad_blocks: Fraction::ZERO,
    dynamic: false,
    static_beyond: None,
};

fn device(spec: &DeviceSpec, media: impl Into<BoxedMedia>) -> Device<NoProbe> {
    let scheme = wordline_schemes::build("conventional").unwrap();
    let mut d = Device::over(spec, &spec.geometry().unwrap(), scheme, NoProbe, media).unwrap();
    d.ftl_mut().setup().precondition(&Initial::fresh(), 7).unwrap();
    d
}

fn pages(spec: &DeviceSpec) -> u64 {
    spec.logical_bytes() / spec.unit.0
}

/// Write a page, and wait for it.
fn write(d: &mut Device<NoProbe>, spec: &DeviceSpec, page: u64, stamp: u64) -> Outcome {
    let per = spec.unit.0 / 512;
    let data = stamp.to_le_bytes().repeat(spec.unit.0 as usize / 8);
    let at = d.now();
    d.submit_with(HostRequest::new(HostOp::Write, page * per, per as u32).at(at), at, &data).unwrap();
    d.next_completion(SimTime::NEVER).unwrap().unwrap().outcome
}

/// Pages written until the drive has worn out; a share of them in the first tenth, if any.
fn to_wear_out(d: &mut Device<NoProbe>, spec: &DeviceSpec, hot: Option<u64>) -> u64 {
    let (mut rng, all) = (Rng::new(3), pages(spec));
    for n in 0..3_000_000 {
        let page = if hot.is_some_and(|p| rng.below(100) < p) { rng.below(all / 10) } else { rng.below(all) };
        match write(d, spec, page, n) {
            Outcome::Done => {}
            Outcome::WornOut => return n,
            other => panic!("write {n} ends {other:?}"),
        }
    }
    panic!("the drive never wears out");
}

#[test]
fn a_block_retires_at_the_erase_that_uses_its_life_up() {
    for acceleration in [1, 5] {
        let spec = spec(40, WearSpec { acceleration, ..ENFORCED });
        let mut d = device(&spec, BoxedMedia::none());
        to_wear_out(&mut d, &spec, None);
        let erases: Vec<u32> = d.ftl().inspect().wear().map(|(_, erases)| erases).collect();
        let retired = d.ftl().inspect().lost_blocks().1 as usize;
        assert!(erases.iter().all(|e| *e <= 40 && e.is_multiple_of(acceleration)), "{erases:?}");
        assert_eq!(erases.iter().filter(|e| **e == 40).count(), retired, "{erases:?}");
        assert!(retired > 4, "{retired}");
        d.ftl_mut().tables().check().unwrap();
    }
}

#[test]
fn spares_go_first_then_writes_fail_and_reads_go_on() {
    let spec = spec(40, WearSpec { spread: Fraction::percent(20), ..ENFORCED });
    let mut d = device(&spec, Bytes::default());
    let (mut newest, mut rng, mut capacity) = (BTreeMap::new(), Rng::new(5), vec![]);
    let per = spec.unit.0 / 512;
    for n in 1.. {
        let page = rng.below(pages(&spec));
        match write(&mut d, &spec, page, n) {
            Outcome::Done => newest.insert(page, n),
            Outcome::WornOut => break,
            other => panic!("write {n} ends {other:?}"),
        };
        capacity.push((d.ftl().inspect().lost_blocks().1, d.ftl().inspect().usable_bytes().0));
        assert!(n < 1_000_000);
    }
    let block = spec.media[0].block_bytes(wordline_units::CellMode::Tlc);
    let fresh = capacity[0].1;
    assert!(capacity.iter().all(|(lost, usable)| usable + *lost as u64 * block == fresh));
    assert!(capacity.iter().any(|(lost, _)| *lost > 2), "no spare block has served");
    let since = d.ftl().inspect().worn_out().unwrap();
    // A write never takes the drive up again, and each page is read as it was written last.
    assert_eq!(write(&mut d, &spec, 0, 0), Outcome::WornOut);
    assert_eq!(d.ftl().inspect().worn_out(), Some(since));
    for (page, stamp) in newest {
        let at = d.now();
        d.submit(HostRequest::new(HostOp::Read, page * per, per as u32).at(at), at).unwrap();
        let c = d.next_completion(SimTime::NEVER).unwrap().unwrap();
        assert_eq!(c.outcome, Outcome::Done);
        assert_eq!(c.data[..8], stamp.to_le_bytes(), "page {page}");
    }
    d.drain().unwrap();
    d.ftl_mut().tables().check().unwrap();
    assert!(d.metrics().worn_out >= 2 && d.metrics().out_of_space == 0);
}

#[test]
fn without_the_key_no_block_ever_retires() {
    let spec = spec(3, WearSpec::default());
    let mut d = device(&spec, BoxedMedia::none());
    for n in 0..20_000 {
        assert_eq!(write(&mut d, &spec, n * 7 % pages(&spec), n), Outcome::Done);
    }
    assert!(d.ftl().inspect().wear().any(|(_, erases)| erases > 30));
    assert_eq!((d.ftl().inspect().lost_blocks(), d.ftl().inspect().worn_out()), ((0, 0), None));
}

#[test]
fn unknown_endurance_is_refused_if_enforced() {
    let spec = spec(0, ENFORCED);
    let scheme = wordline_schemes::build("conventional").unwrap();
    let refusal = Device::<_>::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).err().unwrap();
    assert!(refusal.to_string().contains("medium.flash.tlc.endurance"), "{refusal}");
}

#[test]
fn factory_bad_blocks_are_a_seeded_share() {
    let wear = WearSpec { bad_blocks: Fraction::percent(10), ..WearSpec::default() };
    let spec = spec(100, wear);
    let lost = |seed| {
        let scheme = wordline_schemes::build("conventional").unwrap();
        let mut d: Device<_> = Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
        let half = Initial::holding(Mapped::First(pages(&spec) as u32 / 2));
        d.ftl_mut().setup().precondition(&half, seed).unwrap();
        d.ftl_mut().tables().check().unwrap();
        assert_eq!(d.ftl().inspect().lost_blocks(), (3, 0)); // a tenth of 32
        d.ftl().inspect().free_share(d.ftl().layout().home)
    };
    let shares: Vec<f64> = (0..8).map(lost).collect();
    assert!(shares.windows(2).all(|w| w[0] == w[1]), "{shares:?}");
}

/// Retirement is found again after a power cut, and nothing that was acknowledged is lost.
#[test]
fn retired_blocks_stay_retired_through_power_cuts() {
    let spec = spec(40, WearSpec { spread: Fraction::percent(30), ..ENFORCED });
    let (mut d, mut rng, per) = (device(&spec, Bytes::default()), Rng::new(11), spec.unit.0 / 512);
    let (mut newest, mut cuts, mut with_losses) = (BTreeMap::new(), 0, 0);
    'alive: for n in 1.. {
        assert!(n < 1_000_000);
        let page = rng.below(pages(&spec));
        match write(&mut d, &spec, page, n) {
            Outcome::Done => newest.insert(page, n),
            _ => break 'alive,
        };
        if rng.below(200) > 0 {
            continue;
        }
        let (lost, wear) =
            (d.ftl().inspect().lost_blocks(), d.ftl().inspect().wear().map(|(_, e)| e).collect::<Vec<_>>());
        let scheme = wordline_schemes::build("conventional").unwrap();
        d = Device::power_on(&spec, &spec.geometry().unwrap(), scheme, d.power_cut()).unwrap();
        d.ftl_mut().tables().check().unwrap();
        assert_eq!(d.ftl().inspect().lost_blocks(), lost);
        assert_eq!(d.ftl().inspect().wear().map(|(_, e)| e).collect::<Vec<_>>(), wear);
        cuts += 1;
        with_losses += (lost.1 > 0) as u32;
    }
    assert!(cuts > 20 && with_losses > 3, "{cuts} cuts, {with_losses} with retired blocks");
    for (page, stamp) in newest {
        let at = d.now();
        d.submit(HostRequest::new(HostOp::Read, page * per, per as u32).at(at), at).unwrap();
        let c = d.next_completion(SimTime::NEVER).unwrap().unwrap();
        assert_eq!(c.data[..8], stamp.to_le_bytes(), "page {page}");
    }
}

/// Most and least erases of a block, and the pages that the drive took, with most writes in a tenth of it.
fn levelled(wear: WearSpec) -> (u32, u32, u64) {
    let spec = spec(200, WearSpec { enforce: false, ..wear });
    let mut d = device(&spec, BoxedMedia::none());
    for page in 0..pages(&spec) {
        write(&mut d, &spec, page, page);
    }
    let mut rng = Rng::new(3);
    for n in 0..30_000 {
        write(&mut d, &spec, rng.below(pages(&spec) / 10), n);
    }
    d.ftl_mut().tables().check().unwrap();
    let erases: Vec<u32> = d.ftl().inspect().wear().map(|(_, e)| e).collect();
    let written = if wear.enforce {
        let spec = DeviceSpec { wear, ..spec };
        to_wear_out(&mut device(&spec, BoxedMedia::none()), &spec, Some(95))
    } else {
        0
    };
    (*erases.iter().max().unwrap(), *erases.iter().min().unwrap(), written)
}

#[test]
fn wear_levelling_narrows_erases_and_extends_life() {
    let none = levelled(ENFORCED);
    let dynamic = levelled(WearSpec { dynamic: true, ..ENFORCED });
    let both = levelled(WearSpec { dynamic: true, static_beyond: Some(10), ..ENFORCED });
    let spread = |(most, least, _): (u32, u32, u64)| most - least;
    // Data at rest keep their blocks young, whatever order erased blocks are opened in.
    assert!(spread(none) > 60 && spread(dynamic) > 60, "{none:?} {dynamic:?}");
    assert!(spread(both) < 30, "{both:?}");
    assert!(none.2 < dynamic.2 && dynamic.2 < both.2, "{none:?} {dynamic:?} {both:?}");
}
