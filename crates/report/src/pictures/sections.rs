//! Which pictures there are of a comparison, in the order of the page.

use crate::pictures::cast::Cast;
use crate::pictures::figure::Figure;
use crate::pictures::svg::footnote;
use crate::pictures::{against, bars, cdf, drive, metrics, time, tradeoff};
use crate::schema::comparison::Comparison;
use crate::words::decision;
use crate::words::metrics::TITLE;
use crate::words::names::{stands_for, workload_label};
use crate::words::phrases::all_of;

/// Every picture for which there are data.
pub fn figures(comparison: &Comparison) -> Vec<Figure> {
    let cast = Cast::new(comparison, usize::MAX);
    let tradeoff = tradeoff::tradeoff(&cast.roles(), &decision::leading(comparison));
    tradeoff.into_iter().chain(Section::ALL.iter().flat_map(|s| s.figures(&cast))).collect()
}

/// The parts of the page that hold pictures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Section {
    Differences,
    Why,
    Latency,
    Programs,
    Time,
    Followed,
    Drive,
}

impl Section {
    pub(crate) const ALL: [Section; 7] = [
        Section::Differences,
        Section::Why,
        Section::Latency,
        Section::Programs,
        Section::Time,
        Section::Followed,
        Section::Drive,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Section::Differences => "Differences",
            Section::Why => "Why it is slow",
            Section::Latency => "Latency",
            Section::Programs => "Media writes by cause",
            Section::Time => "Over time",
            Section::Followed => TITLE,
            Section::Drive => "Dies, buses and blocks",
        }
    }

    /// Its name in the page's address.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Section::Differences => "differing",
            Section::Why => "why",
            Section::Latency => "latency",
            Section::Programs => "programs",
            Section::Time => "time",
            Section::Followed => "metrics",
            Section::Drive => "drive",
        }
    }

    /// The same with one panel for all schemes where every scheme's would be the same.
    pub(crate) fn telling(self, cast: &Cast) -> Vec<Figure> {
        let mut made = self.figures(cast);
        if made.iter().any(Figure::is_alike) {
            let alone = self.figures(&cast.for_all());
            for figure in made.iter_mut().filter(|figure| figure.is_alike()) {
                if let Some(one) = alone.iter().find(|one| one.name == figure.name) {
                    let caption = format!(
                        "The same for {} schemes, within 5 %. {}",
                        all_of(cast.reports.len()),
                        one.caption
                    );
                    *figure = Figure { caption, csv: std::mem::take(&mut figure.csv), ..one.clone() };
                }
            }
        }
        made
    }

    pub(crate) fn figures(self, cast: &Cast) -> Vec<Figure> {
        let made = match self {
            Section::Differences => vec![against::differences(cast)],
            Section::Latency => vec![cdf::latency(cast, &cdf::WRITES), cdf::latency(cast, &cdf::READS)],
            Section::Why => vec![bars::write_parts(cast), bars::read_parts(cast)],
            Section::Programs => {
                vec![
                    bars::by_cause(cast),
                    bars::by_region(cast),
                    bars::erases(cast),
                    time::overlaid(cast, &time::WAF),
                ]
            }
            Section::Time => vec![
                time::latency(cast, &time::WRITE_LATENCY),
                time::latency(cast, &time::READ_LATENCY),
                time::throughput(cast, &time::WRITTEN),
                time::throughput(cast, &time::READ),
                time::overlaid(cast, &time::FREE_BLOCKS),
            ],
            Section::Followed => metrics::followed(cast),
            Section::Drive => {
                let busy = [&time::BUSY_DIES, &time::BUSY_BUSES].map(|slow| time::overlaid(cast, slow));
                let wear = drive::wear(cast);
                [drive::blocks(cast), drive::busy(cast)].into_iter().chain(busy).chain(wear).collect()
            }
        };
        let mut made: Vec<Figure> = made.into_iter().flatten().collect();
        if let Some(workload) = cast.reports.first().map(|r| &r.workload)
            && let Some(what) = stands_for(workload)
        {
            for figure in &mut made {
                figure.svg = footnote(&figure.svg, &format!("{}: {what}", workload_label(workload)));
            }
        }
        // A curve is of one run; bars and points are means.
        for figure in made.iter_mut().filter(|f| !MEANS.contains(&&*f.name)) {
            if let Some(seed) = cast.first_seed() {
                figure.caption.push_str(&format!(" Of the first replica, seed {seed}."));
            }
        }
        made
    }
}

/// Pictures that show the means of replicas.
const MEANS: [&str; 6] = [
    "differences",
    "write-latency-parts",
    "read-latency-parts",
    "programs-by-cause",
    "programs-by-region",
    "erases-by-mode",
];
