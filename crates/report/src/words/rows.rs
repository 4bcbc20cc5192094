//! The rows of a comparison, once for the terminal and the page: what is measured, in which unit,
//! which end of it is better, and the value of every run.

use crate::schema::activity::{CAUSES, REPROGRAM};
use crate::schema::estimate::Estimate;
use crate::schema::jobs::QueueActivity;
use crate::schema::report::{Latency, Report};
use crate::schema::run_end::{AfterLastRequest, Holdings};
use crate::schema::steady::AfterWarmUp;
use crate::words::followed;
use crate::words::names::{WAF, cause_title, causes, mode_title, modes, ordered, waf_name};
use crate::words::number::Quantity;
use crate::words::row::{Better, Group, Row};
use std::collections::BTreeSet;

/// Every row that says something about at least one of the runs.
pub(crate) fn groups(reports: &[Report]) -> Vec<Group> {
    use Better::{Higher, Lower, Neither};
    let mut groups = vec![
        latency_group("Write latency", reports, |r| r.latency_us.write),
        latency_group("Read latency", reports, |r| r.latency_us.read),
    ];
    let rate = |label, value: fn(&Report) -> f64| {
        Row::new(label, Quantity::Rate, Higher, reports, |r| Some(value(r)))
    };
    let mut throughput =
        vec![rate("written", |r| r.throughput.write_mb_per_s), rate("read", |r| r.throughput.read_mb_per_s)];
    throughput.retain(Row::any);
    throughput.push(Row::new("IOPS", Quantity::Iops, Higher, reports, |r| Some(r.throughput.iops)));
    groups.push(Group { title: "Throughput", rows: throughput });
    groups.push(queues(reports));

    let waf = |label: &str, better, value: &dyn Fn(&crate::schema::activity::Waf) -> f64| {
        Row::new(label, Quantity::Waf, better, reports, |r| r.waf.as_ref().map(value))
    };
    let mut rows = vec![waf(waf_name(reports), Lower, &|w| w.total)];
    if waf_name(reports) != WAF {
        rows.push(waf("WA_paper", Lower, &|w| w.paper.unwrap_or(w.total)));
    }
    if reports.iter().any(|r| r.waf.as_ref().is_some_and(|w| w.cause("pad") > 0.0)) {
        rows.push(waf("without pad", Lower, &|w| w.without_pad));
    }
    let mut parts: Vec<Row> =
        causes(reports).iter().map(|c| waf(cause_title(c), Neither, &|w| w.cause(c)).of_above()).collect();
    parts.push(waf("of it reprogram", Neither, &|w| w.kind(REPROGRAM)).of_above());
    rows.extend(parts.into_iter().filter(Row::any));
    groups.push(Group { title: "Write amplification", rows });

    let mut rows: Vec<Row> = modes(reports)
        .iter()
        .map(|m| {
            // No erases are no merit where there are no such blocks.
            let everywhere = reports.iter().all(|r| r.flash.erases.contains_key(m));
            let better = if everywhere { Lower } else { Neither };
            let value = |r: &Report| Some(r.flash.erases.get(m).copied().unwrap_or(0) as f64);
            Row::new(&mode_title(m), Quantity::Count, better, reports, value)
        })
        .collect();
    rows.retain(Row::any);
    groups.push(Group { title: "Erases", rows });

    groups.push(map_on_flash(reports));
    groups.push(errors(reports));
    groups.push(energy(reports));
    groups.push(capacity(reports));
    groups.push(lost_blocks(reports));
    groups.push(windows(reports));
    groups.push(multiplane(reports));
    groups.push(suspensions(reports));
    groups.push(idle_time(reports));
    groups.push(page_types(reports));
    groups.push(after_warm_up(reports));
    groups.push(tables(reports));
    groups.push(followed::group(reports));
    groups.push(without_effect(reports));

    groups.push(after_last_request(reports));
    groups.push(balance(reports));

    let mut rows =
        vec![Row::new("completed", Quantity::Count, Neither, reports, |r| Some(r.host.completed as f64))];
    let failed = Row::new("failed", Quantity::Count, Lower, reports, |r| Some(r.host.failures() as f64));
    let unplaced =
        Row::new("in buffer", Quantity::Bytes, Lower, reports, |r| Some(r.host.unplaced_bytes as f64));
    rows.extend([failed, unplaced].into_iter().filter(Row::any));
    rows.push(Row::new("simulated", Quantity::Time, Neither, reports, |r| Some(r.simulated_s)));
    groups.push(Group { title: "Requests", rows });

    for g in &mut groups {
        g.rows.retain(|row| row.values.iter().any(Option::is_some));
    }
    groups.retain(|g| !g.rows.is_empty());
    groups
}

fn latency_group(title: &'static str, reports: &[Report], pick: fn(&Report) -> Option<Latency>) -> Group {
    let row = |label, value: fn(Latency) -> f64| {
        Row::new(label, Quantity::Latency, Better::Lower, reports, |r| pick(r).map(value))
    };
    let rows = vec![
        row("mean", |l| l.mean),
        row("p50", |l| l.p50),
        row("p99", |l| l.p99),
        row("p99.9", |l| l.p999),
        row("max", |l| l.max),
    ];
    Group { title, rows }
}

/// More queues than a table shows: the rest is on the page and in the JSON.
const QUEUES_MAX: usize = 8;

/// What each queue of the host was given, where it has several.
fn queues(reports: &[Report]) -> Group {
    use Better::{Higher, Lower};
    let mut names: Vec<&str> = vec![];
    for queue in reports.iter().flat_map(|r| &r.queues) {
        if !names.contains(&queue.name.as_str()) && names.len() < QUEUES_MAX {
            names.push(&queue.name);
        }
    }
    type Pick = fn(&QueueActivity) -> Option<f64>;
    let figures: [(&str, Quantity, Better, Pick); 5] = [
        ("IOPS", Quantity::Iops, Higher, |q| Some(q.requests() as f64 / q.span_s())),
        ("read mean", Quantity::Latency, Lower, |q| Some(q.read.as_ref()?.mean_ns / 1e3)),
        ("read p99", Quantity::Latency, Lower, |q| Some(q.read.as_ref()?.percentile_ns(99.0)? as f64 / 1e3)),
        ("write mean", Quantity::Latency, Lower, |q| Some(q.write.as_ref()?.mean_ns / 1e3)),
        ("write p99", Quantity::Latency, Lower, |q| {
            Some(q.write.as_ref()?.percentile_ns(99.0)? as f64 / 1e3)
        }),
    ];
    let row = |name: &str, (what, quantity, better, pick): (&str, Quantity, Better, Pick)| {
        let label = format!("{name} {what}");
        Row::new(&label, quantity, better, reports, |r| pick(r.queues.iter().find(|q| q.name == name)?))
    };
    let rows = names.into_iter().flat_map(|name| figures.map(|figure| row(name, figure))).collect();
    Group { title: "Queues", rows }
}

/// What is left of the capacity where blocks change between modes.
fn capacity(reports: &[Report]) -> Group {
    let of = |label: &str, value: fn(&crate::schema::activity::ChangingCapacity) -> u64| {
        Row::new(label, Quantity::Bytes, Better::Higher, reports, |r| {
            r.capacity.changing.as_ref().map(|c| value(c) as f64)
        })
    };
    let rows = vec![of("at the end", |c| c.usable_bytes), of("at the least", |c| c.least_usable_bytes)];
    Group { title: "Usable capacity", rows }
}

/// Blocks that wear has taken, and when it took the drive.
fn lost_blocks(reports: &[Report]) -> Group {
    use Better::{Higher, Lower, Neither};
    let of =
        |label: &str, quantity, better, value: fn(&crate::schema::activity::LostBlocks) -> Option<f64>| {
            Row::new(label, quantity, better, reports, |r| value(r.lost_blocks.as_ref()?))
        };
    let mut rows = vec![
        of("retired", Quantity::Count, Lower, |l| Some(l.retired as f64)),
        of("bad at first", Quantity::Count, Neither, |l| Some(l.bad as f64)),
        of("levelled", Quantity::Count, Neither, |l| Some(l.levelled as f64)),
        of("worn out after", Quantity::Bytes, Higher, |l| Some(l.worn_out?.total_bytes_written)),
    ];
    rows.retain(Row::any);
    Group { title: "Blocks lost", rows }
}

/// What errors cost the host's reads.
fn errors(reports: &[Report]) -> Group {
    use Better::{Lower, Neither};
    let of = |label, quantity, better, value: fn(&crate::schema::activity::ReadErrors) -> Option<f64>| {
        Row::new(label, quantity, better, reports, |r| value(r.flash.errors.as_ref()?))
    };
    let failed = |e: &crate::schema::activity::ReadErrors| Some(e.uncorrectable.values().sum::<u64>() as f64);
    let mut rows = vec![
        of("a page read", Quantity::Waf, Lower, |e| e.retries_per_host_page),
        of("of read time", Quantity::Share, Neither, |e| e.share_of_read_latency),
    ];
    let uncorrectable = of("uncorrectable", Quantity::Count, Lower, failed);
    rows.extend(Some(uncorrectable).filter(Row::any));
    rows.push(of("blocks written anew", Quantity::Count, Lower, |e| {
        Some(e.refresh.as_ref()?.blocks.values().sum::<u64>() as f64)
    }));
    Group { title: "Read retries", rows }
}

/// What operations took from the supply.
fn energy(reports: &[Report]) -> Group {
    use Better::{Lower, Neither};
    let of =
        |label: &str, quantity, better, value: &dyn Fn(&crate::schema::activity::Energy) -> Option<f64>| {
            Row::new(label, quantity, better, reports, |r| value(r.flash.energy.as_ref()?))
        };
    let mut rows = vec![
        of("in all", Quantity::Energy, Lower, &|e| Some(e.total_j)),
        of("a host byte", Quantity::EnergyPerByte, Lower, &|e| e.nj_per_host_byte),
    ];
    let all = reports.iter().filter_map(|r| r.flash.energy.as_ref()).flat_map(|e| e.by_cause.keys());
    let causes = ordered(&CAUSES, &all.collect::<Vec<_>>());
    let parts = causes.iter().map(|cause| {
        let used = |e: &crate::schema::activity::Energy| {
            Some(e.by_cause.get(cause).map_or(0.0, crate::schema::activity::EnergyOf::total_j))
        };
        of(cause_title(cause), Quantity::Energy, Neither, &used).of_above()
    });
    rows.extend(parts);
    Group { title: "Energy", rows }
}

/// How much of what the host wrote was fast, where windows make new SLC all the time.
fn windows(reports: &[Report]) -> Group {
    let share = |r: &Report| r.flash.windows.as_ref()?.host_at_slc_speed;
    let row = Row::new("at SLC speed", Quantity::Share, Better::Higher, reports, share);
    Group { title: "Windows", rows: vec![row] }
}

/// What drives hold beside a page map, counted as their literature counts it.
fn tables(reports: &[Report]) -> Group {
    let mut names: Vec<&str> = vec![];
    for table in reports.iter().flat_map(|r| &r.memory.tables) {
        if !names.contains(&table.name.as_str()) {
            names.push(&table.name);
        }
    }
    let size = |name: &str, r: &Report| {
        let bytes = r.memory.tables.iter().filter(|t| t.name == name).map(|t| t.bytes).sum::<u64>();
        Some(bytes as f64)
    };
    let row = |name: &&str| Row::new(name, Quantity::Bytes, Better::Lower, reports, |r| size(name, r));
    Group { title: "Tables beside the map", rows: names.iter().map(row).collect() }
}

/// What a map on flash costs.
fn map_on_flash(reports: &[Report]) -> Group {
    use Better::{Higher, Lower};
    let of =
        |label: &str, quantity, better, value: fn(&crate::schema::activity::MapOnFlash) -> Option<f64>| {
            Row::new(label, quantity, better, reports, |r| value(r.flash.map.as_ref()?))
        };
    let rows = vec![
        of("found in RAM", Quantity::Share, Higher, |m| m.hit_share),
        of("pages read", Quantity::Count, Lower, |m| Some(m.reads as f64)),
        of("pages written", Quantity::Count, Lower, |m| Some(m.programs as f64)),
        of("changes in RAM, most", Quantity::Bytes, Lower, |m| Some(m.journal_peak_bytes as f64)),
    ];
    Group { title: "Map on flash", rows }
}

/// How often planes of a die worked at once.
fn multiplane(reports: &[Report]) -> Group {
    let of = |label: &str, kind: &'static str| {
        Row::new(label, Quantity::Count, Better::Neither, reports, |r| {
            r.flash.multiplane.as_ref()?.operations.get(kind).map(|n| *n as f64)
        })
    };
    let share = |r: &Report| r.flash.multiplane.as_ref()?.share;
    let all = Row::new("of operations", Quantity::Share, Better::Higher, reports, share);
    let rows = vec![all, of("reads", "read"), of("programs", "program"), of("erases", "erase")];
    Group { title: "Planes together", rows }
}

/// What host reads suspended.
fn suspensions(reports: &[Report]) -> Group {
    let of = |label: &str, kind: &'static str| {
        Row::new(label, Quantity::Count, Better::Neither, reports, |r| {
            r.flash.suspensions.as_ref()?.get(kind).map(|n| *n as f64)
        })
    };
    Group { title: "Suspended", rows: vec![of("programs", "program"), of("erases", "erase")] }
}

/// What idle time was used for, and what that cost.
fn idle_time(reports: &[Report]) -> Group {
    use Better::{Lower, Neither};
    let of =
        |label: &str, quantity, better, value: &dyn Fn(&crate::schema::activity::IdleTime) -> Option<f64>| {
            Row::new(label, quantity, better, reports, |r| value(r.idle.as_ref()?))
        };
    let bytes = |cause: &'static str| {
        move |i: &crate::schema::activity::IdleTime| {
            Some(i.program_bytes.get(cause).copied().unwrap_or(0) as f64)
        }
    };
    let mut rows = vec![
        of("found idle", Quantity::Time, Neither, &|i| Some(i.idle_s)),
        of("collected", Quantity::Bytes, Neither, &bytes("gc")),
        of("migrated", Quantity::Bytes, Neither, &bytes("migration")),
        of("blocks erased", Quantity::Count, Neither, &|i| Some(i.erases as f64)),
        of("delayed", Quantity::Count, Lower, &|i| Some(i.delayed_requests as f64)),
        of("delay mean", Quantity::Latency, Lower, &|i| i.delay_us_mean),
        of("delay max", Quantity::Latency, Lower, &|i| Some(i.delay_us_max)),
    ];
    rows.retain(Row::any);
    Group { title: "Idle time", rows }
}

/// How the host's writes fared among the types of pages.
fn page_types(reports: &[Report]) -> Group {
    use Better::{Higher, Lower, Neither};
    let types = |r: &Report| r.flash.page_types.clone();
    let row = |label: &str, page: &'static str, better| {
        Row::new(label, Quantity::Share, better, reports, |r| types(r)?.dominated_share(page))
    };
    let rows = vec![
        row("LSB-dominated", "lsb", Higher),
        row("CSB-dominated", "csb", Neither),
        row("MSB-dominated", "msb", Lower),
        row("TSB-dominated", "tsb", Lower),
        Row::new("type as asked", Quantity::Share, Higher, reports, |r| types(r)?.as_asked),
    ];
    Group { title: "Writes by slowest page", rows }
}

/// What drives did after the last completion, which no other row contains.
fn after_last_request(reports: &[Report]) -> Group {
    type Pick = fn(&AfterLastRequest) -> f64;
    let of = |label, quantity, pick: Pick| {
        Row::new(label, quantity, Better::Neither, reports, |r| r.after_last_request.as_ref().map(pick))
    };
    let mut rows = vec![
        of("copied pages", Quantity::Count, |a| a.copied_pages as f64),
        of("erases", Quantity::Count, |a| a.erases as f64),
    ];
    rows.retain(Row::any);
    Group { title: "After the last request", rows }
}

/// What drives used up or left to be done: the change from the start to the last completion.
fn balance(reports: &[Report]) -> Group {
    let of = |label, quantity, held: fn(&Holdings) -> u64| {
        Row::new(label, quantity, Better::Neither, reports, |r| r.balance.map(|b| b.change(held)))
    };
    let mut rows = vec![
        of("free blocks", Quantity::Number, |h| h.free_blocks),
        of("SLC data", Quantity::Bytes, |h| h.slc_bytes),
        of("in write buffer", Quantity::Bytes, |h| h.buffered_bytes),
    ];
    rows.retain(Row::any);
    Group { title: "Change over the run", rows }
}

/// What schemes asked for and was not done: of moves and of collections, each with why.
fn without_effect(reports: &[Report]) -> Group {
    let all: BTreeSet<&str> =
        reports.iter().flat_map(|r| r.without_effect.keys()).map(String::as_str).collect();
    let row = |why: &&str| {
        let (what, why_not) = why.split_once('_').unwrap_or(("", why));
        let label = format!("{what}: {}", why_not.replace('_', " "));
        let times = |r: &Report| Some(r.without_effect.get(*why).copied().unwrap_or(0) as f64);
        Row::new(&label, Quantity::Count, Better::Neither, reports, times)
    };
    Group { title: "Answers without effect", rows: all.iter().map(row).collect() }
}

/// What was measured after the warm-up of those runs that have settled.
fn after_warm_up(reports: &[Report]) -> Group {
    use Better::{Higher, Lower, Neither};
    type Pick = fn(&AfterWarmUp) -> Option<Estimate>;
    let row = |label, quantity, better, pick: Pick| {
        Row::new(label, quantity, better, reports, |r| Some(pick(r.after_warm_up()?)?.mean))
    };
    let from = |r: &Report| Some(r.steady_state.as_ref()?.from?.time_s);
    let mut rows = vec![Row::new("from", Quantity::Time, Neither, reports, from)];
    let figures = [
        row("write mean", Quantity::Latency, Lower, |a| a.write_latency_us),
        row("read mean", Quantity::Latency, Lower, |a| a.read_latency_us),
        row("written", Quantity::Rate, Higher, |a| a.write_mb_per_s),
        row("read", Quantity::Rate, Higher, |a| a.read_mb_per_s),
        row("WAF", Quantity::Waf, Lower, |a| a.waf),
    ];
    rows.extend(figures.into_iter().filter(Row::any));
    Group { title: "After warm-up", rows }
}
