//! The table: does a person read the right thing, at any width?

mod sample;
use unicode_width::UnicodeWidthStr;
use wordline_report::{TerminalStyle, summary, table};

fn plain(width: usize) -> TerminalStyle {
    TerminalStyle { colour: false, width }
}

fn row<'a>(text: &'a str, group: &str, label: &str) -> &'a str {
    let mut lines = text.lines().skip_while(|l| *l != group);
    lines.find(|l| l.trim_start().starts_with(label)).unwrap_or_else(|| panic!("no {group} {label} in\n{text}"))
}

#[test]
fn show() {
    for (name, c) in sample::all() {
        eprintln!("=== {name}\n{}", table(&c.reports, TerminalStyle { colour: false, width: 80 }));
    }
    eprintln!("{}", summary(&sample::two().reports[1], TerminalStyle { colour: false, width: 80 }));
}
