//! Gain against cost: a point a scheme, with the runs that no other beats joined by a line. Baseline and winner have
//! their colors, all others are grey; names stand where they cover nothing, and the frontier's always stand.

use crate::pictures::cast::Roles;
use crate::pictures::figure::{Csv, Figure, WIDTH, data};
use crate::pictures::svg::{
    Anchor, Canvas, Scale, ScaleKind, Tick, drawn, escape, px, text_width, tick_text,
};
use crate::words::decision::Leading;
use crate::words::figures::figure::Better;
use crate::words::number::Quantity;
use crate::words::row::Row;

const LEFT: f64 = 54.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 286.0;
/// From this ratio on an axis is logarithmic.
const WIDE: f64 = 4.0;
/// Room for a name beside its point; a longer one has several lines.
const NAME: f64 = 120.0;
const LINE: f64 = 14.0;
/// Space to the left and right of a name, in px.
const APART: f64 = 3.0;

/// Left, top, right, bottom.
type Area = [f64; 4];

pub(crate) fn tradeoff(roles: &Roles, leading: &Leading) -> Option<Figure> {
    let (gain, cost) = leading.tradeoff?;
    let ((gain_name, gain), (cost_name, cost)) = (&leading.rows[gain], &leading.rows[cost]);
    let points: Vec<(usize, f64, f64)> =
        (0..roles.labels.len()).filter_map(|run| Some((run, cost.values[run]?, gain.values[run]?))).collect();
    let (x, y) = (scale(cost, LEFT, RIGHT), scale(gain, BOTTOM, TOP));
    let at = |point: &(usize, f64, f64)| (x.at(point.1), y.at(point.2));
    let mut c = Canvas::new(WIDTH, BOTTOM + 42.0);
    frame(&mut c, (&x, cost, cost_name), (&y, gain, gain_name));
    steps(&mut c, &leading.frontier, &points, at);
    let key =
        |run: usize| run == roles.baseline || Some(run) == roles.winner || leading.frontier.contains(&run);
    // What matters is drawn last, above the rest, and named first.
    let mut order: Vec<&(usize, f64, f64)> = points.iter().collect();
    order.sort_by_key(|p| (Some(p.0) == roles.winner, p.0 == roles.baseline, key(p.0)));
    for point in &order {
        whiskers(&mut c, roles, point.0, ((&x, cost), (&y, gain)), at(point));
    }
    for point in &order {
        mark(
            &mut c,
            roles,
            point.0,
            at(point),
            leading.frontier.contains(&point.0),
            &says(roles, point.0, leading),
        );
    }
    let mut taken: Vec<Area> =
        points.iter().map(at).map(|(x, y)| [x - 6.0, y - 6.0, x + 6.0, y + 6.0]).collect();
    taken.extend(stretches(&leading.frontier, &points, at));
    taken.extend(points.iter().flat_map(|p| bars(p.0, ((&x, cost), (&y, gain)), at(p))));
    for point in order.iter().rev() {
        name(&mut c, roles, point.0, at(point), key(point.0), &mut taken);
    }
    let mut csv = Csv::new(&format!("scheme,{},{}", column(cost_name, cost), column(gain_name, gain)));
    for (run, cost, gain) in &points {
        csv.row(&[&roles.labels[*run]], &[Some(*cost), Some(*gain)]);
    }
    let title = format!("{} against {cost_name}", capital(gain_name));
    Some(Figure {
        name: "tradeoff".into(),
        caption: caption(roles, leading),
        svg: c.finish(&title, &data("bars", &[])),
        title,
        csv: csv.into_text(),
    })
}

/// What the rings say; and where the winner has none, that it leads by another measure.
fn caption(roles: &Roles, leading: &Leading) -> String {
    let front = match leading.frontier.len() {
        1 => "Ringed: no other scheme is better in either.",
        _ => "Ringed and joined: the Pareto front (no other scheme is better in both).",
    };
    match roles.winner.filter(|run| !leading.frontier.contains(run)) {
        Some(run) => {
            format!("{front} {} ({} by another measure) is not on it.", roles.labels[run], roles.first)
        }
        None => front.to_string(),
    }
}

/// A text that begins with a capital letter; nothing of nothing.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

/// A column of the data: `write_p99_microseconds`.
fn column(name: &str, row: &Row) -> String {
    let unit = match row.quantity {
        Quantity::Latency => "_us",
        Quantity::Bytes => "_bytes",
        _ => "",
    };
    name.to_lowercase().replace([' ', '-', ','], "_") + unit
}

fn says(roles: &Roles, run: usize, leading: &Leading) -> String {
    let of = |(name, row): &(String, Row)| {
        let (value, half) = &row.spread_texts()[run];
        let half = if half.is_empty() { String::new() } else { format!(" ± {half}") };
        let sign = row.unit().sign;
        let space = if sign.is_empty() { "" } else { " " };
        format!("{name} {value}{half}{space}{sign}")
    };
    let Some((gain, cost)) = leading.tradeoff else { return String::new() };
    format!("{}: {}, {}", roles.labels[run], of(&leading.rows[gain]), of(&leading.rows[cost]))
}

/// The scale of a row, in its unit where it is linear, with room for points at its ends.
fn scale(row: &Row, from: f64, to: f64) -> Scale {
    let half = |run: usize| row.half_width(run).filter(|h| h.is_finite()).unwrap_or(0.0);
    let ends =
        || row.values.iter().enumerate().filter_map(|(run, v)| v.map(|v| (v - half(run), v + half(run), v)));
    let least = ends().map(|e| e.0).fold(f64::INFINITY, f64::min);
    let most = ends().map(|e| e.1).fold(f64::NEG_INFINITY, f64::max);
    let positive = ends().map(|e| e.2).fold(f64::INFINITY, f64::min);
    if positive > 0.0 && most / positive >= WIDE {
        let least = if least > 0.0 { least } else { positive };
        let unit = row.unit().size;
        let round = Scale::log(least / 1.05 / unit, most * 1.05 / unit, from, to);
        return Scale { min: round.min * unit, max: round.max * unit, ..round };
    }
    let margin = 0.06 * (most - least);
    let low = if least >= 0.0 { (least - margin).max(0.0) } else { least - margin };
    Scale::between(low, most + margin, 4, from, to)
}

/// The ticks of a scale in round numbers of the row's unit; values are in that unit.
fn ticks(scale: &Scale, row: &Row, count: usize) -> Vec<Tick> {
    let unit = row.unit().size;
    let of = Scale { min: scale.min / unit, max: scale.max / unit, ..*scale };
    if of.kind == ScaleKind::Log {
        return of.ticks(count);
    }
    let inner = |tick: &Tick| tick.value >= of.min - 1e-9 && tick.value <= of.max + 1e-9;
    let step = Scale::between(of.min, of.max, count, 0.0, 1.0);
    let round = step.ticks(count).into_iter().filter(inner);
    round.map(|tick| Tick { at: of.at(tick.value), ..tick }).collect()
}

/// The labeled ticks of the horizontal axis, without those whose text would touch the one before.
fn apart(ticks: Vec<Tick>) -> Vec<Tick> {
    let mut free = f64::NEG_INFINITY;
    let half = |tick: &Tick| text_width(&tick_text(tick.value)) / 2.0;
    let mut fits = |tick: &Tick| {
        let fits = tick.major && tick.at - half(tick) >= free;
        free = if fits { tick.at + half(tick) + 2.0 * APART } else { free };
        fits
    };
    ticks.into_iter().filter(|tick| fits(tick)).collect()
}

fn note(name: &str, scale: &Scale, row: &Row) -> String {
    let sign = row.unit().sign;
    let log = if scale.kind == ScaleKind::Log { ", log scale" } else { "" };
    let unit = if sign.is_empty() { log.to_string() } else { format!(" ({sign}){log}") };
    let way = match row.better {
        Better::Lower => "; lower is better",
        Better::Higher => "; higher is better",
        Better::Neither => "",
    };
    format!("{name}{unit}{way}")
}

fn frame(
    c: &mut Canvas,
    (x, cost, cost_name): (&Scale, &Row, &str),
    (y, gain, gain_name): (&Scale, &Row, &str),
) {
    for tick in apart(ticks(x, cost, 4)) {
        c.line("grid", (tick.at, TOP), (tick.at, BOTTOM));
        c.text("tick", (tick.at, BOTTOM + 16.0), Anchor::Middle, &tick_text(tick.value));
    }
    for tick in ticks(y, gain, 5).iter().filter(|t| t.major) {
        c.line("grid", (LEFT, tick.at), (RIGHT, tick.at));
        c.text("tick", (LEFT - 6.0, tick.at + 4.0), Anchor::End, &tick_text(tick.value));
    }
    c.line("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    c.line("axis", (LEFT, TOP), (LEFT, BOTTOM));
    c.text("note", (0.0, 12.0), Anchor::Start, &note(gain_name, y, gain));
    c.text("note", (RIGHT, BOTTOM + 34.0), Anchor::End, &note(cost_name, x, cost));
}

/// The frontier: from each of its points to the next along both axes.
fn steps(
    c: &mut Canvas,
    frontier: &[usize],
    points: &[(usize, f64, f64)],
    at: impl Fn(&(usize, f64, f64)) -> (f64, f64),
) {
    let on =
        frontier.iter().filter_map(|run| points.iter().find(|p| p.0 == *run)).map(at).collect::<Vec<_>>();
    if on.len() < 2 {
        return;
    }
    let mut d = format!("M{} {}", px(on[0].0), px(on[0].1));
    for (x, y) in &on[1..] {
        d += &format!("H{}V{}", px(*x), px(*y));
    }
    c.raw(&format!(
        r##"<path class="frontier" fill="none" stroke="#9aa3ad" stroke-width="1.4" stroke-dasharray="3 3" d="{d}"/>"##
    ));
}

/// The room that the frontier's line takes.
fn stretches(
    frontier: &[usize],
    points: &[(usize, f64, f64)],
    at: impl Fn(&(usize, f64, f64)) -> (f64, f64),
) -> Vec<Area> {
    let on: Vec<_> = frontier.iter().filter_map(|run| points.iter().find(|p| p.0 == *run)).map(at).collect();
    let area = |a: (f64, f64), b: (f64, f64)| {
        [a.0.min(b.0) - 1.0, a.1.min(b.1) - 1.0, a.0.max(b.0) + 1.0, a.1.max(b.1) + 1.0]
    };
    on.windows(2)
        .flat_map(|two| [area(two[0], (two[1].0, two[0].1)), area((two[1].0, two[0].1), two[1])])
        .collect()
}

/// Where the interval of a run begins and ends on an axis.
fn ends(run: usize, (scale, row): (&Scale, &Row)) -> Option<(f64, f64)> {
    let (value, half) = (row.values[run]?, row.half_width(run).filter(|h| h.is_finite() && *h > 0.0)?);
    let low = if scale.kind == ScaleKind::Log { (value - half).max(scale.min) } else { value - half };
    Some((scale.at(low), scale.at(value + half)))
}

/// The room that the whiskers of a run take.
fn bars(run: usize, axes: ((&Scale, &Row), (&Scale, &Row)), (x, y): (f64, f64)) -> Vec<Area> {
    let across = ends(run, axes.0).map(|(from, to)| [from, y - 2.0, to, y + 2.0]);
    // The vertical scale runs upward.
    let along = ends(run, axes.1).map(|(from, to)| [x - 2.0, to, x + 2.0, from]);
    across.into_iter().chain(along).collect()
}

fn whiskers(
    c: &mut Canvas,
    roles: &Roles,
    run: usize,
    axes: ((&Scale, &Row), (&Scale, &Row)),
    at: (f64, f64),
) {
    let ink = &roles.inks[run];
    let mut d = String::new();
    if let Some((from, to)) = ends(run, axes.0) {
        d += &format!("M{} {}H{}", px(from), px(at.1), px(to));
    }
    if let Some((from, to)) = ends(run, axes.1) {
        d += &format!("M{} {}V{}", px(at.0), px(from), px(to));
    }
    if !d.is_empty() {
        c.raw(&format!(
            r#"<path class="{}" fill="none" stroke="{}" stroke-width="1.4" d="{d}"/>"#,
            ink.class,
            escape(&ink.colour)
        ));
    }
}

/// A point: a square for the baseline, a large dot for the winner, a dot for any other; a ring on the frontier.
fn mark(c: &mut Canvas, roles: &Roles, run: usize, (x, y): (f64, f64), leads: bool, says: &str) {
    let ink = &roles.inks[run];
    let (class, colour) = (&ink.class, escape(&ink.colour));
    let shape = if run == roles.baseline {
        format!(
            r#"<rect class="{class}" fill="{colour}" x="{}" y="{}" width="9" height="9"/>"#,
            px(x - 4.5),
            px(y - 4.5)
        )
    } else {
        let r = if Some(run) == roles.winner { "5.5" } else { "4" };
        format!(r#"<circle class="{class}" fill="{colour}" cx="{}" cy="{}" r="{r}"/>"#, px(x), px(y))
    };
    c.raw(&shape);
    if leads {
        c.raw(&format!(
            r#"<path class="ring {class}" fill="none" stroke="{colour}" stroke-width="1.4" d="M{} {}a8 8 0 1 0 16 0a8 8 0 1 0 -16 0"/>"#,
            px(x - 8.0),
            px(y)
        ));
    }
    c.bar("sheet", "transparent", (x - 9.0, y - 9.0), (18.0, 18.0), says);
}

/// A name beside its point, where it covers nothing; one that must stand takes the place that covers least.
fn name(c: &mut Canvas, roles: &Roles, run: usize, (x, y): (f64, f64), must: bool, taken: &mut Vec<Area>) {
    let lines = drawn(&roles.labels[run], NAME);
    let wide = lines.iter().map(|l| text_width(l) * 1.08).fold(0.0, f64::max);
    let high = LINE * lines.len() as f64;
    let near = 11.0;
    let places: [(f64, f64); 8] = [
        (x + near, y - high / 2.0),
        (x - near - wide, y - high / 2.0),
        (x - wide / 2.0, y - near - high),
        (x - wide / 2.0, y + near - 2.0),
        (x + 7.0, y - near - high + 5.0),
        (x + 7.0, y + 6.0),
        (x - 7.0 - wide, y - near - high + 5.0),
        (x - 7.0 - wide, y + 6.0),
    ];
    let frame: Area = [LEFT + 2.0, TOP - 8.0, WIDTH, BOTTOM - 1.0];
    let covered = |(left, top): (f64, f64)| -> f64 {
        let area = [left - APART, top, left + wide + APART, top + high];
        let outside = (wide + 2.0 * APART) * high - common(&area, &frame);
        outside * 4.0 + taken.iter().map(|other| common(&area, other)).sum::<f64>()
    };
    let best = places.into_iter().map(|place| (covered(place), place)).min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, (left, top))) = best.filter(|(covers, _)| must || *covers < 4.0) else { return };
    taken.push([left, top, left + wide, top + high]);
    let ink = &roles.inks[run];
    for (n, line) in lines.iter().enumerate() {
        let class = format!("name {}", ink.class);
        c.coloured_text(&class, &ink.colour, (left, top + 11.0 + LINE * n as f64), Anchor::Start, line);
    }
}

/// The area that two have in common.
fn common(a: &Area, b: &Area) -> f64 {
    let wide = a[2].min(b[2]) - a[0].max(b[0]);
    let high = a[3].min(b[3]) - a[1].max(b[1]);
    if wide > 0.0 && high > 0.0 { wide * high } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes until wear-out of 1.1 to 11.6 TiB once had ticks such as "931.3226 GiB" that covered each other.
    #[test]
    fn log_axis_of_bytes_has_round_ticks_of_one_unit() {
        let tib = 1_099_511_627_776.0;
        let samples = [1.1, 2.5, 11.6].map(|of| vec![(1, of * tib)]).to_vec();
        let row = Row::of_samples("", "writes", (Quantity::Bytes, Better::Higher), samples);
        let axis = scale(&row, LEFT, RIGHT);
        let shown = apart(ticks(&axis, &row, 4));
        let texts: Vec<String> = shown.iter().map(|tick| tick_text(tick.value)).collect();
        assert_eq!(texts, ["1", "2", "5", "10", "20"]);
        assert_eq!(note("writes", &axis, &row), "writes (TiB), log scale; higher is better");
        let crowded: Vec<Tick> = shown.iter().map(|tick| Tick { at: tick.at / 20.0, ..*tick }).collect();
        assert!(apart(crowded).len() < shown.len());
    }
}
