//! The comparison as a terminal shows it: one column a scheme, the best of each row marked, the
//! ratio to the first scheme beside it. Text is laid out as styled segments and cut by display
//! width, so that no line is longer than asked, with colour or without.

use crate::begun;
use crate::command::shell_lines;
use crate::comparison::{Comparison, RefusedScheme, eligible, hints, labels, replicas};
use crate::conditions::{conditions, sentence};
use crate::label;
use crate::number::{self, Quantity};
use crate::report::Report;
use crate::rows::{self, Group, Row};
use crate::steady;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a terminal wants its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Use ANSI colours.
    pub colour: bool,
    /// Columns of text; less than 40 counts as 40.
    pub width: usize,
}

impl Default for TerminalStyle {
    fn default() -> TerminalStyle {
        TerminalStyle { colour: false, width: 80 }
    }
}

/// Several runs side by side, the first of them the baseline.
pub fn table(comparison: &Comparison, style: TerminalStyle) -> String {
    let reports = comparison.reports.as_slice();
    let mut page = Page::new(style);
    if reports.is_empty() {
        page.wrap("", "There is nothing to compare.", Look::Plain);
        return page.finish();
    }
    let labels = labels(reports);
    heading(&mut page, reports, &labels.join(" · "));
    let groups = rows::groups(reports);
    let columns = Columns::new(&labels, &groups);
    let ratios = if reports.len() == 1 { Ratios::Hide } else { Ratios::Show };
    let mark = if style.colour { "Green" } else { "*" };
    let key = if columns.width(ratios) <= page.width {
        columns.draw(&mut page, &groups, &eligible(reports), ratios);
        let sign = if replicas(reports).is_some() { "%" } else { "×" };
        format!("{mark} is the best of its row; {sign} is against {}.", labels[0])
    } else if columns.width(Ratios::Hide) <= page.width {
        columns.draw(&mut page, &groups, &eligible(reports), Ratios::Hide);
        format!("{mark} is the best of its row.")
    } else {
        transposed(&mut page, &labels, &groups, &eligible(reports));
        format!("{mark} is the best of its column; w is write latency, r read latency.")
    };
    if reports.len() > 1 {
        page.blank();
        page.wrap("", &key, Look::Dim);
    }
    if let Some(text) = replicas(reports) {
        page.wrap("", &text, Look::Dim);
    }
    let alike = sentence(&conditions(reports), &labels);
    if reports.len() > 1 && !alike.is_empty() {
        page.blank();
        page.wrap("drive ", &format!("{alike}."), Look::Plain);
    }
    steadiness(&mut page, reports, &labels);
    advice(&mut page, reports);
    refusals(&mut page, &comparison.refused);
    again(&mut page, comparison.command());
    page.finish()
}

/// The command that makes all of it again, broken before options: a shell takes it as it stands.
fn again(page: &mut Page, command: Option<Vec<String>>) {
    let Some(words) = command.filter(|words| !words.is_empty()) else { return };
    page.blank();
    for line in shell_lines(&words, page.width) {
        page.verbatim(&line);
    }
}

/// Which schemes the device does not admit, and why.
fn refusals(page: &mut Page, refused: &[RefusedScheme]) {
    if !refused.is_empty() {
        page.blank();
        page.wrap("", "Not on this device:", Look::Dim);
    }
    let width = refused.iter().map(|r| r.scheme.width() + 2).max().unwrap_or(0);
    for RefusedScheme { scheme, reason } in refused {
        page.wrap(&format!("{scheme:<width$}"), reason, Look::Dim);
    }
}

/// One run, with what the comparison leaves out: the flash by cause, capacity, wear and the engine.
pub fn summary(report: &Report, style: TerminalStyle) -> String {
    let mut page = Page::new(style);
    let reports = std::slice::from_ref(report);
    let title = if report.scheme.title.is_empty() {
        report.scheme.name.clone()
    } else {
        format!("{}: {}", report.scheme.name, report.scheme.title)
    };
    heading(&mut page, reports, &title);
    let groups = rows::groups(reports);
    Columns::new(&[String::new()], &groups).draw(&mut page, &groups, &[false], Ratios::Hide);
    if let Some(text) = replicas(reports) {
        page.blank();
        page.wrap("", &text, Look::Dim);
    }
    page.blank();
    for (what, text) in particulars(report) {
        page.wrap(&format!("{what:<15}"), &text, Look::Plain);
    }
    for text in crate::twins::sentences(reports, &[String::new()]) {
        page.wrap("twin           ", &text, Look::Plain);
    }
    advice(&mut page, reports);
    again(&mut page, Some(report.command.clone()));
    page.finish()
}

fn heading(page: &mut Page, reports: &[Report], title: &str) {
    page.wrap("", title, Look::Bold);
    let facts: Vec<String> =
        rows::facts(reports).into_iter().map(|(what, value)| format!("{what} {value}")).collect();
    if let Some((device, others)) = facts.split_first() {
        page.wrap("", device, Look::Dim);
        page.wrap("", &others.join(" · "), Look::Dim);
    }
    page.blank();
}

/// What may be said of each run's steady state, once where it is the same for all.
fn steadiness(page: &mut Page, reports: &[Report], labels: &[String]) {
    let began = begun::sentences(reports, labels);
    let said = steady::sentences(reports, labels);
    if !said.is_empty() || !began.is_empty() {
        page.blank();
    }
    for text in began {
        page.wrap("begun ", text.whole().trim_start_matches("begun "), Look::Plain);
    }
    for text in said {
        page.wrap("state ", &text.whole(), Look::Plain);
    }
    for text in crate::twins::sentences(reports, labels) {
        page.wrap("twin  ", &text, Look::Plain);
    }
}

fn advice(page: &mut Page, reports: &[Report]) {
    let hints = hints(reports);
    if !hints.is_empty() {
        page.blank();
    }
    for hint in hints {
        page.wrap("hint  ", &hint.whole(), Look::Plain);
    }
}

/// Facts of one run that are not compared.
fn particulars(r: &Report) -> Vec<(&'static str, String)> {
    let counts = |map: &mut dyn Iterator<Item = (String, u64)>| {
        map.filter(|(_, n)| *n > 0)
            .map(|(k, n)| format!("{k} {}", number::count(n)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let programs = |n: &crate::Programs| n.program + n.reprogram;
    let mut out = vec![
        ("flash reads", counts(&mut r.flash.reads.iter().map(|(k, n)| (k.clone(), *n)))),
        ("flash programs", counts(&mut r.flash.programs.iter().map(|(k, n)| (k.clone(), programs(n))))),
    ];
    if let Some(text) = steady::sentence(r) {
        out.insert(0, ("steady state", text.trim_end_matches('.').to_string()));
    }
    if let Some(text) = begun::sentence(r) {
        out.insert(0, ("begun steady", text.trim_start_matches("begun ").trim_end_matches('.').to_string()));
    }
    let c = &r.capacity;
    out.push((
        "capacity",
        format!(
            "{} logical of {} ({}% over-provisioning), {} live",
            number::bytes(c.logical_bytes),
            number::bytes(c.physical_bytes),
            number::significant(c.over_provisioning * 100.0),
            number::bytes(c.live_bytes)
        ),
    ));
    for (mode, w) in &r.wear {
        let what = format!(
            "{} {} blocks, mean {} (σ {}), {} to {} cycles",
            rows::mode_title(mode),
            number::count(w.blocks),
            number::significant(w.mean),
            number::significant(w.sigma),
            number::count(w.min),
            number::count(w.max)
        );
        out.push(("wear", what));
    }
    if let Some(l) = &r.lifetime {
        let modes = l.by_mode.iter().map(|(mode, m)| {
            let left = m
                .left
                .map_or("all of it".into(), |l| format!("{} times what is used", number::significant(l)));
            format!("{} of {} cycles left {left}", rows::mode_title(mode), number::count(m.endurance))
        });
        let mut what = modes.collect::<Vec<_>>().join(", ");
        if let (Some(bytes), Some(years), Some(daily)) =
            (l.total_bytes_written, l.years, l.drive_writes_per_day)
        {
            what.push_str(&format!(
                "; {} TB written in all, {} years at this rate, {} drive writes a day over five years",
                number::significant(bytes / 1e12),
                number::significant(years),
                number::significant(daily)
            ));
        }
        out.push(("lifetime", what));
    }
    if let Some(l) = &r.lost_blocks {
        let mut what = format!(
            "{} of {} blocks bad, {} retired, an erase standing for {} cycles",
            number::count(l.bad),
            number::count(l.blocks),
            number::count(l.retired),
            number::count(l.acceleration)
        );
        if let Some(end) = l.worn_out {
            what.push_str(&format!(
                "; worn out after {} written ({} drive writes), {} years at this pace",
                Quantity::Bytes.show(end.total_bytes_written),
                number::significant(end.drive_writes),
                number::significant(end.years)
            ));
        }
        out.push(("blocks lost", what));
    }
    let mut engine = format!(
        "{} wall, {} requests/s, {} flash operations/s, {} of state",
        Quantity::Time.show(r.speed.wall_s),
        Quantity::Iops.show(r.speed.requests_per_s),
        Quantity::Iops.show(r.speed.flash_ops_per_s),
        number::bytes(r.memory.engine_bytes)
    );
    if let Some(b) = r.memory.bytes_per_mapped_page {
        engine.push_str(&format!(", {} B a mapped page", number::significant(b)));
    }
    out.push(("engine", engine));
    out.push(("result hash", r.result_hash.clone()));
    if let Some(replicas) = &r.replicas {
        let others: Vec<&str> = replicas.runs.iter().skip(1).map(|r| r.result_hash.as_str()).collect();
        out.push(("of the others", others.join(" ")));
    }
    out.retain(|(_, text)| !text.is_empty());
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ratios {
    Show,
    Hide,
}

/// Room for one scheme: digits before and after the decimal point, half the width of the interval,
/// and the ratio.
struct Column {
    name: String,
    whole: usize,
    rest: usize,
    spread: usize,
    ratio: usize,
}

struct Columns {
    stub: usize,
    unit: usize,
    columns: Vec<Column>,
}

impl Columns {
    fn new(labels: &[String], groups: &[Group]) -> Columns {
        let rows = || groups.iter().flat_map(|g| &g.rows);
        let columns = labels
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let texts: Vec<(String, String)> = rows().map(|r| r.spread_texts().swap_remove(i)).collect();
                let most = |of: &dyn Fn(&(String, String)) -> usize| texts.iter().map(of).max().unwrap_or(0);
                Column {
                    name: name.clone(),
                    whole: most(&|t| split(&t.0).0.width()).max(1),
                    rest: most(&|t| split(&t.0).1.width()),
                    spread: most(&|t| t.1.width()),
                    ratio: rows().filter_map(|r| ratio_text(r, i)).map(|t| t.width()).max().unwrap_or(0),
                }
            })
            .collect();
        let stub = rows().map(|r| indent(r).len() + r.label.width()).max().unwrap_or(0);
        let unit = rows().map(|r| r.unit().sign.width()).max().unwrap_or(0);
        Columns { stub, unit, columns }
    }

    fn width(&self, ratios: Ratios) -> usize {
        self.stub + 1 + self.unit + self.columns.iter().map(|c| c.width(ratios)).sum::<usize>()
    }

    fn draw(&self, page: &mut Page, groups: &[Group], eligible: &[bool], ratios: Ratios) {
        if self.columns.iter().any(|c| !c.name.is_empty()) {
            self.head(page, ratios);
        }
        for group in groups {
            page.push(Line::of(group.title, Look::Bold));
            for row in &group.rows {
                let mut line = Line::of(indent(row), Look::Plain);
                line.add(&row.label, if row.part { Look::Dim } else { Look::Plain });
                line.pad_to(self.stub + 1);
                line.add(row.unit().sign, Look::Dim);
                line.pad_to(self.stub + 1 + self.unit);
                let (texts, best) = (row.spread_texts(), row.best(eligible));
                for (i, c) in self.columns.iter().enumerate() {
                    let end = line.width + c.width(ratios);
                    let (whole, rest) = split(&texts[i].0);
                    let look = match (best[i], row.part) {
                        (true, _) => Look::Best,
                        (false, true) => Look::Dim,
                        (false, false) => Look::Plain,
                    };
                    line.pad_to(line.width + 2 + c.whole - whole.width());
                    line.add(&format!("{whole}{rest}"), look);
                    line.pad_to(line.width + c.rest - rest.width());
                    let spread_end = line.width + c.spread_width();
                    if !texts[i].1.is_empty() {
                        line.add(&format!(" ± {}", texts[i].1), Look::Dim);
                    }
                    line.pad_to(spread_end);
                    line.add(if best[i] && !page.colour { "*" } else { " " }, Look::Plain);
                    if let (Ratios::Show, Some(ratio)) = (ratios, ratio_text(row, i)) {
                        line.right(&ratio, end, Look::Dim);
                    }
                    line.pad_to(end);
                }
                page.push(line);
            }
        }
    }
}

impl Columns {
    /// The names above the columns, whole, in as many lines as the longest needs.
    fn head(&self, page: &mut Page, ratios: Ratios) {
        let names: Vec<Vec<String>> =
            self.columns.iter().map(|c| broken(&c.name, c.width(ratios) - 2)).collect();
        let rows = names.iter().map(Vec::len).max().unwrap_or(1);
        for row in 0..rows {
            let mut line = Line::default();
            line.pad_to(self.stub + 1 + self.unit);
            for (c, name) in self.columns.iter().zip(&names) {
                let (start, all) = (line.width, c.width(ratios));
                let widest = name.iter().map(|n| n.width()).max().unwrap_or(0);
                let value_end = start + 2 + c.whole + c.rest + c.spread_width();
                let end = if start + 2 + widest <= value_end { value_end } else { start + all };
                // Shorter names stand at the bottom.
                if let Some(part) = (row + name.len()).checked_sub(rows).and_then(|i| name.get(i)) {
                    line.right(part, end, Look::Bold);
                }
                line.pad_to(start + all);
            }
            page.push(line);
        }
    }
}

impl Column {
    /// Room for ` ± 0.04`, if any row needs it.
    fn spread_width(&self) -> usize {
        if self.spread == 0 { 0 } else { 3 + self.spread }
    }

    fn width(&self, ratios: Ratios) -> usize {
        let ratio = if ratios == Ratios::Show && self.ratio > 0 { self.ratio + 1 } else { 0 };
        let widest = broken(&self.name, NAME_WIDTH).iter().map(|n| n.width()).max().unwrap_or(0);
        let least = widest + 3;
        (2 + self.whole + self.rest + self.spread_width() + 1 + ratio).max(least)
    }
}

/// A longer name above a column is broken into lines.
const NAME_WIDTH: usize = 14;

/// A name in lines of at most `width` columns, without what could move the cursor.
fn broken(name: &str, width: usize) -> Vec<String> {
    let clean: String = name.chars().filter(|c| !c.is_control()).collect();
    label::lines(&clean, |line| line.width() <= width.max(1))
}

/// The measures of many schemes: group, label, and the head of their column.
const KEY: [(&str, &str, &str); 10] = [
    ("Write latency", "mean", "w mean"),
    ("Write latency", "p99", "w p99"),
    ("Write latency", "p99.9", "w p99.9"),
    ("Read latency", "mean", "r mean"),
    ("Read latency", "p99", "r p99"),
    ("Read latency", "p99.9", "r p99.9"),
    ("Write amplification", "WAF", "WAF"),
    ("Throughput", "IOPS", "IOPS"),
    ("Throughput", "written", "written"),
    ("Requests", "failed", "failed"),
];

/// More schemes than columns fit: one line a scheme, in as many tables as the measures need.
fn transposed(page: &mut Page, labels: &[String], groups: &[Group], eligible: &[bool]) {
    let find = |group: &str, label: &str| {
        groups.iter().find(|g| g.title == group).and_then(|g| g.rows.iter().find(|r| r.is(label)))
    };
    let names: Vec<Vec<String>> = labels.iter().map(|l| broken(l, page.width / 3)).collect();
    let stub = names.iter().flatten().map(|l| l.width()).max().unwrap_or(0);
    let shown: Vec<(&Row, &str, usize)> = KEY
        .iter()
        .filter_map(|(group, label, title)| {
            let row = find(group, label)?;
            let texts = row.texts();
            let widths = texts.iter().map(|t| t.width()).chain([title.width(), row.unit().sign.width()]);
            Some((row, *title, widths.max().unwrap_or(0) + 3))
        })
        .collect();
    let mut rest = shown.as_slice();
    while !rest.is_empty() {
        let mut width = stub;
        let fits = rest.iter().take_while(|(_, _, wide)| {
            width += wide;
            width <= page.width
        });
        let (these, others) = rest.split_at(fits.count().max(1));
        by_scheme(page, (stub, &names), these, eligible);
        rest = others;
        if !rest.is_empty() {
            page.blank();
        }
    }
}

/// One table of measures, a line a scheme.
fn by_scheme(
    page: &mut Page,
    (stub, names): (usize, &[Vec<String>]),
    shown: &[(&Row, &str, usize)],
    eligible: &[bool],
) {
    let (mut titles, mut units) = (Line::default(), Line::default());
    titles.pad_to(stub);
    units.pad_to(stub);
    for (row, title, width) in shown {
        let end = titles.width + width;
        titles.right(title, end - 1, Look::Bold);
        titles.pad_to(end);
        units.right(row.unit().sign, end - 1, Look::Dim);
        units.pad_to(end);
    }
    page.push(titles);
    if shown.iter().any(|(row, _, _)| !row.unit().sign.is_empty()) {
        page.push(units);
    }
    for (i, name) in names.iter().enumerate() {
        let (last, before) = name.split_last().map_or(("", &[][..]), |(l, b)| (l.as_str(), b));
        before.iter().for_each(|part| page.push(Line::of(part, Look::Plain)));
        let mut line = Line::of(last, Look::Plain);
        line.pad_to(stub);
        for (row, _, width) in shown {
            let end = line.width + width;
            let best = row.best(eligible)[i];
            line.right(&row.texts()[i], end - 1, if best { Look::Best } else { Look::Plain });
            line.add(if best && !page.colour { "*" } else { " " }, Look::Plain);
        }
        page.push(line);
    }
}

fn indent(row: &Row) -> &'static str {
    if row.part { "    " } else { "  " }
}

fn ratio_text(row: &Row, run: usize) -> Option<String> {
    row.against(run, 0).map(|text| if text.contains('%') { text } else { format!("({text})") })
}

/// A number before its decimal point, and from it on.
fn split(text: &str) -> (&str, &str) {
    text.split_at(text.find('.').unwrap_or(text.len()))
}

/// The text in at most `width` columns, with an ellipsis where something is missing. Control
/// characters are dropped: a name cannot move the cursor.
fn cut(text: &str, width: usize) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control()).collect();
    if clean.width() <= width {
        return clean;
    }
    let mut out = String::new();
    let mut used = 1;
    for c in clean.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        out.push(c);
    }
    if width > 0 {
        out.push('…');
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Bold,
    Dim,
    Best,
}

/// One line as segments, with its width so far.
#[derive(Default)]
struct Line {
    segments: Vec<(String, Look)>,
    width: usize,
}

impl Line {
    fn of(text: &str, look: Look) -> Line {
        let mut line = Line::default();
        line.add(text, look);
        line
    }

    fn add(&mut self, text: &str, look: Look) {
        let clean: String = text.chars().filter(|c| !c.is_control()).collect();
        let clean = clean.replace(number::NO_BREAK, " ");
        self.width += clean.width();
        match self.segments.last_mut() {
            Some((text, before)) if *before == look => text.push_str(&clean),
            _ => self.segments.push((clean, look)),
        }
    }

    fn pad_to(&mut self, width: usize) {
        self.add(&" ".repeat(width.saturating_sub(self.width)), Look::Plain);
    }

    /// Add text so that it ends before column `end`.
    fn right(&mut self, text: &str, end: usize, look: Look) {
        self.pad_to(end.saturating_sub(text.width()));
        self.add(text, look);
    }
}

pub(crate) struct Page {
    text: String,
    colour: bool,
    width: usize,
}

impl Page {
    pub(crate) fn new(style: TerminalStyle) -> Page {
        Page { text: String::new(), colour: style.colour, width: style.width.max(40) }
    }

    /// Columns of text.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// A line as it is, cut at the width.
    pub(crate) fn line(&mut self, text: &str, look: Look) {
        self.push(Line::of(text, look));
    }

    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A line that is copied and must not be cut: it may be longer than the terminal is wide.
    fn verbatim(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn push(&mut self, line: Line) {
        let mut room = self.width;
        let mut out = String::new();
        for (text, look) in &line.segments {
            let text = cut(text, room);
            room -= text.width();
            let code = match look {
                _ if !self.colour || text.trim().is_empty() => "",
                Look::Plain => "",
                Look::Bold => "\x1b[1m",
                Look::Dim => "\x1b[2m",
                Look::Best => "\x1b[1;32m",
            };
            out.push_str(code);
            out.push_str(&text);
            if !code.is_empty() {
                out.push_str("\x1b[0m");
            }
        }
        self.text.push_str(out.trim_end());
        self.text.push('\n');
    }

    /// A paragraph, its later lines indented to where the text after `head` began.
    pub(crate) fn wrap(&mut self, head: &str, text: &str, look: Look) {
        let mut line = Line::of(head, Look::Bold);
        let start = line.width;
        let mut first = true;
        for word in text.split(' ').filter(|w| !w.is_empty()) {
            let space = usize::from(!first);
            if !first && line.width + space + word.width() > self.width {
                let done = std::mem::take(&mut line);
                self.push(done);
                line.pad_to(start);
                first = true;
            }
            line.add(if first { "" } else { " " }, look);
            line.add(word, look);
            first = false;
        }
        self.push(line);
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}
