//! What schemes have followed by themselves, a picture a name: steps over the pages that the host wrote. Names are the
//! schemes' own.

use crate::pictures::cast::Cast;
use crate::pictures::figure::{Csv, Figure, WIDTH, data};
use crate::pictures::panels::{Panel, Panels, RIGHT, TOGETHER, legend};
use crate::pictures::svg::{Anchor, Canvas, Scale, ScaleKind, drawn, escape, path, text_width, tick_text};
use crate::words::metrics::{last, names};
use crate::words::number::{self, Quantity};
use std::collections::BTreeSet;

/// Below the last plot, for the pages.
const FOOT: f64 = 42.0;
/// A line of text.
const LINE: f64 = 15.0;
/// The longest part of a file's name that a series gives it.
const LONGEST: usize = 60;

/// A run, and its metric of that name: host page writes with the value from then on.
type Track = (usize, Vec<[f64; 2]>);

/// A picture for each name.
pub(crate) fn followed(cast: &Cast) -> Vec<Option<Figure>> {
    let names = names(cast.reports);
    let files = files(&names);
    names.iter().zip(files).map(|(name, file)| picture(cast, name, file)).collect()
}

/// A name for files for each series, unlike all others in any file system: letters of ASCII without case, digits and
/// hyphens, numbered where that leaves nothing to tell two names apart.
fn files(names: &[&str]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let plain = |name: &str| {
        let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
        let words: String = name.chars().map(kept).collect();
        let joined = words.split_whitespace().collect::<Vec<_>>().join("-");
        let short: String = joined.chars().take(LONGEST).collect();
        if short.is_empty() { "series".to_string() } else { short }
    };
    let free = |name: &&str| {
        let base = format!("metrics-{}", plain(name));
        let numbered = (2..).map(|n| format!("{base}-{n}"));
        std::iter::once(base.clone()).chain(numbered).find(|file| taken.insert(file.clone())).unwrap_or(base)
    };
    names.iter().map(free).collect()
}

fn picture(cast: &Cast, name: &str, file: String) -> Option<Figure> {
    let series = |run: usize| {
        let pairs = cast.reports[run].metrics.get(name)?.iter().copied();
        let finite: Vec<_> = pairs.filter(|p| p.iter().all(|n| n.is_finite())).collect();
        (!finite.is_empty()).then(|| (run, thin(finite, cast.points)))
    };
    let tracks: Vec<Track> = (0..cast.reports.len()).filter_map(series).collect();
    // What is zero throughout is a line below the measures.
    if tracks.iter().all(|(_, pairs)| pairs.iter().all(|p| p[1] == 0.0)) {
        return None;
    }
    let many = tracks.len() > TOGETHER;
    let (c, facts) = if many { apart(cast, name, &tracks) } else { together(cast, name, &tracks) };
    let mut csv = Csv::new("scheme,host_page_writes,value");
    for (run, pairs) in &tracks {
        for [pages, value] in pairs {
            csv.row(&[&cast.labels[*run]], &[Some(*pages), Some(*value)]);
        }
    }
    let behind = many && tracks.iter().any(|(run, _)| *run == cast.baseline);
    let grey =
        if behind { format!(" The thin line is {}.", cast.labels[cast.baseline]) } else { String::new() };
    Some(Figure {
        name: file.into(),
        title: name.to_string(),
        caption: format!("As recorded by the scheme: each value holds until the next.{grey}"),
        svg: c.finish(name, &facts),
        csv: csv.into_text(),
    })
}

/// At most so many pairs: of each stretch of them the least and the greatest, and the last one of all.
fn thin(pairs: Vec<[f64; 2]>, most: usize) -> Vec<[f64; 2]> {
    let most = most.max(16);
    let Some(end) = pairs.last().copied().filter(|_| pairs.len() > most) else { return pairs };
    let stretches = pairs.chunks(pairs.len().div_ceil(most / 2 - 1));
    let kept = stretches.flat_map(|stretch| {
        let by = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
        let mut both: Vec<[f64; 2]> =
            [stretch.iter().min_by(by), stretch.iter().max_by(by)].into_iter().flatten().copied().collect();
        both.sort_by(|a, b| a[0].total_cmp(&b[0]));
        both.dedup();
        both
    });
    kept.chain([end]).collect()
}

/// The scales of pages and values that hold all series: that of values from zero, unless they lie close together
/// far from it.
fn scales(tracks: &[Track], panel: &Panel) -> (Scale, Scale) {
    let all = |i: usize| tracks.iter().flat_map(move |(_, pairs)| pairs.iter().map(move |p| p[i]));
    let pages = all(0).fold(0.0, f64::max).max(1.0);
    let x = Scale { kind: ScaleKind::Linear, min: 0.0, max: pages, from: panel.left, to: panel.right };
    let (least, most) = (all(1).fold(f64::INFINITY, f64::min), all(1).fold(f64::NEG_INFINITY, f64::max));
    let close = most > least && (most - least) < 0.25 * least.abs().max(most.abs());
    let (low, high) = if close { (least, most) } else { (least.min(0.0), most.max(0.0)) };
    (x, Scale::between(low, high, panel.ticks(), panel.bottom, panel.top))
}

/// What a tick of values says, in as few characters as it needs.
fn value_tick(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e7).contains(&size) {
        return tick_text(value);
    }
    // What the addition of steps has left behind the digits that are meant.
    let meant = format!("{value:.3e}").parse().unwrap_or(value);
    format!("{meant:e}")
}

/// Room for the texts of ticks before the plots.
fn left(tracks: &[Track]) -> f64 {
    let (_, y) = scales(tracks, &Panel::alone((0.0, 1.0), (0.0, 180.0)));
    y.ticks(4).iter().map(|t| text_width(&value_tick(t.value)) * 1.08).fold(30.0, f64::max) + 12.0
}

/// A run's series: each value until the next. One value alone is a dot.
fn stroke(cast: &Cast, (run, pairs): &Track, width: f64, more: &str, scales: (&Scale, &Scale)) -> String {
    let ink = &cast.inks[*run];
    let (width, more) = if pairs.len() == 1 { (6.0, "") } else { (width, more) };
    format!(
        r#"<path class="line {}" fill="none" stroke="{}" stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"{more} d="{}"/>"#,
        ink.class,
        escape(&ink.colour),
        steps(pairs, scales)
    )
}

fn steps(pairs: &[[f64; 2]], (x, y): (&Scale, &Scale)) -> String {
    let after = pairs.iter().skip(1).map(|p| p[0]).chain(pairs.last().map(|p| p[0]));
    let held = pairs.iter().zip(after).flat_map(|([from, value], to)| [(*from, *value), (to, *value)]);
    path(held.map(|(pages, value)| Some((x.at(pages), y.at(value)))))
}

fn frame(c: &mut Canvas, panel: &Panel, (x, y): (&Scale, &Scale)) {
    for tick in y.ticks(panel.ticks()) {
        let class = if tick.value == 0.0 { "axis" } else { "grid" };
        c.line(class, (panel.left, tick.at), (panel.right, tick.at));
        if panel.first {
            c.text("tick", (panel.left - 6.0, tick.at + 4.0), Anchor::End, &value_tick(tick.value));
        }
    }
    c.line("axis", (panel.left, panel.bottom), (panel.right, panel.bottom));
    if panel.last {
        let unit = Quantity::Iops.unit_for(std::iter::once(x.max));
        let shown = Scale { max: x.max / unit.size, ..*x };
        for tick in shown.ticks(if panel.right - panel.left > 200.0 { 4 } else { 2 }) {
            c.line("axis", (tick.at, panel.bottom), (tick.at, panel.bottom + 4.0));
            let text = if tick.value == 0.0 { "0".into() } else { tick_text(tick.value) + unit.sign };
            c.text("tick", (tick.at, panel.bottom + 17.0), Anchor::Middle, &text);
        }
    }
}

const AXIS: &str = "host page writes";

/// All series in one plot.
fn together(cast: &Cast, name: &str, tracks: &[Track]) -> (Canvas, String) {
    let shown: Vec<usize> = tracks.iter().map(|(run, _)| *run).collect();
    // The legend is laid out first: it says how much room it takes.
    let mut c = Canvas::new(WIDTH, 0.0);
    let under = legend(&mut c, cast.named(), &shown, 0.0);
    let top = above(&mut c, name, under) + 10.0;
    let panel = Panel::alone((left(tracks), RIGHT), (top, top + 180.0));
    c.end_at(panel.bottom + FOOT);
    let (x, y) = scales(tracks, &panel);
    frame(&mut c, &panel, (&x, &y));
    for (k, track) in tracks.iter().enumerate() {
        c.series(k, &stroke(cast, track, 1.8, &cast.inks[track.0].dash(), (&x, &y)));
    }
    c.text("note", (RIGHT, panel.bottom + 35.0), Anchor::End, AXIS);
    let span = format!("{} {}", panel.top, panel.bottom);
    let inks = cast.inks_data(shown.into_iter());
    let along = "pages".to_string();
    (
        c,
        data(
            "time",
            &[("x", x.data()), ("y", span), ("inks", inks), ("unit", String::new()), ("along", along)],
        ),
    )
}

/// A plot for each, with the baseline's series behind it.
fn apart(cast: &Cast, name: &str, tracks: &[Track]) -> (Canvas, String) {
    let shown: Vec<usize> = tracks.iter().map(|(run, _)| *run).collect();
    let mut c = Canvas::new(WIDTH, 0.0);
    let top = above(&mut c, name, 0.0) + 4.0;
    let panels = Panels::new(&cast.labels, &shown, &[], (top, left(tracks)));
    let (_, bottom) = panels.span();
    c.end_at(bottom + FOOT);
    let baseline = tracks.iter().find(|(run, _)| *run == cast.baseline);
    for (k, track) in tracks.iter().enumerate() {
        let (run, pairs) = track;
        let panel = panels.at(k);
        let (x, y) = scales(tracks, &panel);
        frame(&mut c, &panel, (&x, &y));
        if let Some(behind) = baseline.filter(|(base, _)| base != run) {
            c.raw(&stroke(cast, behind, 1.2, "", (&x, &y)));
        }
        c.raw(&stroke(cast, track, 1.8, "", (&x, &y)));
        panels.head(&mut c, cast.named(), (k, *run), "");
        let end = last(pairs).map_or(number::NONE.to_string(), |v| Quantity::Number.show(v));
        panels.says(&mut c, k, &format!("{}: {end} at the end", cast.labels[*run]));
    }
    c.text("note", (RIGHT, bottom + 35.0), Anchor::End, AXIS);
    (c, data("bars", &[]))
}

/// The name of the series above the plots, in as many lines as it needs; where those end.
fn above(c: &mut Canvas, name: &str, top: f64) -> f64 {
    let mut y = top;
    for line in drawn(name, WIDTH) {
        y += LINE;
        c.text("note", (0.0, y - 3.0), Anchor::Start, &line);
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_plainly_and_each_otherwise() {
        let names = ["Hit rate", "hit_rate", "../../x", "été", "\u{1f600}", "<b>", "B", &"x".repeat(300)];
        let files = files(&names);
        assert_eq!(
            files[..7],
            [
                "metrics-hit-rate",
                "metrics-hit-rate-2",
                "metrics-x",
                "metrics-t",
                "metrics-series",
                "metrics-b",
                "metrics-b-2"
            ]
        );
        assert!(files[7].len() < 80);
    }

    #[test]
    fn thinned_series_keep_their_extremes_and_their_end() {
        let mut pairs: Vec<[f64; 2]> = (0..10_000).map(|i| [f64::from(i), 1.0]).collect();
        (pairs[7_001][1], pairs[42][1]) = (9.0, -3.0);
        let thinned = thin(pairs.clone(), 64);
        assert!(thinned.len() <= 65, "{}", thinned.len());
        for kept in [[7_001.0, 9.0], [42.0, -3.0], [9_999.0, 1.0]] {
            assert!(thinned.contains(&kept), "{kept:?}");
        }
        assert!(thinned.windows(2).all(|w| w[0][0] <= w[1][0]));
        assert_eq!(thin(pairs.clone(), usize::MAX), pairs);
    }

    #[test]
    fn ticks_of_any_size_are_short() {
        for (value, text) in
            [(0.0, "0"), (-2.5, "-2.5"), (3e-5, "3e-5"), (25e6, "2.5e7"), (12_000.0, "12,000")]
        {
            assert_eq!(value_tick(value), text);
        }
    }
}
