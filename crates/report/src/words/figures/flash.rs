//! Figures of what the flash did.

use crate::schema::activity::{CAUSES, REPROGRAM};
use crate::schema::report::Report;
use crate::words::figures::figure::Better::{Higher, Lower, Neither};
use crate::words::figures::figure::{Entry, Figure, Names, one};
use crate::words::names::{cause_title, causes, mode_title, modes, ordered};
use crate::words::number::Quantity as Q;
use wordline_counters::EnergyOf;

pub(crate) const WRITE_AMPLIFICATION: &[Entry] = &[
    one!(
        "waf.total", "WAF", Q::Waf, Lower,
        "Write amplification: bytes programmed to flash for any cause, over the bytes of the mapping pages that host writes \
         touch.",
        |r| Some(r.waf.as_ref()?.total)
    ),
    Entry::One(
        Figure::new(
            "waf.paper",
            "excl. early copies",
            (Q::Waf, Lower),
            "WAF without copies that idle time made ahead of need, except those whose page the host overwrote or trimmed \
             before GC on demand would have copied it (WA as In-place Switch seems to count it).",
        )
        .where_any(|r| r.waf.as_ref().is_some_and(|w| w.paper.is_some())),
        |r| r.waf.as_ref().map(|w| w.paper.unwrap_or(w.total)),
    ),
    Entry::One(
        Figure::new(
            "waf.without_pad",
            "excl. padding",
            (Q::Waf, Lower),
            "WAF without the unused parts of pages that are programmed before they are full.",
        )
        .where_any(|r| r.waf.as_ref().is_some_and(|w| w.cause("pad") > 0.0)),
        |r| Some(r.waf.as_ref()?.without_pad),
    ),
    Entry::Each(
        Names { of: causes, title: |cause| cause_title(cause).to_string() },
        &[(
            Figure::new("waf.parts.*", "*", (Q::Waf, Neither), "The part of WAF that one cause of programs accounts for.")
                .if_any()
                .part(),
            |r, cause| Some(r.waf.as_ref()?.cause(cause)),
        )],
    ),
    one!(
        "waf.parts.*.reprogram", "reprogrammed", Q::Waf, Neither,
        "The part of WAF that was programmed onto wordlines that held data already; it is contained in the causes above.",
        |r| Some(r.waf.as_ref()?.kind(REPROGRAM)); if_any, part
    ),
];

pub(crate) const ERASES: &[Entry] = &[Entry::Each(
    Names { of: modes, title: mode_title },
    &[(
        Figure::new("flash.erases.*", "*", (Q::Count, Lower), "Blocks erased in this cell mode.").if_any(),
        |r, mode| Some(*r.flash.erases.get(mode)? as f64),
    )],
)];

pub(crate) const MAP_ON_FLASH: &[Entry] = &[
    one!(
        "flash.map.hit_share",
        "hit rate",
        Q::Share,
        Higher,
        "Share of look-ups whose page of the mapping table was in RAM.",
        |r| r.flash.map.as_ref()?.hit_share
    ),
    one!(
        "flash.map.reads",
        "pages read",
        Q::Count,
        Lower,
        "Pages of the mapping table read from flash.",
        |r| Some(r.flash.map.as_ref()?.reads as f64)
    ),
    one!(
        "flash.map.programs",
        "pages written",
        Q::Count,
        Lower,
        "Pages of the mapping table and of the trim log programmed, without GC of them.",
        |r| Some(r.flash.map.as_ref()?.programs as f64)
    ),
    one!(
        "flash.map.journal_peak_bytes",
        "journal peak",
        Q::Bytes,
        Lower,
        "The most bytes of mapping changes that waited in RAM for their page of the mapping table.",
        |r| Some(r.flash.map.as_ref()?.journal_peak_bytes as f64)
    ),
];

pub(crate) const READ_RETRIES: &[Entry] = &[
    one!(
        "flash.errors.retries_per_host_page",
        "per page read",
        Q::Waf,
        Lower,
        "Read retries per page that the host reads.",
        |r| r.flash.errors.as_ref()?.retries_per_host_page
    ),
    one!(
        "flash.errors.share_of_read_latency",
        "latency share",
        Q::Share,
        Neither,
        "Share of the latency of completed reads that their own retries take.",
        |r| r.flash.errors.as_ref()?.share_of_read_latency
    ),
    one!(
        "flash.errors.uncorrectable", "uncorrectable", Q::Count, Lower,
        "Reads, of any cause, that failed after the last retry.",
        |r| Some(r.flash.errors.as_ref()?.counts.uncorrectable.values().sum::<u64>() as f64); if_any
    ),
    one!(
        "flash.errors.refresh.blocks",
        "data refreshes",
        Q::Count,
        Lower,
        "Blocks whose data were copied because of their age, their reads or the retries of a page.",
        |r| Some(r.flash.errors.as_ref()?.refresh.as_ref()?.counts.blocks.values().sum::<u64>() as f64)
    ),
];

pub(crate) const ENERGY: &[Entry] = &[
    one!(
        "flash.energy.total_j",
        "total",
        Q::Energy,
        Lower,
        "Energy of flash operations and transfers, without what the drive takes at rest.",
        |r| Some(r.flash.energy.as_ref()?.total_j)
    ),
    one!(
        "flash.energy.nj_per_host_byte",
        "per host byte",
        Q::EnergyPerByte,
        Lower,
        "The same per byte that the host reads or writes.",
        |r| r.flash.energy.as_ref()?.nj_per_host_byte
    ),
    Entry::Each(
        Names { of: energy_causes, title: |cause| cause_title(cause).to_string() },
        &[(
            Figure::new(
                "flash.energy.by_cause.*",
                "*",
                (Q::Energy, Neither),
                "Energy of the operations of one cause.",
            )
            .part(),
            |r, cause| {
                let by_cause = &r.flash.energy.as_ref()?.by_cause;
                Some(by_cause.get(cause).map_or(0.0, EnergyOf::total_j))
            },
        )],
    ),
];

fn energy_causes(reports: &[Report]) -> Vec<String> {
    let all = reports.iter().filter_map(|r| r.flash.energy.as_ref()).flat_map(|e| e.by_cause.keys());
    ordered(&CAUSES, &all.collect::<Vec<_>>())
}

pub(crate) const WINDOWS: &[Entry] = &[one!(
    "flash.windows.host_at_slc_speed",
    "at SLC speed",
    Q::Share,
    Higher,
    "Share of the host's bytes that were programmed as SLC, in windows of wordlines or in SLC blocks.",
    |r| r.flash.windows.as_ref()?.host_at_slc_speed
)];

pub(crate) const MULTIPLANE: &[Entry] = &[
    one!(
        "flash.multiplane.share",
        "share",
        Q::Share,
        Higher,
        "Share of all flash operations that are part of a command for several planes of a die.",
        |r| r.flash.multiplane.as_ref()?.share
    ),
    one!(
        "flash.multiplane.operations.read",
        "reads",
        Q::Count,
        Neither,
        "Page reads that are part of such a command.",
        |r| multiplane(r, "read")
    ),
    one!(
        "flash.multiplane.operations.program",
        "programs",
        Q::Count,
        Neither,
        "Program operations that are part of such a command.",
        |r| multiplane(r, "program")
    ),
    one!(
        "flash.multiplane.operations.erase",
        "erases",
        Q::Count,
        Neither,
        "Erases that are part of such a command.",
        |r| multiplane(r, "erase")
    ),
];

fn multiplane(report: &Report, kind: &str) -> Option<f64> {
    report.flash.multiplane.as_ref()?.counts.operations.get(kind).map(|n| *n as f64)
}

pub(crate) const SUSPENDED: &[Entry] = &[
    one!(
        "flash.suspensions.program",
        "programs",
        Q::Count,
        Neither,
        "Programs that a host read suspended.",
        |r| r.flash.suspensions.as_ref()?.get("program").map(|n| *n as f64)
    ),
    one!("flash.suspensions.erase", "erases", Q::Count, Neither, "Erases that a host read suspended.", |r| r
        .flash
        .suspensions
        .as_ref()?
        .get("erase")
        .map(|n| *n as f64)),
];

pub(crate) const PAGE_TYPES: &[Entry] = &[
    one!(
        "flash.page_types.writes_dominated_by.lsb",
        "LSB-dominated",
        Q::Share,
        Higher,
        "Share of write requests whose slowest page is an LSB page.",
        |r| r.flash.page_types.as_ref()?.dominated_share("lsb")
    ),
    one!(
        "flash.page_types.writes_dominated_by.csb",
        "CSB-dominated",
        Q::Share,
        Neither,
        "Share of write requests whose slowest page is a CSB page.",
        |r| r.flash.page_types.as_ref()?.dominated_share("csb")
    ),
    one!(
        "flash.page_types.writes_dominated_by.msb",
        "MSB-dominated",
        Q::Share,
        Lower,
        "Share of write requests whose slowest page is an MSB page.",
        |r| r.flash.page_types.as_ref()?.dominated_share("msb")
    ),
    one!(
        "flash.page_types.writes_dominated_by.tsb",
        "TSB-dominated",
        Q::Share,
        Lower,
        "Share of write requests whose slowest page is a TSB page.",
        |r| r.flash.page_types.as_ref()?.dominated_share("tsb")
    ),
    one!(
        "flash.page_types.as_asked",
        "type granted",
        Q::Share,
        Higher,
        "Share of host programs that went to a page of the type that the scheme requested.",
        |r| r.flash.page_types.as_ref()?.as_asked
    ),
];
