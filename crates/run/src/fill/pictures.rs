//! Data of pictures: the run in bins of time, busy dies and buses, the block map.

use crate::fill::outcome::Outcome;
use wordline_ftl::{BlockLife, BlockStatus, Ftl};
use wordline_report::{BlockFrame, BlockKind, BlockMap, BlockRow, Timeline, Utilisation};
use wordline_sim::{Metrics, TimeBin, Usage, map_rows};
use wordline_units::PageType;

/// Maximum number of individually listed resources.
const RESOURCES_MAX: usize = 1024;

pub(crate) fn utilisation(run: &Outcome) -> Option<Utilisation> {
    let metrics = run.device.metrics;
    let time = metrics.used_at.0 as f64;
    let [dies, buses] = &metrics.used;
    if time == 0.0 || dies.is_empty() {
        return None;
    }
    // Four digits are more than anybody sees, and keep a list of a thousand short.
    let share = |ns: u64| libm::round(ns as f64 / time * 1e4) / 1e4;
    let mean = |all: &[u64]| all.iter().sum::<u64>() as f64 / time / all.len().max(1) as f64;
    let each = |all: &[u64]| match all.len() {
        0..=RESOURCES_MAX => all.iter().map(|ns| share(*ns)).collect(),
        _ => vec![],
    };
    Some(Utilisation { dies_mean: mean(dies), buses_mean: mean(buses), dies: each(dies), buses: each(buses) })
}

pub(crate) fn block_map(run: &Outcome) -> BlockMap {
    let (ftl, frames) = (run.device.ftl, run.device.metrics.frames());
    let kind = |look: &BlockStatus| -> BlockKind {
        let (region, mode) = (&ftl.layout().regions[look.region.0 as usize].name, look.mode.key());
        let (owned, state) = match look.life {
            BlockLife::Erased => (false, "erased"),
            BlockLife::Open => (true, "open"),
            BlockLife::Full => (true, "full"),
            BlockLife::Emptied => (true, "emptied"),
            BlockLife::Retired => (false, "retired"),
        };
        let of = |text: &str| if owned { text.to_string() } else { String::new() };
        BlockKind { region: of(region), mode: of(mode), state: state.to_string() }
    };
    let mut looks: Vec<_> =
        frames.iter().flat_map(|f| &f.cells).map(|l| (l.life, l.region.0, l.mode, *l)).collect();
    looks.sort_by_key(|(life, region, mode, _)| (*life, *region, *mode));
    let mut legend: Vec<BlockKind> = vec![];
    for (.., look) in &looks {
        let kind = kind(look);
        if !legend.contains(&kind) {
            legend.push(kind);
        }
    }
    let letter = |look: &BlockStatus| {
        let kind = kind(look);
        BlockMap::letter(legend.iter().position(|k| *k == kind).unwrap_or(usize::MAX))
    };
    let frames = frames.iter().map(|f| BlockFrame {
        at_ns: f.at.0,
        cells: f.cells.iter().map(letter).collect(),
        live: f.cells.iter().map(|l| (b'0' + l.live_tenths.min(9)) as char).collect(),
    });
    let frames = frames.collect();
    let rows = map_rows(&run.setup.geometry).into_iter().map(|r| BlockRow {
        plane: r.plane.0,
        first_block: r.first.0,
        every: r.every,
        cells: r.cells,
    });
    BlockMap { rows: rows.collect(), legend, frames }
}

pub(crate) fn timeline(m: &Metrics, ftl: &Ftl) -> Timeline {
    let layout = ftl.layout();
    let (width, bins) = m.timeline();
    let bin_s = width.as_secs();
    let rate_of = |of: &dyn Fn(&TimeBin) -> u64| bins.iter().map(|b| of(b) as f64 / 1e6 / bin_s).collect();
    let rate = |kind: usize| rate_of(&|b| b.bytes[kind]);
    let mean = |kind: usize| {
        bins.iter()
            .map(|b| {
                (b.requests[kind] > 0).then(|| b.latency_ns[kind] as f64 / b.requests[kind] as f64 / 1e3)
            })
            .collect()
    };
    let max = |kind: usize| {
        bins.iter().map(|b| (b.requests[kind] > 0).then_some(b.max_ns[kind] as f64 / 1e3)).collect()
    };
    let home = &layout.regions[layout.home.0 as usize];
    let types = if home.rule.by_bit() { &PageType::ALL[..home.mode.bits() as usize] } else { &[] };
    let free = |page: PageType| bins.iter().map(move |b| Some(b.free?.pages[page as usize] as f64)).collect();
    let [dies, buses] = m.used.each_ref().map(Vec::len);
    let die_utilisation = utilisation_of(bins, &|usage| usage.arrays, dies);
    let bus_utilisation = utilisation_of(bins, &|usage| usage.buses, buses);
    Timeline {
        bin_s,
        die_utilisation,
        bus_utilisation,
        read_requests: bins.iter().map(|b| b.requests[0]).collect(),
        write_requests: bins.iter().map(|b| b.requests[1]).collect(),
        read_mb_per_s: rate(0),
        write_mb_per_s: rate(1),
        read_latency_us_mean: mean(0),
        write_latency_us_mean: mean(1),
        read_latency_us_max: max(0),
        write_latency_us_max: max(1),
        write_page_mb_per_s: rate_of(&|b| b.host_page_bytes),
        programmed_mb_per_s: rate_of(&|b| b.programmed),
        waf: bins
            .iter()
            .map(|b| (b.host_page_bytes > 0).then(|| b.programmed as f64 / b.host_page_bytes as f64))
            .collect(),
        free_blocks: bins.iter().map(|b| Some(b.free?.share)).collect(),
        free_pages: types.iter().map(|page| (page.key().to_string(), free(*page))).collect(),
        usable_bytes: if ftl.inspect().changes_capacity() {
            bins.iter().map(|b| Some(b.free?.usable_bytes)).collect()
        } else {
            vec![]
        },
    }
}

/// Busy share between two samples over this many resources, for each bin.
fn utilisation_of(bins: &[TimeBin], used: &dyn Fn(&Usage) -> u64, resources: usize) -> Vec<Option<f64>> {
    let mut before = Usage::default();
    bins.iter()
        .map(|bin| {
            let now = bin.usage.filter(|now| now.at > before.at)?;
            let busy = used(&now) - used(&before);
            let time = now.at.since(before.at).0 * resources as u64;
            before = now;
            (time > 0).then(|| busy as f64 / time as f64)
        })
        .collect()
}
