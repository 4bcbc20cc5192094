//! Did any result change? Every registered scheme on small drives under small workloads, in
//! integers, against `golden/table.tsv`. `make bless` rewrites the table; the commit says why.
//!
//! The table is the fixed point of determinism as well: this test meets it in the profile of tests,
//! with debug assertions, and the Python tests meet it with the installed release package.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::LazyLock;
use wordline_ftl::{Cause, Counters};
use wordline_run::{RunSpec, Setup, compare};
use wordline_sim::{Device, NoProbe, Stop, drive};
use wordline_units::CellMode;

const DEVICES: [&str; 3] = ["hybrid.toml", "dynamic.toml", "two-media.toml"];

/// Workload, requests, initial state.
const WORKLOADS: [(&str, u64, &str); 6] = [
    ("uniform:read=30%,bs=4KiB@60/16KiB@40,qd=16", 4000, "fill:90%"),
    ("zipf:read=50%,bs=4KiB,rate=4k", 4000, "fill:100%,valid=85%+pe:slc=7"),
    ("sequential:bs=64KiB,qd=4", 800, "fresh"),
    ("mix:read=20%,trim=10%,bs=512B@20/4KiB@50/20KiB@30,qd=8", 4000, "preload"),
    ("bursty:burst=10%,long=40%,quiet=50ms", 4000, "aged_invalid:40%"),
    ("flushes.csv", 600, "fill:50%,order=seq"),
];

const SEED: u64 = 42;

/// Columns that name a row; the others are what came out.
const KEYS: usize = 6;

const REFUSED: &str = "refused";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn spec(scheme: &str, device: &str, (workload, requests, initial): (&str, u64, &str)) -> RunSpec {
    let here = |file: &str| folder().join(file).to_string_lossy().into_owned();
    let workload = if workload.ends_with(".csv") { here(workload) } else { workload.to_string() };
    RunSpec {
        requests: Some(requests),
        initial: initial.to_string(),
        seed: SEED,
        ..RunSpec::new(&here(device), scheme, &workload)
    }
}

/// The columns of a run in order.
fn figures(device: &Device<NoProbe>) -> Vec<(String, String)> {
    let (metrics, counters): (_, &Counters) = (&device.metrics(), device.ftl().counters());
    let reads =
        |cause: Cause| counters.regions.iter().map(|r| r.reads[cause as usize]).sum::<u64>().to_string();
    let mut all = vec![
        ("completed".to_string(), metrics.requests.ended.iter().sum::<u64>().to_string()),
        ("out_of_space".into(), metrics.out_of_space.to_string()),
        ("last_ns".into(), metrics.last.0.to_string()),
        ("read_bytes".into(), counters.host_bytes[0].to_string()),
        ("write_bytes".into(), counters.host_bytes[1].to_string()),
        ("write_page_bytes".into(), counters.host.write_page_bytes.to_string()),
    ];
    for cause in [Cause::Host, Cause::Gc, Cause::Migrate, Cause::Pad, Cause::Metadata] {
        all.push((format!("program_bytes_{}", cause.key()), counters.program_bytes(cause).to_string()));
    }
    for cause in [Cause::Host, Cause::Rmw, Cause::Gc, Cause::Migrate] {
        all.push((format!("reads_{}", cause.key()), reads(cause)));
    }
    for mode in CellMode::ALL {
        all.push((format!("erases_{}", mode.key()), counters.erases[mode.index()].to_string()));
    }
    all.push(("collections".into(), counters.collections.to_string()));
    all
}

/// The figures of a run up to its last completion, and the hash of all that it came to.
fn row(mut device: Device<NoProbe>) -> Vec<(String, String)> {
    let mut all = figures(&device);
    device.drain().unwrap();
    device.ftl_mut().tables().check().unwrap();
    let hash = device.metrics().result_hash(&device.ftl().counters().integers());
    all.push(("result_hash".into(), hash));
    all
}

/// One run, driven here and not by [`compare`], so that two ways must come to one result. `None`
/// where the scheme does not support the device.
fn run(setup: &Setup, scheme: &str) -> Option<Device<NoProbe>> {
    let scheme = wordline_schemes::build(scheme).unwrap();
    let mut device = Device::new(&setup.device, &setup.geometry, scheme, NoProbe).ok()?;
    device.ftl_mut().setup().precondition(&setup.state, setup.spec.seed).unwrap_or_else(|e| panic!("{e}"));
    let requests = setup.workload.open(setup.shape, setup.spec.seed).unwrap();
    drive(&mut device, requests, setup.pacing().unwrap(), Stop::default(), |_| {}).unwrap();
    Some(device)
}

/// A table as rows by their key, each with its figures by column.
type Table = BTreeMap<String, Vec<(String, String)>>;

fn key(scheme: &str, device: &str, workload: (&str, u64, &str)) -> String {
    [scheme, device, workload.0, &workload.1.to_string(), workload.2, &SEED.to_string()].join("\t")
}

/// The head of the table and its rows, each of a run alone, for all tests that compare with them.
static ALONE: LazyLock<(String, Table)> = LazyLock::new(measured);

fn measured() -> (String, Table) {
    let mut head = String::new();
    let mut table = Table::new();
    for scheme in wordline_schemes::all() {
        let mut runs = 0;
        for device in DEVICES {
            for workload in WORKLOADS {
                let setup = Setup::resolve(&spec(&scheme.name, device, workload)).unwrap();
                let row = match run(&setup, &scheme.name) {
                    Some(device) => {
                        runs += 1;
                        row(device)
                    }
                    None => vec![("result_hash".into(), REFUSED.into())],
                };
                if head.is_empty() {
                    let columns: Vec<&str> = row.iter().map(|(column, _)| column.as_str()).collect();
                    head = format!(
                        "scheme\tdevice\tworkload\trequests\tinitial\tseed\t{}\n",
                        columns.join("\t")
                    );
                }
                table.insert(key(&scheme.name, device, workload), row);
            }
        }
        assert!(runs > 0, "scheme {} runs on none of {DEVICES:?}: add a device that suits it", scheme.name);
    }
    (head, table)
}

fn written(head: &str, table: &Table) -> String {
    let figures = head.trim_end().split('\t').count() - KEYS;
    let mut text = head.to_string();
    for (key, row) in table {
        let values = row.iter().map(|(_, value)| value.as_str());
        let blanks = std::iter::repeat_n("", figures - row.len());
        text += &format!("{key}\t{}\n", blanks.chain(values).collect::<Vec<_>>().join("\t"));
    }
    text
}

fn read(text: &str) -> Table {
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let head = lines.next().unwrap_or_default();
    let row = |fields: Vec<&str>| {
        let cells = head.iter().zip(&fields).skip(KEYS).filter(|(_, value)| !value.is_empty());
        let cells = cells.map(|(column, value)| (column.to_string(), value.to_string()));
        (fields[..KEYS.min(fields.len())].join("\t"), cells.collect())
    };
    lines.map(row).collect()
}

/// What has changed, a line for each row.
fn difference(before: &Table, after: &Table) -> Vec<String> {
    let name = |key: &str| {
        let fields: Vec<&str> = key.split('\t').collect();
        format!("{} on {}, {}", fields[0], fields[1], fields[2])
    };
    let mut lines = vec![];
    for (key, row) in after {
        let Some(old) = before.get(key) else {
            lines.push(format!("{}: not in the table", name(key)));
            continue;
        };
        let was = |column: &str| old.iter().find(|(c, _)| c == column).map_or("nothing", |(_, v)| v.as_str());
        let changed: Vec<String> = row
            .iter()
            .filter(|(column, value)| was(column) != value)
            .map(|(column, value)| format!("{column} {} → {value}", was(column)))
            .collect();
        if !changed.is_empty() {
            lines.push(format!("{}: {}", name(key), changed.join(", ")));
        }
    }
    lines.extend(before.keys().filter(|k| !after.contains_key(*k)).map(|k| format!("{}: gone", name(k))));
    lines
}

#[test]
fn no_result_has_changed() {
    let path = folder().join("table.tsv");
    let (head, now) = &*ALONE;
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, written(head, now)).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let changed = difference(&read(&committed), now);
    assert!(
        changed.is_empty(),
        "results differ from tests/golden/table.tsv:\n  {}\nif that is meant, `make bless` accepts it, and \
         the commit says why",
        changed.join("\n  ")
    );
    assert_eq!(committed, written(head, now), "the table is not written as `make bless` writes it");
}

/// Rows that stand for the table: so many, evenly spread over all that are not refused.
const SAMPLED: usize = 10;

#[test]
fn ten_rows_come_out_the_same_on_any_machine() {
    let committed = read(&std::fs::read_to_string(folder().join("table.tsv")).unwrap());
    let mut rows = vec![];
    for scheme in wordline_schemes::all() {
        for device in DEVICES {
            for workload in WORKLOADS {
                let expected = &committed[&key(&scheme.name, device, workload)];
                if expected.iter().all(|(_, value)| value != REFUSED) {
                    rows.push((&*scheme.name, device, workload, expected));
                }
            }
        }
    }
    for (scheme, device, workload, expected) in rows.iter().step_by(rows.len() / SAMPLED).take(SAMPLED) {
        let setup = Setup::resolve(&spec(scheme, device, *workload)).unwrap();
        let found = row(run(&setup, scheme).unwrap());
        assert_eq!(found, **expected, "{scheme} on {device}, {}: {} bits", workload.0, usize::BITS);
    }
}

#[test]
fn one_worker_and_many_match_a_run_alone() {
    for device in DEVICES {
        for workload in WORKLOADS {
            let names = wordline_schemes::all().iter().map(|s| s.name.to_string());
            let setup = |s: &str| Setup::resolve(&spec(s, device, workload)).unwrap();
            let alone = |s: String| {
                let (_, hash) = ALONE.1[&key(&s, device, workload)].last()?;
                (hash != REFUSED).then(|| (s, hash.clone()))
            };
            let (schemes, hashes): (Vec<String>, Vec<String>) = names.filter_map(alone).unzip();
            for threads in [1, 4] {
                let all = compare(&setup(&schemes[0]), &schemes, threads, &mut |_| ControlFlow::Continue(()));
                let found: Vec<String> = all.unwrap().reports.iter().map(|r| r.result_hash.clone()).collect();
                assert_eq!(found, hashes, "{device}, {}, {threads} threads", workload.0);
            }
        }
    }
}

#[test]
fn a_change_is_told_by_row_and_column() {
    let head = "scheme\tdevice\tworkload\trequests\tinitial\tseed\terases_slc\tresult_hash\n";
    let row = |scheme: &str, figures: &str| format!("{scheme}\td.toml\tw:x=1,y=2\t1\tfresh\t1\t{figures}\n");
    let before = read(&format!("{head}{}{}", row("a", "3\tff"), row("b", "\trefused")));
    let after = read(&format!("{head}{}{}", row("a", "4\tff"), row("c", "1\t00")));
    assert_eq!(
        difference(&before, &after),
        [
            "a on d.toml, w:x=1,y=2: erases_slc 3 → 4",
            "c on d.toml, w:x=1,y=2: not in the table",
            "b on d.toml, w:x=1,y=2: gone"
        ]
    );
    assert!(difference(&after, &after).is_empty());
}
