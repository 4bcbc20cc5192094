//! The run over simulated time. Bursty series get a strip a scheme over one time axis, all on one
//! scale, since they would hide one another; slow ones (WAF, free blocks) lie in one plot and are
//! labelled at their ends.

use crate::pictures::cast::Cast;
use crate::pictures::figure::{Csv, Figure, WIDTH, data};
use crate::pictures::panels::{Panels, RIGHT, TOGETHER, legend};
use crate::pictures::svg::{Anchor, Canvas, Scale, ScaleKind, latency_tick, path, px, tick_text};
use crate::schema::report::Report;
use crate::schema::series::Timeline;
use crate::words::number::{NO_BREAK, Quantity, Unit, significant};

const LEFT: f64 = 50.0;
/// Where strips begin, below the note of what is drawn.
const TOP: f64 = 20.0;
/// Below the last strip, for the time.
const FOOT: f64 = 42.0;

/// A rate of the timeline.
pub(crate) struct Rate {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    column: &'static str,
    series: fn(&Timeline) -> &[f64],
}

pub(crate) const WRITTEN: Rate = Rate {
    name: "write-throughput-over-time",
    title: "Write throughput over time",
    axis: "written",
    column: "write_mb_per_s",
    series: |t| &t.write_mb_per_s,
};

pub(crate) const READ: Rate = Rate {
    name: "read-throughput-over-time",
    title: "Read throughput over time",
    axis: "read",
    column: "read_mb_per_s",
    series: |t| &t.read_mb_per_s,
};

/// A latency of the timeline: mean and longest of each bin.
pub(crate) struct LatencySeries {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    columns: &'static str,
    mean: fn(&Timeline) -> &[Option<f64>],
    max: fn(&Timeline) -> &[Option<f64>],
}

pub(crate) const WRITE_LATENCY: LatencySeries = LatencySeries {
    name: "write-latency-over-time",
    title: "Write latency over time",
    axis: "write latency, log scale",
    columns: "write_latency_us_mean,write_latency_us_max",
    mean: |t| &t.write_latency_us_mean,
    max: |t| &t.write_latency_us_max,
};

pub(crate) const READ_LATENCY: LatencySeries = LatencySeries {
    name: "read-latency-over-time",
    title: "Read latency over time",
    axis: "read latency, log scale",
    columns: "read_latency_us_mean,read_latency_us_max",
    mean: |t| &t.read_latency_us_mean,
    max: |t| &t.read_latency_us_max,
};

/// A slow series of the timeline.
pub(crate) struct Slow {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    column: &'static str,
    caption: &'static str,
    series: fn(&Timeline) -> Vec<Option<f64>>,
}

pub(crate) const WAF: Slow = Slow {
    name: "waf-over-time",
    title: "Write amplification over time",
    axis: "bytes programmed / bytes written",
    column: "waf",
    caption: "Cumulative: media writes over host writes.",
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

pub(crate) const FREE_BLOCKS: Slow = Slow {
    name: "free-blocks-over-time",
    title: "Free blocks over time",
    axis: "erased blocks / all blocks",
    column: "free_blocks_fraction",
    caption: "Erased blocks as a share of all blocks.",
    series: |t| t.free_blocks.clone(),
};

pub(crate) const BUSY_DIES: Slow = Slow {
    name: "busy-dies-over-time",
    title: "Busy dies over time",
    axis: "die busy time / time",
    column: "busy_fraction",
    caption: "Mean over all dies, for any operation.",
    series: |t| t.die_utilisation.clone(),
};

pub(crate) const BUSY_BUSES: Slow = Slow {
    name: "busy-buses-over-time",
    title: "Busy buses over time",
    axis: "bus busy time / time",
    column: "busy_fraction",
    caption: "Mean over all channel buses.",
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
fn clock(tracks: &[Track], (left, right): (f64, f64)) -> (Scale, Unit) {
    let end = tracks.iter().map(Track::end).fold(0.0, f64::max);
    let unit = Quantity::Time.unit_for(std::iter::once(end / 3.0));
    (Scale { kind: ScaleKind::Linear, min: 0.0, max: end / unit.size, from: left, to: right }, unit)
}

/// Ticks of time below a plot.
fn time_ticks(c: &mut Canvas, scale: &Scale, bottom: f64) {
    for tick in scale.two_ticks(if scale.to - scale.from > 200.0 { 5 } else { 2 }) {
        c.line("axis", (tick.at, bottom), (tick.at, bottom + 4.0));
        c.text("tick", (tick.at, bottom + 17.0), Anchor::Middle, &tick_text(tick.value));
    }
}

/// A plot for each track, each with its frame, drawn by `plot` with its scales of time and value.
struct Strips<'a> {
    cast: &'a Cast<'a>,
    tracks: &'a [Track],
    /// What is drawn, above all plots.
    axis: String,
    /// What stands beside each name; what each small plot says when pointed at.
    notes: Vec<String>,
    /// The scale of values between two heights, and its ticks with their texts.
    scale: &'a dyn Fn(f64, f64) -> Scale,
    tick: &'a dyn Fn(f64) -> String,
    /// The unit of the script's values.
    unit: &'static str,
}

impl Strips<'_> {
    /// The picture without its end, and the attributes for the script.
    fn draw(&self, plot: impl Fn(&mut Canvas, &Track, &dyn Fn(usize) -> f64, &Scale)) -> (Canvas, String) {
        let shown: Vec<usize> = self.tracks.iter().map(|t| t.run).collect();
        let panels = Panels::new(&self.cast.labels, &shown, &self.notes, (TOP, LEFT));
        let (top, bottom) = panels.span();
        let mut c = Canvas::new(WIDTH, bottom + FOOT);
        c.text("note", (0.0, 12.0), Anchor::Start, &self.axis);
        let mut clock_data = String::new();
        for (i, track) in self.tracks.iter().enumerate() {
            let panel = panels.at(i);
            let y = (self.scale)(panel.bottom, panel.top);
            for tick in y.major_ticks(panel.ticks()) {
                let class = if tick.value == 0.0 { "axis" } else { "grid" };
                c.line(class, (panel.left, tick.at), (panel.right, tick.at));
                if panel.first {
                    let text = (self.tick)(tick.value);
                    c.text("tick", (panel.left - 6.0, tick.at + 4.0), Anchor::End, &text);
                }
            }
            c.line("axis", (panel.left, panel.bottom), (panel.right, panel.bottom));
            let (x, time) = clock(self.tracks, (panel.left, panel.right));
            plot(&mut c, track, &|bin| x.at(track.time(bin) / time.size), &y);
            let note = self.notes.get(i).map_or("", String::as_str);
            panels.head(&mut c, self.cast.named(), (i, track.run), note);
            if !panels.are_strips() {
                panels.says(&mut c, i, &format!("{}: {note}", self.cast.labels[track.run]));
            }
            if panel.last {
                time_ticks(&mut c, &x, panel.bottom);
            }
            if i + 1 == self.tracks.len() {
                let says = format!("simulated time ({})", time.sign);
                c.text("note", (RIGHT, bottom + 35.0), Anchor::End, &says);
                clock_data = seconds(&x, time);
            }
        }
        if !panels.are_strips() {
            return (c, data("bars", &[]));
        }
        let y = [top, bottom].map(px).join(" ");
        let inks = self.cast.inks_data(shown.into_iter());
        let unit = self.unit.to_string();
        (c, data("time", &[("x", clock_data), ("y", y), ("inks", inks), ("unit", unit)]))
    }
}

pub(crate) fn throughput(cast: &Cast, rate: &Rate) -> Option<Figure> {
    let series = |t: &Timeline| (rate.series)(t).iter().map(|v| Some(*v)).collect();
    let tracks = tracks(cast, series, |_| Vec::new());
    let most = largest(tracks.iter().flat_map(|t| &t.values));
    if most <= 0.0 {
        return None;
    }
    let unit = Quantity::Rate.unit_for(std::iter::once(most));
    let ticks = if tracks.len() <= 2 { 4 } else { 2 };
    let means = tracks.iter().map(|t| format!("mean {}", Quantity::Rate.show(mean(&t.values))));
    let strips = Strips {
        cast,
        tracks: &tracks,
        axis: format!("{} ({})", rate.axis, unit.sign),
        notes: means.map(|text| text.replace(NO_BREAK, " ")).collect(),
        scale: &|bottom, top| Scale::from_zero(most / unit.size, ticks, bottom, top),
        tick: &tick_text,
        unit: "mb_per_s",
    };
    let (c, facts) = strips.draw(|c, track, x, y| {
        let ink = &cast.inks[track.run];
        let points: Vec<Option<(f64, f64)>> =
            (track.values.iter().enumerate()).map(|(i, v)| v.map(|v| (x(i), y.at(v / unit.size)))).collect();
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
        c.raw(&stroke(&ink.class, &ink.colour, "1.3", "", &line));
    });
    let mut csv = Csv::new(&format!("scheme,time_s,{}", rate.column));
    rows(&mut csv, cast, &tracks);
    Some(Figure {
        name: rate.name.into(),
        title: rate.title.to_string(),
        caption: "All panels share one scale.".to_string(),
        svg: c.finish(rate.title, &facts),
        csv: csv.into_text(),
    })
}

pub(crate) fn latency(cast: &Cast, series: &LatencySeries) -> Option<Figure> {
    let mut tracks = tracks(cast, |t| (series.mean)(t).to_vec(), |t| (series.max)(t).to_vec());
    // A latency of zero has no place on a log scale: such a run is named below the plots instead.
    let timeless: Vec<usize> =
        tracks.iter().filter(|t| largest(t.peaks.iter()) <= 0.0).map(|t| t.run).collect();
    tracks.retain(|t| !timeless.contains(&t.run));
    let all = || tracks.iter().flat_map(|t| t.values.iter().chain(&t.peaks)).flatten().filter(|v| **v > 0.0);
    let (least, most) = (all().copied().fold(f64::INFINITY, f64::min), all().copied().fold(0.0, f64::max));
    if most <= 0.0 {
        return None;
    }
    let longest = |t: &Track| Quantity::Latency.show(largest(t.peaks.iter()));
    let strips = Strips {
        cast,
        tracks: &tracks,
        axis: series.axis.to_string(),
        notes: tracks.iter().map(|t| format!("longest {}", longest(t)).replace(NO_BREAK, " ")).collect(),
        scale: &|bottom, top| Scale::log(least, most, bottom, top),
        tick: &latency_tick,
        unit: "us",
    };
    let (c, facts) = strips.draw(|c, track, x, y| {
        let ink = &cast.inks[track.run];
        let point = |i: usize, v: &Option<f64>| v.filter(|v| *v > 0.0).map(|v| (x(i), y.at(v)));
        let dots: String = (track.peaks.iter().enumerate())
            .filter_map(|(i, v)| point(i, v))
            .map(|(x, y)| format!("M{} {}h0", px(x), px(y)))
            .collect();
        c.raw(&format!(
            r#"<path class="dots {}" fill="none" stroke="{}" stroke-width="2.4" stroke-linecap="round" stroke-opacity="0.7" d="{dots}"/>"#,
            ink.class, ink.colour
        ));
        let line = path(track.values.iter().enumerate().map(|(i, v)| point(i, v)));
        c.raw(&stroke(&ink.class, &ink.colour, "1.5", "", &line));
    });
    let mut csv = Csv::new(&format!("scheme,time_s,{}", series.columns));
    rows(&mut csv, cast, &tracks);
    Some(Figure {
        name: series.name.into(),
        title: series.title.to_string(),
        caption: format!(
            "The line is the mean of each time bin, the dots are the maximum.{}",
            unplotted(cast, &timeless)
        ),
        svg: c.finish(series.title, &facts),
        csv: csv.into_text(),
    })
}

/// Names the runs that have no plot because their requests take no time.
fn unplotted(cast: &Cast, runs: &[usize]) -> String {
    let names: Vec<&str> = runs.iter().map(|run| cast.labels[*run].as_str()).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(" Not plotted, since every latency is zero: {}.", names.join(", ")),
    }
}

/// A slow series: few runs in one plot, many in one each, with the baseline's behind it.
pub(crate) fn overlaid(cast: &Cast, slow: &Slow) -> Option<Figure> {
    let tracks = tracks(cast, slow.series, |_| Vec::new());
    let most = largest(tracks.iter().flat_map(|t| &t.values));
    if most <= 0.0 {
        return None;
    }
    let (c, facts) = if tracks.len() > TOGETHER {
        apart(cast, slow, &tracks, most)
    } else {
        together(cast, slow, &tracks, most)
    };
    let mut csv = Csv::new(&format!("scheme,time_s,{}", slow.column));
    rows(&mut csv, cast, &tracks);
    Some(Figure {
        name: slow.name.into(),
        title: slow.title.to_string(),
        caption: if tracks.len() > TOGETHER {
            format!("{} The thin line is {}.", slow.caption, cast.labels[cast.baseline])
        } else {
            slow.caption.to_string()
        },
        svg: c.finish(slow.title, &facts),
        csv: csv.into_text(),
    })
}

fn together(cast: &Cast, slow: &Slow, tracks: &[Track], most: f64) -> (Canvas, String) {
    let shown: Vec<usize> = tracks.iter().map(|t| t.run).collect();
    let (x, time) = clock(tracks, (LEFT, RIGHT));
    // The legend is laid out first: it says how much room it takes.
    let mut c = Canvas::new(WIDTH, 0.0);
    let top = legend(&mut c, cast.named(), &shown, 0.0) + 30.0;
    let bottom = top + 180.0;
    c.end_at(bottom + FOOT);
    let y = Scale::from_zero(most, 4, bottom, top);
    c.text("note", (0.0, top - 13.0), Anchor::Start, slow.axis);
    for tick in y.ticks(4) {
        c.line(if tick.value == 0.0 { "axis" } else { "grid" }, (LEFT, tick.at), (RIGHT, tick.at));
        c.text("tick", (LEFT - 6.0, tick.at + 4.0), Anchor::End, &tick_text(tick.value));
    }
    for (k, track) in tracks.iter().enumerate() {
        let ink = &cast.inks[track.run];
        let points = track.values.iter().enumerate();
        let line = path(points.map(|(i, v)| v.map(|v| (x.at(track.time(i) / time.size), y.at(v)))));
        c.series(k, &stroke(&ink.class, &ink.colour, "1.8", &ink.dash(), &line));
    }
    time_ticks(&mut c, &x, bottom);
    c.text("note", (RIGHT, bottom + 35.0), Anchor::End, &format!("simulated time ({})", time.sign));
    let span = [top, bottom].map(px).join(" ");
    let inks = cast.inks_data(shown.into_iter());
    (c, data("time", &[("x", seconds(&x, time)), ("y", span), ("inks", inks), ("unit", String::new())]))
}

fn apart(cast: &Cast, slow: &Slow, tracks: &[Track], most: f64) -> (Canvas, String) {
    let last = |t: &Track| t.values.iter().rev().find_map(|v| *v);
    let ends =
        tracks.iter().map(|t| last(t).map_or(String::new(), |v| format!("{} at the end", significant(v))));
    let baseline = tracks.iter().find(|t| t.run == cast.baseline);
    let strips = Strips {
        cast,
        tracks,
        axis: slow.axis.to_string(),
        notes: ends.collect(),
        scale: &|bottom, top| Scale::from_zero(most, 2, bottom, top),
        tick: &tick_text,
        unit: "",
    };
    strips.draw(|c, track, x, y| {
        // The baseline's bins are as wide only where its run is as long.
        let width = |t: &Track, i: usize| x(0) + (x(1) - x(0)) * (t.time(i) / track.bin_s - 0.5);
        for t in baseline.into_iter().filter(|t| t.run != track.run).chain([track]) {
            let ink = &cast.inks[t.run];
            let points = t.values.iter().enumerate();
            let line = path(points.map(|(i, v)| v.map(|v| (width(t, i), y.at(v)))));
            c.raw(&stroke(
                &ink.class,
                &ink.colour,
                if t.run == track.run { "1.8" } else { "1.2" },
                "",
                &line,
            ));
        }
    })
}

fn stroke(class: &str, colour: &str, width: &str, more: &str, d: &str) -> String {
    format!(
        r#"<path class="line {class}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"{more} d="{d}"/>"#
    )
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
