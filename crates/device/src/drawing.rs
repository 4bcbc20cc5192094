//! A device as a picture in text: its geometry, and what follows from its file.

use crate::describe::{microseconds, rate, size, unloaded_program, unloaded_read};
use crate::spec::drive::DeviceSpec;
use crate::spec::parallel::ParallelUnit;
use crate::tables::dram::{MAP_ENTRY, map_pages};
use std::fmt::Write;
use wordline_units::{CellMode, PageType, SimDuration, grouped};

/// A drawing of the geometry, and properties derived from the device file: upper bounds of rates, and table
/// sizes.
pub fn drawing(spec: &DeviceSpec) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = draw_all(spec, &mut out);
    out
}

/// Of many equal channels, chips or dies only the first and last are drawn.
fn ends(count: u32) -> Vec<Option<u32>> {
    if count <= 4 { (0..count).map(Some).collect() } else { vec![Some(0), Some(1), None, Some(count - 1)] }
}

fn draw_all(spec: &DeviceSpec, out: &mut String) -> std::fmt::Result {
    for (i, m) in spec.media.iter().enumerate() {
        let t = m.topology;
        writeln!(out, "{}medium {}", if i > 0 { "\n" } else { "" }, m.name)?;
        let planes = if t.planes_per_die <= 8 {
            "▪".repeat(t.planes_per_die as usize)
        } else {
            format!("▪ x {}", t.planes_per_die)
        };
        let dies: Vec<String> = ends(t.dies_per_chip)
            .into_iter()
            .map(|die| die.map_or("…".into(), |_| format!("[{planes}]")))
            .collect();
        let dies = dies.join(" ");
        for channel in ends(t.channels) {
            let Some(channel) = channel else {
                writeln!(out, "  …")?;
                continue;
            };
            let chips = ends(t.chips_per_channel);
            for (row, chip) in chips.iter().enumerate() {
                let first = if row == 0 { format!("channel {channel:<3}") } else { " ".repeat(11) };
                let branch = match (row, chips.len()) {
                    (0, 1) => "───",
                    (0, _) => "─┬─",
                    (row, count) if row + 1 == count => " └─",
                    _ => " ├─",
                };
                match chip {
                    Some(chip) => writeln!(out, "  {first}{branch} chip {chip:<3} {dies}")?,
                    None => writeln!(out, "  {first} │  …")?,
                }
            }
        }
        writeln!(
            out,
            "  [] die, ▪ plane: {} blocks of {} wordlines",
            m.blocks_per_plane, m.wordlines_per_block
        )?;
        let pages: Vec<String> = CellMode::ALL
            .into_iter()
            .filter(|mode| m.mode(*mode).is_some())
            .map(|mode| {
                format!("{} pages as {mode} ({})", m.pages_per_block(mode), size(m.block_bytes(mode)))
            })
            .collect();
        writeln!(out, "  block: {}, {} each", pages.join(", "), size(m.page.0))?;
    }
    writeln!(out, "\nupper bounds")?;
    let mb = |bytes: f64, time: SimDuration| {
        if time.0 == 0 { "no limit".into() } else { format!("{:.0} MB/s", bytes / time.0 as f64 * 1e3) }
    };
    let requests = [(spec.host.read_overhead, "reads"), (spec.host.write_overhead, "writes")];
    let each = |(overhead, what): &(SimDuration, &str)| {
        let most = 1_000_000_000u64.checked_div(overhead.0);
        most.map_or(String::new(), |most| format!(", {} {what} per second", grouped(most)))
    };
    let requests: String = requests.iter().map(each).collect();
    let of = if spec.host.link.are_shared() || requests.is_empty() { "" } else { " of each queue" };
    writeln!(out, "  host link        {}{requests}{of}", rate(spec.host.rate))?;
    for m in &spec.media {
        let buses = m.bus.mb_per_s() * m.topology.channels as f64;
        let buses = if m.bus.is_off() { "not modelled".to_string() } else { format!("{buses:.0} MB/s") };
        writeln!(out, "  buses            {buses} ({})", m.name)?;
        let works = match spec.parallel_unit {
            ParallelUnit::Plane => m.topology.planes(),
            ParallelUnit::Die => m.topology.dies(),
        } as f64;
        for mode in CellMode::ALL {
            let Some(timing) = m.mode(mode) else { continue };
            let bits = mode.bits() as usize;
            let mean = |times: &[SimDuration]| {
                SimDuration(times.iter().map(|t| t.0).sum::<u64>() / times.len() as u64)
            };
            let at_once = works * m.page.0 as f64;
            let read = mb(at_once, mean(&timing.read[..bits]));
            let program = mb(at_once * timing.pages_per_program as f64, mean(&timing.program[..bits]));
            writeln!(
                out,
                "  arrays, {:<9}{read} reading, {program} programming ({})",
                mode.to_string(),
                m.name
            )?;
        }
    }
    let (holds, logical) = (spec.data_bytes(), spec.logical_bytes());
    let spare = holds as f64 / logical.max(1) as f64 - 1.0;
    writeln!(out, "\nderived")?;
    writeln!(
        out,
        "  over-provisioning   {:.1} % ({} in addition to {})",
        spare * 100.0,
        size(holds.saturating_sub(logical)),
        size(logical)
    )?;
    let (pages, sectors) = (logical / spec.unit.0, logical / spec.sector.0);
    let table =
        |entries: u64| format!("{} for {entries} entries of {MAP_ENTRY} B", size(entries * MAP_ENTRY));
    writeln!(out, "  page-level table    {}", table(pages))?;
    writeln!(out, "  sector-level table  {}", table(sectors))?;
    if spec.dram.map_cache.0 > 0 {
        let on_flash = map_pages(pages, spec.unit);
        writeln!(
            out,
            "  mapping cache       {}: {} of {on_flash} pages, and the flash address of each{}",
            size(spec.dram.map_bytes(pages, spec.unit)),
            (spec.dram.map_cache.0 / spec.unit.0).min(on_flash),
            spec.dram.map_journal.map_or(String::new(), |_| ", and the journal".to_string())
        )?;
    }
    for m in &spec.media {
        for mode in CellMode::ALL.into_iter().filter(|mode| m.mode(*mode).is_some()) {
            let kinds = &PageType::ALL[..mode.bits() as usize];
            let over = |f: &dyn Fn(PageType) -> Option<SimDuration>| {
                microseconds(&kinds.iter().filter_map(|k| f(*k)).collect::<Vec<_>>())
            };
            writeln!(
                out,
                "  unloaded, {:<10}{} us per read, {} us per write ({})",
                mode.to_string(),
                over(&|k| unloaded_read(spec, m, mode, k)),
                over(&|k| unloaded_program(spec, m, mode, k)),
                m.name
            )?;
        }
    }
    Ok(())
}
