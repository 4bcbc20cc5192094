//! The page and its pictures: complete, safe, self-contained and whole, whatever the runs were?

use crate::sample;
use std::sync::LazyLock;
use wordline_report::{
    Comparison, JobActivity, JobRequests, Rows, TerminalStyle, decided, figures, html, html_at,
};

/// Every sample with its page, made once for all tests that read them.
static PAGES: LazyLock<Vec<(&str, Comparison, String)>> = LazyLock::new(|| {
    let with_page = |(name, c): (&'static str, Comparison)| {
        let page = html(&c);
        (name, c, page)
    };
    sample::all().into_iter().map(with_page).collect()
});

/// Names of the elements still open at the end, or what closed wrongly. Void elements of HTML and
/// closed ones of SVG are fine; script and style hold no markup.
fn unbalanced(text: &str) -> Result<(), String> {
    const VOID: [&str; 5] = ["meta", "link", "br", "wbr", "!doctype"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').ok_or("a tag has no end")?;
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap_or("");
        if let Some(closed) = tag.strip_prefix('/') {
            let last = open.pop();
            if last != Some(closed) {
                return Err(format!("</{closed}> closes {last:?}"));
            }
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
            if name == "script" || name == "style" {
                let close = format!("</{name}>");
                rest = &rest[rest.find(&close).ok_or("a script has no end")?..];
            }
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("open at the end: {open:?}")) }
}

/// The page as a reader sees it, without style, script and markup.
fn visible(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start]);
        out.push(' ');
        rest = &rest[start..];
        for name in ["script", "style"] {
            if rest.starts_with(&format!("<{name}")) {
                rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
            }
        }
        rest = &rest[rest.find('>').unwrap() + 1..];
    }
    out + rest
}

#[test]
fn a_job_file_has_its_jobs_on_the_page() {
    let plain = sample::all().into_iter().find(|(_, c)| c.reports.len() == 1).unwrap().1;
    assert!(!html(&plain).contains("<h2>Jobs</h2>"));
    let mut report = plain.reports[0].clone();
    let read = JobRequests {
        requests: 1200,
        bytes: 1200 << 12,
        mean_ns: 81_000.0,
        percentiles_ns: vec![(50.0, 70_000), (99.0, 250_000)],
        ..JobRequests::default()
    };
    report.jobs = vec![JobActivity {
        name: "log<1>".into(),
        until_s: 2.0,
        read: Some(read),
        flush: Some(JobRequests::default()),
        ..JobActivity::default()
    }];
    let page = html(&Comparison::new(vec![report]));
    assert_eq!(unbalanced(&page), Ok(()));
    let seen = visible(&page);
    for text in ["log&lt;1&gt;", "1,200", "81.0", "250", "600", "flush"] {
        assert!(seen.contains(text), "{text}");
    }
    assert!(!seen.contains("NaN") && !seen.contains("inf"));
}

#[test]
fn every_page_is_well_formed_and_under_a_megabyte() {
    for (name, _, page) in &*PAGES {
        assert_eq!(unbalanced(page), Ok(()), "{name}");
        assert!(page.len() < 1_000_000, "{name}: {} bytes", page.len());
        assert!(page.ends_with("</html>\n"), "{name}");
    }
}

#[test]
fn a_page_of_sixteen_full_runs_stays_under_a_megabyte() {
    let runs: Vec<_> = (0..4).flat_map(|_| sample::four().reports).collect();
    let page = html(&Comparison::new(runs));
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

#[test]
fn page_compares_conditions_and_marks_differences() {
    let mut two = sample::two();
    let differing = visible(&html(&two));
    assert!(differing.contains("not identical for all: RAM (39.2 MiB against 42.0 MiB)"), "{differing}");
    assert_eq!(html(&two).matches("class=\"differs\"").count(), 1);
    two.reports[1].conditions = two.reports[0].conditions.clone();
    let alike = visible(&html(&two));
    let all = "identical for all: capacity 39.2 GiB, flash 42.0 GiB TLC + 2.00 GiB SLC, over-provisioning 7.0 %, RAM 39.2 MiB";
    assert!(alike.contains(all), "{alike}");
    assert_eq!(html(&two).matches("class=\"differs\"").count(), 0);
    let text = wordline_report::table(
        &sample::two(),
        &Rows::All,
        TerminalStyle { width: 200, ..TerminalStyle::default() },
    );
    assert!(text.contains("drive not identical for all: RAM (39.2 MiB against 42.0 MiB)"), "{text}");
    two.reports[1].conditions = None;
    assert!(
        !visible(&html(&two)).contains("the same for all"),
        "an old report says nothing of its conditions"
    );
}

#[test]
fn flash_that_differs_by_over_one_percent_is_noted() {
    for (times, differs) in [(1.0, false), (1.009, false), (1.02, true), (0.98, true)] {
        let mut two = sample::two();
        let conditions = two.reports[1].conditions.as_mut().unwrap();
        let tlc = conditions.flash_bytes.get_mut("tlc").unwrap();
        *tlc = (*tlc as f64 * times) as u64;
        let page = visible(&html(&two));
        assert_eq!(page.contains("flash (42.0 GiB TLC + 2.00 GiB SLC against"), differs, "{times}: {page}");
    }
}

#[test]
fn unreachable_threshold_heads_table_and_page() {
    let mut two = sample::two();
    two.reports[0].out_of_reach = vec![wordline_report::OutOfReach {
        region: "D".into(),
        setting: "gc.trigger".into(),
        value: "free_blocks < 50%".into(),
        reachable: 0.182,
        data_bytes: 40 << 30,
        within_reach: Some("free_blocks:9%".into()),
    }];
    let style = TerminalStyle { width: 400, ..TerminalStyle::default() };
    let said = "GC of region D never reaches its trigger";
    for text in
        [wordline_report::table(&two, &Rows::All, style), wordline_report::summary(&two.reports[0], style)]
    {
        let head = text.split("Write latency").next().unwrap();
        assert!(
            head.contains(said) && head.contains("--set gc.trigger=free_blocks:9% is reachable"),
            "{text}"
        );
    }
    assert!(visible(&html(&two)).contains(said));
}

#[test]
fn every_report_says_what_is_not_modelled() {
    for (name, _, page) in &*PAGES {
        assert!(page.contains("<a href=\"#not-modelled\">"), "{name}");
        let seen = visible(page);
        for part in ["Host and controller", "Times are constant", "Suspension"] {
            assert!(seen.contains(part), "{name}: {part}");
        }
    }
}

#[test]
fn the_page_asks_the_network_for_nothing() {
    for (name, _, page) in &*PAGES {
        let page = page.replace("http://www.w3.org/2000/svg", "");
        for scheme in ["http://", "https://", "url(", "@import", "src=\"", "import("] {
            assert!(!page.contains(scheme), "{name}: {scheme}");
        }
        assert!(page.contains("default-src 'none'"), "{name}");
    }
}

#[test]
fn nothing_that_is_no_number_is_printed() {
    for (name, c, page) in &*PAGES {
        let seen = visible(page);
        for word in ["NaN", "inf", "null"] {
            let found = seen.split(|ch: char| !ch.is_alphabetic()).any(|w| w == word);
            assert!(!found, "{name}: {word}");
        }
        for f in figures(c) {
            for word in ["NaN", "inf,", "inf ", "inf\"", "-inf"] {
                assert!(!f.svg.contains(word), "{name}, {}: {word}", f.name);
                assert!(!f.csv.contains(word.trim_end_matches('"')), "{name}, {}.csv: {word}", f.name);
            }
        }
    }
}

#[test]
fn names_cannot_become_markup() {
    let c = sample::hostile();
    let page = html(&c);
    assert_eq!(page.matches("<script>").count(), 1, "only our own");
    assert_eq!(page.matches("</script>").count(), 2, "and the data");
    assert_eq!(page.matches("</style>").count(), 1);
    assert!(!page.contains('\u{1b}'));
    for f in figures(&c) {
        assert!(!f.svg.contains("<script"), "{}", f.name);
    }
}

#[test]
fn commands_of_a_page_name_it_where_it_was_written() {
    let page = html_at(&sample::two(), "out/my runs/report.html").replace("&#39;", "'");
    for command in ["wordline rerun 'out/my runs/report.html'", "wordline why 'out/my runs/report.html' "] {
        assert!(page.contains(command), "{command}");
    }
}

#[test]
fn the_page_shows_every_part() {
    let page = html(&sample::four());
    for part in ["Measures", "Latency", "Media writes by cause", "Over time", "Configuration"] {
        assert!(page.contains(&format!("<h2>{part}</h2>")), "{part}");
    }
    for f in figures(&sample::four()) {
        assert!(page.contains(&format!("<figure id=\"{}\">", f.name)), "{}", f.name);
    }
    let c = sample::two();
    let page = html(&c);
    for r in &c.reports {
        assert!(page.contains(&r.result_hash));
        assert!(page.contains(&r.hints[0]));
    }
    let page = page.replace("<wbr>", "");
    assert!(page.contains("scheme.cache_blocks"), "the keys that differ");
    assert!(page.contains("device.media[0].slc.program"), "and the others");
}

#[test]
fn figures_have_data_beside_them() {
    let four = figures(&sample::four());
    let names: Vec<&str> = four.iter().map(|f| &*f.name).collect();
    assert_eq!(
        names,
        [
            "tradeoff",
            "write-latency-parts",
            "read-latency-parts",
            "write-latency-cdf",
            "read-latency-cdf",
            "programs-by-cause",
            "programs-by-region",
            "erases-by-mode",
            "waf-over-time",
            "write-latency-over-time",
            "read-latency-over-time",
            "write-throughput-over-time",
            "read-throughput-over-time",
            "free-blocks-over-time",
            "block-map",
            "busy-dies-and-buses",
            "busy-dies-over-time",
            "busy-buses-over-time",
            "wear-slc",
            "wear-tlc",
        ]
    );
    for f in &four {
        assert_eq!(unbalanced(&f.svg), Ok(()), "{}", f.name);
        assert!(f.svg.starts_with("<svg xmlns="), "{}", f.name);
        let columns = f.csv.lines().next().unwrap().split(',').count();
        assert!(f.csv.lines().count() > 4, "{}", f.name);
        assert!(f.csv.lines().all(|l| l.split(',').count() == columns), "{}", f.name);
        for scheme in ["conventional", "slc-cache", "hierarchy", "ips"] {
            assert!(f.svg.contains(&format!(">{scheme}</text>")), "{}: {scheme} is labelled", f.name);
            assert!(f.csv.contains(&format!("\n{scheme},")), "{}: {scheme} has data", f.name);
        }
    }
}

#[test]
fn replicas_bring_whiskers_and_the_differences() {
    let all = figures(&sample::replicated());
    let find = |name: &str| all.iter().find(|f| f.name == name).unwrap();
    let differences = find("differences");
    assert_eq!(unbalanced(&differences.svg), Ok(()));
    assert!(differences.csv.contains("slc-cache,write latency mean,-"), "{}", differences.csv);
    for name in ["programs-by-cause", "programs-by-region", "erases-by-mode"] {
        let f = find(name);
        assert!(f.svg.contains("±") && f.caption.contains("whisker"), "{name}");
        assert!(f.csv.lines().next().unwrap().ends_with("half_width_95"), "{name}");
        assert!(f.csv.contains("conventional,total,"), "{name}");
    }
    assert!(find("write-latency-cdf").caption.contains("first replica, seed 1"));
    let page = html(&sample::replicated());
    assert!(page.contains("<span class=\"spread\">±"));
    assert!(page.contains("<b>conventional</b>: steady"));
    assert!(!html(&sample::two()).contains("±"));
}

#[test]
fn what_schemes_follow_has_a_picture_a_name() {
    for (count, curves) in [(3, 2), (9, 8)] {
        let c = sample::metrics(count);
        let all = figures(&c);
        let drawn_metrics: Vec<_> = all.iter().filter(|f| f.name.starts_with("metrics-")).collect();
        let names: Vec<&str> = drawn_metrics.iter().map(|f| &*f.name).collect();
        assert_eq!(
            names,
            ["metrics-drift", "metrics-hit-rate", "metrics-once", "metrics-quota-of-1"],
            "of {count}"
        );
        let page = html(&c);
        assert!(page.contains("<h2>Scheme metrics</h2>"));
        for f in &drawn_metrics {
            assert_eq!(unbalanced(&f.svg), Ok(()), "{}", f.name);
            assert!(page.contains(&format!("<figure id=\"{}\">", f.name)), "{}", f.name);
            assert!(f.csv.starts_with("scheme,host_page_writes,value\n"), "{}", f.csv);
            let drawn = if f.name == "metrics-once" { 1 } else { curves };
            assert_eq!(f.svg.matches("class=\"line ").count(), drawn, "{}", f.name);
        }
        assert!(visible(&page).contains("quota, of &lt;1&gt;"));
        assert!(drawn_metrics[1].csv.lines().count() > 900 * curves, "files have all points");
    }
    assert!(!html(&sample::two()).contains("Scheme metrics"));
}

/// A plot of nothing but zeros was once drawn, and its mean was called "scheme metrics mean".
#[test]
fn metric_that_stays_zero_is_a_line_and_no_picture() {
    let mut c = sample::metrics(3);
    for report in &mut c.reports {
        let zero = report.metrics.get("hit rate").map(|pairs| pairs.iter().map(|p| [p[0], 0.0]).collect());
        report.metrics.extend(zero.map(|pairs| ("hit rate".to_string(), pairs)));
    }
    assert!(figures(&c).iter().all(|f| f.name != "metrics-hit-rate"));
    let page = visible(&html(&c));
    let zero = between(&page, "Zero in every run:", "What these figures are");
    assert!(zero.contains("scheme metrics hit rate mean"), "{zero}");
}

#[test]
fn a_picture_without_data_is_left_out() {
    let names = |c: &Comparison| figures(c).into_iter().map(|f| f.name.into_owned()).collect::<Vec<_>>();
    assert!(names(&sample::without_reads()).iter().all(|n| !n.starts_with("read")));
    assert_eq!(
        names(&sample::without_pictures()),
        [
            "tradeoff",
            "write-latency-parts",
            "read-latency-parts",
            "programs-by-cause",
            "programs-by-region",
            "erases-by-mode"
        ]
    );
    assert!(names(&sample::empty()).is_empty());
    assert!(names(&Comparison::new(Vec::new())).is_empty());
}

#[test]
fn baseline_winner_and_others_have_a_colour_each() {
    let mut c = sample::four();
    c.baseline = 2;
    c.reports.iter_mut().for_each(|r| r.steady_state = Some(sample::settled(true)));
    let winner = decided(c.clone()).decision.unwrap().winner.expect("the sample has a fastest scheme");
    for f in figures(&c) {
        for (run, report) in c.reports.iter().enumerate() {
            let colour = match run {
                2 => "#262d38",
                run if run == winner => "#4c3fbf",
                _ => "#6b7480",
            };
            let scheme = &report.scheme.name;
            let label = f.svg.split("<text").find(|t| t.contains(&format!(">{scheme}</text>"))).unwrap();
            assert!(label.contains(colour), "{}: {scheme}", f.name);
        }
    }
}

#[test]
fn causes_keep_their_order_and_sum_to_the_waf() {
    let c = sample::four();
    let f = figures(&c).into_iter().find(|f| f.name == "programs-by-cause").unwrap();
    let causes: Vec<&str> =
        f.csv.lines().filter(|l| l.starts_with("ips,")).map(|l| l.split(',').nth(1).unwrap()).collect();
    assert_eq!(causes, ["host", "gc", "migration", "reprogram", "pad"]);
    for r in &c.reports {
        let prefix = format!("{},", r.scheme.name);
        let lines = f.csv.lines().filter(|l| l.starts_with(&prefix));
        let sum: f64 = lines.map(|l| l.rsplit(',').next().unwrap().parse::<f64>().unwrap()).sum();
        assert!((sum - r.waf.as_ref().unwrap().total).abs() < 1e-4, "{prefix}{sum}");
    }
}

#[test]
fn curves_reach_p9999_and_no_further() {
    let f = figures(&sample::two()).into_iter().find(|f| f.name == "write-latency-cdf").unwrap();
    for tick in ["0", "25%", "50%", "90%", "99%", "99.9%", "99.99%"] {
        assert!(f.svg.contains(&format!(">{tick}</text>")), "{tick}");
    }
    let top: f64 =
        f.svg.split("data-y=\"lin 0 1 ").nth(1).unwrap().split(['"', ' ']).nth(1).unwrap().parse().unwrap();
    for series in f.svg.split("class=\"series\"").skip(1) {
        let d = series.split(" d=\"M").nth(1).unwrap().split('"').next().unwrap();
        let heights = d.split('L').map(|p| p.split(' ').nth(1).unwrap().parse::<f64>().unwrap());
        let highest = heights.fold(f64::INFINITY, f64::min);
        assert!((highest - top).abs() < 0.2, "{highest} against {top}");
    }
}

#[test]
fn arrays_are_called_what_they_are() {
    let mut c = sample::two();
    let find = |c: &Comparison| {
        let all = figures(c);
        all.into_iter().find(|f| f.name == "busy-dies-and-buses").unwrap()
    };
    assert!(find(&c).csv.contains("conventional,die,0,"));
    for r in &mut c.reports {
        r.config["device"]["parallel_unit"] = "plane".into();
    }
    let planes = find(&c);
    assert!(planes.csv.contains("conventional,plane,0,") && !planes.csv.contains(",die,"), "{}", planes.csv);
    assert!(planes.title.contains("planes") && !planes.svg.contains(": die "), "{}", planes.title);
}

#[test]
fn many_runs_get_small_plots_and_few_share_one() {
    let many: Vec<_> = (0..4).flat_map(|_| sample::four().reports).take(15).collect();
    let page = html(&Comparison::new(many.clone()));
    assert!(page.contains("<table class=\"byscheme\">") && page.contains("All measures of all 15 runs"));
    let curves = |runs: Vec<wordline_report::Report>| {
        let all = figures(&Comparison::new(runs));
        let f = all.into_iter().find(|f| f.name == "write-latency-cdf").unwrap();
        (f.svg.matches("class=\"series\"").count(), f.svg.matches("class=\"line ").count())
    };
    // A small plot has its own curve and, but for the baseline's, the baseline's.
    assert_eq!(curves(many), (0, 29));
    assert_eq!(curves(sample::four().reports), (4, 4));
}

#[test]
fn heading_has_full_spellings_and_a_copyable_command() {
    let heading = wordline_report::Heading {
        title: "two <schemes>".into(),
        lead: "So it came out.".into(),
        facts: vec![("workload".into(), format!("bursty:{}", "write_rate=100MB/s,".repeat(4)))],
        command: Some("wordline run --scheme 'a<b>'".into()),
    };
    let page = wordline_report::page(&heading, "<p>body</p>", &["the end & more".to_string()]);
    assert_eq!(unbalanced(&page), Ok(()));
    for part in [
        "two &lt;schemes&gt;",
        "<div class=\"long\"><dt>workload</dt>",
        "<pre><code>wordline run --scheme &#39;a&lt;b&gt;&#39;</code></pre>",
        "the end &amp; more",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

/// What stands between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).and_then(|(_, rest)| rest.split_once(to)).unwrap_or_else(|| panic!("no {from}")).0
}

/// What is said of one seed: whether its runs have intervals of their own.
#[test]
fn caption_of_one_seed_names_intervals_within_runs() {
    let said = |comparison: &Comparison| visible(between(&html(comparison), "id=\"certainty\">", "</p>"));
    let steady = said(&sample::steady(sample::two()));
    assert!(steady.contains("within the runs count as equal;"), "{steady}");
    let short = said(&sample::two());
    assert!(short.contains("One seed, so no confidence intervals;"), "{short}");
}

#[test]
fn a_page_begins_with_what_decides() {
    let named = |n: usize| {
        let mut runs: Vec<_> = (0..4).flat_map(|_| sample::four().reports).take(n).collect();
        for (i, run) in runs.iter_mut().enumerate() {
            run.scheme.name = format!("scheme-{i}");
        }
        Comparison::new(runs)
    };
    for comparison in [named(3), named(7), named(15), sample::replicated()] {
        let decision = decided(comparison.clone()).decision.unwrap();
        let page = html(&comparison).replace("<wbr>", "");
        let first = page.split("<nav class=\"contents\"").next().unwrap();
        // Which has the lowest p99.9, and is it sure?
        let verdict = visible(between(first, "id=\"verdict\">", "</p>"));
        assert!(decision.verdict.starts_with(&verdict), "{verdict}");
        let row = between(first, "data-measure=\"latency_us.write.p999\"", "</tr>");
        let lead = decision.lead.iter().find(|m| m.path == "latency_us.write.p999").unwrap();
        for run in &lead.best {
            assert!(row.contains(&comparison.reports[*run].scheme.name), "{row}");
        }
        let certainty = visible(between(first, "id=\"certainty\">", "</p>"));
        assert!(certainty.contains("runs steady"), "{certainty}");
        // What does it cost?
        assert!(first.contains("data-measure=\"waf.total\""));
        let rows = first.matches("data-measure=").count();
        assert!((4..=6).contains(&rows) && rows == decision.lead.len(), "{rows}");
        assert!(first.contains("<figure id=\"tradeoff\">"));
        // Why is it slow? One click away, and its answer stands beside the title.
        let why = visible(between(&page, "<details class=\"part\" id=\"why\">", "</summary>"));
        assert!(why.contains("Mean write latency:") && why.contains('%'), "{why}");
        assert_eq!(
            page.matches("<details class=\"part\"").count(),
            page.matches("<li><a href=\"#").count() - 1
        );
        assert_eq!(page.matches("\" open>").count(), 1, "the first section alone is unfolded");
    }
}

/// Schemes without an SLC cache once lost to those with one by erases of SLC blocks, which they have none of.
#[test]
fn erases_decide_only_where_every_scheme_has_the_mode() {
    let erases = |c: &Comparison| {
        let lead = decided(c.clone()).decision.unwrap().lead;
        lead.iter().filter(|m| m.path.starts_with("flash.erases")).count()
    };
    let mut c = sample::two();
    for report in &mut c.reports {
        (report.latency_us.write, report.latency_us.read) = (None, None);
        report.flash.erases = [("tlc".to_string(), 900)].into();
    }
    c.reports[1].flash.erases.insert("slc".to_string(), 400);
    c.reports[1].flash.erases.insert("tlc".to_string(), 500);
    assert_eq!(erases(&c), 0);
    c.reports[0].flash.erases.insert("slc".to_string(), 300);
    assert_eq!(erases(&c), 2);
}

#[test]
fn frontier_holds_what_no_other_scheme_beats() {
    let decision = decided(sample::four()).decision.unwrap();
    let tradeoff = decision.tradeoff.unwrap();
    let better = |m: &wordline_report::Measure, a: usize, b: usize| {
        let (a, b) = (m.values[a].unwrap(), m.values[b].unwrap());
        if m.better.as_deref() == Some("lower") { a < b } else { a > b }
    };
    for run in 0..4 {
        let beaten =
            (0..4).any(|other| better(&tradeoff.gain, other, run) && better(&tradeoff.cost, other, run));
        assert_eq!(tradeoff.frontier.contains(&run), !beaten, "{run}");
    }
    assert!(decided(sample::without_reads()).decision.is_some());
}

#[test]
fn a_caption_is_said_once_in_a_section() {
    let page = html(&sample::four());
    assert_eq!(page.matches("The line is the mean of each time bin, the dots are the maximum.").count(), 1);
}

#[test]
fn no_legend_has_two_swatches_of_one_colour() {
    let mut legends = 0;
    for f in figures(&sample::four()) {
        let rects = f.svg.split("<rect ").skip(1).map(|tag| tag.split("/>").next().unwrap());
        let swatches = rects.filter(|tag| tag.contains("width=\"10\" height=\"10\" rx=\"2\""));
        let colours: Vec<&str> = swatches.map(|tag| between(tag, "fill=\"", "\"")).collect();
        let distinct: std::collections::BTreeSet<&&str> = colours.iter().collect();
        assert_eq!(distinct.len(), colours.len(), "{}", f.name);
        legends += usize::from(!colours.is_empty());
    }
    assert!(legends >= 5, "{legends} legends");
}

#[test]
fn a_page_carries_what_a_rerun_takes() {
    let c = sample::hostile();
    let data = wordline_report::data_of(&html(&c)).expect("data").to_string();
    assert!(!data.contains('<'));
    let carried = Comparison::from_json(&data).unwrap();
    for (was, is) in c.reports.iter().zip(&carried.reports) {
        assert_eq!(
            (&is.config, &is.result_hash, &is.latency_us),
            (&was.config, &was.result_hash, &was.latency_us)
        );
        assert!(is.timeline.write_mb_per_s.is_empty() && is.block_map.frames.is_empty());
    }
    let one = Comparison::new(vec![sample::two().reports.remove(0)]);
    let page = html(&one);
    let report = wordline_report::Report::from_json(wordline_report::data_of(&page).unwrap()).unwrap();
    assert_eq!(report.result_hash, one.reports[0].result_hash);
}
