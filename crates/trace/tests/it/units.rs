//! Units that a file does not say, or says wrongly: traces of many kinds are written in every unit
//! and format, and each must be read in its true unit, or be refused with the true one among the
//! options. A wrong unit is never called certain, and an open one never wrong.

use wordline_trace::{Asked, Body, Confidence, ErrorKind, FORMATS, Timing, inspect, with_format};

const ROWS: u64 = 600;
const SECOND: u64 = 1_000_000_000;

/// Random numbers that are the same everywhere (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// Of an exponential law.
    fn gap(&mut self, mean_ns: u64) -> u64 {
        let uniform = (self.below(1 << 30) + 1) as f64 / (1u64 << 30) as f64;
        (-uniform.ln() * mean_ns as f64) as u64
    }
}

/// Arrival times in nanoseconds, one kind of trace each.
fn kinds() -> Vec<(&'static str, Vec<u64>)> {
    fn made(rows: u64, mut next: impl FnMut(u64, &mut Random) -> u64) -> Vec<u64> {
        let (mut random, mut now) = (Random(7), 0);
        (0..rows)
            .map(|i| {
                now += next(i, &mut random);
                now
            })
            .collect()
    }
    let batches = |depth: u64, mean_ns: u64, within: u64| {
        made(ROWS, move |i, r| if i % depth == 0 { r.gap(mean_ns) } else { r.below(within) })
    };
    let epoch = |times: Vec<u64>| times.into_iter().map(|t| t + 1_700_000_000 * SECOND).collect::<Vec<u64>>();
    vec![
        ("batches of 32 within nanoseconds", batches(32, 550_000, 60)),
        ("batches of 64 at one instant", batches(64, 1_000_000, 1)),
        ("batches of 32 a minute", batches(32, 60 * SECOND, 2_000)),
        ("a million a second", made(ROWS, |_, r| r.gap(1_000))),
        ("fifty thousand a second", made(ROWS, |_, r| r.gap(20_000))),
        ("four hundred a second", made(ROWS, |_, r| r.gap(2_500_000))),
        ("a disk's hundred a second", made(ROWS, |_, r| 4_000_000 + r.gap(6_000_000))),
        ("two a second", made(ROWS, |_, r| r.gap(500_000_000))),
        ("one a minute", made(ROWS, |_, r| 59 * SECOND + r.below(2 * SECOND))),
        ("on and off", made(ROWS, |i, r| if i % 100 == 0 { r.gap(5 * SECOND) } else { r.gap(50_000) })),
        ("a burst at the beginning", made(ROWS, |i, r| if i < 150 { 0 } else { r.gap(5_000_000) })),
        (
            "a clock of a second",
            made(ROWS, |_, r| r.gap(50_000_000)).iter().map(|t| t / SECOND * SECOND).collect(),
        ),
        (
            "a clock of a millisecond",
            made(ROWS, |_, r| r.gap(2_000_000)).iter().map(|t| t / 1_000_000 * 1_000_000).collect(),
        ),
        ("one instant", vec![5 * SECOND; ROWS as usize]),
        ("a dozen requests", made(12, |_, r| r.gap(3_000_000))),
        ("dates, four hundred a second", epoch(made(ROWS, |_, r| r.gap(2_500_000)))),
        ("dates, one a minute", epoch(made(ROWS, |_, r| 59 * SECOND + r.below(2 * SECOND)))),
    ]
}

/// A unit, its nanoseconds, and decimals of its numbers.
type Unit = (&'static str, u64, usize);

const UNITS: [Unit; 7] = [
    ("ns", 1, 0),
    ("us", 1_000, 0),
    ("ms", 1_000_000, 0),
    ("s", SECOND, 0),
    ("us", 1_000, 3),
    ("ms", 1_000_000, 3),
    ("s", SECOND, 6),
];

/// A time as it is written, and as it is then meant.
fn written(time: u64, (_, ns, decimals): Unit) -> (String, u64) {
    let parts = 10u64.pow(decimals as u32);
    let step = ns / parts;
    let steps = time / step;
    let text = match decimals {
        0 => steps.to_string(),
        _ => format!("{}.{:0decimals$}", steps / parts, steps % parts),
    };
    (text, steps * step)
}

/// A table, whose columns are told and not their units.
const COLUMNS: &str = "csv,time=#1,offset=#2,size=#3,op=#4";

/// A format, what it is called, what stands before its rows, and a row by its request and time.
type Table = (&'static str, String, &'static str, fn(&Asked, &str) -> String);

/// Every format that is lines with a clock, and a table.
fn tables() -> Vec<Table> {
    let mut all: Vec<Table> = vec![("csv", COLUMNS.to_string(), "", |r, time| {
        format!("{time};{};{};{}", r.sector * 512, r.sectors * 512, r.op("R", "W"))
    })];
    for format in FORMATS.iter().filter(|f| f.timing != Timing::Absent && f.timing != Timing::Told) {
        if let Body::Lines { title, line, .. } = format.example.body {
            all.push((format.name, format.name.to_string(), title, line));
        }
    }
    all
}

#[test]
fn no_wrong_unit_is_certain_and_no_open_one_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    let (mut right, mut asked, mut doubtful, mut wrong) = (0, 0, 0, Vec::new());
    let tables = tables();
    for (kind, times) in kinds() {
        for unit in UNITS {
            let stamped: Vec<(String, u64)> = times.iter().map(|t| written(*t, unit)).collect();
            let span_s = (stamped[stamped.len() - 1].1 - stamped[0].1) as f64 / 1e9;
            for (format, options, title, line) in &tables {
                let mut random = Random(11);
                let mut text = title.to_string();
                for (number, (time, _)) in stamped.iter().enumerate() {
                    let sectors = [8, 8, 8, 16, 32, 64, 128, 1][random.below(8) as usize];
                    let (sector, is_read) = (random.below(1 << 21) * 8, random.below(10) < 6);
                    text += &line(&Asked { number: number as u64, sector, sectors, is_read }, time);
                    text += "\n";
                }
                std::fs::write(&path, &text).unwrap();
                let read = inspect(&format!("{}:format={options},skip=bad", path.display()));
                let case = format!("{kind}, {format}, {} with {} decimals", unit.0, unit.2);
                let untold =
                    if *format == "csv" { read } else { read.and_then(|_| inspect(path.to_str().unwrap())) };
                match untold {
                    Ok(found) if (found.span_s - span_s).abs() <= span_s * 1e-9 => right += 1,
                    // A tenth of a second is that whatever it is called, and so is nothing.
                    Ok(found) => {
                        let is_open = matches!(*format, "five-columns" | "csv");
                        let told = found.reason.contains(&format!("time={}", unit.0));
                        if is_open || found.confidence == Confidence::Certain || !told {
                            wrong.push(format!(
                                "{case}: {span_s} s read as {} s: {}",
                                found.span_s, found.reason
                            ));
                        }
                        doubtful += 1;
                    }
                    Err(e) => {
                        let text = e.to_string();
                        let option = if *format == "csv" {
                            format!("time=#1:{}", unit.0)
                        } else {
                            format!("time={}", unit.0)
                        };
                        // Times that no number of 64 bits holds are named by their line.
                        if e.kind() == ErrorKind::Ambiguous && !text.contains(&option) {
                            wrong.push(format!("{case}: {text}"));
                        }
                        asked += 1;
                    }
                }
            }
        }
    }
    println!("{right} read right, {asked} asked for, {doubtful} taken by their grammar and called likely");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(right > 200, "only {right} were read at all");
}

/// A table whose sizes count sectors, and whose titles do not say so, is asked for: never eight bytes a request.
#[test]
fn sizes_below_a_sector_are_asked_for() {
    let rows: String = (0..200).map(|i| format!("{}.25,{},8,W\n", i * 3, i * 37 % 5000 * 8)).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, rows).unwrap();
    let path = path.display().to_string();
    let columns = "csv:time=#1:ms,offset=#2,size=#3,op=#4";
    let e = inspect(&with_format(&path, columns)).unwrap_err().to_string();
    for said in ["unit=sector", "unit=4KiB", "choose one of them"] {
        assert!(e.contains(said), "{said:?} is not in: {e}");
    }
    let mean_kib = |spelling: &str| inspect(&with_format(&path, spelling)).unwrap().mean_write_kib;
    assert_eq!(mean_kib(&format!("{columns},unit=sector")), 4.0);
    assert_eq!(mean_kib("csv:time=#1:ms,offset=#2:sector,size=#3:sector,op=#4"), 4.0);
    assert!(mean_kib(&format!("{columns},unit=byte")) < 1.0);
}

/// SPC has addresses in sectors and sizes in bytes: a file with both in bytes is asked for, never read 512 times too far.
#[test]
fn addresses_in_bytes_where_sectors_are_due_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.spc").display().to_string();
    let read = |unit: u64, size: u64, options: &str| {
        let row = |i: u64| format!("0,{},{size},W,{i}.25\n", i * 37 % 400 * size / unit);
        std::fs::write(&path, (0..400).map(row).collect::<String>()).unwrap();
        inspect(&format!("{path}{options}"))
    };
    let e = read(1, 4096, "").unwrap_err().to_string();
    for said in
        ["addresses in sectors", "multiples of 256 KiB", "1.56 MiB", "798.0 MiB", "t.spc:time=s,unit=byte"]
    {
        assert!(e.contains(said), "{said:?} is not in: {e}");
    }
    let highest = |unit, size, options| read(unit, size, options).unwrap().highest_address_gib;
    let gib = |kib: u32| f64::from(kib) / f64::from(1 << 20);
    assert_eq!(highest(1, 4096, ":time=s,unit=byte"), gib(1600));
    assert_eq!(highest(512, 4096, ""), gib(1600));
    assert_eq!(highest(512, 256 << 10, ""), gib(400 * 256));
}
