//! A device as text: its structure, capacity, and the duration of one operation on an idle drive.

use crate::plausible::implausible;
use crate::spec::buffers::{Ack, Flush};
use crate::spec::drive::DeviceSpec;
use crate::spec::gc::WhenFull;
use crate::spec::parallel::{Multiplane, MultiplanePages, Packing, ParallelUnit, PartialPages, Superblock};
use crate::tables::wear::WearSpec;
use crate::tables::words::spaced;
use std::fmt::Write;
use wordline_flash::{CacheRegister, Medium, ModeTiming};
use wordline_units::{CellMode, Energy, Fraction, PageType, SimDuration};

/// Latency of a read of one whole page of `kind` on an idle device: command, array, bus, host. `None` if the
/// medium does not support the mode.
pub fn unloaded_read(
    spec: &DeviceSpec,
    medium: &Medium,
    mode: CellMode,
    kind: PageType,
) -> Option<SimDuration> {
    let array = medium.mode(mode)?.read[kind as usize];
    let page = medium.page.0;
    let flash = medium.command.read + array + medium.bus.time_for(page);
    Some(flash + spec.host.rate.time_for(page) + spec.host.read_overhead + spec.host.read_latency)
}

/// Latency of a write of one program of a page of `kind` (of all pages of the wordline, if one-shot) on an
/// idle device that acknowledges after the program: command, bus, array, host. `None` where the medium does
/// not offer the mode.
pub fn unloaded_program(
    spec: &DeviceSpec,
    medium: &Medium,
    mode: CellMode,
    kind: PageType,
) -> Option<SimDuration> {
    let timing = medium.mode(mode)?;
    let bytes = medium.page.0 * timing.pages_per_program as u64;
    let flash = medium.command.program + medium.bus.time_for(bytes) + timing.program[kind as usize];
    Some(flash + spec.host.rate.time_for(bytes) + spec.host.write_overhead + spec.host.write_latency)
}

/// The device as text for the terminal.
pub fn describe(spec: &DeviceSpec) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(spec, &mut out);
    out
}

fn write_all(spec: &DeviceSpec, out: &mut String) -> std::fmt::Result {
    writeln!(out, "{}: {}", spec.name, spec.description)?;
    let (physical, logical) = (spec.physical_bytes(), spec.logical_bytes());
    let parity = spec.parity_bytes();
    let spare = spec.data_bytes() as f64 / logical.max(1) as f64 - 1.0;
    let less = if parity > 0 { format!(" beside {} of parity", size(parity)) } else { String::new() };
    writeln!(out)?;
    writeln!(
        out,
        "  capacity         {} logical, {} physical ({:.1} % over-provisioning{less})",
        size(logical),
        size(physical),
        spare * 100.0
    )?;
    writeln!(out, "  mapping          units of {}, sectors of {}", size(spec.unit.0), size(spec.sector.0))?;
    if spec.partial == PartialPages::ValidSectors {
        writeln!(out, "  partial writes   read-modify-write reads only valid sectors")?;
    }
    if spec.packing == Packing::Page {
        writeln!(out, "  packing          several small writes share a page")?;
    }
    let host = spec.host;
    writeln!(
        out,
        "  host link        {}, {} per read, {} per write{}, {} outstanding requests",
        rate(host.rate),
        spaced(host.read_overhead),
        spaced(host.write_overhead),
        if host.link.are_shared() { "" } else { ", for each queue" },
        host.queue_depth
    )?;
    if [host.read_latency, host.write_latency] != [SimDuration::ZERO; 2] {
        let (read, write) = (spaced(host.read_latency), spaced(host.write_latency));
        writeln!(out, "  controller       {read} per read, {write} per write")?;
    }
    if let Some(arbitration) = &spec.arbitration {
        writeln!(out, "  arbitration      {}", crate::tables::queues::describe(arbitration))?;
    }
    let ack = match spec.ack {
        Ack::Program => "after their program".to_string(),
        Ack::Merge => {
            format!("after their program; partial pages are merged in a buffer of {} pages", spec.merge.pages)
        }
        Ack::Buffer(pages) => format!("in a write buffer of {}", size(u64::from(pages) * spec.unit.0)),
    };
    writeln!(out, "  writes complete  {ack}")?;
    if let Some(Flush { high, low, idle }) = spec.flush {
        let idle = idle
            .map_or(String::new(), |idle| format!(", and completely after {} of idle time", spaced(idle)));
        writeln!(out, "  write buffer     flushes from {high} down to {low}{idle}")?;
    }
    if spec.media.iter().flat_map(|m| m.modes.iter().flatten()).any(|t| t.pages_per_program > 1) {
        writeln!(out, "  program buffer   {}", wordlines(spec))?;
    }
    if spec.dram.read_cache.0 > 0 {
        writeln!(out, "  read cache       {} of the data that were read last", size(spec.dram.read_cache.0))?;
    }
    if spec.dram.map_cache.0 > 0 {
        let journal = spec.dram.map_journal.map_or("all pending changes".to_string(), |bytes| {
            format!("{} of pending changes", size(bytes.0))
        });
        writeln!(
            out,
            "  mapping table    on flash, {} of it in RAM and {journal}",
            size(spec.dram.map_cache.0)
        )?;
    }
    let unit = match (spec.parallel_unit, spec.multiplane, spec.multiplane_pages) {
        (ParallelUnit::Die, Multiplane::Off, _) => "one operation per die, no multi-plane operations",
        (ParallelUnit::Die, Multiplane::Opportunistic, MultiplanePages::Any) => {
            "one operation per die, multi-plane for the same operation"
        }
        (ParallelUnit::Die, Multiplane::Opportunistic, MultiplanePages::Same) => {
            "one operation per die, multi-plane for the same operation on the same page number"
        }
        (ParallelUnit::Plane, ..) => "one operation per plane",
    };
    writeln!(out, "  parallelism      {unit}; allocation order {}", spec.allocation)?;
    if spec.superblock != Superblock::Off {
        let parity =
            if spec.parity_bytes() > 0 { "; the last program of each superpage is parity" } else { "" };
        writeln!(out, "  superblocks      over {}{parity}", superblocks(spec))?;
    }
    if !spec.service.is_usual() {
        writeln!(out, "  service          {}", crate::tables::service::describe(&spec.service))?;
    }
    let gc = spec.gc;
    writeln!(
        out,
        "  GC               at {}, {} victim, class {}, urgent at {} free blocks per plane",
        gc.trigger,
        gc.victim,
        gc.class.key(),
        gc.hard_reserve
    )?;
    if !gc.copies.are_together() {
        writeln!(out, "  copied pages     in blocks of their own")?;
    }
    if let Some(below) = gc.pace_below {
        writeln!(out, "  write pace       slower below {below} free blocks per plane")?;
    }
    if let Some(cache) = spec.slc_cache {
        let bytes = |blocks: u32| -> u64 {
            let cached = spec.media.iter().filter(|m| m.has_slc_cache());
            cached.map(|m| m.topology.planes() as u64 * blocks as u64 * m.block_bytes(CellMode::Slc)).sum()
        };
        writeln!(
            out,
            "  SLC cache        {} static and {} dynamic ({} and {} blocks per plane)",
            size(bytes(cache.static_blocks)),
            size(bytes(cache.dynamic_blocks)),
            cache.static_blocks,
            cache.dynamic_blocks
        )?;
        writeln!(
            out,
            "                   emptied at {}; while it is full, writes {}",
            cache.trigger,
            match cache.when_full {
                WhenFull::Wait => "wait",
                WhenFull::Direct => "bypass it",
            }
        )?;
        if let Some(reserve) = cache.dynamic_reserve {
            writeln!(out, "                   dynamic part: free blocks, but {reserve} of a plane")?;
        }
        if let Some(idle) = cache.idle {
            let rate = if idle.rate.is_off() { String::new() } else { format!(" at {}", idle.rate) };
            writeln!(out, "                   migrated{rate} after {} without requests", idle.after)?;
        }
    }
    if let Some(e) = &spec.errors {
        let modes = CellMode::ALL.into_iter().filter_map(|mode| Some((mode, e.mode(mode)?.most_retries)));
        let most: Vec<String> = modes.map(|(mode, most)| format!("{most} in {mode}")).collect();
        writeln!(out, "  errors           model {}; at most {} retries", e.name, most.join(", "))?;
    }
    if !spec.wear.is_off() {
        writeln!(out, "  wear             {}", wear(&spec.wear))?;
    }
    for medium in &spec.media {
        write_medium(spec, medium, out)?;
    }
    let doubts = implausible(spec);
    if !doubts.is_empty() {
        writeln!(out, "\nimplausible values")?;
    }
    doubts.iter().try_for_each(|line| writeln!(out, "  {line}"))
}

/// Where pages wait for the rest of their wordline, and the padding timeout.
fn wordlines(spec: &DeviceSpec) -> String {
    let (buffer, host) = (spec.program_buffer.key(), spaced(spec.pad_host_after));
    match spec.pad_after {
        None if matches!(spec.ack, Ack::Buffer(_)) => format!("{buffer} RAM"),
        None => {
            format!("{buffer} RAM; wordlines that a host write waits for are padded after {host}")
        }
        Some(after) if after == spec.pad_host_after => {
            format!("{buffer} RAM; wordlines are padded after {host}")
        }
        Some(after) => {
            let after = spaced(after);
            format!(
                "{buffer} RAM; wordlines are padded after {after}, or after {host} if a host write waits for them"
            )
        }
    }
}

/// Which planes hold a superblock together, and its size in the densest mode.
fn superblocks(spec: &DeviceSpec) -> String {
    let of = |m: &Medium| {
        let planes = spec.superblock.planes(m.topology);
        format!("{planes} planes, {} each", size(planes as u64 * m.block_bytes(m.densest())))
    };
    let each: Vec<String> = spec.media.iter().map(of).collect();
    each.join("; ")
}

/// The wear settings in a line.
fn wear(w: &WearSpec) -> String {
    let mut says = vec![
        if w.enforce { "blocks retire at the end of their endurance" } else { "no block retires" }
            .to_string(),
    ];
    if w.enforce && w.spread > Fraction::ZERO {
        says.push(format!("endurance spread {}", w.spread));
    }
    if w.acceleration > 1 {
        says.push(format!("one erase counts as {}", w.acceleration));
    }
    if w.bad_blocks > Fraction::ZERO {
        says.push(format!("{} factory bad blocks", w.bad_blocks));
    }
    if w.dynamic {
        says.push("the erased block with the fewest P/E cycles is opened first".to_string());
    }
    if let Some(beyond) = w.static_beyond {
        says.push(format!("static wear leveling when a block is {beyond} cycles behind"));
    }
    says.join("; ")
}

fn write_medium(spec: &DeviceSpec, m: &Medium, out: &mut String) -> std::fmt::Result {
    let t = m.topology;
    writeln!(out, "\nmedium {}", m.name)?;
    writeln!(
        out,
        "  {} channels x {} chips x {} dies x {} planes = {} dies, {} planes",
        t.channels,
        t.chips_per_channel,
        t.dies_per_chip,
        t.planes_per_die,
        t.dies(),
        t.planes()
    )?;
    writeln!(
        out,
        "  {} blocks per plane, {} wordlines per block, pages of {}",
        m.blocks_per_plane,
        m.wordlines_per_block,
        size(m.page.0)
    )?;
    let peak = if m.bus.is_off() {
        "not modelled".to_string()
    } else {
        format!(
            "{:.0} MB/s per channel, {:.0} MB/s total",
            m.bus.mb_per_s(),
            m.bus.mb_per_s() * t.channels as f64
        )
    };
    writeln!(out, "  bus              {peak}")?;
    if let Some(e) = &m.energy {
        let modes = CellMode::ALL.into_iter().filter_map(|mode| Some((mode, e.modes[mode.index()]?)));
        let each = modes.map(|(mode, of)| {
            let bits = mode.bits() as usize;
            let (read, program) = (microjoules(&of.read[..bits]), microjoules(&of.program[..bits]));
            format!(
                "{mode} {read} uJ per read, {program} uJ per program, {} uJ per erase",
                microjoules(&[of.erase])
            )
        });
        writeln!(out, "  energy           {} per byte transferred", spaced(e.byte))?;
        for mode in each {
            writeln!(out, "                   {mode}")?;
        }
    }
    let overlaps = match m.cache_register {
        CacheRegister::Off => None,
        CacheRegister::Read => Some("reads"),
        CacheRegister::Program => Some("programs"),
        CacheRegister::On => Some("reads and programs"),
    };
    if let Some(overlaps) = overlaps {
        writeln!(out, "  cache register   {overlaps} overlap their transfers")?;
    }
    writeln!(out)?;
    let mut rows = vec![
        [
            "mode",
            "pages/block",
            "block",
            "all blocks",
            "read, us",
            "program, us",
            "erase, us",
            "P/E cycles",
            "idle read, us",
            "idle write, us",
        ]
        .map(String::from),
    ];
    for mode in CellMode::ALL {
        if let Some(timing) = m.mode(mode) {
            rows.push(row(spec, m, mode, timing));
        }
    }
    write_table(&rows, out)?;
    if m.modes.iter().flatten().any(|t| t.pages_per_program > 1) {
        writeln!(out, "  * one-shot: one program writes all pages of a wordline")?;
    }
    Ok(())
}

fn row(spec: &DeviceSpec, m: &Medium, mode: CellMode, timing: &ModeTiming) -> [String; 10] {
    let bits = mode.bits() as usize;
    let kinds = &PageType::ALL[..bits];
    let over = |f: &dyn Fn(PageType) -> Option<SimDuration>| {
        let times: Vec<SimDuration> = kinds.iter().filter_map(|k| f(*k)).collect();
        microseconds(&times)
    };
    let star = if timing.pages_per_program > 1 { "*" } else { "" };
    let all = m.topology.planes() as u64 * m.blocks_per_plane as u64 * m.block_bytes(mode);
    [
        mode.to_string(),
        m.pages_per_block(mode).to_string(),
        size(m.block_bytes(mode)),
        size(all),
        microseconds(&timing.read[..bits]),
        format!("{}{star}", microseconds(&timing.program[..bits])),
        microseconds(&[timing.erase]),
        if timing.endurance == 0 { "-".into() } else { timing.endurance.to_string() },
        over(&|k| unloaded_read(spec, m, mode, k)),
        over(&|k| unloaded_program(spec, m, mode, k)),
    ]
}

/// Columns as wide as their widest cell, numbers right-aligned.
fn write_table(rows: &[[String; 10]], out: &mut String) -> std::fmt::Result {
    let width = |column: usize| rows.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
    for r in rows {
        let cells: Vec<String> = r
            .iter()
            .enumerate()
            .map(|(i, cell)| {
                if i == 0 { format!("{cell:<w$}", w = width(i)) } else { format!("{cell:>w$}", w = width(i)) }
            })
            .collect();
        writeln!(out, "  {}", cells.join("  "))?;
    }
    Ok(())
}

/// Times in microseconds: one value, or minimum and maximum.
pub(crate) fn microseconds(times: &[SimDuration]) -> String {
    in_unit(times.iter().map(|t| t.0), 1_000)
}

/// Energies in microjoules: one value, or minimum and maximum.
fn microjoules(energies: &[Energy]) -> String {
    in_unit(energies.iter().map(|e| e.0), 1_000_000)
}

/// Minimum and maximum of some numbers in a unit, exact and without trailing zeros.
fn in_unit(values: impl Iterator<Item = u64> + Clone, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    let number = |value: u64| {
        let text = format!("{}.{:0digits$}", value / unit, value % unit);
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    match (values.clone().min(), values.max()) {
        (Some(low), Some(high)) if low != high => format!("{}..{}", number(low), number(high)),
        (Some(low), _) => number(low),
        _ => "-".into(),
    }
}

pub(crate) fn rate(rate: wordline_units::Rate) -> String {
    if rate.is_off() { "not modelled".into() } else { format!("{:.0} MB/s", rate.mb_per_s()) }
}

/// A size in the largest binary unit below it, with two decimals unless whole.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.iter().find(|(_, u)| bytes >= *u) {
        Some((name, u)) if bytes.is_multiple_of(*u) => format!("{} {name}", bytes / u),
        Some((name, u)) => format!("{:.2} {name}", bytes as f64 / *u as f64),
        None => format!("{bytes} B"),
    }
}
