//! The tables of a device file about the controller's policies.

use crate::file::medium::{COUNT, LONGEST, Read, TIMES, moves};
use crate::spec::buffers::{Ack, Flush, MergeBuffer, ProgramBuffer, pad_host_after};
use crate::spec::drive::{Capacity, HostLink, Lanes};
use crate::spec::gc::{Copies, GcClass, GcSpec, IdleMigration, Recheck, SlcCache, Trigger, Victim, WhenFull};
use crate::tables::queues::Arbitration;
use crate::tables::wear::SWITCH;
use wordline_config::{Place, Section};
use wordline_flash::Medium;
use wordline_units::{Bytes, Fraction, Rate, SimDuration};

pub(crate) fn capacity(mut section: Section<'_>) -> (Option<Capacity>, Place) {
    let logical = section.take::<Bytes>("logical");
    let over = section.take::<Fraction>("over_provisioning");
    let (has_logical, has_over) = (section.has("logical"), section.has("over_provisioning"));
    let logical_place = section.place_of("logical");
    let over_place = section.place_of("over_provisioning");
    let either = match (has_logical, has_over) {
        (true, true) if over_place.is_argument() == logical_place.is_argument() => {
            section.refuse("over_provisioning", "give either this or capacity.logical, not both");
            None
        }
        (false, false) => {
            section.missing("over_provisioning", "\"7%\" (or logical = \"40GiB\")");
            None
        }
        // An argument replaces what the file says in the other key.
        (true, over_too) if !over_too || logical_place.is_argument() => logical.map(Capacity::Logical),
        _ => over.map(Capacity::OverProvisioning),
    };
    section.finish();
    (either, if has_logical { logical_place } else { over_place })
}

pub(crate) fn host(mut section: Section<'_>) -> (HostLink, Option<Arbitration>) {
    let host = HostLink {
        rate: section.take::<Rate>("rate").filter(|r| moves(&section, *r)).unwrap_or(Rate::OFF),
        read_overhead: section.take_within("read_overhead", TIMES).unwrap_or_default(),
        write_overhead: section.take_within("write_overhead", TIMES).unwrap_or_default(),
        read_latency: section.take_within("read_latency", TIMES).unwrap_or_default(),
        write_latency: section.take_within("write_latency", TIMES).unwrap_or_default(),
        queue_depth: section.whole("queue_depth", 1..=1 << 20).unwrap_or(1024),
        link: section.choice("link", Lanes::WORDS, Lanes::Shared),
    };
    let arbitration = crate::tables::queues::read(&mut section);
    section.finish();
    (host, arbitration)
}

pub(crate) fn gc(mut section: Section<'_>, blocks_per_plane: u32) -> Option<GcSpec> {
    let trigger = section.require::<Trigger>("trigger", "\"free_blocks < 5%\"");
    let victim = section.take_or("victim", Victim::Greedy);
    let dead_first = section.choice("dead_first", &SWITCH, false);
    let copies = section.choice("copies", Copies::WORDS, Copies::Together);
    let class = section.choice("class", GcClass::WORDS, GcClass::Host);
    let hard_reserve =
        section.whole("hard_reserve", COUNT).unwrap_or_else(|| GcSpec::default_reserve(blocks_per_plane));
    if blocks_per_plane > 0 && section.has("hard_reserve") && hard_reserve >= blocks_per_plane {
        section.refuse("hard_reserve", format!("exceeds the {blocks_per_plane} blocks of a plane"));
    }
    let pace_below = pace_below(&mut section, blocks_per_plane, trigger, hard_reserve);
    let recheck = section.choice("recheck", Recheck::WORDS, Recheck::Erase);
    section.finish();
    Some(GcSpec { trigger: trigger?, victim, dead_first, copies, class, hard_reserve, pace_below, recheck })
}

/// Below how many free blocks of a plane host writes are paced: collection must be at work there, and not yet urgent.
fn pace_below(
    section: &mut Section<'_>,
    blocks_per_plane: u32,
    trigger: Option<Trigger>,
    hard_reserve: u32,
) -> Option<u32> {
    if section.text("pace_below").is_none_or(|word| word == "off") {
        return None;
    }
    let below = section.whole("pace_below", COUNT)?;
    let most = match trigger? {
        Trigger::FreeBlocks(share) | Trigger::FreeSlots(share) => {
            share.of_ceil(u64::from(blocks_per_plane)) as u32
        }
        Trigger::Never | Trigger::LastBlock => {
            section.refuse(
                "pace_below",
                "requires a gc.trigger other than \"never\"; set it, or remove this key",
            );
            return None;
        }
    };
    if blocks_per_plane > 0 && below > most {
        let why = format!(
            "{below} is above the GC trigger: gc.trigger starts GC when a plane has fewer than {most} free blocks"
        );
        section.refuse("pace_below", why);
    } else if below <= hard_reserve {
        section.refuse(
            "pace_below",
            format!("{below} must exceed gc.hard_reserve = {hard_reserve}; below that GC is urgent"),
        );
    }
    Some(below)
}

pub(crate) fn ack(mut section: Section<'_>) -> (Ack, Option<Flush>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mode {
        Program,
        Merge,
        Buffer,
    }
    let words = [("program", Mode::Program), ("merge", Mode::Merge), ("buffer", Mode::Buffer)];
    let mode = section.choice("mode", &words, Mode::Program);
    let pages = section.whole("pages", 1..=1 << 24);
    let overridden = section.place_of("mode").is_argument() && !section.place_of("pages").is_argument();
    if mode != Mode::Buffer && pages.is_some() && !overridden {
        section.refuse("pages", "requires mode = \"buffer\"; set it, or remove this key");
    }
    let ack = match (mode, pages) {
        (Mode::Program, _) => Ack::Program,
        (Mode::Merge, _) => Ack::Merge,
        (Mode::Buffer, Some(pages)) => Ack::Buffer(pages),
        (Mode::Buffer, None) => {
            if !section.has("pages") {
                section.missing("pages", "64");
            }
            Ack::Buffer(1)
        }
    };
    let flush = flush(&mut section, mode == Mode::Buffer);
    section.finish();
    (ack, flush)
}

/// When the buffer empties.
fn flush(section: &mut Section<'_>, has_buffer: bool) -> Option<Flush> {
    #[derive(Clone, Copy, PartialEq)]
    enum When {
        AtOnce,
        Full,
        Idle,
    }
    let words = [("at-once", When::AtOnce), ("when-full", When::Full), ("idle", When::Idle)];
    let when = section.choice("flush", &words, When::AtOnce);
    let mut share = |key: &'static str, default: u64| {
        section
            .take_within(key, Fraction(0)..=Fraction::ONE)
            .unwrap_or(Fraction(Fraction::ONE.0 / 4 * default))
    };
    let (high, low) = (share("high", 3), share("low", 1));
    let idle = section.take_within("idle", SimDuration(1_000)..=LONGEST);
    if when == When::AtOnce {
        for key in ["high", "low", "idle"] {
            if section.has(key) && !section.overrides("flush") {
                section.refuse(key, "requires flush = \"when-full\"; set it, or remove this key");
            }
        }
        return None;
    }
    if !has_buffer && !section.overrides("mode") {
        section.refuse("flush", "requires mode = \"buffer\"; set it, or remove this key");
    }
    if low >= high {
        section.refuse("low", format!("{low} must be below high = {high}"));
    }
    if idle.is_some() && when == When::Full && !section.overrides("flush") {
        section.refuse("idle", "requires flush = \"idle\"; set it, or remove this key");
    }
    let idle = (when == When::Idle).then_some(idle.unwrap_or(SimDuration(10_000_000)));
    has_buffer.then_some(Flush { high, low, idle })
}

pub(crate) fn merge(mut section: Section<'_>) -> MergeBuffer {
    let default = MergeBuffer::default();
    let merge = MergeBuffer {
        pages: section.whole("pages", 1..=1 << 16).unwrap_or(default.pages),
        after: section.take_within("after", TIMES).unwrap_or(default.after),
        idle: section.take_within("idle", SimDuration(1_000)..=LONGEST).unwrap_or(default.idle),
    };
    section.finish();
    merge
}

/// When an incomplete one-shot group is padded.
pub(crate) struct Padding {
    pub(crate) buffer: ProgramBuffer,
    pub(crate) after: Option<SimDuration>,
    pub(crate) host_after: SimDuration,
}

/// A protected buffer fills wordlines, as in real drives; a volatile one does not hold data for long.
pub(crate) fn padding(mut section: Section<'_>, ack: Ack) -> Padding {
    let usual = match ack {
        Ack::Buffer(_) => ProgramBuffer::Protected,
        Ack::Program | Ack::Merge => ProgramBuffer::Volatile,
    };
    let buffer = section.choice("buffer", ProgramBuffer::WORDS, usual);
    let default = (buffer == ProgramBuffer::Volatile).then(pad_host_after);
    let after = match section.text("pad_after").as_deref() {
        None => default,
        Some("never") => {
            if buffer == ProgramBuffer::Volatile {
                section.refuse(
                    "pad_after",
                    "pages must not wait indefinitely in a buffer that a power cut clears; set \
                     program.buffer = \"protected\" (usual with ack.mode = \"buffer\"), or give a time",
                );
            }
            None
        }
        Some(_) => section.take::<SimDuration>("pad_after").or(default),
    };
    let host_after = section.take("pad_host_after").or(after).unwrap_or(pad_host_after());
    section.finish();
    Padding { buffer, after, host_after }
}

pub(crate) fn slc_cache(mut section: Section<'_>, media: &[&Read]) -> Option<SlcCache> {
    let static_blocks = section.require_whole("static_blocks", 0..=1 << 24);
    let dynamic_blocks = section.whole("dynamic_blocks", 0..=1 << 24).unwrap_or(0);
    let trigger = section.require::<Trigger>("trigger", "\"free_blocks < 50%\"");
    let dynamic_reserve = dynamic_reserve(&mut section, dynamic_blocks);
    let when_full = section.choice("when_full", WhenFull::WORDS, WhenFull::Wait);
    let idle = idle_migration(&mut section);
    let cached: Vec<&Medium> = media.iter().map(|r| &r.medium).filter(|m| m.has_slc_cache()).collect();
    if cached.is_empty() && !media.is_empty() {
        section.refuse(
            "static_blocks",
            "no medium has both SLC and a denser mode, so an SLC cache is not possible; add \
             [medium.NAME.slc]",
        );
    }
    if let Some(static_blocks) = static_blocks {
        let wanted = static_blocks as u64 + dynamic_blocks as u64;
        if wanted == 0 {
            section.refuse("static_blocks", "a cache needs at least one static or dynamic block");
        }
        let typed = ["dynamic_blocks", "static_blocks"].into_iter().find(|key| section.overrides(key));
        let of_file = if section.has("dynamic_blocks") { "dynamic_blocks" } else { "static_blocks" };
        let key = typed.unwrap_or(of_file);
        for m in cached.iter().filter(|m| wanted > m.blocks_per_plane as u64) {
            section.refuse(
                key,
                format!(
                    "{static_blocks} static and {dynamic_blocks} dynamic blocks exceed the {} blocks per \
                     plane of medium {:?}",
                    m.blocks_per_plane, m.name
                ),
            );
        }
    }
    section.finish();
    Some(SlcCache {
        static_blocks: static_blocks?,
        dynamic_blocks,
        dynamic_reserve,
        trigger: trigger?,
        when_full,
        idle,
    })
}

/// What the dynamic part leaves to denser data, if it takes free blocks.
fn dynamic_reserve(section: &mut Section<'_>, dynamic_blocks: u32) -> Option<Fraction> {
    if section.text("dynamic_reserve").is_none_or(|word| word == "off") {
        return None;
    }
    if dynamic_blocks == 0 && !section.overrides("dynamic_blocks") {
        section.refuse("dynamic_reserve", "requires dynamic_blocks; set it, or remove this key");
    }
    section.take_within("dynamic_reserve", Fraction(0)..=Fraction::percent(95))
}

/// When and how fast idle time empties the cache.
fn idle_migration(section: &mut Section<'_>) -> Option<IdleMigration> {
    let rate = section.take::<Rate>("idle_rate").filter(|rate| moves(section, *rate)).unwrap_or(Rate::OFF);
    if section.text("idle_after").is_none_or(|word| word == "never") {
        if !rate.is_off() && !section.overrides("idle_after") {
            section.refuse("idle_rate", "requires idle_after; set it, or remove this key");
        }
        return None;
    }
    let after = section.take_within("idle_after", SimDuration(1_000)..=LONGEST);
    Some(IdleMigration { after: after?, rate })
}
