//! The trace formats, one file each, and their list. A format describes its grammar, decides whether a sample
//! of a file matches and why, turns bytes into records one at a time, and writes them. Its [`Format`] also
//! has the properties in which it differs from others, and a small example file. Options, listings, tests and
//! fuzz targets are generated from the list.

use crate::reading::format::Format;

// To add a format, add its file and two words here.
mod addresses;
mod alibaba;
mod blkparse;
mod blktrace;
mod csv;
mod etw;
mod fio_iolog;
mod fiu;
mod five_columns;
mod ftrace;
mod msr;
mod oracle_general;
mod spc;
mod systor17;
mod tencent;
mod vscsi;
mod vscsi_csv;
mod wiscsee;
mod wordline;

/// All formats, in the order in which detection tries them.
pub static FORMATS: &[&Format] = &[
    &wordline::FORMAT,
    &blktrace::FORMAT,
    &vscsi::V1,
    &vscsi::V2,
    &vscsi_csv::FORMAT,
    &msr::FORMAT,
    &systor17::FORMAT,
    &spc::FORMAT,
    &alibaba::FORMAT,
    &tencent::FORMAT,
    &fio_iolog::FORMAT,
    &blkparse::FORMAT,
    &ftrace::FORMAT,
    &etw::FORMAT,
    &fiu::FORMAT,
    &wiscsee::FORMAT,
    &five_columns::FORMAT,
    &oracle_general::FORMAT,
    &addresses::FORMAT,
    &csv::FORMAT,
];

/// Looks a format up by name.
pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|f| f.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::format::Order;
    use std::fs;

    /// The row of a format in the table of docs/traces.md.
    fn row(format: &Format) -> String {
        // Columns that a table only has if options name them.
        let told = format.parameters.iter().filter(|p| ["hint", "stream"].contains(&p.key));
        let told = told.map(|p| (p.key, p.key.to_string())).collect();
        let kept = match (format.write)(&told).map(|writing| writing.keeps) {
            Err(_) => "read only".to_string(),
            Ok(k) => {
                let all = [(k.flush, "FLUSH"), (k.trim, "TRIM"), (k.fua, "FUA"), (k.hints, "hints")];
                let all = all.into_iter().chain([(k.streams, "streams")]);
                all.filter(|(kept, _)| *kept).map(|(_, word)| word).collect::<Vec<_>>().join(", ")
            }
        };
        let order = if format.order == Order::Kept { "kept" } else { "sorted" };
        format!("| `{}` | {} | {kept} | {order} |\n", format.name, format.title)
    }

    /// The table of docs/traces.md must list every format; `BLESS=1` rewrites it.
    #[test]
    fn the_page_lists_every_format() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/traces.md");
        let text = fs::read_to_string(page).unwrap();
        let head = "| format | what it is | keeps | order |\n|---|---|---|---|\n";
        let (before, rest) = text.split_once(head).unwrap();
        let (_, after) = rest.split_once("\n\n").unwrap();
        let rows: String = FORMATS.iter().map(|format| row(format)).collect();
        let expected = format!("{before}{head}{rows}\n{after}");
        if std::env::var_os("BLESS").is_some() {
            fs::write(page, &expected).unwrap();
        }
        assert!(text == expected, "the table of docs/traces.md is not that of FORMATS; BLESS=1 rewrites it");
    }
}
