//! Figures of the drive: what it holds, what it loses, what it does by itself.

use crate::schema::report::Report;
use crate::words::figures::figure::Better::{Higher, Lower, Neither};
use crate::words::figures::figure::{Entry, Figure, Names, distinct, one};
use crate::words::metrics;
use crate::words::number::Quantity as Q;

pub(crate) const CAPACITY: &[Entry] = &[
    one!(
        "capacity.changing.usable_bytes",
        "at the end",
        Q::Bytes,
        Higher,
        "What the blocks hold at the end of the run, each in the cell mode that it is in, erased ones in the densest.",
        |r| Some(r.capacity.changing.as_ref()?.usable_bytes as f64)
    ),
    one!(
        "capacity.changing.least_usable_bytes",
        "minimum",
        Q::Bytes,
        Higher,
        "The least that the blocks held at any time of the run.",
        |r| Some(r.capacity.changing.as_ref()?.least_usable_bytes as f64)
    ),
];

pub(crate) const LOST_BLOCKS: &[Entry] = &[
    one!(
        "lost_blocks.retired", "grown bad", Q::Count, Lower, "Blocks retired because they were worn out.",
        |r| Some(r.lost_blocks.as_ref()?.counts.retired as f64); if_any
    ),
    one!(
        "lost_blocks.bad", "factory bad", Q::Count, Neither, "Blocks that were bad from the beginning.",
        |r| Some(r.lost_blocks.as_ref()?.counts.bad as f64); if_any
    ),
    one!(
        "lost_blocks.levelled", "wear leveling", Q::Count, Neither,
        "Blocks whose data static wear leveling moved.",
        |r| Some(r.lost_blocks.as_ref()?.counts.levelled as f64); if_any
    ),
    one!(
        "lost_blocks.worn_out.total_bytes_written", "worn out after", Q::Bytes, Higher,
        "Host bytes written in this run when the first host write found no place.",
        |r| Some(r.lost_blocks.as_ref()?.worn_out?.total_bytes_written); if_any
    ),
];

pub(crate) const IDLE_TIME: &[Entry] = &[
    one!(
        "idle.idle_s", "idle time", Q::Time, Neither,
        "Time from the moment at which the drive is taken to be idle to the next request, summed.",
        |r| Some(r.idle.as_ref()?.idle_s); if_any
    ),
    one!(
        "idle.program_bytes.gc", "GC", Q::Bytes, Neither, "Bytes that GC copied in idle time.",
        |r| idle_bytes(r, "gc"); if_any
    ),
    one!(
        "idle.program_bytes.migration", "migration", Q::Bytes, Neither, "Bytes that migration copied in idle time.",
        |r| idle_bytes(r, "migration"); if_any
    ),
    one!(
        "idle.erases", "blocks erased", Q::Count, Neither, "Blocks erased in idle time.",
        |r| Some(r.idle.as_ref()?.erases as f64); if_any
    ),
    one!(
        "idle.delayed_requests", "delayed", Q::Count, Lower,
        "Requests that waited for work which idle time had begun.",
        |r| Some(r.idle.as_ref()?.delays.delayed_requests as f64); if_any
    ),
    one!(
        "idle.delay_us_mean", "mean delay", Q::Latency, Lower, "How long these requests waited for it, on average.",
        |r| r.idle.as_ref()?.delays.delay_us_mean; if_any
    ),
    one!(
        "idle.delay_us_max", "max delay", Q::Latency, Lower, "The longest such wait.",
        |r| Some(r.idle.as_ref()?.delays.delay_us_max); if_any
    ),
];

fn idle_bytes(report: &Report, cause: &str) -> Option<f64> {
    Some(report.idle.as_ref()?.program_bytes.get(cause).copied().unwrap_or(0) as f64)
}

pub(crate) const TABLES: &[Entry] = &[Entry::Each(
    Names {
        of: |reports| {
            let all = reports.iter().flat_map(|r| r.memory.tables.iter().map(|t| t.name.clone()));
            distinct(all, usize::MAX)
        },
        title: str::to_string,
    },
    &[(
        Figure::new(
            "memory.tables.*.bytes",
            "*",
            (Q::Bytes, Lower),
            "RAM of a table that the scheme keeps beside a page-level mapping table, counted as its paper counts it.",
        ),
        |r, name| Some(r.memory.tables.iter().filter(|t| t.name == name).map(|t| t.bytes).sum::<u64>() as f64),
    )],
)];

pub(crate) const METRICS: &[Entry] = &[Entry::Each(
    Names { of: metrics::owned, title: str::to_string },
    &[
        (
            Figure::new(
                "followed.*",
                "*",
                (Q::Number, Neither),
                "The last value of a series that the scheme records by itself.",
            ),
            |r, name| metrics::last(r.followed.get(name)?),
        ),
        (
            Figure::new(
                "followed.*",
                "mean",
                (Q::Number, Neither),
                "The mean of that series, weighted by host page writes.",
            )
            .part(),
            |r, name| metrics::mean(r.followed.get(name)?),
        ),
    ],
)];

pub(crate) const IGNORED: &[Entry] = &[Entry::Each(
    Names {
        of: |reports| {
            let mut all = distinct(reports.iter().flat_map(|r| r.without_effect.keys().cloned()), usize::MAX);
            all.sort();
            all
        },
        title: |why| {
            let (what, why_not) = why.split_once('_').unwrap_or(("", why));
            format!("{what}: {}", why_not.replace('_', " "))
        },
    },
    &[(
        Figure::new(
            "without_effect.*",
            "*",
            (Q::Count, Neither),
            "Moves and collections that the scheme asked for and the drive did not carry out, by reason.",
        ),
        |r, why| Some(r.without_effect.get(why).copied().unwrap_or(0) as f64),
    )],
)];

pub(crate) const AFTER_LAST_REQUEST: &[Entry] = &[
    one!(
        "after_last_request.copied_pages", "copied pages", Q::Count, Neither,
        "Pages that GC and migration copied after the last completion, which no other figure contains.",
        |r| Some(r.after_last_request.as_ref()?.copied_pages as f64); if_any
    ),
    one!(
        "after_last_request.erases", "erases", Q::Count, Neither,
        "Blocks erased after the last completion, which no other figure contains.",
        |r| Some(r.after_last_request.as_ref()?.erases as f64); if_any
    ),
];

pub(crate) const CHANGE: &[Entry] = &[
    one!(
        "balance.end.free_blocks", "free blocks", Q::Number, Neither,
        "Free blocks at the last completion, less those before the first request.",
        |r| Some(r.balance?.change(|h| h.free_blocks)); if_any
    ),
    one!(
        "balance.end.slc_bytes", "SLC data", Q::Bytes, Neither,
        "Valid data in SLC blocks at the last completion, less that before the first request: what is left to migrate.",
        |r| Some(r.balance?.change(|h| h.slc_bytes)); if_any
    ),
    one!(
        "balance.end.buffered_bytes", "in write buffer", Q::Bytes, Neither,
        "Acknowledged data that only the write buffer holds at the last completion, less those before the first request.",
        |r| Some(r.balance?.change(|h| h.buffered_bytes)); if_any
    ),
];
