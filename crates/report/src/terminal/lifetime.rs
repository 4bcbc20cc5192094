//! Lifetimes as a terminal shows them: a row per scheme, and how the drive ages under each.

use crate::schema::lifetime::{Life, LifePhase, Lifetimes};
use crate::terminal::sentences::again;
use crate::terminal::text::{Look, Page, TerminalStyle};
use crate::words::lifetime as text;
use crate::words::lifetime::FIGURES;
use crate::words::number::{self, Quantity, Unit};
use unicode_width::UnicodeWidthStr;

/// A table of text: head, then a cell a row.
struct Column(Vec<String>);

impl Column {
    fn width(&self) -> usize {
        self.0.iter().map(|c| c.width()).max().unwrap_or(0)
    }
}

/// Lifetime under each scheme, the check at half the acceleration, and aging.
pub fn lifetime_table(lifetimes: &Lifetimes, style: TerminalStyle) -> String {
    let mut page = Page::new(style);
    page.wrap("", &text::verdict(lifetimes), Look::Bold);
    let facts: Vec<String> =
        text::facts(lifetimes).into_iter().map(|(what, value)| format!("{what} {value}")).collect();
    page.wrap("", &facts.join(" · "), Look::Dim);
    page.blank();
    let mut names = vec!["scheme".to_string()];
    names.extend(lifetimes.schemes.iter().map(|s| s.scheme.name.clone()));
    let columns = FIGURES.iter().filter_map(|(name, quantity, of)| {
        let values: Vec<_> = lifetimes.schemes.iter().map(|s| text::estimate(s, *of)).collect();
        if values.iter().flatten().all(|e| e.mean == 0.0) {
            return None;
        }
        let unit = quantity.unit_for(values.iter().flatten().map(|e| e.mean));
        let mut column = vec![headed(name, unit)];
        column.extend(values.iter().map(|e| match e {
            Some(e) => {
                let (mean, half) = quantity.with_spread(e.mean, e.half_width_95, unit);
                if half.is_empty() { mean } else { format!("{mean} ± {half}") }
            }
            None => number::NONE.to_string(),
        }));
        Some(Column(column))
    });
    let mut endings = vec!["ended as".to_string()];
    endings.extend(lifetimes.schemes.iter().map(text::endings));
    let columns = columns.chain(std::iter::once(Column(endings)));
    write(&mut page, Column(names), columns.collect());
    if lifetimes.schemes.iter().any(|s| s.lives.len() > 1) {
        page.blank();
        page.wrap(
            "",
            "Mean and 95 % confidence interval (Student's t) over replicas; without an interval, the \
             result does not depend on the seed.",
            Look::Dim,
        );
    }
    let units = AGES.map(|(_, quantity, of)| quantity.unit_for(picked(lifetimes).filter_map(of)));
    for s in &lifetimes.schemes {
        let Some(life) = s.lives.first() else { continue };
        page.blank();
        page.wrap("", &format!("Aging under {} (seed {})", s.scheme.name, life.seed), Look::Bold);
        ages(&mut page, life, &units);
    }
    page.blank();
    let checks = text::checks(lifetimes);
    if checks.is_empty() && !lifetimes.stopped {
        page.wrap("check ", "one erase counts as one cycle: nothing to check.", Look::Plain);
    }
    for text in checks {
        page.wrap("check ", &text.whole(), Look::Plain);
    }
    again(&mut page, Some(lifetimes.command.clone()));
    page.finish()
}

fn headed(name: &str, unit: Unit) -> String {
    if unit.sign.is_empty() { name.to_string() } else { format!("{name} ({})", unit.sign) }
}

/// A column of aging: name, quantity, value.
type AgeFigure = (&'static str, Quantity, fn(&LifePhase) -> Option<f64>);

const AGES: [AgeFigure; 8] = [
    ("blocks retired", Quantity::Count, |p| Some(p.retired_blocks as f64)),
    ("usable", Quantity::Bytes, |p| Some(p.usable_bytes as f64)),
    ("WAF", Quantity::Waf, |p| p.waf),
    ("write mean", Quantity::Latency, |p| Some(p.write?.mean)),
    ("write p99", Quantity::Latency, |p| Some(p.write?.p99)),
    ("read mean", Quantity::Latency, |p| Some(p.read?.mean)),
    ("read p99", Quantity::Latency, |p| Some(p.read?.p99)),
    ("retries", Quantity::Waf, |p| p.retries),
];

/// The phases shown of a lifetime run: the first, those after each quarter of its writes, the last whole one.
fn quarters(life: &Life) -> Vec<&LifePhase> {
    let whole = life.phases.len().saturating_sub(1).max(1).min(life.phases.len());
    let mut at: Vec<usize> = (0..=4).map(|quarter| whole.saturating_sub(1) * quarter / 4).collect();
    at.dedup();
    at.into_iter().filter_map(|i| life.phases.get(i)).collect()
}

/// The phases shown of all lifetime runs, which have one unit in each column.
fn picked(lifetimes: &Lifetimes) -> impl Iterator<Item = &LifePhase> + Clone {
    lifetimes.schemes.iter().filter_map(|s| s.lives.first()).flat_map(quarters)
}

fn ages(page: &mut Page, life: &Life, units: &[Unit]) {
    let phases = quarters(life);
    let mut names = vec!["drive writes".to_string()];
    names.extend(phases.iter().map(|p| number::significant(p.drive_writes)));
    let columns = AGES.iter().zip(units).filter_map(|((name, quantity, of), unit)| {
        let unit = *unit;
        let values: Vec<_> = phases.iter().map(|p| of(p)).collect();
        values.iter().any(Option::is_some).then(|| {
            let text = |v: &Option<f64>| v.map_or(number::NONE.to_string(), |v| quantity.text(v, unit));
            Column(std::iter::once(headed(name, unit)).chain(values.iter().map(text)).collect())
        })
    });
    write(page, Column(names), columns.collect());
}

/// The columns behind the first, in as many tables as the width asks for.
fn write(page: &mut Page, first: Column, columns: Vec<Column>) {
    let mut rest = columns.as_slice();
    while !rest.is_empty() {
        let mut width = first.width();
        let fits = rest.iter().take_while(|c| {
            width += 3 + c.width();
            width <= page.width()
        });
        let (these, others) = rest.split_at(fits.count().max(1));
        for (row, name) in first.0.iter().enumerate() {
            let mut line = format!("{name:<w$}", w = first.width() + name.len() - name.chars().count());
            for column in these {
                let pad = column.width() - column.0[row].width();
                line += &format!("   {}{}", " ".repeat(pad), column.0[row]);
            }
            page.line(&line, if row == 0 { Look::Dim } else { Look::Plain });
        }
        rest = others;
        if !rest.is_empty() {
            page.blank();
        }
    }
}
