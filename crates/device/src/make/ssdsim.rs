//! SSDSim's `page.parameters` (Y. Hu et al., "Performance Impact and Interplay of SSD Parallelism through Advanced
//! Commands, Allocation Strategy and Data Granularity", ICS 2011): lines of `key = value;` and remarks from `#` on.

use crate::make::sheet::Sheet;
use crate::make::source_file::{Entry, SourceFile, of_bytes};
use wordline_config::{Place, Problems};
use wordline_units::{Bytes, Energy, SimDuration};

const NANOSECONDS: &str = "a time in nanoseconds, such as 20000";
const NUMBER: &str = "a whole number, such as 2";
const SHARE: &str = "a share, such as 0.10";

/// The lines that hold a key.
pub(crate) fn entries(text: &str, origin: &str, problems: &Problems) -> Option<Vec<Entry>> {
    let mut entries = vec![];
    for (number, line) in text.lines().enumerate() {
        let said = line.split('#').next().unwrap_or("").trim();
        if said.is_empty() {
            continue;
        }
        let place = Place::Line { origin: origin.into(), line: number + 1, column: None };
        match said.split_once('=') {
            Some((key, value)) => entries.push(Entry {
                key: key.split_whitespace().collect::<Vec<_>>().join(" "),
                value: value.trim().trim_end_matches(';').trim().to_string(),
                line: number + 1,
            }),
            None => {
                let what = format!(
                    "{said:?} is not a line of SSDSim, such as \"channel number = 2;\" (ssdconfig.xml of \
                     MQSim is also accepted)"
                );
                problems.add(&place, what);
                return None;
            }
        }
    }
    Some(entries)
}

/// The device file.
pub(crate) fn sheet(given: &mut SourceFile, name: &str) -> Option<String> {
    let remarks = [
        format!("SSDSim = {}, the values of its keys", given.origin()),
        "Model = how SSDSim 2.1 uses them".to_string(),
    ];
    let mut sheet = Sheet::new(&remarks, name, "a drive of SSDSim");
    let flash = flash(given, &mut sheet);
    rest(given, &mut sheet, flash.unwrap_or(1));
    leave(given);
    flash.map(|_| sheet.finish())
}

/// Chips of a channel, which must be alike.
fn chips(given: &mut SourceFile, channels: Option<u64>) -> Option<u64> {
    let all = given.take::<u64>("chip number", NUMBER);
    let mut each = vec![];
    for channel in 0.. {
        let key = format!("chip number[{channel}]");
        if !given.has(&key) {
            break;
        }
        each.push(given.take::<u64>(&key, NUMBER)?);
    }
    let used = &each[..each.len().min(channels? as usize)];
    match used {
        [first, others @ ..] if others.iter().all(|n| n == first) => Some(*first),
        [] => all.map(|n| n / channels.unwrap_or(1).max(1)),
        _ => {
            given.refuse(format!(
                "chip number[0] to [{}]: {used:?}; all channels must have the same number of chips",
                used.len() - 1
            ));
            None
        }
    }
}

/// The medium, the logical capacity, and the mapping unit. Returns the bytes of a page.
fn flash(given: &mut SourceFile, sheet: &mut Sheet) -> Option<u64> {
    let channels = given.require::<u64>("channel number", NUMBER);
    let chips = chips(given, channels);
    let mut number = |key| given.require::<u64>(key, NUMBER);
    let [dies, planes, blocks, pages] =
        ["die number", "plane number", "block number", "page number"].map(&mut number);
    let [per_page, subpage] = ["subpage page", "subpage capacity"].map(&mut number);
    let mut time = |key| given.require::<u64>(key, NANOSECONDS);
    let [read, program, erase] = ["t_R", "t_PROG", "t_BERS"].map(&mut time);
    let [write_cycle, read_cycle] = ["t_WC", "t_RC"].map(&mut time);
    let endurance = given.take::<u64>("erase limit", NUMBER);
    let share = given.require::<f64>("overprovide", SHARE);
    let current = given.take::<f64>("flash operating current", "a current in microamperes, such as 25000.0");
    let voltage = given.take::<f64>("flash supply voltage", "a voltage, such as 3.3");
    let page = per_page?.saturating_mul(subpage?);
    match given.take::<u64>("page capacity", NUMBER) {
        Some(said) if said != page => given.refuse(format!(
            "page capacity is {said}, and subpage page x subpage capacity {page}; make them equal"
        )),
        _ => {}
    }
    let (write_cycle, read_cycle) = (write_cycle?, read_cycle?);
    if write_cycle != read_cycle {
        given.leave_value("t_WC", write_cycle, "a bus has one rate; the read rate, t_RC, is used");
    }
    let (read, program, erase) = (read?, program?, erase?);
    sheet.table("medium.flash");
    sheet.put("channels", channels?, "SSDSim: channel number");
    sheet.put("chips_per_channel", chips?, "SSDSim: chip number[]");
    sheet.put("dies_per_chip", dies?, "SSDSim: die number");
    sheet.put("planes_per_die", planes?, "SSDSim: plane number");
    sheet.put("blocks_per_plane", blocks?, "SSDSim: block number");
    sheet.put("wordlines_per_block", pages?, "SSDSim: page number, one page per wordline");
    sheet.put_text("page", Bytes(page), "SSDSim: subpage page x subpage capacity");
    let byte = if current.is_some() { ", energy = \"0pJ\"" } else { "" };
    let source = if current.is_some() { "SSDSim: t_RC; the energy is not known" } else { "SSDSim: t_RC" };
    sheet.put("bus", format!("{{ rate = \"{read_cycle}ns/B\", width = 1{byte} }}"), source);
    let commands = [("read", 7), ("program", 7), ("erase", 5)]
        .map(|(what, n)| format!("{what} = \"{}ns\"", write_cycle.saturating_mul(n)));
    sheet.put(
        "command",
        format!("{{ {} }}", commands.join(", ")),
        "Model: 7 cycles of t_WC, and 5 of an erase",
    );
    sheet.table("medium.flash.slc");
    sheet.put_text("read", SimDuration(read), "SSDSim: t_R");
    sheet.put_text("program", SimDuration(program), "SSDSim: t_PROG");
    sheet.put_text("erase", SimDuration(erase), "SSDSim: t_BERS");
    if let Some(cycles) = endurance {
        sheet.put("endurance", cycles, "SSDSim: erase limit");
    }
    if let (Some(current), Some(voltage)) = (current, voltage) {
        // Microamperes x volts x nanoseconds are thousandths of a picojoule.
        let of = |time: u64| Energy((current * voltage * time as f64 / 1e3).round() as u64);
        let (read, program, erase) = (of(read), of(program), of(erase));
        let energy = format!("{{ read = \"{read}\", program = \"{program}\", erase = \"{erase}\" }}");
        sheet.put("energy", energy, "SSDSim: flash operating current x flash supply voltage x time");
    }
    sheet.table("mapping");
    sheet.put_text("sector", Bytes(subpage?), "SSDSim: subpage capacity");
    let counts = [channels?, chips?, dies?, planes?, blocks?, pages?, page];
    let logical = of_bytes(&counts, 1.0 - share?, page);
    sheet.table("capacity");
    let source = "SSDSim: overprovide, in SSDSim a share of the physical capacity";
    sheet.put_text("logical", format!("{logical}B"), source);
    Some(page)
}

fn rest(given: &mut SourceFile, sheet: &mut Sheet, page: u64) {
    sheet.table("allocation");
    match given.take::<u64>("allocation", "0 (dynamic) or 1 (static)") {
        Some(1) => {
            sheet.put_text("order", "CWDP", "ASSUMED: the usual order; see static_allocation");
            let why = "the numbers are defined in the program only; set allocation.order";
            given.leave("static_allocation", why);
        }
        _ => sheet.put_text("order", "dynamic", "SSDSim: allocation 0"),
    }
    sheet.table("gc");
    match given.take::<f64>("gc hard threshold", SHARE) {
        Some(share) => {
            let percent = (share * 1e6).round() / 1e4;
            sheet.put_text(
                "trigger",
                format!("free_slots < {percent}%"),
                "SSDSim: gc hard threshold, of free pages",
            );
        }
        None => sheet.put_text("trigger", "free_slots < 10%", "ASSUMED: the file has no gc hard threshold"),
    }
    let bits = given.take::<u64>("advanced command", "a number of bits, such as 31").unwrap_or(0);
    if bits & 0b10100 != 0 {
        sheet.table("parallel");
        sheet.put_text(
            "multiplane",
            "opportunistic",
            "SSDSim: advanced command, two-plane programs or reads",
        );
    }
    if bits & 0b00010 != 0 {
        given.leave_value(
            "advanced command",
            bits,
            "SSDSim models no time for copy-back; set medium.flash.slc.copy_back",
        );
    }
    if let Some(bytes) = given.take::<u64>("dram capacity", "bytes, such as 131072").filter(|b| *b >= page) {
        sheet.table("ack");
        sheet.put_text("mode", "buffer", "Model: writes are acknowledged in the buffer");
        sheet.put("pages", (bytes / page.max(1)).clamp(1, 1 << 24), "SSDSim: dram capacity");
    }
}

/// Keys that are known and have no counterpart.
fn leave(given: &mut SourceFile) {
    const RAM: &str = "only the size of RAM is modelled, not its time or energy";
    match given.word("address mapping") {
        None => {}
        Some(word) if word == "1" => {
            given.leave_value("address mapping", word, "the scheme maps: --scheme conventional maps pages");
        }
        Some(word) => given.refuse(format!(
            "address mapping: {word:?} is not supported, because Wordline maps pages or parts of pages; \
             set it to 1 for a page-mapped drive with the same flash"
        )),
    }
    for (key, why) in [
        ("dram active current", RAM),
        ("dram standby current", RAM),
        ("dram refresh current", RAM),
        ("dram voltage", RAM),
        ("gc threshold", "the scheme decides about GC in idle time"),
        ("wear leveling", "set wear.dynamic or wear.static"),
        ("gc", "victims are greedy; set gc.victim"),
        ("scheduling algorithm", "reads go first, then by class and arrival"),
        ("static_allocation", "allocation is dynamic"),
        ("dynamic_allocation", "allocation is over all planes"),
        ("aged", "use --initial, such as --initial aged_blocks:70%"),
        ("aged ratio", "use --initial, such as --initial aged_blocks:70%"),
        ("t_DBSY", "planes of a die start together without a gap"),
    ] {
        given.leave(key, why);
    }
    // The other times of the interface are those within a cycle.
    for key in [
        "t_CLS", "t_CLH", "t_CS", "t_CH", "t_WP", "t_ALS", "t_ALH", "t_DS", "t_DH", "t_WH", "t_ADL", "t_AR",
        "t_CLR", "t_RR", "t_RP", "t_WB", "t_REA", "t_CEA", "t_RHZ", "t_CHZ", "t_RHOH", "t_RLOH", "t_COH",
        "t_REH", "t_IR", "t_RHW", "t_WHR", "t_RST",
    ] {
        given.leave(key, "a bus has a rate and a total command time");
    }
}
