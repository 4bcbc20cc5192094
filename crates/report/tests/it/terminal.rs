//! The table: does a person read the right thing, at any width?

use crate::sample;
use unicode_width::UnicodeWidthStr;
use wordline_report::{
    ChangingCapacity, Comparison, Estimate, Lifetime, Rows, TerminalStyle, summary, verdict_of,
};

/// All rows, which most tests are about.
fn table(comparison: &Comparison, style: TerminalStyle) -> String {
    wordline_report::table(comparison, &Rows::All, style)
}

fn plain(width: usize) -> TerminalStyle {
    TerminalStyle { colour: false, width }
}

/// The line of a measure under its heading.
fn row<'a>(text: &'a str, group: &str, label: &str) -> &'a str {
    let mut lines = text.lines().skip_while(|l| *l != group);
    lines
        .find(|l| l.trim_start().starts_with(label))
        .unwrap_or_else(|| panic!("no {group}, {label} in\n{text}"))
}

fn without_codes(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut out = parts.next().unwrap_or("").to_string();
    for part in parts {
        out.push_str(part.split_once('m').unwrap().1);
    }
    out
}

#[test]
fn best_value_of_each_row_is_marked_with_its_ratio() {
    let text = table(&sample::two(), plain(80));
    assert_eq!(row(&text, "Write latency", "p50"), "  p50           µs     2,120            857   * (0.41×)");
    assert_eq!(
        row(&text, "Write amplification", "WAF"),
        "  WAF                      1.28*          2.33  (1.82×)"
    );
    assert_eq!(
        row(&text, "Throughput", "written"),
        "  written       MB/s       5.20           5.20  (1.00×)"
    );
    assert!(!row(&text, "Write amplification", "migration").contains(['*', '×']), "a part is no merit");
    assert!(!row(&text, "Erases", "SLC").contains('*'), "nor is having no cache");
}

#[test]
fn repeats_show_mean_interval_and_paired_difference() {
    let c = sample::replicated();
    let text = table(&c, plain(100));
    let means = |scheme: usize| -> Vec<f64> {
        let runs = &c.reports[scheme].replicas.as_ref().unwrap().runs;
        runs.iter().map(|r| r.latency_us.write.unwrap().p50).collect()
    };
    let line = row(&text, "Write latency", "p50");
    let numbers: Vec<f64> = line.replace(',', "").split([' ', '*']).filter_map(|w| w.parse().ok()).collect();
    for (scheme, shown) in [(0, &numbers[0..2]), (1, &numbers[2..4])] {
        let e = Estimate::of(&means(scheme)).unwrap();
        let half = e.half_width_95.unwrap();
        // One digit of the half-width is shown, and the mean to its place.
        assert!(half > 0.0 && (shown[1] / half - 1.0).abs() < 0.34, "{half}: {line}");
        assert!((shown[0] - e.mean).abs() < half, "{}: {line}", e.mean);
    }
    let paired: Vec<f64> = means(1).iter().zip(means(0)).map(|(a, b)| (a / b - 1.0) * 100.0).collect();
    let e = Estimate::of(&paired).unwrap();
    assert!(line.contains(&format!("−{:.1} % ± ", -e.mean)), "{e:?}: {line}");
    // Paired by seed, most of the chance cancels.
    assert!(e.half_width_95.unwrap() < 0.5, "{e:?}");
    assert!(text.contains("Means of 8 replicas") && text.contains("seeds 1 to 8"), "{text}");
    assert_eq!(c.differences_percent[1]["latency_us.write.p50"], e);
}

/// What the line below a table explains is in the table: of few schemes, of many, at any width.
#[test]
fn repeats_show_intervals_for_many_schemes() {
    for count in [2, 3, 5, 8] {
        let reports: Vec<_> = (0..4).flat_map(|_| sample::replicated().reports).take(count).collect();
        let c = Comparison::new(reports);
        for width in [80, 100, 200] {
            let text = table(&c, plain(width));
            let (figures, footer) = text.split_once("is the best of its").unwrap();
            let says = |words: &str| footer.split_whitespace().collect::<Vec<_>>().join(" ").contains(words);
            assert!(
                figures.contains(" ± ")
                    && says("replicas ± half-width of the 95 % confidence interval (Student's t)"),
                "{count} at {width}:\n{text}"
            );
            let shown = figures.lines().any(|l| l.contains(" % ± ") && l.contains(['−', '+']));
            assert_eq!(shown, says("differences are paired by seed."), "{count} at {width}:\n{text}");
            assert!(shown || says("differences need a wider terminal"), "{count} at {width}:\n{text}");
            assert!(shown || count < 5, "{count} at {width}:\n{text}");
        }
    }
}

#[test]
fn identical_repeats_get_a_word_instead_of_an_interval() {
    let text = table(&sample::replicas_alike(), plain(100));
    assert!(text.contains("all 3 replicas have identical results"), "{text}");
    assert!(!text.contains('±'), "{text}");
    assert_eq!(
        row(&text, "Write latency", "p50"),
        row(&table(&sample::two(), plain(100)), "Write latency", "p50")
    );
}

#[test]
fn steady_state_line_shows_what_was_measured_after_it() {
    let mut c = sample::replicated();
    c.reports.iter_mut().for_each(|r| r.replicas = None);
    let text = table(&c, plain(120));
    let line = "state conventional: steady from 19.2 min (18 % of the requests); WAF after it 1.31 ± 0.03.";
    assert!(text.contains(line), "{text}");
    let line = "state slc-cache: not steady: WAF still rises, by 3.1 % from the third to the last quarter of the run; \
                run";
    assert!(text.contains(line), "{text}");
    assert_eq!(
        row(&text, "After warm-up", "WAF").split_whitespace().collect::<Vec<_>>(),
        ["WAF", "1.31", "–"]
    );
    assert!(summary(&c.reports[0], plain(120)).contains("steady state   steady from 19.2 min"), "{text}");
}

/// A lifetime is extrapolated, so it is given of a steady run alone; DWPD comes with its years.
#[test]
fn lifetime_of_unsteady_run_is_not_known() {
    let mut c = sample::steady(sample::two());
    c.reports[0].lifetime = Some(Lifetime {
        total_bytes_written: Some(9e12),
        years: Some(0.002),
        drive_writes_per_day: Some(0.6),
        ..Lifetime::default()
    });
    let text = summary(&c.reports[0], plain(400));
    let line = text.lines().find(|l| l.starts_with("lifetime ")).unwrap();
    assert!(line.contains("TB by the wear of this run"), "{line}");
    assert!(
        line.contains(" DWPD over 5 years, or ") && line.contains("TB by the wear of this run"),
        "{line}"
    );
    assert!(!text.contains("run longer"), "{text}");
    c.reports[0].steady_state.as_mut().unwrap().reached = wordline_report::Reached::No;
    let text = summary(&c.reports[0], plain(400));
    let line = text.lines().find(|l| l.starts_with("lifetime ")).unwrap();
    assert!(line.trim_end().ends_with("TBW unknown: the run is not steady; run longer"), "{line}");
    let longer = "run longer     to reach a steady state use the command below with --requests ";
    assert!(text.contains(longer), "{text}");
    assert!(
        table(&c, plain(400))
            .contains("\nlonger to reach a steady state in all runs, use the command below with --req")
    );
}

#[test]
fn decimal_points_stand_in_line() {
    let text = table(&sample::two(), plain(80));
    let at = |group, label| row(&text, group, label).find('.').unwrap();
    assert_eq!(at("Write latency", "mean"), at("Write amplification", "WAF"));
    assert_eq!(at("Write latency", "mean"), at("Throughput", "IOPS"));
}

#[test]
fn a_run_that_failed_requests_is_never_best() {
    let text = table(&sample::with_failures(), plain(80));
    assert!(row(&text, "Requests", "failed").ends_with("1,203"));
    assert!(!row(&text, "Write latency", "p50").contains('*'), "one run alone is not the best of two");
    assert!(text.contains("hint  slc-cache: 1,203 of 72,253 requests failed (1,203 out of space)"), "{text}");
    assert!(row(&text, "Requests", "in buffer").ends_with("12.0"), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    let hint = "hint slc-cache: 12.0 MiB of acknowledged writes are still in the write buffer at the end";
    assert!(words.join(" ").contains(hint), "{text}");
}

/// What stands before the command that makes it again, which is never cut.
fn before_command(text: &str) -> &str {
    text.split("\nwordline ").next().unwrap()
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [40, 60, 80, 100, 200] {
        for (name, c) in sample::all() {
            for colour in [false, true] {
                let style = TerminalStyle { colour, width };
                let mut texts = vec![table(&c, style)];
                texts.extend(c.reports.iter().map(|r| summary(r, style)));
                for line in texts.iter().flat_map(|t| before_command(t).lines()) {
                    let wide = without_codes(line).width();
                    assert!(wide <= width, "{name}: {wide} > {width}: {line}");
                }
            }
        }
    }
}

#[test]
fn three_schemes_with_ratios_fit_eighty_columns() {
    let mut reports = sample::four().reports;
    reports.truncate(3);
    let text = table(&Comparison::new(reports.clone()), plain(80));
    assert_eq!(row(&text, "Write latency", "p50").matches('×').count(), 2, "{text}");
    let names = text.lines().take_while(|line| *line != "Write latency").last().unwrap();
    for scheme in ["conventional", "slc-cache", "hierarchy"] {
        assert!(names.contains(scheme), "{text}");
    }
}

#[test]
fn more_schemes_than_fit_become_rows() {
    let runs: Vec<_> = (0..3).flat_map(|_| sample::four().reports).collect();
    let text = wordline_report::table(&Comparison::new(runs), &Rows::Decisive("--all"), plain(80));
    assert_eq!(text.lines().filter(|l| l.starts_with("slc-cache (3)  ")).count(), 2, "two tables:\n{text}");
    assert!(!text.contains('×'), "{text}");
    for head in ["w mean", "w p99.9", "r mean", "r p99", "WAF", "Erases"] {
        assert!(text.lines().any(|l| l.contains(head)), "{head} in\n{text}");
    }
    let best = text.lines().find(|l| l.starts_with("hierarchy   ")).unwrap();
    assert!(best.contains('*'), "{text}");
}

#[test]
fn scheme_metrics_show_last_value_and_mean() {
    let text = table(&sample::metrics(3), plain(100));
    let group = text.split_once("\nScheme metrics\n").unwrap().1;
    let cells = |label: &str| -> Vec<&str> {
        group.lines().find_map(|l| l.trim_start().strip_prefix(label)).unwrap().split_whitespace().collect()
    };
    assert_eq!(cells("quota, of <1>"), ["–", "8", "8"]);
    assert_eq!(cells("once"), ["–", "7", "–"]);
    let mean = group.lines().skip_while(|l| !l.contains("quota, of <1>")).nth(1).unwrap();
    assert_eq!(mean.split_whitespace().collect::<Vec<_>>(), ["mean", "–", "13,300", "13,300"]);
    let metrics = Rows::Named(vec!["scheme metrics".to_string()]);
    let many = wordline_report::table(&sample::metrics(9), &metrics, plain(100));
    assert!(many.lines().any(|l| l.contains("drift") && l.contains("hit rate")), "{many}");
    assert!(!table(&sample::two(), plain(100)).contains("Followed"));
}

#[test]
fn colour_changes_nothing_but_the_look() {
    let reports = sample::two().reports;
    let coloured = table(&Comparison::new(reports.clone()), TerminalStyle { colour: true, width: 80 });
    assert!(coloured.contains("\x1b[1;32m857"));
    let bare = |t: &str| t.replace('*', " ").split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let plain = bare(&table(&Comparison::new(reports.clone()), plain(80)));
    assert_eq!(bare(&without_codes(&coloured).replace("Green is", "is")), plain);
}

#[test]
fn a_name_cannot_command_the_terminal() {
    let c = sample::hostile();
    assert!(!table(&c, plain(120)).contains('\x1b'));
    assert!(!summary(&c.reports[0], plain(120)).contains('\x1b'));
}

#[test]
fn nothing_that_is_no_number_is_printed() {
    for (name, c) in sample::all() {
        let mut text = table(&c, plain(100));
        c.reports.iter().for_each(|r| text.push_str(&summary(r, plain(100))));
        let words = |w: &str| text.split(|ch: char| !ch.is_alphabetic()).any(|t| t == w);
        assert!(!words("NaN") && !words("inf"), "{name}:\n{text}");
    }
}

#[test]
fn the_summary_tells_what_the_table_leaves_out() {
    let text = summary(&sample::two().reports[1], plain(80));
    for part in [
        "slc-cache: page-mapped",
        "flash reads",
        "migration 812,331",
        "capacity",
        "over-provisioning",
        "wear",
        "result hash",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains('×') && !text.contains('*'), "{text}");
}

#[test]
fn names_are_whole_at_any_number_of_schemes() {
    let long = "turbo-write+pa-ssd:QDS+UBS,window=12,when_full=wait";
    for count in [2, 4, 7, 15] {
        let mut reports: Vec<_> = (0..4).flat_map(|_| sample::four().reports).take(count).collect();
        reports[1].scheme.name = long.into();
        let text = table(&Comparison::new(reports), plain(80));
        let heads: String = text.split_whitespace().collect();
        assert!(!text.contains('…'), "{count}:\n{text}");
        for part in ["turbo-", "write+", "pa-", "QDS+", "UBS,", "window=12,", "when_"] {
            assert!(heads.contains(part), "{part} with {count}:\n{text}");
        }
    }
}

#[test]
fn a_warning_of_several_schemes_is_said_once() {
    let mut reports: Vec<_> = (0..2).flat_map(|_| sample::four().reports).take(7).collect();
    for (i, r) in reports.iter_mut().enumerate() {
        r.hints = if i == 2 { vec![] } else { vec![format!("the drive was full {} times.", 3 + i)] };
    }
    let text = table(&Comparison::new(reports), plain(80));
    assert_eq!(text.matches("the drive was full").count(), 1, "{text}");
    assert!(text.contains("all but hierarchy: the drive was full 3 to 9 times."), "{text}");
}

#[test]
fn nothing_is_concluded_from_latencies_under_overload() {
    let mut c = sample::two();
    for r in &mut c.reports {
        r.config["pacing"] = serde_json::json!({ "open": { "queue_depth": 1 } });
        r.latency_us.write.as_mut().unwrap().mean = 9e6;
    }
    let said = verdict_of(&c);
    assert!(said.starts_with("The drive is overloaded under every scheme"), "{said}");
    assert!(said.contains("requests/s against") && !said.contains("lowest"), "{said}");
    let text = table(&c, plain(80));
    assert!(!row(&text, "Write latency", "p50").contains(['*', '×']), "{text}");
    assert!(row(&text, "Write amplification", "WAF").contains('×'), "{text}");
    c.reports[1].latency_us.write.as_mut().unwrap().mean = 1.0;
    let said = verdict_of(&c);
    assert!(said.starts_with("The drive is overloaded under conventional:"), "{said}");
    let alone = verdict_of(&Comparison::new(vec![c.reports[0].clone()]));
    assert!(
        alone.contains("admitted), so latency grows with the length of the run; throughput is"),
        "{alone}"
    );
}

#[test]
fn overloaded_schemes_are_listed_with_one_and() {
    let mut c = Comparison::new(sample::four().reports);
    for r in &mut c.reports[..3] {
        r.config["pacing"] = serde_json::json!({ "open": { "queue_depth": 1 } });
        r.latency_us.write.as_mut().unwrap().mean = 9e6;
    }
    let names: Vec<String> = c.reports.iter().map(|r| r.scheme.name.clone()).collect();
    let said = verdict_of(&c);
    let listed = format!("under {}, {} and {}:", names[0], names[1], names[2]);
    assert!(said.contains(&listed), "{listed}: {said}");
}

/// One overloaded scheme of many once hid the latencies of all others, and the headline compared throughput.
#[test]
fn overloaded_scheme_leaves_others_compared() {
    let mut c = sample::steady(sample::four());
    for (i, r) in c.reports.iter_mut().enumerate() {
        r.config["pacing"] = serde_json::json!({ "open": { "queue_depth": 64 } });
        r.simulated_s = 1e6;
        r.latency_us.write.as_mut().unwrap().mean = 1000.0 / (i + 1) as f64;
    }
    let named: Vec<String> = c.reports.iter().map(|r| r.scheme.name.clone()).collect();
    let kept = verdict_of(&c);
    assert!(
        kept.contains(&format!("Of 4 schemes, {} has the lowest mean write latency", named[3])),
        "{kept}"
    );
    // Another scheme than the baseline, and the baseline itself.
    for (over, base) in [(1, 0), (0, 1)] {
        let mut c = c.clone();
        c.reports[over].latency_us.write.as_mut().unwrap().mean = 9e12;
        let said = verdict_of(&c);
        assert!(said.starts_with(&format!("The drive is overloaded under {}:", named[over])), "{said}");
        let best = format!("Of 3 others, {} has the lowest mean write latency", named[3]);
        assert!(said.contains(&best) && said.contains(&format!("of {} (", named[base])), "{said}");
        for width in [80, 250] {
            let text = table(&c, plain(width));
            assert!(text.contains("overloaded") && text.contains("250") && !text.contains("9,000"), "{text}");
        }
        let decision = wordline_report::decided(c.clone()).decision.unwrap();
        let mean = decision.measures.iter().find(|m| m.path == "latency_us.write.mean").unwrap();
        let known: Vec<bool> = mean.values.iter().map(Option::is_some).collect();
        assert_eq!(known, (0..4).map(|i| i != over).collect::<Vec<_>>());
        assert_eq!((decision.winner, mean.best.as_slice()), (Some(3), &[3][..]));
        let page = wordline_report::html(&c);
        assert!(page.contains("overloaded</td>") || page.contains(">overloaded"), "no cell says so");
    }
}

/// A figure of a few schemes does not decide between many.
#[test]
fn figure_that_most_schemes_lack_is_left_out() {
    let mut c = Comparison::new((0..2).flat_map(|_| sample::four().reports).collect());
    let mut short = |having: usize| {
        for (i, r) in c.reports.iter_mut().enumerate() {
            let bytes = (i as u64 + 1) << 30;
            let has =
                ChangingCapacity { usable_bytes: bytes, least_usable_bytes: bytes, ..Default::default() };
            r.capacity.changing = (i < having).then_some(has);
        }
        wordline_report::table(&c, &Rows::Decisive("--all"), plain(200))
    };
    assert!(!short(3).contains("Usable"), "{}", short(3));
    assert!(short(8).contains("Usable"), "{}", short(8));
}

#[test]
fn short_table_has_the_verdict_and_at_most_ten_rows() {
    let two = sample::steady(sample::two());
    let text = wordline_report::table(&two, &Rows::Decisive("--all"), plain(100));
    let verdict = text.find("has the lowest mean write latency").unwrap();
    assert!(verdict < text.find("Write latency\n").unwrap(), "{text}");
    for (group, label) in [("Write latency", "p99"), ("Read latency", "mean"), ("Write amplification", "WAF")]
    {
        row(&text, group, label);
    }
    assert!(!text.contains("Energy") && !text.contains("max"), "{text}");
    assert!(text.contains(" --all shows "), "{text}");
    let decision = wordline_report::decided(two).decision.unwrap();
    assert!((6..=10).contains(&decision.measures.len()), "{decision:?}");
    assert!(decision.measures.iter().all(|m| m.values.len() == 2 && !m.path.is_empty()));
    let p99 = decision.measures.iter().find(|m| m.name == "Write latency: p99").unwrap();
    assert_eq!((p99.unit.as_str(), p99.better.as_deref()), ("microseconds", Some("lower")));
}

#[test]
fn rows_are_found_by_heading_and_by_label() {
    let named = |names: &[&str]| Rows::Named(names.iter().map(|name| name.to_string()).collect());
    let text = wordline_report::table(&sample::two(), &named(&["WAF", "erases"]), plain(100));
    assert!(text.contains("Write amplification\n") && text.contains("Erases\n"), "{text}");
    assert!(!text.contains("p99"), "{text}");
    let headings = named(&["wav"]).check().unwrap_err();
    assert!(headings.contains(&"Write latency"), "{headings:?}");
    assert!(named(&["waf"]).check().is_ok());
}
