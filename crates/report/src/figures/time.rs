//! The run over simulated time. Bursty series get a strip a scheme over one time axis, all on one
//! scale, since they would hide one another; slow ones (WAF, free blocks) lie in one plot and are
//! labelled at their ends.

use super::{Cast, Csv, Figure, data, spread};
use crate::number::{NO_BREAK, Quantity, Unit};
use crate::report::Report;
use crate::series::Timeline;
use crate::svg::{Anchor, Canvas, Scale, ScaleKind, latency_tick, path, text_width, tick_text};

const WIDTH: f64 = 480.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 468.0;

/// A rate of the timeline.
pub(super) struct Rate {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    column: &'static str,
    series: fn(&Timeline) -> &[f64],
}

pub(super) const WRITTEN: Rate = Rate {
    name: "write-throughput-over-time",
    title: "Write throughput over time",
    axis: "written",
    column: "write_mb_per_s",
    series: |t| &t.write_mb_per_s,
};

pub(super) const READ: Rate = Rate {
    name: "read-throughput-over-time",
    title: "Read throughput over time",
    axis: "read",
    column: "read_mb_per_s",
    series: |t| &t.read_mb_per_s,
};

/// A latency of the timeline: mean and longest of each bin.
pub(super) struct LatencySeries {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    columns: &'static str,
    mean: fn(&Timeline) -> &[Option<f64>],
    max: fn(&Timeline) -> &[Option<f64>],
}

pub(super) const WRITE_LATENCY: LatencySeries = LatencySeries {
    name: "write-latency-over-time",
    title: "Write latency over time",
    axis: "write latency, log scale",
    columns: "write_latency_us_mean,write_latency_us_max",
    mean: |t| &t.write_latency_us_mean,
    max: |t| &t.write_latency_us_max,
};

pub(super) const READ_LATENCY: LatencySeries = LatencySeries {
    name: "read-latency-over-time",
    title: "Read latency over time",
    axis: "read latency, log scale",
    columns: "read_latency_us_mean,read_latency_us_max",
    mean: |t| &t.read_latency_us_mean,
    max: |t| &t.read_latency_us_max,
};

/// A slow series of the timeline.
pub(super) struct Slow {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    column: &'static str,
    caption: &'static str,
    series: fn(&Timeline) -> Vec<Option<f64>>,
}

pub(super) const WAF: Slow = Slow {
    name: "waf-over-time",
    title: "Write amplification over time",
    axis: "bytes programmed / bytes written",
    column: "waf",
    caption: "All that was programmed so far over all that the host wrote so far.",
    series: waf_so_far,
};

/// Idle time programs without the host: of a bin by itself that would be without bounds.
fn waf_so_far(t: &Timeline) -> Vec<Option<f64>> {
    let (mut written, mut programmed) = (0.0, 0.0);
    let bins = t.write_page_mb_per_s.iter().zip(&t.programmed_mb_per_s);
    bins.map(|(host, all)| {
        written += host;
        programmed += all;
        (written > 0.0).then(|| programmed / written)
    })
    .collect()
}

pub(super) const FREE_BLOCKS: Slow = Slow {
    name: "free-blocks-over-time",
    title: "Free blocks over time",
    axis: "erased blocks / all blocks",
    column: "free_blocks_fraction",
    caption: "What is erased and ready, as a share of all blocks.",
    series: |t| t.free_blocks.clone(),
};

pub(super) const BUSY_DIES: Slow = Slow {
    name: "busy-dies-over-time",
    title: "Busy dies over time",
    axis: "time that dies were busy / time",
    column: "busy_fraction",
    caption: "The mean over all dies, whatever they worked for.",
    series: |t| t.die_utilisation.clone(),
};

pub(super) const BUSY_BUSES: Slow = Slow {
    name: "busy-buses-over-time",
    title: "Busy buses over time",
    axis: "time that buses were busy / time",
    column: "busy_fraction",
    caption: "The mean over the channels' buses.",
    series: |t| t.bus_utilisation.clone(),
};

/// One run's series, thinned to what is drawn.
struct Track {
    run: usize,
    bin_s: f64,
    values: Vec<Option<f64>>,
    /// A second series over the same bins.
    peaks: Vec<Option<f64>>,
}

impl Track {
    fn time(&self, bin: usize) -> f64 {
        (bin as f64 + 0.5) * self.bin_s
    }

    fn end(&self) -> f64 {
        self.values.len() as f64 * self.bin_s
    }
}

#[derive(Clone, Copy)]
enum Reduce {
    Mean,
    Max,
}

/// Join every `every` bins into one.
fn thin(values: &[Option<f64>], every: usize, how: Reduce) -> Vec<Option<f64>> {
    values
        .chunks(every.max(1))
        .map(|chunk| {
            let there = || chunk.iter().flatten().copied().filter(|v| v.is_finite());
            match how {
                Reduce::Mean => there().reduce(|a, b| a + b).map(|sum| sum / there().count() as f64),
                Reduce::Max => there().reduce(f64::max),
            }
        })
        .collect()
}

/// The runs that have such a series, with something in it.
fn tracks(
    cast: &Cast,
    main: impl Fn(&Timeline) -> Vec<Option<f64>>,
    peak: impl Fn(&Timeline) -> Vec<Option<f64>>,
) -> Vec<Track> {
    let has = |r: &Report| r.timeline.bin_s.is_finite() && r.timeline.bin_s > 0.0;
    cast.reports
        .iter()
        .enumerate()
        .filter(|(_, r)| has(r))
        .filter_map(|(run, r)| {
            let (values, peaks) = (main(&r.timeline), peak(&r.timeline));
            let every = values.len().div_ceil(cast.points.max(16));
            let track = Track {
                run,
                bin_s: r.timeline.bin_s * every as f64,
                values: thin(&values, every, Reduce::Mean),
                peaks: thin(&peaks, every, Reduce::Max),
            };
            track.values.iter().any(Option::is_some).then_some(track)
        })
        .collect()
}

fn largest<'a>(values: impl Iterator<Item = &'a Option<f64>>) -> f64 {
    values.flatten().copied().fold(0.0, f64::max)
}

/// The time axis of all tracks, and the unit of its ticks.
fn clock(tracks: &[Track], right: f64) -> (Scale, Unit) {
    let end = tracks.iter().map(Track::end).fold(0.0, f64::max);
    let unit = Quantity::Time.unit_for(std::iter::once(end / 3.0));
    (Scale { kind: ScaleKind::Linear, min: 0.0, max: end / unit.size, from: LEFT, to: right }, unit)
}

fn time_axis(c: &mut Canvas, scale: &Scale, unit: Unit, bottom: f64) {
    for tick in scale.ticks(6) {
        c.line("axis", (tick.at, bottom), (tick.at, bottom + 4.0));
        c.text("tick", (tick.at, bottom + 17.0), Anchor::Middle, &tick_text(tick.value));
    }
    c.text("note", (scale.to, bottom + 35.0), Anchor::End, &format!("simulated time ({})", unit.sign));
}

/// Height of a strip and the distance from one to the next.
fn strip_heights(count: usize) -> (f64, f64) {
    let height = match count {
        1 => 200.0,
        2 => 100.0,
        3 => 74.0,
        _ => 56.0,
    };
    (height, height + 26.0)
}

const STRIPS_TOP: f64 = 42.0;

pub(super) fn throughput(cast: &Cast, rate: &Rate) -> Option<Figure> {
    let series = |t: &Timeline| (rate.series)(t).iter().map(|v| Some(*v)).collect();
    let tracks = tracks(cast, series, |_| Vec::new());
    let most = largest(tracks.iter().flat_map(|t| &t.values));
    if most <= 0.0 {
        return None;
    }
    let unit = Quantity::Rate.unit_for(std::iter::once(most));
    let (x, time) = clock(&tracks, RIGHT);
    let (height, pitch) = strip_heights(tracks.len());
    let bottom = STRIPS_TOP + pitch * (tracks.len() - 1) as f64 + height;
    let mut c = Canvas::new(WIDTH, bottom + 42.0);
    c.text("note", (0.0, 12.0), Anchor::Start, &format!("{} ({})", rate.axis, unit.sign));
    for (k, track) in tracks.iter().enumerate() {
        let top = STRIPS_TOP + k as f64 * pitch;
        let y = Scale::from_zero(most / unit.size, if height > 90.0 { 4 } else { 2 }, top + height, top);
        for tick in y.ticks(if height > 90.0 { 4 } else { 2 }) {
            c.line(if tick.value == 0.0 { "axis" } else { "grid" }, (LEFT, tick.at), (RIGHT, tick.at));
            c.text("tick", (LEFT - 7.0, tick.at + 4.0), Anchor::End, &tick_text(tick.value));
        }
        let ink = &cast.inks[track.run];
        let points: Vec<Option<(f64, f64)>> = (track.values.iter().enumerate())
            .map(|(i, v)| v.map(|v| (x.at(track.time(i) / time.size), y.at(v / unit.size))))
            .collect();
        let line = path(points.iter().copied());
        // The same line, closed along zero, is the area; gaps would make it lie.
        let drawn: Vec<f64> = points.iter().flatten().map(|p| p.0).collect();
        if let (Some(first), Some(last), true) = (drawn.first(), drawn.last(), drawn.len() == points.len()) {
            c.raw(&format!(
                r#"<path class="area {}" fill="{}" fill-opacity="0.16" d="{line}L{last:.1} {zero:.1}L{first:.1} {zero:.1}Z"/>"#,
                ink.class,
                ink.colour,
                zero = y.from
            ));
        }
        c.raw(&stroke(&ink.class, &ink.colour, "1.3", &line));
        let mean = Quantity::Rate.show(mean(&track.values));
        strip_label(&mut c, cast, track, top, &format!("mean {mean}"));
    }
    time_axis(&mut c, &x, time, bottom);
    let mut csv = Csv::new(&format!("scheme,time_s,{}", rate.column));
    rows(&mut csv, cast, &tracks);
    let y = [STRIPS_TOP, bottom].map(crate::svg::px).join(" ");
    let inks = cast.inks_data(tracks.iter().map(|t| t.run));
    let facts =
        data("time", &[("x", seconds(&x, time)), ("y", y), ("inks", inks), ("unit", "mb_per_s".to_string())]);
    Some(Figure {
        name: rate.name,
        title: rate.title.to_string(),
        caption: "All strips have one scale.".to_string(),
        svg: c.finish(rate.title, &facts),
        csv: csv.0,
    })
}

pub(super) fn latency(cast: &Cast, series: &LatencySeries) -> Option<Figure> {
    let tracks = tracks(cast, |t| (series.mean)(t).to_vec(), |t| (series.max)(t).to_vec());
    let all = || tracks.iter().flat_map(|t| t.values.iter().chain(&t.peaks)).flatten().filter(|v| **v > 0.0);
    let (least, most) = (all().copied().fold(f64::INFINITY, f64::min), all().copied().fold(0.0, f64::max));
    if most <= 0.0 {
        return None;
    }
    let (x, time) = clock(&tracks, RIGHT);
    let (height, pitch) = strip_heights(tracks.len());
    let bottom = STRIPS_TOP + pitch * (tracks.len() - 1) as f64 + height;
    let mut c = Canvas::new(WIDTH, bottom + 42.0);
    c.text("note", (0.0, 12.0), Anchor::Start, series.axis);
    for (k, track) in tracks.iter().enumerate() {
        let top = STRIPS_TOP + k as f64 * pitch;
        let y = Scale::log(least, most, top + height, top);
        for tick in y.ticks(if height > 90.0 { 5 } else { 3 }).iter().filter(|t| t.major) {
            c.line("grid", (LEFT, tick.at), (RIGHT, tick.at));
            c.text("tick", (LEFT - 7.0, tick.at + 4.0), Anchor::End, &latency_tick(tick.value));
        }
        c.line("axis", (LEFT, top + height), (RIGHT, top + height));
        let ink = &cast.inks[track.run];
        let point = |i: usize, v: &Option<f64>| {
            v.filter(|v| *v > 0.0).map(|v| (x.at(track.time(i) / time.size), y.at(v)))
        };
        let dots: String = (track.peaks.iter().enumerate())
            .filter_map(|(i, v)| point(i, v))
            .map(|(x, y)| format!("M{} {}h0", crate::svg::px(x), crate::svg::px(y)))
            .collect();
        c.raw(&format!(
            r#"<path class="dots {}" fill="none" stroke="{}" stroke-width="2.4" stroke-linecap="round" stroke-opacity="0.45" d="{dots}"/>"#,
            ink.class, ink.colour
        ));
        let line = path(track.values.iter().enumerate().map(|(i, v)| point(i, v)));
        c.raw(&stroke(&ink.class, &ink.colour, "1.5", &line));
        strip_label(&mut c, cast, track, top, if k == 0 { "line: mean, dots: longest" } else { "" });
    }
    time_axis(&mut c, &x, time, bottom);
    let mut csv = Csv::new(&format!("scheme,time_s,{}", series.columns));
    rows(&mut csv, cast, &tracks);
    let y = [STRIPS_TOP, bottom].map(crate::svg::px).join(" ");
    let inks = cast.inks_data(tracks.iter().map(|t| t.run));
    let facts =
        data("time", &[("x", seconds(&x, time)), ("y", y), ("inks", inks), ("unit", "us".to_string())]);
    Some(Figure {
        name: series.name,
        title: series.title.to_string(),
        caption: "The line is the mean of each bin of time, the dots its longest request.".to_string(),
        svg: c.finish(series.title, &facts),
        csv: csv.0,
    })
}

pub(super) fn overlaid(cast: &Cast, slow: &Slow) -> Option<Figure> {
    let tracks = tracks(cast, slow.series, |_| Vec::new());
    let most = largest(tracks.iter().flat_map(|t| &t.values));
    if most <= 0.0 {
        return None;
    }
    let names: Vec<&str> = tracks.iter().map(|t| cast.names[t.run].as_str()).collect();
    let widest = names.iter().map(|n| text_width(n) * 1.08).fold(0.0, f64::max).min(180.0);
    let right = WIDTH - widest - 10.0;
    let (x, time) = clock(&tracks, right);
    let (top, bottom) = (30.0, 230.0);
    let y = Scale::from_zero(most, 4, bottom, top);
    let mut c = Canvas::new(WIDTH, bottom + 42.0);
    c.text("note", (0.0, 12.0), Anchor::Start, slow.axis);
    for tick in y.ticks(4) {
        c.line(if tick.value == 0.0 { "axis" } else { "grid" }, (LEFT, tick.at), (right, tick.at));
        c.text("tick", (LEFT - 7.0, tick.at + 4.0), Anchor::End, &tick_text(tick.value));
    }
    let end_of = |t: &Track| {
        let last = t.values.iter().enumerate().rev().find_map(|(i, v)| Some((i, (*v)?)));
        last.map_or((right, bottom), |(i, v)| (x.at(t.time(i) / time.size), y.at(v)))
    };
    let ends: Vec<f64> = tracks.iter().map(|t| end_of(t).1 + 4.0).collect();
    let places = spread(&ends, 16.0, top + 4.0, bottom);
    for (k, track) in tracks.iter().enumerate() {
        let ink = &cast.inks[track.run];
        let points = track.values.iter().enumerate();
        let line = path(points.map(|(i, v)| v.map(|v| (x.at(track.time(i) / time.size), y.at(v)))));
        c.raw(&stroke(&ink.class, &ink.colour, "1.8", &line));
        let at = (right + 7.0, places[k]);
        c.coloured_text(&format!("name {}", ink.class), &ink.colour, at, Anchor::Start, names[k]);
    }
    time_axis(&mut c, &x, time, bottom);
    let mut csv = Csv::new(&format!("scheme,time_s,{}", slow.column));
    rows(&mut csv, cast, &tracks);
    let span = [top, bottom].map(crate::svg::px).join(" ");
    let inks = cast.inks_data(tracks.iter().map(|t| t.run));
    let facts =
        data("time", &[("x", seconds(&x, time)), ("y", span), ("inks", inks), ("unit", String::new())]);
    Some(Figure {
        name: slow.name,
        title: slow.title.to_string(),
        caption: slow.caption.to_string(),
        svg: c.finish(slow.title, &facts),
        csv: csv.0,
    })
}

fn stroke(class: &str, colour: &str, width: &str, d: &str) -> String {
    format!(
        r#"<path class="line {class}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round" d="{d}"/>"#
    )
}

/// The scheme's name above its strip, and something about it at the right.
fn strip_label(c: &mut Canvas, cast: &Cast, track: &Track, top: f64, note: &str) {
    let ink = &cast.inks[track.run];
    let class = format!("name {}", ink.class);
    c.coloured_text(&class, &ink.colour, (LEFT, top - 7.0), Anchor::Start, &cast.names[track.run]);
    if !note.is_empty() {
        c.text("note", (RIGHT, top - 7.0), Anchor::End, &note.replace(NO_BREAK, " "));
    }
}

fn mean(values: &[Option<f64>]) -> f64 {
    let there = values.iter().flatten().count();
    if there == 0 { 0.0 } else { values.iter().flatten().sum::<f64>() / there as f64 }
}

fn rows(csv: &mut Csv, cast: &Cast, tracks: &[Track]) {
    for track in tracks {
        for (i, value) in track.values.iter().enumerate() {
            let mut numbers = vec![Some(track.time(i)), *value];
            if !track.peaks.is_empty() {
                numbers.push(track.peaks.get(i).copied().flatten());
            }
            csv.row(&[&cast.labels[track.run]], &numbers);
        }
    }
}

/// The time scale in seconds, as the CSV has them.
fn seconds(x: &Scale, unit: Unit) -> String {
    Scale { min: x.min * unit.size, max: x.max * unit.size, ..*x }.data()
}
