//! Text about a GC trigger that cannot be satisfied with the data.

use crate::schema::activity::OutOfReach;
use crate::schema::report::Report;
use crate::words::number;
use crate::words::phrases::{self, Said};

/// A sentence for each unreachable trigger, with the runs concerned.
pub(crate) fn sentences(reports: &[Report], labels: &[String]) -> Vec<Said> {
    let of = |(run, r): (usize, &Report)| -> Vec<(usize, String)> {
        r.out_of_reach.iter().map(|limit| (run, sentence(limit))).collect()
    };
    phrases::once(reports.iter().enumerate().flat_map(of).collect(), labels, 2)
}

fn sentence(limit: &OutOfReach) -> String {
    let set = if limit.setting.is_empty() { "it".to_string() } else { limit.setting.clone() };
    let what = if limit.value.starts_with("free_slots") { "slots" } else { "blocks" };
    let instead = match &limit.within_reach {
        Some(value) => format!("; --set {}={value} is reachable", limit.setting),
        None => String::new(),
    };
    format!(
        "GC of region {} never reaches its trigger: {set} is \"{}\", but with {} of data at most {:.1} % \
         of its {what} can be free{instead}.",
        limit.region,
        limit.value,
        number::bytes(limit.data_bytes),
        limit.reachable * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_out_of_reach_names_what_can_be_reached() {
        let limit = OutOfReach {
            region: "D".into(),
            setting: "gc.trigger".into(),
            value: "free_blocks < 50%".into(),
            reachable: 0.182,
            data_bytes: 40 << 30,
            within_reach: Some("free_blocks:9%".into()),
        };
        assert_eq!(
            sentence(&limit).replace(number::NO_BREAK, " "),
            "GC of region D never reaches its trigger: gc.trigger is \"free_blocks < 50%\", but with 40.0 GiB of data at most \
             18.2 % of its blocks can be free; --set gc.trigger=free_blocks:9% is reachable."
        );
        let scheme = OutOfReach { setting: String::new(), within_reach: None, ..limit };
        assert!(sentence(&scheme).contains("its trigger: it is \"") && !sentence(&scheme).contains("--set"));
    }
}
