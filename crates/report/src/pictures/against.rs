//! How the schemes differ from the baseline, where there are replicas: a point for each measure at
//! the mean of the paired differences, with its interval. What touches the line is no difference
//! that chance could not have made.

use crate::pictures::cast::Cast;
use crate::pictures::figure::{Csv, Figure, WIDTH, data};
use crate::pictures::svg::{Anchor, Canvas, Scale, ScaleKind, drawn, escape, px, text_width, tick_text};
use crate::schema::estimate::Estimate;
use crate::words::{number, rows};

const TOP: f64 = 12.0;
/// Between the schemes of one measure.
const LINE: f64 = 17.0;
/// Room for a name; a longer one has several lines.
const NAME_MAX: f64 = 130.0;
/// Between measures.
const GAP: f64 = 9.0;
/// Beyond this many percent a logarithmic scale shows more.
const LINEAR_MAX: f64 = 40.0;

/// A logarithmic scale begins above this difference, unless a mean is below it.
const DEEPEST: f64 = -95.0;

/// The figures that are shown, by their paths.
const SHOWN: [&str; 9] = [
    "latency_us.write.mean",
    "latency_us.write.p99",
    "latency_us.write.p999",
    "latency_us.read.mean",
    "latency_us.read.p99",
    "latency_us.read.p999",
    "throughput.write_mb_per_s",
    "throughput.iops",
    "waf.total",
];

/// A measure with the difference of each run to the baseline.
struct Measure {
    label: String,
    key: String,
    points: Vec<(usize, Estimate)>,
}

pub(crate) fn differences(cast: &Cast) -> Option<Figure> {
    let groups = rows::groups(cast.reports);
    let mut measures = vec![];
    for path in SHOWN {
        let with_group = groups.iter().flat_map(|g| g.rows.iter().map(move |r| (g.title, r)));
        let Some((group, found)) = with_group.into_iter().find(|(_, r)| r.is(path)) else { continue };
        let row = &found.label;
        let points: Vec<_> = (0..cast.reports.len())
            .filter_map(|run| Some((run, found.difference(run, cast.baseline)?)))
            .filter(|(_, e)| e.mean.is_finite() && e.mean > -100.0)
            .collect();
        // What is the same under every scheme is no difference.
        if points.iter().any(|(_, e)| e.mean != 0.0) {
            let key = format!("{} {row}", group.to_lowercase());
            measures.push(Measure { label: found.name(group), key, points });
        }
    }
    if measures.is_empty() {
        return None;
    }
    let all = || measures.iter().flat_map(|m| m.points.iter().map(|(_, e)| e));
    let reach = all().map(|e| e.mean.abs() + half(e)).fold(0.0, f64::max);
    let is_linear = reach <= LINEAR_MAX;
    let says = |e: &Estimate| number::change(e.mean, e.half_width_95);
    // With one other scheme a line is its measure; with several, a line is a scheme below the measure.
    let named = cast.reports.len() > 2;
    let names: Vec<Vec<String>> = cast.labels.iter().map(|l| drawn(l, NAME_MAX)).collect();
    let left = if named {
        names.iter().flatten().map(|n| text_width(n) * 1.08).fold(0.0, f64::max) + 10.0
    } else {
        measures.iter().map(|m| text_width(&m.label)).fold(0.0, f64::max) + 12.0
    };
    let line = |run: usize| if named { LINE.max(15.0 * names[run].len() as f64 + 2.0) } else { LINE };
    let right = WIDTH - all().map(|e| text_width(&says(e))).fold(0.0, f64::max) - 14.0;
    let times = |percent: f64| (1.0 + percent / 100.0).max(1e-3);
    let x = if is_linear {
        let bound = [1.0, 2.0, 4.0, 10.0, 20.0].into_iter().find(|b| reach <= *b).unwrap_or(LINEAR_MAX);
        Scale { kind: ScaleKind::Linear, min: -bound, max: bound, from: left, to: right }
    } else {
        // An interval that goes down to nothing would press all others together: it leaves the plot.
        let low = |e: &Estimate| Some(e.mean - half(e)).filter(|end| *end > DEEPEST).unwrap_or(e.mean);
        let least = all().map(|e| times(low(e))).fold(1.0, f64::min);
        let most = all().map(|e| times(e.mean + half(e))).fold(1.0, f64::max);
        Scale::log(least, most, left, right)
    };
    let at = |percent: f64| x.at(if is_linear { percent } else { times(percent) });

    let lines: f64 = measures.iter().flat_map(|m| &m.points).map(|(run, _)| line(*run)).sum();
    let heads = if named { measures.len() as f64 * LINE } else { 0.0 };
    let bottom = TOP + lines + heads + measures.len() as f64 * GAP;
    let mut c = Canvas::new(WIDTH, bottom + 38.0);
    for tick in x.ticks(2).iter().filter(|t| t.major) {
        c.line("grid", (tick.at, TOP), (tick.at, bottom));
        let text = if is_linear { tick_text(tick.value).replace('-', "−") } else { tick_text(tick.value) };
        let sign = if is_linear { "%" } else { "×" };
        c.text("tick", (tick.at, bottom + 15.0), Anchor::Middle, &format!("{text}{sign}"));
    }
    c.line("mark", (at(0.0), TOP), (at(0.0), bottom));
    let base = &cast.labels[cast.baseline];
    let axis = if is_linear { "difference to" } else { "times" };
    let log = if is_linear { "" } else { ", log scale" };
    c.text("note", (WIDTH - 2.0, bottom + 32.0), Anchor::End, &format!("{axis} {base}{log}"));
    let mut csv = Csv::new("scheme,measure,difference_percent,half_width_95_percent");
    let mut y = TOP;
    let mut cut = false;
    for m in &measures {
        y += GAP / 2.0;
        c.text("tick", (0.0, y + LINE / 2.0 + 4.0), Anchor::Start, &m.label);
        y += if named { LINE } else { 0.0 };
        for (run, e) in &m.points {
            let (ink, middle, text) = (&cast.inks[*run], y + LINE / 2.0, says(e));
            for (n, name) in names[*run].iter().enumerate().filter(|_| named) {
                let class = format!("name {}", ink.class);
                let at = (0.0, middle + 4.0 + 15.0 * n as f64);
                c.coloured_text(&class, &ink.colour, at, Anchor::Start, name);
            }
            let (low, high) = (at(e.mean - half(e)), at(e.mean + half(e)));
            // No bar ends an interval that goes on.
            let is_cut = !is_linear && times(e.mean - half(e)) < x.min;
            let end = if is_cut { String::new() } else { format!("M{} {}v7", px(low), px(middle - 3.5)) };
            cut |= is_cut;
            c.raw(&format!(
                r#"<path class="line {}" fill="none" stroke="{}" stroke-width="1.6" d="M{} {m}H{}{end}M{} {}v7"/>"#,
                ink.class,
                escape(&ink.colour),
                px(low),
                px(high),
                px(high),
                px(middle - 3.5),
                m = px(middle),
            ));
            c.raw(&format!(
                r#"<circle class="{}" fill="{}" cx="{}" cy="{}" r="3.6"/>"#,
                ink.class,
                escape(&ink.colour),
                px(at(e.mean)),
                px(middle)
            ));
            let class = format!("value {}", ink.class);
            c.coloured_text(&class, &ink.colour, (WIDTH - 2.0, middle + 4.0), Anchor::End, &text);
            let whole = format!("{}: {} {text} against {base}", cast.labels[*run], m.key);
            c.raw(&format!(
                r#"<rect class="bar" fill="transparent" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>"#,
                px(left),
                px(y),
                px(right - left),
                px(line(*run)),
                escape(&whole)
            ));
            csv.row(&[&cast.labels[*run], &m.key], &[Some(e.mean), e.half_width_95]);
            y += line(*run);
        }
        y += GAP / 2.0;
    }
    // With one other scheme the title says which it is.
    let others: Vec<usize> = (0..cast.reports.len()).filter(|i| *i != cast.baseline).collect();
    let title = match others.as_slice() {
        [one] => format!("{} against {base}", cast.labels[*one]),
        _ => format!("Against {base}"),
    };
    let svg = c.finish(&title, &data("bars", &[]));
    Some(Figure {
        name: "differences".into(),
        title,
        caption: format!(
            "Mean differences, paired by seed, with 95 % confidence intervals; a difference whose interval \
             touches the line is not significant.{}",
            if cut { " An interval without a bar at its left end continues." } else { "" }
        ),
        svg,
        csv: csv.into_text(),
    })
}

fn half(e: &Estimate) -> f64 {
    e.half_width_95.filter(|h| h.is_finite()).unwrap_or(0.0)
}
