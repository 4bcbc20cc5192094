//! Does an idle drive answer after exactly the times that its description adds up to, and do its
//! parts really work in parallel?

use wordline_device::DeviceSpec;
use wordline_ftl::{Initial, Mapped};
use wordline_sim::{Device, Event, Log, NoProbe, Pacing, Stop, drive};
use wordline_swarm::Tiny;
use wordline_units::{HostOp, HostRequest, SimTime};

fn builtin(name: &str, overrides: &[(&str, &str)]) -> DeviceSpec {
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    wordline_device::find(name).unwrap().spec(&overrides).unwrap()
}

fn device(spec: &DeviceSpec) -> Device<Log> {
    let scheme = wordline_schemes::build("conventional").unwrap();
    let mut d = Device::new(spec, &spec.geometry().unwrap(), scheme, Log::default()).unwrap();
    let pages = (spec.logical_bytes() / spec.unit.0 / 2) as u32;
    d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(pages)), 7).unwrap();
    d
}

/// The latency of one request on an idle drive, in nanoseconds.
fn alone(spec: &DeviceSpec, op: HostOp, bytes: u64) -> u64 {
    let mut d = device(spec);
    d.submit(HostRequest::new(op, 0, (bytes / 512) as u32), SimTime(0)).unwrap();
    d.next_completion(SimTime::NEVER).unwrap().unwrap().at.0
}

/// The latency of a read of what has been written a second before, so that its pages have one number in their planes.
fn read_back(spec: &DeviceSpec, bytes: u64) -> u64 {
    let (mut d, later) = (device(spec), SimTime(1_000_000_000));
    for (op, at) in [(HostOp::Write, SimTime(0)), (HostOp::Read, later)] {
        d.submit(HostRequest::new(op, 0, (bytes / 512) as u32), at).unwrap();
    }
    let mut ends = [(); 2].map(|()| d.next_completion(SimTime::NEVER).unwrap().unwrap().at.0);
    ends.sort_unstable();
    ends[1] - later.0
}

#[test]
fn recorded_mqsim_figures_match_to_the_nanosecond() {
    // PEERS: queue depth 1, one plane, SLC, 75 us, 750 us, 3 ns a byte, PCIe at 39 ns per 128 bytes.
    let page_8k = builtin("mqsim-qd1", &[]);
    assert_eq!(alone(&page_8k, HostOp::Read, 8192), 102_442);
    assert_eq!(alone(&page_8k, HostOp::Read, 4096), 88_906);
    assert_eq!(alone(&page_8k, HostOp::Write, 8192), 777_501);
    assert_eq!(alone(&page_8k, HostOp::Read, 65_536), 819_116);
    let page_16k = builtin("mqsim-qd1", &[("medium.flash.page", "16KiB")]);
    assert_eq!(alone(&page_16k, HostOp::Read, 16_384), 129_514);
}

#[test]
fn plane_is_blocked_1_ns_before_it_is_ready() {
    let spec = builtin("mqsim-qd1", &[("host.rate", "off"), ("host.read_overhead", "0ns")]);
    let array = 290 + 75_020;
    let first_ends = array + 24_576;
    for (second_arrives, second_ends) in [
        (0, 2 * first_ends),
        (first_ends - 1, 2 * first_ends),
        (first_ends, 2 * first_ends),
        (first_ends + 1, 2 * first_ends + 1),
    ] {
        let mut d = device(&spec);
        d.submit(HostRequest::new(HostOp::Read, 0, 16), SimTime(0)).unwrap();
        d.submit(HostRequest::new(HostOp::Read, 16, 16), SimTime(second_arrives)).unwrap();
        let ends: Vec<u64> =
            std::iter::from_fn(|| d.next_completion(SimTime::NEVER).unwrap()).map(|c| c.at.0).collect();
        assert_eq!(ends, [first_ends, second_ends], "the second arrives at {second_arrives}");
    }
}

#[test]
fn parts_of_a_read_and_a_write_keep_their_order() {
    let spec = builtin(
        "mqsim-qd1",
        &[("host.rate", "off"), ("host.read_overhead", "0ns"), ("host.write_overhead", "0ns")],
    );
    let mut d = device(&spec);
    d.submit(HostRequest::new(HostOp::Read, 0, 16), SimTime(0)).unwrap();
    d.next_completion(SimTime::NEVER).unwrap();
    assert_eq!(spans(d.probe()), [(true, 0, 75_310), (false, 75_310, 99_886)]);
    let mut d = device(&spec);
    d.submit(HostRequest::new(HostOp::Write, 0, 16), SimTime(0)).unwrap();
    d.next_completion(SimTime::NEVER).unwrap();
    assert_eq!(spans(d.probe()), [(false, 0, 24_937), (true, 24_937, 774_937)]);
}

fn spans(log: &Log) -> Vec<(bool, u64, u64)> {
    log.events
        .iter()
        .filter_map(|e| match e {
            Event::Array { start, end, .. } => Some((true, start.0, end.0)),
            Event::Bus { start, end, .. } => Some((false, start.0, end.0)),
            Event::Ready { .. } => None,
        })
        .collect()
}

/// Requests a second of a drive of so many dies and planes under full-page writes or reads.
fn throughput(dies: u32, planes: u32, op: HostOp) -> f64 {
    let tiny = Tiny { channels: dies, planes, blocks: 160, wordlines: 64, spare: 120, ..Tiny::default() };
    let mut spec = tiny.spec(1);
    spec.gc.hard_reserve = 2;
    let scheme = wordline_schemes::build("conventional:mode=slc").unwrap();
    let mut d: Device<NoProbe> = Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    let pages = tiny.units(1);
    d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(pages)), 3).unwrap();
    let per_page = spec.unit.0 / 512;
    let stream = (0..1500u64).map(|i| {
        Ok::<_, std::convert::Infallible>(HostRequest::new(op, i % pages as u64 * per_page, per_page as u32))
    });
    let summary = drive(&mut d, stream, Pacing::Closed { queue_depth: 64 }, Stop::default(), |_| {}).unwrap();
    summary.completed as f64 / summary.end.0 as f64
}

#[test]
fn four_dies_are_nearly_four_times_as_fast_as_one() {
    for op in [HostOp::Write, HostOp::Read] {
        let ratio = throughput(4, 1, op) / throughput(1, 1, op);
        assert!((3.8..=4.01).contains(&ratio), "{op:?}: {ratio}");
    }
}

#[test]
fn planes_share_an_array_and_overlap_transfers() {
    let ratio = throughput(1, 2, HostOp::Write) / throughput(1, 1, HostOp::Write);
    // 2 KiB at 1 ns a byte and 20 us of program: with two registers the transfer hides.
    let expected = (20_000.0 + 2_048.0) / 20_000.0;
    assert!((ratio / expected - 1.0).abs() < 0.01, "{ratio} against {expected}");
}

/// MQSim's files of the drives whose times were recorded: its own `ssdconfig.xml` with these values, SLC, pages of 8 KiB.
fn drive_of_mqsim(channels: u32, planes: u32, lanes: u32, rate: u32) -> DeviceSpec {
    let values = [
        ("PCIe_Lane_Bandwidth", "1.00000".to_string()),
        ("PCIe_Lane_Count", lanes.to_string()),
        ("HostInterface_Type", "NVME".into()),
        ("Caching_Mechanism", "SIMPLE".into()),
        ("Ideal_Mapping_Table", "true".into()),
        ("Plane_Allocation_Scheme", "PCWD".into()),
        ("Overprovisioning_Ratio", "0.07".into()),
        ("Flash_Channel_Count", channels.to_string()),
        ("Flash_Channel_Width", "1".into()),
        ("Channel_Transfer_Rate", rate.to_string()),
        ("Chip_No_Per_Channel", "1".into()),
        ("Die_No_Per_Chip", "1".into()),
        ("Plane_No_Per_Die", planes.to_string()),
        ("Flash_Technology", "SLC".into()),
        ("CMD_Suspension_Support", "ERASE".into()),
        ("Page_Read_Latency_LSB", "75000".into()),
        ("Page_Program_Latency_LSB", "750000".into()),
        ("Block_Erase_Latency", "3800000".into()),
        ("Block_No_Per_Plane", "256".into()),
        ("Page_No_Per_Block", "256".into()),
        ("Page_Capacity", "8192".into()),
    ];
    let each: String = values.iter().map(|(key, value)| format!("<{key}>{value}</{key}>")).collect();
    let text = format!("<Device_Parameter_Set>{each}</Device_Parameter_Set>");
    let found = wordline_device::import(text.as_bytes(), "ssdconfig.xml", "mqsim").unwrap();
    wordline_device::from_toml(&found.text, "mqsim.toml", &[]).unwrap()
}

// To the nanosecond.
#[test]
fn imported_mqsim_drive_matches_unloaded_latencies() {
    // MQSim 7ec40e3, run at queue depth 1 with 2,000 aligned random requests of one size without a cache, its report
    // changed to nanoseconds: the largest response, which all have but the first (no doorbell stands before that one).
    let one = drive_of_mqsim(1, 1, 4, 333);
    assert_eq!(alone(&one, HostOp::Read, 8_192), 102_442);
    assert_eq!(alone(&one, HostOp::Read, 4_096), 88_906);
    assert_eq!(alone(&one, HostOp::Write, 8_192), 777_501);
    let eight = drive_of_mqsim(8, 1, 4, 333);
    assert_eq!(alone(&eight, HostOp::Read, 65_536), 119_914);
    assert_eq!(alone(&eight, HostOp::Write, 65_536), 794_973);
    assert_eq!(alone(&drive_of_mqsim(1, 1, 2, 200), HostOp::Read, 8_192), 121_380);
    let two_planes = drive_of_mqsim(1, 2, 4, 333);
    assert_eq!(read_back(&two_planes, 16_384), 130_164);
    assert_eq!(alone(&two_planes, HostOp::Write, 16_384), 805_389);
}
