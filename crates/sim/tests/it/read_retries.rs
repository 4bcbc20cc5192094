//! What retries cost: to the nanosecond on an idle drive, in bandwidth against the closed form, and over
//! the life of the data.

use wordline_device::DeviceSpec;
use wordline_ftl::{Cause, Due, Initial, LatencyPart, Mapped, Outcome};
use wordline_sim::{Completion, Device, NoProbe, Pacing, Stop, drive};
use wordline_units::{BlockId, CellMode, HostOp, HostRequest, SimDuration, SimTime};

const DAY: u64 = 86_400 * 1_000_000_000;

/// RARO's drive, a sixteenth of its blocks, whole under QLC.
fn spec(overrides: &[(&str, &str)]) -> DeviceSpec {
    let small = [("medium.flash.blocks_per_plane", "16"), ("capacity.logical", "512MiB")];
    let overrides: Vec<_> =
        small.iter().chain(overrides).map(|(k, v)| (k.to_string(), v.to_string())).collect();
    wordline_device::find("raro-16gb").unwrap().spec(&overrides).unwrap()
}

fn aged(spec: &DeviceSpec, cycles: u32, retention: SimDuration) -> Device<NoProbe> {
    let scheme = wordline_schemes::build("conventional").unwrap();
    let mut d = Device::new(spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    let pages = (spec.logical_bytes() / spec.unit.0) as u32;
    let initial = Initial { cycles: [0, 0, 0, cycles], retention, ..Initial::holding(Mapped::First(pages)) };
    d.ftl_mut().setup().precondition(&initial, 7).unwrap();
    d
}

fn read(d: &mut Device<NoProbe>, page: u64, at: u64) -> Completion {
    d.submit(HostRequest::new(HostOp::Read, page * 32, 32), SimTime(at)).unwrap();
    d.next_completion(SimTime::NEVER).unwrap().unwrap()
}

#[test]
fn a_retry_takes_the_array_once_more() {
    // 140 us of array, 16 KiB over 800 MB/s, 1 us of link.
    let (sense, bus, link) = (140_000, 20_480, 1_000);
    for retries in [0, 1, 10] {
        let spec = spec(&[("errors.model", &format!("fixed:{retries}")), ("errors.decode", "5us")]);
        let done = read(&mut aged(&spec, 0, SimDuration::ZERO), 3, 0);
        let again = retries * (sense + 5_000);
        assert_eq!(done.at.0, sense + again + bus + link);
        let parts = [LatencyPart::Die, LatencyPart::Retry, LatencyPart::Bus, LatencyPart::Link];
        assert_eq!(parts.map(|p| done.parts[p]), [sense, again, bus, link]);
    }
}

#[test]
fn decoder_behind_the_bus_transfers_every_attempt() {
    let (sense, bus, link) = (140_000, 20_480, 1_000);
    for retries in [0, 1, 10] {
        let spec = spec(&[
            ("errors.model", &format!("fixed:{retries}")),
            ("errors.decode", "5us"),
            ("errors.retransfer", "true"),
        ]);
        let done = read(&mut aged(&spec, 0, SimDuration::ZERO), 3, 0);
        let again = retries * (bus + 5_000 + sense);
        assert_eq!(done.at.0, sense + again + bus + link);
        let parts = [LatencyPart::Die, LatencyPart::Retry, LatencyPart::Bus, LatencyPart::Link];
        assert_eq!(parts.map(|p| done.parts[p]), [sense, again, bus, link]);
    }
}

#[test]
fn bandwidth_falls_with_retries_as_the_closed_form() {
    // SPEC 2.D, Figs. 3 and 4: 21 us outside the array.
    for (mode, sense) in [("qlc", 140.0), ("tlc", 66.0)] {
        let bandwidth = |retries: u64| {
            let spec = spec(&[("errors.model", &format!("fixed:{retries}")), ("capacity.logical", "256MiB")]);
            let scheme = wordline_schemes::build(&format!("conventional:mode={mode}")).unwrap();
            let mut d: Device<NoProbe> =
                Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
            let pages = (spec.logical_bytes() / spec.unit.0) as u32;
            d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(pages)), 7).unwrap();
            let requests = (0..2_000u64).map(|i| {
                let page = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % pages as u64;
                Ok::<_, std::convert::Infallible>(HostRequest::new(HostOp::Read, page * 32, 32))
            });
            let pacing = Pacing::Closed { queue_depth: 1 };
            let summary = drive(&mut d, requests, pacing, Stop::default(), |_| {}).unwrap();
            1.0 / summary.end.since(SimTime(0)).as_secs()
        };
        let alone = bandwidth(0);
        for retries in 1..=16 {
            let expected = (sense + 21.0) / (sense + 21.0 + retries as f64 * sense);
            let found = bandwidth(retries) / alone;
            assert!((found / expected - 1.0).abs() < 0.02, "{mode}, {retries}: {found} against {expected}");
        }
    }
}

// Before the run or during it.
#[test]
fn older_data_take_more_retries_whenever_time_passed() {
    let spec = spec(&[("errors.model", "raro")]);
    let retries = |d: &mut Device<NoProbe>, at: u64| -> Vec<u64> {
        let qlc =
            |d: &Device<NoProbe>| d.ftl().counters().errors.as_ref().unwrap().of_mode(CellMode::Qlc).to_vec();
        let before = qlc(d);
        (0..500).for_each(|i| _ = read(d, i * 61, at.max(d.now().0)));
        qlc(d).iter().zip(before).map(|(after, before)| after - before).collect()
    };
    let mean = |counts: &[u64]| {
        let sum: u64 = counts.iter().enumerate().map(|(n, count)| n as u64 * count).sum();
        sum as f64 / counts.iter().sum::<u64>() as f64
    };
    let fresh = retries(&mut aged(&spec, 500, SimDuration::ZERO), 0);
    let month = SimDuration(30 * DAY);
    let stored = retries(&mut aged(&spec, 500, month), 0);
    let waited = retries(&mut aged(&spec, 500, SimDuration::ZERO), month.0);
    assert!(mean(&fresh) + 1.0 < mean(&stored), "{fresh:?} {stored:?}");
    assert_eq!(stored, waited);
    // A drive that begins anew forgets the time, and not the age of its data.
    let mut d = aged(&spec, 500, SimDuration::ZERO);
    d.advance_to(SimTime(month.0)).unwrap();
    d.start_anew().unwrap();
    assert_eq!(retries(&mut d, 0), stored);
    let worn = retries(&mut aged(&spec, 900, month), 0);
    assert!(mean(&stored) + 1.0 < mean(&worn), "{stored:?} {worn:?}");
}

#[test]
fn reads_disturb_a_block_until_it_is_erased() {
    let spec = spec(&[("errors.model", "raro"), ("errors.qlc.gamma", "1e-4")]);
    let mut d = aged(&spec, 100, SimDuration::ZERO);
    let retries = |d: &mut Device<NoProbe>| {
        let at = d.now().0;
        read(d, 0, at).parts[LatencyPart::Retry] / 140_000
    };
    let first = retries(&mut d);
    // One block has 1024 pages; reads of every page count, and a block of another plane does not.
    (0..1_023).for_each(|_| _ = retries(&mut d));
    let before = retries(&mut d);
    (0..4 * 1_024).for_each(|_| _ = retries(&mut d));
    let disturbed = retries(&mut d);
    assert!(before >= first && disturbed > before, "{first} {before} {disturbed}");
    let at = d.now().0;
    d.submit(HostRequest::new(HostOp::Write, 0, 32), SimTime(at)).unwrap();
    d.next_completion(SimTime::NEVER).unwrap().unwrap();
    assert!(retries(&mut d) < disturbed, "a fresh block is not disturbed");
}

#[test]
fn read_with_too_many_errors_is_uncorrectable() {
    let spec = spec(&[
        ("errors.model", "raro"),
        ("errors.qlc.most_retries", "2"),
        ("errors.qlc.beyond", "uncorrectable"),
    ]);
    let mut d = aged(&spec, 900, SimDuration(30 * DAY));
    let done = read(&mut d, 5, 0);
    assert_eq!((done.outcome, done.parts[LatencyPart::Retry]), (Outcome::Uncorrectable, 280_000));
    let errors = d.ftl().counters().errors.clone().unwrap();
    assert_eq!((errors.uncorrectable[0], errors.retries[0], d.metrics().uncorrectable), (1, 2, 1));
}

#[test]
fn mode_without_coefficients_is_refused_with_advice() {
    let spec = spec(&[("errors.model", "tlc_72_layer")]);
    let scheme = wordline_schemes::build("conventional").unwrap();
    let refused = Device::<NoProbe>::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe);
    let Err(refused) = refused else { panic!("accepted") };
    assert!(refused.reason.contains("[errors.qlc]") && refused.reason.contains("tlc_72_layer"), "{refused}");
}

#[test]
fn timely_refresh_bounds_retries_and_its_cost_is_shown() {
    let read_on = |refresh: &[(&str, &str)]| {
        let mut overrides = vec![("errors.model", "raro")];
        overrides.extend(refresh);
        let spec = spec(&overrides);
        let mut d = aged(&spec, 300, SimDuration::ZERO);
        let mut most = 0;
        // A read every hour for 200 days: all pages, in the order of a stride.
        for hour in 0..200 * 24 {
            let done = read(&mut d, hour * 61 % 32_768, hour * 3_600_000_000_000);
            most = most.max(done.parts[LatencyPart::Retry] / 140_000);
        }
        d.drain().unwrap();
        d.ftl_mut().tables().check().unwrap();
        (most, d.ftl().counters().clone())
    };
    let (never, untouched) = read_on(&[]);
    let (monthly, renewed) = read_on(&[("errors.refresh", "30d")]);
    let errors = renewed.errors.as_ref().unwrap();
    // Within 30 days a page takes at most what it takes after 30 days in the same number of cycles.
    assert!(monthly < never, "{monthly} against {never}");
    assert_eq!(untouched.programmed_bytes(), 0);
    // 32 blocks of 16 MiB, every 30 days.
    assert!(renewed.refresh.blocks[Due::Age as usize] >= 5 * 32, "{errors:?}");
    assert_eq!(renewed.refreshed_units * 16_384, renewed.program_bytes(Cause::Gc));
    assert_eq!(renewed.refreshed_units, 6 * 32_768);
    assert_eq!(renewed.erases[CellMode::Qlc.index()], renewed.refresh.blocks.iter().sum::<u64>());
}

#[test]
fn over_read_or_over_retried_block_is_rewritten() {
    let read_on = |key: &str, value: &str, retention: SimDuration| {
        let spec = spec(&[("errors.model", "raro"), (key, value)]);
        let mut d = aged(&spec, 500, retention);
        for _ in 0..100 {
            let at = d.now().0;
            read(&mut d, 0, at);
        }
        d.drain().unwrap();
        d.ftl_mut().tables().check().unwrap();
        d.ftl().counters().refresh.blocks
    };
    // The block is read once for each of its 1024 pages that move: too often for the next to be soon.
    assert_eq!(read_on("errors.read_reclaim", "100", SimDuration::ZERO), [0, 1, 0]);
    assert_eq!(read_on("errors.read_reclaim", "101", SimDuration::ZERO), [0, 0, 0]);
    // Only a page that would take fewer retries just written moves for those that it takes now.
    let month = SimDuration(30 * DAY);
    let retries = |retention| {
        let spec = spec(&[("errors.model", "raro")]);
        read(&mut aged(&spec, 500, retention), 0, 0).parts[LatencyPart::Retry] / 140_000
    };
    let (fresh, stored) = (retries(SimDuration::ZERO), retries(month));
    assert!(fresh < stored, "{fresh} {stored}");
    for (most, blocks) in [(fresh, 0), (stored, 1), (stored + 1, 0)] {
        assert_eq!(read_on("errors.refresh_retries", &most.to_string(), month), [0, 0, blocks]);
    }
}

#[test]
fn blocks_may_differ_in_the_cycles_behind_them() {
    let spec = spec(&[]);
    let scheme = wordline_schemes::build("conventional").unwrap();
    let mut d: Device<NoProbe> = Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    let (cycles, more_cycles) = ([0, 0, 0, 334], [0, 0, 0, 332]);
    d.ftl_mut().setup().precondition(&Initial { cycles, more_cycles, ..Initial::fresh() }, 7).unwrap();
    let worn: Vec<u32> = (0..64).map(|b| d.ftl().view().erases(BlockId(b))).collect();
    let mean = worn.iter().sum::<u32>() as f64 / 64.0;
    assert!(worn.iter().all(|c| (334..=666).contains(c)), "{worn:?}");
    // The mean of 64 draws has a standard deviation of 12.
    assert!((mean - 500.0).abs() < 40.0 && worn.iter().max().unwrap() - worn.iter().min().unwrap() > 250);
}
