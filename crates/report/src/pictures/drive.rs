//! What the drive was at: how busy each die and bus was, how often blocks were erased, and a map of the
//! blocks, which the page's script moves through time.

use crate::pictures::cast::Cast;
use crate::pictures::figure::{Csv, Figure, WIDTH, data};
use crate::pictures::palette;
use crate::pictures::panels::{Panel, Panels, RIGHT, TOGETHER};
use crate::pictures::svg::{Anchor, Canvas, Scale, ScaleKind, drawn, escape, px, tick_text};
use crate::schema::blocks::{BlockKind, BlockMap, Utilisation};
use crate::schema::report::Report;
use crate::words::names::mode_title;
use crate::words::number;
use std::collections::BTreeMap;
use std::fmt::Write;

const LEFT: f64 = 44.0;
/// Where strips begin, below the note of what is drawn.
const TOP: f64 = 20.0;

/// More dies than this are too narrow to be told apart.
const DIES_MAX: usize = 128;

/// What one array of the drive serves, as its report's utilization lists them: a die, or a plane by itself.
fn array(report: &Report) -> &'static str {
    match report.config.pointer("/device/parallel_unit").and_then(serde_json::Value::as_str) {
        Some("plane") => "plane",
        _ => "die",
    }
}

/// How busy each die (or plane) and each bus was, a bar each.
pub(crate) fn busy(cast: &Cast) -> Option<Figure> {
    let shown: Vec<_> = (0..cast.reports.len())
        .filter_map(|run| Some((run, cast.reports[run].utilisation.as_ref()?)))
        .filter(|(_, u)| !u.dies.is_empty() && u.dies.len() <= DIES_MAX)
        .collect();
    let most = shown.iter().map(|(_, u)| u.dies.len() + u.buses.len() + 1).max()?;
    let arrays = array(&cast.reports[shown.first()?.0]);
    let note = |u: &Utilisation| {
        format!("{arrays}s {:.1} %, buses {:.1} %", u.dies_mean * 100.0, u.buses_mean * 100.0)
    };
    let notes: Vec<String> = shown.iter().map(|(_, u)| note(u)).collect();
    let runs: Vec<usize> = shown.iter().map(|(run, _)| *run).collect();
    let panels = Panels::new(&cast.labels, &runs, &notes, (TOP, LEFT));
    let (_, bottom) = panels.span();
    let mut c = Canvas::new(WIDTH, bottom + 26.0);
    let mut csv = Csv::new("scheme,resource,number,busy_fraction");
    c.text("note", (0.0, 12.0), Anchor::Start, "busy (%)");
    for (k, (run, u)) in shown.iter().enumerate() {
        let panel = panels.at(k);
        let step = (panel.right - panel.left) / most as f64;
        let size = (step * 0.78).max(step - 3.0);
        let y = Scale { kind: ScaleKind::Linear, min: 0.0, max: 100.0, from: panel.bottom, to: panel.top };
        scale_of(&mut c, &y, panel.ticks(), &panel);
        let ink = &cast.inks[*run];
        let mut x = panel.left + (step - size) / 2.0;
        for (what, all) in [(arrays, &u.dies), ("bus", &u.buses)] {
            for (i, share) in all.iter().enumerate() {
                let at = y.at(share * 100.0);
                let label = &cast.labels[*run];
                let says = format!("{label}: {what} {i} busy {:.1} % of the time", share * 100.0);
                c.bar(&ink.class, &ink.colour, (x, at), (size, y.from - at), &says);
                csv.row(&[label, what, &i.to_string()], &[Some(*share)]);
                x += step;
            }
            x += step; // arrays and buses stand apart
        }
        panels.head(&mut c, cast.named(), (k, *run), &notes[k]);
        if panel.last {
            let dies = panel.left + step * u.dies.len() as f64 / 2.0;
            c.text("tick", (dies, panel.bottom + 17.0), Anchor::Middle, &format!("{arrays}s"));
            c.text("tick", (panel.right, panel.bottom + 17.0), Anchor::End, "buses");
        }
    }
    let title = format!("Utilization of {arrays}s and buses");
    Some(Figure {
        name: "busy-dies-and-buses".into(),
        caption: format!(
            "From time 0 to the last completion: {arrays}s by number, then channel buses.{}",
            if panels.are_strips() { " The means follow each name." } else { "" }
        ),
        svg: c.finish(&title, &data("bars", &[])),
        title,
        csv: csv.into_text(),
    })
}

/// The lines of a scale, with their values at the left.
fn scale_of(c: &mut Canvas, y: &Scale, ticks: usize, panel: &Panel) {
    for tick in y.ticks(ticks) {
        c.line(
            if tick.value == 0.0 { "axis" } else { "grid" },
            (panel.left, tick.at),
            (panel.right, tick.at),
        );
        if panel.first {
            c.text("tick", (panel.left - 6.0, tick.at + 4.0), Anchor::End, &tick_text(tick.value));
        }
    }
}

/// A picture of wear for each mode that any run's blocks are in.
pub(crate) fn wear(cast: &Cast) -> Vec<Option<Figure>> {
    let names = [("slc", "wear-slc"), ("mlc", "wear-mlc"), ("tlc", "wear-tlc"), ("qlc", "wear-qlc")];
    names.into_iter().map(|(mode, name)| wear_of(cast, mode, name)).collect()
}

fn wear_of(cast: &Cast, mode: &str, name: &'static str) -> Option<Figure> {
    let shown: Vec<_> = (0..cast.reports.len())
        .filter_map(|run| Some((run, cast.reports[run].wear_histogram.get(mode)?)))
        .filter(|(_, h)| !h.blocks.is_empty())
        .collect();
    let end = |h: &crate::schema::blocks::WearHistogram| (h.from + h.width * h.blocks.len() as u64) as f64;
    let last = shown.iter().map(|(_, h)| end(h)).fold(0.0, f64::max);
    let first = shown.iter().map(|(_, h)| h.from as f64).fold(f64::INFINITY, f64::min);
    // Where nothing was erased there is nothing to be seen.
    if shown.is_empty() || (first == 0.0 && last <= 1.0) {
        return None;
    }
    let most = shown.iter().flat_map(|(_, h)| &h.blocks).copied().max().unwrap_or(1) as f64;
    let notes: Vec<String> =
        shown.iter().map(|(_, h)| format!("{} blocks", number::count(h.blocks.iter().sum()))).collect();
    let runs: Vec<usize> = shown.iter().map(|(run, _)| *run).collect();
    let panels = Panels::new(&cast.labels, &runs, &notes, (TOP, LEFT));
    let (_, bottom) = panels.span();
    let title = format!("Wear of {} blocks", mode_title(mode));
    let mut c = Canvas::new(WIDTH, bottom + 42.0);
    let mut csv = Csv::new("scheme,cycles_from,cycles_to,blocks");
    c.text("note", (0.0, 12.0), Anchor::Start, "blocks");
    for (k, (run, h)) in shown.iter().enumerate() {
        let panel = panels.at(k);
        let x = Scale { kind: ScaleKind::Linear, min: first, max: last, from: panel.left, to: panel.right };
        let y = Scale::from_zero(most, panel.ticks(), panel.bottom, panel.top);
        scale_of(&mut c, &y, panel.ticks(), &panel);
        let ink = &cast.inks[*run];
        for (i, n) in h.blocks.iter().enumerate() {
            let from = h.from + i as u64 * h.width;
            let to = from + h.width;
            csv.row(&[&cast.labels[*run]], &[Some(from as f64), Some((to - 1) as f64), Some(*n as f64)]);
            if *n == 0 {
                continue;
            }
            let cycles = if h.width == 1 { from.to_string() } else { format!("{from} to {}", to - 1) };
            let says = format!("{}: {} blocks of {cycles} cycles", cast.labels[*run], number::count(*n));
            let (left, right, at) = (x.at(from as f64), x.at(to as f64), y.at(*n as f64));
            let width = (right - left - 0.6).max(0.8);
            c.bar(&ink.class, &ink.colour, (left, at), (width, y.from - at), &says);
        }
        panels.head(&mut c, cast.named(), (k, *run), &notes[k]);
        if panel.last {
            for tick in x.ticks(if panels.are_strips() { 5 } else { 2 }) {
                c.line("axis", (tick.at, panel.bottom), (tick.at, panel.bottom + 4.0));
                c.text("tick", (tick.at, panel.bottom + 17.0), Anchor::Middle, &tick_text(tick.value));
            }
        }
    }
    c.text("note", (RIGHT, bottom + 35.0), Anchor::End, "program/erase cycles at the end");
    Some(Figure {
        name: name.into(),
        caption: "Blocks by number of P/E cycles; the narrower, the more even the wear.".to_string(),
        svg: c.finish(&title, &data("bars", &[])),
        title,
        csv: csv.into_text(),
    })
}

/// Between two maps beside each other.
const BETWEEN: f64 = 14.0;

/// The most cells beside each other.
const COLUMNS: u32 = 96;

/// The color of a cell, the class by which the page changes it, and what the legend calls it.
fn ink_of(kind: &BlockKind) -> (String, String, String) {
    match kind.state.as_str() {
        "erased" => ("#e3e6ea".into(), "b-erased".into(), "erased".into()),
        "emptied" => (palette::cause("gc").into(), "b-emptied".into(), "being emptied".into()),
        "retired" => ("#1d232b".into(), "b-retired".into(), "retired".into()),
        _ => (palette::mode(&kind.mode).into(), "b-mode".into(), mode_title(&kind.mode)),
    }
}

/// The map at the end of the run, with what the page's script needs for any other time.
pub(crate) fn blocks(cast: &Cast) -> Option<Figure> {
    let shown: Vec<(usize, &BlockMap)> = (0..cast.reports.len())
        .map(|run| (run, &cast.reports[run].block_map))
        .filter(|(_, map)| {
            map.frames.iter().all(|f| f.cells.len() == cells_of(map) && f.live.len() == f.cells.len())
        })
        .filter(|(_, map)| !map.frames.is_empty() && cells_of(map) > 0)
        .collect();
    let widest = shown.iter().flat_map(|(_, m)| &m.rows).map(|r| r.cells.min(COLUMNS)).max()?;
    let lines = |map: &BlockMap| map.rows.iter().map(|r| r.cells.div_ceil(COLUMNS)).sum::<u32>();
    let tallest = shown.iter().map(|(_, map)| lines(map)).max()?;
    // Several maps stand in two columns.
    let columns = if shown.len() > 1 { 2 } else { 1 };
    let span = (WIDTH - 2.0 - BETWEEN * (columns - 1) as f64) / columns as f64;
    let room = match shown.len() {
        1 => 140.0,
        2..=TOGETHER => 70.0,
        _ => 32.0,
    };
    let (wide, high) = (span / widest as f64, (room / tallest as f64).clamp(3.0, 12.0));
    let names: Vec<Vec<String>> = shown.iter().map(|(run, _)| drawn(&cast.labels[*run], span)).collect();
    let in_row = |k: usize| k - k % columns..(k - k % columns + columns).min(names.len());
    let head = |k: usize| in_row(k).map(|k| names[k].len()).max().unwrap_or(1) as f64 * 15.0 + 6.0;
    let end = |k: usize| head(k) + in_row(k).map(|k| lines(shown[k].1)).max().unwrap_or(0) as f64 * high;
    let height: f64 = (0..shown.len()).step_by(columns).map(|k| end(k) + 12.0).sum();
    let mut c = Canvas::new(WIDTH, height + 26.0);
    let mut csv = Csv::new("scheme,time_s,region,mode,state,cells");
    let mut legend: Vec<(String, String, String)> = vec![];
    let mut top = 0.0;
    for (k, (run, map)) in shown.iter().enumerate() {
        let ink = &cast.inks[*run];
        let left = (k % columns) as f64 * (span + BETWEEN);
        for (n, line) in names[k].iter().enumerate() {
            let (class, at) = (format!("name {}", ink.class), (left, top + 14.0 + 15.0 * n as f64));
            c.coloured_text(&class, &ink.colour, at, Anchor::Start, line);
        }
        let from = top + head(k);
        let frames = thin(map, cast.points);
        for frame in frames.iter().copied() {
            count(&mut csv, &cast.labels[*run], map, frame);
        }
        for kind in &map.legend {
            let ink = ink_of(kind);
            if !legend.contains(&ink) {
                legend.push(ink);
            }
        }
        c.raw(&format!(
            r#"<g class="map" transform="translate({left} {}) scale({wide:.4} {})" data-name="{}" data-left="{left}" data-top="{}" data-wide="{wide:.4}" data-high="{}" data-columns="{COLUMNS}" data-rows="{}" data-legend="{}" data-frames="{}">{}</g>"#,
            px(from + (high - 1.0) / 2.0),
            px(high),
            escape(&cast.labels[*run]),
            px(from),
            px(high),
            rows_data(map),
            escape(&legend_data(map)),
            frames_data(map, &frames),
            last_frame(map, high),
            left = px(left),
        ));
        if k % columns + 1 == columns {
            top += end(k) + 12.0;
        }
    }
    top = height;
    let mut x = 0.0;
    for (colour, class, title) in &legend {
        c.raw(&format!(
            r#"<rect class="{class}" fill="{colour}" x="{}" y="{}" width="10" height="10" rx="2"/>"#,
            px(x),
            px(top + 8.0)
        ));
        c.text("tick", (x + 15.0, top + 17.0), Anchor::Start, title);
        x += 15.0 + crate::pictures::svg::text_width(title) + 16.0;
    }
    let samples = shown.iter().any(|(_, map)| map.rows.iter().any(|r| r.every > 1));
    let sampled = if samples { " Each cell is one block, sampled from its neighbors." } else { "" };
    Some(Figure {
        name: "block-map".into(),
        title: "Blocks over time".to_string(),
        caption: format!(
            "Each row is a plane, in block order; the fainter a block, the fewer valid pages it \
             has.{sampled} The slider selects the time; it starts at the end of the run."
        ),
        svg: c.finish("Blocks over time", &data("blocks", &[])),
        csv: csv.into_text(),
    })
}

fn cells_of(map: &BlockMap) -> usize {
    map.rows.iter().map(|r| r.cells as usize).sum()
}

/// As many frames as a page has room for, the first and the last among them.
fn thin(map: &BlockMap, points: usize) -> Vec<usize> {
    let most = (points / 12).clamp(4, 64);
    let last = map.frames.len() - 1;
    let step = map.frames.len().div_ceil(most).max(1);
    let mut frames: Vec<usize> = (0..last).step_by(step).collect();
    frames.push(last);
    frames
}

fn rows_data(map: &BlockMap) -> String {
    let rows = map.rows.iter().map(|r| format!("{} {} {} {}", r.plane, r.first_block, r.every, r.cells));
    rows.collect::<Vec<_>>().join(";")
}

/// Region, mode, state, and the color and class that a picture by modes gives each.
fn legend_data(map: &BlockMap) -> String {
    let kinds = map.legend.iter().map(|kind| {
        let (colour, class, _) = ink_of(kind);
        let [region, mode, state] =
            [&kind.region, &kind.mode, &kind.state].map(|text| text.replace([';', '|'], " "));
        format!("{region}|{mode}|{state}|{colour}|{class}")
    });
    kinds.collect::<Vec<_>>().join(";")
}

fn frames_data(map: &BlockMap, frames: &[usize]) -> String {
    let frames = frames.iter().map(|i| {
        let f = &map.frames[*i];
        format!("{} {} {}", f.at_ns, f.cells, f.live)
    });
    frames.collect::<Vec<_>>().join(";")
}

/// Blocks of the map by kind, at one time.
fn count(csv: &mut Csv, label: &str, map: &BlockMap, frame: usize) {
    let frame = &map.frames[frame];
    for (i, kind) in map.legend.iter().enumerate() {
        let letter = BlockMap::letter(i);
        let cells = frame.cells.chars().filter(|c| *c == letter).count();
        let numbers = [Some(cells as f64)];
        let time = seconds_of(frame.at_ns);
        csv.row(&[label, &time, &kind.region, &kind.mode, &kind.state], &numbers);
    }
}

/// How many shades tell how much of a block is live.
const SHADES: u32 = 5;

/// The cells of the last frame: thick lines in units of cells, a path for each color and shade.
fn last_frame(map: &BlockMap, high: f64) -> String {
    let Some(frame) = map.frames.last() else { return String::new() };
    let mut paths: BTreeMap<(usize, u32), String> = BTreeMap::new();
    let mut cells = frame.cells.chars().zip(frame.live.chars());
    let look = |(letter, live): (char, char)| -> Option<(usize, u32)> {
        let kind = (0..map.legend.len()).find(|k| BlockMap::letter(*k) == letter)?;
        let owned = matches!(map.legend[kind].state.as_str(), "open" | "full");
        Some((kind, if owned { live.to_digit(10)? / 2 } else { SHADES - 1 }))
    };
    let mut line = 0;
    for row in &map.rows {
        let looks: Vec<_> = cells.by_ref().take(row.cells as usize).map(look).collect();
        for all in looks.chunks(COLUMNS as usize) {
            let mut column = 0;
            for alike in all.chunk_by(|a, b| a == b) {
                if let Some(key) = alike[0] {
                    let _ = write!(paths.entry(key).or_default(), "M{column} {line}h{}", alike.len());
                }
                column += alike.len();
            }
            line += 1;
        }
    }
    let draw = |((kind, shade), d): (&(usize, u32), &String)| {
        let (colour, class, _) = ink_of(&map.legend[*kind]);
        let opacity = 0.25 + 0.75 * *shade as f64 / (SHADES - 1) as f64;
        format!(
            r#"<path class="{class}" stroke="{colour}" stroke-opacity="{opacity:.2}" stroke-width="{:.3}" d="{d}"/>"#,
            thickness(high)
        )
    };
    paths.iter().map(draw).collect()
}

/// How thick a line of cells is, in units of a line, so that a gap of a pixel stays below it.
fn thickness(high: f64) -> f64 {
    1.0 - 1.0 / high
}

/// Nanoseconds as seconds, exactly.
fn seconds_of(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
