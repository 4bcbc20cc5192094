//! Terms that tables and pages print beside figures, each with a sentence: causes, regions, cell modes, parts of a latency,
//! verdicts, and the words of the field that these sentences are made of.

/// A term with the sentence that explains it.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// The term as tables and pages have it.
    pub name: &'static str,
    /// What else it is asked for by: keys of the JSON, abbreviations.
    pub also: &'static [&'static str],
    /// What kind of thing it is.
    pub kind: &'static str,
    /// One sentence.
    pub about: &'static str,
}

const fn term(
    kind: &'static str,
    name: &'static str,
    also: &'static [&'static str],
    about: &'static str,
) -> Term {
    Term { name, also, kind, about }
}

/// The name of a part of the mean latency; any other key as it is.
pub(crate) fn latency_part(key: &str) -> String {
    let known = LATENCY_PARTS.iter().find(|part| part.also == [key]);
    known.map_or_else(|| key.replace('_', " "), |part| part.name.to_string())
}

const CAUSE: &str = "cause of flash operations";
const REGION: &str = "region of a scheme's layout";
const TABLE: &str = "table that a scheme keeps beside a page-level mapping table";
const MODE: &str = "cell mode";
const PART: &str = "part of the mean latency";
const VERDICT: &str = "verdict";
const TERM: &str = "term";

/// Parts of the mean latency, each with its key in the JSON behind its name.
pub(crate) const LATENCY_PARTS: [Term; 11] = [
    term(
        PART,
        "waiting for queue or buffer",
        &["admission"],
        "The queue before the drive, or its write buffer, is full.",
    ),
    term(
        PART,
        "mapping table miss",
        &["map_miss"],
        "The page of the mapping table with the entry is read from flash.",
    ),
    term(
        PART,
        "staging in RAM",
        &["staging"],
        "The data wait in RAM for the other pages of a one-shot program or for the missing part of a page.",
    ),
    term(PART, "waiting for host I/O", &["behind_host"], "The plane works for another host request."),
    term(PART, "waiting for GC", &["behind_gc"], "The plane works for garbage collection."),
    term(PART, "waiting for migration", &["behind_migration"], "The plane works for migration."),
    term(PART, "waiting for free space", &["space"], "No page is free where the data must go."),
    term(
        PART,
        "array",
        &["die"],
        "Array time (tR, tPROG), with the wait for an array that another plane of the die uses.",
    ),
    term(PART, "read retries", &["retry"], "The page is sensed again because it could not be corrected."),
    term(PART, "channel bus", &["bus"], "The transfer over the channel, with the wait for it."),
    term(PART, "host link", &["link"], "The transfer over the host link, with the wait for it."),
];

const TERMS: &[Term] = &[
    term(CAUSE, "host", &[], "Reads and programs that a host request asks for."),
    term(
        CAUSE,
        "GC",
        &["gc", "garbage collection", "collection"],
        "Garbage collection: the valid pages of a victim block are copied so that it can be erased.",
    ),
    term(
        CAUSE,
        "migration",
        &["migrate"],
        "Data leave the SLC cache, or change cell mode, for the densest cells.",
    ),
    term(
        CAUSE,
        "pad",
        &["padding", "dummy pages"],
        "The unused part of a page or wordline that is programmed before it is full.",
    ),
    term(
        CAUSE,
        "metadata",
        &["meta"],
        "Pages of the mapping table and of the trim log, where these are on flash.",
    ),
    term(
        CAUSE,
        "rmw",
        &["read-modify-write"],
        "The rest of a page is read because a write covers only a part of it.",
    ),
    term(
        CAUSE,
        "reprogram",
        &["reprogrammed"],
        "Further bits are programmed onto a wordline that holds data already.",
    ),
    term(REGION, "S", &["region S"], "The SLC cache; under hyssd the superior medium."),
    term(
        REGION,
        "D",
        &["region D"],
        "Data at rest, in the densest cell mode of the drive or in the one that the scheme is told.",
    ),
    term(
        REGION,
        "T",
        &["region T"],
        "Under hyssd the inferior medium; under ips-cooperative the conventional SLC cache.",
    ),
    term(
        REGION,
        "W",
        &["region W"],
        "Windows of wordlines that serve as SLC first and are reprogrammed later (the ips schemes).",
    ),
    term(REGION, "H", &["region H"], "Hot data, under hot-cold."),
    term(REGION, "C", &["region C"], "Cold data, under hot-cold."),
    term(
        TABLE,
        "SMT",
        &["sector mapping table"],
        "Sector mapping table: where each sector lies in the slots of a cache that is mapped by sector.",
    ),
    term(
        TABLE,
        "extents",
        &[],
        "Which sectors of a page an entry of the page map covers, and where the first lies.",
    ),
    term(TABLE, "valid sectors", &[], "A flag for each sector of each page: whether it was written."),
    term(MODE, "SLC", &["slc"], "One bit per cell."),
    term(MODE, "MLC", &["mlc"], "Two bits per cell."),
    term(MODE, "TLC", &["tlc"], "Three bits per cell."),
    term(MODE, "QLC", &["qlc"], "Four bits per cell."),
    term(
        VERDICT,
        "steady",
        &["steady state", "steady_state"],
        "WAF, free blocks and latency no longer change with the length of the run; figures after the warm-up carry 95 % confidence intervals.",
    ),
    term(
        VERDICT,
        "not steady",
        &[],
        "Something still changes at the end of the run: its figures depend on its length.",
    ),
    term(
        VERDICT,
        "too short to tell",
        &["too short"],
        "The run writes less than a tenth of the drive, or planes have not yet collected ten blocks each.",
    ),
    term(
        VERDICT,
        "overload",
        &["overloaded"],
        "Requests arrive faster than the drive completes them, so that latency grows with the length of the run.",
    ),
    term(
        VERDICT,
        "holds",
        &[],
        "A result of a paper comes out under every reading of what the paper leaves open.",
    ),
    term(
        VERDICT,
        "depends on a reading",
        &["depends"],
        "A result of a paper comes out under some readings of what the paper leaves open, and not under others.",
    ),
    term(VERDICT, "deviates", &[], "A result of a paper does not come out under any reading that was run."),
    term(
        VERDICT,
        "not significant",
        &[],
        "The 95 % confidence interval of a difference, paired by seed, contains zero.",
    ),
    term(
        TERM,
        "SLC cache",
        &["cache"],
        "Blocks in SLC mode that take host writes first; static if their number is fixed, dynamic if it follows the fill level.",
    ),
    term(TERM, "folding", &[], "Whole SLC blocks are copied into TLC or QLC on the die, without a transfer."),
    term(TERM, "victim", &[], "The block that garbage collection empties next."),
    term(
        TERM,
        "valid page",
        &["valid pages"],
        "A page on flash whose data no later write or trim has replaced.",
    ),
    term(
        TERM,
        "over-provisioning",
        &["OP", "over_provisioning"],
        "Physical less logical capacity, over logical capacity.",
    ),
    term(TERM, "open block", &["write frontier"], "A block that has been erased and is not yet full."),
    term(
        TERM,
        "wordline",
        &[],
        "The cells that are programmed together: one page in SLC, three in TLC, four in QLC.",
    ),
    term(
        TERM,
        "page type",
        &["LSB", "CSB", "MSB", "TSB"],
        "Which bit of its cells a page is: LSB pages are fast to program, the last bit (CSB, MSB or TSB) is slowest.",
    ),
    term(TERM, "one-shot program", &["one-shot"], "All pages of a wordline are programmed in one operation."),
    term(
        TERM,
        "mapping unit",
        &["indirection unit", "IU", "logical page"],
        "The unit in which the drive maps logical to physical addresses.",
    ),
    term(
        TERM,
        "mapping table",
        &["L2P", "L2P table", "CMT"],
        "Where each mapping unit is on flash; with map_cache only a part of it is in RAM.",
    ),
    term(
        TERM,
        "queue depth",
        &["qd", "outstanding requests"],
        "Requests that a client keeps outstanding at a time.",
    ),
    term(TERM, "latency", &[], "Time from arrival to completion, with all waiting before the drive."),
    term(TERM, "drive write", &["drive writes"], "Host writes of as many bytes as the logical capacity."),
    term(
        TERM,
        "DWPD",
        &["drive writes per day"],
        "Drive writes per day that wear the drive out in a stated number of years.",
    ),
    term(TERM, "TBW", &["total bytes written"], "Host bytes until the drive is worn out."),
    term(
        TERM,
        "P/E cycles",
        &["wear", "endurance"],
        "Program/erase cycles of a block; endurance is how many it takes in its cell mode.",
    ),
    term(
        TERM,
        "warm-up",
        &["transient"],
        "The part of a run before its figures stop drifting, found by MSER-5.",
    ),
    term(TERM, "fresh", &["FOB", "fresh out of box"], "A drive on which nothing has been written."),
    term(
        TERM,
        "preconditioning",
        &[],
        "Writes before the measured part of a run that bring the drive to the state it is measured in.",
    ),
    term(
        TERM,
        "repeat",
        &["repeats", "replicas", "replica"],
        "The same run with another seed; figures are means over repeats with 95 % confidence intervals.",
    ),
    term(
        TERM,
        "twin",
        &["synthetic twin"],
        "A synthetic workload that has the sizes, mix, locality and arrivals of a trace, and is not the trace itself.",
    ),
    term(
        TERM,
        "result hash",
        &["result_hash"],
        "A hash over the completion time and outcome of every request and all counters: equal hashes are equal runs.",
    ),
];

/// Every term, parts of a latency among them.
pub(crate) fn terms() -> impl Iterator<Item = Term> {
    TERMS.iter().copied().chain(LATENCY_PARTS)
}
