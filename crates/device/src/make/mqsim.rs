//! MQSim's `ssdconfig.xml` (A. Tavakkol et al., "MQSim", FAST 2018; keys of the version of 2022-10).

use crate::make::sheet::Sheet;
use crate::make::source_file::{Entry, SourceFile, of_bytes};
use wordline_config::{Place, Problems};
use wordline_units::{Bytes, SimDuration};

const NANOSECONDS: &str = "a time in nanoseconds, such as 75000";
const NUMBER: &str = "a whole number, such as 8";
const SHARE: &str = "a share, such as 0.05";

/// The elements that hold text.
pub(crate) fn entries(text: &str, origin: &str, problems: &Problems) -> Option<Vec<Entry>> {
    let tree = match roxmltree::Document::parse(text) {
        Ok(tree) => tree,
        Err(e) => {
            let at = e.pos();
            let place =
                Place::Line { origin: origin.into(), line: at.row as usize, column: Some(at.col as usize) };
            problems.add(&place, format!("invalid XML: {e}"));
            return None;
        }
    };
    if tree.descendants().all(|n| !n.has_tag_name("Device_Parameter_Set")) {
        let what = "no <Device_Parameter_Set> found, so this is not an ssdconfig.xml of MQSim; pass the \
                    device file, not the workload file";
        problems.add(&Place::File(origin.into()), what);
        return None;
    }
    let leaves = tree.descendants().filter(|n| n.is_element() && n.children().all(|c| !c.is_element()));
    let entry = |n: roxmltree::Node| Entry {
        key: n.tag_name().name().into(),
        value: n.text().unwrap_or("").trim().into(),
        line: tree.text_pos_at(n.range().start).row as usize,
    };
    Some(leaves.map(entry).collect())
}

/// The device file.
pub(crate) fn sheet(given: &mut SourceFile, name: &str) -> Option<String> {
    let remark = format!("MQSim = {}, the values of its keys", given.origin());
    let mut sheet = Sheet::new(&[remark], name, "a drive of MQSim");
    let flash = flash(given, &mut sheet);
    host(given, &mut sheet);
    allocation(given, &mut sheet);
    if let Some(flash) = &flash {
        collection(given, &mut sheet, flash);
        map(given, &mut sheet, flash);
    }
    wear(given, &mut sheet);
    suspension(given);
    refuse_others(given);
    leave(given);
    flash.map(|_| sheet.finish())
}

/// Times of the commands of one plane (ONFI_Channel_NVDDR2's constants: t_CS 20, t_WC 25 a cycle, t_WB 100, t_RR 20,
/// t_ADL 70, t_WPST 6, t_WPSTH 15), ns.
const COMMANDS: [(&str, u64); 3] = [
    ("read", 20 + 6 * 25 + 100 + 20),
    ("program", 20 + 6 * 25 + 70 + 6 + 15 + 100),
    ("erase", 20 + 4 * 25 + 100),
];

/// What each further plane adds to them (the same constants, with t_DBSY 500 and t_CALS 15).
const FURTHER: [(&str, u64); 3] =
    [("read", 500 + 6 * 25), ("program", 500 + 5 * 25 + 70 + 6 + 15 + 100), ("erase", 500 + 4 * 25 + 100)];

/// Time from the end of sensing to the ready signal of the chip, ns.
const READY: u64 = 20;

struct Flash {
    page: u64,
    blocks_per_plane: u64,
}

/// The medium, the logical capacity, and the mapping unit.
fn flash(given: &mut SourceFile, sheet: &mut Sheet) -> Option<Flash> {
    let word = given.require::<String>("Flash_Technology", "SLC, MLC, TLC or QLC");
    let bits =
        ["SLC", "MLC", "TLC", "QLC"].iter().position(|w| Some(*w) == word.as_deref()).map(|i| i as u64 + 1);
    if let (Some(word), None) = (&word, bits) {
        given.refuse(format!("Flash_Technology: {word:?} is not SLC, MLC, TLC or QLC"));
    }
    let mut number = |key| given.require::<u64>(key, NUMBER);
    let [channels, chips, dies, planes] =
        ["Flash_Channel_Count", "Chip_No_Per_Channel", "Die_No_Per_Chip", "Plane_No_Per_Die"]
            .map(&mut number);
    let [blocks, pages, page, rate] =
        ["Block_No_Per_Plane", "Page_No_Per_Block", "Page_Capacity", "Channel_Transfer_Rate"]
            .map(&mut number);
    let width = given.take::<u64>("Flash_Channel_Width", NUMBER).unwrap_or(1);
    // TLC has a time for each of three types of pages, MLC for the first and the last, SLC for the first.
    let types: &[&str] = match bits {
        Some(1) => &["LSB"],
        Some(2) => &["LSB", "MSB"],
        _ => &["LSB", "CSB", "MSB"],
    };
    let mut times = |what: &str| -> Option<Vec<SimDuration>> {
        let each =
            types.iter().map(|t| given.require::<u64>(&format!("Page_{what}_Latency_{t}"), NANOSECONDS));
        // MQSim's file has times of three types of pages; those of a fourth are named as assumed.
        let mut each: Vec<SimDuration> =
            each.collect::<Option<Vec<u64>>>()?.into_iter().map(SimDuration).collect();
        each.extend((bits == Some(4)).then(|| each[2]));
        Some(each)
    };
    let (read, program) = (times("Read"), times("Program"));
    let erase = given.require::<u64>("Block_Erase_Latency", NANOSECONDS);
    let endurance = given.take::<u64>("Block_PE_Cycles_Limit", NUMBER);
    let share = given.require::<f64>("Overprovisioning_Ratio", "a share, such as 0.07");
    let (bits, page, pages, blocks) = (bits?, page?, pages?, blocks?);
    let wordlines = pages / bits;
    if wordlines * bits != pages {
        given.leave_value("Page_No_Per_Block", pages, "incomplete last wordline dropped");
    }
    if bits == 4 {
        for (what, key) in [("Read", "read"), ("Program", "program")] {
            let why = format!(
                "QLC has four page types, but the file has times for three; the fourth uses the MSB time; \
                 set medium.flash.qlc.{key}"
            );
            let time = times_of_msb(if what == "Read" { &read } else { &program });
            given.leave_value(&format!("Page_{what}_Latency of a fourth type"), time, &why);
        }
    }
    let mode = word?.to_lowercase();
    sheet.table("medium.flash");
    sheet.put("channels", channels?, "MQSim: Flash_Channel_Count");
    sheet.put("chips_per_channel", chips?, "MQSim: Chip_No_Per_Channel");
    sheet.put("dies_per_chip", dies?, "MQSim: Die_No_Per_Chip");
    sheet.put("planes_per_die", planes?, "MQSim: Plane_No_Per_Die");
    sheet.put("blocks_per_plane", blocks, "MQSim: Block_No_Per_Plane");
    sheet.put(
        "wordlines_per_block",
        wordlines,
        format!("MQSim: Page_No_Per_Block, {bits} per wordline by Flash_Technology"),
    );
    sheet.put_text("page", Bytes(page), "MQSim: Page_Capacity");
    // Two transfers in a whole number of nanoseconds, rounded down: none of 1000 MT/s and more.
    let cycle = 1_000 / rate?.max(1);
    let bus = if cycle == 0 { "off".to_string() } else { format!("{cycle}ns/{width}B") };
    let source = "MQSim: Channel_Transfer_Rate, rounded by MQSim to whole nanoseconds per transfer, x Flash_Channel_Width";
    sheet.put("bus", format!("{{ rate = \"{bus}\", width = 1 }}"), source);
    for (key, times, of) in
        [("command", COMMANDS, "one plane"), ("command_further", FURTHER, "each further plane")]
    {
        let times = times.map(|(kind, time)| format!("{kind} = \"{time}ns\"")).join(", ");
        let source = format!("MQSim: NV-DDR2 as ONFI_Channel_NVDDR2 has it, for {of}");
        sheet.put(key, format!("{{ {times} }}"), source);
    }
    sheet.table(&format!("medium.flash.{mode}"));
    let read: Vec<SimDuration> = read?.into_iter().map(|time| SimDuration(time.0 + READY)).collect();
    let fourth = if bits == 4 {
        "; ASSUMED: the fourth page type is as slow as MSB, because the file has no time for it"
    } else {
        ""
    };
    let source = format!("MQSim: Page_Read_Latency_LSB and so on, and 20 ns of Flash_Chip's own{fourth}");
    sheet.put_by_type("read", &read, &source);
    let source = format!("MQSim: Page_Program_Latency_LSB and so on{fourth}");
    sheet.put_by_type("program", &program?, &source);
    sheet.put_text("erase", SimDuration(erase?), "MQSim: Block_Erase_Latency");
    if let Some(cycles) = endurance {
        sheet.put("endurance", cycles, "MQSim: Block_PE_Cycles_Limit");
    }
    sheet.table("parallel");
    sheet.put_text(
        "multiplane",
        "opportunistic",
        "MQSim: sends operations that are ready in planes of a die as one command",
    );
    sheet.put_text("multiplane_pages", "same", "MQSim, TSU_Base: only pages with the same number");
    sheet.table("mapping");
    sheet.put_text("sector", "512B", "MQSim: transfers only the requested sectors");
    let counts = [channels?, chips?, dies?, planes?, blocks, wordlines, bits, page];
    let logical = of_bytes(&counts, 1.0 - share?, page);
    sheet.table("capacity");
    let source = "MQSim: Overprovisioning_Ratio, in MQSim a share of the physical capacity";
    sheet.put_text("logical", format!("{logical}B"), source);
    Some(Flash { page, blocks_per_plane: blocks })
}

/// The times for a fourth page type, which the file lacks.
fn times_of_msb(times: &Option<Vec<SimDuration>>) -> String {
    times.as_ref().and_then(|t| t.last()).map_or("none".to_string(), ToString::to_string)
}

/// Drives with features that a page-mapped drive without zones does not have.
fn refuse_others(given: &mut SourceFile) {
    if let Some(word) = given.word("Address_Mapping") {
        if word == "PAGE_LEVEL" {
            given.leave_value("Address_Mapping", word, "the scheme maps: --scheme conventional maps pages");
        } else {
            given.refuse(format!(
                "Address_Mapping: {word:?} is not supported, because Wordline maps pages or parts of \
                 pages; set it to PAGE_LEVEL for a page-mapped drive with the same flash"
            ));
        }
    }
    if let Some(word) = given.word("Support_Zone") {
        if word == "true" {
            given.refuse(
                "Support_Zone: zoned drives are not supported; set it to false for a conventional drive \
                 with the same flash",
            );
        } else {
            given.leave_value("Support_Zone", word, "zones are not modelled");
        }
    }
}

fn host(given: &mut SourceFile, sheet: &mut Sheet) {
    sheet.table("host");
    let lanes = given.take::<u64>("PCIe_Lane_Count", NUMBER);
    let each = given.take::<f64>("PCIe_Lane_Bandwidth", "GB/s of a lane, such as 1.0");
    let is_sata = given.word("HostInterface_Type").is_some_and(|word| word == "SATA");
    let delay = given.take::<u64>("SATA_Processing_Delay", NANOSECONDS);
    match (is_sata, lanes, each, delay) {
        (true, _, _, Some(delay)) => {
            sheet.put_text("read_overhead", SimDuration(delay), "MQSim: SATA_Processing_Delay");
            sheet.put_text("write_overhead", SimDuration(delay), "MQSim: SATA_Processing_Delay");
        }
        (false, Some(lanes), Some(each), _) => {
            pcie(sheet, lanes.max(1), each);
        }
        _ => {}
    }
    if let Some(depth) = given.take::<u64>("IO_Queue_Depth", NUMBER) {
        sheet.put("queue_depth", depth.clamp(1, 1 << 20), "MQSim: IO_Queue_Depth");
    }
}

/// PCIe as PCIe_Link has it: packets of at most 128 B and 28 B around each, over all lanes, messages one by one.
fn pcie(sheet: &mut Sheet, lanes: u64, each: f64) {
    const PACKET: u64 = 128;
    const AROUND: u64 = 28;
    // A queue entry is 72 B there, a completion 16, the two doorbells 2 each; a read request is 4 B and no payload.
    let message = |bytes: u64| ((bytes + AROUND).div_ceil(lanes) as f64 / each) as u64;
    let read = 2 * message(2) + message(4) + message(72) + message(16);
    let bytes = (PACKET * lanes) as f64 * each;
    let rate = match bytes.fract() == 0.0 {
        true => format!("{}ns/{bytes}B", PACKET + AROUND),
        false => format!("{}ns/{}B", 1_000 * (PACKET + AROUND), (bytes * 1e3).round()),
    };
    let source = "MQSim: PCIe_Lane_Bandwidth x PCIe_Lane_Count, 128 B in a packet of 156 B";
    sheet.put_text("rate", rate, source);
    let source = "MQSim: messages around a request at queue depth 1: doorbells, queue entry, completion";
    sheet.put_text("read_overhead", SimDuration(read), source);
    sheet.put_text(
        "write_overhead",
        SimDuration(read + message(4)),
        "MQSim: as read_overhead, and the request for the data",
    );
}

fn allocation(given: &mut SourceFile, sheet: &mut Sheet) {
    let Some(order) = given.word("Plane_Allocation_Scheme") else { return };
    let levels: std::collections::BTreeSet<char> = order.chars().collect();
    if order.len() == 4 && levels.iter().eq(['C', 'D', 'P', 'W'].iter()) {
        sheet.table("allocation");
        sheet.put_text("order", order, "MQSim: Plane_Allocation_Scheme");
    } else {
        let why = "an order must name all four levels; CWDP is used instead, or set \
                   allocation.order=dynamic";
        given.leave_value("Plane_Allocation_Scheme", order, why);
    }
}

fn collection(given: &mut SourceFile, sheet: &mut Sheet, flash: &Flash) {
    let percent = |share: f64| format!("{}%", (share * 1e6).round() / 1e4);
    sheet.table("gc");
    match given.take::<f64>("GC_Exec_Threshold", SHARE) {
        Some(share) => {
            sheet.put_text(
                "trigger",
                format!("free_blocks < {}", percent(share)),
                "MQSim: GC_Exec_Threshold",
            );
        }
        None => sheet.put_text("trigger", "free_blocks < 5%", "ASSUMED: MQSim's default"),
    }
    if let Some(share) = given.take::<f64>("GC_Hard_Threshold", SHARE) {
        let reserve = (share * flash.blocks_per_plane as f64).ceil() as u64;
        let source = "MQSim: GC_Hard_Threshold of a plane's blocks, at least two";
        sheet.put("hard_reserve", reserve.max(2), source);
    }
    if let Some(word) = given.word("GC_Block_Selection_Policy") {
        let victim = match word.as_str() {
            "GREEDY" => Some("greedy".to_string()),
            "FIFO" => Some("fifo".to_string()),
            "RANDOM" => Some("random".to_string()),
            "RGA" => Some(format!("d-choices:{}", flash.blocks_per_plane.max(2).ilog2())),
            _ => None,
        };
        match victim {
            Some(victim) => {
                sheet.put_text("victim", victim, format!("MQSim: GC_Block_Selection_Policy {word}"))
            }
            None => {
                given.leave_value("GC_Block_Selection_Policy", word, "no such victim policy; greedy is used")
            }
        }
    }
    let cached = given.word("Caching_Mechanism").is_some_and(|word| word == "ADVANCED");
    let capacity = given.take::<u64>("Data_Cache_Capacity", "bytes, such as 268435456");
    if let (true, Some(capacity)) = (cached, capacity) {
        sheet.table("ack");
        sheet.put_text(
            "mode",
            "buffer",
            "MQSim: Caching_Mechanism ADVANCED, which acknowledges writes in RAM",
        );
        sheet.put("pages", (capacity / flash.page.max(1)).clamp(1, 1 << 24), "MQSim: Data_Cache_Capacity");
    }
}

/// The part of the mapping table in RAM; MQSim caches entries, and a device file whole pages of the table.
fn map(given: &mut SourceFile, sheet: &mut Sheet, flash: &Flash) {
    let capacity = given.take::<u64>("CMT_Capacity", "bytes, such as 2097152");
    let word = given.word("Ideal_Mapping_Table");
    if word.is_some_and(|word| word == "true") {
        sheet.table("dram");
        sheet.put_text(
            "map_cache",
            "off",
            "MQSim: Ideal_Mapping_Table, for which CMT_Capacity does not count",
        );
    } else if let Some(capacity) = capacity {
        let pages = (capacity / flash.page.max(1)).max(1);
        let source = "MQSim: CMT_Capacity in whole pages of the map, with Ideal_Mapping_Table false";
        sheet.table("dram");
        sheet.put_text("map_cache", Bytes(pages * flash.page), source);
    }
}

fn wear(given: &mut SourceFile, sheet: &mut Sheet) {
    let is_on = |given: &mut SourceFile, key| given.word(key).is_some_and(|word| word == "true");
    let (dynamic, fixed) =
        (is_on(given, "Dynamic_Wearleveling_Enabled"), is_on(given, "Static_Wearleveling_Enabled"));
    let beyond = given.take::<u64>("Static_Wearleveling_Threshold", NUMBER).filter(|_| fixed);
    if !dynamic && beyond.is_none() {
        return;
    }
    sheet.table("wear");
    if dynamic {
        sheet.put("dynamic", true, "MQSim: Dynamic_Wearleveling_Enabled");
    }
    if let Some(beyond) = beyond {
        sheet.put("static", beyond.max(2), "MQSim: Static_Wearleveling_Threshold");
    }
}

/// MQSim never suspends, whatever its file says: where it should, the branches of its schedulers fall through to the
/// one that refuses.
fn suspension(given: &mut SourceFile) {
    if let Some(word) = given.word("CMD_Suspension_Support") {
        let known = ["NONE", "PROGRAM", "PROGRAM_ERASE", "ERASE"].contains(&word.as_str());
        if !known {
            let what =
                format!("CMD_Suspension_Support: {word:?} is not NONE, PROGRAM, PROGRAM_ERASE or ERASE");
            given.refuse(what);
        }
        let why = "MQSim's schedulers never suspend an operation; set service.suspend to enable it";
        given.leave_value("CMD_Suspension_Support", word, why);
    }
    for key in ["Suspend_Program_Time", "Suspend_Erase_Time"] {
        given.leave(key, "no suspension, as in MQSim; set service.suspend to enable it");
    }
}

/// Keys that are known and have no counterpart.
fn leave(given: &mut SourceFile) {
    const PREFERRED: &str = "no suspension, as in MQSim";
    const RAM: &str = "only the size of RAM is modelled, not its time";
    for (key, why) in [
        ("Seed", "use --seed"),
        ("Enabled_Preconditioning", "use --initial, such as --initial steady"),
        ("Preferred_suspend_erase_time_for_read", PREFERRED),
        ("Preferred_suspend_erase_time_for_write", PREFERRED),
        ("Preferred_suspend_write_time_for_read", PREFERRED),
        ("Data_Cache_DRAM_Row_Size", RAM),
        ("Data_Cache_DRAM_Data_Rate", RAM),
        ("Data_Cache_DRAM_Data_Busrt_Size", RAM),
        ("Data_Cache_DRAM_tRCD", RAM),
        ("Data_Cache_DRAM_tCL", RAM),
        ("Data_Cache_DRAM_tRP", RAM),
        ("Data_Cache_Sharing_Mode", "one host is modelled"),
        ("CMT_Sharing_Mode", "all flows share one mapping cache"),
        ("Queue_Fetch_Size", "requests are fetched one at a time; set host.queue.NAME.depth for a flow"),
        ("Transaction_Scheduling_Policy", "reads go first, then by class and arrival"),
        (
            "Preemptible_GC_Enabled",
            "GC yields according to its class; set gc.class=foreground if it is false, background if it is \
             true",
        ),
        ("Use_Copyback_for_GC", "MQSim models no time for it; set medium.flash.MODE.copy_back"),
        ("Flash_Comm_Protocol", "times are those of NV-DDR2, the only interface of MQSim"),
        ("Memory_Type", "all media are flash"),
        ("Page_Metadat_Capacity", "transfer of the spare area takes no time"),
        ("Enable_ResponseTime_Logging", "use --completions"),
        ("Page_Read_Latency_CSB", "this cell mode has no such page type"),
        ("Page_Read_Latency_MSB", "this cell mode has no such page type"),
        ("Page_Program_Latency_CSB", "this cell mode has no such page type"),
        ("Page_Program_Latency_MSB", "this cell mode has no such page type"),
    ] {
        given.leave(key, why);
    }
}
