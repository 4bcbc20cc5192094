//! Stacked bars, one a scheme: the bytes programmed by cause and by region, in units of what the
//! host wrote, so that a bar's length is the WAF; and the erases by cell mode. Parts lie in the
//! same order in every bar, and zero is on the axis.

use crate::pictures::cast::Cast;
use crate::pictures::figure::{Csv, Figure, WIDTH, data};
use crate::pictures::palette;
use crate::pictures::panels::TOGETHER;
use crate::pictures::svg::{Anchor, Canvas, Scale, drawn, text_width, tick_text};
use crate::schema::activity::REPROGRAM;
use crate::schema::estimate::Estimate;
use crate::schema::replicas;
use crate::schema::report::Report;
use crate::words::figures::terms::latency_part;
use crate::words::names::{cause_title, mode_title, modes};
use crate::words::number::{self, Quantity};
use std::collections::BTreeMap;
use wordline_units::CellMode;

const LEFT: f64 = 2.0;
const RIGHT: f64 = WIDTH - 56.0;
/// The same where there is the interval to be written too.
const RIGHT_OF_WHISKERS: f64 = WIDTH - 104.0;
/// A line of a name.
const LINE: f64 = 15.0;

/// A part of a bar.
struct Part {
    key: String,
    class: String,
    colour: &'static str,
    title: String,
    /// What its color stands for, where several parts have it.
    hue: String,
    /// Of each run, the mean of its replicas.
    values: Vec<f64>,
    /// Half the width of the interval of each.
    spreads: Vec<Option<f64>>,
    /// More about the part of each run.
    notes: Vec<String>,
}

struct Chart<'a> {
    name: &'static str,
    title: &'a str,
    caption: &'a str,
    axis: &'a str,
    column: &'a str,
    quantity: Quantity,
    /// A value to be marked.
    reference: Option<f64>,
    parts: Vec<Part>,
    /// Half the width of the interval of each whole bar.
    spreads: Vec<Option<f64>>,
}

/// The mean of a value of each run over its replicas, and half the width of its interval.
fn over_replicas(cast: &Cast, value: impl Fn(&Report) -> f64) -> (Vec<f64>, Vec<Option<f64>>) {
    let value = |r: &Report| Some(value(r));
    let half_width = |r: &Report| {
        let values: Vec<f64> = replicas::samples(r, &value).iter().map(|(_, v)| *v).collect();
        Estimate::of(&values)?.half_width_95.filter(|h| *h > 0.0)
    };
    let means = cast.reports.iter().map(|r| replicas::mean(r, &value).unwrap_or(0.0)).collect();
    (means, cast.reports.iter().map(half_width).collect())
}

pub(crate) fn by_cause(cast: &Cast) -> Option<Figure> {
    let mut keys: Vec<String> = palette::stack().iter().map(|k| k.to_string()).collect();
    for key in crate::words::names::causes(cast.reports) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let parts = keys
        .into_iter()
        .map(|key| {
            let known = palette::stack().contains(&key.as_str());
            let (values, spreads) = over_replicas(cast, |r| cause(r, &key));
            Part {
                class: if known { format!("c-{key}") } else { "c-other".to_string() },
                colour: palette::cause(&key),
                title: cause_title(&key).to_string(),
                hue: String::new(),
                values,
                spreads,
                notes: cast.reports.iter().map(|r| cause_note(r, &key)).collect(),
                key,
            }
        })
        .collect();
    draw(
        cast,
        Chart {
            name: "programs-by-cause",
            title: "Bytes programmed, by cause",
            caption: "Relative to host writes in whole mapping pages: the length of a bar is the WAF.",
            axis: "media writes / host writes",
            column: "cause,waf",
            quantity: Quantity::Waf,
            reference: Some(1.0),
            parts,
            spreads: over_replicas(cast, |r| r.waf.as_ref().map_or(0.0, |w| positive(w.total))).1,
        },
    )
}

/// A cause's part of the WAF but for reprogramming, which is a part of its own.
fn cause(r: &Report, key: &str) -> f64 {
    let Some(waf) = &r.waf else { return 0.0 };
    let part = if key == REPROGRAM {
        waf.kind(REPROGRAM)
    } else {
        waf.parts
            .get(key)
            .map_or(0.0, |kinds| kinds.iter().filter(|(k, _)| *k != REPROGRAM).map(|(_, v)| v).sum())
    };
    positive(part)
}

fn cause_note(r: &Report, key: &str) -> String {
    let Some(waf) = r.waf.as_ref().filter(|_| key == REPROGRAM) else { return String::new() };
    let causes: Vec<String> = waf
        .parts
        .iter()
        .filter_map(|(cause, kinds)| {
            Some(format!("{} {}", cause_title(cause), number::significant(*kinds.get(REPROGRAM)?)))
        })
        .collect();
    if causes.is_empty() { String::new() } else { format!(" ({})", causes.join(", ")) }
}

pub(crate) fn by_region(cast: &Cast) -> Option<Figure> {
    let mut regions: Vec<(String, String)> = Vec::new();
    for r in cast.reports {
        for name in by_region_bytes(r).keys() {
            let mode = mode_of(r, name);
            let region = (mode.to_string(), name.to_string());
            if !regions.contains(&region) {
                regions.push(region);
            }
        }
    }
    let rank = |mode: &str| CellMode::ALL.iter().position(|m| m.key() == mode).unwrap_or(9);
    regions.sort_by(|a, b| rank(&a.0).cmp(&rank(&b.0)).then_with(|| a.1.cmp(&b.1)));
    let parts = regions
        .into_iter()
        .map(|(mode, name)| {
            let (values, spreads) = over_replicas(cast, |r| {
                let bytes = by_region_bytes(r).get(name.as_str()).copied().unwrap_or(0);
                let bytes = if mode_of(r, &name) == mode { bytes } else { 0 };
                positive(bytes as f64 / r.host.page_bytes() as f64)
            });
            Part {
                class: mode_class(&mode),
                colour: palette::mode(&mode),
                title: if mode.is_empty() { name.clone() } else { format!("{name} ({})", mode_title(&mode)) },
                hue: mode_title(&mode),
                values,
                spreads,
                notes: Vec::new(),
                key: name,
            }
        })
        .collect();
    draw(
        cast,
        Chart {
            name: "programs-by-region",
            title: "Bytes programmed, by region",
            caption: "The same bytes by region; the color shows the cell mode of the region.",
            axis: "media writes / host writes",
            column: "region,waf",
            quantity: Quantity::Waf,
            reference: Some(1.0),
            parts,
            spreads: over_replicas(cast, |r| {
                positive(by_region_bytes(r).values().sum::<u64>() as f64 / r.host.page_bytes() as f64)
            })
            .1,
        },
    )
}

/// The mode of a region; empty where the report does not tell.
fn mode_of<'a>(r: &'a Report, region: &str) -> &'a str {
    r.capacity.regions.iter().find(|c| c.name == region).map_or("", |c| c.mode.as_str())
}

fn by_region_bytes(r: &Report) -> BTreeMap<&str, u64> {
    let mut out = BTreeMap::new();
    for (name, bytes) in r.flash.program_bytes.values().flat_map(|kinds| kinds.values()).flatten() {
        *out.entry(name.as_str()).or_insert(0) += bytes;
    }
    out
}

pub(crate) fn erases(cast: &Cast) -> Option<Figure> {
    let parts = modes(cast.reports)
        .into_iter()
        .map(|key| {
            let (values, spreads) =
                over_replicas(cast, |r| r.flash.erases.get(&key).copied().unwrap_or(0) as f64);
            Part {
                class: mode_class(&key),
                colour: palette::mode(&key),
                title: mode_title(&key),
                hue: String::new(),
                values,
                spreads,
                notes: Vec::new(),
                key,
            }
        })
        .collect();
    draw(
        cast,
        Chart {
            name: "erases-by-mode",
            title: "Blocks erased, by cell mode",
            caption: "Each erase counts as one P/E cycle in the current cell mode of the block.",
            axis: "blocks erased",
            column: "mode,erases",
            quantity: Quantity::Count,
            reference: None,
            parts,
            spreads: over_replicas(cast, |r| r.flash.erases.values().sum::<u64>() as f64).1,
        },
    )
}

pub(crate) fn write_parts(cast: &Cast) -> Option<Figure> {
    let (name, title) = ("write-latency-parts", "Write latency breakdown");
    latency_parts(cast, name, title, |r| &r.latency_parts_us.write)
}

pub(crate) fn read_parts(cast: &Cast) -> Option<Figure> {
    let (name, title) = ("read-latency-parts", "Read latency breakdown");
    latency_parts(cast, name, title, |r| &r.latency_parts_us.read)
}

fn latency_parts(
    cast: &Cast,
    name: &'static str,
    title: &str,
    pick: fn(&Report) -> &BTreeMap<String, f64>,
) -> Option<Figure> {
    let parts = palette::LATENCY_PARTS
        .into_iter()
        .map(|(key, colour)| {
            let (values, spreads) = over_replicas(cast, |r| pick(r).get(key).copied().unwrap_or(0.0));
            Part {
                class: format!("l-{}", key.replace('_', "-")),
                colour,
                title: latency_part(key),
                hue: String::new(),
                values,
                spreads,
                notes: Vec::new(),
                key: key.to_string(),
            }
        })
        .collect();
    draw(
        cast,
        Chart {
            name,
            title,
            caption: "Mean latency, split by what the last page of a request waited for and by the resources that processed it.",
            axis: "mean latency",
            column: "part,mean_us",
            quantity: Quantity::Latency,
            reference: None,
            parts,
            spreads: over_replicas(cast, |r| pick(r).values().sum()).1,
        },
    )
}

fn mode_class(mode: &str) -> String {
    if CellMode::ALL.iter().any(|m| m.key() == mode) { format!("m-{mode}") } else { "c-other".to_string() }
}

fn positive(x: f64) -> f64 {
    if x.is_finite() && x > 0.0 { x } else { 0.0 }
}

fn draw(cast: &Cast, mut chart: Chart) -> Option<Figure> {
    chart.parts.retain(|p| p.values.iter().any(|v| *v > 0.0));
    let total = |run: usize| chart.parts.iter().map(|p| p.values[run]).sum::<f64>();
    let end = |run: usize| total(run) + chart.spreads[run].unwrap_or(0.0);
    let most = (0..cast.reports.len()).map(end).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let unit = chart.quantity.unit_for(std::iter::once(most));
    let legend = Legend::new(&chart.parts);
    let top = legend.rows as f64 * 18.0 + 14.0;
    // Many bars are thin, and their parts are told when pointed at.
    let bar = if cast.reports.len() > TOGETHER { 13.0 } else { 24.0 };
    let names: Vec<Vec<String>> = cast.labels.iter().map(|l| drawn(l, WIDTH - LEFT - 8.0)).collect();
    let pitch = |run: usize| LINE * names[run].len() as f64 + bar + if bar > 20.0 { 13.0 } else { 8.0 };
    let bottom = top + (0..names.len()).map(pitch).sum::<f64>();
    let whiskers = chart.spreads.iter().any(Option::is_some);
    let right = if whiskers { RIGHT_OF_WHISKERS } else { RIGHT };
    let x = Scale::from_zero(most / unit.size, 5, LEFT, right);
    let mut c = Canvas::new(WIDTH, bottom + 38.0);
    for (class, colour, title, at) in &legend.entries {
        c.swatch(class, colour, (at.0, at.1 + 1.0));
        c.text("tick", (at.0 + 15.0, at.1 + 10.0), Anchor::Start, title);
    }
    for tick in x.ticks(5) {
        c.line(if tick.value == 0.0 { "axis" } else { "grid" }, (tick.at, top), (tick.at, bottom));
        c.text("tick", (tick.at.max(5.0), bottom + 15.0), Anchor::Middle, &tick_text(tick.value));
    }
    let axis =
        if unit.sign.is_empty() { chart.axis.to_string() } else { format!("{} ({})", chart.axis, unit.sign) };
    c.text("note", (right, bottom + 32.0), Anchor::End, &axis);
    let mut y = top;
    for (run, label) in cast.labels.iter().enumerate() {
        let ink = &cast.inks[run];
        for (n, line) in names[run].iter().enumerate() {
            let at = (LEFT + 4.0, y + LINE * (n + 1) as f64);
            c.coloured_text(&format!("name {}", ink.class), &ink.colour, at, Anchor::Start, line);
        }
        let from_top = y + LINE * names[run].len() as f64 + 5.0;
        let middle = from_top + bar / 2.0;
        // The mark stands above and below the bar, clear of the name.
        if let Some(value) = chart.reference.filter(|r| *r < x.max) {
            c.line("mark", (x.at(value), from_top - 3.0), (x.at(value), from_top + bar + 3.0));
        }
        y += pitch(run);
        let mut sum = 0.0;
        for part in chart.parts.iter().filter(|p| p.values[run] > 0.0) {
            let (from, to) = (x.at(sum / unit.size), x.at((sum + part.values[run]) / unit.size));
            let note = part.notes.get(run).map_or("", String::as_str);
            let value = chart.quantity.show(part.values[run]);
            let says = format!("{label}: {} {value}{note}", part.title);
            // A hair of ground between the parts keeps them apart without color.
            let width = (to - from - 1.0).max(0.6);
            c.bar(&part.class, part.colour, (from, from_top), (width, bar), &says);
            let inside = chart.quantity.text(part.values[run], unit);
            if bar > 20.0 && width > text_width(&inside) + 8.0 {
                let at = (from + width / 2.0, middle + 4.0);
                c.coloured_text("inside", palette::text_on(part.colour), at, Anchor::Middle, &inside);
            }
            sum += part.values[run];
        }
        let spread = chart.spreads[run].filter(|_| sum > 0.0);
        let says = match (spread, sum > 0.0) {
            (Some(half), _) => {
                let (value, half) = chart.quantity.with_spread(sum, Some(half), unit);
                format!("{value} ± {half}")
            }
            (None, true) => chart.quantity.text(sum, unit),
            (None, false) => number::NONE.to_string(),
        };
        let mut end = x.at(sum / unit.size);
        if let Some(half) = spread {
            let (low, high) = (x.at((sum - half) / unit.size), x.at((sum + half) / unit.size));
            c.line("mark", (low, middle), (high, middle));
            for at in [low, high] {
                c.line("mark", (at, middle - 5.0), (at, middle + 5.0));
            }
            end = high;
        }
        c.text("name value", (end + 6.0, middle + 4.0), Anchor::Start, &says);
    }
    let interval = if whiskers { ",half_width_95" } else { "" };
    let mut caption = chart.caption.to_string();
    let mut csv = Csv::new(&format!("scheme,{}{interval}", chart.column));
    for (run, label) in cast.labels.iter().enumerate() {
        let mut row = |key: &str, value: f64, spread: Option<f64>| match whiskers {
            true => csv.row(&[label, key], &[Some(value), spread]),
            false => csv.row(&[label, key], &[Some(value)]),
        };
        for part in &chart.parts {
            row(&part.key, part.values[run], part.spreads[run]);
        }
        if whiskers {
            row("total", total(run), chart.spreads[run]);
        }
    }
    if whiskers {
        caption.push_str(" The whisker is the 95 % confidence interval of the whole bar.");
    }
    Some(Figure {
        name: chart.name.into(),
        title: chart.title.to_string(),
        caption,
        svg: c.finish(chart.title, &data("bars", &[])),
        csv: csv.into_text(),
    })
}

/// Swatches with their texts, one a color, in as many rows as they need.
struct Legend {
    /// Class, color, text and place of each.
    entries: Vec<(String, &'static str, String, (f64, f64))>,
    rows: usize,
}

impl Legend {
    fn new(parts: &[Part]) -> Legend {
        let (mut at, mut row) = (LEFT, 0);
        let mut entries: Vec<(String, &'static str, String, (f64, f64))> = Vec::with_capacity(parts.len());
        for part in parts {
            if entries.iter().any(|(class, ..)| *class == part.class) {
                continue;
            }
            let alike: Vec<&Part> = parts.iter().filter(|p| p.class == part.class).collect();
            let title = match alike.as_slice() {
                [one] => one.title.clone(),
                several => {
                    let keys = several.iter().map(|p| p.key.as_str()).collect::<Vec<_>>().join(", ");
                    if part.hue.is_empty() { keys } else { format!("{}: {keys}", part.hue) }
                }
            };
            let title = short(&title);
            let width = text_width(&title) + 32.0;
            if at > LEFT && at + width > WIDTH {
                (at, row) = (LEFT, row + 1);
            }
            entries.push((part.class.clone(), part.colour, title, (at, row as f64 * 18.0)));
            at += width;
        }
        Legend { entries, rows: row + 1 }
    }
}

/// A name as a picture has room for it; the data have it whole.
fn short(name: &str) -> String {
    const MOST: usize = 44;
    if name.chars().count() <= MOST {
        return name.to_string();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}
