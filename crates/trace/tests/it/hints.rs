//! What a user is told of a table that no format knows, and the recipes that the documents give:
//! each spelling that is printed is run.

use wordline_trace::{DriveShape, Inspection, Overrides, Pacing, Trace, inspect, render_inspection};

const DRIVE: DriveShape = DriveShape { logical_bytes: 1 << 40, sector_bytes: 4096, unit_bytes: 4096 };

struct Case {
    _folder: tempfile::TempDir,
    path: String,
}

fn file(content: &[u8]) -> Case {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.txt");
    std::fs::write(&path, content).unwrap();
    Case { path: path.to_str().unwrap().to_string(), _folder: folder }
}

fn refusal(case: &Case) -> String {
    inspect(&case.path).unwrap_err().to_string()
}

/// The `csv:` spellings that a refusal proposes.
fn proposed(refusal: &str) -> Vec<String> {
    let parts = refusal.split("--format 'csv:").skip(1);
    parts.map(|rest| rest.split_once('\'').unwrap().0.to_string()).collect()
}

/// What a proposal reads.
fn read(case: &Case, options: &str) -> Inspection {
    inspect(&format!("{}:format=csv,{options}", case.path)).unwrap_or_else(|e| panic!("{options}: {e}"))
}

/// The one of several proposals that has these words.
fn chosen(all: &[String], words: &[&str]) -> String {
    let fit: Vec<&String> = all.iter().filter(|s| words.iter().all(|w| s.contains(w))).collect();
    assert_eq!(fit.len(), 1, "{words:?} in {all:?}");
    fit[0].clone()
}

#[test]
fn micro_sign_in_a_title_leaves_columns_unchanged() {
    let rows = "5;0;4096;R\n9;4096;8192;W\n12;8192;4096;R\n15;0;4096;W\n";
    let greek = format!("When (\u{3bc}s);Place;Length;Op\n{rows}");
    let utf8 = format!("When (\u{b5}s);Place;Length;Op\n{rows}");
    let latin1: Vec<u8> = utf8.chars().map(|c| c as u8).collect();
    for content in [greek.as_bytes(), utf8.as_bytes(), &latin1] {
        let case = file(content);
        let said = refusal(&case);
        assert!(said.contains("When (µs) | Place | Length | Op"), "{said}");
        // Either sign may be typed for either.
        for typed in ["When (\u{b5}s)", "When (\u{3bc}s)"] {
            let text = format!("{}:format=csv,time={typed},offset=Place,size=Length,op=Op", case.path);
            let found = inspect(&text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((found.requests, found.span_s), (4, 1e-5));
        }
    }
}

#[test]
fn untitled_table_gets_numbered_columns_that_read_it() {
    for (content, offset) in [
        ("R,100,8192,4096\nW,220,4096,8192\nR,300,65536,4096\nW,410,20480,512\n", "offset=#3"),
        ("W\t8192\t4096\t100\nR\t4096\t8192\t220\nW\t65536\t4096\t300\nR\t20480\t512\t410\n", "offset=#2"),
        (
            "100 8192 4096 read x\n220 4096 8192 write y\n300 65536 4096 read x\n410 20480 512 write y\n",
            "offset=#2",
        ),
    ] {
        let case = file(content.as_bytes());
        let said = refusal(&case);
        assert!(said.contains("without titles") && said.contains(offset), "{said}");
        // Four rows say nothing of the unit of time: each is listed, and none goes first.
        let all = proposed(&said);
        assert!(all.len() >= 4 && said.contains("choose one of these"), "{said}");
        let found = read(&case, &chosen(&all, &[":us,"]));
        assert_eq!((found.requests, found.reads, found.span_s), (4, 2, 310e-6), "{all:?}");
    }
}

#[test]
fn column_without_unit_is_asked_with_typable_options() {
    let rows: String = (0..200).map(|i| format!("{},{},4096,R\n", i * 250, i * 8192)).collect();
    let case = file(rows.as_bytes());
    let said = inspect(&format!("{}:format=csv,time=#1,offset=#2,size=#3,op=#4", case.path)).unwrap_err();
    let said = said.to_string();
    for option in ["time=#1:us", "time=#1:ms", "span", "busiest ms"] {
        assert!(said.contains(option), "{option} is not in {said}");
    }
}

#[test]
fn reordered_five_columns_get_a_spelling_that_reads() {
    // Address, time, size, device, op: nothing is in the place where the grammar has it.
    let rows: String = (0..3_000u64)
        .map(|i| format!("{} {} {} 0 {}\n", i * 7_919 % 100_000 * 8, i * 250 + i % 7, 8 << (i % 3), i % 2))
        .collect();
    let case = file(rows.as_bytes());
    let said = refusal(&case);
    assert!(said.contains("no row would be a request") && said.contains("another order"), "{said}");
    let options = chosen(&proposed(&said), &[":us,", "read=1"]);
    assert!(options.starts_with("time=#2:us,offset=#1:sector,size=#3:sector,op=#5"), "{options}");
    let found = read(&case, &options);
    assert_eq!(found.requests, 3_000);
    assert!((4.0..16.0).contains(&found.mean_write_kib), "{}", found.mean_write_kib);
}

#[test]
fn the_recipe_for_biosnoop_reads_what_it_prints() {
    let text = "\
TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  LAT(ms)
0.000000    fio            4211   nvme0n1   W 123456     4096      0.11
0.000213    Web Content    88     nvme0n1   R 8          16384     0.09
0.001377    jbd2/sda1-8    301    sda       W 2048       4096      1.20
";
    let case = file(text.as_bytes());
    let said = refusal(&case);
    // The tool prints when a request ended, and how long it took: each came that long before.
    let recipe = "time=TIME(s),offset=SECTOR:sector,size=BYTES,op=T,device=DISK,latency=LAT(ms)";
    let found = inspect(&format!("{}:format=csv,{recipe}", case.path)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((found.requests, found.writes, found.volumes.len(), found.span_s), (3, 2, 2, 0.000287));
    assert_eq!(proposed(&said), [recipe]);
    assert!(include_str!("../../../../docs/traces.md").contains(recipe));
}

#[test]
fn latencies_say_when_requests_came() {
    let case = file(b"end_us,took_us,at,len,op\n0,40,0,4096,R\n100,10,4096,4096,W\n120,100,8192,4096,R\n");
    let recipe = "time=end_us,latency=took_us,offset=at,size=len,op=op";
    // They came at -40, 90 and 20 us.
    assert_eq!(read(&case, recipe).span_s, 130e-6);
    let e = inspect(&format!("{}:format=csv,{}", case.path, recipe.replace("took_us", "#2"))).unwrap_err();
    assert!(e.to_string().contains("\"#2\" has no unit"), "{e}");
}

#[test]
fn a_unit_at_the_end_of_a_title_is_taken() {
    for (title, unit) in [("timestamp_ms", 1e-3), ("ts_us", 1e-6), ("t_ns", 1e-9), ("time_s", 1.0)] {
        let rows = "0,0,1,R\n7,8,1,W\n14,24,2,R\n21,40,1,W\n";
        let case = file(format!("{title},first_sector,size_sectors,op\n{rows}").as_bytes());
        let found = read(&case, &format!("time={title},offset=first_sector,size=size_sectors,op=op"));
        // Only a word at the end is a unit: `first_sector` counts sectors as `size_sectors` does.
        assert_eq!((found.requests, found.mean_read_kib), (4, 0.75), "{title}");
        assert!((found.span_s / (21.0 * unit) - 1.0).abs() < 1e-9, "{title}: {}", found.span_s);
    }
}

/// As the Windows Performance Analyzer exports its table of disk requests where all cells are quoted.
/// As `time.time_ns()` gives it: the times of such tables were once called "invalid or not ascending".
#[test]
fn unix_time_in_nanoseconds_gets_a_proposal() {
    let row =
        |n: u64| format!("{},{},4096,R\n", 1_760_000_000_000_000_000 + n * 900_000, n * 7919 % 500 * 4096);
    for mark in ["", "\u{feff}"] {
        let case = file(format!("{mark}time (ns),offset,size,op\n{}", rows(200, row)).as_bytes());
        let all = proposed(&refusal(&case));
        let found = read(&case, &chosen(&all, &["time=time (ns)", "offset=offset"]));
        assert_eq!((found.requests, found.unusable.count), (200, 0));
    }
}

/// Rows are sorted by time, so that a log of several threads needs no order.
#[test]
fn unsorted_times_with_a_title_get_a_proposal() {
    let row = |n: u64| {
        let at = (n ^ 5) * 700 + n % 3;
        format!("{}.{:03};W;{};8\n", at / 1000, at % 1000, n * 7919 % 500 * 8)
    };
    let case = file(format!("ts_ms;op;start_sector;sectors\n{}", rows(200, row)).as_bytes());
    let all = proposed(&refusal(&case));
    let found = read(&case, &chosen(&all, &["time=ts_ms", "offset=start_sector"]));
    assert_eq!((found.requests, found.unusable.count, found.mean_write_kib), (200, 0, 4.0));
    assert!(found.reordered > 50, "{}", found.reordered);
}

/// A byte order mark, as programs on Windows write it, once cost the first request.
#[test]
fn byte_order_mark_costs_no_request() {
    let row = |n: u64| format!("{},srv,0,Read,{},4096,0\n", 128_166_372_000_000_000 + n * 7000, n * 4096);
    let found = inspect(&file(format!("\u{feff}{}", rows(200, row)).as_bytes()).path).unwrap();
    assert_eq!((found.format.as_str(), found.requests, found.unusable.count), ("msr", 200, 0));
    assert_eq!(found.confidence.name(), "certain");
    let log = "\u{feff}fio version 3 iolog\n0 f add\n0 f open\n5 f write 0 4096\n9 f read 0 4096\n";
    let found = inspect(&file(log.as_bytes()).path).unwrap();
    assert_eq!((found.format.as_str(), found.requests), ("fio-iolog", 2));
}

#[test]
fn a_quoted_table_with_groups_of_digits_is_read() {
    let titles = "\"Line #\",\"Process\",\"IO Type\",\"Path Name\",\"Init Time (s)\",\"IO Time (\u{b5}s)\",\"Size (B)\",\"Min Offset\",\"Disk\"\n";
    let table = titles.to_string()
        + &rows(12, |n| {
            let (op, kib, at) = (["Read", "Write"][n as usize % 2], 1 + n % 4, n * 7_919 * 4096);
            let size = format!("{},{:03}", kib * 4096 / 1000, kib * 4096 % 1000);
            format!(
                "\"{n}\",\"System (4)\",\"{op}\",\"C:\\a, b.log\",\"0.{:09}\",\"1,240.5\",\"{size}\",\"0x{at:X}\",\"0\"",
                n * 1_003_000
            )
        });
    let case = file(table.as_bytes());
    let options = chosen(&proposed(&refusal(&case)), &["thousands=comma", "offset=Min Offset:hex"]);
    let found = read(&case, &options);
    assert_eq!((found.requests, found.writes, found.mean_read_kib, found.mean_write_kib), (12, 6, 8.0, 12.0));
}

/// What the table of readings says of each is what that reading gives.
#[test]
fn every_row_of_readings_is_what_its_options_read() {
    let case = file(rows(5_000, |n| (n * 7_919 % 80_021).to_string()).as_bytes());
    let said = refusal(&case);
    for unit in ["sector", "4KiB"] {
        let row = said.lines().find(|l| l.trim_start().starts_with(&format!("unit={unit} "))).unwrap();
        let found = inspect(&format!("{}:unit={unit}", case.path)).unwrap();
        let text = render_inspection(&found);
        let reaches = text.lines().find_map(|l| l.strip_prefix("addresses     up to ")).unwrap();
        let touches = text.lines().find_map(|l| l.strip_prefix("footprint     ")).unwrap();
        let touches = touches.split(" in distinct").next().unwrap();
        assert!(row.contains(&format!(" {reaches} ")) && row.trim_end().ends_with(touches), "{row}\n{text}");
        assert!(row.contains(&format!(" {} KiB ", found.mean_read_kib)), "{row}");
    }
    // What is sure is the format; a unit found in the digits is said to be found so.
    let times = rows(40, |n| format!("{},{},4096,R", 1_700_000_000_000 + n * 7, n * 8192));
    let case = file(format!("when,offset,size,op\n{times}").as_bytes());
    let found = read(&case, "time=when,offset=offset,size=size,op=op");
    let text = render_inspection(&found);
    assert!(text.contains("csv (as set)") && !text.contains("certain"), "{text}");
    assert!(
        found.reason.contains("with time=ms it is") && found.reason.contains("not time=s"),
        "{}",
        found.reason
    );
}

/// A format in sectors whose numbers are bytes: the proposal says so, and reads the file.
#[test]
fn bytes_in_a_format_of_sectors_are_named() {
    let row =
        |n: u64| format!("{},{},{},{},9", 1_538_323_200 + n / 900, n * 7919 % 80_021 * 4096, 131_072, n % 2);
    let case = file(rows(2_000, row).as_bytes());
    let said = refusal(&case);
    assert!(said.contains("addresses in sectors, but this file cannot be read this way"), "{said}");
    let options = said.split("--format 'tencent:").nth(1).unwrap().split_once('\'').unwrap().0.to_string();
    assert_eq!(options, "time=s,unit=byte");
    let found = inspect(&format!("{}:format=tencent,{options}", case.path)).unwrap();
    assert_eq!((found.requests, found.mean_read_kib), (2_000, 128.0));
    // Its time alone does not settle the unit.
    let again = inspect(&format!("{}:format=tencent,time=s", case.path)).unwrap_err().to_string();
    assert!(again.contains("--format 'tencent:unit=byte'"), "{again}");
}

/// Rows of a table by number.
fn rows(count: u64, row: impl Fn(u64) -> String) -> String {
    (0..count).map(|n| row(n) + "\n").collect()
}

#[test]
fn table_without_an_address_column_gets_no_spelling() {
    // Sizes and latencies are no addresses, and neither are statistics.
    let objects = "Timestamp,Operation,Object_Size_Bytes,Tier,Key,Phase\n".to_string()
        + &rows(40, |n| {
            let (op, size) = (["Write", "Read"][n as usize % 2], 131_072 << (n % 3));
            format!("1772000000.{:06},{op},{size},Tier-{},layer{n}/user0,Prefill", 104_321 + n * 997, n % 2)
        });
    let latencies = "time,op,latency_us,bytes\n".to_string()
        + &rows(40, |n| format!("{},R,{},4096", n * 250, 80 + n * 4096 % 77));
    let iostat = "Device r/s rkB/s rrqm/s r_await w/s wkB/s w_await %util\n".to_string()
        + &rows(20, |n| format!("nvme0n1 {n}.00 {}.00 0.00 0.12 {n}.50 {}.00 0.31 {n}.10", n * 64, n * 128));
    let key_values = rows(40, |n| format!("{} get user{} {}", n * 10, n * 7, 100 + n % 9));
    for table in [objects, latencies, iostat, key_values] {
        let case = file(table.as_bytes());
        let said = refusal(&case);
        assert!(proposed(&said).is_empty(), "{said}");
        assert!(said.contains("it is a table"), "{said}");
    }
}

#[test]
fn proposal_uses_plausible_address_and_size_columns() {
    let four = "2 0 64 W\n250 96 8 W\n16000 96 8 R\n16010 4096 16 W\n31000 0 64 R\n";
    let case = file(four.as_bytes());
    let all = proposed(&refusal(&case));
    let found = read(&case, &chosen(&all, &[":us,"]));
    assert_eq!((found.requests, found.writes), (5, 3), "{all:?}");
    assert!((found.highest_address_gib * (1u64 << 30) as f64 - 4112.0 * 512.0).abs() < 1.0);
    // A latency is not an address though it is not said to be one, where another column is all whole pages.
    let place = |n: u64| n * 7_919 % 1000 * 4096;
    let odd = rows(300, |n| {
        format!("{}.{:09},{},{},4096,R", n / 50, n * 19_777_777 % 999_999_999, place(n), 40 + n % 13)
    });
    let sorted: String = {
        let mut l: Vec<&str> = odd.lines().collect();
        l.sort();
        l.join("\n") + "\n"
    };
    let case = file(sorted.as_bytes());
    let said = refusal(&case);
    let all = proposed(&said);
    assert!(all.iter().all(|s| s.contains("offset=#2,size=#4")), "{said}");
    // What a column's title says does not make a time of service a device.
    let titled = "Arrival (us),LBA,Sectors,Op,Disk Service Time\n".to_string()
        + &rows(60, |n| format!("{},{},8,W,{}", n * 411, n * 37 % 991 * 8, 55 + n % 3));
    let said = refusal(&file(titled.as_bytes()));
    assert_eq!(proposed(&said), ["time=Arrival (us),offset=LBA:sector,size=Sectors:sector,op=Op"], "{said}");
}

#[test]
fn of_several_readings_none_goes_first() {
    // Two columns are all whole pages, and each could be the address.
    let both = "when_us,offset,address,size,op\n".to_string()
        + &rows(60, |n| format!("{},{},{},4096,R", n * 300, n * 3 % 41 * 4096, n * 5 % 43 * 4096));
    let said = refusal(&file(both.as_bytes()));
    assert!(proposed(&said).is_empty() && said.contains("several interpretations are possible; name the columns of time, offset, size and operation with their units"), "{said}");
    // Times with nine decimals are seconds: in a finer unit they would be parts of a nanosecond.
    let five = rows(120, |n| {
        format!(
            "242.{:09} 0 {} {} {}",
            504_919_152 + n * 1_233_431,
            n * 7_919 % 9_999 * 8,
            8 << (n % 4),
            n % 2
        )
    });
    let found = inspect(&file(five.as_bytes()).path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.options["time"], "s");
    // Without them the unit is open, and the hint says no first.
    let open = rows(40, |n| format!("{} 0 {} 8 {}", n * 250, n * 7_919 % 9_999 * 8, n % 2));
    let said = refusal(&file(open.as_bytes()));
    let (_, hint) = said.split_once("hint:").unwrap();
    assert!(said.contains("time=us | time=ms") && !hint.contains("time="), "{said}");
}

#[test]
fn odd_sizes_are_proposed_as_bytes_and_as_sectors() {
    let odd = |i: u64| format!("{},W,{},{}", i * 1700, i * i * 7919 % 99991 + 9000, i * 37 % 8191 + 1);
    let case = file(format!("time_us,op,offset,size\n{}", rows(200, odd)).as_bytes());
    let all = proposed(&refusal(&case));
    assert_eq!(all.len(), 2, "{all:?}");
    let bytes = read(&case, &chosen(&all, &["offset=offset,size=size,"]));
    let mean = (0..200u64).map(|i| i * 37 % 8191 + 1).sum::<u64>() as f64 / 200.0 / 1024.0;
    // Rounded to whole blocks of 512 B.
    assert!((mean..mean + 1.0).contains(&bytes.mean_write_kib), "{mean} {}", bytes.mean_write_kib);
    read(&case, &chosen(&all, &["offset=offset:sector,size=size:sector,"]));
    // Even numbers are sectors.
    let even = |i: u64| format!("{},W,{},{}", i * 1700, i * i * 7919 % 99991 * 8, (i % 7 + 1) * 8);
    let case = file(format!("time_us,op,offset,size\n{}", rows(200, even)).as_bytes());
    assert_eq!(proposed(&refusal(&case)), ["time=time_us,offset=offset:sector,size=size:sector,op=op"]);
}

#[test]
fn an_address_in_parts_of_a_byte_is_none() {
    let text = "t_us,offset,size,op\n0,4096.0,4096,R\n5,8192.5,4096,R\n9,0,4096,W\n";
    let case = file(text.as_bytes());
    let columns = "format=csv,time=t_us:us,offset=offset,size=size,op=op";
    let e = Trace::parse(&format!("{}:{columns}", case.path), Overrides::default()).unwrap_err().to_string();
    assert!(e.contains("\"8192.5\" is not a whole number of bytes"), "{e}");
    let kept = Trace::parse(&format!("{}:{columns},skip=bad", case.path), Overrides::default()).unwrap();
    assert_eq!(kept.open(DRIVE).unwrap().count(), 2);
}

#[test]
fn text_of_ftrace_is_recognised_with_its_event() {
    let line = |i: u64, event: &str| {
        format!(
            "  fio-4211  [002] d..1. 123.{:06}: {event}: 259,0 WS 4096 () {} + 8 none,0,0 [fio]\n",
            i * 40,
            i * 8
        )
    };
    let rows: String = (0..50).map(|i| line(i, "block_rq_issue") + &line(i, "block_rq_complete")).collect();
    let case = file(format!("# tracer: nop\n#\n{rows}").as_bytes());
    let found = inspect(&case.path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((found.format.as_str(), found.requests, found.asides), ("ftrace", 50, 52));
    assert_eq!(found.options["event"], "D");
}

fn oracle(rows: u64) -> Vec<u8> {
    let record = |i: u64| {
        let next = if i + 40 < rows { i as i64 + 40 } else { -1 };
        let (time, size) = ((i / 10) as u32, 1_000 + (i % 40) as u32 * 700);
        [&time.to_le_bytes()[..], &(i % 40 * 7_919).to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()]
            .concat()
    };
    (0..rows).flat_map(record).collect()
}

#[test]
fn oracle_general_is_certain_and_names_its_substitutes() {
    let bytes = oracle(400);
    for content in [bytes.clone(), zstd::encode_all(&bytes[..], 3).unwrap()] {
        let case = file(&content);
        let found = inspect(&case.path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((found.format.as_str(), found.requests, found.writes), ("oracle-general", 400, 0));
        assert_eq!(found.span_s, 39.0);
        assert!(found.reason.contains("placed in order of first use"), "{}", found.reason);
        assert!(found.remarks.iter().any(|r| r.contains("placed in order of first use")));
    }
}

#[test]
fn address_list_asks_its_unit_and_runs_closed_loop() {
    let rows: String = (0..300u64).map(|i| format!("{}\n", i * 7_919 % 4_096)).collect();
    let case = file(rows.as_bytes());
    let said = refusal(&case);
    for part in ["addresses", "unit=sector", "unit=4KiB"] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    let text = format!("{}:unit=4KiB", case.path);
    let workload = Trace::parse(&text, Overrides::default()).unwrap();
    assert_eq!(workload.pacing(), Pacing::Closed { queue_depth: 32, threads: 1 });
    assert!(workload.remarks().iter().any(|r| r.contains("no timestamps")), "{:?}", workload.remarks());
    assert_eq!(workload.open(DRIVE).unwrap().count(), 300);
    let told = Trace::parse(&format!("{text},closed=4"), Overrides::default()).unwrap();
    assert_eq!(told.pacing(), Pacing::Closed { queue_depth: 4, threads: 1 });
    assert!(!told.remarks().iter().any(|r| r.contains("no timestamps")));
}

#[test]
fn clockless_table_runs_as_a_closed_loop() {
    let case = file(b"op,at,len\nR,0,4096\nW,4096,4096\nR,8192,4096\nW,0,4096\n");
    let text = format!("{}:format=csv,time=none,offset=at,size=len,op=op", case.path);
    let workload = Trace::parse(&text, Overrides::default()).unwrap();
    assert_eq!(workload.pacing(), Pacing::Closed { queue_depth: 32, threads: 1 });
    assert_eq!(workload.open(DRIVE).unwrap().count(), 4);
}

/// Forty requests with a clock in milliseconds, in whole pages.
fn table(title: &str, row: impl Fn(u64, u64, u64, bool) -> String) -> String {
    let each =
        |n: u64| row(n * 411 + n % 7 * 13, n * 7_919 % 991, 1 << (n % 4 % 3), n.is_multiple_of(3)) + "\n";
    title.to_string() + "\n" + &(0..40).map(each).collect::<String>()
}

#[test]
fn units_of_titles_are_taken_or_asked_for() {
    let op = |is_read| if is_read { "R" } else { "W" };
    // What the title says is the unit of the column, and nothing else is proposed.
    let kib = table("ts_ms,offset_kib,size_kib,op", |t, page, n, r| {
        format!("{t},{},{},{}", page * 4, n * 4, op(r))
    });
    let case = file(kib.as_bytes());
    let all = proposed(&refusal(&case));
    assert_eq!(all, ["time=ts_ms,offset=offset_kib,size=size_kib,op=op"]);
    assert!((read(&case, &all[0]).mean_read_kib - 8.0).abs() < 4.0);
    // A KB is 1024 bytes or 1000: 4000 bytes are no whole sectors, and without the word the column is refused.
    let kb = table("\"Time (ms)\",\"Offset (bytes)\",\"Length (KB)\",\"Op\"", |t, page, n, r| {
        format!("\"{t}\",\"{}\",\"{}\",\"{}\"", page * 4096, n * 4, op(r))
    });
    let case = file(kb.as_bytes());
    let all = proposed(&refusal(&case));
    assert_eq!(all, ["time=Time (ms),offset=Offset (bytes),size=Length (KB):KiB,op=Op"]);
    assert!((read(&case, &all[0]).mean_read_kib - 8.0).abs() < 4.0);
    let bare =
        format!("{}:format=csv,time=Time (ms),offset=Offset (bytes),size=Length (KB),op=Op", case.path);
    let said = inspect(&bare).unwrap_err().to_string();
    assert!(said.contains("1,024 or 1,000 bytes") && said.contains("size=Length (KB):KiB"), "{said}");
    // The size of a page is the user's to say; sectors it is not.
    let pages = table("time_ms,op,page,npages", |t, page, n, r| format!("{t},{},{page},{n}", op(r)));
    let case = file(pages.as_bytes());
    let said = refusal(&case);
    let all = proposed(&said);
    assert!(said.contains("choose one of these") && all.iter().all(|s| !s.contains("sector")), "{said}");
    let found = read(&case, &chosen(&all, &["page:16KiB,size=npages:16KiB"]));
    assert!((found.mean_read_kib - 32.0).abs() < 16.0, "{}", found.mean_read_kib);
}

/// NVMe has one less than the number of blocks in NLB, and scripts may write the number itself.
#[test]
fn nlb_is_read_as_its_numbers_say() {
    let nlb = |block: u64, less: u64| {
        let op = |is_read| if is_read { "R" } else { "W" };
        let blocks = 4096 / block;
        let content = table("time_ms,op,slba,nlb", |t, page, n, r| {
            format!("{t},{},{},{}", op(r), page * blocks, n * blocks - less)
        });
        let case = file(content.as_bytes());
        let all = proposed(&refusal(&case));
        (case, all)
    };
    let pages = |found: &Inspection| (found.read_gib + found.write_gib) * f64::from(1 << 18);
    // Whole pages in sectors tell which it is.
    for (less, size) in [(1, "nlb:sector:zero-based"), (0, "nlb:sector")] {
        let (case, all) = nlb(512, less);
        assert_eq!(all, [format!("time=time_ms,offset=slba:sector,size={size},op=op")]);
        let found = read(&case, &all[0]);
        assert_eq!(pages(&found), 80.0);
    }
    // A FLUSH has no blocks.
    let flushes = table("time_ms,op,slba,nlb", |t, page, n, r| match r {
        true => format!("{t},flush,0,0"),
        false => format!("{t},W,{},{}", page * 8, n * 8),
    });
    assert!(proposed(&refusal(&file(flushes.as_bytes())))[0].contains("size=nlb:sector,"));
    // Blocks of 4 KiB cannot be told from sectors. A 0 is one block, and without one the user has to say.
    let (case, all) = nlb(4096, 1);
    assert!(all.len() == 2 && all.iter().all(|s| s.contains(":zero-based")), "{all:?}");
    let found = read(&case, &chosen(&all, &["slba:4KiB,size=nlb:4KiB:zero-based"]));
    assert_eq!(pages(&found), 80.0);
    let (_, all) = nlb(4096, 0);
    assert_eq!(all.len(), 4, "{all:?}");
    // One more of what: it has to be said.
    let bare = format!("{}:format=csv,time=time_ms,offset=slba:sector,size=nlb:zero-based,op=op", case.path);
    let said = inspect(&bare).unwrap_err().to_string();
    assert!(said.contains("size=nlb:sector:zero-based"), "{said}");
}

#[test]
fn decimal_commas_are_no_reason_to_drop_the_clock() {
    let comma = table("Zeit;Offset;Laenge;Art", |t, page, n, r| {
        let what = if r { "read" } else { "write" };
        format!("{},{:03}5;{};{};{what}", t / 1000, t % 1000, page * 4096, n * 4096)
    });
    let case = file(comma.as_bytes());
    let all = proposed(&refusal(&case));
    let options = chosen(&all, &["time=Zeit:s,"]);
    assert!(all.iter().all(|s| s.contains("decimal=comma") && !s.contains("none")), "{all:?}");
    assert!((read(&case, &options).span_s - 16.0).abs() < 1.0);
}

#[test]
fn clock_that_cannot_be_read_is_not_dropped() {
    for odd in ["half past {n}", "-{n}"] {
        let rows = table("when,offset,size,op", |t, page, n, _| {
            format!("{},{},{},R", odd.replace("{n}", &(99_999 - t).to_string()), page * 4096, n * 4096)
        });
        let said = refusal(&file(rows.as_bytes()));
        assert!(proposed(&said).is_empty() && said.contains("when has "), "{said}");
    }
    let early = table("time_us,op,offset,size", |t, page, n, _| {
        format!("{},R,{},{}", t as i64 - 3_000, page * 4096, n * 4096)
    });
    let said = refusal(&file(early.as_bytes()));
    assert!(proposed(&said).is_empty() && said.contains("time_us has negative times (-3000"), "{said}");
    let none = table("offset,size,op", |_, page, n, _| format!("{},{},R", page * 4096, n * 4096));
    let case = file(none.as_bytes());
    assert_eq!(proposed(&refusal(&case)), ["time=none,offset=offset,size=size,op=op"]);
}

#[test]
fn words_of_operations_are_not_left_out() {
    let with = |read: &str, write: &str| {
        let rows = table("time_us,opcode,lba,blocks", |t, page, n, r| {
            format!("{t},{},{},{}", if r { read } else { write }, page * 8, n * 8)
        });
        file(rows.as_bytes())
    };
    let case = with("0x28", "0x2A");
    let all = proposed(&refusal(&case));
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].ends_with("op=opcode,read=0x28,write=0x2A"), "{all:?}");
    let found = read(&case, &all[0]);
    assert_eq!((found.requests, found.reads), (40, 14));
    let said = refusal(&with("GET", "PUT"));
    assert!(
        proposed(&said).is_empty() && said.contains("opcode has unknown operations (GET, PUT)"),
        "{said}"
    );
}

/// SPC has the same columns, and no titles.
#[test]
fn title_row_makes_a_table_of_spc_like_columns() {
    let of = |title: &str| {
        table(title, |t, page, n, r| {
            let op = if r { "r" } else { "w" };
            format!("0,{},{},{op},{}.{:06}", page * 8, n * 4096, t / 1_000_000, t % 1_000_000)
        })
    };
    let said = refusal(&file(of("volume,lba,bytes,rw,t").as_bytes()));
    for words in ["volume | lba | bytes | rw | t", "the closest is spc", "line 1 is a title row"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let all = proposed(&said);
    assert!(all.iter().all(|options| options.starts_with("time=t")), "{all:?}");
    let untitled = of("").trim_start().to_string();
    assert_eq!(inspect(&file(untitled.as_bytes()).path).unwrap().format, "spc");
}

/// The words of an option are in addition to the usual ones, as the documents say.
#[test]
fn word_of_an_option_leaves_the_usual_words() {
    let case = file(b"T,Kind,At,Length\n1,rd,0,4096\n2,R,4096,4096\n3,PUT,0,4096\n4,write,0,4096\n");
    let found = read(&case, "time=T:us,offset=At,size=Length,op=Kind,read=rd,write=put");
    assert_eq!((found.requests, found.reads), (4, 2));
    let changed = read(&case, "time=T:us,offset=At,size=Length,op=Kind,write=put/R");
    assert_eq!((changed.requests, changed.reads), (4, 1));
}

#[test]
fn what_a_table_lacks_is_named() {
    let rows = |title: &str, row: fn(u64, u64) -> String| table(title, |t, page, _, _| row(t, page));
    for (content, says) in [
        (
            rows("time_us,op,offset,size", |t, n| format!("{t},R,{},4K", n * 4096)),
            "size has no whole numbers (4K)",
        ),
        (rows("time_us,op,offset,size", |t, n| format!("{t},R,a{:07x}000,4096", n)), "offset is hexadecimal"),
        (
            rows("TIME(ms) DISK COMM LAT(ms)", |t, n| format!("{t} nvme0n1 fio 0.{n:04}")),
            "no column has a title or values that look like request addresses",
        ),
        (
            rows("time_us,op,offset,end", |t, n| format!("{t},R,{},{}", n * 4096, n * 4096 + 4096)),
            "no column has a title or values that look like request sizes",
        ),
        ("time_us,offset,size,op\n".to_string(), "the file has a title row but no requests"),
        (
            "{\"fio version\": \"fio-3.33\", \"jobs\": []}\n".to_string(),
            "JSON is not a trace format; convert its requests to a table with jq, which csv reads (`wordline explain csv`). A result of fio has no requests, but its job file is a workload",
        ),
    ] {
        let said = refusal(&file(content.as_bytes()));
        assert!(proposed(&said).is_empty() && said.contains(says), "{says:?}: {said}");
    }
}

/// A size in a column called `kib` was once proposed in units of the pages that another column counts.
#[test]
fn title_that_is_a_unit_is_the_unit() {
    let row = |n: u64| format!("{n};{};{};{}\n", ["r", "w"][n as usize % 2], n * 7919 % 500, 8 + n % 3 * 4);
    let case = file(format!("ts_ms;dir;page;kib\n{}", rows(200, row)).as_bytes());
    let all = proposed(&refusal(&case));
    assert!(
        all.iter().all(|options| options.contains("size=kib:KiB") && options.contains("op=dir")),
        "{all:?}"
    );
    let found = read(&case, &chosen(&all, &["offset=page:4KiB"]));
    assert_eq!((found.requests, found.unusable.count), (200, 0));
    assert!((found.mean_write_kib - 12.0).abs() < 0.2, "{}", found.mean_write_kib);
}
