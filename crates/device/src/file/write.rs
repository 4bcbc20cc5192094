//! Convert a [`DeviceSpec`] back to the text of a device file with every default spelled out, so that the
//! configuration of a report is a file that can be edited and run.

use crate::spec::buffers::{Ack, Flush, MergeBuffer};
use crate::spec::drive::{Capacity, DeviceSpec, Lanes};
use crate::spec::parallel::Superblock;
use std::fmt::{Display, Write};
use wordline_config::quoted;
use wordline_flash::ModeTiming;
use wordline_units::{CellMode, SimDuration};

/// The device file that reads as `spec`. It carries no sources.
pub fn to_toml(spec: &DeviceSpec) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_spec(spec, &mut out);
    out
}

fn write_spec(spec: &DeviceSpec, out: &mut String) -> std::fmt::Result {
    writeln!(out, "[device]")?;
    writeln!(out, "name = {}", quoted(&spec.name))?;
    writeln!(out, "description = {}", quoted(&spec.description))?;
    for m in &spec.media {
        let name = quoted(&m.name);
        let t = m.topology;
        writeln!(out, "\n[medium.{name}]")?;
        writeln!(out, "channels = {}", t.channels)?;
        writeln!(out, "chips_per_channel = {}", t.chips_per_channel)?;
        writeln!(out, "dies_per_chip = {}", t.dies_per_chip)?;
        writeln!(out, "planes_per_die = {}", t.planes_per_die)?;
        writeln!(out, "blocks_per_plane = {}", m.blocks_per_plane)?;
        writeln!(out, "wordlines_per_block = {}", m.wordlines_per_block)?;
        writeln!(out, "page = \"{}\"", m.page)?;
        let byte = m.energy.as_ref().map_or(String::new(), |e| format!(", energy = \"{}\"", e.byte));
        writeln!(out, "bus = {{ rate = \"{}\", width = 1{byte} }}", m.bus)?;
        let c = m.command;
        writeln!(
            out,
            "command = {{ read = \"{}\", program = \"{}\", erase = \"{}\" }}",
            c.read, c.program, c.erase
        )?;
        if let Some(f) = m.command_further {
            writeln!(
                out,
                "command_further = {{ read = \"{}\", program = \"{}\", erase = \"{}\" }}",
                f.read, f.program, f.erase
            )?;
        }
        if !m.cache_register.is_off() {
            writeln!(out, "cache_register = \"{}\"", m.cache_register.key())?;
        }
        for mode in CellMode::ALL {
            if let Some(timing) = m.mode(mode) {
                writeln!(out, "\n[medium.{name}.{}]", mode.key())?;
                write_timing(mode, timing, out)?;
                if let Some(e) = m.energy.as_ref().and_then(|e| e.modes[mode.index()]) {
                    let bits = mode.bits() as usize;
                    let (read, program) = (by_type(&e.read[..bits]), by_type(&e.program[..bits]));
                    writeln!(
                        out,
                        "energy = {{ read = {read}, program = {program}, erase = \"{}\" }}",
                        e.erase
                    )?;
                }
            }
        }
    }
    writeln!(out, "\n[mapping]\nunit = \"{}\"\nsector = \"{}\"", spec.unit, spec.sector)?;
    if !spec.partial.are_whole() {
        writeln!(out, "partial = \"{}\"", spec.partial.key())?;
    }
    if !spec.packing.is_off() {
        writeln!(out, "packing = \"{}\"", spec.packing.key())?;
    }
    if !spec.unwritten.are_free() {
        writeln!(out, "unwritten = \"{}\"", spec.unwritten.key())?;
    }
    match spec.capacity {
        Capacity::OverProvisioning(f) => writeln!(out, "\n[capacity]\nover_provisioning = \"{f}\"")?,
        Capacity::Logical(b) => writeln!(out, "\n[capacity]\nlogical = \"{b}\"")?,
    }
    let h = spec.host;
    writeln!(out, "\n[host]\nrate = \"{}\"", h.rate)?;
    writeln!(out, "read_overhead = \"{}\"\nwrite_overhead = \"{}\"", h.read_overhead, h.write_overhead)?;
    if [h.read_latency, h.write_latency] != [SimDuration::ZERO; 2] {
        writeln!(out, "read_latency = \"{}\"\nwrite_latency = \"{}\"", h.read_latency, h.write_latency)?;
    }
    writeln!(out, "queue_depth = {}", h.queue_depth)?;
    if let Some((word, _)) = Lanes::WORDS.iter().find(|(_, lanes)| *lanes == h.link && !lanes.are_shared()) {
        writeln!(out, "link = \"{word}\"")?;
    }
    if let Some(arbitration) = &spec.arbitration {
        crate::tables::queues::write(arbitration, out)?;
    }
    writeln!(out, "\n[parallel]\nunit = \"{}\"", spec.parallel_unit.key())?;
    writeln!(out, "multiplane = \"{}\"", spec.multiplane.key())?;
    if !spec.multiplane_pages.are_any() {
        writeln!(out, "multiplane_pages = \"{}\"", spec.multiplane_pages.key())?;
    }
    if spec.superblock != Superblock::Off {
        writeln!(out, "superblock = \"{}\"", spec.superblock.key())?;
    }
    if !spec.parity.is_off() {
        writeln!(out, "parity = \"{}\"", spec.parity.key())?;
    }
    if !spec.service.is_usual() {
        crate::tables::service::write(&spec.service, out)?;
    }
    writeln!(out, "\n[allocation]\norder = \"{}\"", spec.allocation)?;
    let (victim, class) = (spec.gc.victim, spec.gc.class.key());
    writeln!(out, "\n[gc]\ntrigger = \"{}\"\nvictim = \"{victim}\"\nclass = \"{class}\"", spec.gc.trigger)?;
    if spec.gc.dead_first {
        writeln!(out, "dead_first = true")?;
    }
    if !spec.gc.copies.are_together() {
        writeln!(out, "copies = \"{}\"", spec.gc.copies.key())?;
    }
    writeln!(out, "hard_reserve = {}\nrecheck = \"{}\"", spec.gc.hard_reserve, spec.gc.recheck.key())?;
    if let Some(below) = spec.gc.pace_below {
        writeln!(out, "pace_below = {below}")?;
    }
    match spec.ack {
        Ack::Program => writeln!(out, "\n[ack]\nmode = \"program\"")?,
        Ack::Merge => writeln!(out, "\n[ack]\nmode = \"merge\"")?,
        Ack::Buffer(pages) => writeln!(out, "\n[ack]\nmode = \"buffer\"\npages = {pages}")?,
    }
    if let Some(Flush { high, low, idle }) = spec.flush {
        let when = if idle.is_some() { "idle" } else { "when-full" };
        writeln!(out, "flush = \"{when}\"\nhigh = \"{high}\"\nlow = \"{low}\"")?;
        if let Some(idle) = idle {
            writeln!(out, "idle = \"{idle}\"")?;
        }
    }
    if spec.merge != MergeBuffer::default() || spec.ack == Ack::Merge {
        let MergeBuffer { pages, after, idle } = spec.merge;
        writeln!(out, "\n[merge]\npages = {pages}\nafter = \"{after}\"\nidle = \"{idle}\"")?;
    }
    if !spec.dram.is_off() {
        crate::tables::dram::write(&spec.dram, out)?;
    }
    let pad = spec.pad_after.map_or("never".to_string(), |t| t.to_string());
    writeln!(out, "\n[program]\nbuffer = \"{}\"\npad_after = \"{pad}\"", spec.program_buffer.key())?;
    writeln!(out, "pad_host_after = \"{}\"", spec.pad_host_after)?;
    if let Some(c) = spec.slc_cache {
        writeln!(out, "\n[slc_cache]\nstatic_blocks = {}", c.static_blocks)?;
        writeln!(out, "dynamic_blocks = {}\ntrigger = \"{}\"", c.dynamic_blocks, c.trigger)?;
        writeln!(out, "when_full = \"{}\"", c.when_full.key())?;
        if let Some(reserve) = c.dynamic_reserve {
            writeln!(out, "dynamic_reserve = \"{reserve}\"")?;
        }
        if let Some(idle) = c.idle {
            writeln!(out, "idle_after = \"{}\"\nidle_rate = \"{}\"", idle.after, idle.rate)?;
        }
    }
    if let Some(model) = &spec.errors {
        crate::tables::errors::write(model, out)?;
    }
    if spec.wear.is_off() { Ok(()) } else { crate::tables::wear::write(&spec.wear, out) }
}

fn write_timing(mode: CellMode, t: &ModeTiming, out: &mut String) -> std::fmt::Result {
    let bits = mode.bits() as usize;
    writeln!(out, "read = {}", by_type(&t.read[..bits]))?;
    writeln!(out, "program = {}", by_type(&t.program[..bits]))?;
    writeln!(out, "erase = \"{}\"", t.erase)?;
    if let Some(copy_back) = t.copy_back {
        writeln!(out, "copy_back = \"{copy_back}\"")?;
    }
    writeln!(out, "endurance = {}", t.endurance)?;
    writeln!(out, "one_shot = {}", t.pages_per_program > 1)
}

fn by_type<T: PartialEq + Display>(values: &[T]) -> String {
    match values {
        [first, rest @ ..] if rest.iter().all(|t| t == first) => format!("\"{first}\""),
        each => {
            let each: Vec<String> = each.iter().map(|t| format!("\"{t}\"")).collect();
            format!("[{}]", each.join(", "))
        }
    }
}
