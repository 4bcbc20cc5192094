//! What the drive was at: how busy each die and bus was, how often blocks were erased, and a map of the
//! blocks, which the page's script moves through time.

use super::{Cast, Csv, Figure, data, seconds_of};
use crate::blocks::{BlockKind, BlockMap};
use crate::number;
use crate::palette;
use crate::rows::mode_title;
use crate::svg::{Anchor, Canvas, Scale, ScaleKind, escape, px, tick_text};
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 480.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 468.0;
const TOP: f64 = 42.0;

/// More dies than this are too narrow to be told apart.
const DIES_MAX: usize = 128;

/// Height of a strip and the distance from one to the next.
fn strips(count: usize) -> (f64, f64) {
    let height = match count {
        1 => 150.0,
        2 => 96.0,
        3 => 74.0,
        _ => 56.0,
    };
    (height, height + 30.0)
}

fn strip_name(c: &mut Canvas, cast: &Cast, run: usize, top: f64, note: &str) {
    let ink = &cast.inks[run];
    let class = format!("name {}", ink.class);
    c.coloured_text(&class, &ink.colour, (LEFT, top - 7.0), Anchor::Start, &cast.names[run]);
    if !note.is_empty() {
        c.text("note", (RIGHT, top - 7.0), Anchor::End, note);
    }
}

/// How busy each die and each bus was, a bar each.
pub(super) fn busy(cast: &Cast) -> Option<Figure> {
    let shown: Vec<_> = (0..cast.reports.len())
        .filter_map(|run| Some((run, cast.reports[run].utilisation.as_ref()?)))
        .filter(|(_, u)| !u.dies.is_empty() && u.dies.len() <= DIES_MAX)
        .collect();
    let most = shown.iter().map(|(_, u)| u.dies.len() + u.buses.len() + 1).max()?;
    let (height, pitch) = strips(shown.len());
    let bottom = TOP + pitch * (shown.len() - 1) as f64 + height;
    let mut c = Canvas::new(WIDTH, bottom + 26.0);
    let mut csv = Csv::new("scheme,resource,number,busy_fraction");
    c.text("note", (0.0, 12.0), Anchor::Start, "busy (%)");
    let step = (RIGHT - LEFT) / most as f64;
    let size = (step * 0.78).max(step - 3.0);
    for (k, (run, u)) in shown.iter().enumerate() {
        let top = TOP + k as f64 * pitch;
        let y = Scale { kind: ScaleKind::Linear, min: 0.0, max: 100.0, from: top + height, to: top };
        for tick in y.ticks(if height > 90.0 { 4 } else { 2 }) {
            c.line(if tick.value == 0.0 { "axis" } else { "grid" }, (LEFT, tick.at), (RIGHT, tick.at));
            c.text("tick", (LEFT - 7.0, tick.at + 4.0), Anchor::End, &tick_text(tick.value));
        }
        let ink = &cast.inks[*run];
        let mut x = LEFT + (step - size) / 2.0;
        for (what, all) in [("die", &u.dies), ("bus", &u.buses)] {
            for (i, share) in all.iter().enumerate() {
                let at = y.at(share * 100.0);
                let says =
                    format!("{}: {what} {i} was busy {:.1} % of the time", cast.names[*run], share * 100.0);
                c.bar(&ink.class, &ink.colour, (x, at), (size, y.from - at), &says);
                csv.row(&[&cast.labels[*run], what, &i.to_string()], &[Some(*share)]);
                x += step;
            }
            x += step; // dies and buses stand apart
        }
        let note =
            format!("dies {:.1} %, buses {:.1} % in the mean", u.dies_mean * 100.0, u.buses_mean * 100.0);
        strip_name(&mut c, cast, *run, top, &note);
        if k + 1 == shown.len() {
            let dies = LEFT + step * u.dies.len() as f64 / 2.0;
            c.text("tick", (dies, bottom + 17.0), Anchor::Middle, "dies");
            let buses = LEFT + step * (u.dies.len() as f64 + 1.0 + u.buses.len() as f64 / 2.0);
            c.text("tick", (buses.min(RIGHT - 16.0), bottom + 17.0), Anchor::Middle, "buses");
        }
    }
    Some(Figure {
        name: "busy-dies-and-buses",
        title: "How busy dies and buses were".to_string(),
        caption:
            "From time 0 until the last request had ended. Dies in the order of their numbers, then the \
                  channels' buses."
                .to_string(),
        svg: c.finish("How busy dies and buses were", &data("bars", &[])),
        csv: csv.0,
    })
}

/// A picture of wear for each mode that any run's blocks are in.
pub(super) fn wear(cast: &Cast) -> Vec<Option<Figure>> {
    let names = [("slc", "wear-slc"), ("mlc", "wear-mlc"), ("tlc", "wear-tlc"), ("qlc", "wear-qlc")];
    names.into_iter().map(|(mode, name)| wear_of(cast, mode, name)).collect()
}

fn wear_of(cast: &Cast, mode: &str, name: &'static str) -> Option<Figure> {
    let shown: Vec<_> = (0..cast.reports.len())
        .filter_map(|run| Some((run, cast.reports[run].wear_histogram.get(mode)?)))
        .filter(|(_, h)| !h.blocks.is_empty())
        .collect();
    let end = |h: &crate::WearHistogram| (h.from + h.width * h.blocks.len() as u64) as f64;
    let last = shown.iter().map(|(_, h)| end(h)).fold(0.0, f64::max);
    let first = shown.iter().map(|(_, h)| h.from as f64).fold(f64::INFINITY, f64::min);
    // Where nothing was erased there is nothing to be seen.
    if shown.is_empty() || (first == 0.0 && last <= 1.0) {
        return None;
    }
    let most = shown.iter().flat_map(|(_, h)| &h.blocks).copied().max().unwrap_or(1) as f64;
    let x = Scale { kind: ScaleKind::Linear, min: first, max: last, from: LEFT, to: RIGHT };
    let (height, pitch) = strips(shown.len());
    let bottom = TOP + pitch * (shown.len() - 1) as f64 + height;
    let title = format!("Wear of {} blocks", mode_title(mode));
    let mut c = Canvas::new(WIDTH, bottom + 42.0);
    let mut csv = Csv::new("scheme,cycles_from,cycles_to,blocks");
    c.text("note", (0.0, 12.0), Anchor::Start, "blocks");
    for (k, (run, h)) in shown.iter().enumerate() {
        let top = TOP + k as f64 * pitch;
        let y = Scale::from_zero(most, if height > 90.0 { 4 } else { 2 }, top + height, top);
        for tick in y.ticks(if height > 90.0 { 4 } else { 2 }) {
            c.line(if tick.value == 0.0 { "axis" } else { "grid" }, (LEFT, tick.at), (RIGHT, tick.at));
            c.text("tick", (LEFT - 7.0, tick.at + 4.0), Anchor::End, &tick_text(tick.value));
        }
        let ink = &cast.inks[*run];
        let mut blocks = 0;
        for (i, n) in h.blocks.iter().enumerate() {
            let from = h.from + i as u64 * h.width;
            let to = from + h.width;
            csv.row(&[&cast.labels[*run]], &[Some(from as f64), Some((to - 1) as f64), Some(*n as f64)]);
            blocks += n;
            if *n == 0 {
                continue;
            }
            let cycles = if h.width == 1 { from.to_string() } else { format!("{from} to {}", to - 1) };
            let says = format!("{}: {} blocks of {cycles} cycles", cast.names[*run], number::count(*n));
            let (left, right, at) = (x.at(from as f64), x.at(to as f64), y.at(*n as f64));
            let width = (right - left - 0.6).max(0.8);
            c.bar(&ink.class, &ink.colour, (left, at), (width, y.from - at), &says);
        }
        strip_name(&mut c, cast, *run, top, &format!("{} blocks", number::count(blocks)));
    }
    for tick in x.ticks(6) {
        c.line("axis", (tick.at, bottom), (tick.at, bottom + 4.0));
        c.text("tick", (tick.at, bottom + 17.0), Anchor::Middle, &tick_text(tick.value));
    }
    c.text("note", (RIGHT, bottom + 35.0), Anchor::End, "program/erase cycles at the end");
    Some(Figure {
        name,
        caption: "How many blocks have been erased how often; the narrower, the more even.".to_string(),
        svg: c.finish(&title, &data("bars", &[])),
        title,
        csv: csv.0,
    })
}

/// The most cells beside each other.
const COLUMNS: u32 = 96;

/// The colour of a cell, the class by which the page changes it, and what the legend calls it.
fn ink_of(kind: &BlockKind) -> (String, String, String) {
    match kind.state.as_str() {
        "erased" => ("#e3e6ea".into(), "b-erased".into(), "erased".into()),
        "emptied" => (palette::cause("gc").into(), "b-emptied".into(), "being emptied".into()),
        "retired" => ("#1d232b".into(), "b-retired".into(), "retired".into()),
        _ => (palette::mode(&kind.mode).into(), format!("b-{}", kind.mode), mode_title(&kind.mode)),
    }
}

/// The map at the end of the run, with what the page's script needs for any other time.
pub(super) fn blocks(cast: &Cast) -> Option<Figure> {
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
    let (wide, high) = ((WIDTH - 2.0) / widest as f64, (170.0 / tallest as f64).clamp(5.0, 12.0));
    let end = |map: &BlockMap| TOP - 18.0 + lines(map) as f64 * high;
    let height: f64 = shown.iter().map(|(_, map)| end(map) + 12.0).sum();
    let mut c = Canvas::new(WIDTH, height + 26.0);
    let mut csv = Csv::new("scheme,time_s,region,mode,state,cells");
    let mut legend: Vec<(String, String, String)> = vec![];
    let mut top = 0.0;
    for (run, map) in &shown {
        let ink = &cast.inks[*run];
        let name = format!("name {}", ink.class);
        c.coloured_text(&name, &ink.colour, (0.0, top + 14.0), Anchor::Start, &cast.names[*run]);
        let from = top + TOP - 20.0;
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
            r#"<g class="map" data-name="{}" data-top="{}" data-wide="{wide:.4}" data-high="{}" data-columns="{COLUMNS}" data-rows="{}" data-legend="{}" data-frames="{}">{}</g>"#,
            escape(&cast.labels[*run]),
            px(from),
            px(high),
            rows_data(map),
            escape(&legend_data(map)),
            frames_data(map, &frames),
            last_frame(map, from, wide, high)
        ));
        top += end(map) + 12.0;
    }
    let mut x = 0.0;
    for (colour, class, title) in &legend {
        c.raw(&format!(
            r#"<rect class="{class}" fill="{colour}" x="{}" y="{}" width="10" height="10" rx="2"/>"#,
            px(x),
            px(top + 8.0)
        ));
        c.text("tick", (x + 15.0, top + 17.0), Anchor::Start, title);
        x += 15.0 + crate::svg::text_width(title) + 16.0;
    }
    let samples = shown.iter().any(|(_, map)| map.rows.iter().any(|r| r.every > 1));
    let sampled = if samples { " Each cell is one block, which stands for its neighbours." } else { "" };
    Some(Figure {
        name: "block-map",
        title: "The blocks over time".to_string(),
        caption: format!(
            "Each row is a plane, in the order of its blocks; the paler a block, the less of it is live.{sampled} \
             At the end of the run, unless moved."
        ),
        svg: c.finish("The blocks over time", &data("blocks", &[])),
        csv: csv.0,
    })
}

fn cells_of(map: &BlockMap) -> usize {
    map.rows.iter().map(|r| r.cells as usize).sum()
}

/// As many frames as a page has room for, the first and the last among them.
fn thin(map: &BlockMap, points: usize) -> Vec<usize> {
    let most = (points / 16).clamp(6, 64);
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

/// Region, mode, state, and the colour and class that a picture by modes gives each.
fn legend_data(map: &BlockMap) -> String {
    let kinds = map.legend.iter().map(|kind| {
        let (colour, class, _) = ink_of(kind);
        let region = kind.region.replace([';', '|'], " ");
        format!("{region}|{}|{}|{colour}|{class}", kind.mode, kind.state)
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

/// The cells of the last frame: a path for each colour and shade.
fn last_frame(map: &BlockMap, top: f64, wide: f64, high: f64) -> String {
    let Some(frame) = map.frames.last() else { return String::new() };
    let mut paths: BTreeMap<(usize, u32), String> = BTreeMap::new();
    let mut cells = frame.cells.chars().zip(frame.live.chars());
    let mut y = top;
    for row in &map.rows {
        for i in 0..row.cells {
            let Some((letter, live)) = cells.next() else { break };
            let kind = (0..map.legend.len()).find(|k| BlockMap::letter(*k) == letter);
            if let Some(kind) = kind {
                let shade = live.to_digit(10).unwrap_or(0) / 2;
                let owned = matches!(map.legend[kind].state.as_str(), "open" | "full");
                let path = paths.entry((kind, if owned { shade } else { SHADES - 1 })).or_default();
                let x = (i % COLUMNS) as f64 * wide;
                let at = y + (i / COLUMNS) as f64 * high;
                let _ = write!(path, "M{} {}h{}v{}h-{}z", px(x), px(at), px(wide), px(high - 1.0), px(wide));
            }
        }
        y += row.cells.div_ceil(COLUMNS) as f64 * high;
    }
    let draw = |((kind, shade), d): (&(usize, u32), &String)| {
        let (colour, class, _) = ink_of(&map.legend[*kind]);
        let opacity = 0.25 + 0.75 * *shade as f64 / (SHADES - 1) as f64;
        format!(r#"<path class="{class}" fill="{colour}" fill-opacity="{opacity:.2}" d="{d}"/>"#)
    };
    paths.iter().map(draw).collect()
}
